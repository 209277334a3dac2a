// SPDX-License-Identifier: GPL-2.0-only
/*
 * The manual's rules for MSRs, CPUID, VM entries and VM exits, one case each: what
 * is allowed, what faults, which entry fails, and the values after it. The second
 * column of a table is where the manual says so (README.md names its edition).
 */
#include <string.h>
#include "machine.h"
#include "msr_cases.h"
#include "options.h"
#include "tap.h"

static struct machine *new_machine(u64 lacks)
{
	struct pt_emu_caps caps;

	pt_emu_default_caps(&caps);
	caps.cr3_filter = !(lacks & LACKS_CR3);
	caps.psb_cyc = !(lacks & LACKS_PSB_CYC);
	caps.ptwrite = !(lacks & LACKS_PTWRITE);
	caps.topa = !(lacks & LACKS_TOPA);
	caps.single_range = !(lacks & LACKS_SINGLE);
	caps.vmx = !(lacks & LACKS_VMX);
	caps.gpa = !(lacks & LACKS_GPA);
	caps.mtc = !(lacks & LACKS_MTC);
	if (lacks & LACKS_RANGES)
		caps.ranges = 0;
	return machine_new(&caps);
}

static const struct pt_emu_state kernel = { .ip = 0x1000, .cr3 = 0x5000, .mode = PT_EMU_MODE_64 };
static const struct pt_emu_state user = {
	.ip = 0x1000, .cr3 = 0x5000, .cpl = 3, .mode = PT_EMU_MODE_64,
};

static bool wrmsr(struct machine *m, u32 msr, u64 value)
{
	return pt_emu_wrmsr(m->pt, msr, value, kernel.ip, &kernel);
}

static bool rdmsr(struct machine *m, u32 msr)
{
	__u64 value;

	return pt_emu_rdmsr(m->pt, msr, &value);
}

/* Output that takes what comes. */
static void set_output(struct machine *m)
{
	machine_wrmsr(m, BASE, MEMORY_BASE);
	machine_wrmsr(m, MASK, 0xffff);
}

static void set_tracing(struct machine *m)
{
	set_output(m);
	tap_expect(wrmsr(m, CTL, TRACE_ALL), "tracing cannot be enabled");
}

static void test_writes(void)
{
	struct pt_emu_caps caps;
	u64 value, expected;
	struct machine *m;
	__u64 after;
	size_t i;

	pt_emu_default_caps(&caps);

	for (i = 0; i < ARRAY_SIZE(msr_writes); i++) {
		value = msr_case_value(msr_writes[i].value, caps.maxphyaddr);
		expected = msr_case_value(msr_writes[i].after, caps.maxphyaddr);
		tap_begin("%s (%s)", msr_writes[i].promise, msr_writes[i].manual);
		m = new_machine(msr_writes[i].lacks);
		tap_expect(wrmsr(m, msr_writes[i].msr, value) != msr_writes[i].faults,
			   "WRMSR of 0x%x to 0x%llx: %s", msr_writes[i].msr, value,
			   msr_writes[i].faults ? "no fault" : "a fault");
		/* An MSR that is not there cannot be read either. */
		if (pt_emu_rdmsr(m->pt, msr_writes[i].msr, &after))
			tap_expect(after == expected, "reads 0x%llx", after);
		else
			tap_expect(msr_writes[i].faults, "it cannot be read");
		machine_free(m);
		tap_end();
	}
}

static void test_reads(void)
{
	struct machine *m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(msr_reads_that_fault); i++) {
		tap_begin("%s (%s)", msr_reads_that_fault[i].promise,
			  msr_reads_that_fault[i].manual);
		m = new_machine(msr_reads_that_fault[i].lacks);
		tap_expect(!rdmsr(m, msr_reads_that_fault[i].msr), "no fault");
		machine_free(m);
		tap_end();
	}
}

