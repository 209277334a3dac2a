// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a consumer that pauses, as perf record --control does, gets what was
 * before and after, and nothing of what happened meanwhile, as of single events.
 */
#include <sys/ioctl.h>
#include <linux/perf_event.h>

#include "batches.h"
#include "module.h"
#include "tap.h"
#include "guest.h"

#define EXITS		40
#define RING_MIB	1
#define ENDLESS		(1ull << 40)

int main(void)
{
	static struct trace_event batch, *events[] = { &batch };
	const struct batch_tally *t;
	struct trace_session session;
	struct batch_tallies tallies;
	u64 stopped, going;
	struct vcpu vcpu;
	unsigned int cpu;
	struct vm vm;

	need_kvm_trace();
	tap_plan(1);
	tap_begin("batches_of_a_paused_consumer");
	parameter_set("batch_words", "lean");
	trace_event_need(&batch, "kvm_trace_batch", "vmexits");
	run_on_cpu(0);
	trace_open(&session, events, 1, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_pio_out), ENDLESS);
	guest_run_exits(&vcpu, EXITS);
	trace_stop(&session);
	stopped = vcpu_stat(&vcpu, "exits");
	guest_run_exits(&vcpu, EXITS);
	going = vcpu_stat(&vcpu, "exits");
	for (cpu = 0; cpu < session.nr_cpus; cpu++) {
		if (ioctl(session.fds[cpu], PERF_EVENT_IOC_ENABLE, 0))
			tap_die("PERF_EVENT_IOC_ENABLE");
	}
	guest_run_exits(&vcpu, EXITS);
	trace_stop(&session);
	trace_read(&session);
	batches_tally(&session, &tallies);
	expect_every_exit(&tallies, &vcpu, going - stopped);
	t = batch_tally_of(&tallies, &vcpu);
	/* The round trip that was open when it went on is its. */
	if (tap_expect(t, "no batch"))
		tap_expect(t->missing + 1 >= going - stopped, "%llu of %llu are missing",
			   t->missing, going - stopped);
	batches_free(&tallies);
	trace_close(&session);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_end();
	return tap_exit();
}
