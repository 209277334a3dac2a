// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flows of guests, of each thread for itself, with records in place. See flow.h.
 *
 * A stay in the guest begins at a time that the trace has; between such times perf
 * estimates, and may be ahead of the records. So a record that comes within a stay waits
 * for the next one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perf/perf_dlfilter.h>
#include "flow.h"

#define FIRST_THREADS	16
#define SECOND		1000000000ull
#define DEPTH_MAX	40	/* of calls that are shown as such */

/* A line that waits. */
struct held {
	struct held *next;
	__u64 ns;
	char line[];
};

/*
 * @inside: it is in a guest, as far as perf has decoded
 * @known: records have told who it is
 */
struct thread {
	__u32 tid, vm;
	__u16 vcpu;
	bool inside, known;
	unsigned int depth;
	struct held *first, **last;
};

struct kvm_trace_flow {
	struct kvm_trace_out *out;
	enum kvm_trace_flow_what what;
	bool only_known;
	struct thread **thread;
	size_t threads, room;
	const struct kvm_trace_symbols *symbols;
	__u64 steps;
};

static struct thread *find_thread(struct kvm_trace_flow *flow, __u32 tid)
{
	struct thread **more, *thread;
	size_t i;

	for (i = 0; i < flow->threads; i++) {
		if (flow->thread[i]->tid == tid)
			return flow->thread[i];
	}
	if (flow->threads == flow->room) {
		flow->room = flow->room ? 2 * flow->room : FIRST_THREADS;
		more = realloc(flow->thread, flow->room * sizeof(*more));
		if (!more)
			return NULL;
		flow->thread = more;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->last = &thread->first;
	flow->thread[flow->threads++] = thread;
	return thread;
}

static void put(struct kvm_trace_flow *flow, const char *line)
{
	kvm_trace_out_string(flow->out, line);
	kvm_trace_out_char(flow->out, '\n');
}

static void put_held(struct kvm_trace_flow *flow, struct thread *thread, __u64 until)
{
	struct held *held;

	while (thread->first && thread->first->ns <= until) {
		held = thread->first;
		put(flow, held->line);
		thread->first = held->next;
		free(held);
	}
	if (!thread->first)
		thread->last = &thread->first;
}

bool kvm_trace_flow_record(struct kvm_trace_flow *flow, __u32 tid, __u32 vm, __u16 vcpu, __u64 ns,
			   const char *line)
{
	struct thread *thread = find_thread(flow, tid);
	struct held *held;

	if (!thread)
		return false;
	thread->vm = vm;
	thread->vcpu = vcpu;
	thread->known = true;
	if (!thread->inside && !thread->first) {
		put(flow, line);
		return true;
	}
	held = malloc(sizeof(*held) + strlen(line) + 1);
	if (!held)
		return false;
	held->next = NULL;
	held->ns = ns;
	strcpy(held->line, line);
	*thread->last = held;
	thread->last = &held->next;
	return true;
}

static void begin_line(struct kvm_trace_flow *flow, const struct thread *thread, __u64 ns)
{
	char text[64];

	kvm_trace_out_number(flow->out, ns / SECOND, 1);
	kvm_trace_out_char(flow->out, '.');
	kvm_trace_out_number(flow->out, ns % SECOND, 9);
	if (thread->known)
		snprintf(text, sizeof(text), ": vm %u vcpu %u: ", thread->vm, thread->vcpu);
	else
		snprintf(text, sizeof(text), ": tid %u: ", thread->tid);
	kvm_trace_out_string(flow->out, text);
}

static void put_place(struct kvm_trace_flow *flow, const struct kvm_trace_place *place)
{
	char text[256];

	kvm_trace_out_hex(flow->out, place->ip);
	if (!place->name)
		return;
	snprintf(text, sizeof(text), " %.200s+0x%llx", place->name, place->offset);
	kvm_trace_out_string(flow->out, text);
}

static void put_indent(struct kvm_trace_flow *flow, const struct thread *thread)
{
	unsigned int i;

	for (i = 0; i < thread->depth; i++)
		kvm_trace_out_string(flow->out, "  ");
}

static void put_instruction(struct kvm_trace_flow *flow, const struct thread *thread,
			    const struct kvm_trace_flow_step *step)
{
	const struct kvm_trace_place from = kvm_trace_symbols_name(flow->symbols, step->from);
	char text[4];
	__u32 i;

	begin_line(flow, thread, step->ns);
	put_place(flow, &from);
	if (step->bytes && step->size)
		kvm_trace_out_string(flow->out, "  ");
	for (i = 0; step->bytes && i < step->size; i++) {
		snprintf(text, sizeof(text), " %02x", step->bytes[i]);
		kvm_trace_out_string(flow->out, text);
	}
	kvm_trace_out_char(flow->out, '\n');
}

static void put_branch(struct kvm_trace_flow *flow, const struct thread *thread, __u64 ns,
		       const char *what, const struct kvm_trace_place *place)
{
	begin_line(flow, thread, ns);
	put_indent(flow, thread);
	kvm_trace_out_string(flow->out, what);
	put_place(flow, place);
	kvm_trace_out_char(flow->out, '\n');
}

static bool is_other_function(const struct kvm_trace_place *from,
			      const struct kvm_trace_place *to)
{
	return from->name && to->name && strcmp(from->name, to->name);
}

/* Calls and returns, and what leads elsewhere without being one. */
static void put_function(struct kvm_trace_flow *flow, struct thread *thread,
			 const struct kvm_trace_flow_step *step)
{
	const struct kvm_trace_place from = kvm_trace_symbols_name(flow->symbols, step->from);
	const struct kvm_trace_place to = kvm_trace_symbols_name(flow->symbols, step->to);
	const bool interrupt = step->flags & PERF_DLFILTER_FLAG_INTERRUPT;

	if (step->flags & PERF_DLFILTER_FLAG_CALL) {
		put_branch(flow, thread, step->ns, interrupt ? "interrupt " : "call ", &to);
		if (thread->depth < DEPTH_MAX)
			thread->depth++;
	} else if (step->flags & PERF_DLFILTER_FLAG_RETURN) {
		if (thread->depth)
			thread->depth--;
		put_branch(flow, thread, step->ns, "return ", &to);
	} else if (is_other_function(&from, &to)) {
		put_branch(flow, thread, step->ns, "jump ", &to);
	}
}

/* A stay in the guest begins or ends. */
static void see_bounds(struct kvm_trace_flow *flow, struct thread *thread,
		       const struct kvm_trace_flow_step *step)
{
	struct kvm_trace_place place;

	if (step->flags & PERF_DLFILTER_FLAG_TRACE_BEGIN) {
		put_held(flow, thread, step->ns);
		thread->inside = true;
		place = kvm_trace_symbols_name(flow->symbols, step->to);
		put_branch(flow, thread, step->ns, "enters at ", &place);
	} else if (step->flags & PERF_DLFILTER_FLAG_TRACE_END) {
		place = kvm_trace_symbols_name(flow->symbols, step->from);
		put_branch(flow, thread, step->ns, "leaves at ", &place);
		thread->inside = false;
	}
}

bool kvm_trace_flow_step(struct kvm_trace_flow *flow, const struct kvm_trace_flow_step *step)
{
	struct thread *thread = find_thread(flow, step->tid);
	const __u32 bounds = PERF_DLFILTER_FLAG_TRACE_BEGIN | PERF_DLFILTER_FLAG_TRACE_END;

	if (!thread)
		return false;
	flow->steps++;
	if (flow->only_known && !thread->known)
		return true;
	if (!step->branch) {
		if (flow->what == KVM_TRACE_FLOW_INSTRUCTIONS)
			put_instruction(flow, thread, step);
	} else if (step->flags & bounds) {
		see_bounds(flow, thread, step);
	} else if (flow->what == KVM_TRACE_FLOW_FUNCTIONS) {
		put_function(flow, thread, step);
	}
	return true;
}

__u64 kvm_trace_flow_finish(struct kvm_trace_flow *flow)
{
	size_t i;

	for (i = 0; i < flow->threads; i++)
		put_held(flow, flow->thread[i], ~0ull);
	return flow->steps;
}

struct kvm_trace_flow *kvm_trace_flow_new(struct kvm_trace_out *out, enum kvm_trace_flow_what what,
					  bool only_known,
					  const struct kvm_trace_symbols *symbols)
{
	struct kvm_trace_flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return NULL;
	flow->out = out;
	flow->what = what;
	flow->only_known = only_known;
	flow->symbols = symbols;
	return flow;
}

void kvm_trace_flow_free(struct kvm_trace_flow *flow)
{
	struct held *held;
	size_t i;

	if (!flow)
		return;
	for (i = 0; i < flow->threads; i++) {
		while ((held = flow->thread[i]->first)) {
			flow->thread[i]->first = held->next;
			free(held);
		}
		free(flow->thread[i]);
	}
	free(flow->thread);
	free(flow);
}
