// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instantiates the tracepoints, and learns from their registration who wants
 * them. perf and ftrace come through the event class, where hooks are attached
 * and an error reaches the caller; BPF's raw tracepoints come only through the
 * tracepoint's own callback, which must not attach anything itself.
 */
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/trace_events.h>

#include "batch.h"
#include "hooks.h"
#include "roundtrip.h"
#include "vcpu.h"

static int event_reg(struct trace_event_call *call, enum trace_reg type,
		     void *data);

/* The class initialisers name trace_event_reg: let them name ours instead. */
#define trace_event_reg event_reg
#define CREATE_TRACE_POINTS
#include "events.h"
#include "events_detail.h"
#include "events_batch.h"
#undef trace_event_reg

#define KVM_TRACE_VMEXIT_EVENT __alias(event_vmexit)
#include "perf.h"

static_assert(sizeof(struct trace_event_raw_vmexit) == KVM_TRACE_VMEXIT_SIZE);
#define SAME_PLACE(field, own)						\
	static_assert(offsetof(struct trace_event_raw_vmexit, field) ==	\
		      offsetof(struct kvm_trace_vmexit, own))
SAME_PLACE(host_ns, host_ns);
SAME_PLACE(vm, vm);
SAME_PLACE(seq, seq);
SAME_PLACE(__data_loc_tail, tail_loc);
SAME_PLACE(vcpu, vcpu);
SAME_PLACE(reason, reason);
SAME_PLACE(flags, flags);
SAME_PLACE(isa, isa);
SAME_PLACE(class, class);
static_assert(offsetof(struct trace_event_raw_vmexit, host_ns) == 8);
static_assert(offsetof(struct trace_event_raw_vmexit, vm) == 16);
static_assert(offsetof(struct trace_event_raw_vmexit, seq) == 20);
static_assert(offsetof(struct trace_event_raw_vmexit, __data_loc_tail) == 24);
static_assert(offsetof(struct trace_event_raw_vmexit, vcpu) == 28);
static_assert(offsetof(struct trace_event_raw_vmexit, reason) == 30);
static_assert(offsetof(struct trace_event_raw_vmexit, flags) == 32);
static_assert(offsetof(struct trace_event_raw_vmexit, isa) == 34);
static_assert(offsetof(struct trace_event_raw_vmexit, class) == 35);

static_assert(sizeof(struct trace_event_raw_hypercall) ==
	      KVM_TRACE_HYPERCALL_SIZE);
static_assert(offsetof(struct trace_event_raw_hypercall, vm) == 8);
static_assert(offsetof(struct trace_event_raw_hypercall, present) == 20);
static_assert(offsetof(struct trace_event_raw_hypercall, __data_loc_tail) == 24);
static_assert(offsetof(struct trace_event_raw_hypercall, vcpu) == 28);
static_assert(offsetof(struct trace_event_raw_hypercall, caller) == 31);

static_assert(sizeof(struct trace_event_raw_hypercall_sub) ==
	      KVM_TRACE_HYPERCALL_SUB_SIZE);
static_assert(offsetof(struct trace_event_raw_hypercall_sub, vm) == 8);
static_assert(offsetof(struct trace_event_raw_hypercall_sub, index) == 16);
static_assert(offsetof(struct trace_event_raw_hypercall_sub, nr) == 20);
static_assert(offsetof(struct trace_event_raw_hypercall_sub, present) == 24);
static_assert(offsetof(struct trace_event_raw_hypercall_sub, __data_loc_tail) ==
	      28);
static_assert(offsetof(struct trace_event_raw_hypercall_sub, vcpu) == 32);
static_assert(offsetof(struct trace_event_raw_hypercall_sub, kind) == 35);

static_assert(sizeof(struct trace_event_raw_pt) == KVM_TRACE_PT_SIZE);
static_assert(offsetof(struct trace_event_raw_pt, bytes) == 8);
static_assert(offsetof(struct trace_event_raw_pt, entries) == 16);
static_assert(offsetof(struct trace_event_raw_pt, tid) == 24);
static_assert(offsetof(struct trace_event_raw_pt, on_cpu) == 28);
static_assert(offsetof(struct trace_event_raw_pt, losses) == 32);
static_assert(offsetof(struct trace_event_raw_pt, what) == 36);
static_assert(offsetof(struct trace_event_raw_pt, why) == 37);
static_assert(offsetof(struct trace_event_raw_pt, config) == 38);

