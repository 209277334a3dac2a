// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of include/ themselves: complete, in order, nothing twice, and
 * found by the functions that look names up. Whether they agree with the
 * kernel's headers is tested in decode_headers.sh.
 */
#include <ctype.h>
#include <stdio.h>
#include <kvm_trace/exception_names.h>
#include <kvm_trace/msr_names.h>
#include <kvm_trace/user_exits.h>
#include "decode_encode.h"
#include "decode_hypercalls.h"
#include "decode_reasons.h"
#include "tap.h"

#define CLASS(number, name) { number, #name },

static const struct {
	unsigned int number;
	const char *name;
} classes[] = {
	KVM_TRACE_CLASSES(CLASS)
};

struct number_name {
	__u64 number;
	const char *name;
};

#define NUMBER_NAME(number, name) { number, name },
#define NUMBER_TOKEN(number, name) { number, #name },

static const struct number_name words[] = {
	KVM_TRACE_WORDS(NUMBER_NAME)
}, flags[] = {
	KVM_TRACE_FLAGS(NUMBER_NAME)
}, flags_hi[] = {
	KVM_TRACE_FLAGS_HI(NUMBER_NAME)
}, losses[] = {
	KVM_TRACE_LOST_WHY(NUMBER_NAME)
}, msrs[] = {
	KVM_TRACE_MSRS(NUMBER_TOKEN)
}, exceptions[] = {
	KVM_TRACE_EXCEPTIONS(NUMBER_TOKEN)
}, user_exits[] = {
	KVM_TRACE_USER_EXITS(NUMBER_TOKEN)
};

#define PAIR(narrow, wide) { narrow, wide, #narrow, #wide },

static const struct {
	__u64 narrow;
	__u64 wide;
	const char *narrow_name;
	const char *wide_name;
} times[] = {
	KVM_TRACE_WORDS_OF_TIME(PAIR)
};

static bool one_bit(__u64 value)
{
	return value && !(value & (value - 1));
}

static bool is_lower_name(const char *name)
{
	for (; *name; name++)
		if (!islower(*name) && !isdigit(*name) && *name != '_')
			return false;
	return true;
}

/* Each has one bit, and no two share a bit or a name; returns all bits. */
static __u64 expect_bits(const struct number_name *table, size_t n)
{
	__u64 all = 0;
	size_t i, j;

	for (i = 0; i < n; i++) {
		tap_expect(one_bit(table[i].number), "%s is 0x%llx", table[i].name,
			   table[i].number);
		tap_expect(!(all & table[i].number), "bit of %s is another's too", table[i].name);
		all |= table[i].number;
		tap_expect(is_lower_name(table[i].name), "%s", table[i].name);
		for (j = 0; j < i; j++)
			tap_expect(strcmp(table[i].name, table[j].name), "two are %s",
				   table[i].name);
	}
	return all;
}

static unsigned int size_of(__u64 word)
{
	return KVM_TRACE_W_SIZE((unsigned int)__builtin_ctzll(word));
}

static void test_words(void)
{
	const __u64 masks = KVM_TRACE_W_NEXT_MASK | 1ull << 63;
	__u64 all;
	size_t i;

	tap_begin("each_word_has_a_bit_and_a_name_of_its_own_and_the_size_of_its_bit");
	all = expect_bits(words, ARRAY_SIZE(words));
	tap_expect(!(all & (KVM_TRACE_W_REASON_HI | KVM_TRACE_W_UNTRACED)),
		   "a word that is no choice is one");
	all |= KVM_TRACE_W_REASON_HI | KVM_TRACE_W_UNTRACED;
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		tap_expect(one_bit(times[i].wide) && !(all & times[i].wide), "bit of %s",
			   times[i].wide_name);
		all |= times[i].wide;
	}
	tap_expect(!(all & masks), "a word has the bit of a mask");
	for (i = 0; i < 64; i++)
		tap_expect((masks >> i & 1) + (KVM_TRACE_W_MASK_8 >> i & 1) +
			   (KVM_TRACE_W_MASK_4 >> i & 1) == 1 &&
			   !(KVM_TRACE_W_MASK_8 >> i & 1) == (KVM_TRACE_W_SIZE(i) == 4),
			   "bit %zu", i);
	tap_note("%u words", __builtin_popcountll(all));
	tap_end();

	tap_begin("each_length_of_time_has_a_word_of_4_bytes_and_one_of_8");
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		tap_expect(size_of(times[i].narrow) == 4 && size_of(times[i].wide) == 8,
			   "sizes of %s", times[i].narrow_name);
		/* Read first, so that its value stays. */
		tap_expect(times[i].wide < times[i].narrow, "%s is behind %s",
			   times[i].wide_name, times[i].narrow_name);
		tap_expect(!strncmp(times[i].wide_name, times[i].narrow_name,
				    strlen(times[i].narrow_name)) &&
			   !strcmp(times[i].wide_name + strlen(times[i].narrow_name), "_64"),
			   "%s with %s", times[i].narrow_name, times[i].wide_name);
	}
	tap_end();

	tap_begin("words_that_are_recorded_by_default_are_a_choice");
	for (all = 0, i = 0; i < ARRAY_SIZE(words); i++)
		all |= words[i].number;
	tap_expect(!(KVM_TRACE_WORDS_DEFAULT & ~all), "0x%llx", KVM_TRACE_WORDS_DEFAULT & ~all);
	tap_expect(!(KVM_TRACE_WORDS_LEAN & ~KVM_TRACE_WORDS_DEFAULT), "lean is more");
	tap_end();
}

