// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder of kvm_trace's records: bytes to structs, structs to text. All
 * names come from the tables in include/kvm_trace/. Where the bytes come from
 * (libtraceevent, a dlfilter, a test) is not this file's concern.
 */
#define _GNU_SOURCE 1	/* strerrorname_np() */
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "array_size.h"
#include "decode.h"
#include <kvm_trace/exception_names.h>
#include <kvm_trace/hypercalls_hyperv.h>
#include <kvm_trace/hypercalls_xen.h>
#include <kvm_trace/msr_names.h>
#include <kvm_trace/user_exits.h>

#define __printf(a, b)	__attribute((format(printf, a, b)))
/* Of present, the pairs of bits of the arguments. */
#define HC_ARGS_MASK	((1u << (2 * KVM_TRACE_HC_ARGS)) - 1)
#define VECTOR_GP	13

/* Names */

#define NAME_BY_CODE(code, name, class) \
	[code] = #name,
#define CODE_AND_NAME(code, name, class) { code, #name },
#define CLASS_NAME(number, name) \
	[number] = #name,
#define VALUE_AND_NAME(value, name) { value, name },
#define NUMBER_AND_NAME(number, name) { number, #name },
#define CALL(number, name, how, ...) \
	{ number, how, #name, { __VA_ARGS__ } },
#define ARG(kind, name) { KVM_TRACE_ARG_##kind, name }
#define SUB(number, sub, name) { number, sub, #name },
#define FLAG(number, arg, mask, name) { number, arg, mask, name },
#define ARG_FIELD(number, sub, pointer, arg, offset_32, offset_64, bytes, kind, name) \
	{ number, sub, arg, ARG(kind, name) },

static const char *const vmx_reasons[KVM_TRACE_VMX_REASON_END] = {
	KVM_TRACE_VMX_REASONS(NAME_BY_CODE)
};

static const char *const svm_reasons[KVM_TRACE_SVM_REASON_END] = {
	KVM_TRACE_SVM_REASONS(NAME_BY_CODE)
};

static const struct {
	__u64 code;
	const char *name;
} svm_reasons_wide[] = {
	KVM_TRACE_SVM_REASONS_WIDE(CODE_AND_NAME)
};

static const char *const classes[] = {
	KVM_TRACE_CLASSES(CLASS_NAME)
};

static const struct value_name {
	__u32 value;
	const char *name;
} flags[] = {
	KVM_TRACE_FLAGS(VALUE_AND_NAME)
}, flags_hi[] = {
	KVM_TRACE_FLAGS_HI(VALUE_AND_NAME)
}, losses[] = {
	KVM_TRACE_LOST_WHY(VALUE_AND_NAME)
}, msrs[] = {
	KVM_TRACE_MSRS(NUMBER_AND_NAME)
}, exceptions[] = {
	KVM_TRACE_EXCEPTIONS(NUMBER_AND_NAME)
}, user_exits[] = {
	KVM_TRACE_USER_EXITS(NUMBER_AND_NAME)
}, abis[] = {
	KVM_TRACE_ABIS(VALUE_AND_NAME)
}, sub_flags[] = {
	KVM_TRACE_SUB_FLAGS(VALUE_AND_NAME)
};

struct arg_name {
	enum kvm_trace_arg_kind kind;
	const char *name;
};

static const struct call {
	__u32 number;
	__u32 how;
	const char *name;
	struct arg_name arg[KVM_TRACE_HC_REGS];
} kvm_calls[] = {
	KVM_TRACE_KVM_CALLS(CALL, ARG)
}, hyperv_calls[] = {
	KVM_TRACE_HYPERV_CALLS(CALL, ARG)
}, xen_calls[] = {
	KVM_TRACE_XEN_CALLS(CALL, ARG)
};

static const struct sub {
	__u32 number;
	__u32 sub;
	const char *name;
} xen_subs[] = {
	KVM_TRACE_XEN_SUBS(SUB)
};

static const struct flag {
	__u32 number;
	unsigned int arg;
	__u64 mask;
	const char *name;
} kvm_flags[] = {
	KVM_TRACE_KVM_FLAGS(FLAG)
}, hyperv_flags[] = {
	KVM_TRACE_HYPERV_FLAGS(FLAG)
}, xen_flags[] = {
	KVM_TRACE_XEN_FLAGS(FLAG)
};

static const struct arg_field {
	__u32 number;
	int sub;	/* -1: of any */
	unsigned int arg;
	struct arg_name name;
} hyperv_fields[] = {
	KVM_TRACE_HYPERV_FIELDS(ARG_FIELD)
}, xen_fields[] = {
	KVM_TRACE_XEN_FIELDS(ARG_FIELD)
};

#define TABLE(table) table, ARRAY_SIZE(table)

/* What is known of an ABI's calls. */
static const struct abi {
	const struct call *calls;
	size_t nr_calls;
	const struct sub *subs;
	size_t nr_subs;
	const struct flag *flags;
	size_t nr_flags;
	const struct arg_field *fields;
	size_t nr_fields;
} tables[] = {
	[KVM_TRACE_ABI_KVM] = {
		TABLE(kvm_calls), NULL, 0, TABLE(kvm_flags), NULL, 0,
	},
	[KVM_TRACE_ABI_HYPERV] = {
		TABLE(hyperv_calls), NULL, 0, TABLE(hyperv_flags), TABLE(hyperv_fields),
	},
	[KVM_TRACE_ABI_XEN] = {
		TABLE(xen_calls), TABLE(xen_subs), TABLE(xen_flags), TABLE(xen_fields),
	},
}, no_table;

const char *kvm_trace_reason_name(unsigned int isa, __u64 code)
{
	size_t i;

	switch (isa) {
	case KVM_TRACE_ISA_VMX:
		return code < ARRAY_SIZE(vmx_reasons) ? vmx_reasons[code] : NULL;
	case KVM_TRACE_ISA_SVM:
		if (code < ARRAY_SIZE(svm_reasons))
			return svm_reasons[code];
		for (i = 0; i < ARRAY_SIZE(svm_reasons_wide); i++)
			if (svm_reasons_wide[i].code == code)
				return svm_reasons_wide[i].name;
	}
	return NULL;
}

const char *kvm_trace_class_name(unsigned int class)
{
	return class < ARRAY_SIZE(classes) ? classes[class] : NULL;
}

#define NAME_OF(table, value) name_of(table, ARRAY_SIZE(table), value)

static const char *name_of(const struct value_name *table, size_t n, __u32 value)
{
	while (n--)
		if (table[n].value == value)
			return table[n].name;
	return NULL;
}

const char *kvm_trace_msr_name(__u32 index)
{
	return NAME_OF(msrs, index);
}

const char *kvm_trace_exception_name(unsigned int vector)
{
	return NAME_OF(exceptions, vector);
}

const char *kvm_trace_user_exit_name(unsigned int reason)
{
	return NAME_OF(user_exits, reason);
}

const char *kvm_trace_abi_name(unsigned int abi)
{
	return NAME_OF(abis, abi);
}

static const struct abi *table_of(unsigned int abi)
{
	return abi < ARRAY_SIZE(tables) ? &tables[abi] : &no_table;
}

/*
 * What a number is of a caller of this width: 32, 64, or 0 if that is not known;
 * then it is whichever comes first.
 */
static const struct call *find_call(unsigned int abi, __u64 nr, unsigned int width)
{
	const struct abi *table = table_of(abi);
	const struct call *call = table->calls;
	bool by_width = abi != KVM_TRACE_ABI_HYPERV && width;
	size_t left = table->nr_calls;

	for (; left; left--, call++)
		if (call->number == nr && (!by_width || !call->how || call->how == width))
			return call;
	return NULL;
}

const char *kvm_trace_call_name(unsigned int abi, __u64 nr)
{
	const struct call *call = find_call(abi, nr, 0);

	return call ? call->name : NULL;
}

/* Bytes */

struct bytes {
	const __u8 *at;
	size_t left;
};

/* @size is 1, 2, 4 or 8. */
static __u64 little_endian(const __u8 *at, unsigned int size)
{
	__le64 eight;
	__le32 four;
	__le16 two;

	switch (size) {
	case sizeof(eight):
		memcpy(&eight, at, sizeof(eight));
		return le64toh(eight);
	case sizeof(four):
		memcpy(&four, at, sizeof(four));
		return le32toh(four);
	case sizeof(two):
		memcpy(&two, at, sizeof(two));
		return le16toh(two);
	}
	return *at;
}

/* The next word; false, and no further word, if it is not there whole. */
static bool take(struct bytes *b, unsigned int size, __u64 *value)
{
	if (b->left < size) {
		b->left = 0;
		return false;
	}
	*value = little_endian(b->at, size);
	b->at += size;
	b->left -= size;
	return true;
}

static __u64 field(const void *record, size_t offset, unsigned int size)
{
	return little_endian((const __u8 *)record + offset, size);
}

/* What the __data_loc field at @offset names; what lies beyond the record is cut off. */
static struct bytes dynamic(const void *record, size_t size, size_t offset, bool *cut)
{
	__u32 loc = field(record, offset, 4);
	size_t start = loc & 0xffff;
	size_t len = loc >> 16;

	if (start > size || len > size - start) {
		*cut = true;
		start = start < size ? start : size;
		len = size - start;
	}
	return (struct bytes){ (const __u8 *)record + start, len };
}

#define FIELD(word, field)						\
	[__builtin_ctzll(KVM_TRACE_W_##word)] = {			\
		offsetof(struct kvm_trace_vmexit, field),		\
		sizeof(((struct kvm_trace_vmexit *)NULL)->field),	\
	},
#define WIDE_TIME(narrow, wide) { narrow, wide },

/* The field of each word, by its bit; a size of 0: not known. */
static const struct {
	__u16 offset;
	__u16 size;
} fields[64] = {
	FIELD(RIP, rip)
	FIELD(GPA, gpa)
	FIELD(GUEST_NS_64, guest_ns)
	FIELD(INFO1, info1)
	FIELD(INFO2, info2)
	FIELD(REASON_HI, reason_hi)
	FIELD(ENTRY_NS, entry_ns)
	FIELD(USER_NS_64, user_ns)
	FIELD(HALT_NS_64, halt_ns)
	FIELD(POLL_NS_64, poll_ns)
	FIELD(RUNNABLE_NS_64, runnable_ns)
	FIELD(MSR_VALUE, msr_value)
	FIELD(MMIO_GPA, mmio_gpa)
	FIELD(MMIO_VALUE, mmio_value)
	FIELD(CR_VALUE, cr_value)
	FIELD(EXCEPTION, exception)
	FIELD(GUEST_NS, guest_ns)
	FIELD(INTR_INFO, intr_info)
	FIELD(ERROR_CODE, error_code)
	FIELD(UNTRACED, untraced)
	FIELD(FLAGS_HI, flags_hi)
	FIELD(USER_NS, user_ns)
	FIELD(HALT_NS, halt_ns)
	FIELD(POLL_NS, poll_ns)
	FIELD(RUNNABLE_NS, runnable_ns)
	FIELD(MSR, msr)
	FIELD(IO, io)
	FIELD(CPUID_LEAF, cpuid_leaf)
	FIELD(INJECTED, injected)
	FIELD(USER_REASON, user_reason)
	FIELD(CPUID_AX_BX, cpuid_ax_bx)
	FIELD(CPUID_CX_DX, cpuid_cx_dx)
	FIELD(INJECTED_EXCEPTION, injected_exception)
	FIELD(HYPERCALL, hypercall)
	FIELD(CPUID_INDEX, cpuid_index)
	FIELD(IO_VALUE, io_value)
	FIELD(IO_COUNT, io_count)
	FIELD(MMIO, mmio)
	FIELD(CR, cr)
	FIELD(HOST_VECTOR, host_vector)
};

static const struct {
	__u64 narrow;
	__u64 wide;
} times[] = {
	KVM_TRACE_WORDS_OF_TIME(WIDE_TIME)
};

#define OR_NARROW(narrow, wide) | (narrow)
#define NARROW_TIMES	(0 KVM_TRACE_WORDS_OF_TIME(OR_NARROW))

void kvm_trace_vmexit_word(struct kvm_trace_vmexit *v, unsigned int bit, __u64 value)
{
	void *field;
	size_t i;

	if (bit >= ARRAY_SIZE(fields) || !fields[bit].size) {
		v->unknown++;
		return;
	}
	v->have |= 1ull << bit;
	/* A time in both sizes is what the wide word says. */
	for (i = 0; 1ull << bit & NARROW_TIMES && i < ARRAY_SIZE(times); i++)
		if (times[i].narrow == 1ull << bit && v->have & times[i].wide)
			return;
	field = (char *)v + fields[bit].offset;
	if (fields[bit].size == sizeof(__u64))
		*(__u64 *)field = value;
	else
		*(__u32 *)field = value;
}

void kvm_trace_vmexit_tail(struct kvm_trace_vmexit *v, const void *tail, size_t len)
{
	struct bytes masks = { tail, len }, words = { tail, len };
	unsigned int bit, first = 0;
	__u64 mask, left, value;

	if (!len)
		return;
	/* The words start behind the last mask. */
	do {
		if (!take(&words, 4, &mask)) {
			v->truncated = true;
			break;
		}
	} while (mask & KVM_TRACE_W_NEXT_MASK);

	do {
		if (!take(&masks, 4, &mask))
			return;
		if (first < 64)
			v->words |= mask << first;
		for (left = mask & ~KVM_TRACE_W_NEXT_MASK; left; left &= left - 1) {
			bit = __builtin_ctzll(left);
			if (!take(&words, KVM_TRACE_W_SIZE(bit), &value)) {
				v->truncated = true;
				return;
			}
			kvm_trace_vmexit_word(v, first + bit, value);
		}
		first += 32;
	} while (mask & KVM_TRACE_W_NEXT_MASK);
}

bool kvm_trace_vmexit_record(struct kvm_trace_vmexit *v, const void *record, size_t size)
{
	struct bytes tail;

	memset(v, 0, sizeof(*v));
	if (size < KVM_TRACE_VMEXIT_SIZE)
		return false;
	v->host_ns = field(record, 8, 8);
	v->vm = field(record, 16, 4);
	v->seq = field(record, 20, 4);
	v->vcpu = field(record, 28, 2);
	v->reason = field(record, 30, 2);
	v->flags = field(record, 32, 2);
	v->isa = field(record, 34, 1);
	v->class = field(record, 35, 1);
	tail = dynamic(record, size, 24, &v->truncated);
	kvm_trace_vmexit_tail(v, tail.at, tail.left);
	return true;
}

__u64 kvm_trace_vmexit_code(const struct kvm_trace_vmexit *v)
{
	return v->reason_hi << 16 | v->reason;
}

__u64 kvm_trace_vmexit_handling_ns(const struct kvm_trace_vmexit *v)
{
	__u64 rest = v->host_ns;

	rest -= v->user_ns < rest ? v->user_ns : rest;
	rest -= v->halt_ns < rest ? v->halt_ns : rest;
	return rest;
}

bool kvm_trace_vmexit_msr_faulted(const struct kvm_trace_vmexit *v)
{
	if (v->class != KVM_TRACE_CLASS_msr_read && v->class != KVM_TRACE_CLASS_msr_write)
		return false;
	if (v->have & KVM_TRACE_W_INJECTED_EXCEPTION)
		return (v->injected_exception & KVM_TRACE_EXCEPTION_VECTOR) == VECTOR_GP;
	return v->flags_hi & KVM_TRACE_F2_INJECTED_EXCEPTION;
}

static void set_hypercall_word(struct kvm_trace_hypercall *h, __u32 word, __u64 value)
{
	switch (word) {
	case KVM_TRACE_HC_W_RESULT_64:
		h->result = value;
		break;
	case KVM_TRACE_HC_W_RIP:
		h->rip = value;
		break;
	case KVM_TRACE_HC_W_RETURN:
		h->ret = value;
		break;
	case KVM_TRACE_HC_W_NS_64:
		h->ns = value;
		break;
	case KVM_TRACE_HC_W_NR_HI:
		h->nr |= value << 32;
		break;
	case KVM_TRACE_HC_W_RESULT:
		if (!(h->have & KVM_TRACE_HC_W_RESULT_64))
			h->result = (__s32)value;
		break;
	case KVM_TRACE_HC_W_NS:
		if (!(h->have & KVM_TRACE_HC_W_NS_64))
			h->ns = value;
		break;
	case KVM_TRACE_HC_W_HV_CONTROL:
		h->hv_control = value;
		break;
	case KVM_TRACE_HC_W_HV_REPS:
		h->hv_reps = value;
		break;
	case KVM_TRACE_HC_W_SUB:
		h->sub = value;
		break;
	default:
		h->unknown++;
		return;
	}
	h->have |= word;
}

void kvm_trace_hypercall_tail(struct kvm_trace_hypercall *h, const void *tail, size_t len)
{
	const __u32 results = KVM_TRACE_HC_W_RESULT | KVM_TRACE_HC_W_RESULT_64;
	struct bytes b = { tail, len };
	unsigned int i, size;
	__u64 value;

	if (h->caller & KVM_TRACE_CALLER_ZERO && !(h->present & results))
		h->have |= KVM_TRACE_HC_W_RESULT;
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++) {
		size = KVM_TRACE_HC_ARG(h->present, i);
		if (size == KVM_TRACE_HC_ARG_ABSENT)
			continue;
		if (size != KVM_TRACE_HC_ARG_32 && size != KVM_TRACE_HC_ARG_64) {
			h->reserved = true;
			return;
		}
		if (!take(&b, size * 4, &value)) {
			h->truncated = true;
			return;
		}
		h->arg[i] = value;
		h->have |= size << (2 * i);
	}
	for (i = 2 * KVM_TRACE_HC_ARGS; i < 32; i++) {
		if (!(h->present & 1u << i))
			continue;
		size = 1u << i & KVM_TRACE_HC_W_MASK_8 ? 8 : 4;
		if (!take(&b, size, &value)) {
			h->truncated = true;
			return;
		}
		set_hypercall_word(h, 1u << i, value);
	}
}

bool kvm_trace_hypercall_record(struct kvm_trace_hypercall *h, const void *record, size_t size)
{
	struct bytes tail;

	memset(h, 0, sizeof(*h));
	if (size < KVM_TRACE_HYPERCALL_SIZE)
		return false;
	h->vm = field(record, 8, 4);
	h->seq = field(record, 12, 4);
	h->nr = field(record, 16, 4);
	h->present = field(record, 20, 4);
	h->vcpu = field(record, 28, 2);
	h->abi = field(record, 30, 1);
	h->caller = field(record, 31, 1);
	tail = dynamic(record, size, 24, &h->truncated);
	kvm_trace_hypercall_tail(h, tail.at, tail.left);
	return true;
}

void kvm_trace_hypercall_sub_tail(struct kvm_trace_hypercall_sub *s, const void *tail, size_t len)
{
	const __u32 known = HC_ARGS_MASK | KVM_TRACE_HC_W_NR_HI;
	struct kvm_trace_hypercall h = { .nr = s->nr, .present = s->present };

	kvm_trace_hypercall_tail(&h, tail, len);
	s->nr = h.nr;
	s->have = h.have & known;
	memcpy(s->arg, h.arg, sizeof(s->arg));
	/* Words that only a hypercall record has are none of this event's. */
	s->unknown = h.unknown + __builtin_popcount(h.have & ~known);
	s->reserved = h.reserved;
	s->truncated |= h.truncated;
}

bool kvm_trace_hypercall_sub_record(struct kvm_trace_hypercall_sub *s, const void *record,
				    size_t size)
{
	struct bytes tail;

	memset(s, 0, sizeof(*s));
	if (size < KVM_TRACE_HYPERCALL_SUB_SIZE)
		return false;
	s->vm = field(record, 8, 4);
	s->seq = field(record, 12, 4);
	s->index = field(record, 16, 4);
	s->nr = field(record, 20, 4);
	s->present = field(record, 24, 4);
	s->vcpu = field(record, 32, 2);
	s->abi = field(record, 34, 1);
	s->kind = field(record, 35, 1);
	tail = dynamic(record, size, 28, &s->truncated);
	kvm_trace_hypercall_sub_tail(s, tail.at, tail.left);
	return true;
}

static struct kvm_trace_string string(const void *record, size_t offset, size_t size)
{
	const char *at = (const char *)record + offset;

	return (struct kvm_trace_string){ at, strnlen(at, size) };
}

bool kvm_trace_vcpu_record(struct kvm_trace_vcpu *c, const void *record, size_t size)
{
	memset(c, 0, sizeof(*c));
	if (size < KVM_TRACE_VCPU_SIZE)
		return false;
	c->tsc_offset = field(record, 8, 8);
	c->tsc_ratio = field(record, 16, 8);
	c->vm = field(record, 24, 4);
	c->seq = field(record, 28, 4);
	c->vmm_pid = field(record, 32, 4);
	c->vmm_tid = field(record, 36, 4);
	c->generation = field(record, 40, 4);
	c->name = string(record, 44, KVM_TRACE_VCPU_NAME_LEN);
	c->vmm = string(record, 68, KVM_TRACE_VCPU_VMM_LEN);
	c->vcpu = field(record, 84, 2);
	c->isa = field(record, 86, 1);
	c->abi_version = field(record, 87, 1);
	return true;
}

bool kvm_trace_lost_record(struct kvm_trace_lost *l, const void *record, size_t size)
{
	memset(l, 0, sizeof(*l));
	if (size < KVM_TRACE_LOST_SIZE)
		return false;
	l->count = field(record, 8, 8);
	l->since = field(record, 16, 8);
	l->vm = field(record, 24, 4);
	l->vcpu = field(record, 28, 2);
	l->why = field(record, 30, 1);
	return true;
}

/* Text */

struct text {
	char *buf;
	size_t size;
	size_t len;	/* of the whole text, also of what did not fit */
};

static __printf(2, 3) void put(struct text *t, const char *format, ...)
{
	size_t room = t->len < t->size ? t->size - t->len : 0;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(room ? t->buf + t->len : NULL, room, format, args);
	va_end(args);
	if (n > 0)
		t->len += n;
}

static void put_cut(struct text *t, const char *bytes, size_t n)
{
	size_t fits = 0;

	if (t->len < t->size) {
		fits = t->size - t->len - 1;
		memcpy(t->buf + t->len, bytes, fits);
		t->buf[t->len + fits] = '\0';
	}
	t->len += n;
}

/* What most of a line consists of, without a look at a format. */
static __always_inline void put_bytes(struct text *t, const char *bytes, size_t n)
{
	if (t->len + n >= t->size) {
		put_cut(t, bytes, n);
		return;
	}
	memcpy(t->buf + t->len, bytes, n);
	t->len += n;
	t->buf[t->len] = '\0';
}

static __always_inline void put_text(struct text *t, const char *text)
{
	put_bytes(t, text, strlen(text));
}

static void put_number(struct text *t, __u64 n)
{
	char digits[20], *first = digits + sizeof(digits);

	do {
		*--first = '0' + n % 10;
		n /= 10;
	} while (n);
	put_bytes(t, first, digits + sizeof(digits) - first);
}

static __always_inline void put_word(struct text *t, const char *name, const char *word)
{
	put_text(t, name);
	put_text(t, word);
}

static __always_inline void put_count(struct text *t, const char *name, __u64 n)
{
	put_text(t, name);
	put_number(t, n);
}

static void put_hex_digits(struct text *t, __u64 n)
{
	char digits[2 + 16], *first = digits + sizeof(digits);

	do {
		*--first = "0123456789abcdef"[n & 15];
		n >>= 4;
	} while (n);
	*--first = 'x';
	*--first = '0';
	put_bytes(t, first, digits + sizeof(digits) - first);
}

static __always_inline void put_hex(struct text *t, const char *name, __u64 n)
{
	put_text(t, name);
	put_hex_digits(t, n);
}

static void put_time(struct text *t, __u64 ns)
{
	static const struct {
		__u64 hundredth;
		const char *name;
	} units[] = {
		{ 10, "us" },
		{ 10000, "ms" },
		{ 10000000, "s" },
	};
	__u64 n = 0;
	size_t i;

	if (ns < 1000) {
		put_number(t, ns);
		put_text(t, "ns");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		n = ns / units[i].hundredth;
		n += ns % units[i].hundredth >= units[i].hundredth / 2;
		if (n < 100000 || i == ARRAY_SIZE(units) - 1)
			break;
	}
	put_number(t, n / 100);
	put_bytes(t, (char[]){ '.', '0' + n / 10 % 10, '0' + n % 10 }, 3);
	put_text(t, units[i].name);
}

/* A time of local_clock(), in the form in which perf script --ns prints it. */
static void put_clock(struct text *t, __u64 ns)
{
	put(t, "%llu.%09llu", ns / 1000000000, ns % 1000000000);
}

static void put_string(struct text *t, struct kvm_trace_string s)
{
	size_t i;

	for (i = 0; i < s.len; i++)
		put(t, "%c", (unsigned char)s.at[i] < ' ' || s.at[i] == 0x7f ? '?' : s.at[i]);
}

static void put_who(struct text *t, __u32 vm, __u32 pid, __u16 vcpu, __u32 lacks)
{
	put_text(t, "vm ");
	if (vm)
		put_number(t, vm);
	else
		put_text(t, "?");
	if (pid) {
		put_text(t, " (");
		put_number(t, pid);
		put_text(t, ")");
	}
	put_text(t, " vcpu ");
	if (lacks & KVM_TRACE_LACKS_VCPU)
		put_text(t, "?");
	else
		put_number(t, vcpu);
}

static void put_isa(struct text *t, __u8 isa)
{
	switch (isa) {
	case 0:
		put_text(t, " ?");
		break;
	case KVM_TRACE_ISA_VMX:
		put_text(t, " VMX");
		break;
	case KVM_TRACE_ISA_SVM:
		put_text(t, " SVM");
		break;
	default:
		put_count(t, " isa ", isa);
	}
}

static void put_end(struct text *t, __u32 unknown, bool truncated)
{
	if (unknown)
		put(t, " (%u unknown word%s)", unknown, unknown == 1 ? "" : "s");
	if (truncated)
		put_text(t, " (truncated)");
}

static void put_reason(struct text *t, const struct kvm_trace_vmexit *v)
{
	bool cut = v->words & ~v->have & KVM_TRACE_W_REASON_HI;
	__u64 code = kvm_trace_vmexit_code(v);
	__u64 modifiers = 0;
	const char *name;

	put_isa(t, v->isa);
	if (v->lacks & KVM_TRACE_LACKS_REASON) {
		put_text(t, " ?");
		return;
	}
	if (v->reason == KVM_TRACE_REASON_NONE && !(v->words & KVM_TRACE_W_REASON_HI)) {
		put_text(t, v->flags & KVM_TRACE_F_ENTRY_FAILED ? " ENTRY_FAILED" : " UNKNOWN");
		return;
	}
	if (v->isa == KVM_TRACE_ISA_VMX) {
		modifiers = code & ~0xffffull;
		code &= 0xffff;
		/* Bit 31 says the same as the flag. */
		if (v->flags & KVM_TRACE_F_ENTRY_FAILED)
			modifiers &= ~0x80000000ull;
	}
	name = cut ? NULL : kvm_trace_reason_name(v->isa, code);
	if (name) {
		put_text(t, " ");
		put_text(t, name);
	} else {
		put_hex(t, " ", code);
	}
	if (modifiers)
		put(t, "|0x%08llx", modifiers);
}

/* From the highest bit to the lowest: what KVM did, then how it went on. */
static void put_flags(struct text *t, const struct value_name *table, size_t n, __u32 set,
		      const char **before)
{
	while (set && n--) {
		if (!(set & table[n].value))
			continue;
		set &= ~table[n].value;
		put_text(t, *before);
		put_text(t, table[n].name);
		*before = ",";
	}
}

static void put_all_flags(struct text *t, const struct kvm_trace_vmexit *v)
{
	__u32 set = v->flags & ~KVM_TRACE_F_WRITE;
	__u32 unknown = v->flags_hi;
	const char *before = " [";
	size_t i;

	if (v->have & KVM_TRACE_W_FLAGS_HI)
		set &= ~KVM_TRACE_F_MORE;
	for (i = 0; unknown && i < ARRAY_SIZE(flags_hi); i++)
		unknown &= ~flags_hi[i].value;
	if (unknown) {
		put_hex(t, before, unknown);
		before = ",";
	}
	put_flags(t, flags_hi, ARRAY_SIZE(flags_hi), v->flags_hi, &before);
	put_flags(t, flags, ARRAY_SIZE(flags), set, &before);
	if (*before == ',')
		put_text(t, "]");
}

static void put_part(struct text *t, const char **before, const char *name, __u64 ns)
{
	put_text(t, *before);
	put_text(t, name);
	put_text(t, " ");
	put_time(t, ns);
	*before = " ";
}

/* The host's time, and in brackets its parts as far as they were recorded. */
static void put_host(struct text *t, const struct kvm_trace_vmexit *v)
{
	const char *before = " (";

	put_text(t, " host ");
	put_time(t, v->host_ns);
	if (v->have & (KVM_TRACE_W_USER_NS | KVM_TRACE_W_USER_NS_64 |
		       KVM_TRACE_W_HALT_NS | KVM_TRACE_W_HALT_NS_64))
		put_part(t, &before, "handling", kvm_trace_vmexit_handling_ns(v));
	if (v->have & (KVM_TRACE_W_USER_NS | KVM_TRACE_W_USER_NS_64))
		put_part(t, &before, "user", v->user_ns);
	if (v->have & (KVM_TRACE_W_HALT_NS | KVM_TRACE_W_HALT_NS_64))
		put_part(t, &before, "halted", v->halt_ns);
	if (v->have & (KVM_TRACE_W_POLL_NS | KVM_TRACE_W_POLL_NS_64))
		put_part(t, &before, "polled", v->poll_ns);
	if (v->have & (KVM_TRACE_W_RUNNABLE_NS | KVM_TRACE_W_RUNNABLE_NS_64))
		put_part(t, &before, "runnable", v->runnable_ns);
	if (!before[1])
		put_text(t, ")");
}

/* Whether the detail of the exit tells that its access is a write. */
static bool tells_write(const struct kvm_trace_vmexit *v)
{
	switch (v->class) {
	case KVM_TRACE_CLASS_io:
		return v->have & KVM_TRACE_W_IO;
	case KVM_TRACE_CLASS_msr_read:
	case KVM_TRACE_CLASS_msr_write:
		return v->have & (KVM_TRACE_W_MSR | KVM_TRACE_W_MSR_VALUE);
	case KVM_TRACE_CLASS_cr:
		return v->have & KVM_TRACE_W_CR;
	case KVM_TRACE_CLASS_page_fault:
	case KVM_TRACE_CLASS_mmio:
		return v->mmio & KVM_TRACE_MMIO_WRITE;
	}
	return false;
}

static void put_cpuid(struct text *t, const struct kvm_trace_vmexit *v)
{
	const __u64 results = KVM_TRACE_W_CPUID_AX_BX | KVM_TRACE_W_CPUID_CX_DX;

	if (v->have & (KVM_TRACE_W_CPUID_LEAF | KVM_TRACE_W_CPUID_INDEX | results))
		put_text(t, " cpuid");
	if (v->have & KVM_TRACE_W_CPUID_LEAF)
		put_hex(t, " leaf ", v->cpuid_leaf);
	if (v->have & KVM_TRACE_W_CPUID_INDEX)
		put_hex(t, " index ", v->cpuid_index);
	if (v->have & results)
		put_text(t, " ->");
	if (v->have & KVM_TRACE_W_CPUID_AX_BX) {
		put_hex(t, " eax ", v->cpuid_ax_bx & 0xffffffff);
		put_hex(t, " ebx ", v->cpuid_ax_bx >> 32);
	}
	if (v->have & KVM_TRACE_W_CPUID_CX_DX) {
		put_hex(t, " ecx ", v->cpuid_cx_dx & 0xffffffff);
		put_hex(t, " edx ", v->cpuid_cx_dx >> 32);
	}
}

static void put_msr(struct text *t, const struct kvm_trace_vmexit *v)
{
	const char *name;

	if (!(v->have & (KVM_TRACE_W_MSR | KVM_TRACE_W_MSR_VALUE)))
		return;
	name = kvm_trace_msr_name(v->msr);
	switch (v->class) {
	case KVM_TRACE_CLASS_msr_read:
		put_text(t, " rdmsr");
		break;
	case KVM_TRACE_CLASS_msr_write:
		put_text(t, " wrmsr");
		break;
	default:
		put_text(t, " msr");
	}
	if (v->have & KVM_TRACE_W_MSR)
		put_hex(t, " ", v->msr);
	if (v->have & KVM_TRACE_W_MSR && name)
		put_word(t, " ", name);
	if (v->have & KVM_TRACE_W_MSR_VALUE)
		put_hex(t, " value ", v->msr_value);
	if (kvm_trace_vmexit_msr_faulted(v))
		put_text(t, " faulted");
}

static void put_io(struct text *t, const struct kvm_trace_vmexit *v)
{
	if (v->have & KVM_TRACE_W_IO) {
		put_text(t, v->io & KVM_TRACE_IO_REP ? " rep " : " ");
		put_text(t, v->io & KVM_TRACE_IO_IN ? "in" : "out");
		put_hex(t, v->io & KVM_TRACE_IO_STRING ? "s " : " ",
			v->io >> KVM_TRACE_IO_PORT_SHIFT);
		put_count(t, " size ", v->io & KVM_TRACE_IO_SIZE);
	} else if (v->have & (KVM_TRACE_W_IO_VALUE | KVM_TRACE_W_IO_COUNT)) {
		put_text(t, " io");
	}
	if (v->have & KVM_TRACE_W_IO_VALUE)
		put_hex(t, " value ", v->io_value);
	if (v->have & KVM_TRACE_W_IO_COUNT)
		put_count(t, " count ", v->io_count);
}

static void put_mmio(struct text *t, const struct kvm_trace_vmexit *v)
{
	if (!(v->have & (KVM_TRACE_W_MMIO | KVM_TRACE_W_MMIO_GPA | KVM_TRACE_W_MMIO_VALUE)))
		return;
	put_text(t, " mmio");
	if (v->have & KVM_TRACE_W_MMIO)
		put_count(t, v->mmio & KVM_TRACE_MMIO_WRITE ? " write size " : " read size ",
			  v->mmio & KVM_TRACE_MMIO_SIZE);
	if (v->have & KVM_TRACE_W_MMIO_VALUE)
		put_hex(t, " value ", v->mmio_value);
	if (v->have & KVM_TRACE_W_MMIO_GPA)
		put_hex(t, " gpa ", v->mmio_gpa);
	if (v->have & KVM_TRACE_W_MMIO && v->mmio >> KVM_TRACE_MMIO_COUNT_SHIFT != 1)
		put_count(t, " count ", v->mmio >> KVM_TRACE_MMIO_COUNT_SHIFT);
}

static void put_cr(struct text *t, const struct kvm_trace_vmexit *v)
{
	static const char *const moves[] = {
		[KVM_TRACE_CR_MOV_TO] = "mov to cr",
		[KVM_TRACE_CR_MOV_FROM] = "mov from cr",
		[KVM_TRACE_CR_CLTS] = "clts",
		[KVM_TRACE_CR_LMSW] = "lmsw",
	};
	unsigned int kind = v->cr >> KVM_TRACE_CR_KIND_SHIFT & 3;

	if (v->have & KVM_TRACE_W_CR) {
		put_word(t, " ", moves[kind]);
		if (kind == KVM_TRACE_CR_MOV_TO || kind == KVM_TRACE_CR_MOV_FROM)
			put_number(t, v->cr & KVM_TRACE_CR_NUMBER);
	} else if (v->have & KVM_TRACE_W_CR_VALUE) {
		put_text(t, " cr");
	}
	if (v->have & KVM_TRACE_W_CR_VALUE)
		put_hex(t, " value ", v->cr_value);
}

static void put_exception(struct text *t, __u64 exception)
{
	unsigned int vector = exception & KVM_TRACE_EXCEPTION_VECTOR;
	const char *name = kvm_trace_exception_name(vector);

	if (name)
		put_word(t, " exception #", name);
	else
		put_hex(t, " exception ", vector);
	if (exception & KVM_TRACE_EXCEPTION_ERR)
		put_hex(t, " error ", exception >> KVM_TRACE_EXCEPTION_CODE_SHIFT);
}

static void put_times(struct text *t, unsigned int times)
{
	if (times != 1)
		put(t, " (%u times)", times);
}

static void put_injected(struct text *t, const struct kvm_trace_vmexit *v)
{
	unsigned int irqs = v->injected >> KVM_TRACE_INJECTED_IRQS_SHIFT & KVM_TRACE_INJECTED_IRQS;
	unsigned int nmis = v->injected >> KVM_TRACE_INJECTED_NMIS_SHIFT & KVM_TRACE_INJECTED_NMIS;

	if (v->have & (KVM_TRACE_W_INJECTED | KVM_TRACE_W_INJECTED_EXCEPTION))
		put_text(t, " injected");
	if (v->injected & KVM_TRACE_INJECTED_VEC)
		put_hex(t, " vector ", v->injected & KVM_TRACE_INJECTED_VECTOR);
	else if (irqs)
		put_text(t, " irq");
	if (irqs || v->injected & KVM_TRACE_INJECTED_VEC)
		put_times(t, irqs);
	if (nmis) {
		put_text(t, " nmi");
		put_times(t, nmis);
	}
	if (v->have & KVM_TRACE_W_INJECTED_EXCEPTION)
		put_exception(t, v->injected_exception);
}

static void put_user_reason(struct text *t, const struct kvm_trace_vmexit *v)
{
	unsigned int reason = v->user_reason & KVM_TRACE_USER_REASON_EXIT;
	int error = v->user_reason >> KVM_TRACE_USER_REASON_ERRNO_SHIFT;
	const char *name;

	if (!(v->have & KVM_TRACE_W_USER_REASON))
		return;
	name = kvm_trace_user_exit_name(reason);
	if (name)
		put_word(t, " user_reason ", name);
	else
		put_count(t, " user_reason ", reason);
	if (!error)
		return;
	name = strerrorname_np(error);
	if (name)
		put_word(t, " errno ", name);
	else
		put(t, " errno %d", error);
}

static void put_abi(struct text *t, unsigned int abi)
{
	const char *name = kvm_trace_abi_name(abi);

	if (name)
		put_word(t, " ", name);
	else if (abi)
		put_count(t, " abi ", abi);
	else
		put_text(t, " ?");
}

static void put_call(struct text *t, const struct kvm_trace_vmexit *v)
{
	unsigned int abi = v->hypercall >> KVM_TRACE_HYPERCALL_ABI_SHIFT & 0xff;
	__u32 nr = v->hypercall;
	const char *name;

	if (!(v->have & KVM_TRACE_W_HYPERCALL))
		return;
	put_text(t, " hypercall");
	put_abi(t, abi);
	name = kvm_trace_call_name(abi, nr);
	if (name)
		put_word(t, " ", name);
	else
		put_hex(t, " ", nr);
}

/* What the exit was about, then what KVM did of it, then how it came to the entry. */
static void put_detail(struct text *t, const struct kvm_trace_vmexit *v)
{
	put_cpuid(t, v);
	put_msr(t, v);
	put_cr(t, v);
	put_call(t, v);
	if (v->have & KVM_TRACE_W_EXCEPTION)
		put_exception(t, v->exception);
	if (v->have & KVM_TRACE_W_HOST_VECTOR)
		put_hex(t, " host vector ", v->host_vector);
	put_io(t, v);
	put_mmio(t, v);
	put_user_reason(t, v);
	put_injected(t, v);
}

size_t kvm_trace_vmexit_text(const struct kvm_trace_vmexit *v, __u32 pid, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };

	put_who(&t, v->vm, pid, v->vcpu, v->lacks);
	put_reason(&t, v);
	if (v->have & KVM_TRACE_W_RIP)
		put_hex(&t, " rip ", v->rip);
	if (!(v->lacks & KVM_TRACE_LACKS_HOST_NS))
		put_host(&t, v);
	if (v->have & (KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_GUEST_NS_64)) {
		put_text(&t, " guest ");
		put_time(&t, v->guest_ns);
	}
	put_all_flags(&t, v);
	if (v->have & KVM_TRACE_W_GPA)
		put_hex(&t, " gpa ", v->gpa);
	if (v->flags & KVM_TRACE_F_WRITE && !tells_write(v))
		put_text(&t, " write");
	if (v->have & KVM_TRACE_W_INFO1)
		put_hex(&t, " info1 ", v->info1);
	if (v->have & KVM_TRACE_W_INFO2)
		put_hex(&t, " info2 ", v->info2);
	if (v->have & KVM_TRACE_W_INTR_INFO)
		put_hex(&t, " intr_info ", v->intr_info);
	if (v->have & KVM_TRACE_W_ERROR_CODE)
		put_hex(&t, " error_code ", v->error_code);
	if (v->have & KVM_TRACE_W_ENTRY_NS) {
		put_text(&t, " entry ");
		put_clock(&t, v->entry_ns);
	}
	if (v->have & KVM_TRACE_W_UNTRACED)
		put(&t, " untraced %d", v->untraced);
	put_detail(&t, v);
	put_end(&t, v->unknown, v->truncated);
	return t.len;
}

