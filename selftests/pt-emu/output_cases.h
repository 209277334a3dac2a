/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output that is wrong, by one range and by ToPA, one case each, without any memory:
 * output_rules.c tries them with the core, ../lab/pt_output.c with the CPU that runs it.
 */
#ifndef _PT_EMU_OUTPUT_CASES_H
#define _PT_EMU_OUTPUT_CASES_H

#include "core/pt_emu.h"
#include "types.h"

/* Addresses that output_case_value() makes of what no physical address has. */
#define IN_AREA		(1ULL << 63)	/* in the memory of the test */
#define NOWHERE		(1ULL << 62)	/* where no memory is */
#define BEYOND		(1ULL << 61)	/* beyond the width of addresses */
#define OF_TABLE	(IN_AREA | 0x1000)
#define OF_DATA	(IN_AREA | 0x100000)

#define SIZE_4K		(0 << PT_EMU_TOPA_SIZE_SHIFT)
#define SIZE_8K		(1 << PT_EMU_TOPA_SIZE_SHIFT)
#define SIZE_64K	(4 << PT_EMU_TOPA_SIZE_SHIFT)
#define MAX_ENTRIES	6

static inline u64 output_case_value(u64 value, u64 area, u64 nowhere, unsigned int maxphyaddr)
{
	u64 address = value & ~(IN_AREA | NOWHERE | BEYOND);

	if (value & IN_AREA)
		address += area;
	if (value & NOWHERE)
		address += nowhere;
	if (value & BEYOND)
		address |= 1ULL << maxphyaddr;
	return address;
}

/* An operational error, and no byte anywhere. */
static const struct {
	const char *promise;
	const char *manual;
	u64 base;
	u64 mask;
} wrong_ranges[] = {
	{ "range_that_is_not_aligned_is_an_error", "36.2.6.1", OF_DATA + 0x1000, 0x1fff },
	{ "range_with_a_mask_that_has_gaps_is_an_error", "36.2.6.1", OF_DATA, 0x2fff },
	{ "range_with_an_offset_beyond_its_mask_is_an_error", "36.2.6.1", OF_DATA,
	  0x100000000fff },
	{ "range_without_memory_is_an_error", "36.2.6.4", NOWHERE, 0xfff },
};

/* An operational error once the entry is needed. */
static const struct {
	const char *promise;
	bool single;		/* of a CPU that takes one region only */
	unsigned int good;	/* regions of 4 KB that are filled before */
	u64 mask;
	u64 base;
	u64 table[MAX_ENTRIES];
} wrong_tables[] = {
	{ "topa_reserved_bit_is_an_error: 1", false, 0, 0x7f, OF_TABLE,
	  { OF_DATA | 1 << 1 } },
	{ "topa_reserved_bit_is_an_error: 3", false, 0, 0x7f, OF_TABLE,
	  { OF_DATA | 1 << 3 } },
	{ "topa_reserved_bit_is_an_error: 5", false, 0, 0x7f, OF_TABLE,
	  { OF_DATA | 1 << 5 } },
	{ "topa_reserved_bit_is_an_error: 10", false, 0, 0x7f, OF_TABLE,
	  { OF_DATA | 1 << 10 } },
	{ "topa_reserved_bit_is_an_error: 11", false, 0, 0x7f, OF_TABLE,
	  { OF_DATA | 1 << 11 } },
	{ "topa_region_beyond_physical_address_width_is_an_error", false, 0, 0x7f, OF_TABLE,
	  { OF_DATA | BEYOND } },
	{ "topa_region_that_is_not_aligned_is_an_error", false, 0, 0x7f, OF_TABLE,
	  { (OF_DATA + 0x1000) | SIZE_8K } },
	{ "topa_region_without_memory_is_an_error", false, 0, 0x7f, OF_TABLE, { NOWHERE } },
	{ "topa_table_that_is_not_aligned_is_an_error", false, 0, 0x7f, OF_TABLE + 0x80,
	  { OF_DATA } },
	{ "topa_table_without_memory_is_an_error", false, 0, 0x7f, NOWHERE, { OF_DATA } },
	{ "topa_offset_beyond_the_region_is_an_error", false, 0, 0x10000000007f, OF_TABLE,
	  { OF_DATA } },
	{ "topa_end_in_entry_0_is_an_error", false, 0, 0x7f, OF_TABLE,
	  { OF_TABLE | PT_EMU_TOPA_END } },
	{ "topa_end_with_stop_is_an_error", false, 1, 0x7f, OF_TABLE,
	  { OF_DATA, OF_TABLE | PT_EMU_TOPA_END | PT_EMU_TOPA_STOP } },
	{ "topa_end_with_int_is_an_error", false, 1, 0x7f, OF_TABLE,
	  { OF_DATA, OF_TABLE | PT_EMU_TOPA_END | PT_EMU_TOPA_INT } },
	{ "topa_end_to_no_memory_is_an_error", false, 1, 0x7f, OF_TABLE,
	  { OF_DATA, NOWHERE | PT_EMU_TOPA_END } },
	{ "topa_later_entry_that_is_wrong_is_an_error", false, 2, 0x7f, OF_TABLE,
	  { OF_DATA, OF_DATA + 0x1000, (OF_DATA + 0x2000) | 1 << 1 } },
	{ "topa_of_a_single_region_with_two_is_an_error", true, 1, 0x7f, OF_TABLE,
	  { OF_DATA, OF_DATA + 0x1000, OF_TABLE | PT_EMU_TOPA_END } },
	{ "topa_of_a_single_region_that_ends_elsewhere_is_an_error", true, 1, 0x7f, OF_TABLE,
	  { OF_DATA, (OF_TABLE + 0x1000) | PT_EMU_TOPA_END } },
};

#endif /* _PT_EMU_OUTPUT_CASES_H */