static void test_flags(void)
{
	size_t i, j;

	tap_begin("each_flag_has_a_bit_and_a_name_of_its_own");
	tap_expect(!(expect_bits(flags, ARRAY_SIZE(flags)) >> 16), "flags are 16 bits");
	tap_expect(!(expect_bits(flags_hi, ARRAY_SIZE(flags_hi)) >> 32), "FLAGS_HI is 32 bits");
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		for (j = 0; j < ARRAY_SIZE(flags_hi); j++)
			tap_expect(strcmp(flags[i].name, flags_hi[j].name), "two are %s",
				   flags[i].name);
	tap_end();
}

/* Rising numbers, and no two of the same name. */
static void expect_rising(const struct number_name *table, size_t n)
{
	size_t i, j;

	for (i = 0; i < n; i++) {
		tap_expect(!i || table[i - 1].number < table[i].number, "%s is out of order",
			   table[i].name);
		for (j = 0; j < i; j++)
			tap_expect(strcmp(table[i].name, table[j].name), "two are %s",
				   table[i].name);
	}
	tap_note("%zu names", n);
}

/* What the function says of a number is what the table does, also where that is nothing. */
static void expect_name(const struct number_name *table, size_t n, __u64 number,
			const char *found)
{
	while (n && table[n - 1].number != number)
		n--;
	if (n)
		tap_expect(found && !strcmp(found, table[n - 1].name), "%s is not found",
			   table[n - 1].name);
	else
		tap_expect(!found, "0x%llx is found: %s", number, found);
}

static void test_names(void)
{
	unsigned int n;
	size_t i;

	tap_begin("msrs_rise_and_have_a_name_each_that_is_found");
	expect_rising(msrs, ARRAY_SIZE(msrs));
	for (i = 0; i < ARRAY_SIZE(msrs); i++)
		for (n = 0; n < 3; n++)
			expect_name(msrs, ARRAY_SIZE(msrs), (__u32)(msrs[i].number - 1 + n),
				    kvm_trace_msr_name(msrs[i].number - 1 + n));
	tap_end();

	tap_begin("exceptions_rise_and_have_a_name_each_that_is_found");
	expect_rising(exceptions, ARRAY_SIZE(exceptions));
	for (n = 0; n < 0x200; n++)
		expect_name(exceptions, ARRAY_SIZE(exceptions), n, kvm_trace_exception_name(n));
	tap_end();

	tap_begin("reasons_to_return_to_user_space_rise_and_have_a_name_each_that_is_found");
	expect_rising(user_exits, ARRAY_SIZE(user_exits));
	for (n = 0; n <= 0x10000; n++)
		expect_name(user_exits, ARRAY_SIZE(user_exits), n, kvm_trace_user_exit_name(n));
	tap_end();

	tap_begin("reasons_of_a_loss_rise_and_have_a_name_each");
	expect_rising(losses, ARRAY_SIZE(losses));
	tap_end();
}

static bool is_upper_name(const char *name)
{
	for (; *name; name++)
		if (!isupper(*name) && !isdigit(*name) && *name != '_')
			return false;
	return true;
}

