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

#include "isa.h"

/* SDM vol. 3C, 28.2.1: bit 3 of an I/O instruction's qualification is IN. */
#define VMX_IO_IN		BIT_ULL(3)
/* SDM vol. 3C, 28.2.1: bits 5:4 of a CR access, 0 is MOV to CR. */
#define VMX_CR_ACCESS_TYPE	GENMASK_ULL(5, 4)
#define VMX_CR_MOV_FROM		BIT_ULL(4)
/* SDM vol. 3C, 28.2.1: bit 4 of a DR access is MOV from DR. */
#define VMX_DR_MOV_FROM		BIT_ULL(4)
/* SDM vol. 3C, 25.4.1: access rights of a segment. */
#define VMX_AR_CPL_SHIFT	5
#define VMX_AR_L		BIT(13)

#define VMX_BASIC_REASON	GENMASK(15, 0)

#define CLASS_OF(code, name, class) \
	[code] = KVM_TRACE_CLASS_##class,
static const u8 vmx_class[] = {
	KVM_TRACE_VMX_REASONS(CLASS_OF)
};

static_assert(ARRAY_SIZE(vmx_class) == KVM_TRACE_VMX_REASON_END);

/*
 * VMREAD that cannot fault: false if there is no current VMCS, no such field,
 * or no VMX operation (a TDX vCPU, an enlightened VMCS).
 */
static __always_inline bool vmcs_read(unsigned long field, u64 *value)
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

static __always_inline u64 vmcs_value(unsigned long field)
{
	u64 value;

	vmcs_read(field, &value);
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
	caller = (vmcs_value(GUEST_SS_AR_BYTES) >> VMX_AR_CPL_SHIFT) &
		 KVM_TRACE_CALLER_CPL;
	if ((vcpu->arch.efer & EFER_LMA) &&
	    (vmcs_value(GUEST_CS_AR_BYTES) & VMX_AR_L))
		caller |= KVM_TRACE_CALLER_LONG_MODE;
	if (vcpu->arch.hflags & HF_GUEST_MASK)
		caller |= KVM_TRACE_CALLER_NESTED;
	return caller;
}

/**
 * kvm_trace_read_vmx() - read the exit that just happened from the VMCS
 * @vcpu: the vCPU that left its guest; its VMCS is current
 * @want: KVM_TRACE_W_* words that the record may need
 * @exit: where to put it; fields whose bit is not in exit->words mean nothing
 *
 * Of a vCPU whose state is protected (TDX) or whose VMCS cannot be read, only
 * KVM_TRACE_REASON_NONE and KVM_TRACE_F_PROTECTED are known.
 *
 * Context: kvm_exit tracepoint of @vcpu's own thread; does not sleep or fault.
 */
void kvm_trace_read_vmx(struct kvm_vcpu *vcpu, u32 want,
			struct kvm_trace_exit *exit)
{
	u64 reason, qualification = 0, intr_info = 0;
	u32 words = 0;
	u16 flags = 0;
	u8 class;
	bool ran;

	if (vcpu->arch.guest_state_protected ||
	    !vmcs_read(VM_EXIT_REASON, &reason)) {
		exit->reason = KVM_TRACE_REASON_NONE;
		exit->words = 0;
		exit->flags = KVM_TRACE_F_PROTECTED;
		exit->class = KVM_TRACE_CLASS_unknown;
		return;
	}

	class = (reason & VMX_BASIC_REASON) < ARRAY_SIZE(vmx_class) ?
		vmx_class[reason & VMX_BASIC_REASON] : KVM_TRACE_CLASS_unknown;
	ran = !(reason & VMX_EXIT_REASONS_FAILED_VMENTRY);
	if (!ran) {
		class = KVM_TRACE_CLASS_entry_failure;
		flags |= KVM_TRACE_F_ENTRY_FAILED;
	}

	if ((want & KVM_TRACE_W_INFO1) || class == KVM_TRACE_CLASS_io ||
	    class == KVM_TRACE_CLASS_cr || class == KVM_TRACE_CLASS_dr ||
	    class == KVM_TRACE_CLASS_page_fault)
		qualification = vmcs_value(EXIT_QUALIFICATION);
	if (ran && ((want & (KVM_TRACE_W_INTR_INFO | KVM_TRACE_W_ERROR_CODE)) ||
		    class == KVM_TRACE_CLASS_exception))
		intr_info = vmcs_value(VM_EXIT_INTR_INFO);

	switch (class) {
	case KVM_TRACE_CLASS_exception:
		if ((intr_info & INTR_INFO_INTR_TYPE_MASK) == INTR_TYPE_NMI_INTR)
			class = KVM_TRACE_CLASS_nmi;
		break;
	case KVM_TRACE_CLASS_io:
		if (!(qualification & VMX_IO_IN))
			flags |= KVM_TRACE_F_WRITE;
		break;
	case KVM_TRACE_CLASS_cr:
		if ((qualification & VMX_CR_ACCESS_TYPE) != VMX_CR_MOV_FROM)
			flags |= KVM_TRACE_F_WRITE;
		break;
	case KVM_TRACE_CLASS_dr:
		if (!(qualification & VMX_DR_MOV_FROM))
			flags |= KVM_TRACE_F_WRITE;
		break;
	case KVM_TRACE_CLASS_msr_write:
		flags |= KVM_TRACE_F_WRITE;
		break;
	case KVM_TRACE_CLASS_page_fault:
		if (qualification & EPT_VIOLATION_ACC_WRITE)
			flags |= KVM_TRACE_F_WRITE;
		fallthrough;
	case KVM_TRACE_CLASS_mmio:
		if (want & KVM_TRACE_W_GPA) {
			exit->gpa = vmcs_value(GUEST_PHYSICAL_ADDRESS);
			words |= KVM_TRACE_W_GPA;
		}
		break;
	}

	if (want & KVM_TRACE_W_RIP) {
		exit->rip = vmcs_value(GUEST_RIP);
		words |= KVM_TRACE_W_RIP;
	}
	if ((want & KVM_TRACE_W_INFO1) && qualification) {
		exit->info1 = qualification;
		words |= KVM_TRACE_W_INFO1;
	}
	if (ran && (want & KVM_TRACE_W_INFO2)) {
		exit->info2 = vmcs_value(IDT_VECTORING_INFO_FIELD);
		if (exit->info2)
			words |= KVM_TRACE_W_INFO2;
	}
	if ((want & KVM_TRACE_W_INTR_INFO) && intr_info) {
		exit->intr_info = intr_info;
		words |= KVM_TRACE_W_INTR_INFO;
	}
	if ((want & KVM_TRACE_W_ERROR_CODE) &&
	    (intr_info & INTR_INFO_VALID_MASK) &&
	    (intr_info & INTR_INFO_DELIVER_CODE_MASK)) {
		exit->error_code = vmcs_value(VM_EXIT_INTR_ERROR_CODE);
		if (exit->error_code)
			words |= KVM_TRACE_W_ERROR_CODE;
	}

	if (reason >> 16)
		words |= KVM_TRACE_W_REASON_HI;
	exit->reason = reason;
	exit->words = words;
	exit->flags = flags;
	exit->class = class;
}
