// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the parameter "words" chooses the optional words of the next
 * record on, each costs 8 bytes at most, and a wrong value changes nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		10
#define LONGEST_NS	1000000000ull	/* a round trip of this test */
/* In records whatever is chosen. */
#define NOT_CHOSEN	(KVM_TRACE_W_REASON_HI | KVM_TRACE_W_UNTRACED)

static struct recorder recorder;
static struct vcpu vcpu;

/* Words and longest tail of the records of a loop that has all of them. */
static u32 words_of_loop(u32 *size)
{
	struct vmexit *all;
	u32 words = 0, tail;
	size_t count, i;

	trace_forget(&recorder.session);
	guest_load(&vcpu, KIND_MIX & ~KIND_BIT(KIND_entry_failure), ROUNDS);
	guest_run(&vcpu);
	trace_read(&recorder.session);
	count = recorder_vmexits(&recorder, &all);
	tap_expect(count > ROUNDS, "%zu records", count);
	*size = 0;
	for (i = 1; i < count; i++) {
		words |= all[i].r.have;
		trace_data(all[i].sample, "tail", &tail);
		if (tail > *size)
			*size = tail;
	}
	free(all);
	return words & ~NOT_CHOSEN;
}

static void expect_words(const char *value, u32 words)
{
	u32 found, size;
	char *text;

	tap_begin("words_take_effect: %s", value);
	words_set(value);
	found = words_of_loop(&size);
	tap_expect(found == words, "words 0x%x, not 0x%x", found, words);
	text = parameter_get("words");
	words_set(text);
	tap_expect(words_of_loop(&size) == words, "\"%s\", as read back, gives other words", text);
	free(text);
	tap_end();
}

#define NAME_OF_WORD(bit, name) name,
static const char * const names[] = { KVM_TRACE_WORDS(NAME_OF_WORD) };

static void expect_size(const char *name)
{
	char others[256] = "";
	u32 with, without;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], name))
			continue;
		strcat(others, *others ? "," : "");
		strcat(others, names[i]);
	}
	tap_begin("optional_word_takes_8_bytes: %s", name);
	words_set("all");
	words_of_loop(&with);
	words_set(others);
	words_of_loop(&without);
	tap_expect(with > without && with - without <= 8,
		   "tail of %u bytes with all words, %u without %s", with, without, name);
	tap_end();
}

static void expect_refused(const char *value, const char *named)
{
	char *before, *after;

	tap_begin("words_refuses: \"%s\"", value);
	words_set("rip,entry_ns");
	before = parameter_get("words");
	klog_mark();
	tap_expect(parameter_set("words", value) == -EINVAL, "the write gives %d",
		   parameter_set("words", value));
	after = parameter_get("words");
	tap_expect(!strcmp(before, after), "words were %s and are %s", before, after);
	tap_expect(klog_has("kvm_trace") && klog_has(named), "the kernel log does not name %s",
		   named);
	free(before);
	free(after);
	tap_end();
}

/* The words of a record are chosen while its round trip is open. */
static void change_in_round_trip(void)
{
	const u32 sum = KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_ENTRY_NS;
	const struct kvm_trace_vmexit *r, *before;
	unsigned int turn = 0, sums = 0;
	struct vmexit *all;
	size_t count, i;

	tap_begin("words_take_effect: changed in a round trip");
	trace_forget(&recorder.session);
	guest_load(&vcpu, KIND_BIT(KIND_pio_out) | KIND_BIT(KIND_cpuid), 10 * ROUNDS);
	do
		words_set(turn++ / 2 % 2 ? "all" : turn % 3 ? "lean" : "guest_ns,entry_ns");
	while (guest_handle(&vcpu, vcpu_run(&vcpu)));
	trace_read(&recorder.session);
	count = recorder_vmexits(&recorder, &all);
	for (i = 1; i < count; i++) {
		r = &all[i].r;
		before = &all[i - 1].r;
		tap_expect(!r->truncated && !r->unknown, "seq %u cannot be decoded whole", r->seq);
		tap_expect(!(r->have & KVM_TRACE_W_ENTRY_NS) ||
			   (r->entry_ns <= all[i].sample->time &&
			    r->entry_ns > all[i - 1].sample->time - LONGEST_NS),
			   "seq %u: entry at %llu, sampled at %llu", r->seq, r->entry_ns,
			   all[i].sample->time);
		if ((r->have & sum) != sum || !(before->have & KVM_TRACE_W_ENTRY_NS))
			continue;
		sums++;
		tap_expect(r->host_ns + r->guest_ns == r->entry_ns - before->entry_ns,
			   "seq %u: host %llu + guest %llu is not %llu", r->seq, r->host_ns,
			   r->guest_ns, r->entry_ns - before->entry_ns);
	}
	tap_expect(count > 20 * ROUNDS - 1 && sums > ROUNDS, "%zu records, %u sums", count, sums);
	free(all);
	tap_end();
}

int main(void)
{
	struct vm vm;

	need_kvm_trace();
	tap_plan(5 + 8 + 8 + 3 + 1);
	recorder_start(&recorder, REC_VMEXIT, 4);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);

#define OR_BIT(bit, name) | (bit)
#define EXPECT_WORD(bit, name) expect_words(name, bit);
	KVM_TRACE_WORDS(EXPECT_WORD)
	expect_words("all", 0 KVM_TRACE_WORDS(OR_BIT));
	expect_words("lean", KVM_TRACE_WORDS_LEAN);
	expect_words("default", KVM_TRACE_WORDS_DEFAULT);
	expect_words("rip,entry_ns", KVM_TRACE_W_RIP | KVM_TRACE_W_ENTRY_NS);
	expect_words("lean,gpa", KVM_TRACE_W_GPA);
#define EXPECT_SIZE(bit, name) expect_size(name);
	KVM_TRACE_WORDS(EXPECT_SIZE)
	expect_refused("rip,speed", "speed");
	expect_refused("RIP", "RIP");
	expect_refused("rip,,gpa", "words");

	change_in_round_trip();

	words_set("default");
	recorder_close(&recorder);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	return tap_exit();
}
