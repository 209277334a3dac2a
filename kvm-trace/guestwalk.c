// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks a guest's page tables: 32-bit, PAE, 4-level and 5-level (SDM vol. 3A,
 * chapter 4). Reads entries by a callback only. Plain C, for the test too.
 *
 * What is mapped can be read: U/S, R/W, NX and protection keys are not looked
 * at. They bound what the guest's own code may do, while the reader acts for
 * the host, which sees all of the guest's memory. Nothing is written, accessed
 * bits neither. An entry that has a reserved bit set in its address maps
 * nothing, as on a processor.
 */
#include <linux/types.h>

#include <asm/processor-flags.h>

#include "guestwalk.h"

#define ENTRY_PRESENT	0x1ull
#define ENTRY_LARGE	0x80ull		/* in a table of the lowest level, PAT */
#define ENTRY_PAT_LARGE	0x1000ull

#define ADDRESS		0x000ffffffffff000ull	/* bits 51:12 */
/* Bits 62:52, free for software elsewhere, are reserved in PAE's entries. */
#define ADDRESS_PAE	0x7ffffffffffff000ull
#define ADDRESS_32	0x00000000fffff000ull
#define CR3_PAE		0x00000000ffffffe0ull
#define MAX_ADDRESS_BITS	52

/*
 * Bits 39:32 of a page of 4 MiB are in bits 20:13 of its entry (PSE-36). Bit 21
 * is reserved, and taken for the next bit of an address of 40 bits.
 */
#define ADDRESS_4M	0x00000000ffc00000ull
#define PSE36_SHIFT	13
#define PSE36_MASK	0x1ffull
#define PSE36_ADDRESS_BITS	40

/**
 * kvm_trace_paging_set() - find the guest's mode of paging
 * @paging:	where to put it
 * @cr0:	the guest's CR0
 * @cr3:	its CR3
 * @cr4:	its CR4
 * @long_mode:	EFER.LMA
 * @maxphyaddr:	bits of a guest-physical address, as CPUID tells the guest
 */
void kvm_trace_paging_set(struct kvm_trace_paging *paging, u64 cr0, u64 cr3,
			  u64 cr4, bool long_mode, unsigned int maxphyaddr)
{
	paging->cr3 = cr3;
	paging->pse = cr4 & X86_CR4_PSE;
	/* The guest's VMM chooses it, and may choose nonsense. */
	paging->maxphyaddr = maxphyaddr < MAX_ADDRESS_BITS ? maxphyaddr :
							     MAX_ADDRESS_BITS;
	if (!(cr0 & X86_CR0_PG))
		paging->levels = 0;
	else if (long_mode)
		paging->levels = cr4 & X86_CR4_LA57 ? 5 : 4;
	else
		paging->levels = cr4 & X86_CR4_PAE ? 3 : 2;
}

/* Bits that no address of a table or page has. */
static u64 beyond(const struct kvm_trace_paging *paging)
{
	unsigned int bits = paging->maxphyaddr;

	if (paging->levels == 2 && bits > PSE36_ADDRESS_BITS)
		bits = PSE36_ADDRESS_BITS;
	return ~0ull << bits;
}

static bool valid_address(const struct kvm_trace_paging *paging, u64 gva)
{
	unsigned int unused;

	if (paging->levels < 4)
		return !(gva >> 32);
	unused = paging->levels == 4 ? 64 - 48 : 64 - 57;
	return (u64)((long long)(gva << unused) >> unused) == gva;
}

static u64 top_table(const struct kvm_trace_paging *paging)
{
	switch (paging->levels) {
	case 2:
		return paging->cr3 & ADDRESS_32;
	case 3:
		return paging->cr3 & CR3_PAE;
	default:
		return paging->cr3 & ADDRESS;
	}
}

/* Where the table or the page of an entry starts. */
static u64 address_of(const struct kvm_trace_paging *paging, u64 entry,
		      bool large)
{
	if (paging->levels == 2) {
		if (!large)
			return entry & ADDRESS_32;
		return (entry & ADDRESS_4M) |
		       ((entry >> PSE36_SHIFT) & PSE36_MASK) << 32;
	}
	if (large)
		entry &= ~ENTRY_PAT_LARGE;
	return entry & (paging->levels == 3 ? ADDRESS_PAE : ADDRESS);
}

/**
 * kvm_trace_walk() - translate a guest-virtual address
 * @paging: how
 * @gva:    a linear address; LAM's tags are not taken off
 * @read:   reads @len bytes at @gpa, within a page, or returns false
 * @data:   for @read
 * @gpa:    where to put the guest-physical address
 *
 * Without paging, addresses are 32 bits and physical. PAE's topmost entries are
 * read from memory, although a processor keeps those of the last move to CR3.
 * Reads at most KVM_TRACE_WALK_READS entries, each once: the guest may change
 * them meanwhile, then the result is some other address of its.
 *
 * Return: true if @gva is mapped
 */
bool kvm_trace_walk(const struct kvm_trace_paging *paging, u64 gva,
		    bool (*read)(void *data, u64 gpa, void *to,
				 unsigned int len),
		    void *data, u64 *gpa)
{
	unsigned int entry_size = paging->levels == 2 ? 4 : 8;
	unsigned int index_bits = paging->levels == 2 ? 10 : 9;
	unsigned int level = paging->levels;
	unsigned int shift = 12 + index_bits * level;
	u64 reserved = beyond(paging), at, index, entry;
	bool large;

	if (!valid_address(paging, gva))
		return false;
	if (!level) {
		*gpa = gva;
		return true;
	}

	at = top_table(paging);
	do {
		if (at & reserved)
			return false;
		shift -= index_bits;
		index = (gva >> shift) & ((1u << index_bits) - 1);
		entry = 0;
		if (!read(data, at + index * entry_size, &entry, entry_size) ||
		    !(entry & ENTRY_PRESENT))
			return false;

		large = level > 1 && (entry & ENTRY_LARGE);
		if (large && paging->levels == 2)
			large = paging->pse;
		else if (large && (level > 3 || paging->levels == level))
			return false;
		at = address_of(paging, entry, large);
	} while (--level && !large);

	/* The low bits of a large page's address are reserved too. */
	reserved |= (1ull << shift) - 1;
	if (at & reserved)
		return false;
	*gpa = at | (gva & ((1ull << shift) - 1));
	return true;
}
