// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a caller in real mode is in ring 0, also where KVM runs real mode as
 * virtual 8086 mode: on Intel without unrestricted guests.
 */
#include <stdlib.h>
#include <linux/kvm_para.h>

#include "guest.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define NUMBER		0x1337		/* no hypercall of KVM's */
#define RING_MIB	1

static void load_code(struct vcpu *vcpu)
{
	/* vmcall or vmmcall; out */
	const u8 code[] = { 0x0f, 0x01, cpu_is_intel() ? 0xc1 : 0xd9, 0xe6, PORT_DONE };
	struct kvm_regs regs;

	guest_load_real_mode(vcpu, code, sizeof(code));
	vcpu_get_regs(vcpu, &regs);
	regs.rax = NUMBER;
	vcpu_set_regs(vcpu, &regs);
}

static void check(const char *how)
{
	struct recorder recorder = {};
	struct hypercall *list;
	struct vcpu vcpu;
	struct vm vm;
	size_t n;

	tap_begin("hypercall_real_mode: %s", how);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	load_code(&vcpu);
	guest_run(&vcpu);
	recorder_stop(&recorder);
	n = recorder_hypercalls(&recorder, recorder_vm(&recorder, &vm), 0, &list);
	if (tap_expect(n == 1, "%zu records", n)) {
		tap_expect((list->r.caller & ~KVM_TRACE_CALLER_ZERO) == 0, "caller is 0x%x",
			   list->r.caller);
		tap_expect(list->r.nr == NUMBER && list->r.rip == 0, "number 0x%llx, RIP 0x%llx",
			   list->r.nr, list->r.rip);
		/* Outside ring 0 it would be -KVM_EPERM. */
		tap_expect((s32)list->r.result == -KVM_ENOSYS, "result %lld", list->r.result);
	}
	free(list);
	recorder_close(&recorder);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(1 + cpu_is_intel());
	check("as it is");
	if (cpu_is_intel()) {
		vm_kvm_close();
		if (run("rmmod kvm_intel && modprobe kvm_intel unrestricted_guest=0"))
			tap_die("kvm_intel cannot be loaded again: does something use it?");
		check("unrestricted_guest=0");
		vm_kvm_close();
		if (run("rmmod kvm_intel && modprobe kvm_intel"))
			tap_die("kvm_intel cannot be loaded again");
	}
	return tap_exit();
}
