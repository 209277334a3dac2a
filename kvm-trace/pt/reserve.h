/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps perf's own intel_pt off while kvm_pt owns the MSRs of Intel PT.
 */
#ifndef _KVM_TRACE_PT_RESERVE_H
#define _KVM_TRACE_PT_RESERVE_H

#include <linux/device.h>
#include <linux/kvm_trace.h>

enum kvm_trace_pt_why kvm_trace_pt_reserve(struct device *kvm_pt, int *error);
void kvm_trace_pt_release(void);
enum kvm_trace_pt_why kvm_trace_pt_reserve_cpu(unsigned int cpu);
bool kvm_trace_pt_has_cpu(unsigned int cpu);
void kvm_trace_pt_release_cpu(unsigned int cpu);

#endif /* _KVM_TRACE_PT_RESERVE_H */
