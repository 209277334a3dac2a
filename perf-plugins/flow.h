/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What guests executed, by Intel PT, with the records of their exits in place: perf decodes
 * the trace, and gives instructions and branches. Records are told by the caller.
 */
#ifndef _KVM_TRACE_FLOW_H
#define _KVM_TRACE_FLOW_H

#include <stdbool.h>
#include <linux/types.h>
#include "out.h"
#include "symbols.h"

/**
 * enum kvm_trace_flow_what - what is shown of a flow
 * @KVM_TRACE_FLOW_NONE: nothing
 * @KVM_TRACE_FLOW_FUNCTIONS: where it begins and ends, calls, returns, and what else leads
 *	from a function to another
 * @KVM_TRACE_FLOW_INSTRUCTIONS: each instruction
 */
enum kvm_trace_flow_what {
	KVM_TRACE_FLOW_NONE,
	KVM_TRACE_FLOW_FUNCTIONS,
	KVM_TRACE_FLOW_INSTRUCTIONS,
};

/**
 * struct kvm_trace_flow_step - a sample that perf made of a trace
 * @tid: thread
 * @flags: PERF_DLFILTER_FLAG_*
 * @ns: time
 * @branch: it is of a branch; else of an instruction
 * @from: the instruction
 * @to: of a branch: where it went
 * @bytes: of the instruction, or NULL
 * @size: how many
 */
struct kvm_trace_flow_step {
	__u32 tid, flags;
	__u64 ns;
	bool branch;
	struct kvm_trace_place from, to;
	const __u8 *bytes;
	__u32 size;
};

struct kvm_trace_flow;

/**
 * kvm_trace_flow_new() - make a flow
 * @out: where it is shown
 * @what: what of it
 * @only_known: only of threads of which a record came first: others are not wanted
 * @symbols: names of functions
 *
 * Return: the flow, or NULL without memory for it.
 */
struct kvm_trace_flow *kvm_trace_flow_new(struct kvm_trace_out *out, enum kvm_trace_flow_what what,
					  bool only_known,
					  const struct kvm_trace_symbols *symbols);

/**
 * kvm_trace_flow_record() - a line that belongs between two stays in the guest
 * @flow: the flow
 * @tid: thread that runs the vCPU
 * @vm: the VM's number
 * @vcpu: the vCPU's
 * @ns: time of the VM entry after it
 * @line: the line
 *
 * Return: false without memory.
 */
bool kvm_trace_flow_record(struct kvm_trace_flow *flow, __u32 tid, __u32 vm, __u16 vcpu, __u64 ns,
			   const char *line);

/**
 * kvm_trace_flow_step() - a sample
 * @flow: the flow
 * @step: the sample
 *
 * Return: false without memory.
 */
bool kvm_trace_flow_step(struct kvm_trace_flow *flow, const struct kvm_trace_flow_step *step);

/**
 * kvm_trace_flow_finish() - show what is held back
 * @flow: the flow
 *
 * Return: how many samples there were.
 */
__u64 kvm_trace_flow_finish(struct kvm_trace_flow *flow);

/**
 * kvm_trace_flow_free() - free a flow
 * @flow: the flow, or NULL
 */
void kvm_trace_flow_free(struct kvm_trace_flow *flow);

#endif /* _KVM_TRACE_FLOW_H */
