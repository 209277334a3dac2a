// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: recording that stops and starts while user space answers a hypercall
 * leaves no record of that call in a later round trip.
 */
#include <linux/kvm_para.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ANSWER	0x5eed

static void load(struct vcpu *vcpu)
{
	/* vmmcall; out to PORT_DATA; cpuid; mov $MARK_UNKNOWN_NR, %eax; vmmcall; out */
	static const u8 code[] = {
		0x0f, 0x01, 0xd9, 0xe6, PORT_DATA, 0x0f, 0xa2,
		0xb8, MARK_UNKNOWN_NR & 0xff, MARK_UNKNOWN_NR >> 8, 0, 0,
		0x0f, 0x01, 0xd9, 0xe6, PORT_DONE,
	};
	struct kvm_regs regs;

	guest_load_code(vcpu, code, sizeof(code));
	vcpu_get_regs(vcpu, &regs);
	regs.rax = KVM_HC_MAP_GPA_RANGE;
	regs.rbx = VM_AREA;
	regs.rcx = 1;
	regs.rdx = 0;
	vcpu_set_regs(vcpu, &regs);
}

static void run_to(struct vcpu *vcpu, int reason)
{
	int found = vcpu_run(vcpu);

	if (found != reason)
		tap_die("KVM_RUN gave %d, not %d", found, reason);
	if (reason == KVM_EXIT_HYPERCALL)
		vcpu->run->hypercall.ret = ANSWER;
}

/* Records of the call that user space answers, and of the unknown one behind it. */
static void expect(struct recorder *recorder, const struct vm *vm, size_t answered, size_t unknown)
{
	size_t n, i, found_answered = 0, found_unknown = 0;
	struct hypercall *list;

	n = recorder_hypercalls(recorder, recorder_vm(recorder, vm), 0, &list);
	for (i = 0; i < n; i++) {
		found_unknown += list[i].r.nr == MARK_UNKNOWN_NR &&
				 list[i].r.result == -KVM_ENOSYS;
		found_answered += list[i].r.nr == KVM_HC_MAP_GPA_RANGE &&
				  list[i].r.result == ANSWER && list[i].r.arg[0] == VM_AREA;
	}
	tap_expect(n == answered + unknown && found_answered == answered &&
		   found_unknown == unknown,
		   "%zu records, %zu of the answered call, %zu of the other", n, found_answered,
		   found_unknown);
	free(list);
}

/*
 * @others: vmexit and vcpu are recorded all the time, so that the vCPU stays known
 * @late: the second recording starts behind the answered call
 */
static void check(bool others, bool late)
{
	struct kvm_enable_cap exits = { .cap = KVM_CAP_EXIT_HYPERCALL,
					.args = { 1 << KVM_HC_MAP_GPA_RANGE } };
	struct recorder around = {}, first = {}, second = {};
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("hypercall_restarts: again %s, other events %s",
		  late ? "behind the call" : "while it is answered",
		  others ? "all the time" : "with it");
	if (others)
		recorder_start(&around, REC_VMEXIT | REC_VCPU, 1);
	recorder_start(&first, REC_HYPERCALL | REC_VCPU, 1);
	vm_create(&vm, 1, 0);
	if (ioctl(vm.fd, KVM_ENABLE_CAP, &exits))
		tap_die("KVM_CAP_EXIT_HYPERCALL");
	vcpu_create(&vm, &vcpu, 0);
	load(&vcpu);
	run_to(&vcpu, KVM_EXIT_HYPERCALL);
	recorder_stop(&first);
	expect(&first, &vm, 0, 0);
	recorder_close(&first);
	if (!late)
		recorder_start(&second, REC_HYPERCALL | REC_VCPU, 1);
	run_to(&vcpu, KVM_EXIT_IO);
	if (late)
		recorder_start(&second, REC_HYPERCALL | REC_VCPU, 1);
	run_to(&vcpu, KVM_EXIT_IO);
	recorder_stop(&second);
	/* The vCPU's state outlives a recording only if somebody records on. */
	expect(&second, &vm, others && !late, 1);
	recorder_close(&second);
	if (others) {
		recorder_stop(&around);
		recorder_close(&around);
	}
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(4);
	run_on_cpu(0);
	check(false, false);
	check(false, true);
	check(true, false);
	check(true, true);
	return tap_exit();
}
