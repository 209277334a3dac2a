/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The manual's rules for Intel PT's MSRs, one case each, without any processor:
 * msr_rules.c tries them with the core, ../lab/pt_msr_rules.c with the CPU that runs it.
 */
#ifndef _PT_EMU_MSR_CASES_H
#define _PT_EMU_MSR_CASES_H

#include "machine.h"

#define CTL		PT_EMU_MSR_CTL
#define STATUS		PT_EMU_MSR_STATUS
#define BASE		PT_EMU_MSR_OUTPUT_BASE
#define MASK		PT_EMU_MSR_OUTPUT_MASK
#define CR3_MATCH	PT_EMU_MSR_CR3_MATCH
#define ADDR(n)		(PT_EMU_MSR_ADDR0_A + (n))
#define BIT_OF(n)	(1ULL << (n))

#define MTCFREQ(n)	((u64)(n) << PT_EMU_CTL_MTCFREQ_SHIFT)
#define CYCTHRESH(n)	((u64)(n) << PT_EMU_CTL_CYCTHRESH_SHIFT)
#define PSBFREQ(n)	((u64)(n) << PT_EMU_CTL_PSBFREQ_SHIFT)
#define ADDR_CFG(i, n)	((u64)(n) << (PT_EMU_CTL_ADDR0_CFG_SHIFT + 4 * (i)))
#define BYTECNT(n)	((u64)(n) << PT_EMU_STATUS_BYTECNT_SHIFT)

/* A value that no other case has: msr_case_value() knows the width. */
#define ADDRESS_BIT(n)	(0xadd2e55000000000ULL + 64 + (n))

/* Capabilities that a case goes without. */
#define LACKS_CR3	BIT_OF(0)
#define LACKS_PSB_CYC	BIT_OF(1)
#define LACKS_PTWRITE	BIT_OF(2)
#define LACKS_TOPA	BIT_OF(3)
#define LACKS_SINGLE	BIT_OF(4)
#define LACKS_RANGES	BIT_OF(5)
#define LACKS_VMX	BIT_OF(6)
#define LACKS_GPA	BIT_OF(7)
#define LACKS_MTC	BIT_OF(8)

static inline u64 msr_case_value(u64 value, unsigned int maxphyaddr)
{
	if (value >> 8 == ADDRESS_BIT(0) >> 8)
		return BIT_OF(maxphyaddr + (value & 0xff) - 64);
	return value;
}

