/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recording of tracepoints through perf_event_open(2) without a perf tool:
 * every sample and every loss, in the order of their times, with fields found
 * by the event's format file. Also tracefs and its instances.
 */
#ifndef _SELFTESTS_TRACE_H
#define _SELFTESTS_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define TRACE_MAX_FIELDS	64
#define TRACE_MAX_EVENTS	32
#define TRACEFS			"/sys/kernel/tracing"

struct trace_field {
	char name[32];
	unsigned int offset, size;
	bool is_signed, data_loc;
};

struct trace_event {
	char system[32], name[64];
	int id;
	unsigned int nr_fields;
	struct trace_field fields[TRACE_MAX_FIELDS];
};

struct trace_sample {
	u64 time;
	u32 cpu, pid, tid;
	u16 misc;		/* PERF_RECORD_MISC_* */
	const struct trace_event *event;
	const u8 *raw;
	u32 size;
};

struct trace_session {
	unsigned int nr_events, nr_cpus;
	struct trace_event *events[TRACE_MAX_EVENTS];
	int *fds;		/* nr_cpus * nr_events */
	u8 **rings;
	size_t ring_bytes;
	struct trace_sample *samples;
	size_t nr_samples, max_samples;
	u64 lost;
};

bool trace_event_find(struct trace_event *event, const char *system, const char *name);
void trace_event_need(struct trace_event *event, const char *system, const char *name);
const struct trace_field *trace_field(const struct trace_event *event, const char *name);
u64 trace_get(const struct trace_sample *sample, const char *name);
const u8 *trace_data(const struct trace_sample *sample, const char *name, u32 *size);

int trace_try_open(struct trace_session *session, struct trace_event **events,
		   unsigned int nr_events, size_t ring_mib);
void trace_open(struct trace_session *session, struct trace_event **events,
		unsigned int nr_events, size_t ring_mib);
void trace_open_thread(struct trace_session *session, struct trace_event **events,
		       unsigned int nr_events, int tid, size_t ring_mib);
void trace_open_children(struct trace_session *session, struct trace_event **events,
			 unsigned int nr_events, size_t ring_mib);
void trace_stop_cpu(struct trace_session *session, unsigned int cpu);
void trace_stop(struct trace_session *session);
void trace_read(struct trace_session *session);
void trace_forget(struct trace_session *session);
void trace_close(struct trace_session *session);

int file_write(const char *path, const char *text);
char *file_read(const char *path);
int tracefs_write(const char *text, const char *path, ...) __printf(2, 3);
char *tracefs_read(const char *path, ...) __printf(1, 2);

#endif /* _SELFTESTS_TRACE_H */
