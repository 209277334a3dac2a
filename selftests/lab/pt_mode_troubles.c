// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: kvm_pt tells what it meets seldom as what it is, undoes what it can, and keeps
 * what it cannot undo yet; KVM is there while it is used, and may use Intel PT itself.
 * Modules make the troubles.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <linux/kvm_trace.h>

#include "../pt-emu/core/pt_emu.h"
#include "module.h"
#include "msr.h"
#include "pt_mode.h"
#include "tap.h"
#include "trace.h"

#define MODULE		"kvm_trace_test_pt_trouble"
#define CONTROLS	"kvm_trace_test_pt_vmcs"
#define OTHER_PMU	"kvm_trace_test_aux"
#define AUX_BYTES	(4ul << 20)
#define SMALL_BYTES	(16ul << 10)
#define RING_MIB	4
#define GUEST		"tsc,noretcomp,mode=2"
#define HOST		"tsc,noretcomp,mode=1"
#define NO_END		"1000000000"
#define WAIT_US		20000
#define TRIES		250
#define CPU1_ONLINE	"/sys/devices/system/cpu/cpu1/online"

static struct trace_event pt_event, vmexit_event;
static bool two_cpus;

/* Events have new numbers each time. */
static void need_module(void)
{
	need_kvm_pt();
	trace_event_need(&pt_event, "kvm_trace_detail", "pt");
	trace_event_need(&vmexit_event, "kvm_trace", "vmexit");
}

static void trouble(const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/" MODULE "/parameters/%s", name);
	errno = -file_write(path, value);
	if (errno)
		tap_die("%s of " MODULE, name);
}

static void trouble_number(const char *name, u64 number)
{
	char value[32];

	snprintf(value, sizeof(value), "%llu", number);
	trouble(name, value);
}

static unsigned int troubles(void)
{
	char *text = file_read("/sys/module/" MODULE "/parameters/done");
	unsigned int done = text ? atoi(text) : 0;

	free(text);
	return done;
}

static unsigned int type_of(const char *pmu)
{
	struct perf_event_attr attr;

	if (pt_attr(pmu, "", &attr))
		tap_die("no PMU %s", pmu);
	return attr.type;
}

/* An event without a ring buffer. */
static int open_bare(struct perf_event_attr *attr)
{
	int fd;

	attr->disabled = 1;
	fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		tap_die("perf_event_open of type %u", attr->type);
	return fd;
}

/* Has its output where @to has, and is of no PMU with an AUX area. */
static int open_carrier(int to)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	int fd = open_bare(&attr);

	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to))
		tap_die("PERF_EVENT_IOC_SET_OUTPUT");
	return fd;
}

/* What kvm_trace_detail:pt tells. */
struct told {
	u64 entries, losses;
	unsigned int on, off, by[KVM_TRACE_PT_WHY_RESERVE + 1];
};

static void listen(struct trace_session *session)
{
	struct trace_event *events[] = { &pt_event };

	memset(session, 0, sizeof(*session));
	trace_open(session, events, 1, RING_MIB);
}

static void hear(struct trace_session *session, struct told *told)
{
	const struct trace_sample *sample;
	size_t i;

	memset(told, 0, sizeof(*told));
	trace_stop(session);
	trace_read(session);
	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		told->entries += trace_get(sample, "entries");
		told->losses = trace_get(sample, "losses");
		told->on += trace_get(sample, "what") == KVM_TRACE_PT_ON;
		told->off += trace_get(sample, "what") == KVM_TRACE_PT_OFF;
		told->by[trace_get(sample, "why")]++;
	}
	trace_close(session);
}

static void test_no_memory(void)
{
	struct trace_session session;
	struct told told;
	int err;

	tap_begin("memory_that_lacks_is_told_as_that");
	trouble_number("fail_create", type_of(INTEL_PT));
	listen(&session);
	klog_mark();
	err = pt_try_open(KVM_PT, GUEST, 0, -1);
	tap_expect(err == -ENOMEM && troubles(), "it gives %d", err);
	tap_expect(klog_has("perf has refused the events that keep intel_pt off"),
		   "the kernel log does not say so");
	trouble("fail_create", "0");
	hear(&session, &told);
	tap_expect(told.by[KVM_TRACE_PT_WHY_RESERVE] == 1, "%u records of it",
		   told.by[KVM_TRACE_PT_WHY_RESERVE]);
	err = pt_try_open(KVM_PT, GUEST, 0, -1);
	tap_expect(!err, "with memory it gives %d", err);
	tap_end();
}

/* kvm_amd or kvm_intel. */
static bool unload_vendor(void)
{
	vm_kvm_close();
	return !run("rmmod kvm_amd 2>/dev/null || rmmod kvm_intel");
}

