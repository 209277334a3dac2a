// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: while hypercall_sub is recorded, a hypercall's record has the fields
 * of the structure in guest memory that the tables name, as they are there.
 */
#include <kvm_trace/hypercalls_hyperv.h>
#include <kvm_trace/hypercalls_xen.h>
#include <string.h>

#include "calls.h"
#include "module.h"
#include "tap.h"

struct field_row {
	u64 nr;
	int sub;		/* or -1 */
	unsigned int pointer;	/* number of the argument that points */
	unsigned int a;		/* that the field becomes */
	unsigned int at_32, at_64, bytes;
};

#define ROW(nr, sub, pointer, a, at_32, at_64, bytes, kind, name) \
	{ nr, sub, pointer, a, at_32, at_64, bytes },
static const struct field_row hyperv_fields[] = { KVM_TRACE_HYPERV_FIELDS(ROW) };
static const struct field_row xen_fields[] = { KVM_TRACE_XEN_FIELDS(ROW) };
#undef ROW

static const struct {
	const char *name;
	u8 abi;
	unsigned int vm;
	const struct field_row *rows;
	size_t count;
} abis[] = {
	{ "Hyper-V", KVM_TRACE_ABI_HYPERV, VM_HYPERV, hyperv_fields, ARRAY_SIZE(hyperv_fields) },
	{ "Xen", KVM_TRACE_ABI_XEN, VM_XEN, xen_fields, ARRAY_SIZE(xen_fields) },
};

/* No two bytes of the structure are alike, and none is 0. */
static void fill(struct calls *calls, u64 at)
{
	u8 *bytes = vm_at(&calls->vm, at);
	unsigned int i;

	for (i = 0; i < 255; i++)
		bytes[i] = i + 1;
}

static u64 value_of(const struct field_row *row, enum vcpu_mode mode)
{
	const bool wide = mode == MODE_LONG;
	unsigned int i, at = wide ? row->at_64 : row->at_32;
	unsigned int bytes = row->bytes ? row->bytes : wide ? 8 : 4;
	u64 value = 0;

	for (i = 0; i < bytes; i++)
		value |= (u64)(at + i + 1) << (8 * i);
	return value;
}

/* The argument that chooses the sub-operation. */
static unsigned int sub_arg(u8 abi, const struct field_row *field, enum vcpu_mode mode)
{
	const struct call_row *rows;
	size_t count, i;
	unsigned int k;

	rows = call_rows(abi, &count);
	for (i = 0; i < count; i++) {
		if (rows[i].nr != field->nr || !call_row_fits(&rows[i], abi, mode))
			continue;
		for (k = 0; k < KVM_TRACE_HC_REGS; k++) {
			if (rows[i].kinds[k] == KVM_TRACE_ARG_SUB)
				return k;
		}
	}
	return KVM_TRACE_HC_REGS;
}

/* All fields that belong to the call of one row. */
static void make(struct calls *calls, unsigned int n, const struct field_row *row,
		 enum vcpu_mode mode, bool readable)
{
	const unsigned int sub = sub_arg(abis[n].abi, row, mode);
	struct guest_call call = {
		.abi = abis[n].abi, .mode = mode, .nr = row->nr, .unreadable = !readable,
		.arg = { MARK_A0, MARK_A1, MARK_A2, MARK_A3, MARK_A0, MARK_A1 },
	};
	const struct field_row *other;

	if (row->sub >= 0 && !tap_expect(sub < KVM_TRACE_HC_REGS, "call %llu has no sub-operation",
					 row->nr))
		return;
	if (row->sub >= 0)
		call.arg[sub] = row->sub;
	call.arg[row->pointer] = readable ? calls->vcpu.area + AREA_INPUT : VM_MMIO;
	for (other = abis[n].rows; readable && other < abis[n].rows + abis[n].count; other++) {
		if (other->nr != row->nr || (other->sub >= 0 && other->sub != row->sub))
			continue;
		tap_expect(other->pointer == row->pointer, "call %llu has fields in two places",
			   row->nr);
		call.field[other->a - KVM_TRACE_HC_REGS] = value_of(other, mode);
		call.fields |= 1 << (other->a - KVM_TRACE_HC_REGS);
	}
	calls_make(calls, &call);
}

static void check(unsigned int n, enum vcpu_mode mode, unsigned int flags)
{
	static const char * const modes[] = { "64-bit", "32-bit", "32-bit in long mode" };
	struct calls calls;
	size_t i;

	tap_begin("hypercall_fields: %s, %s callers, %s", abis[n].name, modes[mode],
		  flags ? "recorded" : "not recorded");
	if (abis[n].abi == KVM_TRACE_ABI_XEN && !vm_has_xen()) {
		tap_skip("KVM is built without CONFIG_KVM_XEN");
		return;
	}
	calls_start(&calls, abis[n].vm, KVM_TRACE_HC_WORDS_DEFAULT, flags);
	fill(&calls, calls.vcpu.area + AREA_INPUT);
	for (i = 0; i < abis[n].count; i++) {
		make(&calls, n, &abis[n].rows[i], mode, true);
		make(&calls, n, &abis[n].rows[i], mode, false);
	}
	calls_end(&calls);
	tap_end();
}

int main(void)
{
	unsigned int n, mode;

	need_kvm_trace();
	tap_plan(ARRAY_SIZE(abis) * 3 * 2);
	for (n = 0; n < ARRAY_SIZE(abis); n++) {
		for (mode = MODE_LONG; mode <= MODE_COMPAT; mode++) {
			check(n, mode, CALLS_SUB);
			check(n, mode, 0);
		}
	}
	return tap_exit();
}
