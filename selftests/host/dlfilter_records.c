// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvm-trace.so as perf script runs it: lines of single events and of batches, their
 * order, damage, versions, reports and bounds. Recordings are made here, with the
 * module's encoder of batches, of several vCPUs side by side.
 *
 *	dlfilter_records FILTER
 */
#include "types.h"
#include "batch_check.h"
#include "batch_lines.h"
#include "decode_encode.h"
#include "json_check.h"
#include "perf_host.h"
#include "../../perf-plugins/order.h"

#include "../../kvm-trace/batch_encode.c"

#define VMS		3
#define VCPUS_OF_VM	2
#define VCPUS		(VMS * VCPUS_OF_VM)
#define ROUND_TRIPS	6000
#define SECOND		1000000000ull
#define WORDS							\
	(KVM_TRACE_W_RIP | KVM_TRACE_W_GPA | KVM_TRACE_W_GUEST_NS |	\
	 KVM_TRACE_W_USER_NS | KVM_TRACE_W_RUNNABLE_NS |		\
	 KVM_TRACE_W_MSR | KVM_TRACE_W_CPUID_LEAF)
#define KINDS_MAX	64
#define REFUSED							\
	", only 1 is known here: use the kvm-trace.so of the kvm_trace that made them\n"
#define DLARGS	" report timeline by= sort= rows= json every= vm= pid= names= single batch" \
	" flow= kallsyms= progress= itrace"
#define UNKNOWN	"items of batches not known here: a newer kvm_trace made them\n"
#define MISSING	"lost, filtered, or shorter than min_host_ns"

/* A sample, as perf hands it on. */
struct sample {
	const char *event;
	u64 time;
	u64 n;		/* when it was made */
	size_t size;
	u8 *raw;
};

/*
 * A record as its line must be. Its place is that of the time @key; @n tells the
 * order on one vCPU.
 */
struct line {
	u64 ns;
	u64 key;
	u32 vm;
	u16 vcpu;
	bool other;	/* neither in single events of round trips, nor in batches */
	u64 n;
	struct sample sample;
};

struct guest {
	u32 vm;
	u16 id;
	u32 seq;
	u64 now;
	u64 latest;	/* what @now was at most */
	u64 begun;	/* when its batch was */
	struct kvm_trace_batch batch;
};

static struct guest guests[VCPUS];
static struct sample *samples;
static struct line *lines;
static size_t nr_samples, nr_lines, room;
static size_t without_state;	/* exits that no record counter tells of */
static char *expected;
static struct perf_host perf;

/* The recording */

static bool one_in(unsigned int n)
{
	return random_64() % n == 0;
}

static struct sample add_sample(const char *event, u64 time, const void *raw, size_t size)
{
	struct sample *s;

	if (nr_samples == room) {
		room = room ? 2 * room : 1024;
		samples = realloc(samples, room * sizeof(*samples));
		lines = realloc(lines, room * sizeof(*lines));
		if (!samples || !lines)
			tap_die("no memory");
	}
	s = &samples[nr_samples];
	s->event = event;
	s->time = time;
	s->n = nr_samples++;
	s->size = size;
	/* Of just its size, for AddressSanitizer. */
	s->raw = malloc(size);
	if (!s->raw)
		tap_die("no memory");
	memcpy(s->raw, raw, size);
	return *s;
}

static void add_line(struct guest *g, u64 ns, bool other, struct sample sample)
{
	if (!other && ns > g->latest)
		g->latest = ns;
	lines[nr_lines] = (struct line){ ns, other ? ns : g->latest, g->vm, g->id, other,
					 nr_lines, sample };
	nr_lines++;
}

static void add_single(struct guest *g, const char *event, u64 time, u64 ns, bool other,
		       const struct record *r)
{
	add_line(g, ns, other, add_sample(event, time, r->bytes, r->size));
}

static void finish_batch(struct guest *g, u64 time)
{
	u32 size;

	if (!g->batch.event.count)
		return;
	size = kvm_trace_batch_finish(&g->batch);
	add_sample("kvm_trace_batch:vmexits", time, &g->batch.event, size);
	g->batch.event.count = 0;
}

static void encode_who(struct record *r, const struct guest *g, u8 abi_version)
{
	const struct kvm_trace_vcpu c = {
		.vm = g->vm, .vcpu = g->id, .seq = g->seq, .vmm_pid = 1000 + g->vm,
		.vmm_tid = 2000 + g->id, .tsc_ratio = 1ull << 32, .isa = KVM_TRACE_ISA_SVM,
		.abi_version = abi_version, .name = { "1-2", 3 }, .vmm = { "vmm", 3 },
	};

	encode_vcpu(r, &c);
}

/* One that was due at an entry that ended no round trip: the next one replaces it. */
static void replaced_vcpu_record(struct guest *g, u64 time)
{
	struct record r;

	encode_who(&r, g, KVM_TRACE_ABI_VERSION);
	add_sample("kvm_trace:vcpu", time, r.bytes, r.size);
}

static void vcpu_record(struct guest *g, u64 ns, u64 time, u8 abi_version)
{
	struct record r;

	encode_who(&r, g, abi_version);
	add_single(g, "kvm_trace:vcpu", time, ns, false, &r);
	kvm_trace_batch_put_vcpu(&g->batch, r.bytes + 8);
}

static void hypercall_record(struct guest *g, u64 ns, u64 time, u64 host_ns)
{
	struct kvm_trace_hypercall h = {
		.vm = g->vm, .vcpu = g->id, .seq = g->seq, .nr = 5, .abi = KVM_TRACE_ABI_KVM,
		.present = KVM_TRACE_HC_W_NS | KVM_TRACE_HC_W_RIP | 2, .ns = host_ns,
		.rip = random_64(), .arg = { g->seq },
	};
	struct record r;

	encode_hypercall(&r, &h);
	add_single(g, "kvm_trace:hypercall", time, ns, false, &r);
	kvm_trace_batch_put_hypercall(&g->batch, h.abi, h.caller, h.nr, h.present,
				      r.bytes + KVM_TRACE_HYPERCALL_SIZE);
}

