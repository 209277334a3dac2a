// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the bytes of a trace land in the CPU's physical memory where one range or
 * tables of regions (ToPA) say, in their order, and nowhere else around them; and output
 * that is wrong is an operational error. Known calls of user code are traced; each must be
 * found once in what is read back. Wrong output is that of pt-emu/output_cases.h.
 * Sections are of the manual's edition that pt-emu/README.md names.
 */
#include <cpuid.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../pt-emu/output_cases.h"
#include "msr.h"
#include "pt_packets.h"
#include "tap.h"
#include "vm.h"

#define CTL		PT_EMU_MSR_CTL
#define STATUS		PT_EMU_MSR_STATUS
#define BASE		PT_EMU_MSR_OUTPUT_BASE
#define MASK		PT_EMU_MSR_OUTPUT_MASK

#define LEAF_PT		0x14
#define LEAF_WIDTH	0x80000008
#define HAS_MANY	(1u << 1)
#define HAS_RANGE	(1u << 2)

/* No interrupt of the kernel's between packets of ours: only user code is traced. */
#define TRACE_RANGE	(PT_EMU_CTL_TRACEEN | PT_EMU_CTL_USER | PT_EMU_CTL_DISRETC | \
			 PT_EMU_CTL_BRANCHEN)
#define TRACE_TOPA	(TRACE_RANGE | PT_EMU_CTL_TOPA)

#define UNSET		0xee
#define FAR_AWAY	((void *)0x100000000000)
#define RET		0xc3
#define CALLS		1500	/* of some 20 KB */
#define MIN_BYTES	16384
#define REGIONS		12

#define TABLE		0x1000	/* offsets in the area */
#define TABLE_2		0x2000
#define DATA		0x100000

static u8 *area, *stream;
static u64 physical;
static unsigned int outputs, maxphyaddr;
static void (*far_away)(void);

static u64 at(u64 offset)
{
	return physical + offset;
}

static void set_output(u64 base, u64 mask)
{
	msr_set(CTL, 0);
	msr_set(STATUS, 0);
	msr_set(BASE, base);
	msr_set(MASK, mask);
}

static void clear_area(void)
{
	memset(area, UNSET, AREA_BYTES);
}

static void set_table(u64 offset, const u64 *entries, size_t count)
{
	memcpy(area + offset, entries, count * sizeof(*entries));
}

/* A TIP packet to far_away() for each call, and one back. */
static void trace_calls(u64 ctl, unsigned int calls)
{
	msr_set(CTL, ctl);
	while (calls--)
		far_away();
	msr_set(CTL, 0);
}

static u64 status(void)
{
	return msr_get(STATUS) & (PT_EMU_STATUS_ERROR | PT_EMU_STATUS_STOPPED);
}

static u64 table_index(void)
{
	return (u32)msr_get(MASK) >> 7;
}

static u64 end_offset(void)
{
	return msr_get(MASK) >> 32;
}

/* Regions that the trace may be in, in their order; what is behind it is unset. */
struct region {
	u64 offset, size;
};

static void expect_unset(u64 from, u64 to)
{
	if (from == to ||
	    (area[from] == UNSET && !memcmp(area + from, area + from + 1, to - from - 1)))
		return;
	while (area[from] == UNSET)
		from++;
	tap_expect(false, "the byte at 0x%llx was written to", from);
}

/*
 * Goes through regions in the order of their addresses: nothing between them, from the
 * tables on, and before the tables nothing.
 */
static void expect_nothing_else(const struct region *regions, size_t count)
{
	u64 from = DATA;
	size_t i;

	expect_unset(0, TABLE);
	expect_unset(TABLE_2 + PAGE_BYTES, DATA);
	for (i = 0; i < count; i++) {
		expect_unset(from, regions[i].offset);
		from = regions[i].offset + regions[i].size;
	}
	expect_unset(from, AREA_BYTES);
}

/* The first bytes in regions are a trace of all calls. */
static void expect_trace(const struct region *regions, size_t count, u64 bytes)
{
	struct pt_packets packets = { .place = (u64)FAR_AWAY };
	u64 size = 0, part;
	size_t i;

	for (i = 0; i < count && size < bytes; i++) {
		part = bytes - size < regions[i].size ? bytes - size : regions[i].size;
		memcpy(stream + size, area + regions[i].offset, part);
		size += part;
		expect_unset(regions[i].offset + part, regions[i].offset + regions[i].size);
	}
	tap_expect(size == bytes, "%llu bytes do not fit", bytes);
	pt_packets_count(&packets, stream, size);
	tap_expect(packets.bytes == size, "it begins with no PSB");
	tap_expect(!packets.bad, "the byte at %zu begins no packet", packets.bad);
	tap_expect(packets.arrivals == CALLS, "%llu of %u calls", packets.arrivals, CALLS);
	tap_expect(size >= MIN_BYTES, "the trace has %llu bytes", size);
	expect_nothing_else(regions, count);
}

