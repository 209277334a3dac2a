// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes out of logs what was traced with one value of IA32_RTIT_CTL, from TraceEn to
 * TraceEn, in the order of time. Which processor it was is not asked after that.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "code.h"
#include "sections.h"

/**
 * log_read() - read a log
 * @log: filled in
 * @path: its file
 */
void log_read(struct log_file *log, const char *path)
{
	struct pt_log_header header;
	struct stat stat;
	FILE *file;

	file = fopen(path, "rb");
	if (!file || fstat(fileno(file), &stat))
		err(2, "%s", path);
	if (fread(&header, sizeof(header), 1, file) != 1 ||
	    memcmp(header.magic, PT_LOG_MAGIC, sizeof(header.magic)) ||
	    header.version != PT_LOG_VERSION || header.record_size != sizeof(*log->record))
		errx(2, "%s is no log of an emulator, or of another version", path);
	/* Not mapped: in the lab each page would be a question to the machine around. */
	log->record = malloc(stat.st_size);
	if (!log->record)
		errx(2, "no memory");
	log->records = fread(log->record, sizeof(*log->record),
			     stat.st_size / sizeof(*log->record), file);
	log->cpu = header.cpu;
	fclose(file);
}

/* A log on its way into another. */
struct source {
	const struct log_file *log;
	size_t at;		/* what is before it is done */
	size_t start;		/* of the next section; the number of records: none */
	struct pt_codes codes;	/* code as it is at @at */
};

struct merge {
	struct log_file *to;
	size_t room;
	const u64 *ctl;
	struct pt_codes codes;	/* code as a reader of @to has it */
	const struct source *last;	/* whose code that is; NULL: of several */
};

static void put(struct merge *merge, const struct pt_log_record *record)
{
	struct log_file *to = merge->to;

	if (to->records == merge->room) {
		merge->room = merge->room ? 2 * merge->room : 1 << 16;
		to->record = reallocarray(to->record, merge->room, sizeof(*to->record));
		if (!to->record)
			errx(2, "no memory");
	}
	to->record[to->records++] = *record;
}

static void remember(struct pt_codes *codes, const struct pt_code *code)
{
	if (!pt_codes_put(codes, code))
		errx(2, "no memory");
}

static void put_code(struct merge *merge, const struct pt_code *code)
{
	struct pt_log_record record = {
		.kind = PT_LOG_CODE,
		.size = code->size,
		.cr3 = code->cr3,
		.address = code->address,
	};

	memcpy(record.code, code->bytes, sizeof(record.code));
	remember(&merge->codes, code);
	put(merge, &record);
}

/* Code of another source was put since this one's. */
static void switch_code(struct merge *merge, const struct source *source)
{
	const struct pt_code *code, *other;
	size_t i;

	for (i = 0; i <= source->codes.mask; i++) {
		code = &source->codes.slots[i];
		if (!code->size)
			continue;
		other = pt_codes_find(&merge->codes, code->cr3, code->address);
		if (other->size != code->size || memcmp(other->bytes, code->bytes, code->size))
			put_code(merge, code);
	}
	merge->last = source;
}

static void take_code(struct merge *merge, struct source *source,
		      const struct pt_log_record *record)
{
	struct pt_code code = { record->cr3, record->address, record->size, { 0 } };

	memcpy(code.bytes, record->code, sizeof(code.bytes));
	remember(&source->codes, &code);
	put_code(merge, &code);
	if (merge->last != source)
		merge->last = NULL;
}

static void find_section(const struct merge *merge, struct source *source)
{
	const struct pt_log_record *record;
	size_t i;

	for (i = source->at; i < source->log->records; i++) {
		record = &source->log->record[i];
		if (record->kind == PT_LOG_START && (!merge->ctl || record->from == *merge->ctl))
			break;
	}
	source->start = i;
}

static void take_before(struct merge *merge, struct source *source)
{
	const struct pt_log_record *record, *of_section = &source->log->record[source->at];

	for (; source->at < source->start; source->at++) {
		record = &source->log->record[source->at];
		if (record->kind == PT_LOG_CODE)
			take_code(merge, source, record);
		else if (record->kind == PT_LOG_STOP || record->kind == PT_LOG_VMEXIT)
			of_section = record + 1;
	}
	for (; of_section < &source->log->record[source->start]; of_section++) {
		if (of_section->kind != PT_LOG_CODE)
			put(merge, of_section);
	}
}

/*
 * The next section, with code that was seen before it. What is told before START and after
 * STOP stays there, since it keeps a reader from looking ahead into another section.
 */
static void take_section(struct merge *merge, struct source *source)
{
	const struct log_file *log = source->log;
	const struct pt_log_record *record;
	bool stopped = false;

	take_before(merge, source);
	if (merge->last != source)
		switch_code(merge, source);
	for (; source->at < log->records; source->at++) {
		record = &log->record[source->at];
		if (stopped && record->kind != PT_LOG_VMEXIT)
			break;
		stopped |= record->kind == PT_LOG_STOP;
		if (record->kind == PT_LOG_CODE)
			take_code(merge, source, record);
		else
			put(merge, record);
	}
}

static struct source *first_of(struct source *sources, size_t nr_sources)
{
	struct source *first = NULL;
	u64 tsc, lowest = 0;
	size_t i;

	for (i = 0; i < nr_sources; i++) {
		if (sources[i].start == sources[i].log->records)
			continue;
		tsc = sources[i].log->record[sources[i].start].tsc;
		if (!first || tsc < lowest) {
			first = &sources[i];
			lowest = tsc;
		}
	}
	return first;
}

/**
 * log_merge() - make one log of several
 * @to: filled in
 * @logs: from log_read()
 * @nr_logs: how many
 * @ctl: only what was traced with this IA32_RTIT_CTL, or NULL
 */
void log_merge(struct log_file *to, const struct log_file *logs, size_t nr_logs, const u64 *ctl)
{
	struct source *sources = calloc(nr_logs, sizeof(*sources)), *source;
	struct merge merge = { .to = to, .ctl = ctl };
	size_t i;

	memset(to, 0, sizeof(*to));
	to->cpu = logs->cpu;
	if (!sources || !pt_codes_init(&merge.codes))
		errx(2, "no memory");
	for (i = 0; i < nr_logs; i++) {
		sources[i].log = &logs[i];
		if (!pt_codes_init(&sources[i].codes))
			errx(2, "no memory");
		find_section(&merge, &sources[i]);
	}
	while ((source = first_of(sources, nr_logs))) {
		take_section(&merge, source);
		find_section(&merge, source);
	}
	for (i = 0; i < nr_logs; i++)
		pt_codes_free(&sources[i].codes);
	pt_codes_free(&merge.codes);
	free(sources);
}
