// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: Intel PT's VMCS controls do under kvm_intel what the manual says: an
 * entry that breaks their rules fails as it should, one that keeps them traces the
 * guest alone, and the host's own MSRs are what they were. A module of the test
 * writes the controls, which kvm_intel leaves alone. Sections are of the manual's
 * edition that pt-emu/README.md names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../pt-emu/core/pt_emu.h"
#include "guest.h"
#include "module.h"
#include "msr.h"
#include "tap.h"

#define MODULE		"kvm_trace_test_pt_vmcs"
#define PARAMETERS	"/sys/module/" MODULE "/parameters/"
#define MODE_OFF	0
#define MODE_GUEST	1
#define MODE_TRACEEN	2
#define MODE_HOST	3

#define LOAD		1ull
#define CLEAR		2ull
#define GUEST_PHYSICAL	4ull
#define LOAD_CLEAR	(LOAD | CLEAR)

#define ERROR_CONTROLS	7	/* VM entry with invalid control field */
#define EXIT_BAD_GUEST	0x80000021

#define GOOD_CTL	(PT_EMU_CTL_TRACEEN | PT_EMU_CTL_OS | PT_EMU_CTL_USER | \
			 PT_EMU_CTL_TSCEN | PT_EMU_CTL_DISRETC | PT_EMU_CTL_BRANCHEN | \
			 PT_EMU_CTL_TOPA)
#define BIT_OF(n)	(1ull << (n))
#define ROUNDS		20

static void set(const char *name, u64 value)
{
	if (run("echo 0x%llx >" PARAMETERS "%s", value, name))
		tap_die("parameter %s of " MODULE, name);
}

static u64 get(const char *name)
{
	char path[128];
	u64 value = 0;
	FILE *file;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &value) != 1)
		tap_die("%s", path);
	fclose(file);
	return value;
}

static void module_there(void)
{
	if (run("insmod selftests/modules/pt_vmcs/" MODULE ".ko"))
		tap_die(MODULE " cannot be loaded");
}

static void module_away(void)
{
	if (run("rmmod " MODULE))
		tap_die(MODULE " cannot be removed");
}

/* What KVM_RUN tells of an entry with these controls; 0: it did not fail. */
static u64 run_once(struct vcpu *vcpu, u64 mode, u64 controls, u64 ctl)
{
	u64 failure = 0;
	int reason;

	guest_load(vcpu, KIND_BIT(KIND_pio_out), 1);
	set("ctl", ctl);
	set("controls", controls);
	set("mode", mode);
	reason = vcpu_run(vcpu);
	set("mode", MODE_OFF);
	set("controls", LOAD_CLEAR);
	if (reason == KVM_EXIT_FAIL_ENTRY)
		failure = vcpu->run->fail_entry.hardware_entry_failure_reason;
	else
		tap_expect(reason == KVM_EXIT_IO, "KVM_RUN gave %d", reason);
	/* The vCPU is as good as before. */
	guest_run(vcpu);
	return failure;
}

static u64 entry_failure(u64 mode, u64 controls, u64 ctl)
{
	struct vcpu vcpu;
	struct vm vm;
	u64 failure;

	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	failure = run_once(&vcpu, mode, controls, ctl);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	return failure;
}

