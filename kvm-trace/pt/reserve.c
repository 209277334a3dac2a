// SPDX-License-Identifier: GPL-2.0-only
/*
 * intel_pt takes one event per CPU. One of ours, a counter of the kernel that is never
 * enabled, has it find each CPU busy, and touches no MSR. All calls are made with CPU
 * hotplug held off, or from it, and with the caller's lock.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/perf_event.h>

#include "reserve.h"

static DEFINE_PER_CPU(struct perf_event *, reservation);
static struct pmu *intel_pt;	/* while reserved; built in, so it stays */
static unsigned int reserved;	/* CPUs */

static int reserve_cpu(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = intel_pt->type,
		.size = sizeof(attr),
		.disabled = 1,
		.pinned = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	WRITE_ONCE(per_cpu(reservation, cpu), event);
	reserved++;
	return 0;
}

/*
 * Who has it, if perf's error says that it is busy: perf counts events of CPUs down from 0,
 * of threads up. Else it is LBR's or BTS'.
 */
static enum kvm_trace_pt_why why_not(int error)
{
	int count = atomic_read(&intel_pt->exclusive_cnt);

	if (error != -EBUSY)
		return KVM_TRACE_PT_WHY_RESERVE;
	return count > 0 || count < -(int)reserved ? KVM_TRACE_PT_WHY_INTEL_PT :
						     KVM_TRACE_PT_WHY_LBR;
}

/**
 * kvm_trace_pt_reserve() - take intel_pt on all CPUs that are online and not ours yet
 * @kvm_pt: device of the PMU kvm_pt, beside which intel_pt's is
 * @error:  perf's errno, if there is a reason
 *
 * Return: KVM_TRACE_PT_WHY_NONE, also if there is no intel_pt; or why not, and what was
 *	   taken by then is ours until kvm_trace_pt_release()
 */
enum kvm_trace_pt_why kvm_trace_pt_reserve(struct device *kvm_pt, int *error)
{
	struct device *device;
	unsigned int cpu;

	device = bus_find_device_by_name(kvm_pt->bus, NULL, "intel_pt");
	if (!device)
		return KVM_TRACE_PT_WHY_NONE;
	WRITE_ONCE(intel_pt, dev_get_drvdata(device));
	put_device(device);
	for_each_online_cpu(cpu) {
		if (per_cpu(reservation, cpu))
			continue;
		*error = reserve_cpu(cpu);
		if (*error)
			return why_not(*error);
	}
	return KVM_TRACE_PT_WHY_NONE;
}

/**
 * kvm_trace_pt_release() - let intel_pt have all CPUs again
 */
void kvm_trace_pt_release(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kvm_trace_pt_release_cpu(cpu);
	WRITE_ONCE(intel_pt, NULL);
}

/**
 * kvm_trace_pt_reserve_cpu() - a CPU comes while intel_pt is reserved
 * @cpu: its number
 *
 * Return: KVM_TRACE_PT_WHY_NONE, or why not
 */
enum kvm_trace_pt_why kvm_trace_pt_reserve_cpu(unsigned int cpu)
{
	int error = intel_pt ? reserve_cpu(cpu) : 0;

	return error ? why_not(error) : KVM_TRACE_PT_WHY_NONE;
}

/**
 * kvm_trace_pt_has_cpu() - whether streams may run on a CPU: intel_pt does not
 * @cpu: its number
 *
 * Context: any, while there is an event.
 * Return: false if intel_pt was faster when the CPU came
 */
bool kvm_trace_pt_has_cpu(unsigned int cpu)
{
	return !READ_ONCE(intel_pt) || READ_ONCE(per_cpu(reservation, cpu));
}

/**
 * kvm_trace_pt_release_cpu() - a CPU goes
 * @cpu: its number
 */
void kvm_trace_pt_release_cpu(unsigned int cpu)
{
	struct perf_event *event = per_cpu(reservation, cpu);

	if (!event)
		return;
	WRITE_ONCE(per_cpu(reservation, cpu), NULL);
	reserved--;
	perf_event_release_kernel(event);
}
