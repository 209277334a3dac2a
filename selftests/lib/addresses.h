/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses of the host's kernel: of its memory, code, modules and of what it has in
 * vmalloc's area now. Where to look for them is the tests'.
 */
#ifndef _SELFTESTS_ADDRESSES_H
#define _SELFTESTS_ADDRESSES_H

#include <stddef.h>

#include "types.h"

void addresses_read(void);
void addresses_free(void);
const char *address_of(u64 value);
u64 address_of_symbol(const char *name);
const char *address_in(const void *bytes, size_t size, size_t *at, u64 *value);

#endif /* _SELFTESTS_ADDRESSES_H */
