// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: every consumer learns who each vm and vcpu number is, also one
 * that comes second, and learns it again when it changes.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ID		3
#define ENDLESS		(1ull << 40)
#define SOON_US		500000	/* much less than KVM_TRACE_VCPU_PERIOD_S */
#define INSTANCE	TRACEFS "/instances/kvm_trace_test"

static u64 tsc_offset(struct vcpu *vcpu, const u64 *set)
{
	u64 value = set ? *set : 0;
	struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL, .attr = KVM_VCPU_TSC_OFFSET,
		.addr = (unsigned long)&value,
	};

	if (ioctl(vcpu->fd, set ? KVM_SET_DEVICE_ATTR : KVM_GET_DEVICE_ATTR, &attr))
		tap_die("TSC offset of vCPU %u", vcpu->id);
	return value;
}

/* The last vcpu record of a recording, and how many there are. */
static unsigned int vcpu_records(struct recorder *recorder, struct kvm_trace_vcpu *last)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < recorder->session.nr_samples; i++) {
		if (sample_is(&recorder->session.samples[i], "vcpu"))
			n += kvm_trace_vcpu_record(last, recorder->session.samples[i].raw,
						   recorder->session.samples[i].size);
	}
	return n;
}

static bool same(const struct kvm_trace_string *string, const char *text)
{
	return string->len == strlen(text) && !memcmp(string->at, text, string->len);
}

static void names_the_vcpu(void)
{
	struct recorder recorder = {};
	struct kvm_trace_vcpu r = {};
	char name[32], comm[16];
	struct vmexit *all;
	struct vcpu vcpu;
	struct vm vm;
	u64 moved;

	tap_begin("vcpu_record_names_vcpu");
	recorder_start(&recorder, REC_OURS, 1);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, ID);
	guest_start(&vcpu, KIND_BIT(KIND_cpuid), 10);
	guest_join(&vcpu);
	trace_read(&recorder.session);
	tap_expect(vcpu_records(&recorder, &r) == 1, "%u vcpu records of one vCPU",
		   vcpu_records(&recorder, &r));
	snprintf(name, sizeof(name), "%d-%d", getpid(), vm.fd);
	snprintf(comm, sizeof(comm), "%s", program_invocation_short_name);
	tap_expect(same(&r.name, name), "name is %.*s, not %s", (int)r.name.len, r.name.at, name);
	tap_expect(same(&r.vmm, comm), "vmm is %.*s, not %s", (int)r.vmm.len, r.vmm.at, comm);
	tap_expect(r.vmm_pid == (u32)getpid(), "vmm_pid is %u, not %d", r.vmm_pid, getpid());
	tap_expect(r.vmm_tid == (u32)vcpu.tid, "vmm_tid is %u, not %d", r.vmm_tid, vcpu.tid);
	tap_expect(r.vcpu == ID, "vcpu is %u", r.vcpu);
	tap_expect(r.abi_version == KVM_TRACE_ABI_VERSION, "abi_version is %u", r.abi_version);
	tap_expect((u64)r.tsc_offset == tsc_offset(&vcpu, NULL), "tsc_offset is 0x%llx, not 0x%llx",
		   r.tsc_offset, tsc_offset(&vcpu, NULL));
	tap_expect(r.isa == KVM_TRACE_ISA_VMX || r.tsc_ratio == 1ull << 32,
		   "tsc_ratio is 0x%llx", r.tsc_ratio);
	recorder_vmexits(&recorder, &all);
	tap_expect(all[0].r.seq == r.seq && all[0].r.isa == r.isa,
		   "seq %u isa %u, but the next vmexit has seq %u isa %u", r.seq, r.isa,
		   all[0].r.seq, all[0].r.isa);
	free(all);
	tap_end();

	tap_begin("vcpu_record_again_on_change");
	trace_forget(&recorder.session);
	moved = tsc_offset(&vcpu, NULL) - 0x1234567890;
	tsc_offset(&vcpu, &moved);
	guest_start(&vcpu, KIND_BIT(KIND_cpuid), 10);
	guest_join(&vcpu);
	recorder_stop(&recorder);
	tap_expect(vcpu_records(&recorder, &r), "no vcpu record after the TSC offset changed");
	tap_expect((u64)r.tsc_offset == moved, "tsc_offset is 0x%llx, not 0x%llx", r.tsc_offset,
		   moved);
	tap_expect(r.vmm_tid == (u32)vcpu.tid, "vmm_tid is %u, not %d", r.vmm_tid, vcpu.tid);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

static void second_perf(void)
{
	struct kvm_trace_vcpu to_first = {}, to_second = {};
	struct recorder first = {}, second = {};

	tap_begin("second_consumer_gets_vcpu: perf");
	recorder_start(&first, REC_OURS, 16);
	usleep(SOON_US);
	recorder_start(&second, REC_OURS, 16);
	usleep(SOON_US);
	recorder_stop(&second);
	recorder_stop(&first);
	tap_expect(vcpu_records(&first, &to_first) >= 1, "the first has no vcpu record");
	tap_expect(vcpu_records(&second, &to_second) >= 1, "the second has no vcpu record");
	tap_expect(to_first.vm == to_second.vm && to_second.vcpu == ID,
		   "vm %u vcpu %u to the first, vm %u vcpu %u to the second", to_first.vm,
		   to_first.vcpu, to_second.vm, to_second.vcpu);
	recorder_close(&second);
	recorder_close(&first);
	tap_end();
}

static void second_ftrace(void)
{
	struct recorder first = {};
	char *text = NULL;
	int try;

	tap_begin("second_consumer_gets_vcpu: ftrace instance");
	recorder_start(&first, REC_OURS, 16);
	usleep(SOON_US);
	if (mkdir(INSTANCE, 0700))
		tap_die(INSTANCE);
	if (file_write(INSTANCE "/events/kvm_trace/vcpu/enable", "1"))
		tap_die("kvm_trace:vcpu in an instance");
	for (try = 0; try < 10 && !(text && strstr(text, ": vcpu: vm ")); try++) {
		free(text);
		usleep(SOON_US / 10);
		text = file_read(INSTANCE "/trace");
	}
	tap_expect(text && strstr(text, ": vcpu: vm "), "no vcpu record in %d ms",
		   SOON_US / 1000);
	free(text);
	file_write(INSTANCE "/events/kvm_trace/vcpu/enable", "0");
	rmdir(INSTANCE);
	recorder_close(&first);
	tap_end();
}

static void comes_again(void)
{
	struct recorder recorder = {};
	struct kvm_trace_vcpu r = {};

	tap_begin("vcpu_record_every_%d_s", KVM_TRACE_VCPU_PERIOD_S);
	recorder_start(&recorder, REC_VCPU, 1);
	sleep(2 * KVM_TRACE_VCPU_PERIOD_S + 1);
	recorder_stop(&recorder);
	tap_expect(vcpu_records(&recorder, &r) == 3, "%u vcpu records in %d s",
		   vcpu_records(&recorder, &r), 2 * KVM_TRACE_VCPU_PERIOD_S + 1);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	struct vcpu vcpu;
	struct vm vm;

	need_kvm_trace();
	tap_plan(5);
	names_the_vcpu();
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, ID);
	guest_start(&vcpu, KIND_BIT(KIND_pio_out), ENDLESS);
	second_perf();
	second_ftrace();
	comes_again();
	guest_stop(&vcpu);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	return tap_exit();
}
