// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every call, sub-operation, flag and field of the hypercall tables, as records
 * of both events: the text has their names and the values in the form of their
 * kinds, and nothing else. What the tables say is tested in decode_tables.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include "decode_encode.h"
#include "decode_hypercalls.h"
#include "tap.h"

#define RANDOM_RECORDS	100000
#define RANDOM_NUMBERS	1000
#define NO_ARG		KVM_TRACE_HC_ARGS
/* In none of the tables, as a sub-operation or as flags. */
#define UNKNOWN_SUB	0x7ffffff1u
#define UNKNOWN_FLAG	0x4000000000000000ull

static const char *const abi_names[] = { "?", "KVM", "Hyper-V", "Xen", "L1" };
static const unsigned int widths[] = { 32, 64 };

/* A record, and the text that it must give. */
struct made {
	struct kvm_trace_hypercall h;
	char text[KVM_TRACE_TEXT_SIZE];
	size_t len;
	unsigned int width;
};

static unsigned int compared;
static bool flags_tried[ARRAY_SIZE(tabled_flags)], fields_tried[ARRAY_SIZE(tabled_fields)];

static __attribute((format(printf, 2, 3))) void want(struct made *m, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	m->len += vsnprintf(m->text + m->len, sizeof(m->text) - m->len, format, args);
	va_end(args);
}

static void set_arg(struct made *m, unsigned int i, __u64 value)
{
	m->h.arg[i] = value;
	m->h.present |= (value >> 32 ? KVM_TRACE_HC_ARG_64 : KVM_TRACE_HC_ARG_32) << (2 * i);
}

/* The argument, and what the text says of it. Neither of SUB nor of FLAGS. */
static void add_arg(struct made *m, unsigned int i, enum kvm_trace_arg_kind kind,
		    const char *name, __u64 value)
{
	bool decimal = kind == KVM_TRACE_ARG_COUNT || kind == KVM_TRACE_ARG_ID ||
		       kind == KVM_TRACE_ARG_NS;

	set_arg(m, i, value);
	want(m, decimal ? " %s=%llu" : " %s=0x%llx", name, value);
}

static void begin(struct made *m, unsigned int abi, __u64 nr, unsigned int width,
		  const char *name)
{
	memset(m, 0, sizeof(*m));
	m->width = width;
	m->h.vm = 3;
	m->h.vcpu = 1;
	m->h.abi = abi;
	m->h.nr = nr;
	m->h.caller = width == 64 ? KVM_TRACE_CALLER_LONG_MODE : 0;
	if (abi == KVM_TRACE_ABI_HYPERV)
		m->h.caller |= KVM_TRACE_CALLER_FAST;
	if (nr >> 32)
		m->h.present |= KVM_TRACE_HC_W_NR_HI;
	want(m, "vm 3 vcpu 1 hypercall %s %s", abi_names[abi], name);
}

static void compare(struct made *m)
{
	struct kvm_trace_hypercall decoded;
	char text[KVM_TRACE_TEXT_SIZE];
	struct record r;

	want(m, " cpl0 %u%s", m->width, m->h.caller & KVM_TRACE_CALLER_FAST ? " fast" : "");
	encode_hypercall(&r, &m->h);
	tap_expect(kvm_trace_hypercall_record(&decoded, r.bytes, r.size), "no record");
	kvm_trace_hypercall_text(&decoded, 0, text, sizeof(text));
	tap_expect(!strcmp(text, m->text), "decoded \"%s\", not \"%s\"", text, m->text);
	compared++;
}

/* The same call inside a multicall: no more is said of its caller than the width. */
static void compare_sub(const struct made *m)
{
	const char *call = strstr(m->text, " hypercall ") + strlen(" hypercall");
	const char *end = strstr(call, " cpl0");
	struct kvm_trace_hypercall_sub s = {
		.vm = m->h.vm, .vcpu = m->h.vcpu, .abi = m->h.abi, .nr = m->h.nr,
		.present = m->h.present, .index = 127,
		.kind = m->width == 64 ? KVM_TRACE_SUB_KIND_CALL : KVM_TRACE_SUB_KIND_CALL_32,
	};
	struct kvm_trace_hypercall_sub decoded;
	char text[KVM_TRACE_TEXT_SIZE], expected[KVM_TRACE_TEXT_SIZE + 64];
	struct record r;

	memcpy(s.arg, m->h.arg, sizeof(s.arg));
	snprintf(expected, sizeof(expected), "vm 3 vcpu 1 hypercall_sub 127%.*s %u",
		 (int)(end - call), call, m->width);
	encode_hypercall_sub(&r, &s);
	tap_expect(kvm_trace_hypercall_sub_record(&decoded, r.bytes, r.size), "no record");
	kvm_trace_hypercall_sub_text(&decoded, 0, text, sizeof(text));
	tap_expect(!strcmp(text, expected), "decoded \"%s\", not \"%s\"", text, expected);
	compared++;
}

