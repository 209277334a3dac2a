// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads batches: items to records. The format is that of uapi
 * linux/kvm_trace_batch.h; what the records' words mean, and their text, is
 * decode.c's.
 */
#include <endian.h>
#include <string.h>
#include <kvm_trace/batch_scale.h>
#include "batch.h"

/* Bits of a mask that are not words: that another mask follows. */
#define NO_WORDS	(1ull << 31 | 1ull << 63)
#define GUEST_NS_WORDS	(KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_GUEST_NS_64)
#define OR_WORDS(word, word_64)	| (word) | (word_64)
#define TIME_WORDS	(0 KVM_TRACE_WORDS_OF_TIME(OR_WORDS))
/* Arguments and words of a hypercall, as its record has them. */
#define HYPERCALL_TAIL	((KVM_TRACE_HC_ARGS + 16) * 8)

struct bytes {
	const __u8 *at;
	const __u8 *end;
};

static __u64 little_endian(const __u8 *at, unsigned int size)
{
	__u64 value = 0;

	while (size--)
		value = value << 8 | at[size];
	return value;
}

/* The next byte, or varint; false if it is not there whole or has over 64 bits. */
static bool take_byte(struct bytes *b, __u8 *value)
{
	if (b->at == b->end)
		return false;
	*value = *b->at++;
	return true;
}

