// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: perf stops CPU by CPU; a vCPU that moves meanwhile, from a CPU that is
 * still recorded to one that is not, loses nothing of what it did before.
 */
#include <unistd.h>

#include "batches.h"
#include "module.h"
#include "tap.h"
#include "guest.h"

#define FROM		1
#define TO		0
#define EXITS		40
#define TURNS		5
#define RING_MIB	1
#define ENDLESS		(1ull << 40)

int main(void)
{
	static struct trace_event batch, *events[] = { &batch };
	const struct batch_tally *t;
	struct trace_session session;
	struct batch_tallies tallies;
	unsigned int turn;
	struct vcpu vcpu;
	struct vm vm;

	need_kvm_trace();
	tap_plan(1);
	tap_begin("batches_stop_cpu_by_cpu");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		tap_skip("there is one CPU");
		return tap_exit();
	}
	parameter_set("batch_words", "lean");
	trace_event_need(&batch, "kvm_trace_batch", "vmexits");
	for (turn = 0; turn < TURNS; turn++) {
		run_on_cpu(FROM);
		trace_open(&session, events, 1, RING_MIB);
		vm_create(&vm, 1, 0);
		vcpu_create(&vm, &vcpu, 0);
		guest_load(&vcpu, KIND_BIT(KIND_pio_out), ENDLESS);
		guest_run_exits(&vcpu, EXITS);
		trace_stop_cpu(&session, TO);
		run_on_cpu(TO);
		guest_run_exits(&vcpu, EXITS);
		trace_stop(&session);
		trace_read(&session);
		batches_tally(&session, &tallies);
		t = batch_tally_of(&tallies, &vcpu);
		/* The last round trip on that CPU was open when it was left. */
		if (tap_expect(t, "turn %u: no batch", turn))
			tap_expect(!t->first_seq && !t->missing && t->trips >= EXITS - 1,
				   "turn %u: %llu round trips from %u on", turn, t->trips,
				   t->first_seq);
		batches_free(&tallies);
		trace_close(&session);
		vcpu_destroy(&vcpu);
		vm_destroy(&vm);
	}
	tap_end();
	return tap_exit();
}
