// SPDX-License-Identifier: GPL-2.0-only
/*
 * Target of a fuzzer: perf-kvm-trace-salvage on any file. With libFuzzer (make fuzz) it
 * looks for inputs that do harm; alone, with a main() of its own, it reads those of
 * corpus-salvage/ once, under AddressSanitizer and UBSan.
 *
 *	byte 0		bit 0: a head of perf's goes before the rest, or hardly any input
 *			would get behind it; bit 1: that head says where records end
 *	with a head, 2 bytes	more bits of sample_type, 15:0
 *	the rest	the file, or its records
 */
#include <fcntl.h>
#include <stdio.h>

/* libFuzzer itself talks on this. */
static FILE *nowhere;
#undef stderr
#define stderr nowhere
#define main salvage_main
#include "../../perf-plugins/salvage.c"
#undef main
/* The tests have their own. */
#undef ARRAY_SIZE

#include "corpus.h"

#define HEAD		1
#define HEAD_TELLS_END	2

struct head {
	struct data_file_header header;
	struct perf_event_attr attr;
	struct data_file_section ids;
};

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size);

/* Where the salvager writes: memory with a name. */
static int output = -1;
static char output_path[64];

static struct event events[NUMBERS];

/* What was written is sound, and has as many records as were saved. */
static void check_output(__u64 saved)
{
	const off_t size = lseek(output, 0, SEEK_END);
	struct recording r;
	struct sample sample;
	__u64 at, records = 0;
	__u8 *bytes;

	bytes = malloc(size);
	corpus_require(bytes && pread(output, bytes, size, 0) == size);
	r = (struct recording){ .bytes = bytes, .size = size, .events = events };
	corpus_require(read_head(&r, output_path) && !r.odd);
	for (at = r.from; at < r.until; at = end_of(&r, at)) {
		corpus_require(is_record(&r, at));
		records += !!event_of(&r, at, &sample);
	}
	corpus_require(at == r.until && records == saved);
	free(bytes);
}

static __u8 *with_head(__u8 how, const __u8 *data, size_t *size)
{
	const __u16 more = data[0] | data[1] << 8;
	struct head head = {
		.header = {
			.magic = DATA_FILE_MAGIC, .size = sizeof(head.header),
			.attr_size = sizeof(head.attr) + sizeof(head.ids),
			.attrs = { sizeof(head.header), sizeof(head.attr) + sizeof(head.ids) },
			.data = { sizeof(head), how & HEAD_TELLS_END ? *size - 2 : 0 },
		},
		.attr = {
			.type = PERF_TYPE_TRACEPOINT, .size = sizeof(head.attr),
			.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | more,
		},
	};
	__u8 *file = malloc(sizeof(head) + *size - 2);

	corpus_require(file);
	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), data + 2, *size - 2);
	*size += sizeof(head) - 2;
	return file;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct recording r;
	__u8 how, *file;

	if (output < 0) {
		nowhere = fopen("/dev/null", "w");
		output = memfd_create("salvaged", 0);
		corpus_require(nowhere && output >= 0);
		snprintf(output_path, sizeof(output_path), "/proc/self/fd/%d", output);
	}
	if (size < 4)
		return 0;
	how = *data++;
	size--;
	if (how & HEAD) {
		file = with_head(how, data, &size);
	} else {
		file = malloc(size);
		corpus_require(file);
		memcpy(file, data, size);
	}
	memset(events, 0, sizeof(events));
	r = (struct recording){ .bytes = file, .size = size, .events = events };
	if (salvage(&r, "input", output_path) != FAILED) {
		corpus_require(r.saved && r.lost < size);
		check_output(r.saved);
	}
	free(file);
	return 0;
}

#ifndef FUZZER
int main(int argc, char **argv)
{
	(void)argc;
	return corpus_test(argv[0], "corpus-salvage", LLVMFuzzerTestOneInput);
}
#endif