static void test_without_kvm(void)
{
	struct pt_event event;
	int err;

	tap_begin("no_event_without_kvm_and_kvm_stays_with_one");
	if (!unload_vendor() || run("rmmod kvm"))
		tap_die("KVM cannot be unloaded");
	klog_mark();
	err = pt_try_open(KVM_PT, HOST, -1, 0);
	tap_expect(err == -ENODEV, "without KVM it gives %d", err);
	tap_expect(klog_has("kvm is not loaded"), "the kernel log does not say so");
	need_module();
	pt_must_open(&event, HOST, -1, 0, AUX_BYTES, 0);
	tap_expect(unload_vendor(), "kvm_amd or kvm_intel cannot be unloaded");
	tap_expect(run("rmmod kvm 2>/dev/null"), "kvm is unloaded under an event");
	need_module();
	/* Probes are still there. */
	pt_run_kinds("cpuid,pio_out", 50, 0);
	pt_stop(&event);
	pt_expect_host(&event);
	pt_close(&event);
	tap_expect(unload_vendor() && !run("rmmod kvm"),
		   "kvm cannot be unloaded after it was closed");
	need_module();
	tap_end();
}

static void test_foreign_area(void)
{
	struct pt_event other;
	struct perf_event_attr attr;
	int err, carrier, fd;

	tap_begin("area_of_another_pmu_is_left_alone");
	err = pt_open(&other, OTHER_PMU, "", 0, -1, AUX_BYTES, PT_DISABLED);
	if (err)
		tap_die(OTHER_PMU " gives %d", err);
	carrier = open_carrier(other.fd);
	if (pt_attr(KVM_PT, GUEST, &attr))
		tap_die("terms " GUEST);
	fd = open_bare(&attr);
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, carrier))
		tap_die("PERF_EVENT_IOC_SET_OUTPUT");
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		tap_die("PERF_EVENT_IOC_ENABLE");
	tap_expect(pt_run_kinds("cpuid", 50, 0) >= 50, "the guest did not run");
	close(fd);
	tap_expect(!other.page->aux_head, "%llu bytes are in it", (u64)other.page->aux_head);
	close(carrier);
	pt_close(&other);
	tap_end();
}

/*
 * Linux 7.3 counts an event's mappings in a refcount_t, and perf_mmap_aux() adds to one that is
 * 0, as that of an event whose ring is another's is; Linux 6.12 counts in an atomic_t.
 */
static bool warns_of_aliases(void)
{
	struct utsname name;

	return uname(&name) || atoi(name.release) >= 7;
}

static void test_area_keeps_module(void)
{
	struct pt_event event;
	int carrier;
	void *area;

	tap_begin("module_stays_while_its_area_is_mapped");
	if (warns_of_aliases()) {
		tap_skip("this kernel warns of an AUX area that is mapped by another event's file");
		return;
	}
	pt_must_open(&event, GUEST, 0, -1, AUX_BYTES, PT_DISABLED);
	carrier = open_carrier(event.fd);
	area = mmap(NULL, AUX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, carrier,
		    event.page->aux_offset);
	if (area == MAP_FAILED)
		tap_die("AUX area by another event's file");
	pt_close(&event);
	tap_expect(run("rmmod kvm_trace 2>/dev/null"), "it is unloaded");
	munmap(area, AUX_BYTES);
	close(carrier);
	tap_expect(!run("rmmod kvm_trace"), "it cannot be unloaded after that");
	need_module();
	tap_end();
}

static void test_nmi(void)
{
	struct trace_session session;
	struct pt_event event;
	struct told told;
	u64 exits;

	tap_begin("an_nmi_stops_no_stream");
	listen(&session);
	pt_must_open(&event, GUEST, 0, -1, AUX_BYTES, 0);
	trouble_number("stop_in_nmi", event.fd);
	exits = pt_run_kinds("cpuid,pio_out", 50, 0);
	tap_expect(troubles() > exits, "%u NMIs", troubles());
	trouble("stop_in_nmi", "0");
	pt_stop(&event);
	hear(&session, &told);
	tap_expect(told.entries >= exits && !told.losses, "%llu entries of %llu exits, %llu losses",
		   told.entries, exits, told.losses);
	tap_expect(event.size && !event.truncated, "%zu bytes, %llu losses", event.size,
		   event.truncated);
	pt_close(&event);
	tap_end();
}

