// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: records stay right and are all there, and no word is of another
 * vCPU or of an earlier round trip, while vCPU threads are moved between CPUs,
 * vCPUs between threads, and threads are stopped and interrupted all the time.
 * With the argument "batches" those in batches, where nothing else is recorded.
 */
#include <errno.h>
#include <stdio.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "marked.h"
#include "module.h"
#include "records.h"
#include "slab.h"
#include "tap.h"

#define VCPUS		2
#define ROUNDS		600
#define TURN_ROUNDS	40	/* KVM waits for RCU each time that a vCPU has another thread */
#define RING_MIB	8
#define LEAK		2000	/* objects; there are more round trips in each case */
#define MS_NS		1000000
#define SEED		1

struct run {
	struct vm vm;
	struct vcpu vcpus[VCPUS];
	struct marked guests[VCPUS];
	unsigned int nr_vcpus;
	u32 rounds;
};

/* What a child tells its parent, in memory that both have. */
struct report {
	u32 tids[VCPUS];
	u64 exits[VCPUS];
	u32 vm;
	u32 done;
};

static unsigned int what = REC_OURS;

static void sleep_ns(long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

static void make_guests(struct run *run, unsigned int nr_vcpus, u32 rounds)
{
	unsigned int i;

	run->nr_vcpus = nr_vcpus;
	run->rounds = rounds;
	vm_create(&run->vm, nr_vcpus, 0);
	for (i = 0; i < nr_vcpus; i++) {
		vcpu_create(&run->vm, &run->vcpus[i], i);
		marked_load(&run->guests[i], &run->vcpus[i], i + 1, rounds);
	}
}

static void drop_guests(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->nr_vcpus; i++)
		vcpu_destroy(&run->vcpus[i]);
	vm_destroy(&run->vm);
}

static void *run_guest(void *data)
{
	struct marked *guest = data;

	guest->vcpu->tid = syscall(SYS_gettid);
	while (marked_handle(guest, vcpu_run(guest->vcpu)))
		;
	__atomic_store_n(&guest->vcpu->stop, true, __ATOMIC_RELEASE);
	return NULL;
}

/* From entry to entry no time is missing or counted twice. */
static void expect_times(const struct vmexit *list, size_t count)
{
	const struct kvm_trace_vmexit *r;
	size_t i;
	u64 between;

	for (i = 1; i < count; i++) {
		r = &list[i].r;
		between = r->entry_ns - list[i - 1].r.entry_ns;
		/* Where the exit is stamped late, being switched out ends guest time. */
		if ((r->flags & KVM_TRACE_F_LATE_STAMP) && r->host_ns + r->guest_ns < between)
			continue;
		tap_expect(r->host_ns + r->guest_ns == between,
			   "seq %u flags 0x%x: host %llu + guest %llu is not %llu", r->seq,
			   r->flags, r->host_ns, r->guest_ns, between);
	}
}

/* Returns how many records say that the vCPU moved to another CPU. */
static size_t expect_vcpu(struct recorder *recorder, u32 vm, unsigned int id, u64 exits,
			  u32 rounds, bool all_words)
{
	struct marked_seen seen;
	struct vmexit *all, *list;
	size_t count, n, i, moved = 0, user = 0;

	count = recorder_vmexits(recorder, &all);
	n = vmexits_of(all, count, vm, id, &list);
	/* The last exit, PORT_DONE, is still open. */
	tap_expect(n + 1 == exits, "vCPU %u: %zu records of %llu exits", id, n, exits);
	tap_expect(n && !list[0].r.seq, "vCPU %u: its first record is missing", id);
	expect_whole(list, n, "a marked guest");
	marked_expect(list, n, id + 1, all_words, &seen);
	tap_expect(seen.round == rounds && seen.step == MARKED_WRMSR,
		   "vCPU %u: %u rounds of %u, step %u", id, seen.round, rounds, seen.step);
	if (all_words)
		expect_times(list, n);
	for (i = 0; i < n; i++) {
		moved += !!(list[i].r.flags & KVM_TRACE_F_MOVED_CPU);
		user += !!(list[i].r.flags & KVM_TRACE_F_USERSPACE);
	}
	tap_note("vCPU %u: %zu records, %zu moved, %zu in user space, %zu interrupted", id, n,
		 moved, user, seen.interrupted);
	free(list);
	free(all);
	return moved;
}

