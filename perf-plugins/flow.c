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

struct symbol {
	__u64 address;
	const char *name;
};

struct kvm_trace_flow {
	struct kvm_trace_out *out;
	enum kvm_trace_flow_what what;
	bool only_known;
	struct thread **thread;
	size_t threads, room;
	struct symbol *symbol;
	size_t symbols;
	char *text;	/* of kallsyms */
	__u64 steps;
};

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t size = 0, room = 1 << 20, n = 1;
	char *text = malloc(room), *more;

	while (file && text && n) {
		if (room - size < 2) {
			room *= 2;
			more = realloc(text, room);
			if (!more)
				break;
			text = more;
		}
		n = fread(text + size, 1, room - size - 1, file);
		size += n;
	}
	if (!file || !text || n || ferror(file)) {
		free(text);
		text = NULL;
	} else {
		text[size] = '\0';
	}
	if (file)
		fclose(file);
	return text;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *one = a, *two = b;

	return one->address < two->address ? -1 : one->address > two->address;
}

/* "ADDRESS TYPE NAME"; a module's have its name behind that. */
static bool add_symbol(struct kvm_trace_flow *flow, char *line)
{
	struct symbol *more;
	char *end, *name;
	__u64 address = strtoull(line, &end, 16);

	if (end == line || *end != ' ' || !end[1] || end[2] != ' ')
		return true;
	if (!strchr("tTwW", end[1]) || !address)
		return true;
	name = end + 3;
	name[strcspn(name, " \t")] = '\0';
	if (!(flow->symbols & (flow->symbols - 1))) {
		more = realloc(flow->symbol, (2 * flow->symbols + 1) * sizeof(*more));
		if (!more)
			return false;
		flow->symbol = more;
	}
	flow->symbol[flow->symbols++] = (struct symbol){ address, name };
	return true;
}

/* Returns what is wrong, or NULL. */
static const char *read_kallsyms(struct kvm_trace_flow *flow, const char *path)
{
	char *line, *next;

	flow->text = read_all(path);
	if (!flow->text)
		return "it cannot be read: give a copy of the guest's /proc/kallsyms";
	for (line = flow->text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (!add_symbol(flow, line))
			return "no memory: end other programs";
	}
	if (!flow->symbols)
		return "no functions in it: copy the guest's /proc/kallsyms as root";
	qsort(flow->symbol, flow->symbols, sizeof(*flow->symbol), by_address);
	return NULL;
}

/* Names of the guest's kernel; what perf says itself of its addresses comes first. */
static struct kvm_trace_flow_place name(const struct kvm_trace_flow *flow,
					struct kvm_trace_flow_place place)
{
	size_t low = 0, high = flow->symbols, middle;

	if (place.name || !(place.ip >> 63))
		return place;
	while (low < high) {
		middle = (low + high) / 2;
		if (flow->symbol[middle].address <= place.ip)
			low = middle + 1;
		else
			high = middle;
	}
	if (low) {
		place.name = flow->symbol[low - 1].name;
		place.offset = place.ip - flow->symbol[low - 1].address;
	}
	return place;
}

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

static void put_place(struct kvm_trace_flow *flow, const struct kvm_trace_flow_place *place)
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
	const struct kvm_trace_flow_place from = name(flow, step->from);
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
		       const char *what, const struct kvm_trace_flow_place *place)
{
	begin_line(flow, thread, ns);
	put_indent(flow, thread);
	kvm_trace_out_string(flow->out, what);
	put_place(flow, place);
	kvm_trace_out_char(flow->out, '\n');
}

static bool is_other_function(const struct kvm_trace_flow_place *from,
			      const struct kvm_trace_flow_place *to)
{
	return from->name && to->name && strcmp(from->name, to->name);
}

/* Calls and returns, and what leads elsewhere without being one. */
static void put_function(struct kvm_trace_flow *flow, struct thread *thread,
			 const struct kvm_trace_flow_step *step)
{
	const struct kvm_trace_flow_place from = name(flow, step->from), to = name(flow, step->to);
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
	struct kvm_trace_flow_place place;

	if (step->flags & PERF_DLFILTER_FLAG_TRACE_BEGIN) {
		put_held(flow, thread, step->ns);
		thread->inside = true;
		place = name(flow, step->to);
		put_branch(flow, thread, step->ns, "enters at ", &place);
	} else if (step->flags & PERF_DLFILTER_FLAG_TRACE_END) {
		place = name(flow, step->from);
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
					  bool only_known, const char *kallsyms,
					  const char **remedy)
{
	struct kvm_trace_flow *flow = calloc(1, sizeof(*flow));

	*remedy = flow ? NULL : "no memory: end other programs";
	if (!flow)
		return NULL;
	flow->out = out;
	flow->what = what;
	flow->only_known = only_known;
	if (kallsyms)
		*remedy = read_kallsyms(flow, kallsyms);
	if (!*remedy)
		return flow;
	kvm_trace_flow_free(flow);
	return NULL;
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
	free(flow->symbol);
	free(flow->text);
	free(flow);
}
