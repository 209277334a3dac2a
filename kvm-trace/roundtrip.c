// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collects a round trip from VM exit to VM entry and makes its record. All of
 * it runs in the vCPU's own thread; nothing here is shared between vCPUs but
 * what users set.
 */
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "events.h"
#include "hypercall.h"
#include "roundtrip.h"
#include "stamp.h"
#include "vcpu.h"

/* Words that are not read at the exit. */
#define TIME_WORDS	(KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_ENTRY_NS)

/* Least time between vcpu records that tell of a change of the TSC. */
#define TSC_CHANGE_JIFFIES	(HZ / 10)

u32 kvm_trace_words __read_mostly = KVM_TRACE_WORDS_DEFAULT;
unsigned long long kvm_trace_min_host_ns __read_mostly;

/* Grows with every consumer, who then gets the vcpu records again. */
static atomic_t consumers = ATOMIC_INIT(0);

/* Round trips without state on this CPU, not yet told. */
struct lost {
	u64 count;
	u64 since;
};

static DEFINE_PER_CPU(struct lost, lost_no_state);

/**
 * kvm_trace_new_consumer() - give every vCPU a reason for a vcpu record
 *
 * Context: any.
 */
void kvm_trace_new_consumer(void)
{
	atomic_inc(&consumers);
}

/**
 * kvm_trace_forget_lost() - losses so far are nobody's
 *
 * Context: before the first probe is attached: who comes now did not see them.
 */
void kvm_trace_forget_lost(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(lost_no_state, cpu).count = 0;
}

static void note_lost(void)
{
	struct lost *lost = this_cpu_ptr(&lost_no_state);

	if (!lost->count++)
		lost->since = local_clock();
}

static void tell_lost(u32 vm, u16 vcpu)
{
	struct lost *lost = this_cpu_ptr(&lost_no_state);

	if (!lost->count)
		return;
	if (trace_lost_enabled())
		trace_lost(lost->count, lost->since, vm, vcpu,
			   KVM_TRACE_LOST_NO_STATE);
	lost->count = 0;
}

/**
 * kvm_trace_on_exit() - probe of kvm_exit
 * @data: not used
 * @vcpu: the vCPU that left its guest
 * @isa:  KVM_TRACE_ISA_*
 *
 * Context: @vcpu's thread, interrupts off; on SVM before 6.12 only preemption.
 */
void kvm_trace_on_exit(void *data, struct kvm_vcpu *vcpu, u32 isa)
{
	u64 clock = READ_ONCE(kvm_trace_clock);
	u64 stamp = kvm_trace_stamp(clock);
	struct kvm_trace_vcpu *v = kvm_trace_vcpu_get(vcpu);
	u32 want = READ_ONCE(kvm_trace_words);
	enum kvm_trace_where where = KVM_TRACE_IN_HOST;
	struct kvm_trace_exit *exit;

	if (unlikely(!v)) {
		note_lost();
		return;
	}

	exit = &v->exit;
	if (likely(isa == KVM_TRACE_ISA_SVM))
		kvm_trace_read_svm(vcpu, want, exit);
	else
		kvm_trace_read_vmx(vcpu, want, exit);
	if (unlikely(want))
		exit->words |= want & TIME_WORDS;
	/* KVM fires the event with interrupts off, unless it does so late. */
	if (unlikely(!irqs_disabled()))
		exit->flags |= KVM_TRACE_F_LATE_STAMP;
	if (unlikely(vcpu->arch.hflags & HF_GUEST_MASK))
		exit->flags |= KVM_TRACE_F_NESTED;

	if (unlikely(v->where != KVM_TRACE_IN_GUEST)) {
		/* Recording began in the guest: what KVM counted is not ours. */
		kvm_trace_vcpu_sync_counts(v);
		/* A late kvm_exit comes when KVM has counted it. */
		if (exit->flags & KVM_TRACE_F_LATE_STAMP)
			v->exits--;
		where = KVM_TRACE_IN_HOST_FIRST;
	}
	v->clock = clock;
	v->exit_stamp = stamp;
	/* What "pending" shows is there before it looks. */
	smp_store_release(&v->where, where);
}

