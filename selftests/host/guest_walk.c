// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's walk of a guest's page tables, over tables made here: each mode
 * of paging, each size of page, what maps nothing, and tables of random bytes.
 * How the module reads guest memory is tested in the lab.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "types.h"

#include "../../kvm-trace/guestwalk.c"

#define RANDOM_WALKS	1000000

#define EFER_LMA	true
#define PG		X86_CR0_PG
#define PAE		X86_CR4_PAE
#define PSE		X86_CR4_PSE
#define LA57		X86_CR4_LA57

#define P	0x01ull		/* present */
#define PS	0x80ull		/* large page */

/* The guest's memory: nothing but tables, the first one is that of CR3. */
#define BASE	0x10000ull
#define PAGES	16u
#define TABLE(i)	(BASE + (i) * 4096ull)

static u8 *memory;
static unsigned int reads, wrong_reads;

static bool read_entry(void *data, u64 gpa, void *to, unsigned int len)
{
	reads++;
	/* Entries are aligned, so none crosses a page. */
	if (data != &reads || (len != 4 && len != 8) || gpa % len)
		wrong_reads++;
	if (gpa < BASE || gpa >= TABLE(PAGES))
		return false;
	memcpy(to, memory + (gpa - BASE), len);
	return true;
}

static bool walk(const struct kvm_trace_paging *paging, u64 gva, u64 *gpa)
{
	reads = 0;
	return kvm_trace_walk(paging, gva, read_entry, &reads, gpa);
}

static void clear(void)
{
	memset(memory, 0, PAGES * 4096);
}

static void set(unsigned int table, unsigned int index, unsigned int size, u64 entry)
{
	memcpy(memory + table * 4096 + index * size, &entry, size);
}

struct mode {
	const char *name;
	u64 cr0, cr4;
	bool lma;
	u8 levels;
};

static const struct mode modes[] = {
	{ "32-bit", PG, 0, false, 2 },
	{ "32-bit with PSE", PG, PSE, false, 2 },
	{ "PAE", PG, PAE, false, 3 },
	{ "4-level", PG, PAE, EFER_LMA, 4 },
	{ "5-level", PG, PAE | LA57, EFER_LMA, 5 },
};

static struct kvm_trace_paging paging_of(const struct mode *mode, unsigned int maxphyaddr)
{
	struct kvm_trace_paging paging;

	kvm_trace_paging_set(&paging, mode->cr0, BASE, mode->cr4, mode->lma, maxphyaddr);
	return paging;
}

/* Mappings written out by hand: index in each table from the top, last entry. */
static const struct mapping {
	unsigned int mode, depth;
	unsigned int index[5];
	u64 last, gva, gpa;
} mappings[] = {
	{ 0, 2, { 0x048, 0x345 }, 0x89abc000 | P, 0x12345678, 0x89abc678 },
	{ 0, 2, { 0x3ff, 0x3ff }, 0xfffff000 | P, 0xffffffff, 0xffffffff },
	{ 1, 2, { 0x300, 0x001 }, 0x00007000 | P, 0xc0001004, 0x00007004 },
	{ 1, 1, { 0x048 }, 0x89800000 | PS | P, 0x12345678, 0x89b45678 },
	/* PSE-36: 0xa5 in bits 20:13 is bits 39:32; PAT in bit 12 is no address. */
	{ 1, 1, { 0x048 }, 0x89800000 | 0xa5 << 13 | 0x1000 | PS | P, 0x12345678, 0xa589b45678 },
	{ 2, 3, { 0x003, 0x02a, 0x1b3 }, 0xabcde12000 | P, 0xc55b3ff8, 0xabcde12ff8 },
	{ 2, 2, { 0x000, 0x091 }, 0xab40000000 | PS | P, 0x12345678, 0xab40145678 },
	{ 2, 2, { 0x000, 0x091 }, 0xab40001000 | PS | P, 0x12345678, 0xab40145678 },
	{ 3, 4, { 0x111, 0x000, 0x091, 0x145 }, 0xfedcba9876000 | P,
	  0xffff888012345678, 0xfedcba9876678 },
	/* PAT of a small page is bit 7. */
	{ 3, 4, { 0x000, 0x000, 0x000, 0x001 }, 0x5000 | PS | P, 0x1fff, 0x5fff },
	{ 3, 3, { 0x1ff, 0x1fe, 0x008 }, 0x1000000 | PS | P, 0xffffffff81012345, 0x1012345 },
	{ 3, 2, { 0x0ff, 0x1ff }, 0x4040001000 | PS | P, 0x7fffffffffff, 0x407fffffff },
	{ 4, 5, { 0x111, 0x000, 0x000, 0x091, 0x145 }, 0x9876000 | P,
	  0xff11000012345678, 0x9876678 },
	{ 4, 4, { 0x0ff, 0x1ff, 0x1ff, 0x1ff }, 0x600000 | PS | P, 0xffffffffffffff, 0x7fffff },
	{ 4, 3, { 0x001, 0x002, 0x003 }, 0x80000000 | PS | P, 0x10100c0000abc, 0x80000abc },
};

