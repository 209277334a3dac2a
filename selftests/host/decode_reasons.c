// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every exit reason of the tables, and random ones that are in none: encode,
 * decode, same struct, and a text with the name or the hex. And the tables
 * themselves: complete, no code twice.
 */
#include <ctype.h>
#include <stdio.h>
#include <kvm_trace/hypercalls.h>
#include "decode_encode.h"
#include "tap.h"

#define RANDOM_REASONS	1000

struct reason {
	__u8 isa;
	__u8 class;
	__u64 code;
	const char *name;
};

#define VMX(code, name, class) { KVM_TRACE_ISA_VMX, KVM_TRACE_CLASS_##class, code, #name },
#define SVM(code, name, class) { KVM_TRACE_ISA_SVM, KVM_TRACE_CLASS_##class, code, #name },

static const struct reason reasons[] = {
	KVM_TRACE_VMX_REASONS(VMX)
	KVM_TRACE_SVM_REASONS(SVM)
	KVM_TRACE_SVM_REASONS_WIDE(SVM)
};

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

/* Words that say nothing of the reason. */
#define RANDOM_WORDS	(KVM_TRACE_W_RIP | KVM_TRACE_W_GPA | KVM_TRACE_W_GUEST_NS |	\
			 KVM_TRACE_W_INFO1 | KVM_TRACE_W_INFO2 | KVM_TRACE_W_ENTRY_NS |	\
			 KVM_TRACE_W_INTR_INFO | KVM_TRACE_W_ERROR_CODE |		\
			 KVM_TRACE_W_UNTRACED)

static const struct reason *find(unsigned int isa, __u64 code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].isa == isa && reasons[i].code == code)
			return &reasons[i];
	return NULL;
}

/* A record of this reason whose every other field is random. */
static void fill(struct kvm_trace_vmexit *v, unsigned int isa, __u64 code, unsigned int class)
{
	memset(v, 0, sizeof(*v));
	v->isa = isa;
	v->reason = code;
	v->class = class;
	v->host_ns = random_64() >> (random_64() & 63);
	v->vm = random_64();
	v->seq = random_64();
	v->vcpu = random_64();
	v->flags = random_64();
	v->have = random_64() & RANDOM_WORDS;
	if (code >> 16) {
		v->have |= KVM_TRACE_W_REASON_HI;
		v->reason_hi = code >> 16;
	}
	v->words = v->have;
	if (v->have & KVM_TRACE_W_RIP)
		v->rip = random_64();
	if (v->have & KVM_TRACE_W_GPA)
		v->gpa = random_64();
	if (v->have & KVM_TRACE_W_GUEST_NS)
		v->guest_ns = random_64() & 0xffffffff;
	if (v->have & KVM_TRACE_W_INFO1)
		v->info1 = random_64();
	if (v->have & KVM_TRACE_W_INFO2)
		v->info2 = random_64();
	if (v->have & KVM_TRACE_W_ENTRY_NS)
		v->entry_ns = random_64();
	if (v->have & KVM_TRACE_W_INTR_INFO)
		v->intr_info = random_64();
	if (v->have & KVM_TRACE_W_ERROR_CODE)
		v->error_code = random_64();
	if (v->have & KVM_TRACE_W_UNTRACED)
		v->untraced = random_64();
}

static bool same(const struct kvm_trace_vmexit *a, const struct kvm_trace_vmexit *b)
{
	return a->host_ns == b->host_ns && a->rip == b->rip && a->gpa == b->gpa &&
	       a->guest_ns == b->guest_ns && a->info1 == b->info1 && a->info2 == b->info2 &&
	       a->reason_hi == b->reason_hi && a->entry_ns == b->entry_ns && a->vm == b->vm &&
	       a->seq == b->seq && a->words == b->words && a->have == b->have &&
	       a->intr_info == b->intr_info && a->error_code == b->error_code &&
	       a->untraced == b->untraced && a->lacks == b->lacks && a->unknown == b->unknown &&
	       a->vcpu == b->vcpu && a->reason == b->reason && a->flags == b->flags &&
	       a->isa == b->isa && a->class == b->class && a->truncated == b->truncated;
}

