// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs streams on the CPU that this is called on: ties perf's AUX area, its tables and
 * the switch of the CPU's Intel PT together, and publishes what was traced. All state is
 * per CPU and touched there only, with interrupts off: no lock, no allocation. Nothing
 * prints here, since the scheduler's lock may be held; kvm_trace_detail:pt tells.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "compat/compat.h"
#include "events_detail.h"
#include "vcpu.h"
#include "caps.h"
#include "ops.h"
#include "reserve.h"
#include "stream.h"
#include "topa.h"

#define SIDE(side)	((u8)BIT(side))
#define HOST		KVM_TRACE_PT_HOST
#define GUEST		KVM_TRACE_PT_GUEST

/* ms between tries to undo what could not be undone. */
#define LEFT_WAIT_MS	20

/**
 * struct slot - a stream on a CPU
 * @event:	whose it is while it runs, else NULL
 * @suspended:	whose it was when the machine went to sleep
 * @handle:	perf's, while it runs
 * @buffer:	its AUX area, while it runs
 * @stream:	the switch's
 * @begin:	where what is not yet published begins, counted over all trace
 * @head:	where it ends
 * @entries:	VM entries since
 * @noted:	bits of KVM_TRACE_PT_WHY_* that were told since it runs
 */
struct slot {
	struct kvm_trace_pt_event *event;
	struct kvm_trace_pt_event *suspended;
	struct perf_output_handle handle;
	struct kvm_trace_pt_buffer *buffer;
	struct kvm_trace_pt_stream stream;
	unsigned long begin;
	unsigned long head;
	u64 entries;
	u32 noted;
};

/**
 * struct pt_cpu - Intel PT of a CPU
 * @running:	sides whose slot has an event
 * @left:	sides that the switch still has though the event is gone
 * @down:	it is not online, or goes
 * @looked:	jiffies when the host's stream was last looked at
 * @pt:		the switch
 * @slot:	streams
 * @pinned:	AUX areas of the sides in @left
 */
struct pt_cpu {
	u8 running;
	u8 left;
	bool down;
	unsigned long looked;
	struct kvm_trace_pt_switch pt;
	struct slot slot[KVM_TRACE_PT_SIDES];
	struct kvm_trace_pt_buffer *pinned[KVM_TRACE_PT_SIDES];
};

static DEFINE_PER_CPU(struct pt_cpu, cpus);

/* Sides on all CPUs in pt_cpu.left; each holds a reference on the module. */
static atomic_t left_count;

#ifdef KVM_TRACE_PT_SVM
bool kvm_trace_pt_late_exit;
#endif

static void left_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(left_worker, left_work);

static void left_irq(struct irq_work *work)
{
	queue_delayed_work(kvm_trace_wq, &left_worker, msecs_to_jiffies(LEFT_WAIT_MS));
}

/* A stream may stop under the scheduler's lock, where no work can be queued. */
static DEFINE_IRQ_WORK(left_irq_work, left_irq);

/**
 * kvm_trace_pt_tell() - emit kvm_trace_detail:pt
 * @event:   whose stream
 * @what:    KVM_TRACE_PT_*
 * @why:     KVM_TRACE_PT_WHY_*
 * @bytes:   trace that was published
 * @entries: VM entries that it comes from
 *
 * Context: any but NMI.
 */
void kvm_trace_pt_tell(const struct kvm_trace_pt_event *event, u8 what, u8 why, u64 bytes,
		       u64 entries)
{
	struct kvm_trace_pt_record record;

	if (!trace_pt_enabled())
		return;
	record = (struct kvm_trace_pt_record){
		.bytes = bytes,
		.entries = entries,
		.tid = event->tid,
		.on_cpu = event->perf->cpu,
		.losses = event->losses,
		.what = what,
		.why = why,
		.config = event->config,
	};
	trace_pt(&record);
}

static void note(struct slot *slot, u8 why)
{
	if (!slot->event || slot->noted & BIT(why))
		return;
	slot->noted |= BIT(why);
	kvm_trace_pt_tell(slot->event, KVM_TRACE_PT_NOTE, why, 0, 0);
}