static void sub_record(struct guest *g, u64 time)
{
	struct kvm_trace_hypercall_sub sub = {
		.vm = g->vm, .vcpu = g->id, .seq = g->seq, .nr = 2, .abi = KVM_TRACE_ABI_HYPERV,
		.kind = KVM_TRACE_SUB_KIND_GVA_RANGE, .present = 2, .arg = { 0x1000 },
	};
	struct record r;

	encode_hypercall_sub(&r, &sub);
	add_single(g, "kvm_trace_detail:hypercall_sub", time, time, true, &r);
}

static void lost_record(struct guest *g, u64 time)
{
	struct kvm_trace_lost l = { .count = 1, .since = time, .vm = g->vm, .vcpu = g->id };
	struct record r;

	l.why = one_in(2) ? KVM_TRACE_LOST_NO_BUFFER : KVM_TRACE_LOST_NO_STATE;
	without_state += l.why == KVM_TRACE_LOST_NO_STATE;
	encode_lost(&r, &l);
	add_single(g, "kvm_trace:lost", time, time, true, &r);
}

static void vmexit_words(struct kvm_trace_vmexit *v, u64 *word)
{
	static const u64 some[] = { 0, KVM_TRACE_W_RIP, WORDS, WORDS & ~KVM_TRACE_W_GPA };

	v->have |= some[random_64() % ARRAY_SIZE(some)];
	v->rip = 0xffffffff81000000ull + random_64() % 4096;
	v->gpa = random_64() >> 20;
	v->msr = 0x10;
	v->cpuid_leaf = random_64() % 8;
	v->user_ns = 1 + random_64() % v->host_ns;
	v->runnable_ns = 1 + random_64() % v->host_ns;
	word[__builtin_ctzll(KVM_TRACE_W_RIP)] = v->rip;
	word[__builtin_ctzll(KVM_TRACE_W_GPA)] = v->gpa;
	word[__builtin_ctzll(KVM_TRACE_W_GUEST_NS)] = v->guest_ns;
	word[__builtin_ctzll(KVM_TRACE_W_USER_NS)] = v->user_ns;
	word[__builtin_ctzll(KVM_TRACE_W_RUNNABLE_NS)] = v->runnable_ns;
	word[__builtin_ctzll(KVM_TRACE_W_MSR)] = v->msr;
	word[__builtin_ctzll(KVM_TRACE_W_CPUID_LEAF)] = v->cpuid_leaf;
	word[__builtin_ctzll(KVM_TRACE_W_ENTRY_NS)] = v->entry_ns;
}

/* As the module does it: all of one VM entry, in single events and in the batch. */
static void round_trip(struct guest *g, bool entry_ns, bool more)
{
	static const struct {
		u16 reason;
		u8 class;
	} kinds[] = {
		{ 0x72, KVM_TRACE_CLASS_cpuid },
		{ 0x7c, KVM_TRACE_CLASS_msr_read },
		{ 0x7c, KVM_TRACE_CLASS_msr_write },
		{ 0x78, KVM_TRACE_CLASS_hlt },
		{ 0x81, KVM_TRACE_CLASS_hypercall },
	};
	unsigned int kind = random_64() % ARRAY_SIZE(kinds);
	u64 word[64] = { 0 };
	struct kvm_trace_vmexit v = { .have = entry_ns ? KVM_TRACE_W_ENTRY_NS : 0 };
	struct kvm_trace_batch_trip trip = { .word = word, .from = g->now, .seq = g->seq };
	struct record r;
	u64 ns;

	trip.exit = g->now + 1000 + random_64() % (1ull << random_64() % 21);
	trip.entry = trip.exit + 300 + random_64() % 1000000;
	/* Some of several vCPUs at the same time. */
	if (one_in(2))
		trip.entry |= 0xfffff;
	g->now = trip.entry;
	/* Not quite what the stamps say: local_clock() is read at another moment. */
	ns = trip.entry + (entry_ns ? random_64() % 2 : 0);
	v.host_ns = trip.entry - trip.exit;
	v.guest_ns = trip.exit - trip.from;
	v.entry_ns = ns;
	v.vm = g->vm;
	v.vcpu = g->id;
	v.seq = g->seq;
	v.isa = KVM_TRACE_ISA_SVM;
	v.reason = kinds[kind].reason;
	v.class = kinds[kind].class;
	v.flags = one_in(3) ? KVM_TRACE_F_USERSPACE : 0;
	vmexit_words(&v, word);
	if (!g->batch.event.count) {
		kvm_trace_batch_begin(&g->batch, 1, 0, 0, g->seq, trip.from, trip.from);
		g->begun = trip.from;
	}
	trip.key = kvm_trace_batch_key(v.reason, v.flags, v.class);
	trip.words = v.have;
	kvm_trace_batch_put(&g->batch, &trip);
	if (more && (g->seq == 5 || one_in(50))) {
		if (one_in(3))
			replaced_vcpu_record(g, trip.exit + 1);
		vcpu_record(g, ns, g->now + 20, KVM_TRACE_ABI_VERSION);
	}
	if (more && kind == 4) {
		if (one_in(3))
			sub_record(g, trip.exit + 5);
		hypercall_record(g, ns, g->now + 30, v.host_ns);
	}
	encode_vmexit(&r, &v);
	add_single(g, "kvm_trace:vmexit", g->now + 40 + random_64() % 100,
		   entry_ns ? ns : g->now, false, &r);
	if (more && one_in(200))
		lost_record(g, g->now + 60);
	g->seq++;
	/* Or the vCPU sleeps, and its batch comes when it is old. */
	ns = one_in(60) ? random_64() % SECOND : 0;
	g->now += ns;
	if (g->batch.len > KVM_TRACE_BATCH_FULL || ns ||
	    g->now - g->begun > KVM_TRACE_BATCH_AGE_MS * 1000000ull)
		finish_batch(g, g->now + 200);
}

static int by_time(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->n < y->n ? -1 : 1;
}

static int by_place(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->vm != y->vm)
		return x->vm < y->vm ? -1 : 1;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	if (x->other != y->other)
		return y->other ? -1 : 1;
	return x->n < y->n ? -1 : 1;
}