static bool is_of(const struct tabled_call *call, unsigned int width)
{
	return call->abi == KVM_TRACE_ABI_HYPERV || !call->how || call->how == width;
}

/* Calls test with each row of the tables and each caller that can make it. */
static void each_call(void (*test)(const struct tabled_call *call, unsigned int width))
{
	size_t i, w;

	for (i = 0; i < ARRAY_SIZE(tabled_calls); i++)
		for (w = 0; w < ARRAY_SIZE(widths); w++)
			if (is_of(&tabled_calls[i], widths[w]))
				test(&tabled_calls[i], widths[w]);
}

/* The argument that is the call's sub-operation, NO_ARG if none is. */
static unsigned int sub_arg(const struct tabled_call *call)
{
	unsigned int i;

	for (i = 0; i < KVM_TRACE_HC_REGS; i++)
		if (call->arg[i].kind == KVM_TRACE_ARG_SUB)
			return i;
	for (i = 0; i < ARRAY_SIZE(tabled_fields); i++)
		if (tabled_fields[i].abi == call->abi && tabled_fields[i].number == call->number &&
		    tabled_fields[i].kind == KVM_TRACE_ARG_SUB)
			return tabled_fields[i].arg;
	return NO_ARG;
}

static __u64 random_value(void)
{
	return random_64() >> (random_64() & 63);
}

static void test_arguments(const struct tabled_call *call, unsigned int width)
{
	unsigned int i, sub = sub_arg(call);
	struct made m;

	begin(&m, call->abi, call->number, width, call->name);
	if (sub != NO_ARG) {
		set_arg(&m, sub, UNKNOWN_SUB);
		want(&m, "(0x%x)", UNKNOWN_SUB);
	}
	for (i = 0; i < KVM_TRACE_HC_REGS; i++) {
		if (i == sub)
			continue;
		if (!call->arg[i].name)
			add_arg(&m, i, KVM_TRACE_ARG_VALUE, (const char[]){ 'a', '0' + i, 0 },
				random_value());
		else if (call->arg[i].kind == KVM_TRACE_ARG_FLAGS)
			add_arg(&m, i, KVM_TRACE_ARG_VALUE, call->arg[i].name, UNKNOWN_FLAG);
		else
			add_arg(&m, i, call->arg[i].kind, call->arg[i].name, random_value());
	}
	compare(&m);
	if (call->abi == KVM_TRACE_ABI_XEN)
		compare_sub(&m);
}

/* Of a call that is not fast, the registers say where input and output are. */
static void test_in_memory(const struct tabled_call *call, unsigned int width)
{
	struct made m;

	if (call->abi != KVM_TRACE_ABI_HYPERV)
		return;
	begin(&m, call->abi, call->number, width, call->name);
	m.h.caller &= ~KVM_TRACE_CALLER_FAST;
	add_arg(&m, 0, KVM_TRACE_ARG_GPA, "input_gpa", random_value());
	add_arg(&m, 1, KVM_TRACE_ARG_GPA, "output_gpa", random_value());
	compare(&m);
}

static const char *sub_name(const struct tabled_call *call, __u32 sub)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tabled_subs); i++)
		if (tabled_subs[i].abi == call->abi && tabled_subs[i].number == call->number &&
		    tabled_subs[i].sub == sub)
			return tabled_subs[i].name;
	return NULL;
}

/* The call with this sub-operation, of which -1 is none; false if it cannot have one. */
static bool begin_sub(struct made *m, const struct tabled_call *call, unsigned int width,
		      __s64 sub)
{
	unsigned int arg = sub_arg(call);

	begin(m, call->abi, call->number, width, call->name);
	if (sub < 0)
		return true;
	if (!tap_expect(arg != NO_ARG, "%s has no argument for its sub-operations", call->name))
		return false;
	set_arg(m, arg, sub);
	if (sub_name(call, sub))
		want(m, "(%s)", sub_name(call, sub));
	else
		want(m, "(0x%llx)", sub);
	return true;
}

