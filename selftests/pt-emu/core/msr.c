// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUID and the MSRs of Intel PT: which are there, which values they take and
 * when a write faults. What tracing does once it is on is in flow.c.
 */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define REGS_EAX	0
#define REGS_EBX	1
#define REGS_ECX	2
#define REGS_EDX	3

#define LEAF_PT		0x14
#define LEAF_CRYSTAL	0x15
#define LEAF7_EBX_PT	(1U << 25)

#define FIELD		0xfULL	/* of IA32_RTIT_CTL: a choice of four bits */
#define ADDR_CFG_MAX	2
#define ADDR_CFG_BITS	4
#define VIRTUAL_BITS	48

#define STATUS_IGNORED	(PT_EMU_STATUS_FILTEREN | PT_EMU_STATUS_CONTEXTEN | \
			 PT_EMU_STATUS_TRIGGEREN)
#define STATUS_KEPT	(PT_EMU_STATUS_ERROR | PT_EMU_STATUS_STOPPED)

/**
 * pt_emu_default_caps() - a processor with all that is emulated
 * @caps: filled in
 *
 * RETs are not compressed, and the frequencies of PSB are those up to 64 KB, which
 * PacketByteCnt can count.
 */
void pt_emu_default_caps(struct pt_emu_caps *caps)
{
	*caps = (struct pt_emu_caps){
		.cr3_filter = true,
		.psb_cyc = true,
		.mtc = true,
		.ptwrite = true,
		.topa = true,
		.topa_multi = true,
		.single_range = true,
		.lip = true,
		.vmx = true,
		.gpa = true,
		.ranges = 2,
		.maxphyaddr = 39,
		.core_bus_ratio = 20,
		.crystal_ratio = 8,
		.mtc_freqs = 0x249,
		.psb_freqs = 0x3f,
		.cyc_thresholds = 0x3fff,
	};
}

/**
 * pt_emu_new() - Intel PT of one logical processor, as after a cold reset
 * @caps: what it has; copied
 * @ops: the machine's callbacks; copied
 * @machine: their first argument
 *
 * Return: for pt_emu_free(); NULL without memory.
 */
struct pt_emu *pt_emu_new(const struct pt_emu_caps *caps, const struct pt_emu_ops *ops,
			  void *machine)
{
	struct pt_emu *pt = calloc(1, sizeof(*pt));

	if (!pt)
		return NULL;
	pt->caps = *caps;
	pt->ops = *ops;
	pt->machine = machine;
	pt_emu_reset(pt, true);
	return pt;
}

/**
 * pt_emu_free() - the end of it; packets that are not written out are dropped
 * @pt: from pt_emu_new(), or NULL
 */
void pt_emu_free(struct pt_emu *pt)
{
	free(pt);
}

/**
 * pt_emu_reset() - the processor was reset (36.2.7.1)
 * @pt: of which processor
 * @cold: all MSRs are cleared; a warm reset of a processor with address ranges
 *	clears TraceEn only
 */
void pt_emu_reset(struct pt_emu *pt, bool cold)
{
	if (!cold && pt->caps.ranges) {
		pt_emu_disable(pt, pt->ctl & ~PT_EMU_CTL_TRACEEN);
	} else {
		pt->ctl = 0;
		pt->status = 0;
		pt->byte_count = 0;
		pt->output_base = 0;
		pt->output_mask = LOW_MASK;
		pt->cr3_match = 0;
		memset(pt->addr, 0, sizeof(pt->addr));
		pt->context_en = false;
		pt->filter_en = false;
		pt->used = 0;
	}
	pt->vmx_operation = false;
	pt->vmcs = NO_VMCS;
	pt->guest_physical = false;
}

/**
 * pt_emu_cpuid() - what CPUID says of Intel PT
 * @pt: of which processor
 * @leaf: EAX
 * @subleaf: ECX
 * @regs: EAX, EBX, ECX, EDX as the machine has them without; changed for leafs
 *	0, 7, 14H (tables 36-11 and 36-12) and, with MTC, 15H
 */
