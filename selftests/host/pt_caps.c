// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: from CPUID and the capability MSRs of VMX alone kvm_pt finds why no stream, or not
 * method vmcs, can be had; also of processors that the lab does not have. caps.c is the
 * module's.
 */
#include <string.h>

#include "kernel/kernel.h"
#include "tap.h"

#include "../../kvm-trace/pt/caps.c"

#define OLD_ENTRY	1
#define OLD_EXIT	2
#define TRUE_ENTRY	4
#define TRUE_EXIT	8
#define ALL_CONTROLS	(OLD_ENTRY | OLD_EXIT | TRUE_ENTRY | TRUE_EXIT)
#define TOPA		BIT(0)
#define MANY_ENTRIES	BIT(1)

/* A processor: one that can do all, and what one of them has otherwise. */
struct model {
	bool no_pt, no_vmx, no_misc_msr, not_in_vmx, no_true_controls;
	int no_leaf;			/* from it on */
	u32 no_output;			/* bits of CPUID.(14H,0):ECX */
	unsigned int no_controls;	/* of either kind of MSRs */
	enum hypervisor hypervisor;
	u32 recommendations;	/* CPUID.40000004H:EAX */
};

static struct model model;
struct processor boot_cpu_data;
static unsigned int pt_msrs;

bool boot_cpu_has(enum feature feature)
{
	return feature == X86_FEATURE_VMX ? !model.no_vmx : !model.no_pt;
}

bool hypervisor_is_type(enum hypervisor type)
{
	return model.hypervisor == type;
}

void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	*eax = *ebx = *ecx = *edx = 0;
	if (leaf != LEAF_PT)
		return;
	if (subleaf) {
		*eax = 0x02490002;
		*ebx = 0x003f3fff;
		return;
	}
	*eax = 1;
	*ebx = 0xf;
	*ecx = (TOPA | MANY_ENTRIES) & ~model.no_output;
}

u32 cpuid_eax(u32 leaf)
{
	return leaf == LEAF_HV_RECOMMENDATIONS ? model.recommendations : 2;
}

u32 cpuid_ebx(u32 leaf)
{
	return leaf == LEAF_TSC ? 16 : 0;
}

static u64 allowed(unsigned int bit, u64 control)
{
	return model.no_controls & bit ? 0 : control << ALLOWED_1_SHIFT;
}

bool kvm_trace_pt_rdmsr(u32 msr, u64 *value)
{
	switch (msr) {
	case MSR_PLATFORM_INFO:
		*value = 20 << 8;
		return true;
	case MSR_IA32_VMX_BASIC:
		*value = model.no_true_controls ? 0 : BASIC_HAS_TRUE_CTLS;
		return true;
	case MSR_IA32_VMX_MISC:
		*value = model.not_in_vmx ? 0 : MISC_PT_IN_VMX;
		return !model.no_misc_msr;
	case MSR_IA32_VMX_ENTRY_CTLS:
		*value = allowed(OLD_ENTRY, KVM_TRACE_PT_ENTRY_LOAD_CTL);
		return true;
	case MSR_IA32_VMX_EXIT_CTLS:
		*value = allowed(OLD_EXIT, KVM_TRACE_PT_EXIT_CLEAR_CTL);
		return true;
	case MSR_IA32_VMX_TRUE_ENTRY_CTLS:
		*value = allowed(TRUE_ENTRY, KVM_TRACE_PT_ENTRY_LOAD_CTL);
		return !model.no_true_controls;
	case MSR_IA32_VMX_TRUE_EXIT_CTLS:
		*value = allowed(TRUE_EXIT, KVM_TRACE_PT_EXIT_CLEAR_CTL);
		return !model.no_true_controls;
	default:
		pt_msrs++;
		return false;
	}
}