static void test_writes_while_tracing(void)
{
	struct machine *m;
	bool done;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(msr_writes_while_tracing); i++) {
		tap_begin("%s (%s)", msr_writes_while_tracing[i].promise,
			  msr_writes_while_tracing[i].manual);
		m = new_machine(0);
		set_tracing(m);
		done = wrmsr(m, msr_writes_while_tracing[i].msr, msr_writes_while_tracing[i].value);
		tap_expect(done != msr_writes_while_tracing[i].faults, "%s",
			   done ? "no fault" : "a fault");
		if (done)
			tap_expect(machine_rdmsr(m, CTL) == msr_writes_while_tracing[i].value,
				   "IA32_RTIT_CTL is 0x%llx", machine_rdmsr(m, CTL));
		else
			tap_expect(machine_rdmsr(m, CTL) == TRACE_ALL, "tracing has changed");
		machine_free(m);
		tap_end();
	}
	tap_begin("tracing_all_can_be_read (36.2.7.1)");
	m = new_machine(0);
	set_tracing(m);
	for (i = BASE; i <= ADDR(3); i++)
		if (pt_emu_has_msr(i))
			tap_expect(rdmsr(m, i), "RDMSR of 0x%zx faults", i);
	machine_free(m);
	tap_end();
}

static u64 status_bits(struct machine *m)
{
	return machine_rdmsr(m, STATUS) & ~PT_EMU_STATUS_BYTECNT;
}

static void test_statuses(void)
{
	struct machine *m;
	u64 count;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(msr_statuses); i++) {
		tap_begin("%s (%s)", msr_statuses[i].promise, msr_statuses[i].manual);
		m = new_machine(0);
		set_output(m);
		machine_wrmsr(m, ADDR(0), 0x8000);
		machine_wrmsr(m, ADDR(1), 0x8fff);
		machine_wrmsr(m, STATUS, msr_statuses[i].before);
		tap_expect(machine_enable(m, msr_statuses[i].ctl,
					  msr_statuses[i].user ? &user : &kernel), "a fault");
		tap_expect(status_bits(m) == msr_statuses[i].after, "status is 0x%llx",
			   status_bits(m));
		machine_free(m);
		tap_end();
	}

	tap_begin("status_counts_the_bytes_from_the_last_psb_on (table 36-7)");
	m = new_machine(0);
	set_tracing(m);
	pt_emu_indirect(m->pt, 0x123456);
	tap_expect(machine_disable(m, 0x1010), "a fault");
	count = machine_rdmsr(m, STATUS) >> PT_EMU_STATUS_BYTECNT_SHIFT;
	tap_expect(count == machine_rdmsr(m, MASK) >> 32, "%llu of %llu bytes", count,
		   machine_rdmsr(m, MASK) >> 32);
	machine_free(m);
	tap_end();

	tap_begin("status_trigger_ends_with_tracing_and_the_byte_count_stays (36.2.5.2)");
	m = new_machine(0);
	set_tracing(m);
	count = machine_rdmsr(m, STATUS) & PT_EMU_STATUS_BYTECNT;
	tap_expect(count, "no bytes are counted");
	tap_expect(machine_disable(m, 0x1010), "a fault");
	tap_expect(!(status_bits(m) & PT_EMU_STATUS_TRIGGEREN), "status is 0x%llx",
		   status_bits(m));
	tap_expect((machine_rdmsr(m, STATUS) & PT_EMU_STATUS_BYTECNT) >= count,
		   "bytes are forgotten");
	machine_free(m);
	tap_end();
}

