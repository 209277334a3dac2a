// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a decoder should say, by the log. Nothing of the encoder is used here.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include "expect.h"

/* IA32_RTIT_CTL, as the manual has it */
#define CTL_OS		(1ULL << 2)
#define CTL_USER	(1ULL << 3)
#define CTL_CR3FILTER	(1ULL << 7)
#define CTL_ADDR0_CFG_SHIFT	32
#define CFG_FILTER	1
#define CFG_STOP	2
#define MSR_STATUS	0x571
#define STATUS_ERROR	(1ULL << 4)
#define STATUS_STOPPED	(1ULL << 5)
#define MSR_CR3_MATCH	0x572
#define MSR_ADDR0_A	0x580

/* A decoder looks at code before the steps that lead there are compared. */
#define STEPS_AHEAD	3

/**
 * expect_open() - take a log
 * @expect: filled in
 * @log: whose records stay where they are
 */
void expect_open(struct expect *expect, const struct log_file *log)
{
	memset(expect, 0, sizeof(*expect));
	expect->record = log->record;
	expect->records = log->records;
	if (!pt_codes_init(&expect->codes))
		errx(2, "no memory");
}

static unsigned int addr_cfg(const struct place *place, unsigned int range)
{
	return place->ctl >> (CTL_ADDR0_CFG_SHIFT + 4 * range) & 0xf;
}

static bool in_range(const struct place *place, unsigned int use, u64 ip)
{
	unsigned int i;

	for (i = 0; i < EXPECT_RANGES; i++) {
		if (addr_cfg(place, i) == use && ip >= place->addr[2 * i] &&
		    ip <= place->addr[2 * i + 1])
			return true;
	}
	return false;
}

static bool has_filter(const struct place *place)
{
	unsigned int i;

	for (i = 0; i < EXPECT_RANGES; i++) {
		if (addr_cfg(place, i) == CFG_FILTER)
			return true;
	}
	return false;
}

static bool in_context(const struct place *place)
{
	const unsigned int low = place->now->pae ? 5 : 12;

	if (!(place->ctl & (place->now->cpl ? CTL_USER : CTL_OS)))
		return false;
	return !(place->ctl & CTL_CR3FILTER) ||
	       place->now->cr3 >> low == place->cr3_match >> low;
}

/* The instruction that comes next is traced. */
static bool is_traced(const struct place *place)
{
	return place->ctl && !place->stopped && place->filter && in_context(place);
}

static void set_msr(struct place *place, u64 msr, u64 value)
{
	if (msr == MSR_STATUS)
		place->stopped = value & (STATUS_ERROR | STATUS_STOPPED);
	else if (msr == MSR_CR3_MATCH)
		place->cr3_match = value;
	else if (msr - MSR_ADDR0_A < 2 * EXPECT_RANGES)
		place->addr[msr - MSR_ADDR0_A] = value;
}

/* A range is left, and entered, by what goes somewhere, not by what goes on. */
static void pass(struct place *place, const struct pt_log_record *record)
{
	switch (record->kind) {
	case PT_LOG_CODE:
		return;
	case PT_LOG_MSR:
		set_msr(place, record->from, record->to);
		return;
	case PT_LOG_START:
		place->ctl = record->from;
		break;
	case PT_LOG_STOP:
		place->ctl = 0;
		break;
	default:
		break;
	}
	place->now = record;
	if (record->kind == PT_LOG_NOT_TAKEN)
		return;
	if (record->kind != PT_LOG_CR3)
		place->filter = !has_filter(place) || in_range(place, CFG_FILTER, record->to);
	if (in_range(place, CFG_STOP, record->to) && in_context(place))
		place->stopped = true;
}

static const struct pt_log_record *take(struct expect *expect)
{
	const struct pt_log_record *record = &expect->record[expect->at++];

	pass(&expect->place, record);
	return record;
}

static bool has_state(const struct pt_log_record *record)
{
	return record->kind != PT_LOG_CODE && record->kind != PT_LOG_MSR;
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
	bool starts = false;

	for (i = 0; i < expect->records && !starts; i++) {
		const struct pt_log_record *record = &expect->record[i];

		if (!has_state(record) || record->tsc != tsc)
			continue;
		starts = record->kind == PT_LOG_START && !ip;
		if (!ip || record->to == ip)
			found = i + 1;
	}
	if (!found)
		return false;
	memset(&expect->place, 0, sizeof(expect->place));
	expect->at = 0;
	while (expect->at < found - starts)
		take(expect);
	return true;
}

static bool is_event(enum pt_log_kind kind)
{
	return kind == PT_LOG_EVENT || kind == PT_LOG_VMENTRY || kind == PT_LOG_VMEXIT ||
	       kind == PT_LOG_STOP;
}

static enum step_kind step_of(enum pt_log_kind kind, bool was, bool is)
{
	if (was && is)
		return is_event(kind) ? STEP_EVENT : STEP_BRANCH;
	if (was)
		return is_event(kind) ? STEP_EVENT_OUT : STEP_BRANCH_OUT;
	return STEP_ENABLED;
}

/* TIP.PGD has an address if ContextEn is 1 behind it (36.4.2.4). */
static bool tells_target(const struct place *place, enum pt_log_kind kind)
{
	return is_traced(place) ||
	       (place->ctl && kind != PT_LOG_TAKEN && in_context(place));
}

/* Takes a record, and tells whether a decoder sees it. */
static bool step_next(struct expect *expect, struct step *step)
{
	const bool was = is_traced(&expect->place);
	const struct pt_log_record *record = take(expect);
	const bool is = is_traced(&expect->place);

	if (!has_state(record) || (!was && !is) || (record->kind == PT_LOG_CR3 && was && is))
		return false;
	step->kind = step_of(record->kind, was, is);
	step->how = record->kind;
	step->from = step->kind == STEP_ENABLED ? 0 : record->from;
	step->to = tells_target(&expect->place, record->kind) ? record->to : 0;
	return true;
}

/**
 * expect_next() - the next step
 * @expect: from expect_start()
 * @step: what it is
 */
void expect_next(struct expect *expect, struct step *step)
{
	while (expect->at < expect->records) {
		if (!step_next(expect, step))
			continue;
		expect->counts[step->how]++;
		if (is_traced(&expect->place))
			expect->steps[expect->place.now->non_root]++;
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
	struct step step;

	while (expect->place.ctl && expect->at < expect->records) {
		if (step_next(expect, &step) && step.how != PT_LOG_STOP)
			return false;
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
	struct place place = expect->place;
	unsigned int ahead = 0;
	bool was;

	for (; i < expect->records; i++) {
		const struct pt_log_record *record = &expect->record[i];

		if (record->kind == PT_LOG_CODE) {
			if (i >= expect->loaded)
				load_record(expect, record);
			continue;
		}
		if (i < expect->at)
			continue;
		was = is_traced(&place);
		pass(&place, record);
		ahead += was || is_traced(&place);
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
	code = pt_codes_find(&expect->codes, expect->place.now->cr3, address);
	if (code->size)
		return code;
	/* In the address space that the next steps lead to. */
	for (i = expect->at; i < expect->loaded; i++) {
		record = &expect->record[i];
		if (!has_state(record))
			continue;
		code = pt_codes_find(&expect->codes, record->cr3, address);
		if (code->size)
			return code;
	}
	return NULL;
}
