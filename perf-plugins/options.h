/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the user wants of the filter: the words of --dlarg. What is done about it is
 * others'.
 */
#ifndef _KVM_TRACE_OPTIONS_H
#define _KVM_TRACE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include "flow.h"

/* Most VMs, or processes, that can be chosen. */
#define KVM_TRACE_CHOSEN_MAX	64

/**
 * enum kvm_trace_what - what is written
 * @KVM_TRACE_LINES: a line for each record
 * @KVM_TRACE_REPORT: a table
 * @KVM_TRACE_TIMELINE: a trace for viewers
 * @KVM_TRACE_FLOW: lines, with what guests executed between them
 */
enum kvm_trace_what {
	KVM_TRACE_LINES,
	KVM_TRACE_REPORT,
	KVM_TRACE_TIMELINE,
	KVM_TRACE_FLOW,
};

/* X(column): what rows of a report can be sorted by. */
#define KVM_TRACE_COLUMNS(X)						\
	X(count) X(total) X(mean) X(min) X(p50) X(p99) X(max)		\
	X(handling) X(user) X(halted) X(runnable) X(guest)

#define KVM_TRACE_COLUMN_ENUM(column)	KVM_TRACE_COLUMN_##column,
enum kvm_trace_column {
	KVM_TRACE_COLUMN_NONE,
	KVM_TRACE_COLUMNS(KVM_TRACE_COLUMN_ENUM)
};

#undef KVM_TRACE_COLUMN_ENUM

/**
 * struct kvm_trace_chosen - numbers that were chosen
 * @numbers: these
 * @n: how many
 */
struct kvm_trace_chosen {
	__u32 numbers[KVM_TRACE_CHOSEN_MAX];
	size_t n;
};

/**
 * struct kvm_trace_options - the user's wishes
 * @what: what is written
 * @by: keys of the report, bits of enum kvm_trace_key_kind
 * @sort: what its rows are sorted by; NONE: VM by VM, by total
 * @every: seconds of each report, 0 for one of all
 * @rows: most rows of it, 0 for all
 * @json: it is JSON
 * @only_single: of round trips only single events
 * @only_batch: of round trips only batches
 * @vms: numbers of VMs
 * @pids: processes of VMs; all VMs if there are neither
 * @names: file of names of VMs, NULL if there is none
 * @flow: what of a flow
 * @itrace: a timeline with what guests executed
 * @kallsyms: file of names of a guest's functions, NULL if there is none
 * @progress: terminal that is told how far reading is, NULL if none is
 */
struct kvm_trace_options {
	enum kvm_trace_what what;
	unsigned int by;
	enum kvm_trace_column sort;
	__u32 every;
	__u32 rows;
	bool json;
	bool only_single;
	bool only_batch;
	struct kvm_trace_chosen vms;
	struct kvm_trace_chosen pids;
	const char *names;
	enum kvm_trace_flow_what flow;
	bool itrace;
	const char *kallsyms;
	const char *progress;
};

/**
 * kvm_trace_options_parse() - read the words of --dlarg
 * @options: result
 * @argc: how many
 * @argv: the words
 * @what: on an error, what is wrong
 * @size: bytes at @what
 *
 * Return: NULL, or on an error, what to do about it
 */
const char *kvm_trace_options_parse(struct kvm_trace_options *options, int argc, char **argv,
				    char *what, size_t size);

/**
 * kvm_trace_options_want() - whether a VM is wanted
 * @options: the wishes
 * @vm: its number
 * @pid: its process, 0 if not known
 *
 * Return: true if it is
 */
bool kvm_trace_options_want(const struct kvm_trace_options *options, __u32 vm, __u32 pid);

#endif /* _KVM_TRACE_OPTIONS_H */
