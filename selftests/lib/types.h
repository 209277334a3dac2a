/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's headers give to kernel code, for the tests in user space.
 */
#ifndef _SELFTESTS_TYPES_H
#define _SELFTESTS_TYPES_H

#include <stdbool.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define __printf(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif /* _SELFTESTS_TYPES_H */
