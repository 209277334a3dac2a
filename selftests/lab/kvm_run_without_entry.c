// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: KVM_RUN that returns without having entered the guest belongs to
 * the round trip that is open, whichever thread made it: that one says why
 * KVM_RUN returned the last time, and has all the time in user space. Three
 * threads run two vCPUs, one at a time and at random; a third vCPU never enters
 * its guest, and must not leave a trace in the records of the others.
 */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "marked.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define VCPUS		2	/* and one that never enters */
#define WORKERS		3
#define OPERATIONS	500
#define ROUNDS		100000	/* more than are made */
#define RING_MIB	4
#define SEED		7
#define NS		1000000000ull
#define KERNEL_SIGSET	8	/* bytes */

enum how {
	PLAIN,
	IMMEDIATE_EXIT,
	PENDING_SIGNAL,
	HOWS,
};

struct call {
	bool entered;
	u32 value;		/* as USER_REASON has it */
	u64 call, back;		/* ns */
};

struct log {
	struct call calls[OPERATIONS];
	unsigned int nr;
	int reason;		/* of the last one */
};

struct worker {
	pthread_t thread;
	sem_t go, done;
	struct marked *guest;
	struct log *log;
	enum how how;
	bool stop;
};

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * NS + now.tv_nsec;
}

/* In KVM_RUN only, the signal that is pending gets through. */
static void signal_mask(struct vcpu *vcpu, bool set)
{
	struct {
		struct kvm_signal_mask head;
		u8 sigset[KERNEL_SIGSET];
	} mask = { .head.len = KERNEL_SIGSET };

	if (ioctl(vcpu->fd, KVM_SET_SIGNAL_MASK, set ? &mask : NULL))
		tap_die("KVM_SET_SIGNAL_MASK");
}

static void operate(struct worker *worker)
{
	const struct timespec at_once = {};
	struct vcpu *vcpu = worker->guest->vcpu;
	struct log *log = worker->log;
	struct call *call = &log->calls[log->nr++];
	u64 exits = vcpu_stat(vcpu, "exits");
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	if (log->reason >= 0)
		marked_handle(worker->guest, log->reason);
	if (worker->how == PENDING_SIGNAL) {
		signal_mask(vcpu, true);
		pthread_kill(pthread_self(), SIGUSR1);
	}
	vcpu->run->immediate_exit = worker->how == IMMEDIATE_EXIT;
	call->call = now_ns();
	log->reason = vcpu_run(vcpu);
	call->back = now_ns();
	call->value = vcpu->run->exit_reason;
	if (log->reason < 0)
		call->value |= -log->reason << KVM_TRACE_USER_REASON_ERRNO_SHIFT;
	vcpu->run->immediate_exit = 0;
	if (worker->how == PENDING_SIGNAL) {
		sigtimedwait(&usr1, NULL, &at_once);
		signal_mask(vcpu, false);
	}
	call->entered = vcpu_stat(vcpu, "exits") != exits;
}

static void *work(void *data)
{
	struct worker *worker = data;

	for (;;) {
		sem_wait(&worker->go);
		if (worker->stop)
			return NULL;
		operate(worker);
		sem_post(&worker->done);
	}
}

static void run_at_random(struct marked *guests, struct log *logs)
{
	static struct worker workers[WORKERS];
	struct worker *worker;
	unsigned int i, which;
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	srand(SEED);
	for (i = 0; i < WORKERS; i++) {
		worker = &workers[i];
		sem_init(&worker->go, 0, 0);
		sem_init(&worker->done, 0, 0);
		pthread_create(&worker->thread, NULL, work, worker);
	}
	for (i = 0; i < OPERATIONS; i++) {
		worker = &workers[rand() % WORKERS];
		which = rand() % (VCPUS + 1);
		worker->guest = &guests[which];
		worker->log = &logs[which];
		worker->how = which < VCPUS ? rand() % HOWS : IMMEDIATE_EXIT;
		sem_post(&worker->go);
		sem_wait(&worker->done);
	}
	for (i = 0; i < WORKERS; i++) {
		workers[i].stop = true;
		sem_post(&workers[i].go);
		pthread_join(workers[i].thread, NULL);
	}
}