static bool has_ended(const struct slot *slot)
{
	return slot->stream.reg[KVM_TRACE_PT_STATUS] &
	       (KVM_TRACE_PT_STATUS_ERROR | KVM_TRACE_PT_STATUS_STOPPED);
}

/* A full area and a stop of the address filters set the same bit. */
static u8 why_ended(const struct slot *slot)
{
	if (slot->stream.reg[KVM_TRACE_PT_STATUS] & KVM_TRACE_PT_STATUS_ERROR)
		return KVM_TRACE_PT_WHY_TOPA_ERROR;
	if (slot->stream.ctl & KVM_TRACE_PT_CTL_STOPS &&
	    !kvm_trace_pt_buffer_full(slot->buffer, slot->head))
		return KVM_TRACE_PT_WHY_STOP;
	return KVM_TRACE_PT_WHY_FULL;
}

static void advance(struct slot *slot)
{
	slot->head += kvm_trace_pt_buffer_moved(slot->buffer, slot->head,
						slot->stream.reg[KVM_TRACE_PT_OUTPUT_BASE],
						slot->stream.reg[KVM_TRACE_PT_OUTPUT_MASK]);
}

/*
 * Ends perf's transaction. If some trace is missing, perf disables the event, and the
 * reader enables it again once it has read: only then anything is tried again, or each
 * try would interrupt the guest before its first instruction.
 */
static u64 publish(struct slot *slot, u64 flags)
{
	struct perf_event *perf = slot->event->perf;
	unsigned long bytes = slot->head - slot->begin;

	kvm_trace_pt_buffer_close(slot->buffer);
	if (kvm_trace_pt_buffer_snapshot(slot->buffer)) {
		slot->handle.head = slot->head;
		bytes = min(bytes, kvm_trace_pt_buffer_size(slot->buffer));
	}
	if (flags)
		perf_aux_output_flag(&slot->handle, flags);
	if (flags & PERF_AUX_FLAG_TRUNCATED)
		kvm_trace_perf_disable_soon(perf);
	/* What the processor wrote is there before who looks for it is told. */
	wmb();
	perf_aux_output_end(&slot->handle, bytes);
	/* The number of this CPU, which may be 0, is there now in Linux 6.12 and before. */
	if (flags & PERF_AUX_FLAG_TRUNCATED)
		perf->pending_disable = 1;
	slot->buffer = NULL;
	slot->begin = slot->head;
	return bytes;
}

/* Begins perf's transaction. -EINVAL: none of ours is mapped; -ENOSPC: it is full. */
static int open_area(struct slot *slot)
{
	struct perf_event *perf = slot->event->perf;

	slot->handle.rb = NULL;
	slot->buffer = perf_aux_output_begin(&slot->handle, perf);
	if (!slot->buffer) {
		/* perf fills it in if an area is mapped: then that is full. */
		if (!slot->handle.rb)
			return -EINVAL;
		kvm_trace_perf_disable_soon(perf);
		return -ENOSPC;
	}
	/* By way of a third event's ring buffer it may be another PMU's. */
	if (!kvm_trace_pt_buffer_is_ours(slot->buffer)) {
		perf_aux_output_end(&slot->handle, 0);
		slot->buffer = NULL;
		return -EINVAL;
	}
	slot->head = slot->handle.head;
	slot->begin = slot->head;
	if (kvm_trace_pt_buffer_open(slot->buffer, slot->head, slot->handle.size))
		return 0;
	publish(slot, PERF_AUX_FLAG_TRUNCATED);
	return -ENOSPC;
}

/* The switch still has a stream. Its memory stays until it does not. */
static void leave_behind(struct pt_cpu *cpu, enum kvm_trace_pt_side side)
{
	if (cpu->left & SIDE(side))
		return;
	cpu->left |= SIDE(side);
	cpu->pinned[side] = cpu->slot[side].buffer;
	kvm_trace_pt_buffer_pin(cpu->pinned[side]);
	__module_get(THIS_MODULE);
	atomic_inc(&left_count);
	irq_work_queue(&left_irq_work);
}

