// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the bytes of a trace land, with one range and with ToPA (36.2.6): in the
 * regions that the tables say, in their order, and nowhere else; and what tables
 * that are wrong lead to. The trace itself is the same in all cases; the first
 * machine's, which has room for all of it, is what the others are compared with.
 */
#include <stdlib.h>
#include <string.h>
#include "machine.h"
#include "output_cases.h"
#include "tap.h"

#define CTL		PT_EMU_MSR_CTL
#define STATUS		PT_EMU_MSR_STATUS
#define BASE		PT_EMU_MSR_OUTPUT_BASE
#define MASK		PT_EMU_MSR_OUTPUT_MASK

#define TABLE		(MEMORY_BASE + 0x1000)	/* and the second one a page on */
#define DATA		(MEMORY_BASE + 0x100000)
#define NO_MEMORY	0x40000000
#define BIG		(MEMORY_BASE + 0x200000)	/* as large, and aligned */
#define KB		1024UL
#define TOPA_ALL	(TRACE_ALL | PT_EMU_CTL_TOPA)
#define MAX_TRACE	(256 * KB)
#define MANY		12
#define SIZES		10	/* up to 2 MB */

static u8 trace[MAX_TRACE];
static const struct pt_emu_state start = { .ip = 0x1000, .cr3 = 0x5000, .mode = PT_EMU_MODE_64 };

static struct machine *new_machine(bool topa_multi)
{
	struct pt_emu_caps caps;

	pt_emu_default_caps(&caps);
	caps.topa_multi = topa_multi;
	return machine_new(&caps);
}

/* Branches whose packets have all lengths. */
static void run(struct machine *m, unsigned int branches)
{
	static const u64 distance[] = { 1 << 4, 1 << 17, 1ULL << 33, 1ULL << 46 };
	u64 target = 0x1000;
	unsigned int i;

	for (i = 0; i < branches; i++) {
		pt_emu_conditional(m->pt, i & 1, target);
		target ^= distance[i % ARRAY_SIZE(distance)] + i;
		pt_emu_indirect(m->pt, target);
	}
}

static bool trace_run(struct machine *m, u64 ctl, unsigned int branches)
{
	if (!tap_expect(machine_enable(m, ctl, &start), "tracing cannot be enabled"))
		return false;
	run(m, branches);
	return tap_expect(machine_disable(m, 0x1010), "tracing cannot be disabled");
}

static u8 *at(struct machine *m, u64 physical)
{
	return m->memory + (physical - MEMORY_BASE);
}

static u64 offset(struct machine *m)
{
	return machine_rdmsr(m, MASK) >> 32;
}

static u64 table_index(struct machine *m)
{
	return (machine_rdmsr(m, MASK) & 0xffffffff) >> 7;
}

/* The trace of so many branches, in trace[]; returns its size. */
static size_t reference(unsigned int branches)
{
	struct machine *m = new_machine(true);
	size_t size;

	machine_wrmsr(m, BASE, MEMORY_BASE);
	machine_wrmsr(m, MASK, MEMORY_SIZE - 1);
	trace_run(m, TRACE_ALL, branches);
	size = offset(m);
	if (size > sizeof(trace))
		tap_die("a trace of %zu bytes", size);
	memcpy(trace, m->memory, size);
	machine_free(m);
	return size;
}

static void expect_unset(struct machine *m, u64 from, u64 to)
{
	for (; from < to; from++) {
		if (!tap_expect(*at(m, from) == MEMORY_UNSET, "0x%llx was written to", from))
			return;
	}
}

/* Nothing of the trace is outside of [from, to) and of the tables. */
static void expect_untouched(struct machine *m, u64 from, u64 to)
{
	expect_unset(m, MEMORY_BASE, TABLE);
	expect_unset(m, TABLE + 0x2000, from);
	expect_unset(m, to, MEMORY_BASE + MEMORY_SIZE);
}

static void expect_bytes(struct machine *m, u64 address, size_t from, size_t size)
{
	tap_expect(!memcmp(at(m, address), trace + from, size),
		   "0x%llx does not hold the %zu bytes from %zu on", address, size, from);
}

