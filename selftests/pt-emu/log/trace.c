// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces of Intel PT in files: what perf record wrote for one CPU, or the bytes alone.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "trace.h"

#define MAGIC			"PERFILE2"
#define RECORD_AUXTRACE		71	/* PERF_RECORD_AUXTRACE, of perf and not of the kernel */
#define ANY_CPU			0xffffffffU	/* of a thread */
#define WORD			8ULL	/* perf pads to whole ones */

struct file_header {
	char magic[8];
	u64 size;
	u64 attr_size;
	struct {
		u64 offset;
		u64 size;
	} attrs, data;
};

struct auxtrace {
	struct perf_event_header header;
	u64 size;
	u64 offset;
	u64 reference;
	u32 idx;
	u32 tid;
	u32 cpu;
	u32 reserved;
};

static void add_trace(struct trace **traces, size_t *n)
{
	*traces = reallocarray(*traces, *n + 1, sizeof(**traces));
	if (!*traces)
		errx(2, "no memory");
	(*traces)[(*n)++] = (struct trace){ NULL, 0 };
}

/* Parts overlap by the padding of the first; what does not follow is another trace. */
static void add_part(struct trace **traces, size_t *n, u64 *end, const struct auxtrace *aux,
		     const u8 *data)
{
	struct trace *trace;

	if (!*n || aux->offset > *end || aux->offset + WORD <= *end)
		add_trace(traces, n);
	else
		(*traces)[*n - 1].size -= *end - aux->offset;
	trace = &(*traces)[*n - 1];
	trace->data = realloc(trace->data, trace->size + aux->size);
	if (!trace->data)
		errx(2, "no memory");
	memcpy(trace->data + trace->size, data, aux->size);
	trace->size += aux->size;
	*end = aux->offset + aux->size;
}

static size_t read_perf_data(const char *path, const u8 *file, size_t size, unsigned int cpu,
			     struct trace **traces)
{
	const struct file_header *header = (const void *)file;
	const u8 *at = file + header->data.offset;
	const u8 *end = at + header->data.size;
	size_t n = 0;
	u64 last = 0;

	if (header->data.offset > size || header->data.size > size - header->data.offset)
		errx(2, "%s is cut off", path);
	while ((size_t)(end - at) >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *event = (const void *)at;
		const struct auxtrace *aux = (const void *)at;

		if (event->size < sizeof(*event) || event->size > end - at)
			errx(2, "%s has a record of %u bytes", path, event->size);
		at += event->size;
		if (event->type != RECORD_AUXTRACE)
			continue;
		if (aux->size > (u64)(end - at))
			errx(2, "%s is cut off", path);
		if (aux->cpu == cpu || aux->cpu == ANY_CPU)
			add_part(traces, &n, &last, aux, at);
		at += aux->size;
	}
	return n;
}

/**
 * trace_read() - the traces in a file
 * @path: perf.data, or the bytes of one trace
 * @cpu: whose, in perf.data; those of threads are taken, too
 * @traces: where to put them
 *
 * Return: how many there are.
 */
size_t trace_read(const char *path, unsigned int cpu, struct trace **traces)
{
	struct stat stat;
	size_t n = 0;
	u8 *file;
	int fd;

	*traces = NULL;
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &stat))
		err(2, "%s", path);
	if (!stat.st_size)
		return 0;
	file = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		err(2, "%s", path);
	close(fd);
	if ((size_t)stat.st_size > sizeof(struct file_header) &&
	    !memcmp(file, MAGIC, strlen(MAGIC)))
		return read_perf_data(path, file, stat.st_size, cpu, traces);
	add_trace(traces, &n);
	(*traces)[0] = (struct trace){ file, stat.st_size };
	return n;
}
