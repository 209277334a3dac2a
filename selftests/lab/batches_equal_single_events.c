// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: batches say what the single events of the same run say: each round
 * trip, hypercall and vcpu record, with every word or none, in time, and to the
 * last when the consumer leaves, when the vCPU rests, and when its VM dies.
 */
#include <linux/kvm_trace_batch.h>
#include <batch.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		300
#define RING_MIB	32
#define MOVE_US		500
/*
 * From an entry to the sample of its single event, either way: where the kernel has
 * found out the rate of the TSC anew since recording began, times are off by as many
 * parts in a thousand of what a batch spans.
 */
#define SAMPLE_NS	1000000

/* What a batch can hold; kinds that need more than a plain VM are left out. */
#define KINDS		KIND_MIX

static struct kvm_trace_batch_reader reader;
static size_t compared, late;

struct single {
	const struct trace_sample *sample;
	bool seen;
};

struct singles {
	struct single *list;
	size_t count, seen;
};

static u32 seq_of(const struct trace_sample *sample)
{
	return trace_get(sample, "seq");
}

/* Single events of one kind, all of them. */
static void gather(struct recorder *recorder, const char *event, struct singles *singles)
{
	struct trace_session *session = &recorder->session;
	size_t i;

	singles->list = calloc(session->nr_samples + 1, sizeof(*singles->list));
	if (!singles->list)
		tap_die("memory");
	singles->count = 0;
	singles->seen = 0;
	for (i = 0; i < session->nr_samples; i++)
		if (sample_is(&session->samples[i], event))
			singles->list[singles->count++].sample = &session->samples[i];
}

/* The one of a vCPU's record counter; records come nearly in their order. */
static struct single *find(struct singles *singles, u32 vm, u32 vcpu, u32 seq)
{
	struct single *s;
	size_t i;

	for (i = 0; i < singles->count; i++) {
		s = &singles->list[(singles->seen + i) % singles->count];
		if (!s->seen && seq_of(s->sample) == seq && trace_get(s->sample, "vm") == vm &&
		    trace_get(s->sample, "vcpu") == vcpu) {
			s->seen = true;
			singles->seen++;
			return s;
		}
	}
	tap_expect(false, "vm %u vcpu %u seq %u is in a batch only", vm, vcpu, seq);
	return NULL;
}

static void compare_vmexit(struct singles *singles)
{
	const struct kvm_trace_vmexit *v = &reader.vmexit;
	struct single *s = find(singles, v->vm, v->vcpu, v->seq);
	struct kvm_trace_vmexit single;

	if (!s)
		return;
	kvm_trace_vmexit_record(&single, s->sample->raw, s->sample->size);
	tap_expect(!memcmp(&single, v, sizeof(single)),
		   "seq %u: reason %u %u flags 0x%x 0x%x host_ns %llu %llu words 0x%llx 0x%llx",
		   v->seq, single.reason, v->reason, single.flags, v->flags, single.host_ns,
		   v->host_ns, single.words, v->words);
	compared++;
	late += llabs((s64)(s->sample->time - reader.ns)) > SAMPLE_NS;
}

static void compare_hypercall(struct singles *singles)
{
	const struct kvm_trace_hypercall *h = &reader.hypercall;
	struct single *s = find(singles, h->vm, h->vcpu, h->seq);
	struct kvm_trace_hypercall single;

	if (!s)
		return;
	kvm_trace_hypercall_record(&single, s->sample->raw, s->sample->size);
	tap_expect(!memcmp(&single, h, sizeof(single)), "hypercall of seq %u", h->seq);
}

static void compare_vcpu(struct singles *singles)
{
	const struct kvm_trace_vcpu *c = &reader.vcpu;
	struct single *s = find(singles, c->vm, c->vcpu, c->seq);
	char text[2][KVM_TRACE_TEXT_SIZE];
	struct kvm_trace_vcpu single;

	if (!s)
		return;
	kvm_trace_vcpu_record(&single, s->sample->raw, s->sample->size);
	kvm_trace_vcpu_text(&single, text[0], sizeof(text[0]));
	kvm_trace_vcpu_text(c, text[1], sizeof(text[1]));
	tap_expect(!strcmp(text[0], text[1]), "%s, not %s", text[1], text[0]);
}

static void compare_batch(const struct trace_sample *sample, struct singles *vmexits,
			  struct singles *hypercalls, struct singles *vcpus)
{
	enum kvm_trace_batch_error error;
	enum kvm_trace_batch_item item;
	u64 before = 0;

	tap_expect(sample->size <= KVM_TRACE_BATCH_MAX + 8, "a batch of %u bytes", sample->size);
	error = kvm_trace_batch_open(&reader, sample->raw, sample->size);
	if (!tap_expect(!error, "batch: %s", kvm_trace_batch_error_text(error)))
		return;
	while ((item = kvm_trace_batch_next(&reader)) > KVM_TRACE_BATCH_DAMAGED) {
		tap_expect(reader.ns >= before, "times go back");
		before = reader.ns;
		if (item == KVM_TRACE_BATCH_IS_VMEXIT)
			compare_vmexit(vmexits);
		else if (item == KVM_TRACE_BATCH_IS_HYPERCALL)
			compare_hypercall(hypercalls);
		else
			compare_vcpu(vcpus);
	}
	tap_expect(item == KVM_TRACE_BATCH_END && !reader.unknown, "a damaged batch");
}

static void expect_all(const struct singles *singles, const char *what)
{
	tap_expect(singles->count, "no %s", what);
	tap_expect(singles->seen == singles->count, "%zu %s, of which %zu in batches",
		   singles->count, what, singles->seen);
	free(singles->list);
}

