// SPDX-License-Identifier: GPL-2.0-only
/*
 * MSRs and the current VMCS, accessed so that what faults or fails is told and has
 * no other effect. When they are accessed is pt/switch.c's.
 */
#include <asm/asm.h>
#include <asm/msr.h>

#include "isa.h"
#include "ops.h"

/**
 * kvm_trace_pt_rdmsr() - read an MSR that may not be there
 * @msr:   its number
 * @value: where to put it
 *
 * Context: any.
 * Return: false if it faults
 */
bool kvm_trace_pt_rdmsr(u32 msr, u64 *value)
{
	u32 low, high;

	if (rdmsr_safe(msr, &low, &high))
		return false;
	*value = (u64)high << 32 | low;
	return true;
}

static bool write_msr(u32 msr, u64 value)
{
	return !wrmsr_safe(msr, (u32)value, (u32)(value >> 32));
}

static bool vmcs_read(u32 field, u64 *value)
{
	return kvm_trace_vmcs_read(field, value);
}

static bool vmcs_write(u32 field, u64 value)
{
	unsigned long encoding = field;
	u8 failed = 1;

	asm volatile("1:	vmwrite %[value], %[field]\n"
		     "	setna %[failed]\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : [failed] "+q" (failed)
		     : [field] "r" (encoding), [value] "rm" (value)
		     : "cc");
	return !failed;
}

/* All ones: no VMCS is current. */
static bool vmcs_address(u64 *vmcs)
{
	u64 address = ~0ull;

	asm volatile("1:	vmptrst %[address]\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : [address] "+m" (address)
		     :
		     : "cc");
	*vmcs = address;
	return address != ~0ull;
}

const struct kvm_trace_pt_ops kvm_trace_pt_hw_ops = {
	.rdmsr = kvm_trace_pt_rdmsr,
	.wrmsr = write_msr,
	.vmread = vmcs_read,
	.vmwrite = vmcs_write,
	.vmptrst = vmcs_address,
};
