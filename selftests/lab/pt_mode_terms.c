// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: each term and attribute of an event of kvm_pt does to a guest's trace what it says,
 * and caps/ and format/ are those of intel_pt. With a directory as argument, traces are left
 * there, for scripts/pt_modes_equal_log.sh to compare. The lab's word ret-compression makes
 * noretcomp show.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "pt_mode.h"
#include "tap.h"
#include "trace.h"

#define AUX_BYTES	(1ul << 20)
#define HOST_BYTES	(8ul << 20)
#define ROUNDS		300ull
#define WATERMARK	(1u << 10)
#define PERIOD		4	/* PSBFreq of a guest's traces that are compared: 4 or 5 */

static const char *directory;
static enum pt_method method;

/* What a guest of pt_run_calls() leaves with some terms. */
struct run {
	struct pt_packets packets;
	u64 exits, records, truncated;
};

static void save(struct pt_event *event, const char *name)
{
	char path[512];

	if (!directory)
		return;
	snprintf(path, sizeof(path), "%s/%s-%s.pt", directory, name, pt_method_name(method));
	if (!pt_save(event, path))
		tap_die("%s", path);
}

static void run_with(struct run *run, struct perf_event_attr *attr, unsigned int flags,
		     const char *filter, const char *name)
{
	struct pt_event event;

	memset(run, 0, sizeof(*run));
	errno = -pt_open_attr(&event, attr, 0, -1, AUX_BYTES, flags | PT_DISABLED);
	if (errno)
		tap_die("perf_event_open of kvm_pt");
	if (filter && !pt_filter(&event, filter))
		tap_die("filter %s", filter);
	errno = -pt_enable(&event);
	if (errno)
		tap_die("PERF_EVENT_IOC_ENABLE");
	run->exits = pt_run_calls(ROUNDS);
	pt_stop(&event);
	pt_count(&event, &run->packets);
	run->records = event.records;
	run->truncated = event.truncated;
	tap_expect(!run->packets.bad, "no packet begins at byte %zu of %zu", run->packets.bad,
		   event.size);
	tap_expect(!event.lost && event.size < AUX_BYTES, "%llu records lost, %zu bytes",
		   event.lost, event.size);
	if (name)
		save(&event, name);
	pt_close(&event);
}

static void take_terms(struct perf_event_attr *attr, const char *terms)
{
	char all[PT_TERMS_BYTES];

	snprintf(all, sizeof(all), "mode=2,method=%u%s%s", method, *terms ? "," : "", terms);
	if (pt_attr(KVM_PT, all, attr))
		tap_die("terms %s", all);
}

static void run_terms(struct run *run, const char *terms)
{
	struct perf_event_attr attr;

	take_terms(&attr, terms);
	run_with(run, &attr, 0, NULL, NULL);
}

/* Traces that are compared: PSBFreq tells the methods apart, and IA32_RTIT_CTL these. */
static void run_compared(struct run *run, const char *terms, unsigned int flags,
			 const char *filter, const char *name)
{
	struct perf_event_attr attr;
	char all[PT_TERMS_BYTES];

	snprintf(all, sizeof(all), "tsc,noretcomp,psb_period=%u%s%s",
		 PERIOD + (method == PT_METHOD_WINDOW), *terms ? "," : "", terms);
	take_terms(&attr, all);
	run_with(run, &attr, flags, filter, name);
}

static u64 tsc_of(const struct pt_packets *p)
{
	return p->tsc;
}

static u64 mtc_of(const struct pt_packets *p)
{
	return p->mtc;
}

static u64 cyc_of(const struct pt_packets *p)
{
	return p->cyc;
}

static u64 psb_of(const struct pt_packets *p)
{
	return p->psb;
}

static u64 tip_of(const struct pt_packets *p)
{
	return p->tip[PT_OF_GUEST];
}

static u64 tnt_of(const struct pt_packets *p)
{
	return p->tnt[PT_OF_GUEST];
}

