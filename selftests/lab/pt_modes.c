// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: each mode of kvm_pt traces whom it names and nobody else, by each method, while
 * vCPUs move, share a CPU, are killed, or lose data. With a directory as argument the
 * traces are left there, for scripts/pt_modes_equal_log.sh to compare.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"
#include "pt_mode.h"
#include "tap.h"
#include "trace.h"

#define MIB		(1ul << 20)
#define AUX_BYTES	(16 * MIB)
#define SMALL_BYTES	(64 << 10)
#define SNAPSHOT_BYTES	(8 << 10)
#define WAIT_US		20000
#define TRIES		1500
#define PSB_GUEST	1
#define PSB_OTHER	2
#define PSB_HOST	3

/* Kinds whose exits KVM counts once each, for a comparison of numbers. */
#define COUNTED		"pio_out,pio_in,mmio_read,mmio_write,cpuid,rdmsr,wrmsr,hypercall,"	\
			"hypercall_unknown,hlt,npf,exception"

/* The others; each needs a VM of its own. */
static const char * const more_kinds[] = {
	"pio_sizes", "pio_string", "pio_kernel", "pio_mmio", "pio_emulated", "mmio_sizes",
	"mmio_cross", "mmio_wide", "mmio_rmw", "mmio_string", "mmio_apic", "mmio_ioapic",
	"ioeventfd", "mmio_fast", "cpuid_leaves", "rdmsr_gp", "wrmsr_gp", "msr_user",
	"msr_user_error", "msr_user_nmi", "tsc_deadline", "hlt_timer", "self_ipi",
	"self_ipi_window", "irq", "irq_window", "nmi", "cr", "lmsw", "cr8", "dr", "debug", "ud",
	"breakpoint", "hv_hypercall", "invd", "wbinvd", "xsetbv", "npf_read", "npf_fetch",
	"async_pf", "immediate_exit",
};

static const char *directory;
static u64 counted_rounds = 40, more_rounds = 10;

static int own_tid(void)
{
	return syscall(SYS_gettid);
}

/* Leaves the trace, and a figure that its decoder must find, or 0. */
static void save(struct pt_event *event, const char *name, enum pt_method method, u64 exits)
{
	char path[512];
	FILE *file;

	if (!directory)
		return;
	snprintf(path, sizeof(path), "%s/%s-%s.pt", directory, name, pt_method_name(method));
	if (!pt_save(event, path))
		tap_die("%s", path);
	snprintf(path, sizeof(path), "%s/%s-%s.exits", directory, name, pt_method_name(method));
	file = fopen(path, "w");
	if (!file || fprintf(file, "%llu\n", exits) < 0 || fclose(file))
		tap_die("%s", path);
}

static void expect_nothing_lost(const struct pt_event *event)
{
	tap_expect(!event->truncated && !event->lost, "%llu records tell of a loss, %llu are lost",
		   event->truncated, event->lost);
	tap_expect(event->size < event->aux_bytes, "the area of %zu bytes is full",
		   event->aux_bytes);
}

static void counted(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_event event;
	u64 exits;

	run_on_cpu(0);
	pt_must_open(&event, pt_terms(terms, PT_MODE_GUEST, 0, method, PSB_GUEST), own_tid(), -1,
		     AUX_BYTES, 0);
	exits = pt_run_kinds(COUNTED, counted_rounds, 0);
	pt_stop(&event);
	tap_note("%llu exits, %zu bytes", exits, event.size);
	expect_nothing_lost(&event);
	pt_expect_guest(&event, method);
	save(&event, "counted", method, exits);
	pt_close(&event);
}

