/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks prototypes of KVM's tracepoints against the BTF of the running KVM.
 */
#ifndef _KVM_TRACE_BTF_H
#define _KVM_TRACE_BTF_H

#include <linux/types.h>

#define KVM_TRACE_PROTO_ARGS	8

/**
 * struct kvm_trace_arg - one argument of a tracepoint
 * @size:	bytes of an integer or bool; of what is behind a pointer; 0 of what is
 *		behind a void *
 * @pointee:	name of the struct behind a pointer, or "void", or "char"; NULL for an
 *		integer
 */
struct kvm_trace_arg {
	size_t size;
	const char *pointee;
};

#define KVM_TRACE_ARG_INT(type)	{ .size = sizeof(type) }
#define KVM_TRACE_ARG_VOID_PTR		{ .pointee = "void" }
#define KVM_TRACE_ARG_CHAR_PTR		{ .size = sizeof(char), .pointee = "char" }
#define KVM_TRACE_ARG_PTR(tag)	{ .size = sizeof(struct tag), .pointee = #tag }

/**
 * struct kvm_trace_proto - prototype of a tracepoint, as compiled for
 * @name:	of the tracepoint
 * @args:	what follows the probe's data pointer
 * @nargs:	how many
 */
struct kvm_trace_proto {
	const char *name;
	struct kvm_trace_arg args[KVM_TRACE_PROTO_ARGS];
	unsigned int nargs;
};

struct kvm_trace_btf;

struct kvm_trace_btf *kvm_trace_btf_open(const char *module);
void kvm_trace_btf_close(struct kvm_trace_btf *btf);
int kvm_trace_btf_check(const struct kvm_trace_btf *btf,
			const struct kvm_trace_proto *proto,
			char *why, size_t why_len);

#endif /* _KVM_TRACE_BTF_H */
