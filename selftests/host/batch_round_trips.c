// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's encoder of batches against their reader: random round trips, and
 * what the reader gives for each is what the decoder of single events gives for
 * the same. What a batch says bit by bit is tested in batch_golden.c.
 */
#include <stddef.h>
#include <stdlib.h>
#include "types.h"
#include "decode_encode.h"
#include "tap.h"
#include "../../perf-plugins/batch.h"

#include "../../kvm-trace/batch_encode.c"

#define ROUND_TRIPS	1000000
/* Bits of words in both masks, those that nobody knows yet too. */
#define ALL_WORDS	(KVM_TRACE_W_MASK_8 | KVM_TRACE_W_MASK_4)
/* Of a TSC of 2.1 GHz, as clocks_calc_mult_shift() finds it. */
#define MULT		1022611261u
#define SHIFT		31

/* What one VM entry adds, as the single events would have it. */
struct sent {
	struct record vcpu;
	struct record hypercall;
	struct record vmexit;
	u64 ns;
	u64 guest_ns;
	bool guest_known;
};

static struct kvm_trace_batch *batch;
static struct kvm_trace_batch_reader reader;
static struct sent sent[KVM_TRACE_BATCH_DATA_MAX];
static unsigned int nr_sent;
static u64 now;		/* stamp of the last entry */
static u32 seq;
static bool tsc;

static unsigned int batches, fast, skips, odds, backwards, hypercalls, vcpus;

/* Of any length: a random number of bits. */
static u64 random_length(void)
{
	return random_64() >> (random_64() & 63);
}

static bool one_in(unsigned int n)
{
	return random_64() % n == 0;
}

static u32 mult(void)
{
	return tsc ? MULT : 1;
}

static u8 shift(void)
{
	return tsc ? SHIFT : 0;
}

static u64 ns_of(u64 stamps)
{
	return ((__uint128_t)stamps * mult()) >> shift();
}

static u64 time_at(u64 stamp)
{
	s64 since = stamp - batch->event.stamp;

	return since < 0 ? batch->event.ns - ns_of(-since) : batch->event.ns + ns_of(since);
}

static void add_words(struct record *r, u64 words, const u64 *word)
{
	unsigned int bit;
	u64 masks = words >> 32 ? words | KVM_TRACE_W_NEXT_MASK : words;

	if (words)
		add(r, masks, words >> 32 ? 8 : 4);
	for (bit = 0; bit < 64; bit++)
		if (words & 1ull << bit)
			add(r, word[bit], KVM_TRACE_W_SIZE(bit));
	set_data_loc(r, 24, KVM_TRACE_VMEXIT_SIZE);
}

/* The record as a single event. */
static void send_vmexit(struct sent *s, const struct kvm_trace_batch_trip *trip, u64 host_ns)
{
	struct record *r = &s->vmexit;

	add_common(r);
	add(r, host_ns, 8);
	add(r, batch->event.vm, 4);
	add(r, trip->seq, 4);
	add(r, 0, 4);
	add(r, batch->event.vcpu, 2);
	add(r, trip->key, 2);
	add(r, trip->key >> 16, 2);
	add(r, batch->event.isa, 1);
	add(r, trip->key >> 32, 1);
	add_words(r, trip->words, trip->word);
}

static void send_vcpu(struct sent *s)
{
	struct record *r = &s->vcpu;

	add_common(r);
	while (r->size < KVM_TRACE_VCPU_SIZE)
		add(r, random_64(), 8);
	kvm_trace_batch_put_vcpu(batch, r->bytes + 8);
	vcpus++;
}

static void send_hypercall(struct sent *s, u64 host_ns)
{
	static u64 rip = 0xffffffff81000000ull;
	struct record *r = &s->hypercall;
	u64 arg[KVM_TRACE_HC_ARGS], words[16];
	u32 nr = random_length(), present;
	u8 abi = random_64(), caller = random_64();
	unsigned int i;

	/* No argument of the reserved size, and the one or the other time. */
	present = random_64();
	present &= ~(present & 0xaaaa) >> 1 | 0xffffaaaa;
	if (present & KVM_TRACE_HC_W_NS_64)
		present &= ~KVM_TRACE_HC_W_NS;
	rip += random_64() % 4096;
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++)
		arg[i] = random_length();
	for (i = 0; i < 16; i++)
		words[i] = random_length();
	words[1] = rip;
	words[3] = host_ns;
	words[10] = host_ns;

	add_common(r);
	add(r, batch->event.vm, 4);
	add(r, seq, 4);
	add(r, nr, 4);
	add(r, present, 4);
	add(r, 0, 4);
	add(r, batch->event.vcpu, 2);
	add(r, abi, 1);
	add(r, caller, 1);
	add_tail(r, present, arg, words);
	set_data_loc(r, 24, KVM_TRACE_HYPERCALL_SIZE);
	kvm_trace_batch_put_hypercall(batch, abi, caller, nr, present,
				      r->bytes + KVM_TRACE_HYPERCALL_SIZE);
	hypercalls++;
}

