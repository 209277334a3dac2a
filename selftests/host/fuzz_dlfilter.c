// SPDX-License-Identifier: GPL-2.0-only
/*
 * Target of a fuzzer: the whole filter of perf script, on any events in any order.
 * With libFuzzer (make fuzz) it looks for inputs that do harm; alone, with a main()
 * of its own, it reads those of corpus-dlfilter/ once, under AddressSanitizer and
 * UBSan.
 *
 *	byte 0		bit 0: a report; bit 1: single; bit 2: batch; bits 5:3: how the
 *			report is, or without one, if not 0, a timeline
 *	for each event:
 *	byte		bits 2:0: kind, enum kvm_trace_kind, or an event of others;
 *			bit 7: make length and check of a batch right
 *	2 bytes		time since the event before, in 100 us
 *	2 bytes		its size, bits 11:0
 *	size bytes	the event; fewer at the end of the input
 */
#include <stdio.h>

/* libFuzzer itself talks on these. */
static FILE *nowhere;
#undef stdout
#undef stderr
#define stdout nowhere
#define stderr nowhere
#include "../../perf-plugins/dlfilter.c"
/* The tests have their own. */
#undef ARRAY_SIZE
#undef __printf

#include "batch_check.h"
#include "corpus.h"

#define EVENT_HEAD	5
#define UNIT_NS		100000

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size);

static char *args[5];
static int nr_args;

static char **give_args(void *ctx, int *argc)
{
	(void)ctx;
	*argc = nr_args;
	return args;
}

static void set_args(__u8 bits)
{
	static char *const names[] = { "report", "single", "batch" };
	static char *const reports[][2] = {
		{ "sort=p99", "json" }, { "by=vcpu,rip", "rows=3" }, { "by=hypercall", "json" },
		{ "by=msr", "every=1" }, { "by=port,class", "sort=handling" },
		{ "by=gpa", "vm=1,2" }, { "by=cpuid,vector", "pid=1" },
	};
	unsigned int how = bits >> 3 & 7;
	size_t i;

	nr_args = 0;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (bits & 1u << i)
			args[nr_args++] = names[i];
	if (!how)
		return;
	if (bits & 1) {
		args[nr_args++] = reports[how - 1][0];
		args[nr_args++] = reports[how - 1][1];
	} else {
		args[nr_args++] = "timeline";
	}
}

static int give_event(void *filter, __u8 how, __u64 time, const __u8 *data, size_t size)
{
	unsigned int kind = how & 7;
	struct perf_dlfilter_sample sample = {
		.size = sizeof(sample),
		.time = time,
		.event = kind < ARRAY_SIZE(events) ? events[kind] : "kvm:kvm_exit",
		.raw_size = size,
	};
	int status;
	__u8 *raw;

	/* Of exactly its size, so that its every neighbour byte is poisoned. */
	raw = malloc(size ? size : 1);
	corpus_require(raw);
	memcpy(raw, data, size);
	if (how & 0x80 && size >= KVM_TRACE_BATCH_SIZE && size <= KVM_TRACE_BATCH_MAX)
		batch_put_right(raw, size);
	sample.raw_data = raw;
	status = filter_event(filter, &sample, NULL);
	free(raw);
	return status;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	const __u8 *end = data + size;
	__u64 time = 10000000000;
	void *filter;
	size_t len;
	__u8 how;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	corpus_require(nowhere);
	if (!size)
		return 0;
	set_args(*data++);
	perf_dlfilter_fns.args = give_args;
	if (start(&filter, NULL) < 0)
		return 0;
	while (end - data >= EVENT_HEAD) {
		how = data[0];
		time += (__u64)(data[1] | data[2] << 8) * UNIT_NS;
		len = data[3] | (data[4] & 0xf) << 8;
		data += EVENT_HEAD;
		if (len > (size_t)(end - data))
			len = end - data;
		if (give_event(filter, how, time, data, len) < 0)
			break;
		data += len;
	}
	stop(filter, NULL);
	return 0;
}

#ifndef FUZZER
int main(int argc, char **argv)
{
	(void)argc;
	return corpus_test(argv[0], "corpus-dlfilter", LLVMFuzzerTestOneInput);
}
#endif
