/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Logs of one or more logical processors as one: what was traced for one buffer, which
 * several processors may have filled in turn, and which others may have interrupted.
 */
#ifndef _PT_LOG_SECTIONS_H
#define _PT_LOG_SECTIONS_H

#include <stddef.h>
#include "log.h"
#include "types.h"

/**
 * struct log_file - records of one logical processor
 * @record: they
 * @records: how many
 * @cpu: its number
 */
struct log_file {
	struct pt_log_record *record;
	size_t records;
	unsigned int cpu;
};

void log_read(struct log_file *log, const char *path);
void log_merge(struct log_file *to, const struct log_file *logs, size_t nr_logs, const u64 *ctl);

#endif /* _PT_LOG_SECTIONS_H */
