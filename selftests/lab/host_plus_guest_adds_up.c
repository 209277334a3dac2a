// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: no time is lost or counted twice. From one record of a vCPU to the
 * next, host time and guest time are just what lies between the two entries.
 */
#include <stdlib.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		100
#define MANY		4
#define RING_MIB	4
#define WORDS		(KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_ENTRY_NS)

static void compare(const struct vmexit *before, const struct vmexit *v)
{
	const struct kvm_trace_vmexit *r = &v->r;
	u64 between = r->entry_ns - before->r.entry_ns;

	tap_expect((r->have & WORDS) == WORDS, "seq %u has words 0x%llx", r->seq, r->have);
	/* Where the exit is stamped late, being switched out ends guest time. */
	if ((r->flags & KVM_TRACE_F_LATE_STAMP) && r->host_ns + r->guest_ns < between)
		return;
	tap_expect(r->host_ns + r->guest_ns == between,
		   "seq %u: host %llu + guest %llu is not %llu", r->seq, r->host_ns, r->guest_ns,
		   between);
	tap_expect(v->sample->time >= r->entry_ns,
		   "seq %u: sampled at %llu, before the entry at %llu", r->seq,
		   v->sample->time, r->entry_ns);
}

static void run_loop(unsigned int nr_vcpus)
{
	struct recorder recorder = {};
	struct vmexit *all, *list;
	struct vcpu vcpus[MANY];
	size_t count, n, k;
	u64 host, guest;
	unsigned int i;
	struct vm vm;

	tap_begin("host_plus_guest_adds_up: %u vCPU%s", nr_vcpus, nr_vcpus > 1 ? "s" : "");
	recorder_start(&recorder, REC_OURS, RING_MIB);
	vm_create(&vm, nr_vcpus, 0);
	for (i = 0; i < nr_vcpus; i++)
		vcpu_create(&vm, &vcpus[i], i);
	guest_run_all(vcpus, nr_vcpus, KIND_MIX, ROUNDS);
	recorder_stop(&recorder);

	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < nr_vcpus; i++) {
		n = vmexits_of(all, count, recorder_vm(&recorder, &vm), i, &list);
		tap_expect(n > ROUNDS, "vCPU %u: %zu records", i, n);
		for (k = 1, host = 0, guest = 0; k < n; k++) {
			compare(&list[k - 1], &list[k]);
			host += list[k].r.host_ns;
			guest += list[k].r.guest_ns;
		}
		tap_note("vCPU %u: %zu records, host %llu ns, guest %llu ns", i, n, host, guest);
		tap_expect(host && guest, "vCPU %u: host or guest time is 0", i);
		free(list);
		vcpu_destroy(&vcpus[i]);
	}
	vm_destroy(&vm);
	recorder_close(&recorder);
	free(all);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2);
	words_set("guest_ns,entry_ns");
	run_loop(1);
	run_loop(MANY);
	words_set("default");
	return tap_exit();
}
