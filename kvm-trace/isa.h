/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of the ISA readers: what a VM exit looks like once it has
 * been read from the VMCS or the VMCB. The few instructions that every exit needs
 * are inline; of the usual ones they fill in the record at once.
 */
#ifndef _KVM_TRACE_ISA_H
#define _KVM_TRACE_ISA_H

#include <linux/kvm_host.h>
#include <linux/kvm_trace.h>
#include <linux/types.h>

#include <asm/asm.h>
#include <asm/svm.h>
#include <asm/vmx.h>

#include <kvm_trace/exit_reasons.h>

#include "record.h"

/* Number of a presence bit, from its mask. */
#define KVM_TRACE_BIT(word)	__builtin_ctzll(word)
#define KVM_TRACE_WORD_COUNT	(KVM_TRACE_BIT(KVM_TRACE_W_HOST_VECTOR) + 1)

/* Of kvm_trace_exit.gpr: no register, or it is not known. */
#define KVM_TRACE_NO_GPR	0xff

/**
 * struct kvm_trace_exit - a VM exit as its reader found it
 * @reason:	native exit reason, all its bits
 * @words:	KVM_TRACE_W_*: which of @word hold a value that says something
 * @flags:	KVM_TRACE_F_* known at the exit
 * @class:	enum kvm_trace_class
 * @gpr:	of class cr, if words of it are wanted: number of the general
 *		register moved to or from, or KVM_TRACE_NO_GPR; of msr_* the
 *		latter, unless the index is an immediate
 * @cr:		of class cr, if words of it are wanted: as KVM_TRACE_W_CR
 * @io:		of class io, if words of it are wanted: as KVM_TRACE_W_IO
 * @event:	of class exception on VMX: VM-exit interruption information
 * @flags_hi:	KVM_TRACE_F2_* known at the exit, if wanted
 * @word:	values by KVM_TRACE_BIT(); those that are not in @words are old
 */
struct kvm_trace_exit {
	u64 reason;
	u64 words;
	u16 flags;
	u8 class;
	u8 gpr;
	u32 cr;
	u32 io;
	u32 event;
	u32 flags_hi;
	u64 word[KVM_TRACE_WORD_COUNT];
};

static __always_inline void kvm_trace_set_word(struct kvm_trace_exit *exit,
					       u64 word, u64 value)
{
	exit->word[KVM_TRACE_BIT(word)] = value;
	exit->words |= word;
}

/**
 * kvm_trace_gpr() - a general register as the guest's code sees it
 * @vcpu:   the vCPU; its state is not protected
 * @gpr:    number of the register
 * @caller: KVM_TRACE_CALLER_* of that code
 *
 * Context: kvm_exit or kvm_entry tracepoint of @vcpu's own thread. On VMX RSP
 * is not up to date at kvm_exit.
 * Return: its value
 */
static __always_inline u64 kvm_trace_gpr(const struct kvm_vcpu *vcpu,
					 unsigned int gpr, u8 caller)
{
	u64 value = vcpu->arch.regs[gpr];

	return caller & KVM_TRACE_CALLER_LONG_MODE ? value : (u32)value;
}

/* Words that depend on the operands of an exit of class io, or cr. */
#define KVM_TRACE_WORDS_IO	(KVM_TRACE_W_IO | KVM_TRACE_W_IO_VALUE | \
				 KVM_TRACE_W_IO_COUNT)
#define KVM_TRACE_WORDS_CR	(KVM_TRACE_W_CR | KVM_TRACE_W_CR_VALUE)

/* Exceptions that have an error code: DF, TS, NP, SS, GP, PF, AC, CP, VC, SX. */
#define KVM_TRACE_HAS_ERROR_CODE(vector)	\
	((vector) < 32 && (BIT(vector) & 0x60227d00))

extern const u32 kvm_trace_svm_kind[];

u32 kvm_trace_svm_kind_wide(u64 code);
void kvm_trace_read_svm_more(struct kvm_vcpu *vcpu, const struct vmcb *vmcb,
			     u64 want, struct kvm_trace_exit *exit);
u8 kvm_trace_caller_svm(struct kvm_vcpu *vcpu);
bool kvm_trace_apicv_svm(struct kvm_vcpu *vcpu);
u64 kvm_trace_old_rip_svm(struct kvm_vcpu *vcpu);
u64 kvm_trace_stack_svm(struct kvm_vcpu *vcpu, u8 caller);

void kvm_trace_read_vmx(struct kvm_vcpu *vcpu, u64 want,
			struct kvm_trace_exit *exit);