void pt_emu_cpuid(const struct pt_emu *pt, __u32 leaf, __u32 subleaf, __u32 regs[4])
{
	const struct pt_emu_caps *caps = &pt->caps;
	const bool has_subleaf_1 = caps->psb_cyc || caps->mtc || caps->ranges;
	const __u32 last = caps->mtc ? LEAF_CRYSTAL : LEAF_PT;

	if (!leaf && regs[REGS_EAX] < last)
		regs[REGS_EAX] = last;
	if (leaf == 7 && !subleaf)
		regs[REGS_EBX] |= LEAF7_EBX_PT;
	if (leaf == LEAF_CRYSTAL && caps->mtc) {
		regs[REGS_EAX] = 1;
		regs[REGS_EBX] = caps->crystal_ratio;
	}
	if (leaf != LEAF_PT)
		return;
	memset(regs, 0, 4 * sizeof(*regs));
	if (!subleaf) {
		regs[REGS_EAX] = has_subleaf_1;
		regs[REGS_EBX] = caps->cr3_filter | caps->psb_cyc << 1 | !!caps->ranges << 2 |
				 caps->mtc << 3 | caps->ptwrite << 4;
		regs[REGS_ECX] = caps->topa | caps->topa_multi << 1 | caps->single_range << 2 |
				 (__u32)caps->lip << 31;
	} else if (subleaf == 1 && has_subleaf_1) {
		regs[REGS_EAX] = caps->ranges;
		if (caps->mtc)
			regs[REGS_EAX] |= (__u32)caps->mtc_freqs << 16;
		if (caps->psb_cyc)
			regs[REGS_EBX] = caps->cyc_thresholds | (__u32)caps->psb_freqs << 16;
	}
}

static unsigned int field(__u64 ctl, unsigned int shift)
{
	return ctl >> shift & FIELD;
}

/*
 * Bits that are reserved with these capabilities, and choices that are not
 * announced (table 36-6).
 */
bool pt_emu_ctl_valid(const struct pt_emu_caps *caps, __u64 ctl)
{
	__u64 valid = PT_EMU_CTL_TRACEEN | PT_EMU_CTL_OS | PT_EMU_CTL_USER | PT_EMU_CTL_TSCEN |
		      PT_EMU_CTL_DISRETC | PT_EMU_CTL_BRANCHEN;
	unsigned int i;

	if (caps->cr3_filter)
		valid |= PT_EMU_CTL_CR3FILTER;
	if (caps->topa)
		valid |= PT_EMU_CTL_TOPA;
	if (caps->ptwrite)
		valid |= PT_EMU_CTL_PTWEN | PT_EMU_CTL_FUPONPTW;
	if (caps->psb_cyc) {
		valid |= PT_EMU_CTL_CYCEN | FIELD << PT_EMU_CTL_CYCTHRESH_SHIFT |
			 FIELD << PT_EMU_CTL_PSBFREQ_SHIFT;
		if (!(caps->cyc_thresholds >> field(ctl, PT_EMU_CTL_CYCTHRESH_SHIFT) & 1) ||
		    !(caps->psb_freqs >> field(ctl, PT_EMU_CTL_PSBFREQ_SHIFT) & 1))
			return false;
	}
	if (caps->mtc) {
		valid |= PT_EMU_CTL_MTCEN | FIELD << PT_EMU_CTL_MTCFREQ_SHIFT;
		if (!(caps->mtc_freqs >> field(ctl, PT_EMU_CTL_MTCFREQ_SHIFT) & 1))
			return false;
	}
	for (i = 0; i < caps->ranges; i++) {
		const unsigned int shift = PT_EMU_CTL_ADDR0_CFG_SHIFT + i * ADDR_CFG_BITS;

		valid |= FIELD << shift;
		if (field(ctl, shift) > ADDR_CFG_MAX)
			return false;
	}
	return !(ctl & ~valid);
}

/**
 * pt_emu_has_msr() - whether an MSR is one of Intel PT's
 * @msr: its address
 *
 * Return: true if RDMSR and WRMSR of it go to pt_emu_rdmsr() and pt_emu_wrmsr(),
 * which then know whether this processor has it.
 */
bool pt_emu_has_msr(__u32 msr)
{
	return msr == PT_EMU_MSR_OUTPUT_BASE || msr == PT_EMU_MSR_OUTPUT_MASK ||
	       (msr >= PT_EMU_MSR_CTL && msr <= PT_EMU_MSR_CR3_MATCH) ||
	       (msr >= PT_EMU_MSR_ADDR0_A && msr < PT_EMU_MSR_ADDR0_A + 2 * PT_EMU_MAX_RANGES);
}

/* Whether the capabilities have it (36.2.7.5 to 36.2.7.8). */
static bool exists(const struct pt_emu_caps *caps, __u32 msr)
{
	switch (msr) {
	case PT_EMU_MSR_CTL:
	case PT_EMU_MSR_STATUS:
		return true;
	case PT_EMU_MSR_OUTPUT_BASE:
	case PT_EMU_MSR_OUTPUT_MASK:
		return caps->topa || caps->single_range;
	case PT_EMU_MSR_CR3_MATCH:
		return caps->cr3_filter;
	default:
		return msr >= PT_EMU_MSR_ADDR0_A && msr < PT_EMU_MSR_ADDR0_A + 2U * caps->ranges;
	}
}

