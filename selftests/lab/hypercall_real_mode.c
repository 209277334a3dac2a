// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a caller in real mode is in ring 0, also where KVM runs real mode as
 * virtual 8086 mode: on Intel without unrestricted guests.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/kvm_para.h>

#include "guest.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define CODE		0x20000
#define SELECTOR	0x2000
#define NUMBER		0x1337		/* no hypercall of KVM's */
#define RING_MIB	1
#define TSS_ADDRESS	0xfffbd000	/* no memory there; KVM needs three pages */

static void load_code(struct vcpu *vcpu)
{
	/* vmcall or vmmcall; out */
	const u8 code[] = { 0x0f, 0x01, cpu_is_intel() ? 0xc1 : 0xd9, 0xe6, PORT_DONE };
	const struct kvm_segment segment = {
		.base = CODE, .limit = 0xffff, .selector = SELECTOR,
		.type = 3, .present = 1, .s = 1,
	};
	struct kvm_regs regs = { .rflags = 2, .rax = NUMBER, .rsp = 0x8000 };
	struct kvm_sregs sregs;

	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		tap_die("KVM_GET_SREGS");
	sregs.cr0 &= ~0x80000001ull;	/* PG, PE */
	sregs.cr4 = 0;
	sregs.efer = 0;
	sregs.cs = segment;
	sregs.ds = segment;
	sregs.es = segment;
	sregs.fs = segment;
	sregs.gs = segment;
	sregs.ss = segment;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs))
		tap_die("KVM_SET_SREGS of real mode");
	memcpy(vm_at(vcpu->vm, CODE), code, sizeof(code));
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
	if (cpu_is_intel() && ioctl(vm.fd, KVM_SET_TSS_ADDR, TSS_ADDRESS))
		tap_die("KVM_SET_TSS_ADDR");
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