static_assert(sizeof(struct trace_event_raw_vcpu) == KVM_TRACE_VCPU_SIZE);
static_assert(offsetof(struct trace_event_raw_vcpu, vm) == 24);
static_assert(offsetof(struct trace_event_raw_vcpu, name) == 44);
static_assert(offsetof(struct trace_event_raw_vcpu, vcpu) == 84);
static_assert(offsetof(struct trace_event_raw_vcpu, abi_version) == 87);

static_assert(sizeof(struct trace_event_raw_lost) == KVM_TRACE_LOST_SIZE);
static_assert(offsetof(struct trace_event_raw_lost, vm) == 24);
static_assert(offsetof(struct trace_event_raw_lost, why) == 30);

static_assert(sizeof(struct trace_event_raw_vmexits) == KVM_TRACE_BATCH_SIZE);
#define SAME_PLACE_BATCH(field, own)						\
	static_assert(offsetof(struct trace_event_raw_vmexits, field) ==	\
		      offsetof(struct kvm_trace_batch_event, own))
SAME_PLACE_BATCH(check, check);
SAME_PLACE_BATCH(ns, ns);
SAME_PLACE_BATCH(stamp, stamp);
SAME_PLACE_BATCH(vm, vm);
SAME_PLACE_BATCH(seq, seq);
SAME_PLACE_BATCH(mult, mult);
SAME_PLACE_BATCH(__data_loc_data, data_loc);
SAME_PLACE_BATCH(vcpu, vcpu);
SAME_PLACE_BATCH(count, count);
SAME_PLACE_BATCH(isa, isa);
SAME_PLACE_BATCH(version, version);
SAME_PLACE_BATCH(shift, shift);
SAME_PLACE_BATCH(flags, flags);

DEFINE_STATIC_KEY_FALSE(kvm_trace_perf_vmexits);

/**
 * kvm_trace_perf_run_bpf() - have BPF programs of perf's events see a record
 * @record: the record
 *
 * Context: as of kvm_trace_perf_vmexit().
 */
void kvm_trace_perf_run_bpf(const struct kvm_trace_vmexit *record)
{
	perf_trace_vmexit(&event_vmexit, record);
}

/* perf's probe of vmexits, without a copy as well. */
static notrace void perf_vmexits(void *data, const struct kvm_trace_batch_event *event)
{
	struct kvm_trace_buffer *buffer =
		container_of(event, struct kvm_trace_buffer, batch.event);
	struct trace_event_call *call = data;
	struct hlist_head *head = this_cpu_ptr(call->perf_events);
	int size, rctx;

	if (unlikely(bpf_prog_array_valid(call))) {
		perf_trace_vmexits(data, event);
		return;
	}
	if (hlist_empty(head))
		return;
	rctx = perf_swevent_get_recursion_context();
	if (rctx < 0)
		return;
	perf_fetch_caller_regs(&buffer->regs);
	size = ALIGN(KVM_TRACE_BATCH_SIZE + (event->data_loc >> 16) +
		     sizeof(u32), sizeof(u64)) - sizeof(u32);
	perf_tp_event(call->event.type, 1, &buffer->batch.event, size,
		      &buffer->regs, head, rctx, NULL);
}

static int reg_perf(struct trace_event_call *call)
{
	if (call == &event_vmexits)
		return tracepoint_probe_register(call->tp, perf_vmexits, call);
	if (call != &event_vmexit)
		return trace_event_reg(call, TRACE_REG_PERF_REGISTER, NULL);
	static_branch_enable(&kvm_trace_perf_vmexits);
	kvm_trace_ask(KVM_TRACE_ASK_PERF, true);
	return 0;
}

static void unreg_perf(struct trace_event_call *call)
{
	if (call == &event_vmexit) {
		kvm_trace_ask(KVM_TRACE_ASK_PERF, false);
		static_branch_disable(&kvm_trace_perf_vmexits);
	} else if (call == &event_vmexits) {
		tracepoint_probe_unregister(call->tp, perf_vmexits, call);
	} else {
		trace_event_reg(call, TRACE_REG_PERF_UNREGISTER, NULL);
	}
}

static enum kvm_trace_event_id event_id(const struct trace_event_call *call)
{
	if (call == &event_hypercall)
		return KVM_TRACE_EVENT_HYPERCALL;
	if (call == &event_hypercall_sub)
		return KVM_TRACE_EVENT_HYPERCALL_SUB;
	if (call == &event_vmexits)
		return KVM_TRACE_EVENT_BATCH;
	if (call == &event_vcpu)
		return KVM_TRACE_EVENT_VCPU;
	if (call == &event_lost)
		return KVM_TRACE_EVENT_LOST;
	return KVM_TRACE_EVENT_VMEXIT;
}