/* With the first terms there are more of some packets than with the others. */
static const struct {
	const char *promise, *more, *less;
	u64 (*count)(const struct pt_packets *packets);
	bool none;	/* and none at all with the others */
} terms[] = {
	{ "tsc_gives_tsc_packets", "tsc", "", tsc_of, true },
	{ "mtc_gives_mtc_packets", "tsc,mtc,mtc_period=0", "tsc", mtc_of, true },
	{ "mtc_period_sets_their_distance", "tsc,mtc,mtc_period=0", "tsc,mtc,mtc_period=9", mtc_of,
	  false },
	{ "cyc_gives_cyc_packets", "tsc,cyc", "tsc", cyc_of, true },
	{ "cyc_thresh_sets_their_distance", "tsc,cyc,cyc_thresh=1", "tsc,cyc,cyc_thresh=12", cyc_of,
	  false },
	{ "psb_period_sets_the_distance_of_psb", "psb_period=0", "psb_period=3", psb_of, false },
	{ "pt_without_branch_traces_no_branch", "pt,branch", "pt", tnt_of, true },
};

static void test_terms(void)
{
	struct run more, less;
	u64 n, m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(terms); i++) {
		tap_begin("%s: %s", terms[i].promise, pt_method_name(method));
		run_terms(&more, terms[i].more);
		run_terms(&less, terms[i].less);
		n = terms[i].count(&more.packets);
		m = terms[i].count(&less.packets);
		tap_note("%llu with %s, %llu with %s", n, terms[i].more, m,
			 *terms[i].less ? terms[i].less : "none");
		tap_expect(n > m && (!terms[i].none || !m), "that is not so");
		tap_end();
	}
}

/* Each round returns twice, from what was called since the last exit. */
static void test_returns(void)
{
	struct run with, without;

	tap_begin("noretcomp_traces_each_return: %s", pt_method_name(method));
	run_terms(&with, "noretcomp");
	run_terms(&without, "");
	tap_note("%llu addresses with it, %llu without", tip_of(&with.packets),
		 tip_of(&without.packets));
	tap_expect(tip_of(&with.packets) >= tip_of(&without.packets) + ROUNDS,
		   "returns are missing");
	tap_end();
}

/* User code alone has no PIP, which would say whose it is. */
static u64 all_of(const u64 *of)
{
	return of[PT_OF_HOST] + of[PT_OF_GUEST];
}

/*
 * User code and a kernel take turns: each comes, returns from a function and goes, once a
 * round. The loop of user code has the only conditional branch.
 */
static void test_privilege(void)
{
	struct run all, user, kernel;

	tap_begin("exclude_kernel_and_exclude_user_leave_that_code_out: %s",
		  pt_method_name(method));
	run_compared(&all, "", 0, NULL, "all");
	run_compared(&user, "", PT_NO_KERNEL, NULL, "user");
	run_compared(&kernel, "", PT_NO_USER, NULL, "kernel");
	tap_note("%llu addresses, %llu of user code, %llu of the kernel", tip_of(&all.packets),
		 all_of(user.packets.tip), tip_of(&kernel.packets));
	tap_expect(all_of(user.packets.tip) >= 3 * ROUNDS && tip_of(&kernel.packets) >= 3 * ROUNDS,
		   "there are too few");
	tap_expect(all_of(user.packets.tnt) && !tnt_of(&kernel.packets),
		   "TNT: %llu of user code, %llu of the kernel", all_of(user.packets.tnt),
		   tnt_of(&kernel.packets));
	tap_end();
}

/* The mode says whose code it is. */
static void test_sides(void)
{
	struct perf_event_attr attr;
	struct run all, same;

	tap_begin("exclude_guest_and_exclude_host_change_nothing: %s", pt_method_name(method));
	run_terms(&all, "noretcomp");
	take_terms(&attr, "noretcomp");
	attr.exclude_guest = 1;
	attr.exclude_host = 1;
	run_with(&same, &attr, 0, NULL, NULL);
	/* Interrupts of the host may come in between. */
	tap_expect(tip_of(&same.packets) >= 3 * ROUNDS && tip_of(&all.packets) >= 3 * ROUNDS,
		   "%llu addresses, and %llu without them", tip_of(&same.packets),
		   tip_of(&all.packets));
	tap_end();
}