u8 kvm_trace_caller_vmx(struct kvm_vcpu *vcpu);
bool kvm_trace_apicv_vmx(void);
u64 kvm_trace_old_rip_vmx(void);
u64 kvm_trace_stack_vmx(u8 caller);
bool kvm_trace_cr3_vmx(const struct kvm_vcpu *vcpu, u64 *cr3);

/*
 * What an exit is, in the layout of a vmexit record: flags, ISA and class, of which
 * SVM's exit code alone tells most.
 */
#define KVM_TRACE_SVM_KIND(class, flags)				\
	((u32)(class) << 24 | KVM_TRACE_ISA_SVM << 16 | (flags))
#define KVM_TRACE_KIND_FLAGS(kind)	((u16)(kind))
#define KVM_TRACE_KIND_CLASS(kind)	((u8)((kind) >> 24))
/* Not a flag yet: EXITINFO1 tells the rest. */
#define KVM_TRACE_KIND_MORE		KVM_TRACE_F_MORE

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

/* APM vol. 2, 15.10.2: EXITINFO1 of an IOIO intercept. */
#define SVM_IOIO_IN	BIT_ULL(0)
/*
 * APM vol. 2, 15.25.6: EXITINFO1 of a nested page fault. KVM sets a reserved
 * bit in the entries of pages that it knows to be MMIO.
 */
#define SVM_NPF_WRITE	BIT_ULL(1)
#define SVM_NPF_RSVD	BIT_ULL(3)
#define SVM_NPF_FETCH	BIT_ULL(4)

/**
 * kvm_trace_svm_kind_of() - what an exit of KVM_TRACE_KIND_MORE is
 * @kind: of kvm_trace_svm_kind[]
 * @info: EXITINFO1
 *
 * Return: the kind
 */
static __always_inline u32 kvm_trace_svm_kind_of(u32 kind, u64 info)
{
	switch (kind) {
	/* The dearest path of a lean record: KVM_RUN returns after it as well. */
	case KVM_TRACE_SVM_KIND(KVM_TRACE_CLASS_io, KVM_TRACE_KIND_MORE):
		return KVM_TRACE_SVM_KIND(KVM_TRACE_CLASS_io, KVM_TRACE_F_WRITE) ^
		       (info & SVM_IOIO_IN) * KVM_TRACE_F_WRITE;
	case KVM_TRACE_SVM_KIND(KVM_TRACE_CLASS_msr_read, KVM_TRACE_KIND_MORE):
		return info ? KVM_TRACE_SVM_KIND(KVM_TRACE_CLASS_msr_write,
						 KVM_TRACE_F_WRITE) :
			      KVM_TRACE_SVM_KIND(KVM_TRACE_CLASS_msr_read, 0);
	default:
		return KVM_TRACE_SVM_KIND(info & SVM_NPF_RSVD ?
					  KVM_TRACE_CLASS_mmio :
					  KVM_TRACE_CLASS_page_fault,
					  info & SVM_NPF_WRITE ?
					  KVM_TRACE_F_WRITE : 0);
	}
}

/**
 * kvm_trace_read_svm() - read the exit that just happened from the VMCB
 * @vcpu: the vCPU that left its guest
 * @want: KVM_TRACE_W_* words that the record may need
 * @exit: where to put it
 *
 * Context: kvm_exit tracepoint of @vcpu's own thread; does not sleep or fault.
 */
static __always_inline void kvm_trace_read_svm(struct kvm_vcpu *vcpu, u64 want,
					       struct kvm_trace_exit *exit)
{
	const struct vmcb *vmcb = kvm_trace_vmcb(vcpu);
	u64 code = kvm_trace_svm_code(vmcb);
	u64 words = 0;
	u32 kind;

	if (likely(code < KVM_TRACE_SVM_REASON_END)) {
		kind = kvm_trace_svm_kind[code];
	} else {
		kind = kvm_trace_svm_kind_wide(code);
		if (code >> 16) {
			exit->word[KVM_TRACE_BIT(KVM_TRACE_W_REASON_HI)] =
				code >> 16;
			words = KVM_TRACE_W_REASON_HI;
		}
	}
	if (kind & KVM_TRACE_KIND_MORE)
		kind = kvm_trace_svm_kind_of(kind, vmcb->control.exit_info_1);
	exit->reason = code;
	exit->class = KVM_TRACE_KIND_CLASS(kind);
	exit->flags = KVM_TRACE_KIND_FLAGS(kind);
	exit->words = words;
	if (unlikely(want) || unlikely(vcpu->arch.guest_state_protected))
		kvm_trace_read_svm_more(vcpu, vmcb, want, exit);
}

/**
 * kvm_trace_read_svm_usual() - kvm_trace_read_svm() but for rare exits
 * @vcpu:   the vCPU that left its guest; its state is not protected
 * @record: where to put reason and kind
 *
 * Calls nothing.
 *
 * Context: as of kvm_trace_read_svm().
 * Return: false if the exit is a rare one
 */
