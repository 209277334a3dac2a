// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merges the records of all vCPUs by time. Each vCPU has three sources, in each of
 * which records come in order: its batches, the single events that tell the same,
 * and the others. A heap has the first record of each. What records and batches
 * say is decode.c's and batch.c's.
 */
#include <stdlib.h>
#include <string.h>
#include "order.h"

#define LAG_NS		(KVM_TRACE_BATCH_LAG_MS * 1000000ull)
#define FIRST_SLOTS	64	/* a power of two */

enum from { FROM_BATCHES, FROM_SINGLES, FROM_OTHERS, SOURCES };

/* An event that is held back. */
struct held {
	struct held *next;
	__u64 ns;	/* of a single event */
	__u32 size;
	__u32 seq;	/* of single events that have one; of a batch, its first */
	enum kvm_trace_kind kind;
	bool replaced;	/* by a later one, as it would be in a batch */
	__u8 bytes[];
};

/*
 * @ns: time of its first record
 * @key: place in time of its first record: @ns, but not less than @floor, which is
 *	 that of the record before; where the clock went back, the order in which
 *	 records came counts
 * @seq: record counter of its first record
 * @at: place in the heap, if @first
 * @reader: of the batch @first, and its record @item
 * @begun: records of the batch @first were given
 */
struct source {
	struct vcpu *vcpu;
	struct held *first;
	struct held *last;
	__u64 ns;
	__u64 key;
	__u64 floor;
	__u32 seq;
	size_t at;
	enum from from;
	struct kvm_trace_batch_reader *reader;
	enum kvm_trace_batch_item item;
	bool begun;
};

/*
 * @next_seq: record counter of the next round trip, if @seen; the last one came
 *	      from @last_from
 * @singles_from: first record counter of the last run of vmexit events without a gap
 * @singles_next: the one behind its last
 * @has: single events of this kind were added
 * @has_singles: some of any of these kinds
 * @alone: single events of a round trip whose vmexit event has not come yet
 */
struct vcpu {
	__u32 vm;
	__u32 next_seq;
	__u32 singles_from;
	__u32 singles_next;
	__u16 id;
	bool seen;
	bool has[KVM_TRACE_KIND_VCPU + 1];
	bool has_singles;
	enum from last_from;
	struct held *alone[KVM_TRACE_KIND_VCPU + 1];
	struct source sources[SOURCES];
};

struct kvm_trace_order {
	void (*give)(void *data, const struct kvm_trace_item *item);
	struct kvm_trace_times *(*place)(void *data, const struct kvm_trace_vmexit *v);
	void *data;
	struct vcpu **vcpus;	/* a hash, at most half full */
	size_t slots;
	size_t used;
	struct source **heap;
	size_t heap_size;
	size_t held;
	__u64 given;		/* latest time of a record that was given */
	enum kvm_trace_refusal refusal;
	unsigned int version;
	struct kvm_trace_order_counts counts;
	struct kvm_trace_batch_reader checker;
	union {
		struct kvm_trace_vmexit vmexit;
		struct kvm_trace_hypercall hypercall;
		struct kvm_trace_vcpu vcpu;
		struct kvm_trace_lost lost;
		struct kvm_trace_hypercall_sub sub;
	};
};

struct kvm_trace_order *
kvm_trace_order_new(void (*give)(void *data, const struct kvm_trace_item *item),
		    struct kvm_trace_times *(*place)(void *data, const struct kvm_trace_vmexit *v),
		    void *data)
{
	struct kvm_trace_order *order = calloc(1, sizeof(*order));

	if (!order)
		return NULL;
	order->give = give;
	order->place = place;
	order->data = data;
	order->counts.since = ~0ull;
	return order;
}

/* Of record counters, which wrap. */
static bool is_earlier(__u32 a, __u32 b)
{
	return a - b > ~0u >> 1;
}

/* vCPUs */

static struct vcpu **slot_of(struct vcpu **vcpus, size_t slots, __u32 vm, __u16 id)
{
	size_t i = (vm * 2654435761u + id * 40503u) & (slots - 1);

	while (vcpus[i] && (vcpus[i]->vm != vm || vcpus[i]->id != id))
		i = (i + 1) & (slots - 1);
	return &vcpus[i];
}

