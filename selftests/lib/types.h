/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's headers give to kernel code, for the tests in user space.
 */
#ifndef _SELFTESTS_TYPES_H
#define _SELFTESTS_TYPES_H

#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define __printf(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif /* _SELFTESTS_TYPES_H */
