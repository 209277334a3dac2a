// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: VMs come and go while recording, and leave nothing behind. 500
 * are made, run and destroyed: each has its own number, whole records, and no
 * kmalloc cache keeps an object for each of them.
 */
#include <stdlib.h>
#include <unistd.h>

#include "churn.h"
#include "module.h"
#include "records.h"
#include "slab.h"
#include "tap.h"

#define VMS		500
#define WARM_UP		50
#define LIMIT		(VMS / 2)
#define ROUNDS		3
#define RING_MIB	16

static u64 exits_of[WARM_UP + VMS];

int main(void)
{
	struct recorder recorder = {};
	struct slab_count before, after;
	struct vmexit *all;
	size_t count, i, n = 0;
	unsigned int vm = 0;

	need_kvm_trace();
	run_on_cpu(0);
	tap_plan(2);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	churn_vms(WARM_UP, ROUNDS, exits_of);
	slab_count(&before);
	churn_vms(VMS, ROUNDS, exits_of + WARM_UP);
	slab_count_after(&after, &before, LIMIT);
	recorder_stop(&recorder);

	/* One thread runs them one after the other: their records do not interleave. */
	tap_begin("many_vms_500: each VM's records are its own");
	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < count; i++) {
		n++;
		if (i + 1 < count && all[i + 1].r.vm == all[i].r.vm) {
			tap_expect(all[i + 1].r.seq == all[i].r.seq + 1,
				   "vm %u: seq %u follows %u", all[i].r.vm, all[i + 1].r.seq,
				   all[i].r.seq);
			continue;
		}
		if (!tap_expect(vm < WARM_UP + VMS, "records of more VMs than there were"))
			break;
		tap_expect(n + 1 == exits_of[vm], "VM %u of the test: %zu records of %llu exits",
			   vm, n, exits_of[vm]);
		if (i + 1 < count)
			tap_expect(all[i + 1].r.vm == all[i].r.vm + 1, "vm %u follows vm %u",
				   all[i + 1].r.vm, all[i].r.vm);
		vm++;
		n = 0;
	}
	tap_expect(vm == WARM_UP + VMS, "records of %u VMs, there were %u", vm, WARM_UP + VMS);
	tap_expect(!recorder.session.lost, "perf lost %llu samples", recorder.session.lost);
	tap_end();

	tap_begin("many_vms_500: nothing leaks");
	slab_expect(&before, &after, LIMIT, "500 VMs");
	tap_end();
	recorder_close(&recorder);
	free(all);
	return tap_exit();
}