/* Names that only arguments of some callers have. */
static void test_caller_unknown(const struct tabled_call *call, unsigned int width)
{
	bool named = call->abi != KVM_TRACE_ABI_HYPERV && !call->how;
	struct kvm_trace_hypercall h = {
		.abi = call->abi, .nr = call->number, .lacks = KVM_TRACE_LACKS_CALLER,
		.present = KVM_TRACE_HC_ARG_32, .have = KVM_TRACE_HC_ARG_32, .arg = { 0xab },
	};
	char text[KVM_TRACE_TEXT_SIZE], expected[KVM_TRACE_TEXT_SIZE];

	if (named && call->arg[0].name)
		return;
	snprintf(expected, sizeof(expected), "vm ? vcpu 0 hypercall %s %s a0=0xab",
		 abi_names[call->abi], call->name);
	kvm_trace_hypercall_text(&h, 0, text, sizeof(text));
	tap_expect(!strcmp(text, expected), "of %u bits: decoded \"%s\", not \"%s\"", width, text,
		   expected);
	compared++;
}

static void test_subs(const struct tabled_call *call, unsigned int width)
{
	struct made m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tabled_subs); i++) {
		if (tabled_subs[i].abi != call->abi || tabled_subs[i].number != call->number ||
		    !begin_sub(&m, call, width, tabled_subs[i].sub))
			continue;
		compare(&m);
		if (call->abi == KVM_TRACE_ABI_XEN)
			compare_sub(&m);
	}
}

/* Each flag alone, then all with a bit that has no name, then none. */
static void expect_flags(const struct tabled_call *call, unsigned int width, __s64 sub,
			 unsigned int arg, const char *name)
{
	char all[KVM_TRACE_TEXT_SIZE] = "";
	const struct tabled_flag *flag;
	__u64 mask = UNKNOWN_FLAG;
	struct made m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tabled_flags); i++) {
		flag = &tabled_flags[i];
		if (flag->abi != call->abi || flag->number != call->number || flag->arg != arg ||
		    !begin_sub(&m, call, width, sub))
			continue;
		set_arg(&m, arg, flag->mask);
		want(&m, " %s=%s", name, flag->name);
		compare(&m);
		mask |= flag->mask;
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s|", flag->name);
		flags_tried[i] = true;
	}
	if (!begin_sub(&m, call, width, sub))
		return;
	set_arg(&m, arg, mask);
	want(&m, " %s=%s0x%llx", name, all, UNKNOWN_FLAG);
	compare(&m);
	begin_sub(&m, call, width, sub);
	set_arg(&m, arg, 0);
	want(&m, " %s=0", name);
	compare(&m);
}

static void test_flags(const struct tabled_call *call, unsigned int width)
{
	const struct tabled_field *field;
	size_t i;

	for (i = 0; i < KVM_TRACE_HC_REGS; i++)
		if (call->arg[i].kind == KVM_TRACE_ARG_FLAGS)
			expect_flags(call, width, -1, i, call->arg[i].name);
	for (i = 0; i < ARRAY_SIZE(tabled_fields); i++) {
		field = &tabled_fields[i];
		if (field->abi == call->abi && field->number == call->number &&
		    field->kind == KVM_TRACE_ARG_FLAGS)
			expect_flags(call, width, field->sub, field->arg, field->name);
	}
}

static void test_fields(const struct tabled_call *call, unsigned int width)
{
	const struct tabled_field *field;
	struct made m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tabled_fields); i++) {
		field = &tabled_fields[i];
		if (field->abi != call->abi || field->number != call->number ||
		    field->kind == KVM_TRACE_ARG_SUB || !begin_sub(&m, call, width, field->sub))
			continue;
		if (field->kind == KVM_TRACE_ARG_FLAGS)
			add_arg(&m, field->arg, KVM_TRACE_ARG_VALUE, field->name, UNKNOWN_FLAG);
		else
			add_arg(&m, field->arg, field->kind, field->name, random_value());
		compare(&m);
		fields_tried[i] = true;
		if (field->sub < 0)
			continue;
		/* The same argument of another sub-operation is something else. */
		begin_sub(&m, call, width, UNKNOWN_SUB);
		add_arg(&m, field->arg, KVM_TRACE_ARG_VALUE,
			(const char[]){ 'a', '0' + field->arg, 0 }, random_value());
		compare(&m);
	}
}

static bool is_tabled(unsigned int abi, __u64 nr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tabled_calls); i++)
		if (tabled_calls[i].abi == abi && tabled_calls[i].number == nr)
			return true;
	return false;
}

