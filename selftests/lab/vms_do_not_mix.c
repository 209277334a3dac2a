// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a record belongs to the VM and the vCPU that it names, whatever
 * they share: ids, a process, or the address of one that is gone. Each vCPU
 * makes a kind of exit of its own, so that a mix-up shows in the class.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		100
#define RING_MIB	4
#define HIGH_ID		300
#define LIVES		10

/* What a vCPU does, and what its records must then be. */
static const struct {
	enum guest_kind kind;
	u8 class;
} loads[] = {
	{ KIND_pio_out, KVM_TRACE_CLASS_io },
	{ KIND_cpuid, KVM_TRACE_CLASS_cpuid },
	{ KIND_hypercall, KVM_TRACE_CLASS_hypercall },
	{ KIND_rdmsr, KVM_TRACE_CLASS_msr_read },
};

static bool is_of(const struct kvm_trace_vmexit *r, unsigned int load)
{
	/* Each loop faults its pages in, is interrupted, and ends with a pio. */
	return r->class == loads[load].class || r->class == KVM_TRACE_CLASS_page_fault ||
	       r->class == KVM_TRACE_CLASS_interrupt || r->class == KVM_TRACE_CLASS_io;
}

static void expect_own(struct recorder *recorder, struct vm *vm, struct vcpu *vcpu,
		       unsigned int load, u32 tid)
{
	u32 number = recorder_vm(recorder, vm);
	struct vmexit *all, *list;
	size_t count, n, i, own = 0;

	count = recorder_vmexits(recorder, &all);
	n = vmexits_of(all, count, number, vcpu->id, &list);
	for (i = 0; i < n; i++) {
		own += list[i].r.class == loads[load].class;
		tap_expect(is_of(&list[i].r, load) && list[i].sample->tid == tid,
			   "vm %u vcpu %u has a record of class %s, thread %u", number, vcpu->id,
			   kvm_trace_class_name(list[i].r.class), list[i].sample->tid);
	}
	tap_expect(own >= ROUNDS, "vm %u vcpu %u: %zu records of its own class in %d rounds",
		   number, vcpu->id, own, ROUNDS);
	tap_expect(n + 1 == vcpu_stat(vcpu, "exits"), "vm %u vcpu %u: %zu records of %llu exits",
		   number, vcpu->id, n, vcpu_stat(vcpu, "exits"));
	expect_whole(list, n, guest_kind_name(loads[load].kind));
	free(list);
	free(all);
}

static void two_vms(const char *name, unsigned int first_id)
{
	struct recorder recorder = {};
	struct vcpu vcpus[2][2];
	unsigned int m, i;
	struct vm vms[2];

	tap_begin("%s", name);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	for (m = 0; m < 2; m++) {
		vm_create(&vms[m], 2, 0);
		for (i = 0; i < 2; i++)
			vcpu_create(&vms[m], &vcpus[m][i], first_id + i);
	}
	for (m = 0; m < 2; m++) {
		for (i = 0; i < 2; i++)
			guest_start(&vcpus[m][i], KIND_BIT(loads[2 * m + i].kind), ROUNDS);
	}
	for (m = 0; m < 2; m++) {
		for (i = 0; i < 2; i++)
			guest_join(&vcpus[m][i]);
	}
	recorder_stop(&recorder);
	tap_expect(recorder_vm(&recorder, &vms[0]) != recorder_vm(&recorder, &vms[1]),
		   "both VMs have number %u", recorder_vm(&recorder, &vms[0]));
	for (m = 0; m < 2; m++) {
		for (i = 0; i < 2; i++) {
			expect_own(&recorder, &vms[m], &vcpus[m][i], 2 * m + i, vcpus[m][i].tid);
			vcpu_destroy(&vcpus[m][i]);
		}
		vm_destroy(&vms[m]);
	}
	recorder_close(&recorder);
	tap_end();
}

