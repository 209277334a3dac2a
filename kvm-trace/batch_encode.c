// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packs round trips into a batch. No allocation, no division, and no check of
 * room in between: whoever calls finishes a batch that is full, and all that one
 * VM entry can add fits then. Plain C, for the tests too.
 */
#include <linux/string.h>
#include <linux/types.h>

#include <kvm_trace/batch_scale.h>

#include "batch_encode.h"

/* Places where a shape may be, from the one that its hash says. */
#define SHAPE_WAYS	4

#define GUEST_NS_WORDS	(KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_GUEST_NS_64)

static inline u8 *put_signed(u8 *p, u64 value)
{
	return kvm_trace_put_varint(p, value << 1 ^ -(value >> 63));
}

/* The head of an item; end_item() fills in its length. */
static inline u8 *begin_item(u8 *p, u8 tag)
{
	*p = tag;
	return p + KVM_TRACE_ITEM_HEAD;
}

static inline u8 *end_item(u8 *item, u8 *p)
{
	item[1] = p - item - KVM_TRACE_ITEM_HEAD;
	return p;
}

static noinline u8 *define_shape(struct kvm_trace_batch *b, unsigned int n,
				 u64 key, u64 words, u8 *item)
{
	u8 *p = begin_item(item, KVM_TRACE_BATCH_SHAPE);

	b->shapes[n].key = key;
	b->shapes[n].words = words;
	*p++ = n;
	*p++ = key >> 32;
	p = kvm_trace_put_varint(p, (u16)key);
	p = kvm_trace_put_varint(p, (u16)(key >> 16));
	p = kvm_trace_put_varint(p, words);
	return end_item(item, p);
}

/* The number of a shape; defines it if need be. */
static inline unsigned int find_shape(struct kvm_trace_batch *b, u64 key,
				      u64 words, u8 **p)
{
	unsigned int first = kvm_trace_batch_place(key, words);
	unsigned int i, n = first;

	for (i = 0; i < SHAPE_WAYS; i++) {
		n = (first + i) % KVM_TRACE_BATCH_SHAPES;
		if (b->shapes[n].key == key && b->shapes[n].words == words)
			return n;
		if (!b->shapes[n].key)
			break;
	}
	if (i == SHAPE_WAYS)
		n = first;
	*p = define_shape(b, n, key, words, *p);
	return n;
}

static u64 scale(const struct kvm_trace_batch *b, u64 stamps)
{
	return kvm_trace_batch_scale(stamps, b->event.mult, b->event.shift);
}

/* The point in time of a stamp. */
static u64 time_of(const struct kvm_trace_batch *b, u64 stamp)
{
	u64 since = stamp - b->event.stamp;

	return since >> 63 ? b->event.ns - scale(b, -since) :
			     b->event.ns + scale(b, since);
}

static noinline u8 *put_words(struct kvm_trace_batch *b, u8 *p, u64 guest,
			      const struct kvm_trace_batch_trip *trip)
{
	u64 words = trip->words;

	if (words & KVM_TRACE_W_ENTRY_NS)
		b->word[__builtin_ctzll(KVM_TRACE_W_ENTRY_NS)] =
			time_of(b, trip->entry);
	if (words & GUEST_NS_WORDS)
		b->word[__builtin_ctzll(words & GUEST_NS_WORDS)] =
			scale(b, guest);
	for (; words; words &= words - 1) {
		unsigned int bit = __builtin_ctzll(words);

		p = put_signed(p, trip->word[bit] - b->word[bit]);
		b->word[bit] = trip->word[bit];
	}
	return p;
}

/*
 * A round trip whose stamps do not follow from those of the last one, or whose
 * host time does not follow from its stamps: what is put before it.
 */
