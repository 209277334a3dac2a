// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvm-trace.so, a filter for perf script --dlfilter: prints the records of single
 * events and of batches as lines in order of time, or a report of them. This is
 * perf's side: samples in, lines and messages out. The order is order.c's, the
 * text decode.c's, the table report.c's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include <perf/perf_dlfilter.h>
#include "order.h"
#include "report.h"
#include "vmms.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define EXPORT		__attribute__((visibility("default")))
#define NAME		"kvm-trace: "
/* Room for a line: time, name and text. */
#define LINE_MAX	(KVM_TRACE_TEXT_SIZE + 128)

EXPORT struct perf_dlfilter_fns perf_dlfilter_fns;

/*
 * @report: NULL if lines are wanted
 * @failed: a message has said why, and nothing more is done
 * @ours: samples of our events
 * @others: samples of others
 * @out: lines that are not written yet, of @len bytes
 */
struct filter {
	struct kvm_trace_order *order;
	struct kvm_trace_vmms vmms;
	struct kvm_trace_report *report;
	bool only_single;
	bool only_batch;
	bool failed;
	__u64 ours;
	__u64 others;
	size_t len;
	char out[1 << 16];
};

/* Names of events, by enum kvm_trace_kind. */
static const char *const events[] = {
	[KVM_TRACE_KIND_VMEXIT] = "kvm_trace:vmexit",
	[KVM_TRACE_KIND_HYPERCALL] = "kvm_trace:hypercall",
	[KVM_TRACE_KIND_VCPU] = "kvm_trace:vcpu",
	[KVM_TRACE_KIND_LOST] = "kvm_trace:lost",
	[KVM_TRACE_KIND_HYPERCALL_SUB] = "kvm_trace_detail:hypercall_sub",
	[KVM_TRACE_KIND_BATCH] = "kvm_trace_batch:vmexits",
};

static void complain(struct filter *f, const char *what, const char *remedy)
{
	if (!f->failed)
		fprintf(stderr, NAME "%s: %s\n", what, remedy);
	f->failed = true;
}

static void complain_of_version(struct filter *f, const char *what, unsigned int known)
{
	char text[128];

	snprintf(text, sizeof(text), "%s of version %u, only %u is known here", what,
		 kvm_trace_order_version(f->order), known);
	complain(f, text, "use the kvm-trace.so of the kvm_trace that made them");
}

static void write_out(struct filter *f)
{
	if (fwrite(f->out, 1, f->len, stdout) != f->len)
		complain(f, "output cannot be written", "is there no space left?");
	f->len = 0;
}

static void put_string(struct filter *f, const char *text)
{
	size_t len = strlen(text);

	memcpy(f->out + f->len, text, len);
	f->len += len;
}

static void put_digits(struct filter *f, __u64 number, unsigned int digits)
{
	char text[20];
	unsigned int n = 0;

	do {
		text[n++] = '0' + number % 10;
		number /= 10;
	} while (number || n < digits);
	while (n)
		f->out[f->len++] = text[--n];
}

static size_t text_of(const struct filter *f, const struct kvm_trace_item *item, char *buf)
{
	const struct kvm_trace_vmms *vmms = &f->vmms;
	struct kvm_trace_vmexit v;

	switch (item->kind) {
	case KVM_TRACE_KIND_VMEXIT:
		/* The line begins with that time. */
		v = *item->vmexit;
		v.have &= ~KVM_TRACE_W_ENTRY_NS;
		return kvm_trace_vmexit_text(&v, kvm_trace_vmms_pid(vmms, v.vm), buf,
					     KVM_TRACE_TEXT_SIZE);
	case KVM_TRACE_KIND_HYPERCALL:
		return kvm_trace_hypercall_text(item->hypercall,
						kvm_trace_vmms_pid(vmms, item->hypercall->vm), buf,
						KVM_TRACE_TEXT_SIZE);
	case KVM_TRACE_KIND_VCPU:
		return kvm_trace_vcpu_text(item->vcpu, buf, KVM_TRACE_TEXT_SIZE);
	case KVM_TRACE_KIND_LOST:
		return kvm_trace_lost_text(item->lost, kvm_trace_vmms_pid(vmms, item->lost->vm),
					   buf, KVM_TRACE_TEXT_SIZE);
	case KVM_TRACE_KIND_HYPERCALL_SUB:
		return kvm_trace_hypercall_sub_text(item->sub,
						    kvm_trace_vmms_pid(vmms, item->sub->vm), buf,
						    KVM_TRACE_TEXT_SIZE);
	default:
		return 0;
	}
}

