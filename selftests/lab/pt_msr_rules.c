// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the CPU's MSRs of Intel PT take and refuse what the manual says, as Linux
 * finds them. The cases are those of pt-emu/msr_cases.h that fit the CPU: on one that
 * lacks more than PTWRITE, those of what it lacks. Each is named with its place in the
 * manual. And CPUID announces nothing that is left out, as pt-emu/README.md lists it.
 */
#include <cpuid.h>
#include <stdlib.h>

#include "../pt-emu/msr_cases.h"
#include "module.h"
#include "msr.h"
#include "tap.h"

#define FLAGS		"kvm_trace_test_pt_flags"
#define LEAF_PT		0x14
#define LEAF_WIDTH	0x80000008

#define LEAF_FEATURES	7
#define LEAF_XSAVE	0xd

#define LACKS_OUTPUT	(LACKS_TOPA | LACKS_SINGLE)
#define PTWRITE_BITS	(PT_EMU_CTL_PTWEN | PT_EMU_CTL_FUPONPTW)

enum { EAX, EBX, ECX, EDX };

/* Bits of CPUID that are 0 whatever the options are. */
static const struct {
	const char *what;
	unsigned int leaf, subleaf, reg, bits;
} left_out[] = {
	{ "power events", LEAF_PT, 0, EBX, 1 << 5 },
	{ "PSB and PMI injection", LEAF_PT, 0, EBX, 1 << 6 },
	{ "event trace", LEAF_PT, 0, EBX, 1 << 7 },
	{ "TNT disable", LEAF_PT, 0, EBX, 1 << 8 },
	{ "trace transport", LEAF_PT, 0, ECX, 1 << 3 },
	{ "what is reserved in EBX", LEAF_PT, 0, EBX, ~0x1ffu },
	{ "what is reserved in ECX", LEAF_PT, 0, ECX, ~0x8000000fu },
	{ "what is reserved in EDX", LEAF_PT, 0, EDX, ~0u },
	{ "PSB periods above 64 KB", LEAF_PT, 1, EBX, ~0u << 22 },
	{ "what is reserved in EAX", LEAF_PT, 1, EAX, 0xfff8 },
	{ "transactions", LEAF_FEATURES, 0, EBX, 1 << 4 | 1 << 11 },
	{ "SGX", LEAF_FEATURES, 0, EBX, 1 << 2 },
	{ "XSAVES of its state", LEAF_XSAVE, 1, ECX, 1 << 8 },
};

static u64 lacks, output;
static unsigned int maxphyaddr;

static u64 lacks_unless(unsigned int has, u64 what)
{
	return has ? 0 : what;
}

static void read_capabilities(void)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid_count(LEAF_PT, 0, &a, &b, &c, &d) || !c)
		tap_die("CPUID tells of no Intel PT: scripts/lab run --pt gives one");
	lacks = lacks_unless(b & 1 << 0, LACKS_CR3) | lacks_unless(b & 1 << 1, LACKS_PSB_CYC) |
		lacks_unless(b & 1 << 2, LACKS_RANGES) | lacks_unless(b & 1 << 3, LACKS_MTC) |
		lacks_unless(b & 1 << 4, LACKS_PTWRITE) | lacks_unless(c & 1 << 0, LACKS_TOPA) |
		lacks_unless(c & 1 << 2, LACKS_SINGLE);
	__cpuid(LEAF_WIDTH, a, b, c, d);
	maxphyaddr = a & 0xff;
}

/* No tracing, and output to a page of ours. */
static void set_output(void)
{
	msr_set(CTL, 0);
	msr_set(STATUS, 0);
	if ((lacks & LACKS_OUTPUT) == LACKS_OUTPUT)
		return;
	msr_set(BASE, output);
	msr_set(MASK, 0xfff);
}

static bool is_whole(void)
{
	return !(lacks & ~LACKS_PTWRITE);
}