static void expect_status(struct machine *m, u64 bits)
{
	const u64 mask = PT_EMU_STATUS_ERROR | PT_EMU_STATUS_STOPPED;

	tap_expect((machine_rdmsr(m, STATUS) & mask) == bits, "status is 0x%llx",
		   machine_rdmsr(m, STATUS));
}

static void test_range(void)
{
	struct machine *m;
	size_t size = reference(3000), lap;

	tap_begin("range_takes_bytes_from_its_offset_on (36.2.6.1)");
	m = new_machine(true);
	machine_wrmsr(m, BASE, DATA);
	machine_wrmsr(m, MASK, 0x1230000007f | 0xfffff);
	trace_run(m, TRACE_ALL, 3000);
	expect_bytes(m, DATA + 0x123, 0, size);
	expect_untouched(m, DATA + 0x123, DATA + 0x123 + size);
	tap_expect(offset(m) == 0x123 + size, "offset is 0x%llx", offset(m));
	expect_status(m, 0);
	machine_free(m);
	tap_end();

	tap_begin("range_wraps_at_its_end (36.2.6.1)");
	m = new_machine(true);
	machine_wrmsr(m, BASE, DATA);
	machine_wrmsr(m, MASK, 0xfff);
	trace_run(m, TRACE_ALL, 3000);
	lap = size & ~0xfffUL;
	tap_expect(lap, "the trace fits");
	expect_bytes(m, DATA, lap, size - lap);
	expect_bytes(m, DATA + (size - lap), size - 0x1000, 0x1000 - (size - lap));
	expect_untouched(m, DATA, DATA + 0x1000);
	tap_expect(offset(m) == size - lap, "offset is 0x%llx", offset(m));
	machine_free(m);
	tap_end();

	tap_begin("smallest_range_has_128_bytes (table 36-9)");
	m = new_machine(true);
	machine_wrmsr(m, BASE, DATA);
	machine_wrmsr(m, MASK, 0);
	trace_run(m, TRACE_ALL, 3000);
	expect_untouched(m, DATA, DATA + 128);
	tap_expect(offset(m) == size % 128, "offset is 0x%llx", offset(m));
	machine_free(m);
	tap_end();

	tap_begin("trace_goes_on_where_it_ended (36.2.7.3)");
	m = new_machine(true);
	machine_wrmsr(m, BASE, DATA);
	machine_wrmsr(m, MASK, 0xfffff);
	trace_run(m, TRACE_ALL, 3000);
	machine_wrmsr(m, STATUS, 0);
	trace_run(m, TRACE_ALL, 3000);
	expect_bytes(m, DATA, 0, size);
	expect_bytes(m, DATA + size, 0, size);
	tap_expect(offset(m) == 2 * size, "offset is 0x%llx", offset(m));
	machine_free(m);
	tap_end();
}

static u64 value_of(u64 value)
{
	struct pt_emu_caps caps;

	pt_emu_default_caps(&caps);
	return output_case_value(value, MEMORY_BASE, NO_MEMORY, caps.maxphyaddr);
}

static void test_wrong_ranges(void)
{
	struct machine *m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong_ranges); i++) {
		tap_begin("%s (%s)", wrong_ranges[i].promise, wrong_ranges[i].manual);
		m = new_machine(true);
		machine_wrmsr(m, BASE, value_of(wrong_ranges[i].base));
		machine_wrmsr(m, MASK, wrong_ranges[i].mask);
		expect_status(m, 0);
		trace_run(m, TRACE_ALL, 3000);
		expect_status(m, PT_EMU_STATUS_ERROR);
		expect_untouched(m, DATA, DATA);
		machine_free(m);
		tap_end();
	}
}

static void set_tables(struct machine *m, const u64 *first, const u64 *second)
{
	memcpy(at(m, TABLE), first, MAX_ENTRIES * sizeof(*first));
	if (second)
		memcpy(at(m, TABLE + 0x1000), second, MAX_ENTRIES * sizeof(*second));
	machine_wrmsr(m, BASE, TABLE);
	machine_wrmsr(m, MASK, 0x7f);
}