/* A call, and what its numbers mean. */
struct known_call {
	const struct abi *table;
	const struct call *call;	/* NULL: in no table */
	const struct arg_name *regs;	/* a0 to a5, NULL: not known */
	const __u64 *sub;		/* the sub-operation, NULL if there is none */
	unsigned int sub_arg;
};

static struct arg_name name_of_arg(const struct known_call *k, unsigned int i)
{
	const struct arg_field *f = k->table->fields;
	size_t left = k->call ? k->table->nr_fields : 0;

	if (i < KVM_TRACE_HC_REGS)
		return k->regs ? k->regs[i] : (struct arg_name){};
	for (; left; left--, f++)
		if (f->number == k->call->number && f->arg == i &&
		    (f->sub < 0 || (k->sub && (__u32)*k->sub == (__u32)f->sub)))
			return f->name;
	return (struct arg_name){};
}

/* The caller is NULL if it is not known. */
static struct known_call know_call(unsigned int abi, __u64 nr, const __u8 *caller,
				   const __u64 *arg, __u32 have)
{
	/* Of a call of Hyper-V's that is not fast, whatever it is. */
	static const struct arg_name in_memory[KVM_TRACE_HC_REGS] = {
		ARG(PTR, "input_gpa"), ARG(PTR, "output_gpa"),
	};
	struct known_call k = { .table = table_of(abi) };
	unsigned int i, width = 0;

	if (caller)
		width = *caller & KVM_TRACE_CALLER_LONG_MODE ? 64 : 32;
	k.call = find_call(abi, nr, width);
	if (abi == KVM_TRACE_ABI_HYPERV) {
		if (caller && !(*caller & KVM_TRACE_CALLER_FAST))
			k.regs = in_memory;
		else if (caller && k.call)
			k.regs = k.call->arg;
	} else if (k.call && (!k.call->how || width)) {
		k.regs = k.call->arg;
	}
	for (i = 0; i < KVM_TRACE_HC_ARGS && !k.sub; i++) {
		if (name_of_arg(&k, i).kind != KVM_TRACE_ARG_SUB || !KVM_TRACE_HC_ARG(have, i))
			continue;
		k.sub = &arg[i];
		k.sub_arg = i;
	}
	return k;
}

