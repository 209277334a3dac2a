// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorts the rows of a report and prints them. What they count is report.c's.
 */
#include <stdlib.h>
#include <string.h>
#include "report_text.h"

#define NAME_WIDTH	-16
#define CELL	128	/* a column's text is shorter */
#define HOST_PARTS	(KVM_TRACE_W_USER_NS | KVM_TRACE_W_HALT_NS)

/* A row and what it is sorted by. */
struct line {
	const struct kvm_trace_row *row;
	__u64 value;
};

/*
 * @lines: rows that are printed, and how many
 * @others: those that are not
 * @none: round trips that lack a key
 * @all: all of them
 */
struct sorted {
	struct line *lines;
	size_t n;
	struct kvm_trace_times others;
	const struct kvm_trace_times *none;
	struct kvm_trace_times all;
};

static __u64 mean_of(const struct kvm_trace_times *t)
{
	return t->count ? (t->host + t->count / 2) / t->count : 0;
}

static __u64 value_of(const struct kvm_trace_times *t, enum kvm_trace_column column)
{
	switch (column) {
	case KVM_TRACE_COLUMN_count:
		return t->count;
	case KVM_TRACE_COLUMN_mean:
		return mean_of(t);
	case KVM_TRACE_COLUMN_min:
		return t->min;
	case KVM_TRACE_COLUMN_p50:
		return kvm_trace_times_quantile(t, 50);
	case KVM_TRACE_COLUMN_p99:
		return kvm_trace_times_quantile(t, 99);
	case KVM_TRACE_COLUMN_max:
		return t->max;
	case KVM_TRACE_COLUMN_handling:
		return kvm_trace_times_handling(t);
	case KVM_TRACE_COLUMN_user:
		return t->user;
	case KVM_TRACE_COLUMN_halted:
		return t->halt;
	case KVM_TRACE_COLUMN_runnable:
		return t->runnable;
	case KVM_TRACE_COLUMN_guest:
		return t->guest;
	case KVM_TRACE_COLUMN_NONE:
	case KVM_TRACE_COLUMN_total:
		break;
	}
	return t->host;
}

static int by_number(__u64 a, __u64 b)
{
	return (a > b) - (a < b);
}

/* The largest first; the rest is there so that the order is always the same. */
static int by_value(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = by_number(y->value, x->value);

	if (!order)
		order = by_number(y->row->times->count, x->row->times->count);
	return order ? order : memcmp(&x->row->key, &y->row->key, sizeof(x->row->key));
}

static int by_vm(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = by_number(x->row->key.vm, y->row->key.vm);

	return order ? order : by_value(a, b);
}

static bool sort_rows(const struct kvm_trace_report_of *of, struct sorted *s)
{
	const struct kvm_trace_report *report = of->report;
	size_t i;

	s->n = 0;
	s->others = report->others;
	s->none = &report->none;
	s->all = report->others;
	kvm_trace_times_merge(&s->all, s->none);
	s->lines = calloc(report->used + 1, sizeof(*s->lines));
	if (!s->lines)
		return false;
	for (i = 0; i < report->slots; i++) {
		const struct kvm_trace_times *times = report->rows[i].times;

		if (!times || !times->count)
			continue;
		s->lines[s->n++] = (struct line){ &report->rows[i],
						  value_of(times, of->options->sort) };
		kvm_trace_times_merge(&s->all, times);
	}
	qsort(s->lines, s->n, sizeof(*s->lines), of->options->sort ? by_value : by_vm);
	for (; of->options->rows && s->n > of->options->rows; s->n--)
		kvm_trace_times_merge(&s->others, s->lines[s->n - 1].row->times);
	return true;
}

/* The number of round trips a second, times @unit. */
static __u64 rate_of(const struct kvm_trace_report_of *of, const struct kvm_trace_times *t,
		     unsigned int unit)
{
	__uint128_t n = (__uint128_t)t->count * 1000000000 * unit;

	return of->ns ? (n + of->ns / 2) / of->ns : 0;
}

/* A part of a whole, in hundredths of a percent. */
static __u64 share_of(__u64 part, __u64 whole)
{
	return whole ? ((__uint128_t)part * 10000 + whole / 2) / whole : 0;
}

/* The table */

