// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function slices of guests, of each thread for itself. See functions.h.
 *
 * Of a stay in the guest the trace has the time at which it begins; between such times perf
 * estimates, and may be far ahead. When a stay ends, the record of the exit says. So the
 * slices of a stay wait for that record, and are fitted in between. Across exits functions
 * go on: they are ended at the exit and begun anew at the entry.
 */
#include <stdlib.h>
#include <string.h>
#include <perf/perf_dlfilter.h>
#include "functions.h"

#define FIRST_THREADS	16
#define FIRST_MARKS	64

struct frame {
	const char *name;	/* NULL: none is known */
	__u64 ip;
};

/* A slice that begins, or one that ends. */
struct mark {
	__u64 ns;
	struct frame frame;
	bool ends;
};

struct round_trip {
	__u64 exit, entry;
};

enum where {
	OUTSIDE,
	INSIDE,
	LEFT,	/* the trace of the stay has ended, its exit is not told yet */
};

/*
 * @known: records have told who it is
 * @frame: functions inside each other
 * @depth: how many
 * @deeper: calls that are in no frame
 * @open: slices that were begun in the timeline
 * @begin: of the stay
 * @last: time of the last sample of it
 * @written: time of what was written last
 * @mark: what of the stay waits
 * @trip: exits that wait, a ring
 * @first_trip: the first of them
 */
struct thread {
	__u32 tid, vm;
	__u16 vcpu;
	bool known;
	enum where where;
	struct frame frame[KVM_TRACE_FUNCTIONS_DEPTH];
	unsigned int depth, deeper, open;
	__u64 begin, last, written;
	struct mark *mark;
	size_t marks, room;
	struct round_trip trip[KVM_TRACE_FUNCTIONS_EXITS];
	size_t first_trip, trips;
};

struct kvm_trace_functions {
	struct kvm_trace_timeline *timeline;
	struct kvm_trace_symbols *symbols;
	struct thread **thread;
	size_t threads, room;
	__u64 steps;
	bool no_memory;
};

/* Threads */

static struct thread *find_thread(struct kvm_trace_functions *f, __u32 tid)
{
	struct thread **more, *thread;
	size_t i;