static void kinds(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_event event;
	u64 exits = 0;
	size_t i;

	run_on_cpu(0);
	pt_must_open(&event, pt_terms(terms, PT_MODE_GUEST, 0, method, PSB_GUEST), -1, 0,
		     AUX_BYTES, 0);
	exits += pt_run_kinds("mix", more_rounds, 0);
	for (i = 0; i < ARRAY_SIZE(more_kinds); i++)
		exits += pt_run_kinds(more_kinds[i], more_rounds, 0);
	exits += pt_run_kinds("spin", 1, 0);
	pt_stop(&event);
	tap_note("%llu exits, %zu bytes", exits, event.size);
	expect_nothing_lost(&event);
	pt_expect_guest(&event, method);
	save(&event, "kinds", method, 0);
	pt_close(&event);
}

static void host(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_event event;

	run_on_cpu(0);
	pt_must_open(&event, pt_terms(terms, PT_MODE_HOST, 0, 0, PSB_HOST), -1, 0, AUX_BYTES, 0);
	pt_run_kinds(COUNTED, more_rounds, 0);
	pt_stop(&event);
	expect_nothing_lost(&event);
	pt_expect_host(&event);
	save(&event, "host", method, 0);
	pt_close(&event);
}

static void host_guest(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_event host, guest;
	u64 exits;

	run_on_cpu(0);
	pt_must_open(&host, pt_terms(terms, PT_MODE_HOST_GUEST, PT_STREAM_HOST, method, PSB_HOST),
		     -1, 0, AUX_BYTES, 0);
	pt_must_open(&guest,
		     pt_terms(terms, PT_MODE_HOST_GUEST, PT_STREAM_GUEST, method, PSB_GUEST),
		     -1, 0, AUX_BYTES, 0);
	exits = pt_run_kinds(COUNTED, more_rounds, 0);
	pt_stop(&guest);
	pt_stop(&host);
	expect_nothing_lost(&host);
	expect_nothing_lost(&guest);
	pt_expect_host(&host);
	pt_expect_guest(&guest, method);
	save(&host, "both_host", method, 0);
	save(&guest, "both_guest", method, exits);
	pt_close(&guest);
	pt_close(&host);
}

static void snapshot(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_packets packets;
	struct pt_event event;

	run_on_cpu(0);
	pt_must_open(&event, pt_terms(terms, PT_MODE_GUEST, 0, method, PSB_GUEST), own_tid(), -1,
		     SNAPSHOT_BYTES, PT_SNAPSHOT);
	pt_run_kinds(COUNTED, 3 * more_rounds + 60, 0);
	pt_stop(&event);
	tap_expect(event.size == SNAPSHOT_BYTES, "%zu bytes of %d", event.size, SNAPSHOT_BYTES);
	pt_count(&event, &packets);
	tap_expect(!packets.bad, "no packet begins at byte %zu", packets.bad);
	tap_expect(packets.tip[PT_OF_GUEST], "no address of a guest in %zu bytes", event.size);
	save(&event, "snapshot", method, 0);
	pt_close(&event);
}

/* A guest in a thread, and one event for it. */
struct traced {
	struct pt_guest guest;
	struct pt_event event;
};

static int tid_of(const struct traced *t)
{
	return t->guest.vcpu.tid;
}

/* @area: 0 or 1, so that two guests have no address in common. */
static void traced_start(struct traced *t, enum pt_method method, unsigned int area,
			 unsigned int psb_period, size_t aux_bytes)
{
	char terms[PT_TERMS_BYTES];

	pt_guest_start(&t->guest, area);
	pt_must_open(&t->event, pt_terms(terms, PT_MODE_GUEST, 0, method, psb_period), tid_of(t),
		     -1, aux_bytes, 0);
}

static void traced_end(struct traced *t)
{
	pt_guest_end(&t->guest);
	pt_stop(&t->event);
}

#define MOVES	60

