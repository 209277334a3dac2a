// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the timeline: slices of guest and host time, flows from an injection to
 * the guest that takes it, rates of exits, and losses. Text of records is decode.c's.
 */
#include <stdlib.h>
#include <string.h>
#include "timeline.h"

#define FIRST_SLOTS	256	/* a power of two */
#define A_VM		0x10000	/* in place of the number of a vCPU */
#define FUNCTIONS	0x10000	/* from the thread of a vCPU to that of its functions */
#define SECOND		1000000000ull

/*
 * @end: of the last slice, 0 if there is none
 * @exit: beginning of the last host slice; its end is @end
 * @seq: record counter of the next round trip, if @end
 * @injected: of the word INJECTED of the last round trip, the vector and VEC
 * @is_injected: its entry injected something
 * @has_functions: the track of its functions has a name
 */
struct vcpu {
	__u64 end;
	__u64 exit;
	__u32 seq;
	__u16 injected;
	bool is_injected;
	bool has_functions;
};

/*
 * @tick: number of the interval of KVM_TRACE_TIMELINE_RATE_NS that is counted
 * @count: exits in it
 * @pid: process in its name
 * @any: there was an exit
 */
struct vm {
	__u64 tick;
	__u64 count;
	__u32 pid;
	bool any;
};

/* Of a VM or a vCPU. A free one has no @used. */
struct track {
	__u64 key;
	bool used;
	union {
		struct vcpu vcpu;
		struct vm vm;
	};
};

/*
 * @ns: latest time that was written
 * @flows: how many there are
 * @call: a hypercall whose round trip has not come yet, if @has_call
 */
struct kvm_trace_timeline {
	struct kvm_trace_out *out;
	const struct kvm_trace_names *names;
	struct track *tracks;	/* a hash, at most half full */
	size_t slots;
	size_t used;
	__u64 left_out;
	__u64 ns;
	__u64 flows;
	bool any;
	bool has_call;
	__u64 call_ns;
	__u32 call_pid;
	struct kvm_trace_hypercall call;
};

/* Tracks */

static struct track *slot_of(struct track *tracks, size_t slots, __u64 key)
{
	size_t i = (key * 0x9e3779b97f4a7c15ull) >> 32 & (slots - 1);

	while (tracks[i].used && tracks[i].key != key)
		i = (i + 1) & (slots - 1);
	return &tracks[i];
}

static bool grow(struct kvm_trace_timeline *t)
{
	size_t i, slots = t->slots * 2;
	struct track *tracks;

	if (t->used == KVM_TRACE_TIMELINE_TRACKS_MAX)
		return false;
	if (t->used < t->slots / 2)
		return true;
	tracks = calloc(slots, sizeof(*tracks));
	if (!tracks)
		return false;
	for (i = 0; i < t->slots; i++)
		if (t->tracks[i].used)
			*slot_of(tracks, slots, t->tracks[i].key) = t->tracks[i];
	free(t->tracks);
	t->tracks = tracks;
	t->slots = slots;
	return true;
}

/* NULL if there is no room; @is_new: it was not there before. */
static struct track *track_of(struct kvm_trace_timeline *t, __u32 vm, __u32 vcpu, bool *is_new)
{
	__u64 key = (__u64)vm << 17 | vcpu;
	struct track *track = slot_of(t->tracks, t->slots, key);

	*is_new = !track->used;
	if (track->used)
		return track;
	if (!grow(t))
		return NULL;
	track = slot_of(t->tracks, t->slots, key);
	track->key = key;
	track->used = true;
	t->used++;
	return track;
}

/* Events */

static __always_inline void put(struct kvm_trace_timeline *t, const char *text)
{
	kvm_trace_out_string(t->out, text);
}

static __always_inline void put_number(struct kvm_trace_timeline *t, const char *name,
				       __u64 number)
{
	put(t, name);
	kvm_trace_out_number(t->out, number, 1);
}

/* In us, as the format wants it, with decimals down to the ns. */
static __always_inline void put_time(struct kvm_trace_timeline *t, const char *name, __u64 ns)
{
	put(t, name);
	kvm_trace_out_fixed(t->out, ns);
}

