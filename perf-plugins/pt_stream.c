// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams of Intel PT, read while they are written. See pt_stream.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "pt_data.h"
#include "pt_stream.h"

#define RING_BYTES	(128 << 10)	/* of records that say how far a trace is */
#define RECORD_MAX	65536

struct aux_record {
	struct perf_event_header header;
	__u64 offset, size, flags;
};

/**
 * pt_ring_open() - open an event, and map its buffer
 * @ring: filled in
 * @attr: the event
 * @tid: thread, or -1
 * @cpu: CPU, or -1
 * @bytes: of its ring, a power of two
 *
 * Return: 0 or a negative errno; then nothing is open.
 */
int pt_ring_open(struct pt_ring *ring, struct perf_event_attr *attr, int tid, int cpu,
		 size_t bytes)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	int error;

	ring->bytes = bytes;
	ring->page = NULL;
	ring->fd = syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return -errno;
	ring->page = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (ring->page != MAP_FAILED)
		return 0;
	error = -errno;
	ring->page = NULL;
	pt_ring_close(ring);
	return error;
}

/**
 * pt_ring_close() - give all back
 * @ring: from pt_ring_open(), or closed already
 */
void pt_ring_close(struct pt_ring *ring)
{
	if (ring->page)
		munmap(ring->page, sysconf(_SC_PAGESIZE) + ring->bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	ring->page = NULL;
	ring->fd = -1;
}

/**
 * pt_ring_read() - the records that there are
 * @ring: from pt_ring_open()
 * @take: is given each of them
 * @data: for @take
 *
 * Return: false if one of them cannot be.
 */
bool pt_ring_read(struct pt_ring *ring, pt_ring_fn *take, void *data)
{
	const __u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	const __u8 *bytes = (const __u8 *)ring->page + sysconf(_SC_PAGESIZE);
	__u8 record[RECORD_MAX] __attribute__((aligned(8)));
	__u64 at = ring->page->data_tail;
	size_t size, i;

	while (at < head) {
		/* Records begin at whole words: a header is never cut in two. */
		size = ((const struct perf_event_header *)(bytes + at % ring->bytes))->size;
		if (size < sizeof(struct perf_event_header) || size > head - at)
			return false;
		for (i = 0; i < size; i++)
			record[i] = bytes[(at + i) % ring->bytes];
		take(data, (const void *)record);
		at += size;
	}
	__atomic_store_n(&ring->page->data_tail, at, __ATOMIC_RELEASE);
	return true;
}

/**
 * pt_stream_open() - open an event of a thread, and enable it
 * @stream: with @stream->tid, @stream->aux_bytes and what goes into the file filled in
 * @attr: the event
 *
 * Return: 0 or a negative errno; then nothing is open.
 */
int pt_stream_open(struct pt_stream *stream, const struct perf_event_attr *attr)
{
	struct perf_event_attr own = *attr;
	struct pt_ring *ring = &stream->ring;
	int error;

	own.disabled = 1;
	own.watermark = 1;
	own.wakeup_watermark = RING_BYTES / 2;
	own.aux_watermark = stream->aux_bytes / 4;
	error = pt_ring_open(ring, &own, stream->tid, -1, RING_BYTES);
	if (error)
		return error;
	ring->page->aux_offset = sysconf(_SC_PAGESIZE) + RING_BYTES;
	ring->page->aux_size = stream->aux_bytes;
	stream->aux = mmap(NULL, stream->aux_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			   ring->page->aux_offset);
	if (stream->aux != MAP_FAILED && !ioctl(ring->fd, PERF_EVENT_IOC_ENABLE, 0))
		return 0;
	error = -errno;
	if (stream->aux != MAP_FAILED)
		munmap(stream->aux, stream->aux_bytes);
	stream->aux = NULL;
	pt_ring_close(ring);
	return error;
}

/* A stream that has ended in the middle of a packet begins again with a PSB. */
static void take_record(void *data, const struct perf_event_header *header)
{
	const struct aux_record *aux = (const void *)header;
	struct pt_stream *stream = data;
	__u64 *more;

	if (header->type != PERF_RECORD_AUX || !(aux->flags & PERF_AUX_FLAG_TRUNCATED))
		return;
	stream->lost++;
	if (stream->cuts == stream->cuts_room) {
		stream->cuts_room = 2 * stream->cuts_room + 16;
		more = reallocarray(stream->cut, stream->cuts_room, sizeof(*more));
		if (!more) {
			stream->cuts_room = stream->cuts;
			return;
		}
		stream->cut = more;
	}
	stream->cut[stream->cuts++] = aux->offset + aux->size;
}

static bool write_out(struct pt_stream *stream, FILE *file, const __u8 *data, size_t size)
{
	if (!size)
		return true;
	if (!pt_data_trace(file, stream->tid, stream->number, stream->offset, data, size))
		return false;
	stream->offset += (size + 7) & ~7ull;
	return true;
}

/* Bytes of the trace from @from to @to, which go round in the area. */
static bool take_bytes(struct pt_stream *stream, __u64 from, __u64 to, __u64 now)
{
	size_t at, n;

	for (; from < to; from += n) {
		at = from % stream->aux_bytes;
		n = stream->aux_bytes - at;
		if (n > to - from)
			n = to - from;
		if (!pt_guest_take(&stream->guest, stream->aux + at, n, now))
			return false;
	}
	return true;
}

static bool take_part(struct pt_stream *stream, __u64 from, __u64 to, FILE *file)
{
	const __u64 now = __rdtsc();
	size_t used = 0;
	__u64 end;

	while (used < stream->cuts && stream->cut[used] <= to) {
		end = stream->cut[used++];
		if (end < from)
			end = from;
		if (!take_bytes(stream, from, end, now))
			return false;
		pt_guest_cut(&stream->guest);
		from = end;
	}
	stream->cuts -= used;
	if (stream->cuts)
		memmove(stream->cut, stream->cut + used, stream->cuts * sizeof(*stream->cut));
	if (!take_bytes(stream, from, to, now) ||
	    !write_out(stream, file, stream->guest.out.data, stream->guest.out.size))
		return false;
	stream->guest.out.size = 0;
	return true;
}

/* @end: the event is not to go on. */
static bool drain(struct pt_stream *stream, FILE *file, bool end)
{
	struct perf_event_mmap_page *page = stream->ring.page;
	const __u64 tail = page->aux_tail, lost = stream->lost;
	__u64 head;

	if (end)
		ioctl(stream->ring.fd, PERF_EVENT_IOC_DISABLE, 0);
	head = __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE);
	if (!pt_ring_read(&stream->ring, take_record, stream)) {
		errno = EIO;
		return false;
	}
	if (!take_part(stream, tail, head, file))
		return false;
	__atomic_store_n(&page->aux_tail, head, __ATOMIC_RELEASE);
	if (end)
		return true;
	/* perf disables an event only when its thread is scheduled out. */
	if (stream->lost != lost)
		ioctl(stream->ring.fd, PERF_EVENT_IOC_DISABLE, 0);
	if (head != tail || stream->lost != lost)
		ioctl(stream->ring.fd, PERF_EVENT_IOC_ENABLE, 0);
	return true;
}

/**
 * pt_stream_read() - read what there is, and go on with what a full area has ended
 * @stream: from pt_stream_open()
 * @file: gets the bytes, by pt_data_trace()
 *
 * Return: false with errno.
 */
bool pt_stream_read(struct pt_stream *stream, FILE *file)
{
	return drain(stream, file, false);
}

/**
 * pt_stream_end() - read the rest, and close the event
 * @stream: from pt_stream_open()
 * @file: as for pt_stream_read()
 *
 * Return: false with errno.
 */
bool pt_stream_end(struct pt_stream *stream, FILE *file)
{
	const bool good = drain(stream, file, true);
	const int error = errno;

	munmap(stream->aux, stream->aux_bytes);
	stream->aux = NULL;
	pt_ring_close(&stream->ring);
	pt_guest_free(&stream->guest);
	free(stream->cut);
	stream->cut = NULL;
	errno = error;
	return good;
}
