// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out what this machine's Intel PT can do, from CPUID and the capability MSRs of
 * VMX; no MSR of Intel PT is touched. Has the words of all refusals.
 */
#include <linux/kernel.h>

#include <asm/cpufeature.h>
#include <asm/hypervisor.h>
#include <asm/msr-index.h>
#include <asm/processor.h>

#include "caps.h"
#include "ops.h"

#define LEAF_PT			0x14
#define LEAF_TSC		0x15
#define SUBLEAVES		2
#define REGS			4

/* SDM vol. 3D, A.1, A.4, A.5, A.6. */
#define BASIC_HAS_TRUE_CTLS	BIT_ULL(55)
#define MISC_PT_IN_VMX		BIT_ULL(14)
#define ALLOWED_1_SHIFT		32

/* Hyper-V TLFS, "Implementation Recommendations": nested guests by enlightened VMCS. */
#define LEAF_HV_RECOMMENDATIONS	0x40000004
#define HV_RECOMMENDS_EVMCS	BIT(14)

struct kvm_trace_pt_host kvm_trace_pt_host;

static u32 cpuid_regs[SUBLEAVES][REGS];

struct cap {
	u8 subleaf;
	u8 reg;
	u32 mask;
};

#define CAP_ENTRY(name, subleaf, reg, mask) { subleaf, reg, mask },
static const struct cap caps[] = {
	KVM_TRACE_PT_CPUID(CAP_ENTRY)
};

static const char * const words[] = {
	[KVM_TRACE_PT_WHY_NO_PT] =
		"this CPU has no Intel PT, or CPUID hides it: use one that has",
	[KVM_TRACE_PT_WHY_NO_TOPA] =
		"Intel PT of this CPU has no tables of more than one output region: use a newer CPU",
	[KVM_TRACE_PT_WHY_NO_VMX] =
		"this CPU has no Intel VMX, or the firmware has it off: switch it on, or use a CPU that has",
	[KVM_TRACE_PT_WHY_NOT_IN_VMX] =
		"this CPU does not trace in VMX operation (IA32_VMX_MISC[14] is 0): use a newer CPU",
	[KVM_TRACE_PT_WHY_NO_CONTROLS] =
		"method vmcs needs the VMX controls \"load\" and \"clear IA32_RTIT_CTL\", which this CPU lacks: use method window",
	[KVM_TRACE_PT_WHY_EVMCS] =
		"method vmcs cannot change an enlightened VMCS, as KVM uses on Hyper-V: use method window",
	[KVM_TRACE_PT_WHY_LATE_EXIT] =
		"this KVM fires kvm_exit with interrupts on: use a newer kernel",
	[KVM_TRACE_PT_WHY_INTEL_PT] =
		"perf's intel_pt is in use: end that trace first",
	[KVM_TRACE_PT_WHY_LBR] =
		"LBR or BTS is in use, and this CPU has no Intel PT beside it: end the perf sessions with branch stacks first",
	[KVM_TRACE_PT_WHY_TARGET] =
		"this stream of this thread or CPU is traced already: end that trace first",
	[KVM_TRACE_PT_WHY_MIXED] =
		"there are kvm_pt events of threads and this is one of a CPU, or the reverse: end those first",
	[KVM_TRACE_PT_WHY_LOCKDOWN] =
		"the kernel is locked down for confidentiality: boot without lockdown",
	[KVM_TRACE_PT_WHY_NO_RIGHT] =
		"it shows what host and guests execute: CAP_PERFMON is needed",
	[KVM_TRACE_PT_WHY_CONFIG] =
		"the attributes contradict each other, or this CPU lacks what they ask for: see format/ and caps/ of kvm_pt",
	[KVM_TRACE_PT_WHY_NO_HOOK] =
		"KVM's tracepoints cannot be used: see the line before",
	[KVM_TRACE_PT_WHY_RESERVE] =
		"perf has refused the events that keep intel_pt off: free memory, if its error is ENOMEM",
	[KVM_TRACE_PT_WHY_FULL] =
		"the AUX area is full: read faster, or map a larger one",
	[KVM_TRACE_PT_WHY_TOPA_ERROR] =
		"Intel PT has reported an operational error: please report it",
	[KVM_TRACE_PT_WHY_FOREIGN] =
		"IA32_RTIT_CTL was changed by somebody else: end that, and enable the event again",
	[KVM_TRACE_PT_WHY_FAULT] =
		"an access to an MSR or the VMCS has faulted: please report it",
	[KVM_TRACE_PT_WHY_OFFLINE] =
		"the CPU is not online",
	[KVM_TRACE_PT_WHY_LEFT] =
		"not all could be undone yet: the module stays until it is",
	[KVM_TRACE_PT_WHY_STOP] =
		"a \"stop\" of the address filters was reached: enable the event again",
};

/**
 * kvm_trace_pt_words() - what a refusal tells the user
 * @why: the reason; not a note, not NONE
 *
 * Return: the reason and the remedy
 */
const char *kvm_trace_pt_words(enum kvm_trace_pt_why why)
{
	return words[why];
}