/* Whether a statistic of KVM grew since it was last asked; it may be reset. */
static __always_inline bool grew(u64 *last, u64 now)
{
	bool more = now > *last;

	if (likely(*last == now))
		return false;
	*last = now;
	return more;
}

/* Whether the vCPU's thread was switched out, or another one runs it now. */
static __always_inline u16 flags_of_scheduling(struct kvm_trace_vcpu *v)
{
	unsigned long switches = current->nvcsw + current->nivcsw;
	u16 flags = KVM_TRACE_F_SCHED_OUT;
	int cpu;

	if (likely(READ_ONCE(v->tid) == current->pid && v->switches == switches))
		return 0;
	if (v->tid != current->pid)
		kvm_trace_vcpu_set_thread(v);
	v->switches = switches;
	cpu = raw_smp_processor_id();
	if (v->cpu != cpu)
		flags |= KVM_TRACE_F_MOVED_CPU;
	v->cpu = cpu;
	return flags;
}

/* What KVM's statistics say happened since the last entry. */
static __always_inline u16 flags_of_counts(struct kvm_trace_vcpu *v,
					   const struct kvm_vcpu_stat *stat)
{
	u16 flags = 0;

	if (grew(&v->mmio_exits, stat->mmio_exits))
		flags |= KVM_TRACE_F_MMIO;
	if (grew(&v->halt_exits, stat->halt_exits))
		flags |= KVM_TRACE_F_HALTED;
	if (grew(&v->pf_fixed, stat->pf_fixed))
		flags |= KVM_TRACE_F_PAGE_FAULT;
	if (grew(&v->insn_emulation, stat->insn_emulation))
		flags |= KVM_TRACE_F_EMULATED;
	if (grew(&v->injections, stat->irq_injections + stat->nmi_injections))
		flags |= KVM_TRACE_F_INJECTED;
	return flags;
}

/* The tail of v->record: the words that @words says, if they say something. */
static noinline void put_words(struct kvm_trace_vcpu *v, u32 words,
			       s32 untraced, u64 guest_ns, u64 entry_ns)
{
	const struct kvm_trace_exit *exit = &v->exit;
	struct kvm_trace_vmexit *record = &v->record;
	u8 *p = record->tail + sizeof(words);

	if (!entry_ns)
		words &= ~TIME_WORDS;
	if (words & KVM_TRACE_W_GUEST_NS) {
		if (v->where != KVM_TRACE_IN_HOST || !v->entry_ns)
			words &= ~KVM_TRACE_W_GUEST_NS;
		else if (guest_ns >> 32)
			words ^= KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_GUEST_NS_64;
	}
	kvm_trace_put_32(record->tail, words);

	if (words & KVM_TRACE_W_RIP)
		p = kvm_trace_put_64(p, exit->rip);
	if (words & KVM_TRACE_W_GPA)
		p = kvm_trace_put_64(p, exit->gpa);
	if (words & KVM_TRACE_W_GUEST_NS_64)
		p = kvm_trace_put_64(p, guest_ns);
	if (words & KVM_TRACE_W_INFO1)
		p = kvm_trace_put_64(p, exit->info1);
	if (words & KVM_TRACE_W_INFO2)
		p = kvm_trace_put_64(p, exit->info2);
	if (words & KVM_TRACE_W_REASON_HI)
		p = kvm_trace_put_64(p, exit->reason >> 16);
	if (words & KVM_TRACE_W_ENTRY_NS)
		p = kvm_trace_put_64(p, entry_ns);
	if (words & KVM_TRACE_W_GUEST_NS)
		p = kvm_trace_put_32(p, guest_ns);
	if (words & KVM_TRACE_W_INTR_INFO)
		p = kvm_trace_put_32(p, exit->intr_info);
	if (words & KVM_TRACE_W_ERROR_CODE)
		p = kvm_trace_put_32(p, exit->error_code);
	if (words & KVM_TRACE_W_UNTRACED)
		p = kvm_trace_put_32(p, untraced);
	if (!words)
		p = record->tail;
	record->tail_loc = (p - record->tail) << 16 | KVM_TRACE_VMEXIT_SIZE;
	/* A perf sample is a multiple of eight bytes: nothing stale at its end. */
	kvm_trace_put_32(p, 0);
}