/* Either kind of output gives the MSRs of output. */
static bool fits(u64 case_lacks)
{
	const u64 outputs = case_lacks & LACKS_OUTPUT;

	if (!case_lacks)
		return is_whole();
	return !(case_lacks & ~lacks) && (!outputs || outputs == (lacks & LACKS_OUTPUT));
}

static void test_writes(void)
{
	u64 value, expected, after;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(msr_writes); i++) {
		if (!fits(msr_writes[i].lacks))
			continue;
		tap_begin("%s (%s)", msr_writes[i].promise, msr_writes[i].manual);
		value = msr_case_value(msr_writes[i].value, maxphyaddr);
		expected = msr_case_value(msr_writes[i].after, maxphyaddr);
		if (msr_writes[i].msr == CTL && !msr_writes[i].faults && lacks & LACKS_PTWRITE) {
			value &= ~PTWRITE_BITS;
			expected &= ~PTWRITE_BITS;
		}
		set_output();
		/* As after a reset; one that is not there refuses that, too. */
		msr_write(msr_writes[i].msr, 0);
		tap_expect(msr_write(msr_writes[i].msr, value) != msr_writes[i].faults,
			   "WRMSR of 0x%x to 0x%llx: %s", msr_writes[i].msr, value,
			   msr_writes[i].faults ? "no fault" : "a fault");
		if (msr_read(msr_writes[i].msr, &after))
			tap_expect(after == expected, "reads 0x%llx", after);
		else
			tap_expect(msr_writes[i].faults, "it cannot be read");
		tap_end();
	}
}

static void test_writes_while_tracing(void)
{
	size_t i;
	u64 value;
	bool done;

	for (i = 0; i < ARRAY_SIZE(msr_writes_while_tracing); i++) {
		tap_begin("%s (%s)", msr_writes_while_tracing[i].promise,
			  msr_writes_while_tracing[i].manual);
		set_output();
		msr_set(CTL, TRACE_ALL);
		value = msr_writes_while_tracing[i].value;
		if (value == MEMORY_BASE)
			value = output;
		done = msr_write(msr_writes_while_tracing[i].msr, value);
		tap_expect(done != msr_writes_while_tracing[i].faults, "%s",
			   done ? "no fault" : "a fault");
		tap_expect(msr_get(CTL) == (done ? value : TRACE_ALL), "IA32_RTIT_CTL is 0x%llx",
			   msr_get(CTL));
		tap_end();
	}
	set_output();
}

static void test_reads(void)
{
	u64 value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(msr_reads_that_fault); i++) {
		if (!fits(msr_reads_that_fault[i].lacks))
			continue;
		tap_begin("%s (%s)", msr_reads_that_fault[i].promise,
			  msr_reads_that_fault[i].manual);
		tap_expect(!msr_read(msr_reads_that_fault[i].msr, &value), "no fault");
		tap_end();
	}
}

static void test_reads_while_tracing(void)
{
	static const u32 msrs[] = {
		BASE, MASK, CTL, STATUS, CR3_MATCH, ADDR(0), ADDR(1), ADDR(2), ADDR(3),
	};
	u64 value;
	size_t i;

	tap_begin("tracing_all_can_be_read (36.2.7.1)");
	set_output();
	msr_set(CTL, TRACE_ALL);
	for (i = 0; i < ARRAY_SIZE(msrs); i++)
		tap_expect(msr_read(msrs[i], &value), "RDMSR of 0x%x faults", msrs[i]);
	set_output();
	tap_end();
}

/* MSRs are read and written in the kernel: its state is the one there is. */
static bool status_fits(size_t i)
{
	return !msr_statuses[i].user;
}

