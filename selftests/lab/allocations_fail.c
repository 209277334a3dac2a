// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: whichever allocation fails below the module, in turn, what asked for it fails with
 * ENOMEM or does without, and the same works right after. Loading, enabling each event for
 * perf and for ftrace, a change of the words, with --pt events of kvm_pt; and new vCPUs,
 * whose exits are then told as lost. It takes a kernel with fault injection.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "module.h"
#include "pt_event.h"
#include "pt_mode.h"
#include "records.h"
#include "tap.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define MODULE		"/lib/modules/%s/updates/kvm-trace/kvm_trace.ko*"
#define MOST		20000	/* allocations of one try */
#define ROUNDS		20
#define BURST		100	/* more vCPUs than there are states ready for */
#define AUX_BYTES	(1ul << 20)
#define PT_TERMS	"tsc,noretcomp,mode=2"

static const char * const injectors[] = { "failslab", "fail_page_alloc" };
static int nth_fd = -1;
static char module_path[256];

static void knob(const char *injector, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", injector, name);
	errno = -file_write(path, value);
	if (errno)
		tap_die("%s", path);
}

static void knobs(const char *name, const char *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(injectors); i++)
		knob(injectors[i], name, value);
}

static void knob_address(const char *name, unsigned long address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%lx", address);
	knobs(name, text);
}

/* Allocations with a caller between two addresses may fail, and no others. */
static void fail_below(unsigned long start, unsigned long end)
{
	knob_address("require-start", start);
	knob_address("require-end", end);
}

/* Those with one of these callers may not. */
static void spare_below(unsigned long start, unsigned long end)
{
	knob_address("reject-start", start);
	knob_address("reject-end", end);
}

/* A line of /proc/kallsyms; false at its end. */
static bool next_symbol(FILE *file, unsigned long *address, char *kind, char name[256],
			char module[64])
{
	char line[512];

	if (!file || !fgets(line, sizeof(line), file))
		return false;
	*module = '\0';
	return sscanf(line, "%lx %c %255s [%63[^]]", address, kind, name, module) >= 3;
}

/* Where a function of the kernel, and the next one, begins. */
static unsigned long function(const char *wanted, unsigned long *next)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long address, found = 0;
	char kind, name[256], module[64];

	*next = -1ul;
	while (next_symbol(file, &address, &kind, name, module)) {
		if (!*module && !strcmp(name, wanted))
			found = address;
		else if (found && address > found && address < *next)
			*next = address;
	}
	if (!found)
		tap_die("/proc/kallsyms has no %s", wanted);
	fclose(file);
	return found;
}

static void fail_below_module(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long address, start = -1ul, end = 0;
	char kind, name[256], module[64];

	while (next_symbol(file, &address, &kind, name, module)) {
		if (strcmp(module, "kvm_trace") || (kind != 't' && kind != 'T'))
			continue;
		if (address < start)
			start = address;
		if (address > end)
			end = address;
	}
	if (!end)
		tap_die("/proc/kallsyms has no functions of kvm_trace");
	fclose(file);
	/* The last function has room. */
	fail_below(start, end + 4096);
	spare_below(0, 0);
}

/*
 * While it loads, its addresses are not known: all behind the kernel. A cache that cannot be
 * made the kernel tells with a stack, as if that were an error of its own.
 */
static void fail_below_loading(void)
{
	unsigned long start, end;

	fail_below(function("_end", &end), -1ul);
	start = function("__kmem_cache_create_args", &end);
	spare_below(start, end);
}

static void faults_prepare(void)
{
	knobs("verbose", "0");
	knobs("probability", "0");
	knobs("interval", "1");
	knobs("space", "0");
	knobs("times", "-1");
	knobs("task-filter", "0");
	knobs("stacktrace-depth", "32");
	knobs("ignore-gfp-wait", "0");
	knob("fail_page_alloc", "ignore-gfp-highmem", "0");
	knob("fail_page_alloc", "min-order", "0");
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		tap_die("/proc/thread-self/fail-nth");
}

static void nth_set(unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(nth_fd, text, n, 0) != n)
		tap_die("/proc/thread-self/fail-nth");
}