static void test_topa(void)
{
	static const u64 ring[MAX_ENTRIES] = { DATA, TABLE | PT_EMU_TOPA_END };
	static const u64 sizes[MAX_ENTRIES] = {
		DATA | SIZE_4K, (DATA + 0x2000) | SIZE_8K, (DATA + 0x10000) | SIZE_64K,
		(DATA + 0x40000) | SIZE_64K, TABLE | PT_EMU_TOPA_END,
	};
	static const u64 chained[MAX_ENTRIES] = { DATA, (TABLE + 0x1000) | PT_EMU_TOPA_END };
	static const u64 chain_end[MAX_ENTRIES] = {
		DATA + 0x1000, (DATA + 0x10000) | SIZE_64K, TABLE | PT_EMU_TOPA_END,
	};
	static const u64 unaligned[MAX_ENTRIES] = {
		0, 0, DATA + 0x3000, DATA + 0x4000, DATA + 0x5000, TABLE | PT_EMU_TOPA_END,
	};
	struct machine *m;
	size_t size = reference(5000), laps;

	tap_begin("topa_of_one_region_is_a_ring (36.2.6.2)");
	m = new_machine(true);
	set_tables(m, ring, NULL);
	trace_run(m, TOPA_ALL, 5000);
	laps = size & ~0xfffUL;
	expect_bytes(m, DATA, laps, size - laps);
	expect_bytes(m, DATA + (size - laps), size - 0x1000, 0x1000 - (size - laps));
	expect_untouched(m, DATA, DATA + 0x1000);
	tap_expect(machine_rdmsr(m, BASE) == TABLE && !table_index(m) && offset(m) == size - laps,
		   "0x%llx 0x%llx", machine_rdmsr(m, BASE), machine_rdmsr(m, MASK));
	expect_status(m, 0);
	machine_free(m);
	tap_end();

	tap_begin("topa_fills_regions_of_any_size_in_their_order (36.2.6.2)");
	m = new_machine(true);
	set_tables(m, sizes, NULL);
	trace_run(m, TOPA_ALL, 5000);
	expect_bytes(m, DATA, 0, 4 * KB);
	expect_bytes(m, DATA + 0x2000, 4 * KB, 8 * KB);
	expect_bytes(m, DATA + 0x10000, 12 * KB, size - 12 * KB);
	tap_expect(*at(m, DATA + 0x1000) == MEMORY_UNSET && *at(m, DATA + 0x4000) == MEMORY_UNSET,
		   "the gaps between regions were written to");
	expect_untouched(m, DATA, DATA + 0x10000 + size - 12 * KB);
	tap_expect(table_index(m) == 2 && offset(m) == size - 12 * KB, "0x%llx",
		   machine_rdmsr(m, MASK));
	machine_free(m);
	tap_end();

	tap_begin("topa_end_leads_to_the_next_table (36.2.6.2)");
	m = new_machine(true);
	set_tables(m, chained, chain_end);
	trace_run(m, TOPA_ALL, 5000);
	expect_bytes(m, DATA, 0, 4 * KB);
	expect_bytes(m, DATA + 0x1000, 4 * KB, 4 * KB);
	expect_bytes(m, DATA + 0x10000, 8 * KB, size - 8 * KB);
	tap_expect(*at(m, DATA + 0x2000) == MEMORY_UNSET, "the gap between regions was written to");
	expect_untouched(m, DATA, DATA + 0x10000 + size - 8 * KB);
	tap_expect(machine_rdmsr(m, BASE) == TABLE + 0x1000 && table_index(m) == 1 &&
		   offset(m) == size - 8 * KB, "0x%llx 0x%llx", machine_rdmsr(m, BASE),
		   machine_rdmsr(m, MASK));
	machine_free(m);
	tap_end();

	tap_begin("topa_starts_at_the_entry_and_offset_of_the_msr (table 36-9)");
	m = new_machine(true);
	set_tables(m, unaligned, NULL);
	machine_wrmsr(m, MASK, 2 << 7 | 0x80000000000);
	trace_run(m, TOPA_ALL, 500);
	tap_expect(*at(m, DATA + 0x37ff) == MEMORY_UNSET, "bytes before the offset");
	expect_bytes(m, DATA + 0x3800, 0, 2 * KB);
	expect_untouched(m, DATA + 0x3800, DATA + 0x6000);
	machine_free(m);
	tap_end();
}

