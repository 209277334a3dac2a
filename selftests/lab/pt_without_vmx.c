// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a processor whose Intel PT does not trace in VMX operation does what the
 * manual says of one: VMXON ends a trace, TraceEn cannot be set until VMXOFF, and VMX
 * has no control for Intel PT. kvm_intel is in VMX operation while there is a VM.
 * Sections are of the manual's edition that pt-emu/README.md names.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../pt-emu/core/pt_emu.h"
#include "guest.h"
#include "module.h"
#include "msr.h"
#include "tap.h"

#define MODULE		"kvm_trace_test_pt_vmcs"
#define PARAMETERS	"/sys/module/" MODULE "/parameters/"

#define ERROR_CONTROLS	7	/* VM entry with invalid control field */
#define MODE_HOST	3	/* of the module: it leaves Intel PT's MSRs alone */

#define TRACE	(PT_EMU_CTL_TRACEEN | PT_EMU_CTL_OS | PT_EMU_CTL_TOPA)

static void test_capabilities(void)
{
	tap_begin("vmx_misc_tells_of_no_intel_pt (A.6)");
	tap_expect(!(msr_get(MSR_VMX_MISC) & 1 << 14), "it is 0x%llx", msr_get(MSR_VMX_MISC));
	tap_end();
	tap_begin("vmx_has_no_control_for_intel_pt (36.5.1)");
	tap_expect(!(msr_get(MSR_VMX_TRUE_ENTRY) & ALLOWED(18)), "there is the entry control");
	tap_expect(!(msr_get(MSR_VMX_TRUE_EXIT) & ALLOWED(25)), "there is the exit control");
	tap_expect(!(msr_get(MSR_VMX_PROCBASED2) & ALLOWED(24)), "there is the execution control");
	tap_end();
}

static void set_output(void)
{
	u64 *table, base, page;

	table = (u64 *)physical_page(&base);
	physical_page(&page);
	table[0] = page;
	table[1] = PT_EMU_TOPA_END | base;
	msr_set(PT_EMU_MSR_STATUS, 0);
	msr_set(PT_EMU_MSR_OUTPUT_BASE, base);
	msr_set(PT_EMU_MSR_OUTPUT_MASK, 0x7f);
}

/* VMX operation, until this process ends. */
static pid_t hold_vm(void)
{
	int there[2];
	struct vm vm;
	pid_t child;
	char c;

	if (pipe(there))
		tap_die("pipe");
	child = fork();
	if (child < 0)
		tap_die("fork");
	if (!child) {
		vm_create(&vm, 1, 0);
		if (write(there[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(there[1]);
	if (read(there[0], &c, 1) != 1)
		tap_die("there is no VM");
	close(there[0]);
	return child;
}

static void test_vmxon(void)
{
	const u64 stopped = TRACE & ~PT_EMU_CTL_TRACEEN;
	pid_t holder;

	set_output();

	tap_begin("traceen_out_of_vmx_operation_is_taken (36.2.8.2)");
	msr_set(PT_EMU_MSR_CTL, TRACE);
	tap_expect(msr_get(PT_EMU_MSR_CTL) == TRACE, "IA32_RTIT_CTL is 0x%llx",
		   msr_get(PT_EMU_MSR_CTL));
	tap_end();

	tap_begin("vmxon_ends_tracing (36.2.8.2)");
	holder = hold_vm();
	tap_expect(msr_get(PT_EMU_MSR_CTL) == stopped, "IA32_RTIT_CTL is 0x%llx",
		   msr_get(PT_EMU_MSR_CTL));
	tap_end();

	tap_begin("traceen_in_vmx_operation_faults (36.2.8.2)");
	tap_expect(!msr_write(PT_EMU_MSR_CTL, TRACE), "no fault");
	tap_expect(msr_get(PT_EMU_MSR_CTL) == stopped, "IA32_RTIT_CTL is 0x%llx",
		   msr_get(PT_EMU_MSR_CTL));
	tap_end();

	tap_begin("other_bits_in_vmx_operation_are_taken (36.2.8.2)");
	tap_expect(msr_write(PT_EMU_MSR_CTL, PT_EMU_CTL_TSCEN), "a fault");
	tap_expect(msr_get(PT_EMU_MSR_CTL) == PT_EMU_CTL_TSCEN, "IA32_RTIT_CTL is 0x%llx",
		   msr_get(PT_EMU_MSR_CTL));
	tap_end();

	tap_begin("traceen_after_vmxoff_is_taken (36.2.8.2)");
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	tap_expect(msr_write(PT_EMU_MSR_CTL, TRACE), "a fault");
	msr_set(PT_EMU_MSR_CTL, 0);
	tap_end();
}

static const struct {
	const char *control;
	unsigned int controls;	/* as the module takes them */
} controls[] = {
	{ "load", 1 },
	{ "clear", 2 },
	{ "guest physical", 4 },
};

static void test_controls(void)
{
	struct vcpu vcpu;
	struct vm vm;
	int reason;
	size_t i;

	if (run("insmod selftests/modules/pt_vmcs/" MODULE ".ko ctl=0"))
		tap_die(MODULE " cannot be loaded");
	for (i = 0; i < ARRAY_SIZE(controls); i++) {
		tap_begin("entry_with_a_control_without_capability_fails: %s (36.5.1)",
			  controls[i].control);
		vm_create(&vm, 1, 0);
		vcpu_create(&vm, &vcpu, 0);
		guest_load(&vcpu, KIND_BIT(KIND_pio_out), 1);
		if (run("cd " PARAMETERS " && echo %u >controls && echo %u >mode",
			controls[i].controls, MODE_HOST))
			tap_die("parameters of " MODULE);
		reason = vcpu_run(&vcpu);
		if (run("echo 0 >" PARAMETERS "mode"))
			tap_die("parameters of " MODULE);
		tap_expect(reason == KVM_EXIT_FAIL_ENTRY &&
			   vcpu.run->fail_entry.hardware_entry_failure_reason == ERROR_CONTROLS,
			   "KVM_RUN gave %d", reason);
		guest_run(&vcpu);
		vcpu_destroy(&vcpu);
		vm_destroy(&vm);
		tap_end();
	}
	if (run("rmmod " MODULE))
		tap_die(MODULE " cannot be removed");
}

int main(void)
{
	need_msrs();
	if (!cpu_is_intel())
		tap_die("this needs kvm_intel: scripts/lab run --cpu vmx --pt=no-vmx");
	tap_plan(2 + 5 + ARRAY_SIZE(controls));
	test_capabilities();
	test_vmxon();
	test_controls();
	return tap_exit();
}
