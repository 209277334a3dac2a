// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a VM exit from the VMCB of AMD SVM: what isa.h does not do inline.
 * Knows nothing of records or time.
 */
#include <linux/kvm_host.h>
#include <linux/kvm_trace.h>

#include <asm/svm.h>

#include <kvm_trace/exit_reasons.h>

#include "isa.h"

/* APM vol. 2, 15.10.2: EXITINFO1 of an IOIO intercept, bit 0 is set for IN. */
#define SVM_IOIO_IN	BIT_ULL(0)
/*
 * APM vol. 2, 15.25.6: EXITINFO1 of a nested page fault. KVM sets a reserved
 * bit in the entries of pages that it knows to be MMIO.
 */
#define SVM_NPF_WRITE	BIT_ULL(1)
#define SVM_NPF_RSVD	BIT_ULL(3)
/* VMCB segment attributes: bits 55:52 and 47:40 of the descriptor, packed. */
#define SVM_ATTRIB_L	BIT(9)

#define CLASS_OF(code, name, class) \
	[code] = KVM_TRACE_CLASS_##class,
/* By exit code, for those below KVM_TRACE_SVM_REASON_END. */
const u8 kvm_trace_svm_class[] = {
	KVM_TRACE_SVM_REASONS(CLASS_OF)
};

static_assert(ARRAY_SIZE(kvm_trace_svm_class) == KVM_TRACE_SVM_REASON_END);

#define WIDE_ROW(code, name, class) { (u64)(code), KVM_TRACE_CLASS_##class },
static const struct {
	u64 code;
	u8 class;
} svm_wide[] = {
	KVM_TRACE_SVM_REASONS_WIDE(WIDE_ROW)
};

/**
 * kvm_trace_svm_class_wide() - class of a large exit code
 * @code: KVM_TRACE_SVM_REASON_END or more
 *
 * Return: the class
 */
u8 kvm_trace_svm_class_wide(u64 code)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(svm_wide); i++) {
		if (svm_wide[i].code == code)
			return svm_wide[i].class;
	}
	return KVM_TRACE_CLASS_unknown;
}

/**
 * kvm_trace_caller_svm() - who makes a hypercall
 * @vcpu: the vCPU whose exit is being handled
 *
 * Context: @vcpu's own thread.
 * Return: KVM_TRACE_CALLER_*
 */
u8 kvm_trace_caller_svm(struct kvm_vcpu *vcpu)
{
	const struct vmcb_save_area *save = &kvm_trace_vmcb(vcpu)->save;
	u8 caller;

	/* KVM too takes callers in protected guests for 64-bit ones. */
	if (vcpu->arch.guest_state_protected)
		return KVM_TRACE_CALLER_LONG_MODE;
	caller = save->cpl & KVM_TRACE_CALLER_CPL;
	if ((vcpu->arch.efer & EFER_LMA) && (save->cs.attrib & SVM_ATTRIB_L))
		caller |= KVM_TRACE_CALLER_LONG_MODE;
	if (vcpu->arch.hflags & HF_GUEST_MASK)
		caller |= KVM_TRACE_CALLER_NESTED;
	return caller;
}

/**
 * kvm_trace_read_svm_more() - the part of kvm_trace_read_svm() not needed always
 * @vcpu: the vCPU that left its guest
 * @vmcb: its VMCB
 * @want: KVM_TRACE_W_* words that the record may need
 * @exit: reason and class are set
 *
 * Context: see kvm_trace_read_svm().
 */
void kvm_trace_read_svm_more(struct kvm_vcpu *vcpu, const struct vmcb *vmcb,
			     u32 want, struct kvm_trace_exit *exit)
{
	const struct vmcb_control_area *control = &vmcb->control;
	u32 words = 0;

	switch (exit->class) {
	case KVM_TRACE_CLASS_io:
		if (!(control->exit_info_1 & SVM_IOIO_IN))
			exit->flags |= KVM_TRACE_F_WRITE;
		break;
	case KVM_TRACE_CLASS_msr_read:
		if (control->exit_info_1) {
			exit->class = KVM_TRACE_CLASS_msr_write;
			exit->flags |= KVM_TRACE_F_WRITE;
		}
		break;
	case KVM_TRACE_CLASS_cr:
	case KVM_TRACE_CLASS_dr:
		/* Codes of reads have bit 4 clear; the rest are writes. */
		if ((exit->reason & BIT(4)) || exit->reason >= SVM_EXIT_EXCP_BASE)
			exit->flags |= KVM_TRACE_F_WRITE;
		break;
	case KVM_TRACE_CLASS_page_fault:
		if (control->exit_info_1 & SVM_NPF_WRITE)
			exit->flags |= KVM_TRACE_F_WRITE;
		if (control->exit_info_1 & SVM_NPF_RSVD)
			exit->class = KVM_TRACE_CLASS_mmio;
		exit->gpa = control->exit_info_2;
		words |= KVM_TRACE_W_GPA;
		break;
	case KVM_TRACE_CLASS_entry_failure:
		exit->flags |= KVM_TRACE_F_ENTRY_FAILED;
		break;
	}

	if (vcpu->arch.guest_state_protected)
		exit->flags |= KVM_TRACE_F_PROTECTED;
	if (!want)
		return;
	if (!vcpu->arch.guest_state_protected) {
		exit->rip = vmcb->save.rip;
		words |= KVM_TRACE_W_RIP;
	}
	if ((want & KVM_TRACE_W_INFO1) && control->exit_info_1) {
		exit->info1 = control->exit_info_1;
		words |= KVM_TRACE_W_INFO1;
	}
	if ((want & KVM_TRACE_W_INFO2) && control->exit_info_2) {
		exit->info2 = control->exit_info_2;
		words |= KVM_TRACE_W_INFO2;
	}
	if ((want & KVM_TRACE_W_INTR_INFO) && control->exit_int_info) {
		exit->intr_info = control->exit_int_info;
		words |= KVM_TRACE_W_INTR_INFO;
	}
	if ((want & KVM_TRACE_W_ERROR_CODE) &&
	    (control->exit_int_info & SVM_EXITINTINFO_VALID) &&
	    (control->exit_int_info & SVM_EXITINTINFO_VALID_ERR) &&
	    control->exit_int_info_err) {
		exit->error_code = control->exit_int_info_err;
		words |= KVM_TRACE_W_ERROR_CODE;
	}
	exit->words |= words & want;
}