static void idle(struct pt_cpu *cpu, enum kvm_trace_pt_side side)
{
	struct slot *slot = &cpu->slot[side];

	slot->event->perf->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	slot->event = NULL;
	cpu->running &= ~SIDE(side);
}

/* Ends a stream; @flags are perf's, of its last data. */
static void end(struct pt_cpu *cpu, enum kvm_trace_pt_side side, u8 why, u64 flags)
{
	struct slot *slot = &cpu->slot[side];
	struct kvm_trace_pt_event *event = slot->event;
	u32 result = kvm_trace_pt_stop(&cpu->pt, side);
	u64 bytes;

	if (result & KVM_TRACE_PT_LEFT) {
		leave_behind(cpu, side);
		why = KVM_TRACE_PT_WHY_LEFT;
	}
	advance(slot);
	if (has_ended(slot)) {
		why = why_ended(slot);
		flags |= PERF_AUX_FLAG_TRUNCATED;
	} else if (result & KVM_TRACE_PT_FAULT) {
		why = KVM_TRACE_PT_WHY_FAULT;
		flags |= PERF_AUX_FLAG_TRUNCATED;
	}
	if (flags & PERF_AUX_FLAG_TRUNCATED)
		event->losses++;
	bytes = publish(slot, flags);
	kvm_trace_pt_tell(event, KVM_TRACE_PT_OFF, why, bytes, slot->entries);
	idle(cpu, side);
}

static void end_all(struct pt_cpu *cpu, u8 why, u64 flags)
{
	unsigned int side;

	for (side = 0; side < KVM_TRACE_PT_SIDES; side++)
		if (cpu->running & SIDE(side))
			end(cpu, side, why, flags);
}

static void set_stream(struct slot *slot)
{
	const struct kvm_trace_pt_event *event = slot->event;
	struct kvm_trace_pt_stream *stream = &slot->stream;
	unsigned int i;

	stream->ctl = event->ctl | event->range_ctl;
	stream->base_stays = kvm_trace_pt_buffer_one_table(slot->buffer);
	stream->reg[KVM_TRACE_PT_STATUS] = 0;
	kvm_trace_pt_buffer_seek(slot->buffer, slot->head,
				 &stream->reg[KVM_TRACE_PT_OUTPUT_BASE],
				 &stream->reg[KVM_TRACE_PT_OUTPUT_MASK]);
	for (i = 0; i < ARRAY_SIZE(event->range); i++)
		stream->reg[KVM_TRACE_PT_ADDR + i] = event->range[i];
}

/* Hands an open slot to the switch; ends it if the switch does not take it. */
static bool hand_over(struct pt_cpu *cpu, enum kvm_trace_pt_side side)
{
	struct slot *slot = &cpu->slot[side];
	u32 result;

	set_stream(slot);
	if (side == GUEST)
		cpu->pt.method = slot->event->method;
	result = kvm_trace_pt_start(&cpu->pt, side, &slot->stream);
	if (result & (KVM_TRACE_PT_NOT_IN_VMX | KVM_TRACE_PT_NO_CONTROLS |
		      KVM_TRACE_PT_NO_FILTER | KVM_TRACE_PT_BUSY | KVM_TRACE_PT_FAULT |
		      KVM_TRACE_PT_LEFT)) {
		end(cpu, side, result & KVM_TRACE_PT_BUSY ? KVM_TRACE_PT_WHY_FOREIGN :
							    KVM_TRACE_PT_WHY_FAULT,
		    PERF_AUX_FLAG_TRUNCATED);
		return false;
	}
	return true;
}

/* Two transactions at once in one ring buffer are more than perf can do. */
static bool shares_area(const struct pt_cpu *cpu, const struct perf_event *perf,
			enum kvm_trace_pt_side side)
{
	const struct slot *other = &cpu->slot[side == HOST ? GUEST : HOST];

	return other->event && other->handle.rb == READ_ONCE(perf->rb);
}