static void put_cell(struct kvm_trace_out *out, int width, const char *text)
{
	int len = snprintf(kvm_trace_out_room(out), CELL, "%*s ", width, text);

	out->len += len < CELL ? len : CELL - 1;
}

static void put_time(struct kvm_trace_out *out, __u64 ns)
{
	char text[32];

	kvm_trace_time_text(ns, text, sizeof(text));
	put_cell(out, 10, text);
}

static void put_share(struct kvm_trace_out *out, __u64 part, __u64 whole)
{
	__u64 share = share_of(part, whole);
	char text[32];

	snprintf(text, sizeof(text), "%llu.%02llu%%", share / 100, share % 100);
	put_cell(out, 7, text);
}

static void end_line(struct kvm_trace_out *out)
{
	while (out->len && out->bytes[out->len - 1] == ' ')
		out->len--;
	kvm_trace_out_char(out, '\n');
}

static void put_numbers(const struct kvm_trace_report_of *of, struct kvm_trace_out *out,
			const struct kvm_trace_times *t, const struct kvm_trace_times *all)
{
	__u64 rate = rate_of(of, t, 10);
	char text[32];

	snprintf(text, sizeof(text), "%llu", t->count);
	put_cell(out, 11, text);
	put_share(out, t->count, all->count);
	snprintf(text, sizeof(text), "%llu.%llu", rate / 10, rate % 10);
	put_cell(out, 10, text);
	put_time(out, t->host);
	put_share(out, t->host, all->host);
	put_time(out, mean_of(t));
	put_time(out, t->min);
	put_time(out, kvm_trace_times_quantile(t, 50));
	put_time(out, kvm_trace_times_quantile(t, 99));
	put_time(out, t->max);
	if (all->have & HOST_PARTS)
		put_time(out, kvm_trace_times_handling(t));
	if (all->have & KVM_TRACE_W_USER_NS)
		put_time(out, t->user);
	if (all->have & KVM_TRACE_W_HALT_NS)
		put_time(out, t->halt);
	if (all->have & KVM_TRACE_W_RUNNABLE_NS)
		put_time(out, t->runnable);
	if (all->have & KVM_TRACE_W_GUEST_NS)
		put_time(out, t->guest);
	end_line(out);
}

static void put_head(const struct kvm_trace_report_of *of, struct kvm_trace_out *out, __u64 have)
{
	enum kvm_trace_key_kind kind;
	char text[CELL];
	size_t i;

	for (kind = 0; kind < KVM_TRACE_KEY_COUNT; kind++) {
		if (!(of->report->by & 1u << kind))
			continue;
		snprintf(text, sizeof(text), "%s", kvm_trace_key_name(kind));
		for (i = 0; text[i]; i++)
			text[i] -= 'a' - 'A';
		put_cell(out, kvm_trace_key_width(kind), text);
		if (kind != KVM_TRACE_KEY_vm)
			continue;
		put_cell(out, 7, "PID");
		if (of->options->names)
			put_cell(out, NAME_WIDTH, "NAME");
	}
	put_cell(out, 11, "COUNT");
	put_cell(out, 7, "COUNT%");
	put_cell(out, 10, "RATE/s");
	put_cell(out, 10, "TOTAL");
	put_cell(out, 7, "TIME%");
	put_cell(out, 10, "MEAN");
	put_cell(out, 10, "MIN");
	put_cell(out, 10, "P50");
	put_cell(out, 10, "P99");
	put_cell(out, 10, "MAX");
	if (have & HOST_PARTS)
		put_cell(out, 10, "HANDLING");
	if (have & KVM_TRACE_W_USER_NS)
		put_cell(out, 10, "USER");
	if (have & KVM_TRACE_W_HALT_NS)
		put_cell(out, 10, "HALTED");
	if (have & KVM_TRACE_W_RUNNABLE_NS)
		put_cell(out, 10, "RUNNABLE");
	if (have & KVM_TRACE_W_GUEST_NS)
		put_cell(out, 10, "GUEST");
	end_line(out);
}

