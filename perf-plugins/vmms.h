/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which process made a VM, as vcpu records told.
 */
#ifndef _KVM_TRACE_VMMS_H
#define _KVM_TRACE_VMMS_H

#include <stddef.h>
#include <linux/types.h>

/* Most VMs that are remembered. */
#define KVM_TRACE_VMMS_MAX	(1u << 20)

struct kvm_trace_vmm;

/**
 * struct kvm_trace_vmms - processes by number of the VM; all 0 at first
 * @slot: a hash, at most half full
 * @slots: its size, a power of two
 * @used: VMs in it
 */
struct kvm_trace_vmms {
	struct kvm_trace_vmm *slot;
	size_t slots;
	size_t used;
};

/**
 * kvm_trace_vmms_add() - remember the process of a VM
 * @vmms: where
 * @vm: number of the VM; nothing is done if it is 0
 * @pid: its process; nothing is done if it is 0
 *
 * Without memory, and beyond KVM_TRACE_VMMS_MAX, it is just not remembered.
 */
void kvm_trace_vmms_add(struct kvm_trace_vmms *vmms, __u32 vm, __u32 pid);

/**
 * kvm_trace_vmms_pid() - the process of a VM
 * @vmms: where
 * @vm: number of the VM
 *
 * Return: the process id, 0 if it is not known
 */
__u32 kvm_trace_vmms_pid(const struct kvm_trace_vmms *vmms, __u32 vm);

/**
 * kvm_trace_vmms_free() - forget all
 * @vmms: as at first then
 */
void kvm_trace_vmms_free(struct kvm_trace_vmms *vmms);

#endif /* _KVM_TRACE_VMMS_H */
