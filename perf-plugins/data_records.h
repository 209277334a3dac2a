/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a perf.data of records of kvm_trace alone, as perf record would. Where the
 * records come from is the caller's; files with Intel PT are pt_data.h's.
 */
#ifndef _KVM_TRACE_DATA_RECORDS_H
#define _KVM_TRACE_DATA_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include "data_file.h"
#include "order.h"

/**
 * struct data_records - a file in the making
 * @file: what is written
 * @round: where the round of records began
 */
struct data_records {
	struct data_file file;
	__u64 round;
};

/**
 * struct data_records_place - where and when a record was made
 * @time: of perf's clock, in ns; not less than that of the round before
 * @pid: a process
 * @tid: its thread
 * @cpu: which
 */
struct data_records_place {
	__u64 time;
	__u32 pid, tid, cpu;
};

/**
 * data_records_begin() - open a file
 * @records: gets it
 * @path: where it is; a file that is there is replaced
 *
 * Return: false, and errno says why, if it cannot be written.
 */
bool data_records_begin(struct data_records *records, const char *path);

/**
 * data_records_add() - add a record; rounds end by themselves
 * @records: the file
 * @kind: what it is
 * @place: where it was made
 * @record: with the 8 bytes that all events have; the number of the event is put in
 * @size: its bytes, no more than fit a sample
 */
void data_records_add(struct data_records *records, enum kvm_trace_kind kind,
		      const struct data_records_place *place, const void *record, size_t size);

/**
 * data_records_end() - write the rest, and close the file
 * @records: the file
 *
 * Return: false, and errno says why, if something could not be written.
 */
bool data_records_end(struct data_records *records);

#endif /* _KVM_TRACE_DATA_RECORDS_H */