/* Whose VM it is, of all VMs nobody's. */
static void put_whose(const struct kvm_trace_report_of *of, struct kvm_trace_out *out,
		      const struct kvm_trace_key *key)
{
	__u32 pid = key ? kvm_trace_vmms_pid(of->vmms, key->vm) : 0;
	const char *name = kvm_trace_names_of(of->names, pid);
	char text[16];

	snprintf(text, sizeof(text), "%u", pid);
	put_cell(out, 7, pid ? text : key ? "?" : "");
	if (of->options->names)
		put_cell(out, NAME_WIDTH, name ? name : key ? "?" : "");
}

/* @label stands in the first of them, if there is no @key. */
static void put_keys(const struct kvm_trace_report_of *of, struct kvm_trace_out *out,
		     const struct kvm_trace_key *key, const char *label)
{
	enum kvm_trace_key_kind kind;
	char text[KVM_TRACE_KEY_TEXT];

	for (kind = 0; kind < KVM_TRACE_KEY_COUNT; kind++) {
		if (!(of->report->by & 1u << kind))
			continue;
		if (key)
			kvm_trace_key_text(key, kind, text);
		put_cell(out, kvm_trace_key_width(kind), key ? text : label);
		label = "";
		if (kind == KVM_TRACE_KEY_vm)
			put_whose(of, out, key);
	}
}

static void put_table(const struct kvm_trace_report_of *of, const struct sorted *s,
		      struct kvm_trace_out *out)
{
	size_t i;

	put_head(of, out, s->all.have);
	for (i = 0; i < s->n; i++) {
		put_keys(of, out, &s->lines[i].row->key, "");
		put_numbers(of, out, s->lines[i].row->times, &s->all);
	}
	if (s->others.count) {
		put_keys(of, out, NULL, "others");
		put_numbers(of, out, &s->others, &s->all);
	}
	if (s->none->count) {
		put_keys(of, out, NULL, "none");
		put_numbers(of, out, s->none, &s->all);
	}
	put_keys(of, out, NULL, "all");
	put_numbers(of, out, &s->all, &s->all);
	if (of->options->every)
		kvm_trace_out_char(out, '\n');
}

/* JSON */

static void put_member(struct kvm_trace_out *out, const char *name, __u64 value)
{
	kvm_trace_out_string(out, name);
	kvm_trace_out_number(out, value, 1);
}

/* Null if no record told it. */
static void put_part(struct kvm_trace_out *out, const char *name, bool known, __u64 ns)
{
	kvm_trace_out_string(out, name);
	if (known)
		kvm_trace_out_number(out, ns, 1);
	else
		kvm_trace_out_string(out, "null");
}

static void put_json_numbers(const struct kvm_trace_report_of *of, struct kvm_trace_out *out,
			     const struct kvm_trace_times *t, const struct kvm_trace_times *all)
{
	__u64 share = share_of(t->host, all->host);

	put_member(out, "\"count\":", t->count);
	kvm_trace_out_string(out, ",\"rate\":");
	kvm_trace_out_fixed(out, rate_of(of, t, 1000));
	put_member(out, ",\"time_percent\":", share / 100);
	kvm_trace_out_char(out, '.');
	kvm_trace_out_number(out, share % 100, 2);
	put_member(out, ",\"host_ns\":{\"total\":", t->host);
	put_member(out, ",\"mean\":", mean_of(t));
	put_member(out, ",\"min\":", t->min);
	put_member(out, ",\"p50\":", kvm_trace_times_quantile(t, 50));
	put_member(out, ",\"p99\":", kvm_trace_times_quantile(t, 99));
	put_member(out, ",\"max\":", t->max);
	put_part(out, "},\"handling_ns\":", all->have & HOST_PARTS, kvm_trace_times_handling(t));
	put_part(out, ",\"user_ns\":", all->have & KVM_TRACE_W_USER_NS, t->user);
	put_part(out, ",\"halted_ns\":", all->have & KVM_TRACE_W_HALT_NS, t->halt);
	put_part(out, ",\"runnable_ns\":", all->have & KVM_TRACE_W_RUNNABLE_NS, t->runnable);
	put_part(out, ",\"guest_ns\":", all->have & KVM_TRACE_W_GUEST_NS, t->guest);
	kvm_trace_out_char(out, '}');
}

