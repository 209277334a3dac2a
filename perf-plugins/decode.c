// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder of kvm_trace's records: bytes to structs, structs to text. All
 * names come from the tables in include/kvm_trace/. Where the bytes come from
 * (libtraceevent, a dlfilter, a test) is not this file's concern.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "decode.h"
#include <kvm_trace/hypercalls.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define __printf(a, b)	__attribute((format(printf, a, b)))
/* Pairs of bits below the words of a hypercall; those behind the arguments are to come. */
#define HC_PAIRS	8

/* Names */

#define NAME_BY_CODE(code, name, class) \
	[code] = #name,
#define CODE_AND_NAME(code, name, class) { code, #name },
#define CLASS_NAME(number, name) \
	[number] = #name,
#define VALUE_AND_NAME(value, name) { value, name },
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
}, losses[] = {
	KVM_TRACE_LOST_WHY(VALUE_AND_NAME)
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

static void set_word(struct kvm_trace_vmexit *v, __u32 bit, __u64 value)
{
	switch (bit) {
	case KVM_TRACE_W_RIP:
		v->rip = value;
		break;
	case KVM_TRACE_W_GPA:
		v->gpa = value;
		break;
	case KVM_TRACE_W_GUEST_NS_64:
		v->guest_ns = value;
		break;
	case KVM_TRACE_W_INFO1:
		v->info1 = value;
		break;
	case KVM_TRACE_W_INFO2:
		v->info2 = value;
		break;
	case KVM_TRACE_W_REASON_HI:
		v->reason_hi = value;
		break;
	case KVM_TRACE_W_ENTRY_NS:
		v->entry_ns = value;
		break;
	case KVM_TRACE_W_GUEST_NS:
		if (!(v->have & KVM_TRACE_W_GUEST_NS_64))
			v->guest_ns = value;
		break;
	case KVM_TRACE_W_INTR_INFO:
		v->intr_info = value;
		break;
	case KVM_TRACE_W_ERROR_CODE:
		v->error_code = value;
		break;
	case KVM_TRACE_W_UNTRACED:
		v->untraced = (__s32)value;
		break;
	default:
		v->unknown++;
		return;
	}
	v->have |= bit;
}

void kvm_trace_vmexit_tail(struct kvm_trace_vmexit *v, const void *tail, size_t len)
{
	struct bytes masks = { tail, len }, words = { tail, len };
	unsigned int bit, second = 0;
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
		if (!second)
			v->words = mask;
		for (bit = 0; bit < 31; bit++) {
			if (!(mask & 1u << bit))
				continue;
			if (!take(&words, KVM_TRACE_W_SIZE(bit), &value)) {
				v->truncated = true;
				return;
			}
			if (second)
				v->unknown++;
			else
				set_word(v, 1u << bit, value);
		}
		second = 1;
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
static void put_flags(struct text *t, __u16 set)
{
	char before = '[';
	size_t i;

	set &= ~KVM_TRACE_F_WRITE;
	if (!set)
		return;
	put(t, " ");
	for (i = ARRAY_SIZE(flags); i--;) {
		if (!(set & flags[i].value))
			continue;
		put(t, "%c%s", before, flags[i].name);
		before = ',';
	}
	put(t, "]");
}

size_t kvm_trace_vmexit_text(const struct kvm_trace_vmexit *v, __u32 pid, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };

	put_who(&t, v->vm, pid, v->vcpu, v->lacks);
	put_reason(&t, v);
	if (v->have & KVM_TRACE_W_RIP)
		put(&t, " rip 0x%llx", v->rip);
	if (!(v->lacks & KVM_TRACE_LACKS_HOST_NS)) {
		put(&t, " host ");
		put_time(&t, v->host_ns);
	}
	if (v->have & (KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_GUEST_NS_64)) {
		put(&t, " guest ");
		put_time(&t, v->guest_ns);
	}
	put_flags(&t, v->flags);
	if (v->have & KVM_TRACE_W_GPA)
		put(&t, " gpa 0x%llx", v->gpa);
	if (v->flags & KVM_TRACE_F_WRITE)
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
	put_end(&t, v->unknown, v->truncated);
	return t.len;
}

static void put_number(struct text *t, const struct kvm_trace_hypercall *h,
		       const struct hypercall *call)
{
	switch (h->abi) {
	case 0:
		put(t, " ?");
		break;
	case KVM_TRACE_ABI_KVM:
		put(t, " KVM");
		break;
	default:
		put(t, " abi %u", h->abi);
	}
	if (h->lacks & KVM_TRACE_LACKS_NR)
		put(t, " ?");
	else if (call)
		put(t, " %s", call->name);
	else
		put(t, " 0x%llx", h->nr);
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
	put_number(&t, h, call);
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
	const char *why = NULL;
	size_t i;

	put_who(&t, l->vm, pid, l->vcpu, l->lacks);
	if (l->lacks & KVM_TRACE_LACKS_COUNT)
		put(&t, " lost ?");
	else
		put(&t, " lost %llu", l->count);
	if (!(l->lacks & KVM_TRACE_LACKS_SINCE)) {
		put(&t, " since ");
		put_clock(&t, l->since);
	}
	for (i = 0; i < ARRAY_SIZE(losses); i++)
		if (losses[i].value == l->why)
			why = losses[i].name;
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