/**
 * kvm_trace_pt_stream_start() - run an event's stream on this CPU
 * @event: the event; its thread is current, or the CPU is its
 *
 * If the AUX area is full, or the MSRs cannot be had, perf disables the event.
 *
 * Context: pmu->add, pmu->start.
 * Return: 0; -EINVAL without an AUX area of its own, -EBUSY, -ENODEV where intel_pt may
 *	   run or the CPU goes: perf tries again
 */
int kvm_trace_pt_stream_start(struct kvm_trace_pt_event *event)
{
	struct pt_cpu *cpu = this_cpu_ptr(&cpus);
	struct slot *slot = &cpu->slot[event->side];
	int ret;

	if (cpu->down || !kvm_trace_pt_has_cpu(smp_processor_id()))
		return -ENODEV;
	if (slot->event || cpu->left)
		return -EBUSY;
	if (shares_area(cpu, event->perf, event->side)) {
		kvm_trace_pt_tell(event, KVM_TRACE_PT_REFUSED, KVM_TRACE_PT_WHY_CONFIG, 0, 0);
		return -EINVAL;
	}
	slot->event = event;
	slot->noted = 0;
	slot->entries = 0;
	ret = open_area(slot);
	if (ret) {
		slot->event = NULL;
		if (ret != -ENOSPC)
			return ret;
		event->losses++;
		kvm_trace_pt_tell(event, KVM_TRACE_PT_REFUSED, KVM_TRACE_PT_WHY_FULL, 0, 0);
		return 0;
	}
	perf_event_addr_filters_sync(event->perf);
	cpu->running |= SIDE(event->side);
	event->perf->hw.state = 0;
	if (hand_over(cpu, event->side))
		kvm_trace_pt_tell(event, KVM_TRACE_PT_ON, KVM_TRACE_PT_WHY_NONE, 0, 0);
	return 0;
}

/**
 * kvm_trace_pt_stream_stop() - stop an event's stream, and publish what there is
 * @event: the event; nothing happens if its stream does not run
 *
 * Context: pmu->stop, pmu->del, on the CPU of the start.
 */
void kvm_trace_pt_stream_stop(struct kvm_trace_pt_event *event)
{
	struct pt_cpu *cpu = this_cpu_ptr(&cpus);

	if (cpu->slot[event->side].event == event)
		end(cpu, event->side, KVM_TRACE_PT_WHY_NONE, 0);
}

static bool is_due(const struct slot *slot)
{
	return !kvm_trace_pt_buffer_snapshot(slot->buffer) &&
	       (long)(slot->head - slot->handle.wakeup) >= 0;
}

/* A stream is stopped and published, and its area is full, or not mapped any more. */
static void end_without_area(struct pt_cpu *cpu, enum kvm_trace_pt_side side, int error, u64 bytes)
{
	struct slot *slot = &cpu->slot[side];
	const bool full = error == -ENOSPC;

	slot->event->losses += full;
	kvm_trace_pt_tell(slot->event, KVM_TRACE_PT_OFF,
			  full ? KVM_TRACE_PT_WHY_FULL : KVM_TRACE_PT_WHY_NONE, bytes,
			  slot->entries);
	idle(cpu, side);
}

/* Intel PT does not run for the guest now. */
static void publish_guest(struct pt_cpu *cpu)
{
	struct slot *slot = &cpu->slot[GUEST];
	u64 bytes = publish(slot, 0);
	int ret = open_area(slot);

	if (!ret) {
		kvm_trace_pt_tell(slot->event, KVM_TRACE_PT_PUBLISHED, KVM_TRACE_PT_WHY_NONE,
				  bytes, slot->entries);
		slot->entries = 0;
		return;
	}
	/* The stream is not armed, so this writes nothing. */
	kvm_trace_pt_stop(&cpu->pt, GUEST);
	end_without_area(cpu, GUEST, ret, bytes);
}

/*
 * The host's stream goes on without its MSRs being read, and nothing interrupts when
 * its area fills. So it is looked at, once a tick, where we come by.
 */
