// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the CPU's MSRs of Intel PT take and refuse what the manual says, as Linux
 * finds them. The cases are those of pt-emu/msr_cases.h that fit the CPU; each is
 * named with its place in the manual.
 */
#include <cpuid.h>
#include <stdlib.h>

#include "../pt-emu/msr_cases.h"
#include "msr.h"
#include "tap.h"

#define LEAF_PT		0x14
#define LEAF_WIDTH	0x80000008

#define PTWRITE_BITS	(PT_EMU_CTL_PTWEN | PT_EMU_CTL_FUPONPTW)

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
	msr_set(BASE, output);
	msr_set(MASK, 0xfff);
}

/* A case that lacks something fits a CPU that lacks the same, and no other. */
static bool fits(u64 case_lacks)
{
	return !case_lacks || !(case_lacks & ~lacks);
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

/* After TraceEn was set, while it is, and after it was cleared. */
static void test_status(void)
{
	u8 *page;
	u64 status;

	tap_begin("status_tells_all_enables (36.2.5)");
	set_output();
	msr_set(CTL, TRACE_ALL);
	status = msr_get(STATUS) & ~PT_EMU_STATUS_BYTECNT;
	msr_set(CTL, 0);
	tap_expect(status == 7, "it was 0x%llx", status);
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

static unsigned int count_writes(void)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(msr_writes); i++)
		count += fits(msr_writes[i].lacks);
	return count;
}

int main(void)
{
	need_msrs();
	read_capabilities();
	physical_page(&output);
	tap_plan(count_writes() + ARRAY_SIZE(msr_writes_while_tracing) + 3);
	test_writes();
	test_writes_while_tracing();
	test_status();
	return tap_exit();
}
