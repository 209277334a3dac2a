// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: what the MSRs of Intel PT held before is in them, bit for bit, whenever a vCPU's
 * thread is in user space, and after the event is closed; also of a CPU that a vCPU has left,
 * that has gone and come, or whose VMM was killed. Values are planted that nobody else writes.
 * A VMCS has nothing of kvm_pt's but between an entry and its exit: a module looks.
 */
#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../pt-emu/core/pt_emu.h"
#include "module.h"
#include "msr.h"
#include "pt_mode.h"
#include "tap.h"
#include "trace.h"

#define LOOK		"kvm_trace_test_pt_look"
#define LOOKS		20	/* 3 a round trip to user space */
#define AUX_BYTES	(4ul << 20)
#define ROUNDS		20
#define MOVES		20
#define WAIT_US		20000
#define TRIES		1500
#define CPU1_ONLINE	"/sys/devices/system/cpu/cpu1/online"

static struct {
	const char *name;
	u32 msr;
	u64 value;
} planted[] = {
	{ "IA32_RTIT_CTL", PT_EMU_MSR_CTL, PT_EMU_CTL_OS | PT_EMU_CTL_TSCEN | PT_EMU_CTL_TOPA },
	{ "IA32_RTIT_STATUS", PT_EMU_MSR_STATUS, 0x345ull << PT_EMU_STATUS_BYTECNT_SHIFT },
	{ "IA32_RTIT_OUTPUT_BASE", PT_EMU_MSR_OUTPUT_BASE, 0 },
	{ "IA32_RTIT_OUTPUT_MASK_PTRS", PT_EMU_MSR_OUTPUT_MASK, 0x7full | 0x128ull << 32 },
	{ "IA32_RTIT_CR3_MATCH", PT_EMU_MSR_CR3_MATCH, 0x12340 },
	{ "IA32_RTIT_ADDR0_A", PT_EMU_MSR_ADDR0_A, 0x1000 },
	{ "IA32_RTIT_ADDR0_B", PT_EMU_MSR_ADDR0_A + 1, 0x2fff },
	{ "IA32_RTIT_ADDR1_A", PT_EMU_MSR_ADDR0_A + 2, 0xffffffff80000000ull },
	{ "IA32_RTIT_ADDR1_B", PT_EMU_MSR_ADDR0_A + 3, 0xffffffff80ffffffull },
};

static void plant(bool on)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(planted); i++)
		msr_set(planted[i].msr, on ? planted[i].value : 0);
}

static void expect_planted(const char *when)
{
	size_t i;
	u64 found;

	for (i = 0; i < ARRAY_SIZE(planted); i++) {
		found = msr_get(planted[i].msr);
		tap_expect(found == planted[i].value, "%s %s is 0x%llx and not 0x%llx", when,
			   planted[i].name, found, planted[i].value);
	}
}

/* Looks at the MSRs after each exit to user space. */
static void run_looking(void)
{
	struct vcpu vcpu;
	struct vm vm;
	int reason;

	vm_create(&vm, 1, guest_needs(KIND_MIX));
	vcpu_create(&vm, &vcpu, 0);
	guest_fail_entries(&vcpu, 2);
	expect_planted("after a failed entry");
	guest_load(&vcpu, KIND_MIX, ROUNDS);
	do {
		reason = vcpu_run(&vcpu);
		expect_planted("in user space");
	} while (guest_handle(&vcpu, reason));
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
}

static void test_guest(enum pt_method method, const char *filter, bool thread)
{
	char terms[PT_TERMS_BYTES];
	struct pt_event event;

	tap_begin("msrs_are_as_found: guest, %s%s%s", pt_method_name(method),
		  filter ? ", filter " : "", filter ?: thread ? ", thread" : ", CPU");
	if (!pt_has_method(method)) {
		tap_skip("this CPU does not have the method");
		return;
	}
	plant(true);
	pt_terms(terms, PT_MODE_GUEST, 0, method, 1);
	pt_must_open(&event, terms, thread ? 0 : -1, thread ? -1 : 0, AUX_BYTES, PT_DISABLED);
	if (filter && !pt_filter(&event, filter))
		tap_die("filter %s", filter);
	if (pt_enable(&event))
		tap_die("PERF_EVENT_IOC_ENABLE");
	run_looking();
	pt_stop(&event);
	tap_expect(event.size, "there is no trace");
	expect_planted("after it was disabled");
	pt_close(&event);
	expect_planted("after it was closed");
	plant(false);
	tap_end();
}

