/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams on the CPU that they run on: from pmu->start to pmu->stop. Which events
 * there may be is pmu.c's.
 */
#ifndef _KVM_TRACE_PT_STREAM_H
#define _KVM_TRACE_PT_STREAM_H

#include <linux/kvm_host.h>
#include <linux/kvm_trace.h>
#include <linux/perf_event.h>

#include "switch.h"

/**
 * struct kvm_trace_pt_event - an event of kvm_pt
 * @list:	entry of all
 * @perf:	perf's
 * @side:	its stream
 * @method:	of a guest's stream
 * @config:	see kvm_trace_detail:pt, as all below
 * @tid:	-
 * @losses:	-
 * @ctl:	IA32_RTIT_CTL but for address ranges
 * @range_ctl:	their bits
 * @range:	IA32_RTIT_ADDRn_A and _B
 */
struct kvm_trace_pt_event {
	struct list_head list;
	struct perf_event *perf;
	enum kvm_trace_pt_side side;
	enum kvm_trace_pt_method method;
	u16 config;
	u32 tid;
	u32 losses;
	u64 ctl;
	u64 range_ctl;
	u64 range[2 * KVM_TRACE_PT_MAX_RANGES];
};

void kvm_trace_pt_streams_init(void);
void kvm_trace_pt_streams_exit(void);
bool kvm_trace_pt_streams_left(void);
void kvm_trace_pt_cpu_up(void);
bool kvm_trace_pt_cpu_down(void);
void kvm_trace_pt_suspend(void);
void kvm_trace_pt_resume(void);

int kvm_trace_pt_stream_start(struct kvm_trace_pt_event *event);
void kvm_trace_pt_stream_stop(struct kvm_trace_pt_event *event);
void kvm_trace_pt_tell(const struct kvm_trace_pt_event *event, u8 what, u8 why, u64 bytes,
		       u64 entries);

/* Called when nothing is left any more that had been: see pmu.c. */
void kvm_trace_pt_all_undone(void);
#ifdef KVM_TRACE_PT_SVM
/* This KVM fires kvm_exit too late; known once it has. */
extern bool kvm_trace_pt_late_exit;
#endif

void kvm_trace_pt_on_entry(void *data, struct kvm_vcpu *vcpu, bool force_immediate_exit);
void kvm_trace_pt_on_exit(void *data, struct kvm_vcpu *vcpu, u32 isa);
void kvm_trace_pt_on_fpu(void *data, int load);
void kvm_trace_pt_on_userspace_exit(void *data, u32 reason, int error);
void kvm_trace_pt_on_nested_failed(void *data, const char *message, u32 error);
void kvm_trace_pt_on_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state);

#endif /* _KVM_TRACE_PT_STREAM_H */
