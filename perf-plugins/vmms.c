// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which process made a VM: a hash. What records say of it is decode.c's.
 */
#include <stdbool.h>
#include <stdlib.h>
#include "vmms.h"

#define FIRST_SLOTS	64	/* a power of two */

/* vm numbers start at 1: 0 is a free slot. */
struct kvm_trace_vmm {
	__u32 vm;
	__u32 pid;
};

static struct kvm_trace_vmm *slot_of(struct kvm_trace_vmm *slot, size_t slots, __u32 vm)
{
	size_t i = vm * 2654435761u & (slots - 1);

	while (slot[i].vm && slot[i].vm != vm)
		i = (i + 1) & (slots - 1);
	return &slot[i];
}

static bool grow(struct kvm_trace_vmms *vmms)
{
	size_t i, slots = vmms->slots ? vmms->slots * 2 : FIRST_SLOTS;
	struct kvm_trace_vmm *slot;

	if (vmms->used < vmms->slots / 2)
		return true;
	if (vmms->used >= KVM_TRACE_VMMS_MAX)
		return false;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return false;
	for (i = 0; i < vmms->slots; i++)
		if (vmms->slot[i].vm)
			*slot_of(slot, slots, vmms->slot[i].vm) = vmms->slot[i];
	free(vmms->slot);
	vmms->slot = slot;
	vmms->slots = slots;
	return true;
}

void kvm_trace_vmms_add(struct kvm_trace_vmms *vmms, __u32 vm, __u32 pid)
{
	struct kvm_trace_vmm *slot;

	if (!vm || !pid || !grow(vmms))
		return;
	slot = slot_of(vmms->slot, vmms->slots, vm);
	vmms->used += !slot->vm;
	*slot = (struct kvm_trace_vmm){ vm, pid };
}

__u32 kvm_trace_vmms_pid(const struct kvm_trace_vmms *vmms, __u32 vm)
{
	return vmms->slots ? slot_of(vmms->slot, vmms->slots, vm)->pid : 0;
}

void kvm_trace_vmms_free(struct kvm_trace_vmms *vmms)
{
	free(vmms->slot);
	*vmms = (struct kvm_trace_vmms){};
}