static bool nth_has_failed(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		tap_die("/proc/thread-self/fail-nth");
	return !atoi(text);
}

struct attempt {
	const char *name;
	int (*begin)(void);	/* 0 or a negative errno */
	void (*end)(void);
};

/* What begin_perf() and begin_ftrace() take. */
static const struct event_name {
	const char *system, *event;
} *chosen;

/* The first, the second, and so on, until there are no more. */
static void fail_each(const struct attempt *attempt)
{
	unsigned int nth, refused = 0, survived = 0;
	bool failed = true;
	int err;

	for (nth = 1; failed && nth < MOST; nth++) {
		nth_set(nth);
		err = attempt->begin();
		failed = nth_has_failed();
		nth_set(0);
		if (!err)
			attempt->end();
		if (failed && err)
			refused++;
		else if (failed)
			survived++;
		tap_expect(!err || (failed && err == -ENOMEM), "%s: error %d, allocation %u %s",
			   attempt->name, err, nth, failed ? "has failed" : "has not failed");
	}
	tap_expect(!failed, "%s: over %d allocations", attempt->name, MOST);
	tap_expect(refused, "%s: no allocation of %u is one that it needs", attempt->name, nth - 2);
	tap_note("%s: %u allocations failed, without %u of them it works all the same",
		 attempt->name, refused + survived, survived);
}

static int begin_load(void)
{
	int fd = open(module_path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		tap_die("%s", module_path);
	err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return err;
}

static void end_load(void)
{
	if (syscall(SYS_delete_module, "kvm_trace", O_NONBLOCK))
		tap_die("kvm_trace cannot be unloaded");
}

static int perf_fd;

static int begin_perf(void)
{
	static struct trace_event event;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
	};

	if (strcmp(event.name, chosen->event))
		trace_event_need(&event, chosen->system, chosen->event);
	attr.config = event.id;
	perf_fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return perf_fd < 0 ? -errno : 0;
}

static void end_perf(void)
{
	close(perf_fd);
}

static int begin_ftrace(void)
{
	return tracefs_write("1", "events/%s/%s/enable", chosen->system, chosen->event);
}

static void end_ftrace(void)
{
	if (tracefs_write("0", "events/%s/%s/enable", chosen->system, chosen->event))
		tap_die("%s:%s cannot be disabled", chosen->system, chosen->event);
}

static int begin_words(void)
{
	return parameter_set("words", "all");
}

static void end_words(void)
{
	words_set("lean");
}

static struct pt_event pt;

static int begin_pt(void)
{
	return pt_open(&pt, KVM_PT, PT_TERMS, 0, -1, AUX_BYTES, PT_DISABLED);
}

static void end_pt(void)
{
	pt_close(&pt);
}

static const struct attempt load = { "load", begin_load, end_load };
static const struct attempt perf = { "perf", begin_perf, end_perf };
static const struct attempt ftrace = { "ftrace", begin_ftrace, end_ftrace };
static const struct attempt words = { "words", begin_words, end_words };
static const struct attempt pt_events = { "kvm_pt", begin_pt, end_pt };

static const struct event_name events[] = {
	{ "kvm_trace", "vmexit" },
	{ "kvm_trace", "hypercall" },
	{ "kvm_trace_detail", "hypercall_sub" },
	{ "kvm_trace_batch", "vmexits" },
};

/* Each exit of a new vCPU has its record. */
static void expect_records(const char *when)
{
	struct recorder recorder = {};
	struct vmexit *all;
	struct vcpu vcpu;
	size_t count;
	struct vm vm;

	recorder_start(&recorder, REC_OURS, 4);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_MIX & ~KIND_BIT(KIND_entry_failure), ROUNDS);
	guest_run(&vcpu);
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	tap_expect(count + 1 == vcpu_stat(&vcpu, "exits"), "%s: %zu records of %llu exits", when,
		   count, vcpu_stat(&vcpu, "exits"));
	expect_whole(all, count, when);
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
}