static void test_reset(void)
{
	static const u32 msrs[] = { CTL, STATUS, BASE, CR3_MATCH, ADDR(0), ADDR(1) };
	struct machine *m;
	size_t i;
	u64 base;

	tap_begin("cold_reset_clears_all (36.2.7.1)");
	m = new_machine(0);
	machine_wrmsr(m, CR3_MATCH, 0x1000);
	machine_wrmsr(m, ADDR(1), 0x1000);
	set_tracing(m);
	pt_emu_reset(m->pt, true);
	for (i = 0; i < ARRAY_SIZE(msrs); i++)
		tap_expect(!machine_rdmsr(m, msrs[i]), "0x%x is left", msrs[i]);
	tap_expect(machine_rdmsr(m, MASK) == 0x7f, "the output mask is left");
	machine_free(m);
	tap_end();

	tap_begin("warm_reset_clears_traceen_only (36.2.7.1)");
	m = new_machine(0);
	machine_wrmsr(m, CR3_MATCH, 0x1000);
	set_tracing(m);
	base = machine_rdmsr(m, BASE);
	pt_emu_reset(m->pt, false);
	tap_expect(machine_rdmsr(m, CTL) == (TRACE_ALL & ~PT_EMU_CTL_TRACEEN), "0x%llx",
		   machine_rdmsr(m, CTL));
	tap_expect(machine_rdmsr(m, BASE) == base && machine_rdmsr(m, CR3_MATCH) == 0x1000,
		   "the others are not kept");
	machine_free(m);
	tap_end();

	tap_begin("warm_reset_without_ranges_clears_all (36.2.7.1)");
	m = new_machine(LACKS_RANGES);
	set_tracing(m);
	pt_emu_reset(m->pt, false);
	tap_expect(!machine_rdmsr(m, CTL) && !machine_rdmsr(m, BASE), "something is left");
	machine_free(m);
	tap_end();
}

/* VM entries: what the checks say. */
static const struct {
	const char *promise;
	const char *manual;
	u64 lacks;
	bool tracing;
	struct pt_emu_vmcs vmcs;
	enum pt_emu_entry result;
} entries[] = {
	{ "entry_without_controls_passes_while_tracing", "26.2.1.1", 0, true, { 0 },
	  PT_EMU_ENTRY_OK },
	{ "entry_that_loads_ctl_passes_without_tracing", "26.2.1.1", 0, false,
	  { .load_rtit_ctl = true, .guest_rtit_ctl = TRACE_ALL }, PT_EMU_ENTRY_OK },
	{ "entry_that_loads_ctl_fails_while_tracing", "26.2.1.1", 0, true,
	  { .load_rtit_ctl = true, .clear_rtit_ctl = true, .guest_rtit_ctl = TRACE_ALL },
	  PT_EMU_ENTRY_BAD_CONTROLS },
	{ "entry_that_loads_ctl_0_fails_while_tracing", "26.2.1.1", 0, true,
	  { .load_rtit_ctl = true }, PT_EMU_ENTRY_BAD_CONTROLS },
	{ "entry_with_a_reserved_guest_bit_fails: 63", "26.3.1.1", 0, false,
	  { .load_rtit_ctl = true, .guest_rtit_ctl = BIT_OF(63) }, PT_EMU_ENTRY_BAD_GUEST },
	{ "entry_with_a_reserved_guest_bit_fails: 40", "26.3.1.1", 0, false,
	  { .load_rtit_ctl = true, .guest_rtit_ctl = BIT_OF(40) }, PT_EMU_ENTRY_BAD_GUEST },
	{ "entry_with_a_reserved_guest_bit_fails: 18", "26.3.1.1", 0, false,
	  { .load_rtit_ctl = true, .guest_rtit_ctl = TRACE_ALL | BIT_OF(18) },
	  PT_EMU_ENTRY_BAD_GUEST },
	{ "entry_with_a_guest_bit_without_capability_fails", "26.3.1.1", LACKS_CR3, false,
	  { .load_rtit_ctl = true, .guest_rtit_ctl = PT_EMU_CTL_CR3FILTER },
	  PT_EMU_ENTRY_BAD_GUEST },
	{ "entry_that_loads_nothing_passes_with_a_reserved_guest_bit", "26.3.1.1", 0, false,
	  { .guest_rtit_ctl = BIT_OF(63) }, PT_EMU_ENTRY_OK },
	{ "entry_checks_controls_before_the_guest", "26.3", 0, true,
	  { .load_rtit_ctl = true, .guest_rtit_ctl = BIT_OF(63) }, PT_EMU_ENTRY_BAD_CONTROLS },
	{ "entry_with_guest_physical_output_passes", "26.2.1.1", 0, false,
	  { .load_rtit_ctl = true, .clear_rtit_ctl = true, .guest_physical = true, .ept = true },
	  PT_EMU_ENTRY_OK },
	{ "entry_with_guest_physical_output_fails: no EPT", "26.2.1.1", 0, false,
	  { .load_rtit_ctl = true, .clear_rtit_ctl = true, .guest_physical = true },
	  PT_EMU_ENTRY_BAD_CONTROLS },
	{ "entry_with_guest_physical_output_fails: no load", "26.2.1.1", 0, false,
	  { .clear_rtit_ctl = true, .guest_physical = true, .ept = true },
	  PT_EMU_ENTRY_BAD_CONTROLS },
	{ "entry_with_guest_physical_output_fails: no clear", "26.2.1.1", 0, false,
	  { .load_rtit_ctl = true, .guest_physical = true, .ept = true },
	  PT_EMU_ENTRY_BAD_CONTROLS },
	{ "entry_with_a_control_without_capability_fails: guest physical", "26.2.1.1", LACKS_GPA,
	  false, { .load_rtit_ctl = true, .clear_rtit_ctl = true, .guest_physical = true,
		   .ept = true }, PT_EMU_ENTRY_BAD_CONTROLS },
	{ "entry_with_a_control_without_capability_fails: load", "36.5.1", LACKS_VMX, false,
	  { .load_rtit_ctl = true }, PT_EMU_ENTRY_BAD_CONTROLS },
	{ "entry_with_a_control_without_capability_fails: clear", "36.5.1", LACKS_VMX, false,
	  { .clear_rtit_ctl = true }, PT_EMU_ENTRY_BAD_CONTROLS },
};

