// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: who records a process and its children (perf record -- VMM) has every
 * round trip of its vCPUs, also of threads that take turns on a CPU and sleep for
 * long. perf tells nobody of such a turn: it gives the one thread's events to the
 * other. And a thread that comes is no new consumer.
 */
#include <semaphore.h>
#include <unistd.h>

#include "batches.h"
#include "module.h"
#include "tap.h"
#include "guest.h"

#define VCPUS		2
#define TURNS		3
#define EXITS		40	/* of a turn; all of them in some ms */
#define THREADS		30
#define RING_MIB	1
#define ENDLESS		(1ull << 40)

static struct trace_event batch, *events[] = { &batch };
static struct vcpu vcpus[VCPUS];
static sem_t turns[VCPUS];

/* Makes its exits and wakes the next one, which runs as soon as this one sleeps. */
static void *take_turns(void *arg)
{
	struct vcpu *vcpu = arg;
	unsigned int turn, i;

	for (turn = 0; turn < TURNS; turn++) {
		sem_wait(&turns[vcpu->index]);
		for (i = 0; i < EXITS; i++)
			guest_handle(vcpu, vcpu_run(vcpu));
		if (vcpu->index == VCPUS - 1)
			usleep(1000 * KVM_TRACE_BATCH_LAG_MS);
		sem_post(&turns[(vcpu->index + 1) % VCPUS]);
	}
	return NULL;
}

static void turns_on_a_cpu(void)
{
	struct trace_session session;
	struct batch_tallies tallies;
	unsigned int i;
	struct vm vm;

	tap_begin("batches_of_a_process: vCPUs that take turns on a CPU");
	trace_open_children(&session, events, 1, RING_MIB);
	vm_create(&vm, VCPUS, 0);
	for (i = 0; i < VCPUS; i++) {
		sem_init(&turns[i], 0, 0);
		vcpu_create(&vm, &vcpus[i], i);
		guest_load(&vcpus[i], KIND_BIT(KIND_pio_out), ENDLESS);
	}
	for (i = 0; i < VCPUS; i++) {
		if (pthread_create(&vcpus[i].thread, NULL, take_turns, &vcpus[i]))
			tap_die("a thread");
	}
	sem_post(&turns[0]);
	for (i = 0; i < VCPUS; i++)
		pthread_join(vcpus[i].thread, NULL);
	trace_stop(&session);
	trace_read(&session);
	tap_expect(!session.lost, "perf lost %llu samples", session.lost);
	batches_tally(&session, &tallies);
	for (i = 0; i < VCPUS; i++)
		expect_every_exit(&tallies, &vcpus[i], 0);
	batches_free(&tallies);
	trace_close(&session);
	for (i = 0; i < VCPUS; i++)
		vcpu_destroy(&vcpus[i]);
	vm_destroy(&vm);
	tap_end();
}

static void count_vcpu_record(const struct trace_sample *sample,
			      const struct kvm_trace_batch_reader *reader,
			      enum kvm_trace_batch_item item, void *arg)
{
	unsigned int *count = arg;

	(void)sample;
	(void)reader;
	*count += item == KVM_TRACE_BATCH_IS_VCPU;
}

static void *do_nothing(void *arg)
{
	return arg;
}

static void threads_come_and_go(void)
{
	struct trace_session session;
	unsigned int i, records = 0;
	pthread_t thread;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("batches_of_a_process: threads that come and go");
	trace_open_children(&session, events, 1, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_pio_out), ENDLESS);
	for (i = 0; i < THREADS; i++) {
		guest_handle(&vcpu, vcpu_run(&vcpu));
		if (pthread_create(&thread, NULL, do_nothing, NULL))
			tap_die("a thread");
		pthread_join(thread, NULL);
	}
	trace_stop(&session);
	trace_read(&session);
	batches_each(&session, count_vcpu_record, &records);
	tap_expect(records && records < THREADS / 2, "%u vcpu records of a vCPU, %u threads",
		   records, THREADS);
	trace_close(&session);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2);
	parameter_set("batch_words", "lean");
	trace_event_need(&batch, "kvm_trace_batch", "vmexits");
	run_on_cpu(0);
	turns_on_a_cpu();
	threads_come_and_go();
	return tap_exit();
}
