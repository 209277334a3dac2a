// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording of tracepoints through perf_event_open(2): a ring buffer for each
 * CPU that all events of a session share, so that their order is kept. The
 * records' own format is in records.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"
#include "trace.h"

#define PAGE_SIZE	4096
#define PATH_BYTES	512

/* What a sample holds, in the order of the bits: see sample_read(). */
#define SAMPLE_TYPE	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)

struct sample_layout {
	struct perf_event_header header;
	u32 pid, tid;
	u64 time;
	u32 cpu, reserved;
	u32 raw_size;
	u8 raw[];
};

struct lost_layout {
	struct perf_event_header header;
	u64 id, lost;
};

/**
 * file_read() - a whole file as text
 * @path: file, of sysfs and the like too
 *
 * Return: text for free(), or NULL with errno.
 */
char *file_read(const char *path)
{
	size_t bytes = 0, room = 1 << 16;
	char *text = malloc(room);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	while (fd >= 0 && text) {
		got = read(fd, text + bytes, room - bytes - 1);
		if (got <= 0)
			break;
		bytes += got;
		if (room - bytes < PAGE_SIZE) {
			room *= 2;
			text = realloc(text, room);
		}
	}
	if (fd >= 0)
		close(fd);
	if (got < 0 || !text) {
		free(text);
		return NULL;
	}
	text[bytes] = '\0';
	return text;
}

/**
 * file_write() - write to a file that is there
 * @path: file, of sysfs and the like too
 * @text: all of it in one write()
 *
 * Return: 0 or a negative errno.
 */
int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
	ssize_t put;
	int err;

	if (fd < 0)
		return -errno;
	put = write(fd, text, strlen(text));
	err = put < 0 ? -errno : 0;
	close(fd);
	return err;
}

/**
 * tracefs_write() - file_write() below tracefs
 * @text: all of it in one write()
 * @path: format of the path
 *
 * Return: 0 or a negative errno.
 */
int tracefs_write(const char *text, const char *path, ...)
{
	char full[PATH_BYTES] = TRACEFS "/";
	size_t used = strlen(full);
	va_list ap;

	va_start(ap, path);
	vsnprintf(full + used, sizeof(full) - used, path, ap);
	va_end(ap);
	return file_write(full, text);
}

/**
 * tracefs_read() - file_read() below tracefs
 * @path: format of the path
 *
 * Return: text for free(), or NULL with errno.
 */
char *tracefs_read(const char *path, ...)
{
	char full[PATH_BYTES] = TRACEFS "/";
	size_t used = strlen(full);
	va_list ap;

	va_start(ap, path);
	vsnprintf(full + used, sizeof(full) - used, path, ap);
	va_end(ap);
	return file_read(full);
}

static void parse_field(struct trace_event *event, const char *line)
{
	struct trace_field *field = &event->fields[event->nr_fields];
	const char *end = strchr(line, ';'), *name;
	int is_signed;

	if (!end || event->nr_fields == TRACE_MAX_FIELDS)
		return;
	if (sscanf(end, "; offset:%u; size:%u; signed:%d;", &field->offset, &field->size,
		   &is_signed) != 3)
		return;
	for (name = end; name > line && name[-1] != ' '; name--)
		;
	snprintf(field->name, sizeof(field->name), "%.*s", (int)strcspn(name, "[;"), name);
	field->is_signed = is_signed;
	field->data_loc = !!memmem(line, end - line, "__data_loc", strlen("__data_loc"));
	event->nr_fields++;
}

/**
 * trace_event_find() - an event and its fields, from tracefs
 * @event: filled in
 * @system: e.g. "kvm"
 * @name: e.g. "kvm_exit"
 *
 * Return: whether the kernel has it.
 */
bool trace_event_find(struct trace_event *event, const char *system, const char *name)
{
	char *text = tracefs_read("events/%s/%s/format", system, name);
	char *line, *next;

	memset(event, 0, sizeof(*event));
	if (!text)
		return false;
	snprintf(event->system, sizeof(event->system), "%s", system);
	snprintf(event->name, sizeof(event->name), "%s", name);
	for (line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!strncmp(line, "ID: ", 4))
			event->id = atoi(line + 4);
		else if (!strncmp(line, "\tfield:", 7))
			parse_field(event, line + 7);
	}
	free(text);
	return true;
}

/**
 * trace_event_need() - trace_event_find() for an event that must be there
 * @event: filled in
 * @system: e.g. "kvm"
 * @name: e.g. "kvm_exit"
 */
void trace_event_need(struct trace_event *event, const char *system, const char *name)
{
	if (!trace_event_find(event, system, name))
		tap_die("tracepoint %s:%s is not there: load its module", system, name);
}

/**
 * trace_field() - where a field is
 * @event: event
 * @name: field that the event must have
 */
const struct trace_field *trace_field(const struct trace_event *event, const char *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++) {
		if (!strcmp(event->fields[i].name, name))
			return &event->fields[i];
	}
	errno = ENOENT;
	tap_die("field %s of %s:%s", name, event->system, event->name);
}

/**
 * trace_get() - value of a field
 * @sample: sample
 * @name: number of 1, 2, 4 or 8 bytes, sign-extended if it has a sign
 */