/* The line of a record, by the decoder; pids are known from vcpu records before. */
static int line_text(const struct line *l, u32 *pids, char *buf, size_t size)
{
	const struct sample *s = &l->sample;
	char text[KVM_TRACE_TEXT_SIZE];
	struct kvm_trace_hypercall_sub sub;
	struct kvm_trace_hypercall h;
	struct kvm_trace_vmexit v;
	struct kvm_trace_vcpu c;
	struct kvm_trace_lost lost;

	if (!strcmp(s->event, "kvm_trace:vmexit")) {
		kvm_trace_vmexit_record(&v, s->raw, s->size);
		v.have &= ~KVM_TRACE_W_ENTRY_NS;
		kvm_trace_vmexit_text(&v, pids[l->vm], text, sizeof(text));
	} else if (!strcmp(s->event, "kvm_trace:hypercall")) {
		kvm_trace_hypercall_record(&h, s->raw, s->size);
		kvm_trace_hypercall_text(&h, pids[l->vm], text, sizeof(text));
	} else if (!strcmp(s->event, "kvm_trace:vcpu")) {
		kvm_trace_vcpu_record(&c, s->raw, s->size);
		pids[l->vm] = c.vmm_pid;
		kvm_trace_vcpu_text(&c, text, sizeof(text));
	} else if (!strcmp(s->event, "kvm_trace:lost")) {
		kvm_trace_lost_record(&lost, s->raw, s->size);
		kvm_trace_lost_text(&lost, pids[l->vm], text, sizeof(text));
	} else {
		kvm_trace_hypercall_sub_record(&sub, s->raw, s->size);
		kvm_trace_hypercall_sub_text(&sub, pids[l->vm], text, sizeof(text));
	}
	return snprintf(buf, size, "%llu.%09llu: %s: %s\n", l->ns / SECOND, l->ns % SECOND,
			s->event, text);
}

static void expect_lines(void)
{
	u32 pids[VMS + 1] = { 0 };
	size_t i, len = 0, size = nr_lines * 400 + 1;

	qsort(lines, nr_lines, sizeof(*lines), by_place);
	free(expected);
	expected = calloc(1, size);
	if (!expected)
		tap_die("no memory");
	for (i = 0; i < nr_lines; i++)
		len += line_text(&lines[i], pids, expected + len, size - len);
	if (len >= size)
		tap_die("lines that are too long");
}

static void forget_samples(void)
{
	size_t i;

	for (i = 0; i < nr_samples; i++)
		free(samples[i].raw);
	nr_samples = 0;
	nr_lines = 0;
	without_state = 0;
}

/* Whether the clock may go back when a vCPU moves to another CPU. */
static bool clock_goes_back;
/* Whether round trips are lost, in batches and in single events alike. */
static bool some_are_lost;

/* @entry_ns: single events have the word; @more: also events beside vmexit */
static void record_run(unsigned int round_trips, bool entry_ns, bool more)
{
	struct guest *g, *next;
	u64 end = 0;

	forget_samples();
	memset(guests, 0, sizeof(guests));
	for (g = guests; g < guests + VCPUS; g++) {
		g->vm = 1 + (g - guests) / VCPUS_OF_VM;
		g->id = (g - guests) % VCPUS_OF_VM;
		g->seq = 5;
		g->now = 10 * SECOND + random_64() % 1000000;
		g->batch.event.vm = g->vm;
		g->batch.event.vcpu = g->id;
		g->batch.event.isa = KVM_TRACE_ISA_SVM;
	}
	while (round_trips--) {
		next = guests;
		for (g = guests; g < guests + VCPUS; g++)
			if (g->now < next->now)
				next = g;
		round_trip(next, entry_ns, more);
		if (some_are_lost && one_in(50))
			next->seq += 1 + random_64() % 3;
		if (clock_goes_back && one_in(100))
			next->now -= random_64() % 4000000;
		if (next->now > end)
			end = next->now;
	}
	for (g = guests; g < guests + VCPUS; g++)
		finish_batch(g, end + SECOND);
	qsort(samples, nr_samples, sizeof(*samples), by_time);
	expect_lines();
}

/* Running the filter */

enum which { SINGLES = 1, BATCHES = 2, BOTH = 3 };

static bool is_of(const struct sample *s, enum which which)
{
	if (!strcmp(s->event, "kvm_trace_batch:vmexits"))
		return which & BATCHES;
	if (!strcmp(s->event, "kvm_trace:vmexit") || !strcmp(s->event, "kvm_trace:hypercall") ||
	    !strcmp(s->event, "kvm_trace:vcpu"))
		return which & SINGLES;
	return true;
}

/* The status of the last sample; what the filter prints is in perf.out and perf.err. */
static int run(enum which which, const char *arg, const char *arg2)
{
	int status = perf_begin(&perf, arg, arg2);
	size_t i;

	for (i = 0; i < nr_samples && status >= 0; i++) {
		if (!is_of(&samples[i], which))
			continue;
		/* As if an interrupt of the guest had emitted it. */
		if (!strcmp(samples[i].event, "kvm_trace_batch:vmexits") && one_in(3))
			perf.cpumode = PERF_RECORD_MISC_GUEST_KERNEL;
		status = perf_sample(&perf, samples[i].event, samples[i].time, samples[i].raw,
				     samples[i].size);
		perf.cpumode = PERF_RECORD_MISC_KERNEL;
	}
	perf_end(&perf);
	return status;
}

static void expect_text(const char *what, const char *found, const char *wanted)
{
	const char *line = wanted;
	size_t i;

	for (i = 0; found[i] && found[i] == wanted[i]; i++)
		if (wanted[i] == '\n')
			line = wanted + i + 1;
	tap_expect(found[i] == wanted[i], "%s: found \"%.*s\", expected \"%.*s\"", what,
		   (int)strcspn(found + (line - wanted), "\n"), found + (line - wanted),
		   (int)strcspn(line, "\n"), line);
}

static void expect_run(const char *what, enum which which, const char *arg, const char *errors)
{
	int status = run(which, arg, NULL);

	tap_expect(status == 1, "%s: status %d", what, status);
	expect_text(what, perf.out, expected);
	expect_text(what, perf.err, errors);
}

/* Tests */

static size_t count_of(const char *event)
{
	size_t i, n = 0;

	for (i = 0; i < nr_samples; i++)
		n += !strcmp(samples[i].event, event);
	return n;
}

