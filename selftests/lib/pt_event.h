/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of Intel PT, kvm_pt's and intel_pt's, through perf_event_open(2): opened by
 * terms, read as perf's own recorder does, and saved for a decoder. What the bytes mean
 * is in pt_packets.h.
 */
#ifndef _SELFTESTS_PT_EVENT_H
#define _SELFTESTS_PT_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define PMU_DEVICES	"/sys/bus/event_source/devices/"
#define KVM_PT		"kvm_pt"
#define INTEL_PT	"intel_pt"

/**
 * enum pt_flags - of pt_open()
 * @PT_SNAPSHOT: the last bytes are kept, and not the first
 * @PT_DISABLED: not before pt_enable()
 * @PT_NO_KERNEL: no code of privilege level 0
 * @PT_NO_USER: no other code
 */
enum pt_flags {
	PT_SNAPSHOT	= 0x1,
	PT_DISABLED	= 0x2,
	PT_NO_KERNEL	= 0x4,
	PT_NO_USER	= 0x8,
};

/**
 * struct pt_event - an event, and what was read of its trace
 * @fd: of perf_event_open()
 * @flags: &enum pt_flags
 * @page: of perf_event_open(), with its ring behind it
 * @aux: what the trace is written to
 * @aux_bytes: its size
 * @data: the trace
 * @size: its bytes
 * @room: of @data
 * @end: where bytes were lost, as offsets in @data
 * @ends: how many times
 * @records: PERF_RECORD_AUX
 * @truncated: those that tell of a loss
 * @partial: those that tell of a gap in what is traced
 * @lost: other records that were lost
 */
struct pt_event {
	int fd;
	unsigned int flags;
	struct perf_event_mmap_page *page;
	u8 *aux;
	size_t aux_bytes;
	u8 *data;
	size_t size, room;
	size_t *end;
	size_t ends;
	u64 records, truncated, partial, lost;
};

bool pt_has_pmu(const char *pmu);
char *pt_cap(const char *pmu, const char *name);
int pt_attr(const char *pmu, const char *terms, struct perf_event_attr *attr);
int pt_open_attr(struct pt_event *event, struct perf_event_attr *attr, int tid, int cpu,
		 size_t aux_bytes, unsigned int flags);
int pt_open(struct pt_event *event, const char *pmu, const char *terms, int tid, int cpu,
	    size_t aux_bytes, unsigned int flags);
int pt_enable(struct pt_event *event);
bool pt_filter(struct pt_event *event, const char *filter);
void pt_disable(struct pt_event *event);
size_t pt_drain(struct pt_event *event);
void pt_stop(struct pt_event *event);
void pt_close(struct pt_event *event);
const u8 *pt_part(const struct pt_event *event, size_t part, size_t *size);
bool pt_save(const struct pt_event *event, const char *path);

#endif /* _SELFTESTS_PT_EVENT_H */
