/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What round trips are told apart by in a report: the keys, their values in a
 * record, and their text. Names of reasons, classes, MSRs and calls are decode.c's.
 */
#ifndef _KVM_TRACE_KEYS_H
#define _KVM_TRACE_KEYS_H

#include "decode.h"

/* Text of a key is at most so long, with its NUL. */
#define KVM_TRACE_KEY_TEXT	64

/*
 * X(key, width): each key, in the order of its columns; the width of the column,
 * negative if its text begins at the left.
 */
#define KVM_TRACE_KEYS(X)	\
	X(vm, 6)		\
	X(vcpu, 5)		\
	X(class, -16)		\
	X(reason, -22)		\
	X(hypercall, -34)	\
	X(msr, -32)		\
	X(port, -10)		\
	X(gpa, -18)		\
	X(cpuid, -10)		\
	X(vector, -6)		\
	X(rip, -18)

#define KVM_TRACE_KEY_ENUM(key, width)	KVM_TRACE_KEY_##key,
enum kvm_trace_key_kind {
	KVM_TRACE_KEYS(KVM_TRACE_KEY_ENUM)
	KVM_TRACE_KEY_COUNT,
};

#undef KVM_TRACE_KEY_ENUM

/* Keys that sums of batches have, too. */
#define KVM_TRACE_KEYS_OF_SUMS						\
	(1u << KVM_TRACE_KEY_vm | 1u << KVM_TRACE_KEY_vcpu |		\
	 1u << KVM_TRACE_KEY_class | 1u << KVM_TRACE_KEY_reason)
#define KVM_TRACE_KEYS_DEFAULT						\
	(1u << KVM_TRACE_KEY_vm | 1u << KVM_TRACE_KEY_class | 1u << KVM_TRACE_KEY_reason)

/**
 * struct kvm_trace_key - values of keys; of those that are not asked for 0
 * @code: the whole native reason
 * @hypercall: as the word KVM_TRACE_W_HYPERCALL
 * @gpa: guest-physical address of the page
 * @rip: guest RIP
 * @vm: number of the VM
 * @msr: index of the MSR
 * @port: number of the port in bits 31:1, bit 0 for a write
 * @cpuid: leaf
 * @vector: of the host's interrupt
 * @vcpu: vCPU id
 * @isa: KVM_TRACE_ISA_*, if @code is asked for
 * @class: KVM_TRACE_CLASS_*
 *
 * There is no padding: keys are compared as bytes.
 */
struct kvm_trace_key {
	__u64 code;
	__u64 hypercall;
	__u64 gpa;
	__u64 rip;
	__u32 vm;
	__u32 msr;
	__u32 port;
	__u32 cpuid;
	__u32 vector;
	__u16 vcpu;
	__u8 isa;
	__u8 class;
};

/**
 * kvm_trace_key_find() - find a key by its name
 * @name: the name
 * @len: its length
 *
 * Return: enum kvm_trace_key_kind, KVM_TRACE_KEY_COUNT if there is none
 */
enum kvm_trace_key_kind kvm_trace_key_find(const char *name, size_t len);

/**
 * kvm_trace_key_name() - name of a key
 * @kind: which
 *
 * Return: the name
 */
const char *kvm_trace_key_name(enum kvm_trace_key_kind kind);

/**
 * kvm_trace_key_width() - width of a key's column
 * @kind: which
 *
 * Return: the width, negative if its text begins at the left
 */
int kvm_trace_key_width(enum kvm_trace_key_kind kind);

/**
 * kvm_trace_key_of() - the key of a round trip
 * @key: result
 * @by: bits of enum kvm_trace_key_kind that are asked for
 * @v: the round trip
 * @hypercall: that of the round trip, as the word; 0 if only @v may know
 *
 * Return: false if the record lacks one that is asked for
 */
bool kvm_trace_key_of(struct kvm_trace_key *key, unsigned int by,
		      const struct kvm_trace_vmexit *v, __u64 hypercall);

/**
 * kvm_trace_key_text() - text of one of a key's values
 * @key: the key
 * @kind: which value
 * @buf: where to put it, of KVM_TRACE_KEY_TEXT bytes
 */
void kvm_trace_key_text(const struct kvm_trace_key *key, enum kvm_trace_key_kind kind, char *buf);

#endif /* _KVM_TRACE_KEYS_H */
