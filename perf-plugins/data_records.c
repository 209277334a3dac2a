// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a perf.data of records. See data_records.h. The layout of the formats of events in
 * it is that of trace-cmd.dat(5).
 */
#include <errno.h>
#include <string.h>
#include "array_size.h"
#include "data_records.h"
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

static void end_round(struct data_records *records)
{
	const struct perf_event_header end = {
		.type = DATA_FILE_FINISHED_ROUND, .size = sizeof(end),
	};

	data_file_put(&records->file, &end, sizeof(end));
	records->round = data_file_here(&records->file);
}

void data_records_add(struct data_records *records, enum kvm_trace_kind kind,
		      const struct data_records_place *place, const void *record, size_t size)
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
	struct data_file *data = &records->file;

	data_file_put(data, &sample, sizeof(sample));
	data_file_put(data, &number, sizeof(number));
	data_file_put(data, (const char *)record + sizeof(number), size - sizeof(number));
	data_file_put_number(data, 0, padded - size);
	if (data_file_here(data) - records->round > ROUND_BYTES)
		end_round(records);
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
	const __u64 ids = data_file_here(data);
	__u64 i;

	for (i = 0; i < KVM_TRACE_EVENTS; i++)
		data_file_put_number(data, 1 + i, sizeof(__u64));
	data->header.attr_size = sizeof(attr);
	data->header.attrs.offset = data_file_here(data);
	data->header.attrs.size = KVM_TRACE_EVENTS * sizeof(attr);
	for (i = 0; i < KVM_TRACE_EVENTS; i++) {
		attr.attr.config = FIRST_EVENT + i;
		attr.ids.offset = ids + i * sizeof(__u64);
		data_file_put(data, &attr, sizeof(attr));
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
	data_file_put(data, system, strlen(system) + 1);
	data_file_put_number(data, n, 4);
	for (kind = 0; kind < KVM_TRACE_EVENTS; kind++) {
		if (strcmp(kvm_trace_event_formats[kind].system, system))
			continue;
		len = kvm_trace_event_format(kind, FIRST_EVENT + kind, format, NULL, 0);
		data_file_put_number(data, len, 8);
		data_file_put(data, format, len);
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

	data_file_put(data, magic, sizeof(magic));
	data_file_put_number(data, 0, 1);		/* little-endian */
	data_file_put_number(data, sizeof(long), 1);
	data_file_put_number(data, PAGE_BYTES, 4);
	data_file_put(data, "header_page", 12);
	data_file_put_number(data, strlen(page), 8);
	data_file_put(data, page, strlen(page));
	data_file_put(data, "header_event", 13);
	data_file_put_number(data, 0, 8);
	data_file_put_number(data, 0, 4);		/* events of ftrace itself */
	data_file_put_number(data, ARRAY_SIZE(systems), 4);
	for (i = 0; i < ARRAY_SIZE(systems); i++)
		put_system(data, systems[i]);
	data_file_put_number(data, 0, 4);		/* kallsyms */
	data_file_put_number(data, 0, 4);		/* formats of printk() */
	data_file_put_number(data, 0, 8);		/* names of commands */
}

static void put_features(struct data_file *data)
{
	const __u64 at = data_file_here(data);
	struct data_file_section formats = { .offset = at + sizeof(formats) };

	data_file_put(data, &formats, sizeof(formats));
	put_formats(data);
	formats.size = data_file_here(data) - formats.offset;
	data_file_go_to(data, at);
	data_file_put(data, &formats, sizeof(formats));
}

bool data_records_begin(struct data_records *records, const char *path)
{
	struct data_file *data = &records->file;

	data_file_begin(data, path);
	data->header.features[0] = 1ull << DATA_FILE_TRACING_DATA;
	put_attrs(data);
	data->header.data.offset = data_file_here(data);
	records->round = data->header.data.offset;
	errno = data->error;
	return data->file;
}

bool data_records_end(struct data_records *records)
{
	struct data_file *data = &records->file;

	end_round(records);
	data->header.data.size = records->round - data->header.data.offset;
	put_features(data);
	return data_file_end(data);
}