u64 trace_get(const struct trace_sample *sample, const char *name)
{
	const struct trace_field *field = trace_field(sample->event, name);
	unsigned int shift = 64 - 8 * field->size;
	u64 value = 0;

	if (field->size > 8 || field->offset + field->size > sample->size)
		tap_die("field %s of %s:%s is not in a sample of %u bytes", name,
			sample->event->system, sample->event->name, sample->size);
	memcpy(&value, sample->raw + field->offset, field->size);
	if (field->is_signed)
		return (s64)(value << shift) >> shift;
	return value;
}

/**
 * trace_data() - bytes of a field of variable or fixed length
 * @sample: sample
 * @name: field
 * @size: its size in bytes
 *
 * Return: its bytes; NULL if they are not inside the sample.
 */
const u8 *trace_data(const struct trace_sample *sample, const char *name, u32 *size)
{
	const struct trace_field *field = trace_field(sample->event, name);
	u32 offset = field->offset, loc;

	*size = field->size;
	if (field->data_loc) {
		loc = trace_get(sample, name);
		offset = loc & 0xffff;
		*size = loc >> 16;
	}
	return offset + *size <= sample->size ? sample->raw + offset : NULL;
}

static int open_event(const struct trace_event *event, int tid, int cpu, bool inherit)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = event->id,
		.sample_period = 1,
		.sample_type = SAMPLE_TYPE,
		.inherit = inherit,
		.watermark = 1,
		.wakeup_watermark = 1 << 30,	/* nobody sleeps on the ring */
	};

	return syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_session(struct trace_session *session, struct trace_event **events,
			unsigned int nr_events, int tid, bool inherit, size_t ring_mib)
{
	unsigned int cpu, i;
	int *fds, err;

	memset(session, 0, sizeof(*session));
	session->nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	session->nr_events = nr_events;
	session->ring_bytes = ring_mib << 20;
	memcpy(session->events, events, nr_events * sizeof(*events));
	session->fds = calloc((size_t)session->nr_cpus * nr_events, sizeof(int));
	session->rings = calloc(session->nr_cpus, sizeof(u8 *));
	if (!session->fds || !session->rings)
		tap_die("memory");
	for (cpu = 0; cpu < session->nr_cpus; cpu++) {
		fds = session->fds + cpu * nr_events;
		for (i = 0; i < nr_events; i++) {
			fds[i] = open_event(events[i], tid, cpu, inherit);
			if (fds[i] < 0) {
				err = -errno;
				trace_close(session);
				return err;
			}
			if (i && ioctl(fds[i], PERF_EVENT_IOC_SET_OUTPUT, fds[0]))
				tap_die("PERF_EVENT_IOC_SET_OUTPUT");
			if (i)
				continue;
			session->rings[cpu] = mmap(NULL, PAGE_SIZE + session->ring_bytes,
						   PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
			if (session->rings[cpu] == MAP_FAILED)
				tap_die("ring buffer of %zu MiB", ring_mib);
		}
	}
	return 0;
}

/**
 * trace_try_open() - record events on all CPUs, from the first moment on
 * @session: filled in
 * @events: from trace_event_find(); they must outlive the session
 * @nr_events: number of @events
 * @ring_mib: size of each CPU's ring, a power of 2
 *
 * Return: 0, or a negative errno of perf_event_open().
 */
int trace_try_open(struct trace_session *session, struct trace_event **events,
		   unsigned int nr_events, size_t ring_mib)
{
	return open_session(session, events, nr_events, -1, false, ring_mib);
}

/**
 * trace_open() - trace_try_open() that must succeed
 * @session: filled in
 * @events: from trace_event_find(); they must outlive the session
 * @nr_events: number of @events
 * @ring_mib: size of each CPU's ring, a power of 2
 */
void trace_open(struct trace_session *session, struct trace_event **events,
		unsigned int nr_events, size_t ring_mib)
{
	errno = -trace_try_open(session, events, nr_events, ring_mib);
	if (errno)
		tap_die("perf_event_open of %s:%s", events[0]->system, events[0]->name);
}

/**
 * trace_open_thread() - record events of one thread, on whatever CPU
 * @session: filled in
 * @events: from trace_event_find(); they must outlive the session
 * @nr_events: number of @events
 * @tid: the thread
 * @ring_mib: size of each CPU's ring, a power of 2
 */
void trace_open_thread(struct trace_session *session, struct trace_event **events,
		       unsigned int nr_events, int tid, size_t ring_mib)
{
	errno = -open_session(session, events, nr_events, tid, false, ring_mib);
	if (errno)
		tap_die("perf_event_open of %s:%s of thread %d", events[0]->system,
			events[0]->name, tid);
}

/**
 * trace_open_children() - record events of this thread and those that it will make
 * @session: filled in
 * @events: from trace_event_find(); they must outlive the session
 * @nr_events: number of @events
 * @ring_mib: size of each CPU's ring, a power of 2
 */
void trace_open_children(struct trace_session *session, struct trace_event **events,
			 unsigned int nr_events, size_t ring_mib)
{
	errno = -open_session(session, events, nr_events, 0, true, ring_mib);
	if (errno)
		tap_die("perf_event_open of %s:%s of this thread's children",
			events[0]->system, events[0]->name);
}

/**
 * trace_stop_cpu() - stop the recording of one CPU; it stays attached
 * @session: open session
 * @cpu: CPU
 */
void trace_stop_cpu(struct trace_session *session, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < session->nr_events; i++) {
		if (ioctl(session->fds[cpu * session->nr_events + i], PERF_EVENT_IOC_DISABLE, 0))
			tap_die("PERF_EVENT_IOC_DISABLE");
	}
}