/* Encodes, decodes, compares; the text must have " VENDOR LABEL" and a blank behind. */
static void round_trip(const struct kvm_trace_vmexit *v, const char *label)
{
	char text[KVM_TRACE_TEXT_SIZE], expected[64];
	struct kvm_trace_vmexit decoded;
	struct record r;

	encode_vmexit(&r, v);
	snprintf(expected, sizeof(expected), " %s %s ",
		 v->isa == KVM_TRACE_ISA_VMX ? "VMX" : "SVM", label);
	tap_expect(kvm_trace_vmexit_record(&decoded, r.bytes, r.size) && same(v, &decoded),
		   "%s: decoded is not what was encoded", expected);
	kvm_trace_vmexit_text(&decoded, 0, text, sizeof(text));
	tap_expect(strstr(text, expected), "no \"%s\" in \"%s\"", expected, text);
}

static void test_known(void)
{
	struct kvm_trace_vmexit v;
	size_t i;

	tap_begin("every_reason_round_trips_and_has_its_name");
	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		fill(&v, reasons[i].isa, reasons[i].code, reasons[i].class);
		round_trip(&v, reasons[i].name);
		tap_expect(kvm_trace_vmexit_code(&v) == reasons[i].code, "code of %s",
			   reasons[i].name);
	}
	tap_note("%zu reasons", i);
	tap_end();
}

static void test_unknown(void)
{
	unsigned int done = 0, wide = 0;
	struct kvm_trace_vmexit v;
	char label[32];
	unsigned int isa;
	__u64 code;

	tap_begin("random_unknown_reasons_round_trip_and_print_as_vendor_and_hex");
	while (done < RANDOM_REASONS) {
		isa = random_64() & 1 ? KVM_TRACE_ISA_VMX : KVM_TRACE_ISA_SVM;
		/* Half of SVM's are of more than 16 bits, of any width. */
		if (isa == KVM_TRACE_ISA_SVM && random_64() & 1)
			code = random_64() >> (random_64() % 48);
		else
			code = random_64() & 0xffff;
		if (find(isa, code) || code == KVM_TRACE_REASON_NONE)
			continue;
		fill(&v, isa, code, KVM_TRACE_CLASS_unknown);
		snprintf(label, sizeof(label), "0x%llx", code);
		round_trip(&v, label);
		done++;
		wide += code > 0xffff;
	}
	tap_note("%u reasons, %u of more than 16 bits", done, wide);
	tap_end();
}

static void test_modifiers(void)
{
	struct kvm_trace_vmexit v;
	char label[64];
	size_t i;
	__u64 hi;

	tap_begin("vmx_modifiers_leave_each_reason_its_name");
	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (reasons[i].isa != KVM_TRACE_ISA_VMX)
			continue;
		for (hi = 1; hi < 0x10000; hi <<= 1) {
			fill(&v, KVM_TRACE_ISA_VMX, hi << 16 | reasons[i].code, reasons[i].class);
			v.flags &= ~KVM_TRACE_F_ENTRY_FAILED;
			snprintf(label, sizeof(label), "%s|0x%08llx", reasons[i].name, hi << 16);
			round_trip(&v, label);
			/* The flag says what bit 31 says. */
			v.flags |= KVM_TRACE_F_ENTRY_FAILED;
			round_trip(&v, hi == 0x8000 ? reasons[i].name : label);
		}
	}
	tap_end();
}

static void test_times(void)
{
	static const struct {
		__u64 ns;
		const char *text;
	} times[] = {
		{ 0, "0ns" }, { 1, "1ns" }, { 999, "999ns" },
		{ 1000, "1.00us" }, { 1004, "1.00us" }, { 1005, "1.01us" }, { 2314, "2.31us" },
		{ 999994, "999.99us" }, { 999995, "1.00ms" }, { 1000000, "1.00ms" },
		{ 1004999, "1.00ms" }, { 1005000, "1.01ms" },
		{ 999994999, "999.99ms" }, { 999995000, "1.00s" }, { 1000000000, "1.00s" },
		{ 4294967295ull, "4.29s" }, { 4294967296ull, "4.29s" }, { 4295000000ull, "4.30s" },
		{ 4294999999ull, "4.29s" }, { 10000000000ull, "10.00s" },
		{ 999995000000ull, "1000.00s" }, { 86400000000000ull, "86400.00s" },
		{ ~0ull, "18446744073.71s" },
	};
	char text[KVM_TRACE_TEXT_SIZE];
	size_t i;

	tap_begin("times_are_rounded_as_documented_also_beyond_2_32_ns");
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		kvm_trace_time_text(times[i].ns, text, sizeof(text));
		tap_expect(!strcmp(text, times[i].text), "%llu ns: \"%s\", not \"%s\"",
			   times[i].ns, text, times[i].text);
	}
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
	tap_plan(8);
	test_known();
	test_unknown();
	test_modifiers();
	test_times();
	test_reason_table();
	test_class_table();
	test_hypercall_table();
	return tap_exit();
}
