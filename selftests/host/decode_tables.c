// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of include/ themselves: complete, in order, nothing twice, and
 * found by the functions that look names up. Whether they agree with the
 * kernel's headers is tested in decode_headers.sh.
 */
#include <ctype.h>
#include <stdio.h>
#include <kvm_trace/exception_names.h>
#include <kvm_trace/hypercalls.h>
#include <kvm_trace/msr_names.h>
#include <kvm_trace/user_exits.h>
#include "decode_encode.h"
#include "decode_reasons.h"
#include "tap.h"

#define CLASS(number, name) { number, #name },

static const struct {
	unsigned int number;
	const char *name;
} classes[] = {
	KVM_TRACE_CLASSES(CLASS)
};

#define NUMBER(number, name, count, a0, a1, a2, a3) { number, count, { a0, a1, a2, a3 } },

static const struct {
	unsigned int number;
	unsigned int count;
	const char *arg[KVM_TRACE_KVM_HYPERCALL_ARGS];
} hypercalls[] = {
	KVM_TRACE_KVM_HYPERCALLS(NUMBER)
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

static void test_hypercall_table(void)
{
	unsigned int named;
	size_t i, j;

	tap_begin("each_hypercall_has_one_number_and_a_name_for_each_argument");
	for (i = 0; i < ARRAY_SIZE(hypercalls); i++) {
		for (j = 0; j < i; j++)
			tap_expect(hypercalls[i].number != hypercalls[j].number,
				   "number %u twice", hypercalls[i].number);
		named = 0;
		for (j = 0; j < KVM_TRACE_KVM_HYPERCALL_ARGS; j++)
			if (*hypercalls[i].arg[j])
				named |= 1u << j;
		tap_expect(named == (1u << hypercalls[i].count) - 1,
			   "number %u names other arguments than it counts",
			   hypercalls[i].number);
	}
	tap_end();
}

int main(void)
{
	tap_plan(12);
	test_words();
	test_flags();
	test_names();
	test_reason_table();
	test_class_table();
	test_hypercall_table();
	return tap_exit();
}
