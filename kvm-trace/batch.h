/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers of batches: one for each vCPU while somebody wants them. Which bytes are
 * in them is batch_encode.c's; who wants them comes from events.c and hooks.c.
 */
#ifndef _KVM_TRACE_BATCH_H
#define _KVM_TRACE_BATCH_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "batch_encode.h"
#include "stamp.h"
#include "vcpu.h"

/**
 * struct kvm_trace_buffer - a batch that is being filled
 * @batch:	the batch; empty if its event.count is 0
 * @old:	stamp at which it is old
 * @clock:	kvm_trace_clock of its stamps
 * @about:	more than the round trip itself is to be added: the short way must
 *		not be taken
 * @vcpu_due:	a vcpu record is to be added
 * @vcpu:	that record, from its byte 8
 * @held:	its thread slept meanwhile, and perf records the thread
 * @lock:	guards @cpu
 * @cpu:	only there the batch is touched, with interrupts off; or
 *		KVM_TRACE_NO_CPU
 * @free:	entry of the pool
 * @left:	entry of the list of those that were left behind on @cpu
 * @rcu:	frees it
 * @regs:	where perf keeps the registers of the sample
 */
struct kvm_trace_buffer {
	struct kvm_trace_batch batch;
	u64 old;
	u64 clock;
	bool about;
	bool vcpu_due;
	u8 vcpu[KVM_TRACE_BATCH_VCPU_BYTES];
	bool held;
	raw_spinlock_t lock;
	int cpu;
	struct list_head free;
	struct llist_node left;
	struct rcu_head rcu;
	struct pt_regs regs;
};

#define KVM_TRACE_NO_CPU	(-1)

/* Parameter: KVM_TRACE_W_* words that batches may hold. */
extern u64 kvm_trace_batch_words;
/* Parameter: batches hold hypercalls too. */
extern bool kvm_trace_batch_hypercalls;
/* Of vCPUs that have none; nothing is ever added to it. */
extern struct kvm_trace_buffer kvm_trace_no_buffer;

int kvm_trace_batch_init(void);
void kvm_trace_batch_exit(void);
int kvm_trace_batch_start(void);
void kvm_trace_batch_stop(void);

void kvm_trace_batch_add(struct kvm_trace_vcpu *v, u64 clock, bool entry_seen,
			 const struct kvm_trace_batch_trip *trip,
			 const struct kvm_trace_hypercall_record *call);
void kvm_trace_batch_emit(struct kvm_trace_buffer *buffer);
bool kvm_trace_batch_vcpu(struct kvm_trace_vcpu *v,
			  const struct kvm_trace_vcpu_record *record);
void kvm_trace_batch_moved(struct kvm_trace_vcpu *v, int cpu);
void kvm_trace_batch_died(struct kvm_trace_vcpu *v);
void kvm_trace_batch_free(struct kvm_trace_buffer *buffer);

void kvm_trace_batch_perf_open(const struct perf_event *event, bool on);
void kvm_trace_batch_perf_add(const struct perf_event *event);
void kvm_trace_batch_perf_del(const struct perf_event *event);
void kvm_trace_batch_ftrace(bool comes);

/**
 * kvm_trace_batch_ripe() - whether a batch is full or old
 * @buffer: a buffer, not kvm_trace_no_buffer
 * @stamp:  the time now
 *
 * Return: true if it is to be emitted now
 */
static __always_inline bool
kvm_trace_batch_ripe(const struct kvm_trace_buffer *buffer, u64 stamp)
{
	return buffer->batch.len > KVM_TRACE_BATCH_FULL ||
	       (s64)(stamp - buffer->old) >= 0;
}

#endif /* _KVM_TRACE_BATCH_H */
