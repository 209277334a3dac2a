// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of physical addresses (ToPA) over the pages of an AUX area: chained in a
 * circle, without interrupts, with a STOP where what the reader has not read begins.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/refcount.h>
#include <linux/slab.h>

#include "topa.h"

/* SDM vol. 3C, "ToPA Table Entry Layout". */
#define TOPA_END		0x1ull
#define TOPA_STOP		0x10ull
#define TOPA_SIZE_SHIFT		6
#define TOPA_MAX_ORDER		15
#define TOPA_REGIONS		(PAGE_SIZE / sizeof(u64) - 1)	/* and END */

/* SDM vol. 3C, "IA32_RTIT_OUTPUT_MASK_PTRS MSR", for ToPA. */
#define MASK_ONES		0x7full
#define MASK_INDEX_SHIFT	7
#define MASK_INDEX		GENMASK(24, 0)
#define MASK_OFFSET_SHIFT	32

/* A reader that is behind costs at most one region of the area: keep it small. */
#define FULL_TRACE_SHARE_SHIFT	3

/**
 * struct kvm_trace_pt_buffer - an AUX area
 * @tag:	&buffer_tag
 * @refs:	the ring buffer's, and one for each time that it is pinned
 * @pages:	its pages
 * @nr_pages:	how many, a power of two
 * @snapshot:	old trace is overwritten
 * @tables:	how many
 * @regions:	how many; all tables but the last have TOPA_REGIONS
 * @stop:	the region with STOP, or -1
 * @at:		table that Intel PT was last seen at
 * @table:	tables
 * @first:	of each region: its first page; and behind the last: @nr_pages
 */
struct kvm_trace_pt_buffer {
	const char *tag;
	refcount_t refs;
	void **pages;
	unsigned int nr_pages;
	bool snapshot;
	unsigned int tables;
	unsigned int regions;
	int stop;
	unsigned int at;
	u64 **table;
	u32 *first;
};

/* Its address is in our buffers only. */
static const char buffer_tag[] = "kvm_pt";

/* The order of the largest region that can begin at a page. */
static unsigned int order_at(void **pages, unsigned int nr_pages, unsigned int page,
			     unsigned int max_order)
{
	phys_addr_t start = virt_to_phys(pages[page]);
	unsigned int order = 0, i;

	while (order < max_order && page + (2u << order) <= nr_pages &&
	       IS_ALIGNED(start, PAGE_SIZE << (order + 1))) {
		for (i = 1u << order; i < 2u << order; i++)
			if (virt_to_phys(pages[page + i]) != start + i * PAGE_SIZE)
				return order;
		order++;
	}
	return order;
}

static u64 *entry_of(const struct kvm_trace_pt_buffer *buffer, unsigned int region)
{
	return &buffer->table[region / TOPA_REGIONS][region % TOPA_REGIONS];
}

static void free_buffer(struct kvm_trace_pt_buffer *buffer)
{
	unsigned int i;

	for (i = 0; buffer->table && i < buffer->tables; i++)
		free_page((unsigned long)buffer->table[i]);
	kvfree(buffer->table);
	kvfree(buffer->first);
	kfree(buffer);
}

/* Fills in @first and @regions. */
static void find_regions(struct kvm_trace_pt_buffer *buffer, unsigned int max_order)
{
	unsigned int page = 0, order;

	while (page < buffer->nr_pages) {
		order = order_at(buffer->pages, buffer->nr_pages, page, max_order);
		buffer->first[buffer->regions++] = page;
		page += 1u << order;
	}
	buffer->first[buffer->regions] = page;
}

static bool make_tables(struct kvm_trace_pt_buffer *buffer, int node)
{
	unsigned int i, last;
	struct page *page;

	buffer->tables = DIV_ROUND_UP(buffer->regions, TOPA_REGIONS);
	buffer->table = kvcalloc(buffer->tables, sizeof(*buffer->table), GFP_KERNEL);
	if (!buffer->table)
		return false;
	for (i = 0; i < buffer->tables; i++) {
		page = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);
		if (!page)
			return false;
		buffer->table[i] = page_address(page);
	}
	for (i = 0; i < buffer->regions; i++) {
		unsigned int pages = buffer->first[i + 1] - buffer->first[i];

		*entry_of(buffer, i) = virt_to_phys(buffer->pages[buffer->first[i]]) |
				       (u64)ilog2(pages) << TOPA_SIZE_SHIFT;
	}
	last = buffer->regions - (buffer->tables - 1) * TOPA_REGIONS;
	for (i = 0; i < buffer->tables; i++)
		buffer->table[i][i + 1 < buffer->tables ? TOPA_REGIONS : last] =
			virt_to_phys(buffer->table[(i + 1) % buffer->tables]) | TOPA_END;
	return true;
}

