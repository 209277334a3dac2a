// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads operands and results of an exit from the guest's registers as KVM
 * keeps them. What VMCS or VMCB say is read in read_vmx.c and read_svm.c.
 */
#include <linux/kvm_host.h>
#include <linux/kvm_trace.h>

#include "compat/compat.h"
#include "detail.h"

/* Hyper-V TLFS, "Hypercall Inputs": call code in the input value. */
#define HV_CALL_CODE	0xffffu
/* Set in EAX by Xen guests in calls that are Hyper-V's (xen/interface/xen.h). */
#define XEN_HV_HYPERCALL	BIT(31)
/* Longest instruction. */
#define MAX_INSN_BYTES		15

#define CLASSES_WITH_RESULTS						\
	(BIT_ULL(KVM_TRACE_CLASS_cpuid) | BIT_ULL(KVM_TRACE_CLASS_io) |	\
	 BIT_ULL(KVM_TRACE_CLASS_msr_read) | BIT_ULL(KVM_TRACE_CLASS_cr))

static u64 reg(const struct kvm_vcpu *vcpu, unsigned int gpr)
{
	return vcpu->arch.regs[gpr];
}

static u64 pair(const struct kvm_vcpu *vcpu, unsigned int high, unsigned int low)
{
	return reg(vcpu, high) << 32 | (u32)reg(vcpu, low);
}

/* RAX as an I/O instruction of that many bytes uses it. */
static u32 io_value(const struct kvm_vcpu *vcpu, u32 io)
{
	u32 rax = reg(vcpu, VCPU_REGS_RAX);

	switch (io & KVM_TRACE_IO_SIZE) {
	case 1:
		return (u8)rax;
	case 2:
		return (u16)rax;
	default:
		return rax;
	}
}

/* In KVM's order: Xen's first, unless Hyper-V's are marked in between. */
static u64 hypercall(const struct kvm_vcpu *vcpu)
{
	bool hyperv = kvm_trace_hyperv_guest(vcpu);
	u32 nr = reg(vcpu, VCPU_REGS_RAX);
	u64 abi = KVM_TRACE_ABI_KVM;

	if (kvm_trace_xen_guest(vcpu)) {
		abi = KVM_TRACE_ABI_XEN;
		hyperv = hyperv && (nr & XEN_HV_HYPERCALL);
	}
	if (hyperv) {
		abi = KVM_TRACE_ABI_HYPERV;
		/* CS.L is not asked: compatibility mode makes no such calls. */
		if (vcpu->arch.efer & EFER_LMA)
			nr = reg(vcpu, VCPU_REGS_RCX);
		nr &= HV_CALL_CODE;
	}
	return abi << KVM_TRACE_HYPERCALL_ABI_SHIFT | nr;
}

/**
 * kvm_trace_detail_exit() - operands of the exit that just happened
 * @vcpu: the vCPU that left its guest; its state is not protected
 * @want: KVM_TRACE_W_* words that the record may need
 * @exit: class and io are set
 *
 * Context: kvm_exit tracepoint of @vcpu's own thread.
 */
void kvm_trace_detail_exit(const struct kvm_vcpu *vcpu, u64 want,
			   struct kvm_trace_exit *exit)
{
	switch (exit->class) {
	case KVM_TRACE_CLASS_cpuid:
		if (want & KVM_TRACE_W_CPUID_LEAF)
			kvm_trace_set_word(exit, KVM_TRACE_W_CPUID_LEAF,
					   reg(vcpu, VCPU_REGS_RAX));
		if (want & KVM_TRACE_W_CPUID_INDEX)
			kvm_trace_set_word(exit, KVM_TRACE_W_CPUID_INDEX,
					   reg(vcpu, VCPU_REGS_RCX));
		break;
	case KVM_TRACE_CLASS_msr_write:
		if (exit->gpr != KVM_TRACE_NO_GPR)
			break;
		if (want & KVM_TRACE_W_MSR_VALUE)
			kvm_trace_set_word(exit, KVM_TRACE_W_MSR_VALUE,
					   pair(vcpu, VCPU_REGS_RDX,
						VCPU_REGS_RAX));
		fallthrough;
	case KVM_TRACE_CLASS_msr_read:
		if ((want & KVM_TRACE_W_MSR) && exit->gpr == KVM_TRACE_NO_GPR)
			kvm_trace_set_word(exit, KVM_TRACE_W_MSR,
					   reg(vcpu, VCPU_REGS_RCX));
		break;
	case KVM_TRACE_CLASS_io:
		if ((want & KVM_TRACE_W_IO_VALUE) &&
		    !(exit->io & (KVM_TRACE_IO_IN | KVM_TRACE_IO_STRING)))
			kvm_trace_set_word(exit, KVM_TRACE_W_IO_VALUE,
					   io_value(vcpu, exit->io));
		break;
	case KVM_TRACE_CLASS_hypercall:
		if (want & KVM_TRACE_W_HYPERCALL)
			kvm_trace_set_word(exit, KVM_TRACE_W_HYPERCALL,
					   hypercall(vcpu));
		break;
	}
}