static void test_host(bool guest_too, enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_event host, guest;

	tap_begin("msrs_are_as_found_in_the_end: %s, %s", guest_too ? "host_guest" : "host",
		  pt_method_name(method));
	if (!pt_has_method(method)) {
		tap_skip("this CPU does not have the method");
		return;
	}
	plant(true);
	pt_terms(terms, guest_too ? PT_MODE_HOST_GUEST : PT_MODE_HOST, PT_STREAM_HOST, method, 1);
	pt_must_open(&host, terms, -1, 0, AUX_BYTES, 0);
	if (guest_too) {
		pt_terms(terms, PT_MODE_HOST_GUEST, PT_STREAM_GUEST, method, 2);
		pt_must_open(&guest, terms, -1, 0, AUX_BYTES, 0);
	}
	pt_run_kinds("mix", ROUNDS, 0);
	if (guest_too) {
		pt_stop(&guest);
		tap_expect(guest.size, "there is no trace of the guest");
		pt_close(&guest);
	}
	pt_stop(&host);
	tap_expect(host.size, "there is no trace");
	expect_planted("after it was disabled");
	pt_close(&host);
	expect_planted("after it was closed");
	plant(false);
	tap_end();
}

static unsigned int cpus;

static void plant_cpus(bool on)
{
	unsigned int cpu;

	for (cpu = cpus; cpu--;) {
		msr_on_cpu(cpu);
		plant(on);
	}
}

static void expect_planted_cpus(const char *when)
{
	unsigned int cpu;

	for (cpu = cpus; cpu--;) {
		msr_on_cpu(cpu);
		expect_planted(when);
	}
}

static bool looking;	/* LOOK is loaded: this CPU has VMCSs */

static u64 looked(const char *name)
{
	char path[128], *text;
	u64 value;

	snprintf(path, sizeof(path), "/sys/module/" LOOK "/parameters/%s", name);
	text = file_read(path);
	if (!text)
		tap_die("%s", path);
	value = strtoull(text, NULL, 10);
	free(text);
	return value;
}

static void look_anew(void)
{
	if (looking && file_write("/sys/module/" LOOK "/parameters/reset", "1"))
		tap_die(LOOK);
}

static void wait_for(const char *name, u64 value)
{
	unsigned int i;

	for (i = 0; looking && looked(name) < value; i++) {
		if (i == 20 * TRIES)
			tap_die("%s is %llu and not %llu", name, looked(name), value);
		usleep(WAIT_US / 20);
	}
}

/* Entries come with and without an event: what is in the VMCS is looked at. */
static void wait_for_entries(void)
{
	if (looking)
		wait_for("looks", looked("looks") + LOOKS);
}

static void guest_start_looked_at(struct pt_guest *guest)
{
	pt_guest_start(guest, 0);
	/* Before there is an event. */
	wait_for("seen", 1);
}

#define KILLED	4

/* The event, of a CPU or of the thread, goes on after its VMM. */
static void run_killed(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_event event;
	unsigned int turn, i;
	pid_t child;

	for (turn = 0; turn < KILLED; turn++) {
		child = pt_fork_guest();
		wait_for("seen", turn + 1);
		pt_terms(terms, PT_MODE_GUEST, 0, method, 1);
		pt_must_open(&event, terms, turn & 1 ? child : -1, turn & 1 ? -1 : 0, AUX_BYTES, 0);
		for (i = 0; i < TRIES && event.size < 4096; i++) {
			usleep(WAIT_US);
			pt_drain(&event);
			if (turn & 1)
				continue;
			pt_disable(&event);
			pt_drain(&event);
			pt_enable(&event);
		}
		tap_expect(i < TRIES, "no trace of it");
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		expect_planted_cpus("after it was killed");
		wait_for("freed", turn + 1);
		pt_close(&event);
		expect_planted_cpus("after the event was closed");
	}
}

#define REMOVED	10