static void same_lines(void)
{
	char errors[128];

	tap_begin("batches_give_the_lines_of_their_single_events_in_the_same_order");
	record_run(ROUND_TRIPS, true, true);
	tap_note("%zu lines of %u vCPUs, %zu batches", nr_lines, VCPUS,
		 count_of("kvm_trace_batch:vmexits"));
	snprintf(errors, sizeof(errors),
		 "kvm-trace: %zu exits for which the module had no record\n",
		 without_state);
	expect_run("single events", SINGLES, NULL, errors);
	expect_run("batches", BATCHES, NULL, errors);
	expect_run("single events of both", BOTH, "single", errors);
	expect_run("batches of both", BOTH, "batch", errors);
	expect_run("both", BOTH, NULL, errors);
	tap_end();
}

static void clock_back(void)
{
	char errors[256];

	tap_begin("they_do_so_too_where_the_clock_goes_back_and_say_it");
	clock_goes_back = true;
	record_run(ROUND_TRIPS, true, false);
	clock_goes_back = false;
	run(BATCHES, NULL, NULL);
	snprintf(errors, sizeof(errors), "%s", perf.err);
	tap_expect(strstr(errors, "records behind later ones"), "said \"%s\"", errors);
	expect_run("batches", BATCHES, NULL, errors);
	expect_run("single events", SINGLES, NULL, errors);
	expect_run("both", BOTH, NULL, errors);
	tap_end();
}

/* Each line's text without its time, which is the sample's. */
static void sample_times(void)
{
	size_t i;

	tap_begin("single_events_without_entry_ns_have_the_time_of_their_sample");
	record_run(500, false, false);
	expect_run("batches", BATCHES, NULL, "");
	for (i = 0; i < nr_lines; i++) {
		lines[i].ns = lines[i].sample.time;
		lines[i].key = lines[i].ns;
	}
	expect_lines();
	expect_run("single events", SINGLES, NULL, "");
	tap_end();
}

/* Single events of a round trip have its time, whichever of them are there. */
static void lone_events(void)
{
	struct guest *g = &guests[0];
	struct sample *late;
	size_t i, n = 0;

	tap_begin("events_whose_vmexit_is_missing_have_the_time_of_their_sample");
	record_run(500, true, true);
	for (i = 0; i < nr_lines; i++) {
		if (!strcmp(lines[i].sample.event, "kvm_trace:vmexit"))
			continue;
		lines[i].ns = lines[i].sample.time;
		lines[i].key = lines[i].ns;
		lines[n++] = lines[i];
	}
	nr_lines = n;
	expect_lines();
	perf_begin(&perf, NULL, NULL);
	for (i = 0; i < nr_samples; i++)
		if (is_of(&samples[i], SINGLES) && strcmp(samples[i].event, "kvm_trace:vmexit"))
			perf_sample(&perf, samples[i].event, samples[i].time, samples[i].raw,
				    samples[i].size);
	/* Behind them one that they do not belong to, when they are gone. */
	round_trip(g, true, false);
	late = &samples[nr_samples - 1];
	perf_sample(&perf, "kvm_trace:lost", late->time + 50 * SECOND, late->raw,
		    KVM_TRACE_LOST_SIZE);
	perf_sample(&perf, late->event, late->time + 100 * SECOND, late->raw, late->size);
	perf_sample(&perf, late->event, late->time + 200 * SECOND, late->raw, late->size);
	perf_end(&perf);
	tap_expect(!strncmp(perf.out, expected, strlen(expected)), "lines are others");
	tap_end();
}

static struct sample *batch_of(const struct guest *g, unsigned int n)
{
	u32 vm;
	u16 id;
	size_t i;

	for (i = 0; i < nr_samples; i++) {
		if (strcmp(samples[i].event, "kvm_trace_batch:vmexits"))
			continue;
		memcpy(&vm, samples[i].raw + 32, sizeof(vm));
		memcpy(&id, samples[i].raw + 48, sizeof(id));
		if (vm == g->vm && id == g->id && !n--)
			return &samples[i];
	}
	tap_die("too few batches");
}

static void gaps(void)
{
	struct sample *gone, save;
	char errors[256];
	u16 count;

	tap_begin("gaps_of_record_counters_are_counted_and_single_events_fill_them");
	record_run(3000, true, false);
	gone = batch_of(&guests[2], 1);
	memcpy(&count, gone->raw + 50, sizeof(count));
	save = *gone;
	gone->event = "kvm_trace_batch:gone";
	snprintf(errors, sizeof(errors),
		 "kvm-trace: %u round trips missing in 1 gaps: " MISSING "\n", count);
	run(BATCHES, NULL, NULL);
	tap_expect(strstr(perf.err, errors), "said \"%s\" and not \"%s\"", perf.err, errors);
	tap_expect(strstr(perf.err, "1 samples of other events"), "said \"%s\"", perf.err);
	run(BOTH, NULL, NULL);
	expect_text("both", perf.out, expected);
	expect_text("both", perf.err, "kvm-trace: 1 samples of other events not shown\n");
	*gone = save;
	tap_end();

	tap_begin("only_the_chosen_of_single_events_and_batches_count");
	gone->event = "kvm_trace_batch:gone";
	run(BOTH, "batch", NULL);
	tap_expect(strstr(perf.err, errors), "batch: said \"%s\"", perf.err);
	*gone = save;
	gone = samples;
	while (strcmp(gone->event, "kvm_trace:vmexit") || gone < samples + nr_samples / 2)
		gone++;
	save = *gone;
	gone->event = "kvm_trace:gone";
	run(BOTH, "single", NULL);
	tap_expect(strstr(perf.err, "kvm-trace: 1 round trips missing in 1 gaps"),
		   "single: said \"%s\"", perf.err);
	*gone = save;
	tap_end();

	tap_begin("reports_count_gaps_as_lines_do");
	some_are_lost = true;
	record_run(3000, false, true);
	some_are_lost = false;
	run(SINGLES, NULL, NULL);
	tap_expect(strstr(perf.err, "round trips missing"), "said \"%s\"", perf.err);
	snprintf(errors, sizeof(errors), "%s", perf.err);
	run(BATCHES, NULL, NULL);
	expect_text("lines", perf.err, errors);
	run(BATCHES, "report", NULL);
	expect_text("report", perf.err, errors);
	run(SINGLES, "report", NULL);
	expect_text("report of single events", perf.err, errors);
	tap_end();

	tap_begin("record_counters_that_go_back_are_counted");
	gone = batch_of(&guests[2], 1);
	perf_begin(&perf, NULL, NULL);
	perf_sample(&perf, gone->event, gone->time, gone->raw, gone->size);
	perf_sample(&perf, gone->event, gone->time, gone->raw, gone->size);
	perf_end(&perf);
	tap_expect(strstr(perf.err, "kvm-trace: 1 times a record counter went back"),
		   "said \"%s\"", perf.err);
	tap_end();
}

