/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NOP that nothing else executes: nopl MARK_DISPLACEMENT(%rax). Emulation shows
 * it to counters.c; to everything else it does nothing.
 */
#ifndef _SELFTESTS_BENCH_MARK_H
#define _SELFTESTS_BENCH_MARK_H

#define MARK_DISPLACEMENT 0x6b6d746b
#define MARK_BYTES	0x0f, 0x1f, 0x80, 0x6b, 0x74, 0x6d, 0x6b
#define MARK_ASM	".byte 0x0f, 0x1f, 0x80, 0x6b, 0x74, 0x6d, 0x6b"

#endif /* _SELFTESTS_BENCH_MARK_H */
