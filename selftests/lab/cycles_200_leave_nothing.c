// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: 200 times loading and unloading the module, and 200 times turning
 * its events on and off, under a guest that runs: no leak, no complaint of the
 * kernel, and recording works afterwards.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "slab.h"
#include "tap.h"

#define CYCLES		200
#define WARM_UP		10
#define LIMIT		(CYCLES * 3 / 4)
#define VCPUS		1
#define PAUSE_US	5000	/* leaves the CPU to the test */
#define RETRIES		100
#define ENDLESS		(1ull << 40)
/* Without compression and debug information it is loaded in a tenth of the time. */
#define COPY		"/tmp/kvm_trace.ko"
#define KINDS		(KIND_MIX & ~KIND_BIT(KIND_entry_failure))

static struct vcpu vcpus[VCPUS];
static struct vm vm;

static void unload(void)
{
	int i;

	for (i = 0; i < RETRIES && run("rmmod kvm_trace 2>/dev/null"); i++)
		usleep(10000);
	tap_expect(i < RETRIES, "kvm_trace cannot be unloaded");
}

static void record_a_moment(void)
{
	struct recorder recorder = {};
	int i;

	recorder_start(&recorder, REC_OURS, 1);
	for (i = 0; i < RETRIES && !recorder.session.nr_samples; i++) {
		usleep(1000);
		trace_read(&recorder.session);
	}
	tap_expect(i < RETRIES, "nothing was recorded");
	recorder_close(&recorder);
}

static void load_unload(unsigned int cycle)
{
	tap_expect(!run("insmod " COPY), "cycle %u: kvm_trace cannot be loaded", cycle);
	if (cycle % 2)
		record_a_moment();
	unload();
}

static void enable_disable(unsigned int cycle)
{
	if (cycle % 2) {
		record_a_moment();
		return;
	}
	tap_expect(!tracefs_write("1", "events/kvm_trace/enable"), "cycle %u: cannot enable",
		   cycle);
	usleep(1000);
	tap_expect(!tracefs_write("0", "events/kvm_trace/enable"), "cycle %u: cannot disable",
		   cycle);
}

static void repeat(const char *name, void (*cycle)(unsigned int))
{
	struct slab_count before, after;
	unsigned int i;

	tap_begin("cycles_200_leave_nothing: %s", name);
	for (i = 0; i < WARM_UP; i++)
		cycle(i);
	slab_count(&before);
	klog_mark();
	for (i = 0; i < CYCLES; i++)
		cycle(i);
	slab_count_after(&after, &before, LIMIT);
	slab_expect(&before, &after, LIMIT, name);
	tap_expect(!klog_has("WARNING") && !klog_has("BUG") && !klog_has("Call Trace"),
		   "the kernel complains");
	tap_end();
}

int main(void)
{
	struct recorder recorder = {};
	struct vmexit *all, *list;
	size_t count, n;
	u32 i;

	need_kvm_trace();
	tap_plan(3);
	vm_create(&vm, VCPUS, 0);
	for (i = 0; i < VCPUS; i++) {
		vcpu_create(&vm, &vcpus[i], i);
		vcpus[i].pause_us = PAUSE_US;
		guest_start(&vcpus[i], KINDS, ENDLESS);
	}
	repeat("events on and off", enable_disable);
	errno = 0;
	if (run("file=$(modinfo -n kvm_trace) && case $file in *.xz) xz -dc \"$file\" ;;"
		"*) cat \"$file\" ;; esac >" COPY " && strip -g " COPY))
		tap_die("copy of kvm_trace.ko");
	unload();
	repeat("module loaded and unloaded", load_unload);

	tap_begin("cycles_200_leave_nothing: recording works afterwards");
	need_kvm_trace();
	for (i = 0; i < VCPUS; i++)
		guest_stop(&vcpus[i]);
	recorder_start(&recorder, REC_OURS, 4);
	for (i = 0; i < VCPUS; i++) {
		guest_start(&vcpus[i], KINDS, 20);
		guest_join(&vcpus[i]);
	}
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < VCPUS; i++) {
		n = vmexits_of(all, count, recorder_vm(&recorder, &vm), i, &list);
		tap_expect(n > 20, "vCPU %u has %zu records", i, n);
		expect_whole(list, n, "vCPU 0");
		free(list);
		vcpu_destroy(&vcpus[i]);
	}
	free(all);
	vm_destroy(&vm);
	recorder_close(&recorder);
	unlink(COPY);
	tap_end();
	return tap_exit();
}
