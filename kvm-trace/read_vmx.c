// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a VM exit from the current VMCS of Intel VMX. Knows nothing of records
 * or time.
 */
#include <linux/kvm_host.h>
#include <linux/kvm_trace.h>

#include <asm/asm.h>
#include <asm/vmx.h>

#include <kvm_trace/exit_reasons.h>

#include "compat/compat.h"
#include "detail.h"
#include "isa.h"

/* SDM vol. 3C, 28.2.1: qualification of an I/O instruction; size less one. */
#define VMX_IO_SIZE		GENMASK_ULL(2, 0)
#define VMX_IO_STRING		BIT_ULL(4)
#define VMX_IO_REP		BIT_ULL(5)
#define VMX_IO_PORT		GENMASK_ULL(31, 16)
/* SDM vol. 3C, 28.2.1: of a CR access: number, register; kind is in isa.h. */
#define VMX_CR_NUMBER		GENMASK_ULL(3, 0)
#define VMX_CR_GPR_SHIFT	8
#define VMX_CR_GPR		GENMASK_ULL(3, 0)
#define VMX_CR_LMSW_SHIFT	16
#define VMX_CR_LMSW		GENMASK_ULL(15, 0)
/* SDM vol. 3C, 25.4.1: access rights of a segment. */
#define VMX_AR_CPL_SHIFT	5
#define VMX_AR_L		BIT(13)

/* RDMSR and WRMSR with an immediate index have this reason and the next. */
#define VMX_MSR_READ_IMM	84

#define CLASS_OF(code, name, class) \
	[code] = KVM_TRACE_CLASS_##class,
/* By basic exit reason. */
const u8 kvm_trace_vmx_class[] = {
	KVM_TRACE_VMX_REASONS(CLASS_OF)
};

static_assert(ARRAY_SIZE(kvm_trace_vmx_class) == KVM_TRACE_VMX_REASON_END);

static __always_inline u64 vmcs_value(unsigned long field)
{
	u64 value;

	kvm_trace_vmcs_read(field, &value);
	return value;
}

/**
 * kvm_trace_caller_vmx() - who makes a hypercall
 * @vcpu: the vCPU whose exit is being handled; its VMCS is current
 *
 * Context: @vcpu's own thread, not preemptible.
 * Return: KVM_TRACE_CALLER_*
 */
u8 kvm_trace_caller_vmx(struct kvm_vcpu *vcpu)
{
	u8 caller;

	/* KVM too takes callers in protected guests for 64-bit ones. */
	if (vcpu->arch.guest_state_protected)
		return KVM_TRACE_CALLER_LONG_MODE;
	/* Without unrestricted guests, KVM runs real mode as virtual 8086 mode. */
	caller = vcpu->arch.cr0 & X86_CR0_PE ?
		 (vmcs_value(GUEST_SS_AR_BYTES) >> VMX_AR_CPL_SHIFT) &
		 KVM_TRACE_CALLER_CPL : 0;
	if ((vcpu->arch.efer & EFER_LMA) &&
	    (vmcs_value(GUEST_CS_AR_BYTES) & VMX_AR_L))
		caller |= KVM_TRACE_CALLER_LONG_MODE;
	if (vcpu->arch.hflags & HF_GUEST_MASK)
		caller |= KVM_TRACE_CALLER_NESTED;
	return caller;
}

/* Operands of an I/O instruction, as KVM_TRACE_W_IO. */
static u32 io_of(u64 qualification)
{
	u32 io = (qualification & VMX_IO_PORT) |
		 ((qualification & VMX_IO_SIZE) + 1);

	if (qualification & VMX_IO_IN)
		io |= KVM_TRACE_IO_IN;
	if (qualification & VMX_IO_STRING)
		io |= KVM_TRACE_IO_STRING;
	if (qualification & VMX_IO_REP)
		io |= KVM_TRACE_IO_REP;
	return io;
}

static void read_cr(struct kvm_vcpu *vcpu, u64 qualification, u64 want,
		    struct kvm_trace_exit *exit)
{
	u8 kind = (qualification >> VMX_CR_KIND_SHIFT) & VMX_CR_KIND;
	u8 gpr = (qualification >> VMX_CR_GPR_SHIFT) & VMX_CR_GPR;
	u8 caller;
	u64 value;

	exit->cr = (qualification & VMX_CR_NUMBER) |
		   kind << KVM_TRACE_CR_KIND_SHIFT;
	exit->gpr = gpr;
	if (want & KVM_TRACE_W_CR)
		kvm_trace_set_word(exit, KVM_TRACE_W_CR, exit->cr);
	if (!(want & KVM_TRACE_W_CR_VALUE))
		return;

