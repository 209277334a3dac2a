// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: kvm, the vendor's module and kvm_trace may come and go in any
 * order, recording or not, and nothing is pinned while nothing records.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		20
#define RETRIES		50
#define ENDLESS		(1ull << 40)

static const char *vendor;	/* kvm_amd or kvm_intel */

static void load(const char *name)
{
	errno = 0;
	if (run("modprobe %s", name))
		tap_die("%s cannot be loaded", name);
}

/* The last reference may be dropped a moment after its holder is gone. */
static bool unload(const char *name)
{
	int i;

	for (i = 0; i < RETRIES; i++) {
		if (!module_loaded(name) || !run("rmmod %s 2>/dev/null", name))
			return true;
		usleep(20000);
	}
	return false;
}

static void unload_kvm(void)
{
	vm_kvm_close();
	tap_expect(unload(vendor), "%s cannot be unloaded", vendor);
	tap_expect(unload("kvm"), "kvm cannot be unloaded");
}

/* A VM now has records for all its exits, in a recording that is on. */
static void expect_records(struct recorder *recorder, const char *when)
{
	struct vmexit *all;
	struct vcpu vcpu;
	size_t count;
	struct vm vm;

	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_MIX & ~KIND_BIT(KIND_entry_failure), ROUNDS);
	guest_run(&vcpu);
	trace_read(&recorder->session);
	count = recorder_vmexits(recorder, &all);
	tap_expect(count + 1 == vcpu_stat(&vcpu, "exits"), "%s: %zu records of %llu exits", when,
		   count, vcpu_stat(&vcpu, "exits"));
	expect_whole(all, count, when);
	free(all);
	trace_forget(&recorder->session);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	vm_kvm_close();
}

static void record_once(const char *when)
{
	struct recorder recorder = {};

	recorder_start(&recorder, REC_OURS, 4);
	expect_records(&recorder, when);
	recorder_close(&recorder);
}

static void expect_unpinned(const char *when)
{
	tap_expect(!module_users(vendor), "%s: %s has %d users", when, vendor,
		   module_users(vendor));
	tap_expect(module_users("kvm") == 1, "%s: kvm has %d users, %s is one", when,
		   module_users("kvm"), vendor);
	tap_expect(!module_users("kvm_trace"), "%s: kvm_trace has %d users", when,
		   module_users("kvm_trace"));
}

static void pinned_by_perf(void)
{
	struct recorder recorder = {};

	tap_begin("load_order: perf keeps kvm_trace");
	recorder_start(&recorder, REC_OURS, 4);
	tap_expect(run("rmmod kvm_trace 2>/dev/null"), "it was unloaded while perf records");
	expect_records(&recorder, "after rmmod was refused");
	recorder_close(&recorder);
	expect_unpinned("after the recording");
	tap_end();
}

static void pinned_by_ftrace(void)
{
	static const char trigger[] = "hist:keys=vm,class:vals=host_ns";
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("load_order: ftrace and a trigger keep kvm_trace, under a running guest");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_start(&vcpu, KIND_MIX & ~KIND_BIT(KIND_entry_failure), ENDLESS);
	tap_expect(!tracefs_write("1", "events/kvm_trace/enable"), "events cannot be enabled");
	usleep(50000);
	tap_expect(run("rmmod kvm_trace 2>/dev/null"), "it was unloaded while ftrace records");
	tap_expect(!tracefs_write("0", "events/kvm_trace/enable"), "events cannot be disabled");
	tap_expect(!tracefs_write(trigger, "events/kvm_trace/vmexit/trigger"), "no trigger");
	tap_expect(run("rmmod kvm_trace 2>/dev/null"), "it was unloaded under a trigger");
	tap_expect(!tracefs_write("!hist:keys=vm,class:vals=host_ns",
				  "events/kvm_trace/vmexit/trigger"), "the trigger stays");
	tap_expect(unload("kvm_trace"), "kvm_trace cannot be unloaded");
	tap_expect(!tracefs_write("", "trace"), "the trace cannot be emptied");
	guest_stop(&vcpu);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	vm_kvm_close();
	load("kvm_trace");
	record_once("loaded again");
	expect_unpinned("at the end");
	tap_end();
}

int main(void)
{
	struct recorder recorder = {};

	need_kvm_trace();
	vendor = module_loaded("kvm_amd") ? "kvm_amd" : "kvm_intel";
	tap_plan(8);

	tap_begin("load_order: kvm_trace before kvm");
	tap_expect(unload("kvm_trace"), "kvm_trace cannot be unloaded");
	unload_kvm();
	load("kvm_trace");
	tap_expect(!module_loaded("kvm"), "kvm_trace needs kvm");
	load(vendor);
	record_once("kvm_trace first");
	tap_end();

	tap_begin("load_order: recording before kvm");
	unload_kvm();
	recorder_start(&recorder, REC_OURS, 4);
	load(vendor);
	expect_records(&recorder, "recording first");
	recorder_close(&recorder);
	tap_end();

	tap_begin("load_order: kvm before kvm_trace");
	tap_expect(unload("kvm_trace"), "kvm_trace cannot be unloaded");
	load("kvm_trace");
	record_once("kvm first");
	tap_end();

	tap_begin("load_order: nothing is pinned while nothing records");
	expect_unpinned("after a recording");
	recorder_start(&recorder, REC_OURS, 4);
	recorder_close(&recorder);
	expect_unpinned("after an empty recording");
	tap_end();

	tap_begin("load_order: KVM reloaded under kvm_trace");
	tap_expect(unload(vendor), "%s cannot be unloaded", vendor);
	load(vendor);
	record_once("after the vendor's module");
	unload_kvm();
	load(vendor);
	record_once("after both");
	tap_end();

	tap_begin("load_order: KVM reloaded while recording");
	recorder_start(&recorder, REC_OURS, 4);
	expect_records(&recorder, "before");
	tap_expect(unload(vendor), "%s cannot be unloaded", vendor);
	load(vendor);
	expect_records(&recorder, "after the vendor's module");
	unload_kvm();
	load(vendor);
	expect_records(&recorder, "after both");
	recorder_close(&recorder);
	expect_unpinned("after the recording");
	tap_end();
	pinned_by_perf();
	pinned_by_ftrace();
	return tap_exit();
}