static __u64 status(const struct pt_emu *pt)
{
	__u64 value = pt->status;

	if (pt->filter_en)
		value |= PT_EMU_STATUS_FILTEREN;
	if (pt->context_en)
		value |= PT_EMU_STATUS_CONTEXTEN;
	if (pt_emu_trigger_enabled(pt))
		value |= PT_EMU_STATUS_TRIGGEREN;
	if (pt->caps.psb_cyc)
		value |= pt->byte_count << PT_EMU_STATUS_BYTECNT_SHIFT & PT_EMU_STATUS_BYTECNT;
	return value;
}

/**
 * pt_emu_rdmsr() - RDMSR
 * @pt: of which processor
 * @msr: an address for which pt_emu_has_msr() is true
 * @value: what is read
 *
 * While TraceEn is 1, the output MSRs may be behind the packets (36.2.6.2).
 *
 * Return: false for a general-protection fault.
 */
bool pt_emu_rdmsr(const struct pt_emu *pt, __u32 msr, __u64 *value)
{
	if (!exists(&pt->caps, msr))
		return false;
	switch (msr) {
	case PT_EMU_MSR_CTL:
		*value = pt->ctl;
		break;
	case PT_EMU_MSR_STATUS:
		*value = status(pt);
		break;
	case PT_EMU_MSR_OUTPUT_BASE:
		*value = pt->output_base;
		break;
	case PT_EMU_MSR_OUTPUT_MASK:
		*value = pt->output_mask;
		break;
	case PT_EMU_MSR_CR3_MATCH:
		*value = pt->cr3_match;
		break;
	default:
		*value = pt->addr[msr - PT_EMU_MSR_ADDR0_A];
	}
	return true;
}

static bool write_ctl(struct pt_emu *pt, __u64 value, __u64 ip, const struct pt_emu_state *next)
{
	const bool was = pt->ctl & PT_EMU_CTL_TRACEEN, on = value & PT_EMU_CTL_TRACEEN;

	if (!pt_emu_ctl_valid(&pt->caps, value))
		return false;
	if (on && !(value & PT_EMU_CTL_TOPA) && !pt->caps.single_range)
		return false;
	if (on && pt->vmx_operation && !pt->caps.vmx)
		return false;
	if (on && was)
		return value == pt->ctl;
	if (on) {
		pt_emu_enable(pt, value, next);
	} else if (was) {
		if (pt_emu_packet_enabled(pt)) {
			pt_emu_put_fup(pt, ip);
			pt_emu_put_pgd(pt, NULL);
		}
		pt_emu_disable(pt, value);
	} else {
		pt->ctl = value;
	}
	return true;
}

static bool write_status(struct pt_emu *pt, __u64 value)
{
	const __u64 count = value & PT_EMU_STATUS_BYTECNT;

	if (value & ~(STATUS_IGNORED | STATUS_KEPT | PT_EMU_STATUS_BYTECNT))
		return false;
	if (count && !pt->caps.psb_cyc)
		return false;
	pt->status = value & STATUS_KEPT;
	pt->byte_count = count >> PT_EMU_STATUS_BYTECNT_SHIFT;
	return true;
}

static bool is_canonical(__u64 address)
{
	const __u64 high = address >> (VIRTUAL_BITS - 1);

	return !high || high == ~0ULL >> (VIRTUAL_BITS - 1);
}

/**
 * pt_emu_wrmsr() - WRMSR, or a load from a VM-entry or VM-exit MSR-load area
 * @pt: of which processor
 * @msr: an address for which pt_emu_has_msr() is true
 * @value: what is written
 * @ip: of the instruction
 * @next: where the processor goes on if the write is good
 *
 * Return: false for a general-protection fault; then nothing has changed.
 */
bool pt_emu_wrmsr(struct pt_emu *pt, __u32 msr, __u64 value, __u64 ip,
		  const struct pt_emu_state *next)
{
	if (!exists(&pt->caps, msr))
		return false;
	if (msr == PT_EMU_MSR_CTL)
		return write_ctl(pt, value, ip, next);
	if (pt->ctl & PT_EMU_CTL_TRACEEN)
		return false;
	switch (msr) {
	case PT_EMU_MSR_STATUS:
		return write_status(pt, value);
	case PT_EMU_MSR_OUTPUT_BASE:
		if (value & LOW_MASK || value >> pt->caps.maxphyaddr)
			return false;
		pt->output_base = value;
		return true;
	case PT_EMU_MSR_OUTPUT_MASK:
		pt->output_mask = value | LOW_MASK;
		return true;
	case PT_EMU_MSR_CR3_MATCH:
		if (value & 0x1f)
			return false;
		pt->cr3_match = value;
		return true;
	default:
		if (!is_canonical(value))
			return false;
		pt->addr[msr - PT_EMU_MSR_ADDR0_A] = value;
		return true;
	}
}
