// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: two consumers record batches at once, of all CPUs, of a thread or
 * through ftrace, and one of them starts and stops at random moments: it has every
 * round trip from the one moment to the other, and the one that stays every exit,
 * or its record counters tell how many are missing.
 */
#include <stdlib.h>
#include <unistd.h>

#include "batches.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define WINDOWS		15
#define LONGEST_US	60000	/* a batch takes some 30 ms to fill */
#define RING_MIB	16
#define PAUSE_US	200	/* leaves the CPUs to the test now and then */
#define ENDLESS		(1ull << 40)
#define SEED		5

/* An exit that KVM counts has a round trip. */
#define KINDS		(KIND_MIX & ~KIND_BIT(KIND_entry_failure))
#define SPINNING	(KIND_BIT(KIND_spin) | KIND_BIT(KIND_pio_out))

enum consumer { OF_CPUS, OF_THREAD, FTRACE };

static const char *const names[] = { "all CPUs", "a thread", "ftrace" };

static struct trace_event batch, *events[] = { &batch };

static void sleep_a_while(void)
{
	usleep(rand() % LONGEST_US);
}

static void start(struct trace_session *session, enum consumer kind, const struct vcpu *vcpu)
{
	if (kind == OF_CPUS)
		trace_open(session, events, 1, RING_MIB);
	else if (kind == OF_THREAD)
		trace_open_thread(session, events, 1, vcpu->tid, RING_MIB);
	else
		batch_ftrace_start();
}

static void stop(struct trace_session *session, enum consumer kind, struct batch_tally *t)
{
	struct batch_tallies tallies;

	*t = (struct batch_tally){};
	if (kind == FTRACE) {
		batch_ftrace_stop(t);
		return;
	}
	trace_stop(session);
	trace_read(session);
	tap_expect(!session->lost, "perf lost %llu samples", session->lost);
	batches_tally(session, &tallies);
	/* There is but one, and who it is may have come before the ring was there. */
	tap_expect(tallies.count <= 1, "batches of %zu vCPUs", tallies.count);
	if (tallies.count)
		*t = *tallies.list;
	batches_free(&tallies);
	trace_close(session);
}

/* One recording of the visitor, while the guest runs; returns its round trips. */
static u64 visit(enum consumer kind, struct vcpu *vcpu)
{
	struct trace_session session;
	u64 before, begun, ending, after;
	struct batch_tally t;

	sleep_a_while();
	before = vcpu_stat(vcpu, "exits");
	start(&session, kind, vcpu);
	begun = vcpu_stat(vcpu, "exits");
	sleep_a_while();
	ending = vcpu_stat(vcpu, "exits");
	stop(&session, kind, &t);
	after = vcpu_stat(vcpu, "exits");
	tap_expect(!t.missing, "%llu are missing", t.missing);
	/* Of a thread that does not run, the last 10 ms may be missing. */
	if (kind != OF_THREAD)
		tap_expect(t.trips || ending <= begun + 2, "nothing of exits %llu to %llu", begun,
			   ending);
	if (!t.trips)
		return 0;
	/* The round trip that was open has the seq of the exits before it. */
	tap_expect(t.first_seq + 1 >= before && t.first_seq <= begun,
		   "begins with seq %u, between exits %llu and %llu", t.first_seq, before, begun);
	tap_expect(t.next_seq <= after && (kind == OF_THREAD || t.next_seq + 1 >= ending),
		   "ends with seq %u, between exits %llu and %llu", t.next_seq - 1, ending, after);
	return t.trips;
}

static void two_at_once(enum consumer stays, enum consumer visitor, u64 kinds)
{
	struct trace_session session;
	struct recorder lost = {};
	struct batch_tally t;
	struct vcpu vcpu;
	u64 exits, seen = 0;
	unsigned int i;
	struct vm vm;

	tap_begin("batches_start_stop: %s recorded all along, %s at random%s", names[stays],
		  names[visitor], kinds == SPINNING ? ", a guest that spins" : "");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	vcpu.pause_us = kinds == SPINNING ? 0 : PAUSE_US;
	/* Where there is another CPU, the guest runs while the visitor comes and goes. */
	vcpu.on_cpu = sysconf(_SC_NPROCESSORS_ONLN);
	/* So that record counters count from the first exit on in any case. */
	recorder_start(&lost, REC_LOST, 1);
	if (stays != OF_THREAD)
		start(&session, stays, &vcpu);
	guest_start(&vcpu, kinds, ENDLESS);
	while (!vcpu.tid)
		usleep(100);
	if (stays == OF_THREAD)
		start(&session, stays, &vcpu);
	for (i = 0; i < WINDOWS; i++)
		seen += visit(visitor, &vcpu);
	guest_stop(&vcpu);
	stop(&session, stays, &t);
	exits = vcpu_stat(&vcpu, "exits");
	tap_note("%llu exits, %llu round trips from %u on, %llu missing, visitor %llu", exits,
		 t.trips, t.first_seq, t.missing, seen);
	tap_expect(t.first_seq + t.trips + t.missing == t.next_seq && t.next_seq < exits,
		   "%llu round trips from %u to %u, %llu missing, of %llu exits", t.trips,
		   t.first_seq, t.next_seq, t.missing, exits);
	tap_expect(stays == OF_THREAD || t.trips + 1 == exits, "%llu round trips of %llu exits",
		   t.trips, exits);
	tap_expect(seen > WINDOWS, "the visitor saw %llu round trips", seen);
	recorder_close(&lost);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(6);
	srand(SEED);
	parameter_set("batch_words", "lean");
	trace_event_need(&batch, "kvm_trace_batch", "vmexits");
	run_on_cpu(0);
	two_at_once(OF_CPUS, OF_CPUS, KINDS);
	two_at_once(OF_CPUS, OF_CPUS, SPINNING);
	two_at_once(OF_CPUS, OF_THREAD, KINDS);
	two_at_once(OF_CPUS, FTRACE, KINDS);
	two_at_once(FTRACE, OF_CPUS, KINDS);
	two_at_once(OF_THREAD, OF_CPUS, KINDS);
	batch_ftrace_remove();
	return tap_exit();
}