static void put_sub(struct text *t, const struct known_call *k, __u64 value)
{
	const struct sub *s = k->table->subs;
	size_t left = k->table->nr_subs;

	for (; left; left--, s++) {
		if (s->number == k->call->number && (__u32)s->sub == (__u32)value) {
			put_text(t, s->name);
			return;
		}
	}
	put_hex_digits(t, value);
}

/* Names joined by |, and in hex the bits that have none. */
static void put_bits(struct text *t, const struct known_call *k, unsigned int i, __u64 value)
{
	const struct flag *f = k->table->flags;
	size_t left = k->table->nr_flags;
	const char *before = "";

	for (; left; left--, f++) {
		if (f->number != k->call->number || f->arg != i || (value & f->mask) != f->mask)
			continue;
		put_word(t, before, f->name);
		before = "|";
		value &= ~f->mask;
	}
	if (value)
		put_hex(t, before, value);
	else if (!*before)
		put_text(t, "0");
}

static void put_arg(struct text *t, const struct known_call *k, unsigned int i, __u64 value)
{
	struct arg_name arg = name_of_arg(k, i);

	if (arg.name)
		put(t, " %s=", arg.name);
	else
		put(t, " a%u=", i);
	switch (arg.kind) {
	case KVM_TRACE_ARG_COUNT:
	case KVM_TRACE_ARG_ID:
	case KVM_TRACE_ARG_NS:
		put_number(t, value);
		break;
	case KVM_TRACE_ARG_SUB:
		put_sub(t, k, value);
		break;
	case KVM_TRACE_ARG_FLAGS:
		put_bits(t, k, i, value);
		break;
	default:
		put_hex_digits(t, value);
	}
}