static bool same_vmexit(const struct sent *s)
{
	struct kvm_trace_vmexit v;

	kvm_trace_vmexit_record(&v, s->vmexit.bytes, s->vmexit.size);
	return !memcmp(&v, &reader.vmexit, sizeof(v));
}

static bool same_hypercall(const struct sent *s)
{
	struct kvm_trace_hypercall h;

	if (!s->hypercall.size)
		return false;
	kvm_trace_hypercall_record(&h, s->hypercall.bytes, s->hypercall.size);
	return !memcmp(&h, &reader.hypercall, sizeof(h));
}

static bool same_vcpu(const struct sent *s)
{
	char text[2][KVM_TRACE_TEXT_SIZE];
	struct kvm_trace_vcpu c;

	if (!s->vcpu.size)
		return false;
	kvm_trace_vcpu_record(&c, s->vcpu.bytes, s->vcpu.size);
	kvm_trace_vcpu_text(&c, text[0], sizeof(text[0]));
	kvm_trace_vcpu_text(&reader.vcpu, text[1], sizeof(text[1]));
	return !strcmp(text[0], text[1]);
}

/* Reads the batch as its consumers get it, and compares it with what was sent. */
static void finish(void)
{
	u32 size = kvm_trace_batch_finish(batch);
	enum kvm_trace_batch_item item;
	const struct sent *s;
	u8 *copy = malloc(size);
	u64 guest_ns;

	if (!copy)
		tap_die("no memory");
	memcpy(copy, &batch->event, size);
	tap_expect(size <= KVM_TRACE_BATCH_MAX, "an event of %u bytes", size);
	tap_expect(!kvm_trace_batch_open(&reader, copy, size), "the reader refuses a batch");
	for (s = sent; s < sent + nr_sent; s++) {
		if (s->vcpu.size) {
			item = kvm_trace_batch_next(&reader);
			tap_expect(item == KVM_TRACE_BATCH_IS_VCPU && same_vcpu(s), "vcpu record");
		}
		if (s->hypercall.size) {
			item = kvm_trace_batch_next(&reader);
			tap_expect(item == KVM_TRACE_BATCH_IS_HYPERCALL && same_hypercall(s),
				   "hypercall record");
		}
		item = kvm_trace_batch_next(&reader);
		tap_expect(item == KVM_TRACE_BATCH_IS_VMEXIT && same_vmexit(s), "vmexit record");
		tap_expect(reader.ns == s->ns, "time %llu, not %llu", reader.ns, s->ns);
		/* The word, which was compared with its record, knows better than stamps. */
		guest_ns = reader.vmexit.words & (KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_GUEST_NS_64) ?
			   reader.vmexit.guest_ns : s->guest_ns;
		tap_expect(reader.guest_known == s->guest_known &&
			   (!s->guest_known || reader.guest_ns == guest_ns),
			   "guest time %llu, not %llu", reader.guest_ns, guest_ns);
	}
	tap_expect(kvm_trace_batch_next(&reader) == KVM_TRACE_BATCH_END,
		   "more in a batch than was put there");
	tap_expect(!reader.unknown, "%u items not known", reader.unknown);
	free(copy);
	batches++;
	nr_sent = 0;
}

static void begin(void)
{
	u8 flags = 0;

	tsc = !one_in(3);
	if (tsc)
		flags |= KVM_TRACE_BATCH_F_TSC;
	if (one_in(8))
		flags |= KVM_TRACE_BATCH_F_NO_ENTRY;
	batch->event.vm = random_64();
	batch->event.vcpu = random_64();
	batch->event.isa = random_64() & 3;
	/* Or stamps near where they wrap. */
	now = one_in(2) ? random_length() : -random_length();
	seq = random_64();
	kvm_trace_batch_begin(batch, mult(), shift(), flags, seq, now, random_64() >> 1);
}

