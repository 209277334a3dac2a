// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: kvm_pt refuses what it cannot do, with an errno, a reason in the kernel log and in
 * kvm_trace_detail:pt, and without a write to an MSR of Intel PT; it and intel_pt keep off
 * each other's CPUs, and are free again as soon as the other one is done. With a file as
 * argument, the times in which nothing may be written are left there, for
 * scripts/pt_modes_equal_log.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "pt_mode.h"
#include "pt_refusal.h"
#include "tap.h"
#include "trace.h"
#include "user.h"

#define AUX_BYTES	(1ul << 20)
#define GUEST		"tsc,noretcomp,mode=2"
#define HOST		"tsc,noretcomp,mode=1"
#define BOTH_HOST	"tsc,noretcomp,mode=3,stream=1"
#define BOTH_GUEST	"tsc,noretcomp,mode=3,stream=2"
#define KINDS		"cpuid,pio_out"
#define ROUNDS		20

#define OF_ATTRIBUTES	"the attributes contradict each other, or this CPU lacks what they ask for"

/* What an event may be opened beside, and what not: then why, and the words. */
static const struct {
	const char *promise, *first, *second;
	int first_cpu, second_cpu;	/* -1: this thread */
	enum kvm_trace_pt_why why;
	const char *words;
} pairs[] = {
	{ "the_same_thread_and_stream", GUEST, GUEST, -1, -1, KVM_TRACE_PT_WHY_TARGET,
	  "this stream of this thread or CPU is traced already" },
	{ "the_same_cpu_and_stream", GUEST, GUEST, 0, 0, KVM_TRACE_PT_WHY_TARGET,
	  "this stream of this thread or CPU is traced already" },
	{ "a_thread_beside_a_cpu", GUEST, GUEST, 0, -1, KVM_TRACE_PT_WHY_MIXED,
	  "there are kvm_pt events of threads" },
	{ "a_cpu_beside_a_thread", GUEST, GUEST, -1, 0, KVM_TRACE_PT_WHY_MIXED,
	  "there are kvm_pt events of threads" },
	{ "the_host_stream_twice", BOTH_HOST, BOTH_HOST, 0, 0, KVM_TRACE_PT_WHY_TARGET,
	  "this stream of this thread or CPU is traced already" },
	{ "host_and_guest_streams", BOTH_HOST, BOTH_GUEST, 0, 0, KVM_TRACE_PT_WHY_NONE, NULL },
	{ "guest_and_host_streams", BOTH_GUEST, BOTH_HOST, 0, 0, KVM_TRACE_PT_WHY_NONE, NULL },
};

static void test_pairs(void)
{
	struct pt_event first;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		const bool thread = pairs[i].first_cpu < 0, second = pairs[i].second_cpu < 0;

		tap_begin("%s: %s", pairs[i].why ? "refused" : "allowed", pairs[i].promise);
		pt_must_open(&first, pairs[i].first, thread ? 0 : -1, pairs[i].first_cpu,
			     AUX_BYTES, PT_DISABLED);
		pt_watch();
		err = pt_try_open(KVM_PT, pairs[i].second, second ? 0 : -1, pairs[i].second_cpu);
		if (pairs[i].why) {
			pt_expect_refused(err, -EBUSY, pairs[i].why, pairs[i].words);
			pt_expect_untouched();
		} else {
			tap_expect(!err, "it gives %d", err);
		}
		pt_close(&first);
		err = pt_try_open(KVM_PT, pairs[i].second, second ? 0 : -1, pairs[i].second_cpu);
		tap_expect(!err, "after it was closed, the other gives %d", err);
		tap_end();
	}
}