/**
 * kvm_trace_pt_cap() - a field of CPUID.14H
 * @cap: which
 *
 * Return: its value, 0 without Intel PT
 */
u32 kvm_trace_pt_cap(enum kvm_trace_pt_cap cap)
{
	u32 value = cpuid_regs[caps[cap].subleaf][caps[cap].reg] & caps[cap].mask;

	return value >> __builtin_ctz(caps[cap].mask);
}

/* Whether VMX may set a control: as KVM asks, by the true controls if there are. */
static bool may_set(u32 msr, u32 true_msr, u64 control)
{
	u64 value;

	if (kvm_trace_pt_rdmsr(MSR_IA32_VMX_BASIC, &value) && value & BASIC_HAS_TRUE_CTLS)
		msr = true_msr;
	return kvm_trace_pt_rdmsr(msr, &value) && value >> ALLOWED_1_SHIFT & control;
}

static bool has_evmcs(void)
{
	return hypervisor_is_type(X86_HYPER_MS_HYPERV) &&
	       cpuid_eax(LEAF_HV_RECOMMENDATIONS) & HV_RECOMMENDS_EVMCS;
}

static enum kvm_trace_pt_why find_vmx(void)
{
	struct kvm_trace_pt_host *host = &kvm_trace_pt_host;
	u64 misc;

#ifdef KVM_TRACE_PT_SVM
	if (boot_cpu_has(X86_FEATURE_SVM)) {
		host->caps.in_vmx = true;
		host->why_not_vmcs = KVM_TRACE_PT_WHY_NO_CONTROLS;
		return KVM_TRACE_PT_WHY_NONE;
	}
#endif
	if (!boot_cpu_has(X86_FEATURE_VMX))
		return KVM_TRACE_PT_WHY_NO_VMX;
	if (!kvm_trace_pt_rdmsr(MSR_IA32_VMX_MISC, &misc) || !(misc & MISC_PT_IN_VMX))
		return KVM_TRACE_PT_WHY_NOT_IN_VMX;
	host->caps.in_vmx = true;
	host->caps.controls = may_set(MSR_IA32_VMX_ENTRY_CTLS, MSR_IA32_VMX_TRUE_ENTRY_CTLS,
				      KVM_TRACE_PT_ENTRY_LOAD_CTL) &&
			      may_set(MSR_IA32_VMX_EXIT_CTLS, MSR_IA32_VMX_TRUE_EXIT_CTLS,
				      KVM_TRACE_PT_EXIT_CLEAR_CTL);
	if (!host->caps.controls)
		host->why_not_vmcs = KVM_TRACE_PT_WHY_NO_CONTROLS;
	else if (has_evmcs())
		host->why_not_vmcs = KVM_TRACE_PT_WHY_EVMCS;
	return KVM_TRACE_PT_WHY_NONE;
}

static enum kvm_trace_pt_why find_pt(void)
{
	struct kvm_trace_pt_host *host = &kvm_trace_pt_host;
	unsigned int i;
	u64 info;

	if (!boot_cpu_has(X86_FEATURE_INTEL_PT) || boot_cpu_data.cpuid_level < LEAF_PT)
		return KVM_TRACE_PT_WHY_NO_PT;
	for (i = 0; i < SUBLEAVES; i++) {
		if (i && kvm_trace_pt_cap(KVM_TRACE_PT_CAP_max_subleaf) < i)
			break;
		cpuid_count(LEAF_PT, i, &cpuid_regs[i][0], &cpuid_regs[i][1],
			    &cpuid_regs[i][2], &cpuid_regs[i][3]);
	}
	if (boot_cpu_data.cpuid_level >= LEAF_TSC) {
		host->tsc_art_den = cpuid_eax(LEAF_TSC);
		host->tsc_art_num = cpuid_ebx(LEAF_TSC);
	}
	if (kvm_trace_pt_rdmsr(MSR_PLATFORM_INFO, &info))
		host->max_nonturbo_ratio = (u8)(info >> 8);
	host->caps.cr3_filter = kvm_trace_pt_cap(KVM_TRACE_PT_CAP_cr3_filtering);
	host->caps.ranges = min_t(u32, kvm_trace_pt_cap(KVM_TRACE_PT_CAP_num_address_ranges),
				  KVM_TRACE_PT_MAX_RANGES);
	if (!kvm_trace_pt_cap(KVM_TRACE_PT_CAP_topa_output) ||
	    !kvm_trace_pt_cap(KVM_TRACE_PT_CAP_topa_multiple_entries))
		return KVM_TRACE_PT_WHY_NO_TOPA;
	return find_vmx();
}

/**
 * kvm_trace_pt_caps_init() - fill in kvm_trace_pt_host
 *
 * Context: process context, once.
 */
void __init kvm_trace_pt_caps_init(void)
{
	kvm_trace_pt_host.why = find_pt();
	if (kvm_trace_pt_host.why)
		kvm_trace_pt_host.why_not_vmcs = kvm_trace_pt_host.why;
}
