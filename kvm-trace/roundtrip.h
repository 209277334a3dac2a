/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The round trip: from a VM exit to the next VM entry of the same vCPU. Probes
 * that hooks.c attaches, and what users set.
 */
#ifndef _KVM_TRACE_ROUNDTRIP_H
#define _KVM_TRACE_ROUNDTRIP_H

#include <linux/kvm_host.h>
#include <linux/types.h>

/* Parameter: KVM_TRACE_W_* that records may hold. */
extern u64 kvm_trace_words;
/* Parameter: shortest host time, in ns, of a round trip that gets a record. */
extern unsigned long long kvm_trace_min_host_ns;

void kvm_trace_on_exit(void *data, struct kvm_vcpu *vcpu, u32 isa);
void kvm_trace_on_entry(void *data, struct kvm_vcpu *vcpu,
			bool force_immediate_exit);
void kvm_trace_on_userspace_exit(void *data, u32 reason, int error);

void kvm_trace_new_consumer(void);
void kvm_trace_forget_lost(void);

#endif /* _KVM_TRACE_ROUNDTRIP_H */