/* Some shapes come again and again, as they do in life; others once. */
static u64 random_shape(u64 *words)
{
	static struct {
		u64 key;
		u64 words;
	} known[100];
	unsigned int i = random_64() % ARRAY_SIZE(known);

	/* In one batch of two, few of them. */
	if (batches & 1)
		i %= 7;
	if (!known[i].key || one_in(100)) {
		known[i].key = kvm_trace_batch_key(random_64(), random_64(), random_64());
		known[i].words = one_in(4) ? 0 : random_64() & ALL_WORDS;
		if (one_in(4))
			known[i].words = ALL_WORDS;
		else if (one_in(2))
			known[i].words &= random_64() & random_64();
	}
	/* The same but for its words is another shape. */
	*words = one_in(10) ? 0 : known[i].words;
	return known[i].key;
}

/* Words near their last value, or anything; of 4 bytes no more than these. */
static void random_words(u64 *word)
{
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		word[bit] = one_in(2) ? word[bit] + random_64() % 64 - 32 : random_length();
		if (KVM_TRACE_W_SIZE(bit) == 4)
			word[bit] = (u32)word[bit];
	}
}

static void round_trip(void)
{
	static u64 word[64];
	struct sent *s = &sent[nr_sent++];
	struct kvm_trace_batch_trip trip = { .word = word, .from = now };
	u64 host_ns;

	random_words(word);
	trip.key = random_shape(&trip.words);
	if (one_in(50) && nr_sent > 1) {
		seq += random_64();
		trip.from += random_length() >> 8;
		skips++;
	}
	trip.seq = seq;
	trip.exit = trip.from + (one_in(20) ? random_length() >> 4 : random_64() % 20000);
	trip.entry = trip.exit + (one_in(20) ? random_length() >> 4 : random_64() % 20000);
	trip.host_ns = ns_of(trip.entry - trip.exit);
	if (one_in(100)) {
		trip.odd = true;
		trip.host_ns = random_length();
		if (one_in(2)) {
			trip.entry = trip.from - random_length() / 2;
			backwards++;
		}
		odds++;
	} else if (one_in(200)) {
		trip.exit = trip.from - random_length() / 2;
		trip.entry = trip.exit + random_64() % 20000;
		trip.host_ns = ns_of(trip.entry - trip.exit);
		backwards++;
	}
	host_ns = trip.host_ns;

	/* As the module does: what the short way does not take goes the long one. */
	if (!trip.words && !trip.odd && one_in(2) &&
	    kvm_trace_batch_put_fast(batch, trip.key, trip.exit, trip.entry, seq))
		fast++;
	else
		kvm_trace_batch_put(batch, &trip);
	s->vcpu.size = 0;
	s->hypercall.size = 0;
	send_vmexit(s, &trip, host_ns);
	if (one_in(100))
		send_vcpu(s);
	if (one_in(5))
		send_hypercall(s, host_ns);
	s->ns = time_at(trip.entry);
	/* Of an odd round trip the exit is not to be believed, and not told. */
	if (trip.odd)
		trip.exit = trip.entry;
	s->guest_ns = (s64)(trip.exit - trip.from) < 0 ? 0 : ns_of(trip.exit - trip.from);
	s->guest_known = nr_sent > 1 || !(batch->event.flags & KVM_TRACE_BATCH_F_NO_ENTRY);
	now = trip.entry;
	seq++;
}

static void random_round_trips(void)
{
	unsigned int i;

	tap_begin("a_million_random_round_trips_are_read_as_their_single_events_are");
	begin();
	for (i = 0; i < ROUND_TRIPS; i++) {
		round_trip();
		if (batch->len > KVM_TRACE_BATCH_FULL || one_in(1000)) {
			finish();
			begin();
		}
	}
	finish();
	tap_note("%u batches, %u gaps, %u odd, %u backwards, %u hypercalls, %u vcpu records",
		 batches, skips, odds, backwards, hypercalls, vcpus);
	tap_note("%u of them were put fast", fast);
	tap_expect(fast && skips && odds && backwards && hypercalls && vcpus,
		   "a kind that was not tried");
	tap_end();
}

