/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a perf.data of records of kvm_trace alone, as perf record would. Where the
 * records come from is the caller's; files with Intel PT are pt_data.h's.
 */
#ifndef _KVM_TRACE_DATA_FILE_H
#define _KVM_TRACE_DATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include "order.h"

#define DATA_FILE_MAGIC			0x32454c4946524550ull	/* PERFILE2 */
#define DATA_FILE_TRACING_DATA		1			/* a feature's bit */
/* Records that are of perf, and not of the kernel: between rounds of its reading. */
#define DATA_FILE_FINISHED_ROUND	68

/* As it is in a file. */
struct data_file_section {
	__u64 offset, size;
};

struct data_file_header {
	__u64 magic, size, attr_size;
	struct data_file_section attrs, data, types;
	__u64 features[4];
};

/**
 * struct data_file - a file in the making
 * @file: where it is written
 * @header: of it
 * @round: where the round of records began
 * @failed: something could not be written
 */
struct data_file {
	FILE *file;
	struct data_file_header header;
	__u64 round;
	bool failed;
};

/**
 * struct data_file_place - where and when a record was made
 * @time: of perf's clock, in ns; not less than that of the round before
 * @pid: a process
 * @tid: its thread
 * @cpu: which
 */
struct data_file_place {
	__u64 time;
	__u32 pid, tid, cpu;
};

/**
 * data_file_begin() - open a file
 * @data: gets it
 * @path: where it is; a file that is there is replaced
 *
 * Return: false, and errno says why, if it cannot be written.
 */
bool data_file_begin(struct data_file *data, const char *path);

/**
 * data_file_add() - add a record; rounds end by themselves
 * @data: the file
 * @kind: what it is
 * @place: where it was made
 * @record: with the 8 bytes that all events have; the number of the event is put in
 * @size: its bytes, no more than fit a sample
 */
void data_file_add(struct data_file *data, enum kvm_trace_kind kind,
		   const struct data_file_place *place, const void *record, size_t size);

/**
 * data_file_end() - write the rest, and close the file
 * @data: the file
 *
 * Return: false, and errno says why, if something could not be written.
 */
bool data_file_end(struct data_file *data);

#endif /* _KVM_TRACE_DATA_FILE_H */
