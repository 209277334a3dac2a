// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a record says what an exit was about and what happened on its way:
 * its class and flags, and the address of a page fault.
 */
#include <stdlib.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS	50
#define F(name)	KVM_TRACE_F_##name
#define C(name)	KVM_TRACE_CLASS_##name

static const struct {
	enum guest_kind kind;
	u8 class, or_class;
	u16 has, has_not;
} expected[] = {
	{ KIND_pio_out, C(io), C(io), F(USERSPACE) | F(WRITE), F(MMIO) | F(HALTED) },
	{ KIND_pio_in, C(io), C(io), F(USERSPACE), F(WRITE) | F(MMIO) },
	/* A misconfigured EPT entry on VMX, a nested page fault on SVM. */
	{ KIND_mmio_read, C(mmio), C(page_fault), F(USERSPACE) | F(MMIO) | F(EMULATED), F(WRITE) },
	{ KIND_mmio_write, C(mmio), C(page_fault), F(USERSPACE) | F(MMIO) | F(EMULATED),
	  F(HALTED) },
	{ KIND_cpuid, C(cpuid), C(cpuid), 0, F(USERSPACE) | F(WRITE) },
	{ KIND_rdmsr, C(msr_read), C(msr_read), 0, F(USERSPACE) | F(WRITE) },
	{ KIND_wrmsr, C(msr_write), C(msr_write), F(WRITE), F(USERSPACE) },
	{ KIND_hypercall, C(hypercall), C(hypercall), 0, F(USERSPACE) | F(HALTED) },
	{ KIND_hypercall_unknown, C(hypercall), C(hypercall), 0, F(USERSPACE) | F(HALTED) },
	{ KIND_hlt, C(hlt), C(hlt), F(USERSPACE) | F(HALTED), F(MMIO) },
	{ KIND_npf, C(page_fault), C(page_fault), F(PAGE_FAULT) | F(WRITE),
	  F(USERSPACE) | F(MMIO) },
	{ KIND_exception, C(page_fault), C(page_fault), F(PAGE_FAULT) | F(WRITE), F(MMIO) },
	{ KIND_entry_failure, C(entry_failure), C(entry_failure), F(ENTRY_FAILED) | F(USERSPACE),
	  F(HALTED) },
};

static bool gpa_fits(const struct kvm_trace_vmexit *r, const struct vcpu *vcpu,
		     enum guest_kind kind)
{
	switch (kind) {
	case KIND_mmio_read:
		return r->gpa == VM_MMIO;
	case KIND_mmio_write:
		return r->gpa == VM_MMIO + 4;
	case KIND_npf:
		return r->gpa >= vcpu->area + AREA_FRESH &&
		       r->gpa < vcpu->area + AREA_FRESH + AREA_FRESH_PAGES * PAGE_BYTES;
	case KIND_exception:
		return r->gpa / PAGE_BYTES == (vcpu->area + AREA_STACK - 1) / PAGE_BYTES;
	default:
		return !(r->have & KVM_TRACE_W_GPA);
	}
}

static void check_kind(unsigned int i)
{
	enum guest_kind kind = expected[i].kind;
	struct recorder recorder = {};
	const struct kvm_trace_vmexit *r;
	struct vmexit *all;
	size_t count, k, n = 0;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("class_and_flags_of_each_kind: %s", guest_kind_name(kind));
	recorder_start(&recorder, REC_VMEXIT, 4);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	/* What happened in the round trip before must not stick to this one. */
	guest_start(&vcpu, KIND_BIT(kind) | KIND_BIT(KIND_pio_out), ROUNDS);
	guest_join(&vcpu);
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	for (k = 0; k < count; k++) {
		r = &all[k].r;
		if ((r->class == expected[i].class || r->class == expected[i].or_class) &&
		    (r->flags & expected[i].has) == expected[i].has &&
		    !(r->flags & expected[i].has_not) && gpa_fits(r, &vcpu, kind))
			n++;
	}
	/* The loop's own code and tables are faulted in before. */
	tap_expect(n >= ROUNDS && n < ROUNDS + 10,
		   "%zu records of class %s with flags 0x%x and without 0x%x in %d rounds", n,
		   kvm_trace_class_name(expected[i].class), expected[i].has, expected[i].has_not,
		   ROUNDS);
	if (n < ROUNDS && count)
		tap_note("the last record has class %s flags 0x%x gpa 0x%llx",
			 kvm_trace_class_name(all[count - 1].r.class), all[count - 1].r.flags,
			 all[count - 1].r.gpa);
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	unsigned int i;

	need_kvm_trace();
	tap_plan(ARRAY_SIZE(expected));
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		check_kind(i);
	return tap_exit();
}
