// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes perf.data with traces of Intel PT. See pt_data.h. The records are those
 * of tools/lib/perf/include/perf/event.h in Linux's source.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array_size.h"
#include "pt_data.h"

#define WORD		8ull
#define COPY_BYTES	(1 << 20)

#define AUXTRACE_INTEL_PT	1
#define ANY_CPU			0xffffffffu
/* Bits of IA32_RTIT_CTL, as in the format of the events intel_pt and kvm_pt. */
#define CTL_CYC			(1ull << 1)
#define CTL_MTC			(1ull << 9)
#define CTL_TSC			(1ull << 10)
#define CTL_NORETCOMP		(1ull << 11)
#define CTL_MTC_PERIOD		(0xfull << 14)
#define TSC_CTC_RATIO		8	/* of a trace with MTC packets, as the emulation's */

static void fail(struct pt_data *data, int error)
{
	data_file_fail(&data->out, error);
}

static void put(struct pt_data *data, const void *bytes, size_t size)
{
	data_file_put(&data->out, bytes, size);
}

static void put_word(struct pt_data *data, __u64 word)
{
	data_file_put_number(&data->out, word, sizeof(word));
}

static void put_zeros(struct pt_data *data, size_t size)
{
	data_file_put_number(&data->out, 0, size);
}

static __u64 here(struct pt_data *data)
{
	return data_file_here(&data->out);
}

static void get(struct pt_data *data, void *bytes, size_t size)
{
	if (data->out.error || !size || fread(bytes, size, 1, data->base) == 1)
		return;
	fail(data, ferror(data->base) ? errno : ENODATA);
}

static void go_to(struct pt_data *data, __u64 at)
{
	if (!data->out.error && fseek(data->base, at, SEEK_SET))
		fail(data, errno);
}

static void copy_from(struct pt_data *data, FILE *from, __u64 size)
{
	char *bytes = malloc(COPY_BYTES);
	size_t n;

	if (!bytes)
		fail(data, ENOMEM);
	while (size && !data->out.error) {
		n = fread(bytes, 1, size < COPY_BYTES ? size : COPY_BYTES, from);
		if (!n)
			fail(data, ferror(from) ? errno : ENODATA);
		put(data, bytes, n);
		size -= n;
	}
	free(bytes);
}

static void copy_section(struct pt_data *data, const struct data_file_section *section)
{
	go_to(data, section->offset);
	copy_from(data, data->base, section->size);
}

/* An event's attributes in @data->base, and where its ids are. */
static void get_attr(struct pt_data *data, size_t n, void *attr, struct data_file_section *ids)
{
	const __u64 size = data->base_header.attr_size;

	go_to(data, data->base_header.attrs.offset + n * size);
	get(data, attr, size - sizeof(*ids));
	get(data, ids, sizeof(*ids));
}

/* The bits that say where in a record the id is must be the same for all events. */
static void fit_attr(struct pt_data *data, const struct perf_event_attr *base)
{
	static const __u64 fields = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
		PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER;

	data->attr.sample_type = base->sample_type & fields;
	data->attr.sample_id_all = base->sample_id_all;
}

static void put_attrs(struct pt_data *data)
{
	const __u64 size = data->base_header.attr_size - sizeof(struct data_file_section);
	const size_t n = data->base_header.attrs.size / data->base_header.attr_size;
	struct data_file_section *ids = calloc(n + 1, sizeof(*ids)), old;
	struct perf_event_attr *attr = calloc(1, size + sizeof(*attr));
	size_t i;

	if (!ids || !attr) {
		fail(data, ENOMEM);
		goto out;
	}
	for (i = 0; i < n; i++) {
		get_attr(data, i, attr, &old);
		if (!i)
			fit_attr(data, attr);
		ids[i] = (struct data_file_section){ here(data), old.size };
		copy_section(data, &old);
	}
	ids[n] = (struct data_file_section){ here(data), sizeof(data->id) };
	put_word(data, data->id);

	data->out.header.attrs = (struct data_file_section){
		here(data), (n + 1) * data->base_header.attr_size,
	};
	for (i = 0; i < n; i++) {
		get_attr(data, i, attr, &old);
		put(data, attr, size);
		put(data, &ids[i], sizeof(ids[i]));
	}
	memset(attr, 0, size);
	data->attr.size = size < sizeof(*attr) ? size : sizeof(*attr);
	memcpy(attr, &data->attr, data->attr.size);
	/* Ids are behind that many bytes, though this may know fewer than perf. */
	attr->size = size;
	put(data, attr, size);
	put(data, &ids[n], sizeof(ids[n]));
out:
	free(attr);
	free(ids);
}

static void open_base(struct pt_data *data, const char *base)
{
	struct data_file_header *header = &data->base_header;

	data->base = fopen(base, "r");
	if (!data->base) {
		fail(data, errno);
		return;
	}
	get(data, header, sizeof(*header));
	if (data->out.error)
		return;
	if (header->magic != DATA_FILE_MAGIC || header->size != sizeof(*header) ||
	    header->attr_size < DATA_FILE_ATTR_LEAST + sizeof(struct data_file_section))
		fail(data, EBADMSG);
}

