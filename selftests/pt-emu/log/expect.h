/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a decoder should say, by the log: the steps that are in the context which
 * IA32_RTIT_CTL names. It knows privilege levels only, no filters of CR3 or addresses.
 */
#ifndef _PT_LOG_EXPECT_H
#define _PT_LOG_EXPECT_H

#include "code.h"
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
 * @to: likewise
 */
struct step {
	enum step_kind kind;
	enum pt_log_kind how;
	u64 from;
	u64 to;
};

/**
 * struct expect - a walk through a log
 * @record: its records
 * @records: how many
 * @at: the next one
 * @loaded: records whose code is in @codes
 * @codes: code, as it is when @at is executed
 * @ctl: IA32_RTIT_CTL, or 0 while TraceEn is 0
 * @now: the record whose state is current
 * @counts: records in context of each kind, so far
 */
struct expect {
	const struct pt_log_record *record;
	size_t records;
	size_t at;
	size_t loaded;
	struct pt_codes codes;
	u64 ctl;
	const struct pt_log_record *now;
	u64 counts[PT_LOG_CODE + 1];
};

void expect_open(struct expect *expect, const char *path, unsigned int *cpu);
bool expect_start(struct expect *expect, u64 tsc, u64 ip);
void expect_next(struct expect *expect, struct step *step);
const struct pt_code *expect_code(struct expect *expect, u64 address);
bool expect_is_stopped(struct expect *expect);

#endif /* _PT_LOG_EXPECT_H */