/* A table of many entries, with a gap of a region behind each region. */
static void test_many_entries(void)
{
	const size_t size = reference(12000), all = MANY * 4 * KB;
	struct machine *m;
	u64 table[MANY + 1], region;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		table[i] = DATA + i * 0x2000;
	table[MANY] = TABLE | PT_EMU_TOPA_END;
	tap_begin("topa_fills_all_of_many_regions (36.2.6.2)");
	m = new_machine(true);
	memcpy(at(m, TABLE), table, sizeof(table));
	machine_wrmsr(m, BASE, TABLE);
	machine_wrmsr(m, MASK, 0x7f);
	trace_run(m, TOPA_ALL, 12000);
	tap_expect(size > all && size < 2 * all, "the trace has %zu bytes", size);
	tap_expect(table_index(m) == (size - all) / (4 * KB), "it ends in region %llu",
		   table_index(m));
	for (i = 0; i < MANY; i++) {
		const bool again = i < table_index(m);

		region = DATA + i * 0x2000;
		if (i != table_index(m))
			expect_bytes(m, region, i * 4 * KB + (again ? all : 0), 4 * KB);
		expect_unset(m, region + 0x1000, region + 0x2000);
	}
	expect_bytes(m, DATA + table_index(m) * 0x2000, all + table_index(m) * 4 * KB, offset(m));
	expect_untouched(m, DATA, DATA + MANY * 0x2000);
	machine_free(m);
	tap_end();
}

/* All sizes that the memory has room for: the trace runs over the region's end. */
static void test_sizes(void)
{
	const size_t size = reference(300);
	struct machine *m;
	unsigned int code;
	u64 table[MAX_ENTRIES] = { 0 }, region_size;

	for (code = 0; code < SIZES; code++) {
		region_size = 4ULL * KB << code;
		tap_begin("topa_region_has_the_size_of_its_entry: %llu KB (36.2.6.2)",
			  region_size / KB);
		m = new_machine(true);
		table[0] = BIG | (u64)code << PT_EMU_TOPA_SIZE_SHIFT;
		table[1] = DATA;
		table[2] = TABLE | PT_EMU_TOPA_END;
		set_tables(m, table, NULL);
		machine_wrmsr(m, MASK, 0x7f | (region_size - KB) << 32);
		trace_run(m, TOPA_ALL, 300);
		tap_expect(size > KB && size < 5 * KB, "the trace has %zu bytes", size);
		expect_status(m, 0);
		expect_bytes(m, BIG + region_size - KB, 0, KB);
		expect_bytes(m, DATA, KB, size - KB);
		expect_unset(m, BIG, BIG + region_size - KB);
		expect_unset(m, BIG + region_size, MEMORY_BASE + MEMORY_SIZE);
		expect_unset(m, DATA + size - KB, BIG);
		machine_free(m);
		tap_end();
	}
}

static void test_end_offset(void)
{
	static const u64 table[MAX_ENTRIES] = { DATA | SIZE_64K, TABLE | PT_EMU_TOPA_END };
	const size_t size = reference(100);
	struct machine *m;

	tap_begin("topa_end_leads_to_the_start_of_a_region (36.2.6.2)");
	m = new_machine(true);
	set_tables(m, table, NULL);
	machine_wrmsr(m, MASK, 1 << 7 | 0x80000000000);
	trace_run(m, TOPA_ALL, 100);
	expect_bytes(m, DATA, 0, size);
	expect_untouched(m, DATA, DATA + size);
	machine_free(m);
	tap_end();
}

