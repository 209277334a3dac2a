// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where packets go: one range or tables of physical addresses (ToPA), with
 * their operational errors, STOP and interrupts (36.2.6). What the bytes mean
 * is not known here.
 */
#include <string.h>
#include "internal.h"

#define TOPA_RESERVED	(1ULL << 1 | 1ULL << 3 | 1ULL << 5 | 3ULL << 10)
#define TOPA_ENTRY_SIZE	8
#define TOPA_PAGE	4096ULL
#define INDEX_SHIFT	7
#define INDEX_MASK	0x1ffffffULL

/* How long before the only region is full the interrupt comes; the manual does not say. */
#define PMI_AHEAD	1024

static __u64 offset(const struct pt_emu *pt)
{
	return pt->output_mask >> OFFSET_SHIFT;
}

static __u64 mask(const struct pt_emu *pt)
{
	return pt->output_mask & 0xffffffff;
}

static __u64 table_index(const struct pt_emu *pt)
{
	return mask(pt) >> INDEX_SHIFT;
}

static void set_offset(struct pt_emu *pt, __u64 to)
{
	pt->output_mask = mask(pt) | to << OFFSET_SHIFT;
}

static void set_index(struct pt_emu *pt, __u64 to)
{
	pt->output_mask = (to & INDEX_MASK) << INDEX_SHIFT | LOW_MASK;
}

static __u64 region_size(__u64 entry)
{
	return TOPA_PAGE << (entry >> PT_EMU_TOPA_SIZE_SHIFT & 0xf);
}

static __u64 region_base(__u64 entry)
{
	return entry & ~(TOPA_PAGE - 1);
}

/* 36.3.9 */
static void operational_error(struct pt_emu *pt)
{
	pt->status |= PT_EMU_STATUS_ERROR;
}

/* The rules for one entry, "ToPA Errors" in 36.2.6.2. */
static bool entry_valid(const struct pt_emu *pt, __u64 entry)
{
	if (entry & TOPA_RESERVED || entry >> pt->caps.maxphyaddr)
		return false;
	if (entry & PT_EMU_TOPA_END) {
		if (entry & (PT_EMU_TOPA_INT | PT_EMU_TOPA_STOP) || !table_index(pt))
			return false;
		return pt->caps.topa_multi || region_base(entry) == pt->output_base;
	}
	if (!pt->caps.topa_multi && table_index(pt))
		return false;
	return !(region_base(entry) & (region_size(entry) - 1));
}

/* The entry that is written to next; END entries are followed. */
static bool current_region(struct pt_emu *pt, __u64 *entry)
{
	for (;;) {
		const __u64 at = pt->output_base + table_index(pt) * TOPA_ENTRY_SIZE;

		if (pt->output_base & (TOPA_PAGE - 1) ||
		    !pt->ops.read(pt->machine, at, pt->guest_physical, entry, sizeof(*entry)) ||
		    !entry_valid(pt, *entry))
			return false;
		if (!(*entry & PT_EMU_TOPA_END))
			return offset(pt) < region_size(*entry);
		pt->output_base = region_base(*entry);
		pt->output_mask = LOW_MASK;
	}
}

/* "Single-Range Output Errors" in 36.2.6.1 */
static bool range_valid(const struct pt_emu *pt)
{
	const bool contiguous = !(mask(pt) & (mask(pt) + 1));

	return contiguous && !(pt->output_base & mask(pt)) && offset(pt) <= mask(pt);
}

/*
 * TraceEn was set: errors are found now and not with the first packet, which
 * the manual leaves open (36.3.9).
 */
void pt_emu_output_start(struct pt_emu *pt)
{
	__u64 entry;

	pt->used = 0;
	if (pt->status & PT_EMU_STATUS_STOPPED)
		return;
	if (pt->ctl & PT_EMU_CTL_TOPA ? !current_region(pt, &entry) : !range_valid(pt))
		operational_error(pt);
}

/* Up to @size bytes to @address; returns how many, 0 after an error. */
static size_t store(struct pt_emu *pt, __u64 address, const __u8 *data, size_t size, __u64 room)
{
	if (size > room)
		size = room;
	if (pt->ops.write(pt->machine, address, pt->guest_physical, data, size))
		return size;
	operational_error(pt);
	return 0;
}

static size_t store_range(struct pt_emu *pt, const __u8 *data, size_t size)
{
	const __u64 room = mask(pt) + 1 - offset(pt);
	size_t done = store(pt, pt->output_base + offset(pt), data, size, room);

	set_offset(pt, done == room ? 0 : offset(pt) + done);
	return done;
}

/* STOP comes before INT (table 36-3). */
static void region_full(struct pt_emu *pt, __u64 entry)
{
	__u64 next;

	if (entry & PT_EMU_TOPA_STOP) {
		pt->status |= PT_EMU_STATUS_STOPPED;
	} else {
		set_index(pt, table_index(pt) + 1);
		if (!current_region(pt, &next))
			operational_error(pt);
	}
	if (entry & PT_EMU_TOPA_INT && pt->caps.topa_multi)
		pt->ops.pmi(pt->machine);
}

static size_t store_topa(struct pt_emu *pt, const __u8 *data, size_t size)
{
	__u64 entry, room, ahead;
	size_t done;

	if (!current_region(pt, &entry)) {
		operational_error(pt);
		return 0;
	}
	room = region_size(entry) - offset(pt);
	done = store(pt, region_base(entry) + offset(pt), data, size, room);
	if (!done)
		return 0;
	set_offset(pt, offset(pt) + done);
	ahead = region_size(entry) - PMI_AHEAD;
	if (!pt->caps.topa_multi && entry & PT_EMU_TOPA_INT && offset(pt) >= ahead &&
	    offset(pt) - done < ahead)
		pt->ops.pmi(pt->machine);
	if (done == room)
		region_full(pt, entry);
	return done;
}

/**
 * pt_emu_flush() - write packets out that are still in the processor
 * @pt: of which processor
 *
 * The core does so itself where the manual says so. A machine calls it, say, to
 * look at the output while tracing goes on.
 */
void pt_emu_flush(struct pt_emu *pt)
{
	size_t at = 0, done;

	while (at < pt->used && pt_emu_trigger_enabled(pt)) {
		const __u8 *data = pt->buffer + at;

		if (pt->ctl & PT_EMU_CTL_TOPA)
			done = store_topa(pt, data, pt->used - at);
		else
			done = store_range(pt, data, pt->used - at);
		at += done;
	}
	pt->used = 0;
}

/* Bytes of a packet into the processor's buffer. */
void pt_emu_output(struct pt_emu *pt, const void *data, size_t size)
{
	if (pt->used + size > sizeof(pt->buffer))
		pt_emu_flush(pt);
	memcpy(pt->buffer + pt->used, data, size);
	pt->used += size;
}