/**
 * pt_data_begin() - open a file
 * @data: with @data->attr and @data->id filled in, and @data->hidden, the rest 0
 * @path: file to write
 * @base: perf.data of perf record that goes into it, or NULL
 *
 * Return: false with errno; pt_data_end() gives back what there is.
 */
bool pt_data_begin(struct pt_data *data, const char *path, const char *base)
{
	data_file_begin(&data->out, path);
	data->base_header = (struct data_file_header){
		.attr_size = sizeof(data->attr) + sizeof(struct data_file_section),
	};
	if (base && !data->out.error)
		open_base(data, base);
	if (!data->out.error)
		put_attrs(data);
	data->out.header.attr_size = data->base_header.attr_size;
	data->out.header.data.offset = here(data);
	errno = data->out.error;
	return !data->out.error;
}

static void put_header(struct pt_data *data, __u32 type, __u16 misc, size_t size)
{
	const struct perf_event_header header = { type, misc, sizeof(header) + size };

	put(data, &header, sizeof(header));
}

static size_t id_size(const struct pt_data *data)
{
	static const __u64 fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
		PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	if (!data->attr.sample_id_all)
		return 0;
	return __builtin_popcountll(data->attr.sample_type & fields) * WORD;
}

/* What sample_id_all adds to a record. */
static void put_id(struct pt_data *data, const struct pt_data_thread *thread)
{
	const __u64 fields = data->attr.sample_id_all ? data->attr.sample_type : 0;

	if (fields & PERF_SAMPLE_TID) {
		put(data, &thread->pid, sizeof(thread->pid));
		put(data, &thread->tid, sizeof(thread->tid));
	}
	if (fields & PERF_SAMPLE_TIME)
		put_word(data, thread->time);
	if (fields & PERF_SAMPLE_ID)
		put_word(data, data->id);
	if (fields & PERF_SAMPLE_STREAM_ID)
		put_word(data, data->id);
	if (fields & PERF_SAMPLE_CPU)
		put_word(data, 0);
	if (fields & PERF_SAMPLE_IDENTIFIER)
		put_word(data, data->id);
}

static size_t padded(const char *text)
{
	return (strlen(text) + WORD) & ~(WORD - 1);
}

static void put_text(struct pt_data *data, const char *text)
{
	put(data, text, strlen(text));
	put_zeros(data, padded(text) - strlen(text));
}

/**
 * pt_data_info() - PERF_RECORD_AUXTRACE_INFO: that there are traces, and what they have
 * @data: from pt_data_begin(), nothing put into it yet
 * @clock: how a TSC becomes perf's time
 * @ratio: the processor's ratio without turbo, or 0
 */
void pt_data_info(struct pt_data *data, const struct pt_data_clock *clock, unsigned int ratio)
{
	const __u32 type[] = { AUXTRACE_INTEL_PT, 0 };
	const __u64 words[] = {
		data->attr.type, clock->shift, clock->mult, clock->zero, clock->has_zero,
		CTL_TSC, CTL_NORETCOMP,
		0, 0, 0,	/* sched_switch, snapshot, a buffer for each CPU */
		CTL_MTC, CTL_MTC_PERIOD, TSC_CTC_RATIO, 1, CTL_CYC, ratio,
		0,		/* address filters */
	};

	put_header(data, DATA_FILE_AUXTRACE_INFO, 0, sizeof(type) + sizeof(words));
	put(data, type, sizeof(type));
	put(data, words, sizeof(words));
}

/**
 * pt_data_comm() - PERF_RECORD_COMM: a thread's name
 * @data: from pt_data_begin()
 * @thread: which
 * @name: its name
 */
void pt_data_comm(struct pt_data *data, const struct pt_data_thread *thread, const char *name)
{
	put_header(data, PERF_RECORD_COMM, 0, WORD + padded(name) + id_size(data));
	put(data, &thread->pid, sizeof(thread->pid));
	put(data, &thread->tid, sizeof(thread->tid));
	put_text(data, name);
	put_id(data, thread);
}

/**
 * pt_data_map() - PERF_RECORD_MMAP: where a decoder finds code
 * @data: from pt_data_begin()
 * @thread: whose it is
 * @map: the code
 */
void pt_data_map(struct pt_data *data, const struct pt_data_thread *thread,
		 const struct pt_data_map *map)
{
	put_header(data, PERF_RECORD_MMAP, map->misc, 4 * WORD + padded(map->path) + id_size(data));
	put(data, &thread->pid, sizeof(thread->pid));
	put(data, &thread->tid, sizeof(thread->tid));
	put_word(data, map->address);
	put_word(data, map->size);
	put_word(data, 0);
	put_text(data, map->path);
	put_id(data, thread);
}

/**
 * pt_data_start() - PERF_RECORD_ITRACE_START: a thread's trace begins
 * @data: from pt_data_begin()
 * @thread: which
 */
