/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The round trip: from a VM exit to the next VM entry of the same vCPU. Probes
 * that hooks.c attaches, and what users set.
 */
#ifndef _KVM_TRACE_ROUNDTRIP_H
#define _KVM_TRACE_ROUNDTRIP_H

#include <linux/kvm_host.h>
#include <linux/types.h>

/* KVM_TRACE_W_* that are collected: some consumer wants them. */
extern u64 kvm_trace_words;
/* Parameter: KVM_TRACE_W_* that vmexit records may hold. */
extern u64 kvm_trace_vmexit_words;
/* Parameter: shortest host time, in ns, of a round trip that gets a record. */
extern unsigned long long kvm_trace_min_host_ns;

/* What may be asked of round trips. */
enum kvm_trace_ask {
	KVM_TRACE_ASK_PERF,		/* vmexit records for perf */
	KVM_TRACE_ASK_VMEXIT,		/* vmexit records for others */
	KVM_TRACE_ASK_BATCHES,
	KVM_TRACE_ASK_VCPU,		/* vcpu records */
	KVM_TRACE_ASK_WORDS,
	KVM_TRACE_ASK_MIN_HOST_NS,
	KVM_TRACE_ASK_LOCAL_CLOCK,	/* the TSC was given up */
};

void kvm_trace_on_exit_svm(void *data, struct kvm_vcpu *vcpu, u32 isa);
void kvm_trace_on_exit_vmx(void *data, struct kvm_vcpu *vcpu, u32 isa);
void kvm_trace_on_entry(void *data, struct kvm_vcpu *vcpu,
			bool force_immediate_exit);
void kvm_trace_on_userspace_exit(void *data, u32 reason, int error);

void kvm_trace_ask(enum kvm_trace_ask what, bool on);
void kvm_trace_new_consumer(void);
void kvm_trace_forget_lost(void);

#endif /* _KVM_TRACE_ROUNDTRIP_H */