static noinline u8 *put_odd(struct kvm_trace_batch *b, u8 *p, u64 *exit,
			    const struct kvm_trace_batch_trip *trip)
{
	u64 from = trip->from;
	u8 *item;

	if (trip->seq != b->next_seq) {
		item = p;
		p = begin_item(p, KVM_TRACE_BATCH_SKIP);
		p = end_item(item, kvm_trace_put_varint(p, trip->seq - b->next_seq));
	}
	*exit = trip->exit;
	if (trip->odd || (trip->entry - *exit) >> 63) {
		*exit = trip->entry;
		item = p;
		p = begin_item(p, KVM_TRACE_BATCH_HOST_NS);
		p = end_item(item, kvm_trace_put_varint(p, trip->host_ns));
	}
	if ((*exit - from) >> 63)
		from = *exit;
	if (from != b->entry) {
		item = p;
		p = begin_item(p, KVM_TRACE_BATCH_TIME);
		p = end_item(item, put_signed(p, from - b->entry));
		b->entry = from;
	}
	return p;
}

/**
 * kvm_trace_batch_begin() - begin an empty batch
 * @b:     the batch, zeroed or finished; of its event, vm, vcpu and isa are filled
 *         in
 * @mult:  scale of stamps
 * @shift: scale of stamps
 * @flags: KVM_TRACE_BATCH_F_*
 * @seq:   record counter of the first round trip
 * @stamp: stamp of the entry before the first round trip, or of its exit with
 *         NO_ENTRY
 * @ns:    local_clock() then
 *
 * Context: any.
 */
void kvm_trace_batch_begin(struct kvm_trace_batch *b, u32 mult, u8 shift,
			   u8 flags, u32 seq, u64 stamp, u64 ns)
{
	memset(b->word, 0, sizeof(b->word));
	b->rip = 0;
	b->ret = 0;
	b->len = 0;
	b->next_seq = seq;
	b->entry = stamp;
	b->event.ns = ns;
	b->event.stamp = stamp;
	b->event.seq = seq;
	b->event.mult = mult;
	b->event.count = 0;
	b->event.version = KVM_TRACE_BATCH_VERSION;
	b->event.shift = shift;
	b->event.flags = flags;
}

/**
 * kvm_trace_batch_put() - add a round trip
 * @b:    the batch, no longer than KVM_TRACE_BATCH_FULL
 * @trip: the round trip
 *
 * Context: any.
 */
void kvm_trace_batch_put(struct kvm_trace_batch *b,
			 const struct kvm_trace_batch_trip *trip)
{
	u8 *p = b->event.data + b->len;
	u64 exit = trip->exit;
	u64 guest = exit - b->entry;
	u64 host = trip->entry - exit;
	u64 key = trip->key;
	unsigned int shape;

	if (unlikely((guest | host) >> 63 || trip->odd ||
		     trip->seq != b->next_seq)) {
		p = put_odd(b, p, &exit, trip);
		guest = exit - b->entry;
		host = trip->entry - exit;
	}
	if (trip->words)
		key |= KVM_TRACE_BATCH_KEY_WORDS;
	shape = find_shape(b, key, trip->words, &p);
	*p++ = shape;
	p = kvm_trace_put_varint(p, guest);
	p = kvm_trace_put_varint(p, host);
	if (trip->words)
		p = put_words(b, p, guest, trip);
	b->len = p - b->event.data;
	b->entry = trip->entry;
	b->next_seq = trip->seq + 1;
	b->event.count++;
}

/**
 * kvm_trace_batch_put_vcpu() - add a vcpu record to the last round trip
 * @b:      the batch
 * @record: KVM_TRACE_BATCH_VCPU_BYTES of it
 *
 * Context: any; before kvm_trace_batch_put_hypercall(), and at most once after
 * each kvm_trace_batch_put().
 */
void kvm_trace_batch_put_vcpu(struct kvm_trace_batch *b, const void *record)
{
	u8 *item = b->event.data + b->len;
	u8 *p = begin_item(item, KVM_TRACE_BATCH_VCPU);

	memcpy(p, record, KVM_TRACE_BATCH_VCPU_BYTES);
	p = end_item(item, p + KVM_TRACE_BATCH_VCPU_BYTES);
	b->len = p - b->event.data;
}