static const struct {
	const char *promise;
	const char *manual;
	u64 mode;
	u64 controls;
	u64 ctl;
	u64 failure;
} entries[] = {
	{ "entry_that_loads_ctl_while_traceen_is_1_fails", "26.2.1.1", MODE_TRACEEN, LOAD_CLEAR,
	  GOOD_CTL, ERROR_CONTROLS },
	{ "entry_that_loads_ctl_while_traceen_is_1_fails_for_any_value", "26.2.1.1", MODE_TRACEEN,
	  LOAD_CLEAR, 0, ERROR_CONTROLS },
	{ "entry_that_only_loads_ctl_while_traceen_is_1_fails", "26.2.1.1", MODE_TRACEEN, LOAD,
	  0, ERROR_CONTROLS },
	{ "entry_checks_controls_before_the_guest", "26.3", MODE_TRACEEN, LOAD_CLEAR,
	  BIT_OF(63), ERROR_CONTROLS },
	{ "entry_without_controls_is_good_while_traceen_is_1", "26.2.1.1", MODE_TRACEEN, 0, 0, 0 },
	{ "entry_that_only_clears_ctl_is_good_while_traceen_is_1", "26.2.1.1", MODE_TRACEEN, CLEAR,
	  0, 0 },
	{ "entry_with_traceen_in_the_guest_is_good", "26.3.1.1", MODE_GUEST, LOAD_CLEAR, GOOD_CTL,
	  0 },
	{ "entry_with_traceen_in_the_guest_is_good_without_clear", "26.3.1.1", MODE_GUEST, LOAD,
	  GOOD_CTL, 0 },
	{ "entry_without_traceen_in_the_guest_is_good", "26.3.1.1", MODE_GUEST, LOAD_CLEAR,
	  GOOD_CTL & ~PT_EMU_CTL_TRACEEN, 0 },
	{ "entry_with_ctl_0_is_good", "26.3.1.1", MODE_GUEST, LOAD_CLEAR, 0, 0 },
	{ "entry_that_loads_nothing_is_good_with_a_reserved_bit", "26.3.1.1", MODE_GUEST, 0,
	  BIT_OF(63), 0 },
	{ "entry_with_reserved_bit_of_guest_ctl_fails: 4", "26.3.1.1", MODE_GUEST, LOAD_CLEAR,
	  GOOD_CTL | BIT_OF(4), EXIT_BAD_GUEST },
	{ "entry_with_reserved_bit_of_guest_ctl_fails: 6", "26.3.1.1", MODE_GUEST, LOAD_CLEAR,
	  GOOD_CTL | BIT_OF(6), EXIT_BAD_GUEST },
	{ "entry_with_reserved_bit_of_guest_ctl_fails: 18", "26.3.1.1", MODE_GUEST, LOAD_CLEAR,
	  GOOD_CTL | BIT_OF(18), EXIT_BAD_GUEST },
	{ "entry_with_reserved_bit_of_guest_ctl_fails: 23", "26.3.1.1", MODE_GUEST, LOAD_CLEAR,
	  GOOD_CTL | BIT_OF(23), EXIT_BAD_GUEST },
	{ "entry_with_reserved_bit_of_guest_ctl_fails: 28", "26.3.1.1", MODE_GUEST, LOAD_CLEAR,
	  GOOD_CTL | BIT_OF(28), EXIT_BAD_GUEST },
	{ "entry_with_reserved_bit_of_guest_ctl_fails: 31", "26.3.1.1", MODE_GUEST, LOAD_CLEAR,
	  GOOD_CTL | BIT_OF(31), EXIT_BAD_GUEST },
	{ "entry_with_reserved_bit_of_guest_ctl_fails: 48", "26.3.1.1", MODE_GUEST, LOAD_CLEAR,
	  GOOD_CTL | BIT_OF(48), EXIT_BAD_GUEST },
	{ "entry_with_reserved_bit_of_guest_ctl_fails: 63", "26.3.1.1", MODE_GUEST, LOAD_CLEAR,
	  GOOD_CTL | BIT_OF(63), EXIT_BAD_GUEST },
	{ "entry_with_reserved_bit_of_guest_ctl_fails_without_traceen", "26.3.1.1", MODE_GUEST,
	  LOAD_CLEAR, BIT_OF(63), EXIT_BAD_GUEST },
	{ "entry_with_reserved_bit_of_guest_ctl_fails_without_clear", "26.3.1.1", MODE_GUEST, LOAD,
	  BIT_OF(63), EXIT_BAD_GUEST },
	{ "entry_with_a_guest_bit_without_capability_fails: PTWEn", "26.3.1.1", MODE_GUEST,
	  LOAD_CLEAR, PT_EMU_CTL_PTWEN, EXIT_BAD_GUEST },
	{ "entry_with_a_guest_bit_without_capability_fails: FUPonPTW", "26.3.1.1", MODE_GUEST,
	  LOAD_CLEAR, PT_EMU_CTL_FUPONPTW, EXIT_BAD_GUEST },
	{ "entry_with_guest_physical_output_fails: no load", "26.2.1.1", MODE_GUEST,
	  CLEAR | GUEST_PHYSICAL, 0, ERROR_CONTROLS },
	{ "entry_with_guest_physical_output_fails: no clear", "26.2.1.1", MODE_GUEST,
	  LOAD | GUEST_PHYSICAL, 0, ERROR_CONTROLS },
	{ "entry_with_guest_physical_output_is_good_without_traceen", "26.2.1.1", MODE_GUEST,
	  LOAD_CLEAR | GUEST_PHYSICAL, 0, 0 },
};

