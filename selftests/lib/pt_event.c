// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording of Intel PT through perf_event_open(2), with the protocol of perf's own
 * recorder. See pt_event.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pt_event.h"
#include "tap.h"
#include "trace.h"

#define PAGE_SIZE	4096
#define RING_PAGES	64
#define RING_BYTES	(RING_PAGES * PAGE_SIZE)

#define RECORD_AUXTRACE	71	/* PERF_RECORD_AUXTRACE, of perf and not of the kernel */
#define ANY_CPU		0xffffffffu
#define WORD		8	/* perf pads to whole ones; 0 is Intel PT's padding, too */

struct aux_layout {
	struct perf_event_header header;
	u64 offset, size, flags;
};

struct lost_layout {
	struct perf_event_header header;
	u64 id, lost;
};

/* The parts of perf.data that decoders of the lab look at. */
struct file_layout {
	char magic[8];
	u64 size, attr_size;
	struct {
		u64 offset, size;
	} attrs, data, types;
	u64 features[4];
};

struct auxtrace_layout {
	struct perf_event_header header;
	u64 size, offset, reference;
	u32 idx, tid, cpu, reserved;
};

static char *pmu_file(const char *pmu, const char *directory, const char *name)
{
	char path[256], *text;

	snprintf(path, sizeof(path), PMU_DEVICES "%s/%s%s%.*s", pmu, directory,
		 *directory ? "/" : "", (int)strcspn(name, "="), name);
	text = file_read(path);
	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

/**
 * pt_has_pmu() - whether perf has it
 * @pmu: KVM_PT or INTEL_PT
 */
bool pt_has_pmu(const char *pmu)
{
	char *type = pmu_file(pmu, "", "type");

	free(type);
	return type;
}

/**
 * pt_cap() - what a PMU tells of the processor
 * @pmu: KVM_PT or INTEL_PT
 * @name: a file of its caps/
 *
 * Return: text for free(), or NULL.
 */
char *pt_cap(const char *pmu, const char *name)
{
	return pmu_file(pmu, "caps", name);
}

/* "config1:2-3": the value goes there. Returns false if it does not fit. */
static bool put_bits(const char *format, u64 value, struct perf_event_attr *attr)
{
	unsigned int low, high;
	u64 *config;
	int n;

	if (sscanf(format, "config:%u%n-%u", &low, &n, &high) >= 1)
		config = (u64 *)&attr->config;
	else if (sscanf(format, "config1:%u%n-%u", &low, &n, &high) >= 1)
		config = (u64 *)&attr->config1;
	else
		return false;
	if (format[n] != '-')
		high = low;
	if (high > 63 || low > high || (high - low < 63 && value >> (high - low + 1)))
		return false;
	*config |= value << low;
	return true;
}

static bool put_term(const char *pmu, const char *term, struct perf_event_attr *attr)
{
	const char *equals = strchr(term, '=');
	char *format = pmu_file(pmu, "format", term), *end;
	u64 value = equals ? strtoull(equals + 1, &end, 0) : 1;
	bool good = format && (!equals || (end != equals + 1 && !*end)) &&
		    put_bits(format, value, attr);

	free(format);
	return good;
}

/**
 * pt_attr() - what perf_event_open() takes for an event
 * @pmu: KVM_PT or INTEL_PT
 * @terms: of its format/: "tsc,psb_period=3"
 * @attr: filled in
 *
 * Return: 0, -ENODEV without that PMU, -EINVAL for a term that it does not have.
 */
int pt_attr(const char *pmu, const char *terms, struct perf_event_attr *attr)
{
	char *type = pmu_file(pmu, "", "type"), *copy = strdup(terms), *term, *rest;
	int err = type ? 0 : -ENODEV;

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = type ? atoi(type) : 0;
	for (term = strtok_r(copy, ",", &rest); term && !err; term = strtok_r(NULL, ",", &rest))
		err = put_term(pmu, term, attr) ? 0 : -EINVAL;
	free(copy);
	free(type);
	return err;
}

static int map(struct pt_event *event)
{
	event->page = mmap(NULL, PAGE_SIZE + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			   event->fd, 0);
	if (event->page == MAP_FAILED) {
		event->page = NULL;
		return -errno;
	}
	event->page->aux_offset = PAGE_SIZE + RING_BYTES;
	event->page->aux_size = event->aux_bytes;
	event->aux = mmap(NULL, event->aux_bytes,
			  event->flags & PT_SNAPSHOT ? PROT_READ : PROT_READ | PROT_WRITE,
			  MAP_SHARED, event->fd, event->page->aux_offset);
	if (event->aux == MAP_FAILED) {
		event->aux = NULL;
		return -errno;
	}
	return 0;
}

/**
 * pt_open_attr() - open an event, and enable it
 * @event: filled in
 * @attr: of pt_attr(), and what the caller adds; changed
 * @tid: thread, or -1
 * @cpu: CPU, or -1
 * @aux_bytes: for the trace, a power of 2
 * @flags: &enum pt_flags
 *
 * Return: 0 or a negative errno; then nothing is open.
 */
int pt_open_attr(struct pt_event *event, struct perf_event_attr *attr, int tid, int cpu,
		 size_t aux_bytes, unsigned int flags)
{
	int err;

	memset(event, 0, sizeof(*event));
	attr->disabled = 1;
	attr->exclude_kernel = !!(flags & PT_NO_KERNEL);
	attr->exclude_user = !!(flags & PT_NO_USER);
	event->flags = flags;
	event->aux_bytes = aux_bytes;
	event->fd = syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (event->fd < 0)
		return -errno;
	err = map(event);
	if (!err && !(flags & PT_DISABLED))
		err = pt_enable(event);
	if (err)
		pt_close(event);
	return err;
}

/**
 * pt_open() - open an event by terms, and enable it
 * @event: filled in
 * @pmu: KVM_PT or INTEL_PT
 * @terms: of its format/
 * @tid: thread, or -1
 * @cpu: CPU, or -1
 * @aux_bytes: for the trace, a power of 2
 * @flags: &enum pt_flags
 *
 * Return: 0 or a negative errno; then nothing is open.
 */
int pt_open(struct pt_event *event, const char *pmu, const char *terms, int tid, int cpu,
	    size_t aux_bytes, unsigned int flags)
{
	struct perf_event_attr attr;
	int err = pt_attr(pmu, terms, &attr);

	memset(event, 0, sizeof(*event));
	event->fd = -1;
	return err ?: pt_open_attr(event, &attr, tid, cpu, aux_bytes, flags);
}

/**
 * pt_enable() - PERF_EVENT_IOC_ENABLE
 * @event: from pt_open()
 *
 * Return: 0 or a negative errno.
 */
int pt_enable(struct pt_event *event)
{
	return ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

/**
 * pt_disable() - PERF_EVENT_IOC_DISABLE
 * @event: from pt_open()
 */
void pt_disable(struct pt_event *event)
{
	if (ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0))
		tap_die("PERF_EVENT_IOC_DISABLE");
}

/**
 * pt_filter() - PERF_EVENT_IOC_SET_FILTER
 * @event: from pt_open()
 * @filter: of addresses
 *
 * Return: false with errno.
 */
bool pt_filter(struct pt_event *event, const char *filter)
{
	return !ioctl(event->fd, PERF_EVENT_IOC_SET_FILTER, filter);
}

static void copy(struct pt_event *event, size_t offset, size_t size)
{
	while (event->size + size > event->room) {
		event->room = event->room ? 2 * event->room : 1 << 20;
		event->data = realloc(event->data, event->room);
		if (!event->data)
			tap_die("memory");
	}
	memcpy(event->data + event->size, event->aux + offset, size);
	event->size += size;
}

/* Bytes [from, to) of the stream, which goes round in the area. */
static void copy_range(struct pt_event *event, u64 from, u64 to)
{
	const size_t offset = from % event->aux_bytes;
	size_t first = event->aux_bytes - offset;

	if (first > to - from)
		first = to - from;
	copy(event, offset, first);
	copy(event, 0, to - from - first);
}

static void add_end(struct pt_event *event, size_t at)
{
	if (event->ends && event->end[event->ends - 1] == at)
		return;
	event->end = reallocarray(event->end, event->ends + 1, sizeof(*event->end));
	if (!event->end)
		tap_die("memory");
	event->end[event->ends++] = at;
}

static void take_record(struct pt_event *event, const struct perf_event_header *header)
{
	const struct aux_layout *aux = (const void *)header;

	if (header->type == PERF_RECORD_LOST) {
		event->lost += ((const struct lost_layout *)header)->lost;
		return;
	}
	if (header->type != PERF_RECORD_AUX)
		return;
	event->records++;
	if (aux->flags & PERF_AUX_FLAG_PARTIAL)
		event->partial++;
	if (aux->flags & PERF_AUX_FLAG_TRUNCATED) {
		event->truncated++;
		if (!(event->flags & PT_SNAPSHOT))
			add_end(event, aux->offset + aux->size);
	}
}

static void take_records(struct pt_event *event)
{
	const u64 head = __atomic_load_n(&event->page->data_head, __ATOMIC_ACQUIRE);
	const u8 *ring = (const u8 *)event->page + PAGE_SIZE;
	u64 at = event->page->data_tail;
	u8 record[1024];
	size_t i, size;

	while (at < head) {
		size = ((const struct perf_event_header *)(ring + at % RING_BYTES))->size;
		if (size < sizeof(struct perf_event_header) || size > sizeof(record))
			tap_die("a record of %zu bytes", size);
		for (i = 0; i < size; i++)
			record[i] = ring[(at + i) % RING_BYTES];
		take_record(event, (const void *)record);
		at += size;
	}
	__atomic_store_n(&event->page->data_tail, at, __ATOMIC_RELEASE);
}

/**
 * pt_drain() - read what there is, and go on with what a full area has ended
 * @event: from pt_open(), not a snapshot
 *
 * Return: how many bytes of the trace there were.
 */
size_t pt_drain(struct pt_event *event)
{
	const u64 tail = event->page->aux_tail, truncated = event->truncated;
	const u64 head = __atomic_load_n(&event->page->aux_head, __ATOMIC_ACQUIRE);

	copy_range(event, tail, head);
	take_records(event);
	__atomic_store_n(&event->page->aux_tail, head, __ATOMIC_RELEASE);
	if (event->truncated != truncated)
		pt_disable(event);
	if (head != tail || event->truncated != truncated)
		pt_enable(event);
	return head - tail;
}

/* The oldest byte follows the newest, if the area was full once. */
static void take_snapshot(struct pt_event *event, u64 head)
{
	const size_t at = head % event->aux_bytes;

	if (head >= event->aux_bytes)
		copy(event, at, event->aux_bytes - at);
	copy(event, 0, at);
}

/**
 * pt_stop() - disable the event, and read the rest
 * @event: from pt_open()
 */
void pt_stop(struct pt_event *event)
{
	const u64 tail = event->page->aux_tail;
	u64 head;

	pt_disable(event);
	head = __atomic_load_n(&event->page->aux_head, __ATOMIC_ACQUIRE);
	if (event->flags & PT_SNAPSHOT)
		take_snapshot(event, head);
	else
		copy_range(event, tail, head);
	take_records(event);
	__atomic_store_n(&event->page->aux_tail, head, __ATOMIC_RELEASE);
}

/**
 * pt_close() - give all back
 * @event: from pt_open(), or closed already
 */
void pt_close(struct pt_event *event)
{
	if (event->aux)
		munmap(event->aux, event->aux_bytes);
	if (event->page)
		munmap(event->page, PAGE_SIZE + RING_BYTES);
	if (event->fd >= 0)
		close(event->fd);
	free(event->data);
	free(event->end);
	memset(event, 0, sizeof(*event));
	event->fd = -1;
}

/**
 * pt_part() - bytes of the trace that follow each other
 * @event: after pt_stop()
 * @part: 0 and up
 * @size: how many there are
 *
 * Return: the first, or NULL if there is no such part.
 */
const u8 *pt_part(const struct pt_event *event, size_t part, size_t *size)
{
	size_t start;

	if (part > event->ends)
		return NULL;
	start = part ? event->end[part - 1] : 0;
	*size = (part < event->ends ? event->end[part] : event->size) - start;
	return event->data + start;
}

static bool save_part(FILE *file, const u8 *data, size_t size, size_t part)
{
	const struct auxtrace_layout aux = {
		.header = { RECORD_AUXTRACE, 0, sizeof(aux) },
		.size = (size + WORD - 1) / WORD * WORD,
		.offset = (u64)part << 40,	/* no part continues another */
		.cpu = ANY_CPU,
	};
	const u8 padding[WORD] = { 0 };

	return fwrite(&aux, sizeof(aux), 1, file) == 1 &&
	       fwrite(data, 1, size, file) == size &&
	       fwrite(padding, 1, aux.size - size, file) == aux.size - size;
}

/**
 * pt_save() - for a decoder, in the shape of perf.data
 * @event: after pt_stop()
 * @path: file
 *
 * Return: false with errno.
 */
bool pt_save(const struct pt_event *event, const char *path)
{
	struct file_layout header = {
		.magic = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' },
		.size = sizeof(header),
		.data = { .offset = sizeof(header) },
	};
	FILE *file = fopen(path, "w");
	const u8 *data;
	size_t size, i;
	bool good;

	if (!file)
		return false;
	good = fwrite(&header, sizeof(header), 1, file) == 1;
	for (i = 0; (data = pt_part(event, i, &size)); i++)
		good = good && save_part(file, data, size, i);
	header.data.size = ftell(file) - sizeof(header);
	rewind(file);
	good = fwrite(&header, sizeof(header), 1, file) == 1 && good;
	return !fclose(file) && good;
}