	for (i = 0; i < f->threads; i++)
		if (f->thread[i]->tid == tid)
			return f->thread[i];
	if (f->threads == f->room) {
		f->room = f->room ? 2 * f->room : FIRST_THREADS;
		more = realloc(f->thread, f->room * sizeof(*more));
		if (!more)
			return NULL;
		f->thread = more;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	f->thread[f->threads++] = thread;
	return thread;
}

/* Writing */

static __u64 later_of(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

static void write_mark(struct kvm_trace_functions *f, struct thread *t, const struct mark *mark,
		       __u64 ns)
{
	t->written = later_of(t->written, ns);
	if (mark->ends && t->open) {
		kvm_trace_timeline_return(f->timeline, t->vm, t->vcpu, t->written);
		t->open--;
	} else if (!mark->ends) {
		t->open += kvm_trace_timeline_call(f->timeline, t->vm, t->vcpu, t->written,
						   mark->frame.name, mark->frame.ip);
	}
}

/* All that waits; if it goes on behind @until, it is made as much shorter as it must be. */
static void write_marks(struct kvm_trace_functions *f, struct thread *t, __u64 until)
{
	const __u64 from = t->marks ? later_of(t->written, t->mark[0].ns) : 0;
	const __u64 room = until > from ? until - from : 0;
	const struct mark *mark;
	__u64 ns;

	for (mark = t->mark; mark < t->mark + t->marks; mark++) {
		ns = mark->ns;
		if (t->last > until && ns > from)
			ns = from + (__uint128_t)(ns - from) * room / (t->last - from);
		write_mark(f, t, mark, ns < until ? ns : until);
	}
	t->marks = 0;
}

/* The stay is over: at @until the guest was left. Its functions stay known. */
static void end_stay(struct kvm_trace_functions *f, struct thread *t, __u64 until)
{
	const struct mark end = { .ends = true };

	write_marks(f, t, until);
	while (t->open)
		write_mark(f, t, &end, until);
	t->where = OUTSIDE;
}

/* What comes next is not known to be called by what was before. */
static void lose(struct kvm_trace_functions *f, struct thread *t, __u64 until)
{
	const __u64 ns = t->last < until ? t->last : until;

	end_stay(f, t, ns);
	kvm_trace_timeline_trace_lost(f->timeline, t->vm, t->vcpu, t->written);
	t->depth = 0;
	t->deeper = 0;
}

/* Exits that end no stay of the trace do not matter. NULL if the stay's is not told yet. */
static const struct round_trip *find_exit(struct thread *t)
{
	const struct round_trip *trip;

	while (t->trips) {
		trip = &t->trip[t->first_trip];
		if (trip->exit >= t->begin)
			return trip;
		t->written = later_of(t->written, trip->entry);
		t->first_trip = (t->first_trip + 1) % KVM_TRACE_FUNCTIONS_EXITS;
		t->trips--;
	}
	return NULL;
}

static void end_if_told(struct kvm_trace_functions *f, struct thread *t)
{
	const struct round_trip *trip = find_exit(t);

	if (trip)
		end_stay(f, t, trip->exit);
}

/* Functions */

static void add_mark(struct kvm_trace_functions *f, struct thread *t, __u64 ns,
		     const struct frame *frame)
{
	struct mark *more;

	if (t->marks == KVM_TRACE_FUNCTIONS_MARKS)
		write_marks(f, t, ~0ull);
	if (t->marks == t->room) {
		more = realloc(t->mark, (t->room ? 2 * t->room : FIRST_MARKS) * sizeof(*more));
		if (!more) {
			f->no_memory = true;
			return;
		}
		t->room = t->room ? 2 * t->room : FIRST_MARKS;
		t->mark = more;
	}
	t->mark[t->marks++] = (struct mark){
		.ns = ns, .frame = frame ? *frame : (struct frame){}, .ends = !frame,
	};
}

static void push(struct kvm_trace_functions *f, struct thread *t,
		 const struct kvm_trace_place *place)
{
	struct frame *frame = &t->frame[t->depth];

	if (t->depth == KVM_TRACE_FUNCTIONS_DEPTH) {
		t->deeper++;
		return;
	}
	*frame = (struct frame){ .ip = place->ip };
	if (place->name) {
		frame->name = kvm_trace_symbols_keep(f->symbols, place->name);
		frame->ip -= place->offset;
		f->no_memory |= !frame->name;
	}
	t->depth++;
	add_mark(f, t, t->last, frame);
}

static void pop(struct kvm_trace_functions *f, struct thread *t)
{
	if (t->deeper) {
		t->deeper--;
	} else if (t->depth) {
		t->depth--;
		add_mark(f, t, t->last, NULL);
	}
}

static bool is_in(const struct frame *frame, const struct kvm_trace_place *place)
{
	return !place->name || !frame->name || !strcmp(frame->name, place->name);
}

/* Whether one of the frames is @place's; ends those inside of it then. */
static bool unwind(struct kvm_trace_functions *f, struct thread *t,
		   const struct kvm_trace_place *place)
{
	unsigned int depth = t->depth;

	if (t->deeper)
		return true;
	while (depth && !is_in(&t->frame[depth - 1], place))
		depth--;
	if (!depth)
		return false;
	while (t->depth > depth)
		pop(f, t);
	return true;
}

/* Went there, and not by a call. */
static void arrive(struct kvm_trace_functions *f, struct thread *t,
		   const struct kvm_trace_place *place)
{
	if (unwind(f, t, place))
		return;
	pop(f, t);
	push(f, t, place);
}

/* Enters the guest: where it was left, or in a handler of what was injected. */
static void begin_stay(struct kvm_trace_functions *f, struct thread *t,
		       const struct kvm_trace_flow_step *step, struct kvm_trace_place place)
{
	unsigned int i;

	t->where = INSIDE;
	t->begin = step->ns;
	t->last = step->ns;
	find_exit(t);
	for (i = 0; i < t->depth; i++)
		add_mark(f, t, t->last, &t->frame[i]);
	place = kvm_trace_symbols_name(f->symbols, place);
	if (!unwind(f, t, &place))
		push(f, t, &place);
}

static void follow(struct kvm_trace_functions *f, struct thread *t,
		   const struct kvm_trace_flow_step *step)
{
	const struct kvm_trace_place from = kvm_trace_symbols_name(f->symbols, step->from);
	const struct kvm_trace_place to = kvm_trace_symbols_name(f->symbols, step->to);

	if (step->flags & PERF_DLFILTER_FLAG_CALL) {
		push(f, t, &to);
	} else if (step->flags & PERF_DLFILTER_FLAG_RETURN) {
		pop(f, t);
		arrive(f, t, &to);
	} else if (from.name && to.name && strcmp(from.name, to.name)) {
		arrive(f, t, &to);
	}
}

/* What is still there of the stay before, when another one begins. */
static void end_before(struct kvm_trace_functions *f, struct thread *t, __u64 now)
{
	const struct round_trip *trip;

	if (t->where == OUTSIDE)
		return;
	trip = find_exit(t);
	if (trip && trip->exit < now)
		now = trip->exit;
	if (t->where == INSIDE)
		lose(f, t, now);
	else
		end_stay(f, t, t->last < now ? t->last : now);
}

bool kvm_trace_functions_step(struct kvm_trace_functions *functions,
			      const struct kvm_trace_flow_step *step)
{
	struct thread *t = find_thread(functions, step->tid);

	if (!t)
		return false;
	functions->steps++;
	if (!t->known || !step->branch)
		return true;
	if (step->flags & PERF_DLFILTER_FLAG_TRACE_BEGIN) {
		end_before(functions, t, step->ns);
		begin_stay(functions, t, step, step->to);
		return !functions->no_memory;
	}
	if (t->where != INSIDE) {
		end_before(functions, t, step->ns);
		begin_stay(functions, t, step, step->from);
	}
	t->last = later_of(t->last, step->ns);
	if (step->flags & PERF_DLFILTER_FLAG_TRACE_END) {
		t->where = LEFT;
		end_if_told(functions, t);
	} else {
		follow(functions, t, step);
	}
	return !functions->no_memory;
}

bool kvm_trace_functions_vcpu(struct kvm_trace_functions *functions, __u32 tid, __u32 vm,
			      __u16 vcpu)
{
	struct thread *t = find_thread(functions, tid);

	if (!t)
		return false;
	if (t->known && (t->vm != vm || t->vcpu != vcpu)) {
		end_stay(functions, t, t->last);
		t->depth = 0;
		t->deeper = 0;
		t->trips = 0;
		t->written = 0;
	}
	t->vm = vm;
	t->vcpu = vcpu;
	t->known = true;
	return true;
}

void kvm_trace_functions_exit(struct kvm_trace_functions *functions, __u32 tid, __u64 exit,
			      __u64 entry)
{
	struct thread *t = find_thread(functions, tid);
	size_t end;

	if (!t)
		return;
	if (t->trips == KVM_TRACE_FUNCTIONS_EXITS) {
		t->first_trip = (t->first_trip + 1) % KVM_TRACE_FUNCTIONS_EXITS;
		t->trips--;
	}
	end = (t->first_trip + t->trips++) % KVM_TRACE_FUNCTIONS_EXITS;
	t->trip[end] = (struct round_trip){ exit, entry };
	if (t->where == LEFT)
		end_if_told(functions, t);
}

__u64 kvm_trace_functions_finish(struct kvm_trace_functions *functions)
{
	const struct round_trip *trip;
	struct thread *t;
	size_t i;

	for (i = 0; i < functions->threads; i++) {
		t = functions->thread[i];
		if (t->where == OUTSIDE)
			continue;
		trip = find_exit(t);
		end_stay(functions, t, trip ? trip->exit : t->last);
	}
	return functions->steps;
}

struct kvm_trace_functions *kvm_trace_functions_new(struct kvm_trace_timeline *timeline,
						    struct kvm_trace_symbols *symbols)
{
	struct kvm_trace_functions *functions = calloc(1, sizeof(*functions));

	if (!functions)
		return NULL;
	functions->timeline = timeline;
	functions->symbols = symbols;
	return functions;
}

void kvm_trace_functions_free(struct kvm_trace_functions *functions)
{
	size_t i;

	if (!functions)
		return;
	for (i = 0; i < functions->threads; i++) {
		free(functions->thread[i]->mark);
		free(functions->thread[i]);
	}
	free(functions->thread);
	free(functions);
}
