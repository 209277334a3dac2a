// SPDX-License-Identifier: GPL-2.0-only
/*
 * Target of a fuzzer: what reads streams of Intel PT, from perf's buffers to the stream
 * that perf decodes. With libFuzzer (make fuzz) it looks for inputs that do harm; alone,
 * with a main() of its own, it reads those of corpus-pt/ once, under AddressSanitizer and
 * UBSan.
 *
 *	byte 0		bit 0: a host's; bit 1: method window; bit 2: keep NR; bit 3: one
 *			clock of the guest, bit 4: two; bit 5: through perf's buffers
 *	for each piece:
 *	byte		its size; 0: bytes are missing here
 *	size bytes	of the trace; fewer at the end of the input
 */
#include <stdio.h>

#include "../../perf-plugins/pt_stream.c"

#include "corpus.h"

#define HOST		0x01
#define WINDOW		0x02
#define KEEP_NR		0x04
#define CLOCK		0x08
#define TWO_CLOCKS	0x10
#define BUFFERS		0x20

#define TSC_OFFSET	0x100000
#define TSC_ONE		(1ull << 48)
#define NOW		(1ull << 40)
/* Less than a page, so that both go round in every input of some length. */
#define RING_BYTES_HERE	256
#define AUX_BYTES	512

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size);

static struct pt_guest make_guest(__u8 how)
{
	static const struct pt_guest_clock clocks[] = {
		{ TSC_OFFSET, TSC_ONE, 48 }, { -TSC_OFFSET, TSC_ONE * 3 / 2, 48 },
	};
	struct pt_guest guest = {
		.host = how & HOST, .window = how & WINDOW, .keep_nr = how & KEEP_NR,
	};

	if (how & CLOCK)
		pt_guest_clock(&guest, &clocks[0]);
	if (how & TWO_CLOCKS)
		pt_guest_clock(&guest, &clocks[1]);
	return guest;
}

/* A piece of the input; false at its end. */
static bool next_piece(const __u8 **at, const __u8 *end, const __u8 **piece, size_t *size)
{
	if (*at == end)
		return false;
	*size = *(*at)++;
	if (*size > (size_t)(end - *at))
		*size = end - *at;
	*piece = *at;
	*at += *size;
	return true;
}

/* Whole packets, and no NR that perf would take for a guest. */
static void check_packets(const struct pt_guest *guest)
{
	struct pt_packet packet;
	size_t at, n;
	__u64 ip = 0;

	for (at = 0; at < guest->out.size; at += n) {
		n = pt_packet_read(guest->out.data + at, guest->out.size - at, &ip, &packet);
		corpus_require(n && n <= guest->out.size - at);
		if (packet.type == PT_PIP && !guest->host)
			corpus_require(guest->keep_nr || !(packet.value & PT_PIP_NR));
	}
}

/* Where the bytes are cut into pieces must make no difference, if none is missing. */
static void read_pieces(__u8 how, const __u8 *at, const __u8 *end)
{
	struct pt_guest guest = make_guest(how), whole = make_guest(how);
	struct pt_bytes all = { 0 };
	bool missing = false;
	const __u8 *piece;
	__u8 *copy;
	size_t n;

	while (next_piece(&at, end, &piece, &n)) {
		if (!n) {
			pt_guest_cut(&guest);
			missing = true;
			continue;
		}
		/* Of exactly its size, so that its every neighbour byte is poisoned. */
		copy = malloc(n);
		corpus_require(copy);
		memcpy(copy, piece, n);
		corpus_require(pt_guest_take(&guest, copy, n, NOW));
		corpus_require(pt_bytes_add(&all, copy, n));
		free(copy);
	}
	check_packets(&guest);
	if (!missing && all.size) {
		corpus_require(pt_guest_take(&whole, all.data, all.size, NOW));
		corpus_require(guest.out.size == whole.out.size && guest.bad == whole.bad &&
			       guest.times == whole.times);
		corpus_require(!whole.out.size ||
			       !memcmp(guest.out.data, whole.out.data, whole.out.size));
	}
	pt_guest_free(&guest);
	pt_guest_free(&whole);
	free(all.data);
}

/* As the kernel does, which is trusted: in order, and no more than there is room for. */
static void put_record(struct pt_ring *ring, const void *record, size_t size)
{
	__u8 *bytes = (__u8 *)ring->page + sysconf(_SC_PAGESIZE);
	size_t i;

	for (i = 0; i < size; i++)
		bytes[(ring->page->data_head + i) % ring->bytes] = ((const __u8 *)record)[i];
	ring->page->data_head += size;
}

/* One of 0 bytes says that the trace ends here, as a full area does. */
static void put_piece(struct pt_stream *stream, const __u8 *piece, size_t size)
{
	struct perf_event_mmap_page *page = stream->ring.page;
	const struct aux_record aux = {
		.header = { PERF_RECORD_AUX, 0, sizeof(aux) },
		.offset = page->aux_head, .size = size,
		.flags = size ? 0 : PERF_AUX_FLAG_TRUNCATED,
	};
	const struct perf_event_header other = { PERF_RECORD_LOST, 0, sizeof(other) };
	size_t i;

	for (i = 0; i < size; i++)
		stream->aux[(page->aux_head + i) % stream->aux_bytes] = piece[i];
	page->aux_head += size;
	put_record(&stream->ring, &aux, sizeof(aux));
	put_record(&stream->ring, &other, sizeof(other));
}

static void read_buffers(__u8 how, const __u8 *at, const __u8 *end)
{
	struct pt_stream stream = {
		.ring = { .fd = -1, .bytes = RING_BYTES_HERE },
		.aux_bytes = AUX_BYTES, .tid = 1, .guest = make_guest(how),
	};
	FILE *file = fopen("/dev/null", "w");
	const __u8 *piece;
	__u64 lost = 0;
	size_t n;

	/* What pt_stream_end() unmaps. */
	stream.ring.page = mmap(NULL, sysconf(_SC_PAGESIZE) + RING_BYTES_HERE,
				PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stream.aux = mmap(NULL, AUX_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	corpus_require(file && stream.ring.page != MAP_FAILED && stream.aux != MAP_FAILED);
	while (next_piece(&at, end, &piece, &n)) {
		put_piece(&stream, piece, n);
		lost += !n;
		/* Two pieces have room in both buffers. */
		if (n & 1 && next_piece(&at, end, &piece, &n)) {
			put_piece(&stream, piece, n);
			lost += !n;
		}
		corpus_require(pt_stream_read(&stream, file));
		corpus_require(stream.lost == lost && !stream.cuts && !stream.guest.out.size &&
			       stream.ring.page->data_tail == stream.ring.page->data_head &&
			       stream.ring.page->aux_tail == stream.ring.page->aux_head);
	}
	corpus_require(pt_stream_end(&stream, file) && !stream.aux && !stream.ring.page);
	fclose(file);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	if (!size)
		return 0;
	if (*data & BUFFERS)
		read_buffers(*data, data + 1, data + size);
	else
		read_pieces(*data, data + 1, data + size);
	return 0;
}

#ifndef FUZZER
int main(int argc, char **argv)
{
	(void)argc;
	return corpus_test(argv[0], "corpus-pt", LLVMFuzzerTestOneInput);
}
#endif
