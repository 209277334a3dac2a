// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: host time is handling, user space and halted, none of them below
 * 0; with the guest's time it is what lies between two entries. User space is
 * at least what the VMM spends there, halted is what KVM's statistics say.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "halting.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define WORDS		"user_ns,halt_ns,poll_ns,runnable_ns,entry_ns,guest_ns,flags_hi,user_reason"
#define RING_MIB	4
#define ROUNDS		40
#define CLOCKS_DIFFER	2000	/* CLOCK_MONOTONIC is slewed by one part of it at most */
#define SLEEP_US	500	/* more in each round */
#define POLL_NS		1000000
#define NS		1000000000ull
#define TRIES		20

/* What the VMM sees of one return of KVM_RUN: before, return, call, after. */
struct visit {
	u64 before, left, back, after;
};

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * NS + now.tv_nsec;
}

/* The kernel's clocks agree in the length of a time to a part in a thousand. */
static u64 slack(u64 ns)
{
	return ns / 1000 + 1000;
}

static void expect_parts(const struct vmexit *list, size_t count)
{
	const struct kvm_trace_vmexit *r;
	u64 between;
	size_t i;

	for (i = 0; i < count; i++) {
		r = &list[i].r;
		/* Handling takes time: none at all would be a remainder that was cut off. */
		tap_expect(r->user_ns + r->halt_ns < r->host_ns,
			   "seq %u: user %llu + halted %llu leave nothing of host %llu", r->seq,
			   r->user_ns, r->halt_ns, r->host_ns);
		tap_expect(kvm_trace_vmexit_handling_ns(r) ==
			   r->host_ns - r->user_ns - r->halt_ns,
			   "seq %u: handling is %llu of host %llu, user %llu, halted %llu",
			   r->seq, (u64)kvm_trace_vmexit_handling_ns(r), r->host_ns, r->user_ns,
			   r->halt_ns);
		tap_expect(r->poll_ns <= r->halt_ns, "seq %u: polled %llu of halted %llu", r->seq,
			   r->poll_ns, r->halt_ns);
		tap_expect(r->runnable_ns <= r->host_ns, "seq %u: runnable %llu of host %llu",
			   r->seq, r->runnable_ns, r->host_ns);
		tap_expect(!(r->flags & KVM_TRACE_F_CLAMPED), "seq %u is clamped", r->seq);
		if (!i)
			continue;
		between = r->entry_ns - list[i - 1].r.entry_ns;
		/* Where the exit is stamped late, being switched out ends guest time. */
		if ((r->flags & KVM_TRACE_F_LATE_STAMP) && r->host_ns + r->guest_ns < between)
			continue;
		tap_expect(r->host_ns + r->guest_ns == between,
			   "seq %u: host %llu + guest %llu is not %llu", r->seq, r->host_ns,
			   r->guest_ns, between);
	}
}

static void user_space(bool sleeping)
{
	static struct visit visits[ROUNDS + 1];
	struct recorder recorder = {};
	struct vmexit *all;
	struct vcpu vcpu;
	size_t count, i, n = 0, visit = 0;
	const struct kvm_trace_vmexit *r;
	const struct visit *v;
	struct vm vm;
	u64 sum = 0;
	int reason;

	tap_begin("time_parts_add_up: a VMM that %s", sleeping ? "sleeps" : "works");
	recorder_start(&recorder, REC_OURS, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_cpuid) | KIND_BIT(KIND_pio_out), ROUNDS);
	do {
		visits[n].before = now_ns();
		if (n)
			visits[n - 1].back = visits[n].before;
		reason = vcpu_run(&vcpu);
		visits[n].left = now_ns();
		if (n)
			visits[n - 1].after = visits[n].left;
		if (sleeping)
			usleep(SLEEP_US * (n + 1));
		else
			while (now_ns() - visits[n].left < 100 * n)
				;
	} while (guest_handle(&vcpu, reason) && ++n < ARRAY_SIZE(visits));
	recorder_stop(&recorder);

	count = recorder_vmexits(&recorder, &all);
	expect_whole(all, count, "vCPU 0");
	expect_parts(all, count);
	for (i = 0; i < count; i++) {
		r = &all[i].r;
		if (!(r->flags & KVM_TRACE_F_USERSPACE)) {
			tap_expect(!r->user_ns, "seq %u: user %llu without being there", r->seq,
				   r->user_ns);
			continue;
		}
		if (!tap_expect(visit < n, "seq %u: more returns than there were", r->seq))
			break;
		v = &visits[visit++];
		sum += r->user_ns;
		tap_expect(r->user_ns + slack(r->user_ns) >= v->back - v->left,
			   "seq %u: user %llu, the VMM had %llu", r->seq, r->user_ns,
			   v->back - v->left);
		tap_expect(r->user_ns <= v->after - v->before + slack(r->user_ns),
			   "seq %u: user %llu, but %llu with both KVM_RUNs", r->seq, r->user_ns,
			   v->after - v->before);
	}
	tap_expect(visit == n, "%zu records were in user space, %zu returns", visit, n);
	tap_note("%zu visits of user space, %llu ns", visit, sum);
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

