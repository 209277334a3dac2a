// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: every VM exit that KVM counts has its record. For each kind of
 * exit and for a mix, on one and on four vCPUs: the growth of KVM's statistic
 * "exits" less the one round trip that is always open equals the records.
 */
#include <stdio.h>
#include <stdlib.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		100
#define MANY		4
#define RING_MIB	4

static void compare(struct recorder *recorder, struct vm *vm, struct vcpu *vcpu,
		    const struct vmexit *all, size_t count)
{
	struct vmexit *list;
	char what[32];
	size_t n = vmexits_of(all, count, recorder_vm(recorder, vm), vcpu->id, &list);
	u64 exits = vcpu_stat(vcpu, "exits");

	snprintf(what, sizeof(what), "vCPU %u", vcpu->id);
	tap_expect(exits >= ROUNDS, "%s: KVM counted %llu exits, the loop has %d rounds",
		   what, exits, ROUNDS);
	tap_expect(n == exits || n + 1 == exits, "%s: %zu records of %llu exits", what, n, exits);
	tap_expect(n && !list[0].r.seq, "%s: the first seq is %u", what, list[0].r.seq);
	expect_whole(list, n, what);
	free(list);
}

static void run_loop(const char *name, u64 kinds, unsigned int nr_vcpus)
{
	struct recorder recorder = {};
	struct vcpu vcpus[MANY];
	struct vmexit *all;
	unsigned int i;
	struct vm vm;
	size_t count, ours = 0;

	tap_begin("records_equal_exits: %s on %u vCPU%s", name, nr_vcpus, nr_vcpus > 1 ? "s" : "");
	recorder_start(&recorder, REC_OURS, RING_MIB);
	vm_create(&vm, nr_vcpus, 0);
	for (i = 0; i < nr_vcpus; i++)
		vcpu_create(&vm, &vcpus[i], i);
	guest_run_all(vcpus, nr_vcpus, kinds, ROUNDS);
	recorder_stop(&recorder);

	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < nr_vcpus; i++) {
		compare(&recorder, &vm, &vcpus[i], all, count);
		ours += vcpu_stat(&vcpus[i], "exits");
		vcpu_destroy(&vcpus[i]);
	}
	tap_expect(count <= ours, "%zu records, but all vCPUs made %zu exits", count, ours);
	tap_expect(!recorder.session.lost, "perf lost %llu samples", recorder.session.lost);
	vm_destroy(&vm);
	recorder_close(&recorder);
	free(all);
	tap_end();
}

int main(void)
{
	unsigned int kind, vcpus;

	need_kvm_trace();
	tap_plan(2 * (KIND_PLAIN_COUNT + 1));
	for (vcpus = 1; vcpus <= MANY; vcpus += MANY - 1) {
		for (kind = 0; kind < KIND_PLAIN_COUNT; kind++)
			run_loop(guest_kind_name(kind), KIND_BIT(kind), vcpus);
		run_loop("mix", KIND_MIX, vcpus);
	}
	return tap_exit();
}
