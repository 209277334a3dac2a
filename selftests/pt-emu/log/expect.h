/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a decoder should say, by the log: the steps that are in the context which
 * IA32_RTIT_CTL names and pass its filters of CR3 and addresses.
 */
#ifndef _PT_LOG_EXPECT_H
#define _PT_LOG_EXPECT_H

#include "code.h"
#include "sections.h"
#include "types.h"

/**
 * enum step_kind - what a decoder sees of a record
 * @STEP_END: nothing more
 * @STEP_ENABLED: tracing begins, at to
 * @STEP_BRANCH: an instruction branches
 * @STEP_EVENT: the flow is interrupted at from
 * @STEP_BRANCH_OUT: an instruction branches out of the context
 * @STEP_EVENT_OUT: the flow ends at from, without a branch
 */
enum step_kind {
	STEP_END,
	STEP_ENABLED,
	STEP_BRANCH,
	STEP_EVENT,
	STEP_BRANCH_OUT,
	STEP_EVENT_OUT,
};

/**
 * struct step - one of them
 * @kind: an &enum step_kind
 * @how: STEP_BRANCH, STEP_BRANCH_OUT: an &enum pt_log_kind
 * @from: linear address, 0 if @kind has none
 * @to: likewise; of a STEP_BRANCH_OUT or STEP_EVENT_OUT only if a filter of addresses ends
 *	the flow, and no conditional branch
 */
struct step {
	enum step_kind kind;
	enum pt_log_kind how;
	u64 from;
	u64 to;
};

#define EXPECT_RANGES	4

/**
 * struct place - where a walk through a log is
 * @ctl: IA32_RTIT_CTL, or 0 while TraceEn is 0
 * @cr3_match: IA32_RTIT_CR3_MATCH
 * @addr: IA32_RTIT_ADDR0_A and so on
 * @filter: FilterEn
 * @stopped: IA32_RTIT_STATUS has Stopped or Error
 * @now: the record whose state is current
 */
struct place {
	u64 ctl;
	u64 cr3_match;
	u64 addr[2 * EXPECT_RANGES];
	bool filter;
	bool stopped;
	const struct pt_log_record *now;
};

/**
 * struct expect - a walk through a log
 * @record: its records
 * @records: how many
 * @at: the next one
 * @loaded: records whose code is in @codes
 * @codes: code, as it is when @at is executed
 * @place: where it is
 * @counts: records in context of each kind, so far
 * @steps: of them, those that lead to the host, and to a guest
 */
struct expect {
	const struct pt_log_record *record;
	size_t records;
	size_t at;
	size_t loaded;
	struct pt_codes codes;
	struct place place;
	u64 counts[PT_LOG_MSR + 1];
	u64 steps[2];
};

void expect_open(struct expect *expect, const struct log_file *log);
bool expect_start(struct expect *expect, u64 tsc, u64 ip);
void expect_next(struct expect *expect, struct step *step);
const struct pt_code *expect_code(struct expect *expect, u64 address);
bool expect_is_stopped(struct expect *expect);

#endif /* _PT_LOG_EXPECT_H */
