// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the recorder's buffers of perf's events give each record once, also where the
 * buffer goes round; and a stream whose event has no trace is refused and leaves nothing
 * open. An event of software's is enough for both.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "../../perf-plugins/pt_stream.h"
#include "tap.h"

#define NAMES	1000	/* more than a buffer of one page has room for */

struct names {
	unsigned int seen, others, next;
};

/* PERF_RECORD_COMM. */
struct comm_record {
	struct perf_event_header header;
	__u32 pid, tid;
	char comm[16];
};

static struct perf_event_attr event(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY, .comm = 1, .exclude_kernel = 1,
	};
}

static void take(void *data, const struct perf_event_header *header)
{
	const struct comm_record *record = (const void *)header;
	struct names *names = data;

	if (header->type != PERF_RECORD_COMM || strncmp(record->comm, "pt_stream-", 10)) {
		names->others++;
		return;
	}
	tap_expect((unsigned int)atoi(record->comm + 10) == names->next,
		   "'%s' where %u is expected", record->comm, names->next);
	names->next++;
	names->seen++;
}

static int lowest_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static void test_records(struct pt_ring *ring)
{
	struct names names = {};
	char name[16];
	unsigned int i;

	tap_begin("each_record_is_given_once");
	for (i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "pt_stream-%u", i);
		prctl(PR_SET_NAME, name);
		if (i % 7 == 0)
			tap_expect(pt_ring_read(ring, take, &names), "it cannot be read");
	}
	tap_expect(pt_ring_read(ring, take, &names), "it cannot be read");
	tap_expect(names.seen == NAMES && !names.others, "%u of %d, and %u others", names.seen,
		   NAMES, names.others);
	tap_end();
}

/* As the kernel never writes one; its own buffer cannot be written to. */
static void test_damaged(void)
{
	static const __u16 sizes[] = { 0, 4, 48 };
	const size_t page = sysconf(_SC_PAGESIZE);
	struct names names = {};
	struct pt_ring ring = { .fd = -1, .page = calloc(2, page), .bytes = page };
	struct perf_event_header *header = (void *)((__u8 *)ring.page + page);
	size_t i;

	tap_begin("a_record_that_cannot_be_is_told");
	ring.page->data_head = 40;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		header->size = sizes[i];
		tap_expect(!pt_ring_read(&ring, take, &names) && !names.others,
			   "one of %u bytes in 40 is read", sizes[i]);
	}
	free(ring.page);
	tap_end();
}

static void test_refused(void)
{
	const int fd = lowest_fd();
	struct perf_event_attr attr = event();
	struct pt_stream stream = { .tid = 0, .aux_bytes = 1 << 16 };
	struct pt_ring ring;
	int err;

	tap_begin("what_cannot_be_opened_leaves_nothing");
	err = pt_stream_open(&stream, &attr);
	tap_expect(err < 0 && !stream.aux && stream.ring.fd < 0, "without a trace it gives %d",
		   err);
	attr.type = 0x7fffffff;
	err = pt_ring_open(&ring, &attr, 0, -1, 1 << 16);
	tap_expect(err == -ENOENT || err == -EINVAL, "of no PMU it gives %d", err);
	attr = event();
	err = pt_ring_open(&ring, &attr, 0, -1, 3 * sysconf(_SC_PAGESIZE));
	tap_expect(err == -EINVAL && ring.fd < 0 && !ring.page, "with three pages it gives %d",
		   err);
	pt_ring_close(&ring);
	tap_expect(lowest_fd() == fd, "a descriptor is open");
	tap_end();
}

int main(void)
{
	struct perf_event_attr attr = event();
	const size_t page = sysconf(_SC_PAGESIZE);
	struct pt_ring ring;
	int err;

	err = pt_ring_open(&ring, &attr, 0, -1, page);
	if (err == -EACCES || err == -EPERM) {
		printf("TAP version 13\n1..0 # SKIP no event of perf may be opened here\n");
		return 0;
	}
	tap_plan(3);
	errno = -err;
	if (err)
		tap_die("an event of software");
	test_records(&ring);
	pt_ring_close(&ring);
	test_damaged();
	test_refused();
	return tap_exit();
}