/* Of CPUs that have all that is emulated: no PTWRITE, and not every period. */
static const struct {
	const char *promise, *terms;
	struct perf_event_attr more;
	unsigned int flags;
} bad[] = {
	{ "stream_that_the_mode_does_not_have", GUEST ",stream=1", {}, 0 },
	{ "host_mode_with_a_guests_stream", HOST ",stream=2", {}, 0 },
	{ "stream_of_an_unknown_number", BOTH_HOST ",stream=3", {}, 0 },
	{ "method_of_an_unknown_number", GUEST ",method=3", {}, 0 },
	{ "method_of_a_host", HOST ",method=2", {}, 0 },
	{ "mtc_period_that_the_cpu_lacks", GUEST ",mtc,mtc_period=1", {}, 0 },
	{ "psb_period_that_the_cpu_lacks", GUEST ",psb_period=9", {}, 0 },
	{ "cyc_thresh_that_the_cpu_lacks", GUEST ",cyc,cyc_thresh=15", {}, 0 },
	{ "ptw_that_the_cpu_lacks", GUEST, { .config = 1 << 12 }, 0 },
	{ "pwr_evt_that_the_cpu_lacks", GUEST, { .config = 1 << 4 }, 0 },
	{ "branch_without_pt", GUEST ",branch", {}, 0 },
	{ "config_bit_of_no_term", GUEST, { .config = 1ull << 32 }, 0 },
	{ "config1_bit_of_no_term", GUEST, { .config1 = 1 << 6 }, 0 },
	{ "config2", GUEST, { .config2 = 1 }, 0 },
	{ "neither_kernel_nor_user", GUEST, {}, PT_NO_KERNEL | PT_NO_USER },
	{ "inherit", GUEST, { .inherit = 1 }, 0 },
	{ "sampling", GUEST, { .sample_period = 1000 }, 0 },
};

static void test_bad(void)
{
	struct perf_event_attr attr;
	struct pt_event event;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		tap_begin("refused_with_its_reason: %s", bad[i].promise);
		if (pt_attr(KVM_PT, bad[i].terms, &attr))
			tap_die("terms %s", bad[i].terms);
		attr.config |= bad[i].more.config;
		attr.config1 |= bad[i].more.config1;
		attr.config2 = bad[i].more.config2;
		attr.inherit = bad[i].more.inherit;
		attr.sample_period = bad[i].more.sample_period;
		pt_watch();
		err = pt_open_attr(&event, &attr, 0, -1, AUX_BYTES, bad[i].flags);
		pt_expect_refused(err, -EINVAL, KVM_TRACE_PT_WHY_CONFIG, OF_ATTRIBUTES);
		pt_expect_untouched();
		if (!err)
			pt_close(&event);
		tap_end();
	}
}

/* Attributes that younger kernels have, behind those that all have. */
static const struct {
	const char *promise;
	unsigned int offset;
} later[] = {
	{ "config3", 128 },
	{ "config4", 136 },
};

static void test_later(void)
{
	union {
		struct perf_event_attr attr;
		u64 words[32];
	} all = {};
	struct pt_event event;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(later); i++) {
		tap_begin("refused_with_its_reason: %s", later[i].promise);
		if (pt_attr(KVM_PT, GUEST, &all.attr))
			tap_die("terms " GUEST);
		all.attr.size = later[i].offset + sizeof(u64);
		all.words[later[i].offset / sizeof(u64)] = 1;
		pt_watch();
		err = pt_open_attr(&event, &all.attr, 0, -1, AUX_BYTES, 0);
		all.words[later[i].offset / sizeof(u64)] = 0;
		if (err == -E2BIG) {
			tap_skip("this kernel does not have it");
			continue;
		}
		pt_expect_refused(err, -EINVAL, KVM_TRACE_PT_WHY_CONFIG, OF_ATTRIBUTES);
		pt_expect_untouched();
		if (!err)
			pt_close(&event);
		tap_end();
	}
}

static void set_method(const char *value)
{
	errno = -parameter_set("pt_method", value);
	if (errno)
		tap_die("parameter pt_method of kvm_trace: %s", value);
}

/* Runs a guest, and expects that it was traced by a method. */
static void expect_method(const char *terms, enum pt_method method)
{
	struct pt_packets packets;
	struct pt_event event;
	u16 config;

	pt_watch();
	pt_must_open(&event, terms, 0, -1, AUX_BYTES, 0);
	pt_run_kinds(KINDS, ROUNDS, 0);
	pt_stop(&event);
	config = pt_told_config();
	tap_expect(config >> KVM_TRACE_PT_CONFIG_METHOD_SHIFT == method,
		   "config 0x%x is told for method %s", config, pt_method_name(method));
	pt_expect_guest(&event, method);
	pt_count(&event, &packets);
	tap_expect(method != PT_METHOD_WINDOW || packets.pip[PT_OF_HOST],
		   "no PIP of the host in a window");
	pt_close(&event);
}

static void expect_no_vmcs(const char *terms)
{
	int err;

	pt_watch();
	err = pt_try_open(KVM_PT, terms, 0, -1);
	pt_expect_refused(err, -EOPNOTSUPP, KVM_TRACE_PT_WHY_NO_CONTROLS,
			  "method vmcs needs the VMX controls");
	pt_expect_untouched();
}