/* One WRMSR with TraceEn=0: whether it faults, and what is read after it. */
static const struct {
	const char *promise;
	const char *manual;
	u64 lacks;
	u32 msr;
	bool faults;
	u64 value;	/* ADDRESS_BIT(n): bit n, counted from the width of addresses */
	u64 after;
} msr_writes[] = {
	{ "ctl_takes_all_it_has", "table 36-6", 0, CTL, false,
	  0x3eae | MTCFREQ(9) | CYCTHRESH(13) | PSBFREQ(5) | ADDR_CFG(0, 1) | ADDR_CFG(1, 2),
	  0x3eae | MTCFREQ(9) | CYCTHRESH(13) | PSBFREQ(5) | ADDR_CFG(0, 1) | ADDR_CFG(1, 2) },
	{ "ctl_reserved_bit_faults: PwrEvtEn", "table 36-6", 0, CTL, true, BIT_OF(4), 0 },
	{ "ctl_reserved_bit_faults: FabricEn", "table 36-6", 0, CTL, true, BIT_OF(6), 0 },
	{ "ctl_reserved_bit_faults: 18", "table 36-6", 0, CTL, true, BIT_OF(18), 0 },
	{ "ctl_reserved_bit_faults: 23", "table 36-6", 0, CTL, true, BIT_OF(23), 0 },
	{ "ctl_reserved_bit_faults: 28", "table 36-6", 0, CTL, true, BIT_OF(28), 0 },
	{ "ctl_reserved_bit_faults: 31", "table 36-6", 0, CTL, true, BIT_OF(31), 0 },
	{ "ctl_reserved_bit_faults: ADDR2_CFG of 2 ranges", "table 36-6", 0, CTL, true,
	  ADDR_CFG(2, 1), 0 },
	{ "ctl_reserved_bit_faults: ADDR3_CFG of 2 ranges", "table 36-6", 0, CTL, true,
	  ADDR_CFG(3, 1), 0 },
	{ "ctl_reserved_bit_faults: 48", "table 36-6", 0, CTL, true, BIT_OF(48), 0 },
	{ "ctl_reserved_bit_faults: 55", "table 36-6", 0, CTL, true, BIT_OF(55), 0 },
	{ "ctl_reserved_bit_faults: 56", "table 36-6", 0, CTL, true, BIT_OF(56), 0 },
	{ "ctl_reserved_bit_faults: 60", "table 36-6", 0, CTL, true, BIT_OF(60), 0 },
	{ "ctl_reserved_bit_faults: 63", "table 36-6", 0, CTL, true, BIT_OF(63), 0 },
	{ "ctl_bit_without_capability_faults: CYCEn", "table 36-11", LACKS_PSB_CYC, CTL, true,
	  PT_EMU_CTL_CYCEN, 0 },
	{ "ctl_bit_without_capability_faults: CycThresh", "table 36-12", LACKS_PSB_CYC, CTL, true,
	  CYCTHRESH(1), 0 },
	{ "ctl_bit_without_capability_faults: PSBFreq", "table 36-11", LACKS_PSB_CYC, CTL, true,
	  PSBFREQ(1), 0 },
	{ "ctl_bit_without_capability_faults: MTCEn", "table 36-6", LACKS_MTC, CTL, true,
	  PT_EMU_CTL_MTCEN, 0 },
	{ "ctl_bit_without_capability_faults: MTCFreq", "table 36-6", LACKS_MTC, CTL, true,
	  MTCFREQ(3), 0 },
	{ "ctl_bit_without_capability_faults: CR3Filter", "table 36-11", LACKS_CR3, CTL, true,
	  PT_EMU_CTL_CR3FILTER, 0 },
	{ "ctl_bit_without_capability_faults: ToPA", "table 36-6", LACKS_TOPA, CTL, true,
	  PT_EMU_CTL_TOPA, 0 },
	{ "ctl_bit_without_capability_faults: PTWEn", "table 36-11", LACKS_PTWRITE, CTL, true,
	  PT_EMU_CTL_PTWEN, 0 },
	{ "ctl_bit_without_capability_faults: FUPonPTW", "table 36-11", LACKS_PTWRITE, CTL, true,
	  PT_EMU_CTL_FUPONPTW, 0 },
	{ "ctl_bit_without_capability_faults: ADDR0_CFG", "table 36-6", LACKS_RANGES, CTL, true,
	  ADDR_CFG(0, 1), 0 },
	{ "ctl_choice_that_is_not_announced_faults: PSBFreq", "table 36-6", 0, CTL, true,
	  PSBFREQ(6), 0 },
	{ "ctl_choice_that_is_not_announced_faults: MTCFreq", "table 36-6", 0, CTL, true,
	  MTCFREQ(1), 0 },
	{ "ctl_choice_that_is_not_announced_faults: CycThresh", "table 36-12", 0, CTL, true,
	  CYCTHRESH(14), 0 },
	{ "ctl_choice_that_is_reserved_faults: ADDR0_CFG 3", "table 36-6", 0, CTL, true,
	  ADDR_CFG(0, 3), 0 },
	{ "ctl_choice_that_is_reserved_faults: ADDR1_CFG 15", "table 36-6", 0, CTL, true,
	  ADDR_CFG(1, 15), 0 },
	{ "ctl_traceen_without_topa_faults_if_single_range_is_lacking", "table 36-6", LACKS_SINGLE,
	  CTL, true, TRACE_ALL, 0 },
	{ "ctl_without_traceen_needs_no_output", "table 36-6", LACKS_SINGLE, CTL, false,
	  TRACE_ALL & ~PT_EMU_CTL_TRACEEN, TRACE_ALL & ~PT_EMU_CTL_TRACEEN },
	{ "status_enable_bits_are_ignored", "36.2.7.4", 0, STATUS, false, 7, 0 },
	{ "status_reserved_bit_faults: 3", "table 36-7", 0, STATUS, true, BIT_OF(3), 0 },
	{ "status_reserved_bit_faults: 6", "table 36-7", 0, STATUS, true, BIT_OF(6), 0 },
	{ "status_reserved_bit_faults: 7", "table 36-7", 0, STATUS, true, BIT_OF(7), 0 },
	{ "status_reserved_bit_faults: 31", "table 36-7", 0, STATUS, true, BIT_OF(31), 0 },
	{ "status_reserved_bit_faults: 49", "table 36-7", 0, STATUS, true, BIT_OF(49), 0 },
	{ "status_reserved_bit_faults: 63", "table 36-7", 0, STATUS, true, BIT_OF(63), 0 },
	{ "status_error_can_be_restored", "table 36-7", 0, STATUS, false, PT_EMU_STATUS_ERROR,
	  PT_EMU_STATUS_ERROR },
	{ "status_stopped_can_be_restored", "table 36-7", 0, STATUS, false, PT_EMU_STATUS_STOPPED,
	  PT_EMU_STATUS_STOPPED },
	{ "status_packet_byte_count_can_be_restored", "table 36-7", 0, STATUS, false,
	  BYTECNT(0x1ffff), BYTECNT(0x1ffff) },
	{ "status_packet_byte_count_without_capability_faults", "table 36-11", LACKS_PSB_CYC,
	  STATUS, true, BYTECNT(1), 0 },
	{ "output_base_reserved_bit_faults: 0", "table 36-8", 0, BASE, true, BIT_OF(0), 0 },
	{ "output_base_reserved_bit_faults: 6", "table 36-8", 0, BASE, true, BIT_OF(6), 0 },
	{ "output_base_beyond_physical_address_width_faults: first bit", "table 36-8", 0, BASE,
	  true, ADDRESS_BIT(0), 0 },
	{ "output_base_beyond_physical_address_width_faults: 63", "table 36-8", 0, BASE, true,
	  BIT_OF(63), 0 },
	{ "output_base_takes_the_highest_address_bit", "table 36-8", 0, BASE, false,
	  ADDRESS_BIT(-1), ADDRESS_BIT(-1) },
	{ "output_base_that_is_wrong_for_topa_does_not_fault", "table 36-8", 0, BASE, false,
	  0x1f80, 0x1f80 },
	{ "output_base_without_topa_is_there", "36.2.7.7", LACKS_TOPA, BASE, false, 0x1000,
	  0x1000 },
	{ "output_base_without_single_range_is_there", "36.2.7.7", LACKS_SINGLE, BASE, false,
	  0x1000, 0x1000 },
	{ "output_base_without_any_output_faults", "36.2.7.7", LACKS_TOPA | LACKS_SINGLE, BASE,
	  true, 0, 0 },
	{ "output_mask_low_bits_stay_1", "table 36-9", 0, MASK, false, 0, 0x7f },
	{ "output_mask_takes_all_bits", "table 36-9", 0, MASK, false, ~0ULL, ~0ULL },
	{ "output_mask_without_any_output_faults", "36.2.7.8", LACKS_TOPA | LACKS_SINGLE, MASK,
	  true, 0x7f, 0 },
	{ "cr3_match_reserved_bit_faults: 0", "36.2.7.6", 0, CR3_MATCH, true, BIT_OF(0), 0 },
	{ "cr3_match_reserved_bit_faults: 4", "36.2.7.6", 0, CR3_MATCH, true, BIT_OF(4), 0 },
	{ "cr3_match_takes_all_higher_bits", "36.2.7.6", 0, CR3_MATCH, false, ~0x1fULL, ~0x1fULL },
	{ "cr3_match_without_capability_faults", "table 36-11", LACKS_CR3, CR3_MATCH, true, 0, 0 },
	{ "addr_takes_canonical_addresses: low", "36.2.7.5", 0, ADDR(0), false,
	  0x00007fffffffffff, 0x00007fffffffffff },
	{ "addr_takes_canonical_addresses: high", "36.2.7.5", 0, ADDR(3), false,
	  0xffff800000000000, 0xffff800000000000 },
	{ "addr_that_is_not_canonical_faults: low", "36.2.7.5", 0, ADDR(0), true,
	  0x0000800000000000, 0 },
	{ "addr_that_is_not_canonical_faults: high", "36.2.7.5", 0, ADDR(1), true,
	  0xffff7fffffffffff, 0 },
	{ "addr_beyond_the_ranges_faults: ADDR2_A of 2", "36.2.7.5", 0, ADDR(4), true, 0, 0 },
	{ "addr_beyond_the_ranges_faults: ADDR3_B of 2", "36.2.7.5", 0, ADDR(7), true, 0, 0 },
	{ "addr_without_ranges_faults", "36.2.7.5", LACKS_RANGES, ADDR(0), true, 0, 0 },
};

