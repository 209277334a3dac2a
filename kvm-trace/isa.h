/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of the ISA readers: what a VM exit looks like once it has
 * been read from the VMCS or the VMCB. Nothing here knows of records. The few
 * instructions that every exit of SVM needs are inline.
 */
#ifndef _KVM_TRACE_ISA_H
#define _KVM_TRACE_ISA_H

#include <linux/kvm_host.h>
#include <linux/kvm_trace.h>
#include <linux/types.h>

#include <asm/svm.h>

#include <kvm_trace/exit_reasons.h>

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

extern const u8 kvm_trace_svm_class[];

u8 kvm_trace_svm_class_wide(u64 code);
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
	u8 class;

	if (likely(code < KVM_TRACE_SVM_REASON_END)) {
		class = kvm_trace_svm_class[code];
	} else {
		class = kvm_trace_svm_class_wide(code);
		if (code >> 16) {
			exit->word[KVM_TRACE_BIT(KVM_TRACE_W_REASON_HI)] =
				code >> 16;
			words = KVM_TRACE_W_REASON_HI;
		}
	}
	exit->reason = code;
	exit->class = class;
	exit->flags = 0;
	exit->words = words;
	if (unlikely(want) || (BIT_ULL(class) & KVM_TRACE_SVM_DETAIL) ||
	    unlikely(vcpu->arch.guest_state_protected))
		kvm_trace_read_svm_more(vcpu, vmcb, want, exit);
}

#endif /* _KVM_TRACE_ISA_H */
