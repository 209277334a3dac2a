// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a record says what an exit was about and what happened on its way:
 * its class and flags, and the address of a page fault.
 */
#include <stdlib.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS	20
#define SLACK	10	/* round trips that fault in the loop's own code and tables */
#define F(name)	KVM_TRACE_F_##name
#define F2(name) KVM_TRACE_F2_##name
#define C(name)	KVM_TRACE_CLASS_##name
/* A misconfigured EPT entry on VMX, a nested page fault on SVM. */
#define MMIO	C(mmio), C(page_fault)
#define ONLY(name) C(name), C(name)

/*
 * The class of a kind's exits, the flags that they have and those that they
 * have not, and in how many round trips of a round. In each there is a pio_out
 * too, so that what happened in the round trip before would show.
 */
static const struct {
	enum guest_kind kind;
	u8 class, or_class;
	u16 has, has_not;
	u32 has_hi;
	unsigned int least, most;
} expected[] = {
	{ KIND_pio_out, ONLY(io), F(USERSPACE) | F(WRITE), F(MMIO) | F(HALTED), 0, 1, 1 },
	{ KIND_pio_in, ONLY(io), F(USERSPACE), F(WRITE) | F(MMIO), 0, 1, 1 },
	{ KIND_mmio_read, MMIO, F(USERSPACE) | F(MMIO) | F(EMULATED), F(WRITE), 0, 1, 1 },
	{ KIND_mmio_write, MMIO, F(USERSPACE) | F(MMIO) | F(EMULATED), F(HALTED), 0, 1, 1 },
	{ KIND_cpuid, ONLY(cpuid), 0, F(USERSPACE) | F(WRITE), 0, 1, 1 },
	{ KIND_rdmsr, ONLY(msr_read), 0, F(USERSPACE) | F(WRITE), 0, 1, 1 },
	{ KIND_wrmsr, ONLY(msr_write), F(WRITE), F(USERSPACE), 0, 1, 1 },
	{ KIND_hypercall, ONLY(hypercall), 0, F(USERSPACE) | F(HALTED), 0, 1, 1 },
	{ KIND_hypercall_unknown, ONLY(hypercall), 0, F(USERSPACE) | F(HALTED), 0, 1, 1 },
	{ KIND_hlt, ONLY(hlt), F(USERSPACE) | F(HALTED), F(MMIO), 0, 1, 1 },
	{ KIND_npf, ONLY(page_fault), F(PAGE_FAULT) | F(WRITE), F(USERSPACE) | F(MMIO), 0, 1, 1 },
	{ KIND_exception, ONLY(page_fault), F(PAGE_FAULT) | F(WRITE), F(MMIO),
	  F2(INJECTED_EXCEPTION), 1, 1 },
	{ KIND_entry_failure, ONLY(entry_failure), F(ENTRY_FAILED) | F(USERSPACE), F(HALTED), 0, 1,
	  1 },
	/* With that of pio_out. */
	{ KIND_pio_sizes, ONLY(io), F(USERSPACE), F(MMIO) | F(EMULATED), 0, 5, 5 },
	/* One for each element written, one for each KiB read. */
	{ KIND_pio_string, ONLY(io), F(USERSPACE) | F(EMULATED), F(MMIO), 0, 13, 13 },
	{ KIND_pio_kernel, ONLY(io), 0, F(USERSPACE) | F(MMIO), 0, 3, 4 },
	{ KIND_pio_mmio, ONLY(io), F(USERSPACE) | F(WRITE) | F(EMULATED) | F(MMIO), 0, 0, 1, 1 },
	{ KIND_pio_emulated, ONLY(exception), F(USERSPACE) | F(EMULATED), F(MMIO), 0, 2, 2 },
	{ KIND_mmio_sizes, MMIO, F(USERSPACE) | F(MMIO) | F(EMULATED), F(INJECTED), 0, 6, 6 },
	{ KIND_mmio_cross, MMIO, F(USERSPACE) | F(MMIO) | F(EMULATED), F(INJECTED), 0, 2, 2 },
	{ KIND_mmio_wide, MMIO, F(USERSPACE) | F(MMIO) | F(EMULATED), F(INJECTED), 0, 2, 2 },
	{ KIND_mmio_string, MMIO, F(USERSPACE) | F(MMIO) | F(EMULATED), F(INJECTED), 0, 5, 5 },
	{ KIND_mmio_rmw, MMIO, F(USERSPACE) | F(MMIO) | F(EMULATED), F(INJECTED), 0, 1, 1 },
	{ KIND_mmio_ioapic, MMIO, F(EMULATED), F(USERSPACE) | F(MMIO), 0, 2, 2 },
	{ KIND_ioeventfd, MMIO, F(EMULATED), F(USERSPACE) | F(MMIO), 0, 1, 1 },
	{ KIND_cpuid_leaves, ONLY(cpuid), 0, F(USERSPACE) | F(WRITE), 0, 6, 6 },
	{ KIND_rdmsr_gp, ONLY(msr_read), 0, F(WRITE) | F(USERSPACE), F2(INJECTED_EXCEPTION), 1, 1 },
	{ KIND_wrmsr_gp, ONLY(msr_write), F(WRITE), F(USERSPACE), F2(INJECTED_EXCEPTION), 1, 1 },
	{ KIND_msr_user, ONLY(msr_read), F(USERSPACE), F(WRITE) | F(INJECTED), 0, 1, 1 },
	{ KIND_msr_user_error, ONLY(msr_write), F(USERSPACE) | F(WRITE), F(INJECTED),
	  F2(INJECTED_EXCEPTION), 1, 1 },
	{ KIND_msr_user_nmi, ONLY(msr_write), F(USERSPACE) | F(WRITE), 0,
	  F2(INJECTED_EXCEPTION) | F2(IMMEDIATE_EXIT), 1, 1 },
	{ KIND_tsc_deadline, ONLY(msr_write), F(WRITE), F(USERSPACE), 0, 2, 2 },
	{ KIND_hlt_timer, ONLY(hlt), F(HALTED), F(USERSPACE) | F(MMIO), 0, 1, 1 },
	{ KIND_self_ipi_window, ONLY(interrupt_window), F(INJECTED), F(USERSPACE), 0, 1, 1 },
	{ KIND_irq, ONLY(io), F(INJECTED) | F(USERSPACE) | F(WRITE), 0, 0, 1, 1 },
	{ KIND_irq_window, ONLY(interrupt_window), F(INJECTED) | F(USERSPACE), 0, 0, 1, 1 },
	{ KIND_nmi, ONLY(io), F(INJECTED) | F(USERSPACE), 0, F2(INJECTED_NMI), 1, 1 },
	{ KIND_cr, ONLY(cr), F(WRITE), F(USERSPACE), 0, 2, 3 },
	{ KIND_lmsw, ONLY(cr), F(WRITE), F(USERSPACE), 0, 2, 2 },
	{ KIND_cr8, ONLY(cr), F(WRITE) | F(USERSPACE), 0, 0, 1, 1 },
	{ KIND_dr, ONLY(dr), 0, F(USERSPACE), 0, 2, 2 },
	{ KIND_debug, ONLY(exception), 0, F(USERSPACE), F2(INJECTED_EXCEPTION), 1, 1 },
	{ KIND_ud, ONLY(exception), 0, F(USERSPACE), F2(INJECTED_EXCEPTION), 1, 1 },
	{ KIND_hv_hypercall, ONLY(hypercall), 0, F(USERSPACE), 0, 1, 1 },
	{ KIND_xen_hypercall, ONLY(hypercall), F(USERSPACE), F(HALTED), 0, 1, 1 },
	{ KIND_invd, ONLY(invd), 0, F(USERSPACE), 0, 1, 1 },
	{ KIND_wbinvd, ONLY(wbinvd), 0, F(USERSPACE), 0, 1, 1 },
	{ KIND_xsetbv, ONLY(xsetbv), 0, F(USERSPACE), 0, 1, 1 },
	{ KIND_npf_read, ONLY(page_fault), F(PAGE_FAULT), F(WRITE) | F(USERSPACE), 0, 1, 1 },
	{ KIND_npf_fetch, ONLY(page_fault), F(PAGE_FAULT), F(WRITE) | F(USERSPACE), F2(FETCH), 1,
	  1 },
	{ KIND_async_pf, ONLY(page_fault), 0, F(WRITE) | F(USERSPACE), F2(ASYNC_PF), 1, 1 },
	/* With that of pio_out. */
	{ KIND_immediate_exit, ONLY(io), F(USERSPACE) | F(WRITE), F(MMIO), 0, 2, 2 },
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
		return (r->class == C(mmio) || r->class == C(page_fault)) ==
		       !!(r->have & KVM_TRACE_W_GPA);
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
	if (kind == KIND_xen_hypercall && !vm_has_xen()) {
		tap_skip("this kernel is built without CONFIG_KVM_XEN");
		return;
	}
	recorder_start(&recorder, REC_VMEXIT, 4);
	vm_create(&vm, 1, guest_needs(KIND_BIT(kind)));
	vcpu_create(&vm, &vcpu, 0);
	guest_start(&vcpu, KIND_BIT(kind) | KIND_BIT(KIND_pio_out), ROUNDS);
	guest_join(&vcpu);
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	for (k = 0; k < count; k++) {
		r = &all[k].r;
		if ((r->class == expected[i].class || r->class == expected[i].or_class) &&
		    (r->flags & expected[i].has) == expected[i].has &&
		    !(r->flags & expected[i].has_not) &&
		    (r->flags_hi & expected[i].has_hi) == expected[i].has_hi &&
		    gpa_fits(r, &vcpu, kind))
			n++;
	}
	tap_expect(n >= expected[i].least * ROUNDS && n < expected[i].most * ROUNDS + SLACK,
		   "%zu records of class %s with flags 0x%x and 0x%x, without 0x%x, in %d rounds",
		   n, kvm_trace_class_name(expected[i].class), expected[i].has, expected[i].has_hi,
		   expected[i].has_not, ROUNDS);
	if (n < ROUNDS && count)
		tap_note("the last record has class %s flags 0x%x 0x%x gpa 0x%llx",
			 kvm_trace_class_name(all[count - 1].r.class), all[count - 1].r.flags,
			 all[count - 1].r.flags_hi, all[count - 1].r.gpa);
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
	words_set("default,flags_hi");
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		check_kind(i);
	words_set("default");
	return tap_exit();
}
