// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a log of the format in log.h: buffering, and which instructions' bytes are
 * in it already.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "code.h"
#include "write.h"

struct pt_log {
	FILE *file;
	bool failed;
	struct pt_codes codes;
};

/**
 * pt_log_open() - start a log
 * @path: the file, which is overwritten
 * @cpu: number of the logical processor
 *
 * Return: for pt_log_close(); NULL if there is no memory or no file, see errno.
 */
struct pt_log *pt_log_open(const char *path, unsigned int cpu)
{
	const struct pt_log_header header = {
		.magic = PT_LOG_MAGIC,
		.version = PT_LOG_VERSION,
		.record_size = sizeof(struct pt_log_record),
		.cpu = cpu,
	};
	struct pt_log *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	if (!pt_codes_init(&log->codes)) {
		free(log);
		return NULL;
	}
	log->file = fopen(path, "wb");
	if (!log->file) {
		pt_codes_free(&log->codes);
		free(log);
		return NULL;
	}
	setvbuf(log->file, NULL, _IOFBF, 1 << 20);
	log->failed = fwrite(&header, sizeof(header), 1, log->file) != 1 || fflush(log->file);
	return log;
}

/**
 * pt_log_put() - write a record
 * @log: where
 * @record: what
 */
void pt_log_put(struct pt_log *log, const struct pt_log_record *record)
{
	if (fwrite(record, sizeof(*record), 1, log->file) != 1)
		log->failed = true;
}

/**
 * pt_log_code() - write the bytes of an instruction, if the log does not have them yet
 * @log: where
 * @cr3: CR3 with which it is executed
 * @address: its linear address
 * @code: its bytes
 * @size: how many, PT_LOG_CODE_MAX at most
 */
void pt_log_code(struct pt_log *log, __u64 cr3, __u64 address, const void *code, size_t size)
{
	struct pt_log_record record = {
		.kind = PT_LOG_CODE,
		.size = size,
		.cr3 = cr3,
		.address = address,
	};
	struct pt_code new = { .cr3 = cr3, .address = address, .size = size };
	const struct pt_code *old = pt_codes_find(&log->codes, cr3, address);

	if (old->size == size && !memcmp(old->bytes, code, size))
		return;
	memcpy(new.bytes, code, size);
	memcpy(record.code, code, size);
	if (!pt_codes_put(&log->codes, &new))
		log->failed = true;
	pt_log_put(log, &record);
}

/**
 * pt_log_flush() - put into the file what is buffered, for others to read
 * @log: which
 */
void pt_log_flush(struct pt_log *log)
{
	if (fflush(log->file))
		log->failed = true;
}

/**
 * pt_log_close() - the end of a log
 * @log: from pt_log_open()
 *
 * Return: false if something could not be written.
 */
bool pt_log_close(struct pt_log *log)
{
	bool good = !fclose(log->file) && !log->failed;

	pt_codes_free(&log->codes);
	free(log);
	return good;
}
