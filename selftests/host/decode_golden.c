// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stored bytes give stored text: one result a golden record. And the golden
 * records cover every word, flag, loss and hypercall of KVM's own that the ABI
 * names; of other hypercalls, each ABI and each kind of argument, while
 * decode_hypercalls.c goes through all of them.
 */
#include "decode_golden.h"
#include "decode_hypercalls.h"
#include "tap.h"

#define VALUE_AND_NAME(value, name) { value, name },
#define WIDE_AND_NAME(narrow, wide) { wide, #wide },
#define KIND(kind) { KVM_TRACE_ARG_##kind, #kind }

struct value_name {
	__u64 value;
	const char *name;
};

static const struct value_name all_words[] = {
	KVM_TRACE_WORDS(VALUE_AND_NAME)
	/* Those that go with others, or that are no choice */
	KVM_TRACE_WORDS_OF_TIME(WIDE_AND_NAME)
	{ KVM_TRACE_W_REASON_HI, "reason_hi" },
	{ KVM_TRACE_W_UNTRACED, "untraced" },
};

static const struct value_name all_flags[] = {
	KVM_TRACE_FLAGS(VALUE_AND_NAME)
};

static const struct value_name all_flags_hi[] = {
	KVM_TRACE_FLAGS_HI(VALUE_AND_NAME)
};

static const struct value_name all_losses[] = {
	KVM_TRACE_LOST_WHY(VALUE_AND_NAME)
};

static const struct value_name all_abis[] = {
	KVM_TRACE_ABIS(VALUE_AND_NAME)
};

static const struct value_name all_sub_flags[] = {
	KVM_TRACE_SUB_FLAGS(VALUE_AND_NAME)
};

static const struct value_name all_kinds[] = {
	KIND(PTR), KIND(SUB), KIND(FLAGS), KIND(COUNT), KIND(ID), KIND(NS), KIND(GPA), KIND(GVA),
	KIND(MASK), KIND(VALUE),
};

static const struct value_name all_hc_words[] = {
	KVM_TRACE_HC_WORDS(VALUE_AND_NAME)
	/* Those that go with others, or that are no choice */
	{ KVM_TRACE_HC_W_NS_64, "ns_64" },
	{ KVM_TRACE_HC_W_RESULT_64, "result_64" },
	{ KVM_TRACE_HC_W_NR_HI, "nr_hi" },
	{ KVM_TRACE_HC_W_RESULT, "result" },
	{ KVM_TRACE_HC_W_HV_CONTROL, "hv_control" },
	{ KVM_TRACE_HC_W_HV_REPS, "hv_reps" },
	{ KVM_TRACE_HC_W_SUB, "sub" },
};

/* What the golden records had; of words and flags, those that stood alone. */
static __u64 words_alone, words_together;
static __u32 flags_alone, flags_hi_alone, hc_words, sub_flags_alone, kinds;
static bool losses[256], kvm_calls[64];
static bool arg_sizes[KVM_TRACE_HC_ARGS][2];
/* By ABI, and by CALLER_LONG_MODE */
static bool callers[256][2];
static __u8 caller_bits;
static bool sub_kinds[256];

static const __u8 all_caller_bits =
	KVM_TRACE_CALLER_CPL | KVM_TRACE_CALLER_LONG_MODE | KVM_TRACE_CALLER_NESTED |
	KVM_TRACE_CALLER_FAST | KVM_TRACE_CALLER_XMM | KVM_TRACE_CALLER_ZERO;

/* The kinds of the arguments that the record has, as the tables say. */
static __u32 kinds_of(const struct kvm_trace_hypercall *h)
{
	const struct tabled_field *field = tabled_fields;
	const struct tabled_call *call = tabled_calls;
	bool by_width = h->abi != KVM_TRACE_ABI_HYPERV;
	unsigned int i, width;
	__u32 found = 0;

	width = h->caller & KVM_TRACE_CALLER_LONG_MODE ? 64 : 32;
	if (h->abi == KVM_TRACE_ABI_HYPERV && !(h->caller & KVM_TRACE_CALLER_FAST))
		call += ARRAY_SIZE(tabled_calls);
	for (; call < tabled_calls + ARRAY_SIZE(tabled_calls); call++)
		for (i = 0; i < KVM_TRACE_HC_REGS; i++)
			if (call->abi == h->abi && call->number == h->nr &&
			    (!by_width || !call->how || call->how == width) &&
			    KVM_TRACE_HC_ARG(h->have, i))
				found |= 1u << call->arg[i].kind;
	for (; field < tabled_fields + ARRAY_SIZE(tabled_fields); field++)
		if (field->abi == h->abi && field->number == h->nr && field->sub < 0 &&
		    KVM_TRACE_HC_ARG(h->have, field->arg))
			found |= 1u << field->kind;
	return found;
}

static void cover_hypercall(const struct kvm_trace_hypercall *h)
{
	__u32 flags = h->sub & ~KVM_TRACE_SUB_COUNT;
	unsigned int i, size;

	hc_words |= h->have & 0xffff0000;
	if (h->abi == KVM_TRACE_ABI_KVM && h->nr < ARRAY_SIZE(kvm_calls))
		kvm_calls[h->nr] = true;
	callers[h->abi][!!(h->caller & KVM_TRACE_CALLER_LONG_MODE)] = true;
	caller_bits |= h->caller;
	if (!(flags & (flags - 1)))
		sub_flags_alone |= flags;
	kinds |= kinds_of(h);
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++) {
		size = KVM_TRACE_HC_ARG(h->have, i);
		if (size)
			arg_sizes[i][size - 1] = true;
	}
}

