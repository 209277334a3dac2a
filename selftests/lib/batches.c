// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the batches of a recording, vCPU by vCPU, and counts. Each batch must be
 * whole, and nothing may be in a sample behind its end.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batches.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define INSTANCE	"instances/kvm_trace_test"

static int by_vcpu_and_seq(const void *a, const void *b)
{
	static const char *const fields[] = { "vm", "vcpu", "seq" };
	const struct trace_sample *left = *(const struct trace_sample *const *)a;
	const struct trace_sample *right = *(const struct trace_sample *const *)b;
	unsigned int i;
	u32 l, r;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		l = trace_get(left, fields[i]);
		r = trace_get(right, fields[i]);
		if (l != r)
			return l < r ? -1 : 1;
	}
	return 0;
}

static void expect_padding(const struct trace_sample *sample)
{
	u32 at, size;

	trace_data(sample, "data", &size);
	tap_expect(sample->size <= KVM_TRACE_BATCH_MAX + sizeof(u64), "a batch of %u bytes",
		   sample->size);
	for (at = KVM_TRACE_BATCH_SIZE + size; at < sample->size; at++)
		tap_expect(!sample->raw[at], "seq %llu: byte %u behind the end of %u is 0x%x",
			   trace_get(sample, "seq"), at, KVM_TRACE_BATCH_SIZE + size,
			   sample->raw[at]);
}

static void read_batch(const struct trace_sample *sample, batch_fn fn, void *arg)
{
	static struct kvm_trace_batch_reader reader;
	enum kvm_trace_batch_error error;
	enum kvm_trace_batch_item item;
	u64 trips = 0;

	expect_padding(sample);
	/* Of samples of a guest, perf's tools say nothing. */
	tap_expect((sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL,
		   "seq %llu: misc is 0x%x", trace_get(sample, "seq"), sample->misc);
	error = kvm_trace_batch_open(&reader, sample->raw, sample->size);
	if (!tap_expect(!error, "seq %llu: %s", trace_get(sample, "seq"),
			kvm_trace_batch_error_text(error)))
		return;
	while ((item = kvm_trace_batch_next(&reader)) > KVM_TRACE_BATCH_DAMAGED) {
		trips += item == KVM_TRACE_BATCH_IS_VMEXIT;
		fn(sample, &reader, item, arg);
	}
	tap_expect(item == KVM_TRACE_BATCH_END && !reader.unknown &&
		   trips == trace_get(sample, "count"),
		   "seq %llu: damaged behind %llu round trips of %llu, %u items unknown",
		   trace_get(sample, "seq"), trips, trace_get(sample, "count"), reader.unknown);
}

/**
 * batches_each() - all records in batches, those of a vCPU in the order of seq
 * @session: with samples of kvm_trace_batch:vmexits
 * @fn: called with each record
 * @arg: handed to it
 */
void batches_each(struct trace_session *session, batch_fn fn, void *arg)
{
	const struct trace_sample **batches = calloc(session->nr_samples + 1, sizeof(*batches));
	size_t i, n = 0;

	if (!batches)
		tap_die("memory");
	for (i = 0; i < session->nr_samples; i++) {
		if (sample_is(&session->samples[i], "vmexits"))
			batches[n++] = &session->samples[i];
	}
	qsort(batches, n, sizeof(*batches), by_vcpu_and_seq);
	for (i = 0; i < n; i++)
		read_batch(batches[i], fn, arg);
	free(batches);
}

static struct batch_tally *tally_for(struct batch_tallies *tallies, u32 vm, u32 vcpu)
{
	struct batch_tally *t;

	/* Those of one vCPU come one behind the other. */
	t = tallies->count ? &tallies->list[tallies->count - 1] : NULL;
	if (t && t->vm == vm && t->vcpu == vcpu)
		return t;
	tallies->list = realloc(tallies->list, (tallies->count + 1) * sizeof(*tallies->list));
	if (!tallies->list)
		tap_die("memory");
	t = &tallies->list[tallies->count++];
	*t = (struct batch_tally){ .vm = vm, .vcpu = vcpu };
	return t;
}

static void count_record(const struct trace_sample *sample,
			 const struct kvm_trace_batch_reader *reader,
			 enum kvm_trace_batch_item item, void *arg)
{
	struct batch_tally *t = tally_for(arg, trace_get(sample, "vm"),
					  trace_get(sample, "vcpu"));
	const struct kvm_trace_vmexit *v = &reader->vmexit;
	const struct kvm_trace_vcpu *c = &reader->vcpu;

	if (item == KVM_TRACE_BATCH_IS_VCPU) {
		snprintf(t->name, sizeof(t->name), "%.*s", (int)c->name.len, (char *)c->name.at);
		t->pid = c->vmm_pid;
	}
	if (item != KVM_TRACE_BATCH_IS_VMEXIT)
		return;
	if (!t->trips)
		t->first_seq = v->seq;
	else
		t->missing += v->seq - t->next_seq;
	tap_expect(!t->trips || v->seq >= t->next_seq, "vm %u vcpu %u: seq %u behind %u", v->vm,
		   v->vcpu, v->seq, t->next_seq - 1);
	tap_expect(!v->truncated && !v->unknown, "vm %u vcpu %u seq %u cannot be decoded whole",
		   v->vm, v->vcpu, v->seq);
	/* Of a batch's own records. */
	t->batches += v->seq == trace_get(sample, "seq");
	t->next_seq = v->seq + 1;
	t->trips++;
}

/**
 * batches_tally() - count what the batches of a recording hold
 * @session: with samples of kvm_trace_batch:vmexits
 * @tallies: filled in, for batches_free()
 */
void batches_tally(struct trace_session *session, struct batch_tallies *tallies)
{
	*tallies = (struct batch_tallies){};
	batches_each(session, count_record, tallies);
}

/**
 * batches_free() - free what batches_tally() filled in
 * @tallies: tallies
 */
void batches_free(struct batch_tallies *tallies)
{
	free(tallies->list);
	*tallies = (struct batch_tallies){};
}

/**
 * batch_tally_of() - the tally of a vCPU of this process
 * @tallies: tallies
 * @vcpu: vCPU
 *
 * Return: the last one whose vcpu record names it, since a file descriptor can be
 * used again; NULL if there is none.
 */
const struct batch_tally *batch_tally_of(const struct batch_tallies *tallies,
					 const struct vcpu *vcpu)
{
	char name[32];
	size_t i;

	snprintf(name, sizeof(name), "%d-%d", getpid(), vcpu->vm->fd);
	for (i = tallies->count; i--;) {
		if (!strcmp(tallies->list[i].name, name) && tallies->list[i].vcpu == vcpu->id)
			return &tallies->list[i];
	}
	return NULL;
}

/**
 * batch_ftrace_start() - record batches in an instance of ftrace
 *
 * It is made at the first time, which old kernels take long for.
 */
void batch_ftrace_start(void)
{
	if (run("mkdir -p " TRACEFS "/" INSTANCE) || tracefs_write("0", INSTANCE "/trace") ||
	    tracefs_write("8192", INSTANCE "/buffer_size_kb") ||
	    tracefs_write("1", INSTANCE "/events/kvm_trace_batch/enable"))
		tap_die("kvm_trace_batch in ftrace");
}

/**
 * batch_ftrace_read() - count what the heads of batches say that ftrace has
 * @tally: filled in, but for what heads do not tell; all of the only vCPU there is
 */
void batch_ftrace_read(struct batch_tally *tally)
{
	char *text = tracefs_read(INSTANCE "/trace"), *line;
	unsigned int count, seq;

	if (!text)
		tap_die("trace of ftrace");
	*tally = (struct batch_tally){};
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		line = strstr(line, " count ");
		if (!line || sscanf(line, " count %u from seq %u", &count, &seq) != 2)
			continue;
		if (!tally->batches++)
			tally->first_seq = seq;
		else
			tally->missing += seq - tally->next_seq;
		tally->trips += count;
		tally->next_seq = seq + count;
	}
	free(text);
}

