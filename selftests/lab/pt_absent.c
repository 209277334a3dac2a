// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: without --pt, the lab's Intel CPU with VMX tells of no Intel PT, though its
 * emulator has one built in. MSRs say nothing: Bochs reads 0 from any that it lacks.
 */
#include <cpuid.h>

#include "msr.h"
#include "tap.h"

int main(void)
{
	unsigned int a, b, c, d;

	need_msrs();
	tap_plan(2);

	tap_begin("cpuid_announces_no_intel_pt");
	__cpuid_count(7, 0, a, b, c, d);
	tap_expect(!(b & 1 << 25), "EBX of leaf 7 is 0x%x", b);
	if (__get_cpuid_count(0x14, 0, &a, &b, &c, &d))
		tap_expect(!a && !b && !c && !d, "leaf 14H is 0x%x 0x%x 0x%x 0x%x", a, b, c, d);
	tap_end();

	tap_begin("vmx_has_no_control_for_it");
	tap_expect(!(msr_get(MSR_VMX_MISC) & 1 << 14), "IA32_VMX_MISC tells of it");
	tap_expect(!(msr_get(MSR_VMX_TRUE_ENTRY) & ALLOWED(18)), "there is the entry control");
	tap_expect(!(msr_get(MSR_VMX_TRUE_EXIT) & ALLOWED(25)), "there is the exit control");
	tap_expect(!(msr_get(MSR_VMX_PROCBASED2) & ALLOWED(24)), "there is the execution control");
	tap_end();
	return tap_exit();
}
