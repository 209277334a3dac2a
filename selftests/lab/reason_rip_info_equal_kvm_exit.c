// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a record says of its exit what kvm:kvm_exit says. Both are
 * recorded together and joined one to one, with all optional words.
 */
#include <stdio.h>
#include <stdlib.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		60
#define MANY		4
#define RING_MIB	4
#define INTR_INFO_VALID	0x80000000u

static void expect_word(const struct vmexit *v, u64 word, const char *name, u64 ours, u64 kvms)
{
	/* A word that would be 0 is left out. */
	tap_expect(!(v->r.have & word) == !kvms && ours == kvms,
		   "seq %u reason 0x%x: %s is 0x%llx%s, kvm_exit's is 0x%llx", v->r.seq,
		   v->r.reason, name, ours, v->r.have & word ? "" : " (absent)", kvms);
}

static void compare(const struct vmexit *v, const struct trace_sample *exit)
{
	u64 code = kvm_trace_vmexit_code(&v->r);
	u64 intr_info;

	tap_expect((u32)code == (u32)trace_get(exit, "exit_reason"),
		   "seq %u: reason 0x%llx, kvm_exit's is 0x%llx", v->r.seq, code,
		   trace_get(exit, "exit_reason"));
	tap_expect(v->r.isa == trace_get(exit, "isa"), "seq %u: isa %u", v->r.seq, v->r.isa);
	tap_expect((v->r.have & KVM_TRACE_W_RIP) && v->r.rip == trace_get(exit, "guest_rip"),
		   "seq %u: rip 0x%llx, kvm_exit's is 0x%llx", v->r.seq, v->r.rip,
		   trace_get(exit, "guest_rip"));
	expect_word(v, KVM_TRACE_W_INFO1, "info1", v->r.info1, trace_get(exit, "info1"));
	expect_word(v, KVM_TRACE_W_INFO2, "info2", v->r.info2, trace_get(exit, "info2"));
	/* Without its valid bit it says nothing. */
	intr_info = trace_get(exit, "intr_info");
	expect_word(v, KVM_TRACE_W_INTR_INFO, "intr_info", v->r.intr_info,
		    intr_info & INTR_INFO_VALID ? intr_info : 0);
	expect_word(v, KVM_TRACE_W_ERROR_CODE, "error_code", v->r.error_code,
		    trace_get(exit, "error_code"));
}

/* Follows one vCPU: between two of its records there is just one kvm_exit. */
static size_t join(struct recorder *recorder, const struct vmexit *list, size_t count,
		   const struct vcpu *vcpu)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample, *exit = NULL;
	unsigned int exits = 0;
	size_t i, n = 0;

	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (sample->tid != (u32)vcpu->tid)
			continue;
		if (sample_is(sample, "kvm_exit")) {
			exit = sample;
			exits++;
		} else if (sample_is(sample, "vmexit")) {
			tap_expect(exits == 1, "vCPU %u: %u kvm_exit before record %zu",
				   vcpu->id, exits, n);
			if (exits && n < count && list[n].sample == sample)
				compare(&list[n++], exit);
			exits = 0;
		}
	}
	tap_expect(exits <= 1, "vCPU %u: %u kvm_exit after the last record", vcpu->id, exits);
	return n;
}

static void run_loop(const char *name, u64 kinds, unsigned int nr_vcpus)
{
	struct recorder recorder = {};
	struct vmexit *all, *list;
	struct vcpu vcpus[MANY];
	size_t count, n;
	unsigned int i;
	struct vm vm;

	tap_begin("reason_rip_info_equal_kvm_exit: %s on %u vCPU%s", name, nr_vcpus,
		  nr_vcpus > 1 ? "s" : "");
	recorder_start(&recorder, REC_OURS | REC_KVM_EXIT, RING_MIB);
	vm_create(&vm, nr_vcpus, 0);
	for (i = 0; i < nr_vcpus; i++) {
		vcpu_create(&vm, &vcpus[i], i);
		vcpus[i].on_cpu = 1 + i;
	}
	guest_run_all(vcpus, nr_vcpus, kinds, ROUNDS);
	recorder_stop(&recorder);

	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < nr_vcpus; i++) {
		n = vmexits_of(all, count, recorder_vm(&recorder, &vm), i, &list);
		tap_expect(n >= ROUNDS, "vCPU %u: %zu records of %d rounds", i, n, ROUNDS);
		tap_expect(join(&recorder, list, n, &vcpus[i]) == n,
			   "vCPU %u: not all records were joined", i);
		free(list);
		vcpu_destroy(&vcpus[i]);
	}
	tap_expect(!recorder.session.lost, "perf lost %llu samples", recorder.session.lost);
	vm_destroy(&vm);
	recorder_close(&recorder);
	free(all);
	tap_end();
}

int main(void)
{
	unsigned int kind;

	need_kvm_trace();
	tap_plan(KIND_PLAIN_COUNT + 2);
	words_set("all");
	for (kind = 0; kind < KIND_PLAIN_COUNT; kind++)
		run_loop(guest_kind_name(kind), KIND_BIT(kind), 1);
	run_loop("mix", KIND_MIX, 1);
	run_loop("mix", KIND_MIX, MANY);
	words_set("default");
	return tap_exit();
}
