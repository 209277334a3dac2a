/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kvm-trace/pt/caps.c needs of the kernel's headers. The processor is the test's.
 */
#ifndef _HOST_KERNEL_H
#define _HOST_KERNEL_H

#include <stdbool.h>

#include "types.h"

#define BIT(n)			(1ul << (n))
#define BIT_ULL(n)		(1ull << (n))
#define GENMASK(high, low)	((~0u >> (31 - (high))) & (~0u << (low)))
#define min_t(type, a, b)	({ type a_ = (a), b_ = (b); a_ < b_ ? a_ : b_; })
#define __init

#define MSR_PLATFORM_INFO		0xce
#define MSR_IA32_VMX_BASIC		0x480
#define MSR_IA32_VMX_EXIT_CTLS		0x483
#define MSR_IA32_VMX_ENTRY_CTLS		0x484
#define MSR_IA32_VMX_MISC		0x485
#define MSR_IA32_VMX_TRUE_EXIT_CTLS	0x48f
#define MSR_IA32_VMX_TRUE_ENTRY_CTLS	0x490

enum feature {
	X86_FEATURE_INTEL_PT,
	X86_FEATURE_VMX,
};

enum hypervisor {
	X86_HYPER_NATIVE,
	X86_HYPER_MS_HYPERV,
	X86_HYPER_KVM,
};

extern struct processor {
	int cpuid_level;
} boot_cpu_data;

bool boot_cpu_has(enum feature feature);
bool hypervisor_is_type(enum hypervisor type);
void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);
u32 cpuid_eax(u32 leaf);
u32 cpuid_ebx(u32 leaf);

#endif /* _HOST_KERNEL_H */