static void moves(enum pt_method method)
{
	struct traced t = {};
	unsigned int i;

	traced_start(&t, method, 0, PSB_GUEST, AUX_BYTES);
	for (i = 0; i < MOVES; i++) {
		pt_move(tid_of(&t), i & 1);
		usleep(WAIT_US / 4);
		pt_drain(&t.event);
	}
	traced_end(&t);
	tap_note("CPU changed %d times, %zu bytes, %llu losses", MOVES, t.event.size,
		 t.event.truncated);
	pt_expect_guest(&t.event, method);
	save(&t.event, "moves", method, 0);
	pt_close(&t.event);
}

static void two_vms(enum pt_method method)
{
	struct traced one = {}, two = {};
	unsigned int i;

	run_on_cpu(0);
	traced_start(&one, method, 0, PSB_GUEST, AUX_BYTES);
	traced_start(&two, method, 1, PSB_OTHER, AUX_BYTES);
	for (i = 0; i < 10; i++) {
		usleep(WAIT_US);
		pt_drain(&one.event);
		pt_drain(&two.event);
	}
	traced_end(&one);
	traced_end(&two);
	pt_expect_guest(&one.event, method);
	pt_expect_guest(&two.event, method);
	save(&one.event, "vm_one", method, 0);
	save(&two.event, "vm_two", method, 0);
	pt_close(&one.event);
	pt_close(&two.event);
}

static void full_ring(enum pt_method method)
{
	u64 before, after, tries;
	struct traced t = {};
	size_t size;

	run_on_cpu(0);
	traced_start(&t, method, 0, PSB_GUEST, SMALL_BYTES);
	/* Nobody reads. */
	usleep(500000);
	before = vcpu_stat(&t.guest.vcpu, "exits");
	usleep(2000000);
	after = vcpu_stat(&t.guest.vcpu, "exits");
	tap_expect(after - before > 50, "the guest made %llu exits in two seconds", after - before);
	pt_drain(&t.event);
	tap_expect(t.event.truncated, "the loss is not told");
	size = t.event.size;
	tap_expect(size > SMALL_BYTES / 2, "%zu bytes in a full area", size);
	for (tries = 0; tries < 100 && t.event.size < size + 2 * SMALL_BYTES; tries++) {
		usleep(WAIT_US);
		pt_drain(&t.event);
	}
	tap_expect(t.event.size > size, "no byte more after it was read");
	traced_end(&t);
	tap_note("%llu exits in two seconds untraced, %llu losses told, %zu bytes", after - before,
		 t.event.truncated, t.event.size);
	save(&t.event, "full", method, 0);
	pt_close(&t.event);
}