/* The call, its sub-operation in parentheses, and the other arguments. */
static void put_known_call(struct text *t, const struct known_call *k, __u64 nr, __u32 lacks,
			   const __u64 *arg, __u32 have)
{
	unsigned int i;

	if (k->call)
		put_word(t, " ", k->call->name);
	else if (lacks & KVM_TRACE_LACKS_NR)
		put_text(t, " ?");
	else
		put_hex(t, " ", nr);
	if (k->sub) {
		put_text(t, "(");
		put_sub(t, k, *k->sub);
		put_text(t, ")");
	}
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++)
		if (KVM_TRACE_HC_ARG(have, i) && !(k->sub && i == k->sub_arg))
			put_arg(t, k, i, arg[i]);
}

/* Hyper-V's: status in bits 15:0, and elements done of a rep call in 43:32. */
static void put_hyperv_result(struct text *t, const struct kvm_trace_hypercall *h)
{
	__u64 result = h->result;
	unsigned int reps = result >> 32 & KVM_TRACE_HV_REPS_COUNT;

	if (result & 0xfffff000ffff0000ull) {
		put_hex(t, " = ", result);
		return;
	}
	put_count(t, " = ", result & 0xffff);
	if (reps || h->have & KVM_TRACE_HC_W_HV_REPS)
		put_count(t, " done ", reps);
}

