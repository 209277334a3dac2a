// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: records stay right when a vCPU's thread changes, moves to another
 * CPU, is killed in the guest, or leaves with the VM in a round trip.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define TURNS		60
#define RING_MIB	4
#define KILLS		10
#define TRIES		500	/* of 10 ms, for a child to come into its guest */
#define ENDLESS		(1ull << 40)
#define PENDING		"/sys/kernel/debug/kvm_trace/pending"

struct turn {
	struct vcpu *vcpu;
	u32 tid;
	bool more;
};

static void *take_turn(void *data)
{
	struct turn *turn = data;

	turn->tid = syscall(SYS_gettid);
	turn->more = guest_handle(turn->vcpu, vcpu_run(turn->vcpu));
	return NULL;
}

static void in_many_threads(void)
{
	struct recorder recorder = {};
	struct turn turns[TURNS + 2];
	struct vmexit *all;
	struct vcpu vcpu;
	pthread_t thread;
	size_t count, i;
	u32 known = 0, n = 0, t = 0;
	struct vm vm;

	tap_begin("thread_moves: KVM_RUN in %d threads in turn", TURNS);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_cpuid) | KIND_BIT(KIND_pio_out), TURNS);
	do {
		turns[n].vcpu = &vcpu;
		pthread_create(&thread, NULL, take_turn, &turns[n]);
		pthread_join(thread, NULL);
	} while (turns[n++].more && n < ARRAY_SIZE(turns));
	recorder_stop(&recorder);

	count = recorder_vmexits(&recorder, &all);
	tap_expect(count + 1 == vcpu_stat(&vcpu, "exits"), "%zu records of %llu exits", count,
		   vcpu_stat(&vcpu, "exits"));
	expect_whole(all, count, "vCPU 0");
	for (i = 0; i < recorder.session.nr_samples; i++) {
		const struct trace_sample *sample = &recorder.session.samples[i];
		struct kvm_trace_vcpu r;

		if (sample_is(sample, "vcpu") &&
		    kvm_trace_vcpu_record(&r, sample->raw, sample->size))
			known = r.vmm_tid;
		if (!sample_is(sample, "vmexit"))
			continue;
		while (t < n && turns[t].tid != sample->tid)
			t++;
		tap_expect(t < n, "record of thread %u, out of its turn", sample->tid);
		tap_expect(known == sample->tid, "thread %u has no vcpu record, the last is of %u",
			   sample->tid, known);
	}
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

static void across_cpus(void)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_ONLN), moves = 0, turn = 0;
	struct recorder recorder = {};
	const struct trace_sample *exit = NULL, *sample;
	struct kvm_trace_vmexit r;
	struct vcpu vcpu;
	struct vm vm;
	bool moved;
	size_t i;

	tap_begin("thread_moves: to another CPU at each exit to user space");
	if (cpus < 2) {
		tap_skip("there is one CPU");
		return;
	}
	recorder_start(&recorder, REC_OURS | REC_KVM_EXIT, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_cpuid) | KIND_BIT(KIND_pio_out), TURNS);
	do {
		/* Longer than the clocks of two CPUs may differ. */
		usleep(10000);
		run_on_cpu(++turn);
	} while (guest_handle(&vcpu, vcpu_run(&vcpu)));
	recorder_stop(&recorder);

	for (i = 0; i < recorder.session.nr_samples; i++) {
		sample = &recorder.session.samples[i];
		if (sample_is(sample, "kvm_exit"))
			exit = sample;
		if (!sample_is(sample, "vmexit") ||
		    !tap_expect(exit, "a record without kvm_exit before it"))
			continue;
		kvm_trace_vmexit_record(&r, sample->raw, sample->size);
		moved = exit->cpu != sample->cpu;
		moves += moved;
		tap_expect(!(r.flags & KVM_TRACE_F_MOVED_CPU) == !moved,
			   "seq %u: flags 0x%x, exit on CPU %u, entry on CPU %u", r.seq, r.flags,
			   exit->cpu, sample->cpu);
		tap_expect(!moved || (r.flags & KVM_TRACE_F_SCHED_OUT),
			   "seq %u moved without sched_out: flags 0x%x", r.seq, r.flags);
	}
	tap_expect(moves >= TURNS - 1, "%u moves in %d turns", moves, TURNS);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

