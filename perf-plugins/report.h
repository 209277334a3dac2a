/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report: round trips counted and timed by their keys. It knows nothing of perf,
 * and what it looks like is report_text.c's.
 */
#ifndef _KVM_TRACE_REPORT_H
#define _KVM_TRACE_REPORT_H

#include "keys.h"
#include "order.h"
#include "times.h"

/* Most rows, each of about 2.5 KiB; what belongs to none of them is in a last one. */
#define KVM_TRACE_REPORT_ROWS_MAX	(1u << 16)

/**
 * struct kvm_trace_row - a row
 * @key: what its round trips have in common
 * @times: theirs; NULL in a free slot
 */
struct kvm_trace_row {
	struct kvm_trace_key key;
	struct kvm_trace_times *times;
};

/**
 * struct kvm_trace_report - a report
 * @by: keys, bits of enum kvm_trace_key_kind
 * @rows: a hash, at most half full
 * @slots: its size, a power of two
 * @used: rows in it
 * @others: of round trips beyond KVM_TRACE_REPORT_ROWS_MAX
 * @none: of round trips that lack a key
 * @call: a hypercall whose round trip has not come yet, if @has_call
 * @has_call: there is one
 */
struct kvm_trace_report {
	unsigned int by;
	struct kvm_trace_row *rows;
	size_t slots;
	size_t used;
	struct kvm_trace_times others;
	struct kvm_trace_times none;
	struct kvm_trace_hypercall call;
	bool has_call;
};

/**
 * kvm_trace_report_new() - make an empty report
 * @by: keys, bits of enum kvm_trace_key_kind
 *
 * Return: the report, or NULL without memory for it.
 */
struct kvm_trace_report *kvm_trace_report_new(unsigned int by);

/**
 * kvm_trace_report_place() - where round trips are to be summed up
 * @report: the report
 * @v: one of them
 *
 * Return: the place, for as long as the report is not emptied
 */
struct kvm_trace_times *kvm_trace_report_place(struct kvm_trace_report *report,
					       const struct kvm_trace_vmexit *v);

/**
 * kvm_trace_report_add() - count a record
 * @report: the report
 * @item: the record; only round trips count, and hypercalls if they are a key
 */
void kvm_trace_report_add(struct kvm_trace_report *report, const struct kvm_trace_item *item);

/**
 * kvm_trace_report_finish() - count what waits for more records
 * @report: the report
 */
void kvm_trace_report_finish(struct kvm_trace_report *report);

/**
 * kvm_trace_report_clear() - empty a report
 * @report: the report
 */
void kvm_trace_report_clear(struct kvm_trace_report *report);

/**
 * kvm_trace_report_free() - free a report
 * @report: the report, or NULL
 */
void kvm_trace_report_free(struct kvm_trace_report *report);

#endif /* _KVM_TRACE_REPORT_H */
