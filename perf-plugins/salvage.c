// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf-kvm-trace-salvage, which perf kvm-trace runs when perf cannot read a recording: looks
 * for records of kvm_trace in a perf.data that is cut or changed, and writes those that it
 * finds into another one. What of the records is damaged inside, their readers find.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "array_size.h"
#include "batch.h"
#include "data_records.h"
#include "event_formats.h"

#define NAME		"perf-kvm-trace: "
#define WORD		8
#define ATTR_MOST	4096
#define ATTRS_MAX	4096
#define NUMBERS		(1u << 16)
/* Types of the kernel's records, and of perf's own; see perf/event.h of its library. */
#define TYPE_KERNEL_MAX	63
#define TYPE_PERF_MIN	64
#define TYPE_PERF_MAX	127
/* More than any event of ours has. */
#define RAW_MAX		32768
/* So many samples of an event tell what it is. */
#define LOOKED_AT	1000
/* Records in a row that are taken for records, where some before are damaged. */
#define IN_A_ROW	4

enum status { SALVAGED, FAILED, SOUND };

/*
 * @votes: records that look like one, by kind
 * @seen: records that were looked at
 * @known: @kind is what it is
 */
struct event {
	unsigned int votes[KVM_TRACE_EVENTS];
	unsigned int seen;
	enum kvm_trace_kind kind;
	bool known;
};

/* A sample, as far as it matters. */
struct sample {
	struct data_records_place place;
	const __u8 *raw;
	__u32 raw_size;
};

/*
 * @bytes: the recording, @size of them
 * @events: by the number that each record begins with
 * @sample_type: of its samples
 * @from: where records begin
 * @until: where they end
 * @lost: bytes between them that are no records
 * @saved: records that were written
 * @odd: something else than records is damaged
 */
struct recording {
	const __u8 *bytes;
	__u64 size;
	struct data_file_header header;
	struct event *events;
	__u64 sample_type;
	__u64 from, until;
	__u64 lost;
	__u64 saved;
	bool odd;
};

static struct kvm_trace_batch_reader reader;

