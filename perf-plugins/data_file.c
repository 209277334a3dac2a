// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes perf.data. See data_file.h. The layout of the file is that of
 * tools/perf/Documentation/perf.data-file-format.txt in Linux's source, that of the
 * formats of events in it trace-cmd.dat(5)'s.
 */
#include <errno.h>
#include <string.h>
#include "array_size.h"
#include "data_file.h"
#include "event_formats.h"

/* Numbers of events; any, since the file says which are which. */
#define FIRST_EVENT	1501
#define PAGE_BYTES	4096
/* perf holds back a round and the one before, to put them in order. */
#define ROUND_BYTES	(1u << 20)

struct file_attr {
	struct perf_event_attr attr;
	struct data_file_section ids;
};

struct sample {
	struct perf_event_header header;
	__u64 id, ip;
	__u32 pid, tid;
	__u64 time;
	__u32 cpu, zero;
	__u64 period;
	__u32 raw_size;
} __attribute__((packed));

static __u64 here(const struct data_file *data)
{
	return ftell(data->file);
}

static void put(struct data_file *data, const void *bytes, size_t size)
{
	if (!data->failed && size)
		data->failed = fwrite(bytes, size, 1, data->file) != 1;
}

static void put_number(struct data_file *data, __u64 number, size_t size)
{
	put(data, &number, size);
}

static void end_round(struct data_file *data)
{
	const struct perf_event_header end = {
		.type = DATA_FILE_FINISHED_ROUND, .size = sizeof(end),
	};

	put(data, &end, sizeof(end));
	data->round = here(data);
}

void data_file_add(struct data_file *data, enum kvm_trace_kind kind,
		   const struct data_file_place *place, const void *record, size_t size)
{
	/* Behind its size, the record ends where words do. */
	const size_t padded = (size + 4 + 7) / 8 * 8 - 4;
	const struct sample sample = {
		.header = {
			.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_KERNEL,
			.size = sizeof(sample) + padded,
		},
		.id = 1 + kind, .pid = place->pid, .tid = place->tid, .time = place->time,
		.cpu = place->cpu, .period = 1, .raw_size = padded,
	};
	const __u16 number = FIRST_EVENT + kind;

	put(data, &sample, sizeof(sample));
	put(data, &number, sizeof(number));
	put(data, (const char *)record + sizeof(number), size - sizeof(number));
	put_number(data, 0, padded - size);
	if (here(data) - data->round > ROUND_BYTES)
		end_round(data);
}

static void put_attrs(struct data_file *data)
{
	struct file_attr attr = {
		.attr = {
			.type = PERF_TYPE_TRACEPOINT,
			.size = sizeof(attr.attr),
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
				       PERF_SAMPLE_RAW,
			.read_format = PERF_FORMAT_ID,
			.sample_id_all = 1,
		},
		.ids.size = sizeof(__u64),
	};
	const __u64 ids = here(data);
	__u64 i;

	for (i = 0; i < KVM_TRACE_EVENTS; i++)
		put_number(data, 1 + i, sizeof(__u64));
	data->header.attr_size = sizeof(attr);
	data->header.attrs.offset = here(data);
	data->header.attrs.size = KVM_TRACE_EVENTS * sizeof(attr);
	for (i = 0; i < KVM_TRACE_EVENTS; i++) {
		attr.attr.config = FIRST_EVENT + i;
		attr.ids.offset = ids + i * sizeof(__u64);
		put(data, &attr, sizeof(attr));
	}
}

static void put_system(struct data_file *data, const char *system)
{
	char format[KVM_TRACE_FORMAT_MAX];
	enum kvm_trace_kind kind;
	unsigned int n = 0;
	size_t len;

	for (kind = 0; kind < KVM_TRACE_EVENTS; kind++)
		n += !strcmp(kvm_trace_event_formats[kind].system, system);
	put(data, system, strlen(system) + 1);
	put_number(data, n, 4);
	for (kind = 0; kind < KVM_TRACE_EVENTS; kind++) {
		if (strcmp(kvm_trace_event_formats[kind].system, system))
			continue;
		len = kvm_trace_event_format(kind, FIRST_EVENT + kind, format, NULL, 0);
		put_number(data, len, 8);
		put(data, format, len);
	}
}

static void put_formats(struct data_file *data)
{
	static const char *const systems[] = {
		"kvm_trace", "kvm_trace_detail", "kvm_trace_batch",
	};
	static const char magic[] = "\027\010Dtracing0.6";
	/* Of ftrace's buffer, which is not there. */
	static const char page[] =
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	size_t i;

	put(data, magic, sizeof(magic));
	put_number(data, 0, 1);			/* little-endian */
	put_number(data, sizeof(long), 1);
	put_number(data, PAGE_BYTES, 4);
	put(data, "header_page", 12);
	put_number(data, strlen(page), 8);
	put(data, page, strlen(page));
	put(data, "header_event", 13);
	put_number(data, 0, 8);
	put_number(data, 0, 4);			/* events of ftrace itself */
	put_number(data, ARRAY_SIZE(systems), 4);
	for (i = 0; i < ARRAY_SIZE(systems); i++)
		put_system(data, systems[i]);
	put_number(data, 0, 4);			/* kallsyms */
	put_number(data, 0, 4);			/* formats of printk() */
	put_number(data, 0, 8);			/* names of commands */
}

static void put_features(struct data_file *data)
{
	const __u64 at = here(data);
	struct data_file_section formats = { .offset = at + sizeof(formats) };

	put(data, &formats, sizeof(formats));
	put_formats(data);
	formats.size = here(data) - formats.offset;
	data->failed |= fseek(data->file, at, SEEK_SET) < 0;
	put(data, &formats, sizeof(formats));
}

bool data_file_begin(struct data_file *data, const char *path)
{
	*data = (struct data_file){
		.file = fopen(path, "w"),
		.header = {
			.magic = DATA_FILE_MAGIC,
			.size = sizeof(data->header),
			.features = { 1ull << DATA_FILE_TRACING_DATA },
		},
	};
	if (!data->file)
		return false;
	put(data, &data->header, sizeof(data->header));
	put_attrs(data);
	data->header.data.offset = here(data);
	data->round = here(data);
	return true;
}

bool data_file_end(struct data_file *data)
{
	end_round(data);
	data->header.data.size = here(data) - data->header.data.offset;
	put_features(data);
	data->failed |= fseek(data->file, 0, SEEK_SET) < 0;
	put(data, &data->header, sizeof(data->header));
	data->failed |= ferror(data->file);
	if (fclose(data->file))
		data->failed = true;
	return !data->failed;
}