static void run_once(struct vm *vm, struct vcpu *vcpu, unsigned int id, unsigned int load)
{
	vm_create(vm, 1, 0);
	vcpu_create(vm, vcpu, id);
	guest_load(vcpu, KIND_BIT(loads[load].kind), ROUNDS);
	guest_run(vcpu);
}

/* The child's VM has the same vCPU id and, most likely, the same descriptor. */
static void two_processes(void)
{
	struct recorder recorder = {};
	struct vmexit *all;
	struct vcpu vcpu;
	size_t count, i;
	struct vm vm;
	pid_t child;
	int status;

	tap_begin("two_processes_same_vcpu_ids");
	recorder_start(&recorder, REC_OURS, RING_MIB);
	fflush(stdout);
	child = fork();
	if (!child) {
		run_once(&vm, &vcpu, 0, 1);
		_exit(0);
	}
	run_once(&vm, &vcpu, 0, 0);
	waitpid(child, &status, 0);
	tap_expect(!status, "the child ended with 0x%x", status);
	recorder_stop(&recorder);
	expect_own(&recorder, &vm, &vcpu, 0, getpid());
	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < count; i++) {
		if (all[i].sample->pid == (u32)child)
			tap_expect(all[i].r.vm != recorder_vm(&recorder, &vm) &&
				   is_of(&all[i].r, 1),
				   "the child's record has vm %u class %s", all[i].r.vm,
				   kvm_trace_class_name(all[i].r.class));
	}
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

/* Whatever KVM's allocator does with the addresses, numbers are never used again. */
static void recreated(bool hold_recorder)
{
	struct recorder recorder = {};
	u32 number, last = 0;
	unsigned int life;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("vm_destroyed_and_recreated: %s", hold_recorder ? "one recording" : "one each");
	for (life = 0; life < LIVES; life++) {
		if (!life || !hold_recorder)
			recorder_start(&recorder, REC_OURS, RING_MIB);
		run_once(&vm, &vcpu, 5, life % ARRAY_SIZE(loads));
		trace_read(&recorder.session);
		number = recorder_vm(&recorder, &vm);
		tap_expect(number > last, "life %u: vm %u follows vm %u", life, number, last);
		last = number;
		expect_own(&recorder, &vm, &vcpu, life % ARRAY_SIZE(loads), getpid());
		vcpu_destroy(&vcpu);
		vm_destroy(&vm);
		if (!hold_recorder || life == LIVES - 1)
			recorder_close(&recorder);
		else
			trace_forget(&recorder.session);
	}
	tap_end();
}

/* The VM goes while nothing records, and another takes its place. */
static void reused_unseen(void)
{
	struct recorder recorder = {};
	struct vcpu vcpu;
	unsigned int i;
	struct vm vm;
	u32 number;

	tap_begin("vm_replaced_while_not_recording");
	recorder_start(&recorder, REC_OURS, RING_MIB);
	run_once(&vm, &vcpu, 5, 0);
	recorder_stop(&recorder);
	number = recorder_vm(&recorder, &vm);
	recorder_close(&recorder);
	for (i = 0; i < LIVES; i++) {
		vcpu_destroy(&vcpu);
		vm_destroy(&vm);
		run_once(&vm, &vcpu, 5, 1);
	}
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	run_once(&vm, &vcpu, 5, 2);
	recorder_stop(&recorder);
	tap_expect(recorder_vm(&recorder, &vm) > number, "vm %u follows vm %u",
		   recorder_vm(&recorder, &vm), number);
	expect_own(&recorder, &vm, &vcpu, 2, getpid());
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	int max_ids;

	need_kvm_trace();
	tap_plan(7);
	two_vms("two_vms_one_process_same_vcpu_ids", 0);
	two_vms("vcpu_ids_above_255", HIGH_ID);
	max_ids = ioctl(vm_kvm_fd(), KVM_CHECK_EXTENSION, KVM_CAP_MAX_VCPU_ID);
	two_vms("highest_vcpu_ids", max_ids - 2);
	two_processes();
	recreated(true);
	recreated(false);
	reused_unseen();
	return tap_exit();
}