/* The parameter pt_method, and the term over it. */
static const struct {
	const char *parameter, *terms;
	enum pt_method method;
} methods[] = {
	{ "auto", GUEST, 0 },
	{ "vmcs", GUEST, PT_METHOD_VMCS },
	{ "vmcs", GUEST ",method=2", PT_METHOD_WINDOW },
	{ "window", GUEST, PT_METHOD_WINDOW },
	{ "window", GUEST ",method=1", PT_METHOD_VMCS },
	{ "auto", GUEST ",method=1", PT_METHOD_VMCS },
};

static void test_methods(void)
{
	const bool has_vmcs = pt_has_method(PT_METHOD_VMCS);
	enum pt_method method;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(methods); i++) {
		method = methods[i].method ?: has_vmcs ? PT_METHOD_VMCS : PT_METHOD_WINDOW;
		tap_begin("method_is_forced_or_refused: pt_method=%s, %s", methods[i].parameter,
			  methods[i].terms);
		set_method(methods[i].parameter);
		if (method == PT_METHOD_VMCS && !has_vmcs)
			expect_no_vmcs(methods[i].terms);
		else
			expect_method(methods[i].terms, method);
		set_method("auto");
		tap_end();
	}
}

static void test_parameter(void)
{
	char *value;
	int err;

	tap_begin("pt_method_takes_no_other_word");
	pt_watch();
	err = parameter_set("pt_method", "vmx\n");
	tap_expect(err == -EINVAL, "it gives %d", err);
	tap_expect(klog_has("pt_method: \"vmx\" is not known; use auto, vmcs or window"),
		   "the kernel log does not say so");
	value = parameter_get("pt_method");
	tap_expect(!strcmp(value, "auto"), "it is '%s' now", value);
	free(value);
	tap_end();
}

/* The first of the two PMUs is in use; @busy: which errno the second one gives. */
static void test_intel_pt_first(const char *terms, int tid, int cpu)
{
	struct pt_event event;
	int err;

	tap_begin("refused_while_intel_pt_runs: %s", terms);
	err = pt_open(&event, INTEL_PT, "tsc,noretcomp", tid, cpu, AUX_BYTES, 0);
	if (err)
		tap_die("intel_pt gives %d", err);
	pt_watch();
	err = pt_try_open(KVM_PT, terms, tid, cpu);
	pt_expect_refused(err, -EBUSY, KVM_TRACE_PT_WHY_INTEL_PT, "perf's intel_pt is in use");
	pt_close(&event);
	err = pt_try_open(KVM_PT, terms, tid, cpu);
	tap_expect(!err, "after intel_pt was closed, it gives %d", err);
	tap_end();
}

static void test_intel_pt_later(const char *terms, int tid, int cpu)
{
	struct pt_event event, intel;
	int err;

	tap_begin("intel_pt_is_busy_then_free: %s, %s", terms, tid < 0 ? "CPU" : "thread");
	pt_must_open(&event, terms, tid, cpu, AUX_BYTES, 0);
	err = pt_try_open(INTEL_PT, "tsc,noretcomp", -1, 0);
	tap_expect(err == -EBUSY, "for a CPU it gives %d", err);
	err = pt_try_open(INTEL_PT, "tsc,noretcomp", 0, -1);
	tap_expect(err == -EBUSY, "for a thread it gives %d", err);
	pt_close(&event);
	err = pt_open(&intel, INTEL_PT, "tsc,noretcomp", 0, -1, AUX_BYTES, 0);
	tap_expect(!err, "after kvm_pt was closed, it gives %d", err);
	if (!err) {
		pt_stop(&intel);
		tap_expect(intel.size, "and it traces nothing");
		pt_close(&intel);
	}
	tap_end();
}

static void insert(const char *path)
{
	errno = 0;
	if (run("insmod selftests/modules/%s", path))
		tap_die("%s cannot be loaded", path);
}

static void test_lbr(void)
{
	int err;

	tap_begin("refused_while_lbr_is_in_use");
	insert("lbr/kvm_trace_test_lbr.ko");
	pt_watch();
	err = pt_try_open(KVM_PT, GUEST, 0, -1);
	pt_expect_refused(err, -EBUSY, KVM_TRACE_PT_WHY_LBR, "LBR or BTS is in use");
	pt_expect_untouched();
	tap_expect(!run("rmmod kvm_trace_test_lbr"), "LBR stays in use");
	err = pt_try_open(KVM_PT, GUEST, 0, -1);
	tap_expect(!err, "after that it gives %d", err);
	tap_end();
}