static unsigned int entry_size(const struct mapping *m)
{
	return modes[m->mode].levels == 2 ? 4 : 8;
}

/* Tables of one mapping; its entry number @at is @entry, the others are good. */
static void make(const struct mapping *m, unsigned int at, u64 entry)
{
	unsigned int i;

	clear();
	for (i = 0; i < m->depth - 1; i++)
		set(i, m->index[i], entry_size(m), TABLE(i + 1) | P);
	set(i, m->index[i], entry_size(m), m->last);
	set(at, m->index[at], entry_size(m), entry);
}

static u64 good_entry(const struct mapping *m, unsigned int at)
{
	return at == m->depth - 1 ? m->last : TABLE(at + 1) | P;
}

static void expect_mapped(const struct mapping *m, unsigned int maxphyaddr, const char *how)
{
	struct kvm_trace_paging paging = paging_of(&modes[m->mode], maxphyaddr);
	u64 gpa = 0;
	bool mapped = walk(&paging, m->gva, &gpa);

	tap_expect(mapped && gpa == m->gpa && reads == m->depth,
		   "%s, 0x%llx, %s: %s 0x%llx after %u reads, not 0x%llx after %u",
		   modes[m->mode].name, m->gva, how, mapped ? "mapped to" : "not mapped,", gpa,
		   reads, m->gpa, m->depth);
}

static void expect_unmapped(const struct mapping *m, unsigned int maxphyaddr, const char *how,
			    unsigned int expected_reads)
{
	struct kvm_trace_paging paging = paging_of(&modes[m->mode], maxphyaddr);
	u64 gpa = 0x1234;
	bool mapped = walk(&paging, m->gva, &gpa);

	tap_expect(!mapped && gpa == 0x1234 && reads == expected_reads,
		   "%s, 0x%llx, %s: %s 0x%llx after %u reads, should not be mapped after %u",
		   modes[m->mode].name, m->gva, how, mapped ? "mapped to" : "not mapped,", gpa,
		   reads, expected_reads);
}

#define for_each_mapping(m) \
	for ((m) = mappings; (m) < mappings + ARRAY_SIZE(mappings); (m)++)
#define for_each_entry(m, at) \
	for_each_mapping(m) \
		for ((at) = 0; (at) < (m)->depth; (at)++)

static void test_mappings(void)
{
	const struct mapping *m;

	tap_begin("each_mode_and_size_of_page_is_translated");
	for_each_mapping(m) {
		make(m, 0, good_entry(m, 0));
		expect_mapped(m, 52, "as it is");
	}
	tap_end();
}

static void test_not_present(void)
{
	const struct mapping *m;
	unsigned int at;

	tap_begin("an_entry_not_present_ends_the_walk_at_each_level");
	for_each_entry(m, at) {
		make(m, at, good_entry(m, at) & ~P);
		expect_unmapped(m, 52, "an entry not present", at + 1);
		make(m, at, 0);
		expect_unmapped(m, 52, "an empty entry", at + 1);
	}
	tap_end();

	tap_begin("a_table_that_cannot_be_read_ends_the_walk_at_each_level");
	for_each_entry(m, at) {
		if (at == m->depth - 1)
			continue;
		make(m, at, TABLE(PAGES) | P);
		expect_unmapped(m, 52, "a table that is not there", at + 2);
	}
	tap_end();
}

/* SDM vol. 3A, chapter 4: R/W, U/S, PWT, PCD, A, D, G; XD, protection keys. */
static void test_permissions(void)
{
	const struct mapping *m;
	unsigned int at, bit;
	u64 ignored;

	tap_begin("permissions_and_software_bits_change_nothing");
	for_each_entry(m, at) {
		ignored = 0xf7e & ~PS;
		if (modes[m->mode].levels == 3)
			ignored |= 1ull << 63;
		else if (modes[m->mode].levels > 3)
			ignored |= 0xfffull << 52;
		for (bit = 0; bit < 64; bit++) {
			if (!(ignored & 1ull << bit))
				continue;
			make(m, at, good_entry(m, at) | 1ull << bit);
			expect_mapped(m, 52, "a bit that does not count");
		}
		make(m, at, good_entry(m, at) | ignored);
		expect_mapped(m, 52, "all bits that do not count");
	}
	tap_end();
}

