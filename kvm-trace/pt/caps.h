/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this machine's Intel PT can do, and why it cannot be used if so.
 */
#ifndef _KVM_TRACE_PT_CAPS_H
#define _KVM_TRACE_PT_CAPS_H

#include <linux/bits.h>
#include <linux/kvm_trace.h>

#include "switch.h"

/* CPUID.14H: name as intel_pt's, sub-leaf, register by its letter, bits. */
#define KVM_TRACE_PT_CPUID(X)						\
	X(max_subleaf,			0, 0, GENMASK(31, 0))		\
	X(cr3_filtering,		0, 1, BIT(0))			\
	X(psb_cyc,			0, 1, BIT(1))			\
	X(ip_filtering,			0, 1, BIT(2))			\
	X(mtc,				0, 1, BIT(3))			\
	X(ptwrite,			0, 1, BIT(4))			\
	X(power_event_trace,		0, 1, BIT(5))			\
	X(topa_output,			0, 2, BIT(0))			\
	X(topa_multiple_entries,	0, 2, BIT(1))			\
	X(single_range_output,		0, 2, BIT(2))			\
	X(payloads_lip,			0, 2, BIT(31))			\
	X(num_address_ranges,		1, 0, GENMASK(2, 0))		\
	X(mtc_periods,			1, 0, GENMASK(31, 16))		\
	X(cycle_thresholds,		1, 1, GENMASK(15, 0))		\
	X(psb_periods,			1, 1, GENMASK(31, 16))

#define KVM_TRACE_PT_CPUID_ENUM(name, leaf, reg, mask)	KVM_TRACE_PT_CAP_##name,
enum kvm_trace_pt_cap {
	KVM_TRACE_PT_CPUID(KVM_TRACE_PT_CPUID_ENUM)
	KVM_TRACE_PT_CAP_COUNT,
};

/**
 * struct kvm_trace_pt_host - this machine
 * @caps:	for the switch
 * @why:	why no stream can be had, or KVM_TRACE_PT_WHY_NONE
 * @why_not_vmcs: why method vmcs cannot be had, or KVM_TRACE_PT_WHY_NONE
 * @max_nonturbo_ratio: TSC ratio, MSR_PLATFORM_INFO[15:8]; 0 if it is not there
 * @tsc_art_num: CPUID.15H:EBX, for decoders
 * @tsc_art_den: CPUID.15H:EAX
 */
struct kvm_trace_pt_host {
	struct kvm_trace_pt_caps caps;
	enum kvm_trace_pt_why why;
	enum kvm_trace_pt_why why_not_vmcs;
	u32 max_nonturbo_ratio;
	u32 tsc_art_num;
	u32 tsc_art_den;
};

extern struct kvm_trace_pt_host kvm_trace_pt_host;

void kvm_trace_pt_caps_init(void);
u32 kvm_trace_pt_cap(enum kvm_trace_pt_cap cap);
const char *kvm_trace_pt_words(enum kvm_trace_pt_why why);

#endif /* _KVM_TRACE_PT_CAPS_H */