static void cover(const struct golden *g)
{
	struct kvm_trace_hypercall_sub s;
	struct kvm_trace_hypercall h;
	struct kvm_trace_vmexit v;
	struct kvm_trace_lost l;

	if (!strcmp(g->event, "vmexit") && kvm_trace_vmexit_record(&v, g->bytes, g->size)) {
		if (!(v.have & (v.have - 1)))
			words_alone |= v.have;
		if (__builtin_popcountll(v.have) > __builtin_popcountll(words_together))
			words_together = v.have;
		if (!(v.flags & (v.flags - 1)))
			flags_alone |= v.flags;
		if (!(v.flags_hi & (v.flags_hi - 1)))
			flags_hi_alone |= v.flags_hi;
	} else if (!strcmp(g->event, "hypercall") &&
		   kvm_trace_hypercall_record(&h, g->bytes, g->size)) {
		cover_hypercall(&h);
	} else if (!strcmp(g->event, "hypercall_sub") &&
		   kvm_trace_hypercall_sub_record(&s, g->bytes, g->size)) {
		sub_kinds[s.kind] = true;
	} else if (!strcmp(g->event, "lost") && kvm_trace_lost_record(&l, g->bytes, g->size)) {
		losses[l.why] = true;
	}
}

static void test(const struct golden *g)
{
	char text[KVM_TRACE_TEXT_SIZE] = "";

	tap_begin("golden_record_decodes_to_its_text: %s", g->name);
	tap_expect(golden_decode(g->event, g->bytes, g->size, g->pid, text, sizeof(text)),
		   "no record of its event");
	tap_expect(!strcmp(text, g->text), "decoded \"%s\", not \"%s\"", text, g->text);
	tap_end();
	cover(g);
}

static void coverage(void)
{
	size_t i;

	tap_begin("golden_records_cover_every_word_of_vmexit_alone_and_all_at_once");
	for (i = 0; i < ARRAY_SIZE(all_words); i++) {
		tap_expect(words_alone & all_words[i].value, "no golden record of %s",
			   all_words[i].name);
		tap_expect(words_together & all_words[i].value, "the fullest lacks %s",
			   all_words[i].name);
	}
	tap_note("%zu words", i);
	tap_end();

	tap_begin("golden_records_cover_every_flag_alone");
	for (i = 0; i < ARRAY_SIZE(all_flags); i++)
		tap_expect(flags_alone & all_flags[i].value, "no golden record of %s",
			   all_flags[i].name);
	for (i = 0; i < ARRAY_SIZE(all_flags_hi); i++)
		tap_expect(flags_hi_alone & all_flags_hi[i].value, "no golden record of %s",
			   all_flags_hi[i].name);
	tap_end();

	tap_begin("golden_records_cover_every_reason_of_a_loss");
	for (i = 0; i < ARRAY_SIZE(all_losses); i++)
		tap_expect(losses[all_losses[i].value], "no golden record of %s",
			   all_losses[i].name);
	tap_end();

	tap_begin("golden_records_cover_every_hypercall_of_kvm");
	for (i = 0; i < ARRAY_SIZE(tabled_calls); i++)
		tap_expect(tabled_calls[i].abi != KVM_TRACE_ABI_KVM ||
			   kvm_calls[tabled_calls[i].number], "no golden record of %s",
			   tabled_calls[i].name);
	tap_end();

	tap_begin("golden_records_cover_every_abi_and_caller_of_hypercalls");
	for (i = 0; i < ARRAY_SIZE(all_abis); i++)
		tap_expect(callers[all_abis[i].value][0] && callers[all_abis[i].value][1],
			   "not both a 32-bit and a 64-bit caller of %s", all_abis[i].name);
	tap_expect(caller_bits == all_caller_bits, "caller 0x%x", caller_bits);
	tap_end();

	tap_begin("golden_records_cover_every_kind_and_size_of_argument");
	for (i = 0; i < ARRAY_SIZE(all_kinds); i++)
		tap_expect(kinds & 1u << all_kinds[i].value, "no golden record of %s",
			   all_kinds[i].name);
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++)
		tap_expect(arg_sizes[i][0] && arg_sizes[i][1], "a%zu not in both sizes", i);
	tap_end();

	tap_begin("golden_records_cover_every_word_of_hypercall");
	for (i = 0; i < ARRAY_SIZE(all_hc_words); i++)
		tap_expect(hc_words & all_hc_words[i].value, "no golden record of %s",
			   all_hc_words[i].name);
	for (i = 0; i < ARRAY_SIZE(all_sub_flags); i++)
		tap_expect(sub_flags_alone & all_sub_flags[i].value, "no golden record of %s",
			   all_sub_flags[i].name);
	tap_end();

	tap_begin("golden_records_cover_every_kind_of_hypercall_sub");
	for (i = KVM_TRACE_SUB_KIND_CALL; i <= KVM_TRACE_SUB_KIND_CALL_32; i++)
		tap_expect(sub_kinds[i], "none of kind %zu", i);
	tap_end();
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_plan(golden_each(argv[0], NULL) + 8);
	golden_each(argv[0], test);
	coverage();
	return tap_exit();
}
