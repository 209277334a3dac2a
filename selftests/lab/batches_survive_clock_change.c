// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: when the kernel gives the TSC up while batches are filled, no round trip
 * is lost, and each is told at its own time, before and after: of a vCPU that is
 * mostly in the host, or, with the argument "guest", in its guest. Leaves the TSC
 * unstable: the last test of its group.
 */
#include <linux/kvm_trace_batch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "batches.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define MODULE		"kvm_trace_unstable_tsc"
#define RING_MIB	16
#define PAUSE_US	500
#define TURN_US		500000
#define TURNS		40	/* the module looks every 4 s */
#define ENDLESS		(1ull << 40)
#define EXIT_NS		1000000	/* from KVM's event of an exit to where a batch says it was */

/* An entry that fails has a round trip, but no event of KVM's. */
#define KINDS		(KIND_MIX & ~KIND_BIT(KIND_entry_failure))
#define SPINNING	(KIND_BIT(KIND_spin) | KIND_BIT(KIND_pio_out))

struct times {
	struct trace_session *session;
	size_t at;
	u64 trips, late, clamped;
};

static u64 batches_with(struct trace_session *session, bool tsc)
{
	u64 n = 0;
	size_t i;

	for (i = 0; i < session->nr_samples; i++) {
		if (sample_is(&session->samples[i], "vmexits"))
			n += !(trace_get(&session->samples[i], "flags") &
			       KVM_TRACE_BATCH_F_TSC) == !tsc;
	}
	return n;
}

/* KVM's events of exits are in the same order. */
static void compare_time(const struct trace_sample *sample,
			 const struct kvm_trace_batch_reader *reader,
			 enum kvm_trace_batch_item item, void *arg)
{
	const struct kvm_trace_vmexit *v = &reader->vmexit;
	const struct trace_sample *exit = NULL;
	struct times *times = arg;

	(void)sample;
	if (item != KVM_TRACE_BATCH_IS_VMEXIT)
		return;
	while (!exit && times->at < times->session->nr_samples) {
		if (sample_is(&times->session->samples[times->at], "kvm_exit"))
			exit = &times->session->samples[times->at];
		times->at++;
	}
	if (!tap_expect(exit, "seq %u: KVM tells of no such exit", v->seq))
		return;
	tap_expect((u16)trace_get(exit, "exit_reason") == v->reason,
		   "seq %u: reason 0x%x, KVM says 0x%llx", v->seq, v->reason,
		   trace_get(exit, "exit_reason"));
	times->trips++;
	times->clamped += !!(v->flags & KVM_TRACE_F_CLAMPED);
	times->late += llabs((s64)(exit->time - (reader->ns - v->host_ns))) > EXIT_NS;
}

/* A clock that is not stable is no measure; but no sample is later than this. */
static void expect_near(const struct trace_sample *sample,
			const struct kvm_trace_batch_reader *reader,
			enum kvm_trace_batch_item item, void *arg)
{
	s64 lag = sample->time - reader->ns;

	(void)arg;
	if (item == KVM_TRACE_BATCH_IS_VMEXIT)
		tap_expect(llabs(lag) < KVM_TRACE_BATCH_LAG_MS * 1000000ll,
			   "seq %u: %lld ns before its sample", reader->vmexit.seq, lag);
}

static void busy(unsigned int us)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += us * 1000ull;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

/*
 * Records a vCPU that runs while the kernel gives the TSC up. Returns false where it
 * had done so before.
 */
static bool give_up_tsc(struct recorder *recorder, struct vcpu *vcpu, void (*pause)(unsigned int))
{
	unsigned int i;

	pause(2 * TURN_US);
	trace_read(&recorder->session);
	if (!batches_with(&recorder->session, true)) {
		tap_skip("the kernel has given the TSC up before");
		guest_stop(vcpu);
		return false;
	}
	if (run("insmod selftests/modules/unstable_tsc/" MODULE ".ko"))
		tap_die(MODULE);
	for (i = 0; i < TURNS && !batches_with(&recorder->session, false); i++) {
		pause(TURN_US);
		trace_read(&recorder->session);
	}
	pause(TURN_US);
	guest_stop(vcpu);
	recorder_stop(recorder);
	return true;
}

static void idle(unsigned int us)
{
	usleep(us);
}

/*
 * The module looks at the clock on the CPU where it was asked to record, as long as
 * that is busy; meanwhile the guest runs on another one. With words, no exit goes
 * the short way.
 */
static void in_the_guest(void)
{
	struct recorder recorder = {};
	struct batch_tallies tallies;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("batches_survive_clock_change: in the guest");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		tap_skip("there is one CPU, and nothing is in its guest when the module looks");
		return;
	}
	parameter_set("batch_words", "default");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	vcpu.on_cpu = 2;
	recorder_start(&recorder, REC_BATCH, RING_MIB);
	guest_start(&vcpu, SPINNING, ENDLESS);
	if (!give_up_tsc(&recorder, &vcpu, busy))
		return;
	batches_each(&recorder.session, expect_near, NULL);
	batches_tally(&recorder.session, &tallies);
	expect_every_exit(&tallies, &vcpu, 0);
	tap_note("%llu batches with the TSC, %llu without",
		 batches_with(&recorder.session, true), batches_with(&recorder.session, false));
	tap_expect(batches_with(&recorder.session, false), "the clock did not change");
	batches_free(&tallies);
	run("rmmod " MODULE);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

static void in_the_host(void)
{
	struct recorder recorder = {};
	struct batch_tallies tallies;
	struct times times = {};
	struct vcpu vcpu;
	struct vm vm;

	parameter_set("batch_words", "lean");
	tap_begin("batches_survive_clock_change: in the host");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	vcpu.pause_us = PAUSE_US;
	recorder_start(&recorder, REC_BATCH | REC_KVM_EXIT, RING_MIB);
	guest_start(&vcpu, KINDS, ENDLESS);
	if (!give_up_tsc(&recorder, &vcpu, idle))
		return;
	times.session = &recorder.session;
	batches_each(&recorder.session, compare_time, &times);
	batches_tally(&recorder.session, &tallies);
	expect_every_exit(&tallies, &vcpu, 0);
	tap_note("%llu round trips, %llu clamped, %llu batches with the TSC, %llu without",
		 times.trips, times.clamped, batches_with(&recorder.session, true),
		 batches_with(&recorder.session, false));
	tap_expect(batches_with(&recorder.session, false) > 1, "the clock did not change");
	/* The machine may stop in between, but not often. */
	tap_expect(times.late * 20 <= times.trips, "%llu of %llu exits at other times than KVM's",
		   times.late, times.trips);
	tap_expect(times.clamped <= 2, "%llu round trips are clamped", times.clamped);
	batches_free(&tallies);
	run("rmmod " MODULE);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(int argc, char **argv)
{
	need_kvm_trace();
	tap_plan(1);
	run_on_cpu(0);
	if (argc > 1 && !strcmp(argv[1], "guest"))
		in_the_guest();
	else
		in_the_host();
	return tap_exit();
}