static void put_json_row(const struct kvm_trace_report_of *of, struct kvm_trace_out *out,
			 const struct kvm_trace_row *row, const struct kvm_trace_times *all)
{
	enum kvm_trace_key_kind kind;
	char text[KVM_TRACE_KEY_TEXT];
	const char *name;
	__u32 pid;

	kvm_trace_out_char(out, '{');
	for (kind = 0; kind < KVM_TRACE_KEY_COUNT; kind++) {
		if (!(of->report->by & 1u << kind))
			continue;
		kvm_trace_key_text(&row->key, kind, text);
		kvm_trace_out_char(out, '"');
		kvm_trace_out_string(out, kvm_trace_key_name(kind));
		kvm_trace_out_string(out, "\":");
		if (kind == KVM_TRACE_KEY_vm || kind == KVM_TRACE_KEY_vcpu)
			kvm_trace_out_string(out, text);
		else
			kvm_trace_out_json(out, text, strlen(text));
		kvm_trace_out_char(out, ',');
		if (kind != KVM_TRACE_KEY_vm)
			continue;
		pid = kvm_trace_vmms_pid(of->vmms, row->key.vm);
		put_part(out, "\"pid\":", pid, pid);
		kvm_trace_out_char(out, ',');
		name = kvm_trace_names_of(of->names, pid);
		if (!name)
			continue;
		kvm_trace_out_string(out, "\"name\":");
		kvm_trace_out_json(out, name, strlen(name));
		kvm_trace_out_char(out, ',');
	}
	put_json_numbers(of, out, row->times, all);
}

static void put_json_losses(const struct kvm_trace_order_counts *c, struct kvm_trace_out *out)
{
	put_member(out, "\"losses\":{\"round_trips\":", c->missing);
	put_member(out, ",\"gaps\":", c->gaps);
	put_member(out, ",\"exits_without_record\":", c->lost);
	put_member(out, ",\"batches\":", c->damaged[KVM_TRACE_BATCH_OK] +
		   c->damaged[KVM_TRACE_BATCH_TRUNCATED] + c->damaged[KVM_TRACE_BATCH_CHECK]);
	put_member(out, ",\"unknown_items\":", c->unknown);
	put_member(out, ",\"short_events\":", c->too_short);
	put_member(out, ",\"counter_went_back\":", c->back);
	put_member(out, ",\"late\":", c->late);
	put_member(out, ",\"left_out\":", c->left_out);
	kvm_trace_out_string(out, c->hurried ? ",\"hurried\":true}" : ",\"hurried\":false}");
}

static void put_json(const struct kvm_trace_report_of *of, const struct sorted *s,
		     struct kvm_trace_out *out)
{
	enum kvm_trace_key_kind kind;
	const char *comma = "";
	size_t i;

	kvm_trace_out_char(out, '{');
	put_json_losses(of->counts, out);
	put_member(out, ",\n\"ns\":", of->ns);
	kvm_trace_out_string(out, ",\n\"by\":[");
	for (kind = 0; kind < KVM_TRACE_KEY_COUNT; kind++) {
		if (!(of->report->by & 1u << kind))
			continue;
		kvm_trace_out_string(out, comma);
		kvm_trace_out_json(out, kvm_trace_key_name(kind),
				   strlen(kvm_trace_key_name(kind)));
		comma = ",";
	}
	kvm_trace_out_string(out, "],\n\"rows\":[");
	for (i = 0; i < s->n; i++) {
		kvm_trace_out_string(out, i ? ",\n" : "\n");
		put_json_row(of, out, s->lines[i].row, &s->all);
	}
	kvm_trace_out_string(out, "\n],\n\"others\":{");
	put_json_numbers(of, out, &s->others, &s->all);
	kvm_trace_out_string(out, ",\n\"none\":{");
	put_json_numbers(of, out, s->none, &s->all);
	kvm_trace_out_string(out, ",\n\"all\":{");
	put_json_numbers(of, out, &s->all, &s->all);
	kvm_trace_out_string(out, "}\n");
	if (of->options->every)
		kvm_trace_out_char(out, '\n');
}

bool kvm_trace_report_print(const struct kvm_trace_report_of *of, struct kvm_trace_out *out)
{
	struct sorted s;

	if (!sort_rows(of, &s))
		return false;
	if (of->options->json)
		put_json(of, &s, out);
	else
		put_table(of, &s, out);
	free(s.lines);
	kvm_trace_out_flush(out);
	return true;
}