static __always_inline void put_text(struct kvm_trace_timeline *t, const char *name,
				     const char *text)
{
	put(t, name);
	kvm_trace_out_json(t->out, text, strlen(text));
}

/* One of our tables', which need no escapes. */
static __always_inline void put_word(struct kvm_trace_timeline *t, const char *name,
				     const char *word)
{
	put(t, name);
	put(t, "\"");
	put(t, word);
	put(t, "\"");
}

/* @head has its type, and what is fixed. */
static __always_inline void begin_event(struct kvm_trace_timeline *t, const char *head, __u32 vm)
{
	put(t, t->any ? ",\n{" : "\n{");
	t->any = true;
	put(t, head);
	put_number(t, ",\"pid\":", vm);
}

/* Viewers take 0 for a thread that idles. */
static __always_inline void put_vcpu(struct kvm_trace_timeline *t, __u16 vcpu)
{
	put_number(t, ",\"tid\":", vcpu + 1);
}

static void name_vm(struct kvm_trace_timeline *t, __u32 vm, __u32 pid,
		    const struct kvm_trace_string *vmm)
{
	const char *name = kvm_trace_names_of(t->names, pid);
	char text[32 + KVM_TRACE_NAME_SIZE];
	int len;

	if (!vm)
		len = snprintf(text, sizeof(text), "kvm_trace");
	else if (!pid)
		len = snprintf(text, sizeof(text), "VM %u", vm);
	else if (name)
		len = snprintf(text, sizeof(text), "VM %u (%s %u)", vm, name, pid);
	else
		len = snprintf(text, sizeof(text), "VM %u (%.*s%s%u)", vm,
			       vmm ? (int)vmm->len : 0, vmm ? vmm->at : "",
			       vmm && vmm->len ? " " : "", pid);
	begin_event(t, "\"ph\":\"M\",\"name\":\"process_name\"", vm);
	put(t, ",\"args\":{\"name\":");
	kvm_trace_out_json(t->out, text, len);
	put(t, "}}");
}

static struct vm *vm_of(struct kvm_trace_timeline *t, __u32 vm, __u32 pid,
			const struct kvm_trace_string *vmm)
{
	struct track *track;
	bool is_new;

	track = track_of(t, vm, A_VM, &is_new);
	if (!track)
		return NULL;
	if (is_new || (pid && track->vm.pid != pid)) {
		name_vm(t, vm, pid, vmm);
		track->vm.pid = pid;
	}
	return &track->vm;
}

static struct vcpu *vcpu_of(struct kvm_trace_timeline *t, __u32 vm, __u16 vcpu)
{
	struct track *track;
	bool is_new;

	track = track_of(t, vm, vcpu, &is_new);
	if (!track)
		return NULL;
	if (!is_new)
		return &track->vcpu;
	begin_event(t, "\"ph\":\"M\",\"name\":\"thread_name\"", vm);
	put_vcpu(t, vcpu);
	put_number(t, ",\"args\":{\"name\":\"vCPU ", vcpu);
	put(t, "\"}}");
	begin_event(t, "\"ph\":\"M\",\"name\":\"thread_sort_index\"", vm);
	put_vcpu(t, vcpu);
	put_number(t, ",\"args\":{\"sort_index\":", vcpu);
	put(t, "}}");
	return &track->vcpu;
}

/* A slice from @from to @to, up to its arguments. */
static void begin_slice(struct kvm_trace_timeline *t, const char *head, __u32 vm, __u16 vcpu,
			__u64 from, __u64 to)
{
	begin_event(t, head, vm);
	put_vcpu(t, vcpu);
	put_time(t, ",\"ts\":", from);
	put_time(t, ",\"dur\":", to - from);
	put(t, ",\"args\":{");
}

/* Something at one time, up to its arguments. */
static void begin_instant(struct kvm_trace_timeline *t, const char *head, __u32 vm, __u16 vcpu,
			  __u64 ns)
{
	begin_event(t, head, vm);
	put_vcpu(t, vcpu);
	put_time(t, ",\"ts\":", ns);
	put(t, ",\"args\":{");
}

/* Rates */

