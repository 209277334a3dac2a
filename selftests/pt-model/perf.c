// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf's own driver of Intel PT as far as it writes MSRs, on processor 0 (Linux 6.12,
 * arch/x86/events/intel/pt.c). It writes the output and the filters only if they
 * differ from what it remembers, and so relies on finding what it left.
 */
#include "world.h"

#define CTL_OF_PERF	(world.position[OUTPUT_PERF].ctl)

static void write_if_new(u32 msr, u64 value, u64 *remembered)
{
	if (value == *remembered)
		return;
	processor_write(msr, value);
	*remembered = value;
}

/**
 * perf_start() - the event is scheduled in: pt_event_start()
 */
void perf_start(void)
{
	struct position *position = &world.position[OUTPUT_PERF];

	position->reg[KVM_TRACE_PT_STATUS] = 0;
	processor_write(KVM_TRACE_PT_MSR_STATUS, 0);
	write_if_new(KVM_TRACE_PT_MSR_ADDR0_A, position->reg[KVM_TRACE_PT_ADDR],
		     &world.perf.filter);
	write_if_new(KVM_TRACE_PT_MSR_OUTPUT_BASE, position->reg[KVM_TRACE_PT_OUTPUT_BASE],
		     &world.perf.base);
	write_if_new(KVM_TRACE_PT_MSR_OUTPUT_MASK, position->reg[KVM_TRACE_PT_OUTPUT_MASK],
		     &world.perf.mask);
	processor_write(KVM_TRACE_PT_MSR_CTL, CTL_OF_PERF);
	world.perf.running = 1;
}

/**
 * perf_stop() - it is scheduled out: pt_event_stop(), which reads its position back
 */
void perf_stop(void)
{
	perf_pause();
	world.perf.base = processor_read(KVM_TRACE_PT_MSR_OUTPUT_BASE);
	world.perf.mask = processor_read(KVM_TRACE_PT_MSR_OUTPUT_MASK);
	world.perf.running = 0;
}

/**
 * perf_pause() - AUX pause: pt_config_stop()
 */
void perf_pause(void)
{
	processor_write(KVM_TRACE_PT_MSR_CTL, CTL_OF_PERF & ~KVM_TRACE_PT_CTL_TRACEEN);
}

/**
 * perf_resume() - AUX resume: pt_config_start()
 */
void perf_resume(void)
{
	processor_write(KVM_TRACE_PT_MSR_CTL, CTL_OF_PERF);
}

/**
 * perf_pmi() - intel_pt_interrupt()
 */
void perf_pmi(void)
{
	perf_stop();
	perf_start();
}

/**
 * perf_lost_msrs() - after a reset there is nothing to rely on
 */
void perf_lost_msrs(void)
{
	world.perf.base = ~0ULL;
	world.perf.mask = ~0ULL;
	world.perf.filter = ~0ULL;
}
