// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: kvm_trace_detail:pt tells when a stream is switched on and off, by which method,
 * all of its bytes and VM entries, its losses and whether they are of a full area or of a stop,
 * and why an event was refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/kvm_trace.h>

#include "module.h"
#include "pt_mode.h"
#include "tap.h"
#include "trace.h"

#define AUX_BYTES	(8ul << 20)
#define SMALL_BYTES	(64ul << 10)
#define TINY_BYTES	(8ul << 10)
#define RING_MIB	4
#define ROUNDS		40
#define KINDS		"cpuid,pio_out,mmio_read,hlt"

static struct trace_event pt_event;
static enum pt_method best;	/* what kvm_pt must choose */

/* What the records of a run say. */
struct told {
	u64 bytes, entries, losses;
	unsigned int on, off, full, stop, published, refused;
	u8 last_why;
};

static void take(struct told *told, const struct trace_session *session, u32 tid, u16 config)
{
	const struct trace_sample *sample;
	size_t i;

	memset(told, 0, sizeof(*told));
	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		told->bytes += trace_get(sample, "bytes");
		told->entries += trace_get(sample, "entries");
		told->losses = trace_get(sample, "losses");
		told->last_why = trace_get(sample, "why");
		switch (trace_get(sample, "what")) {
		case KVM_TRACE_PT_ON:
			told->on++;
			break;
		case KVM_TRACE_PT_OFF:
			told->off++;
			told->full += told->last_why == KVM_TRACE_PT_WHY_FULL;
			told->stop += told->last_why == KVM_TRACE_PT_WHY_STOP;
			break;
		case KVM_TRACE_PT_PUBLISHED:
			told->published++;
			break;
		case KVM_TRACE_PT_REFUSED:
			told->refused++;
			continue;
		}
		tap_expect(trace_get(sample, "tid") == tid, "tid is %llu and not %u",
			   trace_get(sample, "tid"), tid);
		tap_expect(trace_get(sample, "config") == config, "config is 0x%llx and not 0x%x",
			   trace_get(sample, "config"), config);
	}
}

static u16 config_of(enum pt_mode mode, enum pt_stream stream, enum pt_method method)
{
	return mode | stream << KVM_TRACE_PT_CONFIG_STREAM_SHIFT |
	       method << KVM_TRACE_PT_CONFIG_METHOD_SHIFT;
}

/* @method: 0 lets kvm_pt choose; @used: what it must choose then. */
static void test_guest(enum pt_method method, enum pt_method used, size_t aux_bytes)
{
	struct trace_event *events[] = { &pt_event };
	const bool small = aux_bytes == SMALL_BYTES;
	struct trace_session session = {};
	char terms[PT_TERMS_BYTES];
	struct pt_event event;
	struct told told;
	u64 exits;

	tap_begin("event_pt_tells_all_of_a_stream: method %s%s", method ? pt_method_name(method) :
		  "chosen", small ? ", full area" : "");
	if (!pt_has_method(used)) {
		tap_skip("this CPU does not have the method");
		return;
	}
	trace_open(&session, events, 1, RING_MIB);
	pt_must_open(&event, pt_terms(terms, PT_MODE_GUEST, 0, method, 1), 0, -1, aux_bytes, 0);
	exits = pt_run_kinds(KINDS, small ? 100 * ROUNDS : ROUNDS, 0);
	pt_stop(&event);
	trace_stop(&session);
	trace_read(&session);
	take(&told, &session, syscall(SYS_gettid),
	     config_of(PT_MODE_GUEST, PT_STREAM_GUEST, used));
	tap_note("%u on, %u off, %u published, %llu bytes, %llu entries of %llu exits", told.on,
		 told.off, told.published, told.bytes, told.entries, exits);
	tap_expect(told.on && told.on == told.off, "%u times on, %u off", told.on, told.off);
	tap_expect(told.bytes == event.size, "%llu bytes of %zu", told.bytes, event.size);
	tap_expect(!session.lost && !told.refused, "%llu records lost, %u refused", session.lost,
		   told.refused);
	if (small)
		tap_expect(told.full == 1 && told.losses == 1 && told.entries < exits,
			   "%u times full, %llu losses, %llu entries", told.full, told.losses,
			   told.entries);
	else
		tap_expect(told.entries >= exits && !told.losses, "%llu entries of %llu exits",
			   told.entries, exits);
	pt_close(&event);
	trace_close(&session);
	tap_end();
}

/* A stop of the address filters, which the guest comes to if nothing ends the trace before. */
static void test_stop(const char *what, u64 rounds, size_t aux_bytes, unsigned int flags, bool full)
{
	struct trace_event *events[] = { &pt_event };
	struct trace_session session = {};
	char text[PT_TERMS_BYTES];
	struct pt_event event;
	struct told told;

	tap_begin("event_pt_tells_a_stop_from_a_full_area: %s", what);
	trace_open(&session, events, 1, RING_MIB);
	pt_must_open(&event, pt_terms(text, PT_MODE_GUEST, 0, 0, 1), 0, -1, aux_bytes,
		     flags | PT_DISABLED);
	if (!pt_filter(&event, pt_place(text, "stop", PT_AT_END)) || pt_enable(&event))
		tap_die("%s", text);
	pt_run_calls(rounds);
	pt_stop(&event);
	trace_stop(&session);
	trace_read(&session);
	take(&told, &session, syscall(SYS_gettid),
	     config_of(PT_MODE_GUEST, PT_STREAM_GUEST, best));
	tap_expect(told.stop == !full && told.full == full, "%u times stop, %u full", told.stop,
		   told.full);
	tap_expect(told.losses == 1 && told.on == told.off, "%llu losses, %u times on, %u off",
		   told.losses, told.on, told.off);
	tap_expect(event.size, "there is no trace");
	pt_close(&event);
	trace_close(&session);
	tap_end();
}

static void test_refusal(void)
{
	struct trace_event *events[] = { &pt_event };
	struct trace_session session = {};
	struct pt_event event;
	struct told told;
	int err;

	tap_begin("event_pt_tells_why_one_is_refused");
	trace_open(&session, events, 1, RING_MIB);
	err = pt_open(&event, KVM_PT, "mode=2,stream=1", 0, -1, AUX_BYTES, 0);
	trace_stop(&session);
	trace_read(&session);
	take(&told, &session, 0, 0);
	tap_expect(err < 0, "it is opened");
	tap_expect(told.refused == 1 && told.last_why == KVM_TRACE_PT_WHY_CONFIG,
		   "%u are refused, the last one for reason %u", told.refused, told.last_why);
	trace_close(&session);
	tap_end();
}

int main(void)
{
	need_kvm_pt();
	run_on_cpu(0);
	trace_event_need(&pt_event, "kvm_trace_detail", "pt");
	best = pt_has_method(PT_METHOD_VMCS) ? PT_METHOD_VMCS : PT_METHOD_WINDOW;
	tap_plan(8);
	test_guest(0, best, AUX_BYTES);
	test_guest(PT_METHOD_VMCS, PT_METHOD_VMCS, AUX_BYTES);
	test_guest(PT_METHOD_WINDOW, PT_METHOD_WINDOW, AUX_BYTES);
	test_guest(0, best, SMALL_BYTES);
	test_stop("stop", ROUNDS, AUX_BYTES, 0, false);
	test_stop("stop of a snapshot", ROUNDS, AUX_BYTES, PT_SNAPSHOT, false);
	test_stop("full", 100 * ROUNDS, TINY_BYTES, 0, true);
	test_refusal();
	return tap_exit();
}