static void test_reason_table(void)
{
	const char *name;
	size_t i, j;

	tap_begin("each_reason_has_one_code_one_name_and_a_class");
	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		for (j = 0; j < i; j++)
			tap_expect(reasons[i].isa != reasons[j].isa ||
				   (reasons[i].code != reasons[j].code &&
				    strcmp(reasons[i].name, reasons[j].name)),
				   "%s and %s", reasons[i].name, reasons[j].name);
		name = kvm_trace_reason_name(reasons[i].isa, reasons[i].code);
		tap_expect(name && !strcmp(name, reasons[i].name), "%s is not found",
			   reasons[i].name);
		tap_expect(is_upper_name(reasons[i].name), "%s", reasons[i].name);
		tap_expect(reasons[i].class != KVM_TRACE_CLASS_unknown, "%s is of no class",
			   reasons[i].name);
	}
	tap_end();
}

static void test_class_table(void)
{
	const char *name;
	size_t i, j;

	tap_begin("classes_are_numbered_without_a_gap_and_have_names");
	tap_expect(ARRAY_SIZE(classes) == KVM_TRACE_CLASS_COUNT, "%zu of %d classes",
		   ARRAY_SIZE(classes), KVM_TRACE_CLASS_COUNT);
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		tap_expect(classes[i].number == i, "%s has number %u", classes[i].name,
			   classes[i].number);
		for (j = 0; j < i; j++)
			tap_expect(strcmp(classes[i].name, classes[j].name), "two are %s",
				   classes[i].name);
		name = kvm_trace_class_name(i);
		tap_expect(name && !strcmp(name, classes[i].name), "%s is not found",
			   classes[i].name);
	}
	tap_expect(!kvm_trace_class_name(KVM_TRACE_CLASS_COUNT) && !kvm_trace_class_name(255),
		   "a class beyond the last has a name");
	tap_end();

	tap_begin("each_class_has_a_reason");
	for (i = KVM_TRACE_CLASS_unknown + 1; i < KVM_TRACE_CLASS_COUNT; i++) {
		for (j = 0; j < ARRAY_SIZE(reasons) && reasons[j].class != i; j++)
			;
		tap_expect(j < ARRAY_SIZE(reasons), "none is of class %s",
			   kvm_trace_class_name(i));
	}
	tap_end();
}

static const struct {
	__u8 abi;
	const char *name;
	unsigned int args;
} abis[] = {
	{ KVM_TRACE_ABI_KVM, "KVM", KVM_TRACE_KVM_ARGS },
	{ KVM_TRACE_ABI_HYPERV, "Hyper-V", KVM_TRACE_HYPERV_ARGS },
	{ KVM_TRACE_ABI_XEN, "Xen", KVM_TRACE_XEN_ARGS },
};

/* Calls of an ABI and number: two if it has other arguments for 32-bit callers. */
static size_t calls_of(__u8 abi, __u32 number, const struct tabled_call **calls)
{
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(tabled_calls); i++) {
		if (tabled_calls[i].abi != abi || tabled_calls[i].number != number)
			continue;
		if (n < 2)
			calls[n] = &tabled_calls[i];
		n++;
	}
	return n;
}

/* Whether some row of the call has an argument or a field a of this kind. */
static bool has_arg(__u8 abi, __u32 number, unsigned int a, enum kvm_trace_arg_kind kind)
{
	const struct tabled_call *calls[2];
	size_t i, n = calls_of(abi, number, calls);

	for (i = 0; i < n && i < 2; i++)
		if (a < KVM_TRACE_HC_REGS && calls[i]->arg[a].kind == kind)
			return true;
	for (i = 0; i < ARRAY_SIZE(tabled_fields); i++)
		if (tabled_fields[i].abi == abi && tabled_fields[i].number == number &&
		    tabled_fields[i].arg == a && tabled_fields[i].kind == kind)
			return true;
	return false;
}

static bool has_flags(__u8 abi, __u32 number, unsigned int a)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tabled_flags); i++)
		if (tabled_flags[i].abi == abi && tabled_flags[i].number == number &&
		    tabled_flags[i].arg == a)
			return true;
	return false;
}

static bool has_subs(__u8 abi, __u32 number)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tabled_subs); i++)
		if (tabled_subs[i].abi == abi && tabled_subs[i].number == number)
			return true;
	return false;
}

