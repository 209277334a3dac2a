// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a record is marked late_stamp just if KVM fired kvm_exit late,
 * when interrupts were on again: what the host did until then counts as the
 * guest's time. KVM's own event, recorded beside, tells whether they were.
 */
#include <stdlib.h>

#include "guest.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		50
#define RING_MIB	8
#define IRQS_OFF	1	/* of common_flags, TRACE_FLAG_IRQS_OFF */

static void run_load(const char *words)
{
	unsigned int records = 0, marked = 0;
	const struct trace_sample *sample, *exit = NULL;
	struct recorder recorder = {};
	struct kvm_trace_vmexit r;
	struct vcpu vcpu;
	struct vm vm;
	bool late;
	size_t i;

	tap_begin("late_stamps_are_marked: words %s", words);
	words_set(words);
	recorder_start(&recorder, REC_OURS | REC_KVM_EXIT, RING_MIB);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_load(&vcpu, KIND_MIX & ~KIND_BIT(KIND_entry_failure), ROUNDS);
	guest_run(&vcpu);
	recorder_stop(&recorder);
	for (i = 0; i < recorder.session.nr_samples; i++) {
		sample = &recorder.session.samples[i];
		if (sample_is(sample, "kvm_exit"))
			exit = sample;
		if (!sample_is(sample, "vmexit") ||
		    !tap_expect(exit, "a record without kvm_exit before it") ||
		    !tap_expect(kvm_trace_vmexit_record(&r, sample->raw, sample->size),
				"a record of %u bytes", sample->size))
			continue;
		late = !(trace_get(exit, "common_flags") & IRQS_OFF);
		tap_expect(late == !!(r.flags & KVM_TRACE_F_LATE_STAMP),
			   "seq %u: flags 0x%x, interrupts were %s at kvm_exit", r.seq, r.flags,
			   late ? "on" : "off");
		records++;
		marked += late;
	}
	tap_note("%u of %u records are marked", marked, records);
	tap_expect(records > ROUNDS && (!marked || marked == records),
		   "KVM fires kvm_exit early and late: %u of %u", marked, records);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2);
	run_on_cpu(0);
	run_load("lean");
	run_load("all");
	words_set("default");
	return tap_exit();
}
