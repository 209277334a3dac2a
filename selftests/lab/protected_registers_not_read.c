// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: registers of a protected guest are never read. The lab has none: a
 * module of the test makes a guest look like one to our probes, and puts a
 * pattern where its registers were. No record may show the pattern, or what
 * the guest had.
 */
#include <stdlib.h>
#include <string.h>

#include "marked.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define MODULE		"kvm_trace_protected"
#define PARAMETERS	"/sys/module/" MODULE "/parameters/"
#define POISON		0x5bad5badu	/* all registers are full of it */
#define POISON_SHIFTED	0xad5bad5bu
#define MARK		0xa7
#define ROUNDS		20
#define RING_MIB	4

/* The processor's own description of the exit tells nothing of these. */
#define WORDS_OF_REGISTERS							\
	(KVM_TRACE_W_RIP | KVM_TRACE_W_MSR | KVM_TRACE_W_MSR_VALUE |		\
	 KVM_TRACE_W_CPUID_LEAF | KVM_TRACE_W_CPUID_INDEX | KVM_TRACE_W_CPUID_AX_BX |	\
	 KVM_TRACE_W_CPUID_CX_DX | KVM_TRACE_W_CR_VALUE | KVM_TRACE_W_HYPERCALL)

static bool has_u32(const u8 *bytes, size_t size, u32 value)
{
	size_t i;

	for (i = 0; i + sizeof(value) <= size; i++) {
		if (!memcmp(bytes + i, &value, sizeof(value)))
			return true;
	}
	return false;
}

static void expect_no_poison(const struct trace_sample *sample)
{
	tap_expect(!has_u32(sample->raw, sample->size, POISON) &&
		   !has_u32(sample->raw, sample->size, POISON_SHIFTED),
		   "a record of %s shows what was in the registers", sample->event->name);
}

static bool is_marked(u32 value)
{
	return value >> 24 == MARK && (value & 0xffffff) - 1 < ROUNDS;
}

/* Word by word: bytes of two fields beside each other may look like a mark. */
static void expect_no_mark(const struct trace_sample *sample, const struct kvm_trace_vmexit *r)
{
	u32 size, at = r->words >> 32 ? 8 : 4, bit, bytes;
	const u8 *tail = trace_data(sample, "tail", &size);
	u64 words = r->words & ~KVM_TRACE_W_NEXT_MASK, value;

	for (bit = 0; bit < 64; bit++) {
		if (!(words & 1ull << bit))
			continue;
		bytes = KVM_TRACE_W_SIZE(bit);
		if (!tap_expect(at + bytes <= size, "seq %u: its tail", r->seq))
			return;
		value = 0;
		memcpy(&value, tail + at, bytes);
		at += bytes;
		tap_expect(!is_marked(value) && !is_marked(value >> 32),
			   "seq %u, class %s: word %u has the guest's value 0x%llx", r->seq,
			   kvm_trace_class_name(r->class), bit, value);
	}
}

static void expect_vmexit(const struct trace_sample *sample)
{
	struct kvm_trace_vmexit r;

	if (!tap_expect(kvm_trace_vmexit_record(&r, sample->raw, sample->size), "its size"))
		return;
	tap_expect(r.flags & KVM_TRACE_F_PROTECTED, "seq %u: flags 0x%x", r.seq, r.flags);
	tap_expect(!(r.have & WORDS_OF_REGISTERS), "seq %u, class %s: words 0x%llx", r.seq,
		   kvm_trace_class_name(r.class), r.have & WORDS_OF_REGISTERS);
	/* What a protected guest writes to a port it has given to KVM, who tells it. */
	if (!(r.have & KVM_TRACE_W_IO_VALUE))
		expect_no_mark(sample, &r);
}

/* Number and arguments are KVM's own words of it; the result would be RAX. */
static void expect_hypercall(const struct trace_sample *sample)
{
	struct kvm_trace_hypercall h;

	if (!tap_expect(kvm_trace_hypercall_record(&h, sample->raw, sample->size), "its size"))
		return;
	tap_expect(!(h.have & (KVM_TRACE_HC_W_RESULT | KVM_TRACE_HC_W_RESULT_64)),
		   "a hypercall has result 0x%llx", h.result);
	tap_expect(!(h.caller & KVM_TRACE_CALLER_CPL), "a hypercall's caller is 0x%x", h.caller);
}

static unsigned int times_hidden(void)
{
	char *text = file_read(PARAMETERS "hidden");
	unsigned int times;

	if (!text)
		tap_die(PARAMETERS "hidden");
	times = atoi(text);
	free(text);
	return times;
}

static void run_guest(const char *words)
{
	unsigned int i, vmexits = 0, hypercalls = 0, hidden;
	struct recorder recorder = {};
	const struct trace_sample *sample;
	struct marked guest;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("protected_registers_not_read: words %s", words);
	words_set(words);
	if (run("insmod selftests/modules/protected/" MODULE ".ko"))
		tap_die(MODULE " cannot be loaded");
	recorder_start(&recorder, REC_OURS, RING_MIB);
	if (file_write(PARAMETERS "armed", "1"))
		tap_die(PARAMETERS "armed");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	marked_load(&guest, &vcpu, MARK, ROUNDS);
	while (marked_handle(&guest, vcpu_run(&vcpu)))
		;
	recorder_stop(&recorder);
	hidden = times_hidden();
	for (i = 0; i < recorder.session.nr_samples; i++) {
		sample = &recorder.session.samples[i];
		expect_no_poison(sample);
		if (sample_is(sample, "vmexit")) {
			vmexits++;
			expect_vmexit(sample);
		} else if (sample_is(sample, "hypercall")) {
			hypercalls++;
			expect_hypercall(sample);
		}
	}
	tap_note("%u records, %u hypercalls; registers were hidden %u times", vmexits, hypercalls,
		 hidden);
	tap_expect(vmexits + 1 == vcpu_stat(&vcpu, "exits"), "%u records of %llu exits", vmexits,
		   vcpu_stat(&vcpu, "exits"));
	tap_expect(hypercalls == ROUNDS, "%u hypercall records", hypercalls);
	/* At each exit, each entry and each hypercall. */
	tap_expect(hidden == 2 * (vmexits + 1) + hypercalls, "registers were hidden %u times",
		   hidden);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	file_write(PARAMETERS "armed", "0");
	recorder_close(&recorder);
	tap_expect(!run("rmmod " MODULE), MODULE " cannot be unloaded");
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2);
	run_guest("all");
	run_guest("default");
	words_set("default");
	return tap_exit();
}
