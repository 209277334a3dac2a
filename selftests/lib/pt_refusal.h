/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each refusal of kvm_pt must be: its errno, a line in the kernel log, a record of
 * kvm_trace_detail:pt, and no MSR of Intel PT that was written meanwhile.
 */
#ifndef _SELFTESTS_PT_REFUSAL_H
#define _SELFTESTS_PT_REFUSAL_H

#include <stddef.h>

#include <linux/kvm_trace.h>

#include "types.h"

void pt_refusals_watch(const char *times);
void pt_refusals_end(void);
void pt_watch(void);
void pt_expect_refused(int err, int expected, enum kvm_trace_pt_why why, const char *words);
u16 pt_told_config(void);
void pt_expect_noted(enum kvm_trace_pt_why why);
void pt_expect_untouched(void);
size_t pt_written(void);

#endif /* _SELFTESTS_PT_REFUSAL_H */
