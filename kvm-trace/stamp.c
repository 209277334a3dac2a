// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the clock of stamps, and gives the TSC up when the kernel does.
 */
#include <linux/clocksource.h>
#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/workqueue.h>

#include "roundtrip.h"
#include "stamp.h"

u64 kvm_trace_clock __read_mostly = KVM_TRACE_CLOCK_LOCAL;

/* Seconds between looks at the TSC: whether it is still good, and its rate. */
#define CHECK_PERIOD_S	4

static void check_clock(struct work_struct *work);
static DECLARE_DELAYED_WORK(check_work, check_clock);

static u64 clock_of_tsc(void)
{
	u32 mult, shift;

	/* As the kernel scales the TSC for local_clock(): 0 is no limit. */
	clocks_calc_mult_shift(&mult, &shift, tsc_khz, NSEC_PER_MSEC, 0);
	return (u64)mult << 32 | KVM_TRACE_CLOCK_TSC | shift;
}

static void check_clock(struct work_struct *work)
{
	if (check_tsc_unstable()) {
		/* Round trips that are open then are recorded as clamped. */
		WRITE_ONCE(kvm_trace_clock, KVM_TRACE_CLOCK_LOCAL);
		/* The short way does not look at the clock. */
		kvm_trace_ask(KVM_TRACE_ASK_LOCAL_CLOCK, true);
		return;
	}
	/* The kernel measures the rate again some seconds after boot. */
	WRITE_ONCE(kvm_trace_clock, clock_of_tsc());
	schedule_delayed_work(&check_work, CHECK_PERIOD_S * HZ);
}

/**
 * kvm_trace_clock_start() - choose the clock
 *
 * Context: process context, before the first probe is attached.
 */
void kvm_trace_clock_start(void)
{
	WRITE_ONCE(kvm_trace_clock, KVM_TRACE_CLOCK_LOCAL);
	if (check_tsc_unstable() || !tsc_khz)
		return;
	WRITE_ONCE(kvm_trace_clock, clock_of_tsc());
	schedule_delayed_work(&check_work, CHECK_PERIOD_S * HZ);
}

/**
 * kvm_trace_clock_stop() - no more stamps are made
 *
 * Context: process context, no probe runs any more.
 */
void kvm_trace_clock_stop(void)
{
	cancel_delayed_work_sync(&check_work);
	kvm_trace_ask(KVM_TRACE_ASK_LOCAL_CLOCK, false);
}

/**
 * kvm_trace_ns_slow() - what kvm_trace_ns() does with odd differences
 * @clock: kvm_trace_clock of both stamps
 * @delta: of two stamps; does not fit in 32 bits, or is negative
 *
 * Return: ns, or @delta if that is negative
 */
s64 kvm_trace_ns_slow(u64 clock, s64 delta)
{
	if (delta < 0)
		return delta;
	return mul_u64_u32_shr(delta, clock >> 32, clock & KVM_TRACE_CLOCK_SHIFT);
}
