// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a kvm that differs from the one compiled for is refused by name.
 * Modules that pretend to be kvm have another prototype of kvm_exit, or none:
 * enabling vmexit fails, the kernel log says why, and nothing is attached.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

/* Headers without a vmlinux make modules without BTF: what cannot be checked is refused. */
static bool has_btf(void)
{
	return !access("/sys/kernel/btf/kvm", F_OK);
}

static void expect_refused(const char *variant, int error)
{
	const char *named = "kvm_exit";
	struct trace_session session;
	struct trace_event event, *events = &event;
	char *text;
	int ret;

	tap_begin("prototype_mismatch_refused: %s", variant);
	errno = 0;
	klog_mark();
	if (run("insmod selftests/modules/%s/kvm.ko", variant))
		tap_die("selftests/modules/%s/kvm.ko cannot be loaded", variant);
	trace_event_need(&event, "kvm_trace", "vmexit");
	if (!has_btf() && error == -EPROTOTYPE) {
		error = -ENODATA;
		named = "no BTF of kvm";
	}
	ret = trace_try_open(&session, &events, 1, 1);
	tap_expect(ret == error, "perf_event_open gives %d, not %d", ret, error);
	if (!ret)
		trace_close(&session);
	tap_expect(klog_has("kvm_trace: ") && klog_has(named), "the kernel log does not name %s",
		   named);
	ret = tracefs_write("1", "events/kvm_trace/vmexit/enable");
	text = tracefs_read("events/kvm_trace/vmexit/enable");
	tap_expect(ret == error, "enabling through ftrace gives %d, not %d", ret, error);
	tap_expect(text && *text == '0', "ftrace shows it as enabled");
	free(text);
	text = file_read("/sys/kernel/debug/kvm_trace/pending");
	tap_expect(text && strstr(text, "not recording"), "hooks are attached");
	free(text);
	tap_expect(!module_users("kvm"), "kvm has %d users", module_users("kvm"));
	tap_expect(!run("rmmod kvm"), "the module cannot be unloaded");
	tap_end();
}

int main(void)
{
	struct recorder recorder = {};
	struct vmexit *all;
	struct vcpu vcpu;
	struct vm vm;
	bool amd;

	need_kvm_trace();
	tap_plan(4);
	amd = module_loaded("kvm_amd");
	run("rmmod kvm_amd kvm_intel 2>/dev/null; rmmod kvm");
	expect_refused("arity", -EPROTOTYPE);
	expect_refused("width", -EPROTOTYPE);
	expect_refused("absent", -ENOENT);

	tap_begin("prototype_mismatch_refused: the right kvm is taken afterwards");
	errno = 0;
	if (run("modprobe %s", amd ? "kvm_amd" : "kvm_intel"))
		tap_die("KVM cannot be loaded again");
	recorder_start(&recorder, REC_OURS, 1);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_cpuid), 10);
	guest_run(&vcpu);
	recorder_stop(&recorder);
	tap_expect(recorder_vmexits(&recorder, &all) + 1 == vcpu_stat(&vcpu, "exits"),
		   "records are not as many as exits");
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
	return tap_exit();
}
