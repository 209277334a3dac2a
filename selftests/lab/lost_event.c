// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: what the module itself cannot record is told. With room for one
 * vCPU, the counts of kvm_trace:lost are just the exits of the others.
 */
#include <stdlib.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define VCPUS	3
#define ROUNDS	50
#define BURST	200

/* More vCPUs at once than the module keeps states ready for. */
static void burst(void)
{
	static struct vcpu vcpus[BURST];
	struct recorder recorder = {};
	u64 exits = 0, told;
	struct vmexit *all;
	size_t count, i;
	struct vm vm;

	tap_begin("lost_event: a burst of %d new vCPUs is recorded or told", BURST);
	vm_create(&vm, BURST, 0);
	for (i = 0; i < BURST; i++) {
		vcpu_create(&vm, &vcpus[i], i);
		guest_load(&vcpus[i], KIND_BIT(KIND_cpuid), 2);
	}
	recorder_start(&recorder, REC_OURS, 4);
	for (i = 0; i < BURST; i++)
		guest_run(&vcpus[i]);
	recorder_stop(&recorder);
	told = recorder_lost(&recorder);
	count = recorder_vmexits(&recorder, &all);
	free(all);
	for (i = 0; i < BURST; i++) {
		exits += vcpu_stat(&vcpus[i], "exits");
		vcpu_destroy(&vcpus[i]);
	}
	/* Each vCPU with state has an open round trip, and the last loss is not yet told. */
	tap_expect(count + told <= exits && count + told + BURST + 1 >= exits,
		   "%zu records and %llu lost of %llu exits", count, told, exits);
	tap_expect(count > exits / 4, "%zu records of %llu exits", count, exits);
	tap_note("%zu records and %llu lost of %llu exits", count, told, exits);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	struct recorder recorder = {};
	struct kvm_trace_lost lost;
	struct vcpu vcpus[VCPUS];
	struct vmexit *all;
	u64 told = 0, others = 0, since = 0;
	size_t count, i;
	struct vm vm;

	need_kvm_trace();
	tap_plan(3);
	run("modprobe -r kvm_trace");
	if (run("modprobe kvm_trace max_vcpus=1"))
		tap_die("kvm_trace with max_vcpus=1");
	/* Each CPU tells of its own losses at its next VM entry. */
	run_on_cpu(0);

	tap_begin("lost_event: counts the exits without a record");
	recorder_start(&recorder, REC_OURS, 4);
	vm_create(&vm, VCPUS, 0);
	for (i = 0; i < VCPUS; i++) {
		vcpu_create(&vm, &vcpus[i], i);
		guest_load(&vcpus[i], KIND_BIT(KIND_cpuid) | KIND_BIT(KIND_pio_out), ROUNDS);
		guest_run(&vcpus[i]);
		if (i)
			others += vcpu_stat(&vcpus[i], "exits");
	}
	recorder_stop(&recorder);
	for (i = 0; i < recorder.session.nr_samples; i++) {
		const struct trace_sample *sample = &recorder.session.samples[i];

		if (!sample_is(sample, "lost") ||
		    !kvm_trace_lost_record(&lost, sample->raw, sample->size))
			continue;
		told += lost.count;
		tap_expect(lost.why == KVM_TRACE_LOST_NO_STATE, "why is %u", lost.why);
		tap_expect(lost.since > since && lost.since <= sample->time,
			   "since %llu, told at %llu", lost.since, sample->time);
		since = lost.since;
	}
	/* The last round trip is still open. */
	tap_expect(told + 1 == others || told == others,
		   "%llu lost, the others made %llu exits", told, others);
	tap_end();

	tap_begin("lost_event: the vCPU with room has all its records");
	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < count; i++)
		tap_expect(!all[i].r.vcpu, "record of vCPU %u", all[i].r.vcpu);
	tap_expect(count + 1 == vcpu_stat(&vcpus[0], "exits"), "%zu records of %llu exits", count,
		   vcpu_stat(&vcpus[0], "exits"));
	expect_whole(all, count, "vCPU 0");
	tap_end();

	free(all);
	for (i = 0; i < VCPUS; i++)
		vcpu_destroy(&vcpus[i]);
	vm_destroy(&vm);
	recorder_close(&recorder);
	run("modprobe -r kvm_trace");
	run("modprobe kvm_trace");
	burst();
	return tap_exit();
}