/* Killed while it is traced, a VMM leaves a trace that can be decoded. */
static void killed(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	struct pt_packets packets;
	struct pt_event event;
	unsigned int i;
	pid_t child;

	run_on_cpu(0);
	child = pt_fork_guest();
	usleep(WAIT_US);
	pt_must_open(&event, pt_terms(terms, PT_MODE_GUEST, 0, method, PSB_GUEST), child, -1,
		     AUX_BYTES, 0);
	for (i = 0; i < TRIES && event.size < 4096; i++) {
		usleep(WAIT_US);
		pt_drain(&event);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	pt_stop(&event);
	tap_expect(i < TRIES, "no trace of it");
	pt_count(&event, &packets);
	tap_expect(!packets.bad, "no packet begins at byte %zu", packets.bad);
	pt_expect_guest(&event, method);
	save(&event, "killed", method, 0);
	pt_close(&event);
}

#define TURNS	30

/* The event goes again and again while its guest runs; the last one's trace is kept. */
static void closed(enum pt_method method)
{
	char terms[PT_TERMS_BYTES];
	unsigned int turn, i;
	struct traced t = {};

	run_on_cpu(0);
	traced_start(&t, method, 0, PSB_OTHER, AUX_BYTES);
	for (turn = 0; turn < TURNS; turn++) {
		pt_close(&t.event);
		pt_must_open(&t.event, pt_terms(terms, PT_MODE_GUEST, 0, method, PSB_GUEST),
			     tid_of(&t), -1, AUX_BYTES, 0);
		/* With and without anything in it. */
		for (i = 0; turn & 1 && i < TRIES && !t.event.size; i++) {
			usleep(WAIT_US / 4);
			pt_disable(&t.event);
			pt_drain(&t.event);
			pt_enable(&t.event);
		}
	}
	traced_end(&t);
	pt_expect_guest(&t.event, method);
	save(&t.event, "closed", method, 0);
	pt_close(&t.event);
}

#define ONLINE	"/sys/devices/system/cpu/cpu1/online"

static void set_online(bool online)
{
	errno = -file_write(ONLINE, online ? "1" : "0");
	if (errno)
		tap_die("CPU 1 %s", online ? "online" : "offline");
}

static void offline(enum pt_method method)
{
	struct traced t = {};
	unsigned int i;
	size_t size;

	run_on_cpu(0);
	traced_start(&t, method, 0, PSB_OTHER, AUX_BYTES);
	for (i = 0; i < 3; i++) {
		pt_move(tid_of(&t), 1);
		usleep(WAIT_US);
		set_online(false);
		size = t.event.size;
		usleep(WAIT_US);
		pt_drain(&t.event);
		tap_expect(t.event.size > size, "no trace on the other CPU");
		set_online(true);
	}
	traced_end(&t);
	pt_expect_guest(&t.event, method);
	save(&t.event, "offline", method, 0);
	pt_close(&t.event);
}

static const struct scenario {
	const char *name, *promise;
	void (*run)(enum pt_method method);
	unsigned int cpus;
} scenarios[] = {
	{ "counted", "mode_guest_traces_a_thread", counted, 1 },
	{ "kinds", "mode_guest_traces_a_cpu", kinds, 1 },
	{ "host", "mode_host_traces_no_guest", host, 1 },
	{ "host_guest", "mode_host_guest_has_two_streams", host_guest, 1 },
	{ "snapshot", "snapshot_keeps_the_last_bytes", snapshot, 1 },
	{ "full", "a_full_ring_does_not_stop_the_guest", full_ring, 1 },
	{ "two_vms", "two_vms_on_a_cpu_do_not_mix", two_vms, 1 },
	{ "killed", "a_killed_vmm_leaves_its_trace", killed, 1 },
	{ "closed", "events_end_under_a_guest", closed, 1 },
	{ "moves", "a_vcpu_moves_between_cpus", moves, 2 },
	{ "offline", "a_cpu_goes_offline_under_a_vcpu", offline, 2 },
};

static bool wanted(const struct scenario *s, char **names)
{
	for (; *names; names++) {
		if (!strcmp(*names, s->name))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	unsigned int planned = 0;
	enum pt_method method;
	size_t i;

	directory = argc > 1 ? argv[1] : NULL;
	/* Rounds, then which. */
	if (argc > 2)
		counted_rounds = atoi(argv[2]);
	if (argc > 3)
		more_rounds = atoi(argv[3]);
	need_kvm_pt();
	for (method = PT_METHOD_VMCS; method < PT_METHODS; method++) {
		for (i = 0; i < ARRAY_SIZE(scenarios); i++)
			planned += argc < 5 || wanted(&scenarios[i], argv + 4);
	}
	tap_plan(planned);
	for (method = PT_METHOD_VMCS; method < PT_METHODS; method++) {
		for (i = 0; i < ARRAY_SIZE(scenarios); i++) {
			if (argc >= 5 && !wanted(&scenarios[i], argv + 4))
				continue;
			tap_begin("%s: %s", scenarios[i].promise, pt_method_name(method));
			if (!pt_has_method(method)) {
				tap_skip("this CPU does not have the method");
				continue;
			}
			if (sysconf(_SC_NPROCESSORS_ONLN) < scenarios[i].cpus) {
				tap_skip("there is one CPU");
				continue;
			}
			scenarios[i].run(method);
			tap_end();
		}
	}
	return tap_exit();
}