static void test_filter(const char *promise, const char *action, enum pt_place place,
			const char *name, u64 least, bool stops)
{
	char filter[PT_TERMS_BYTES];
	struct run run;

	tap_begin("%s: %s", promise, pt_method_name(method));
	run_compared(&run, "", 0, pt_place(filter, action, place), name);
	tap_note("%s: %llu times on, %llu addresses, %llu TNT", filter,
		 run.packets.pge[PT_OF_GUEST], tip_of(&run.packets), tnt_of(&run.packets));
	tap_expect(tip_of(&run.packets) >= least, "there are too few");
	tap_expect(stops || !tnt_of(&run.packets), "the loop outside of the range is traced");
	tap_expect(run.truncated == stops, "%llu losses are told", run.truncated);
	tap_end();
}

static void test_filters(void)
{
	/* TIP.PGE and TIP.PGD each time; the first may be behind an exit. */
	test_filter("filter_traces_that_range_alone", "filter", PT_OF_USER, "filter_user",
		    2 * ROUNDS, false);
	test_filter("filter_traces_a_range_of_the_kernel", "filter", PT_OF_KERNEL, "filter_kernel",
		    2 * ROUNDS, false);
	test_filter("stop_ends_the_trace_there", "stop", PT_AT_END, "stop", 3 * ROUNDS, true);
}

static void test_all_at_once(void)
{
	struct run run;

	tap_begin("times_of_all_kinds_can_be_had_at_once: %s", pt_method_name(method));
	run_compared(&run, "cyc,mtc,mtc_period=3", 0, NULL, "times");
	tap_note("%llu TSC, %llu MTC, %llu CYC", run.packets.tsc, run.packets.mtc,
		 run.packets.cyc);
	tap_expect(run.packets.tsc && run.packets.mtc && run.packets.cyc, "one is missing");
	tap_end();
}

/* Published at each watermark, and not only at the end. */
static void test_watermark(void)
{
	struct perf_event_attr attr;
	struct run often, once;

	tap_begin("aux_watermark_sets_how_often_is_published: %s", pt_method_name(method));
	run_terms(&once, "tsc,noretcomp,psb_period=0");
	take_terms(&attr, "tsc,noretcomp,psb_period=0");
	attr.aux_watermark = WATERMARK;
	run_with(&often, &attr, 0, NULL, NULL);
	tap_note("%llu bytes in %llu records; %llu in %llu without", often.packets.bytes,
		 often.records, once.packets.bytes, once.records);
	tap_expect(often.packets.bytes > 2 * WATERMARK, "too little for a watermark of %u",
		   WATERMARK);
	/* Looked at after each exit: a piece has less than two watermarks. */
	tap_expect(often.records > once.records &&
		   often.records >= often.packets.bytes / (2 * WATERMARK), "too few records");
	tap_end();
}

/* Files of a directory of both PMUs that must be equal, but for those of one PMU. */
static void expect_same_files(const char *name, const char *const *ours,
			      const char *const *theirs)
{
	const char *const pmus[] = { KVM_PT, INTEL_PT };
	char path[512], other[512], *text, *same;
	unsigned int i, files = 0;
	const char *const *own;
	struct dirent *entry;
	DIR *dir;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), PMU_DEVICES "%s/%s", pmus[i], name);
		dir = opendir(path);
		if (!dir)
			tap_die("%s", path);
		while ((entry = readdir(dir))) {
			if (*entry->d_name == '.')
				continue;
			for (own = i ? theirs : ours; *own && strcmp(*own, entry->d_name); own++)
				;
			snprintf(path, sizeof(path), PMU_DEVICES "%s/%s/%s", pmus[i], name,
				 entry->d_name);
			snprintf(other, sizeof(other), PMU_DEVICES "%s/%s/%s", pmus[!i], name,
				 entry->d_name);
			text = file_read(path);
			same = file_read(other);
			tap_expect(*own ? text && !same : text && same && !strcmp(text, same),
				   "%s is %s, and of %s %s", path, text ?: "not there", pmus[!i],
				   same ?: "not there");
			files++;
			free(text);
			free(same);
		}
		closedir(dir);
	}
	tap_note("%u files", files);
	tap_expect(files > 10, "there are %u files", files);
}