static __always_inline bool
kvm_trace_read_svm_usual(struct kvm_vcpu *vcpu, struct kvm_trace_vmexit *record)
{
	const struct vmcb *vmcb = kvm_trace_vmcb(vcpu);
	u64 code = kvm_trace_svm_code(vmcb);
	u32 kind;

	if (unlikely(code >= KVM_TRACE_SVM_REASON_END))
		return false;
	kind = kvm_trace_svm_kind[code];
	if (kind & KVM_TRACE_KIND_MORE)
		kind = kvm_trace_svm_kind_of(kind, vmcb->control.exit_info_1);
	record->reason = code;
	record->kind = kind;
	return true;
}

extern const u8 kvm_trace_vmx_class[];

/*
 * VMREAD that cannot fault: false if there is no current VMCS, no such field,
 * or no VMX operation (a TDX vCPU, an enlightened VMCS).
 */
static __always_inline bool kvm_trace_vmcs_read(unsigned long field, u64 *value)
{
	unsigned long v = 0;
	u8 failed = 1;

	asm volatile("1:	vmread %[field], %[value]\n"
		     "	setna %[failed]\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : [value] "+r" (v), [failed] "+q" (failed)
		     : [field] "r" (field)
		     : "cc");
	*value = v;
	return !failed;
}

/* Classes whose exit qualification is always needed. */
#define KVM_TRACE_VMX_QUALIFIED						\
	(BIT_ULL(KVM_TRACE_CLASS_io) | BIT_ULL(KVM_TRACE_CLASS_cr) |	\
	 BIT_ULL(KVM_TRACE_CLASS_dr) | BIT_ULL(KVM_TRACE_CLASS_page_fault))

#define VMX_BASIC_REASON	GENMASK(15, 0)
/*
 * SDM vol. 3C, 28.2.1: qualification of an I/O instruction, of a CR access (kind as
 * KVM_TRACE_CR_*) and of a DR access.
 */
#define VMX_IO_IN		BIT_ULL(3)
#define VMX_CR_KIND_SHIFT	4
#define VMX_CR_KIND		GENMASK_ULL(1, 0)
#define VMX_DR_MOV_FROM		BIT_ULL(4)

/**
 * kvm_trace_vmx_write() - whether an exit is one of the guest's writing
 * @class:	   its class
 * @qualification: its exit qualification, of KVM_TRACE_VMX_QUALIFIED
 *
 * Return: true if it is
 */
static __always_inline bool kvm_trace_vmx_write(u8 class, u64 qualification)
{
	switch (class) {
	case KVM_TRACE_CLASS_io:
		return !(qualification & VMX_IO_IN);
	case KVM_TRACE_CLASS_cr:
		return ((qualification >> VMX_CR_KIND_SHIFT) & VMX_CR_KIND) !=
		       KVM_TRACE_CR_MOV_FROM;
	case KVM_TRACE_CLASS_dr:
		return !(qualification & VMX_DR_MOV_FROM);
	case KVM_TRACE_CLASS_page_fault:
		return qualification & EPT_VIOLATION_ACC_WRITE;
	default:
		return class == KVM_TRACE_CLASS_msr_write;
	}
}

/**
 * kvm_trace_read_vmx_usual() - kvm_trace_read_vmx() but for rare exits
 * @vcpu:   the vCPU that left its guest; its VMCS is current, its state not protected
 * @record: where to put reason and kind
 *
 * Calls nothing. Exceptions count as rare, for the second field that tells them
 * from NMIs.
 *
 * Context: as of kvm_trace_read_vmx().
 * Return: false if the exit is a rare one
 */
static __always_inline bool
kvm_trace_read_vmx_usual(struct kvm_vcpu *vcpu, struct kvm_trace_vmexit *record)
{
	u64 reason, qualification = 0;
	u8 class;

	if (unlikely(!kvm_trace_vmcs_read(VM_EXIT_REASON, &reason) ||
		     reason >= KVM_TRACE_VMX_REASON_END))
		return false;
	class = kvm_trace_vmx_class[reason];
	if (unlikely(class == KVM_TRACE_CLASS_exception))
		return false;
	if (BIT_ULL(class) & KVM_TRACE_VMX_QUALIFIED)
		kvm_trace_vmcs_read(EXIT_QUALIFICATION, &qualification);
	record->reason = reason;
	record->class = class;
	record->flags = kvm_trace_vmx_write(class, qualification) ?
			KVM_TRACE_F_WRITE : 0;
	return true;
}

#endif /* _KVM_TRACE_ISA_H */
