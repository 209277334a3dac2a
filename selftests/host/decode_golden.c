// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stored bytes give stored text: one result a golden record. And the golden
 * records cover every word, flag, loss and hypercall that the ABI names.
 */
#include <kvm_trace/hypercalls.h>
#include "decode_golden.h"
#include "tap.h"

#define VALUE_AND_NAME(value, name) { value, name },
#define WIDE_AND_NAME(narrow, wide) { wide, #wide },
#define NUMBER_AND_NAME(number, name, count, a0, a1, a2, a3) { number, #name },

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

static const struct value_name all_hypercalls[] = {
	KVM_TRACE_KVM_HYPERCALLS(NUMBER_AND_NAME)
};

#define ALL_HC_WORDS	(KVM_TRACE_HC_W_RESULT_64 | KVM_TRACE_HC_W_NR_HI | KVM_TRACE_HC_W_RESULT)

/* What the golden records had; of words and flags, those that stood alone. */
static __u64 words_alone, words_together;
static __u32 flags_alone, flags_hi_alone, hc_words;
static bool losses[256], hypercalls[64];
static bool arg_sizes[KVM_TRACE_KVM_HYPERCALL_ARGS][2];

static void cover(const struct golden *g)
{
	struct kvm_trace_hypercall h;
	struct kvm_trace_vmexit v;
	struct kvm_trace_lost l;
	unsigned int i, size;

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
		hc_words |= h.have & 0xffff0000;
		if (h.abi == KVM_TRACE_ABI_KVM && h.nr < 64)
			hypercalls[h.nr] = true;
		for (i = 0; i < KVM_TRACE_KVM_HYPERCALL_ARGS; i++) {
			size = KVM_TRACE_HC_ARG(h.have, i);
			if (size)
				arg_sizes[i][size - 1] = true;
		}
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
		tap_expect(words_alone & all_words[i].value, "none of %s", all_words[i].name);
		tap_expect(words_together & all_words[i].value, "the fullest lacks %s",
			   all_words[i].name);
	}
	tap_note("%zu words", i);
	tap_end();

	tap_begin("golden_records_cover_every_flag_alone");
	for (i = 0; i < ARRAY_SIZE(all_flags); i++)
		tap_expect(flags_alone & all_flags[i].value, "none of %s", all_flags[i].name);
	for (i = 0; i < ARRAY_SIZE(all_flags_hi); i++)
		tap_expect(flags_hi_alone & all_flags_hi[i].value, "none of %s",
			   all_flags_hi[i].name);
	tap_end();

	tap_begin("golden_records_cover_every_reason_of_a_loss");
	for (i = 0; i < ARRAY_SIZE(all_losses); i++)
		tap_expect(losses[all_losses[i].value], "none of %s", all_losses[i].name);
	tap_end();

	tap_begin("golden_records_cover_every_hypercall_of_the_table");
	for (i = 0; i < ARRAY_SIZE(all_hypercalls); i++)
		tap_expect(hypercalls[all_hypercalls[i].value], "none of %s",
			   all_hypercalls[i].name);
	tap_end();

	tap_begin("golden_records_cover_every_word_and_size_of_hypercall");
	tap_expect(hc_words == ALL_HC_WORDS, "words 0x%x, not 0x%x", hc_words, ALL_HC_WORDS);
	for (i = 0; i < KVM_TRACE_KVM_HYPERCALL_ARGS; i++)
		tap_expect(arg_sizes[i][0] && arg_sizes[i][1], "a%zu not in both sizes", i);
	tap_end();
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_plan(golden_each(argv[0], NULL) + 5);
	golden_each(argv[0], test);
	coverage();
	return tap_exit();
}
