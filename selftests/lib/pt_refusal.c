// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watches kernel log, records and the emulator's log of MSRs while something of kvm_pt is
 * refused. See pt_refusal.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "module.h"
#include "pt_refusal.h"
#include "tap.h"
#include "trace.h"

#define RING_MIB	1
#define MSRS		"/out/pt-msrs.%u"

static struct {
	struct trace_event event;
	struct trace_session session;
	FILE *times;
	u64 from;	/* time stamp counter */
	size_t writes;
} watched;

/* What the emulator has logged of one CPU; NULL if it logs nothing, or not yet. */
static char *read_msrs(unsigned int cpu)
{
	char path[64];

	snprintf(path, sizeof(path), MSRS, cpu);
	return file_read(path);
}

static size_t count_writes(void)
{
	unsigned int cpu;
	size_t writes = 0;
	char *text, *at;

	/* The emulator writes behind the back of L1's 9p. */
	file_write("/proc/sys/vm/drop_caches", "3");
	for (cpu = 0; (text = read_msrs(cpu)); cpu++) {
		for (at = text; (at = strpbrk(at, "wW")); at++)
			writes++;
		free(text);
	}
	return writes;
}

/**
 * pt_refusals_watch() - before the first pt_watch()
 * @times: a file for the times in which no MSR of Intel PT may be written, for who has the
 *	emulator's log; or NULL
 */
void pt_refusals_watch(const char *times)
{
	struct trace_event *events[] = { &watched.event };

	trace_event_need(&watched.event, "kvm_trace_detail", "pt");
	trace_open(&watched.session, events, 1, RING_MIB);
	if (!times)
		return;
	watched.times = fopen(times, "w");
	if (!watched.times)
		tap_die("%s", times);
}

/**
 * pt_refusals_end() - detach, and close what was written
 */
void pt_refusals_end(void)
{
	trace_close(&watched.session);
	if (watched.times && fclose(watched.times))
		tap_die("the file of times");
}

/**
 * pt_watch() - what pt_expect_*() look at counts from here on
 *
 * The kernel log takes 10 refusals in 5 seconds, so this waits for its turn.
 */
void pt_watch(void)
{
	usleep(600000);
	klog_mark();
	trace_read(&watched.session);
	trace_forget(&watched.session);
	watched.writes = count_writes();
	watched.from = __rdtsc();
}

static unsigned int count_records(u8 what, u8 *why)
{
	const struct trace_sample *sample;
	unsigned int records = 0;
	size_t i;

	trace_read(&watched.session);
	for (i = 0; i < watched.session.nr_samples; i++) {
		sample = &watched.session.samples[i];
		if (trace_get(sample, "what") != what)
			continue;
		*why = trace_get(sample, "why");
		records++;
	}
	return records;
}

/**
 * pt_expect_refused() - what was done since pt_watch() was refused once
 * @err: what it gave
 * @expected: what it must give
 * @why: the reason in the record
 * @words: a part of the reason in the kernel log
 */
void pt_expect_refused(int err, int expected, enum kvm_trace_pt_why why, const char *words)
{
	unsigned int records;
	char text[256];
	u8 found = 0;

	tap_expect(err == expected, "it gives %d and not %d", err, expected);
	snprintf(text, sizeof(text), "kvm_pt: refused: %s", words);
	tap_expect(klog_has(text), "the kernel log does not have '%s'", text);
	records = count_records(KVM_TRACE_PT_REFUSED, &found);
	tap_expect(records == 1 && found == why, "%u refusals are told, for reason %u and not %u",
		   records, found, why);
}

/**
 * pt_told_config() - of the last stream that was switched on since pt_watch()
 *
 * Return: config of its record, or 0.
 */
u16 pt_told_config(void)
{
	const struct trace_sample *sample;
	u16 config = 0;
	size_t i;

	trace_read(&watched.session);
	for (i = 0; i < watched.session.nr_samples; i++) {
		sample = &watched.session.samples[i];
		if (trace_get(sample, "what") == KVM_TRACE_PT_ON)
			config = trace_get(sample, "config");
	}
	return config;
}

/**
 * pt_expect_noted() - a stream had something to tell since pt_watch()
 * @why: what; once each time that its thread was scheduled in
 */
void pt_expect_noted(enum kvm_trace_pt_why why)
{
	u8 found = 0;
	unsigned int records = count_records(KVM_TRACE_PT_NOTE, &found);

	tap_expect(records && found == why, "%u notes, %u and not %u", records, found, why);
}

/**
 * pt_written() - how many MSRs of Intel PT were written since pt_watch()
 *
 * Return: 0 also if the emulator does not log them where L1 could look.
 */
size_t pt_written(void)
{
	return count_writes() - watched.writes;
}

/**
 * pt_expect_untouched() - no MSR of Intel PT was written since pt_watch()
 */
void pt_expect_untouched(void)
{
	const size_t writes = pt_written();

	tap_expect(!writes, "%zu MSRs of Intel PT were written", writes);
	if (watched.times)
		fprintf(watched.times, "%llx %llx\n", watched.from, __rdtsc());
}