static void look_at_host(struct pt_cpu *cpu)
{
	struct slot *slot = &cpu->slot[HOST];
	u64 base, mask, status, bytes;
	int ret;

	if (!(cpu->running & SIDE(HOST)) || !time_after(jiffies, cpu->looked))
		return;
	cpu->looked = jiffies;
	if (!kvm_trace_pt_rdmsr(KVM_TRACE_PT_MSR_OUTPUT_BASE, &base) ||
	    !kvm_trace_pt_rdmsr(KVM_TRACE_PT_MSR_OUTPUT_MASK, &mask) ||
	    !kvm_trace_pt_rdmsr(KVM_TRACE_PT_MSR_STATUS, &status))
		return;
	slot->head += kvm_trace_pt_buffer_moved(slot->buffer, slot->head, base, mask);
	slot->stream.reg[KVM_TRACE_PT_OUTPUT_BASE] = base;
	slot->stream.reg[KVM_TRACE_PT_OUTPUT_MASK] = mask;
	if (status & (KVM_TRACE_PT_STATUS_ERROR | KVM_TRACE_PT_STATUS_STOPPED)) {
		end(cpu, HOST, KVM_TRACE_PT_WHY_NONE, 0);
		return;
	}
	if (!is_due(slot))
		return;

	if (kvm_trace_pt_stop(&cpu->pt, HOST) & (KVM_TRACE_PT_LEFT | KVM_TRACE_PT_FAULT)) {
		end(cpu, HOST, KVM_TRACE_PT_WHY_FAULT, PERF_AUX_FLAG_TRUNCATED);
		return;
	}
	advance(slot);
	if (has_ended(slot)) {
		end(cpu, HOST, KVM_TRACE_PT_WHY_NONE, 0);
		return;
	}
	bytes = publish(slot, 0);
	ret = open_area(slot);
	if (ret) {
		end_without_area(cpu, HOST, ret, bytes);
		return;
	}
	kvm_trace_pt_tell(slot->event, KVM_TRACE_PT_PUBLISHED, KVM_TRACE_PT_WHY_NONE, bytes,
			  slot->entries);
	slot->entries = 0;
	hand_over(cpu, HOST);
}

/* What a call of the switch had to tell, around a VM entry. */
static void handle(struct pt_cpu *cpu, u32 result)
{
	struct slot *guest = &cpu->slot[GUEST];

	if (result & KVM_TRACE_PT_NO_VMCS)
		note(guest, KVM_TRACE_PT_WHY_NO_VMCS);
	if (result & KVM_TRACE_PT_HOST_CODE)
		note(guest, KVM_TRACE_PT_WHY_HOST_CODE);
	if (result & KVM_TRACE_PT_UNTRACED)
		note(guest, KVM_TRACE_PT_WHY_UNTRACED);
	if (result & (KVM_TRACE_PT_HOST_CODE | KVM_TRACE_PT_UNTRACED) && guest->event)
		perf_aux_output_flag(&guest->handle, PERF_AUX_FLAG_PARTIAL);
	if (result & KVM_TRACE_PT_FAULT)
		end_all(cpu, KVM_TRACE_PT_WHY_FAULT, PERF_AUX_FLAG_TRUNCATED);
	else if (result & KVM_TRACE_PT_BUSY && guest->event)
		end(cpu, GUEST, KVM_TRACE_PT_WHY_FOREIGN, PERF_AUX_FLAG_TRUNCATED);
	else if (result & KVM_TRACE_PT_ENDED && guest->event)
		end(cpu, GUEST, KVM_TRACE_PT_WHY_FULL, PERF_AUX_FLAG_TRUNCATED);
}

/**
 * kvm_trace_pt_on_entry() - probe of kvm_entry, the last one
 * @data:  unused
 * @vcpu:  whose VM entry comes next
 * @force_immediate_exit: unused
 */