static void put_result(struct text *t, const struct kvm_trace_hypercall *h)
{
	if (!(h->have & (KVM_TRACE_HC_W_RESULT | KVM_TRACE_HC_W_RESULT_64)))
		return;
	if (h->abi == KVM_TRACE_ABI_HYPERV)
		put_hyperv_result(t, h);
	else if (h->have & KVM_TRACE_HC_W_RESULT_64)
		put_hex(t, " = ", (__u64)h->result);
	else
		put(t, " = %lld", h->result);
}

static void put_caller(struct text *t, const struct kvm_trace_hypercall *h)
{
	if (!(h->lacks & KVM_TRACE_LACKS_CALLER)) {
		put_count(t, " cpl", h->caller & KVM_TRACE_CALLER_CPL);
		put_text(t, h->caller & KVM_TRACE_CALLER_LONG_MODE ? " 64" : " 32");
	}
	if (h->caller & KVM_TRACE_CALLER_FAST)
		put_text(t, " fast");
	if (h->caller & KVM_TRACE_CALLER_XMM)
		put_text(t, " xmm");
	if (h->caller & KVM_TRACE_CALLER_NESTED)
		put_text(t, " nested");
	if (h->have & KVM_TRACE_HC_W_RIP)
		put_hex(t, " rip ", h->rip);
	if (h->have & KVM_TRACE_HC_W_RETURN)
		put_hex(t, " return ", h->ret);
}