static __always_inline void emit_vmexit(struct kvm_trace_vcpu *v,
					const struct kvm_vcpu *vcpu,
					u64 host_ns, u64 guest_ns, u64 entry_ns,
					s64 untraced, u16 flags)
{
	struct kvm_trace_vmexit *record = &v->record;
	u32 words = v->exit.words;

	if (unlikely(vcpu->arch.hflags & HF_GUEST_MASK))
		flags |= KVM_TRACE_F_NESTED_ENTRY;
	if (unlikely(untraced))
		words |= KVM_TRACE_W_UNTRACED;

	record->host_ns = host_ns;
	record->reason = v->exit.reason;
	record->flags = flags | v->exit.flags | v->path_flags;
	record->class = v->exit.class;
	if (words)
		put_words(v, words, min_t(s64, untraced, S32_MAX), guest_ns,
			  entry_ns);
	else
		record->tail_loc = KVM_TRACE_VMEXIT_SIZE;
	trace_vmexit(record);
}

/*
 * KVM entered and never fired kvm_exit: the entry failed. All that is known is
 * that it did, and when it was tried again: the whole time since counts as
 * host time.
 */
static noinline void note_failed_entry(struct kvm_trace_vcpu *v)
{
	v->exit.reason = KVM_TRACE_REASON_NONE;
	v->exit.class = KVM_TRACE_CLASS_entry_failure;
	v->exit.flags = KVM_TRACE_F_ENTRY_FAILED;
	v->exit.words = READ_ONCE(kvm_trace_words) & KVM_TRACE_W_ENTRY_NS;
	v->exit_stamp = v->entry_stamp;
}

static noinline void emit_vcpu(struct kvm_trace_vcpu *v, u32 generation)
{
	const struct kvm_vcpu_arch *arch = &v->vcpu->arch;
	struct kvm_trace_vcpu_record record = {
		.tsc_offset = arch->l1_tsc_offset,
		.tsc_ratio = arch->l1_tsc_scaling_ratio,
		.vm = v->vm->id,
		.seq = v->record.seq,
		.vmm_pid = v->vm->pid,
		.vmm_tid = current->pid,
		.generation = generation,
		.vcpu = v->vcpu->vcpu_id,
		.isa = v->record.isa,
	};

	v->generation = generation;
	v->vcpu_jiffies = jiffies;
	v->vcpu_tid = current->pid;
	v->tsc_offset = arch->l1_tsc_offset;
	v->tsc_ratio = arch->l1_tsc_scaling_ratio;
	strscpy(record.name, v->vm->name, sizeof(record.name));
	strscpy(record.vmm, current->group_leader->comm, sizeof(record.vmm));
	trace_vcpu(&record);
}

/*
 * Emits a vcpu record if one is due. Not at every change of the TSC offset: on
 * a host with an unstable TSC, KVM changes it each time it loads the vCPU.
 */
static void check_vcpu_record(struct kvm_trace_vcpu *v)
{
	const struct kvm_vcpu_arch *arch = &v->vcpu->arch;
	u32 generation = atomic_read(&consumers);
	unsigned long age = jiffies - v->vcpu_jiffies;

	if (likely(v->generation == generation &&
		   v->vcpu_tid == current->pid &&
		   ((v->tsc_offset == arch->l1_tsc_offset &&
		     v->tsc_ratio == arch->l1_tsc_scaling_ratio) ||
		    age < TSC_CHANGE_JIFFIES) &&
		   age < KVM_TRACE_VCPU_PERIOD_S * HZ))
		return;
	emit_vcpu(v, generation);
}

