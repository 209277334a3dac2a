/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The accesses of pt/switch.c on real processors.
 */
#ifndef _KVM_TRACE_PT_OPS_H
#define _KVM_TRACE_PT_OPS_H

#include "switch.h"

extern const struct kvm_trace_pt_ops kvm_trace_pt_hw_ops;

bool kvm_trace_pt_rdmsr(u32 msr, u64 *value);

#endif /* _KVM_TRACE_PT_OPS_H */