static void test_unmapped(void)
{
	struct trace_session session;
	struct pt_event event;
	struct pt_guest guest;
	struct told told;

	tap_begin("area_that_is_unmapped_is_not_told_as_full");
	if (!two_cpus) {
		tap_skip("there is one CPU");
		return;
	}
	run_on_cpu(0);
	pt_guest_start(&guest, 0);
	run_on_cpu(1);
	/* First: Linux 6.1 takes all events of the CPU off and on, in this order. */
	listen(&session);
	/* That of a thread might be stopped with the thread. */
	pt_must_open(&event, GUEST, -1, 0, SMALL_BYTES, PT_DISABLED);
	trouble_number("slow_unmap", event.fd);
	pt_enable(&event);
	munmap(event.aux, SMALL_BYTES);
	event.aux = NULL;
	tap_expect(troubles() == 1, "the watermark is not reached");
	trouble("slow_unmap", "0");
	hear(&session, &told);
	tap_expect(told.on == 1 && told.off == 1, "%u times on, %u off", told.on, told.off);
	tap_expect(!told.by[KVM_TRACE_PT_WHY_FULL] && !told.losses, "%u times full, %llu losses",
		   told.by[KVM_TRACE_PT_WHY_FULL], told.losses);
	run_on_cpu(0);
	pt_close(&event);
	pt_guest_end(&guest);
	tap_end();
}

/* Somebody who wants records cannot have them: those of Intel PT go on. */
static void test_hooks(void)
{
	struct trace_event *events[] = { &vmexit_event };
	struct trace_session session, records = {};
	struct pt_event event;
	struct pt_guest guest;
	struct told told;
	u64 before, after;
	int i, err;

	tap_begin("probes_stay_when_those_of_records_cannot_be_had");
	run_on_cpu(0);
	pt_guest_start(&guest, 0);
	trouble("fail_deaths", "1");
	listen(&session);
	pt_must_open(&event, GUEST, guest.vcpu.tid, -1, AUX_BYTES, 0);
	before = vcpu_stat(&guest.vcpu, "exits");
	for (i = 0; i < 10; i++) {
		err = trace_try_open(&records, events, 1, 1);
		tap_expect(err < 0, "records can be had");
	}
	after = vcpu_stat(&guest.vcpu, "exits");
	pt_stop(&event);
	tap_expect(troubles() >= 10, "%u failures", troubles());
	trouble("fail_deaths", "0");
	hear(&session, &told);
	tap_expect(after > before, "the guest does not run");
	tap_expect(told.entries >= after - before && !told.losses,
		   "%llu entries of %llu exits, %llu losses", told.entries, after - before,
		   told.losses);
	pt_close(&event);
	pt_guest_end(&guest);
	tap_end();
}

static void set_cpu1(bool online, bool expected)
{
	int err = file_write(CPU1_ONLINE, online ? "1" : "0");

	tap_expect(!err == expected, "CPU 1 %s gives %d", online ? "online" : "offline", err);
}

/* The WRMSR that puts IA32_RTIT_OUTPUT_BASE back faults, until it does not. */
static void test_left(void)
{
	struct trace_session session;
	struct pt_event event;
	unsigned int tries;
	struct told told;
	u64 base, exits;
	int err;

	tap_begin("what_cannot_be_undone_is_kept_and_undone_later");
	if (!two_cpus) {
		tap_skip("there is one CPU, and intel_pt is tried on another one than that");
		return;
	}
	physical_page(&base);
	msr_on_cpu(1);
	msr_set(PT_EMU_MSR_OUTPUT_BASE, base);
	trouble_number("fail_msr", PT_EMU_MSR_OUTPUT_BASE);
	trouble_number("fail_value", base);
	trouble("fail_wrmsr", NO_END);
	klog_mark();
	listen(&session);
	run_on_cpu(1);
	pt_must_open(&event, GUEST, 0, -1, AUX_BYTES, 0);
	exits = pt_run_kinds("cpuid,pio_out", 50, 0);
	pt_stop(&event);
	run_on_cpu(0);
	hear(&session, &told);
	tap_expect(troubles() && exits >= 100, "%u faults, %llu exits", troubles(), exits);
	tap_expect(told.by[KVM_TRACE_PT_WHY_FAULT] + told.by[KVM_TRACE_PT_WHY_LEFT] &&
		   event.truncated == 1, "%u records of it, %llu losses",
		   told.by[KVM_TRACE_PT_WHY_FAULT] + told.by[KVM_TRACE_PT_WHY_LEFT],
		   event.truncated);
	pt_close(&event);
	usleep(10 * WAIT_US);
	tap_expect(klog_has("not all could be undone yet"), "the kernel log does not say so");
	tap_expect(msr_get(PT_EMU_MSR_OUTPUT_BASE) != base, "OUTPUT_BASE is put back");
	err = pt_try_open(INTEL_PT, "tsc,noretcomp", -1, 0);
	tap_expect(err == -EBUSY, "intel_pt gives %d", err);
	tap_expect(run("rmmod kvm_trace 2>/dev/null"), "the module is unloaded");
	set_cpu1(false, false);

	trouble("fail_wrmsr", "0");
	for (tries = 0; tries < TRIES; tries++) {
		if (!pt_try_open(INTEL_PT, "tsc,noretcomp", -1, 0))
			break;
		usleep(WAIT_US);
	}
	tap_expect(tries < TRIES, "intel_pt stays busy");
	tap_expect(msr_get(PT_EMU_MSR_OUTPUT_BASE) == base, "OUTPUT_BASE is 0x%llx and not 0x%llx",
		   msr_get(PT_EMU_MSR_OUTPUT_BASE), base);
	set_cpu1(false, true);
	set_cpu1(true, true);
	msr_set(PT_EMU_MSR_OUTPUT_BASE, 0);
	tap_expect(!run("rmmod kvm_trace"), "the module stays");
	need_module();
	tap_end();
}

