// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a VMM may be killed at any moment. 500 are, while recording: what
 * was recorded of each is whole and its own, and nothing is left behind.
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
#define LEAST_RUN	250	/* of them had come into their guest */
#define LIMIT		(KILLS / 2)
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

/* VMs are numbered in the order in which they are first seen. */
static void expect_children(const struct vmexit *all, size_t count)
{
	struct marked_seen seen;
	struct vmexit *list;
	unsigned int child = 0, run = 0;
	u32 vm, last = 0;
	size_t i, n;

	for (i = 0; i < count; i++) {
		vm = all[i].r.vm;
		if (vm <= last)
			continue;
		last = vm;
		while (child < ARRAY_SIZE(children) &&
		       children[child].pid != (pid_t)all[i].sample->pid)
			child++;
		if (!tap_expect(child < ARRAY_SIZE(children), "vm %u is of process %u, out of turn",
				vm, all[i].sample->pid))
			return;
		n = vmexits_of(all, count, vm, 0, &list);
		tap_expect(!list[0].r.seq, "vm %u begins with seq %u", vm, list[0].r.seq);
		expect_whole(list, n, "a killed VMM");
		marked_expect(list, n, children[child].mark, true, &seen);
		while (n--)
			tap_expect(list[n].sample->pid == (u32)children[child].pid,
				   "vm %u has a record of process %u", vm, list[n].sample->pid);
		free(list);
		run++;
	}
	tap_note("%u of %zu VMMs came into their guest, %zu records", run, ARRAY_SIZE(children),
		 count);
	tap_expect(run >= LEAST_RUN, "too few VMMs came into their guest");
}

static void expect_nobody_pending(void)
{
	char *text = file_read(PENDING), who[32];
	unsigned int i;

	if (!text)
		tap_die(PENDING);
	for (i = 0; i < ARRAY_SIZE(children); i++) {
		snprintf(who, sizeof(who), "(%d)", children[i].pid);
		tap_expect(!strstr(text, who), "pending still names process %d", children[i].pid);
	}
	free(text);
}

int main(void)
{
	struct slab_count before, after;
	struct recorder recorder = {};
	struct vmexit *all;
	unsigned int *progress;
	size_t count;

	need_kvm_trace();
	tap_plan(2);
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (progress == MAP_FAILED)
		tap_die("memory");
	/* Before there are children, who share the VM that it keeps open: see vm.c. */
	vm_kvm_fd();
	/* Where there is another CPU, the signal may come while the guest runs. */
	run_on_cpu(1);
	words_set("all");
	srand(SEED);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	fflush(stdout);
	kill_vmms(0, WARM_UP, progress);
	slab_count(&before);
	kill_vmms(WARM_UP, KILLS, progress);
	slab_count(&after);
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);

	tap_begin("vmm_killed_500_times: records are whole");
	expect_children(all, count);
	tap_expect(!recorder.session.lost, "perf lost %llu samples", recorder.session.lost);
	expect_nobody_pending();
	tap_end();

	tap_begin("vmm_killed_500_times: nothing leaks");
	slab_expect(&before, &after, LIMIT, "500 kills");
	tap_end();
	recorder_close(&recorder);
	free(all);
	words_set("default");
	return tap_exit();
}