static void test_entries(void)
{
	u64 failure;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		tap_begin("%s (%s)", entries[i].promise, entries[i].manual);
		failure = entry_failure(entries[i].mode, entries[i].controls, entries[i].ctl);
		tap_expect(failure == entries[i].failure, "KVM_RUN tells of 0x%llx", failure);
		tap_expect(!(msr_get(PT_EMU_MSR_CTL) & PT_EMU_CTL_TRACEEN), "TraceEn is left");
		tap_end();
	}
}

static void test_capabilities(void)
{
	tap_begin("vmx_misc_tells_of_intel_pt (A.6)");
	tap_expect(msr_get(MSR_VMX_MISC) & BIT_OF(14), "it is 0x%llx", msr_get(MSR_VMX_MISC));
	tap_end();
	tap_begin("vmx_has_the_controls_load_clear_and_guest_physical (A.3 to A.5)");
	tap_expect(msr_get(MSR_VMX_TRUE_ENTRY) & ALLOWED(18), "no entry control");
	tap_expect(msr_get(MSR_VMX_TRUE_EXIT) & ALLOWED(25), "no exit control");
	tap_expect(msr_get(MSR_VMX_PROCBASED2) & ALLOWED(24), "no execution control");
	tap_end();
	tap_begin("vmx_has_no_control_that_conceals_vmx (A.3 to A.5)");
	tap_expect(!(msr_get(MSR_VMX_TRUE_ENTRY) & ALLOWED(17)), "there is the entry control");
	tap_expect(!(msr_get(MSR_VMX_TRUE_EXIT) & ALLOWED(24)), "there is the exit control");
	tap_expect(!(msr_get(MSR_VMX_PROCBASED2) & ALLOWED(19)), "there is the execution control");
	tap_end();
}

static void run_guest(u64 kinds)
{
	struct vcpu vcpu;
	struct vm vm;

	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_start(&vcpu, kinds, ROUNDS);
	guest_join(&vcpu);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
}

