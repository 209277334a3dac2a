// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: VMs come and go while only batches are recorded, and leave nothing
 * behind. 1,000 are made, run and destroyed, 8 at a time: of each, batches have
 * every exit; no cache keeps an object for each of them, and the module goes when
 * the recording has.
 */
#include <stdlib.h>
#include <unistd.h>

#include "batches.h"
#include "churn.h"
#include "module.h"
#include "records.h"
#include "slab.h"
#include "tap.h"

#define VMS		1000
#define WARM_UP		50
#define LIMIT		(VMS / 2)
#define ROUNDS		20
#define RING_MIB	16

static u64 exits_of[WARM_UP + VMS];

static void expect_all(struct trace_session *session)
{
	const struct batch_tally *t;
	struct batch_tallies tallies;
	size_t i;

	batches_tally(session, &tallies);
	tap_expect(tallies.count == WARM_UP + VMS, "batches of %zu VMs of %u", tallies.count,
		   WARM_UP + VMS);
	for (i = 0; i < tallies.count && i < WARM_UP + VMS; i++) {
		t = &tallies.list[i];
		tap_expect(t->trips + 1 == exits_of[i] && !t->first_seq && !t->missing,
			   "VM %zu: %llu round trips from seq %u, %llu missing, of %llu exits", i,
			   t->trips, t->first_seq, t->missing, exits_of[i]);
		tap_expect(t->pid == (u32)getpid(), "VM %zu is of process %u", i, t->pid);
	}
	tap_expect(!session->lost, "perf lost %llu samples", session->lost);
	batches_free(&tallies);
}

int main(void)
{
	struct slab_count before, after;
	struct recorder recorder = {};

	need_kvm_trace();
	tap_plan(3);
	recorder_start(&recorder, REC_BATCH, RING_MIB);
	churn_vms(WARM_UP, ROUNDS, exits_of);
	slab_count(&before);
	klog_mark();
	churn_vms(VMS, ROUNDS, exits_of + WARM_UP);
	slab_count_after(&after, &before, LIMIT);
	recorder_stop(&recorder);

	tap_begin("batches_of_1000_vms: every exit of each");
	expect_all(&recorder.session);
	tap_end();

	tap_begin("batches_of_1000_vms: nothing leaks");
	slab_expect(&before, &after, LIMIT, "1,000 VMs");
	tap_end();

	tap_begin("batches_of_1000_vms: the module goes");
	recorder_close(&recorder);
	expect_kvm_trace_goes();
	tap_end();
	return tap_exit();
}