/**
 * kvm_trace_pt_buffer_alloc() - make the tables of an AUX area
 * @pages:    its pages; they stay as long as this
 * @nr_pages: how many, a power of two
 * @snapshot: overwrite old trace, and do not stop before it
 * @node:     node for the tables, or NUMA_NO_NODE
 *
 * Pages that lie side by side become one region.
 *
 * Context: process context.
 * Return: the buffer, or NULL, and the kernel's log says why
 */
struct kvm_trace_pt_buffer *kvm_trace_pt_buffer_alloc(void **pages, int nr_pages, bool snapshot,
						      int node)
{
	unsigned int max_order = TOPA_MAX_ORDER, order = ilog2(nr_pages);
	struct kvm_trace_pt_buffer *buffer;

	if (!snapshot) {
		if (nr_pages < 2) {
			pr_notice("kvm_pt: an AUX area of one page is too small: map two or more, or map it read-only for a snapshot\n");
			return NULL;
		}
		max_order = order > FULL_TRACE_SHARE_SHIFT ? order - FULL_TRACE_SHARE_SHIFT : 0;
		max_order = min_t(unsigned int, max_order, TOPA_MAX_ORDER);
	}
	buffer = kzalloc_node(sizeof(*buffer), GFP_KERNEL, node);
	if (!buffer)
		goto no_memory;
	buffer->tag = buffer_tag;
	refcount_set(&buffer->refs, 1);
	buffer->pages = pages;
	buffer->nr_pages = nr_pages;
	buffer->snapshot = snapshot;
	buffer->stop = -1;
	buffer->first = kvmalloc_array(nr_pages + 1, sizeof(*buffer->first), GFP_KERNEL);
	if (!buffer->first)
		goto no_memory;
	find_regions(buffer, max_order);
	if (make_tables(buffer, node))
		return buffer;

no_memory:
	if (buffer)
		free_buffer(buffer);
	pr_notice("kvm_pt: no memory for the tables of an AUX area of %d pages: map a smaller one\n",
		  nr_pages);
	return NULL;
}

/**
 * kvm_trace_pt_buffer_is_ours() - whether an AUX area is kvm_pt's
 * @aux: what perf_aux_output_begin() has returned
 *
 * Return: false if another PMU made it
 */
bool kvm_trace_pt_buffer_is_ours(const void *aux)
{
	const struct kvm_trace_pt_buffer *buffer = aux;

	return buffer->tag == buffer_tag;
}

/**
 * kvm_trace_pt_buffer_put() - the AUX area goes
 * @buffer: the buffer
 *
 * Context: process context.
 */
void kvm_trace_pt_buffer_put(struct kvm_trace_pt_buffer *buffer)
{
	if (refcount_dec_and_test(&buffer->refs))
		free_buffer(buffer);
}

/**
 * kvm_trace_pt_buffer_pin() - keep tables and pages: Intel PT may go on writing
 * @buffer: the buffer; perf still holds its pages
 *
 * Rare, so that it takes as long as there are pages does not matter.
 *
 * Context: any.
 */
void kvm_trace_pt_buffer_pin(struct kvm_trace_pt_buffer *buffer)
{
	unsigned int i;

	refcount_inc(&buffer->refs);
	for (i = 0; i < buffer->nr_pages; i++)
		get_page(virt_to_page(buffer->pages[i]));
}

/**
 * kvm_trace_pt_buffer_unpin() - Intel PT has stopped after all
 * @buffer: a buffer that was pinned
 *
 * Context: process context.
 */
void kvm_trace_pt_buffer_unpin(struct kvm_trace_pt_buffer *buffer)
{
	unsigned int i, j;

	/* perf may have freed its list of pages by now; the tables have it, too. */
	for (i = 0; i < buffer->regions; i++) {
		void *start = phys_to_virt(*entry_of(buffer, i) & PAGE_MASK);

		for (j = 0; j < buffer->first[i + 1] - buffer->first[i]; j++)
			put_page(virt_to_page(start + j * PAGE_SIZE));
	}
	kvm_trace_pt_buffer_put(buffer);
}

