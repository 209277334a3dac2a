// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a hypercall's record has its number, the arguments that it uses
 * and no others, in the caller's width, and the result that the caller gets.
 */
#include <errno.h>
#include <linux/kvm_para.h>
#include <stdlib.h>

#include "calls.h"
#include "module.h"
#include "tap.h"

#define ANSWER	0x5eed

static const struct {
	const char *name;
	struct guest_call call;
	unsigned int nargs;	/* that the record must have */
	s64 result;
} cases[] = {
	{ "known number, two arguments", { .nr = KVM_HC_KICK_CPU,
	  .arg = { MARK_A0, 0x22222221, MARK_A2, MARK_A3 } }, 2, 0 },
	{ "known number, one argument", { .nr = KVM_HC_SCHED_YIELD,
	  .arg = { 0x7777, MARK_A1, MARK_A2, MARK_A3 } }, 1, 0 },
	{ "known number, no argument", { .nr = KVM_HC_VAPIC_POLL_IRQ,
	  .arg = { MARK_A0, MARK_A1, MARK_A2, MARK_A3 } }, 0, 0 },
	{ "unknown number", { .nr = MARK_UNKNOWN_NR,
	  .arg = { MARK_A0, MARK_A1, MARK_A2, MARK_A3 } }, 4, -KVM_ENOSYS },
	{ "unknown number of 64 bits", { .nr = 0x1234567800000005,
	  .arg = { MARK_A0, 0, 1, MARK_A3 } }, 4, -KVM_ENOSYS },
	{ "32-bit caller", { .nr = KVM_HC_KICK_CPU, .mode = MODE_PROTECTED,
	  .arg = { 0x11111110, 0xf2222221, 0x33333332, 0x44444443 } }, 2, 0 },
	{ "32-bit caller, unknown number", { .nr = 0xf0000001, .mode = MODE_PROTECTED,
	  .arg = { 0xf1111110, 0xf2222221, 0xf3333332, 0xf4444443 } }, 4, (u32)-KVM_ENOSYS },
	{ "caller in ring 3", { .nr = MARK_UNKNOWN_NR, .cpl = 3,
	  .arg = { MARK_A0, MARK_A1, MARK_A2, MARK_A3 } }, 4, -KVM_EPERM },
	{ "answered by user space", { .nr = KVM_HC_MAP_GPA_RANGE, .answer = ANSWER,
	  .arg = { VM_AREA, 1, 0, MARK_A3 } }, 3, ANSWER },
};

static void check_call(unsigned int n)
{
	struct guest_call call = cases[n].call;
	const struct guest_call *made;
	struct calls calls;
	unsigned int i;

	tap_begin("hypercall_records: %s", cases[n].name);
	call.abi = KVM_TRACE_ABI_KVM;
	calls_start(&calls, 0, KVM_TRACE_HC_WORDS_DEFAULT, 0);
	made = calls_make(&calls, &call);
	tap_expect((s64)made->result == cases[n].result,
		   "the guest has 0x%llx, the test wants 0x%llx", made->result, cases[n].result);
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++)
		tap_expect(call_arg_wanted(&calls, made, i) == (i < cases[n].nargs),
			   "the table says of a%u what the test does not", i);
	calls_end(&calls);
	tap_end();
}

/* Each hypercall of a loop has a record, and KVM counts as many. */
static void check_loop(void)
{
	struct recorder recorder = {};
	struct hypercall *list;
	struct vcpu vcpu;
	u64 counted;
	struct vm vm;
	size_t n;

	tap_begin("hypercall_records: as many as KVM counts");
	recorder_start(&recorder, REC_OURS, 4);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_start(&vcpu, KIND_MIX, 100);
	guest_join(&vcpu);
	recorder_stop(&recorder);
	n = recorder_hypercalls(&recorder, recorder_vm(&recorder, &vm), 0, &list);
	counted = vcpu_stat(&vcpu, "hypercalls");
	tap_expect(n == counted && n == 200, "%zu records, KVM counted %llu, the guest made 200",
		   n, counted);
	free(list);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	unsigned int i;

	need_kvm_trace();
	tap_plan(ARRAY_SIZE(cases) + 1);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check_call(i);
	check_loop();
	return tap_exit();
}