static void compare(struct recorder *recorder, bool hypercalls)
{
	struct trace_session *session = &recorder->session;
	struct singles vmexits, calls, vcpus;
	size_t i, batches = 0, bytes = 0;

	compared = 0;
	late = 0;
	gather(recorder, "vmexit", &vmexits);
	gather(recorder, "hypercall", &calls);
	gather(recorder, "vcpu", &vcpus);
	for (i = 0; i < session->nr_samples; i++) {
		if (!sample_is(&session->samples[i], "vmexits"))
			continue;
		compare_batch(&session->samples[i], &vmexits, &calls, &vcpus);
		bytes += session->samples[i].size;
		batches++;
	}
	tap_note("%zu round trips in %zu batches, %zu bytes", vmexits.count, batches, bytes);
	/* The machine may stop in between, but not often. */
	tap_expect(late * 20 <= compared, "%zu of %zu are %u ns away from their single events",
		   late, compared, SAMPLE_NS);
	tap_expect(!session->lost, "perf lost %llu", session->lost);
	expect_all(&vmexits, "vmexit records");
	expect_all(&vcpus, "vcpu records");
	if (hypercalls)
		expect_all(&calls, "hypercall records");
	else
		free(calls.list);
}

static void choose(const char *words)
{
	if (parameter_set("words", words) || parameter_set("batch_words", words))
		tap_die("words %s", words);
}

static volatile bool moving;

/* Takes the threads of a VM from CPU to CPU. */
static void *move(void *arg)
{
	const struct vcpu *vcpu = arg;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int n = 0;
	cpu_set_t set;

	while (moving) {
		CPU_ZERO(&set);
		CPU_SET(n++ % cpus, &set);
		if (vcpu->tid)
			sched_setaffinity(vcpu->tid, sizeof(set), &set);
		usleep(MOVE_US);
	}
	return NULL;
}

enum end {
	END_STOP,	/* the consumer leaves */
	END_REST,	/* the vCPU runs no more, and the consumer waits */
	END_DEATH,	/* the VM dies, the consumer does not wait */
};

static void run_and_compare(const char *words, bool hypercalls, enum end end, const char *what)
{
	struct recorder recorder = {};
	pthread_t mover;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("batches_equal_single_events: %s", what);
	choose(words);
	parameter_set("batch_hypercalls", hypercalls ? "1" : "0");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	recorder_start(&recorder, REC_OURS | REC_BATCH, RING_MIB);
	moving = true;
	if (pthread_create(&mover, NULL, move, &vcpu))
		tap_die("a thread");
	guest_start(&vcpu, KINDS, ROUNDS);
	guest_join(&vcpu);
	moving = false;
	pthread_join(mover, NULL);
	if (end == END_REST)
		usleep(1000 * KVM_TRACE_BATCH_LAG_MS);
	if (end != END_DEATH)
		vcpu_destroy(&vcpu);
	if (end == END_STOP)
		recorder_stop(&recorder);
	if (end == END_DEATH)
		vcpu_destroy(&vcpu);
	if (end == END_REST)
		trace_read(&recorder.session);
	vm_destroy(&vm);
	if (end == END_DEATH)
		trace_read(&recorder.session);
	compare(&recorder, hypercalls);
	recorder_close(&recorder);
	tap_end();
}

/* A guest's round trips but for those that the host's interrupts make. */
static size_t program(unsigned int what, struct vmexit **list)
{
	struct recorder recorder = {};
	size_t count, i, n = 0;
	struct vcpu vcpu;
	struct vm vm;

	recorder_start(&recorder, what, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_start(&vcpu, KINDS, ROUNDS);
	guest_join(&vcpu);
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, list);
	expect_whole(*list, count, "a program");
	tap_expect(count + 1 == vcpu_stat(&vcpu, "exits"), "%zu records of %llu exits", count,
		   vcpu_stat(&vcpu, "exits"));
	for (i = 0; i < count; i++) {
		if ((*list)[i].r.class != KVM_TRACE_CLASS_interrupt)
			(*list)[n++] = (*list)[i];
	}
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	return n;
}

/* Where nothing but batches is recorded, the module goes a shorter way. */
static void alone(void)
{
	const u16 by_chance = KVM_TRACE_F_SCHED_OUT | KVM_TRACE_F_MOVED_CPU |
			      KVM_TRACE_F_CLAMPED;
	const struct kvm_trace_vmexit *b, *s;
	struct vmexit *batched, *single;
	size_t n, m, i;

	tap_begin("batches_equal_single_events: the same program, once in batches alone");
	choose("lean");
	n = program(REC_BATCH, &batched);
	m = program(REC_VMEXIT, &single);
	tap_expect(n == m && n > ROUNDS, "%zu and %zu round trips", n, m);
	for (i = 0; i < n && i < m; i++) {
		b = &batched[i].r;
		s = &single[i].r;
		tap_expect(b->reason == s->reason && b->class == s->class && b->isa == s->isa &&
			   b->have == s->have && !((b->flags ^ s->flags) & ~by_chance),
			   "round trip %zu: reason 0x%x 0x%x class %u %u flags 0x%x 0x%x", i,
			   b->reason, s->reason, b->class, s->class, b->flags, s->flags);
	}
	free(batched);
	free(single);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(7);
	alone();
	run_and_compare("lean", false, END_STOP, "lean");
	run_and_compare("default", false, END_STOP, "default");
	run_and_compare("all", false, END_STOP, "all words");
	run_and_compare("all", true, END_STOP, "all words and hypercalls");
	run_and_compare("lean", true, END_REST, "a vCPU that rests");
	run_and_compare("lean", true, END_DEATH, "a VM that dies");
	parameter_set("words", "default");
	parameter_set("batch_words", "lean");
	parameter_set("batch_hypercalls", "0");
	return tap_exit();
}