/* An event is closed while its guest runs, which goes on without it. */
static void run_removed(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_guest guest;
	struct pt_event event;
	unsigned int turn, i;

	guest_start_looked_at(&guest);
	pt_terms(terms, PT_MODE_GUEST, 0, method, 1);
	for (turn = 0; turn < REMOVED; turn++) {
		pt_must_open(&event, terms, guest.vcpu.tid, -1, AUX_BYTES, 0);
		for (i = 0; i < TRIES && !event.size; i++) {
			usleep(WAIT_US / 4);
			pt_disable(&event);
			pt_drain(&event);
			pt_enable(&event);
		}
		tap_expect(i < TRIES, "no trace of it");
		pt_close(&event);
		expect_planted_cpus("after the event was closed");
		wait_for_entries();
	}
	pt_guest_end(&guest);
	expect_planted_cpus("after its end");
}

static void run_moves(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_guest guest;
	struct pt_event event;
	unsigned int i;

	guest_start_looked_at(&guest);
	pt_terms(terms, PT_MODE_GUEST, 0, method, 1);
	pt_must_open(&event, terms, guest.vcpu.tid, -1, AUX_BYTES, 0);
	for (i = 0; i < MOVES; i++) {
		pt_move(guest.vcpu.tid, i & 1);
		wait_for_entries();
		/* The guest may be just on the other one. */
		pt_disable(&event);
		expect_planted_cpus("after a move");
		pt_enable(&event);
		pt_drain(&event);
	}
	pt_guest_end(&guest);
	expect_planted_cpus("after its end");
	pt_stop(&event);
	pt_expect_guest(&event, method);
	pt_close(&event);
}

static void set_online(bool online)
{
	errno = -file_write(CPU1_ONLINE, online ? "1" : "0");
	if (errno)
		tap_die("CPU 1 %s", online ? "online" : "offline");
}

/* @of_cpu: the event is of the CPU that goes, and ends with it; else of the vCPU's thread. */
static void run_offline(enum pt_method method, bool of_cpu)
{
	char terms[PT_TERMS_BYTES];
	struct pt_guest guest;
	struct pt_event event;

	guest_start_looked_at(&guest);
	pt_move(guest.vcpu.tid, 1);
	pt_terms(terms, PT_MODE_GUEST, 0, method, 1);
	pt_must_open(&event, terms, of_cpu ? -1 : guest.vcpu.tid, of_cpu ? 1 : -1, AUX_BYTES, 0);
	usleep(2 * WAIT_US);
	set_online(false);
	wait_for_entries();
	pt_drain(&event);
	tap_expect(event.size, "its trace is not published");
	/* A thread's is off before, as the thread has left. */
	tap_expect(event.partial == of_cpu, "%llu records tell of a gap", event.partial);
	set_online(true);
	expect_planted_cpus("after it has come");
	/* This is another CPU to perf; its event has to be opened again. */
	if (of_cpu) {
		pt_stop(&event);
		pt_expect_guest(&event, method);
		pt_close(&event);
		pt_must_open(&event, terms, -1, 1, AUX_BYTES, 0);
	}
	pt_move(guest.vcpu.tid, 1);
	usleep(2 * WAIT_US);
	pt_guest_end(&guest);
	expect_planted_cpus("after the guest's end");
	pt_stop(&event);
	pt_expect_guest(&event, method);
	pt_close(&event);
}

static void run_offline_thread(enum pt_method method)
{
	run_offline(method, false);
}

static void run_offline_cpu(enum pt_method method)
{
	run_offline(method, true);
}

/*
 * The kernel's own test of suspend to RAM: tasks, devices, CPUs and the core go to sleep, and
 * are awake again at once. The root of QEMU's lab, 9p, does not survive that of its device.
 */
static bool can_sleep(void)
{
	struct statfs root;

	return !statfs("/", &root) && (root.f_type == RAMFS_MAGIC || root.f_type == TMPFS_MAGIC) &&
	       !file_write("/sys/power/pm_test", "core") &&
	       !file_write("/sys/power/mem_sleep", "deep") &&
	       !file_write("/sys/module/suspend/parameters/pm_test_delay", "0");
}