static void print_line(struct filter *f, const struct kvm_trace_item *item)
{
	if (f->len > sizeof(f->out) - LINE_MAX)
		write_out(f);
	put_digits(f, item->ns / 1000000000, 1);
	f->out[f->len++] = '.';
	put_digits(f, item->ns % 1000000000, 9);
	put_string(f, ": ");
	put_string(f, events[item->kind]);
	put_string(f, ": ");
	f->len += text_of(f, item, f->out + f->len);
	f->out[f->len++] = '\n';
}

static void take(void *data, const struct kvm_trace_item *item)
{
	struct filter *f = data;

	if (item->kind == KVM_TRACE_KIND_VCPU)
		kvm_trace_vmms_add(&f->vmms, item->vcpu->vm, item->vcpu->vmm_pid);
	print_line(f, item);
}

/* For the report. */
static void take_sum(void *data, const struct kvm_trace_vmexit *v,
		     const struct kvm_trace_batch_sum *sum)
{
	struct filter *f = data;

	kvm_trace_report_add(f->report, v, sum);
}

static void take_for_report(void *data, const struct kvm_trace_item *item)
{
	struct filter *f = data;
	__u64 ns;

	if (item->kind == KVM_TRACE_KIND_VCPU)
		kvm_trace_vmms_add(&f->vmms, item->vcpu->vm, item->vcpu->vmm_pid);
	if (item->kind != KVM_TRACE_KIND_VMEXIT)
		return;
	ns = item->vmexit->host_ns;
	take_sum(f, item->vmexit, &(struct kvm_trace_batch_sum){ 1, ns, ns, ns });
}

/* Says it, too, if something is refused. */
static int status_of(struct filter *f, enum kvm_trace_refusal refusal)
{
	switch (refusal) {
	case KVM_TRACE_REFUSAL_NONE:
		break;
	case KVM_TRACE_REFUSAL_ABI:
		complain_of_version(f, "records", KVM_TRACE_ABI_VERSION);
		break;
	case KVM_TRACE_REFUSAL_BATCH:
		complain_of_version(f, "batches", KVM_TRACE_BATCH_VERSION);
		break;
	case KVM_TRACE_REFUSAL_MEMORY:
		complain(f, "no memory for records", "use --time on a part of the recording");
		break;
	}
	return f->failed ? -EINVAL : 0;
}

static void parse(struct filter *f, int argc, char **argv)
{
	char text[128];

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "report")) {
			if (!f->report)
				f->report = kvm_trace_report_new();
			if (!f->report)
				complain(f, "no memory for a report", "end other programs");
		} else if (!strcmp(*argv, "single")) {
			f->only_single = true;
		} else if (!strcmp(*argv, "batch")) {
			f->only_batch = true;
		} else {
			snprintf(text, sizeof(text), "--dlarg %s", *argv);
			complain(f, text, "give report, single or batch");
		}
	}
	if (f->only_single && f->only_batch)
		complain(f, "single and batch leave nothing", "give one of them, or none");
}

static void discard(struct filter *f)
{
	kvm_trace_order_free(f->order);
	kvm_trace_report_free(f->report);
	kvm_trace_vmms_free(&f->vmms);
	free(f);
}

EXPORT int start(void **data, void *ctx)
{
	struct filter *f = calloc(1, sizeof(*f));
	char **argv;
	int argc = 0;

	*data = NULL;
	if (!f) {
		fputs(NAME "no memory: end other programs\n", stderr);
		return -ENOMEM;
	}
	argv = perf_dlfilter_fns.args(ctx, &argc);
	parse(f, argc, argv);
	f->order = f->report ? kvm_trace_order_new(take_for_report, take_sum, f) :
			       kvm_trace_order_new(take, NULL, f);
	if (!f->order)
		complain(f, "no memory", "end other programs");
	if (f->failed) {
		discard(f);
		return -EINVAL;
	}
	*data = f;
	return 0;
}

/* A name may have modifiers behind it, as "kvm_trace:vmexit:k". */
static bool find_kind(const char *name, enum kvm_trace_kind *kind)
{
	size_t i, len;

	if (!name)
		return false;
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		len = strlen(events[i]);
		if (!strncmp(name, events[i], len) && (!name[len] || name[len] == ':')) {
			*kind = i;
			return true;
		}
	}
	return false;
}

