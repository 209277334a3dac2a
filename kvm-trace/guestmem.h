/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a guest's memory without a fault and within limits. What is read, and
 * why, is not known here.
 */
#ifndef _KVM_TRACE_GUESTMEM_H
#define _KVM_TRACE_GUESTMEM_H

#include <linux/kvm_host.h>
#include <linux/types.h>

#include "guestwalk.h"

/**
 * struct kvm_trace_guest - what may be read for one hypercall
 * @vcpu:	the vCPU that made it
 * @slots:	its memory; NULL if nothing can be read
 * @flags:	KVM_TRACE_SUB_*: why something was not read
 * @bytes:	that may still be read
 * @walks:	guest-virtual pages that may still be looked up
 * @last:	last guest-virtual address of the caller
 * @paging:	how those are translated
 * @gva:	page that was looked up last; not a page's address: none
 * @gpa:	where it is; not a page's address: not mapped
 */
struct kvm_trace_guest {
	struct kvm_vcpu *vcpu;
	struct kvm_memslots *slots;
	u32 flags;
	unsigned int bytes, walks;
	u64 last;
	struct kvm_trace_paging paging;
	u64 gva, gpa;
};

void kvm_trace_guest_begin(struct kvm_trace_guest *g, struct kvm_vcpu *vcpu,
			   u8 isa, u8 caller);
bool kvm_trace_guest_read_gpa(struct kvm_trace_guest *g, u64 gpa, void *to,
			      unsigned int len);
bool kvm_trace_guest_read_gva(struct kvm_trace_guest *g, u64 gva, void *to,
			      unsigned int len);

#endif /* _KVM_TRACE_GUESTMEM_H */
