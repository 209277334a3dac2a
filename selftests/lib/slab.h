/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects that the kernel has allocated, from /proc/slabinfo, to see a leak.
 */
#ifndef _SELFTESTS_SLAB_H
#define _SELFTESTS_SLAB_H

#include "types.h"

#define SLAB_CACHES 48

struct slab_count {
	unsigned int nr;
	struct {
		char name[32];
		long objects;
	} caches[SLAB_CACHES];
};

void slab_count(struct slab_count *count);
void slab_count_after(struct slab_count *count, const struct slab_count *before, long limit);
void slab_expect(const struct slab_count *before, const struct slab_count *after, long limit,
		 const char *what);

#endif /* _SELFTESTS_SLAB_H */