/* A table that maps itself, and so every address to it. */
static void map_all(const struct mode *mode)
{
	unsigned int i, size = mode->levels == 2 ? 4 : 8;

	clear();
	for (i = 0; i < 4096 / size; i++)
		set(0, i, size, BASE | P);
}

static void test_reserved(void)
{
	const struct mapping *m;
	unsigned int at, below, bit, expected, i, maxphyaddr, top;
	struct kvm_trace_paging paging;
	bool mapped;
	u64 gpa;

	tap_begin("address_bits_beyond_maxphyaddr_map_nothing");
	for_each_entry(m, at) {
		if (modes[m->mode].levels == 2)
			continue;
		top = modes[m->mode].levels == 3 ? 62 : 51;
		for (maxphyaddr = 32; maxphyaddr <= 52; maxphyaddr++) {
			for (bit = maxphyaddr; bit <= top; bit++) {
				make(m, at, good_entry(m, at) | 1ull << bit);
				expect_unmapped(m, maxphyaddr, "a bit beyond MAXPHYADDR", at + 1);
			}
		}
	}
	tap_end();

	tap_begin("pages_up_to_maxphyaddr_are_translated");
	for_each_mapping(m) {
		make(m, 0, good_entry(m, 0));
		for (maxphyaddr = 32; maxphyaddr <= 52; maxphyaddr++) {
			if (m->gpa >> maxphyaddr)
				expect_unmapped(m, maxphyaddr, "beyond MAXPHYADDR", m->depth);
			else
				expect_mapped(m, maxphyaddr, "below MAXPHYADDR");
		}
		expect_mapped(m, 255, "MAXPHYADDR of 255");
	}
	tap_end();

	/* Bits 20:13 of a page of 4 MiB are address bits, see mappings. */
	tap_begin("low_address_bits_of_large_pages_are_reserved");
	for_each_mapping(m) {
		/* Levels below the entry: those that a large page is instead of. */
		below = modes[m->mode].levels - m->depth;
		if (!below)
			continue;
		top = modes[m->mode].levels == 2 ? 21 : 12 + 9 * below - 1;
		for (bit = modes[m->mode].levels == 2 ? 21 : 13; bit <= top; bit++) {
			make(m, m->depth - 1, m->last | 1ull << bit);
			expect_unmapped(m, 52, "a large page not aligned", m->depth);
		}
	}
	tap_end();

	tap_begin("a_large_page_where_there_is_none_maps_nothing");
	for_each_entry(m, at) {
		if (at == m->depth - 1)
			continue;
		/* Topmost of PAE; all but the lower three of 4-level and 5-level. */
		if (modes[m->mode].levels > 2 && (modes[m->mode].levels - at > 3 || !at)) {
			make(m, at, good_entry(m, at) | PS);
			expect_unmapped(m, 52, "a large page", at + 1);
			make(m, at, PS | P);
			expect_unmapped(m, 52, "an aligned large page", at + 1);
		}
		/* Without CR4.PSE, the bit does not count. */
		if (!modes[m->mode].cr4) {
			make(m, at, good_entry(m, at) | PS);
			expect_mapped(m, 52, "PS without CR4.PSE");
		}
	}
	tap_end();

	tap_begin("a_top_table_beyond_maxphyaddr_is_not_read");
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		map_all(&modes[i]);
		paging = paging_of(&modes[i], 36);
		/* In 32-bit modes, CR3 has 32 bits. */
		paging.cr3 |= 1ull << 36;
		expected = modes[i].levels > 3 ? 0 : modes[i].levels;
		mapped = walk(&paging, 0, &gpa);
		tap_expect(mapped == !!expected && reads == expected, "%s: %smapped, %u reads",
			   modes[i].name, mapped ? "" : "not ", reads);
	}
	tap_end();
}