static bool pending_names(pid_t pid)
{
	char who[32], *text = file_read(PENDING);
	bool found;

	if (!text)
		tap_die(PENDING);
	snprintf(who, sizeof(who), "(%d)", pid);
	found = strstr(text, who);
	free(text);
	return found;
}

static void run_forever(unsigned int kinds)
{
	struct vcpu vcpu;
	struct vm vm;

	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, kinds, ENDLESS);
	guest_run(&vcpu);
}

static void killed(void)
{
	struct recorder recorder = {};
	struct vmexit *all, *own;
	size_t count, n, i;
	unsigned int kill_nr;
	u32 vm = 0;
	pid_t child;

	tap_begin("thread_moves: killed in the guest, %d times", KILLS);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	for (kill_nr = 0; kill_nr < KILLS; kill_nr++) {
		fflush(stdout);
		child = fork();
		if (!child) {
			run_forever(KIND_BIT(kill_nr % 2 ? KIND_cpuid : KIND_mmio_read));
			_exit(1);
		}
		for (i = 0; i < TRIES && recorder.session.nr_samples < TURNS; i++) {
			usleep(10000);
			trace_read(&recorder.session);
		}
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		trace_read(&recorder.session);
		count = recorder_vmexits(&recorder, &all);
		tap_expect(count, "kill %u: no records", kill_nr);
		if (count)
			tap_expect(all[count - 1].r.vm > vm, "kill %u: vm %u follows vm %u",
				   kill_nr, all[count - 1].r.vm, vm);
		vm = count ? all[count - 1].r.vm : vm;
		n = vmexits_of(all, count, vm, 0, &own);
		expect_whole(own, n, "child");
		for (i = 0; i < n; i++)
			tap_expect(own[i].sample->pid == (u32)child, "record of process %u",
				   own[i].sample->pid);
		tap_expect(!pending_names(child), "pending still names process %d", child);
		free(own);
		free(all);
		trace_forget(&recorder.session);
	}
	recorder_close(&recorder);
	tap_end();
}

static void closed(void)
{
	struct recorder recorder = {};
	struct vmexit *all;
	struct vcpu vcpu;
	unsigned int life;
	size_t count, i;
	struct vm vm;

	tap_begin("thread_moves: VM closed in a round trip, %d times", TURNS);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	for (life = 0; life < TURNS; life++) {
		vm_create(&vm, 1, 0);
		vcpu_create(&vm, &vcpu, 0);
		guest_load(&vcpu, KIND_BIT(KIND_pio_out), ENDLESS);
		guest_handle(&vcpu, vcpu_run(&vcpu));
		guest_handle(&vcpu, vcpu_run(&vcpu));
		tap_expect(pending_names(getpid()), "life %u: pending does not name it", life);
		vcpu_destroy(&vcpu);
		vm_destroy(&vm);
		tap_expect(!pending_names(getpid()), "life %u: pending still names it", life);
	}
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	/* The round trip that was open when its VM ended has no record. */
	for (i = 0; i < count; i++)
		tap_expect(!i || all[i].r.vm != all[i - 1].r.vm ? all[i].r.seq == 0 :
			   all[i].r.seq == all[i - 1].r.seq + 1, "record %zu: vm %u seq %u", i,
			   all[i].r.vm, all[i].r.seq);
	tap_expect(count >= TURNS, "%zu records of %d VMs", count, TURNS);
	free(all);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(4);
	across_cpus();
	run_on_cpu(0);
	in_many_threads();
	killed();
	closed();
	return tap_exit();
}