static void test_entries(void)
{
	enum pt_emu_entry result;
	struct machine *m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		tap_begin("%s (%s)", entries[i].promise, entries[i].manual);
		m = new_machine(entries[i].lacks);
		if (entries[i].tracing)
			set_tracing(m);
		result = pt_emu_vmentry_check(m->pt, &entries[i].vmcs);
		tap_expect(result == entries[i].result, "%d and not %d", result,
			   entries[i].result);
		machine_free(m);
		tap_end();
	}
}

static const struct pt_emu_state guest = {
	.ip = 0x4000, .cr3 = 0x9000, .mode = PT_EMU_MODE_64, .non_root = true,
};

static void test_transitions(void)
{
	const struct pt_emu_vmcs switched = {
		.load_rtit_ctl = true, .clear_rtit_ctl = true, .guest_rtit_ctl = TRACE_ALL,
	};
	const struct pt_emu_vmcs plain = { 0 };
	const struct pt_emu_vmcs without_traceen = {
		.load_rtit_ctl = true, .guest_rtit_ctl = PT_EMU_CTL_TSCEN,
	};
	struct machine *m;
	u64 saved, before;

	tap_begin("entry_loads_ctl_and_starts_the_trace (26.3.2.1, 36.2.7.3)");
	m = new_machine(0);
	set_output(m);
	pt_emu_vmentry(m->pt, &switched, &guest);
	tap_expect(machine_rdmsr(m, CTL) == TRACE_ALL, "0x%llx", machine_rdmsr(m, CTL));
	tap_expect(status_bits(m) == 7, "status is 0x%llx", status_bits(m));
	tap_end();

	tap_begin("exit_clears_ctl_and_tells_the_guests (27.5.1)");
	saved = pt_emu_vmexit(m->pt, &switched, 0x4004);
	pt_emu_vmexit_done(m->pt, &kernel);
	tap_expect(saved == TRACE_ALL, "0x%llx is saved", saved);
	tap_expect(!machine_rdmsr(m, CTL), "0x%llx", machine_rdmsr(m, CTL));
	tap_end();

	tap_begin("exit_that_clears_ctl_flushes_the_output (36.2.7.3)");
	tap_expect(machine_rdmsr(m, MASK) >> 32, "the output offset is 0");
	machine_free(m);
	tap_end();

	tap_begin("entry_that_loads_ctl_without_traceen_starts_no_trace (26.3.2.1)");
	m = new_machine(0);
	set_output(m);
	pt_emu_vmentry(m->pt, &without_traceen, &guest);
	tap_expect(machine_rdmsr(m, CTL) == PT_EMU_CTL_TSCEN, "0x%llx", machine_rdmsr(m, CTL));
	tap_expect(!status_bits(m), "status is 0x%llx", status_bits(m));
	machine_free(m);
	tap_end();

	tap_begin("entry_and_exit_without_controls_keep_ctl (36.5.2.1)");
	m = new_machine(0);
	set_tracing(m);
	pt_emu_vmentry(m->pt, &plain, &guest);
	tap_expect(machine_rdmsr(m, CTL) == TRACE_ALL, "0x%llx in the guest",
		   machine_rdmsr(m, CTL));
	saved = pt_emu_vmexit(m->pt, &plain, 0x4004);
	pt_emu_vmexit_done(m->pt, &kernel);
	tap_expect(saved == TRACE_ALL && machine_rdmsr(m, CTL) == TRACE_ALL, "0x%llx in the host",
		   machine_rdmsr(m, CTL));
	machine_free(m);
	tap_end();

	tap_begin("exit_leaves_the_other_msrs_alone (27.5.1)");
	m = new_machine(0);
	set_output(m);
	machine_wrmsr(m, CR3_MATCH, 0x5000);
	machine_wrmsr(m, ADDR(0), 0x1000);
	before = machine_rdmsr(m, BASE);
	pt_emu_vmentry(m->pt, &switched, &guest);
	pt_emu_vmexit(m->pt, &switched, 0x4004);
	pt_emu_vmexit_done(m->pt, &kernel);
	tap_expect(machine_rdmsr(m, BASE) == before && machine_rdmsr(m, CR3_MATCH) == 0x5000 &&
		   machine_rdmsr(m, ADDR(0)) == 0x1000, "one has changed");
	machine_free(m);
	tap_end();

	tap_begin("vmxon_without_capability_ends_tracing (36.2.8.2)");
	m = new_machine(LACKS_VMX);
	set_tracing(m);
	pt_emu_vmx_operation(m->pt, true, 0x1010);
	tap_expect(machine_rdmsr(m, CTL) == (TRACE_ALL & ~PT_EMU_CTL_TRACEEN), "0x%llx",
		   machine_rdmsr(m, CTL));
	tap_end();

	tap_begin("traceen_in_vmx_operation_without_capability_faults (36.2.8.2)");
	tap_expect(!wrmsr(m, CTL, TRACE_ALL), "no fault");
	tap_end();

	tap_begin("other_bits_in_vmx_operation_without_capability_are_taken (36.2.8.2)");
	tap_expect(wrmsr(m, CTL, PT_EMU_CTL_TSCEN), "a fault");
	tap_end();

	tap_begin("traceen_after_vmxoff_is_taken (36.2.8.2)");
	pt_emu_vmx_operation(m->pt, false, 0x1014);
	tap_expect(wrmsr(m, CTL, TRACE_ALL), "a fault");
	machine_free(m);
	tap_end();

	tap_begin("vmxon_with_capability_keeps_tracing (36.2.8.2)");
	m = new_machine(0);
	set_tracing(m);
	pt_emu_vmx_operation(m->pt, true, 0x1010);
	tap_expect(machine_rdmsr(m, CTL) == TRACE_ALL, "0x%llx", machine_rdmsr(m, CTL));
	machine_free(m);
	tap_end();
}

