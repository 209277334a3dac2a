// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: of every hypercall in the tables, made with a marked value in every
 * register, the record has the arguments that the call uses, and no others.
 */
#include "calls.h"
#include "module.h"
#include "tap.h"

/* a0: a page's address, with which MAP_GPA_RANGE gets to user space. */
static const u64 marks[KVM_TRACE_HC_REGS] = {
	0xa0a0a0a011111000, 0xa1a1a1a122222221, 0xa2a2a2a233333332, 0xa3a3a3a344444443,
	0xa4a4a4a455555554, 0xa5a5a5a566666665,
};

/* Arguments of 64 bits, of 32 bits, and 0; and results of each size. */
static const struct {
	u64 mask, answer;
} variants[] = {
	{ ~0ull, 0x5eed5eed5eed5eed }, { 0xffffffff, 0xfffffc18 }, { 0, -38 },
	{ ~0ull, 0x500000000 },
};

/* Numbers that are in no table; bit 31 is Hyper-V's where Xen's VM has that too. */
static const u64 unknown_kvm[] = { 0, 0x1337, 0xf0000001, 0x1234567800000005 };
static const u64 unknown_xen[] = { 0x1337, 0x80000005, 0xffffffff, 0x123456780000000d };
static const u64 unknown_hyperv[] = { 0, 0x7fff, 0xffff };

/* What may stand beside the call code. */
static const u64 hyperv_inputs[] = {
	HV_COUNT(3), HV_START(2) | HV_COUNT(3), HV_FAST | HV_COUNT(0xfff), HV_VAR(5),
	HV_FAST | HV_VAR(0x3ff), HV_NESTED, HV_FAST | HV_NESTED,
	HV_FAST | HV_RESERVED | HV_NESTED | HV_VAR(1) | HV_START(0xfff) | HV_COUNT(1),
};

static void make(struct calls *calls, u8 abi, enum vcpu_mode mode, u64 nr, unsigned int variant)
{
	struct guest_call call = {
		.abi = abi, .mode = mode, .nr = nr, .answer = variants[variant].answer,
	};
	unsigned int i;

	for (i = 0; i < KVM_TRACE_HC_REGS; i++)
		call.arg[i] = marks[i] & variants[variant].mask;
	calls_make(calls, &call);
}

static void make_all(struct calls *calls, u8 abi, enum vcpu_mode mode, u64 nr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(variants); i++) {
		make(calls, abi, mode, nr, i);
		if (abi == KVM_TRACE_ABI_HYPERV)
			make(calls, abi, mode, nr | HV_FAST, i);
	}
	for (i = 0; abi == KVM_TRACE_ABI_HYPERV && i < ARRAY_SIZE(hyperv_inputs); i++)
		make(calls, abi, mode, nr | hyperv_inputs[i], 0);
}

static void check(u8 abi, enum vcpu_mode mode, unsigned int flags)
{
	static const char * const names[] = { "", "KVM", "Hyper-V", "Xen" };
	static const char * const modes[] = { "64-bit", "32-bit", "32-bit in long mode" };
	static const unsigned int vms[] = { 0, 0, VM_HYPERV | VM_IRQCHIP, VM_XEN };
	const struct call_row *rows;
	struct calls calls;
	size_t count, i;

	tap_begin("hypercall_abis: %s, %s callers, %s arguments", names[abi], modes[mode],
		  flags & CALLS_ALL_ARGS ? "all" : "used");
	if (abi == KVM_TRACE_ABI_XEN && !vm_has_xen()) {
		tap_skip("KVM is built without CONFIG_KVM_XEN");
		return;
	}
	calls_start(&calls, vms[abi], KVM_TRACE_HC_WORDS_DEFAULT, flags);
	rows = call_rows(abi, &count);
	for (i = 0; i < count; i++) {
		if (call_row_fits(&rows[i], abi, mode))
			make_all(&calls, abi, mode, rows[i].nr);
	}
	for (i = 0; abi == KVM_TRACE_ABI_KVM && i < ARRAY_SIZE(unknown_kvm); i++)
		make_all(&calls, abi, mode, unknown_kvm[i]);
	for (i = 0; abi == KVM_TRACE_ABI_XEN && i < ARRAY_SIZE(unknown_xen); i++)
		make_all(&calls, abi, mode, unknown_xen[i]);
	for (i = 0; abi == KVM_TRACE_ABI_HYPERV && i < ARRAY_SIZE(unknown_hyperv); i++)
		make_all(&calls, abi, mode, unknown_hyperv[i]);
	calls_end(&calls);
	tap_end();
}

int main(void)
{
	static const u8 abis[] = { KVM_TRACE_ABI_KVM, KVM_TRACE_ABI_HYPERV, KVM_TRACE_ABI_XEN };
	static const enum vcpu_mode modes[] = { MODE_LONG, MODE_PROTECTED, MODE_COMPAT };
	unsigned int i, k;

	need_kvm_trace();
	tap_plan(ARRAY_SIZE(abis) * ARRAY_SIZE(modes) * 2);
	for (i = 0; i < ARRAY_SIZE(abis); i++) {
		for (k = 0; k < ARRAY_SIZE(modes); k++) {
			check(abis[i], modes[k], 0);
			check(abis[i], modes[k], CALLS_ALL_ARGS);
		}
	}
	return tap_exit();
}
