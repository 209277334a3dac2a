// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: hypercall_words and hypercall_args take effect at once, and a value
 * that makes no sense is refused with a message, and changes nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "module.h"
#include "tap.h"

static const struct {
	const char *name, *value;
} wrong[] = {
	{ "hypercall_words", "" }, { "hypercall_words", "speed" },
	{ "hypercall_words", "rip,speed" }, { "hypercall_words", "rip," },
	{ "hypercall_words", "ripns" }, { "hypercall_words", "0x3" },
	{ "hypercall_args", "" }, { "hypercall_args", "none" }, { "hypercall_args", "used,all" },
	{ "hypercall_args", "all," },
};

static const struct {
	const char *value;
	u32 words;
} right[] = {
	{ "lean", KVM_TRACE_HC_WORDS_LEAN }, { "default", KVM_TRACE_HC_WORDS_DEFAULT },
	{ "all", KVM_TRACE_HC_W_RIP | KVM_TRACE_HC_W_NS | KVM_TRACE_HC_W_RETURN },
	{ "rip", KVM_TRACE_HC_W_RIP }, { "ns", KVM_TRACE_HC_W_NS },
	{ "return", KVM_TRACE_HC_W_RETURN },
	{ "return,rip", KVM_TRACE_HC_W_RETURN | KVM_TRACE_HC_W_RIP },
};

/* Of a loaded module. */
static void check_refused_now(void)
{
	static const char * const before[] = { "rip", "all" };
	unsigned int i;
	char *after;
	bool words;

	tap_begin("hypercall_parameters: wrong values are refused while it runs");
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		words = !strcmp(wrong[i].name, "hypercall_words");
		if (parameter_set(wrong[i].name, before[!words]))
			tap_die("parameter %s of kvm_trace", wrong[i].name);
		klog_mark();
		/* Not even a line's end: nothing would be written. */
		tap_expect(parameter_set(wrong[i].name, *wrong[i].value ? wrong[i].value : "\n") ==
			   -EINVAL, "%s=%s is taken", wrong[i].name, wrong[i].value);
		tap_expect(klog_has(wrong[i].name), "the kernel log does not name %s",
			   wrong[i].name);
		after = parameter_get(wrong[i].name);
		tap_expect(!strcmp(after, before[!words]), "%s=%s changes it to %s", wrong[i].name,
			   wrong[i].value, after);
		free(after);
	}
	tap_end();
}

static void check_refused_at_load(void)
{
	unsigned int i;

	tap_begin("hypercall_parameters: the module does not load with wrong values");
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		errno = 0;
		if (module_loaded("kvm_trace") && run("modprobe -r kvm_trace"))
			tap_die("kvm_trace cannot be unloaded");
		klog_mark();
		tap_expect(run("modprobe kvm_trace %s=%s 2>/dev/null", wrong[i].name,
			       wrong[i].value), "it loads with %s=%s", wrong[i].name,
			   wrong[i].value);
		tap_expect(klog_has(wrong[i].name), "the kernel log does not name %s",
			   wrong[i].name);
	}
	need_kvm_trace();
	tap_end();
}

/* Each choice while the same VM runs on. */
static void check_effect(u8 abi, unsigned int vm_flags, u64 nr, const char *name)
{
	struct guest_call call = { .abi = abi, .nr = nr, .arg = { MARK_A0, MARK_A1 } };
	struct calls calls;
	unsigned int i;
	char *text;

	for (i = 0; i < ARRAY_SIZE(right); i++) {
		tap_begin("hypercall_parameters: hypercall_words=%s, %s", right[i].value, name);
		calls_start(&calls, vm_flags, KVM_TRACE_HC_WORDS_DEFAULT, 0);
		if (tap_expect(!parameter_set("hypercall_words", right[i].value), "it is refused"))
			calls.words = right[i].words;
		calls_make(&calls, &call);
		call.mode = MODE_PROTECTED;
		calls_make(&calls, &call);
		call.mode = MODE_LONG;
		calls_end(&calls);
		text = parameter_get("hypercall_words");
		tap_expect(!strcmp(text, "rip,ns"), "the default reads %s", text);
		free(text);
		tap_end();
	}
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2 + 2 * ARRAY_SIZE(right));
	check_refused_now();
	check_refused_at_load();
	check_effect(KVM_TRACE_ABI_KVM, 0, MARK_UNKNOWN_NR, "KVM");
	check_effect(KVM_TRACE_ABI_HYPERV, VM_HYPERV, 0x7fff | HV_FAST | HV_VAR(2), "Hyper-V");
	return tap_exit();
}