/* As with kvm_intel's pt_mode=1, VM entries load IA32_RTIT_CTL, and exits clear it. */
static void test_own_of_kvm(enum pt_method method)
{
	struct trace_session session;
	char terms[PT_TERMS_BYTES];
	struct pt_packets packets;
	struct pt_event event;
	struct told told;
	u64 exits;

	tap_begin("guests_run_whose_entries_load_ctl_anyway: %s", pt_method_name(method));
	if (!pt_has_method(PT_METHOD_VMCS)) {
		tap_skip("this CPU does not have these controls");
		return;
	}
	if (run("insmod selftests/modules/pt_vmcs/" CONTROLS ".ko mode=3 ctl=0"))
		tap_die(CONTROLS);
	listen(&session);
	pt_must_open(&event, pt_terms(terms, PT_MODE_GUEST, 0, method, 1), 0, -1, AUX_BYTES, 0);
	exits = pt_run_kinds("cpuid,pio_out", 50, 0);
	pt_stop(&event);
	hear(&session, &told);
	pt_count(&event, &packets);
	tap_expect(exits >= 100, "the guest made %llu exits", exits);
	tap_expect(told.by[KVM_TRACE_PT_WHY_NO_VMCS], "it is not told");
	tap_expect(!packets.bad && !packets.tip[PT_OF_GUEST] && !packets.tip[PT_OF_HOST],
		   "%llu addresses of the guest, %llu of the host", packets.tip[PT_OF_GUEST],
		   packets.tip[PT_OF_HOST]);
	pt_close(&event);
	pt_must_open(&event, HOST, -1, 0, AUX_BYTES, 0);
	pt_run_kinds("cpuid,pio_out", 50, 0);
	pt_stop(&event);
	pt_expect_host(&event);
	pt_close(&event);
	run("rmmod " CONTROLS);
	tap_end();
}

/* CPU 1 comes, and intel_pt is faster there; then it is not any more. */
static void test_taken_cpu(void)
{
	struct pt_event first, second;
	int err;

	tap_begin("a_cpu_that_intel_pt_had_is_free_again_later");
	if (!two_cpus) {
		tap_skip("there is one CPU");
		return;
	}
	pt_must_open(&first, GUEST, -1, 0, AUX_BYTES, PT_DISABLED);
	set_cpu1(false, true);
	trouble_number("taken_type", type_of(INTEL_PT));
	klog_mark();
	set_cpu1(true, true);
	tap_expect(troubles() == 1, "intel_pt was not faster");
	tap_expect(klog_has("not on CPU 1"), "the kernel log does not say so");
	err = pt_try_open(KVM_PT, GUEST, -1, 1);
	tap_expect(err == -EBUSY, "an event of that CPU gives %d", err);
	tap_expect(pt_try_open(KVM_PT, GUEST, -1, 0), "CPU 0 has two events");
	trouble("taken_type", "0");
	run_on_cpu(1);
	err = pt_open(&second, KVM_PT, GUEST, -1, 1, AUX_BYTES, 0);
	tap_expect(!err, "after that an event of it gives %d", err);
	if (!err) {
		pt_run_kinds("cpuid", 50, 0);
		pt_stop(&second);
		tap_expect(second.size, "and traces nothing");
		pt_close(&second);
	}
	err = pt_try_open(INTEL_PT, "tsc,noretcomp", -1, 1);
	tap_expect(err == -EBUSY, "intel_pt gives %d there", err);
	run_on_cpu(0);
	pt_close(&first);
	tap_end();
}

int main(void)
{
	need_kvm_pt();
	two_cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	need_msrs();
	/* A CPU that comes meets the states of modules in the order in which they came. */
	if (run("rmmod kvm_trace") || run("insmod selftests/modules/pt_trouble/" MODULE ".ko"))
		tap_die(MODULE);
	need_module();
	tap_plan(11);
	test_no_memory();
	test_without_kvm();
	test_foreign_area();
	test_area_keeps_module();
	test_nmi();
	test_unmapped();
	test_hooks();
	test_left();
	test_own_of_kvm(PT_METHOD_VMCS);
	test_own_of_kvm(PT_METHOD_WINDOW);
	test_taken_cpu();
	run("rmmod " MODULE);
	return tap_exit();
}
