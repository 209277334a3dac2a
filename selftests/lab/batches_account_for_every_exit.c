// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: where nothing but batches is recorded, they have every exit that KVM
 * counts, each with KVM's own reason, or their record counters tell how many are
 * missing: of all vCPUs or of one thread, and if perf loses batches.
 */
#include <batch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		400
#define MANY_ROUNDS	60000	/* more than a ring of 1 MiB holds in batches */
#define RING_MIB	16
/* From KVM's event of an exit to where a batch says that it was. */
#define EXIT_NS		1000000

/* An entry that fails has a round trip, but no event of KVM's. */
#define KINDS		(KIND_MIX & ~KIND_BIT(KIND_entry_failure))

static struct kvm_trace_batch_reader reader;

struct account {
	u64 trips, missing, user_exits, halts;
	u32 next_seq;
	size_t batches;
};

/* Goes on with KVM's events of exits, which are in the same order. */
static const struct trace_sample *next_exit(struct trace_session *session, size_t *at)
{
	for (; *at < session->nr_samples; (*at)++)
		if (sample_is(&session->samples[*at], "kvm_exit"))
			return &session->samples[(*at)++];
	return NULL;
}

static void compare_exit(struct trace_session *session, size_t *at, size_t *late)
{
	const struct kvm_trace_vmexit *v = &reader.vmexit;
	const struct trace_sample *exit = next_exit(session, at);

	if (!tap_expect(exit, "seq %u: KVM tells of no such exit", v->seq))
		return;
	tap_expect((u16)trace_get(exit, "exit_reason") == v->reason,
		   "seq %u: reason 0x%x, KVM says 0x%llx", v->seq, v->reason,
		   trace_get(exit, "exit_reason"));
	*late += llabs((s64)(exit->time - (reader.ns - v->host_ns))) > EXIT_NS;
}

/*
 * All batches of the only vCPU there is. KVM's events of exits from sample @at on are
 * of the same exits, if there are any.
 */
static void account_from(struct trace_session *session, size_t at, struct account *a)
{
	bool exits = at < session->nr_samples;
	enum kvm_trace_batch_item item;
	size_t i, late = 0;

	memset(a, 0, sizeof(*a));
	for (i = 0; i < session->nr_samples; i++) {
		if (!sample_is(&session->samples[i], "vmexits"))
			continue;
		a->batches++;
		if (!tap_expect(!kvm_trace_batch_open(&reader, session->samples[i].raw,
						      session->samples[i].size), "a bad batch"))
			continue;
		while ((item = kvm_trace_batch_next(&reader)) > KVM_TRACE_BATCH_DAMAGED) {
			if (item != KVM_TRACE_BATCH_IS_VMEXIT)
				continue;
			/* A thread's first batch may begin with any. */
			if (a->trips)
				a->missing += reader.vmexit.seq - a->next_seq;
			a->next_seq = reader.vmexit.seq + 1;
			a->trips++;
			a->user_exits += !!(reader.vmexit.flags & KVM_TRACE_F_USERSPACE);
			a->halts += !!(reader.vmexit.flags & KVM_TRACE_F_HALTED);
			if (exits)
				compare_exit(session, &at, &late);
		}
		tap_expect(item == KVM_TRACE_BATCH_END, "a damaged batch");
	}
	/* The machine may stop in between, but not often. */
	tap_expect(late * 20 <= a->trips, "%zu of %llu exits at other times than KVM's", late,
		   a->trips);
	tap_note("%llu round trips in %zu batches, %llu missing, %llu to user space, %llu halted",
		 a->trips, a->batches, a->missing, a->user_exits, a->halts);
}

/* One round trip is always open. */
static void expect_exits(const struct account *a, struct vcpu *vcpu)
{
	tap_expect(a->trips + a->missing + 1 == vcpu_stat(vcpu, "exits"),
		   "%llu round trips and %llu missing of %llu exits", a->trips, a->missing,
		   vcpu_stat(vcpu, "exits"));
}

static void account(struct trace_session *session, bool exits, struct account *a)
{
	account_from(session, exits ? 0 : session->nr_samples, a);
}

