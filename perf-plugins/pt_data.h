/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes perf.data with traces of Intel PT, for stock perf: all of it, or what perf record
 * has recorded meanwhile with the traces put in. Traces are bytes here.
 */
#ifndef _KVM_TRACE_PT_DATA_H
#define _KVM_TRACE_PT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include "data_file.h"

/**
 * struct pt_data_map - code, and where it is executed
 * @misc: PERF_RECORD_MISC_* of whose code it is
 * @address: where
 * @size: bytes
 * @path: file that has it from its start on
 */
struct pt_data_map {
	__u16 misc;
	__u64 address, size;
	const char *path;
};

/**
 * struct pt_data - a file in the making
 * @out: what is written
 * @base: what perf recorded, or NULL
 * @attr: of the event that the traces are of; sample_type of @base's, if there is one
 * @id: of that event
 * @hidden: kernel's maps of @base that are left out overlap with these
 * @nr_hidden: how many
 * @base_header: of @base
 */
struct pt_data {
	struct data_file out;
	FILE *base;
	struct perf_event_attr attr;
	__u64 id;
	const struct pt_data_map *hidden;
	size_t nr_hidden;
	struct data_file_header base_header;
};

/* perf's time = zero + (TSC * mult >> shift), or without has_zero nothing has a time. */
struct pt_data_clock {
	__u64 shift, mult, zero;
	bool has_zero;
};

/**
 * struct pt_data_thread - whose a record is, and when
 * @pid: a process
 * @tid: its thread
 * @time: of perf's clock; 0: before all others
 */
struct pt_data_thread {
	__u32 pid, tid;
	__u64 time;
};

bool pt_data_begin(struct pt_data *data, const char *path, const char *base);
void pt_data_info(struct pt_data *data, const struct pt_data_clock *clock, unsigned int ratio);
void pt_data_comm(struct pt_data *data, const struct pt_data_thread *thread, const char *name);
void pt_data_map(struct pt_data *data, const struct pt_data_thread *thread,
		 const struct pt_data_map *map);
void pt_data_start(struct pt_data *data, const struct pt_data_thread *thread);
bool pt_data_trace(FILE *file, __u32 tid, unsigned int stream, __u64 offset, const void *trace,
		   size_t size);
void pt_data_add(struct pt_data *data, FILE *file);
bool pt_data_end(struct pt_data *data);

#endif /* _KVM_TRACE_PT_DATA_H */