/**
 * kvm_trace_on_entry() - probe of kvm_entry
 * @data:                 not used
 * @vcpu:                 the vCPU that is about to enter its guest
 * @force_immediate_exit: not used
 *
 * Context: @vcpu's thread, interrupts off.
 */
void kvm_trace_on_entry(void *data, struct kvm_vcpu *vcpu,
			bool force_immediate_exit)
{
	u64 clock = READ_ONCE(kvm_trace_clock);
	u64 stamp = kvm_trace_stamp(clock);
	u64 now = READ_ONCE(kvm_trace_words) & TIME_WORDS ? local_clock() : 0;
	struct kvm_trace_vcpu *v = kvm_trace_vcpu_get(vcpu);
	s64 host_ns, guest_ns = 0;
	s64 untraced = 0;
	u64 growth;
	u16 flags;

	if (unlikely(!v)) {
		tell_lost(0, vcpu->vcpu_id);
		return;
	}
	growth = vcpu->stat.exits - v->exits;
	/* It falls if somebody has reset KVM's statistics. */
	if (unlikely(growth != 1) && (s64)growth >= 0)
		untraced = growth - 1;

	flags = flags_of_scheduling(v);
	if (trace_vcpu_enabled())
		check_vcpu_record(v);

	flags |= flags_of_counts(v, &vcpu->stat);
	if (unlikely(v->where < KVM_TRACE_IN_HOST)) {
		if (v->where == KVM_TRACE_UNSEEN) {
			tell_lost(v->vm->id, vcpu->vcpu_id);
			goto entered;
		}
		note_failed_entry(v);
	}

	host_ns = kvm_trace_ns(clock, v->exit_stamp, stamp);
	if (unlikely(host_ns < 0 || v->clock != clock)) {
		flags |= KVM_TRACE_F_CLAMPED;
		host_ns = 0;
	}
	if (now && v->entry_ns) {
		guest_ns = now - v->entry_ns - host_ns;
		if (unlikely(guest_ns < 0 || v->where == KVM_TRACE_IN_GUEST)) {
			/* The sum stays right, only the division may not be. */
			if (v->where != KVM_TRACE_IN_GUEST)
				flags |= KVM_TRACE_F_CLAMPED;
			now = max(now, v->entry_ns);
			host_ns = now - v->entry_ns;
			guest_ns = 0;
		}
	}
	if (host_ns >= READ_ONCE(kvm_trace_min_host_ns)) {
		if (v->hypercall.pending)
			kvm_trace_hypercall_done(v);
		if (trace_vmexit_enabled())
			emit_vmexit(v, vcpu, host_ns, guest_ns, now, untraced,
				    flags);
	} else {
		v->hypercall.pending = false;
	}
	v->record.seq++;
entered:
	v->exits = vcpu->stat.exits;
	v->path_flags = 0;
	v->entry_ns = now;
	v->entry_stamp = stamp;
	/* And is not changed while it looks without that it can tell. */
	smp_store_release(&v->where, KVM_TRACE_IN_GUEST);
}

/**
 * kvm_trace_on_userspace_exit() - probe of kvm_userspace_exit
 * @data:   not used
 * @reason: KVM_EXIT_*
 * @error:  0, or the error that KVM_RUN returns
 *
 * Context: the vCPU's thread, about to leave KVM_RUN; may sleep.
 */
void kvm_trace_on_userspace_exit(void *data, u32 reason, int error)
{
	struct kvm_trace_vcpu *v;

	/* Makes an RCU reader too, for less. */
	preempt_disable_notrace();
	v = kvm_trace_vcpu_of_current();
	if (v)
		WRITE_ONCE(v->path_flags,
			   v->path_flags | KVM_TRACE_F_USERSPACE);
	preempt_enable_notrace();
}