void kvm_trace_pt_on_entry(void *data, struct kvm_vcpu *vcpu, bool force_immediate_exit)
{
	struct pt_cpu *cpu = this_cpu_ptr(&cpus);
	u32 result;

	if (!(cpu->running | cpu->left))
		return;
	/* Its VMCS cannot be accessed, and what its exits leave of our MSRs is not told. */
	if (unlikely(vcpu->arch.guest_state_protected)) {
		note(&cpu->slot[GUEST], KVM_TRACE_PT_WHY_PROTECTED);
		return;
	}
	result = kvm_trace_pt_entering(&cpu->pt);
	cpu->slot[HOST].entries++;
	cpu->slot[GUEST].entries++;
	if (unlikely(result))
		handle(cpu, result);
}

static void leave(struct pt_cpu *cpu, u32 result)
{
	struct slot *guest = &cpu->slot[GUEST];

	if (guest->event)
		advance(guest);
	if (unlikely(result))
		handle(cpu, result);
	/* The registers may still be the guest's, and its VMCS armed. */
	if (unlikely(result & KVM_TRACE_PT_LEFT))
		return;
	if (guest->event && unlikely(is_due(guest)))
		publish_guest(cpu);
	look_at_host(cpu);
}

#ifdef KVM_TRACE_PT_SVM
/* Interrupts came in between, and what they executed is in the window. */
static void leave_late(void)
{
	unsigned long flags;

	local_irq_save(flags);
	kvm_trace_pt_late_exit = true;
	kvm_trace_pt_leaving(&this_cpu_ptr(&cpus)->pt);
	end_all(this_cpu_ptr(&cpus), KVM_TRACE_PT_WHY_LATE_EXIT, PERF_AUX_FLAG_TRUNCATED);
	local_irq_restore(flags);
}
#endif

/**
 * kvm_trace_pt_on_exit() - probe of kvm_exit, the first one
 * @data: unused
 * @vcpu: whose VM exit it is
 * @isa:  unused
 */
void kvm_trace_pt_on_exit(void *data, struct kvm_vcpu *vcpu, u32 isa)
{
	struct pt_cpu *cpu = this_cpu_ptr(&cpus);

	if (!(cpu->running | cpu->left))
		return;
#ifdef KVM_TRACE_PT_SVM
	if (unlikely(!irqs_disabled())) {
		leave_late();
		return;
	}
#endif
	leave(cpu, kvm_trace_pt_leaving(&cpu->pt));
}

/* A VM entry may have failed without a VM exit. */
static void undo(void)
{
	unsigned long flags;
	struct pt_cpu *cpu;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&cpus);
	if (cpu->running | cpu->left)
		leave(cpu, kvm_trace_pt_undo(&cpu->pt));
	local_irq_restore(flags);
}

/**
 * kvm_trace_pt_on_fpu() - probe of kvm_fpu
 * @data: unused
 * @load: the guest's registers are loaded, not put away
 */
void kvm_trace_pt_on_fpu(void *data, int load)
{
	if (!load)
		undo();
}

/**
 * kvm_trace_pt_on_userspace_exit() - probe of kvm_userspace_exit
 * @data:   unused
 * @reason: unused
 * @error:  unused
 */
void kvm_trace_pt_on_userspace_exit(void *data, u32 reason, int error)
{
	undo();
}

/**
 * kvm_trace_pt_on_nested_failed() - probe of kvm_nested_vmenter_failed
 * @data:    unused
 * @message: unused
 * @error:   unused
 *
 * After it, KVM changes to another VMCS than that of the entry.
 */
void kvm_trace_pt_on_nested_failed(void *data, const char *message, u32 error)
{
	undo();
}

/**
 * kvm_trace_pt_on_switch() - probe of sched_switch, for events of CPUs
 * @data:	unused
 * @preempt:	unused
 * @prev:	unused
 * @next:	unused
 * @prev_state:	unused
 *
 * Comes before KVM's notifier puts the vCPU away. Events of threads are stopped by perf.
 */
void kvm_trace_pt_on_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	undo();
}

/**
 * kvm_trace_pt_cpu_up() - this CPU may run streams
 *
 * Context: on the CPU, interrupts off.
 */
