// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of a report, in a hash. What their keys are is keys.c's, and their sums
 * are times.c's.
 */
#include <stdlib.h>
#include <string.h>
#include "array_size.h"
#include "report.h"

#define FIRST_SLOTS	256	/* a power of two */

static bool has_key(const struct kvm_trace_report *report, enum kvm_trace_key_kind kind)
{
	return report->by & 1u << kind;
}

struct kvm_trace_report *kvm_trace_report_new(unsigned int by)
{
	struct kvm_trace_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->by = by;
	report->slots = FIRST_SLOTS;
	report->rows = calloc(report->slots, sizeof(*report->rows));
	if (report->rows)
		return report;
	free(report);
	return NULL;
}

static __u64 hash_of(const struct kvm_trace_key *key)
{
	__u64 words[sizeof(*key) / sizeof(__u64)], hash = 0;
	size_t i;

	memcpy(words, key, sizeof(words));
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	return hash;
}

static struct kvm_trace_row *slot_of(struct kvm_trace_row *rows, size_t slots,
				     const struct kvm_trace_key *key)
{
	size_t i = hash_of(key) & (slots - 1);

	while (rows[i].times && memcmp(&rows[i].key, key, sizeof(*key)))
		i = (i + 1) & (slots - 1);
	return &rows[i];
}

/* Room for one more row; false if there is none. */
static bool grow(struct kvm_trace_report *report)
{
	size_t i, slots = report->slots * 2;
	struct kvm_trace_row *rows;

	if (report->used == KVM_TRACE_REPORT_ROWS_MAX)
		return false;
	if (report->used < report->slots / 2)
		return true;
	rows = calloc(slots, sizeof(*rows));
	if (!rows)
		return false;
	for (i = 0; i < report->slots; i++)
		if (report->rows[i].times)
			*slot_of(rows, slots, &report->rows[i].key) = report->rows[i];
	free(report->rows);
	report->rows = rows;
	report->slots = slots;
	return true;
}

static struct kvm_trace_times *place_of(struct kvm_trace_report *report,
					const struct kvm_trace_vmexit *v, __u64 hypercall)
{
	struct kvm_trace_key key;
	struct kvm_trace_row *row;

	if (!kvm_trace_key_of(&key, report->by, v, hypercall))
		return &report->none;
	row = slot_of(report->rows, report->slots, &key);
	if (row->times)
		return row->times;
	if (!grow(report))
		return &report->others;
	row = slot_of(report->rows, report->slots, &key);
	row->times = calloc(1, sizeof(*row->times));
	if (!row->times)
		return &report->others;
	row->key = key;
	report->used++;
	return row->times;
}

struct kvm_trace_times *kvm_trace_report_place(struct kvm_trace_report *report,
					       const struct kvm_trace_vmexit *v)
{
	return place_of(report, v, 0);
}

static __u64 word_of(const struct kvm_trace_hypercall *h)
{
	return (__u64)h->abi << KVM_TRACE_HYPERCALL_ABI_SHIFT | (__u32)h->nr;
}

/* A hypercall without its round trip: it has its time itself, if anything. */
void kvm_trace_report_finish(struct kvm_trace_report *report)
{
	const struct kvm_trace_hypercall *h = &report->call;
	const struct kvm_trace_vmexit v = {
		.vm = h->vm, .vcpu = h->vcpu, .class = KVM_TRACE_CLASS_hypercall,
		.reason = KVM_TRACE_REASON_NONE, .rip = h->rip,
		.have = h->have & KVM_TRACE_HC_W_RIP ? KVM_TRACE_W_RIP : 0,
	};

	if (report->has_call)
		kvm_trace_times_add(place_of(report, &v, word_of(h)), h->ns);
	report->has_call = false;
}

static void add_round_trip(struct kvm_trace_report *report, const struct kvm_trace_item *item)
{
	const struct kvm_trace_hypercall *h = &report->call;
	const struct kvm_trace_vmexit *v = item->vmexit;
	struct kvm_trace_times *times;
	__u64 hypercall = 0;

	if (report->has_call && h->vm == v->vm && h->vcpu == v->vcpu && h->seq == v->seq) {
		hypercall = word_of(h);
		report->has_call = false;
	}
	kvm_trace_report_finish(report);
	times = place_of(report, v, hypercall);
	kvm_trace_times_add(times, v->host_ns);
	kvm_trace_times_add_parts(times, v);
	if (item->guest_known)
		kvm_trace_times_add_guest(times, item->guest_ns);
}

void kvm_trace_report_add(struct kvm_trace_report *report, const struct kvm_trace_item *item)
{
	if (item->kind == KVM_TRACE_KIND_VMEXIT) {
		add_round_trip(report, item);
	} else if (item->kind == KVM_TRACE_KIND_HYPERCALL &&
		   has_key(report, KVM_TRACE_KEY_hypercall)) {
		kvm_trace_report_finish(report);
		report->call = *item->hypercall;
		report->has_call = true;
	}
}

void kvm_trace_report_clear(struct kvm_trace_report *report)
{
	size_t i;

	for (i = 0; i < report->slots; i++)
		free(report->rows[i].times);
	memset(report->rows, 0, report->slots * sizeof(*report->rows));
	memset(&report->others, 0, sizeof(report->others));
	memset(&report->none, 0, sizeof(report->none));
	report->used = 0;
}

void kvm_trace_report_free(struct kvm_trace_report *report)
{
	if (!report)
		return;
	kvm_trace_report_clear(report);
	free(report->rows);
	free(report);
}
