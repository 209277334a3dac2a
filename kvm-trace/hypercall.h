/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hypercalls: noted when KVM takes them up, recorded at the entry at which the
 * result is known.
 */
#ifndef _KVM_TRACE_HYPERCALL_H
#define _KVM_TRACE_HYPERCALL_H

#include "vcpu.h"

void kvm_trace_on_hypercall(void *data, unsigned long nr, unsigned long a0,
			    unsigned long a1, unsigned long a2,
			    unsigned long a3);
void kvm_trace_hypercall_done(struct kvm_trace_vcpu *v);

#endif /* _KVM_TRACE_HYPERCALL_H */
