/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams of Intel PT of threads that run vCPUs: events of the PMU kvm_pt, opened and read.
 * Which threads there are, and what becomes of the bytes in a file, is for others.
 */
#ifndef _KVM_TRACE_PT_STREAM_H
#define _KVM_TRACE_PT_STREAM_H

#include <stdio.h>
#include <linux/perf_event.h>

#include "pt_guest.h"

#define PT_PMU	"/sys/bus/event_source/devices/kvm_pt/"

/**
 * struct pt_ring - the buffer of an event, mapped
 * @fd: of perf_event_open(), -1 if there is none
 * @page: its first page
 * @bytes: of the ring behind that
 */
struct pt_ring {
	int fd;
	struct perf_event_mmap_page *page;
	size_t bytes;
};

/**
 * struct pt_stream - a stream, and how far it was read
 * @ring: of its event
 * @aux: its trace, NULL when it is closed
 * @aux_bytes: size of that
 * @tid: thread that it is of
 * @pid: process that made the VM
 * @number: of this stream in the file
 * @time: when it was found, of perf's clock
 * @guest: what is made of its bytes
 * @cut: where bytes are missing, of @aux's count, in order
 * @cuts: how many that are still to come
 * @cuts_room: of @cut
 * @lost: times that something was lost
 * @offset: bytes in the file
 */
struct pt_stream {
	struct pt_ring ring;
	__u8 *aux;
	size_t aux_bytes;
	__u32 tid, pid;
	unsigned int number;
	__u64 time;
	struct pt_guest guest;
	__u64 *cut;
	size_t cuts, cuts_room;
	__u64 lost;
	__u64 offset;
};

/* What is made of a record in a ring. */
typedef void pt_ring_fn(void *data, const struct perf_event_header *header);

int pt_ring_open(struct pt_ring *ring, struct perf_event_attr *attr, int tid, int cpu,
		 size_t bytes);
bool pt_ring_read(struct pt_ring *ring, pt_ring_fn *take, void *data);
void pt_ring_close(struct pt_ring *ring);
int pt_stream_open(struct pt_stream *stream, const struct perf_event_attr *attr);
bool pt_stream_read(struct pt_stream *stream, FILE *file);
bool pt_stream_end(struct pt_stream *stream, FILE *file);

#endif /* _KVM_TRACE_PT_STREAM_H */
