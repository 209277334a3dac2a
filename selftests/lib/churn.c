// SPDX-License-Identifier: GPL-2.0-only
/*
 * VMs that come and go: a few are alive at one time.
 */
#include "churn.h"
#include "guest.h"
#include "vm.h"

#define ALIVE		8
#define VCPU_IDS	300

/**
 * churn_vms() - make, run and destroy VMs with one vCPU each, by this thread
 * @count: VMs
 * @rounds: of the guest, with two exits each
 * @exits: filled in, KVM's count of exits for each VM
 */
void churn_vms(unsigned int count, u64 rounds, u64 *exits)
{
	struct vcpu vcpus[ALIVE];
	struct vm vms[ALIVE];
	unsigned int i, slot;

	for (i = 0; i < count + ALIVE; i++) {
		slot = i % ALIVE;
		if (i >= ALIVE) {
			vcpu_destroy(&vcpus[slot]);
			vm_destroy(&vms[slot]);
		}
		if (i >= count)
			continue;
		vm_create(&vms[slot], 1, 0);
		vcpu_create(&vms[slot], &vcpus[slot], i % VCPU_IDS);
		guest_load(&vcpus[slot], KIND_BIT(KIND_pio_out) | KIND_BIT(KIND_cpuid), rounds);
		guest_run(&vcpus[slot]);
		exits[i] = vcpu_stat(&vcpus[slot], "exits");
	}
}