static void put_rate(struct kvm_trace_timeline *t, __u32 vm, __u64 tick, __u64 count)
{
	begin_event(t, "\"ph\":\"C\",\"name\":\"exits per second\"", vm);
	put_time(t, ",\"ts\":", tick * KVM_TRACE_TIMELINE_RATE_NS);
	put_number(t, ",\"args\":{\"exits\":", count * (SECOND / KVM_TRACE_TIMELINE_RATE_NS));
	put(t, "}}");
}

/* What was counted; and a 0 if nothing was behind it. */
static void end_tick(struct kvm_trace_timeline *t, __u32 vm, const struct vm *state, __u64 next)
{
	put_rate(t, vm, state->tick, state->count);
	if (next > state->tick + 1)
		put_rate(t, vm, state->tick + 1, 0);
}

static void count_exit(struct kvm_trace_timeline *t, __u32 vm, struct vm *state, __u64 ns)
{
	__u64 tick = ns / KVM_TRACE_TIMELINE_RATE_NS;

	if (!state->any)
		state->tick = tick;
	state->any = true;
	if (tick > state->tick) {
		end_tick(t, vm, state, tick);
		state->tick = tick;
		state->count = 0;
	}
	state->count++;
}

/* Hypercalls */

static void put_call(struct kvm_trace_timeline *t, const struct kvm_trace_hypercall *h, __u32 pid)
{
	const char *name = kvm_trace_call_name(h->abi, h->nr);
	const char *abi = kvm_trace_abi_name(h->abi);
	char text[KVM_TRACE_TEXT_SIZE], arg[] = ",\"a0\":\"";
	unsigned int i;

	put_word(t, "\"abi\":", abi ? abi : "?");
	put_number(t, ",\"number\":", h->nr);
	if (name)
		put_word(t, ",\"call\":", name);
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++, arg[3]++) {
		if (!KVM_TRACE_HC_ARG(h->have, i))
			continue;
		put(t, arg);
		kvm_trace_out_hex(t->out, h->arg[i]);
		put(t, "\"");
	}
	if (h->have & (KVM_TRACE_HC_W_RESULT | KVM_TRACE_HC_W_RESULT_64)) {
		put(t, ",\"result\":\"");
		kvm_trace_out_hex(t->out, h->result);
		put(t, "\"");
	}
	kvm_trace_hypercall_text(h, pid, text, sizeof(text));
	put_text(t, ",\"hypercall\":", text);
}

/* One whose round trip does not come. */
static void put_lone_call(struct kvm_trace_timeline *t)
{
	const struct kvm_trace_hypercall *h = &t->call;

	if (!t->has_call)
		return;
	t->has_call = false;
	begin_instant(t, "\"ph\":\"i\",\"s\":\"t\",\"name\":\"hypercall\"", h->vm, h->vcpu,
		      t->call_ns);
	put_call(t, h, t->call_pid);
	put(t, "}}");
}

static void put_sub_call(struct kvm_trace_timeline *t, const struct kvm_trace_item *item,
			 __u32 pid)
{
	const struct kvm_trace_hypercall_sub *sub = item->sub;
	char text[KVM_TRACE_TEXT_SIZE];

	if (!vcpu_of(t, sub->vm, sub->vcpu))
		return;
	begin_instant(t, "\"ph\":\"i\",\"s\":\"t\",\"name\":\"hypercall_sub\"", sub->vm,
		      sub->vcpu, item->ns);
	kvm_trace_hypercall_sub_text(sub, pid, text, sizeof(text));
	put_text(t, "\"record\":", text);
	put(t, "}}");
}

/* Round trips */

/* Records that are missing before a slice that begins at @ns. */
static void put_gap(struct kvm_trace_timeline *t, const struct kvm_trace_vmexit *v,
		    const struct vcpu *state, __u64 ns)
{
	__u32 gap = v->seq - state->seq;

	if (!state->end || !gap || gap > ~0u >> 1)
		return;
	if (ns > state->end)
		begin_slice(t, "\"ph\":\"X\",\"cat\":\"lost\",\"name\":\"lost\"", v->vm, v->vcpu,
			    state->end, ns);
	else
		begin_instant(t, "\"ph\":\"i\",\"s\":\"t\",\"cat\":\"lost\",\"name\":\"lost\"",
			      v->vm, v->vcpu, state->end);
	put_number(t, "\"round_trips\":", gap);
	put(t, "}}");
}

