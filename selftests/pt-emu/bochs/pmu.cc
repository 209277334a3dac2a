// SPDX-License-Identifier: GPL-2.0-only
/*
 * As much of a performance-monitoring unit as Linux needs to take the interrupts of
 * Intel PT's output: its MSRs are there, no event is ever counted. And the MSR
 * by whose bus ratio perf divides.
 */
#include "processor.h"

#define MSR_PMC0		0xc1
#define MSR_PLATFORM_INFO	0xce
#define MSR_PERFEVTSEL0		0x186
#define MSR_MISC_ENABLE		0x1a0
#define MSR_FIXED_CTR0		0x309
#define MSR_FIXED_CTR_CTRL	0x38d
#define MSR_GLOBAL_STATUS	0x38e
#define MSR_GLOBAL_CTRL		0x38f
#define MSR_GLOBAL_OVF_CTRL	0x390

/* As many as Bochs' CPUID leaf 0AH tells of. */
#define COUNTERS		4
#define FIXED_COUNTERS		3
#define COUNTER_MASK		((1ULL << 48) - 1)

#define STATUS_TRACE_TOPA_PMI	(1ULL << 55)
#define MISC_NO_BTS_NO_PEBS	(1ULL << 11 | 1ULL << 12)

#define LVT_MASKED		(1U << 16)
#define LVT_MODE(lvt)		((lvt) >> 8 & 7)

struct pmu {
	unsigned int cpu, bus_ratio;
	Bit64u counter[COUNTERS], select[COUNTERS];
	Bit64u fixed[FIXED_COUNTERS], fixed_control;
	Bit64u control, status;
};

struct pmu *pmu_new(unsigned int cpu, unsigned int bus_ratio)
{
	struct pmu *pmu = new struct pmu();

	pmu->cpu = cpu;
	pmu->bus_ratio = bus_ratio;
	return pmu;
}

void pmu_free(struct pmu *pmu)
{
	delete pmu;
}

/* Where an MSR that is only kept is kept; NULL: it is none. */
static Bit64u *kept(struct pmu *pmu, Bit32u index)
{
	if (index >= MSR_PMC0 && index < MSR_PMC0 + COUNTERS)
		return &pmu->counter[index - MSR_PMC0];
	if (index >= MSR_PERFEVTSEL0 && index < MSR_PERFEVTSEL0 + COUNTERS)
		return &pmu->select[index - MSR_PERFEVTSEL0];
	if (index >= MSR_FIXED_CTR0 && index < MSR_FIXED_CTR0 + FIXED_COUNTERS)
		return &pmu->fixed[index - MSR_FIXED_CTR0];
	if (index == MSR_FIXED_CTR_CTRL)
		return &pmu->fixed_control;
	return index == MSR_GLOBAL_CTRL ? &pmu->control : NULL;
}

enum pt_access pmu_rdmsr(const struct pmu *pmu, Bit32u index, Bit64u *value)
{
	const Bit64u *at = kept(const_cast<struct pmu *>(pmu), index);

	if (at)
		*value = *at;
	else if (index == MSR_PLATFORM_INFO)
		*value = pmu->bus_ratio << 8;
	else if (index == MSR_MISC_ENABLE)
		*value = MISC_NO_BTS_NO_PEBS;
	else if (index == MSR_GLOBAL_STATUS)
		*value = pmu->status;
	else if (index == MSR_GLOBAL_OVF_CTRL)
		*value = 0;
	else
		return PT_NOT_OURS;
	return PT_DONE;
}

enum pt_access pmu_wrmsr(struct pmu *pmu, Bit32u index, Bit64u value)
{
	Bit64u *at = kept(pmu, index);

	if (at)
		*at = at >= pmu->counter && at < pmu->counter + COUNTERS ? value & COUNTER_MASK : value;
	else if (index == MSR_GLOBAL_OVF_CTRL)
		pmu->status &= ~value;
	else if (index == MSR_GLOBAL_STATUS || index == MSR_PLATFORM_INFO)
		return PT_FAULT;
	else
		return PT_NOT_OURS;
	return PT_DONE;
}

/* The local APIC masks the entry as it delivers. */
void pmu_interrupt(struct pmu *pmu)
{
	bx_local_apic_c *apic = BX_CPU(pmu->cpu)->lapic;
	Bit32u lvt = apic->read_aligned(BX_LAPIC_LVT_PERFMON);

	pmu->status |= STATUS_TRACE_TOPA_PMI;
	if (lvt & LVT_MASKED)
		return;
	apic->set_lvt_entry(BX_LAPIC_LVT_PERFMON, lvt | LVT_MASKED);
	apic->deliver(lvt & 0xff, LVT_MODE(lvt), 0);
}