/* One WRMSR with TraceEn=1. */
static const struct {
	const char *promise;
	const char *manual;
	u32 msr;
	bool faults;
	u64 value;
} msr_writes_while_tracing[] = {
	{ "tracing_ctl_takes_the_same_value", "36.2.7.3", CTL, false, TRACE_ALL },
	{ "tracing_ctl_changed_faults: a bit set", "36.2.7.3", CTL, true,
	  TRACE_ALL | PT_EMU_CTL_TSCEN },
	{ "tracing_ctl_changed_faults: a bit cleared", "36.2.7.3", CTL, true,
	  TRACE_ALL & ~PT_EMU_CTL_OS },
	{ "tracing_ctl_can_be_changed_by_the_write_that_ends_it", "36.2.7.3", CTL, false,
	  PT_EMU_CTL_TSCEN },
	{ "tracing_ctl_reserved_bit_faults_even_if_it_ends_it", "36.2.7.1", CTL, true,
	  BIT_OF(63) },
	{ "tracing_status_faults", "36.2.7.4", STATUS, true, 0 },
	{ "tracing_output_base_faults_even_with_its_own_value", "36.2.7.1", BASE, true,
	  MEMORY_BASE },
	{ "tracing_output_mask_faults", "36.2.7.8", MASK, true, 0xffff },
	{ "tracing_cr3_match_faults", "36.2.7.6", CR3_MATCH, true, 0 },
	{ "tracing_addr_faults", "36.2.7.1", ADDR(0), true, 0 },
};

