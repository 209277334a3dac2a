/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The encoder of kvm_trace_batch:vmexits, and the batch that it fills. Knows the
 * format, but neither KVM nor tracepoints; plain C, for the tests too. When a
 * batch is begun and where it goes is batch.c's.
 */
#ifndef _KVM_TRACE_BATCH_ENCODE_H
#define _KVM_TRACE_BATCH_ENCODE_H

#include <linux/kvm_trace_batch.h>
#include <linux/string.h>
#include <linux/types.h>

/**
 * struct kvm_trace_batch_event - laid out as kvm_trace_batch:vmexits
 * @common:	head that all trace events have
 * @check:	see uapi linux/kvm_trace_batch.h, as all others
 * @ns:		-
 * @stamp:	-
 * @vm:		-
 * @seq:	-
 * @mult:	-
 * @data_loc:	- (__data_loc)
 * @vcpu:	-
 * @count:	-
 * @isa:	-
 * @version:	-
 * @shift:	-
 * @flags:	-
 * @data:	-
 */
struct kvm_trace_batch_event {
	u64 common;
	u64 check;
	u64 ns;
	u64 stamp;
	u32 vm;
	u32 seq;
	u32 mult;
	u32 data_loc;
	u16 vcpu;
	u16 count;
	u8 isa;
	u8 version;
	u8 shift;
	u8 flags;
	u8 data[KVM_TRACE_BATCH_DATA_MAX];
};

/* Most bytes of a varint of 32 bits, and of what follows the first two of items. */
#define KVM_TRACE_VARINT32_MAX	5
#define KVM_TRACE_ITEM_HEAD	2
#define KVM_TRACE_BATCH_HYPERCALL_MAX					\
	(KVM_TRACE_ITEM_HEAD + 2 + 2 * KVM_TRACE_VARINT32_MAX +		\
	 (KVM_TRACE_HC_ARGS + 8) * KVM_TRACE_BATCH_VARINT_MAX +		\
	 8 * KVM_TRACE_VARINT32_MAX)
/* A shape, its three varints of 16, 16 and 64 bits. */
#define KVM_TRACE_BATCH_SHAPE_MAX					\
	(KVM_TRACE_ITEM_HEAD + 2 + 3 + 3 + KVM_TRACE_BATCH_VARINT_MAX)
/* SKIP, TIME, HOST_NS, shape, the round trip itself; a difference has 64 bits. */
#define KVM_TRACE_BATCH_TRIP_MAX					\
	(3 * (KVM_TRACE_ITEM_HEAD + KVM_TRACE_BATCH_VARINT_MAX) +	\
	 KVM_TRACE_BATCH_SHAPE_MAX + 1 +				\
	 (2 + 62) * KVM_TRACE_BATCH_VARINT_MAX)
/* All that one VM entry can add. */
#define KVM_TRACE_BATCH_ENTRY_MAX					\
	(KVM_TRACE_BATCH_TRIP_MAX + KVM_TRACE_BATCH_HYPERCALL_MAX +	\
	 KVM_TRACE_ITEM_HEAD + KVM_TRACE_BATCH_VCPU_BYTES)
/* A batch that is longer must be finished; that fills up a word. */
#define KVM_TRACE_BATCH_FULL						\
	(KVM_TRACE_BATCH_DATA_MAX - KVM_TRACE_BATCH_ENTRY_MAX - 8)

/**
 * struct kvm_trace_batch_shape - what round trips have in common
 * @key:	kvm_trace_batch_key(), and KVM_TRACE_BATCH_KEY_WORDS if there are
 *		words; 0: no shape
 * @words:	KVM_TRACE_W_*
 */
struct kvm_trace_batch_shape {
	u64 key;
	u64 words;
};

/**
 * struct kvm_trace_batch - a batch while it is filled
 * @len:	bytes of @event.data that are used
 * @next_seq:	record counter that the next round trip has if none is skipped
 * @entry:	stamp of the last entry
 * @rip:	word RIP of the last hypercall
 * @ret:	word RETURN of the last hypercall
 * @shapes:	those that are defined
 * @word:	last value of each word, by its bit
 * @event:	the event to be; whose vCPU it is does not change and is not touched
 */
struct kvm_trace_batch {
	u32 len;
	u32 next_seq;
	u64 entry;
	u64 rip;
	u64 ret;
	struct kvm_trace_batch_shape shapes[KVM_TRACE_BATCH_SHAPES];
	u64 word[64];
	struct kvm_trace_batch_event event;
};