/* The rest of Hyper-V's input value; reserved bits in hex. */
static void put_hyperv_input(struct text *t, const struct kvm_trace_hypercall *h)
{
	const __u32 start_mask = KVM_TRACE_HV_REPS_COUNT << KVM_TRACE_HV_REPS_START_SHIFT;
	__u32 start = (h->hv_reps & start_mask) >> KVM_TRACE_HV_REPS_START_SHIFT;
	__u32 rest = h->hv_reps & ~(KVM_TRACE_HV_REPS_COUNT | start_mask);
	__u32 var = h->hv_control >> KVM_TRACE_HV_VAR_SHIFT & KVM_TRACE_HV_VAR;

	if (h->have & KVM_TRACE_HC_W_HV_REPS) {
		put_count(t, " reps ", h->hv_reps & KVM_TRACE_HV_REPS_COUNT);
		if (start)
			put_count(t, " from ", start);
		if (rest)
			put_hex(t, "|", rest);
	}
	if (var)
		put_count(t, " var ", var);
	if (h->hv_control & KVM_TRACE_HV_NESTED)
		put_text(t, " is_nested");
	rest = h->hv_control & ~(KVM_TRACE_HV_NESTED | KVM_TRACE_HV_VAR << KVM_TRACE_HV_VAR_SHIFT);
	/* The caller says it too. */
	if (h->caller & KVM_TRACE_CALLER_FAST)
		rest &= ~KVM_TRACE_HV_FAST;
	if (rest)
		put_hex(t, " control ", rest);
}