static void expect_same_file(const char *name)
{
	char path[512], *text, *same;

	snprintf(path, sizeof(path), PMU_DEVICES KVM_PT "/%s", name);
	text = file_read(path);
	snprintf(path, sizeof(path), PMU_DEVICES INTEL_PT "/%s", name);
	same = file_read(path);
	tap_expect(text && same && !strcmp(text, same), "%s is %s and not %s", name,
		   text ?: "not there", same ?: "not there");
	free(text);
	free(same);
}

static void test_sysfs(void)
{
	static const char *const our_caps[] = { "in_vmx", "methods", "refusal", NULL };
	static const char *const their_caps[] = {
		"output_subsys", "event_trace", "tnt_disable", NULL
	};
	static const char *const our_format[] = { "mode", "stream", "method", NULL };
	/* intel_pt has terms also for what the CPU does not have. */
	static const char *const their_format[] = {
		"event", "notnt", "ptw", "fup_on_ptw", "pwr_evt", NULL
	};

	tap_begin("caps_are_those_of_intel_pt");
	expect_same_files("caps", our_caps, their_caps);
	expect_same_file("max_nonturbo_ratio");
	expect_same_file("tsc_art_ratio");
	tap_end();
	tap_begin("format_is_that_of_intel_pt");
	expect_same_files("format", our_format, their_format);
	tap_end();
}

/* The host's stream of this thread, which runs a guest. */
static void run_host(struct pt_packets *packets, unsigned int flags)
{
	struct pt_event event;

	pt_must_open(&event, "mode=1,tsc,noretcomp", 0, -1, HOST_BYTES, flags);
	pt_run_calls(ROUNDS);
	pt_stop(&event);
	pt_count(&event, packets);
	tap_expect(!packets->bad, "no packet begins at byte %zu of %zu", packets->bad, event.size);
	pt_close(&event);
}

static void test_host(void)
{
	struct pt_packets user, kernel;

	tap_begin("exclude_kernel_and_exclude_user_leave_that_code_of_the_host_out");
	run_host(&user, PT_NO_KERNEL);
	run_host(&kernel, PT_NO_USER);
	tap_note("%llu addresses of user code, %llu of the kernel", all_of(user.tip),
		 kernel.kernel[PT_OF_HOST]);
	tap_expect(user.high[PT_OF_HOST] && !all_of(user.kernel),
		   "up to 0x%llx of user code, %llu of the kernel", user.high[PT_OF_HOST],
		   all_of(user.kernel));
	tap_expect(kernel.kernel[PT_OF_HOST] && !kernel.high[PT_OF_HOST],
		   "up to 0x%llx of user code, %llu of the kernel", kernel.high[PT_OF_HOST],
		   kernel.kernel[PT_OF_HOST]);
	tap_end();
}

#define CASES_OF_A_METHOD	(ARRAY_SIZE(terms) + 8)

static void test_method(void)
{
	unsigned int i;

	if (!pt_has_method(method)) {
		for (i = 0; i < CASES_OF_A_METHOD; i++) {
			tap_begin("terms: %s", pt_method_name(method));
			tap_skip("this CPU does not have the method");
		}
		return;
	}
	test_terms();
	test_returns();
	test_privilege();
	test_sides();
	test_filters();
	test_all_at_once();
	test_watermark();
}

int main(int argc, char **argv)
{
	directory = argc > 1 ? argv[1] : NULL;
	need_kvm_pt();
	run_on_cpu(0);
	tap_plan(3 + CASES_OF_A_METHOD * (PT_METHODS - 1));
	test_sysfs();
	test_host();
	for (method = PT_METHOD_VMCS; method < PT_METHODS; method++)
		test_method();
	return tap_exit();
}