/* Each kind of exit, with and without a host's session around it. */
static void test_exits(void)
{
	u64 before, after, output, left = get("traceen_after_exit"), lost = get("ctl_not_saved");

	tap_begin("each_exit_clears_ctl_and_saves_the_guests (27.5.1)");
	before = get("exits");
	set("ctl", GOOD_CTL);
	set("mode", MODE_GUEST);
	run_guest(KIND_MIX);
	set("mode", MODE_OFF);
	tap_expect(get("exits") - before >= ROUNDS * KIND_PLAIN_COUNT, "%llu exits",
		   get("exits") - before);
	tap_expect(get("traceen_after_exit") == left, "%llu exits left TraceEn set",
		   get("traceen_after_exit") - left);
	tap_expect(get("ctl_not_saved") == lost, "%llu exits did not save the guest's",
		   get("ctl_not_saved") - lost);
	tap_expect(get("bytes"), "there is no trace");
	tap_end();

	tap_begin("an_exit_without_the_control_keeps_the_guests_ctl (27.5.1)");
	before = get("exits");
	set("controls", LOAD);
	set("mode", MODE_GUEST);
	run_guest(KIND_BIT(KIND_cpuid));
	set("mode", MODE_OFF);
	set("controls", LOAD_CLEAR);
	tap_expect(get("exits") > before &&
		   get("traceen_after_exit") - left == get("exits") - before,
		   "%llu of %llu exits left TraceEn set",
		   get("traceen_after_exit") - left, get("exits") - before);
	tap_expect(get("ctl_not_saved") == lost, "%llu exits did not save the guest's",
		   get("ctl_not_saved") - lost);
	tap_end();

	tap_begin("a_guest_without_traceen_gives_no_byte (26.3.2.1)");
	before = get("bytes");
	set("ctl", GOOD_CTL & ~PT_EMU_CTL_TRACEEN);
	set("mode", MODE_GUEST);
	run_guest(KIND_MIX);
	set("mode", MODE_OFF);
	tap_expect(get("bytes") == before, "%llu bytes", get("bytes") - before);
	tap_end();

	tap_begin("a_host_session_keeps_its_msrs_and_its_bytes (27.5.1)");
	physical_page(&output);
	msr_set(PT_EMU_MSR_STATUS, 0);
	msr_set(PT_EMU_MSR_OUTPUT_BASE, output);
	msr_set(PT_EMU_MSR_OUTPUT_MASK, 0xfff);
	msr_set(PT_EMU_MSR_CR3_MATCH, 0x12340);
	msr_set(PT_EMU_MSR_ADDR0_A, 0x1000);
	msr_set(PT_EMU_MSR_ADDR0_A + 1, 0x2fff);
	msr_set(PT_EMU_MSR_CTL, PT_EMU_CTL_TRACEEN | PT_EMU_CTL_OS);
	before = get("host_traced");
	set("ctl", GOOD_CTL);
	set("mode", MODE_GUEST);
	run_guest(KIND_MIX);
	set("mode", MODE_OFF);
	after = get("host_traced");
	tap_expect(msr_get(PT_EMU_MSR_CTL) == (PT_EMU_CTL_TRACEEN | PT_EMU_CTL_OS),
		   "its IA32_RTIT_CTL is 0x%llx", msr_get(PT_EMU_MSR_CTL));
	msr_set(PT_EMU_MSR_CTL, 0);
	tap_expect(after - before >= ROUNDS * KIND_PLAIN_COUNT, "it was put aside %llu times",
		   after - before);
	tap_expect(msr_get(PT_EMU_MSR_OUTPUT_BASE) == output &&
		   (u32)msr_get(PT_EMU_MSR_OUTPUT_MASK) == 0xfff, "its output has moved");
	tap_expect(msr_get(PT_EMU_MSR_OUTPUT_MASK) >> 32, "it has no byte");
	tap_expect(!(msr_get(PT_EMU_MSR_STATUS) & (PT_EMU_STATUS_ERROR | PT_EMU_STATUS_STOPPED)),
		   "its status is 0x%llx", msr_get(PT_EMU_MSR_STATUS));
	tap_expect(msr_get(PT_EMU_MSR_CR3_MATCH) == 0x12340 &&
		   msr_get(PT_EMU_MSR_ADDR0_A) == 0x1000 &&
		   msr_get(PT_EMU_MSR_ADDR0_A + 1) == 0x2fff, "its filters have changed");
	msr_set(PT_EMU_MSR_CR3_MATCH, 0);
	msr_set(PT_EMU_MSR_ADDR0_A, 0);
	msr_set(PT_EMU_MSR_ADDR0_A + 1, 0);
	tap_end();
}