void pt_data_start(struct pt_data *data, const struct pt_data_thread *thread)
{
	put_header(data, PERF_RECORD_ITRACE_START, 0, WORD + id_size(data));
	put(data, &thread->pid, sizeof(thread->pid));
	put(data, &thread->tid, sizeof(thread->tid));
	put_id(data, thread);
}

/**
 * pt_data_trace() - PERF_RECORD_AUXTRACE: bytes of a trace
 * @file: where to
 * @tid: thread that they are of
 * @stream: a number for each trace, from 0
 * @offset: of the bytes in it
 * @trace: the bytes; those that go on behind them have @offset + @size, up to a whole word
 * @size: how many
 *
 * Return: false with errno.
 */
bool pt_data_trace(FILE *file, __u32 tid, unsigned int stream, __u64 offset, const void *trace,
		   size_t size)
{
	/* perf wants whole words; 0 is Intel PT's padding. */
	const __u64 whole = (size + WORD - 1) & ~(WORD - 1), none = 0;
	const struct {
		struct perf_event_header header;
		__u64 size, offset, reference;
		__u32 stream, tid, cpu, reserved;
	} record = {
		{ DATA_FILE_AUXTRACE, 0, sizeof(record) }, whole, offset, offset + 1,
		stream, tid, ANY_CPU, 0,
	};

	return fwrite(&record, sizeof(record), 1, file) == 1 &&
	       fwrite(trace, 1, size, file) == size &&
	       fwrite(&none, 1, whole - size, file) == whole - size;
}

/**
 * pt_data_add() - put records of pt_data_trace() into the file
 * @data: from pt_data_begin()
 * @file: all that is in it
 */
void pt_data_add(struct pt_data *data, FILE *file)
{
	long size;

	if (fflush(file) || fseek(file, 0, SEEK_END))
		fail(data, errno);
	size = ftell(file);
	rewind(file);
	copy_from(data, file, size);
}

/* What perf says of the recording as a whole comes behind the records. */
static void put_features(struct pt_data *data)
{
	const struct data_file_section *records = &data->base_header.data;
	struct data_file_section old[DATA_FILE_FEATURES], new[DATA_FILE_FEATURES];
	const __u64 table = here(data);
	size_t n = 0, i;

	for (i = 0; i < ARRAY_SIZE(data->base_header.features); i++)
		n += __builtin_popcountll(data->base_header.features[i]);
	go_to(data, records->offset + records->size);
	get(data, old, n * sizeof(old[0]));
	put(data, old, n * sizeof(old[0]));
	for (i = 0; i < n && !data->out.error; i++) {
		new[i] = (struct data_file_section){ here(data), old[i].size };
		copy_section(data, &old[i]);
	}
	data_file_go_to(&data->out, table);
	put(data, new, n * sizeof(new[0]));
	memcpy(data->out.header.features, data->base_header.features,
	       sizeof(data->out.header.features));
}

/* As perf writes it: MMAP, and MMAP2 which begins like it. */
struct mmap_record {
	struct perf_event_header header;
	__u32 pid, tid;
	__u64 address, size;
};

static bool is_hidden(const struct pt_data *data, const struct mmap_record *mmap)
{
	size_t i;

	if ((mmap->header.type != PERF_RECORD_MMAP && mmap->header.type != PERF_RECORD_MMAP2) ||
	    (mmap->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL ||
	    mmap->header.size < sizeof(*mmap))
		return false;
	for (i = 0; i < data->nr_hidden; i++) {
		if (data->hidden[i].address < mmap->address + mmap->size &&
		    mmap->address < data->hidden[i].address + data->hidden[i].size)
			return true;
	}
	return false;
}

/* perf keeps kernel's maps that overlap, and takes any of them. */
static void copy_records(struct pt_data *data)
{
	static __u8 record[1 << 16] __attribute__((aligned(8)));
	const struct perf_event_header *header = (const void *)record;
	__u64 left = data->base_header.data.size;

	go_to(data, data->base_header.data.offset);
	for (; left && !data->out.error; left -= header->size) {
		get(data, record, sizeof(*header));
		if (!data->out.error && (header->size < sizeof(*header) || header->size > left))
			fail(data, EBADMSG);
		if (data->out.error)
			break;
		get(data, record + sizeof(*header), header->size - sizeof(*header));
		if (!is_hidden(data, (const void *)record))
			put(data, record, header->size);
	}
}

/**
 * pt_data_end() - what is left of the base, and the end of the file
 * @data: from pt_data_begin(), which may have failed
 *
 * Return: false with errno if anything has failed.
 */
bool pt_data_end(struct pt_data *data)
{
	if (data->base && !data->out.error)
		copy_records(data);
	data->out.header.data.size = here(data) - data->out.header.data.offset;
	if (data->base && !data->out.error)
		put_features(data);
	if (data->base)
		fclose(data->base);
	return data_file_end(&data->out);
}