static size_t expect_all(struct recorder *recorder, struct run *run, bool all_words)
{
	size_t moved = 0;
	unsigned int i;

	tap_expect(!recorder->session.lost, "perf lost %llu samples", recorder->session.lost);
	for (i = 0; i < run->nr_vcpus; i++)
		moved += expect_vcpu(recorder, recorder_vm(recorder, &run->vm), i,
				     vcpu_stat(&run->vcpus[i], "exits"), run->rounds, all_words);
	return moved;
}

static void bounced(bool all_words)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_ONLN), turn = 0, i;
	struct recorder recorder = {};
	struct run run;
	cpu_set_t set;

	if (cpus < 2) {
		tap_skip("there is one CPU");
		return;
	}
	recorder_start(&recorder, what, RING_MIB);
	make_guests(&run, VCPUS, ROUNDS);
	for (i = 0; i < VCPUS; i++)
		pthread_create(&run.vcpus[i].thread, NULL, run_guest, &run.guests[i]);
	while (!__atomic_load_n(&run.vcpus[0].stop, __ATOMIC_ACQUIRE) ||
	       !__atomic_load_n(&run.vcpus[1].stop, __ATOMIC_ACQUIRE)) {
		for (i = 0; i < VCPUS; i++) {
			CPU_ZERO(&set);
			CPU_SET((turn + i) % cpus, &set);
			pthread_setaffinity_np(run.vcpus[i].thread, sizeof(set), &set);
		}
		turn++;
		sleep_ns(MS_NS);
	}
	for (i = 0; i < VCPUS; i++)
		guest_join(&run.vcpus[i]);
	recorder_stop(&recorder);
	tap_note("%u times to another CPU", turn);
	tap_expect(expect_all(&recorder, &run, all_words), "no record says that it moved");
	drop_guests(&run);
	recorder_close(&recorder);
	tap_end();
}

/* Threads that run vCPUs in turn: in each turn, thread k has vCPU turn + k. */
struct turns {
	struct run *run;
	pthread_barrier_t barrier;
	unsigned int more[VCPUS];	/* vCPU can be run again */
};

struct turner {
	struct turns *turns;
	pthread_t thread;
	unsigned int number;
};

static void *take_turns(void *data)
{
	struct turner *turner = data;
	struct turns *turns = turner->turns;
	unsigned int turn, which, nr = turns->run->nr_vcpus;
	bool more = true;

	for (turn = 0; more; turn++) {
		which = (turn + turner->number) % VCPUS;
		if (which < nr && turns->more[which])
			turns->more[which] =
				marked_handle(&turns->run->guests[which],
					      vcpu_run(&turns->run->vcpus[which]));
		pthread_barrier_wait(&turns->barrier);
		more = turns->more[0] || turns->more[1];
		/* Nobody goes on before everybody has looked. */
		pthread_barrier_wait(&turns->barrier);
	}
	return NULL;
}

static void in_turn(unsigned int nr_vcpus, bool all_words)
{
	struct recorder recorder = {};
	struct turner turners[VCPUS];
	struct turns turns = {};
	unsigned int i;
	struct run run;

	recorder_start(&recorder, what, RING_MIB);
	make_guests(&run, nr_vcpus, TURN_ROUNDS);
	turns.run = &run;
	for (i = 0; i < nr_vcpus; i++)
		turns.more[i] = 1;
	pthread_barrier_init(&turns.barrier, NULL, VCPUS);
	for (i = 0; i < VCPUS; i++) {
		turners[i].turns = &turns;
		turners[i].number = i;
		pthread_create(&turners[i].thread, NULL, take_turns, &turners[i]);
	}
	for (i = 0; i < VCPUS; i++)
		pthread_join(turners[i].thread, NULL);
	pthread_barrier_destroy(&turns.barrier);
	recorder_stop(&recorder);
	expect_all(&recorder, &run, all_words);
	drop_guests(&run);
	recorder_close(&recorder);
	tap_end();
}

