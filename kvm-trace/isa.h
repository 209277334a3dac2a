/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of the ISA readers: what a VM exit looks like once it has
 * been read from the VMCS or the VMCB. Nothing here knows of records. The few
 * instructions that every exit of SVM needs are inline.
 */
#ifndef _KVM_TRACE_ISA_H
#define _KVM_TRACE_ISA_H

#include <linux/kvm_host.h>
#include <linux/types.h>

#include <asm/svm.h>

#include <kvm_trace/exit_reasons.h>

/**
 * struct kvm_trace_exit - a VM exit as its reader found it
 * @reason:	native exit reason, all its bits
 * @rip:	guest RIP, if KVM_TRACE_W_RIP is in @words
 * @gpa:	faulting guest-physical address, if KVM_TRACE_W_GPA is in @words
 * @info1:	EXITINFO1 or exit qualification
 * @info2:	EXITINFO2 or IDT-vectoring information
 * @intr_info:	EXITINTINFO 31:0 or VM-exit interruption information
 * @error_code:	error code that belongs to @intr_info
 * @words:	KVM_TRACE_W_*: which of the above hold a value that says something
 * @flags:	KVM_TRACE_F_* known at the exit
 * @class:	enum kvm_trace_class
 */
struct kvm_trace_exit {
	u64 reason;
	u64 rip;
	u64 gpa;
	u64 info1;
	u64 info2;
	u32 intr_info;
	u32 error_code;
	u32 words;
	u16 flags;
	u8 class;
};

extern const u8 kvm_trace_svm_class[];

u8 kvm_trace_svm_class_wide(u64 code);
void kvm_trace_read_svm_more(struct kvm_vcpu *vcpu, const struct vmcb *vmcb,
			     u32 want, struct kvm_trace_exit *exit);
u8 kvm_trace_caller_svm(struct kvm_vcpu *vcpu);

void kvm_trace_read_vmx(struct kvm_vcpu *vcpu, u32 want,
			struct kvm_trace_exit *exit);
u8 kvm_trace_caller_vmx(struct kvm_vcpu *vcpu);

/*
 * Classes of which more must be read than the code. A mask, so that all others
 * cost one test.
 */
#define KVM_TRACE_SVM_DETAIL						\
	(BIT_ULL(KVM_TRACE_CLASS_io) | BIT_ULL(KVM_TRACE_CLASS_msr_read) | \
	 BIT_ULL(KVM_TRACE_CLASS_cr) | BIT_ULL(KVM_TRACE_CLASS_dr) |	\
	 BIT_ULL(KVM_TRACE_CLASS_page_fault) |				\
	 BIT_ULL(KVM_TRACE_CLASS_entry_failure))

static_assert(KVM_TRACE_CLASS_COUNT <= 64);

/*
 * struct vcpu_svm starts with its struct kvm_vcpu, the VMCB pointer follows at
 * once. It is that of the guest that ran: vmcb02 for a nested one.
 */
static __always_inline const struct vmcb *kvm_trace_vmcb(struct kvm_vcpu *vcpu)
{
	return *(const struct vmcb **)(vcpu + 1);
}

/* One field of 64 bits since 7.3, before it exit_code and exit_code_hi. */
static __always_inline u64 kvm_trace_svm_code(const struct vmcb *vmcb)
{
	static_assert(offsetof(struct vmcb_control_area, exit_info_1) -
		      offsetof(struct vmcb_control_area, exit_code) ==
		      sizeof(u64));

	return *(const u64 *)((const char *)&vmcb->control +
			      offsetof(struct vmcb_control_area, exit_code));
}

/**
 * kvm_trace_read_svm() - read the exit that just happened from the VMCB
 * @vcpu: the vCPU that left its guest
 * @want: KVM_TRACE_W_* words that the record may need
 * @exit: where to put it; fields whose bit is not in exit->words mean nothing
 *
 * Context: kvm_exit tracepoint of @vcpu's own thread; does not sleep or fault.
 */
static __always_inline void kvm_trace_read_svm(struct kvm_vcpu *vcpu, u32 want,
					       struct kvm_trace_exit *exit)
{
	const struct vmcb *vmcb = kvm_trace_vmcb(vcpu);
	u64 code = kvm_trace_svm_code(vmcb);
	u32 words = 0;
	u8 class;

	if (likely(code < KVM_TRACE_SVM_REASON_END)) {
		class = kvm_trace_svm_class[code];
	} else {
		class = kvm_trace_svm_class_wide(code);
		words = code >> 16 ? KVM_TRACE_W_REASON_HI : 0;
	}
	exit->reason = code;
	exit->class = class;
	exit->flags = 0;
	exit->words = words;
	if (want || (BIT_ULL(class) & KVM_TRACE_SVM_DETAIL) ||
	    unlikely(vcpu->arch.guest_state_protected))
		kvm_trace_read_svm_more(vcpu, vmcb, want, exit);
}

#endif /* _KVM_TRACE_ISA_H */