/* Every word with the longest difference, and all else that one entry can add. */
static void longest_entry(void)
{
	u64 low[64] = { 0 }, word[64];
	struct kvm_trace_batch_trip trip = {
		.key = kvm_trace_batch_key(0xffff, 0xffff, 0xff), .words = ALL_WORDS,
		.odd = true, .host_ns = ~0ull,
	};
	u8 tail[256];
	u32 before;

	tap_begin("all_that_one_entry_can_add_fits_behind_a_batch_that_is_not_full");
	kvm_trace_batch_begin(batch, 1, 0, 0, 0, 0, 0);
	trip.word = low;
	kvm_trace_batch_put(batch, &trip);
	before = batch->len;
	memset(word, 0x80, sizeof(word));
	memset(tail, 0xff, sizeof(tail));
	trip.word = word;
	trip.key = kvm_trace_batch_key(0xffff, 0xffff, 0xfe);
	trip.seq = 0xffffffff;
	trip.from = 1ull << 63;
	trip.entry = 1ull << 63;
	kvm_trace_batch_put(batch, &trip);
	kvm_trace_batch_put_vcpu(batch, tail);
	kvm_trace_batch_put_hypercall(batch, 0xff, 0xff, 0xffffffff, 0xffffaaaa, tail);
	tap_note("%u bytes, room is for %u", batch->len - before, KVM_TRACE_BATCH_ENTRY_MAX);
	tap_expect(batch->len - before <= KVM_TRACE_BATCH_ENTRY_MAX, "more than there is room for");
	tap_expect(batch->len - before > KVM_TRACE_BATCH_ENTRY_MAX / 2, "not what is longest");
	tap_end();
}

/* The mix of a busy guest without words: what a batch costs in bytes. */
static void lean_bytes(void)
{
	static const struct {
		u16 reason;
		u16 flags;
		u8 class;
		u32 host;	/* ticks of the TSC, 0 to 31 of 16 of them more */
	} kinds[] = {
		{ 0x72, 0, KVM_TRACE_CLASS_cpuid, 2500 },
		{ 0x7b, KVM_TRACE_F_USERSPACE | KVM_TRACE_F_WRITE, KVM_TRACE_CLASS_io, 15000 },
		{ 0x400, KVM_TRACE_F_PAGE_FAULT | KVM_TRACE_F_WRITE, KVM_TRACE_CLASS_page_fault,
		  6000 },
		{ 0x7c, 0, KVM_TRACE_CLASS_msr_read, 2700 },
		{ 0x7c, KVM_TRACE_F_WRITE, KVM_TRACE_CLASS_msr_write, 2900 },
		{ 0x81, 0, KVM_TRACE_CLASS_hypercall, 3000 },
		{ 0x78, KVM_TRACE_F_HALTED | KVM_TRACE_F_SCHED_OUT, KVM_TRACE_CLASS_hlt, 150000 },
		{ 0x60, KVM_TRACE_F_INJECTED, KVM_TRACE_CLASS_interrupt, 4000 },
		{ 0x64, 0, KVM_TRACE_CLASS_interrupt_window, 2000 },
	};
	struct kvm_trace_batch_trip trip = { 0 };
	unsigned int n, i, size;

	tap_begin("a_round_trip_without_words_takes_8_bytes_at_most");
	kvm_trace_batch_begin(batch, MULT, SHIFT, KVM_TRACE_BATCH_F_TSC, 0, 0, 0);
	for (n = 0; batch->len <= KVM_TRACE_BATCH_FULL; n++) {
		i = random_64() % ARRAY_SIZE(kinds);
		trip.key = kvm_trace_batch_key(kinds[i].reason, kinds[i].flags, kinds[i].class);
		trip.from = trip.entry;
		trip.exit = trip.from + random_64() % 100000;
		trip.entry = trip.exit + kinds[i].host + random_64() % 32 * 16;
		trip.seq = n;
		kvm_trace_batch_put(batch, &trip);
	}
	size = kvm_trace_batch_finish(batch);
	tap_note("%u round trips of %u kinds in %u bytes: %u.%02u bytes each, head and all", n,
		 (unsigned int)ARRAY_SIZE(kinds), size, size / n, size % n * 100 / n);
	tap_expect(size <= 8 * n, "%u bytes", size);
	tap_end();
}

int main(void)
{
	batch = malloc(sizeof(*batch));
	if (!batch)
		tap_die("no memory");
	memset(batch, 0, sizeof(*batch));
	tap_plan(3);
	random_round_trips();
	longest_entry();
	lean_bytes();
	free(batch);
	return tap_exit();
}