/**
 * batch_ftrace_stop() - stop it, and count what it has
 * @tally: as of batch_ftrace_read()
 */
void batch_ftrace_stop(struct batch_tally *tally)
{
	if (tracefs_write("0", INSTANCE "/events/kvm_trace_batch/enable"))
		tap_die("kvm_trace_batch in ftrace");
	batch_ftrace_read(tally);
}

/**
 * batch_ftrace_remove() - remove the instance
 */
void batch_ftrace_remove(void)
{
	run("rmdir " TRACEFS "/" INSTANCE);
}

/**
 * expect_every_exit() - expect that batches account for all that KVM counted
 * @tallies: of a recording from before the vCPU's first exit to behind its last
 * @vcpu: vCPU of this process, whose last round trip is open
 * @missing: most that may be missing
 */
void expect_every_exit(const struct batch_tallies *tallies, struct vcpu *vcpu, u64 missing)
{
	const struct batch_tally *t = batch_tally_of(tallies, vcpu);
	u64 exits = vcpu_stat(vcpu, "exits"), all;

	if (!tap_expect(t, "vCPU %u has no batch", vcpu->id))
		return;
	all = t->first_seq + t->missing;
	tap_expect(t->trips + all + 1 == exits,
		   "vCPU %u: %llu round trips and %llu missing of %llu exits", vcpu->id, t->trips,
		   all, exits);
	tap_expect(all <= missing, "vCPU %u: %llu of %llu are missing", vcpu->id, all, exits);
}
