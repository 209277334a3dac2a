/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a report looks like: a table for people, or JSON for programs.
 */
#ifndef _KVM_TRACE_REPORT_TEXT_H
#define _KVM_TRACE_REPORT_TEXT_H

#include "names.h"
#include "options.h"
#include "out.h"
#include "report.h"
#include "vmms.h"

/**
 * struct kvm_trace_report_of - what is to be printed
 * @report: the report
 * @options: how
 * @vmms: processes of the VMs
 * @names: names of these
 * @counts: what the recording lacks
 * @ns: length of the recording, for rates
 */
struct kvm_trace_report_of {
	struct kvm_trace_report *report;
	const struct kvm_trace_options *options;
	const struct kvm_trace_vmms *vmms;
	const struct kvm_trace_names *names;
	const struct kvm_trace_order_counts *counts;
	__u64 ns;
};

/**
 * kvm_trace_report_print() - print a report
 * @of: what
 * @out: where
 *
 * Return: false if there is no memory to sort it; nothing is printed then.
 */
bool kvm_trace_report_print(const struct kvm_trace_report_of *of, struct kvm_trace_out *out);

#endif /* _KVM_TRACE_REPORT_TEXT_H */