#define WHY(id)	KVM_TRACE_PT_WHY_##id
static const struct {
	const char *promise;
	struct model model;
	enum kvm_trace_pt_why why, why_not_vmcs;
} cases[] = {
	{ "all_can_be_had", {}, WHY(NONE), WHY(NONE) },
	{ "no_pt", { .no_pt = true }, WHY(NO_PT), WHY(NO_PT) },
	{ "no_leaf_14h", { .no_leaf = 0x14 }, WHY(NO_PT), WHY(NO_PT) },
	{ "no_topa", { .no_output = TOPA }, WHY(NO_TOPA), WHY(NO_TOPA) },
	{ "topa_of_one_entry", { .no_output = MANY_ENTRIES }, WHY(NO_TOPA), WHY(NO_TOPA) },
	{ "no_vmx", { .no_vmx = true }, WHY(NO_VMX), WHY(NO_VMX) },
	{ "not_in_vmx", { .not_in_vmx = true }, WHY(NOT_IN_VMX), WHY(NOT_IN_VMX) },
	{ "vmx_without_its_msr", { .no_misc_msr = true }, WHY(NOT_IN_VMX), WHY(NOT_IN_VMX) },
	{ "no_entry_control", { .no_controls = TRUE_ENTRY }, WHY(NONE),
	  WHY(NO_CONTROLS) },
	{ "no_exit_control", { .no_controls = TRUE_EXIT }, WHY(NONE),
	  WHY(NO_CONTROLS) },
	{ "true_controls_count", { .no_controls = OLD_ENTRY | OLD_EXIT }, WHY(NONE), WHY(NONE) },
	{ "others_count_without_them",
	  { .no_true_controls = true, .no_controls = TRUE_ENTRY | TRUE_EXIT }, WHY(NONE),
	  WHY(NONE) },
	{ "and_may_be_missing", { .no_true_controls = true, .no_controls = OLD_ENTRY }, WHY(NONE),
	  WHY(NO_CONTROLS) },
	{ "evmcs", { .hypervisor = X86_HYPER_MS_HYPERV, .recommendations = 1 << 14 },
	  WHY(NONE), WHY(EVMCS) },
	{ "hyper_v_without_evmcs",
	  { .hypervisor = X86_HYPER_MS_HYPERV, .recommendations = ~(1u << 14) }, WHY(NONE),
	  WHY(NONE) },
	{ "another_hypervisor", { .hypervisor = X86_HYPER_KVM, .recommendations = ~0u },
	  WHY(NONE), WHY(NONE) },
	{ "evmcs_without_controls",
	  { .hypervisor = X86_HYPER_MS_HYPERV, .recommendations = 1 << 14,
	    .no_controls = ALL_CONTROLS },
	  WHY(NONE), WHY(NO_CONTROLS) },
};

int main(void)
{
	size_t i;

	tap_plan(ARRAY_SIZE(cases));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		tap_begin("pt_caps: %s", cases[i].promise);
		model = cases[i].model;
		boot_cpu_data.cpuid_level = model.no_leaf ? model.no_leaf - 1 : LEAF_TSC;
		pt_msrs = 0;
		memset(&kvm_trace_pt_host, 0, sizeof(kvm_trace_pt_host));
		memset(cpuid_regs, 0, sizeof(cpuid_regs));
		kvm_trace_pt_caps_init();
		tap_expect(kvm_trace_pt_host.why == cases[i].why, "reason %u and not %u",
			   kvm_trace_pt_host.why, cases[i].why);
		tap_expect(kvm_trace_pt_host.why_not_vmcs == cases[i].why_not_vmcs,
			   "reason not to have vmcs %u and not %u", kvm_trace_pt_host.why_not_vmcs,
			   cases[i].why_not_vmcs);
		tap_expect(!cases[i].why_not_vmcs ||
			   *kvm_trace_pt_words(cases[i].why_not_vmcs),
			   "there are no words for it");
		tap_expect(!pt_msrs, "%u other MSRs are read", pt_msrs);
		tap_end();
	}
	return tap_exit();
}