/* Room for one more vCPU, in the hash and for its sources in the heap. */
static bool grow(struct kvm_trace_order *order)
{
	size_t i, slots = order->slots ? order->slots * 2 : FIRST_SLOTS;
	struct source **heap;
	struct vcpu **vcpus;

	if (order->used < order->slots / 2)
		return true;
	heap = realloc(order->heap, slots / 2 * SOURCES * sizeof(*heap));
	if (!heap)
		return false;
	order->heap = heap;
	vcpus = calloc(slots, sizeof(*vcpus));
	if (!vcpus)
		return false;
	for (i = 0; i < order->slots; i++)
		if (order->vcpus[i])
			*slot_of(vcpus, slots, order->vcpus[i]->vm, order->vcpus[i]->id) =
				order->vcpus[i];
	free(order->vcpus);
	order->vcpus = vcpus;
	order->slots = slots;
	return true;
}

/* NULL, and why is noted, if there can be no such vCPU. */
static struct vcpu *vcpu_of(struct kvm_trace_order *order, __u32 vm, __u16 id)
{
	struct vcpu **slot, *vcpu;
	enum from from;

	if (!grow(order)) {
		order->refusal = KVM_TRACE_REFUSAL_MEMORY;
		return NULL;
	}
	slot = slot_of(order->vcpus, order->slots, vm, id);
	if (*slot)
		return *slot;
	if (order->used == KVM_TRACE_ORDER_VCPUS_MAX) {
		order->counts.left_out++;
		return NULL;
	}
	vcpu = calloc(1, sizeof(*vcpu));
	if (!vcpu) {
		order->refusal = KVM_TRACE_REFUSAL_MEMORY;
		return NULL;
	}
	vcpu->vm = vm;
	vcpu->id = id;
	for (from = 0; from < SOURCES; from++) {
		vcpu->sources[from].vcpu = vcpu;
		vcpu->sources[from].from = from;
	}
	*slot = vcpu;
	order->used++;
	return vcpu;
}

/* The heap */

/* By time; the rest is there so that the order does not depend on how it came. */
static bool before(const struct source *a, const struct source *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	if (a->vcpu->vm != b->vcpu->vm)
		return a->vcpu->vm < b->vcpu->vm;
	if (a->vcpu->id != b->vcpu->id)
		return a->vcpu->id < b->vcpu->id;
	if (a->seq != b->seq && a->from != FROM_OTHERS && b->from != FROM_OTHERS)
		return is_earlier(a->seq, b->seq);
	return a->from < b->from;
}

static void put_at(struct kvm_trace_order *order, size_t at, struct source *s)
{
	order->heap[at] = s;
	s->at = at;
}