static int reg(struct trace_event_call *call, enum kvm_trace_event_id id,
	       enum trace_reg type, void *data)
{
	int ret = kvm_trace_hooks_get(id);

	if (ret)
		return ret;
	ret = type == TRACE_REG_PERF_REGISTER ? reg_perf(call) :
	      trace_event_reg(call, type, data);
	if (ret)
		kvm_trace_hooks_put(id);
	else
		kvm_trace_new_consumer();
	return ret;
}

/* The event of Intel PT is made of no records, and attaches nothing. */
static int reg_pt(struct trace_event_call *call, enum trace_reg type, void *data)
{
	int ret;

	if (type == TRACE_REG_REGISTER && !try_module_get(THIS_MODULE))
		return -ENODEV;
	ret = trace_event_reg(call, type, data);
	if (type == TRACE_REG_UNREGISTER || (type == TRACE_REG_REGISTER && ret))
		module_put(THIS_MODULE);
	return ret;
}

/* The class's reg callback; under event_mutex, but for PERF_ADD and PERF_DEL. */
static int event_reg(struct trace_event_call *call, enum trace_reg type,
		     void *data)
{
	enum kvm_trace_event_id id = event_id(call);
	struct perf_event *event = data;
	int ret;

	if (call == &event_pt)
		return reg_pt(call, type, data);
	switch (type) {
	case TRACE_REG_REGISTER:
		/*
		 * ftrace holds no reference, and the kernel warns if a module
		 * goes whose event still has a trigger.
		 */
		if (!try_module_get(THIS_MODULE))
			return -ENODEV;
		if (id == KVM_TRACE_EVENT_BATCH)
			kvm_trace_batch_ftrace(true);
		ret = reg(call, id, type, data);
		if (ret && id == KVM_TRACE_EVENT_BATCH)
			kvm_trace_batch_ftrace(false);
		if (ret)
			module_put(THIS_MODULE);
		return ret;
	case TRACE_REG_PERF_REGISTER:
		return reg(call, id, type, data);
	case TRACE_REG_UNREGISTER:
		if (id == KVM_TRACE_EVENT_BATCH)
			kvm_trace_batch_ftrace(false);
		ret = trace_event_reg(call, type, data);
		kvm_trace_hooks_put(id);
		module_put(THIS_MODULE);
		return ret;
	case TRACE_REG_PERF_UNREGISTER:
		unreg_perf(call);
		kvm_trace_hooks_put(id);
		return 0;
	case TRACE_REG_PERF_OPEN:
	case TRACE_REG_PERF_CLOSE:
		if (id == KVM_TRACE_EVENT_BATCH)
			kvm_trace_batch_perf_open(event,
						  type == TRACE_REG_PERF_OPEN);
		return trace_event_reg(call, type, data);
	case TRACE_REG_PERF_ADD:
		/*
		 * Opened earlier, but it has not been able to see a record; a
		 * thread that inherits it is nobody new.
		 */
		if (!event->total_time_running && !event->parent)
			kvm_trace_new_consumer();
		if (id == KVM_TRACE_EVENT_BATCH)
			kvm_trace_batch_perf_add(event);
		return trace_event_reg(call, type, data);
	case TRACE_REG_PERF_DEL:
		if (id == KVM_TRACE_EVENT_BATCH)
			kvm_trace_batch_perf_del(event);
		fallthrough;
	default:
		return trace_event_reg(call, type, data);
	}
}

/* What events.h and events_detail.h name as the tracepoint's own callbacks. */
#define NOTE_PROBES(event, id)					\
int kvm_trace_##event##_reg(void)				\
{								\
	kvm_trace_hooks_note(KVM_TRACE_EVENT_##id, true);	\
	return 0;						\
}								\
								\
void kvm_trace_##event##_unreg(void)				\
{								\
	kvm_trace_hooks_note(KVM_TRACE_EVENT_##id, false);	\
}

NOTE_PROBES(vmexit, VMEXIT)
NOTE_PROBES(hypercall, HYPERCALL)
NOTE_PROBES(hypercall_sub, HYPERCALL_SUB)
NOTE_PROBES(vcpu, VCPU)
NOTE_PROBES(vmexits, BATCH)
NOTE_PROBES(lost, LOST)