static int try_open(void *terms)
{
	return pt_try_open(KVM_PT, terms, 0, -1);
}

static void test_unprivileged(void)
{
	int err;

	tap_begin("refused_without_cap_perfmon_whatever_perf_event_paranoid_says");
	set_paranoid(-1);
	pt_watch();
	err = as_user(false, RLIM_INFINITY, try_open, GUEST);
	pt_expect_refused(err, -EACCES, KVM_TRACE_PT_WHY_NO_RIGHT,
			  "it shows what host and guests execute: CAP_PERFMON is needed");
	pt_expect_untouched();
	tap_end();

	tap_begin("allowed_with_cap_perfmon_alone");
	set_paranoid(2);
	err = as_user(true, RLIM_INFINITY, try_open, GUEST);
	tap_expect(!err, "it gives %d", err);
	tap_end();

	tap_begin("an_area_beyond_what_may_be_locked_is_eperm");
	err = as_user(true, 0, try_open, GUEST);
	tap_expect(err == -EPERM, "it gives %d", err);
	tap_end();
}

static void test_areas(void)
{
	struct pt_event event;
	int err;

	tap_begin("an_area_of_one_page_is_refused_but_for_a_snapshot");
	pt_watch();
	err = pt_open(&event, KVM_PT, GUEST, 0, -1, PAGE_BYTES, 0);
	tap_expect(err == -ENOMEM, "it gives %d", err);
	tap_expect(klog_has("kvm_pt: an AUX area of one page is too small"),
		   "the kernel log does not say so");
	pt_expect_untouched();
	if (!err)
		pt_close(&event);
	pt_must_open(&event, GUEST ",psb_period=0", 0, -1, PAGE_BYTES, PT_SNAPSHOT);
	pt_run_kinds(KINDS, 10 * ROUNDS, 0);
	pt_stop(&event);
	tap_expect(event.size == PAGE_BYTES, "%zu bytes of a page", event.size);
	pt_close(&event);
	tap_end();

	tap_begin("an_area_of_more_than_there_can_be_is_enomem");
	err = pt_open(&event, KVM_PT, GUEST, 0, -1, 1ul << 34, 0);
	tap_expect(err == -ENOMEM, "it gives %d", err);
	if (!err)
		pt_close(&event);
	tap_end();
}

static const struct {
	const char *promise, *filter;
	int err;
	const char *words;
} filters[] = {
	{ "more_filters_than_the_cpu_has",
	  "filter 0x1000/0x1000,filter 0x3000/0x1000,stop 0x5000/0x1000", EOPNOTSUPP,
	  "at most 2 address filters" },
	{ "start_filter", "start 0x1000", EOPNOTSUPP, "at most 2 address filters" },
	{ "filter_of_a_file", "filter 0x0/0x1000@/bin/sh", EOPNOTSUPP,
	  "at most 2 address filters" },
	{ "filter_that_is_not_canonical", "filter 0xfffffffffff000/0x2000", EINVAL,
	  "an address filter ends beyond what this CPU can address" },
};

static void test_filters(void)
{
	struct pt_event event;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(filters); i++) {
		tap_begin("refused_with_its_reason: %s", filters[i].promise);
		pt_must_open(&event, GUEST, 0, -1, AUX_BYTES, PT_DISABLED);
		pt_watch();
		errno = 0;
		tap_expect(!pt_filter(&event, filters[i].filter) && errno == filters[i].err,
			   "it gives %d", errno);
		tap_expect(klog_has(filters[i].words), "the kernel log does not have '%s'",
			   filters[i].words);
		pt_expect_untouched();
		pt_close(&event);
		tap_end();
	}
}

/* A guest that looks protected to probes, and then one that does not. */
static void test_protected(void)
{
	struct pt_event event;
	size_t size;

	tap_begin("a_protected_guest_is_not_traced_and_the_next_guest_is");
	insert("protected/kvm_trace_protected.ko");
	pt_watch();
	pt_must_open(&event, GUEST, 0, -1, AUX_BYTES, 0);
	errno = -file_write("/sys/module/kvm_trace_protected/parameters/armed", "1");
	if (errno)
		tap_die("parameter armed");
	pt_run_kinds(KINDS, ROUNDS, 0);
	pt_expect_untouched();
	pt_expect_noted(KVM_TRACE_PT_WHY_PROTECTED);
	file_write("/sys/module/kvm_trace_protected/parameters/armed", "0");
	pt_disable(&event);
	pt_drain(&event);
	size = event.size;
	tap_expect(!size, "%zu bytes of a protected guest", size);
	pt_enable(&event);
	pt_run_kinds(KINDS, ROUNDS, 0);
	pt_stop(&event);
	tap_expect(event.size > size, "no trace of the guest after it");
	pt_close(&event);
	tap_expect(!run("rmmod kvm_trace_protected"), "the test's module cannot be unloaded");
	tap_end();
}

