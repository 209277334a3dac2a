// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a guest's memory through KVM's memslots and the VMM's mappings of it,
 * as the hypercall that is being handled would, but without a fault. Page
 * tables are walked in guestwalk.c.
 */
#include <linux/kvm_host.h>
#include <linux/kvm_trace.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "compat/compat.h"
#include "guestmem.h"
#include "isa.h"

/* Not the address of a page. */
#define NO_PAGE		(~0ull)

/*
 * Encrypted memory as the host reads it is not what the guest wrote. Of a VM
 * with private memory, the VMM's mapping may be another page than the guest's.
 */
static bool encrypted(struct kvm_vcpu *vcpu, u8 isa)
{
	return vcpu->arch.guest_state_protected || kvm_trace_private_mem(vcpu) ||
	       (isa == KVM_TRACE_ISA_SVM &&
		kvm_trace_sev(kvm_trace_vmcb(vcpu)));
}

static bool find_paging(struct kvm_trace_guest *g, u8 isa)
{
	struct kvm_vcpu_arch *arch = &g->vcpu->arch;
	/* On SVM, KVM takes CR3 from the VMCB before it handles the exit. */
	u64 cr3 = arch->cr3;

	if (isa == KVM_TRACE_ISA_VMX && !kvm_trace_cr3_vmx(g->vcpu, &cr3))
		return false;
	/* The bits of CR0 and CR4 that count are never the guest's alone. */
	kvm_trace_paging_set(&g->paging, arch->cr0, cr3, arch->cr4,
			     arch->efer & EFER_LMA, arch->maxphyaddr);
	return true;
}

/**
 * kvm_trace_guest_begin() - prepare to read for one hypercall
 * @g:	    what may be read
 * @vcpu:   the vCPU that made it
 * @isa:    KVM_TRACE_ISA_*
 * @caller: KVM_TRACE_CALLER_* of the hypercall
 *
 * Of an encrypted guest, or for a nested one, nothing can be read: flags say so.
 *
 * Context: probe of a hypercall tracepoint, in @vcpu's own thread, which is not
 * preemptible until the last read: KVM is a reader of its SRCU there, so the
 * memslots stay, and the VMCS is current.
 */
void kvm_trace_guest_begin(struct kvm_trace_guest *g, struct kvm_vcpu *vcpu,
			   u8 isa, u8 caller)
{
	g->vcpu = vcpu;
	g->slots = NULL;
	g->flags = 0;
	g->bytes = KVM_TRACE_SUB_BYTES;
	g->walks = KVM_TRACE_SUB_WALKS;
	g->last = caller & KVM_TRACE_CALLER_LONG_MODE ? U64_MAX : U32_MAX;
	g->gva = NO_PAGE;

	if (encrypted(vcpu, isa))
		g->flags |= KVM_TRACE_SUB_ENCRYPTED;
	if (vcpu->arch.hflags & HF_GUEST_MASK)
		g->flags |= KVM_TRACE_SUB_NESTED;
	/* User addresses of memslots mean something in the VMM's mm only. */
	if (!g->flags && current->mm == vcpu->kvm->mm && find_paging(g, isa))
		g->slots = kvm_vcpu_memslots(vcpu);
}

static bool failed(struct kvm_trace_guest *g, u32 flag, void *to,
		   unsigned int len)
{
	g->flags |= flag;
	memset(to, 0, len);
	return false;
}

/* Flag of what forbids to read that much from there, or 0. */
static u32 forbidden(struct kvm_trace_guest *g, u64 from, u64 last,
		     unsigned int len)
{
	if (!g->slots)
		return g->flags ?: KVM_TRACE_SUB_UNREADABLE;
	if (from > last || len - 1 > last - from)
		return KVM_TRACE_SUB_UNREADABLE;
	if (len > g->bytes)
		return KVM_TRACE_SUB_MAX_BYTES;
	g->bytes -= len;
	return 0;
}