/* Bits of CR3 that are no address: PWT, PCD, PCID, LAM's; 63:32 in legacy modes. */
static void test_cr3(void)
{
	const struct mapping *m;
	struct kvm_trace_paging paging;
	u64 gpa, flags;

	tap_begin("bits_of_cr3_that_are_no_address_change_nothing");
	for_each_mapping(m) {
		make(m, 0, good_entry(m, 0));
		paging = paging_of(&modes[m->mode], 40);
		paging.maxphyaddr = 52;
		flags = paging.levels == 3 ? 0x1f : 0xfff;
		flags |= paging.levels > 3 ? 7ull << 61 : ~0ull << 32;
		paging.cr3 |= flags;
		tap_expect(walk(&paging, m->gva, &gpa) && gpa == m->gpa,
			   "%s, 0x%llx: CR3 0x%llx", modes[m->mode].name, m->gva, paging.cr3);
	}
	tap_end();

	tap_begin("a_top_table_of_pae_is_aligned_to_32_bytes");
	clear();
	set(0, 4 + 3, 8, TABLE(1) | P);
	set(1, 0, 8, 0x200000 | PS | P);
	paging = paging_of(&modes[2], 52);
	paging.cr3 = BASE + 32;
	tap_expect(walk(&paging, 0xc0000005, &gpa) && gpa == 0x200005, "the entry at CR3 + 24");
	tap_end();
}

static void test_ends(void)
{
	static const struct {
		u64 gva;
		/* Levels of the modes that have it, from and to; 0 paging off. */
		unsigned int from, to;
	} ends[] = {
		{ 0, 0, 5 },
		{ 0xffffffff, 0, 5 },
		{ 0x100000000, 4, 5 },
		{ 0x7fffffffffff, 4, 5 },
		{ 0x800000000000, 5, 5 },
		{ 0xffffffffffffff, 5, 5 },
		{ 0x100000000000000, 9, 9 },
		{ 0x1ffffffffffffff, 9, 9 },
		{ 0x7fffffffffffffff, 9, 9 },
		{ 0x8000000000000000, 9, 9 },
		{ 0xfeffffffffffffff, 9, 9 },
		{ 0xff00000000000000, 5, 5 },
		{ 0xffff7fffffffffff, 5, 5 },
		{ 0xffff800000000000, 4, 5 },
		{ 0xffffffff00000000, 4, 5 },
		{ 0xffffffffffffffff, 4, 5 },
	};
	static const struct mode off[] = {
		{ "paging off", 0, 0, false, 0 },
		{ "paging off, CR4 set", 0, PAE | PSE, false, 0 },
	};
	struct kvm_trace_paging paging;
	const struct mode *mode;
	unsigned int i, j;
	bool mapped, expected;
	u64 gpa;

	tap_begin("addresses_end_where_the_mode_of_paging_ends_them");
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		mode = &modes[i];
		map_all(mode);
		paging = paging_of(mode, 52);
		for (j = 0; j < ARRAY_SIZE(ends); j++) {
			mapped = walk(&paging, ends[j].gva, &gpa);
			expected = mode->levels >= ends[j].from && mode->levels <= ends[j].to;
			tap_expect(mapped == expected && reads == (expected ? mode->levels : 0) &&
				   (!mapped || gpa == (BASE | (ends[j].gva & 0xfff))),
				   "%s, 0x%llx: %smapped, %u reads", mode->name, ends[j].gva,
				   mapped ? "" : "not ", reads);
		}
	}
	tap_end();

	tap_begin("without_paging_addresses_are_physical_and_32_bits");
	for (i = 0; i < ARRAY_SIZE(off); i++) {
		paging = paging_of(&off[i], 40);
		for (j = 0; j < ARRAY_SIZE(ends); j++) {
			mapped = walk(&paging, ends[j].gva, &gpa);
			expected = !ends[j].from;
			tap_expect(mapped == expected && !reads &&
				   (!mapped || gpa == ends[j].gva),
				   "%s, 0x%llx: %smapped, %u reads", off[i].name, ends[j].gva,
				   mapped ? "" : "not ", reads);
		}
	}
	tap_end();
}

/* What Windows and others do on purpose, and what a guest may do in malice. */
static void test_self_reference(void)
{
	struct kvm_trace_paging paging;
	unsigned int i;
	u64 gpa, gva;

	tap_begin("a_table_that_maps_itself_ends_with_the_last_level");
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		map_all(&modes[i]);
		paging = paging_of(&modes[i], 52);
		for (gva = 0xabc; gva < 1ull << 32; gva += 0x1003000)
			tap_expect(walk(&paging, gva, &gpa) && gpa == (BASE | (gva & 0xfff)) &&
				   reads == modes[i].levels,
				   "%s, 0x%llx: 0x%llx, %u reads", modes[i].name, gva, gpa, reads);
	}
	tap_end();
}

