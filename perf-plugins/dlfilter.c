// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvm-trace.so, a filter for perf script --dlfilter: prints the records of single
 * events and of batches as lines in order of time, or a report or a timeline of
 * them. This is perf's side: samples in, lines and messages out. The order is
 * order.c's, the text decode.c's; report.c and timeline.c have the others.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include <perf/perf_dlfilter.h>
#include "array_size.h"
#include "flow.h"
#include "functions.h"
#include "names.h"
#include "options.h"
#include "order.h"
#include "out.h"
#include "progress.h"
#include "report.h"
#include "report_text.h"
#include "symbols.h"
#include "timeline.h"
#include "vmms.h"

#define __printf(a, b)	__attribute__((format(printf, a, b)))
#define EXPORT		__attribute__((visibility("default")))
#define NAME		"kvm-trace: "
#define SECOND		1000000000ull
#define GUEST_NS	(KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_GUEST_NS_64)

EXPORT struct perf_dlfilter_fns perf_dlfilter_fns;

/*
 * @report: NULL if none is wanted
 * @timeline: NULL if none is wanted
 * @flow: NULL if none is wanted
 * @functions: NULL if none are wanted
 * @unwanted: times of VMs that are not wanted
 * @next: when the next report is due, 0 if none is
 * @failed: a message has said why, and nothing more is done
 * @found: a VM that is wanted was there
 * @ours: samples of our events
 * @others: samples of others
 * @tid: of the sample whose records are taken
 */
struct filter {
	struct kvm_trace_options options;
	struct kvm_trace_order *order;
	struct kvm_trace_vmms vmms;
	struct kvm_trace_names names;
	struct kvm_trace_report *report;
	struct kvm_trace_timeline *timeline;
	struct kvm_trace_flow *flow;
	struct kvm_trace_functions *functions;
	struct kvm_trace_symbols symbols;
	__u32 tid;
	struct kvm_trace_times unwanted;
	struct kvm_trace_out out;
	struct kvm_trace_progress progress;
	__u64 next;
	bool failed;
	bool found;
	__u64 ours;
	__u64 others;
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
	char *text;

	kvm_trace_out_number(&f->out, item->ns / SECOND, 1);
	kvm_trace_out_char(&f->out, '.');
	kvm_trace_out_number(&f->out, item->ns % SECOND, 9);
	kvm_trace_out_string(&f->out, ": ");
	kvm_trace_out_string(&f->out, events[item->kind]);
	kvm_trace_out_string(&f->out, ": ");
	text = kvm_trace_out_room(&f->out);
	f->out.len += text_of(f, item, text);
	kvm_trace_out_char(&f->out, '\n');
}

static void complain_of_memory(struct filter *f)
{
	complain(f, "no memory for records", "use --time on a part of the recording");
}

static void add_to_flow(struct filter *f, const struct kvm_trace_item *item, __u32 vm)
{
	char line[64 + KVM_TRACE_TEXT_SIZE];
	__u16 vcpu = 0;
	size_t len;

	switch (item->kind) {
	case KVM_TRACE_KIND_VMEXIT:
		vcpu = item->vmexit->vcpu;
		break;
	case KVM_TRACE_KIND_HYPERCALL:
		vcpu = item->hypercall->vcpu;
		break;
	case KVM_TRACE_KIND_HYPERCALL_SUB:
		vcpu = item->sub->vcpu;
		break;
	default:
		print_line(f, item);
		return;
	}
	len = snprintf(line, sizeof(line), "%llu.%09llu: %s: ", item->ns / SECOND,
		       item->ns % SECOND, events[item->kind]);
	line[len + text_of(f, item, line + len)] = '\0';
	if (!kvm_trace_flow_record(f->flow, f->tid, vm, vcpu, item->ns, line))
		complain_of_memory(f);
}

