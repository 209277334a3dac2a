/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces of Intel PT in files: in perf.data, or the bytes alone.
 */
#ifndef _PT_LOG_TRACE_H
#define _PT_LOG_TRACE_H

#include <stddef.h>
#include "types.h"

/**
 * struct trace - bytes that follow each other
 * @data: they
 * @size: how many
 */
struct trace {
	u8 *data;
	size_t size;
};

size_t trace_read(const char *path, unsigned int cpu, struct trace **traces);

#endif /* _PT_LOG_TRACE_H */
