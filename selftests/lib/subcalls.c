// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hypercalls one at a time. Reads of user memory are counted by a probe on the
 * kernel's function for reads that must not fault, not by the module.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "records.h"
#include "subcalls.h"
#include "tap.h"

#define PROBE_SYSTEM	"kvm_trace_test"
#define PROBE_EVENT	"guest_read"
#define PROBE_FUNCTION	"copy_from_user_nofault"

/**
 * subcalls_start() - record hypercalls, from the first moment on
 * @subcalls: filled in
 * @with_subs: hypercall_sub, too; else only hypercall
 * @ring_mib: size of each CPU's ring; it must hold all until subcalls_take()
 */
void subcalls_start(struct subcalls *subcalls, bool with_subs, size_t ring_mib)
{
	struct trace_event *events[] = { &subcalls->hypercall, &subcalls->read, &subcalls->sub };

	errno = -tracefs_write("p:" PROBE_SYSTEM "/" PROBE_EVENT " " PROBE_FUNCTION,
			       "kprobe_events");
	if (errno)
		tap_die("probe of " PROBE_FUNCTION);
	trace_event_need(&subcalls->hypercall, "kvm_trace", "hypercall");
	trace_event_need(&subcalls->read, PROBE_SYSTEM, PROBE_EVENT);
	trace_event_need(&subcalls->sub, "kvm_trace_detail", "hypercall_sub");
	trace_open(&subcalls->session, events, ARRAY_SIZE(events) - !with_subs, ring_mib);
}

static void add_sub(struct told *told, const struct trace_sample *sample)
{
	struct kvm_trace_hypercall_sub *sub = &told->subs[told->nr_subs];

	if (!tap_expect(told->nr_subs < SUBCALLS_MAX, "more than %d records of hypercall_sub",
			SUBCALLS_MAX))
		return;
	memset(sub, 0, sizeof(*sub));
	tap_expect(kvm_trace_hypercall_sub_record(sub, sample->raw, sample->size) &&
		   !sub->truncated && !sub->reserved && !sub->unknown,
		   "hypercall_sub record %u cannot be decoded whole", told->nr_subs);
	told->nr_subs++;
}

/**
 * subcalls_take() - what was recorded since the last time
 * @subcalls: after subcalls_start()
 * @told: filled in
 */
void subcalls_take(struct subcalls *subcalls, struct told *told)
{
	struct trace_session *session = &subcalls->session;
	const struct trace_sample *sample;
	const u32 tid = syscall(SYS_gettid);
	size_t i;

	memset(told, 0, sizeof(*told));
	trace_read(session);
	tap_expect(!session->lost, "perf lost %llu samples", session->lost);
	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (sample->event == &subcalls->sub) {
			add_sub(told, sample);
		} else if (sample->event == &subcalls->read) {
			told->nr_reads += sample->tid == tid;
		} else {
			memset(&told->call, 0, sizeof(told->call));
			tap_expect(kvm_trace_hypercall_record(&told->call, sample->raw,
							      sample->size) &&
				   !told->call.truncated && !told->call.reserved &&
				   !told->call.unknown,
				   "hypercall record cannot be decoded whole");
			told->nr_calls++;
		}
	}
	trace_forget(session);
}

/**
 * subcalls_close() - detach
 * @subcalls: after subcalls_start()
 */
void subcalls_close(struct subcalls *subcalls)
{
	trace_close(&subcalls->session);
	tracefs_write("-:" PROBE_SYSTEM "/" PROBE_EVENT, "kprobe_events");
}
