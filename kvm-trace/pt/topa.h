/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables by which Intel PT writes to the pages of an AUX area, and where in the
 * area a position in them is. Whose trace it is, and when, is not in here.
 */
#ifndef _KVM_TRACE_PT_TOPA_H
#define _KVM_TRACE_PT_TOPA_H

#include <linux/types.h>

struct kvm_trace_pt_buffer;

struct kvm_trace_pt_buffer *kvm_trace_pt_buffer_alloc(void **pages, int nr_pages, bool snapshot,
						      int node);
bool kvm_trace_pt_buffer_is_ours(const void *aux);
void kvm_trace_pt_buffer_put(struct kvm_trace_pt_buffer *buffer);
void kvm_trace_pt_buffer_pin(struct kvm_trace_pt_buffer *buffer);
void kvm_trace_pt_buffer_unpin(struct kvm_trace_pt_buffer *buffer);

bool kvm_trace_pt_buffer_open(struct kvm_trace_pt_buffer *buffer, unsigned long head,
			      unsigned long space);
void kvm_trace_pt_buffer_close(struct kvm_trace_pt_buffer *buffer);
bool kvm_trace_pt_buffer_full(const struct kvm_trace_pt_buffer *buffer, unsigned long head);
void kvm_trace_pt_buffer_seek(const struct kvm_trace_pt_buffer *buffer, unsigned long head,
			      u64 *base, u64 *mask);
unsigned long kvm_trace_pt_buffer_moved(struct kvm_trace_pt_buffer *buffer, unsigned long head,
					u64 base, u64 mask);
unsigned long kvm_trace_pt_buffer_size(const struct kvm_trace_pt_buffer *buffer);
bool kvm_trace_pt_buffer_snapshot(const struct kvm_trace_pt_buffer *buffer);
bool kvm_trace_pt_buffer_one_table(const struct kvm_trace_pt_buffer *buffer);

#endif /* _KVM_TRACE_PT_TOPA_H */
