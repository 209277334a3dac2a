/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How perf gets vmexit records: not through their tracepoint, but by a call from
 * where they are made. Events of all other kinds reach perf as any event does.
 */
#ifndef _KVM_TRACE_PERF_H
#define _KVM_TRACE_PERF_H

#include <linux/jump_label.h>
#include <linux/perf_event.h>
#include <linux/trace_events.h>

#include "vcpu.h"

/* On while perf has the event vmexit. */
DECLARE_STATIC_KEY_FALSE(kvm_trace_perf_vmexits);
/* That event; events.c has it as TRACE_EVENT names it. */
#ifndef KVM_TRACE_VMEXIT_EVENT
#define KVM_TRACE_VMEXIT_EVENT
#endif
extern struct trace_event_call kvm_trace_vmexit_event KVM_TRACE_VMEXIT_EVENT;

void kvm_trace_perf_run_bpf(const struct kvm_trace_vmexit *record);

static __always_inline bool kvm_trace_perf_wants_vmexit(void)
{
	return static_branch_unlikely(&kvm_trace_perf_vmexits);
}

/**
 * kvm_trace_perf_vmexit() - give perf the record of a round trip
 * @v:    the vCPU; its record is complete
 * @tail: bytes used in the record's tail
 *
 * The probe that TRACE_EVENT makes for perf copies a record into a buffer of
 * perf's; ours has the event's layout already. perf gets the registers that
 * perf_fetch_caller_regs() fills in, of which one changes.
 *
 * Context: @v's own thread, preemption off.
 */
static __always_inline void kvm_trace_perf_vmexit(struct kvm_trace_vcpu *v,
						  unsigned int tail)
{
	struct trace_event_call *call = &kvm_trace_vmexit_event;
	struct hlist_head *head;
	int size, rctx;

	if (unlikely(bpf_prog_array_valid(call))) {
		kvm_trace_perf_run_bpf(&v->record);
		return;
	}
	head = this_cpu_ptr(call->perf_events);
	if (hlist_empty(head))
		return;
	rctx = perf_swevent_get_recursion_context();
	if (unlikely(rctx < 0))
		return;
	v->regs.sp = current_stack_pointer;
	/* perf puts a u32 before it and wants the sum to be a multiple of 8. */
	size = ALIGN(KVM_TRACE_VMEXIT_SIZE + tail + sizeof(u32), sizeof(u64)) -
	       sizeof(u32);
	perf_tp_event(call->event.type, 1, &v->record, size, &v->regs, head,
		      rctx, NULL);
}

#endif /* _KVM_TRACE_PERF_H */