/* So many bytes of a trace, and no more. */
static void expect_full(u64 size)
{
	const struct region full = { DATA, size };
	struct pt_packets packets = {};

	pt_packets_count(&packets, area + DATA, size);
	tap_expect(packets.bytes == size && !packets.bad,
		   "%llu bytes are packets; the byte at %zu begins none", packets.bytes,
		   packets.bad);
	expect_nothing_else(&full, 1);
}

/* Of a ring that was written to more than once, whole packets can be read behind a PSB. */
static void expect_ring(u64 offset, u64 size)
{
	const struct region region = { offset, size };
	struct pt_packets packets = { .place = (u64)FAR_AWAY };
	const u64 end = end_offset();

	memcpy(stream, area + offset + end, size - end);
	memcpy(stream + size - end, area + offset, end);
	pt_packets_count(&packets, stream, size);
	tap_expect(packets.psb && !packets.bad, "%llu PSB, the byte at %zu begins no packet",
		   packets.psb, packets.bad);
	tap_expect(packets.arrivals > size / 50 && packets.arrivals < CALLS, "%llu calls",
		   packets.arrivals);
	tap_expect(!status(), "status is 0x%llx", status());
	expect_nothing_else(&region, 1);
}

static void test_range(void)
{
	static const struct region behind[] = { { DATA + 0x123, 0x80000 } };

	tap_begin("range_takes_bytes_from_its_offset_on (36.2.6.1)");
	clear_area();
	set_output(at(DATA), 0x1230000007f | 0xfffff);
	trace_calls(TRACE_RANGE, CALLS);
	expect_trace(behind, 1, end_offset() - 0x123);
	tap_end();

	tap_begin("range_wraps_at_its_end (36.2.6.1)");
	clear_area();
	set_output(at(DATA), 0xfff);
	trace_calls(TRACE_RANGE, CALLS);
	expect_ring(DATA, PAGE_BYTES);
	tap_end();
}

static void test_ring(void)
{
	const u64 ring[] = { at(DATA), at(TABLE) | PT_EMU_TOPA_END };

	tap_begin("topa_of_one_region_is_a_ring (36.2.6.2)");
	clear_area();
	set_table(TABLE, ring, ARRAY_SIZE(ring));
	set_output(at(TABLE), 0x7f);
	trace_calls(TRACE_TOPA, CALLS);
	tap_expect(msr_get(BASE) == at(TABLE) && !table_index(), "it ends in region %llu",
		   table_index());
	expect_ring(DATA, PAGE_BYTES);
	tap_end();
}

static void test_tables(void)
{
	static const struct region sizes[] = {
		{ DATA, 0x1000 }, { DATA + 0x2000, 0x2000 }, { DATA + 0x10000, 0x10000 },
	};
	static const struct region chain[] = {
		{ DATA, 0x1000 }, { DATA + 0x4000, 0x1000 }, { DATA + 0x10000, 0x10000 },
	};
	static const struct region later[] = {
		{ DATA + 0x3800, 0x800 }, { DATA + 0x10000, 0x10000 },
	};
	const u64 of_sizes[] = {
		at(DATA), at(DATA + 0x2000) | SIZE_8K, at(DATA + 0x10000) | SIZE_64K,
		at(TABLE) | PT_EMU_TOPA_END,
	};
	const u64 chained[] = { at(DATA), at(TABLE_2) | PT_EMU_TOPA_END };
	const u64 chain_end[] = {
		at(DATA + 0x4000), at(DATA + 0x10000) | SIZE_64K, at(TABLE) | PT_EMU_TOPA_END,
	};
	const u64 from_later[] = {
		0, 0, at(DATA + 0x3000), at(DATA + 0x10000) | SIZE_64K, at(TABLE) | PT_EMU_TOPA_END,
	};
	struct region regions[REGIONS];
	u64 many[REGIONS + 1];
	unsigned int i;

	tap_begin("topa_fills_regions_of_any_size_in_their_order (36.2.6.2)");
	clear_area();
	set_table(TABLE, of_sizes, ARRAY_SIZE(of_sizes));
	set_output(at(TABLE), 0x7f);
	trace_calls(TRACE_TOPA, CALLS);
	tap_expect(table_index() == 2, "it ends in region %llu", table_index());
	expect_trace(sizes, ARRAY_SIZE(sizes), 0x3000 + end_offset());
	tap_end();

	tap_begin("topa_fills_many_regions (36.2.6.2)");
	clear_area();
	for (i = 0; i < REGIONS; i++) {
		many[i] = at(DATA + i * 0x2000);
		regions[i] = (struct region){ DATA + i * 0x2000, 0x1000 };
	}
	many[REGIONS] = at(TABLE) | PT_EMU_TOPA_END;
	set_table(TABLE, many, ARRAY_SIZE(many));
	set_output(at(TABLE), 0x7f);
	trace_calls(TRACE_TOPA, CALLS);
	expect_trace(regions, REGIONS, table_index() * PAGE_BYTES + end_offset());
	tap_end();

	tap_begin("topa_end_leads_to_the_next_table (36.2.6.2)");
	clear_area();
	set_table(TABLE, chained, ARRAY_SIZE(chained));
	set_table(TABLE_2, chain_end, ARRAY_SIZE(chain_end));
	set_output(at(TABLE), 0x7f);
	trace_calls(TRACE_TOPA, CALLS);
	tap_expect(msr_get(BASE) == at(TABLE_2) && table_index() == 1,
		   "it ends in region %llu of the table at 0x%llx", table_index(), msr_get(BASE));
	expect_trace(chain, ARRAY_SIZE(chain), 0x2000 + end_offset());
	tap_end();

	tap_begin("topa_starts_at_the_entry_and_offset_of_the_msr (table 36-9)");
	clear_area();
	set_table(TABLE, from_later, ARRAY_SIZE(from_later));
	set_output(at(TABLE), 2 << 7 | 0x7f | 0x80000000000);
	trace_calls(TRACE_TOPA, CALLS);
	tap_expect(table_index() == 3, "it ends in region %llu", table_index());
	expect_trace(later, ARRAY_SIZE(later), 0x800 + end_offset());
	tap_end();
}

