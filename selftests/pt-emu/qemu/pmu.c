// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of an Intel CPU's performance monitoring unit through which the interrupt of
 * Intel PT comes: counters that count nothing, and bit 55 of IA32_PERF_GLOBAL_STATUS.
 * Chapters are those of Intel's manual, volume 3: "Architectural Performance Monitoring".
 */
#include "cpu.h"

#define LEAF_PMU		0xa
#define VERSION			2
#define WIDTH			48
#define EVENTS			7	/* length of EBX, whose bits say what is missing */

#define MSR_PMC0		0xc1
#define MSR_PERFEVTSEL0		0x186
#define MSR_FIXED_CTR0		0x309
#define MSR_FIXED_CTR_CTRL	0x38d
#define MSR_GLOBAL_STATUS	0x38e
#define MSR_GLOBAL_CTRL		0x38f
#define MSR_GLOBAL_OVF_CTRL	0x390
#define STATUS_TOPA_PMI		(1ULL << 55)

#define RDPMC_FIXED		(1U << 30)

#define CPU_INTERRUPT_NMI	0x200

static __u64 *storage(struct cpu *c, __u32 msr)
{
	if (msr - MSR_PMC0 < PMU_COUNTERS)
		return &c->pmu.counter[msr - MSR_PMC0];
	if (msr - MSR_PERFEVTSEL0 < PMU_COUNTERS)
		return &c->pmu.select[msr - MSR_PERFEVTSEL0];
	if (msr - MSR_FIXED_CTR0 < PMU_FIXED)
		return &c->pmu.fixed[msr - MSR_FIXED_CTR0];
	switch (msr) {
	case MSR_FIXED_CTR_CTRL:
		return &c->pmu.fixed_ctrl;
	case MSR_GLOBAL_STATUS:
		return &c->pmu.status;
	case MSR_GLOBAL_CTRL:
		return &c->pmu.ctrl;
	default:
		return NULL;
	}
}

/* Whether an MSR is one of these. */
bool pmu_has_msr(struct cpu *c, __u32 msr)
{
	return c->pmu.announced && (msr == MSR_GLOBAL_OVF_CTRL || storage(c, msr));
}

__u64 pmu_rdmsr(struct cpu *c, __u32 msr)
{
	return msr == MSR_GLOBAL_OVF_CTRL ? 0 : *storage(c, msr);
}

void pmu_wrmsr(struct cpu *c, __u32 msr, __u64 value)
{
	if (msr == MSR_GLOBAL_OVF_CTRL)
		c->pmu.status &= ~value;
	else if (msr != MSR_GLOBAL_STATUS)
		*storage(c, msr) = value;
}

/* RDPMC of a counter that there is; others are left to QEMU, which faults. */
bool pmu_rdpmc(struct cpu *c, __u32 counter, __u64 *value)
{
	const __u32 msr = counter & RDPMC_FIXED ? MSR_FIXED_CTR0 + (counter & ~RDPMC_FIXED) :
						  MSR_PMC0 + counter;

	if (!c->pmu.announced || !storage(c, msr))
		return false;
	*value = *storage(c, msr);
	return true;
}

void pmu_cpuid(struct cpu *c, __u32 leaf, __u32 regs[4])
{
	if (leaf != LEAF_PMU || !c->pmu.announced)
		return;
	regs[0] = VERSION | PMU_COUNTERS << 8 | WIDTH << 16 | EVENTS << 24;
	regs[1] = 0;
	regs[2] = 0;
	regs[3] = PMU_FIXED | WIDTH << 5;
}

/*
 * A region of the ToPA is full. Not with QEMU's cpu_interrupt(), which wants locks and,
 * with -icount, an instruction that does I/O.
 */
void pmu_interrupt(struct cpu *c)
{
	void *cpu = qemu_get_cpu(c->index);

	if (!c->pmu.announced)
		return;
	c->pmu.status |= STATUS_TOPA_PMI;
	cpu_set_interrupt(cpu, CPU_INTERRUPT_NMI);
	cpu_exit(cpu);
}