static void test_unknown(void)
{
	unsigned int i, abi, done = 0;
	char number[32];
	struct made m;
	__u64 nr;

	while (done < RANDOM_NUMBERS) {
		abi = KVM_TRACE_ABI_KVM + random_64() % 4;
		nr = random_value();
		/* One in two just beyond a number of 32 bits that may be known. */
		if (random_64() & 1)
			nr = (nr & 0x3f) | (random_64() & 1) << 32;
		if (is_tabled(abi, nr))
			continue;
		snprintf(number, sizeof(number), "0x%llx", nr);
		begin(&m, abi, nr, random_64() & 1 ? 64 : 32, number);
		for (i = 0; i < KVM_TRACE_HC_ARGS; i++)
			add_arg(&m, i, KVM_TRACE_ARG_VALUE, (const char[]){ 'a', '0' + i, 0 },
				random_value());
		compare(&m);
		done++;
	}
}

/* The word HYPERCALL of a vmexit record has the name too. */
static void test_names(void)
{
	struct kvm_trace_vmexit v = { .have = KVM_TRACE_W_HYPERCALL };
	char text[KVM_TRACE_TEXT_SIZE], expected[256];
	const struct tabled_call *call;
	const char *name;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tabled_calls); i++) {
		call = &tabled_calls[i];
		name = kvm_trace_call_name(call->abi, call->number);
		tap_expect(name && !strcmp(name, call->name), "%s is not found", call->name);
		tap_expect(!kvm_trace_call_name(call->abi, call->number | 1ull << 32),
			   "%s with an upper half is found", call->name);
		v.hypercall = (__u64)call->abi << KVM_TRACE_HYPERCALL_ABI_SHIFT | call->number;
		kvm_trace_vmexit_text(&v, 0, text, sizeof(text));
		snprintf(expected, sizeof(expected), " hypercall %s %s", abi_names[call->abi],
			 call->name);
		tap_expect(strlen(text) > strlen(expected) &&
			   !strcmp(text + strlen(text) - strlen(expected), expected),
			   "no \"%s\" in \"%s\"", expected, text);
		compared++;
	}
}

/* Words as they can be: none in both sizes. */
static __u32 random_present(void)
{
	__u32 present = random_64() & 0xffff0000;
	unsigned int i;

	for (i = 0; i < KVM_TRACE_HC_ARGS; i++)
		present |= (__u32)(random_64() % 3) << (2 * i);
	if (present & KVM_TRACE_HC_W_RESULT_64)
		present &= ~KVM_TRACE_HC_W_RESULT;
	if (present & KVM_TRACE_HC_W_NS_64)
		present &= ~KVM_TRACE_HC_W_NS;
	return present;
}

static void fill_args(__u64 *arg, __u32 present)
{
	unsigned int i;

	for (i = 0; i < KVM_TRACE_HC_ARGS; i++) {
		if (KVM_TRACE_HC_ARG(present, i) == KVM_TRACE_HC_ARG_64)
			arg[i] = random_64();
		else if (KVM_TRACE_HC_ARG(present, i) == KVM_TRACE_HC_ARG_32)
			arg[i] = random_64() & 0xffffffff;
	}
}