	if (kind == KVM_TRACE_CR_LMSW) {
		kvm_trace_set_word(exit, KVM_TRACE_W_CR_VALUE,
				   (qualification >> VMX_CR_LMSW_SHIFT) &
				   VMX_CR_LMSW);
	} else if (kind == KVM_TRACE_CR_MOV_TO) {
		caller = kvm_trace_caller_vmx(vcpu);
		value = kvm_trace_gpr(vcpu, gpr, caller);
		if (gpr == VCPU_REGS_RSP)
			value = vmcs_value(GUEST_RSP);
		kvm_trace_set_word(exit, KVM_TRACE_W_CR_VALUE, value);
	}
}

static void read_exception(u64 intr_info, struct kvm_trace_exit *exit)
{
	u64 value = intr_info & INTR_INFO_VECTOR_MASK;

	if (intr_info & INTR_INFO_DELIVER_CODE_MASK)
		value |= KVM_TRACE_EXCEPTION_ERR |
			 vmcs_value(VM_EXIT_INTR_ERROR_CODE) <<
			 KVM_TRACE_EXCEPTION_CODE_SHIFT;
	kvm_trace_set_word(exit, KVM_TRACE_W_EXCEPTION, value);
}

/**
 * kvm_trace_apicv_vmx() - whether interrupts reach the guest without KVM
 *
 * Context: kvm_entry tracepoint; the VMCS to be entered is current.
 * Return: true if virtual-interrupt delivery is on
 */
bool kvm_trace_apicv_vmx(void)
{
	return (vmcs_value(CPU_BASED_VM_EXEC_CONTROL) &
		CPU_BASED_ACTIVATE_SECONDARY_CONTROLS) &&
	       (vmcs_value(SECONDARY_VM_EXEC_CONTROL) &
		SECONDARY_EXEC_VIRTUAL_INTR_DELIVERY);
}

/**
 * kvm_trace_old_rip_vmx() - guest RIP at the exit, asked for until the entry
 *
 * KVM writes RIP to the VMCS after its kvm_entry tracepoint.
 *
 * Context: from kvm_exit to kvm_entry, not preemptible; the VMCS of the exit is
 * current.
 * Return: RIP
 */
u64 kvm_trace_old_rip_vmx(void)
{
	return vmcs_value(GUEST_RIP);
}

/**
 * kvm_trace_stack_vmx() - where the guest's stack was at the exit
 * @caller: KVM_TRACE_CALLER_* of the code that caused it
 *
 * Context: the vCPU's own thread, not preemptible; the VMCS of the exit is
 * current.
 * Return: linear address of its top
 */
u64 kvm_trace_stack_vmx(u8 caller)
{
	u64 rsp = vmcs_value(GUEST_RSP);

	if (caller & KVM_TRACE_CALLER_LONG_MODE)
		return rsp;
	return (u32)(vmcs_value(GUEST_SS_BASE) + rsp);
}

/**
 * kvm_trace_cr3_vmx() - CR3 as the guest has it
 * @vcpu: the vCPU whose exit is being handled; its VMCS is current
 * @cr3:  where to put it
 *
 * Context: @vcpu's own thread, not preemptible.
 * Return: false if the VMCS cannot be read
 */
bool kvm_trace_cr3_vmx(const struct kvm_vcpu *vcpu, u64 *cr3)
{
	u64 controls;

	if (!kvm_trace_vmcs_read(CPU_BASED_VM_EXEC_CONTROL, &controls))
		return false;
	*cr3 = vcpu->arch.cr3;
	/* If moves to CR3 exit, the VMCS has KVM's, of shadow pages. */
	return kvm_trace_cr3_known(vcpu) ||
	       (controls & CPU_BASED_CR3_LOAD_EXITING) ||
	       kvm_trace_vmcs_read(GUEST_CR3, cr3);
}

/**
 * kvm_trace_read_vmx() - read the exit that just happened from the VMCS
 * @vcpu: the vCPU that left its guest; its VMCS is current
 * @want: KVM_TRACE_W_* words that the record may need
 * @exit: where to put it
 *
 * Of a vCPU whose state is protected (TDX) or whose VMCS cannot be read, only
 * KVM_TRACE_REASON_NONE and KVM_TRACE_F_PROTECTED are known.
 *
 * Context: kvm_exit tracepoint of @vcpu's own thread; does not sleep or fault.
 */
void kvm_trace_read_vmx(struct kvm_vcpu *vcpu, u64 want,
			struct kvm_trace_exit *exit)
{
	u64 reason, qualification = 0, intr_info = 0, value;
	bool ran;

	exit->words = 0;
	exit->flags = 0;
	exit->flags_hi = 0;
	exit->gpr = KVM_TRACE_NO_GPR;
	if (vcpu->arch.guest_state_protected ||
	    !kvm_trace_vmcs_read(VM_EXIT_REASON, &reason)) {
		exit->reason = KVM_TRACE_REASON_NONE;
		exit->flags = KVM_TRACE_F_PROTECTED;
		exit->class = KVM_TRACE_CLASS_unknown;
		return;
	}