static void do_nothing(int signal)
{
	(void)signal;
}

static void run_child(struct report *report)
{
	struct sigaction action = { .sa_handler = do_nothing };
	struct run run;
	unsigned int i;

	sigaction(SIGUSR1, &action, NULL);
	make_guests(&run, VCPUS, ROUNDS);
	for (i = 0; i < VCPUS; i++)
		pthread_create(&run.vcpus[i].thread, NULL, run_guest, &run.guests[i]);
	for (i = 0; i < VCPUS; i++) {
		while (!run.vcpus[i].tid)
			sched_yield();
		__atomic_store_n(&report->tids[i], run.vcpus[i].tid, __ATOMIC_RELEASE);
	}
	for (i = 0; i < VCPUS; i++) {
		guest_join(&run.vcpus[i]);
		report->exits[i] = vcpu_stat(&run.vcpus[i], "exits");
	}
	__atomic_store_n(&report->done, 1, __ATOMIC_RELEASE);
	pause();
}

static void interrupted(bool all_words)
{
	struct recorder recorder = {};
	struct report *report;
	unsigned int stops = 0, signals = 0, i;
	pid_t child;

	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (report == MAP_FAILED)
		tap_die("memory");
	recorder_start(&recorder, what, RING_MIB);
	fflush(stdout);
	srand(SEED);
	child = fork();
	if (!child) {
		run_child(report);
		_exit(1);
	}
	/* Not before: KVM lets a stop interrupt the creation of a VM. */
	while (!__atomic_load_n(&report->tids[VCPUS - 1], __ATOMIC_ACQUIRE) &&
	       !waitpid(child, NULL, WNOHANG))
		sleep_ns(MS_NS);
	while (!__atomic_load_n(&report->done, __ATOMIC_ACQUIRE) &&
	       !waitpid(child, NULL, WNOHANG)) {
		sleep_ns(rand() % (2 * MS_NS));
		if (rand() % 4 == 0) {
			kill(child, SIGSTOP);
			sleep_ns(rand() % MS_NS);
			kill(child, SIGCONT);
			stops++;
			continue;
		}
		signals += !syscall(SYS_tgkill, child, report->tids[rand() % VCPUS], SIGUSR1);
	}
	tap_expect(report->done, "the child ended early");
	recorder_stop(&recorder);
	tap_note("stopped %u times, %u signals", stops, signals);
	tap_expect(stops > 10 && signals > 10, "the guests were done too early");
	tap_expect(!recorder.session.lost, "perf lost %llu samples", recorder.session.lost);
	for (i = 0; i < VCPUS; i++)
		expect_vcpu(&recorder, recorder_vm_of(&recorder, child), i, report->exits[i],
			    ROUNDS, all_words);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	recorder_close(&recorder);
	munmap(report, sizeof(*report));
	tap_end();
}

int main(int argc, char **argv)
{
	static const char *const words[] = { "lean", "all" };
	struct slab_count before, after;
	unsigned int all;

	need_kvm_trace();
	if (argc > 1 && !strcmp(argv[1], "batches"))
		what = REC_BATCH;
	tap_plan(9);
	slab_count(&before);
	for (all = 0; all < ARRAY_SIZE(words); all++) {
		words_set(words[all]);
		parameter_set("batch_words", words[all]);
		tap_begin("threads_and_signals: bounced between CPUs each ms, words %s",
			  words[all]);
		bounced(all);
		tap_begin("threads_and_signals: one vCPU in two threads in turn, words %s",
			  words[all]);
		in_turn(1, all);
		tap_begin("threads_and_signals: two vCPUs swap threads at each KVM_RUN, words %s",
			  words[all]);
		in_turn(VCPUS, all);
		tap_begin("threads_and_signals: stopped, continued and interrupted, words %s",
			  words[all]);
		interrupted(all);
	}
	slab_count_after(&after, &before, LEAK);
	tap_begin("threads_and_signals: nothing leaks");
	slab_expect(&before, &after, LEAK, "all of it");
	tap_end();
	words_set("default");
	parameter_set("batch_words", "lean");
	return tap_exit();
}