static void test_written(void)
{
	struct pt_event event;

	tap_begin("an_msr_that_is_written_is_seen");
	if (access("/out/pt-msrs.0", F_OK)) {
		tap_skip("the emulator does not log MSRs where L1 could look");
		return;
	}
	pt_watch();
	pt_must_open(&event, GUEST, 0, -1, AUX_BYTES, 0);
	pt_run_kinds(KINDS, ROUNDS, 0);
	pt_close(&event);
	tap_expect(pt_written() > ROUNDS, "%zu writes", pt_written());
	tap_end();
}

/* Modules that pretend to be kvm: the prototype of kvm_exit is another, or there is none. */
static void test_hooks(const char *variant, int error)
{
	int err;

	tap_begin("refused_without_its_hooks: %s", variant);
	insert(variant);
	/* Without a vmlinux modules have no BTF: what cannot be checked is refused. */
	if (access("/sys/kernel/btf/kvm", F_OK))
		error = -ENODATA;
	pt_watch();
	err = pt_try_open(KVM_PT, GUEST, 0, -1);
	pt_expect_refused(err, error, KVM_TRACE_PT_WHY_NO_HOOK,
			  "KVM's tracepoints cannot be used: see the line before");
	pt_expect_untouched();
	tap_expect(!run("rmmod kvm"), "the module cannot be unloaded");
	err = pt_try_open(INTEL_PT, "tsc,noretcomp", -1, 0);
	tap_expect(!err, "intel_pt gives %d after that", err);
	tap_end();
}

static void test_no_hook(void)
{
	const bool amd = module_loaded("kvm_amd");
	int err;

	vm_kvm_close();
	run("rmmod kvm_amd kvm_intel 2>/dev/null; rmmod kvm");
	test_hooks("arity/kvm.ko", -EPROTOTYPE);
	test_hooks("absent/kvm.ko", -ENOENT);
	tap_begin("allowed_with_the_right_kvm_after_that");
	errno = 0;
	if (run("modprobe %s", amd ? "kvm_amd" : "kvm_intel"))
		tap_die("KVM cannot be loaded again");
	err = pt_try_open(KVM_PT, GUEST, 0, -1);
	tap_expect(!err, "it gives %d", err);
	tap_end();
}

static void test_unload(void)
{
	struct pt_event event;

	tap_begin("module_stays_while_an_event_is_open");
	pt_must_open(&event, GUEST, 0, -1, AUX_BYTES, 0);
	tap_expect(run("rmmod kvm_trace 2>/dev/null"), "it is unloaded");
	pt_close(&event);
	tap_expect(!run("rmmod kvm_trace"), "it cannot be unloaded after that");
	tap_expect(!pt_has_pmu(KVM_PT), "its PMU is left");
	tap_expect(!pt_try_open(INTEL_PT, "tsc,noretcomp", -1, 0), "intel_pt is busy");
	need_kvm_pt();
	tap_end();
}

int main(int argc, char **argv)
{
	need_kvm_pt();
	run_on_cpu(0);
	pt_refusals_watch(argc > 1 ? argv[1] : NULL);
	tap_plan(ARRAY_SIZE(pairs) + ARRAY_SIZE(bad) + ARRAY_SIZE(later) + ARRAY_SIZE(methods) +
		 ARRAY_SIZE(filters) + 20);
	test_written();
	test_pairs();
	test_bad();
	test_later();
	test_methods();
	test_parameter();
	test_intel_pt_first(GUEST, -1, 0);
	test_intel_pt_first(HOST, -1, 0);
	test_intel_pt_first(GUEST, 0, -1);
	test_intel_pt_first(BOTH_GUEST, -1, 0);
	test_intel_pt_later(GUEST, 0, -1);
	test_intel_pt_later(GUEST, -1, 0);
	test_intel_pt_later(HOST, -1, 0);
	test_lbr();
	test_unprivileged();
	test_areas();
	test_filters();
	test_protected();
	test_no_hook();
	pt_refusals_end();
	test_unload();
	return tap_exit();
}