/* What is executed has a place only behind what tells whose it is. */
static void add_to_functions(struct filter *f, const struct kvm_trace_item *item)
{
	const struct kvm_trace_vmexit *v = item->vmexit;
	bool good = true;

	switch (item->kind) {
	case KVM_TRACE_KIND_VMEXIT:
		good = kvm_trace_functions_vcpu(f->functions, f->tid, v->vm, v->vcpu);
		if (good && item->ns >= v->host_ns)
			kvm_trace_functions_exit(f->functions, f->tid, item->ns - v->host_ns,
						 item->ns);
		break;
	case KVM_TRACE_KIND_VCPU:
		good = kvm_trace_functions_vcpu(f->functions, f->tid, item->vcpu->vm,
						item->vcpu->vcpu);
		break;
	default:
		break;
	}
	if (!good)
		complain_of_memory(f);
}

static __u32 vm_of(const struct kvm_trace_item *item)
{
	switch (item->kind) {
	case KVM_TRACE_KIND_VMEXIT:
		return item->vmexit->vm;
	case KVM_TRACE_KIND_HYPERCALL:
		return item->hypercall->vm;
	case KVM_TRACE_KIND_VCPU:
		return item->vcpu->vm;
	case KVM_TRACE_KIND_LOST:
		return item->lost->vm;
	case KVM_TRACE_KIND_HYPERCALL_SUB:
		return item->sub->vm;
	case KVM_TRACE_KIND_BATCH:
		break;
	}
	return 0;
}

static bool want(struct filter *f, __u32 vm)
{
	bool wanted = kvm_trace_options_want(&f->options, vm, kvm_trace_vmms_pid(&f->vmms, vm));

	f->found |= wanted;
	return wanted;
}

static void take(void *data, const struct kvm_trace_item *item)
{
	struct filter *f = data;
	__u32 vm = vm_of(item);

	if (item->kind == KVM_TRACE_KIND_VCPU)
		kvm_trace_vmms_add(&f->vmms, vm, item->vcpu->vmm_pid);
	if (!want(f, vm))
		return;
	if (f->report)
		kvm_trace_report_add(f->report, item);
	else if (f->flow)
		add_to_flow(f, item, vm);
	else if (f->timeline)
		kvm_trace_timeline_add(f->timeline, item, kvm_trace_vmms_pid(&f->vmms, vm));
	else
		print_line(f, item);
	if (f->functions)
		add_to_functions(f, item);
}

static struct kvm_trace_times *place(void *data, const struct kvm_trace_vmexit *v)
{
	struct filter *f = data;

	return want(f, v->vm) ? kvm_trace_report_place(f->report, v) : &f->unwanted;
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
		complain_of_memory(f);
		break;
	}
	return f->failed ? -EINVAL : 0;
}

static void parse(struct filter *f, int argc, char **argv)
{
	const char *remedy;
	char what[128];

	remedy = kvm_trace_options_parse(&f->options, argc, argv, what, sizeof(what));
	if (!remedy && f->options.names) {
		snprintf(what, sizeof(what), "--dlarg names=%.80s", f->options.names);
		remedy = kvm_trace_names_read(&f->names, f->options.names);
	}
	if (!remedy && f->options.kallsyms) {
		snprintf(what, sizeof(what), "--dlarg kallsyms=%.80s", f->options.kallsyms);
		remedy = kvm_trace_symbols_read(&f->symbols, f->options.kallsyms);
	}
	if (remedy)
		complain(f, what, remedy);
}