static bool is_wanted(const struct filter *f, enum kvm_trace_kind kind)
{
	switch (kind) {
	case KVM_TRACE_KIND_VMEXIT:
	case KVM_TRACE_KIND_HYPERCALL:
	case KVM_TRACE_KIND_VCPU:
		return !f->only_batch;
	case KVM_TRACE_KIND_BATCH:
		return !f->only_single;
	default:
		return true;
	}
}

EXPORT int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	enum kvm_trace_kind kind;
	struct filter *f = data;
	int status;

	(void)ctx;
	if (f->failed)
		return -EINVAL;
	if (!find_kind(sample->event, &kind)) {
		f->others++;
		return 1;
	}
	f->ours++;
	if (!is_wanted(f, kind))
		return 1;
	if (sample->time == ~0ull) {
		complain(f, "samples without time", "record with perf record -T");
		return -EINVAL;
	}
	if (!sample->raw_data) {
		complain(f, "samples without raw data", "record with perf record -R");
		return -EINVAL;
	}
	status = status_of(f, kvm_trace_order_add(f->order, kind, sample->time, sample->raw_data,
						  sample->raw_size));
	return status ? status : 1;
}

static void tell(__u64 n, const char *what)
{
	if (n)
		fprintf(stderr, NAME "%llu %s\n", n, what);
}

/*
 * A batch that was emitted in an interrupt of a guest is a sample of the guest's to
 * perf, which leaves such out before it calls filter_event().
 */
EXPORT int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	switch (sample->cpumode) {
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return filter_event(data, sample, ctx);
	}
	return 0;
}

/* What the lines do not show. */
static void tell_all(const struct filter *f)
{
	const struct kvm_trace_order_counts *c = kvm_trace_order_counts(f->order);

	tell(c->damaged[KVM_TRACE_BATCH_TRUNCATED], "batches left out: their end is missing");
	tell(c->damaged[KVM_TRACE_BATCH_CHECK], "batches left out: bytes of them were changed");
	tell(c->damaged[KVM_TRACE_BATCH_OK], "batches damaged, and left out from there on");
	tell(c->unknown, "items of batches not known here: a newer kvm_trace made them");
	tell(c->too_short, "single events left out: shorter than their fields");
	if (c->missing)
		fprintf(stderr, NAME "%llu round trips missing in %llu gaps: %s\n", c->missing,
			c->gaps, "lost, filtered, or shorter than min_host_ns");
	tell(c->lost, "exits for which the module had no record");
	tell(c->back, "times a record counter went back: several recordings, or damage");
	tell(c->late, "records behind later ones: they came late, or the clock went back");
	if (c->hurried)
		fprintf(stderr, NAME "more than %u MiB had to wait for their place in time\n",
			KVM_TRACE_ORDER_HELD_MAX >> 20);
	tell(c->left_out, "events left out: too many vCPUs");
	tell(f->others, "samples of other events not shown");
	if (!f->ours && !f->failed)
		fputs(NAME "no samples of kvm_trace: record with -e 'kvm_trace:*'\n", stderr);
}

EXPORT int stop(void *data, void *ctx)
{
	struct filter *f = data;
	int status;

	(void)ctx;
	if (!f)
		return 0;
	if (!f->failed)
		status_of(f, kvm_trace_order_finish(f->order));
	write_out(f);
	tell_all(f);
	if (f->report && f->ours && !f->failed)
		kvm_trace_report_print(f->report, &f->vmms, stdout);
	if (fflush(stdout))
		complain(f, "output cannot be written", "is there no space left?");
	status = f->failed ? -EINVAL : 0;
	discard(f);
	return status;
}

EXPORT const char *filter_description(const char **long_description)
{
	if (long_description)
		*long_description =
			"Prints the records of kvm_trace:*, kvm_trace_detail:hypercall_sub and\n"
			"kvm_trace_batch:vmexits, one a line, in order of time; samples of other\n"
			"events are counted. Times are those of VM entries; of single events without\n"
			"the word entry_ns, those of the samples, which are a little later. --dlarg:\n"
			"  report  counts and host times by VM, class and reason, instead of lines\n"
			"  single  of round trips, only single events\n"
			"  batch   of round trips, only batches\n";
	return "records of kvm_trace as lines in order of time, or a report";
}
