/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads batches, the events kvm_trace_batch:vmexits: gives the records that are
 * in one, as decode.h has them, one by one. Allocates nothing, and knows nothing
 * of where the bytes come from.
 */
#ifndef _KVM_TRACE_BATCH_H
#define _KVM_TRACE_BATCH_H

#include <linux/kvm_trace_batch.h>
#include "decode.h"
#include "times.h"

/**
 * enum kvm_trace_batch_item - what kvm_trace_batch_next() has found
 * @KVM_TRACE_BATCH_END: nothing more, and all was well
 * @KVM_TRACE_BATCH_DAMAGED: the rest cannot be read
 * @KVM_TRACE_BATCH_IS_VMEXIT: a round trip, in vmexit
 * @KVM_TRACE_BATCH_IS_HYPERCALL: a hypercall, in hypercall
 * @KVM_TRACE_BATCH_IS_VCPU: who the vCPU is, in vcpu
 */
enum kvm_trace_batch_item {
	KVM_TRACE_BATCH_END,
	KVM_TRACE_BATCH_DAMAGED,
	KVM_TRACE_BATCH_IS_VMEXIT,
	KVM_TRACE_BATCH_IS_HYPERCALL,
	KVM_TRACE_BATCH_IS_VCPU,
};

/**
 * enum kvm_trace_batch_error - what is wrong with a batch
 * @KVM_TRACE_BATCH_OK: nothing
 * @KVM_TRACE_BATCH_TRUNCATED: its end is missing
 * @KVM_TRACE_BATCH_CHECK: some of its bytes are not those that were written
 * @KVM_TRACE_BATCH_UNKNOWN: another version of the format, or not a batch
 */
enum kvm_trace_batch_error {
	KVM_TRACE_BATCH_OK,
	KVM_TRACE_BATCH_TRUNCATED,
	KVM_TRACE_BATCH_CHECK,
	KVM_TRACE_BATCH_UNKNOWN,
};

/**
 * struct kvm_trace_batch_reader - a batch that is being read
 * @ns: local_clock() at the entry that ends the round trip of the last record
 *	given, in ns; the record's time
 * @guest_ns: time in the guest before that round trip, in ns: the word, or of the stamps
 * @guest_known: @guest_ns is known
 * @vmexit: the last round trip given
 * @hypercall: the last hypercall given
 * @vcpu: the last vcpu record given; its strings point into the reader
 * @unknown: items that were stepped over
 * @skipped: round trips that were lost or dropped inside the batch
 * @skips: in how many places
 */
struct kvm_trace_batch_reader {
	__u64 ns;
	__u64 guest_ns;
	bool guest_known;
	struct kvm_trace_vmexit vmexit;
	struct kvm_trace_hypercall hypercall;
	struct kvm_trace_vcpu vcpu;
	unsigned int unknown;
	__u64 skipped;
	__u32 skips;

	/* private: of the reader itself */
	const __u8 *at;
	const __u8 *end;
	__u64 start_ns;
	__u64 start;
	__u64 entry;
	__u64 host_ns;
	__u64 rip;
	__u64 ret;
	__u32 mult;
	__u32 vm;
	__u32 seq;
	__u32 left;
	__u16 vcpu_id;
	__u8 isa;
	__u8 shift;
	bool no_entry;
	bool host_ns_given;
	bool held;
	bool damaged;
	struct {
		__u64 words;
		__u16 reason;
		__u16 flags;
		__u8 class;
		bool defined;
	} shapes[KVM_TRACE_BATCH_SHAPES];
	__u64 word[64];
	__u8 vcpu_bytes[KVM_TRACE_VCPU_SIZE];
};

/**
 * kvm_trace_batch_open() - begin to read a batch
 * @r: the reader
 * @record: the event with its 8 common bytes, of any alignment; must stay while
 *	    @r is read
 * @size: bytes at @record; padding behind it may count
 *
 * Return: KVM_TRACE_BATCH_OK; or why nothing of it is to be believed, and @r is
 * not of use.
 */
enum kvm_trace_batch_error kvm_trace_batch_open(struct kvm_trace_batch_reader *r,
						const void *record, size_t size);

/**
 * kvm_trace_batch_reopen() - begin anew with a batch that was opened before
 * @r: the reader, this or another one
 * @record: the event, which kvm_trace_batch_open() has found to be good
 */
void kvm_trace_batch_reopen(struct kvm_trace_batch_reader *r, const void *record);

/**
 * struct kvm_trace_batch_summer - who takes the sums of a batch
 * @place: where round trips are to be summed up that have class and reason in common;
 *	   of the record vm, vcpu, isa, class, reason and reason_hi are set; the place
 *	   must stay until the batch is summed up
 * @vcpu: called with each vcpu record
 * @data: handed to both
 */
struct kvm_trace_batch_summer {
	struct kvm_trace_times *(*place)(void *data, const struct kvm_trace_vmexit *v);
	void (*vcpu)(void *data, const struct kvm_trace_vcpu *vcpu);
	void *data;
};

/**
 * kvm_trace_batch_sum_up() - sum up a batch, without a look at each record
 * @r: a reader that was opened, of which nothing was read
 * @summer: takes the sums
 *
 * Return: KVM_TRACE_BATCH_END, or KVM_TRACE_BATCH_DAMAGED; what came before the
 * damage is in the sums
 */
enum kvm_trace_batch_item kvm_trace_batch_sum_up(struct kvm_trace_batch_reader *r,
						 const struct kvm_trace_batch_summer *summer);

/**
 * kvm_trace_batch_next() - the next record of a batch
 * @r: a reader that was opened
 *
 * Records come in the order in which the single events of the same vCPU would.
 *
 * Return: what it is. After END and DAMAGED, the same again.
 */
enum kvm_trace_batch_item kvm_trace_batch_next(struct kvm_trace_batch_reader *r);

/**
 * kvm_trace_batch_error_text() - what is wrong, in words
 * @error: what kvm_trace_batch_open() has returned
 *
 * Return: the words
 */
const char *kvm_trace_batch_error_text(enum kvm_trace_batch_error error);

#endif /* _KVM_TRACE_BATCH_H */