static void test_cpuid(void)
{
	__u32 regs[4] = { 0xd, 1, 2, 3 };
	struct machine *m = new_machine(0);

	tap_begin("cpuid_reaches_leaf_14h_and_announces_pt (36.3.1)");
	pt_emu_cpuid(m->pt, 0, 0, regs);
	tap_expect(regs[0] == 0x15 && regs[1] == 1 && regs[2] == 2 && regs[3] == 3,
		   "leaf 0 is 0x%x", regs[0]);
	regs[0] = 0x1f;
	pt_emu_cpuid(m->pt, 0, 0, regs);
	tap_expect(regs[0] == 0x1f, "leaf 0 has shrunk to 0x%x", regs[0]);
	pt_emu_cpuid(m->pt, 7, 0, regs);
	tap_expect(regs[1] == (1 | 1U << 25), "leaf 7 EBX is 0x%x", regs[1]);
	tap_end();

	tap_begin("cpuid_announces_what_is_emulated_and_nothing_else (tables 36-11, 36-12)");
	pt_emu_cpuid(m->pt, 0x14, 0, regs);
	tap_expect(regs[0] == 1 && regs[1] == 0x1f && regs[2] == 0x80000007 && !regs[3],
		   "0x%x 0x%x 0x%x 0x%x", regs[0], regs[1], regs[2], regs[3]);
	pt_emu_cpuid(m->pt, 0x14, 1, regs);
	tap_expect(regs[0] == 0x2490002 && regs[1] == 0x3f3fff && !regs[2] && !regs[3],
		   "sub-leaf 1: 0x%x 0x%x 0x%x 0x%x", regs[0], regs[1], regs[2], regs[3]);
	pt_emu_cpuid(m->pt, 0x14, 2, regs);
	tap_expect(!regs[0] && !regs[1] && !regs[2] && !regs[3], "sub-leaf 2 is not empty");
	regs[2] = 25000000;
	pt_emu_cpuid(m->pt, 0x15, 0, regs);
	tap_expect(regs[0] == 1 && regs[1] == 8 && regs[2] == 25000000, "leaf 15H: 0x%x 0x%x %u",
		   regs[0], regs[1], regs[2]);
	machine_free(m);
	tap_end();

	tap_begin("cpuid_without_options_has_no_sub_leaf_1 (table 36-11)");
	m = new_machine(LACKS_CR3 | LACKS_PSB_CYC | LACKS_MTC | LACKS_PTWRITE | LACKS_SINGLE |
			LACKS_RANGES);
	pt_emu_cpuid(m->pt, 0x14, 0, regs);
	tap_expect(!regs[0] && !regs[1] && regs[2] == 0x80000003, "0x%x 0x%x 0x%x", regs[0],
		   regs[1], regs[2]);
	pt_emu_cpuid(m->pt, 0x14, 1, regs);
	tap_expect(!regs[0] && !regs[1], "sub-leaf 1 is there");
	machine_free(m);
	tap_end();
}

static void test_options(void)
{
	struct pt_options options;
	const char *wrong;

	pt_options_default(&options);
	tap_begin("options_take_a_ratio_to_the_crystal_clock (36.8.3)");
	wrong = pt_options_parse(&options, "crystal-ratio:1");
	tap_expect(!wrong && options.caps.crystal_ratio == 1, "%s", wrong ? wrong : "it is not 1");
	tap_end();

	tap_begin("options_refuse_a_crystal_clock_that_never_ticks (36.8.3)");
	wrong = pt_options_parse(&options, "crystal-ratio:0");
	tap_expect(wrong && options.caps.crystal_ratio == 1, "it is taken");
	tap_end();
}

int main(void)
{
	tap_plan(ARRAY_SIZE(msr_writes) + ARRAY_SIZE(msr_reads_that_fault) +
		 ARRAY_SIZE(msr_writes_while_tracing) + 1 + ARRAY_SIZE(msr_statuses) + 2 + 3 +
		 ARRAY_SIZE(entries) + 11 + 3 + 2);
	test_writes();
	test_reads();
	test_writes_while_tracing();
	test_statuses();
	test_reset();
	test_entries();
	test_transitions();
	test_cpuid();
	test_options();
	return tap_exit();
}
