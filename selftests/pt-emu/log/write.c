// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a log of the format in log.h: buffering, and which instructions' bytes are
 * in it already. And one of accesses of MSRs.
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

static void put_msr(struct pt_log *log, const struct pt_emu *pt, __u32 msr)
{
	struct pt_log_record record = { .kind = PT_LOG_MSR, .from = msr };

	if (pt_emu_rdmsr(pt, msr, &record.to))
		pt_log_put(log, &record);
}

/**
 * pt_log_msrs() - write MSRs on which it depends what is traced, before PT_LOG_START
 * @log: where
 * @pt: whose
 * @ctl: IA32_RTIT_CTL, which names filters
 */
void pt_log_msrs(struct pt_log *log, const struct pt_emu *pt, __u64 ctl)
{
	unsigned int i;

	put_msr(log, pt, PT_EMU_MSR_STATUS);
	if (ctl & PT_EMU_CTL_CR3FILTER)
		put_msr(log, pt, PT_EMU_MSR_CR3_MATCH);
	for (i = 0; i < PT_EMU_MAX_RANGES; i++) {
		if (!(ctl >> (PT_EMU_CTL_ADDR0_CFG_SHIFT + 4 * i) & 0xf))
			continue;
		put_msr(log, pt, PT_EMU_MSR_ADDR0_A + 2 * i);
		put_msr(log, pt, PT_EMU_MSR_ADDR0_A + 2 * i + 1);
	}
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

/**
 * pt_log_msr() - write an access of an MSR, as a line: the numbers are hexadecimal
 * @file: where
 * @tsc: the time stamp counter
 * @how: 'r' RDMSR, 'w' WRMSR, or in upper case: it faults
 * @msr: which
 * @value: what is read or written
 */
void pt_log_msr(FILE *file, __u64 tsc, char how, __u32 msr, __u64 value)
{
	fprintf(file, "%llx %c %x %llx\n", tsc, how, msr, value);
}