/* Returns false if KVM has not polled as it should: a busy machine wakes the guest late. */
static bool halted_once(u32 poll_ns, u32 odd_ns, u32 even_ns)
{
	struct halt_stats before, after;
	struct recorder recorder = {};
	struct vmexit *all;
	size_t count, i, halts = 0, polls = 0;
	const struct kvm_trace_vmexit *r;
	u64 halt_ns = 0, polled_ns = 0, kvms_halt_ns, kvms_polled_ns, cut = 0;
	struct vcpu vcpu;
	struct vm vm;

	recorder_start(&recorder, REC_OURS, RING_MIB);
	vm_create(&vm, 1, VM_IRQCHIP);
	halt_poll_limit(&vm, poll_ns);
	vcpu_create(&vm, &vcpu, 0);
	halting_load(&vcpu, ROUNDS, odd_ns, even_ns);
	halt_stats(&vcpu, &before);
	/* The last exit is PORT_DONE: no halt is in the round trip that stays open. */
	guest_run(&vcpu);
	halt_stats(&vcpu, &after);
	recorder_stop(&recorder);

	count = recorder_vmexits(&recorder, &all);
	expect_whole(all, count, "vCPU 0");
	expect_parts(all, count);
	for (i = 0; i < count; i++) {
		r = &all[i].r;
		halts += !!(r->flags & KVM_TRACE_F_HALTED);
		polls += !!(r->flags_hi & KVM_TRACE_F2_HALT_POLL);
		halt_ns += r->halt_ns;
		polled_ns += r->poll_ns;
		/* KVM's clock may be the faster one; then its time was cut to ours. */
		if (r->halt_ns && r->halt_ns + r->user_ns == r->host_ns)
			cut += r->host_ns / CLOCKS_DIFFER + 1;
		tap_expect(!r->halt_ns || (r->flags & KVM_TRACE_F_HALTED),
			   "seq %u: halted %llu, flags 0x%x", r->seq, r->halt_ns, r->flags);
	}
	tap_note("%zu halts, %zu ended in polling, %llu ns halted, %llu ns polled", halts, polls,
		 halt_ns, polled_ns);
	kvms_polled_ns = after.poll_ns - before.poll_ns;
	kvms_halt_ns = after.wait_ns - before.wait_ns + kvms_polled_ns;
	tap_expect(halt_ns <= kvms_halt_ns && halt_ns + cut >= kvms_halt_ns,
		   "halted %llu, KVM has %llu, %llu may be cut", halt_ns, kvms_halt_ns, cut);
	tap_expect(polled_ns <= kvms_polled_ns && polled_ns + cut >= kvms_polled_ns,
		   "polled %llu, KVM has %llu, %llu may be cut", polled_ns, kvms_polled_ns, cut);
	tap_expect(halts == after.exits - before.exits, "%zu halted, KVM has %llu", halts,
		   after.exits - before.exits);
	tap_expect(polls == after.successful_polls - before.successful_polls,
		   "%zu ended in polling, KVM has %llu", polls,
		   after.successful_polls - before.successful_polls);
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	return halt_ns && (polled_ns || !poll_ns);
}

static void halted(const char *name, u32 poll_ns, u32 odd_ns, u32 even_ns)
{
	unsigned int i;

	tap_begin("time_parts_add_up: %s", name);
	for (i = 0; i < TRIES && !halted_once(poll_ns, odd_ns, even_ns); i++)
		;
	tap_expect(i < TRIES, "the guest did not do what it should");
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(5);
	run_on_cpu(0);
	words_set(WORDS);
	user_space(false);
	user_space(true);
	halted("halted, without polling", 0, 100000, 2000000);
	halted("halted, polling", POLL_NS, 200000, 400000);
	halted("halted, polling in vain", POLL_NS, 200000, 3000000);
	words_set("default");
	return tap_exit();
}
