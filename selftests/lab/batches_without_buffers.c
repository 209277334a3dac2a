// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: where more vCPUs want buffers at once than the module keeps ready, what
 * is lost until there are more shows in record counters and in kvm_trace:lost, as
 * exits of vCPUs beyond max_vcpus do.
 */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "batches.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define VCPUS		200	/* the module keeps 64 buffers ready */
#define TURNS		40
#define RING_MIB	16
#define ROUNDS		50
#define FEW		3

static struct vcpu vcpus[VCPUS];

/* One exit to user space of each, without a pause for the refill. */
static void turn(void)
{
	unsigned int i;

	for (i = 0; i < VCPUS; i++)
		guest_handle(&vcpus[i], vcpu_run(&vcpus[i]));
}

/* The refill has no CPU while this thread runs. */
static void no_refill(bool on)
{
	const struct sched_param param = { .sched_priority = on };

	if (sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param))
		tap_die("sched_setscheduler");
}

static void burst(void)
{
	struct recorder states = {}, recorder = {};
	struct batch_tallies tallies;
	struct kvm_trace_lost lost;
	u64 trips = 0, missing = 0, before = 0, told = 0, no_state = 0;
	unsigned int i;
	struct vm vm;
	size_t n;

	tap_begin("batches_without_buffers: a burst of %u vCPUs", VCPUS);
	vm_create(&vm, VCPUS, 0);
	/* States are there before buffers are wanted, so that nothing else is short. */
	recorder_start(&states, REC_LOST, 1);
	for (i = 0; i < VCPUS; i++) {
		vcpu_create(&vm, &vcpus[i], i);
		guest_load(&vcpus[i], KIND_BIT(KIND_pio_out), 2 * TURNS);
		guest_handle(&vcpus[i], vcpu_run(&vcpus[i]));
		/* Leaves the CPU to who fills the pool of states. */
		if (i % FEW == 0)
			usleep(1000);
	}
	/* The last round trip of each is still open. */
	for (i = 0; i < VCPUS; i++)
		before += vcpu_stat(&vcpus[i], "exits") - 1;
	recorder_start(&recorder, REC_BATCH, RING_MIB);
	no_refill(true);
	turn();
	no_refill(false);
	for (i = 1; i < TURNS; i++)
		turn();
	recorder_stop(&recorder);
	recorder_stop(&states);
	for (n = 0; n < states.session.nr_samples; n++) {
		const struct trace_sample *sample = &states.session.samples[n];

		if (!kvm_trace_lost_record(&lost, sample->raw, sample->size))
			continue;
		if (lost.why == KVM_TRACE_LOST_NO_BUFFER)
			told += lost.count;
		else
			no_state += lost.count;
	}
	tap_expect(!no_state, "%llu exits lost without states", no_state);
	batches_tally(&recorder.session, &tallies);
	tap_expect(tallies.count == VCPUS, "batches of %zu vCPUs", tallies.count);
	for (n = 0; n < tallies.count; n++) {
		trips += tallies.list[n].trips;
		missing += tallies.list[n].first_seq + tallies.list[n].missing;
	}
	for (i = 0; i < VCPUS; i++)
		expect_every_exit(&tallies, &vcpus[i], 2 * TURNS);
	missing -= before;
	tap_note("%llu round trips, %llu missing", trips, missing);
	tap_expect(missing, "there were buffers for all");
	tap_expect(told == missing, "%llu missing, %llu told", missing, told);
	tap_expect(trips > missing, "%llu round trips, %llu missing", trips, missing);
	batches_free(&tallies);
	for (i = 0; i < VCPUS; i++)
		vcpu_destroy(&vcpus[i]);
	vm_destroy(&vm);
	recorder_close(&recorder);
	recorder_close(&states);
	tap_end();
}

static void no_room(void)
{
	struct recorder recorder = {};
	struct batch_tallies tallies;
	u64 told, others = 0;
	struct vm vm;
	unsigned int i;

	tap_begin("batches_without_buffers: vCPUs beyond max_vcpus");
	run("modprobe -r kvm_trace");
	if (run("modprobe kvm_trace max_vcpus=1"))
		tap_die("kvm_trace with max_vcpus=1");
	recorder_start(&recorder, REC_BATCH | REC_LOST, RING_MIB);
	vm_create(&vm, FEW, 0);
	for (i = 0; i < FEW; i++) {
		vcpu_create(&vm, &vcpus[i], i);
		guest_load(&vcpus[i], KIND_BIT(KIND_cpuid) | KIND_BIT(KIND_pio_out), ROUNDS);
		guest_run(&vcpus[i]);
		if (i)
			others += vcpu_stat(&vcpus[i], "exits");
	}
	recorder_stop(&recorder);
	told = recorder_lost(&recorder);
	/* The last round trip is still open. */
	tap_expect(told + 1 == others || told == others, "%llu lost, the others made %llu exits",
		   told, others);
	batches_tally(&recorder.session, &tallies);
	tap_expect(tallies.count == 1, "batches of %zu vCPUs", tallies.count);
	expect_every_exit(&tallies, &vcpus[0], 0);
	batches_free(&tallies);
	for (i = 0; i < FEW; i++)
		vcpu_destroy(&vcpus[i]);
	vm_destroy(&vm);
	recorder_close(&recorder);
	run("modprobe -r kvm_trace");
	need_kvm_trace();
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2);
	parameter_set("batch_words", "lean");
	/* Each CPU tells of its own losses at its next VM entry. */
	run_on_cpu(0);
	burst();
	no_room();
	return tap_exit();
}
