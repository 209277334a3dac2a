// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every exit reason of the tables, and random ones that are in none, each with
 * random words: encode, decode, same struct, and a text with the name or the
 * hex. The tables themselves are tested in decode_tables.c.
 */
#include <stdio.h>
#include "decode_encode.h"
#include "decode_reasons.h"
#include "tap.h"

#define RANDOM_REASONS	1000

#define OR_WORD(word, name) | (word)
#define OR_WIDE(narrow, wide) | (wide)

/* Words that say nothing of the reason. */
#define RANDOM_WORDS	(KVM_TRACE_W_UNTRACED KVM_TRACE_WORDS(OR_WORD)	\
			 KVM_TRACE_WORDS_OF_TIME(OR_WIDE))

/* Sets the field of a word that the record v has. */
#define FILL(word, field)				\
do {							\
	if (v->have & KVM_TRACE_W_##word)		\
		(field) = random_64();			\
} while (0)
/* A length of time, as wide as its words: of both, the wide one counts. */
#define FILL_TIME(word, field)				\
do {							\
	if (v->have & KVM_TRACE_W_##word)		\
		(field) = random_64() & 0xffffffff;	\
	if (v->have & KVM_TRACE_W_##word##_64)		\
		(field) = random_64();			\
} while (0)

static __u64 filled;

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
	/* One in four without a second mask. */
	if (!(random_64() & 3))
		v->have &= 0xffffffff;
	if (code >> 16) {
		v->have |= KVM_TRACE_W_REASON_HI;
		v->reason_hi = code >> 16;
	}
	v->words = v->have;
	if (v->have >> 32)
		v->words |= KVM_TRACE_W_NEXT_MASK;
	FILL(RIP, v->rip);
	FILL(GPA, v->gpa);
	FILL(INFO1, v->info1);
	FILL(INFO2, v->info2);
	FILL(ENTRY_NS, v->entry_ns);
	FILL(MSR_VALUE, v->msr_value);
	FILL(MMIO_GPA, v->mmio_gpa);
	FILL(MMIO_VALUE, v->mmio_value);
	FILL(CR_VALUE, v->cr_value);
	FILL(EXCEPTION, v->exception);
	FILL(INTR_INFO, v->intr_info);
	FILL(ERROR_CODE, v->error_code);
	FILL(UNTRACED, v->untraced);
	FILL(FLAGS_HI, v->flags_hi);
	FILL(MSR, v->msr);
	FILL(IO, v->io);
	FILL(CPUID_LEAF, v->cpuid_leaf);
	FILL(INJECTED, v->injected);
	FILL(USER_REASON, v->user_reason);
	FILL(CPUID_AX_BX, v->cpuid_ax_bx);
	FILL(CPUID_CX_DX, v->cpuid_cx_dx);
	FILL(INJECTED_EXCEPTION, v->injected_exception);
	FILL(HYPERCALL, v->hypercall);
	FILL(CPUID_INDEX, v->cpuid_index);
	FILL(IO_VALUE, v->io_value);
	FILL(IO_COUNT, v->io_count);
	FILL(MMIO, v->mmio);
	FILL(CR, v->cr);
	FILL(HOST_VECTOR, v->host_vector);
	FILL_TIME(GUEST_NS, v->guest_ns);
	FILL_TIME(USER_NS, v->user_ns);
	FILL_TIME(HALT_NS, v->halt_ns);
	FILL_TIME(POLL_NS, v->poll_ns);
	FILL_TIME(RUNNABLE_NS, v->runnable_ns);
	filled |= v->have;
}

/* Both were zeroed whole before they were filled. */
static bool same(const struct kvm_trace_vmexit *a, const struct kvm_trace_vmexit *b)
{
	return !memcmp(a, b, sizeof(*a));
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
	tap_expect((filled & RANDOM_WORDS) == RANDOM_WORDS, "words 0x%llx were not tried",
		   RANDOM_WORDS & ~filled);
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

int main(void)
{
	tap_plan(4);
	test_known();
	test_unknown();
	test_modifiers();
	test_times();
	return tap_exit();
}