/* The batch that is damaged, and the next one of that vCPU, which is read. */
static struct sample *first, *second;

static void begin_damage(void)
{
	size_t n = 0, i;
	u16 count;
	u32 seq;

	record_run(2000, true, false);
	first = batch_of(&guests[0], 0);
	second = batch_of(&guests[0], 1);
	memcpy(&seq, second->raw + 36, sizeof(seq));
	memcpy(&count, second->raw + 50, sizeof(count));
	for (i = 0; i < nr_lines; i++) {
		struct kvm_trace_vmexit v;

		kvm_trace_vmexit_record(&v, lines[i].sample.raw, lines[i].sample.size);
		if (lines[i].vm == guests[0].vm && lines[i].vcpu == guests[0].id &&
		    v.seq - seq < count)
			lines[n++] = lines[i];
	}
	nr_lines = n;
	expect_lines();
	perf_begin(&perf, NULL, NULL);
}

static int end_damage(void)
{
	int status = perf_sample(&perf, second->event, second->time, second->raw, second->size);

	perf_end(&perf);
	expect_text("the batch behind damaged ones", perf.out, expected);
	return status;
}

/* The sum of what messages count. */
static u64 counted(const char *messages)
{
	u64 sum = 0;

	while ((messages = strstr(messages, "kvm-trace: "))) {
		messages += strlen("kvm-trace: ");
		sum += strtoull(messages, NULL, 10);
	}
	return sum;
}

static void damage(void)
{
	char errors[128];
	size_t n, size;
	int status = 1;
	u8 *copy;

	tap_begin("batches_with_any_bit_flipped_are_counted_and_the_next_is_read");
	begin_damage();
	for (n = 8 * 8; n < 8 * first->size && status == 1; n++) {
		first->raw[n / 8] ^= 1 << n % 8;
		status = perf_sample(&perf, first->event, first->time, first->raw, first->size);
		first->raw[n / 8] ^= 1 << n % 8;
	}
	status = end_damage();
	tap_expect(status == 1, "status %d", status);
	tap_expect(counted(perf.err) == 8 * (first->size - 8), "of %zu bits: %s",
		   8 * (first->size - 8), perf.err);
	tap_note("%zu bits", 8 * (first->size - 8));
	tap_end();

	tap_begin("batches_cut_at_any_length_are_counted_and_the_next_is_read");
	begin_damage();
	for (size = 0; size < first->size; size++) {
		copy = malloc(size);
		memcpy(copy, first->raw, size);
		perf_sample(&perf, first->event, first->time, copy, size);
		free(copy);
	}
	snprintf(errors, sizeof(errors), "kvm-trace: %zu batches left out: their end is missing\n",
		 first->size);
	status = end_damage();
	tap_expect(status == 1, "status %d", status);
	expect_text("messages", perf.err, errors);
	tap_end();

	tap_begin("batches_damaged_inside_give_what_is_before_and_are_counted");
	begin_damage();
	copy = malloc(first->size);
	memcpy(copy, first->raw, first->size);
	batch_put_right(copy, first->size - 1);
	perf_sample(&perf, first->event, first->time, copy, first->size - 1);
	free(copy);
	perf_sample(&perf, second->event, second->time, second->raw, second->size);
	perf_end(&perf);
	tap_expect(strstr(perf.out, expected) > perf.out, "not what is before and behind");
	tap_expect(strstr(perf.err, "kvm-trace: 1 batches damaged, and left out from there on\n"),
		   "said \"%s\"", perf.err);
	tap_end();

	tap_begin("single_events_cut_short_are_counted_and_the_next_is_read");
	begin_damage();
	perf_sample(&perf, "kvm_trace:vmexit", first->time, first->raw, KVM_TRACE_VMEXIT_SIZE - 1);
	perf_sample(&perf, "kvm_trace:vcpu", first->time, first->raw, KVM_TRACE_VCPU_SIZE - 1);
	status = end_damage();
	tap_expect(status == 1, "status %d", status);
	expect_text("messages", perf.err,
		    "kvm-trace: 2 single events left out: shorter than their fields\n");
	tap_end();
}

static void versions(void)
{
	static const char batch_text[] = "kvm-trace: batches of version 2" REFUSED;
	static const char abi_text[] = "kvm-trace: records of version 2" REFUSED;
	struct guest *g = &guests[0];
	int status;

	tap_begin("other_versions_of_batches_are_refused");
	begin_damage();
	first->raw[53] = 2;
	batch_put_right(first->raw, first->size);
	status = perf_sample(&perf, first->event, first->time, first->raw, first->size);
	tap_expect(status < 0, "status %d", status);
	perf_end(&perf);
	expect_text("message", perf.err, batch_text);
	expect_text("lines", perf.out, "");
	tap_end();

	tap_begin("other_versions_of_records_are_refused");
	record_run(0, true, false);
	round_trip(g, true, false);
	vcpu_record(g, g->now, g->now + 20, 2);
	finish_batch(g, g->now + 300);
	qsort(samples, nr_samples, sizeof(*samples), by_time);
	status = run(SINGLES, NULL, NULL);
	tap_expect(status < 0, "status %d", status);
	expect_text("single events", perf.err, abi_text);
	run(BATCHES, NULL, NULL);
	expect_text("batches", perf.err, abi_text);
	tap_end();
}