/* Arguments are named from a0 on, each otherwise, and none behind the last. */
static void expect_args(const struct tabled_call *c, unsigned int max)
{
	unsigned int i, j, n = 0;

	while (n < KVM_TRACE_HC_REGS && c->arg[n].kind != KVM_TRACE_ARG_NONE)
		n++;
	tap_expect(n <= max, "%s takes %u arguments", c->name, n);
	for (i = 0; i < KVM_TRACE_HC_REGS; i++) {
		tap_expect(!c->arg[i].name == (i >= n), "%s argument %u", c->name, i);
		if (i >= n)
			continue;
		tap_expect(*c->arg[i].name && is_lower_name(c->arg[i].name), "%s %s", c->name,
			   c->arg[i].name);
		for (j = 0; j < i; j++)
			tap_expect(strcmp(c->arg[i].name, c->arg[j].name), "%s has two %s",
				   c->name, c->arg[i].name);
	}
}

static bool is_how(const struct tabled_call *c)
{
	switch (c->abi) {
	case KVM_TRACE_ABI_HYPERV:
		return c->how <= 1;
	case KVM_TRACE_ABI_XEN:
		return c->how == 0 || c->how == 32 || c->how == 64;
	default:
		return c->how == 0;
	}
}

static void expect_calls_of(__u8 abi, unsigned int args)
{
	const struct tabled_call *calls[2], *c, *before = NULL;
	size_t i, n;

	for (c = tabled_calls; c < tabled_calls + ARRAY_SIZE(tabled_calls); before = c++) {
		if (c->abi != abi)
			continue;
		n = calls_of(abi, c->number, calls);
		tap_expect(is_how(c), "%s is of how %u", c->name, c->how);
		tap_expect(n == 1 ? c->how != 32 && c->how != 64 :
			   n == 2 && calls[0]->how + calls[1]->how == 32 + 64 &&
			   !strcmp(calls[0]->name, calls[1]->name),
			   "number %u has %zu rows", c->number, n);
		tap_expect(!before || before->abi != abi || before->number <= c->number,
			   "%s is out of order", c->name);
		for (i = 0; i < ARRAY_SIZE(tabled_calls); i++)
			tap_expect(tabled_calls[i].abi != abi ||
				   tabled_calls[i].number == c->number ||
				   strcmp(tabled_calls[i].name, c->name), "two are %s", c->name);
		expect_args(c, args);
	}
}

static void test_calls(void)
{
	const struct tabled_call *calls[2];
	const char *name;
	size_t i, n;
	__u32 number;

	tap_begin("hypercalls_rise_and_have_one_row_for_any_caller_or_one_for_each_width");
	for (i = 0; i < ARRAY_SIZE(abis); i++)
		expect_calls_of(abis[i].abi, abis[i].args);
	tap_note("%zu rows", ARRAY_SIZE(tabled_calls));
	tap_end();

	tap_begin("each_hypercall_is_found_and_no_other");
	for (i = 0; i < ARRAY_SIZE(abis); i++) {
		for (number = 0; number <= 0x10000; number++) {
			n = calls_of(abis[i].abi, number, calls);
			name = kvm_trace_call_name(abis[i].abi, number);
			tap_expect(n ? name && !strcmp(name, calls[0]->name) : !name,
				   "%s 0x%x is %s", abis[i].name, number, name ?: "not found");
		}
	}
	tap_end();

	tap_begin("the_multicall_has_a_list_and_a_count");
	n = calls_of(KVM_TRACE_ABI_XEN, KVM_TRACE_XEN_MULTICALL, calls);
	tap_expect(n == 1 && calls[0]->arg[0].kind == KVM_TRACE_ARG_PTR &&
		   calls[0]->arg[1].kind == KVM_TRACE_ARG_COUNT, "%zu rows", n);
	tap_end();
}

/* Arguments and fields of a call that are its sub-operation; fields count once. */
static unsigned int count_subs(__u8 abi, __u32 number)
{
	unsigned int a, n = 0;

	for (a = 0; a < KVM_TRACE_HC_ARGS; a++)
		n += has_arg(abi, number, a, KVM_TRACE_ARG_SUB);
	return n;
}