/* What takes the records, and what brings them into order. */
static void prepare(struct filter *f)
{
	bool sums = !(f->options.by & ~KVM_TRACE_KEYS_OF_SUMS);

	f->out.file = stdout;
	/* It does not matter if there is none. */
	if (f->options.progress)
		f->progress.file = fopen(f->options.progress, "w");
	if (f->options.what == KVM_TRACE_REPORT)
		f->report = kvm_trace_report_new(f->options.by);
	if (f->options.what == KVM_TRACE_TIMELINE)
		f->timeline = kvm_trace_timeline_new(&f->out, &f->names);
	if (f->options.what == KVM_TRACE_FLOW)
		f->flow = kvm_trace_flow_new(&f->out, f->options.flow,
					     f->options.vms.n || f->options.pids.n, &f->symbols);
	if (f->timeline && f->options.itrace)
		f->functions = kvm_trace_functions_new(f->timeline, &f->symbols);
	f->order = kvm_trace_order_new(take, f->report && sums ? place : NULL, f);
	if (!f->order || (f->options.what == KVM_TRACE_REPORT && !f->report) ||
	    (f->options.what == KVM_TRACE_TIMELINE && !f->timeline) ||
	    (f->options.what == KVM_TRACE_FLOW && !f->flow) ||
	    (f->options.itrace && !f->functions))
		complain(f, "no memory", "end other programs");
}

static void discard(struct filter *f)
{
	kvm_trace_progress_end(&f->progress);
	kvm_trace_order_free(f->order);
	kvm_trace_report_free(f->report);
	kvm_trace_timeline_free(f->timeline);
	kvm_trace_flow_free(f->flow);
	kvm_trace_functions_free(f->functions);
	kvm_trace_symbols_free(&f->symbols);
	kvm_trace_vmms_free(&f->vmms);
	kvm_trace_names_free(&f->names);
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
	if (!f->failed)
		prepare(f);
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
		return !f->options.only_batch;
	case KVM_TRACE_KIND_BATCH:
		return !f->options.only_single;
	default:
		return true;
	}
}

static void print_report(struct filter *f, __u64 ns)
{
	const struct kvm_trace_report_of of = {
		f->report, &f->options, &f->vmms, &f->names,
		kvm_trace_order_counts(f->order), ns,
	};

	kvm_trace_report_finish(f->report);
	if (!kvm_trace_report_print(&of, &f->out))
		complain(f, "no memory to sort the report", "give by= with fewer keys");
}

/* One for each interval; those in which nothing came are left out. */
static void report_when_due(struct filter *f, __u64 time)
{
	__u64 length = f->options.every * SECOND;

	if (f->next && time >= f->next) {
		print_report(f, length);
		kvm_trace_report_clear(f->report);
		f->next += (time - f->next) / length * length + length;
	}
	if (!f->next)
		f->next = time + length;
}

/* Flow and records come in one order of time already; batches are of other times. */
static void take_now(struct filter *f, enum kvm_trace_kind kind,
		     const struct perf_dlfilter_sample *sample)
{
	struct kvm_trace_item item = { .kind = kind, .ns = sample->time };
	struct kvm_trace_hypercall_sub sub;
	struct kvm_trace_hypercall hypercall;
	struct kvm_trace_vmexit vmexit;
	struct kvm_trace_vcpu vcpu;
	struct kvm_trace_lost lost;
	bool good = false;

	f->tid = sample->tid;
	switch (kind) {
	case KVM_TRACE_KIND_VMEXIT:
		good = kvm_trace_vmexit_record(&vmexit, sample->raw_data, sample->raw_size);
		item.vmexit = &vmexit;
		item.guest_ns = vmexit.guest_ns;
		item.guest_known = vmexit.have & GUEST_NS;
		if (vmexit.have & KVM_TRACE_W_ENTRY_NS)
			item.ns = vmexit.entry_ns;
		break;
	case KVM_TRACE_KIND_HYPERCALL:
		good = kvm_trace_hypercall_record(&hypercall, sample->raw_data, sample->raw_size);
		item.hypercall = &hypercall;
		break;
	case KVM_TRACE_KIND_VCPU:
		good = kvm_trace_vcpu_record(&vcpu, sample->raw_data, sample->raw_size);
		item.vcpu = &vcpu;
		if (good && vcpu.abi_version != KVM_TRACE_ABI_VERSION)
			complain(f, "records of another version",
				 "use the kvm-trace.so of the kvm_trace that made them");
		break;
	case KVM_TRACE_KIND_LOST:
		good = kvm_trace_lost_record(&lost, sample->raw_data, sample->raw_size);
		item.lost = &lost;
		break;
	case KVM_TRACE_KIND_HYPERCALL_SUB:
		good = kvm_trace_hypercall_sub_record(&sub, sample->raw_data, sample->raw_size);
		item.sub = &sub;
		break;
	case KVM_TRACE_KIND_BATCH:
		complain(f, "batches tell of exits later than they were",
			 "record without --batch");
		break;
	}
	if (good && !f->failed)
		take(f, &item);
}