static size_t lines_in(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Of the report: what each row must say, counted here. */
struct sum {
	u32 vm;
	u64 code;
	u8 class;
	struct kvm_trace_times times;
};

static size_t sum_up(struct sum *sums)
{
	struct kvm_trace_vmexit v;
	size_t i, k, n = 0;

	for (i = 0; i < nr_lines; i++) {
		if (strcmp(lines[i].sample.event, "kvm_trace:vmexit"))
			continue;
		kvm_trace_vmexit_record(&v, lines[i].sample.raw, lines[i].sample.size);
		for (k = 0; k < n; k++)
			if (sums[k].vm == v.vm && sums[k].code == v.reason &&
			    sums[k].class == v.class)
				break;
		if (k == n)
			sums[n++] = (struct sum){ v.vm, v.reason, v.class, { 0 } };
		kvm_trace_times_add(&sums[k].times, v.host_ns);
		if (v.have & KVM_TRACE_W_USER_NS)
			sums[k].times.user += v.user_ns;
	}
	return n;
}

static void report_row(const struct sum *s, char *buf, size_t size)
{
	const struct kvm_trace_times *t = &s->times;
	const u64 times[] = {
		t->host, (t->host + t->count / 2) / t->count, t->min,
		kvm_trace_times_quantile(t, 50), kvm_trace_times_quantile(t, 99), t->max,
		t->host - t->user, t->user,
	};
	char text[ARRAY_SIZE(times)][32];
	size_t i, len;

	len = snprintf(buf, size, "%u %u %s %s %llu", s->vm, 1000 + s->vm,
		       kvm_trace_class_name(s->class),
		       kvm_trace_reason_name(KVM_TRACE_ISA_SVM, s->code), t->count);
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		kvm_trace_time_text(times[i], text[i], sizeof(text[i]));
		len += snprintf(buf + len, size - len, " %s", text[i]);
	}
}

/* A row with one blank between its columns, and without its rate and its shares. */
static void squeeze(const char *line, char *buf, size_t size)
{
	char copy[512], *word, *state;
	size_t len = 0;

	snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(line, "\n"), line);
	*buf = '\0';
	for (word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state))
		if (!strchr(word, '%') && (!strchr(word, '.') || word[strspn(word, "0123456789.")]))
			len += snprintf(buf + len, size - len, "%s%s", len ? " " : "", word);
}

static int by_total(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->vm != y->vm)
		return x->vm < y->vm ? -1 : 1;
	return x->times.host > y->times.host ? -1 : 1;
}

/* Row by row, behind the head. */
static void expect_report(const char *what, const struct sum *sums, size_t n)
{
	const char *line = strchr(perf.out, '\n');
	char wanted[256], found[512];
	u64 count = 0;
	size_t i;

	for (i = 0; i < n && line; i++) {
		report_row(&sums[i], wanted, sizeof(wanted));
		squeeze(line + 1, found, sizeof(found));
		/* RUNNABLE and GUEST are behind that. */
		tap_expect(!strncmp(found, wanted, strlen(wanted)), "%s: row \"%s\", not \"%s\"",
			   what, found, wanted);
		count += sums[i].times.count;
		line = strchr(line + 1, '\n');
	}
	if (!tap_expect(line, "%s: too few rows: %s", what, perf.out))
		return;
	snprintf(wanted, sizeof(wanted), "all %llu ", count);
	squeeze(line + 1, found, sizeof(found));
	tap_expect(!strncmp(found, wanted, strlen(wanted)), "%s: last row %s", what, found);
	tap_expect(lines_in(line + 1) == 1, "%s: more than that: %s", what, line + 1);
}

static void reports(void)
{
	struct sum sums[KINDS_MAX];
	size_t n;

	tap_begin("reports_of_single_events_and_of_batches_are_what_was_recorded");
	record_run(ROUND_TRIPS, true, true);
	n = sum_up(sums);
	qsort(sums, n, sizeof(*sums), by_total);
	run(SINGLES, "report", NULL);
	expect_report("single events", sums, n);
	run(BATCHES, "report", NULL);
	expect_report("batches", sums, n);
	run(BOTH, "report", NULL);
	expect_report("both", sums, n);
	run(BOTH, "report", "batch");
	expect_report("batches of both", sums, n);
	tap_end();
}

static void late_batches(void)
{
	tap_begin("records_later_than_the_lag_are_given_and_counted");
	record_run(ROUND_TRIPS, true, false);
	batch_of(&guests[0], 0)->time += 100 * SECOND;
	qsort(samples, nr_samples, sizeof(*samples), by_time);
	run(BATCHES, NULL, NULL);
	tap_expect(strstr(perf.err, "records behind later ones: they came late,"),
		   "said \"%s\"", perf.err);
	tap_expect(lines_in(perf.out) == nr_lines, "%zu lines, not %zu", lines_in(perf.out),
		   nr_lines);
	tap_end();

	tap_begin("records_later_than_the_lag_are_given_once_if_single_events_tell_them_too");
	expect_run("both", BOTH, NULL, "");
	tap_end();
}

static void expect_json(const char *arg)
{
	if (arg && (strstr(arg, "json") || !strcmp(arg, "timeline")))
		tap_expect(!*perf.out || is_json(perf.out), "%s: not JSON: %.200s", arg,
			   perf.out);
}

/* Events of random bytes, of which batches pass the check and are near to real ones. */
static void random_bytes(void)
{
	static const char *const names[] = {
		"kvm_trace:vmexit", "kvm_trace:hypercall", "kvm_trace:lost",
		"kvm_trace_detail:hypercall_sub", "kvm_trace_batch:vmexits",
	};
	static const char *const args[] = {
		NULL, "report", "report by=rip,hypercall json", "timeline",
	};
	size_t i, k, size, arg, kind;
	struct sample *batch;
	u8 *raw;
	int status;

	tap_begin("random_bytes_do_no_harm");
	for (arg = 0; arg < ARRAY_SIZE(args); arg++) {
		record_run(2000, true, true);
		perf_begin(&perf, args[arg], NULL);
		for (i = 0; i < 50000; i++) {
			batch = batch_of(&guests[random_64() % VCPUS], 0);
			kind = random_64() % ARRAY_SIZE(names);
			size = 1 + random_64() % (kind == 4 ? batch->size : 200);
			raw = malloc(size);
			for (k = 0; k < size; k++)
				raw[k] = kind == 4 ? batch->raw[k] : random_64();
			if (kind == 4 && size >= KVM_TRACE_BATCH_SIZE) {
				for (k = random_64() % 4; k; k--)
					raw[16 + random_64() % (size - 16)] = random_64();
				raw[53] = KVM_TRACE_BATCH_VERSION;
				raw[54] %= 33;
				batch_put_right(raw, size);
			}
			status = perf_sample(&perf, names[kind], i * 10000, raw, size);
			free(raw);
			if (status == 1)
				continue;
			/* The version of a vcpu record may have been hit. */
			perf_end(&perf);
			expect_json(args[arg]);
			tap_expect(strstr(perf.err, "records of version"), "%s", perf.err);
			perf_begin(&perf, args[arg], NULL);
		}
		perf_end(&perf);
		expect_json(args[arg]);
	}
	tap_end();
}