static void test_modes(void)
{
	static const struct {
		u64 cr0, cr4;
		bool lma;
		u8 levels;
		bool pse;
	} cases[] = {
		{ 0, 0, false, 0, false },
		{ X86_CR0_PE, PAE | PSE, false, 0, true },
		{ X86_CR0_PE | PG, 0, false, 2, false },
		{ X86_CR0_PE | PG, PSE, false, 2, true },
		{ X86_CR0_PE | PG, LA57, false, 2, false },
		{ X86_CR0_PE | PG, PAE, false, 3, false },
		{ X86_CR0_PE | PG, PAE | LA57, false, 3, false },
		{ X86_CR0_PE | PG, PAE, EFER_LMA, 4, false },
		{ X86_CR0_PE | PG, PAE | PSE, EFER_LMA, 4, true },
		{ X86_CR0_PE | PG, PAE | LA57, EFER_LMA, 5, false },
		{ ~0ull, ~0ull, EFER_LMA, 5, true },
	};
	struct kvm_trace_paging paging;
	unsigned int i;

	tap_begin("control_registers_tell_the_mode_of_paging");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		kvm_trace_paging_set(&paging, cases[i].cr0, 0x123, cases[i].cr4, cases[i].lma, 46);
		tap_expect(paging.levels == cases[i].levels && paging.pse == cases[i].pse &&
			   paging.cr3 == 0x123 && paging.maxphyaddr == 46,
			   "CR0 0x%llx CR4 0x%llx LMA %d: %u levels, PSE %d", cases[i].cr0,
			   cases[i].cr4, cases[i].lma, paging.levels, paging.pse);
	}
	tap_end();
}

static u64 random_64(void)
{
	return (u64)random() << 42 ^ (u64)random() << 21 ^ (u64)random();
}

/* Random, but most entries are present and lead to a table. */
static void randomize(void)
{
	unsigned int i;
	u64 entry;

	for (i = 0; i < PAGES * 512; i++) {
		entry = random_64();
		if (random() % 8)
			entry = (entry & 0xfff) | TABLE(random() % PAGES) | P;
		if (random() % 4)
			entry &= ~PS;
		/* As two entries of 4 bytes, both are of that kind. */
		if (random() % 2)
			entry = entry << 32 | (u32)entry;
		memcpy(memory + i * 8, &entry, 8);
	}
}

static void test_random(void)
{
	unsigned int i, failures = 0, mapped = 0, most = 0, bits;
	struct kvm_trace_paging paging;
	u64 gva, gpa, before;

	tap_begin("random_tables_are_walked_within_bounds walks=%u", RANDOM_WALKS);
	wrong_reads = 0;
	for (i = 0; i < RANDOM_WALKS; i++) {
		if (!(i % 10000))
			randomize();
		kvm_trace_paging_set(&paging, random_64() | (random() % 64 ? PG : 0),
				     random() % 8 ? TABLE(random() % PAGES) : random_64(),
				     random_64(), random() % 2, random() % 64);
		if (random() % 8)
			paging.maxphyaddr = 52;
		gva = random_64();
		if (paging.levels < 4)
			gva &= random() % 8 ? 0xffffffff : ~0ull;
		else if (random() % 8)
			gva = (u64)((s64)(gva << 16) >> 16);
		before = random_64();
		gpa = before;
		bits = paging.levels == 2 && paging.maxphyaddr > 40 ? 40 : paging.maxphyaddr;
		if (walk(&paging, gva, &gpa)) {
			mapped++;
			if (paging.levels ? gpa >> bits || (gpa ^ gva) & 0xfff : gpa != gva)
				failures++;
		} else if (gpa != before) {
			failures++;
		}
		if (reads > paging.levels)
			failures++;
		if (reads > most)
			most = reads;
	}
	tap_expect(!failures && !wrong_reads, "%u results and %u reads are wrong", failures,
		   wrong_reads);
	tap_expect(most == KVM_TRACE_WALK_READS, "%u reads for a walk at most", most);
	/* Else little was tested. */
	tap_expect(mapped > RANDOM_WALKS / 10 && mapped < RANDOM_WALKS - RANDOM_WALKS / 10,
		   "%u of %u addresses were mapped", mapped, RANDOM_WALKS);
	tap_end();
}

int main(void)
{
	/* On the heap, where AddressSanitizer knows its ends. */
	memory = malloc(PAGES * 4096);
	if (!memory)
		tap_die("no memory");
	srandom(1);
	tap_plan(16);
	test_mappings();
	test_not_present();
	test_permissions();
	test_reserved();
	test_cr3();
	test_ends();
	test_self_reference();
	test_modes();
	test_random();
	free(memory);
	return tap_exit();
}
