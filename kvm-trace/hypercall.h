/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hypercalls: noted when KVM takes them up, recorded at the entry at which the
 * result is known. What is in guest memory is read in hypercall_sub.c, what each
 * call takes is looked up in hypercall_tables.c.
 */
#ifndef _KVM_TRACE_HYPERCALL_H
#define _KVM_TRACE_HYPERCALL_H

#include <linux/bitops.h>

#include "compat/compat.h"
#include "vcpu.h"

/* Parameter: KVM_TRACE_HC_W_* that records may hold. */
extern u32 kvm_trace_hypercall_words;
/* Parameter: record all arguments, and not only those that say something. */
extern bool kvm_trace_hypercall_all_args;

/**
 * struct kvm_trace_call - what a table says of a call
 * @values:	bit for each argument that is used, and not only a pointer
 * @subs:	bit of the argument that is the number of the sub-operation
 * @known:	the call is in the table
 * @xmm:	a fast call has more of its input in XMM registers
 */
struct kvm_trace_call {
	u8 values;
	u8 subs;
	bool known;
	bool xmm;
};

/**
 * struct kvm_trace_field - a field in guest memory that becomes an argument
 * @sub:	sub-operation that has it, or -1
 * @nr:		number of the call
 * @offset32:	where it is in what @arg points to, of a 32-bit caller
 * @offset64:	the same, of a 64-bit caller
 * @arg:	argument that points
 * @target:	argument that it becomes
 * @size:	bytes; 0: a word of the caller
 */
struct kvm_trace_field {
	s64 sub;
	u16 nr;
	u16 offset32;
	u16 offset64;
	u8 arg;
	u8 target;
	u8 size;
};

/**
 * struct kvm_trace_list - lists in the input of a call of Hyper-V
 * @nr:		call code
 * @set:	offset of a set of virtual processors, or 0
 * @addresses:	offset of a list of addresses if the set has no banks, or 0
 */
struct kvm_trace_list {
	u16 nr;
	u16 set;
	u16 addresses;
};

const struct kvm_trace_call *kvm_trace_find_call(u8 abi, bool wide, u64 nr);
const struct kvm_trace_field *kvm_trace_fields(u8 abi, unsigned int *count);
const struct kvm_trace_list *kvm_trace_find_list(u16 code);

void kvm_trace_on_hypercall(void *data, unsigned long nr, unsigned long a0,
			    unsigned long a1, unsigned long a2,
			    unsigned long a3);
void kvm_trace_on_hv_hypercall(void *data, u16 code, bool fast, u16 var_cnt,
			       u16 rep_cnt, u16 rep_idx, u64 ingpa, u64 outgpa);
#if KVM_TRACE_XEN_HYPERCALL_CPL
void kvm_trace_on_xen_hypercall(void *data, u8 cpl, unsigned long nr,
				unsigned long a0, unsigned long a1,
				unsigned long a2, unsigned long a3,
				unsigned long a4, unsigned long a5);
#else
void kvm_trace_on_xen_hypercall(void *data, unsigned long nr,
				unsigned long a0, unsigned long a1,
				unsigned long a2, unsigned long a3,
				unsigned long a4, unsigned long a5);
#endif
void kvm_trace_hypercall_nested(struct kvm_trace_vcpu *v);
void kvm_trace_hypercall_reflected(struct kvm_trace_vcpu *v);
const struct kvm_trace_hypercall_record *
kvm_trace_hypercall_done(struct kvm_trace_vcpu *v, u64 host_ns);

u8 kvm_trace_hypercall_memory(struct kvm_trace_vcpu *v,
			      const struct kvm_trace_call *known, u64 *args);

/**
 * kvm_trace_args_wanted() - arguments that are recorded
 * @known: the call, or NULL
 * @all:   bit for each argument that the ABI can pass
 *
 * Return: bit for each
 */
static __always_inline u8 kvm_trace_args_wanted(const struct kvm_trace_call *known,
						u8 all)
{
	if (!known || unlikely(READ_ONCE(kvm_trace_hypercall_all_args)))
		return all;
	return known->values;
}

/**
 * kvm_trace_put_args() - put arguments into a tail
 * @p:       where
 * @present: gets their presence bits
 * @which:   bit for each
 * @args:    all of them
 *
 * Return: where the next part of the tail goes
 */
static __always_inline u8 *kvm_trace_put_args(u8 *p, u32 *present, u8 which,
					      const u64 *args)
{
	unsigned int i;

	for (; which; which &= which - 1) {
		i = __ffs(which);
		if (args[i] >> 32) {
			*present |= KVM_TRACE_HC_ARG_64 << (2 * i);
			p = kvm_trace_put_64(p, args[i]);
		} else {
			*present |= KVM_TRACE_HC_ARG_32 << (2 * i);
			p = kvm_trace_put_32(p, args[i]);
		}
	}
	return p;
}

#endif /* _KVM_TRACE_HYPERCALL_H */