/* How many hypercall_sub records were made, and why not more. */
static void put_sub_word(struct text *t, __u32 sub)
{
	__u32 rest = sub & ~KVM_TRACE_SUB_COUNT;
	const char *before = " ";
	size_t i;

	put_count(t, " sub ", sub & KVM_TRACE_SUB_COUNT);
	for (i = 0; i < ARRAY_SIZE(sub_flags); i++) {
		if (!(rest & sub_flags[i].value))
			continue;
		put_word(t, before, sub_flags[i].name);
		before = "|";
		rest &= ~sub_flags[i].value;
	}
	if (rest)
		put_hex(t, before, rest);
}

static void put_call_end(struct text *t, bool reserved, __u32 unknown, bool truncated)
{
	if (reserved)
		put_text(t, " (argument of unknown size)");
	put_end(t, unknown, truncated);
}

/* Half of a number is none. */
static bool has_number(__u32 present, __u32 have, __u32 lacks)
{
	return !(present & ~have & KVM_TRACE_HC_W_NR_HI) && !(lacks & KVM_TRACE_LACKS_NR);
}

size_t kvm_trace_hypercall_text(const struct kvm_trace_hypercall *h, __u32 pid,
				char *buf, size_t size)
{
	const __u8 *caller = h->lacks & KVM_TRACE_LACKS_CALLER ? NULL : &h->caller;
	struct text t = { buf, size, 0 };
	struct known_call k = { .table = &no_table };

	if (has_number(h->present, h->have, h->lacks))
		k = know_call(h->abi, h->nr, caller, h->arg, h->have);
	put_who(&t, h->vm, pid, h->vcpu, h->lacks);
	put_text(&t, " hypercall");
	put_abi(&t, h->abi);
	put_known_call(&t, &k, h->nr, h->lacks, h->arg, h->have);
	put_result(&t, h);
	if (h->have & (KVM_TRACE_HC_W_NS | KVM_TRACE_HC_W_NS_64)) {
		put_text(&t, " ");
		put_time(&t, h->ns);
	}
	put_caller(&t, h);
	put_hyperv_input(&t, h);
	if (h->have & KVM_TRACE_HC_W_SUB)
		put_sub_word(&t, h->sub);
	put_call_end(&t, h->reserved, h->unknown, h->truncated);
	return t.len;
}

