/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PMU kvm_pt: events of perf whose AUX areas get what host or guests execute.
 */
#ifndef _KVM_TRACE_PT_PMU_H
#define _KVM_TRACE_PT_PMU_H

int kvm_trace_pt_pmu_init(void);
void kvm_trace_pt_pmu_exit(void);

#endif /* _KVM_TRACE_PT_PMU_H */
