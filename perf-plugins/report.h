/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts and host times of round trips by VM, class and reason, and the table of
 * them. It knows nothing of perf.
 */
#ifndef _KVM_TRACE_REPORT_H
#define _KVM_TRACE_REPORT_H

#include <stdio.h>
#include "batch.h"
#include "vmms.h"

/* Most rows; what belongs to none of them is in a last one. */
#define KVM_TRACE_REPORT_ROWS_MAX	(1u << 16)

struct kvm_trace_report;

/**
 * kvm_trace_report_new() - make an empty report
 *
 * Return: the report, or NULL without memory for it.
 */
struct kvm_trace_report *kvm_trace_report_new(void);

/**
 * kvm_trace_report_add() - count round trips
 * @report: the report
 * @v: one of them; vm, isa, class, reason and reason_hi count
 * @sum: how many there are, and how long they took
 */
void kvm_trace_report_add(struct kvm_trace_report *report, const struct kvm_trace_vmexit *v,
			  const struct kvm_trace_batch_sum *sum);

/**
 * kvm_trace_report_print() - print the table
 * @report: the report; nothing can be added to it after this
 * @vmms: processes of the VMs
 * @file: where to print
 *
 * VMs in the order of their numbers, of each what took most time first.
 */
void kvm_trace_report_print(struct kvm_trace_report *report, const struct kvm_trace_vmms *vmms,
			    FILE *file);

/**
 * kvm_trace_report_free() - free a report
 * @report: the report, or NULL
 */
void kvm_trace_report_free(struct kvm_trace_report *report);

#endif /* _KVM_TRACE_REPORT_H */