static void test_subs(void)
{
	const struct tabled_sub *s, *before = NULL;
	size_t i;

	tap_begin("each_sub_operation_has_a_number_and_a_name_of_its_own");
	for (s = tabled_subs; s < tabled_subs + ARRAY_SIZE(tabled_subs); before = s++) {
		tap_expect(count_subs(s->abi, s->number) == 1, "%s of call %u", s->name,
			   s->number);
		tap_expect(is_lower_name(s->name), "%s", s->name);
		tap_expect(!before || before->number < s->number ||
			   (before->number == s->number && before->sub < s->sub),
			   "%s of call %u is out of order", s->name, s->number);
		for (i = 0; tabled_subs + i < s; i++)
			tap_expect(tabled_subs[i].number != s->number ||
				   strcmp(tabled_subs[i].name, s->name), "call %u has two %s",
				   s->number, s->name);
	}
	tap_note("%zu names", ARRAY_SIZE(tabled_subs));
	tap_end();

	tap_begin("each_hypercall_with_a_sub_operation_has_one_and_their_names");
	for (i = 0; i < ARRAY_SIZE(tabled_calls); i++) {
		const struct tabled_call *c = &tabled_calls[i];
		unsigned int n = count_subs(c->abi, c->number);

		tap_expect(n <= 1 && n == has_subs(c->abi, c->number),
			   "%s has %u arguments of the kind SUB, and names in *_SUBS: %d",
			   c->name, n, has_subs(c->abi, c->number));
	}
	tap_end();
}

static void test_bits_of_args(void)
{
	const struct tabled_flag *f;
	unsigned int a;
	size_t i;

	tap_begin("bits_of_an_argument_have_names_of_their_own_and_the_argument_is_flags");
	for (f = tabled_flags; f < tabled_flags + ARRAY_SIZE(tabled_flags); f++) {
		tap_expect(has_arg(f->abi, f->number, f->arg, KVM_TRACE_ARG_FLAGS),
			   "%s: a%u of call 0x%x", f->name, f->arg, f->number);
		tap_expect(one_bit(f->mask) && is_lower_name(f->name), "%s", f->name);
		for (i = 0; tabled_flags + i < f; i++)
			tap_expect(tabled_flags[i].abi != f->abi ||
				   tabled_flags[i].number != f->number ||
				   tabled_flags[i].arg != f->arg ||
				   (!(tabled_flags[i].mask & f->mask) &&
				    strcmp(tabled_flags[i].name, f->name)),
				   "%s and %s of call 0x%x", tabled_flags[i].name, f->name,
				   f->number);
	}
	for (i = 0; i < ARRAY_SIZE(tabled_calls); i++)
		for (a = 0; a < KVM_TRACE_HC_ARGS; a++)
			tap_expect(!has_arg(tabled_calls[i].abi, tabled_calls[i].number, a,
					    KVM_TRACE_ARG_FLAGS) ||
				   has_flags(tabled_calls[i].abi, tabled_calls[i].number, a),
				   "no bit of a%u of %s has a name", a, tabled_calls[i].name);
	tap_note("%zu bits", ARRAY_SIZE(tabled_flags));
	tap_end();
}

/* The first argument is where Hyper-V's input is, the table says where Xen's is. */
static bool points(const struct tabled_field *f)
{
	if (f->abi == KVM_TRACE_ABI_HYPERV)
		return f->pointer == 0;
	return has_arg(f->abi, f->number, f->pointer, KVM_TRACE_ARG_PTR);
}

/* Known, and in a register: what is in memory cannot say what else is there. */
static bool is_sub_of(const struct tabled_field *f)
{
	unsigned int a;
	size_t i;

	for (a = 0; a < KVM_TRACE_HC_REGS; a++)
		if (has_arg(f->abi, f->number, a, KVM_TRACE_ARG_SUB))
			break;
	if (a == KVM_TRACE_HC_REGS)
		return false;
	for (i = 0; i < ARRAY_SIZE(tabled_subs); i++)
		if (tabled_subs[i].abi == f->abi && tabled_subs[i].number == f->number &&
		    tabled_subs[i].sub == (__u32)f->sub)
			return true;
	return false;
}

/* Bytes of a field for a caller of 32 (0) or 64 bits (1). */
static unsigned int width_of(const struct tabled_field *f, unsigned int wide)
{
	return f->bytes ?: wide ? 8 : 4;
}

/*
 * All fields lie in what one page can hold, each at a multiple of its size but
 * for 8 bytes in i386's layout, which are aligned to 4.
 */
