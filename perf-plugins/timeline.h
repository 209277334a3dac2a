/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline: records as a trace for Perfetto's UI and Chrome, in the Trace Event
 * Format (JSON): a process for each VM, a track for each vCPU. It is written as
 * records come; what stays is some bytes for each VM and vCPU.
 */
#ifndef _KVM_TRACE_TIMELINE_H
#define _KVM_TRACE_TIMELINE_H

#include "names.h"
#include "order.h"
#include "out.h"

/* How long exits are counted for each value of their rate. */
#define KVM_TRACE_TIMELINE_RATE_NS	10000000ull
/* Most VMs and vCPUs together; the records of others are left out. */
#define KVM_TRACE_TIMELINE_TRACKS_MAX	(1u << 19)

struct kvm_trace_timeline;

/**
 * kvm_trace_timeline_new() - begin a timeline
 * @out: where it is written
 * @names: names of VMs
 *
 * Return: the timeline, or NULL without memory for it.
 */
struct kvm_trace_timeline *kvm_trace_timeline_new(struct kvm_trace_out *out,
						  const struct kvm_trace_names *names);

/**
 * kvm_trace_timeline_add() - write a record
 * @timeline: the timeline
 * @item: the record, not earlier than those before on the same vCPU
 * @pid: process of its VM, 0 if not known
 */
void kvm_trace_timeline_add(struct kvm_trace_timeline *timeline,
			    const struct kvm_trace_item *item, __u32 pid);

/**
 * kvm_trace_timeline_call() - begin a slice of a guest's function, inside of those begun
 * @timeline: the timeline
 * @vm: the VM's number
 * @vcpu: the vCPU's
 * @ns: time, not less than that of the last call or return on this vCPU
 * @name: of the function, NULL if it is not known
 * @ip: where it begins; without a name, an address in it
 *
 * Return: false if there is no track for it.
 */
bool kvm_trace_timeline_call(struct kvm_trace_timeline *timeline, __u32 vm, __u16 vcpu, __u64 ns,
			     const char *name, __u64 ip);

/**
 * kvm_trace_timeline_return() - end the innermost slice of kvm_trace_timeline_call()
 * @timeline: the timeline
 * @vm: the VM's number
 * @vcpu: the vCPU's
 * @ns: as for kvm_trace_timeline_call()
 */
void kvm_trace_timeline_return(struct kvm_trace_timeline *timeline, __u32 vm, __u16 vcpu,
			       __u64 ns);

/**
 * kvm_trace_timeline_trace_lost() - write that functions are missing from here on
 * @timeline: the timeline
 * @vm: the VM's number
 * @vcpu: the vCPU's
 * @ns: time
 */
void kvm_trace_timeline_trace_lost(struct kvm_trace_timeline *timeline, __u32 vm, __u16 vcpu,
				   __u64 ns);

/**
 * kvm_trace_timeline_note() - write what is to be said of the recording, as an event
 * @timeline: the timeline
 * @text: what
 */
void kvm_trace_timeline_note(struct kvm_trace_timeline *timeline, const char *text);

/**
 * kvm_trace_timeline_finish() - write the end; nothing can be added after this
 * @timeline: the timeline
 */
void kvm_trace_timeline_finish(struct kvm_trace_timeline *timeline);

/**
 * kvm_trace_timeline_left_out() - what could not be written
 * @timeline: the timeline
 *
 * Return: number of records for which there was no track
 */
__u64 kvm_trace_timeline_left_out(const struct kvm_trace_timeline *timeline);

/**
 * kvm_trace_timeline_free() - free a timeline
 * @timeline: the timeline, or NULL
 */
void kvm_trace_timeline_free(struct kvm_trace_timeline *timeline);

#endif /* _KVM_TRACE_TIMELINE_H */
