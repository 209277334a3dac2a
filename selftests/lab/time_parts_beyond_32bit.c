// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: parts of host time of 2^32 ns and more are right too: in user
 * space, halted, and runnable, which they are in the words of 8 bytes.
 */
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "halting.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define LONG_S		6
#define NS		1000000000ull
#define SLACK_NS	500000000ull	/* threads start late on a busy host */
#define MSI_ADDRESS	0xfee00000u	/* to the local APIC with id 0 */
#define MSI_NMI		0x400u
#define CGROUPS		"/tmp/kvm-trace-cgroups"
#define GROUP		CGROUPS "/slow"
#define QUOTA		"1000 1000000"	/* us of CPU in each second */

/* The one record in which a part is long, with the word that it is in. */
static const struct kvm_trace_vmexit *long_one(const struct vmexit *list, size_t count, u64 word)
{
	const struct kvm_trace_vmexit *found = NULL;
	size_t i, n = 0;

	for (i = 0; i < count; i++) {
		if (!(list[i].r.have & word))
			continue;
		found = &list[i].r;
		n++;
	}
	tap_expect(n == 1, "%zu records have the word of 8 bytes", n);
	if (found)
		tap_expect(!(found->have & (word == KVM_TRACE_W_USER_NS_64 ? KVM_TRACE_W_USER_NS :
					    word == KVM_TRACE_W_HALT_NS_64 ? KVM_TRACE_W_HALT_NS :
					    KVM_TRACE_W_RUNNABLE_NS)),
			   "and that of 4 bytes: 0x%llx", found->have);
	return n == 1 ? found : NULL;
}

static void in_user_space(void)
{
	const struct kvm_trace_vmexit *r;
	struct recorder recorder = {};
	struct vmexit *all;
	struct vcpu vcpu;
	struct vm vm;
	size_t count;
	int reason;

	tap_begin("time_parts_beyond_32bit: %d s in user space", LONG_S);
	recorder_start(&recorder, REC_OURS, 1);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_pio_out), 3);
	reason = vcpu_run(&vcpu);
	sleep(LONG_S);
	if (guest_handle(&vcpu, reason))
		guest_run(&vcpu);
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	r = long_one(all, count, KVM_TRACE_W_USER_NS_64);
	if (r)
		tap_expect(r->user_ns >= LONG_S * NS && r->user_ns < LONG_S * NS + SLACK_NS &&
			   r->user_ns < r->host_ns && !r->halt_ns,
			   "user %llu, halted %llu, host %llu", r->user_ns, r->halt_ns,
			   r->host_ns);
	free(all);
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
	const struct kvm_trace_vmexit *r;
	struct recorder recorder = {};
	struct halt_stats stats;
	struct vmexit *all;
	struct vcpu vcpu;
	struct vm vm;
	size_t count;

	tap_begin("time_parts_beyond_32bit: %d s halted", LONG_S);
	recorder_start(&recorder, REC_OURS, 1);
	vm_create(&vm, 1, VM_IRQCHIP);
	vcpu_create(&vm, &vcpu, 0);
	guest_start_code(&vcpu, code, sizeof(code));
	sleep(LONG_S);
	if (ioctl(vm.fd, KVM_SIGNAL_MSI, &nmi) != 1)
		tap_die("KVM_SIGNAL_MSI");
	guest_join(&vcpu);
	recorder_stop(&recorder);
	halt_stats(&vcpu, &stats);
	count = recorder_vmexits(&recorder, &all);
	r = long_one(all, count, KVM_TRACE_W_HALT_NS_64);
	if (r)
		tap_expect(r->halt_ns == stats.wait_ns + stats.poll_ns &&
			   r->poll_ns == stats.poll_ns && r->halt_ns < r->host_ns && !r->user_ns,
			   "halted %llu, polled %llu, user %llu, host %llu; KVM: waited %llu, polled %llu",
			   r->halt_ns, r->poll_ns, r->user_ns, r->host_ns, stats.wait_ns,
			   stats.poll_ns);
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

static u64 run_delay(void)
{
	char *text = file_read("/proc/thread-self/schedstat");
	u64 delay;

	if (!text || sscanf(text, "%*u %llu", &delay) != 1)
		tap_die("/proc/thread-self/schedstat");
	free(text);
	return delay;
}

/* Lets this process have the CPU only so little that it waits and the CPU is idle. */
static bool slow_down(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	mkdir(CGROUPS, 0700);
	return !mount("cgroup2", CGROUPS, "cgroup2", 0, NULL) &&
	       !file_write(CGROUPS "/cgroup.subtree_control", "+cpu") && !mkdir(GROUP, 0700) &&
	       !file_write(GROUP "/cpu.max", QUOTA) && !file_write(GROUP "/cgroup.procs", pid);
}

static void speed_up(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	file_write(CGROUPS "/cgroup.procs", pid);
	rmdir(GROUP);
	umount(CGROUPS);
	rmdir(CGROUPS);
}

static void runnable(void)
{
	const struct kvm_trace_vmexit *r;
	struct recorder recorder = {};
	u64 start, before, after, sum = 0;
	struct vmexit *all;
	struct vcpu vcpu;
	struct vm vm;
	size_t count, i;
	int reason;

	tap_begin("time_parts_beyond_32bit: %d s runnable", LONG_S);
	recorder_start(&recorder, REC_OURS, 1);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_pio_out), 1);
	start = run_delay();
	reason = vcpu_run(&vcpu);
	before = run_delay();
	if (!slow_down()) {
		speed_up();
		tap_skip("no cgroup that limits CPU time: CONFIG_CFS_BANDWIDTH is not set");
		goto out;
	}
	while (run_delay() < before + LONG_S * NS)
		;
	speed_up();
	if (guest_handle(&vcpu, reason))
		guest_run(&vcpu);
	after = run_delay();
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	r = long_one(all, count, KVM_TRACE_W_RUNNABLE_NS_64);
	for (i = 0; i < count; i++)
		sum += all[i].r.runnable_ns;
	if (r)
		tap_expect(r->runnable_ns >= LONG_S * NS && r->runnable_ns <= r->user_ns &&
			   r->user_ns <= r->host_ns && sum <= after - start &&
			   after - start - sum < SLACK_NS,
			   "runnable %llu of user %llu, in all %llu, schedstat: %llu",
			   r->runnable_ns, r->user_ns, sum, after - start);
	free(all);
	tap_end();
out:
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
}

int main(void)
{
	need_kvm_trace();
	tap_plan(3);
	words_set("user_ns,halt_ns,poll_ns,runnable_ns");
	in_user_space();
	halted();
	runnable();
	words_set("default");
	return tap_exit();
}
