/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts records of single events and of batches into one order of time, holding
 * them back as long as that takes. Where they come from and what is done with
 * them is the caller's.
 */
#ifndef _KVM_TRACE_ORDER_H
#define _KVM_TRACE_ORDER_H

#include "batch.h"

/* Most bytes that are held back; beyond them the oldest records must go. */
#define KVM_TRACE_ORDER_HELD_MAX	(256u << 20)
/* Most vCPUs of one recording; the records of others are left out. */
#define KVM_TRACE_ORDER_VCPUS_MAX	(1u << 18)

/**
 * enum kvm_trace_kind - kinds of records, and of events
 * @KVM_TRACE_KIND_VMEXIT: kvm_trace:vmexit
 * @KVM_TRACE_KIND_HYPERCALL: kvm_trace:hypercall
 * @KVM_TRACE_KIND_VCPU: kvm_trace:vcpu
 * @KVM_TRACE_KIND_LOST: kvm_trace:lost
 * @KVM_TRACE_KIND_HYPERCALL_SUB: kvm_trace_detail:hypercall_sub
 * @KVM_TRACE_KIND_BATCH: kvm_trace_batch:vmexits, of which the first three come
 */
enum kvm_trace_kind {
	KVM_TRACE_KIND_VMEXIT,
	KVM_TRACE_KIND_HYPERCALL,
	KVM_TRACE_KIND_VCPU,
	KVM_TRACE_KIND_LOST,
	KVM_TRACE_KIND_HYPERCALL_SUB,
	KVM_TRACE_KIND_BATCH,
};

/**
 * struct kvm_trace_item - a record in its turn
 * @kind: what it is, not KVM_TRACE_KIND_BATCH
 * @ns: its time: local_clock() at the VM entry where that is known, else the
 *	time of the sample
 * @guest_ns: time in the guest before the round trip, if @kind is VMEXIT
 * @guest_known: it is known
 * @vmexit: set if @kind is VMEXIT; like the others, it is the next item's then
 * @hypercall: set if @kind is HYPERCALL
 * @vcpu: set if @kind is VCPU
 * @lost: set if @kind is LOST
 * @sub: set if @kind is HYPERCALL_SUB
 */
struct kvm_trace_item {
	enum kvm_trace_kind kind;
	bool guest_known;
	__u64 ns;
	__u64 guest_ns;
	union {
		const struct kvm_trace_vmexit *vmexit;
		const struct kvm_trace_hypercall *hypercall;
		const struct kvm_trace_vcpu *vcpu;
		const struct kvm_trace_lost *lost;
		const struct kvm_trace_hypercall_sub *sub;
	};
};

/**
 * struct kvm_trace_order_counts - what a recording lacks, and what was odd in it
 * @damaged: batches, by enum kvm_trace_batch_error; [0]: damaged inside, what
 *	     comes before the damage was given
 * @unknown: items of batches that were stepped over
 * @too_short: single events that are shorter than their fixed fields
 * @missing: round trips that gaps of record counters tell of
 * @gaps: such gaps
 * @lost: exits that the module had no record for
 * @back: round trips whose record counter is that of an earlier one
 * @late: records given behind later ones: they came late, or the clock went back
 * @left_out: records of vCPUs beyond KVM_TRACE_ORDER_VCPUS_MAX
 * @since: when the first round trip began, ~0 without one
 * @until: time of the last sample
 * @hurried: KVM_TRACE_ORDER_HELD_MAX was reached
 */
struct kvm_trace_order_counts {
	__u64 damaged[KVM_TRACE_BATCH_UNKNOWN + 1];
	__u64 unknown;
	__u64 too_short;
	__u64 missing;
	__u64 gaps;
	__u64 lost;
	__u64 back;
	__u64 late;
	__u64 left_out;
	__u64 since;
	__u64 until;
	bool hurried;
};

/**
 * enum kvm_trace_refusal - why nothing more is taken
 * @KVM_TRACE_REFUSAL_NONE: all is well
 * @KVM_TRACE_REFUSAL_ABI: records of another KVM_TRACE_ABI_VERSION
 * @KVM_TRACE_REFUSAL_BATCH: batches of another KVM_TRACE_BATCH_VERSION
 * @KVM_TRACE_REFUSAL_MEMORY: there is no memory
 */
enum kvm_trace_refusal {
	KVM_TRACE_REFUSAL_NONE,
	KVM_TRACE_REFUSAL_ABI,
	KVM_TRACE_REFUSAL_BATCH,
	KVM_TRACE_REFUSAL_MEMORY,
};

struct kvm_trace_order;

/**
 * kvm_trace_order_new() - make an order
 * @give: called with each record in its turn
 * @place: NULL; or who takes sums needs no order: called for round trips of batches,
 *	   which are not given to @give then, where no single events tell the same;
 *	   as place of struct kvm_trace_batch_summer
 * @data: handed to both
 *
 * Return: the order, or NULL without memory for it.
 */
struct kvm_trace_order *
kvm_trace_order_new(void (*give)(void *data, const struct kvm_trace_item *item),
		    struct kvm_trace_times *(*place)(void *data, const struct kvm_trace_vmexit *v),
		    void *data);

/**
 * kvm_trace_order_add() - add an event
 * @order: the order
 * @kind: what it is
 * @time: time of the sample, in ns; not less than before
 * @record: the event with its 8 common bytes, of any alignment; is copied
 * @size: bytes at @record; padding behind it may count
 *
 * Gives what is older than KVM_TRACE_BATCH_LAG_MS then.
 *
 * Return: why nothing more is taken, or KVM_TRACE_REFUSAL_NONE. Damaged events
 * are counted and are no reason.
 */
enum kvm_trace_refusal kvm_trace_order_add(struct kvm_trace_order *order,
					   enum kvm_trace_kind kind, __u64 time,
					   const void *record, size_t size);

/**
 * kvm_trace_order_finish() - give all that is held back
 * @order: the order
 *
 * Return: as kvm_trace_order_add().
 */
enum kvm_trace_refusal kvm_trace_order_finish(struct kvm_trace_order *order);

/**
 * kvm_trace_order_counts() - what was counted so far
 * @order: the order
 *
 * Return: the counts, in memory of @order
 */
const struct kvm_trace_order_counts *kvm_trace_order_counts(const struct kvm_trace_order *order);

/**
 * kvm_trace_order_version() - the version that was refused
 * @order: the order
 *
 * Return: abi_version of the record or version of the batch
 */
unsigned int kvm_trace_order_version(const struct kvm_trace_order *order);

/**
 * kvm_trace_order_free() - free an order, and what it holds back
 * @order: the order, or NULL
 */
void kvm_trace_order_free(struct kvm_trace_order *order);

#endif /* _KVM_TRACE_ORDER_H */
