/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MSRs of a CPU, the first one if not told, by the msr module, and memory whose physical
 * address is known, for MSRs that hold one.
 */
#ifndef _SELFTESTS_MSR_H
#define _SELFTESTS_MSR_H

#include <stdbool.h>

#include "types.h"

/* VMX capabilities, and in those of controls the bit that says that one may be 1. */
#define MSR_VMX_MISC		0x485
#define MSR_VMX_PROCBASED2	0x48b
#define MSR_VMX_TRUE_EXIT	0x48f
#define MSR_VMX_TRUE_ENTRY	0x490
#define ALLOWED(control)	(1ull << (32 + (control)))

/* A large page of x86 */
#define AREA_BYTES		0x200000ull

void need_msrs(void);
void msr_on_cpu(unsigned int cpu);
bool msr_read(u32 msr, u64 *value);
bool msr_write(u32 msr, u64 value);
u64 msr_get(u32 msr);
void msr_set(u32 msr, u64 value);
u8 *physical_page(u64 *address);
u8 *physical_area(u64 *address);

#endif /* _SELFTESTS_MSR_H */