static void cr_value(struct kvm_vcpu *vcpu, u8 isa, struct kvm_trace_exit *exit)
{
	u8 caller = isa == KVM_TRACE_ISA_SVM ? kvm_trace_caller_svm(vcpu) :
					       kvm_trace_caller_vmx(vcpu);
	u64 value;

	if (exit->gpr != KVM_TRACE_NO_GPR) {
		value = kvm_trace_gpr(vcpu, exit->gpr, caller);
	} else {
		switch (exit->cr & KVM_TRACE_CR_NUMBER) {
		case 0:
			value = vcpu->arch.cr0;
			break;
		case 3:
			value = vcpu->arch.cr3;
			break;
		case 4:
			value = vcpu->arch.cr4;
			break;
		default:
			return;
		}
	}
	kvm_trace_set_word(exit, KVM_TRACE_W_CR_VALUE, value);
}

/**
 * kvm_trace_completed() - whether the guest has got behind the instruction
 * @vcpu: the vCPU that is about to enter its guest; its state is not protected,
 *        it is at the level of nesting of the exit
 * @isa:  KVM_TRACE_ISA_*
 *
 * Not if it faulted, and not if the registers are new: by user space, by INIT,
 * by SMM. An exception that is injected behind it, as by a single step, does not
 * count.
 *
 * Context: kvm_entry tracepoint of @vcpu's own thread.
 * Return: true if what is in the registers is the result
 */
bool kvm_trace_completed(struct kvm_vcpu *vcpu, u8 isa)
{
	u64 bytes;

	if (isa == KVM_TRACE_ISA_SVM) {
		bytes = kvm_trace_rip(vcpu) - kvm_trace_old_rip_svm(vcpu);
	} else {
		/* Without it, KVM has not moved RIP. */
		if (!kvm_trace_rip_known(vcpu))
			return false;
		bytes = kvm_trace_rip(vcpu) - kvm_trace_old_rip_vmx();
	}
	return bytes && bytes <= MAX_INSN_BYTES;
}

/**
 * kvm_trace_detail_entry() - results of the exit, now that the guest gets them
 * @vcpu: the vCPU that is about to enter its guest; its state is not protected,
 *        it is at the level of nesting of the exit
 * @want: KVM_TRACE_W_* words that the record may need
 * @isa:  KVM_TRACE_ISA_*
 * @exit: the exit
 *
 * Context: kvm_entry tracepoint of @vcpu's own thread.
 */
void kvm_trace_detail_entry(struct kvm_vcpu *vcpu, u64 want, u8 isa,
			    struct kvm_trace_exit *exit)
{
	if (!(BIT_ULL(exit->class) & CLASSES_WITH_RESULTS) ||
	    !kvm_trace_completed(vcpu, isa))
		return;

	switch (exit->class) {
	case KVM_TRACE_CLASS_cpuid:
		if (want & KVM_TRACE_W_CPUID_AX_BX)
			kvm_trace_set_word(exit, KVM_TRACE_W_CPUID_AX_BX,
					   pair(vcpu, VCPU_REGS_RBX,
						VCPU_REGS_RAX));
		if (want & KVM_TRACE_W_CPUID_CX_DX)
			kvm_trace_set_word(exit, KVM_TRACE_W_CPUID_CX_DX,
					   pair(vcpu, VCPU_REGS_RDX,
						VCPU_REGS_RCX));
		break;
	case KVM_TRACE_CLASS_msr_read:
		if ((want & KVM_TRACE_W_MSR_VALUE) &&
		    exit->gpr == KVM_TRACE_NO_GPR)
			kvm_trace_set_word(exit, KVM_TRACE_W_MSR_VALUE,
					   pair(vcpu, VCPU_REGS_RDX,
						VCPU_REGS_RAX));
		break;
	case KVM_TRACE_CLASS_io:
		if ((want & KVM_TRACE_W_IO_VALUE) &&
		    (exit->io & KVM_TRACE_IO_IN) &&
		    !(exit->io & KVM_TRACE_IO_STRING))
			kvm_trace_set_word(exit, KVM_TRACE_W_IO_VALUE,
					   io_value(vcpu, exit->io));
		break;
	case KVM_TRACE_CLASS_cr:
		/* A write whose operand was known has its value already. */
		if ((want & KVM_TRACE_W_CR_VALUE) &&
		    (exit->gpr == KVM_TRACE_NO_GPR ||
		     !(exit->flags & KVM_TRACE_F_WRITE)))
			cr_value(vcpu, isa, exit);
		break;
	}
}
