// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder of kvm_trace's records: bytes to structs, structs to text. All
 * names come from the tables in include/kvm_trace/. Where the bytes come from
 * (libtraceevent, a dlfilter, a test) is not this file's concern.
 */
#define _GNU_SOURCE 1	/* strerrorname_np() */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "decode.h"
#include <kvm_trace/exception_names.h>
#include <kvm_trace/hypercalls.h>
#include <kvm_trace/msr_names.h>
#include <kvm_trace/user_exits.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define __printf(a, b)	__attribute((format(printf, a, b)))
/* Pairs of bits below the words of a hypercall; those behind the arguments are to come. */
#define HC_PAIRS	8
#define VECTOR_GP	13

/* Names */

#define NAME_BY_CODE(code, name, class) \
	[code] = #name,
#define CODE_AND_NAME(code, name, class) { code, #name },
#define CLASS_NAME(number, name) \
	[number] = #name,
#define VALUE_AND_NAME(value, name) { value, name },
#define NUMBER_AND_NAME(number, name) { number, #name },
#define HYPERCALL(number, name, count, a0, a1, a2, a3) \
	[number] = { #name, { a0, a1, a2, a3 } },

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
};

static const struct hypercall {
	const char *name;
	const char *arg[KVM_TRACE_KVM_HYPERCALL_ARGS];
} kvm_hypercalls[] = {
	KVM_TRACE_KVM_HYPERCALLS(HYPERCALL)
};

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

static const struct hypercall *find_hypercall(unsigned int abi, __u64 nr)
{
	if (abi != KVM_TRACE_ABI_KVM || nr >= ARRAY_SIZE(kvm_hypercalls) ||
	    !kvm_hypercalls[nr].name)
		return NULL;
	return &kvm_hypercalls[nr];
}

/* Bytes */

struct bytes {
	const __u8 *at;
	size_t left;
};

