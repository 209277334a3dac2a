// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of include/kvm_trace/hypercalls*.h as the module needs them: by
 * number, and without names. Numbers are chosen by the guest.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/nospec.h>

#include <kvm_trace/hypercalls.h>
#include <kvm_trace/hypercalls_hyperv.h>
#include <kvm_trace/hypercalls_xen.h>

#include "hypercall.h"

/*
 * Hyper-V's call codes are few, but those of extended calls have this bit: they
 * stand behind the others, which must be less than HYPERV_CODES.
 */
#define HYPERV_EXTENDED		0x8000u
#define HYPERV_CODES		0x400u
#define HYPERV_INDEX(code)						\
	((code) & HYPERV_EXTENDED ? HYPERV_CODES + (code) - HYPERV_EXTENDED : (code))

#define NONE	KVM_TRACE_ARG_NONE
#define KIND(kind, name)	KVM_TRACE_ARG_##kind
#define IS_VALUE(kind)	((kind) != NONE && (kind) != KVM_TRACE_ARG_PTR)
#define IS_SUB(kind)	((kind) == KVM_TRACE_ARG_SUB)

/* Bit for each of six arguments that is so; the parameter before them is 0. */
#define ARGS_THAT_ARE(is, zero, k0, k1, k2, k3, k4, k5, ...)		\
	(is(k0) | is(k1) << 1 | is(k2) << 2 |				\
	 is(k3) << 3 | is(k4) << 4 | is(k5) << 5)

#define CALL(xmm_input, ...) {						\
	.known = true,							\
	.xmm = (xmm_input),						\
	.values = ARGS_THAT_ARE(IS_VALUE, __VA_ARGS__,			\
				NONE, NONE, NONE, NONE, NONE, NONE),	\
	.subs = ARGS_THAT_ARE(IS_SUB, __VA_ARGS__,			\
			      NONE, NONE, NONE, NONE, NONE, NONE),	\
}

#define KVM_CALL(nr, name, how, ...) [nr] = CALL(0, 0, ##__VA_ARGS__),
static const struct kvm_trace_call kvm_calls[] = {
	KVM_TRACE_KVM_CALLS(KVM_CALL, KIND)
};

#define HYPERV_CALL(code, name, how, ...) \
	[HYPERV_INDEX(code)] = CALL(how, 0, ##__VA_ARGS__),
static const struct kvm_trace_call hyperv_calls[] = {
	KVM_TRACE_HYPERV_CALLS(HYPERV_CALL, KIND)
};

#define CODE_FITS(code, name, how, ...) \
	static_assert(((code) & HYPERV_EXTENDED) || (code) < HYPERV_CODES, \
		      "raise HYPERV_CODES");
KVM_TRACE_HYPERV_CALLS(CODE_FITS, KIND)

/* Of rows for callers of one width, only theirs. */
#define XEN_CALL_64_0(nr, ...)	[nr] = CALL(0, 0, ##__VA_ARGS__),
#define XEN_CALL_64_64(nr, ...)	[nr] = CALL(0, 0, ##__VA_ARGS__),
#define XEN_CALL_64_32(nr, ...)
#define XEN_CALL_64(nr, name, how, ...) XEN_CALL_64_##how(nr, ##__VA_ARGS__)
static const struct kvm_trace_call xen_calls_64[] = {
	KVM_TRACE_XEN_CALLS(XEN_CALL_64, KIND)
};

#define XEN_CALL_32_0(nr, ...)	[nr] = CALL(0, 0, ##__VA_ARGS__),
#define XEN_CALL_32_64(nr, ...)
#define XEN_CALL_32_32(nr, ...)	[nr] = CALL(0, 0, ##__VA_ARGS__),
#define XEN_CALL_32(nr, name, how, ...) XEN_CALL_32_##how(nr, ##__VA_ARGS__)
static const struct kvm_trace_call xen_calls_32[] = {
	KVM_TRACE_XEN_CALLS(XEN_CALL_32, KIND)
};

#define FIELD(call, op, points, becomes, offset_32, offset_64, bytes, kind, name) { \
	.nr = (call),							\
	.sub = (op),							\
	.arg = (points),						\
	.target = (becomes),						\
	.offset32 = (offset_32),					\
	.offset64 = (offset_64),					\
	.size = (bytes),						\
},

static const struct kvm_trace_field hyperv_fields[] = {
	KVM_TRACE_HYPERV_FIELDS(FIELD)
};

static const struct kvm_trace_field xen_fields[] = {
	KVM_TRACE_XEN_FIELDS(FIELD)
};

#define LIST(code, set_offset, list_offset) \
	{ .nr = (code), .set = (set_offset), .addresses = (list_offset) },
static const struct kvm_trace_list hyperv_lists[] = {
	KVM_TRACE_HYPERV_LISTS(LIST)
};

static const struct kvm_trace_call *at(const struct kvm_trace_call *calls,
				       unsigned int count, u64 nr)
{
	if (nr >= count)
		return NULL;
	nr = array_index_nospec(nr, count);
	return calls[nr].known ? &calls[nr] : NULL;
}

/**
 * kvm_trace_find_call() - what the tables say of a call
 * @abi:  KVM_TRACE_ABI_*
 * @wide: whether the caller is a 64-bit one
 * @nr:   number, or call code
 *
 * Return: the call, or NULL if it is not known
 */
const struct kvm_trace_call *kvm_trace_find_call(u8 abi, bool wide, u64 nr)
{
	switch (abi) {
	case KVM_TRACE_ABI_KVM:
		return at(kvm_calls, ARRAY_SIZE(kvm_calls), nr);
	case KVM_TRACE_ABI_HYPERV:
		if (nr >= HYPERV_CODES && nr < HYPERV_EXTENDED)
			return NULL;
		return at(hyperv_calls, ARRAY_SIZE(hyperv_calls),
			  HYPERV_INDEX(nr));
	case KVM_TRACE_ABI_XEN:
		return wide ? at(xen_calls_64, ARRAY_SIZE(xen_calls_64), nr) :
			      at(xen_calls_32, ARRAY_SIZE(xen_calls_32), nr);
	default:
		return NULL;
	}
}

/**
 * kvm_trace_fields() - fields that become arguments
 * @abi:   KVM_TRACE_ABI_XEN or KVM_TRACE_ABI_HYPERV
 * @count: where to put how many there are
 *
 * Return: those of all calls of the ABI
 */
const struct kvm_trace_field *kvm_trace_fields(u8 abi, unsigned int *count)
{
	if (abi == KVM_TRACE_ABI_XEN) {
		*count = ARRAY_SIZE(xen_fields);
		return xen_fields;
	}
	*count = ARRAY_SIZE(hyperv_fields);
	return hyperv_fields;
}

/**
 * kvm_trace_find_list() - the lists in the input of a call of Hyper-V
 * @code: call code
 *
 * Return: where they are, or NULL if there are none
 */
const struct kvm_trace_list *kvm_trace_find_list(u16 code)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hyperv_lists); i++) {
		if (hyperv_lists[i].nr == code)
			return &hyperv_lists[i];
	}
	return NULL;
}
