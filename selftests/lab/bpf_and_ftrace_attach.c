// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: whoever enables an event gets it: a BPF program on the raw
 * tracepoint, an ftrace instance; and when the last one leaves, KVM's
 * tracepoints are let go.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		50
#define INSTANCE	"instances/kvm_trace_test"
#define TRIES		100

static struct vcpu vcpu;

static u64 run_loop(void)
{
	u64 exits = vcpu_stat(&vcpu, "exits");

	guest_load(&vcpu, KIND_MIX & ~KIND_BIT(KIND_entry_failure), ROUNDS);
	guest_run(&vcpu);
	return vcpu_stat(&vcpu, "exits") - exits;
}

static bool attached(void)
{
	char *text = file_read("/sys/kernel/debug/kvm_trace/pending");
	bool idle = text && strstr(text, "not recording");

	free(text);
	return !idle;
}

/* A worker attaches for BPF, and lets go: that takes a moment. */
static bool wait_attached(bool wanted)
{
	int i;

	for (i = 0; i < TRIES && attached() != wanted; i++)
		usleep(10000);
	return i < TRIES;
}

static void by_bpf(void)
{
	struct bpf_counter counter;
	u64 grown, before, hits;

	tap_begin("bpf_raw_tracepoint_attaches");
	tap_expect(!attached(), "attached before");
	errno = -bpf_counter_attach(&counter, "vmexit");
	if (errno)
		tap_die("BPF program on vmexit");
	tap_expect(wait_attached(true), "not attached");
	/* The first entry and exit that are seen open the first round trip. */
	run_loop();
	before = bpf_counter_read(&counter);
	grown = run_loop();
	hits = bpf_counter_read(&counter) - before;
	tap_expect(hits == grown, "%llu hits of %llu exits", hits, grown);
	bpf_counter_detach(&counter);
	tap_expect(wait_attached(false), "still attached");
	tap_end();
}

static size_t lines_with(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static void by_ftrace(void)
{
	u64 grown, n;
	char *text;

	tap_begin("ftrace_instance: one line for each exit");
	if (mkdir(TRACEFS "/" INSTANCE, 0700))
		tap_die(INSTANCE);
	tap_expect(!tracefs_write("16384", INSTANCE "/buffer_size_kb"), "no large buffer");
	tap_expect(!tracefs_write("1", INSTANCE "/events/kvm_trace/vmexit/enable"), "not enabled");
	tap_expect(attached(), "not attached");
	grown = run_loop();
	tap_expect(!tracefs_write("0", INSTANCE "/events/kvm_trace/vmexit/enable"), "not disabled");
	tap_expect(!attached(), "still attached");
	text = tracefs_read(INSTANCE "/trace");
	if (!text)
		tap_die(INSTANCE "/trace");
	n = lines_with(text, ": vmexit: vm ");
	tap_expect(n == grown || n + 1 == grown, "%llu lines of %llu exits", n, grown);
	n = lines_with(text, " CPUID class cpuid host_ns ");
	tap_expect(n == ROUNDS, "%llu lines of CPUID in %d rounds", n, ROUNDS);
	n = lines_with(text, " class io host_ns ");
	tap_expect(n >= 2 * ROUNDS, "%llu lines of class io in %d rounds", n, ROUNDS);
	free(text);
	rmdir(TRACEFS "/" INSTANCE);
	tap_end();
}

static void together(void)
{
	struct recorder recorder = {};
	struct bpf_counter counter;
	u64 before, grown, hits;

	tap_begin("consumers_leave_in_any_order");
	recorder_start(&recorder, REC_OURS, 4);
	errno = -bpf_counter_attach(&counter, "vmexit");
	if (errno)
		tap_die("BPF program on vmexit");
	run_loop();
	before = bpf_counter_read(&counter);
	recorder_close(&recorder);
	grown = run_loop();
	hits = bpf_counter_read(&counter) - before;
	tap_expect(hits == grown, "BPF has %llu hits of %llu exits after perf left", hits, grown);
	recorder_start(&recorder, REC_OURS, 4);
	bpf_counter_detach(&counter);
	usleep(100000);
	trace_read(&recorder.session);
	trace_forget(&recorder.session);
	grown = run_loop();
	recorder_stop(&recorder);
	for (hits = 0, before = 0; before < recorder.session.nr_samples; before++)
		hits += sample_is(&recorder.session.samples[before], "vmexit");
	tap_expect(hits == grown || hits + 1 == grown,
		   "perf has %llu records of %llu exits after BPF left", hits, grown);
	recorder_close(&recorder);
	tap_expect(wait_attached(false), "still attached");
	tap_end();
}

int main(void)
{
	struct vm vm;

	need_kvm_trace();
	tap_plan(3);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	by_bpf();
	by_ftrace();
	together();
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	return tap_exit();
}
