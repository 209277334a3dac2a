// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a VM exit from the VMCB of AMD SVM: what isa.h does not do inline.
 * Knows nothing of records or time.
 */
#include <linux/kvm_host.h>
#include <linux/kvm_trace.h>

#include <asm/svm.h>

#include <kvm_trace/exit_reasons.h>

#include "detail.h"
#include "isa.h"

/* EXITINFO1 of an IOIO intercept, a bit for each size; IN is in isa.h. */
#define SVM_IOIO_STRING		BIT_ULL(2)
#define SVM_IOIO_REP		BIT_ULL(3)
#define SVM_IOIO_SIZE_SHIFT	4
#define SVM_IOIO_SIZE		7u
#define SVM_IOIO_PORT		0xffff0000u
/* APM vol. 2, 15.8.1: EXITINFO1 of a MOV CR, with decode assists. */
#define SVM_CR_VALID		BIT_ULL(63)
#define SVM_CR_GPR		0xfu
/* VMCB segment attributes: bits 55:52 and 47:40 of the descriptor, packed. */
#define SVM_ATTRIB_L	BIT(9)

/* Codes of reads have bit 4 clear; the rest are writes. */
#define WRITES(code)		((code) & BIT(4) || (code) >= SVM_EXIT_EXCP_BASE)
#define FLAGS_OF(code, class)						\
	((class) == KVM_TRACE_CLASS_io || (class) == KVM_TRACE_CLASS_msr_read || \
	 (class) == KVM_TRACE_CLASS_page_fault ? KVM_TRACE_KIND_MORE :	\
	 ((class) == KVM_TRACE_CLASS_cr || (class) == KVM_TRACE_CLASS_dr) && \
	 WRITES(code) ? KVM_TRACE_F_WRITE :				\
	 (class) == KVM_TRACE_CLASS_entry_failure ? KVM_TRACE_F_ENTRY_FAILED : 0)
#define KIND_OF(code, class)	KVM_TRACE_SVM_KIND(class, FLAGS_OF(code, class))