static bool complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool complain(const char *format, ...)
{
	va_list args;

	fputs(NAME, stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

static bool has(const struct recording *r, __u64 offset, __u64 size)
{
	return offset <= r->size && size <= r->size - offset;
}

static __u64 word_at(const __u8 *at)
{
	__u64 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static __u32 half_at(const __u8 *at)
{
	__u32 half;

	memcpy(&half, at, sizeof(half));
	return half;
}

/* The head of the file */

static void get_attr(const struct recording *r, size_t i, struct perf_event_attr *attr)
{
	memcpy(attr, r->bytes + r->header.attrs.offset + i * r->header.attr_size,
	       DATA_FILE_ATTR_LEAST);
}

/* perf gives all tracepoints the same; what most of them have is not damaged. */
static void choose_sample_type(struct recording *r, size_t attrs)
{
	struct perf_event_attr attr, other;
	size_t i, j, n, all = 0, most = 0;

	for (i = 0; i < attrs; i++) {
		get_attr(r, i, &attr);
		if (attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		all++;
		for (j = 0, n = 0; j < attrs; j++) {
			get_attr(r, j, &other);
			n += other.type == attr.type && other.sample_type == attr.sample_type;
		}
		if (n > most) {
			most = n;
			r->sample_type = attr.sample_type;
		}
	}
	r->odd |= most < all;
}

static bool read_attrs(struct recording *r, const char *path)
{
	const struct data_file_header *h = &r->header;

	if (h->attr_size < DATA_FILE_ATTR_LEAST + sizeof(struct data_file_section) ||
	    h->attr_size > ATTR_MOST || h->attr_size % WORD ||
	    !h->attrs.size || h->attrs.size % h->attr_size ||
	    h->attrs.size / h->attr_size > ATTRS_MAX || !has(r, h->attrs.offset, h->attrs.size))
		return complain("%s: its head is damaged, so that nothing can be saved", path);
	choose_sample_type(r, h->attrs.size / h->attr_size);
	return true;
}

/* Their table is behind the records, as is what they say. */
static bool features_are_there(const struct recording *r)
{
	__u64 at = r->header.data.offset + r->header.data.size;
	struct data_file_section section;
	unsigned int bit;

	for (bit = 0; bit < DATA_FILE_FEATURES; bit++) {
		if (!(r->header.features[bit / 64] >> bit % 64 & 1))
			continue;
		if (!has(r, at, sizeof(section)))
			return false;
		memcpy(&section, r->bytes + at, sizeof(section));
		if (!has(r, section.offset, section.size))
			return false;
		at += sizeof(section);
	}
	return r->header.features[0] >> DATA_FILE_TRACING_DATA & 1;
}

static void find_records(struct recording *r)
{
	const struct data_file_header *h = &r->header;

	r->from = h->attrs.offset + h->attrs.size;
	r->until = r->size;
	if (!has(r, h->data.offset, h->data.size) || !h->data.size || h->data.offset != r->from) {
		r->odd = true;
		return;
	}
	r->until = r->from + h->data.size;
	r->odd |= !features_are_there(r);
}

static bool read_head(struct recording *r, const char *path)
{
	if (!has(r, 0, sizeof(r->header)))
		return complain("%s: is cut within its head, so that nothing can be saved", path);
	memcpy(&r->header, r->bytes, sizeof(r->header));
	if (r->header.magic != DATA_FILE_MAGIC)
		return complain("%s: is no recording of perf, or was written into a pipe", path);
	if (!read_attrs(r, path))
		return false;
	find_records(r);
	return true;
}

/* Records */

static bool is_record(const struct recording *r, __u64 at)
{
	struct perf_event_header header;

	if (r->until - at < sizeof(header))
		return false;
	memcpy(&header, r->bytes + at, sizeof(header));
	return header.size >= sizeof(header) && header.size % WORD == 0 &&
	       header.size <= r->until - at && header.type &&
	       (header.type <= TYPE_KERNEL_MAX ||
		(header.type >= TYPE_PERF_MIN && header.type <= TYPE_PERF_MAX));
}

static __u64 end_of(const struct recording *r, __u64 at)
{
	struct perf_event_header header;
	__u64 trace;

	memcpy(&header, r->bytes + at, sizeof(header));
	at += header.size;
	/* A trace follows; its size is not in that of the record. */
	if (header.type != DATA_FILE_AUXTRACE || header.size < 2 * WORD)
		return at;
	trace = word_at(r->bytes + at - header.size + WORD);
	return trace <= r->until - at ? at + trace : at;
}

static bool begin_records(const struct recording *r, __u64 at)
{
	unsigned int i;

	for (i = 0; i < IN_A_ROW && at < r->until; i++) {
		if (!is_record(r, at))
			return false;
		at = end_of(r, at);
	}
	return true;
}

/* Where the next record is, at @at or behind damage; @r->until if there is none. */
static __u64 find_record(const struct recording *r, __u64 at)
{
	if (at < r->until && is_record(r, at))
		return at;
	while (at < r->until) {
		at += WORD;
		if (at < r->until && begin_records(r, at))
			return at;
	}
	return r->until;
}

static bool take(const __u8 **at, const __u8 *end, __u64 *word)
{
	if (end - *at < WORD)
		return false;
	*word = word_at(*at);
	*at += WORD;
	return true;
}

/* What is before the raw data, in its order; false if the record is too short. */
static bool read_sample(const struct recording *r, __u64 where, struct sample *s)
{
	static const __u64 fields[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
		PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
		PERF_SAMPLE_PERIOD, PERF_SAMPLE_CALLCHAIN,
	};
	const __u8 *at = r->bytes + where + sizeof(struct perf_event_header);
	const __u8 *end = r->bytes + end_of(r, where);
	__u64 word;
	size_t i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!(r->sample_type & fields[i]))
			continue;
		if (!take(&at, end, &word))
			return false;
		switch (fields[i]) {
		case PERF_SAMPLE_TID:
			s->place.pid = word;
			s->place.tid = word >> 32;
			break;
		case PERF_SAMPLE_TIME:
			s->place.time = word;
			break;
		case PERF_SAMPLE_CPU:
			s->place.cpu = word;
			break;
		case PERF_SAMPLE_CALLCHAIN:
			if (word > (__u64)(end - at) / WORD)
				return false;
			at += word * WORD;
			break;
		}
	}
	/* Of events that are not ours. */
	if (end - at < (long)sizeof(s->raw_size))
		return true;
	s->raw_size = half_at(at);
	s->raw = at + sizeof(s->raw_size);
	return s->raw_size <= end - s->raw && s->raw_size <= RAW_MAX;
}

/* NULL if it is no record of an event. */
static struct event *event_of(const struct recording *r, __u64 at, struct sample *sample)
{
	struct perf_event_header header;
	__u16 number;

	memcpy(&header, r->bytes + at, sizeof(header));
	if (header.type != PERF_RECORD_SAMPLE || !read_sample(r, at, sample) ||
	    sample->raw_size < WORD)
		return NULL;
	memcpy(&number, sample->raw, sizeof(number));
	return &r->events[number];
}

/* Which event a number stands for is said behind the records, so it is told by these. */

static bool has_tail(const struct sample *s, unsigned int at, unsigned int tail)
{
	return s->raw_size >= tail && (half_at(s->raw + at) & 0xffff) == tail;
}

static bool looks_like(const struct sample *s, enum kvm_trace_kind kind)
{
	switch (kind) {
	case KVM_TRACE_KIND_VMEXIT:
		return has_tail(s, 24, KVM_TRACE_VMEXIT_SIZE);
	case KVM_TRACE_KIND_HYPERCALL:
		return has_tail(s, 24, KVM_TRACE_HYPERCALL_SIZE);
	case KVM_TRACE_KIND_HYPERCALL_SUB:
		return has_tail(s, 28, KVM_TRACE_HYPERCALL_SUB_SIZE);
	case KVM_TRACE_KIND_VCPU:
		return s->raw_size >= KVM_TRACE_VCPU_SIZE &&
		       s->raw_size < KVM_TRACE_VCPU_SIZE + WORD &&
		       s->raw[KVM_TRACE_VCPU_SIZE - 1] == KVM_TRACE_ABI_VERSION;
	case KVM_TRACE_KIND_LOST:
		return s->raw_size >= KVM_TRACE_LOST_SIZE &&
		       s->raw_size < KVM_TRACE_LOST_SIZE + WORD &&
		       !s->raw[KVM_TRACE_LOST_SIZE - 1] && s->raw[KVM_TRACE_LOST_SIZE - 2] &&
		       s->raw[KVM_TRACE_LOST_SIZE - 2] <= KVM_TRACE_LOST_NO_BUFFER;
	case KVM_TRACE_KIND_BATCH:
		return !kvm_trace_batch_open(&reader, s->raw, s->raw_size);
	}
	return false;
}

static void look_at(const struct recording *r)
{
	struct sample sample;
	struct event *event;
	enum kvm_trace_kind kind;
	__u64 at;

	for (at = find_record(r, r->from); at < r->until; at = find_record(r, end_of(r, at))) {
		event = event_of(r, at, &sample);
		if (!event || event->seen == LOOKED_AT)
			continue;
		event->seen++;
		for (kind = 0; kind < KVM_TRACE_EVENTS; kind++)
			event->votes[kind] += looks_like(&sample, kind);
	}
}

/* What most of its samples look like, and half of them at least. */
static void name_events(const struct recording *r)
{
	enum kvm_trace_kind kind;
	struct event *event;

	for (event = r->events; event < r->events + NUMBERS; event++) {
		if (!event->seen)
			continue;
		for (kind = 0; kind < KVM_TRACE_EVENTS; kind++)
			if (event->votes[kind] > event->votes[event->kind])
				event->kind = kind;
		event->known = 2 * event->votes[event->kind] > event->seen;
	}
}

static void save(struct recording *r, struct data_records *data)
{
	__u64 at = r->from, next;
	struct sample sample;
	struct event *event;

	while (at < r->until) {
		next = find_record(r, at);
		r->lost += next - at;
		at = next;
		if (at == r->until)
			break;
		event = event_of(r, at, &sample);
		if (event && event->known) {
			data_records_add(data, event->kind, &sample.place, sample.raw,
					 sample.raw_size);
			r->saved++;
		}
		at = end_of(r, at);
	}
}

static enum status salvage(struct recording *r, const char *path, const char *output)
{
	const __u64 needed = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME;
	struct data_records data;

	if (!read_head(r, path))
		return FAILED;
	if ((r->sample_type & needed) != needed || r->sample_type & PERF_SAMPLE_READ) {
		complain("%s: %s, so that nothing can be saved", path,
			 "its samples have no time, or no raw data");
		return FAILED;
	}
	look_at(r);
	name_events(r);
	if (!data_records_begin(&data, output)) {
		complain("%s: %s", output, strerror(errno));
		return FAILED;
	}
	save(r, &data);
	if (!data_records_end(&data)) {
		complain("%s: cannot be written: is there no space left?", output);
		return FAILED;
	}
	if (!r->saved) {
		complain("%s: has no records of kvm_trace that could be saved", path);
		return FAILED;
	}
	return r->odd || r->lost ? SALVAGED : SOUND;
}

static bool map(struct recording *r, const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st) < 0)
		return complain("%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || !st.st_size)
		return complain("%s: is empty, or no file", path);
	bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return complain("%s: %s", path, strerror(errno));
	close(fd);
	r->bytes = bytes;
	r->size = st.st_size;
	return true;
}

int main(int argc, char **argv)
{
	struct recording recording = { 0 };
	enum status status = FAILED;

	if (argc != 3) {
		fprintf(stderr, "usage: perf-kvm-trace-salvage DAMAGED OUTPUT\n"
			"Saves records of kvm_trace from a perf.data that perf cannot read.\n"
			"Its status is 0, 1 if nothing could be saved, or 2 if no damage was found.\n");
		return FAILED;
	}
	recording.events = calloc(NUMBERS, sizeof(*recording.events));
	if (!recording.events)
		complain("no memory for events: end other programs");
	else if (map(&recording, argv[1]))
		status = salvage(&recording, argv[1], argv[2]);
	if (status == SALVAGED)
		complain("%s is damaged: this is of %llu records that could be saved; "
			 "%llu of its %llu bytes were of no use", argv[1], recording.saved,
			 recording.lost, recording.size);
	free(recording.events);
	return status;
}
