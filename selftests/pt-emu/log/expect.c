// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a decoder should say, by the log. Nothing of the encoder is used here.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "expect.h"

/* IA32_RTIT_CTL, as the manual has it */
#define CTL_OS		(1ULL << 2)
#define CTL_USER	(1ULL << 3)

/* A decoder looks at code before the steps that lead there are compared. */
#define STEPS_AHEAD	3

/**
 * expect_open() - read a log
 * @expect: filled in
 * @path: the log
 * @cpu: its logical processor
 */
void expect_open(struct expect *expect, const char *path, unsigned int *cpu)
{
	struct pt_log_header header;
	struct stat stat;
	void *records;
	FILE *file;

	memset(expect, 0, sizeof(*expect));
	file = fopen(path, "rb");
	if (!file || fstat(fileno(file), &stat))
		err(2, "%s", path);
	if (fread(&header, sizeof(header), 1, file) != 1 ||
	    memcmp(header.magic, PT_LOG_MAGIC, sizeof(header.magic)) ||
	    header.version != PT_LOG_VERSION || header.record_size != sizeof(*expect->record))
		errx(2, "%s is no log of an emulator, or of another version", path);
	*cpu = header.cpu;
	/* Not mapped: in the lab each page would be a question to the machine around. */
	records = malloc(stat.st_size);
	if (!records)
		errx(2, "no memory");
	expect->record = records;
	expect->records = fread(records, sizeof(*expect->record),
				stat.st_size / sizeof(*expect->record), file);
	fclose(file);
	if (!pt_codes_init(&expect->codes))
		errx(2, "no memory");
}

static void take(struct expect *expect)
{
	const struct pt_log_record *record = &expect->record[expect->at++];

	if (record->kind == PT_LOG_CODE)
		return;
	if (record->kind == PT_LOG_START)
		expect->ctl = record->from;
	else if (record->kind == PT_LOG_STOP)
		expect->ctl = 0;
	expect->now = record;
}

/**
 * expect_start() - go to where a trace begins
 * @expect: from expect_open()
 * @tsc: of the TSC packet in the first PSB+
 * @ip: of the FUP packet there, or 0
 *
 * Return: false if nothing in the log has this time.
 */
bool expect_start(struct expect *expect, u64 tsc, u64 ip)
{
	size_t i, found = 0;

	for (i = 0; i < expect->records; i++) {
		const struct pt_log_record *record = &expect->record[i];

		if (record->kind == PT_LOG_CODE || record->tsc != tsc)
			continue;
		if (record->kind == PT_LOG_START && !ip) {
			expect->at = i;
			expect->ctl = 0;
			return true;
		}
		if (!ip || record->to == ip)
			found = i + 1;
	}
	if (!found)
		return false;
	expect->at = 0;
	while (expect->at < found)
		take(expect);
	return true;
}

static bool in_context(const struct expect *expect, const struct pt_log_record *record)
{
	return expect->ctl & (record->cpl ? CTL_USER : CTL_OS);
}

static enum step_kind step_of(enum pt_log_kind kind, bool was, bool is)
{
	const bool event = kind == PT_LOG_EVENT || kind == PT_LOG_VMENTRY ||
			   kind == PT_LOG_VMEXIT || kind == PT_LOG_STOP;

	if (was && is)
		return event ? STEP_EVENT : STEP_BRANCH;
	if (was)
		return event ? STEP_EVENT_OUT : STEP_BRANCH_OUT;
	return STEP_ENABLED;
}

/**
 * expect_next() - the next step
 * @expect: from expect_start()
 * @step: what it is
 */
void expect_next(struct expect *expect, struct step *step)
{
	while (expect->at < expect->records) {
		const bool was = expect->ctl && in_context(expect, expect->now);
		const struct pt_log_record *record = &expect->record[expect->at];
		bool is;

		take(expect);
		is = expect->ctl && in_context(expect, record);
		if (record->kind == PT_LOG_CODE || (!was && !is) ||
		    (record->kind == PT_LOG_CR3 && was && is))
			continue;
		step->kind = step_of(record->kind, was, is);
		step->how = record->kind;
		step->from = step->kind == STEP_ENABLED ? 0 : record->from;
		step->to = is ? record->to : 0;
		expect->counts[record->kind]++;
		return;
	}
	step->kind = STEP_END;
}

/**
 * expect_is_stopped() - whether TraceEn was cleared with no step before that
 * @expect: from expect_start()
 *
 * Return: true also at the end of the log.
 */
bool expect_is_stopped(struct expect *expect)
{
	const struct pt_log_record *record;

	while (expect->ctl && expect->at < expect->records) {
		record = &expect->record[expect->at];
		if (record->kind != PT_LOG_STOP && record->kind != PT_LOG_CODE &&
		    (in_context(expect, expect->now) || in_context(expect, record)))
			return false;
		take(expect);
	}
	return true;
}

static void load_record(struct expect *expect, const struct pt_log_record *record)
{
	struct pt_code code = { record->cr3, record->address, record->size, { 0 } };

	memcpy(code.bytes, record->code, sizeof(code.bytes));
	if (!pt_codes_put(&expect->codes, &code))
		errx(2, "no memory");
}

/* Code up to some steps ahead, and not beyond, where it may have been changed. */
static void load(struct expect *expect)
{
	size_t i = expect->at < expect->loaded ? expect->at : expect->loaded;
	unsigned int ahead = 0;

	for (; i < expect->records; i++) {
		const struct pt_log_record *record = &expect->record[i];

		if (record->kind == PT_LOG_CODE) {
			if (i >= expect->loaded)
				load_record(expect, record);
			continue;
		}
		ahead += i >= expect->at && (!expect->ctl || in_context(expect, record));
		if (ahead == STEPS_AHEAD)
			break;
	}
	if (i > expect->loaded)
		expect->loaded = i;
}

/**
 * expect_code() - an instruction
 * @expect: from expect_start()
 * @address: where it is
 *
 * Return: NULL if none is executed there in this address space.
 */
const struct pt_code *expect_code(struct expect *expect, u64 address)
{
	const struct pt_log_record *record;
	const struct pt_code *code;
	size_t i;

	load(expect);
	code = pt_codes_find(&expect->codes, expect->now->cr3, address);
	if (code->size)
		return code;
	/* In the address space that the next steps lead to. */
	for (i = expect->at; i < expect->loaded; i++) {
		record = &expect->record[i];
		if (record->kind == PT_LOG_CODE)
			continue;
		code = pt_codes_find(&expect->codes, record->cr3, address);
		if (code->size)
			return code;
	}
	return NULL;
}