	exit->reason = reason;
	exit->class = KVM_TRACE_CLASS_unknown;
	if ((reason & VMX_BASIC_REASON) < KVM_TRACE_VMX_REASON_END)
		exit->class = kvm_trace_vmx_class[reason & VMX_BASIC_REASON];
	ran = !(reason & VMX_EXIT_REASONS_FAILED_VMENTRY);
	if (!ran) {
		exit->class = KVM_TRACE_CLASS_entry_failure;
		exit->flags |= KVM_TRACE_F_ENTRY_FAILED;
	}

	if ((want & KVM_TRACE_W_INFO1) ||
	    (BIT_ULL(exit->class) & KVM_TRACE_VMX_QUALIFIED))
		qualification = vmcs_value(EXIT_QUALIFICATION);
	if (ran && ((want & (KVM_TRACE_W_INTR_INFO | KVM_TRACE_W_ERROR_CODE)) ||
		    exit->class == KVM_TRACE_CLASS_exception ||
		    (exit->class == KVM_TRACE_CLASS_interrupt &&
		     (want & KVM_TRACE_W_HOST_VECTOR))))
		intr_info = vmcs_value(VM_EXIT_INTR_INFO);

	if (kvm_trace_vmx_write(exit->class, qualification))
		exit->flags |= KVM_TRACE_F_WRITE;
	switch (exit->class) {
	case KVM_TRACE_CLASS_exception:
		exit->event = intr_info;
		if ((intr_info & INTR_INFO_INTR_TYPE_MASK) == INTR_TYPE_NMI_INTR)
			exit->class = KVM_TRACE_CLASS_nmi;
		else if (want & KVM_TRACE_W_EXCEPTION)
			read_exception(intr_info, exit);
		break;
	case KVM_TRACE_CLASS_interrupt:
		if ((want & KVM_TRACE_W_HOST_VECTOR) &&
		    (intr_info & INTR_INFO_VALID_MASK))
			kvm_trace_set_word(exit, KVM_TRACE_W_HOST_VECTOR,
					   intr_info & INTR_INFO_VECTOR_MASK);
		break;
	case KVM_TRACE_CLASS_io:
		exit->io = io_of(qualification);
		if (want & KVM_TRACE_W_IO)
			kvm_trace_set_word(exit, KVM_TRACE_W_IO, exit->io);
		break;
	case KVM_TRACE_CLASS_cr:
		if (want & KVM_TRACE_WORDS_CR)
			read_cr(vcpu, qualification, want, exit);
		break;
	case KVM_TRACE_CLASS_msr_write:
	case KVM_TRACE_CLASS_msr_read:
		if ((reason & VMX_BASIC_REASON) >= VMX_MSR_READ_IMM)
			exit->gpr = 0;
		break;
	case KVM_TRACE_CLASS_page_fault:
		if (qualification & EPT_VIOLATION_ACC_INSTR)
			exit->flags_hi = KVM_TRACE_F2_FETCH;
		fallthrough;
	case KVM_TRACE_CLASS_mmio:
		if (want & KVM_TRACE_W_GPA)
			kvm_trace_set_word(exit, KVM_TRACE_W_GPA,
					   vmcs_value(GUEST_PHYSICAL_ADDRESS));
		break;
	}

	if (want & KVM_TRACE_W_RIP)
		kvm_trace_set_word(exit, KVM_TRACE_W_RIP, vmcs_value(GUEST_RIP));
	if ((want & KVM_TRACE_W_INFO1) && qualification)
		kvm_trace_set_word(exit, KVM_TRACE_W_INFO1, qualification);
	if (ran && (want & KVM_TRACE_W_INFO2)) {
		value = vmcs_value(IDT_VECTORING_INFO_FIELD);
		if (value)
			kvm_trace_set_word(exit, KVM_TRACE_W_INFO2, value);
	}
	if ((want & KVM_TRACE_W_INTR_INFO) && (intr_info & INTR_INFO_VALID_MASK))
		kvm_trace_set_word(exit, KVM_TRACE_W_INTR_INFO, intr_info);
	if ((want & KVM_TRACE_W_ERROR_CODE) &&
	    (intr_info & INTR_INFO_VALID_MASK) &&
	    (intr_info & INTR_INFO_DELIVER_CODE_MASK)) {
		value = vmcs_value(VM_EXIT_INTR_ERROR_CODE);
		if (value)
			kvm_trace_set_word(exit, KVM_TRACE_W_ERROR_CODE, value);
	}
	if (reason >> 16)
		kvm_trace_set_word(exit, KVM_TRACE_W_REASON_HI, reason >> 16);
	if (ran && (want & KVM_TRACE_WORDS_OPERANDS))
		kvm_trace_detail_exit(vcpu, want, exit);
}
