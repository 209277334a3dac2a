// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a VMM may be killed at any moment. 500 are, while recording: what
 * was recorded of each is whole and its own, and nothing is left behind. With the
 * argument "batches" so are batches, to the last exit, and 200 are killed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "marked.h"
#include "module.h"
#include "records.h"
#include "slab.h"
#include "tap.h"

#define WARM_UP		50
#define KILLS		500
#define ROUNDS		1000000	/* more than are made */
#define MAX_RETURNS	20	/* of KVM_RUN, before it is killed */
#define MAX_DELAY_NS	300000
#define POLL_NS		20000
#define RING_MIB	16
#define SEED		3
#define PENDING		"/sys/kernel/debug/kvm_trace/pending"

/* How far a VMM has come: a VM, a vCPU, in KVM_RUN, and returns of KVM_RUN. */
enum progress {
	HAS_VM = 1,
	HAS_VCPU,
	IN_KVM_RUN,
	PROGRESSES = IN_KVM_RUN + MAX_RETURNS,
};

static struct {
	pid_t pid;
	u32 mark;
} children[WARM_UP + KILLS];

static void run_vmm(u32 mark, unsigned int *progress)
{
	struct marked guest;
	struct vcpu vcpu;
	struct vm vm;

	run_on_cpu(0);
	vm_create(&vm, 1, 0);
	__atomic_store_n(progress, HAS_VM, __ATOMIC_RELEASE);
	vcpu_create(&vm, &vcpu, 0);
	__atomic_store_n(progress, HAS_VCPU, __ATOMIC_RELEASE);
	marked_load(&guest, &vcpu, mark, ROUNDS);
	do
		__atomic_add_fetch(progress, 1, __ATOMIC_RELEASE);
	while (marked_handle(&guest, vcpu_run(&vcpu)));
}

static void doze(long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

static void kill_vmms(unsigned int from, unsigned int count, unsigned int *progress)
{
	unsigned int i, until;

	for (i = from; i < from + count; i++) {
		children[i].mark = i % 255 + 1;
		until = rand() % PROGRESSES;
		*progress = 0;
		children[i].pid = fork();
		if (!children[i].pid) {
			run_vmm(children[i].mark, progress);
			_exit(1);
		}
		if (children[i].pid < 0)
			tap_die("fork");
		while (__atomic_load_n(progress, __ATOMIC_ACQUIRE) < until)
			doze(POLL_NS);
		doze(rand() % MAX_DELAY_NS);
		kill(children[i].pid, SIGKILL);
		waitpid(children[i].pid, NULL, 0);
	}
}

static u64 exits_of_process(struct recorder *recorder, pid_t pid)
{
	struct trace_session *session = &recorder->session;
	u64 exits = 0;
	size_t i;

	for (i = 0; i < session->nr_samples; i++)
		exits += session->samples[i].pid == (u32)pid &&
			 sample_is(&session->samples[i], "kvm_exit");
	return exits;
}

/* VMs are numbered in the order in which they are first seen. */
static void expect_children(struct recorder *recorder, const struct vmexit *all, size_t count)
{
	bool batches = recorder->what & REC_BATCH;
	struct marked_seen seen;
	struct vmexit *list;
	unsigned int child, run = 0;
	u32 vm, last = 0;
	size_t n, total = 0;
	pid_t pid;
	u64 exits;

	for (child = 0; child < WARM_UP + KILLS; child++) {
		pid = children[child].pid;
		vm = recorder_vm_of(recorder, pid);
		n = vm ? vmexits_of(all, count, vm, 0, &list) : 0;
		exits = batches ? exits_of_process(recorder, pid) : 0;
		tap_expect(!batches || (exits ? n + 1 == exits : !n),
			   "process %d: %zu round trips of %llu exits", pid, n, exits);
		total += n;
		if (!n)
			continue;
		tap_expect(vm > last, "vm %u of process %d behind vm %u", vm, pid, last);
		last = vm;
		tap_expect(!list[0].r.seq, "vm %u begins with seq %u", vm, list[0].r.seq);
		expect_whole(list, n, "a killed VMM");
		marked_expect(list, n, children[child].mark, true, &seen);
		while (!batches && n--)
			tap_expect(list[n].sample->pid == (u32)pid,
				   "vm %u has a record of process %u", vm, list[n].sample->pid);
		free(list);
		run++;
	}
	tap_expect(total == count, "%zu records, of them %zu of our VMMs", count, total);
	tap_note("%u of %u VMMs came into their guest, %zu records", run, WARM_UP + KILLS, count);
	tap_expect(run >= KILLS / 2, "too few VMMs came into their guest");
}

static void expect_nobody_pending(void)
{
	char *text = file_read(PENDING), who[32];
	unsigned int i;

	if (!text)
		tap_die(PENDING);
	for (i = 0; i < WARM_UP + KILLS; i++) {
		snprintf(who, sizeof(who), "(%d)", children[i].pid);
		tap_expect(!strstr(text, who), "pending still names process %d", children[i].pid);
	}
	free(text);
}

int main(int argc, char **argv)
{
	unsigned int what = REC_OURS;
	struct slab_count before, after;
	struct recorder recorder = {};
	struct vmexit *all;
	unsigned int *progress;
	size_t count;

	need_kvm_trace();
	tap_plan(2);
	if (argc > 1 && !strcmp(argv[1], "batches"))
		what = REC_BATCH | REC_KVM_EXIT;
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (progress == MAP_FAILED)
		tap_die("memory");
	/* Before there are children, who share the VM that it keeps open: see vm.c. */
	vm_kvm_fd();
	/* Where there is another CPU, the signal may come while the guest runs. */
	run_on_cpu(1);
	words_set("all");
	parameter_set("batch_words", "all");
	srand(SEED);
	recorder_start(&recorder, what, RING_MIB);
	fflush(stdout);
	kill_vmms(0, WARM_UP, progress);
	slab_count(&before);
	kill_vmms(WARM_UP, KILLS, progress);
	slab_count_after(&after, &before, KILLS / 2);
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);

	tap_begin("vmm_killed_500_times: records are whole");
	expect_children(&recorder, all, count);
	tap_expect(!recorder.session.lost, "perf lost %llu samples", recorder.session.lost);
	expect_nobody_pending();
	tap_end();

	tap_begin("vmm_killed_500_times: nothing leaks");
	slab_expect(&before, &after, KILLS / 2, "all kills");
	tap_end();
	recorder_close(&recorder);
	free(all);
	words_set("default");
	parameter_set("batch_words", "lean");
	return tap_exit();
}
