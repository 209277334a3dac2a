/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace of Intel PT as perf record would have written it, for perf script: one
 * process, one buffer, and its code in files.
 */
#ifndef _PT_EMU_PERF_DATA_H
#define _PT_EMU_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include "core/pt_emu.h"
#include "types.h"

#define PERF_DATA_PID		1000
#define PERF_DATA_DIR		"/tmp/pt-emu.XXXXXX"	/* for mkdtemp() */
#define PERF_DATA_MTCFREQ	(3ULL << PT_EMU_CTL_MTCFREQ_SHIFT)

/**
 * struct perf_mapping - code, and where perf should find it
 * @misc: of the record: user, kernel or a guest's
 * @pid: whose, or ~0
 * @tid: likewise
 * @address: where it is executed
 * @code: its bytes
 * @size: how many
 */
struct perf_mapping {
	u16 misc;
	u32 pid;
	u32 tid;
	u64 address;
	const void *code;
	size_t size;
};

bool perf_is_here(void);
void perf_data_write(const char *dir, u64 ctl, const u8 *trace, size_t size,
		     const struct perf_mapping *mapping, size_t mappings);
void perf_data_remove(const char *dir);

#endif /* _PT_EMU_PERF_DATA_H */
