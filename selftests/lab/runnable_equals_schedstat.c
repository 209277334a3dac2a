// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the time that a vCPU's thread was runnable and waited for a CPU is
 * the run delay that the kernel shows in schedstat. A process that never
 * sleeps has the same CPU.
 *
 * Records cover the time from the first entry to the last. The thread reads
 * its schedstat right before and after the first KVM_RUN and the last one. If
 * the scheduler did not come in between, which schedstat tells, the run delay
 * at the entries is known exactly, and the sum must be equal. Else the test
 * goes on, or starts again: a KVM_RUN is shorter than a time slice.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define RING_MIB	8
#define TRIES		50
#define SLICES		20
#define ENDLESS		(1ull << 40)

struct schedstat {
	u64 run_ns, delay_ns, slices;
};

static void schedstat(struct schedstat *stat)
{
	char *text = file_read("/proc/thread-self/schedstat");

	if (!text || sscanf(text, "%llu %llu %llu", &stat->run_ns, &stat->delay_ns,
			    &stat->slices) != 3)
		tap_die("/proc/thread-self/schedstat");
	free(text);
}

static pid_t start_hog(void)
{
	pid_t hog;

	fflush(stdout);
	hog = fork();
	if (hog)
		return hog;
	for (;;)
		asm volatile("pause");
}

static bool same(const struct schedstat *a, const struct schedstat *b)
{
	return a->slices == b->slices && a->delay_ns == b->delay_ns;
}

/* Returns whether the run delay at the first entry is known; at the last it is. */
static bool run_all(struct vcpu *vcpu, struct schedstat *first, struct schedstat *last)
{
	struct schedstat after;

	/* Until the next time slice, so that it is most likely long enough. */
	sched_yield();
	schedstat(first);
	guest_handle(vcpu, vcpu_run(vcpu));
	schedstat(&after);
	if (!same(first, &after))
		return false;
	do {
		schedstat(last);
		guest_handle(vcpu, vcpu_run(vcpu));
		schedstat(&after);
	} while (last->slices < first->slices + SLICES || !same(last, &after));
	return true;
}

/* A guest that is busy between its exits, so that most slices end inside it. */
static void load_spinning(struct vcpu *vcpu)
{
	static const u8 code[] = {
		0xe6, PORT_DATA,			/* out */
		0xb9, 0x00, 0x00, 0x02, 0x00,		/* mov $0x20000, %ecx */
		0xff, 0xc9, 0x75, 0xfc,			/* 1: dec %ecx; jnz 1b */
		0xeb, 0xf3,				/* jmp to the start */
	};

	guest_load_code(vcpu, code, sizeof(code));
}

static void compare(struct recorder *recorder, const struct schedstat *first,
		    const struct schedstat *last)
{
	const u64 delay = last->delay_ns - first->delay_ns;
	const struct kvm_trace_vmexit *r;
	struct vmexit *all;
	size_t count, i, waits = 0;
	bool late = false;
	u64 sum = 0;

	count = recorder_vmexits(recorder, &all);
	expect_whole(all, count, "vCPU 0");
	for (i = 0; i < count; i++) {
		r = &all[i].r;
		sum += r->runnable_ns;
		waits += !!r->runnable_ns;
		late |= r->flags & KVM_TRACE_F_LATE_STAMP;
		tap_expect(r->runnable_ns <= r->host_ns, "seq %u: runnable %llu of host %llu",
			   r->seq, r->runnable_ns, r->host_ns);
		tap_expect(!r->runnable_ns || (r->flags & KVM_TRACE_F_SCHED_OUT),
			   "seq %u: runnable %llu, flags 0x%x", r->seq, r->runnable_ns, r->flags);
	}
	/* Where the exit is stamped late, a wait may be before it. */
	tap_expect(sum == delay || (late && sum < delay), "runnable %llu ns, schedstat says %llu",
		   sum, delay);
	tap_note("%zu records waited, %llu ns; schedstat: %llu ns, %llu time slices", waits, sum,
		 delay, last->slices - first->slices);
	tap_expect(sum, "the thread never waited");
	free(all);
}

static bool try_once(bool spinning)
{
	struct schedstat first, last;
	struct recorder recorder = {};
	struct vcpu vcpu;
	struct vm vm;
	bool known;

	recorder_start(&recorder, REC_OURS, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	if (spinning)
		load_spinning(&vcpu);
	else
		guest_load(&vcpu, KIND_BIT(KIND_pio_out) | KIND_BIT(KIND_cpuid), ENDLESS);
	known = run_all(&vcpu, &first, &last);
	recorder_stop(&recorder);
	if (known)
		compare(&recorder, &first, &last);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	return known;
}

static void run_case(bool spinning)
{
	pid_t hog;
	int tries;

	tap_begin("runnable_equals_schedstat: %s", spinning ? "a guest that is busy" :
							      "a VMM that is busy");
	hog = start_hog();
	for (tries = 1; tries <= TRIES && !try_once(spinning); tries++)
		;
	tap_expect(tries <= TRIES, "the first KVM_RUN was interrupted %d times", TRIES);
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2);
	run_on_cpu(0);
	words_set("runnable_ns");
	run_case(true);
	run_case(false);
	words_set("default");
	return tap_exit();
}