#define KIND_ROW(code, name, class) \
	[code] = KIND_OF(code, KVM_TRACE_CLASS_##class),

__diag_push();
__diag_ignore_all("-Woverride-init", "codes that have no name");

/* By exit code, for those below KVM_TRACE_SVM_REASON_END. */
const u32 kvm_trace_svm_kind[] = {
	[0 ... KVM_TRACE_SVM_REASON_END - 1] =
		KVM_TRACE_SVM_KIND(KVM_TRACE_CLASS_unknown, 0),
	KVM_TRACE_SVM_REASONS(KIND_ROW)
};

__diag_pop();

static_assert(ARRAY_SIZE(kvm_trace_svm_kind) == KVM_TRACE_SVM_REASON_END);

#define WIDE_ROW(code, name, class) \
	{ (u64)(code), KIND_OF(0, KVM_TRACE_CLASS_##class) },
static const struct {
	u64 code;
	u32 kind;
} svm_wide[] = {
	KVM_TRACE_SVM_REASONS_WIDE(WIDE_ROW)
};

/**
 * kvm_trace_svm_kind_wide() - what an exit with a large code is
 * @code: KVM_TRACE_SVM_REASON_END or more
 *
 * Return: the kind
 */
u32 kvm_trace_svm_kind_wide(u64 code)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(svm_wide); i++) {
		if (svm_wide[i].code == code)
			return svm_wide[i].kind;
	}
	return KVM_TRACE_SVM_KIND(KVM_TRACE_CLASS_unknown, 0);
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
 * kvm_trace_apicv_svm() - whether interrupts reach the guest without KVM
 * @vcpu: the vCPU that is about to enter its guest
 *
 * Context: kvm_entry tracepoint of @vcpu's own thread.
 * Return: true if AVIC is on
 */
bool kvm_trace_apicv_svm(struct kvm_vcpu *vcpu)
{
	return kvm_trace_vmcb(vcpu)->control.int_ctl & AVIC_ENABLE_MASK;
}

/**
 * kvm_trace_old_rip_svm() - guest RIP at the exit, asked for until the entry
 * @vcpu: the vCPU that has left its guest; its state is not protected, it is at
 *        the level of nesting of the exit
 *
 * KVM writes RIP to the VMCB after its kvm_entry tracepoint.
 *
 * Context: @vcpu's own thread, from kvm_exit to kvm_entry.
 * Return: RIP
 */
u64 kvm_trace_old_rip_svm(struct kvm_vcpu *vcpu)
{
	return kvm_trace_vmcb(vcpu)->save.rip;
}

/**
 * kvm_trace_stack_svm() - where the guest's stack was at the exit
 * @vcpu:   the vCPU whose exit is being handled
 * @caller: KVM_TRACE_CALLER_* of the code that caused it
 *
 * Context: @vcpu's own thread.
 * Return: linear address of its top
 */
u64 kvm_trace_stack_svm(struct kvm_vcpu *vcpu, u8 caller)
{
	const struct vmcb_save_area *save = &kvm_trace_vmcb(vcpu)->save;

	if (caller & KVM_TRACE_CALLER_LONG_MODE)
		return save->rsp;
	return (u32)(save->ss.base + save->rsp);
}

/* Operands of an IOIO intercept, as KVM_TRACE_W_IO. */
static u32 io_of(u64 info)
{
	u32 io = (info & SVM_IOIO_PORT) |
		 ((info >> SVM_IOIO_SIZE_SHIFT) & SVM_IOIO_SIZE);

	if (info & SVM_IOIO_IN)
		io |= KVM_TRACE_IO_IN;
	if (info & SVM_IOIO_STRING)
		io |= KVM_TRACE_IO_STRING;
	if (info & SVM_IOIO_REP)
		io |= KVM_TRACE_IO_REP;
	return io;
}

static void read_cr(struct kvm_vcpu *vcpu, u64 info, u64 want,
		    struct kvm_trace_exit *exit)
{
	/* The selective intercept of CR0 is the only one that has no number. */
	exit->cr = exit->reason == SVM_EXIT_CR0_SEL_WRITE ? 0 :
		   exit->reason & KVM_TRACE_CR_NUMBER;
	if (!(exit->flags & KVM_TRACE_F_WRITE))
		exit->cr |= KVM_TRACE_CR_MOV_FROM << KVM_TRACE_CR_KIND_SHIFT;
	if (info & SVM_CR_VALID)
		exit->gpr = info & SVM_CR_GPR;
	if (want & KVM_TRACE_W_CR)
		kvm_trace_set_word(exit, KVM_TRACE_W_CR, exit->cr);
	if ((want & KVM_TRACE_W_CR_VALUE) && (info & SVM_CR_VALID) &&
	    (exit->flags & KVM_TRACE_F_WRITE))
		kvm_trace_set_word(exit, KVM_TRACE_W_CR_VALUE,
				   kvm_trace_gpr(vcpu, exit->gpr,
						 kvm_trace_caller_svm(vcpu)));
}

static void read_exception(const struct vmcb_control_area *control,
			   struct kvm_trace_exit *exit)
{
	u64 value = exit->reason - SVM_EXIT_EXCP_BASE;

	if (KVM_TRACE_HAS_ERROR_CODE(value))
		value |= KVM_TRACE_EXCEPTION_ERR |
			 control->exit_info_1 << KVM_TRACE_EXCEPTION_CODE_SHIFT;
	kvm_trace_set_word(exit, KVM_TRACE_W_EXCEPTION, value);
}

static noinline void read_words(struct kvm_vcpu *vcpu, const struct vmcb *vmcb,
				u64 want, struct kvm_trace_exit *exit)
{
	const struct vmcb_control_area *control = &vmcb->control;
	bool protected = vcpu->arch.guest_state_protected;

	switch (exit->class) {
	case KVM_TRACE_CLASS_io:
		if (want & KVM_TRACE_WORDS_IO)
			exit->io = io_of(control->exit_info_1);
		if (want & KVM_TRACE_W_IO)
			kvm_trace_set_word(exit, KVM_TRACE_W_IO, exit->io);
		break;
	case KVM_TRACE_CLASS_cr:
		if (!protected && (want & KVM_TRACE_WORDS_CR))
			read_cr(vcpu, control->exit_info_1, want, exit);
		break;
	case KVM_TRACE_CLASS_page_fault:
	case KVM_TRACE_CLASS_mmio:
		if ((want & KVM_TRACE_W_GPA) && exit->reason == SVM_EXIT_NPF)
			kvm_trace_set_word(exit, KVM_TRACE_W_GPA,
					   control->exit_info_2);
		break;
	case KVM_TRACE_CLASS_exception:
		if (want & KVM_TRACE_W_EXCEPTION)
			read_exception(control, exit);
		break;
	}

	if ((want & KVM_TRACE_W_RIP) && !protected)
		kvm_trace_set_word(exit, KVM_TRACE_W_RIP, vmcb->save.rip);
	if ((want & KVM_TRACE_W_INFO1) && control->exit_info_1)
		kvm_trace_set_word(exit, KVM_TRACE_W_INFO1,
				   control->exit_info_1);
	if ((want & KVM_TRACE_W_INFO2) && control->exit_info_2)
		kvm_trace_set_word(exit, KVM_TRACE_W_INFO2,
				   control->exit_info_2);
	if ((want & KVM_TRACE_W_INTR_INFO) &&
	    (control->exit_int_info & SVM_EXITINTINFO_VALID))
		kvm_trace_set_word(exit, KVM_TRACE_W_INTR_INFO,
				   control->exit_int_info);
	if ((want & KVM_TRACE_W_ERROR_CODE) &&
	    (control->exit_int_info & SVM_EXITINTINFO_VALID) &&
	    (control->exit_int_info & SVM_EXITINTINFO_VALID_ERR) &&
	    control->exit_int_info_err)
		kvm_trace_set_word(exit, KVM_TRACE_W_ERROR_CODE,
				   control->exit_int_info_err);
	if ((want & KVM_TRACE_WORDS_OPERANDS) && !protected)
		kvm_trace_detail_exit(vcpu, want, exit);
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
			     u64 want, struct kvm_trace_exit *exit)
{
	exit->flags_hi = 0;
	exit->gpr = KVM_TRACE_NO_GPR;
	if (vcpu->arch.guest_state_protected)
		exit->flags |= KVM_TRACE_F_PROTECTED;
	if (exit->reason == SVM_EXIT_NPF &&
	    (vmcb->control.exit_info_1 & SVM_NPF_FETCH))
		exit->flags_hi = KVM_TRACE_F2_FETCH;
	if (want)
		read_words(vcpu, vmcb, want, exit);
}
