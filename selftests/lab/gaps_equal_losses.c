// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: every loss shows. If perf cannot keep up and says that it lost
 * events, the gaps of seq are just that many.
 */
#include <stdlib.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		12000	/* more than a ring of 1 MiB holds */
#define RING_MIB	1

int main(void)
{
	struct recorder recorder = {};
	struct vmexit *all;
	struct vcpu vcpu;
	u64 missing = 0;
	size_t count, i;
	struct vm vm;

	need_kvm_trace();
	tap_plan(1);
	tap_begin("gaps_equal_losses");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	recorder_start(&recorder, REC_VMEXIT, RING_MIB);
	guest_load(&vcpu, KIND_BIT(KIND_cpuid), ROUNDS);
	guest_run(&vcpu);
	trace_read(&recorder.session);
	guest_load(&vcpu, KIND_BIT(KIND_cpuid), ROUNDS / 100);
	guest_run(&vcpu);
	recorder_stop(&recorder);

	count = recorder_vmexits(&recorder, &all);
	for (i = 1; i < count; i++)
		missing += all[i].r.seq - all[i - 1].r.seq - 1;
	tap_expect(missing, "nothing was lost");
	tap_expect(missing == recorder.session.lost, "%llu are missing, perf lost %llu", missing,
		   recorder.session.lost);
	tap_expect(count + missing + 1 == vcpu_stat(&vcpu, "exits"),
		   "%zu records and %llu missing of %llu exits", count, missing,
		   vcpu_stat(&vcpu, "exits"));
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
	return tap_exit();
}
