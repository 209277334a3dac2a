/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock that host time is measured with. Times in records are those of
 * local_clock(), which costs some 45 instructions; for the span from an exit
 * to an entry a difference of TSCs does, where the TSC is good.
 */
#ifndef _KVM_TRACE_STAMP_H
#define _KVM_TRACE_STAMP_H

#include <linux/bits.h>
#include <linux/sched/clock.h>
#include <linux/types.h>

#include <asm/tsc.h>

/*
 * How stamps are made and turned into ns, in one word so that it is read as one:
 *
 *	 63             32 31       9    8     7      0
 *	+-----------------+----------+-------+---------+
 *	|      mult       |    0     |  TSC  |  shift  |
 *	+-----------------+----------+-------+---------+
 *
 * ns = (stamps * mult) >> shift. Without TSC stamps are ns of local_clock().
 */
#define KVM_TRACE_CLOCK_TSC	BIT_ULL(8)
#define KVM_TRACE_CLOCK_LOCAL	BIT_ULL(32)
#define KVM_TRACE_CLOCK_SHIFT	63

extern u64 kvm_trace_clock;

void kvm_trace_clock_start(void);
void kvm_trace_clock_stop(void);
s64 kvm_trace_ns_slow(u64 clock, s64 delta);

/**
 * kvm_trace_stamp() - the time now, for kvm_trace_ns()
 * @clock: kvm_trace_clock
 *
 * Return: the stamp
 */
static __always_inline u64 kvm_trace_stamp(u64 clock)
{
	return likely(clock & KVM_TRACE_CLOCK_TSC) ? rdtsc() : local_clock();
}

/**
 * kvm_trace_ns() - time from one stamp to another
 * @clock: kvm_trace_clock of both
 * @from:  stamp of kvm_trace_stamp()
 * @to:    a later one
 *
 * Return: ns; negative if the clock went back
 */
static __always_inline s64 kvm_trace_ns(u64 clock, u64 from, u64 to)
{
	u64 delta = to - from;

	/* Also if the clock went back. */
	if (unlikely(delta >> 32))
		return kvm_trace_ns_slow(clock, delta);
	return (delta * (clock >> 32)) >> (clock & KVM_TRACE_CLOCK_SHIFT);
}

#endif /* _KVM_TRACE_STAMP_H */