static void test_stop(void)
{
	static const u64 stop[MAX_ENTRIES] = {
		DATA, (DATA + 0x1000) | PT_EMU_TOPA_STOP, DATA + 0x2000, TABLE | PT_EMU_TOPA_END,
	};
	static const u64 both[MAX_ENTRIES] = {
		DATA | PT_EMU_TOPA_STOP | PT_EMU_TOPA_INT, TABLE | PT_EMU_TOPA_END,
	};
	static const u64 interrupts[MAX_ENTRIES] = {
		DATA | PT_EMU_TOPA_INT, DATA + 0x1000, (DATA + 0x2000) | PT_EMU_TOPA_INT,
		(DATA + 0x10000) | SIZE_64K | PT_EMU_TOPA_INT, TABLE | PT_EMU_TOPA_END,
	};
	static const u64 single[MAX_ENTRIES] = {
		DATA | PT_EMU_TOPA_INT, TABLE | PT_EMU_TOPA_END,
	};
	struct machine *m;

	reference(5000);

	tap_begin("topa_stop_ends_output_with_the_last_byte_of_its_region (36.2.6.2)");
	m = new_machine(true);
	set_tables(m, stop, NULL);
	tap_expect(machine_enable(m, TOPA_ALL, &start), "tracing cannot be enabled");
	run(m, 5000);
	expect_bytes(m, DATA, 0, 8 * KB);
	expect_untouched(m, DATA, DATA + 8 * KB);
	expect_status(m, PT_EMU_STATUS_STOPPED);
	tap_expect(!pt_emu_trigger_enabled(m->pt), "TriggerEn is 1");
	tap_expect(machine_rdmsr(m, BASE) == TABLE && table_index(m) == 1 && offset(m) == 4 * KB,
		   "0x%llx 0x%llx", machine_rdmsr(m, BASE), machine_rdmsr(m, MASK));
	tap_expect(!m->pmis, "an interrupt");
	tap_end();

	tap_begin("topa_stop_leaves_an_offset_that_is_an_error_without_stopped (36.2.6.2)");
	machine_disable(m, 0x1010);
	machine_wrmsr(m, STATUS, 0);
	trace_run(m, TOPA_ALL, 1);
	expect_status(m, PT_EMU_STATUS_ERROR);
	expect_untouched(m, DATA, DATA + 8 * KB);
	machine_free(m);
	tap_end();

	tap_begin("topa_stop_comes_before_its_interrupt (table 36-3)");
	m = new_machine(true);
	set_tables(m, both, NULL);
	trace_run(m, TOPA_ALL, 5000);
	tap_expect(m->pmis == 1, "%u interrupts", m->pmis);
	tap_expect(m->status_at_pmi & PT_EMU_STATUS_STOPPED, "Stopped came later");
	machine_free(m);
	tap_end();

	tap_begin("topa_int_interrupts_once_for_each_region_that_is_filled (36.2.6.2)");
	m = new_machine(true);
	set_tables(m, interrupts, NULL);
	tap_expect(machine_enable(m, TOPA_ALL, &start), "tracing cannot be enabled");
	while (!m->pmis)
		run(m, 1);
	pt_emu_flush(m->pt);
	tap_expect(table_index(m) == 1, "the first came in region %llu", table_index(m));
	run(m, 2000);
	tap_expect(m->pmis == 2 && table_index(m) == 3, "%u interrupts in region %llu", m->pmis,
		   table_index(m));
	machine_free(m);
	tap_end();

	tap_begin("topa_int_of_a_single_region_comes_before_it_is_full (36.2.6.2)");
	m = new_machine(false);
	set_tables(m, single, NULL);
	tap_expect(machine_enable(m, TOPA_ALL, &start), "tracing cannot be enabled");
	while (!m->pmis)
		run(m, 1);
	tap_expect(offset(m) < 4 * KB && offset(m) >= 3 * KB, "at 0x%llx", offset(m));
	run(m, 100);
	tap_expect(m->pmis == 1, "%u interrupts in one lap", m->pmis);
	machine_free(m);
	tap_end();
}