/**
 * struct kvm_trace_batch_trip - a round trip
 * @key:	kvm_trace_batch_key()
 * @words:	KVM_TRACE_W_* words that the record has, bits 31 and 63 clear
 * @word:	their values, by bit
 * @from:	stamp of the entry before
 * @exit:	stamp of the exit
 * @entry:	stamp of the entry that ends it
 * @host_ns:	host time; counts if @odd, or if @entry is before @exit
 * @seq:	record counter
 * @odd:	@host_ns does not follow from the stamps, @exit may be wrong
 */
struct kvm_trace_batch_trip {
	u64 key;
	u64 words;
	const u64 *word;
	u64 from;
	u64 exit;
	u64 entry;
	u64 host_ns;
	u32 seq;
	bool odd;
};

/* So that a shape without words is told by its key alone. */
#define KVM_TRACE_BATCH_KEY_WORDS	0x20000000000ull

/**
 * kvm_trace_batch_key() - what tells one shape from another, but for its words
 * @reason: bits 15:0 of the native reason
 * @flags:  KVM_TRACE_F_*
 * @class:  KVM_TRACE_CLASS_*
 *
 * Return: the key; never 0
 */
static inline u64 kvm_trace_batch_key(u16 reason, u16 flags, u8 class)
{
	return reason | (u64)flags << 16 | (u64)class << 32 | 1ull << 40;
}

/* Where a shape is looked for first. */
static __always_inline unsigned int kvm_trace_batch_place(u64 key, u64 words)
{
	return ((key ^ words << 11 ^ words >> 29) * 0x9e3779b97f4a7c15ull) >>
	       (64 - __builtin_ctz(KVM_TRACE_BATCH_SHAPES));
}

static __always_inline u8 *kvm_trace_put_varint(u8 *p, u64 value)
{
	u16 two;

	if (value < 0x80) {
		*p = value;
		return p + 1;
	}
	if (likely(value < 0x4000)) {
		two = (value + (value & 0x3f80)) | 0x80;
		/* Not memcpy(), which the kernel would have check its bounds. */
		__builtin_memcpy(p, &two, sizeof(two));
		return p + 2;
	}
	while (unlikely(value > 0x7f)) {
		*p++ = value | 0x80;
		value >>= 7;
	}
	*p++ = value;
	return p;
}

/**
 * kvm_trace_batch_put_fast() - add a round trip, if it is one of the usual kind
 * @b:     the batch, no longer than KVM_TRACE_BATCH_FULL
 * @key:   kvm_trace_batch_key()
 * @exit:  stamp of the exit
 * @entry: stamp of the entry
 * @seq:   record counter
 *
 * The same as kvm_trace_batch_put() of a round trip without words whose shape is
 * in its first place and whose stamps follow on those of the last one.
 *
 * Return: false, and nothing has been added, if it is not
 */
static __always_inline bool
kvm_trace_batch_put_fast(struct kvm_trace_batch *b, u64 key, u64 exit,
			 u64 entry, u32 seq)
{
	unsigned int shape = kvm_trace_batch_place(key, 0);
	u64 guest = exit - b->entry;
	u64 host = entry - exit;
	u8 *p = b->event.data + b->len;

	if (unlikely(b->shapes[shape].key != key || (guest | host) >> 63 ||
		     b->next_seq != seq))
		return false;
	*p++ = shape;
	p = kvm_trace_put_varint(p, guest);
	p = kvm_trace_put_varint(p, host);
	b->len = p - b->event.data;
	b->entry = entry;
	b->next_seq = seq + 1;
	b->event.count++;
	return true;
}

void kvm_trace_batch_begin(struct kvm_trace_batch *b, u32 mult, u8 shift,
			   u8 flags, u32 seq, u64 stamp, u64 ns);
void kvm_trace_batch_put(struct kvm_trace_batch *b,
			 const struct kvm_trace_batch_trip *trip);
void kvm_trace_batch_put_vcpu(struct kvm_trace_batch *b, const void *record);
void kvm_trace_batch_put_hypercall(struct kvm_trace_batch *b, u8 abi, u8 caller,
				   u32 nr, u32 present, const u8 *tail);
u32 kvm_trace_batch_finish(struct kvm_trace_batch *b);

#endif /* _KVM_TRACE_BATCH_ENCODE_H */
