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

#define ROUNDS		4
#define TURNS		100
#define LONG_POLL_NS	1000000000ull
#define LONGEST_NS	1000000000ull	/* a round trip of this test */
/* In records whatever is chosen. */
#define NOT_CHOSEN	(KVM_TRACE_W_REASON_HI | KVM_TRACE_W_UNTRACED)
/* A second mask, or a word that is too large, would show in the tail. */
#define MASK_BYTES	4u

/*
 * Kinds whose exits have all words. Those that need a VM without an APIC, a
 * debugger or Xen add none.
 */
#define KINDS	((KIND_BIT(KIND_COUNT) - 1) & ~(KIND_BIT(KIND_hlt) | KIND_BIT(KIND_irq) |	\
		  KIND_BIT(KIND_irq_window) | KIND_BIT(KIND_cr8) |				\
		  KIND_BIT(KIND_breakpoint) | KIND_BIT(KIND_xen_hypercall) |			\
		  KIND_BIT(KIND_entry_failure)))

static struct recorder recorder;
static struct vcpu vcpu;

static void expect_size(const struct vmexit *v)
{
	u64 words = v->r.have;
	u32 tail, must = 0, bit;

	for (bit = 0; bit < 64; bit++) {
		if (words & 1ull << bit)
			must += KVM_TRACE_W_SIZE(bit);
	}
	if (words)
		must += words >> 32 ? 2 * MASK_BYTES : MASK_BYTES;
	trace_data(v->sample, "tail", &tail);
	tap_expect(tail == must, "seq %u: a tail of %u bytes for words 0x%llx that take %u",
		   v->r.seq, tail, words, must);
}

/* Words of the records of a loop that has all of them. */
static u64 words_of_loop(void)
{
	struct vmexit *all;
	size_t count, i;
	u64 words = 0;

	trace_forget(&recorder.session);
	guest_load(&vcpu, KINDS, ROUNDS);
	guest_run(&vcpu);
	trace_read(&recorder.session);
	count = recorder_vmexits(&recorder, &all);
	tap_expect(count > ROUNDS, "%zu records", count);
	/* The first round trip began before the words were chosen. */
	for (i = 1; i < count; i++) {
		words |= all[i].r.have;
		expect_size(&all[i]);
	}
	free(all);
	return words & ~NOT_CHOSEN;
}

/*
 * Words that no loop on this machine can have: SVM does not tell the vector of
 * the host's interrupt, and on VMX KVM asks for no exit at an exception that has
 * an error code where there is EPT.
 */
static u64 impossible(void)
{
	return cpu_is_intel() ? KVM_TRACE_W_ERROR_CODE : KVM_TRACE_W_HOST_VECTOR;
}

static void expect_words(const char *value, u64 words)
{
	u64 found;
	char *text;

	tap_begin("words_take_effect: %s", value);
	if (words && !(words & ~impossible())) {
		tap_skip(cpu_is_intel() ? "no exit of KVM with EPT has it" :
					  "SVM does not tell it");
		return;
	}
	words &= ~impossible();
	words_set(value);
	found = words_of_loop();
	tap_expect(found == words, "words 0x%llx, not 0x%llx: 0x%llx too many, 0x%llx missing",
		   found, words, found & ~words, words & ~found);
	text = parameter_get("words");
	words_set("lean");
	words_set(text);
	tap_expect(words_of_loop() == words, "\"%s\", as read back, gives other words", text);
	free(text);
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
	unsigned int turn = 0, sums = 0, partial = 0;
	struct vmexit *all;
	bool told;
	size_t count, i;

	tap_begin("words_take_effect: changed in a round trip");
	trace_forget(&recorder.session);
	guest_load(&vcpu, KIND_BIT(KIND_pio_out) | KIND_BIT(KIND_cpuid), TURNS);
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
		/* Only those that went to user space saw a change. */
		told = r->flags_hi & KVM_TRACE_F2_PARTIAL;
		partial += told;
		tap_expect(told == !!(r->have & KVM_TRACE_W_USER_REASON),
			   "seq %u: class %u with words 0x%llx %s told as partial", r->seq,
			   r->class, r->have, told ? "is" : "is not");
		if ((r->have & sum) != sum || !(before->have & KVM_TRACE_W_ENTRY_NS))
			continue;
		sums++;
		tap_expect(r->host_ns + r->guest_ns == r->entry_ns - before->entry_ns,
			   "seq %u: host %llu + guest %llu is not %llu", r->seq, r->host_ns,
			   r->guest_ns, r->entry_ns - before->entry_ns);
	}
	tap_expect(count > 2 * TURNS - 1 && sums > TURNS / 10 && partial > TURNS / 10,
		   "%zu records, %u sums, %u partial", count, sums, partial);
	free(all);
	tap_end();
}

#define ONE(bit, name) + 1

int main(void)
{
	struct vm vm;

	need_kvm_trace();
	tap_plan(0 KVM_TRACE_WORDS(ONE) + 5 + 3 + 1);
	recorder_start(&recorder, REC_VMEXIT, 8);
	vm_create(&vm, 1, guest_needs(KINDS));
	vm_set_halt_poll(&vm, LONG_POLL_NS);
	vcpu_create(&vm, &vcpu, 0);

#define OR_BIT(bit, name) | (bit)
#define EXPECT_WORD(bit, name) expect_words(name, bit);
	KVM_TRACE_WORDS(EXPECT_WORD)
	expect_words("all", 0 KVM_TRACE_WORDS(OR_BIT));
	expect_words("lean", KVM_TRACE_WORDS_LEAN);
	expect_words("default", KVM_TRACE_WORDS_DEFAULT);
	expect_words("rip,entry_ns", KVM_TRACE_W_RIP | KVM_TRACE_W_ENTRY_NS);
	expect_words("lean,gpa", KVM_TRACE_W_GPA);
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