static void all_vcpus(u64 kinds, const char *what)
{
	struct recorder recorder = {};
	struct account a;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("batches_account_for_every_exit: %s", what);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	recorder_start(&recorder, REC_BATCH | REC_KVM_EXIT, RING_MIB);
	guest_load(&vcpu, kinds, ROUNDS);
	guest_run(&vcpu);
	recorder_stop(&recorder);
	account(&recorder.session, true, &a);
	expect_exits(&a, &vcpu);
	tap_expect(!a.missing, "%llu are missing", a.missing);
	if (kinds == KIND_BIT(KIND_pio_out))
		tap_expect(a.user_exits >= ROUNDS, "%llu to user space", a.user_exits);
	if (kinds == KIND_BIT(KIND_cpuid))
		tap_expect(a.user_exits <= 1, "%llu to user space", a.user_exits);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

static void lost_batches(void)
{
	struct recorder recorder = {};
	struct account a;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("batches_account_for_every_exit: perf loses batches");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	recorder_start(&recorder, REC_BATCH, 1);
	guest_load(&vcpu, KIND_BIT(KIND_rdmsr) | KIND_BIT(KIND_wrmsr) | KIND_BIT(KIND_cpuid) |
		   KIND_BIT(KIND_hypercall), MANY_ROUNDS);
	guest_run(&vcpu);
	trace_read(&recorder.session);
	guest_load(&vcpu, KIND_BIT(KIND_cpuid), ROUNDS);
	guest_run(&vcpu);
	recorder_stop(&recorder);
	account(&recorder.session, false, &a);
	expect_exits(&a, &vcpu);
	tap_expect(recorder.session.lost && a.missing > recorder.session.lost,
		   "perf lost %llu batches, %llu round trips are missing", recorder.session.lost,
		   a.missing);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

/* Whether the last exit that KVM tells of is the first that no batch has. */
static void expect_end(struct trace_session *session, const struct account *a)
{
	size_t i, exits = 0, at = 0;

	for (i = 0; i < session->nr_samples; i++)
		exits += sample_is(&session->samples[i], "kvm_exit");
	tap_expect(exits > a->trips, "%llu round trips of %zu exits", a->trips, exits);
	/* Those from before our event was there. */
	while (exits-- > a->trips + 1)
		next_exit(session, &at);
	tap_note("from sample %zu on", at);
	account_from(session, at, &(struct account){});
}

/* As perf record -t has them: an event of the thread on each CPU. */
static void one_thread(bool rests)
{
	struct trace_event batch, exit, *events[] = { &exit, &batch };
	struct trace_session session;
	struct account a;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("batches_account_for_every_exit: one thread, which %s", rests ? "rests" : "ends");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	trace_event_need(&batch, "kvm_trace_batch", "vmexits");
	trace_event_need(&exit, "kvm", "kvm_exit");
	if (rests) {
		trace_open_thread(&session, events, 2, gettid(), RING_MIB);
		guest_load(&vcpu, KINDS, ROUNDS);
		guest_run(&vcpu);
		usleep(1000 * KVM_TRACE_BATCH_LAG_MS);
		/* perf tells a thread's events nothing while it sleeps, but now. */
		usleep(1000);
	} else {
		/* So that it is still there when it is recorded. */
		vcpu.pause_us = 1000;
		guest_start(&vcpu, KINDS, ROUNDS);
		while (!vcpu.tid)
			usleep(100);
		trace_open_thread(&session, events, 2, vcpu.tid, RING_MIB);
		guest_join(&vcpu);
	}
	trace_read(&session);
	account(&session, false, &a);
	tap_expect(a.trips > ROUNDS && !a.missing, "%llu round trips, %llu missing", a.trips,
		   a.missing);
	expect_end(&session, &a);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	trace_close(&session);
	tap_end();
}

/* Only there nobody else touches the buffer. */
static void moved_and_rests(void)
{
	const struct trace_sample *last = NULL;
	struct recorder recorder = {};
	unsigned int cpu;
	struct vcpu vcpu;
	struct vm vm;
	size_t i;

	tap_begin("batches_account_for_every_exit: told on the CPU of the last entry");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		tap_skip("there is one CPU");
		return;
	}
	recorder_start(&recorder, REC_BATCH, 1);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	for (cpu = 0; cpu < 2; cpu++) {
		run_on_cpu(cpu);
		guest_load(&vcpu, KIND_BIT(KIND_cpuid), 1);
		guest_run(&vcpu);
	}
	run_on_cpu(0);
	usleep(1000 * KVM_TRACE_BATCH_LAG_MS);
	trace_read(&recorder.session);
	for (i = 0; i < recorder.session.nr_samples; i++)
		last = &recorder.session.samples[i];
	if (tap_expect(last, "no batch"))
		tap_expect(last->cpu == 1, "on CPU %u", last->cpu);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(7);
	parameter_set("batch_words", "lean");
	/* So that the order of times is that of exits. */
	run_on_cpu(0);
	all_vcpus(KIND_BIT(KIND_cpuid), "cpuid");
	all_vcpus(KIND_BIT(KIND_pio_out), "pio_out");
	all_vcpus(KINDS, "mix");
	lost_batches();
	one_thread(true);
	one_thread(false);
	moved_and_rests();
	return tap_exit();
}