/* The batch @first @n times, each a later one. */
static void run_copies(size_t n, u64 apart)
{
	size_t i;

	perf_begin(&perf, "report", NULL);
	for (i = 0; i < n; i++) {
		u32 seq = 5 + i;
		u64 ns = 10 * SECOND + i * apart;

		memcpy(first->raw + 36, &seq, sizeof(seq));
		memcpy(first->raw + 16, &ns, sizeof(ns));
		batch_put_right(first->raw, first->size);
		perf_sample(&perf, first->event, ns + SECOND, first->raw, first->size);
	}
	perf_end(&perf);
}

static void bounds(void)
{
	const size_t enough = KVM_TRACE_ORDER_VCPUS_MAX + 7;
	struct guest *g = &guests[0];
	size_t i, n, items = 0;
	char messages[256];
	struct record r;

	tap_begin("what_is_held_back_is_bounded_and_given_back");
	record_run(0, true, false);
	round_trip(g, false, false);
	/* Items that nobody knows fill it up. */
	while (g->batch.len < KVM_TRACE_BATCH_DATA_MAX - 300) {
		g->batch.event.data[g->batch.len] = 0xff;
		g->batch.event.data[g->batch.len + 1] = 0xff;
		g->batch.len += 2 + 0xff;
		items++;
	}
	finish_batch(g, g->now + 300);
	first = batch_of(g, 0);
	n = (KVM_TRACE_ORDER_HELD_MAX + (8u << 20)) / first->size;
	snprintf(messages, sizeof(messages), "kvm-trace: %zu " UNKNOWN, n * items);
	run_copies(n, SECOND / 10);
	expect_text("one after the other", perf.err, messages);
	strcat(messages, "kvm-trace: more than 256 MiB had to wait for their place in time\n");
	run_copies(n, 0);
	expect_text("all at the same time", perf.err, messages);
	tap_note("%zu batches of %zu bytes", n, first->size);
	tap_end();

	tap_begin("number_of_vcpus_is_bounded");
	perf_begin(&perf, "report", NULL);
	for (i = 0; i < enough; i++) {
		struct kvm_trace_lost l = { .count = 1, .vm = 1 + i, .why = 1 };

		encode_lost(&r, &l);
		perf_sample(&perf, "kvm_trace:lost", 10 * SECOND + i, r.bytes, r.size);
	}
	perf_end(&perf);
	expect_text("messages", perf.err,
		    "kvm-trace: 262144 exits for which the module had no record\n"
		    "kvm-trace: 7 events left out: too many vCPUs\n");
	tap_end();
}

static void expect_error(const char *what, const char *wanted, int status)
{
	perf_end(&perf);
	tap_expect(status < 0, "%s: status %d", what, status);
	expect_text(what, perf.err, wanted);
	expect_text(what, perf.out, "");
}

static void bad_input(void)
{
	const struct perf_dlfilter_sample no_raw = {
		.size = sizeof(no_raw), .event = "kvm_trace:vmexit", .time = 1,
	};
	u8 raw[KVM_TRACE_VMEXIT_SIZE] = { 0 };

	tap_begin("what_cannot_be_done_is_said_in_one_line");
	expect_error("argument", "kvm-trace: --dlarg reports: give some of" DLARGS "\n",
		     perf_begin(&perf, "reports", NULL));
	expect_error("arguments",
		     "kvm-trace: single and batch leave nothing: give one of them, or none\n",
		     perf_begin(&perf, "single", "batch"));
	perf_begin(&perf, NULL, NULL);
	expect_error("time", "kvm-trace: samples without time: record with perf record -T\n",
		     perf_sample(&perf, "kvm_trace:vmexit", ~0ull, raw, sizeof(raw)));
	perf_begin(&perf, NULL, NULL);
	expect_error("raw", "kvm-trace: samples without raw data: record with perf record -R\n",
		     perf.event(perf.data, &no_raw, &perf));
	perf_begin(&perf, "report", NULL);
	perf_sample(&perf, "sched:sched_switch", 1, raw, sizeof(raw));
	perf_sample(&perf, "kvm_trace:vmexits", 1, raw, sizeof(raw));
	perf_end(&perf);
	expect_text("other events", perf.err,
		    "kvm-trace: 2 samples of other events not shown\n"
		    "kvm-trace: no samples of kvm_trace: record with -e 'kvm_trace:*'\n");
	expect_text("other events", perf.out, "");
	tap_end();
}

/* Golden batches */

static unsigned int files;

static void golden_lines(const struct batch_file *f)
{
	static char wanted[2 * BATCH_TEXT_MAX];
	struct batch_line l;
	const char *line;
	size_t len = 0;

	files++;
	wanted[0] = '\0';
	for (line = f->text; *line; line += strcspn(line, "\n") + 1) {
		batch_line_parse(line, false, &l);
		len += snprintf(wanted + len, sizeof(wanted) - len,
				"%llu.%09llu: kvm_trace:%s: %s\n", l.ns / SECOND, l.ns % SECOND,
				l.event, l.text);
	}
	perf_begin(&perf, NULL, NULL);
	perf_sample(&perf, "kvm_trace_batch:vmexits", 10 * SECOND, f->bytes, f->size);
	perf_end(&perf);
	batch_line_drop_pids(perf.out);
	batch_line_drop_pids(wanted);
	expect_text(f->name, perf.out, wanted);
	tap_expect(!strstr(f->name, "unknown") == !strstr(perf.err, "kvm-trace: 3 " UNKNOWN),
		   "%s: said \"%s\"", f->name, perf.err);
}

