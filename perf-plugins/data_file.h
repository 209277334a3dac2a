/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A perf.data in the making: its header, and bytes behind it. What they are is
 * data_records.h's, of files of records of kvm_trace alone, and pt_data.h's, of files with
 * Intel PT.
 */
#ifndef _KVM_TRACE_DATA_FILE_H
#define _KVM_TRACE_DATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#define DATA_FILE_MAGIC			0x32454c4946524550ull	/* PERFILE2 */
#define DATA_FILE_TRACING_DATA		1			/* a feature's bit */
#define DATA_FILE_FEATURES		256
#define DATA_FILE_ATTR_LEAST		64			/* PERF_ATTR_SIZE_VER0 */
/* Records that are of perf, and not of the kernel. */
#define DATA_FILE_FINISHED_ROUND	68	/* between rounds of its reading */
#define DATA_FILE_AUXTRACE_INFO		70
#define DATA_FILE_AUXTRACE		71

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
 * @file: where it is written, NULL if it could not be opened
 * @header: of it, written at the end
 * @error: why it cannot be written: an errno
 */
struct data_file {
	FILE *file;
	struct data_file_header header;
	int error;
};

/**
 * data_file_begin() - open a file, and leave room for its header
 * @data: gets it
 * @path: where it is; a file that is there is replaced
 */
void data_file_begin(struct data_file *data, const char *path);

/**
 * data_file_fail() - note why it cannot be written, if nothing is noted yet
 * @data: the file
 * @error: an errno
 */
void data_file_fail(struct data_file *data, int error);

/**
 * data_file_put() - write bytes, unless something has failed
 * @data: the file
 * @bytes: these
 * @size: how many
 */
void data_file_put(struct data_file *data, const void *bytes, size_t size);

/**
 * data_file_put_number() - write the low bytes of a number
 * @data: the file
 * @number: the number
 * @size: how many, up to 8
 */
void data_file_put_number(struct data_file *data, __u64 number, size_t size);

/**
 * data_file_here() - where the next bytes go
 * @data: the file
 *
 * Return: offset in the file
 */
__u64 data_file_here(struct data_file *data);

/**
 * data_file_go_to() - where the next bytes go from now on
 * @data: the file
 * @at: offset in it
 */
void data_file_go_to(struct data_file *data, __u64 at);

/**
 * data_file_end() - write the header, and close the file
 * @data: the file; opening it may have failed
 *
 * Return: false, and errno says why, if anything has failed.
 */
bool data_file_end(struct data_file *data);

#endif /* _KVM_TRACE_DATA_FILE_H */
