// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums and percentiles of host times. What a record's words mean is decode.c's.
 */
#include "times.h"

#define SUBS	(1u << KVM_TRACE_TIMES_SUB_BITS)

void kvm_trace_times_add_part(struct kvm_trace_times *times, __u64 word, __u64 ns)
{
	if (!ns)
		return;
	switch (word) {
	case KVM_TRACE_W_USER_NS:
	case KVM_TRACE_W_USER_NS_64:
		times->user += ns;
		times->have |= KVM_TRACE_W_USER_NS;
		break;
	case KVM_TRACE_W_HALT_NS:
	case KVM_TRACE_W_HALT_NS_64:
		times->halt += ns;
		times->have |= KVM_TRACE_W_HALT_NS;
		break;
	case KVM_TRACE_W_RUNNABLE_NS:
	case KVM_TRACE_W_RUNNABLE_NS_64:
		times->runnable += ns;
		times->have |= KVM_TRACE_W_RUNNABLE_NS;
		break;
	}
}

void kvm_trace_times_add_parts(struct kvm_trace_times *times, const struct kvm_trace_vmexit *v)
{
	kvm_trace_times_add_part(times, KVM_TRACE_W_USER_NS, v->user_ns);
	kvm_trace_times_add_part(times, KVM_TRACE_W_HALT_NS, v->halt_ns);
	kvm_trace_times_add_part(times, KVM_TRACE_W_RUNNABLE_NS, v->runnable_ns);
}

void kvm_trace_times_merge(struct kvm_trace_times *times, const struct kvm_trace_times *others)
{
	unsigned int i;

	if (!others->count)
		return;
	if (!times->count || others->min < times->min)
		times->min = others->min;
	if (others->max > times->max)
		times->max = others->max;
	times->count += others->count;
	times->host += others->host;
	times->guest += others->guest;
	times->user += others->user;
	times->halt += others->halt;
	times->runnable += others->runnable;
	times->have |= others->have;
	for (i = 0; i < KVM_TRACE_TIMES_BUCKETS; i++)
		if (__builtin_add_overflow(times->buckets[i], others->buckets[i],
					   &times->buckets[i]))
			times->buckets[i] = ~0u;
}

/* The middle of what is in a bucket. */
static __u64 middle_of(unsigned int bucket)
{
	unsigned int bits;

	if (bucket < 2 * SUBS)
		return bucket;
	bits = bucket / SUBS - 1;
	return ((__u64)(SUBS + bucket % SUBS) << bits) + ((1ull << bits) - 1) / 2;
}

__u64 kvm_trace_times_quantile(const struct kvm_trace_times *times, unsigned int percent)
{
	__u64 ns, all = 0, below = 0;
	unsigned int i;

	for (i = 0; i < KVM_TRACE_TIMES_BUCKETS; i++)
		all += times->buckets[i];
	for (i = 0; i < KVM_TRACE_TIMES_BUCKETS - 1; i++) {
		below += times->buckets[i];
		/* Without division, which would round. */
		if (below && below * 100 >= all * percent)
			break;
	}
	ns = i < KVM_TRACE_TIMES_BUCKETS - 1 ? middle_of(i) : times->max;
	if (ns < times->min)
		return times->min;
	return ns < times->max ? ns : times->max;
}

__u64 kvm_trace_times_handling(const struct kvm_trace_times *times)
{
	__u64 rest = times->host > times->user ? times->host - times->user : 0;

	return rest > times->halt ? rest - times->halt : 0;
}