static struct kvm_trace_place place_of(__u64 ip, const struct perf_dlfilter_al *al)
{
	if (!al || !al->sym)
		return (struct kvm_trace_place){ ip, NULL, 0 };
	return (struct kvm_trace_place){ ip, al->sym, al->symoff };
}

/* A sample that perf has made of Intel PT. Returns false if it is none. */
static bool take_step(struct filter *f, const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct kvm_trace_flow_step step = {
		.tid = sample->tid, .flags = sample->flags, .ns = sample->time,
	};

	if ((!f->flow && !f->functions) || !sample->event)
		return false;
	step.branch = !strncmp(sample->event, "branches", strlen("branches"));
	if (!step.branch && strncmp(sample->event, "instructions", strlen("instructions")))
		return false;
	step.from = place_of(sample->ip, sample->ip ? perf_dlfilter_fns.resolve_ip(ctx) : NULL);
	if (step.branch && sample->addr_correlates_sym && sample->addr)
		step.to = place_of(sample->addr, perf_dlfilter_fns.resolve_addr(ctx));
	else if (step.branch)
		step.to.ip = sample->addr;
	else
		step.bytes = perf_dlfilter_fns.insn(ctx, &step.size);
	if (!(f->flow ? kvm_trace_flow_step(f->flow, &step) :
			kvm_trace_functions_step(f->functions, &step)))
		complain_of_memory(f);
	return true;
}

EXPORT int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	enum kvm_trace_kind kind;
	struct filter *f = data;
	int status;

	if (f->failed)
		return -EINVAL;
	if (take_step(f, sample, ctx))
		return f->failed ? -EINVAL : 1;
	if (!find_kind(sample->event, &kind)) {
		f->others++;
		return 1;
	}
	f->ours++;
	kvm_trace_progress_add(&f->progress, sample->time, sample->raw_size);
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
	if (f->flow || f->functions) {
		take_now(f, kind, sample);
		return f->failed ? -EINVAL : 1;
	}
	if (f->options.every)
		report_when_due(f, sample->time);
	status = status_of(f, kvm_trace_order_add(f->order, kind, sample->time, sample->raw_data,
						  sample->raw_size));
	return status ? status : 1;
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

/* On stderr, where the output may be a program's, and in a timeline as an event. */
static __printf(2, 3) void tell(struct filter *f, const char *format, ...)
{
	char text[192];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, NAME "%s\n", text);
	if (f->timeline)
		kvm_trace_timeline_note(f->timeline, text);
}

static void tell_count(struct filter *f, __u64 n, const char *what)
{
	if (n)
		tell(f, "%llu %s", n, what);
}