static void test_statuses(void)
{
	u64 status;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(msr_statuses); i++) {
		if (!status_fits(i))
			continue;
		tap_begin("%s (%s)", msr_statuses[i].promise, msr_statuses[i].manual);
		set_output();
		msr_set(CR3_MATCH, 0);
		msr_set(ADDR(0), 0x8000);
		msr_set(ADDR(1), 0x8fff);
		msr_set(STATUS, msr_statuses[i].before);
		msr_set(CTL, msr_statuses[i].ctl);
		status = msr_get(STATUS) & ~PT_EMU_STATUS_BYTECNT;
		set_output();
		tap_expect(status == msr_statuses[i].after, "it was 0x%llx", status);
		tap_end();
	}
}

/* After TraceEn was set and cleared. */
static void test_status(void)
{
	u8 *page;
	u64 status;

	tap_begin("status_counts_the_bytes_from_the_last_psb_on (table 36-7)");
	set_output();
	/* So little that no second PSB comes. */
	msr_set(CTL, PT_EMU_CTL_TRACEEN | PT_EMU_CTL_OS);
	msr_set(CTL, 0);
	status = msr_get(STATUS) >> PT_EMU_STATUS_BYTECNT_SHIFT;
	tap_expect(status == msr_get(MASK) >> 32, "%llu of %llu bytes", status,
		   msr_get(MASK) >> 32);
	tap_end();

	tap_begin("status_trigger_ends_with_tracing_and_the_byte_count_stays (36.2.5.2)");
	status = msr_get(STATUS);
	tap_expect(!(status & PT_EMU_STATUS_TRIGGEREN) && status & PT_EMU_STATUS_BYTECNT,
		   "it is 0x%llx", status);
	tap_end();

	tap_begin("status_tells_an_error_of_topa: no table (36.3.9)");
	page = physical_page(&status);
	set_output();
	msr_set(BASE, status);
	msr_set(MASK, 0x7f);
	*(u64 *)page = PT_EMU_TOPA_END | status;
	msr_set(CTL, TRACE_ALL | PT_EMU_CTL_TOPA);
	status = msr_get(STATUS);
	msr_set(CTL, 0);
	tap_expect(status & PT_EMU_STATUS_ERROR && !(status & PT_EMU_STATUS_TRIGGEREN),
		   "it is 0x%llx", status);
	tap_end();
	set_output();
}

static void test_left_out(void)
{
	unsigned int regs[4];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(left_out); i++) {
		tap_begin("cpuid_does_not_announce: %s", left_out[i].what);
		__cpuid_count(left_out[i].leaf, left_out[i].subleaf, regs[EAX], regs[EBX],
			      regs[ECX], regs[EDX]);
		tap_expect(!(regs[left_out[i].reg] & left_out[i].bits),
			   "register %u of leaf 0x%x is 0x%x", left_out[i].reg, left_out[i].leaf,
			   regs[left_out[i].reg]);
		tap_end();
	}
}

static void test_flags(void)
{
	tap_begin("rdmsr_and_wrmsr_leave_the_flags_alone");
	msr_set(CTL, 0);
	if (run("insmod selftests/modules/pt_flags/" FLAGS ".ko"))
		tap_expect(false, "they do not: see L1's log");
	else
		run("rmmod " FLAGS);
	tap_end();
}

static unsigned int count_cases(void)
{
	unsigned int count = ARRAY_SIZE(left_out) + 1;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(msr_writes); i++)
		count += fits(msr_writes[i].lacks);
	for (i = 0; i < ARRAY_SIZE(msr_reads_that_fault); i++)
		count += fits(msr_reads_that_fault[i].lacks);
	if (!is_whole())
		return count;
	for (i = 0; i < ARRAY_SIZE(msr_statuses); i++)
		count += status_fits(i);
	return count + ARRAY_SIZE(msr_writes_while_tracing) + 1 + 3;
}

int main(void)
{
	need_msrs();
	read_capabilities();
	physical_page(&output);
	tap_plan(count_cases());
	test_left_out();
	test_flags();
	test_writes();
	test_reads();
	if (is_whole()) {
		test_writes_while_tracing();
		test_reads_while_tracing();
		test_statuses();
		test_status();
	}
	return tap_exit();
}