static void test_wrong_tables(void)
{
	static const u64 wrong[MAX_ENTRIES] = { DATA | 1 << 1 };
	static const u64 mended[MAX_ENTRIES] = { DATA | SIZE_64K, TABLE | PT_EMU_TOPA_END };
	const size_t size = reference(5000);
	u64 table[MAX_ENTRIES], base, good;
	struct machine *m;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(wrong_tables); i++) {
		tap_begin("%s (36.2.6.2, ToPA Errors)", wrong_tables[i].promise);
		m = new_machine(!wrong_tables[i].single);
		for (j = 0; j < MAX_ENTRIES; j++)
			table[j] = value_of(wrong_tables[i].table[j]);
		base = value_of(wrong_tables[i].base);
		set_tables(m, table, NULL);
		if (base != NO_MEMORY)
			memcpy(at(m, base), table, sizeof(table));
		machine_wrmsr(m, BASE, base);
		machine_wrmsr(m, MASK, wrong_tables[i].mask);
		expect_status(m, 0);
		tap_expect(machine_enable(m, TOPA_ALL, &start), "a fault");
		run(m, 5000);
		tap_expect(!pt_emu_trigger_enabled(m->pt), "TriggerEn is 1");
		machine_disable(m, 0x1010);
		expect_status(m, PT_EMU_STATUS_ERROR);
		good = wrong_tables[i].good * 0x1000ULL;
		tap_expect(good < size, "the trace is too short");
		expect_bytes(m, DATA, 0, good);
		expect_untouched(m, DATA, DATA + good);
		machine_free(m);
		tap_end();
	}

	tap_begin("topa_error_ends_when_software_mends_it_and_clears_error (36.3.9)");
	m = new_machine(true);
	set_tables(m, wrong, NULL);
	trace_run(m, TOPA_ALL, 1);
	expect_status(m, PT_EMU_STATUS_ERROR);
	set_tables(m, mended, NULL);
	machine_wrmsr(m, STATUS, 0);
	trace_run(m, TOPA_ALL, 5000);
	expect_status(m, 0);
	expect_bytes(m, DATA, 0, size);
	machine_free(m);
	tap_end();
}

static void test_guest_physical(void)
{
	static const u64 physical[MAX_ENTRIES] = { DATA | SIZE_64K, TABLE | PT_EMU_TOPA_END };
	const u64 to_guest = GUEST_BASE - MEMORY_BASE;
	const u64 table[MAX_ENTRIES] = {
		(DATA + to_guest) | SIZE_64K, (TABLE + to_guest) | PT_EMU_TOPA_END,
	};
	const struct pt_emu_vmcs vmcs = {
		.load_rtit_ctl = true, .clear_rtit_ctl = true, .guest_physical = true,
		.ept = true, .guest_rtit_ctl = TOPA_ALL,
	};
	struct machine *m = new_machine(true);
	size_t size;

	tap_begin("guest_physical_output_and_tables_are_translated (26.2.1.1)");
	size = reference(1000);
	set_tables(m, table, NULL);
	machine_wrmsr(m, BASE, TABLE + to_guest);
	pt_emu_vmentry(m->pt, &vmcs, &start);
	run(m, 1000);
	pt_emu_vmexit(m->pt, &vmcs, 0x1010);
	pt_emu_vmexit_done(m->pt, &start);
	expect_status(m, 0);
	expect_bytes(m, DATA, 0, size);
	expect_untouched(m, DATA, DATA + size);
	tap_end();

	tap_begin("physical_output_is_not_translated_after_the_exit (26.2.1.1)");
	set_tables(m, physical, NULL);
	machine_wrmsr(m, STATUS, 0);
	trace_run(m, TOPA_ALL, 1000);
	expect_status(m, 0);
	expect_bytes(m, DATA, 0, size);
	machine_free(m);
	tap_end();
}

int main(void)
{
	tap_plan(4 + ARRAY_SIZE(wrong_ranges) + 4 + 1 + SIZES + 1 + 5 + ARRAY_SIZE(wrong_tables) +
		 1 + 2);
	test_range();
	test_wrong_ranges();
	test_topa();
	test_many_entries();
	test_sizes();
	test_end_offset();
	test_stop();
	test_wrong_tables();
	test_guest_physical();
	return tap_exit();
}