static bool take_varint(struct bytes *b, __u64 *value)
{
	unsigned int shift;
	__u64 bits;
	__u8 byte;

	*value = 0;
	for (shift = 0; shift < 64; shift += 7) {
		if (!take_byte(b, &byte))
			return false;
		bits = byte & 0x7f;
		if (bits << shift >> shift != bits)
			return false;
		*value |= bits << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_signed(struct bytes *b, __u64 *value)
{
	__u64 bits;

	if (!take_varint(b, &bits))
		return false;
	*value = bits >> 1 ^ -(bits & 1);
	return true;
}

/* A varint that must not be more than @max. */
static bool take_up_to(struct bytes *b, __u64 max, __u64 *value)
{
	return take_varint(b, value) && *value <= max;
}

static __u64 check_word(__u64 check, __u64 word)
{
	check = (check ^ word) * KVM_TRACE_BATCH_PRIME;
	return check << KVM_TRACE_BATCH_ROTATE | check >> (64 - KVM_TRACE_BATCH_ROTATE);
}

static __u64 check_of(const __u8 *at, const __u8 *end)
{
	__u64 check = KVM_TRACE_BATCH_SEED;
	__u64 word;

	for (; end - at >= 8; at += 8) {
		memcpy(&word, at, sizeof(word));
		check = check_word(check, le64toh(word));
	}
	return at < end ? check_word(check, little_endian(at, end - at)) : check;
}

static __u64 scale(const struct kvm_trace_batch_reader *r, __u64 stamps)
{
	return kvm_trace_batch_scale(stamps, r->mult, r->shift);
}

static __u64 time_of(const struct kvm_trace_batch_reader *r, __u64 stamp)
{
	__u64 since = stamp - r->start;

	return since >> 63 ? r->start_ns - scale(r, -since) : r->start_ns + scale(r, since);
}

void kvm_trace_batch_reopen(struct kvm_trace_batch_reader *r, const void *record)
{
	const __u8 *at = record;
	__u32 loc = little_endian(at + 44, 4);

	memset(r, 0, offsetof(struct kvm_trace_batch_reader, vcpu_bytes));
	r->at = at + (loc & 0xffff);
	r->end = r->at + (loc >> 16);
	r->start_ns = little_endian(at + 16, 8);
	r->start = little_endian(at + 24, 8);
	r->entry = r->start;
	r->vm = little_endian(at + 32, 4);
	r->seq = little_endian(at + 36, 4);
	r->mult = little_endian(at + 40, 4);
	r->vcpu_id = little_endian(at + 48, 2);
	r->left = little_endian(at + 50, 2);
	r->isa = at[52];
	r->shift = at[54];
	r->no_entry = at[55] & KVM_TRACE_BATCH_F_NO_ENTRY;
}

enum kvm_trace_batch_error kvm_trace_batch_open(struct kvm_trace_batch_reader *r,
						const void *record, size_t size)
{
	const __u8 *at = record;
	size_t start, len;
	__u32 loc;

	if (size < KVM_TRACE_BATCH_SIZE)
		return KVM_TRACE_BATCH_TRUNCATED;
	loc = little_endian(at + 44, 4);
	start = loc & 0xffff;
	len = loc >> 16;
	if (start > size || len > size - start)
		return KVM_TRACE_BATCH_TRUNCATED;
	/* Another version may have more fields, but not less. */
	if (start < KVM_TRACE_BATCH_SIZE)
		return KVM_TRACE_BATCH_CHECK;
	if (check_of(at + KVM_TRACE_BATCH_CHECK_AT, at + start + len) != little_endian(at + 8, 8))
		return KVM_TRACE_BATCH_CHECK;
	if (at[53] != KVM_TRACE_BATCH_VERSION || at[54] > 32)
		return KVM_TRACE_BATCH_UNKNOWN;
	kvm_trace_batch_reopen(r, record);
	return KVM_TRACE_BATCH_OK;
}

/* The item at @r->at that has a length, without its head. */
static bool take_item(struct kvm_trace_batch_reader *r, struct bytes *item)
{
	if (r->end - r->at < 2 || r->at[1] > r->end - r->at - 2)
		return false;
	item->at = r->at + 2;
	item->end = item->at + r->at[1];
	r->at = item->end;
	return true;
}

static bool read_shape(struct kvm_trace_batch_reader *r, struct bytes *b)
{
	__u64 reason, flags, words;
	__u8 n, class;

	if (!take_byte(b, &n) || n >= KVM_TRACE_BATCH_SHAPES || !take_byte(b, &class) ||
	    !take_up_to(b, 0xffff, &reason) || !take_up_to(b, 0xffff, &flags) ||
	    !take_varint(b, &words) || words & NO_WORDS)
		return false;
	r->shapes[n].words = words;
	r->shapes[n].reason = reason;
	r->shapes[n].flags = flags;
	r->shapes[n].class = class;
	r->shapes[n].defined = true;
	return true;
}

static bool read_about_next(struct kvm_trace_batch_reader *r)
{
	__u8 tag = *r->at;
	struct bytes item;
	__u64 value;

	if (!take_item(r, &item))
		return false;
	switch (tag) {
	case KVM_TRACE_BATCH_SHAPE:
		return read_shape(r, &item);
	case KVM_TRACE_BATCH_SKIP:
		if (!take_up_to(&item, 0xffffffff, &value))
			return false;
		r->seq += value;
		r->skipped += value;
		r->skips++;
		return true;
	case KVM_TRACE_BATCH_TIME:
		if (!take_signed(&item, &value))
			return false;
		r->entry += value;
		return true;
	case KVM_TRACE_BATCH_HOST_NS:
		r->host_ns_given = true;
		return take_varint(&item, &r->host_ns);
	}
	r->unknown++;
	return true;
}

static bool read_words(struct kvm_trace_batch_reader *r, struct bytes *b, __u64 words)
{
	unsigned int bit;
	__u64 value;

	if (words & KVM_TRACE_W_ENTRY_NS)
		r->word[__builtin_ctzll(KVM_TRACE_W_ENTRY_NS)] = r->ns;
	if (words & GUEST_NS_WORDS)
		r->word[__builtin_ctzll(words & GUEST_NS_WORDS)] = r->guest_ns;
	for (; words; words &= words - 1) {
		bit = __builtin_ctzll(words);
		if (!take_signed(b, &value))
			return false;
		r->word[bit] += value;
		kvm_trace_vmexit_word(&r->vmexit, bit, r->word[bit]);
	}
	return true;
}

static bool read_round_trip(struct kvm_trace_batch_reader *r)
{
	struct bytes b = { r->at + 1, r->end };
	struct kvm_trace_vmexit *v = &r->vmexit;
	unsigned int shape = *r->at;
	__u64 guest, host, words;

	if (!r->left || !r->shapes[shape].defined || !take_varint(&b, &guest) ||
	    !take_varint(&b, &host))
		return false;
	r->left--;
	r->entry += guest + host;
	r->ns = time_of(r, r->entry);
	r->guest_ns = scale(r, guest);
	r->guest_known = !r->no_entry;
	r->no_entry = false;
	memset(v, 0, sizeof(*v));
	v->host_ns = r->host_ns_given ? r->host_ns : scale(r, host);
	r->host_ns_given = false;
	v->vm = r->vm;
	v->seq = r->seq++;
	v->vcpu = r->vcpu_id;
	v->isa = r->isa;
	v->reason = r->shapes[shape].reason;
	v->flags = r->shapes[shape].flags;
	v->class = r->shapes[shape].class;
	words = r->shapes[shape].words;
	/* As the tail of a single record has it. */
	v->words = words >> 32 ? words | KVM_TRACE_W_NEXT_MASK : words;
	if (words && !read_words(r, &b, words))
		return false;
	if (words & GUEST_NS_WORDS)
		r->guest_ns = v->guest_ns;
	r->at = b.at;
	return true;
}

static bool read_vcpu(struct kvm_trace_batch_reader *r, const struct bytes *b)
{
	if (b->end - b->at < KVM_TRACE_BATCH_VCPU_BYTES)
		return false;
	memcpy(r->vcpu_bytes + 8, b->at, KVM_TRACE_BATCH_VCPU_BYTES);
	return kvm_trace_vcpu_record(&r->vcpu, r->vcpu_bytes, sizeof(r->vcpu_bytes));
}

/* Puts a word into a tail, as a single record has it. */
static __u8 *put(__u8 *tail, unsigned int size, __u64 value)
{
	while (size--) {
		*tail++ = value;
		value >>= 8;
	}
	return tail;
}

static bool take_difference(struct bytes *b, __u64 *last, __u64 *value)
{
	if (!take_signed(b, value))
		return false;
	*last += *value;
	*value = *last;
	return true;
}

static bool take_hypercall_word(struct kvm_trace_batch_reader *r, struct bytes *b,
				__u32 word, __u64 *value)
{
	switch (word) {
	case KVM_TRACE_HC_W_NS:
	case KVM_TRACE_HC_W_NS_64:
		*value = r->vmexit.host_ns;
		return true;
	case KVM_TRACE_HC_W_RIP:
		return take_difference(b, &r->rip, value);
	case KVM_TRACE_HC_W_RETURN:
		return take_difference(b, &r->ret, value);
	}
	return take_varint(b, value);
}

static bool read_hypercall(struct kvm_trace_batch_reader *r, struct bytes *b)
{
	struct kvm_trace_hypercall *h = &r->hypercall;
	__u8 tail[HYPERCALL_TAIL], *p = tail;
	__u64 value, present;
	unsigned int i, size;
	__u32 word;

	memset(h, 0, sizeof(*h));
	if (!take_byte(b, &h->abi) || !take_byte(b, &h->caller) ||
	    !take_up_to(b, 0xffffffff, &present) || !take_up_to(b, 0xffffffff, &h->nr))
		return false;
	h->present = present;
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++) {
		size = KVM_TRACE_HC_ARG(h->present, i);
		if (size == KVM_TRACE_HC_ARG_ABSENT)
			continue;
		if ((size != KVM_TRACE_HC_ARG_32 && size != KVM_TRACE_HC_ARG_64) ||
		    !take_varint(b, &value))
			return false;
		p = put(p, 4 * size, value);
	}
	for (i = 2 * KVM_TRACE_HC_ARGS; i < 32; i++) {
		word = 1u << i;
		if (!(h->present & word))
			continue;
		if (!take_hypercall_word(r, b, word, &value))
			return false;
		p = put(p, word & KVM_TRACE_HC_W_MASK_8 ? 8 : 4, value);
	}
	h->vm = r->vmexit.vm;
	h->seq = r->vmexit.seq;
	h->vcpu = r->vmexit.vcpu;
	kvm_trace_hypercall_tail(h, tail, p - tail);
	return true;
}

static enum kvm_trace_batch_item damaged(struct kvm_trace_batch_reader *r)
{
	r->damaged = true;
	r->held = false;
	return KVM_TRACE_BATCH_DAMAGED;
}

/* What was told about the round trip that is held; END if that was all. */
static enum kvm_trace_batch_item read_about_last(struct kvm_trace_batch_reader *r)
{
	struct bytes item;
	__u8 tag;

	while (r->at < r->end && *r->at >= KVM_TRACE_BATCH_ABOUT_LAST) {
		tag = *r->at;
		if (!take_item(r, &item))
			return KVM_TRACE_BATCH_DAMAGED;
		switch (tag) {
		case KVM_TRACE_BATCH_VCPU:
			return read_vcpu(r, &item) ? KVM_TRACE_BATCH_IS_VCPU :
						     KVM_TRACE_BATCH_DAMAGED;
		case KVM_TRACE_BATCH_HYPERCALL:
			return read_hypercall(r, &item) ? KVM_TRACE_BATCH_IS_HYPERCALL :
							  KVM_TRACE_BATCH_DAMAGED;
		}
		r->unknown++;
	}
	return KVM_TRACE_BATCH_END;
}

enum kvm_trace_batch_item kvm_trace_batch_next(struct kvm_trace_batch_reader *r)
{
	enum kvm_trace_batch_item item;

	if (r->damaged)
		return KVM_TRACE_BATCH_DAMAGED;
	while (!r->held && r->at < r->end) {
		if (*r->at >= KVM_TRACE_BATCH_ABOUT_LAST)
			return damaged(r);
		if (*r->at >= KVM_TRACE_BATCH_ABOUT_NEXT) {
			if (!read_about_next(r))
				return damaged(r);
			continue;
		}
		if (!read_round_trip(r))
			return damaged(r);
		r->held = true;
	}
	if (!r->held)
		return r->left ? damaged(r) : KVM_TRACE_BATCH_END;
	item = read_about_last(r);
	if (item == KVM_TRACE_BATCH_DAMAGED)
		return damaged(r);
	if (item != KVM_TRACE_BATCH_END)
		return item;
	r->held = false;
	return KVM_TRACE_BATCH_IS_VMEXIT;
}

/* Where the round trips of each shape are summed up; NULL if not asked yet. */
struct sums {
	struct kvm_trace_times *of[KVM_TRACE_BATCH_SHAPES];
};

static struct kvm_trace_times *place_of(const struct kvm_trace_batch_reader *r, struct sums *sums,
					unsigned int n,
					const struct kvm_trace_batch_summer *summer)
{
	struct kvm_trace_vmexit v;

	if (sums->of[n])
		return sums->of[n];
	memset(&v, 0, sizeof(v));
	v.vm = r->vm;
	v.vcpu = r->vcpu_id;
	v.isa = r->isa;
	v.reason = r->shapes[n].reason;
	v.class = r->shapes[n].class;
	sums->of[n] = summer->place(summer->data, &v);
	return sums->of[n];
}

static bool skip_varint(struct bytes *b)
{
	const __u8 *end = b->end;

	if (end - b->at > KVM_TRACE_BATCH_VARINT_MAX)
		end = b->at + KVM_TRACE_BATCH_VARINT_MAX;
	while (b->at < end)
		if (!(*b->at++ & 0x80))
			return true;
	return false;
}

/* Of the words of a round trip only times count; @guest is of its stamps at first. */
static bool sum_words(struct kvm_trace_batch_reader *r, struct bytes *b, __u64 words,
		      struct kvm_trace_times *times, __u64 *guest)
{
	unsigned int bit;
	__u64 value, ns;

	for (; words; words &= words - 1) {
		bit = __builtin_ctzll(words);
		if (!(1ull << bit & TIME_WORDS)) {
			if (!skip_varint(b))
				return false;
			continue;
		}
		if (!take_signed(b, &value))
			return false;
		if (1ull << bit & GUEST_NS_WORDS)
			r->word[bit] = *guest;
		r->word[bit] += value;
		ns = KVM_TRACE_W_SIZE(bit) == 8 ? r->word[bit] : (__u32)r->word[bit];
		if (1ull << bit & GUEST_NS_WORDS)
			*guest = ns;
		else
			kvm_trace_times_add_part(times, 1ull << bit, ns);
	}
	return true;
}

/* One whose reason its words tell. */
static bool sum_whole_round_trip(struct kvm_trace_batch_reader *r,
				 const struct kvm_trace_batch_summer *summer)
{
	const struct kvm_trace_vmexit *v = &r->vmexit;
	struct kvm_trace_times *times;

	if (!read_round_trip(r))
		return false;
	times = summer->place(summer->data, v);
	kvm_trace_times_add(times, v->host_ns);
	kvm_trace_times_add_parts(times, v);
	if (r->guest_known)
		kvm_trace_times_add_guest(times, r->guest_ns);
	return true;
}

static bool sum_round_trip(struct kvm_trace_batch_reader *r, struct sums *sums,
			   const struct kvm_trace_batch_summer *summer)
{
	struct bytes b = { r->at + 1, r->end };
	struct kvm_trace_times *times;
	unsigned int n = *r->at;
	__u64 guest, host, words = r->shapes[n].words;

	if (words & KVM_TRACE_W_REASON_HI)
		return sum_whole_round_trip(r, summer);
	if (!r->left || !r->shapes[n].defined || !take_varint(&b, &guest) ||
	    !take_varint(&b, &host))
		return false;
	guest = scale(r, guest);
	times = place_of(r, sums, n, summer);
	if (words && !sum_words(r, &b, words, times, &guest))
		return false;
	r->at = b.at;
	r->left--;
	r->seq++;
	kvm_trace_times_add(times, r->host_ns_given ? r->host_ns : scale(r, host));
	if (!r->no_entry)
		kvm_trace_times_add_guest(times, guest);
	r->host_ns_given = false;
	r->no_entry = false;
	return true;
}

/* Bit 7 of each byte: another one follows. */
#define VARINT_MORE	0x8080808080808080ull

/*
 * The bytes of a varint as one number, without a branch for each: which of them
 * are there cannot be foretold. 0 if there are more than 8.
 */
static unsigned int varint_bytes(const __u8 *at, __u64 *bytes)
{
	__u64 last;

	memcpy(bytes, at, sizeof(*bytes));
	*bytes = le64toh(*bytes);
	last = ~*bytes & VARINT_MORE;
	*bytes &= last ^ (last - 1);
	return last ? __builtin_ctzll(last) / 8 + 1 : 0;
}

/* Seven bits of each byte, moved together. */
static __u64 varint_value(__u64 bytes)
{
	bytes = (bytes & 0x007f007f007f007full) | (bytes & 0x7f007f007f007f00ull) >> 1;
	bytes = (bytes & 0x00003fff00003fffull) | (bytes & 0x3fff00003fff0000ull) >> 2;
	return (bytes & 0x0fffffffull) | (bytes & 0x0fffffff00000000ull) >> 4;
}

/* Those in a row that are usual, without words: the more the faster. */
static void sum_usual_ones(struct kvm_trace_batch_reader *r, struct sums *sums,
			   const struct kvm_trace_batch_summer *summer)
{
	const __u32 left = r->left, mult = r->mult;
	const unsigned int shift = r->shift;
	unsigned int shape, guest, host;
	__u64 guest_bytes, host_bytes;
	struct kvm_trace_times *times;
	const __u8 *at = r->at;
	__u32 n = 0;

	/* What is read ahead is there, and something behind it. */
	while (n < left && r->end - at > 2 * KVM_TRACE_BATCH_VARINT_MAX + 1) {
		shape = *at;
		if (shape >= KVM_TRACE_BATCH_ABOUT_NEXT || !r->shapes[shape].defined ||
		    r->shapes[shape].words)
			break;
		guest = varint_bytes(at + 1, &guest_bytes);
		host = varint_bytes(at + 1 + guest, &host_bytes);
		if (!guest || !host)
			break;
		times = place_of(r, sums, shape, summer);
		kvm_trace_times_add(times, kvm_trace_batch_scale(varint_value(host_bytes), mult,
								 shift));
		kvm_trace_times_add_guest(times, kvm_trace_batch_scale(varint_value(guest_bytes),
								       mult, shift));
		at += 1 + guest + host;
		n++;
	}
	r->at = at;
	r->left -= n;
	r->seq += n;
}

static bool sum_about_last(struct kvm_trace_batch_reader *r,
			   const struct kvm_trace_batch_summer *summer)
{
	__u8 tag = *r->at;
	struct bytes item;

	if (!take_item(r, &item))
		return false;
	switch (tag) {
	case KVM_TRACE_BATCH_VCPU:
		if (!read_vcpu(r, &item))
			return false;
		summer->vcpu(summer->data, &r->vcpu);
		break;
	case KVM_TRACE_BATCH_HYPERCALL:
		break;
	default:
		r->unknown++;
	}
	return true;
}

enum kvm_trace_batch_item kvm_trace_batch_sum_up(struct kvm_trace_batch_reader *r,
						 const struct kvm_trace_batch_summer *summer)
{
	struct sums sums = {};
	bool good = true;

	while (good && r->at < r->end) {
		if (!r->host_ns_given && !r->no_entry)
			sum_usual_ones(r, &sums, summer);
		if (*r->at >= KVM_TRACE_BATCH_ABOUT_LAST) {
			good = sum_about_last(r, summer);
		} else if (*r->at < KVM_TRACE_BATCH_ABOUT_NEXT) {
			good = sum_round_trip(r, &sums, summer);
		} else {
			/* A shape may take the place of another. */
			if (*r->at == KVM_TRACE_BATCH_SHAPE && r->end - r->at > 2 &&
			    r->at[2] < KVM_TRACE_BATCH_SHAPES)
				sums.of[r->at[2]] = NULL;
			good = read_about_next(r);
		}
	}
	return good && !r->left ? KVM_TRACE_BATCH_END : KVM_TRACE_BATCH_DAMAGED;
}

const char *kvm_trace_batch_error_text(enum kvm_trace_batch_error error)
{
	switch (error) {
	case KVM_TRACE_BATCH_OK:
		return "nothing";
	case KVM_TRACE_BATCH_TRUNCATED:
		return "its end is missing";
	case KVM_TRACE_BATCH_CHECK:
		return "some of its bytes were changed";
	case KVM_TRACE_BATCH_UNKNOWN:
		return "another version of the format";
	}
	return "unknown";
}
