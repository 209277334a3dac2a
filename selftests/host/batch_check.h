/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the length and the check of a batch right, for tests that change one: so
 * that what is behind the check is reached. Written from uapi
 * linux/kvm_trace_batch.h, and not with the code that is tested.
 */
#ifndef _BATCH_CHECK_H
#define _BATCH_CHECK_H

#include <string.h>
#include <linux/kvm_trace_batch.h>

/* @size: bytes at @event, at least KVM_TRACE_BATCH_SIZE */
static inline void batch_put_right(__u8 *event, size_t size)
{
	__u32 loc = (__u32)(size - KVM_TRACE_BATCH_SIZE) << 16 | KVM_TRACE_BATCH_SIZE;
	__u64 check = KVM_TRACE_BATCH_SEED, word;
	size_t at;

	memcpy(event + 44, &loc, sizeof(loc));
	for (at = KVM_TRACE_BATCH_CHECK_AT; at < size; at += 8) {
		word = 0;
		memcpy(&word, event + at, size - at < 8 ? size - at : 8);
		check ^= word;
		check *= KVM_TRACE_BATCH_PRIME;
		check = check << KVM_TRACE_BATCH_ROTATE | check >> (64 - KVM_TRACE_BATCH_ROTATE);
	}
	memcpy(event + 8, &check, sizeof(check));
}

#endif /* _BATCH_CHECK_H */