static void test_stop(void)
{
	const u64 table[] = {
		at(DATA), at(DATA + 0x1000) | PT_EMU_TOPA_STOP, at(DATA + 0x2000),
		at(TABLE) | PT_EMU_TOPA_END,
	};

	tap_begin("topa_stop_ends_output_with_the_last_byte_of_its_region (36.2.6.2)");
	clear_area();
	set_table(TABLE, table, ARRAY_SIZE(table));
	set_output(at(TABLE), 0x7f);
	trace_calls(TRACE_TOPA, CALLS);
	tap_expect(status() == PT_EMU_STATUS_STOPPED, "status is 0x%llx", status());
	tap_expect(msr_get(BASE) == at(TABLE) && table_index() == 1 && end_offset() == PAGE_BYTES,
		   "it ends at 0x%llx of region %llu", end_offset(), table_index());
	expect_full(2 * PAGE_BYTES);
	tap_end();
}

static u64 value_of(u64 value)
{
	return output_case_value(value, physical, 1ull << (maxphyaddr - 1), maxphyaddr);
}

static void test_wrong_ranges(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong_ranges); i++) {
		tap_begin("%s (%s)", wrong_ranges[i].promise, wrong_ranges[i].manual);
		clear_area();
		set_output(value_of(wrong_ranges[i].base), wrong_ranges[i].mask);
		tap_expect(!status(), "status is 0x%llx at first", status());
		trace_calls(TRACE_RANGE, CALLS);
		tap_expect(status() == PT_EMU_STATUS_ERROR, "status is 0x%llx", status());
		expect_unset(0, AREA_BYTES);
		tap_end();
	}
}

static bool fits(size_t i)
{
	return wrong_tables[i].single == !(outputs & HAS_MANY);
}

static void test_wrong_tables(void)
{
	u64 table[MAX_ENTRIES], base;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(wrong_tables); i++) {
		if (!fits(i))
			continue;
		tap_begin("%s (36.2.6.2, ToPA Errors)", wrong_tables[i].promise);
		clear_area();
		for (j = 0; j < MAX_ENTRIES; j++)
			table[j] = value_of(wrong_tables[i].table[j]);
		base = value_of(wrong_tables[i].base);
		set_table(TABLE, table, MAX_ENTRIES);
		if (base - physical < AREA_BYTES)
			set_table(base - physical, table, MAX_ENTRIES);
		set_output(base, wrong_tables[i].mask);
		tap_expect(!status(), "status is 0x%llx at first", status());
		trace_calls(TRACE_TOPA, CALLS);
		tap_expect(status() == PT_EMU_STATUS_ERROR, "status is 0x%llx", status());
		expect_full(wrong_tables[i].good * PAGE_BYTES);
		tap_end();
	}
}

static void read_capabilities(void)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid_count(LEAF_PT, 0, &a, &b, &outputs, &d) || !outputs)
		tap_die("CPUID tells of no Intel PT: scripts/lab run --pt gives one");
	__cpuid(LEAF_WIDTH, a, b, c, d);
	maxphyaddr = a & 0xff;
}

static unsigned int count_tables(void)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong_tables); i++)
		count += fits(i);
	return count;
}

int main(void)
{
	u8 *code;

	need_msrs();
	read_capabilities();
	area = physical_area(&physical);
	stream = malloc(AREA_BYTES);
	code = mmap(FAR_AWAY, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);
	if (!stream || code != FAR_AWAY)
		tap_die("no memory");
	*code = RET;
	far_away = (void (*)(void))code;

	tap_plan((outputs & HAS_RANGE ? 2 + ARRAY_SIZE(wrong_ranges) : 0) + 1 +
		 (outputs & HAS_MANY ? 5 : 0) + count_tables());
	if (outputs & HAS_RANGE) {
		test_range();
		test_wrong_ranges();
	}
	test_ring();
	if (outputs & HAS_MANY) {
		test_tables();
		test_stop();
	}
	test_wrong_tables();
	set_output(at(DATA), 0xfff);
	return tap_exit();
}
