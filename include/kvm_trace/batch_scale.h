/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How stamps become ns in batches: the module predicts words with it, and every
 * decoder must find the same.
 */
#ifndef _KVM_TRACE_BATCH_SCALE_H
#define _KVM_TRACE_BATCH_SCALE_H

#include <linux/types.h>

/**
 * kvm_trace_batch_scale() - stamps to ns
 * @stamps: difference of two stamps
 * @mult:   scale
 * @shift:  scale, at most 32
 *
 * Return: (@stamps * @mult) >> @shift, computed with 96 bits, of it bits 63:0
 */
static inline __u64 kvm_trace_batch_scale(__u64 stamps, __u32 mult,
					  unsigned int shift)
{
	__u64 low = (stamps & 0xffffffff) * mult;
	__u64 high = (stamps >> 32) * mult;

	return (low >> shift) + (high << (32 - shift));
}

#endif /* _KVM_TRACE_BATCH_SCALE_H */
