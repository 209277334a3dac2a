// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: on a CPU that cannot do what kvm_pt needs, each mode is refused, with the reason
 * in caps/, the kernel log and kvm_trace_detail:pt, and no MSR of Intel PT is written. Where
 * L1 cannot see that, scripts/pt_modes_equal_log.sh does.
 *
 *	pt_mode_without no_pt|no_topa|no_vmx|not_in_vmx
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "pt_mode.h"
#include "pt_refusal.h"
#include "tap.h"

#define AUX_BYTES	(1ul << 20)

static const struct without {
	const char *name;
	enum kvm_trace_pt_why why;
	int err;
	const char *words;
} all[] = {
	{ "no_pt", KVM_TRACE_PT_WHY_NO_PT, -ENODEV, "this CPU has no Intel PT, or CPUID hides it" },
	{ "no_topa", KVM_TRACE_PT_WHY_NO_TOPA, -ENODEV,
	  "Intel PT of this CPU has no tables of more than one output region" },
	{ "no_vmx", KVM_TRACE_PT_WHY_NO_VMX, -ENODEV, "this CPU has no Intel VMX" },
	{ "not_in_vmx", KVM_TRACE_PT_WHY_NOT_IN_VMX, -EOPNOTSUPP,
	  "this CPU does not trace in VMX operation (IA32_VMX_MISC[14] is 0)" },
};

static const char * const modes[] = {
	"mode=1", "mode=2", "mode=2,method=1", "mode=2,method=2", "mode=3,stream=1",
	"mode=3,stream=2",
};

static const struct without *find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (name && !strcmp(all[i].name, name))
			return &all[i];
	}
	errno = 0;
	tap_die("an argument: no_pt, no_topa, no_vmx or not_in_vmx");
}

static void test_caps(const struct without *without)
{
	char *in_vmx = pt_cap(KVM_PT, "in_vmx"), *methods = pt_cap(KVM_PT, "methods");
	char *refusal = pt_cap(KVM_PT, "refusal");

	tap_begin("caps_tell_the_reason: %s", without->name);
	tap_expect(in_vmx && !strcmp(in_vmx, "0"), "caps/in_vmx is %s", in_vmx ?: "not there");
	tap_expect(methods && !*methods, "caps/methods is '%s'", methods ?: "not there");
	tap_expect(refusal && strstr(refusal, without->words), "caps/refusal is '%s'",
		   refusal ?: "not there");
	free(in_vmx);
	free(methods);
	free(refusal);
	tap_end();
}

int main(int argc, char **argv)
{
	const struct without *without = find(argc > 1 ? argv[1] : NULL);
	struct pt_event event;
	bool of_cpu;
	size_t i;
	int err;

	errno = 0;
	/* There may be no KVM for this CPU. */
	if (run("modprobe kvm_trace"))
		tap_die("kvm_trace cannot be loaded");
	pt_refusals_watch(NULL);
	tap_plan(ARRAY_SIZE(modes) + 1);
	test_caps(without);
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		tap_begin("refused_with_its_reason: %s, %s", without->name, modes[i]);
		for (of_cpu = false; ; of_cpu = true) {
			pt_watch();
			err = pt_open(&event, KVM_PT, modes[i], of_cpu ? -1 : 0, of_cpu ? 0 : -1,
				      AUX_BYTES, 0);
			pt_expect_refused(err, without->err, without->why, without->words);
			pt_expect_untouched();
			if (!err)
				pt_close(&event);
			if (of_cpu)
				break;
		}
		tap_end();
	}
	if (!access("/dev/kvm", F_OK))
		pt_run_kinds("mix", 5, 0);
	pt_refusals_end();
	return tap_exit();
}