/* The region that an offset lies in. */
static unsigned int region_of(const struct kvm_trace_pt_buffer *buffer, unsigned long offset)
{
	unsigned int low = 0, high = buffer->regions, page = offset >> PAGE_SHIFT;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (buffer->first[middle] <= page)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/**
 * kvm_trace_pt_buffer_size() - bytes of the AUX area
 * @buffer: the buffer
 *
 * Return: a power of two
 */
unsigned long kvm_trace_pt_buffer_size(const struct kvm_trace_pt_buffer *buffer)
{
	return (unsigned long)buffer->nr_pages << PAGE_SHIFT;
}

/**
 * kvm_trace_pt_buffer_snapshot() - whether old trace is overwritten
 * @buffer: the buffer
 *
 * Return: true if it is
 */
bool kvm_trace_pt_buffer_snapshot(const struct kvm_trace_pt_buffer *buffer)
{
	return buffer->snapshot;
}

/**
 * kvm_trace_pt_buffer_one_table() - whether Intel PT never leaves a table
 * @buffer: the buffer
 *
 * Return: true if there is one only
 */
bool kvm_trace_pt_buffer_one_table(const struct kvm_trace_pt_buffer *buffer)
{
	return buffer->tables == 1;
}

/**
 * kvm_trace_pt_buffer_open() - let Intel PT write as far as there is space
 * @buffer: the buffer; nothing is open
 * @head:   where it begins, counted from the start of all trace
 * @space:  bytes from there that the reader has read
 *
 * Context: Intel PT does not use the buffer.
 * Return: false if there is no space up to the end of a region
 */
bool kvm_trace_pt_buffer_open(struct kvm_trace_pt_buffer *buffer, unsigned long head,
			      unsigned long space)
{
	unsigned long size = kvm_trace_pt_buffer_size(buffer);
	unsigned long offset = head & (size - 1);
	unsigned int region = region_of(buffer, offset);

	if (buffer->snapshot)
		return true;
	if (((unsigned long)buffer->first[region + 1] << PAGE_SHIFT) - offset > space)
		return false;
	/* The one before that which the space ends in. */
	region = region_of(buffer, (head + space) & (size - 1));
	buffer->stop = region ? region - 1 : buffer->regions - 1;
	*entry_of(buffer, buffer->stop) |= TOPA_STOP;
	return true;
}

/**
 * kvm_trace_pt_buffer_close() - take back what kvm_trace_pt_buffer_open() allowed
 * @buffer: the buffer
 *
 * Context: Intel PT does not use the buffer.
 */
void kvm_trace_pt_buffer_close(struct kvm_trace_pt_buffer *buffer)
{
	if (buffer->stop >= 0)
		*entry_of(buffer, buffer->stop) &= ~TOPA_STOP;
	buffer->stop = -1;
}

/**
 * kvm_trace_pt_buffer_full() - whether Intel PT has written all that was allowed
 * @buffer: the buffer, which is open
 * @head:   where it has got
 *
 * Return: true if @head is behind the region with STOP
 */
bool kvm_trace_pt_buffer_full(const struct kvm_trace_pt_buffer *buffer, unsigned long head)
{
	unsigned long size = kvm_trace_pt_buffer_size(buffer);

	return buffer->stop >= 0 &&
	       !((((unsigned long)buffer->first[buffer->stop + 1] << PAGE_SHIFT) - head) &
		 (size - 1));
}

/**
 * kvm_trace_pt_buffer_seek() - MSRs for a place in the AUX area
 * @buffer: the buffer
 * @head:   the place, as of kvm_trace_pt_buffer_open()
 * @base:   IA32_RTIT_OUTPUT_BASE
 * @mask:   IA32_RTIT_OUTPUT_MASK_PTRS
 */
void kvm_trace_pt_buffer_seek(const struct kvm_trace_pt_buffer *buffer, unsigned long head,
			      u64 *base, u64 *mask)
{
	unsigned long offset = head & (kvm_trace_pt_buffer_size(buffer) - 1);
	unsigned int region = region_of(buffer, offset);

	*base = virt_to_phys(buffer->table[region / TOPA_REGIONS]);
	offset -= (unsigned long)buffer->first[region] << PAGE_SHIFT;
	*mask = MASK_ONES | (u64)(region % TOPA_REGIONS) << MASK_INDEX_SHIFT |
		(u64)offset << MASK_OFFSET_SHIFT;
}

/**
 * kvm_trace_pt_buffer_moved() - how far Intel PT has got
 * @buffer: the buffer
 * @head:   where it was, as of kvm_trace_pt_buffer_open()
 * @base:   IA32_RTIT_OUTPUT_BASE
 * @mask:   IA32_RTIT_OUTPUT_MASK_PTRS
 *
 * It walks from the table that Intel PT was last seen at, so what it takes is bounded
 * by how much was written.
 *
 * Context: any, one caller at a time.
 * Return: bytes from @head; 0 if @base is no table of ours
 */
unsigned long kvm_trace_pt_buffer_moved(struct kvm_trace_pt_buffer *buffer, unsigned long head,
					u64 base, u64 mask)
{
	unsigned int i, region;
	unsigned long offset;

	for (i = 0; i < buffer->tables; i++) {
		if (virt_to_phys(buffer->table[buffer->at]) == base)
			break;
		buffer->at = buffer->at + 1 < buffer->tables ? buffer->at + 1 : 0;
	}
	if (i == buffer->tables)
		return 0;
	/* It may stand at END, which is the region behind. */
	region = buffer->at * TOPA_REGIONS + (mask >> MASK_INDEX_SHIFT & MASK_INDEX);
	region = min(region, buffer->regions);
	offset = ((unsigned long)buffer->first[region] << PAGE_SHIFT) +
		 (mask >> MASK_OFFSET_SHIFT);
	return (offset - head) & (kvm_trace_pt_buffer_size(buffer) - 1);
}
