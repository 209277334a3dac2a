/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaching to KVM's tracepoints: who wants it, and when it is done. Hooks call
 * into roundtrip.c, path.c, hypercall.c and pt/stream.c.
 */
#ifndef _KVM_TRACE_HOOKS_H
#define _KVM_TRACE_HOOKS_H

#include <linux/types.h>

/* Our events, as bits of who is wanted. */
enum kvm_trace_event_id {
	KVM_TRACE_EVENT_VMEXIT,
	KVM_TRACE_EVENT_HYPERCALL,
	KVM_TRACE_EVENT_HYPERCALL_SUB,
	KVM_TRACE_EVENT_VCPU,
	KVM_TRACE_EVENT_LOST,
	KVM_TRACE_EVENT_BATCH,
	/* Hypercalls in batches; has no tracepoint. */
	KVM_TRACE_EVENT_BATCH_HYPERCALL,
	/* Of the PMU kvm_pt: any, and those of CPUs; they have no tracepoint. */
	KVM_TRACE_EVENT_PT,
	KVM_TRACE_EVENT_PT_CPU,
	KVM_TRACE_EVENT_COUNT,
};

int kvm_trace_hooks_init(void);
void kvm_trace_hooks_exit(void);

int kvm_trace_hooks_get(enum kvm_trace_event_id id);
void kvm_trace_hooks_put(enum kvm_trace_event_id id);
int kvm_trace_hooks_set_words(u64 words);
int kvm_trace_hooks_set_batch_words(u64 words);
int kvm_trace_hooks_set_batch_hypercalls(bool on);
void kvm_trace_hooks_note(enum kvm_trace_event_id id, bool on);
bool kvm_trace_hooks_attached(void);

/* Parameter: attach although KVM's prototypes cannot be checked. */
extern bool kvm_trace_allow_no_btf;

#endif /* _KVM_TRACE_HOOKS_H */
