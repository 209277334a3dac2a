// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: what is told by thread, the flag USERSPACE and hypercalls, is not
 * lost if a vCPU's new thread has got the task_struct of the one before it.
 */
#include <unistd.h>

#include <kvm_trace/exit_reasons.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define TURNS		20
#define RUNS		6	/* of KVM_RUN, in one turn */
#define GRACE_US	60000	/* for the kernel to free a task_struct */
#define RING_MIB	16
#define ENDLESS		(1ull << 40)

static struct vcpu vcpu;

static void *turn(void *data)
{
	int i;

	for (i = 0; i < RUNS; i++)
		guest_handle(&vcpu, vcpu_run(&vcpu));
	return data;
}

int main(void)
{
	unsigned int io = 0, silent = 0, calls = 0, kvm_calls = 0;
	struct recorder recorder = {};
	struct vmexit *all;
	pthread_t thread;
	size_t count, i;
	struct vm vm;
	int k;

	need_kvm_trace();
	run_on_cpu(0);
	tap_plan(1);
	tap_begin("thread_after_thread: %d threads run a vCPU", TURNS);
	recorder_start(&recorder, REC_OURS | REC_KVM_HYPERCALL, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_hypercall) | KIND_BIT(KIND_pio_out), ENDLESS);
	for (k = 0; k < TURNS; k++) {
		pthread_create(&thread, NULL, turn, NULL);
		pthread_join(thread, NULL);
		usleep(GRACE_US);
	}
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < count; i++) {
		if (all[i].r.class != KVM_TRACE_CLASS_io)
			continue;
		io++;
		silent += !(all[i].r.flags & KVM_TRACE_F_USERSPACE);
	}
	for (i = 0; i < recorder.session.nr_samples; i++) {
		calls += sample_is(&recorder.session.samples[i], "hypercall");
		kvm_calls += sample_is(&recorder.session.samples[i], "kvm_hypercall");
	}
	tap_expect(io >= TURNS, "%u io records", io);
	tap_expect(!silent, "%u of %u io records without USERSPACE", silent, io);
	/* The last call may have had no entry after it. */
	tap_expect(calls == kvm_calls || calls + 1 == kvm_calls,
		   "%u hypercall records of %u calls", calls, kvm_calls);
	tap_end();
	return tap_exit();
}
