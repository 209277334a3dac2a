/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What guests executed as slices of a timeline, one for each function, nested as they call
 * each other, between the exits. perf decodes the trace; records are told by the caller.
 */
#ifndef _KVM_TRACE_FUNCTIONS_H
#define _KVM_TRACE_FUNCTIONS_H

#include <stdbool.h>
#include <linux/types.h>
#include "flow.h"
#include "symbols.h"
#include "timeline.h"

/* Most functions inside each other that are shown. */
#define KVM_TRACE_FUNCTIONS_DEPTH	40
/* Most slices that begin or end in a stay in the guest and wait for the time of its end. */
#define KVM_TRACE_FUNCTIONS_MARKS	4096
/* Most exits of a vCPU that wait for perf to decode what is before them. */
#define KVM_TRACE_FUNCTIONS_EXITS	256

struct kvm_trace_functions;

/**
 * kvm_trace_functions_new() - make function slices
 * @timeline: where they are written
 * @symbols: names of functions
 *
 * Return: the slices, or NULL without memory for them.
 */
struct kvm_trace_functions *kvm_trace_functions_new(struct kvm_trace_timeline *timeline,
						    struct kvm_trace_symbols *symbols);

/**
 * kvm_trace_functions_vcpu() - tell who a thread is; what others execute is not shown
 * @functions: the slices
 * @tid: thread that runs the vCPU
 * @vm: the VM's number
 * @vcpu: the vCPU's
 *
 * Return: false without memory.
 */
bool kvm_trace_functions_vcpu(struct kvm_trace_functions *functions, __u32 tid, __u32 vm,
			      __u16 vcpu);

/**
 * kvm_trace_functions_exit() - tell of a round trip, in their order on each thread
 * @functions: the slices
 * @tid: thread, of which kvm_trace_functions_vcpu() has told
 * @exit: time of the VM exit
 * @entry: time of the VM entry after it
 */
void kvm_trace_functions_exit(struct kvm_trace_functions *functions, __u32 tid, __u64 exit,
			      __u64 entry);

/**
 * kvm_trace_functions_step() - a sample
 * @functions: the slices
 * @step: the sample
 *
 * Return: false without memory.
 */
bool kvm_trace_functions_step(struct kvm_trace_functions *functions,
			      const struct kvm_trace_flow_step *step);

/**
 * kvm_trace_functions_finish() - write what waits
 * @functions: the slices
 *
 * Return: how many samples there were.
 */
__u64 kvm_trace_functions_finish(struct kvm_trace_functions *functions);

/**
 * kvm_trace_functions_free() - free the slices
 * @functions: the slices, or NULL
 */
void kvm_trace_functions_free(struct kvm_trace_functions *functions);

#endif /* _KVM_TRACE_FUNCTIONS_H */
