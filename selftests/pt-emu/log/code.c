// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table of instructions, an open hash that doubles before it is half full.
 */
#include <stdlib.h>
#include "code.h"

#define FIRST_SLOTS	(1U << 16)

/**
 * pt_codes_init() - an empty table
 * @codes: filled in
 *
 * Return: false without memory.
 */
bool pt_codes_init(struct pt_codes *codes)
{
	codes->slots = calloc(FIRST_SLOTS, sizeof(*codes->slots));
	codes->mask = FIRST_SLOTS - 1;
	codes->used = 0;
	return codes->slots;
}

/**
 * pt_codes_free() - the end of it
 * @codes: from pt_codes_init()
 */
void pt_codes_free(struct pt_codes *codes)
{
	free(codes->slots);
}

/**
 * pt_codes_find() - look up an instruction
 * @codes: where
 * @cr3: CR3
 * @address: linear address
 *
 * Return: its slot, or a free one, whose size is 0.
 */
struct pt_code *pt_codes_find(const struct pt_codes *codes, __u64 cr3, __u64 address)
{
	size_t i = ((address ^ cr3 >> 12 << 20) * 0x9e3779b97f4a7c15ULL) >> 32;

	for (;; i++) {
		struct pt_code *slot = &codes->slots[i & codes->mask];

		if (!slot->size || (slot->address == address && slot->cr3 == cr3))
			return slot;
	}
}

static bool grow(struct pt_codes *codes)
{
	const size_t slots = codes->mask + 1;
	struct pt_codes bigger = {
		.slots = calloc(2 * slots, sizeof(*codes->slots)),
		.mask = 2 * slots - 1,
		.used = codes->used,
	};
	size_t i;

	if (!bigger.slots)
		return false;
	for (i = 0; i < slots; i++) {
		const struct pt_code *old = &codes->slots[i];

		if (old->size)
			*pt_codes_find(&bigger, old->cr3, old->address) = *old;
	}
	free(codes->slots);
	*codes = bigger;
	return true;
}

/**
 * pt_codes_put() - add an instruction, or replace it
 * @codes: where
 * @code: what
 *
 * Return: false without memory.
 */
bool pt_codes_put(struct pt_codes *codes, const struct pt_code *code)
{
	struct pt_code *slot = pt_codes_find(codes, code->cr3, code->address);

	if (!slot->size) {
		if (2 * codes->used > codes->mask) {
			if (!grow(codes))
				return false;
			slot = pt_codes_find(codes, code->cr3, code->address);
		}
		codes->used++;
	}
	*slot = *code;
	return true;
}