void kvm_trace_pt_cpu_up(void)
{
	__this_cpu_write(cpus.down, false);
}

/**
 * kvm_trace_pt_cpu_down() - end all streams of this CPU, and begin no other
 *
 * Context: on the CPU, interrupts off.
 * Return: false if the switch still has one
 */
bool kvm_trace_pt_cpu_down(void)
{
	struct pt_cpu *cpu = this_cpu_ptr(&cpus);

	cpu->down = true;
	end_all(cpu, KVM_TRACE_PT_WHY_OFFLINE, PERF_AUX_FLAG_PARTIAL);
	return !cpu->left;
}

/**
 * kvm_trace_pt_suspend() - the machine goes to sleep; this is its last CPU
 *
 * Context: interrupts off.
 */
void kvm_trace_pt_suspend(void)
{
	struct pt_cpu *cpu = this_cpu_ptr(&cpus);
	unsigned int side;

	for (side = 0; side < KVM_TRACE_PT_SIDES; side++)
		cpu->slot[side].suspended = cpu->slot[side].event;
	kvm_trace_pt_cpu_down();
}

/**
 * kvm_trace_pt_resume() - the machine is awake again
 *
 * Context: interrupts off.
 */
void kvm_trace_pt_resume(void)
{
	struct pt_cpu *cpu = this_cpu_ptr(&cpus);
	unsigned int side;

	cpu->down = false;
	for (side = 0; side < KVM_TRACE_PT_SIDES; side++) {
		if (cpu->slot[side].suspended)
			kvm_trace_pt_stream_start(cpu->slot[side].suspended);
		cpu->slot[side].suspended = NULL;
	}
}

/* On the CPU, interrupts off: what is done with is told by @data. */
static void undo_left(void *data)
{
	struct pt_cpu *cpu = this_cpu_ptr(&cpus);
	u8 *done = data;
	unsigned int side;

	for (side = 0; side < KVM_TRACE_PT_SIDES; side++) {
		if (!(cpu->left & SIDE(side)) ||
		    kvm_trace_pt_stop(&cpu->pt, side) & KVM_TRACE_PT_LEFT)
			continue;
		cpu->left &= ~SIDE(side);
		*done |= SIDE(side);
	}
}

static void left_work(struct work_struct *work)
{
	unsigned int cpu, side;

	for_each_possible_cpu(cpu) {
		u8 done = 0;

		if (!READ_ONCE(per_cpu(cpus.left, cpu)))
			continue;
		pr_notice_once("kvm_pt: CPU %u: %s\n", cpu,
			       kvm_trace_pt_words(KVM_TRACE_PT_WHY_LEFT));
		smp_call_function_single(cpu, undo_left, &done, true);
		for (side = 0; side < KVM_TRACE_PT_SIDES; side++) {
			if (!(done & SIDE(side)))
				continue;
			kvm_trace_pt_buffer_unpin(per_cpu(cpus.pinned[side], cpu));
			if (atomic_dec_and_test(&left_count))
				kvm_trace_pt_all_undone();
			module_put(THIS_MODULE);
		}
	}
	if (kvm_trace_pt_streams_left())
		left_irq(&left_irq_work);
}

/**
 * kvm_trace_pt_streams_left() - whether a switch still has a stream of a gone event
 *
 * Context: any.
 * Return: true while one has; kvm_trace_pt_all_undone() follows
 */
bool kvm_trace_pt_streams_left(void)
{
	return atomic_read(&left_count);
}

/**
 * kvm_trace_pt_streams_init() - no CPU has a stream
 */
void kvm_trace_pt_streams_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kvm_trace_pt_init(&per_cpu(cpus.pt, cpu), &kvm_trace_pt_hw_ops,
				  &kvm_trace_pt_host.caps, KVM_TRACE_PT_WINDOW);
}

/**
 * kvm_trace_pt_streams_exit() - wait for our work
 *
 * Context: process context; no event is there.
 */
void kvm_trace_pt_streams_exit(void)
{
	irq_work_sync(&left_irq_work);
	cancel_delayed_work_sync(&left_worker);
}