/**
 * trace_stop() - stop the recording; it stays attached
 * @session: open session
 */
void trace_stop(struct trace_session *session)
{
	unsigned int cpu;

	for (cpu = 0; cpu < session->nr_cpus; cpu++)
		trace_stop_cpu(session, cpu);
}

static void add_sample(struct trace_session *session, const struct sample_layout *in)
{
	struct trace_sample *sample;
	unsigned int i;
	u16 type;
	u8 *raw;

	if (session->nr_samples == session->max_samples) {
		session->max_samples = session->max_samples ? 2 * session->max_samples : 4096;
		session->samples = realloc(session->samples,
					   session->max_samples * sizeof(*session->samples));
		if (!session->samples)
			tap_die("memory");
	}
	raw = malloc(in->raw_size);
	if (!raw)
		tap_die("memory");
	memcpy(raw, in->raw, in->raw_size);
	memcpy(&type, raw, sizeof(type));	/* common_type, the first field of all events */
	for (i = 0; i < session->nr_events && session->events[i]->id != type; i++)
		;
	if (i == session->nr_events)
		tap_die("sample of an event %u that was not asked for", type);
	sample = &session->samples[session->nr_samples++];
	*sample = (struct trace_sample){
		.time = in->time, .cpu = in->cpu, .pid = in->pid, .tid = in->tid,
		.misc = in->header.misc,
		.event = session->events[i], .raw = raw, .size = in->raw_size,
	};
}

static void read_ring(struct trace_session *session, u8 *ring)
{
	struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)ring;
	u64 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	u64 tail = page->data_tail;
	const u8 *data = ring + PAGE_SIZE;
	static u8 record[1 << 16];
	u16 size, first;
	u64 at;

	while (tail < head) {
		at = tail & (session->ring_bytes - 1);
		memcpy(&size, data + at + offsetof(struct perf_event_header, size), sizeof(size));
		first = session->ring_bytes - at < size ? session->ring_bytes - at : size;
		memcpy(record, data + at, first);
		memcpy(record + first, data, size - first);
		switch (((struct perf_event_header *)record)->type) {
		case PERF_RECORD_SAMPLE:
			add_sample(session, (struct sample_layout *)record);
			break;
		case PERF_RECORD_LOST:
			session->lost += ((struct lost_layout *)record)->lost;
			break;
		}
		tail += size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

static void sort_by_time(struct trace_sample *from, struct trace_sample *to, size_t count)
{
	size_t half = count / 2, left = 0, right = half, i;

	if (count < 2)
		return;
	sort_by_time(from, to, half);
	sort_by_time(from + half, to, count - half);
	for (i = 0; i < count; i++) {
		if (right == count || (left < half && from[left].time <= from[right].time))
			to[i] = from[left++];
		else
			to[i] = from[right++];
	}
	memcpy(from, to, count * sizeof(*from));
}

/**
 * trace_read() - take what the rings hold into session->samples, sorted
 * @session: open session, recording or not
 */
void trace_read(struct trace_session *session)
{
	struct trace_sample *scratch;
	unsigned int cpu;

	for (cpu = 0; cpu < session->nr_cpus; cpu++)
		read_ring(session, session->rings[cpu]);
	if (!session->nr_samples)
		return;
	/* Stable: samples of one CPU with the same time stay in order. */
	scratch = malloc(session->nr_samples * sizeof(*scratch));
	if (!scratch)
		tap_die("memory");
	sort_by_time(session->samples, scratch, session->nr_samples);
	free(scratch);
}

/**
 * trace_forget() - drop the samples read so far
 * @session: open session
 */
void trace_forget(struct trace_session *session)
{
	size_t i;

	for (i = 0; i < session->nr_samples; i++)
		free((void *)session->samples[i].raw);
	session->nr_samples = 0;
	session->lost = 0;
}

/**
 * trace_close() - detach and free the session with its samples
 * @session: session
 */
void trace_close(struct trace_session *session)
{
	unsigned int i;
	size_t k;

	for (i = 0; i < session->nr_cpus; i++) {
		if (session->rings[i])
			munmap(session->rings[i], PAGE_SIZE + session->ring_bytes);
	}
	for (i = 0; i < session->nr_cpus * session->nr_events; i++) {
		if (session->fds[i] > 0)
			close(session->fds[i]);
	}
	for (k = 0; k < session->nr_samples; k++)
		free((void *)session->samples[k].raw);
	free(session->samples);
	free(session->rings);
	free(session->fds);
	memset(session, 0, sizeof(*session));
}
