/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of VMs that the user gives, by the process of the VM. Which VM belongs to which
 * process is vmms.c's.
 */
#ifndef _KVM_TRACE_NAMES_H
#define _KVM_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Bytes of a name, with its NUL; what is longer is cut off. */
#define KVM_TRACE_NAME_SIZE	64
/* Most names. */
#define KVM_TRACE_NAMES_MAX	65536

struct kvm_trace_name;

/**
 * struct kvm_trace_names - names by process; all 0 if there are none
 * @list: sorted by process
 * @n: how many
 */
struct kvm_trace_names {
	struct kvm_trace_name *list;
	size_t n;
};

/**
 * kvm_trace_names_read() - read names from a file
 * @names: where to put them
 * @path: a file of lines "PID NAME"
 *
 * Return: NULL, or what is wrong and what to do about it; there are no names then
 */
const char *kvm_trace_names_read(struct kvm_trace_names *names, const char *path);

/**
 * kvm_trace_names_of() - the name for a process
 * @names: the names
 * @pid: the process
 *
 * Return: the name, or NULL if there is none
 */
const char *kvm_trace_names_of(const struct kvm_trace_names *names, __u32 pid);

/**
 * kvm_trace_names_free() - forget all names
 * @names: as without names then
 */
void kvm_trace_names_free(struct kvm_trace_names *names);

#endif /* _KVM_TRACE_NAMES_H */
