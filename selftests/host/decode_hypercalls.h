/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hypercall tables of all ABIs as one array of each kind, for the tests
 * that go through all of them.
 */
#ifndef _DECODE_HYPERCALLS_H
#define _DECODE_HYPERCALLS_H

#include <kvm_trace/hypercalls_hyperv.h>
#include <kvm_trace/hypercalls_xen.h>
#include <linux/kvm_trace.h>

#define KVM(number, name, ...) \
	{ KVM_TRACE_ABI_KVM, number, #name, CALL_HOW(__VA_ARGS__) },
#define HYPERV(number, name, ...) \
	{ KVM_TRACE_ABI_HYPERV, number, #name, CALL_HOW(__VA_ARGS__) },
#define XEN(number, name, ...) \
	{ KVM_TRACE_ABI_XEN, number, #name, CALL_HOW(__VA_ARGS__) },
#define CALL_HOW(how, ...)	how, { __VA_ARGS__ }
#define CALL_ARG(kind, name)	{ KVM_TRACE_ARG_##kind, name }

static const struct tabled_call {
	__u8 abi;
	__u32 number;
	const char *name;
	unsigned int how;
	struct {
		enum kvm_trace_arg_kind kind;
		const char *name;
	} arg[KVM_TRACE_HC_REGS];
} tabled_calls[] = {
	KVM_TRACE_KVM_CALLS(KVM, CALL_ARG)
	KVM_TRACE_HYPERV_CALLS(HYPERV, CALL_ARG)
	KVM_TRACE_XEN_CALLS(XEN, CALL_ARG)
};

#define XEN_SUB(number, sub, name) \
	{ KVM_TRACE_ABI_XEN, number, sub, #name },

static const struct tabled_sub {
	__u8 abi;
	__u32 number;
	__u32 sub;
	const char *name;
} tabled_subs[] = {
	KVM_TRACE_XEN_SUBS(XEN_SUB)
};

#define KVM_FLAG(number, arg, mask, name) \
	{ KVM_TRACE_ABI_KVM, number, arg, mask, name },
#define HYPERV_FLAG(number, arg, mask, name) \
	{ KVM_TRACE_ABI_HYPERV, number, arg, mask, name },
#define XEN_FLAG(number, arg, mask, name) \
	{ KVM_TRACE_ABI_XEN, number, arg, mask, name },

static const struct tabled_flag {
	__u8 abi;
	__u32 number;
	unsigned int arg;
	__u64 mask;
	const char *name;
} tabled_flags[] = {
	KVM_TRACE_KVM_FLAGS(KVM_FLAG)
	KVM_TRACE_HYPERV_FLAGS(HYPERV_FLAG)
	KVM_TRACE_XEN_FLAGS(XEN_FLAG)
};

#define HYPERV_FIELD(number, sub, pointer, arg, offset_32, offset_64, bytes, kind, name) \
	{ KVM_TRACE_ABI_HYPERV, number, sub, pointer, arg, { offset_32, offset_64 }, bytes, \
	  KVM_TRACE_ARG_##kind, name },
#define XEN_FIELD(number, sub, pointer, arg, offset_32, offset_64, bytes, kind, name) \
	{ KVM_TRACE_ABI_XEN, number, sub, pointer, arg, { offset_32, offset_64 }, bytes, \
	  KVM_TRACE_ARG_##kind, name },

static const struct tabled_field {
	__u8 abi;
	__u32 number;
	int sub;
	unsigned int pointer;
	unsigned int arg;
	unsigned int offset[2];	/* of a 32-bit caller, of a 64-bit one */
	unsigned int bytes;
	enum kvm_trace_arg_kind kind;
	const char *name;
} tabled_fields[] = {
	KVM_TRACE_HYPERV_FIELDS(HYPERV_FIELD)
	KVM_TRACE_XEN_FIELDS(XEN_FIELD)
};

#define LIST(number, set, list) { number, set, list },

static const struct tabled_list {
	__u32 number;
	unsigned int set;
	unsigned int list;
} tabled_lists[] = {
	KVM_TRACE_HYPERV_LISTS(LIST)
};

#endif /* _DECODE_HYPERCALLS_H */