static __u64 little_endian(const __u8 *at, unsigned int size)
{
	__u64 value = 0;

	while (size--)
		value = value << 8 | at[size];
	return value;
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

static void set_word(struct kvm_trace_vmexit *v, unsigned int bit, __u64 value)
{
	void *field;
	size_t i;

	if (bit >= ARRAY_SIZE(fields) || !fields[bit].size) {
		v->unknown++;
		return;
	}
	v->have |= 1ull << bit;
	/* A time in both sizes is what the wide word says. */
	for (i = 0; i < ARRAY_SIZE(times); i++)
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
	__u64 mask, value;

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
		for (bit = 0; bit < 31; bit++) {
			if (!(mask & 1u << bit))
				continue;
			if (!take(&words, KVM_TRACE_W_SIZE(bit), &value)) {
				v->truncated = true;
				return;
			}
			set_word(v, first + bit, value);
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

void kvm_trace_hypercall_tail(struct kvm_trace_hypercall *h, const void *tail, size_t len)
{
	struct bytes b = { tail, len };
	unsigned int i, size;
	__u64 value;

	for (i = 0; i < HC_PAIRS; i++) {
		size = KVM_TRACE_HC_ARG(h->present, i);
		if (size == KVM_TRACE_HC_ARG_ABSENT)
			continue;
		if (size != KVM_TRACE_HC_ARG_32 && size != KVM_TRACE_HC_ARG_64) {
			h->reserved = true;
			return;
		}
		if (!take(&b, size * 4, &value))
			goto truncated;
		if (i < KVM_TRACE_HC_ARGS) {
			h->arg[i] = value;
			h->have |= size << (2 * i);
		} else {
			h->unknown++;
		}
	}
	for (i = 2 * HC_PAIRS; i < 32; i++) {
		if (!(h->present & 1u << i))
			continue;
		size = 1u << i & KVM_TRACE_HC_W_MASK_8 ? 8 : 4;
		if (!take(&b, size, &value))
			goto truncated;
		switch (1u << i) {
		case KVM_TRACE_HC_W_RESULT_64:
			h->result = value;
			break;
		case KVM_TRACE_HC_W_NR_HI:
			h->nr |= value << 32;
			break;
		case KVM_TRACE_HC_W_RESULT:
			if (!(h->have & KVM_TRACE_HC_W_RESULT_64))
				h->result = (__s32)value;
			break;
		default:
			h->unknown++;
			continue;
		}
		h->have |= 1u << i;
	}
	return;
truncated:
	h->truncated = true;
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
		put(t, "%lluns", ns);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		n = ns / units[i].hundredth;
		n += ns % units[i].hundredth >= units[i].hundredth / 2;
		if (n < 100000 || i == ARRAY_SIZE(units) - 1)
			break;
	}
	put(t, "%llu.%02llu%s", n / 100, n % 100, units[i].name);
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
	if (vm)
		put(t, "vm %u", vm);
	else
		put(t, "vm ?");
	if (pid)
		put(t, " (%u)", pid);
	if (lacks & KVM_TRACE_LACKS_VCPU)
		put(t, " vcpu ?");
	else
		put(t, " vcpu %u", vcpu);
}

static void put_isa(struct text *t, __u8 isa)
{
	switch (isa) {
	case 0:
		put(t, " ?");
		break;
	case KVM_TRACE_ISA_VMX:
		put(t, " VMX");
		break;
	case KVM_TRACE_ISA_SVM:
		put(t, " SVM");
		break;
	default:
		put(t, " isa %u", isa);
	}
}

static void put_end(struct text *t, __u32 unknown, bool truncated)
{
	if (unknown)
		put(t, " (%u unknown word%s)", unknown, unknown == 1 ? "" : "s");
	if (truncated)
		put(t, " (truncated)");
}

static void put_reason(struct text *t, const struct kvm_trace_vmexit *v)
{
	bool cut = v->words & ~v->have & KVM_TRACE_W_REASON_HI;
	__u64 code = kvm_trace_vmexit_code(v);
	__u64 modifiers = 0;
	const char *name;

	put_isa(t, v->isa);
	if (v->lacks & KVM_TRACE_LACKS_REASON) {
		put(t, " ?");
		return;
	}
	if (v->reason == KVM_TRACE_REASON_NONE && !(v->words & KVM_TRACE_W_REASON_HI)) {
		put(t, v->flags & KVM_TRACE_F_ENTRY_FAILED ? " ENTRY_FAILED" : " UNKNOWN");
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
	if (name)
		put(t, " %s", name);
	else
		put(t, " 0x%llx", code);
	if (modifiers)
		put(t, "|0x%08llx", modifiers);
}

/* From the highest bit to the lowest: what KVM did, then how it went on. */
static void put_flags(struct text *t, const struct value_name *table, size_t n, __u32 set,
		      const char **before)
{
	while (n--) {
		if (!(set & table[n].value))
			continue;
		put(t, "%s%s", *before, table[n].name);
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
	for (i = 0; i < ARRAY_SIZE(flags_hi); i++)
		unknown &= ~flags_hi[i].value;
	if (unknown) {
		put(t, "%s0x%x", before, unknown);
		before = ",";
	}
	put_flags(t, flags_hi, ARRAY_SIZE(flags_hi), v->flags_hi, &before);
	put_flags(t, flags, ARRAY_SIZE(flags), set, &before);
	if (*before == ',')
		put(t, "]");
}

static void put_part(struct text *t, const char **before, const char *name, __u64 ns)
{
	put(t, "%s%s ", *before, name);
	put_time(t, ns);
	*before = " ";
}

/* The host's time, and in brackets its parts as far as they were recorded. */
static void put_host(struct text *t, const struct kvm_trace_vmexit *v)
{
	const char *before = " (";

	put(t, " host ");
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
		put(t, ")");
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
		put(t, " cpuid");
	if (v->have & KVM_TRACE_W_CPUID_LEAF)
		put(t, " leaf 0x%x", v->cpuid_leaf);
	if (v->have & KVM_TRACE_W_CPUID_INDEX)
		put(t, " index 0x%x", v->cpuid_index);
	if (v->have & results)
		put(t, " ->");
	if (v->have & KVM_TRACE_W_CPUID_AX_BX)
		put(t, " eax 0x%llx ebx 0x%llx", v->cpuid_ax_bx & 0xffffffff,
		    v->cpuid_ax_bx >> 32);
	if (v->have & KVM_TRACE_W_CPUID_CX_DX)
		put(t, " ecx 0x%llx edx 0x%llx", v->cpuid_cx_dx & 0xffffffff,
		    v->cpuid_cx_dx >> 32);
}

static void put_msr(struct text *t, const struct kvm_trace_vmexit *v)
{
	const char *name = kvm_trace_msr_name(v->msr);

	if (!(v->have & (KVM_TRACE_W_MSR | KVM_TRACE_W_MSR_VALUE)))
		return;
	switch (v->class) {
	case KVM_TRACE_CLASS_msr_read:
		put(t, " rdmsr");
		break;
	case KVM_TRACE_CLASS_msr_write:
		put(t, " wrmsr");
		break;
	default:
		put(t, " msr");
	}
	if (v->have & KVM_TRACE_W_MSR)
		put(t, " 0x%x", v->msr);
	if (v->have & KVM_TRACE_W_MSR && name)
		put(t, " %s", name);
	if (v->have & KVM_TRACE_W_MSR_VALUE)
		put(t, " value 0x%llx", v->msr_value);
	if (kvm_trace_vmexit_msr_faulted(v))
		put(t, " faulted");
}

static void put_io(struct text *t, const struct kvm_trace_vmexit *v)
{
	if (v->have & KVM_TRACE_W_IO)
		put(t, " %s%s%s 0x%x size %u", v->io & KVM_TRACE_IO_REP ? "rep " : "",
		    v->io & KVM_TRACE_IO_IN ? "in" : "out",
		    v->io & KVM_TRACE_IO_STRING ? "s" : "",
		    v->io >> KVM_TRACE_IO_PORT_SHIFT, v->io & KVM_TRACE_IO_SIZE);
	else if (v->have & (KVM_TRACE_W_IO_VALUE | KVM_TRACE_W_IO_COUNT))
		put(t, " io");
	if (v->have & KVM_TRACE_W_IO_VALUE)
		put(t, " value 0x%x", v->io_value);
	if (v->have & KVM_TRACE_W_IO_COUNT)
		put(t, " count %u", v->io_count);
}

static void put_mmio(struct text *t, const struct kvm_trace_vmexit *v)
{
	if (!(v->have & (KVM_TRACE_W_MMIO | KVM_TRACE_W_MMIO_GPA | KVM_TRACE_W_MMIO_VALUE)))
		return;
	put(t, " mmio");
	if (v->have & KVM_TRACE_W_MMIO)
		put(t, " %s size %u", v->mmio & KVM_TRACE_MMIO_WRITE ? "write" : "read",
		    v->mmio & KVM_TRACE_MMIO_SIZE);
	if (v->have & KVM_TRACE_W_MMIO_VALUE)
		put(t, " value 0x%llx", v->mmio_value);
	if (v->have & KVM_TRACE_W_MMIO_GPA)
		put(t, " gpa 0x%llx", v->mmio_gpa);
	if (v->have & KVM_TRACE_W_MMIO && v->mmio >> KVM_TRACE_MMIO_COUNT_SHIFT != 1)
		put(t, " count %u", v->mmio >> KVM_TRACE_MMIO_COUNT_SHIFT);
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
		put(t, " %s", moves[kind]);
		if (kind == KVM_TRACE_CR_MOV_TO || kind == KVM_TRACE_CR_MOV_FROM)
			put(t, "%u", v->cr & KVM_TRACE_CR_NUMBER);
	} else if (v->have & KVM_TRACE_W_CR_VALUE) {
		put(t, " cr");
	}
	if (v->have & KVM_TRACE_W_CR_VALUE)
		put(t, " value 0x%llx", v->cr_value);
}

static void put_exception(struct text *t, __u64 exception)
{
	unsigned int vector = exception & KVM_TRACE_EXCEPTION_VECTOR;
	const char *name = kvm_trace_exception_name(vector);

	if (name)
		put(t, " exception #%s", name);
	else
		put(t, " exception 0x%x", vector);
	if (exception & KVM_TRACE_EXCEPTION_ERR)
		put(t, " error 0x%llx", exception >> KVM_TRACE_EXCEPTION_CODE_SHIFT);
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
		put(t, " injected");
	if (v->injected & KVM_TRACE_INJECTED_VEC)
		put(t, " vector 0x%x", v->injected & KVM_TRACE_INJECTED_VECTOR);
	else if (irqs)
		put(t, " irq");
	if (irqs || v->injected & KVM_TRACE_INJECTED_VEC)
		put_times(t, irqs);
	if (nmis) {
		put(t, " nmi");
		put_times(t, nmis);
	}
	if (v->have & KVM_TRACE_W_INJECTED_EXCEPTION)
		put_exception(t, v->injected_exception);
}

static void put_user_reason(struct text *t, const struct kvm_trace_vmexit *v)
{
	unsigned int reason = v->user_reason & KVM_TRACE_USER_REASON_EXIT;
	int error = v->user_reason >> KVM_TRACE_USER_REASON_ERRNO_SHIFT;
	const char *name = kvm_trace_user_exit_name(reason);

	if (!(v->have & KVM_TRACE_W_USER_REASON))
		return;
	if (name)
		put(t, " user_reason %s", name);
	else
		put(t, " user_reason %u", reason);
	if (!error)
		return;
	name = strerrorname_np(error);
	if (name)
		put(t, " errno %s", name);
	else
		put(t, " errno %d", error);
}

static void put_abi(struct text *t, unsigned int abi)
{
	switch (abi) {
	case 0:
		put(t, " ?");
		break;
	case KVM_TRACE_ABI_KVM:
		put(t, " KVM");
		break;
	case KVM_TRACE_ABI_HYPERV:
		put(t, " Hyper-V");
		break;
	case KVM_TRACE_ABI_XEN:
		put(t, " Xen");
		break;
	default:
		put(t, " abi %u", abi);
	}
}

static void put_number(struct text *t, __u64 nr, const struct hypercall *call)
{
	if (call)
		put(t, " %s", call->name);
	else
		put(t, " 0x%llx", nr);
}

static void put_call(struct text *t, const struct kvm_trace_vmexit *v)
{
	unsigned int abi = v->hypercall >> KVM_TRACE_HYPERCALL_ABI_SHIFT & 0xff;
	__u32 nr = v->hypercall;

	if (!(v->have & KVM_TRACE_W_HYPERCALL))
		return;
	put(t, " hypercall");
	put_abi(t, abi);
	put_number(t, nr, find_hypercall(abi, nr));
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
		put(t, " host vector 0x%x", v->host_vector);
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
		put(&t, " rip 0x%llx", v->rip);
	if (!(v->lacks & KVM_TRACE_LACKS_HOST_NS))
		put_host(&t, v);
	if (v->have & (KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_GUEST_NS_64)) {
		put(&t, " guest ");
		put_time(&t, v->guest_ns);
	}
	put_all_flags(&t, v);
	if (v->have & KVM_TRACE_W_GPA)
		put(&t, " gpa 0x%llx", v->gpa);
	if (v->flags & KVM_TRACE_F_WRITE && !tells_write(v))
		put(&t, " write");
	if (v->have & KVM_TRACE_W_INFO1)
		put(&t, " info1 0x%llx", v->info1);
	if (v->have & KVM_TRACE_W_INFO2)
		put(&t, " info2 0x%llx", v->info2);
	if (v->have & KVM_TRACE_W_INTR_INFO)
		put(&t, " intr_info 0x%x", v->intr_info);
	if (v->have & KVM_TRACE_W_ERROR_CODE)
		put(&t, " error_code 0x%x", v->error_code);
	if (v->have & KVM_TRACE_W_ENTRY_NS) {
		put(&t, " entry ");
		put_clock(&t, v->entry_ns);
	}
	if (v->have & KVM_TRACE_W_UNTRACED)
		put(&t, " untraced %d", v->untraced);
	put_detail(&t, v);
	put_end(&t, v->unknown, v->truncated);
	return t.len;
}

size_t kvm_trace_hypercall_text(const struct kvm_trace_hypercall *h, __u32 pid,
				char *buf, size_t size)
{
	bool cut = h->present & ~h->have & KVM_TRACE_HC_W_NR_HI;
	struct text t = { buf, size, 0 };
	const struct hypercall *call = NULL;
	unsigned int i;

	if (!cut && !(h->lacks & KVM_TRACE_LACKS_NR))
		call = find_hypercall(h->abi, h->nr);
	put_who(&t, h->vm, pid, h->vcpu, h->lacks);
	put(&t, " hypercall");
	put_abi(&t, h->abi);
	if (h->lacks & KVM_TRACE_LACKS_NR)
		put(&t, " ?");
	else
		put_number(&t, h->nr, call);
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++) {
		if (KVM_TRACE_HC_ARG(h->have, i) == KVM_TRACE_HC_ARG_ABSENT)
			continue;
		if (call && i < KVM_TRACE_KVM_HYPERCALL_ARGS && *call->arg[i])
			put(&t, " %s=0x%llx", call->arg[i], h->arg[i]);
		else
			put(&t, " a%u=0x%llx", i, h->arg[i]);
	}
	if (h->have & KVM_TRACE_HC_W_RESULT_64)
		put(&t, " = 0x%llx", (__u64)h->result);
	else if (h->have & KVM_TRACE_HC_W_RESULT)
		put(&t, " = %lld", h->result);
	if (!(h->lacks & KVM_TRACE_LACKS_CALLER))
		put(&t, " cpl%u %s%s", h->caller & KVM_TRACE_CALLER_CPL,
		    h->caller & KVM_TRACE_CALLER_LONG_MODE ? "64" : "32",
		    h->caller & KVM_TRACE_CALLER_NESTED ? " nested" : "");
	if (h->reserved)
		put(&t, " (argument of unknown size)");
	put_end(&t, h->unknown, h->truncated);
	return t.len;
}

static void put_ratio(struct text *t, __u64 ratio, unsigned int isa)
{
	unsigned int shift = isa == KVM_TRACE_ISA_VMX ? 48 : 32;
	__u64 fraction = ratio & ((1ull << shift) - 1);
	unsigned int digit;

	if (isa != KVM_TRACE_ISA_VMX && isa != KVM_TRACE_ISA_SVM) {
		put(t, " tsc_ratio 0x%llx", ratio);
		return;
	}
	put(t, " tsc_ratio %llu.", ratio >> shift);
	for (digit = 0; digit < 9; digit++) {
		fraction *= 10;
		put(t, "%llu", fraction >> shift);
		fraction &= (1ull << shift) - 1;
	}
}

size_t kvm_trace_vcpu_text(const struct kvm_trace_vcpu *c, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };

	put_who(&t, c->vm, c->vmm_pid, c->vcpu, c->lacks);
	put_isa(&t, c->isa);
	if (c->vmm_tid)
		put(&t, " tid %u", c->vmm_tid);
	if (c->vmm.len) {
		put(&t, " vmm \"");
		put_string(&t, c->vmm);
		put(&t, "\"");
	}
	if (c->name.len) {
		put(&t, " debugfs ");
		put_string(&t, c->name);
	}
	if (!(c->lacks & KVM_TRACE_LACKS_TSC_OFFSET))
		put(&t, " tsc_offset %lld", c->tsc_offset);
	if (!(c->lacks & KVM_TRACE_LACKS_TSC_RATIO))
		put_ratio(&t, c->tsc_ratio, c->isa);
	if (!(c->lacks & KVM_TRACE_LACKS_SEQ))
		put(&t, " next_seq %u", c->seq);
	if (!(c->lacks & KVM_TRACE_LACKS_GENERATION))
		put(&t, " generation %u", c->generation);
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
		put(&t, " lost ?");
	else
		put(&t, " lost %llu", l->count);
	if (!(l->lacks & KVM_TRACE_LACKS_SINCE)) {
		put(&t, " since ");
		put_clock(&t, l->since);
	}
	if (why)
		put(&t, " %s", why);
	else if (l->why)
		put(&t, " why %u", l->why);
	return t.len;
}

size_t kvm_trace_time_text(__u64 ns, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };

	put_time(&t, ns);
	return t.len;
}
