/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Host times of many round trips, and their parts: sums, and a histogram in fixed
 * memory from which percentiles come. Whose round trips they are is the caller's.
 */
#ifndef _KVM_TRACE_TIMES_H
#define _KVM_TRACE_TIMES_H

#include "decode.h"

/*
 * Buckets of the histogram: of 1 ns up to 2^(SUB_BITS + 1), then 2^SUB_BITS of them
 * for each power of two, so that the middle of one is at most 1/32 from any time in
 * it. The last one also has all of 2^MAX_BITS ns and more.
 */
#define KVM_TRACE_TIMES_SUB_BITS	4
#define KVM_TRACE_TIMES_MAX_BITS	40
#define KVM_TRACE_TIMES_BUCKETS						\
	((KVM_TRACE_TIMES_MAX_BITS - KVM_TRACE_TIMES_SUB_BITS + 1) <<	\
	 KVM_TRACE_TIMES_SUB_BITS)

/**
 * struct kvm_trace_times - what round trips took, in ns; all 0 at first
 * @count: how many
 * @host: from exit to entry, of all of them
 * @min: the shortest of them
 * @max: the longest of them
 * @guest: in the guest before the exit
 * @user: part of @host outside KVM_RUN
 * @halt: part of @host halted in KVM
 * @runnable: part of @host in which the thread waited for a CPU
 * @have: KVM_TRACE_W_GUEST_NS, _USER_NS, _HALT_NS and _RUNNABLE_NS, those that a
 *	  round trip had
 * @buckets: how many took how long; each stops at 2^32 - 1
 */
struct kvm_trace_times {
	__u64 count;
	__u64 host;
	__u64 min;
	__u64 max;
	__u64 guest;
	__u64 user;
	__u64 halt;
	__u64 runnable;
	__u64 have;
	__u32 buckets[KVM_TRACE_TIMES_BUCKETS];
};

/**
 * kvm_trace_times_bucket() - the bucket of a time
 * @ns: the time
 *
 * Return: its number
 */
static inline unsigned int kvm_trace_times_bucket(__u64 ns)
{
	unsigned int bits;

	if (ns < 1u << KVM_TRACE_TIMES_SUB_BITS)
		return ns;
	if (ns >> KVM_TRACE_TIMES_MAX_BITS)
		return KVM_TRACE_TIMES_BUCKETS - 1;
	bits = 63 - __builtin_clzll(ns) - KVM_TRACE_TIMES_SUB_BITS;
	return (bits << KVM_TRACE_TIMES_SUB_BITS) + (ns >> bits);
}

/**
 * kvm_trace_times_add() - add a round trip
 * @times: where
 * @ns: its host time
 */
static inline void kvm_trace_times_add(struct kvm_trace_times *times, __u64 ns)
{
	__u32 *bucket = &times->buckets[kvm_trace_times_bucket(ns)];

	times->min = !times->count || ns < times->min ? ns : times->min;
	times->max = ns > times->max ? ns : times->max;
	times->host += ns;
	times->count++;
	*bucket += *bucket != ~0u;
}

/**
 * kvm_trace_times_add_guest() - add the guest time of a round trip
 * @times: where its host time was added
 * @ns: time in the guest before it
 */
static inline void kvm_trace_times_add_guest(struct kvm_trace_times *times, __u64 ns)
{
	times->guest += ns;
	times->have |= KVM_TRACE_W_GUEST_NS;
}

/**
 * kvm_trace_times_add_part() - add a part of a round trip's host time
 * @times: where the host time is added
 * @word: KVM_TRACE_W_* of the part; one that is not in @times does nothing
 * @ns: the part
 */
void kvm_trace_times_add_part(struct kvm_trace_times *times, __u64 word, __u64 ns);

/**
 * kvm_trace_times_add_parts() - add all parts of a round trip's host time
 * @times: where the host time was added
 * @v: the round trip
 */
void kvm_trace_times_add_parts(struct kvm_trace_times *times, const struct kvm_trace_vmexit *v);

/**
 * kvm_trace_times_merge() - add all of other round trips
 * @times: where
 * @others: the others
 */
void kvm_trace_times_merge(struct kvm_trace_times *times, const struct kvm_trace_times *others);

/**
 * kvm_trace_times_quantile() - the host time that so many do not exceed
 * @times: the round trips
 * @percent: how many of a hundred
 *
 * Return: the shortest time that is enough, at most 1/32 wrong if it is less than
 * 2^KVM_TRACE_TIMES_MAX_BITS ns, else @times->max; 0 without round trips.
 */
__u64 kvm_trace_times_quantile(const struct kvm_trace_times *times, unsigned int percent);

/**
 * kvm_trace_times_handling() - the part of host time that KVM and the host took
 * @times: the round trips
 *
 * Return: what remains without user space and halts; known only if @times->have
 * names either.
 */
__u64 kvm_trace_times_handling(const struct kvm_trace_times *times);

#endif /* _KVM_TRACE_TIMES_H */