/* What the output does not show. */
static void tell_all(struct filter *f)
{
	const struct kvm_trace_order_counts *c = kvm_trace_order_counts(f->order);

	tell_count(f, c->damaged[KVM_TRACE_BATCH_TRUNCATED],
		   "batches left out: their end is missing");
	tell_count(f, c->damaged[KVM_TRACE_BATCH_CHECK],
		   "batches left out: bytes of them were changed");
	tell_count(f, c->damaged[KVM_TRACE_BATCH_OK],
		   "batches damaged, and left out from there on");
	tell_count(f, c->unknown, "items of batches not known here: a newer kvm_trace made them");
	tell_count(f, c->too_short, "single events left out: shorter than their fields");
	if (c->missing)
		tell(f, "%llu round trips missing in %llu gaps: %s", c->missing, c->gaps,
		     "lost, filtered, or shorter than min_host_ns");
	tell_count(f, c->lost, "exits for which the module had no record");
	tell_count(f, c->back, "times a record counter went back: several recordings, or damage");
	tell_count(f, c->late,
		   "records behind later ones: they came late, or the clock went back");
	if (c->hurried)
		tell(f, "more than %u MiB had to wait for their place in time",
		     KVM_TRACE_ORDER_HELD_MAX >> 20);
	tell_count(f, c->left_out, "events left out: too many vCPUs");
	if (f->timeline)
		tell_count(f, kvm_trace_timeline_left_out(f->timeline),
			   "round trips left out: too many VMs and vCPUs");
	tell_count(f, f->others, "samples of other events not shown");
	if (!f->ours && !f->failed)
		tell(f, "no samples of kvm_trace: record with -e 'kvm_trace:*'");
	else if (!f->found && !f->failed && (f->options.vms.n || f->options.pids.n))
		complain(f, "no records of the chosen VMs",
			 "see a report without vm= and pid= for those that are there");
}

/* The last of it. */
static void finish(struct filter *f)
{
	const struct kvm_trace_order_counts *c = kvm_trace_order_counts(f->order);

	__u64 steps = 1;

	if (f->flow)
		steps = kvm_trace_flow_finish(f->flow);
	else if (f->functions)
		steps = kvm_trace_functions_finish(f->functions);
	if (!steps && !f->failed)
		complain(f, "nothing of Intel PT is decoded", "record with --pt");
	if (f->timeline)
		kvm_trace_timeline_finish(f->timeline);
	if (f->report && f->ours && !f->failed && f->options.every)
		print_report(f, f->options.every * SECOND - (f->next - c->until));
	else if (f->report && f->ours && !f->failed)
		print_report(f, c->until > c->since ? c->until - c->since : 0);
	kvm_trace_out_flush(&f->out);
	if (f->out.failed)
		complain(f, "output cannot be written", "is there no space left?");
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
	kvm_trace_progress_end(&f->progress);
	if (!f->timeline)
		kvm_trace_out_flush(&f->out);
	tell_all(f);
	finish(f);
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
			"  report      counts and times of round trips, instead of lines\n"
			"  by=KEYS     report by these, with commas: vm, vcpu, class, reason, hypercall,\n"
			"              msr, port, gpa (page), cpuid, vector (of the host), rip;\n"
			"              vm,class,reason if not given\n"
			"  sort=COLUMN the largest first: count, total, mean, min, p50, p99, max,\n"
			"              handling, user, halted, runnable, guest\n"
			"  rows=N      report of N rows at most, and the rest together\n"
			"  json        report in JSON\n"
			"  every=N     a report of each N seconds\n"
			"  flow=WHAT   what guests executed, with the records in place: functions or\n"
			"              instructions; needs perf script --itrace=bei0ns\n"
			"  timeline    trace in JSON for Perfetto's UI and Chrome, instead of lines\n"
			"  itrace      timeline with the guests' functions; needs perf script --itrace=b\n"
			"  kallsyms=FILE  names of the guest's functions for flow= and itrace\n"
			"  vm=N,...    only these VMs\n"
			"  pid=N,...   only VMs of these processes\n"
			"  names=FILE  names of VMs, lines of the VM's process and its name\n"
			"  progress=TERMINAL  gets a line that says how much is read\n"
			"  single      of round trips, only single events\n"
			"  batch       of round trips, only batches\n";
	return "records of kvm_trace as lines in order of time, a report, or a timeline";
}