static void expect_place(const struct tabled_field *f)
{
	unsigned int wide, bytes, align;

	tap_expect(f->bytes <= 8 && !(f->bytes & (f->bytes - 1)), "%s has %u bytes", f->name,
		   f->bytes);
	for (wide = 0; wide < 2; wide++) {
		bytes = width_of(f, wide);
		align = bytes > 4 && !wide && f->abi == KVM_TRACE_ABI_XEN ? 4 : bytes;
		tap_expect(!(f->offset[wide] % align), "%s is at %u", f->name, f->offset[wide]);
		tap_expect(f->offset[wide] + bytes <= 4096, "%s is at %u", f->name,
			   f->offset[wide]);
	}
	tap_expect(f->offset[0] <= f->offset[1], "%s is at %u and %u", f->name, f->offset[0],
		   f->offset[1]);
	if (f->abi == KVM_TRACE_ABI_HYPERV)
		tap_expect(f->offset[0] == f->offset[1] && f->bytes, "%s is of two widths",
			   f->name);
}

/* Two fields of one structure: other names and places, a7 only besides a6. */
static void expect_apart(const struct tabled_field *f, const struct tabled_field *g)
{
	unsigned int wide;

	tap_expect(f->arg != g->arg, "%s and %s are both a%u", f->name, g->name, f->arg);
	tap_expect(strcmp(f->name, g->name), "two are %s", f->name);
	for (wide = 0; wide < 2; wide++)
		tap_expect(f->offset[wide] >= g->offset[wide] + width_of(g, wide) ||
			   g->offset[wide] >= f->offset[wide] + width_of(f, wide),
			   "%s and %s of call 0x%x share bytes", f->name, g->name, f->number);
}

static void expect_field(const struct tabled_field *f)
{
	const struct tabled_call *calls[2];
	const struct tabled_field *g;
	bool before = f->arg == 6;
	unsigned int a;

	if (calls_of(f->abi, f->number, calls) == 0) {
		tap_expect(false, "%s is of call 0x%x", f->name, f->number);
		return;
	}
	tap_expect(points(f), "a%u of %s is no pointer", f->pointer, calls[0]->name);
	tap_expect(f->sub == -1 || is_sub_of(f), "%s is of %s %d", f->name, calls[0]->name,
		   f->sub);
	tap_expect(f->arg == 6 || f->arg == 7, "%s is a%u", f->name, f->arg);
	tap_expect(f->kind != KVM_TRACE_ARG_NONE && f->kind != KVM_TRACE_ARG_PTR, "%s of %s",
		   f->name, calls[0]->name);
	tap_expect(is_lower_name(f->name), "%s", f->name);
	for (a = 0; a < KVM_TRACE_HC_REGS && f->abi == KVM_TRACE_ABI_XEN; a++)
		tap_expect(!calls[0]->arg[a].name || strcmp(calls[0]->arg[a].name, f->name),
			   "%s has a%u and a field %s", calls[0]->name, a, f->name);
	expect_place(f);
	for (g = tabled_fields; g < f; g++) {
		if (g->abi != f->abi || g->number != f->number)
			continue;
		tap_expect((g->sub == -1) == (f->sub == -1), "%s: fields of all and of some",
			   calls[0]->name);
		if (g->sub != f->sub)
			continue;
		before = true;
		expect_apart(f, g);
	}
	tap_expect(before, "%s of %s is a7 without a6", f->name, calls[0]->name);
}

static void test_fields(void)
{
	size_t i;

	tap_begin("fields_in_guest_memory_are_of_known_calls_and_fit");
	for (i = 0; i < ARRAY_SIZE(tabled_fields); i++)
		expect_field(&tabled_fields[i]);
	tap_note("%zu fields", ARRAY_SIZE(tabled_fields));
	tap_end();
}

static void test_lists(void)
{
	const struct tabled_call *calls[2];
	const struct tabled_list *l;

	tap_begin("lists_are_of_known_calls_and_behind_the_set");
	for (l = tabled_lists; l < tabled_lists + ARRAY_SIZE(tabled_lists); l++) {
		tap_expect(calls_of(KVM_TRACE_ABI_HYPERV, l->number, calls) == 1, "call 0x%x",
			   l->number);
		tap_expect(l == tabled_lists || l[-1].number < l->number,
			   "call 0x%x is out of order", l->number);
		tap_expect((l->set || l->list) && !(l->set % 8) && !(l->list % 8),
			   "call 0x%x: set at %u, list at %u", l->number, l->set, l->list);
		tap_expect(!l->set || !l->list || l->list == l->set + 16,
			   "call 0x%x: set at %u, list at %u", l->number, l->set, l->list);
	}
	tap_end();
}

int main(void)
{
	tap_plan(19);
	test_words();
	test_flags();
	test_names();
	test_reason_table();
	test_class_table();
	test_calls();
	test_subs();
	test_bits_of_args();
	test_fields();
	test_lists();
	return tap_exit();
}