/* Pages that the guest touches first are in EPT. */
static void test_guest_physical(void)
{
	static const u8 psb[] = { 0x02, 0x82, 0x02, 0x82 };
	struct vcpu vcpu;
	struct vm vm;
	u64 gpa, before = get("bytes");
	u8 *page;

	tap_begin("output_by_guest_physical_address_lands_in_the_guest (26.2.1.1)");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	gpa = vcpu.area + AREA_FRESH;
	page = vm_at(&vm, gpa);
	guest_load(&vcpu, KIND_BIT(KIND_npf), 1);
	guest_run(&vcpu);
	memset(page, 0, 2 * PAGE_BYTES);
	set("gpa", gpa);
	set("ctl", GOOD_CTL & ~PT_EMU_CTL_TOPA);
	set("mode", MODE_GUEST);
	guest_load(&vcpu, KIND_BIT(KIND_cpuid), 10);
	guest_run(&vcpu);
	set("mode", MODE_OFF);
	/* The controls are cleared at the next entry. */
	guest_load(&vcpu, KIND_BIT(KIND_cpuid), 1);
	guest_run(&vcpu);
	set("gpa", 0);
	tap_expect(!memcmp(page, psb, sizeof(psb)), "no PSB: %02x %02x %02x %02x", page[0], page[1],
		   page[2], page[3]);
	tap_expect(!page[PAGE_BYTES], "there is output behind it");
	tap_expect(get("bytes") == before, "%llu bytes went elsewhere", get("bytes") - before);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_end();
}

/*
 * Any guest is good without EPT, and none with the control. In a child: who has had a
 * VM keeps kvm_intel from being loaded anew.
 */
static void test_without_ept(void)
{
	int status = -1;
	pid_t child;

	tap_begin("entry_with_guest_physical_output_fails: no EPT (26.2.1.1)");
	if (run("modprobe -r kvm_intel && modprobe kvm_intel ept=0"))
		tap_die("kvm_intel cannot be loaded with ept=0");
	module_there();
	child = fork();
	if (!child)
		_exit(entry_failure(MODE_GUEST, LOAD_CLEAR, 0) != 0 ||
		      entry_failure(MODE_GUEST, LOAD_CLEAR | GUEST_PHYSICAL, 0) != ERROR_CONTROLS);
	if (child < 0 || waitpid(child, &status, 0) != child)
		tap_die("no child");
	tap_expect(!status, "KVM_RUN tells of something else");
	module_away();
	if (run("modprobe -r kvm_intel && modprobe kvm_intel"))
		tap_die("kvm_intel cannot be loaded");
	tap_end();
}

/* For a trace of the host's around them: entries that fail, and nothing else. */
static int fail_early(const char *rounds)
{
	unsigned long left = strtoul(rounds, NULL, 0);
	struct vcpu vcpu;
	struct vm vm;

	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_BIT(KIND_pio_out), 1);
	set("mode", MODE_HOST);
	for (; left; left--) {
		if (vcpu_run(&vcpu) != KVM_EXIT_FAIL_ENTRY ||
		    vcpu.run->fail_entry.hardware_entry_failure_reason != ERROR_CONTROLS)
			tap_die("an entry with the host's TraceEn did not fail");
	}
	set("mode", MODE_OFF);
	guest_run(&vcpu);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	return 0;
}

/* Without arguments the test; "fail ROUNDS" for pt_vmx_record.sh. */
int main(int argc, char **argv)
{
	need_msrs();
	if (!cpu_is_intel())
		tap_die("this needs kvm_intel: scripts/lab run --cpu vmx --pt");
	if (argc == 3 && !strcmp(argv[1], "fail"))
		return fail_early(argv[2]);
	tap_plan(3 + 1 + ARRAY_SIZE(entries) + 5);
	test_capabilities();
	test_without_ept();
	module_there();
	test_entries();
	test_exits();
	test_guest_physical();
	module_away();
	return tap_exit();
}