static void test_load(void)
{
	struct utsname name;
	glob_t found;

	tap_begin("allocations_fail: loading");
	uname(&name);
	snprintf(module_path, sizeof(module_path), MODULE, name.release);
	if (glob(module_path, 0, NULL, &found))
		tap_die("%s", module_path);
	snprintf(module_path, sizeof(module_path), "%s", found.gl_pathv[0]);
	globfree(&found);
	if (run("modprobe -r kvm_trace"))
		tap_die("kvm_trace cannot be unloaded");
	fail_below_loading();
	fail_each(&load);
	need_kvm_trace();
	expect_records("loaded");
	tap_end();
}

/* What has come and gone once is not checked again until kvm comes anew. */
static void forget_prototypes(void)
{
	const char *vendor = module_loaded("kvm_amd") ? "kvm_amd" : "kvm_intel";

	vm_kvm_close();
	if (run("modprobe -r %s && modprobe %s", vendor, vendor))
		tap_die("%s cannot be loaded again", vendor);
}

static void test_events(void)
{
	struct trace_session session = {};
	struct trace_event vmexit, *event = &vmexit;
	size_t i;

	fail_below_module();
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		chosen = &events[i];
		tap_begin("allocations_fail: %s for perf", chosen->event);
		if (!i)
			forget_prototypes();
		fail_each(&perf);
		expect_records(chosen->event);
		tap_end();
		tap_begin("allocations_fail: %s for ftrace", chosen->event);
		fail_each(&ftrace);
		expect_records(chosen->event);
		tap_end();
	}
	tap_begin("allocations_fail: words");
	words_set("lean");
	trace_event_need(&vmexit, "kvm_trace", "vmexit");
	trace_open(&session, &event, 1, 1);
	fail_each(&words);
	trace_close(&session);
	words_set("default");
	expect_records("words");
	tap_end();
	tap_begin("allocations_fail: kvm_pt");
	if (pt_has_pmu(KVM_PT))
		fail_each(&pt_events);
	else
		tap_skip("this CPU has no Intel PT");
	tap_end();
}

/* The last exit of each with state is open, and the last loss of all not yet told. */
static void test_vcpus(void)
{
	static struct vcpu vcpus[BURST];
	struct recorder recorder = {};
	u64 exits = 0, told;
	struct vmexit *all;
	size_t count, i;
	struct vm vm;

	tap_begin("allocations_fail: %d new vCPUs", BURST);
	/* Each CPU tells of its own losses at its next VM entry. */
	run_on_cpu(0);
	vm_create(&vm, BURST, 0);
	for (i = 0; i < BURST; i++) {
		vcpu_create(&vm, &vcpus[i], i);
		guest_load(&vcpus[i], KIND_BIT(KIND_cpuid), ROUNDS);
	}
	recorder_start(&recorder, REC_OURS, 4);
	knobs("probability", "100");
	for (i = 0; i < BURST; i++)
		guest_run(&vcpus[i]);
	knobs("probability", "0");
	recorder_stop(&recorder);
	told = recorder_lost(&recorder);
	count = recorder_vmexits(&recorder, &all);
	free(all);
	for (i = 0; i < BURST; i++) {
		exits += vcpu_stat(&vcpus[i], "exits");
		vcpu_destroy(&vcpus[i]);
	}
	tap_expect(told, "none was lost: every vCPU has found a state");
	tap_expect(count + told <= exits && count + told + BURST + 1 >= exits,
		   "%zu records and %llu lost of %llu exits", count, told, exits);
	tap_note("%zu records and %llu lost of %llu exits", count, told, exits);
	vm_destroy(&vm);
	recorder_close(&recorder);
	expect_records("with memory again");
	tap_end();
}

int main(void)
{
	if (access(DEBUGFS "failslab", F_OK) || access(DEBUGFS "fail_page_alloc", F_OK)) {
		puts("1..0 # SKIP this kernel has no fault injection, as the lab's sanitize has");
		return 4;
	}
	need_kvm_trace();
	tap_plan(4 + 2 * ARRAY_SIZE(events));
	faults_prepare();
	test_load();
	test_events();
	test_vcpus();
	return tap_exit();
}
