/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tells on a terminal how far reading has come, on long work. What is read is the
 * caller's.
 */
#ifndef _KVM_TRACE_PROGRESS_H
#define _KVM_TRACE_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

/* Bytes of records between two lines: about a second's work. */
#define KVM_TRACE_PROGRESS_STEP	(8u << 20)

/**
 * struct kvm_trace_progress - how far it is; all 0 at first, but @file
 * @file: where it is told, NULL if nowhere
 * @bytes: of records so far
 * @next: of how many it is told next
 * @since: time of the first sample, in ns
 * @told: a line is there
 */
struct kvm_trace_progress {
	FILE *file;
	__u64 bytes;
	__u64 next;
	__u64 since;
	bool told;
};

/**
 * kvm_trace_progress_add() - count a sample
 * @progress: how far it is
 * @ns: time of the sample
 * @bytes: of its record
 */
void kvm_trace_progress_add(struct kvm_trace_progress *progress, __u64 ns, __u64 bytes);

/**
 * kvm_trace_progress_end() - take the line away, and close the file
 * @progress: how far it is
 */
void kvm_trace_progress_end(struct kvm_trace_progress *progress);

#endif /* _KVM_TRACE_PROGRESS_H */