/* The calls of a round trip: one that entered, and those after it that did not. */
static void compare(const struct vmexit *list, size_t count, const struct log *log)
{
	const struct kvm_trace_vmexit *r;
	const struct call *last;
	unsigned int at = 0, without = 0, trips = 0;
	u64 user;
	size_t i;

	while (at < log->nr && !log->calls[at].entered)
		at++;
	for (i = 0; i < count; i++) {
		r = &list[i].r;
		if (!(r->flags & KVM_TRACE_F_USERSPACE))
			continue;
		if (!tap_expect(at < log->nr, "seq %u: more returns than there were", r->seq))
			return;
		user = 0;
		do {
			last = &log->calls[at++];
			if (at < log->nr)
				user += log->calls[at].call - last->back;
			without += !last->entered;
		} while (at < log->nr && !log->calls[at].entered);
		trips++;
		tap_expect((r->have & KVM_TRACE_W_USER_REASON) && r->user_reason == last->value,
			   "seq %u, call %u: user_reason 0x%x, KVM_RUN returned 0x%x", r->seq, at,
			   r->user_reason, last->value);
		tap_expect(r->user_ns + user / 1000 + 1000 >= user && r->user_ns < r->host_ns,
			   "seq %u, call %u: user %llu of host %llu, the VMM had %llu", r->seq, at,
			   r->user_ns, r->host_ns, user);
	}
	tap_note("%u calls, %u without an entry in %u round trips of %zu records", log->nr,
		 without, trips, count);
	tap_expect(without > OPERATIONS / (VCPUS + 1) / HOWS,
		   "only %u calls without an entry", without);
	for (without = 0; at < log->nr; at++)
		without += log->calls[at].entered;
	tap_expect(without <= 1, "%u round trips have no record", without);
}

int main(void)
{
	static struct log logs[VCPUS + 1];
	struct marked guests[VCPUS + 1];
	struct recorder recorder = {};
	struct vcpu vcpus[VCPUS + 1];
	struct marked_seen seen;
	struct vmexit *all, *list;
	size_t count, n;
	unsigned int i;
	struct vm vm;

	need_kvm_trace();
	tap_plan(VCPUS + 1);
	run_on_cpu(0);
	words_set("all");
	recorder_start(&recorder, REC_OURS, RING_MIB);
	vm_create(&vm, VCPUS + 1, 0);
	for (i = 0; i <= VCPUS; i++) {
		vcpu_create(&vm, &vcpus[i], i);
		marked_load(&guests[i], &vcpus[i], i + 1, ROUNDS);
		logs[i].reason = -EINTR;	/* nothing to be answered */
	}
	run_at_random(guests, logs);
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < VCPUS; i++) {
		tap_begin("kvm_run_without_entry: vCPU %u", i);
		n = vmexits_of(all, count, recorder_vm(&recorder, &vm), i, &list);
		expect_whole(list, n, "a marked guest");
		tap_expect(n + 1 == vcpu_stat(&vcpus[i], "exits"), "%zu records of %llu exits", n,
			   vcpu_stat(&vcpus[i], "exits"));
		marked_expect(list, n, i + 1, true, &seen);
		compare(list, n, &logs[i]);
		free(list);
		tap_end();
	}
	tap_begin("kvm_run_without_entry: a vCPU that never enters has no record");
	n = vmexits_of(all, count, recorder_vm(&recorder, &vm), VCPUS, &list);
	tap_expect(!n && !vcpu_stat(&vcpus[VCPUS], "exits"), "%zu records of %llu exits", n,
		   vcpu_stat(&vcpus[VCPUS], "exits"));
	tap_expect(logs[VCPUS].nr > OPERATIONS / 10, "it was run %u times", logs[VCPUS].nr);
	free(list);
	tap_end();
	for (i = 0; i <= VCPUS; i++)
		vcpu_destroy(&vcpus[i]);
	free(all);
	vm_destroy(&vm);
	recorder_close(&recorder);
	words_set("default");
	return tap_exit();
}