static void put_flow_end(struct kvm_trace_timeline *t, const char *head,
			 const struct kvm_trace_vmexit *v, __u64 ns)
{
	begin_event(t, head, v->vm);
	put_vcpu(t, v->vcpu);
	put_time(t, ",\"ts\":", ns);
	put_number(t, ",\"id\":", t->flows);
	put(t, "}");
}

/* From the host slice before to the guest slice that begins at its end. */
static void put_flow(struct kvm_trace_timeline *t, const struct kvm_trace_vmexit *v,
		     const struct vcpu *state, __u64 ns)
{
	if (state->exit == state->end)
		return;
	t->flows++;
	put_flow_end(t, "\"ph\":\"s\",\"cat\":\"injection\",\"name\":\"injection\"", v,
		     state->exit);
	put_flow_end(t, "\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"injection\",\"name\":\"injection\"",
		     v, ns);
}

static void put_guest(struct kvm_trace_timeline *t, const struct kvm_trace_vmexit *v,
		      const struct vcpu *state, __u64 from, __u64 to, __u64 guest_ns)
{
	bool goes_on = state->end && v->seq == state->seq;

	if (to <= from)
		return;
	begin_slice(t, "\"ph\":\"X\",\"cat\":\"guest\",\"name\":\"guest\"", v->vm, v->vcpu,
		    from, to);
	if (to - from != guest_ns)
		put_number(t, "\"guest_ns\":", guest_ns);
	if (goes_on && state->injected & KVM_TRACE_INJECTED_VEC)
		put_number(t, to - from != guest_ns ? ",\"vector\":" : "\"vector\":",
			   state->injected & KVM_TRACE_INJECTED_VECTOR);
	put(t, "}}");
	if (goes_on && state->is_injected)
		put_flow(t, v, state, from);
}

static void put_reason(struct kvm_trace_timeline *t, const struct kvm_trace_vmexit *v)
{
	__u64 code = kvm_trace_vmexit_code(v);
	const char *name;

	name = kvm_trace_reason_name(v->isa, v->isa == KVM_TRACE_ISA_VMX ? code & 0xffff : code);
	if (name) {
		put_word(t, "\"reason\":", name);
	} else {
		put(t, "\"reason\":\"");
		kvm_trace_out_hex(t->out, code);
		put(t, "\"");
	}
}

static void put_host(struct kvm_trace_timeline *t, const struct kvm_trace_vmexit *v, __u32 pid,
		     __u64 from, __u64 to)
{
	const char *name = kvm_trace_class_name(v->class);
	struct kvm_trace_vmexit text_of = *v;
	char text[KVM_TRACE_TEXT_SIZE];

	begin_event(t, "\"ph\":\"X\",\"cat\":\"host\"", v->vm);
	put_word(t, ",\"name\":", name ? name : "unknown");
	put_vcpu(t, v->vcpu);
	put_time(t, ",\"ts\":", from);
	put_time(t, ",\"dur\":", to - from);
	put(t, ",\"args\":{");
	put_reason(t, v);
	if (to - from != v->host_ns)
		put_number(t, ",\"host_ns\":", v->host_ns);
	if (v->user_ns)
		put_number(t, ",\"user_ns\":", v->user_ns);
	if (v->halt_ns)
		put_number(t, ",\"halted_ns\":", v->halt_ns);
	if (v->runnable_ns)
		put_number(t, ",\"runnable_ns\":", v->runnable_ns);
	text_of.have &= ~KVM_TRACE_W_ENTRY_NS;
	kvm_trace_vmexit_text(&text_of, pid, text, sizeof(text));
	put_text(t, ",\"record\":", text);
	if (t->has_call) {
		put(t, ",");
		put_call(t, &t->call, pid);
		t->has_call = false;
	}
	put(t, "}}");
}

