// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report: a hash of rows, sorted when it is printed. Names of reasons and
 * classes are decode.c's.
 */
#include <stdlib.h>
#include "report.h"

#define FIRST_SLOTS	256	/* a power of two */

/* A free one has no count. */
struct row {
	__u64 code;
	__u64 count;
	__u64 total;
	__u64 min;
	__u64 max;
	__u32 vm;
	__u8 isa;
	__u8 class;
};

struct kvm_trace_report {
	struct row *rows;	/* a hash, at most half full */
	size_t slots;
	size_t used;
	struct row others;
};

struct kvm_trace_report *kvm_trace_report_new(void)
{
	struct kvm_trace_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->slots = FIRST_SLOTS;
	report->rows = calloc(report->slots, sizeof(*report->rows));
	if (report->rows)
		return report;
	free(report);
	return NULL;
}

static struct row *slot_of(struct row *rows, size_t slots, const struct row *key)
{
	__u64 hash = (key->code ^ (__u64)key->vm << 24 ^ (__u64)key->class << 16 ^
		      (__u64)key->isa << 56) * 0x9e3779b97f4a7c15ull;
	size_t i = hash >> 32 & (slots - 1);

	while (rows[i].count &&
	       (rows[i].code != key->code || rows[i].vm != key->vm ||
		rows[i].class != key->class || rows[i].isa != key->isa))
		i = (i + 1) & (slots - 1);
	return &rows[i];
}

static bool grow(struct kvm_trace_report *report)
{
	size_t i, slots = report->slots * 2;
	struct row *rows;

	if (report->used < report->slots / 2)
		return true;
	if (report->used == KVM_TRACE_REPORT_ROWS_MAX)
		return false;
	rows = calloc(slots, sizeof(*rows));
	if (!rows)
		return false;
	for (i = 0; i < report->slots; i++)
		if (report->rows[i].count)
			*slot_of(rows, slots, &report->rows[i]) = report->rows[i];
	free(report->rows);
	report->rows = rows;
	report->slots = slots;
	return true;
}

void kvm_trace_report_add(struct kvm_trace_report *report, const struct kvm_trace_vmexit *v,
			  const struct kvm_trace_batch_sum *sum)
{
	const struct row key = {
		.code = kvm_trace_vmexit_code(v),
		.vm = v->vm,
		.isa = v->isa,
		.class = v->class,
		.min = ~0ull,
	};
	struct row *row = slot_of(report->rows, report->slots, &key);

	if (!row->count) {
		if (grow(report)) {
			row = slot_of(report->rows, report->slots, &key);
			*row = key;
			report->used++;
		} else {
			row = &report->others;
			if (!row->count)
				row->min = ~0ull;
		}
	}
	row->count += sum->count;
	row->total += sum->total;
	if (sum->min < row->min)
		row->min = sum->min;
	if (sum->max > row->max)
		row->max = sum->max;
}

static int by_number(__u64 a, __u64 b)
{
	return (a > b) - (a < b);
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = by_number(x->vm, y->vm);

	if (!order)
		order = by_number(y->total, x->total);
	if (!order)
		order = by_number(y->count, x->count);
	if (!order)
		order = by_number(x->code, y->code);
	if (!order)
		order = by_number(x->class, y->class);
	return order ? order : by_number(x->isa, y->isa);
}

static void print_share(FILE *file, __u64 part, __u64 whole)
{
	unsigned int hundredths = whole ? ((__uint128_t)part * 10000 + whole / 2) / whole : 0;

	fprintf(file, " %3u.%02u%%", hundredths / 100, hundredths % 100);
}

static void print_time(FILE *file, __u64 ns)
{
	char text[32];

	kvm_trace_time_text(ns, text, sizeof(text));
	fprintf(file, " %10s", text);
}

static void print_numbers(FILE *file, const struct row *row, const struct row *whole)
{
	fprintf(file, " %11llu", row->count);
	print_share(file, row->count, whole->count);
	print_time(file, row->total);
	print_share(file, row->total, whole->total);
	print_time(file, row->count ? (row->total + row->count / 2) / row->count : 0);
	print_time(file, row->min);
	print_time(file, row->max);
	fputc('\n', file);
}

static void print_row(FILE *file, const struct row *row, __u32 pid, const struct row *whole)
{
	const char *class = kvm_trace_class_name(row->class);
	const char *reason;
	__u64 code = row->code;
	char number[24];

	if (row->isa == KVM_TRACE_ISA_VMX)
		code &= 0xffff;
	reason = kvm_trace_reason_name(row->isa, code);
	if (pid)
		fprintf(file, "%6u %7u", row->vm, pid);
	else
		fprintf(file, "%6u %7s", row->vm, "?");
	if (!class) {
		snprintf(number, sizeof(number), "%u", row->class);
		class = number;
	}
	fprintf(file, " %-15s", class);
	if (!reason || code != row->code) {
		snprintf(number, sizeof(number), "0x%llx", row->code);
		reason = number;
	}
	fprintf(file, " %-22s", reason);
	print_numbers(file, row, whole);
}

void kvm_trace_report_print(struct kvm_trace_report *report, const struct kvm_trace_vmms *vmms,
			    FILE *file)
{
	struct row whole = report->others;
	size_t i, n = 0;

	for (i = 0; i < report->slots; i++) {
		struct row *row = &report->rows[i];

		if (!row->count)
			continue;
		if (!whole.count || row->min < whole.min)
			whole.min = row->min;
		if (row->max > whole.max)
			whole.max = row->max;
		whole.count += row->count;
		whole.total += row->total;
		report->rows[n++] = *row;
	}
	qsort(report->rows, n, sizeof(*report->rows), compare);
	fprintf(file, "%6s %7s %-15s %-22s ", "VM", "PID", "CLASS", "REASON");
	fprintf(file, "%11s %7s %10s %7s %10s %10s %10s\n", "COUNT", "COUNT%", "TOTAL", "TIME%",
		"MEAN", "MIN", "MAX");
	for (i = 0; i < n; i++)
		print_row(file, &report->rows[i],
			  kvm_trace_vmms_pid(vmms, report->rows[i].vm), &whole);
	if (report->others.count) {
		fprintf(file, "%6s %7s %-15s %-22s", "", "", "", "others");
		print_numbers(file, &report->others, &whole);
	}
	fprintf(file, "%6s %7s %-15s %-22s", "all", "", "", "");
	print_numbers(file, &whole, &whole);
}

void kvm_trace_report_free(struct kvm_trace_report *report)
{
	if (report)
		free(report->rows);
	free(report);
}
