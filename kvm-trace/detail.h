/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words of a record that stand in the guest's registers, the same for both
 * vendors: operands at the exit, results at the entry.
 */
#ifndef _KVM_TRACE_DETAIL_H
#define _KVM_TRACE_DETAIL_H

#include "isa.h"

#define KVM_TRACE_WORDS_CPUID_RESULTS	(KVM_TRACE_W_CPUID_AX_BX | \
					 KVM_TRACE_W_CPUID_CX_DX)

/* Words that kvm_trace_detail_exit() knows. */
#define KVM_TRACE_WORDS_OPERANDS					\
	(KVM_TRACE_W_MSR | KVM_TRACE_W_MSR_VALUE | KVM_TRACE_W_CPUID_LEAF | \
	 KVM_TRACE_W_CPUID_INDEX | KVM_TRACE_W_IO_VALUE |		\
	 KVM_TRACE_W_HYPERCALL)

/* Words that kvm_trace_detail_entry() knows. */
#define KVM_TRACE_WORDS_RESULTS						\
	(KVM_TRACE_WORDS_CPUID_RESULTS | KVM_TRACE_W_MSR_VALUE |	\
	 KVM_TRACE_W_IO_VALUE | KVM_TRACE_W_CR_VALUE)

void kvm_trace_detail_exit(const struct kvm_vcpu *vcpu, u64 want,
			   struct kvm_trace_exit *exit);
void kvm_trace_detail_entry(struct kvm_vcpu *vcpu, u64 want, u8 isa,
			    struct kvm_trace_exit *exit);
bool kvm_trace_completed(struct kvm_vcpu *vcpu, u8 isa);

#endif /* _KVM_TRACE_DETAIL_H */