static __u64 later_of(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/*
 * Slices of a track must not overlap. Where the clock went back, or the times of two
 * samples are not just as far from their entries, they are shorter than what they
 * stand for, and say it.
 */
static void put_round_trip(struct kvm_trace_timeline *t, const struct kvm_trace_item *item,
			   __u32 pid)
{
	const struct kvm_trace_vmexit *v = item->vmexit;
	struct vm *vm = vm_of(t, v->vm, pid, NULL);
	__u64 from, exit, end, guest_ns = item->guest_ns;
	struct vcpu *state;

	if (vm)
		count_exit(t, v->vm, vm, item->ns);
	/* Another track may move all of them. */
	state = vm ? vcpu_of(t, v->vm, v->vcpu) : NULL;
	if (!state) {
		t->left_out++;
		return;
	}
	if (t->has_call &&
	    (t->call.vm != v->vm || t->call.vcpu != v->vcpu || t->call.seq != v->seq))
		put_lone_call(t);
	end = later_of(item->ns, state->end);
	exit = later_of(item->ns > v->host_ns ? item->ns - v->host_ns : 0, state->end);
	/* Without its own word it began at the entry before, if that is known. */
	if (!item->guest_known)
		guest_ns = state->end && v->seq == state->seq ? exit - state->end : 0;
	from = later_of(exit > guest_ns ? exit - guest_ns : 0, state->end);
	put_gap(t, v, state, from);
	put_guest(t, v, state, from, exit, guest_ns);
	put_host(t, v, pid, exit, end);
	state->exit = exit;
	state->end = end;
	state->seq = v->seq + 1;
	state->is_injected = v->flags & KVM_TRACE_F_INJECTED;
	state->injected = v->injected & (KVM_TRACE_INJECTED_VEC | KVM_TRACE_INJECTED_VECTOR);
}

static void put_hypercall(struct kvm_trace_timeline *t, const struct kvm_trace_item *item,
			  __u32 pid)
{
	put_lone_call(t);
	if (!vcpu_of(t, item->hypercall->vm, item->hypercall->vcpu))
		return;
	t->call = *item->hypercall;
	t->call_ns = item->ns;
	t->call_pid = pid;
	t->has_call = true;
}

static void put_lost(struct kvm_trace_timeline *t, const struct kvm_trace_item *item, __u32 pid)
{
	const struct kvm_trace_lost *lost = item->lost;
	char text[KVM_TRACE_TEXT_SIZE];

	if (!vm_of(t, lost->vm, pid, NULL))
		return;
	begin_instant(t, "\"ph\":\"i\",\"s\":\"g\",\"cat\":\"lost\",\"name\":\"lost\"", lost->vm,
		      lost->vcpu, item->ns);
	put_number(t, "\"exits\":", lost->count);
	kvm_trace_lost_text(lost, pid, text, sizeof(text));
	put_text(t, ",\"record\":", text);
	put(t, "}}");
}

void kvm_trace_timeline_add(struct kvm_trace_timeline *timeline,
			    const struct kvm_trace_item *item, __u32 pid)
{
	if (item->ns > timeline->ns)
		timeline->ns = item->ns;
	switch (item->kind) {
	case KVM_TRACE_KIND_VMEXIT:
		put_round_trip(timeline, item, pid);
		break;
	case KVM_TRACE_KIND_HYPERCALL:
		put_hypercall(timeline, item, pid);
		break;
	case KVM_TRACE_KIND_VCPU:
		vm_of(timeline, item->vcpu->vm, pid, &item->vcpu->vmm);
		break;
	case KVM_TRACE_KIND_LOST:
		put_lost(timeline, item, pid);
		break;
	case KVM_TRACE_KIND_HYPERCALL_SUB:
		put_sub_call(timeline, item, pid);
		break;
	case KVM_TRACE_KIND_BATCH:
		break;
	}
}

/* Functions, on a track below that of the vCPU: what sorts it is the same, and then its name. */

static bool name_functions(struct kvm_trace_timeline *t, __u32 vm, __u16 vcpu)
{
	struct vcpu *state = vcpu_of(t, vm, vcpu);

	if (!state)
		return false;
	if (state->has_functions)
		return true;
	state->has_functions = true;
	begin_event(t, "\"ph\":\"M\",\"name\":\"thread_name\"", vm);
	put_number(t, ",\"tid\":", FUNCTIONS + vcpu + 1);
	put_number(t, ",\"args\":{\"name\":\"vCPU ", vcpu);
	put(t, " functions\"}}");
	begin_event(t, "\"ph\":\"M\",\"name\":\"thread_sort_index\"", vm);
	put_number(t, ",\"tid\":", FUNCTIONS + vcpu + 1);
	put_number(t, ",\"args\":{\"sort_index\":", vcpu);
	put(t, "}}");
	return true;
}

bool kvm_trace_timeline_call(struct kvm_trace_timeline *timeline, __u32 vm, __u16 vcpu, __u64 ns,
			     const char *name, __u64 ip)
{
	if (!name_functions(timeline, vm, vcpu))
		return false;
	begin_event(timeline, "\"ph\":\"B\",\"cat\":\"function\"", vm);
	put_number(timeline, ",\"tid\":", FUNCTIONS + vcpu + 1);
	put_time(timeline, ",\"ts\":", ns);
	if (name) {
		put_text(timeline, ",\"name\":", name);
		put(timeline, ",\"args\":{\"at\":\"");
	} else {
		put(timeline, ",\"name\":\"");
		kvm_trace_out_hex(timeline->out, ip);
		put(timeline, "\",\"args\":{\"at\":\"");
	}
	kvm_trace_out_hex(timeline->out, ip);
	put(timeline, "\"}}");
	return true;
}

void kvm_trace_timeline_return(struct kvm_trace_timeline *timeline, __u32 vm, __u16 vcpu, __u64 ns)
{
	begin_event(timeline, "\"ph\":\"E\"", vm);
	put_number(timeline, ",\"tid\":", FUNCTIONS + vcpu + 1);
	put_time(timeline, ",\"ts\":", ns);
	put(timeline, "}");
}

void kvm_trace_timeline_trace_lost(struct kvm_trace_timeline *timeline, __u32 vm, __u16 vcpu,
				   __u64 ns)
{
	if (!name_functions(timeline, vm, vcpu))
		return;
	begin_event(timeline, "\"ph\":\"i\",\"s\":\"t\",\"cat\":\"lost\"", vm);
	put(timeline, ",\"name\":\"trace lost\"");
	put_number(timeline, ",\"tid\":", FUNCTIONS + vcpu + 1);
	put_time(timeline, ",\"ts\":", ns);
	put(timeline, "}");
}

void kvm_trace_timeline_note(struct kvm_trace_timeline *timeline, const char *text)
{
	begin_event(timeline, "\"ph\":\"i\",\"s\":\"g\",\"cat\":\"lost\"", 0);
	put(timeline, ",\"tid\":1");
	put_text(timeline, ",\"name\":", text);
	put_time(timeline, ",\"ts\":", timeline->ns);
	put(timeline, "}");
}

void kvm_trace_timeline_finish(struct kvm_trace_timeline *timeline)
{
	struct track *track;

	put_lone_call(timeline);
	for (track = timeline->tracks; track < timeline->tracks + timeline->slots; track++)
		if (track->used && track->key & A_VM && track->vm.any)
			end_tick(timeline, track->key >> 17, &track->vm, ~0ull);
	put(timeline, "\n]}\n");
	kvm_trace_out_flush(timeline->out);
}

__u64 kvm_trace_timeline_left_out(const struct kvm_trace_timeline *timeline)
{
	return timeline->left_out;
}

struct kvm_trace_timeline *kvm_trace_timeline_new(struct kvm_trace_out *out,
						  const struct kvm_trace_names *names)
{
	struct kvm_trace_timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->slots = FIRST_SLOTS;
	t->tracks = calloc(t->slots, sizeof(*t->tracks));
	if (!t->tracks) {
		free(t);
		return NULL;
	}
	t->out = out;
	t->names = names;
	put(t, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return t;
}

void kvm_trace_timeline_free(struct kvm_trace_timeline *timeline)
{
	if (timeline)
		free(timeline->tracks);
	free(timeline);
}