static unsigned int in_page(u64 address, unsigned int len)
{
	return min_t(unsigned int, len, PAGE_SIZE - offset_in_page(address));
}

/*
 * Read within a page. Hardened usercopy would kill the host if it found the
 * destination in a slab cache like that of our vCPU state, but takes the stack.
 */
static bool read_page(void *data, u64 gpa, void *to, unsigned int len)
{
	const struct kvm_trace_guest *g = data;
	struct kvm_memory_slot *slot;
	gfn_t gfn = gpa_to_gfn(gpa);
	unsigned long hva;
	unsigned int n;
	u8 copy[64];

	/* Unlike __gfn_to_memslot(), does not touch KVM's cache of the last. */
	slot = search_memslots(g->slots, gfn, false);
	if (!slot || (slot->flags & KVM_MEMSLOT_INVALID))
		return false;
	hva = __gfn_to_hva_memslot(slot, gfn) + offset_in_page(gpa);
	for (; len; len -= n, to += n, hva += n) {
		n = min_t(unsigned int, len, sizeof(copy));
		if (copy_from_user_nofault(copy, (const void __user *)hva, n))
			return false;
		memcpy(to, copy, n);
	}
	return true;
}

/**
 * kvm_trace_guest_read_gpa() - read at a guest-physical address
 * @g:	 see kvm_trace_guest_begin()
 * @gpa: where
 * @to:	 buffer, of any kind; zeroes if the read fails
 * @len: bytes, at least 1
 *
 * Context: see kvm_trace_guest_begin(); does not sleep or fault.
 * Return: true, or false with a flag in @g
 */
bool kvm_trace_guest_read_gpa(struct kvm_trace_guest *g, u64 gpa, void *to,
			      unsigned int len)
{
	u32 flag = forbidden(g, gpa, U64_MAX, len);
	unsigned int done, n;

	if (flag)
		return failed(g, flag, to, len);
	for (done = 0; done < len; done += n) {
		n = in_page(gpa + done, len - done);
		if (!read_page(g, gpa + done, to + done, n))
			return failed(g, KVM_TRACE_SUB_UNREADABLE, to, len);
	}
	return true;
}

/* Look up a page, unless it is the last one again. */
static u32 find_page(struct kvm_trace_guest *g, u64 gva)
{
	if (gva != g->gva) {
		if (!g->walks)
			return KVM_TRACE_SUB_MAX_WALKS;
		g->walks--;
		g->gva = gva;
		if (!kvm_trace_walk(&g->paging, gva, read_page, g, &g->gpa))
			g->gpa = NO_PAGE;
	}
	return g->gpa == NO_PAGE ? KVM_TRACE_SUB_UNREADABLE : 0;
}

/**
 * kvm_trace_guest_read_gva() - read at a guest-virtual address
 * @g:	 see kvm_trace_guest_begin()
 * @gva: where; segments are not looked at
 * @to:	 buffer, of any kind; zeroes if the read fails
 * @len: bytes, at least 1
 *
 * Nothing wraps: what is beyond the caller's address space, which is 4 GiB of a
 * 32-bit caller, cannot be read.
 *
 * Context: see kvm_trace_guest_begin(); does not sleep or fault.
 * Return: true, or false with a flag in @g
 */
bool kvm_trace_guest_read_gva(struct kvm_trace_guest *g, u64 gva, void *to,
			      unsigned int len)
{
	u32 flag = forbidden(g, gva, g->last, len);
	unsigned int done, n;

	if (flag)
		return failed(g, flag, to, len);
	for (done = 0; done < len; done += n) {
		n = in_page(gva + done, len - done);
		flag = find_page(g, (gva + done) & PAGE_MASK);
		if (flag)
			return failed(g, flag, to, len);
		if (!read_page(g, g->gpa + offset_in_page(gva + done),
			       to + done, n))
			return failed(g, KVM_TRACE_SUB_UNREADABLE, to, len);
	}
	return true;
}