size_t kvm_trace_hypercall_sub_text(const struct kvm_trace_hypercall_sub *s, __u32 pid,
				    char *buf, size_t size)
{
	static const struct arg_name gva_range[KVM_TRACE_HC_REGS] = {
		ARG(GVA, "gva"), ARG(COUNT, "pages"),
	}, vp_bank[KVM_TRACE_HC_REGS] = {
		ARG(ID, "bank"), ARG(MASK, "mask"),
	};
	static const __u8 callers[] = {
		[KVM_TRACE_SUB_KIND_CALL] = KVM_TRACE_CALLER_LONG_MODE,
		[KVM_TRACE_SUB_KIND_CALL_32] = 0,
	};
	bool call = s->kind == KVM_TRACE_SUB_KIND_CALL || s->kind == KVM_TRACE_SUB_KIND_CALL_32;
	struct known_call k = { .table = &no_table };
	struct text t = { buf, size, 0 };

	if (has_number(s->present, s->have, s->lacks))
		k = know_call(s->abi, s->nr, call ? &callers[s->kind] : NULL, s->arg, s->have);
	if (!call) {
		k.regs = NULL;
		k.sub = NULL;
	}
	if (s->kind == KVM_TRACE_SUB_KIND_GVA_RANGE)
		k.regs = gva_range;
	else if (s->kind == KVM_TRACE_SUB_KIND_VP_BANK)
		k.regs = vp_bank;
	put_who(&t, s->vm, pid, s->vcpu, s->lacks);
	put_text(&t, " hypercall_sub");
	if (s->lacks & KVM_TRACE_LACKS_INDEX)
		put_text(&t, " ?");
	else
		put_count(&t, " ", s->index);
	put_abi(&t, s->abi);
	put_known_call(&t, &k, s->nr, s->lacks, s->arg, s->have);
	if (s->kind && !call && !k.regs)
		put_count(&t, " kind ", s->kind);
	if (call)
		put_text(&t, s->kind == KVM_TRACE_SUB_KIND_CALL ? " 64" : " 32");
	put_call_end(&t, s->reserved, s->unknown, s->truncated);
	return t.len;
}

static void put_ratio(struct text *t, __u64 ratio, unsigned int isa)
{
	unsigned int shift = isa == KVM_TRACE_ISA_VMX ? 48 : 32;
	__u64 fraction = ratio & ((1ull << shift) - 1);
	unsigned int digit;

	if (isa != KVM_TRACE_ISA_VMX && isa != KVM_TRACE_ISA_SVM) {
		put_hex(t, " tsc_ratio ", ratio);
		return;
	}
	put(t, " tsc_ratio %llu.", ratio >> shift);
	for (digit = 0; digit < 9; digit++) {
		fraction *= 10;
		put_number(t, fraction >> shift);
		fraction &= (1ull << shift) - 1;
	}
}

size_t kvm_trace_vcpu_text(const struct kvm_trace_vcpu *c, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };

	put_who(&t, c->vm, c->vmm_pid, c->vcpu, c->lacks);
	put_isa(&t, c->isa);
	if (c->vmm_tid)
		put_count(&t, " tid ", c->vmm_tid);
	if (c->vmm.len) {
		put(&t, " vmm \"");
		put_string(&t, c->vmm);
		put(&t, "\"");
	}
	if (c->name.len) {
		put_text(&t, " debugfs ");
		put_string(&t, c->name);
	}
	if (!(c->lacks & KVM_TRACE_LACKS_TSC_OFFSET))
		put(&t, " tsc_offset %lld", c->tsc_offset);
	if (!(c->lacks & KVM_TRACE_LACKS_TSC_RATIO))
		put_ratio(&t, c->tsc_ratio, c->isa);
	if (!(c->lacks & KVM_TRACE_LACKS_SEQ))
		put_count(&t, " next_seq ", c->seq);
	if (!(c->lacks & KVM_TRACE_LACKS_GENERATION))
		put_count(&t, " generation ", c->generation);
	if (c->abi_version && c->abi_version != KVM_TRACE_ABI_VERSION)
		put(&t, " (ABI version %u, decoder of %u: use the one of the module that recorded)",
		    c->abi_version, KVM_TRACE_ABI_VERSION);
	return t.len;
}

size_t kvm_trace_lost_text(const struct kvm_trace_lost *l, __u32 pid, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };
	const char *why = NAME_OF(losses, l->why);

	put_who(&t, l->vm, pid, l->vcpu, l->lacks);
	if (l->lacks & KVM_TRACE_LACKS_COUNT)
		put_text(&t, " lost ?");
	else
		put_count(&t, " lost ", l->count);
	if (!(l->lacks & KVM_TRACE_LACKS_SINCE)) {
		put_text(&t, " since ");
		put_clock(&t, l->since);
	}
	if (why)
		put_word(&t, " ", why);
	else if (l->why)
		put_count(&t, " why ", l->why);
	return t.len;
}

size_t kvm_trace_time_text(__u64 ns, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };

	put_time(&t, ns);
	return t.len;
}
