// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a round trip of more than 2^32 ns has its right time, in user
 * space and halted in the kernel, and says which of the two it was.
 */
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define LONG_S		10
#define SLACK_NS	500000000ull	/* threads start late on a busy host */
#define NS		1000000000ull
#define MSI_ADDRESS	0xfee00000u	/* to the local APIC with id 0 */
#define MSI_NMI		0x400u

static void expect_long(struct recorder *recorder, u16 has, u16 has_not, u8 class)
{
	struct vmexit *all, *longest = NULL;
	size_t count, i;

	count = recorder_vmexits(recorder, &all);
	for (i = 0; i < count; i++) {
		if (!longest || all[i].r.host_ns > longest->r.host_ns)
			longest = &all[i];
	}
	if (tap_expect(count, "no record")) {
		tap_expect(longest->r.host_ns > LONG_S * NS - SLACK_NS &&
			   longest->r.host_ns < LONG_S * NS + SLACK_NS,
			   "host_ns is %llu, not %d s", longest->r.host_ns, LONG_S);
		tap_expect((longest->r.flags & has) == has && !(longest->r.flags & has_not),
			   "flags are 0x%x, not 0x%x without 0x%x", longest->r.flags, has, has_not);
		tap_expect(longest->r.class == class, "class is %s",
			   kvm_trace_class_name(longest->r.class));
		tap_expect(longest->sample->time - longest->r.host_ns >
			   all[0].sample->time - SLACK_NS, "the exit is before the recording");
	}
	free(all);
}

static void in_user_space(void)
{
	struct recorder recorder = {};
	struct vcpu vcpu;
	struct vm vm;
	int reason;

	tap_begin("long_times_beyond_32bit: 10 s in user space");
	recorder_start(&recorder, REC_OURS, 1);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_pio_out), 3);
	reason = vcpu_run(&vcpu);
	sleep(LONG_S);
	if (guest_handle(&vcpu, reason))
		guest_run(&vcpu);
	recorder_stop(&recorder);
	expect_long(&recorder, KVM_TRACE_F_USERSPACE | KVM_TRACE_F_SCHED_OUT, KVM_TRACE_F_HALTED,
		    KVM_TRACE_CLASS_io);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

static void halted(void)
{
	/* hlt, then the end of a loop: the NMI wakes it */
	static const u8 code[] = { 0xf4, 0xe6, PORT_DONE };
	struct kvm_msi nmi = { .address_lo = MSI_ADDRESS, .data = MSI_NMI };
	struct recorder recorder = {};
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("long_times_beyond_32bit: 10 s halted in the kernel");
	recorder_start(&recorder, REC_OURS, 1);
	vm_create(&vm, 1, VM_IRQCHIP);
	vcpu_create(&vm, &vcpu, 0);
	guest_start_code(&vcpu, code, sizeof(code));
	sleep(LONG_S);
	if (ioctl(vm.fd, KVM_SIGNAL_MSI, &nmi) != 1)
		tap_die("KVM_SIGNAL_MSI");
	guest_join(&vcpu);
	recorder_stop(&recorder);
	expect_long(&recorder, KVM_TRACE_F_HALTED | KVM_TRACE_F_SCHED_OUT | KVM_TRACE_F_INJECTED,
		    KVM_TRACE_F_USERSPACE, KVM_TRACE_CLASS_hlt);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2);
	in_user_space();
	halted();
	return tap_exit();
}
