/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a log of the format in log.h, and one of accesses of MSRs. What goes into them is
 * up to the front end.
 */
#ifndef _PT_LOG_WRITE_H
#define _PT_LOG_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "log.h"
#include "../core/pt_emu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pt_log;

struct pt_log *pt_log_open(const char *path, unsigned int cpu);
void pt_log_put(struct pt_log *log, const struct pt_log_record *record);
void pt_log_code(struct pt_log *log, __u64 cr3, __u64 address, const void *code, size_t size);
void pt_log_msrs(struct pt_log *log, const struct pt_emu *pt, __u64 ctl);
void pt_log_flush(struct pt_log *log);
bool pt_log_close(struct pt_log *log);
void pt_log_msr(FILE *file, __u64 tsc, char how, __u32 msr, __u64 value);

#ifdef __cplusplus
}
#endif

#endif /* _PT_LOG_WRITE_H */