/* Sums of a batch, the one way and the other. */
struct batch_sums {
	struct sum rows[KINDS_MAX];
	size_t n;
	u64 vcpus;
};

static struct kvm_trace_times *find_row(void *data, const struct kvm_trace_vmexit *v)
{
	struct batch_sums *sums = data;
	u64 code = kvm_trace_vmexit_code(v);
	struct sum *row = sums->rows;

	while (row < sums->rows + sums->n && (row->code != code || row->class != v->class))
		row++;
	if (row == sums->rows + sums->n) {
		if (sums->n++ == KINDS_MAX)
			tap_die("too many kinds");
		*row = (struct sum){ v->vm, code, v->class, { 0 } };
	}
	return &row->times;
}

static u64 count_in(const struct batch_sums *sums)
{
	u64 count = 0;
	size_t i;

	for (i = 0; i < sums->n; i++)
		count += sums->rows[i].times.count;
	return count;
}

static void add_to_vcpus(void *data, const struct kvm_trace_vcpu *vcpu)
{
	struct batch_sums *sums = data;

	sums->vcpus += vcpu->vmm_pid;
}

static int by_code(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code ? 1 : x->class - y->class;
}

static struct kvm_trace_batch_reader one, other;

static void compare_sums(const char *name, const void *raw, size_t size)
{
	static struct batch_sums next, summed;
	const struct kvm_trace_batch_summer summer = { find_row, add_to_vcpus, &summed };
	enum kvm_trace_batch_item item, end;
	struct kvm_trace_times *times;

	memset(&next, 0, sizeof(next));
	memset(&summed, 0, sizeof(summed));
	if (!tap_expect(!kvm_trace_batch_open(&one, raw, size), "%s", name))
		return;
	kvm_trace_batch_reopen(&other, raw);
	while ((item = kvm_trace_batch_next(&one)) > KVM_TRACE_BATCH_DAMAGED) {
		if (item == KVM_TRACE_BATCH_IS_VCPU)
			add_to_vcpus(&next, &one.vcpu);
		if (item != KVM_TRACE_BATCH_IS_VMEXIT)
			continue;
		times = find_row(&next, &one.vmexit);
		kvm_trace_times_add(times, one.vmexit.host_ns);
		kvm_trace_times_add_parts(times, &one.vmexit);
		if (one.guest_known)
			kvm_trace_times_add_guest(times, one.guest_ns);
	}
	end = kvm_trace_batch_sum_up(&other, &summer);
	tap_expect(item == end, "%s of %zu bytes: ends with %d and %d", name, size, item, end);
	if (item == KVM_TRACE_BATCH_DAMAGED) {
		/* One may be held back for what is told about it. */
		tap_expect(count_in(&summed) - count_in(&next) <= 1,
			   "%s of %zu bytes: %llu and %llu", name, size, count_in(&next),
			   count_in(&summed));
		return;
	}
	qsort(next.rows, next.n, sizeof(*next.rows), by_code);
	qsort(summed.rows, summed.n, sizeof(*summed.rows), by_code);
	tap_expect(!memcmp(&next, &summed, sizeof(next)) && one.seq == other.seq &&
		   one.skipped == other.skipped && one.skips == other.skips &&
		   one.unknown == other.unknown,
		   "%s: %llu round trips, %llu summed up", name, count_in(&next),
		   count_in(&summed));
}

static void golden_sums(const struct batch_file *f)
{
	size_t size;
	u8 *copy;

	files++;
	compare_sums(f->name, f->bytes, f->size);
	for (size = KVM_TRACE_BATCH_SIZE; size < f->size; size++) {
		copy = malloc(size);
		if (!copy)
			tap_die("no memory");
		memcpy(copy, f->bytes, size);
		batch_put_right(copy, size);
		compare_sums(f->name, copy, size);
		free(copy);
	}
}

/* Times of any length, some of which do not follow from the stamps, and no words. */
static void sums_of_any_time(struct kvm_trace_batch *batch)
{
	struct kvm_trace_batch_trip trip = { .entry = random_64() };

	kvm_trace_batch_begin(batch, 1022611261, 31, KVM_TRACE_BATCH_F_TSC, 0, trip.entry, 0);
	while (batch->len <= KVM_TRACE_BATCH_FULL) {
		trip.key = kvm_trace_batch_key(random_64() % 8, 0, random_64() % 4);
		trip.from = trip.entry;
		trip.exit = trip.from + (random_64() >> (2 + random_64() % 62));
		trip.entry = trip.exit + (random_64() >> (2 + random_64() % 62));
		trip.odd = one_in(8);
		trip.host_ns = random_64() % SECOND;
		kvm_trace_batch_put(batch, &trip);
		trip.seq += 1 + one_in(50);
	}
	compare_sums("times of any length", &batch->event, kvm_trace_batch_finish(batch));
}

/* Batches with and without words. */
static void random_sums(void)
{
	static struct kvm_trace_batch batch;
	size_t i, n = 0;

	for (i = 0; i < 500; i++)
		sums_of_any_time(&batch);

	record_run(ROUND_TRIPS, false, true);
	for (i = 0; i < nr_samples; i++) {
		if (strcmp(samples[i].event, "kvm_trace_batch:vmexits"))
			continue;
		compare_sums("a batch", samples[i].raw, samples[i].size);
		n++;
	}
	tap_note("%u golden batches and %zu others", files, n);
	tap_expect(n, "no batches");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		tap_die("usage: %s FILTER", argv[0]);
	perf_load(&perf, argv[1]);
	tap_plan(23);
	tap_begin("golden_batches_give_their_lines");
	batch_file_each(argv[0], golden_lines);
	tap_note("%u batches", files);
	tap_expect(files, "no golden batches");
	tap_end();
	files = 0;
	tap_begin("sums_of_a_batch_are_those_of_its_records");
	batch_file_each(argv[0], golden_sums);
	random_sums();
	tap_end();
	same_lines();
	clock_back();
	sample_times();
	lone_events();
	gaps();
	damage();
	versions();
	reports();
	late_batches();
	random_bytes();
	bounds();
	bad_input();
	forget_samples();
	free(samples);
	free(lines);
	free(expected);
	perf_unload(&perf);
	return tap_exit();
}