/* Sets the field of a word that the record h has. */
#define FILL(word, field)				\
do {							\
	if (h.present & KVM_TRACE_HC_W_##word)		\
		(field) = random_64();			\
} while (0)

static void test_round_trip(void)
{
	const __u32 words = KVM_TRACE_HC_W_RESULT_64 | KVM_TRACE_HC_W_RIP | KVM_TRACE_HC_W_RETURN |
			    KVM_TRACE_HC_W_NS_64 | KVM_TRACE_HC_W_NR_HI | KVM_TRACE_HC_W_RESULT |
			    KVM_TRACE_HC_W_NS | KVM_TRACE_HC_W_HV_CONTROL |
			    KVM_TRACE_HC_W_HV_REPS | KVM_TRACE_HC_W_SUB;
	const __u32 results = KVM_TRACE_HC_W_RESULT | KVM_TRACE_HC_W_RESULT_64;
	struct kvm_trace_hypercall h, decoded;
	struct record r;
	unsigned int i;

	for (i = 0; i < RANDOM_RECORDS; i++) {
		memset(&h, 0, sizeof(h));
		h.present = random_present() & (words | 0xffff);
		h.have = h.present;
		h.nr = random_64() & 0xffffffff;
		h.vm = random_64();
		h.seq = random_64();
		h.vcpu = random_64();
		h.abi = random_64();
		h.caller = random_64();
		if (h.caller & KVM_TRACE_CALLER_ZERO && !(h.present & results))
			h.have |= KVM_TRACE_HC_W_RESULT;
		fill_args(h.arg, h.present);
		FILL(RIP, h.rip);
		FILL(RETURN, h.ret);
		FILL(HV_CONTROL, h.hv_control);
		FILL(HV_REPS, h.hv_reps);
		FILL(SUB, h.sub);
		if (h.present & KVM_TRACE_HC_W_NR_HI)
			h.nr |= random_64() << 32;
		if (h.present & KVM_TRACE_HC_W_NS)
			h.ns = random_64() & 0xffffffff;
		FILL(NS_64, h.ns);
		if (h.present & KVM_TRACE_HC_W_RESULT)
			h.result = (__s32)random_64();
		FILL(RESULT_64, h.result);
		encode_hypercall(&r, &h);
		memset(&decoded, 0xff, sizeof(decoded));
		tap_expect(kvm_trace_hypercall_record(&decoded, r.bytes, r.size) &&
			   !memcmp(&decoded, &h, sizeof(h)),
			   "present 0x%08x: decoded is not what was encoded", h.present);
	}
}

static void test_round_trip_sub(void)
{
	const __u32 words = 0xffff | KVM_TRACE_HC_W_NR_HI;
	struct kvm_trace_hypercall_sub s, decoded;
	struct record r;
	unsigned int i;

	for (i = 0; i < RANDOM_RECORDS; i++) {
		memset(&s, 0, sizeof(s));
		s.present = random_present();
		s.have = s.present & words;
		s.unknown = __builtin_popcount(s.present & ~words);
		s.nr = random_64() & 0xffffffff;
		if (s.present & KVM_TRACE_HC_W_NR_HI)
			s.nr |= random_64() << 32;
		s.vm = random_64();
		s.seq = random_64();
		s.index = random_64();
		s.vcpu = random_64();
		s.abi = random_64();
		s.kind = random_64();
		fill_args(s.arg, s.present);
		encode_hypercall_sub(&r, &s);
		memset(&decoded, 0xff, sizeof(decoded));
		tap_expect(kvm_trace_hypercall_sub_record(&decoded, r.bytes, r.size) &&
			   !memcmp(&decoded, &s, sizeof(s)),
			   "present 0x%08x: decoded is not what was encoded", s.present);
	}
}

static void tabled(const char *promise,
		   void (*test)(const struct tabled_call *call, unsigned int width))
{
	tap_begin("%s", promise);
	compared = 0;
	each_call(test);
	tap_note("%u lines", compared);
	tap_expect(compared, "no line was compared");
	tap_end();
}

int main(void)
{
	size_t i;

	tap_plan(10);
	tabled("every_call_prints_its_name_and_each_argument_in_the_form_of_its_kind",
	       test_arguments);
	tabled("arguments_of_a_call_that_is_not_fast_are_where_its_input_and_output_are",
	       test_in_memory);
	tabled("arguments_have_no_names_that_depend_on_a_caller_that_is_not_known",
	       test_caller_unknown);
	tabled("every_sub_operation_is_in_parentheses", test_subs);
	tap_begin("every_flag_prints_its_name_and_other_bits_are_in_hex");
	each_call(test_flags);
	for (i = 0; i < ARRAY_SIZE(tabled_flags); i++)
		tap_expect(flags_tried[i], "%s of number %u is of no argument",
			   tabled_flags[i].name, tabled_flags[i].number);
	tap_note("%zu flags", i);
	tap_end();
	tap_begin("every_field_prints_its_name_of_its_sub_operation_only");
	each_call(test_fields);
	for (i = 0; i < ARRAY_SIZE(tabled_fields); i++)
		tap_expect(fields_tried[i] || tabled_fields[i].kind == KVM_TRACE_ARG_SUB,
			   "%s of number %u is of no call", tabled_fields[i].name,
			   tabled_fields[i].number);
	tap_note("%zu fields", i);
	tap_end();
	tap_begin("unknown_numbers_print_as_abi_and_hex");
	test_unknown();
	tap_end();
	tap_begin("vmexit_records_have_the_name_of_every_call");
	test_names();
	tap_end();
	tap_begin("random_hypercall_records_round_trip");
	test_round_trip();
	tap_end();
	tap_begin("random_hypercall_sub_records_round_trip");
	test_round_trip_sub();
	tap_end();
	return tap_exit();
}