/* The next 4 or 8 bytes of a record's tail. */
static u64 take(const u8 **tail, unsigned int size)
{
	u64 value = 0;

	memcpy(&value, *tail, size);
	*tail += size;
	return value;
}

static u8 *put_difference(u8 *p, u64 *last, u64 value)
{
	p = put_signed(p, value - *last);
	*last = value;
	return p;
}

static u8 *put_hypercall_word(struct kvm_trace_batch *b, u8 *p, u32 word,
			      u64 value)
{
	switch (word) {
	case KVM_TRACE_HC_W_NS:
	case KVM_TRACE_HC_W_NS_64:
		return p;
	case KVM_TRACE_HC_W_RIP:
		return put_difference(p, &b->rip, value);
	case KVM_TRACE_HC_W_RETURN:
		return put_difference(p, &b->ret, value);
	}
	return kvm_trace_put_varint(p, value);
}

/**
 * kvm_trace_batch_put_hypercall() - add the hypercall of the last round trip
 * @b:       the batch
 * @abi:     as in the record, as all others
 * @caller:  -
 * @nr:      -
 * @present: -; no argument is of the reserved size
 * @tail:    what @present names
 *
 * Context: any; at most once after each kvm_trace_batch_put().
 */
void kvm_trace_batch_put_hypercall(struct kvm_trace_batch *b, u8 abi, u8 caller,
				   u32 nr, u32 present, const u8 *tail)
{
	u8 *item = b->event.data + b->len;
	u8 *p = begin_item(item, KVM_TRACE_BATCH_HYPERCALL);
	unsigned int i, size;
	u32 words, word;

	*p++ = abi;
	*p++ = caller;
	p = kvm_trace_put_varint(p, present);
	p = kvm_trace_put_varint(p, nr);
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++) {
		size = 4 * KVM_TRACE_HC_ARG(present, i);
		if (size)
			p = kvm_trace_put_varint(p, take(&tail, size));
	}
	words = present & (KVM_TRACE_HC_W_MASK_8 | KVM_TRACE_HC_W_MASK_4);
	for (; words; words &= words - 1) {
		word = words & -words;
		size = word & KVM_TRACE_HC_W_MASK_8 ? 8 : 4;
		p = put_hypercall_word(b, p, word, take(&tail, size));
	}
	p = end_item(item, p);
	b->len = p - b->event.data;
}

static u64 check_of(const u8 *bytes, u32 len)
{
	u64 check = KVM_TRACE_BATCH_SEED;
	u64 word;
	u32 i;

	for (i = 0; i < len; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		check = (check ^ word) * KVM_TRACE_BATCH_PRIME;
		check = check << KVM_TRACE_BATCH_ROTATE |
			check >> (64 - KVM_TRACE_BATCH_ROTATE);
	}
	return check;
}

/**
 * kvm_trace_batch_finish() - make a batch an event
 * @b: the batch; kvm_trace_batch_begin() must come before more is added
 *
 * Context: any.
 * Return: bytes of the event
 */
u32 kvm_trace_batch_finish(struct kvm_trace_batch *b)
{
	struct kvm_trace_batch_event *event = &b->event;
	u32 size = KVM_TRACE_BATCH_SIZE + b->len;

	event->data_loc = b->len << 16 | KVM_TRACE_BATCH_SIZE;
	/* The last word is filled up; a full batch has more room than that. */
	memset(event->data + b->len, 0, sizeof(u64));
	event->check = check_of((const u8 *)event + KVM_TRACE_BATCH_CHECK_AT,
				size - KVM_TRACE_BATCH_CHECK_AT);
	memset(b->shapes, 0, sizeof(b->shapes));
	return size;
}
