/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MSRs of the first CPU, by the msr module, and memory whose physical address is
 * known, for MSRs that hold one.
 */
#ifndef _SELFTESTS_MSR_H
#define _SELFTESTS_MSR_H

#include <stdbool.h>

#include "types.h"

void need_msrs(void);
bool msr_read(u32 msr, u64 *value);
bool msr_write(u32 msr, u64 value);
u64 msr_get(u32 msr);
void msr_set(u32 msr, u64 value);
u8 *physical_page(u64 *address);

#endif /* _SELFTESTS_MSR_H */