static void sift_up(struct kvm_trace_order *order, struct source *s)
{
	size_t at = s->at;

	while (at && before(s, order->heap[(at - 1) / 2])) {
		put_at(order, at, order->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put_at(order, at, s);
}

static void sift_down(struct kvm_trace_order *order, struct source *s)
{
	size_t at = s->at, child;

	for (child = 2 * at + 1; child < order->heap_size; child = 2 * at + 1) {
		if (child + 1 < order->heap_size &&
		    before(order->heap[child + 1], order->heap[child]))
			child++;
		if (!before(order->heap[child], s))
			break;
		put_at(order, at, order->heap[child]);
		at = child;
	}
	put_at(order, at, s);
}

static void remove_first(struct kvm_trace_order *order)
{
	struct source *last = order->heap[--order->heap_size];

	if (!order->heap_size)
		return;
	last->at = 0;
	sift_down(order, last);
}

/* Sources */

static void set_place(struct source *s, __u64 ns, __u32 seq)
{
	s->seq = seq;
	s->ns = ns;
	s->key = ns > s->floor ? ns : s->floor;
}

static void drop_first(struct kvm_trace_order *order, struct source *s)
{
	struct held *held = s->first;

	s->first = held->next;
	s->begun = false;
	order->held -= sizeof(*held) + held->size;
	free(held);
}

static void close_reader(struct kvm_trace_order *order, struct source *s)
{
	if (s->reader)
		order->held -= sizeof(*s->reader);
	free(s->reader);
	s->reader = NULL;
}

/* The time of the reader's round trip, to which the record belongs. */
static __u64 time_in_batch(const struct kvm_trace_batch_reader *r)
{
	return r->vmexit.have & KVM_TRACE_W_ENTRY_NS ? r->vmexit.entry_ns : r->ns;
}

/* Goes on with the next batch when all of one was read; false if there is none. */
static bool next_batch(struct kvm_trace_order *order, struct source *s)
{
	order->counts.damaged[0] += s->item == KVM_TRACE_BATCH_DAMAGED;
	order->counts.unknown += s->reader->unknown;
	drop_first(order, s);
	if (s->first)
		kvm_trace_batch_reopen(s->reader, s->first->bytes);
	else
		close_reader(order, s);
	return s->first;
}

/* The next record of batches, of this one or of the next; false if there is none. */
static bool next_in_batches(struct kvm_trace_order *order, struct source *s)
{
	do {
		s->item = kvm_trace_batch_next(s->reader);
		if (s->item > KVM_TRACE_BATCH_DAMAGED) {
			set_place(s, time_in_batch(s->reader), s->reader->vmexit.seq);
			return true;
		}
	} while (next_batch(order, s));
	return false;
}

static bool next_of_source(struct kvm_trace_order *order, struct source *s)
{
	if (s->from == FROM_BATCHES)
		return next_in_batches(order, s);
	drop_first(order, s);
	if (!s->first)
		return false;
	set_place(s, s->first->ns, s->first->seq);
	return true;
}

/* The first record of a source that had none; false if there is none now, too. */
static bool begin_source(struct kvm_trace_order *order, struct source *s)
{
	if (s->from != FROM_BATCHES) {
		set_place(s, s->first->ns, s->first->seq);
		return true;
	}
	s->reader = malloc(sizeof(*s->reader));
	if (!s->reader) {
		order->refusal = KVM_TRACE_REFUSAL_MEMORY;
		drop_first(order, s);
		return false;
	}
	order->held += sizeof(*s->reader);
	kvm_trace_batch_reopen(s->reader, s->first->bytes);
	return next_in_batches(order, s);
}

static struct held *new_held(struct kvm_trace_order *order, enum kvm_trace_kind kind,
			     const void *record, size_t size)
{
	struct held *held = malloc(sizeof(*held) + size);

	if (!held) {
		order->refusal = KVM_TRACE_REFUSAL_MEMORY;
		return NULL;
	}
	*held = (struct held){ .kind = kind, .size = size };
	memcpy(held->bytes, record, size);
	order->held += sizeof(*held) + size;
	return held;
}

static void append(struct kvm_trace_order *order, struct source *s, struct held *held)
{
	if (s->first) {
		s->last->next = held;
		s->last = held;
		return;
	}
	s->first = held;
	s->last = held;
	if (begin_source(order, s)) {
		s->at = order->heap_size++;
		order->heap[s->at] = s;
		sift_up(order, s);
	}
}

/* The first event is another one, or its time is another. */
static void set_first_place(struct kvm_trace_order *order, struct source *s)
{
	if (s->from == FROM_BATCHES) {
		kvm_trace_batch_reopen(s->reader, s->first->bytes);
		next_in_batches(order, s);
	} else {
		set_place(s, s->first->ns, s->first->seq);
	}
	sift_up(order, s);
	sift_down(order, s);
}

/* By record counter: where the clock went back, perf's order is another one. */
static void insert(struct kvm_trace_order *order, struct source *s, struct held *held)
{
	struct held **link = &s->first;

	if (!s->first || !is_earlier(held->seq, s->last->seq)) {
		append(order, s, held);
		return;
	}
	if (s->begun)
		link = &s->first->next;
	while (*link && !is_earlier(held->seq, (*link)->seq))
		link = &(*link)->next;
	if (!*link) {
		append(order, s, held);
		return;
	}
	held->next = *link;
	*link = held;
	if (s->first == held)
		set_first_place(order, s);
}

/* What is given */

static void note_single(struct vcpu *vcpu, __u32 seq)
{
	if (seq != vcpu->singles_next)
		vcpu->singles_from = seq;
	vcpu->singles_next = seq + 1;
}

/* Whether a batch that comes late has what single events have told long before. */
static bool singles_told(const struct vcpu *vcpu, __u32 seq, enum kvm_trace_kind kind)
{
	return vcpu->has[kind] &&
	       seq - vcpu->singles_from < vcpu->singles_next - vcpu->singles_from;
}

/* Whether the record of round trip @seq is there for the first time; counts gaps. */
static bool is_new(struct kvm_trace_order *order, const struct source *s, __u32 seq,
		   enum kvm_trace_kind kind)
{
	bool is_vmexit = kind == KVM_TRACE_KIND_VMEXIT;
	struct vcpu *vcpu = s->vcpu;
	__u32 gap = seq - vcpu->next_seq;
	bool told = vcpu->seen && gap == ~0u && vcpu->last_from != s->from;

	if (s->from == FROM_BATCHES)
		told |= singles_told(vcpu, seq, kind);
	else if (is_vmexit)
		note_single(vcpu, seq);
	if (told)
		return false;
	if (!is_vmexit)
		return true;
	if (vcpu->seen && is_earlier(seq, vcpu->next_seq)) {
		order->counts.back++;
	} else if (vcpu->seen && gap) {
		order->counts.gaps++;
		order->counts.missing += gap;
	}
	vcpu->seen = true;
	vcpu->next_seq = seq + 1;
	vcpu->last_from = s->from;
	return true;
}

/* A vcpu record that this decoder can read; else nothing more is to be read. */
static bool is_known(struct kvm_trace_order *order, const struct kvm_trace_vcpu *vcpu)
{
	if (vcpu->abi_version == KVM_TRACE_ABI_VERSION)
		return true;
	order->refusal = KVM_TRACE_REFUSAL_ABI;
	order->version = vcpu->abi_version;
	return false;
}

static bool item_of_batch(struct kvm_trace_order *order, const struct source *s,
			  struct kvm_trace_item *item)
{
	const struct kvm_trace_batch_reader *r = s->reader;

	switch (s->item) {
	case KVM_TRACE_BATCH_IS_HYPERCALL:
		item->kind = KVM_TRACE_KIND_HYPERCALL;
		item->hypercall = &r->hypercall;
		break;
	case KVM_TRACE_BATCH_IS_VCPU:
		item->kind = KVM_TRACE_KIND_VCPU;
		item->vcpu = &r->vcpu;
		if (!is_known(order, item->vcpu))
			return false;
		break;
	default:
		item->kind = KVM_TRACE_KIND_VMEXIT;
		item->vmexit = &r->vmexit;
		item->guest_ns = r->guest_ns;
		item->guest_known = r->guest_known;
	}
	return is_new(order, s, r->vmexit.seq, item->kind);
}

/* Decodes a record into @order; false if it is too short. */
static bool decode(struct kvm_trace_order *order, struct kvm_trace_item *item,
		   const void *record, size_t size)
{
	switch (item->kind) {
	case KVM_TRACE_KIND_VMEXIT:
		item->vmexit = &order->vmexit;
		return kvm_trace_vmexit_record(&order->vmexit, record, size);
	case KVM_TRACE_KIND_HYPERCALL:
		item->hypercall = &order->hypercall;
		return kvm_trace_hypercall_record(&order->hypercall, record, size);
	case KVM_TRACE_KIND_VCPU:
		item->vcpu = &order->vcpu;
		return kvm_trace_vcpu_record(&order->vcpu, record, size);
	case KVM_TRACE_KIND_LOST:
		item->lost = &order->lost;
		return kvm_trace_lost_record(&order->lost, record, size);
	case KVM_TRACE_KIND_HYPERCALL_SUB:
		item->sub = &order->sub;
		return kvm_trace_hypercall_sub_record(&order->sub, record, size);
	case KVM_TRACE_KIND_BATCH:
		break;
	}
	return false;
}

static bool item_of_single(struct kvm_trace_order *order, const struct source *s,
			   struct kvm_trace_item *item)
{
	struct held *held = s->first;

	item->kind = held->kind;
	decode(order, item, held->bytes, held->size);
	switch (held->kind) {
	case KVM_TRACE_KIND_VMEXIT:
		item->guest_ns = item->vmexit->guest_ns;
		item->guest_known = item->vmexit->have &
				    (KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_GUEST_NS_64);
		return is_new(order, s, held->seq, held->kind);
	case KVM_TRACE_KIND_HYPERCALL:
	case KVM_TRACE_KIND_VCPU:
		if (s->vcpu->alone[held->kind] == held)
			s->vcpu->alone[held->kind] = NULL;
		return !held->replaced && is_new(order, s, held->seq, held->kind);
	case KVM_TRACE_KIND_LOST:
		/* What batches lack shows as a gap. */
		if (order->lost.why != KVM_TRACE_LOST_NO_BUFFER)
			order->counts.lost += order->lost.count;
		return true;
	default:
		return true;
	}
}

static void give(struct kvm_trace_order *order, const struct kvm_trace_item *item)
{
	if (item->ns < order->given)
		order->counts.late++;
	else
		order->given = item->ns;
	order->give(order->data, item);
}

/* The first record of a source; false if there is none behind it. */
static bool give_first(struct kvm_trace_order *order, struct source *s)
{
	struct kvm_trace_item item = { .ns = s->ns };
	bool wanted;

	s->begun = true;
	wanted = s->from == FROM_BATCHES ? item_of_batch(order, s, &item) :
					   item_of_single(order, s, &item);
	if (wanted)
		give(order, &item);
	return next_of_source(order, s);
}

static struct kvm_trace_times *find_place(void *data, const struct kvm_trace_vmexit *v)
{
	struct kvm_trace_order *order = data;

	return order->place(order->data, v);
}

static void take_vcpu(void *data, const struct kvm_trace_vcpu *vcpu)
{
	const struct kvm_trace_item item = { .kind = KVM_TRACE_KIND_VCPU, .vcpu = vcpu };
	struct kvm_trace_order *order = data;

	if (is_known(order, vcpu))
		order->give(order->data, &item);
}

/* All of the first batch at once, and the first record of the next one. */
static bool sum_up_batch(struct kvm_trace_order *order, struct source *s)
{
	const struct kvm_trace_batch_summer summer = { find_place, take_vcpu, order };
	struct kvm_trace_batch_reader *r = s->reader;

	kvm_trace_batch_reopen(r, s->first->bytes);
	is_new(order, s, r->seq, KVM_TRACE_KIND_VMEXIT);
	s->item = kvm_trace_batch_sum_up(r, &summer);
	s->vcpu->next_seq = r->seq;
	order->counts.missing += r->skipped;
	order->counts.gaps += r->skips;
	return next_batch(order, s) && next_in_batches(order, s);
}

static bool can_be_summed(const struct kvm_trace_order *order, const struct source *s)
{
	return order->place && s->from == FROM_BATCHES && !s->begun && !s->vcpu->has_singles;
}

/* Gives what is due: all up to @until, and what is too much to be held. */
static void give_until(struct kvm_trace_order *order, __u64 until)
{
	struct source *s;

	while (order->heap_size && !order->refusal) {
		s = order->heap[0];
		if (s->key > until) {
			if (order->held <= KVM_TRACE_ORDER_HELD_MAX)
				break;
			order->counts.hurried = true;
		}
		s->floor = s->key;
		if (can_be_summed(order, s) ? sum_up_batch(order, s) : give_first(order, s))
			sift_down(order, s);
		else
			remove_first(order);
	}
}

/* What is added */

static void begins_at(struct kvm_trace_order *order, __u64 ns)
{
	if (ns < order->counts.since)
		order->counts.since = ns;
}

static void add_batch(struct kvm_trace_order *order, const void *record, size_t size)
{
	enum kvm_trace_batch_error error;
	struct held *held;
	struct vcpu *vcpu;

	error = kvm_trace_batch_open(&order->checker, record, size);
	if (error == KVM_TRACE_BATCH_UNKNOWN) {
		order->refusal = KVM_TRACE_REFUSAL_BATCH;
		order->version = ((const __u8 *)record)[53];
	}
	if (error) {
		order->counts.damaged[error]++;
		return;
	}
	begins_at(order, order->checker.start_ns);
	vcpu = vcpu_of(order, order->checker.vm, order->checker.vcpu_id);
	if (!vcpu)
		return;
	held = new_held(order, KVM_TRACE_KIND_BATCH, record, size);
	if (!held)
		return;
	held->seq = order->checker.seq;
	insert(order, &vcpu->sources[FROM_BATCHES], held);
}

/* A single event gets the time of its round trip, as it would have in a batch. */
static void set_entry_time(struct kvm_trace_order *order, struct source *s, __u32 seq, __u64 ns)
{
	struct held **alone = s->vcpu->alone;
	enum kvm_trace_kind kind;

	for (kind = KVM_TRACE_KIND_HYPERCALL; kind <= KVM_TRACE_KIND_VCPU; kind++) {
		if (!alone[kind])
			continue;
		if (alone[kind]->seq == seq) {
			alone[kind]->ns = ns;
			if (alone[kind] == s->first)
				set_first_place(order, s);
		}
		alone[kind] = NULL;
	}
}

static void add_single(struct kvm_trace_order *order, enum kvm_trace_kind kind, __u64 time,
		       const void *record, size_t size)
{
	struct kvm_trace_item item = { .kind = kind };
	struct held *held;
	struct vcpu *vcpu;
	__u32 vm, seq = 0;
	__u16 id;

	if (!decode(order, &item, record, size)) {
		order->counts.too_short++;
		return;
	}
	switch (kind) {
	case KVM_TRACE_KIND_VMEXIT:
		vm = item.vmexit->vm;
		id = item.vmexit->vcpu;
		seq = item.vmexit->seq;
		if (item.vmexit->have & KVM_TRACE_W_ENTRY_NS)
			time = item.vmexit->entry_ns;
		begins_at(order, time > item.vmexit->host_ns ? time - item.vmexit->host_ns : 0);
		break;
	case KVM_TRACE_KIND_HYPERCALL:
		vm = item.hypercall->vm;
		id = item.hypercall->vcpu;
		seq = item.hypercall->seq;
		break;
	case KVM_TRACE_KIND_VCPU:
		vm = item.vcpu->vm;
		id = item.vcpu->vcpu;
		seq = item.vcpu->seq;
		if (!is_known(order, item.vcpu))
			return;
		break;
	case KVM_TRACE_KIND_LOST:
		vm = item.lost->vm;
		id = item.lost->vcpu;
		break;
	default:
		vm = item.sub->vm;
		id = item.sub->vcpu;
	}
	vcpu = vcpu_of(order, vm, id);
	if (!vcpu)
		return;
	held = new_held(order, kind, record, size);
	if (!held)
		return;
	held->ns = time;
	held->seq = seq;
	if (kind > KVM_TRACE_KIND_VCPU) {
		append(order, &vcpu->sources[FROM_OTHERS], held);
		return;
	}
	vcpu->has[kind] = true;
	vcpu->has_singles = true;
	if (kind == KVM_TRACE_KIND_VMEXIT) {
		set_entry_time(order, &vcpu->sources[FROM_SINGLES], seq, time);
	} else {
		if (vcpu->alone[kind])
			vcpu->alone[kind]->replaced = vcpu->alone[kind]->seq == seq;
		vcpu->alone[kind] = held;
	}
	insert(order, &vcpu->sources[FROM_SINGLES], held);
}

enum kvm_trace_refusal kvm_trace_order_add(struct kvm_trace_order *order,
					   enum kvm_trace_kind kind, __u64 time,
					   const void *record, size_t size)
{
	if (order->refusal)
		return order->refusal;
	order->counts.until = time;
	if (kind == KVM_TRACE_KIND_BATCH)
		add_batch(order, record, size);
	else
		add_single(order, kind, time, record, size);
	if (time > LAG_NS)
		give_until(order, time - LAG_NS);
	return order->refusal;
}

enum kvm_trace_refusal kvm_trace_order_finish(struct kvm_trace_order *order)
{
	give_until(order, ~0ull);
	return order->refusal;
}

const struct kvm_trace_order_counts *kvm_trace_order_counts(const struct kvm_trace_order *order)
{
	return &order->counts;
}

unsigned int kvm_trace_order_version(const struct kvm_trace_order *order)
{
	return order->version;
}

void kvm_trace_order_free(struct kvm_trace_order *order)
{
	enum from from;
	size_t i;

	if (!order)
		return;
	for (i = 0; i < order->slots; i++) {
		if (!order->vcpus[i])
			continue;
		for (from = 0; from < SOURCES; from++) {
			while (order->vcpus[i]->sources[from].first)
				drop_first(order, &order->vcpus[i]->sources[from]);
			free(order->vcpus[i]->sources[from].reader);
		}
		free(order->vcpus[i]);
	}
	free(order->vcpus);
	free(order->heap);
	free(order);
}