static void run_sleep(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_guest guest;
	struct pt_event event;
	size_t size;
	int err;

	guest_start_looked_at(&guest);
	pt_terms(terms, PT_MODE_GUEST, 0, method, 1);
	pt_must_open(&event, terms, -1, 0, AUX_BYTES, 0);
	usleep(WAIT_US);
	err = file_write("/sys/power/state", "mem");
	tap_expect(!err, "sleep gives %d", err);
	pt_drain(&event);
	tap_expect(event.partial == 1 && !event.truncated, "%llu records of a gap, %llu of a loss",
		   event.partial, event.truncated);
	size = event.size;
	wait_for_entries();
	usleep(WAIT_US);
	pt_guest_end(&guest);
	expect_planted_cpus("after the guest's end");
	pt_stop(&event);
	tap_expect(size && event.size > size, "%zu bytes, then %zu", size, event.size);
	pt_expect_guest(&event, method);
	pt_close(&event);
	file_write("/sys/power/pm_test", "none");
}

static const struct scenario {
	const char *what;
	void (*run)(enum pt_method method);
	unsigned int cpus, killed;
	bool sleeps;
} scenarios[] = {
	{ .what = "after_a_vmm_was_killed", .run = run_killed, .killed = KILLED },
	{ .what = "after_an_event_was_closed", .run = run_removed },
	{ .what = "after_a_vcpu_has_moved", .run = run_moves, .cpus = 2 },
	{ .what = "after_a_cpu_went", .run = run_offline_thread, .cpus = 2 },
	{ .what = "after_a_cpu_went_with_its_event", .run = run_offline_cpu, .cpus = 2 },
	{ .what = "after_sleep", .run = run_sleep, .sleeps = true },
};

static const char *why_not(const struct scenario *s, enum pt_method method)
{
	if (!pt_has_method(method))
		return "this CPU does not have the method";
	if (cpus < s->cpus)
		return "there is one CPU";
	return s->sleeps && !can_sleep() ? "this machine cannot sleep" : NULL;
}

/* Of a VMM that was killed no VMCS is left that could be looked at: its memory is freed. */
static void expect_vmcs(const struct scenario *s, enum pt_method method)
{
	const u64 armed = looked("armed");

	tap_note("%llu looks at %llu VMCSs, %llu exits with controls, %llu VMCSs freed",
		 looked("looks"), looked("seen"), armed, looked("freed"));
	tap_expect(looked("seen") == (s->killed ?: 1), "%llu VMCSs were seen", looked("seen"));
	tap_expect(looked("looks") >= LOOKS, "there are %llu looks", looked("looks"));
	tap_expect(!armed == (method == PT_METHOD_WINDOW), "the controls were set at %llu exits",
		   armed);
	tap_expect(!looked("left"), "%llu looks found a control of kvm_pt's", looked("left"));
	/* In method window each VM exit puts it there, and only the control would use it. */
	if (method == PT_METHOD_VMCS)
		tap_expect(!looked("traceen"), "%llu looks found TraceEn", looked("traceen"));
	tap_expect(!looked("changed"), "%llu looks found other controls than before the event",
		   looked("changed"));
}

static void test_scenario(const struct scenario *s, enum pt_method method)
{
	const char *reason = why_not(s, method);

	tap_begin("msrs_are_as_found_%s: %s", s->what, pt_method_name(method));
	if (reason) {
		tap_skip("%s", reason);
	} else {
		look_anew();
		plant_cpus(true);
		s->run(method);
		plant_cpus(false);
		tap_end();
	}
	tap_begin("vmcs_is_as_kvm_made_it_%s: %s", s->what, pt_method_name(method));
	if (reason || !looking) {
		tap_skip("%s", reason ?: "this CPU has no VMCS");
		return;
	}
	expect_vmcs(s, method);
	tap_end();
}

int main(void)
{
	enum pt_method method;
	size_t i;

	need_kvm_pt();
	need_msrs();
	looking = cpu_is_intel();
	if (looking && run("insmod selftests/modules/pt_look/" LOOK ".ko"))
		tap_die(LOOK);
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	/* A table of nothing; nobody traces with it. */
	physical_page(&planted[2].value);
	tap_plan((5 + 2 * ARRAY_SIZE(scenarios)) * (PT_METHODS - 1));
	for (method = PT_METHOD_VMCS; method < PT_METHODS; method++) {
		test_guest(method, NULL, true);
		test_guest(method, NULL, false);
		test_guest(method, "filter 0x100000/0x4000", true);
		test_host(false, method);
		test_host(true, method);
		for (i = 0; i < ARRAY_SIZE(scenarios); i++)
			test_scenario(&scenarios[i], method);
	}
	if (looking)
		run("rmmod " LOOK);
	return tap_exit();
}
