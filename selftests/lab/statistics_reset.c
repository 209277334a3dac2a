// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: who resets KVM's statistics while a guest is recorded adds no flag
 * and no count of untraced exits to its records.
 */
#include <stdio.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define RESETS		10
#define PAUSE_US	10000
#define RING_MIB	32
#define ENDLESS		(1ull << 40)
#define KVM_DEBUGFS	"/sys/kernel/debug/kvm/"
#define OF_COUNTS	(KVM_TRACE_F_MMIO | KVM_TRACE_F_PAGE_FAULT | KVM_TRACE_F_HALTED)

static const char * const counts[] = { "mmio_exits", "halt_exits", "pf_fixed", "exits" };

int main(void)
{
	struct recorder recorder = {};
	unsigned int wrong = 0, k, c;
	struct vmexit *all;
	struct vcpu vcpu;
	char path[128];
	size_t count, i;
	struct vm vm;

	need_kvm_trace();
	tap_plan(1);
	tap_begin("statistics_reset: %d times", RESETS);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	/* So that there is something to reset. */
	guest_start(&vcpu, KIND_BIT(KIND_mmio_read) | KIND_BIT(KIND_hlt) | KIND_BIT(KIND_npf), 20);
	guest_join(&vcpu);
	guest_start(&vcpu, KIND_BIT(KIND_cpuid), ENDLESS);
	usleep(PAUSE_US);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	for (k = 0; k < RESETS; k++) {
		for (c = 0; c < ARRAY_SIZE(counts); c++) {
			snprintf(path, sizeof(path), KVM_DEBUGFS "%s", counts[c]);
			tap_expect(!file_write(path, "0"), "%s cannot be reset", counts[c]);
			usleep(PAUSE_US);
		}
	}
	recorder_stop(&recorder);
	guest_stop(&vcpu);
	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < count; i++)
		wrong += all[i].r.flags & OF_COUNTS || all[i].r.have & KVM_TRACE_W_UNTRACED;
	tap_expect(count > RESETS, "%zu records", count);
	tap_expect(!wrong, "%u of %zu records say what did not happen", wrong, count);
	tap_end();
	return tap_exit();
}