/* RDMSR of what is not there; of what is there, the writes above tell. */
static const struct {
	const char *promise;
	const char *manual;
	u64 lacks;
	u32 msr;
} msr_reads_that_fault[] = {
	{ "output_base_without_any_output_cannot_be_read", "36.2.7.7", LACKS_TOPA | LACKS_SINGLE,
	  BASE },
	{ "output_mask_without_any_output_cannot_be_read", "36.2.7.8", LACKS_TOPA | LACKS_SINGLE,
	  MASK },
	{ "cr3_match_without_capability_cannot_be_read", "table 36-11", LACKS_CR3, CR3_MATCH },
	{ "addr_beyond_the_ranges_cannot_be_read", "36.2.7.5", 0, ADDR(4) },
	{ "addr_without_ranges_cannot_be_read", "36.2.7.5", LACKS_RANGES, ADDR(0) },
};

/* IA32_RTIT_STATUS but for PacketByteCnt after TraceEn is set; range 0 has no code. */
static const struct {
	const char *promise;
	const char *manual;
	u64 ctl;
	u64 before;
	bool user;	/* user code sets it */
	u64 after;
} msr_statuses[] = {
	{ "status_tells_all_enables", "36.2.5", TRACE_ALL, 0, false, 7 },
	{ "status_tells_no_context: user code with OS only", "36.2.4.1",
	  TRACE_ALL & ~PT_EMU_CTL_USER, 0, true,
	  PT_EMU_STATUS_TRIGGEREN | PT_EMU_STATUS_FILTEREN },
	{ "status_tells_no_context: kernel with User only", "36.2.4.1",
	  TRACE_ALL & ~PT_EMU_CTL_OS, 0, false,
	  PT_EMU_STATUS_TRIGGEREN | PT_EMU_STATUS_FILTEREN },
	{ "status_tells_no_context: another CR3", "36.2.4.2", TRACE_ALL | PT_EMU_CTL_CR3FILTER, 0,
	  false, PT_EMU_STATUS_TRIGGEREN | PT_EMU_STATUS_FILTEREN },
	{ "status_tells_no_filter: outside of the range", "36.2.4.3", TRACE_ALL | ADDR_CFG(0, 1),
	  0, false, PT_EMU_STATUS_TRIGGEREN | PT_EMU_STATUS_CONTEXTEN },
	{ "status_tells_no_trigger: Stopped", "36.2.5.2", TRACE_ALL, PT_EMU_STATUS_STOPPED,
	  false, PT_EMU_STATUS_STOPPED },
	{ "status_tells_no_trigger: Error", "36.2.5.2", TRACE_ALL, PT_EMU_STATUS_ERROR, false,
	  PT_EMU_STATUS_ERROR },
	{ "status_tells_that_branches_off_is_no_filter", "36.2.5.1",
	  TRACE_ALL & ~PT_EMU_CTL_BRANCHEN, 0, false, 7 },
};

#endif /* _PT_EMU_MSR_CASES_H */
