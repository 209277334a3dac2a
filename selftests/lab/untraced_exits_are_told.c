// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: where KVM counts exits that it never tells of, the records say how
 * many. Intel without unrestricted guests is the only such case: real mode with
 * segments that virtual-8086 mode cannot have is emulated, and each pass counts.
 */
#include <sys/ioctl.h>

#include "guest.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		30
#define RING_MIB	4
#define WRONG_SELECTOR	0x1000

extern const char real_mode_code[], real_mode_code_end[];
asm(".pushsection .rodata\n"
	".code16\n"
	"real_mode_code:\n"
	"	mov $" XSTR(ROUNDS) ", %cx\n"
	"1:	outb %al, $" XSTR(PORT_DATA) "\n"
	"	loop 1b\n"
	"	ljmp $" XSTR(REAL_MODE_SELECTOR) ", $(2f - real_mode_code)\n"
	"2:	mov $" XSTR(ROUNDS) ", %cx\n"
	"3:	outb %al, $" XSTR(PORT_DATA) "\n"
	"	loop 3b\n"
	"	outb %al, $" XSTR(PORT_DONE) "\n"
	"real_mode_code_end:\n"
	".code64\n"
	".popsection\n");

/* From here to its next far jump the guest has a segment that must be emulated. */
static void make_emulated(struct vcpu *vcpu)
{
	struct kvm_sregs sregs;

	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		tap_die("KVM_GET_SREGS");
	sregs.cs.selector = WRONG_SELECTOR;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs))
		tap_die("KVM_SET_SREGS of a wrong selector");
}

static void check(struct recorder *recorder, const struct vm *vm, u64 exits)
{
	struct vmexit *all, *list;
	size_t count, n, i;
	s64 untraced = 0;

	count = recorder_vmexits(recorder, &all);
	n = vmexits_of(all, count, recorder_vm(recorder, vm), 0, &list);
	for (i = 0; i < n; i++)
		untraced += list[i].r.untraced;
	tap_expect(untraced >= ROUNDS - 1, "%lld untraced exits of %d instructions", untraced,
		   ROUNDS);
	tap_expect(exits == n + untraced || exits == n + untraced + 1,
		   "exits grew by %llu, %zu records and %lld untraced", exits, n, untraced);
}

int main(void)
{
	struct recorder recorder = {};
	bool emulated = false;
	struct vcpu vcpu;
	struct vm vm;
	int reason;

	need_kvm_trace();
	tap_plan(1);
	tap_begin("untraced_exits_are_told: unrestricted_guest=0");
	if (!cpu_is_intel()) {
		tap_skip("AMD processors run real mode as it is");
		tap_end();
		return tap_exit();
	}
	vm_kvm_close();
	if (run("rmmod kvm_intel && modprobe kvm_intel unrestricted_guest=0"))
		tap_die("kvm_intel cannot be loaded again: does something use it?");
	recorder_start(&recorder, REC_OURS, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load_real_mode(&vcpu, real_mode_code, real_mode_code_end - real_mode_code);
	do {
		reason = vcpu_run(&vcpu);
		if (reason == KVM_EXIT_IO && !emulated) {
			make_emulated(&vcpu);
			emulated = true;
		}
	} while (guest_handle(&vcpu, reason));
	recorder_stop(&recorder);
	check(&recorder, &vm, vcpu_stat(&vcpu, "exits"));
	recorder_close(&recorder);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	vm_kvm_close();
	if (run("rmmod kvm_intel && modprobe kvm_intel"))
		tap_die("kvm_intel cannot be loaded again");
	tap_end();
	return tap_exit();
}
