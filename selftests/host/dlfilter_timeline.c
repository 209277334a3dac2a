// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timelines of kvm-trace.so: that they are JSON of the Trace Event Format, that
 * slices are what records say and do not overlap, flows, rates and losses; and that
 * functions of guests are slices inside each other, between the exits.
 *
 *	dlfilter_timeline FILTER
 */
#include <malloc.h>

#include "dlfilter_rows.h"
#include "json_check.h"

#define TRACKS	8
#define FUNCTIONS	0x10001	/* track of the functions of vCPU 0 */
#define HEAD	"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"

/* An event: the filter writes one a line. Times in ns. */
struct event {
	char ph, name[128], cat[16];
	u32 pid, tid;
	u64 ts, dur, id;
	const char *line;
};

static struct event *events;
static size_t nr_events;

/* What is behind "@name": in the line @at; NULL if it is not there. */
static const char *member(const char *at, const char *name)
{
	char wanted[64];
	int len = snprintf(wanted, sizeof(wanted), "\"%s\":", name);
	const char *found = memmem(at, strcspn(at, "\n"), wanted, len);

	return found ? found + len : NULL;
}

static u64 number(const char *at, const char *name)
{
	at = member(at, name);
	return at ? strtoull(at, NULL, 10) : 0;
}

/* Three decimals are ns. */
static u64 time_of(const char *at, const char *name)
{
	char *end;
	u64 us;

	at = member(at, name);
	if (!at)
		return ~0ull;
	us = strtoull(at, &end, 10);
	if (*end != '.' || strspn(end + 1, "0123456789") != 3)
		return ~0ull;
	return us * 1000 + strtoull(end + 1, NULL, 10);
}

static void text(const char *at, const char *name, char *buf, size_t size)
{
	at = member(at, name);
	snprintf(buf, size, "%.*s", at && *at == '"' ? (int)strcspn(at + 1, "\"") : 0,
		 at ? at + 1 : "");
}

/* What each event must have, of its type. */
static void expect_event(const struct event *e)
{
	bool complete = e->ph && e->pid + 1 && *e->name;

	if (e->ph != 'M')
		complete = complete && e->ts != ~0ull;
	if (e->ph == 'X')
		complete = complete && e->tid && e->dur != ~0ull && *e->cat;
	if (e->ph == 's' || e->ph == 'f')
		complete = complete && e->tid && e->id && *e->cat;
	if (e->ph == 'i')
		complete = complete && member(e->line, "s");
	if (e->ph == 'B')
		complete = complete && e->tid && *e->cat;
	if (e->ph == 'E')
		complete = e->pid + 1 && e->tid && e->ts != ~0ull;
	tap_expect(complete && strchr("MXCisfBE", e->ph), "incomplete: %.*s",
		   (int)strcspn(e->line, "\n"), e->line);
}

static void end(void)
{
	const char *line;
	struct event *e;
	char ph[4];

	perf_end(&perf);
	tap_expect(is_json(perf.out), "not JSON: %.2000s", perf.out);
	tap_expect(!strncmp(perf.out, HEAD, strlen(HEAD)), "begins with %.60s", perf.out);
	free(events);
	events = calloc(strlen(perf.out) / 10 + 1, sizeof(*events));
	if (!events)
		tap_die("no memory");
	nr_events = 0;
	for (line = perf.out; *line; line += strcspn(line, "\n") + 1) {
		if (strncmp(line, "{\"ph\"", 5))
			continue;
		e = &events[nr_events++];
		text(line, "ph", ph, sizeof(ph));
		e->ph = *ph;
		text(line, "name", e->name, sizeof(e->name));
		text(line, "cat", e->cat, sizeof(e->cat));
		e->pid = number(line, "pid");
		e->tid = number(line, "tid");
		e->ts = time_of(line, "ts");
		e->dur = time_of(line, "dur");
		e->id = number(line, "id");
		e->line = line;
		expect_event(e);
	}
}

static size_t count(char ph, const char *name)
{
	size_t i, n = 0;

	for (i = 0; i < nr_events; i++)
		n += events[i].ph == ph && !strcmp(events[i].name, name);
	return n;
}

/* The first such event; one that is empty if there is none. */
static const struct event *find(char ph, const char *name)
{
	static const struct event none = { .line = "" };
	size_t i;

	for (i = 0; i < nr_events; i++)
		if (events[i].ph == ph && !strcmp(events[i].name, name))
			return &events[i];
	tap_expect(false, "no %c %s in\n%.3000s", ph, name, perf.out);
	return &none;
}

static void expect_in(const struct event *e, const char *wanted)
{
	size_t len = strcspn(e->line, "\n");

	tap_expect(memmem(e->line, len, wanted, strlen(wanted)), "no %s in %.*s", wanted,
		   (int)len, e->line);
}

/* Slices of a track come one after the other; none begins in another one. */
static void expect_no_overlap(void)
{
	u64 ends[TRACKS][TRACKS] = { 0 };
	struct event *e;

	for (e = events; e < events + nr_events; e++) {
		if (e->ph != 'X' || e->pid >= TRACKS || e->tid >= TRACKS)
			continue;
		tap_expect(e->ts >= ends[e->pid][e->tid], "begins before %llu: %.*s",
			   ends[e->pid][e->tid], (int)strcspn(e->line, "\n"), e->line);
		ends[e->pid][e->tid] = e->ts + e->dur;
	}
}

static u64 sum_of(const char *cat)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < nr_events; i++)
		if (events[i].ph == 'X' && !strcmp(events[i].cat, cat))
			sum += events[i].dur;
	return sum;
}

/* Slices */

static void give_at(u64 entry, struct kvm_trace_vmexit v)
{
	now = entry;
	give_round_trip(v);
}

static void slices(void)
{
	const u64 guest = KVM_TRACE_W_GUEST_NS;
	const struct event *e;

	tap_begin("slices_are_the_guest_and_host_times_of_records");
	begin("timeline");
	now = 10 * SECOND;
	give_vcpu(1, 0, 77, "qemu \"q\"\\\xff");
	give_at(10 * SECOND, (struct kvm_trace_vmexit){
		.host_ns = 1500, .guest_ns = 2001, .have = guest });
	give_at(10 * SECOND + 5000, (struct kvm_trace_vmexit){
		.host_ns = 1000, .guest_ns = 4000, .have = guest | KVM_TRACE_W_USER_NS,
		.user_ns = 600, .class = KVM_TRACE_CLASS_io, .reason = 0x7b });
	/* Without a word of its own the guest ran since the entry before. */
	give_at(10 * SECOND + 9000, (struct kvm_trace_vmexit){ .host_ns = 1000 });
	end();
	expect_no_overlap();
	tap_expect(sum_of("host") == 3500 && sum_of("guest") == 9001, "host %llu, guest %llu",
		   sum_of("host"), sum_of("guest"));
	e = find('X', "io");
	tap_expect(e->ts == 10 * SECOND + 4000 && e->dur == 1000 && e->pid == 1 && e->tid == 1,
		   "%.*s", (int)strcspn(e->line, "\n"), e->line);
	expect_in(e, "\"reason\":\"IOIO\"");
	expect_in(e, "\"user_ns\":600");
	expect_in(e, "\"record\":\"vm 1 (77) vcpu 0 SVM IOIO host 1.00us ");
	expect_in(find('M', "process_name"), "\"name\":\"VM 1 (qemu \\\"q\\\"\\\\? 77)\"");
	expect_in(find('M', "thread_name"), "\"tid\":1,\"args\":{\"name\":\"vCPU 0\"}");
	tap_end();

	tap_begin("slices_that_would_overlap_are_cut_and_say_it");
	begin("timeline");
	give_at(10 * SECOND, (struct kvm_trace_vmexit){ .host_ns = 1000 });
	give_at(10 * SECOND + 2000, (struct kvm_trace_vmexit){
		.host_ns = 1000, .guest_ns = 1100, .have = guest });
	give_at(10 * SECOND + 3000, (struct kvm_trace_vmexit){
		.host_ns = 1200, .guest_ns = 5, .have = guest });
	end();
	expect_no_overlap();
	expect_in(find('X', "guest"), "\"dur\":1.000,\"args\":{\"guest_ns\":1100}");
	tap_expect(strstr(perf.out, "\"dur\":1.000,\"args\":{\"reason\":\"CPUID\",\"host_ns\":12"),
		   "%s", perf.out);
	tap_end();
}

static void random_recording(void)
{
	u64 at[TRACKS] = { 0 }, host = 0, guest = 0, exits = 0;
	u32 seqs[TRACKS] = { 0 };
	struct kvm_trace_vmexit v;
	size_t i, k, rates = 0;

	tap_begin("slices_add_up_to_the_times_of_records_and_rates_to_their_number");
	begin("timeline");
	for (i = 0; i < TRACKS; i++)
		at[i] = 10 * SECOND + i * 1000;
	for (i = 0; i < 20000; i++) {
		k = 0;
		while (k + 1 < 6 && at[k] > at[k + 1])
			k++;
		v = (struct kvm_trace_vmexit){
			.vm = 1 + k / 2, .vcpu = k % 2, .host_ns = random_64() % 200000,
			.guest_ns = random_64() % 200000, .have = KVM_TRACE_W_GUEST_NS,
			.flags = random_64() & KVM_TRACE_F_INJECTED,
		};
		host += v.host_ns;
		guest += v.guest_ns;
		exits++;
		at[k] += v.host_ns + v.guest_ns;
		seq = seqs[k]++;
		give_at(at[k], v);
	}
	end();
	expect_no_overlap();
	tap_expect(sum_of("host") == host && sum_of("guest") == guest,
		   "host %llu, not %llu; guest %llu, not %llu", sum_of("host"), host,
		   sum_of("guest"), guest);
	for (i = 0; i < nr_events; i++)
		if (events[i].ph == 'C')
			rates += number(events[i].line, "exits");
	tap_expect(rates == exits * 100, "%zu, not %llu", rates, exits * 100);
	tap_note("%zu events of %llu exits", nr_events, exits);
	tap_end();

	tap_begin("rates_go_back_to_0_where_nothing_exits");
	begin("timeline");
	give_at(10 * SECOND, (struct kvm_trace_vmexit){ .host_ns = 1000 });
	give_at(11 * SECOND, (struct kvm_trace_vmexit){ .host_ns = 1000 });
	end();
	for (i = 0, k = 0; i < nr_events; i++)
		if (events[i].ph == 'C')
			k += number(events[i].line, "exits") == (k % 2 ? 0 : 100);
	tap_expect(k == 4, "%zu values of 4 in\n%s", k, perf.out);
	tap_end();
}

static void many_tracks(void)
{
	size_t i, rates = 0;

	tap_begin("many_vms_have_their_tracks_and_rates");
	begin("timeline");
	for (i = 0; i < 3000; i++) {
		seq = 5;
		give_at(10 * SECOND + i, (struct kvm_trace_vmexit){
			.vm = 1 + i, .vcpu = i % 7, .host_ns = 100 });
	}
	end();
	tap_expect(count('X', "cpuid") == 3000 && count('M', "process_name") == 3000 &&
		   count('M', "thread_name") == 3000, "%zu slices, %zu VMs, %zu vCPUs",
		   count('X', "cpuid"), count('M', "process_name"), count('M', "thread_name"));
	for (i = 0; i < nr_events; i++)
		rates += events[i].ph == 'C' && number(events[i].line, "exits") == 100;
	tap_expect(rates == 3000, "%zu rates of one exit", rates);
	tap_end();
}

/* What hangs on them */

static void flows(void)
{
	const struct event *start, *finish, *guest;

	tap_begin("injections_flow_into_the_guest_slice_that_follows");
	begin("timeline");
	give_at(10 * SECOND, (struct kvm_trace_vmexit){
		.host_ns = 1000, .flags = KVM_TRACE_F_INJECTED, .have = KVM_TRACE_W_INJECTED,
		.injected = 1 << KVM_TRACE_INJECTED_IRQS_SHIFT | KVM_TRACE_INJECTED_VEC | 0xec });
	give_at(10 * SECOND + 5000, (struct kvm_trace_vmexit){ .host_ns = 1000 });
	/* One whose guest slice is not known has none. */
	give_at(10 * SECOND + 9000, (struct kvm_trace_vmexit){
		.host_ns = 1000, .flags = KVM_TRACE_F_INJECTED });
	seq++;
	give_at(10 * SECOND + 19000, (struct kvm_trace_vmexit){ .host_ns = 1000 });
	end();
	tap_expect(count('s', "injection") == 1 && count('f', "injection") == 1,
		   "%zu and %zu", count('s', "injection"), count('f', "injection"));
	start = find('s', "injection");
	finish = find('f', "injection");
	guest = find('X', "guest");
	tap_expect(start->ts == 10 * SECOND - 1000 && finish->ts == 10 * SECOND &&
		   guest->ts == finish->ts && start->id == finish->id,
		   "from %llu to %llu", start->ts, finish->ts);
	expect_in(finish, "\"bp\":\"e\"");
	expect_in(guest, "\"vector\":236");
	tap_end();
}

static void losses(void)
{
	const struct kvm_trace_lost l = { .count = 7, .since = 5, .vm = 1, .why = 1 };
	const struct event *e;
	struct record r;

	tap_begin("losses_are_events");
	begin("timeline");
	give_at(10 * SECOND, (struct kvm_trace_vmexit){ .host_ns = 1000 });
	seq += 4;
	give_at(10 * SECOND + 50000, (struct kvm_trace_vmexit){
		.host_ns = 1000, .guest_ns = 2000, .have = KVM_TRACE_W_GUEST_NS });
	encode_lost(&r, &l);
	give("kvm_trace:lost", &r);
	perf_sample(&perf, "kvm_trace:vmexit", now, r.bytes, 12);
	end();
	e = find('X', "lost");
	tap_expect(e->ts == 10 * SECOND && e->dur == 47000, "%.*s", (int)strcspn(e->line, "\n"),
		   e->line);
	expect_in(e, "\"round_trips\":4");
	e = find('i', "lost");
	expect_in(e, "\"exits\":7");
	find('i', "4 round trips missing in 1 gaps: lost, filtered, or shorter than min_host_ns");
	find('i', "1 single events left out: shorter than their fields");
	expect_no_overlap();
	tap_end();
}

static void hypercalls(void)
{
	struct kvm_trace_hypercall h = {
		.vm = 1, .nr = 5, .abi = KVM_TRACE_ABI_KVM, .arg = { 0, 3 }, .result = -1,
		.present = 2 | 2 << 2 | KVM_TRACE_HC_W_RESULT,
	};
	struct record r;

	tap_begin("hypercalls_stand_at_their_slices_with_their_arguments");
	begin("timeline");
	h.seq = seq;
	encode_hypercall(&r, &h);
	give("kvm_trace:hypercall", &r);
	give_round_trip((struct kvm_trace_vmexit){
		.host_ns = 1000, .class = KVM_TRACE_CLASS_hypercall, .reason = 0x81 });
	now += 5000;
	/* The round trip of this one is missing, and the next one is of another. */
	h.seq = seq++;
	encode_hypercall(&r, &h);
	give("kvm_trace:hypercall", &r);
	now += 5000;
	give_round_trip((struct kvm_trace_vmexit){ .host_ns = 1000 });
	end();
	tap_expect(!memmem(find('X', "cpuid")->line, strcspn(find('X', "cpuid")->line, "\n"),
			   "KICK_CPU", 8), "a hypercall at the wrong slice:\n%s", perf.out);
	expect_in(find('X', "hypercall"),
		  "\"abi\":\"KVM\",\"number\":5,\"call\":\"KICK_CPU\",\"a0\":\"0x0\",\"a1\":\"0x3\",");
	expect_in(find('X', "hypercall"),
		  ",\"result\":\"0xffffffffffffffff\",\"hypercall\":\"vm 1 ");
	tap_expect(count('i', "hypercall") == 1, "%zu alone", count('i', "hypercall"));
	expect_in(find('i', "hypercall"), "\"call\":\"KICK_CPU\"");
	tap_end();
}

/* Functions */

#define TID	100
#define BEGIN	(PERF_DLFILTER_FLAG_BRANCH | PERF_DLFILTER_FLAG_TRACE_BEGIN)
#define END	(PERF_DLFILTER_FLAG_BRANCH | PERF_DLFILTER_FLAG_TRACE_END)
#define CALL	(PERF_DLFILTER_FLAG_BRANCH | PERF_DLFILTER_FLAG_CALL)
#define INTR	(CALL | PERF_DLFILTER_FLAG_INTERRUPT | PERF_DLFILTER_FLAG_ASYNC)
#define RETURN	(PERF_DLFILTER_FLAG_BRANCH | PERF_DLFILTER_FLAG_RETURN)
#define JUMP	PERF_DLFILTER_FLAG_BRANCH
#define KERNEL	0xffffffff81000000ull
/* Functions of made_kallsyms(). */
#define IN_MAIN	(KERNEL + 0x10)
#define IN_READ	(KERNEL + 0x110)
#define IN_COPY	(KERNEL + 0x210)
#define IN_IRQ	(KERNEL + 0x310)
#define IN_USER	0x401000ull

static u32 thread_id = TID;

static const struct perf_dlfilter_al *no_name(void *ctx)
{
	(void)ctx;
	return NULL;
}

static void branch_at(u64 time, u32 flags, u64 from, u64 to)
{
	const struct perf_dlfilter_sample sample = {
		.size = sizeof(sample), .event = "branches:", .tid = thread_id, .time = time,
		.flags = flags, .ip = from, .addr = to, .addr_correlates_sym = 1,
	};

	tap_expect(perf.event(perf.data, &sample, &perf) == 1, "a branch is not taken");
}

static void give_of_thread(const char *event, const struct record *r)
{
	const struct perf_dlfilter_sample sample = {
		.size = sizeof(sample), .event = event, .tid = thread_id, .time = now,
		.raw_data = r->bytes, .raw_size = r->size,
	};

	tap_expect(perf.event(perf.data, &sample, &perf) == 1, "a record is not taken");
}

static void exit_at(u64 entry, u64 host_ns)
{
	const struct kvm_trace_vmexit v = {
		.vm = 1, .seq = seq++, .isa = KVM_TRACE_ISA_SVM, .reason = 0x72,
		.class = KVM_TRACE_CLASS_cpuid, .host_ns = host_ns,
	};
	struct record r;

	encode_vmexit(&r, &v);
	now = entry;
	give_of_thread("kvm_trace:vmexit", &r);
}

/* Whose that file is, and an entry at 10 s. */
static void begin_functions(const char *path)
{
	char args[80];

	snprintf(args, sizeof(args), "timeline itrace%s%s", path ? " kallsyms=" : "",
		 path ? path : "");
	begin(args);
	exit_at(10 * SECOND, 1000);
}

static void made_kallsyms(char *path)
{
	int fd = mkstemp(path);

	dprintf(fd, "%llx T main\n%llx t read\n%llx t copy\t[module]\n%llx T irq\n", KERNEL,
		KERNEL + 0x100, KERNEL + 0x200, KERNEL + 0x300);
	close(fd);
}

/* Each end is of a slice that has begun, none begins before the one before, all end. */
static void expect_nested(void)
{
	u64 before = 0;
	struct event *e;
	int depth = 0;

	for (e = events; e < events + nr_events; e++) {
		if (e->ph != 'B' && e->ph != 'E')
			continue;
		depth += e->ph == 'B' ? 1 : -1;
		tap_expect(depth >= 0 && e->ts >= before && e->tid == FUNCTIONS,
			   "depth %d, after %llu: %.*s", depth, before,
			   (int)strcspn(e->line, "\n"), e->line);
		before = e->ts;
	}
	tap_expect(!depth, "%d slices have no end", depth);
}

/* No function is executed in a host slice. */
static void expect_between_exits(void)
{
	const struct event *e, *host;
	int depth;

	for (host = events; host < events + nr_events; host++) {
		if (host->ph != 'X' || strcmp(host->cat, "host"))
			continue;
		depth = 0;
		for (e = events; e < events + nr_events; e++) {
			if ((e->ph != 'B' && e->ph != 'E') || e->ts > host->ts)
				continue;
			depth += e->ph == 'B' ? 1 : -1;
		}
		tap_expect(!depth, "%d functions go on at %llu", depth, host->ts);
		for (e = events; e < events + nr_events; e++)
			tap_expect(e->ph != 'B' || e->ts < host->ts ||
				   e->ts >= host->ts + host->dur, "in the host: %.*s",
				   (int)strcspn(e->line, "\n"), e->line);
	}
}

/* Slices as words: "+name@TIME -@TIME", with the time behind 10 s. */
static void expect_slices(const char *const *words)
{
	char found[2048] = "", wanted[512] = "";
	struct event *e;
	size_t len = 0;

	for (; *words; words++)
		len += snprintf(wanted + len, sizeof(wanted) - len, " %s", *words);
	len = 0;

	for (e = events; e < events + nr_events && len < sizeof(found) - 160; e++) {
		if (e->ph == 'B')
			len += snprintf(found + len, sizeof(found) - len, " +%s@%lld", e->name,
					(long long)(e->ts - 10 * SECOND));
		else if (e->ph == 'E')
			len += snprintf(found + len, sizeof(found) - len, " -@%lld",
					(long long)(e->ts - 10 * SECOND));
	}
	tap_expect(!strcmp(found, wanted), "slices are %s\nnot %s", found, wanted);
	expect_nested();
	expect_between_exits();
}

#define EXPECT_SLICES(...)	expect_slices((const char *const[]){ __VA_ARGS__, NULL })

static void functions(void)
{
	char path[] = "/tmp/kallsyms.XXXXXX";
	const u64 t = 10 * SECOND;

	made_kallsyms(path);
	tap_begin("functions_are_slices_inside_each_other_with_the_names_of_kallsyms");
	begin_functions(path);
	branch_at(t + 100, BEGIN, 0, IN_MAIN);
	branch_at(t + 200, CALL, IN_MAIN, KERNEL + 0x100);
	branch_at(t + 300, CALL, IN_READ, KERNEL + 0x200);
	branch_at(t + 350, JUMP, IN_COPY, IN_COPY + 8);
	branch_at(t + 400, RETURN, IN_COPY, IN_READ);
	branch_at(t + 500, RETURN, IN_READ, IN_MAIN);
	branch_at(t + 600, END, IN_MAIN, 0);
	exit_at(t + 1000, 300);
	end();
	EXPECT_SLICES("+main@100 +read@200 +copy@300 -@400 -@500 -@700");
	expect_in(find('B', "copy"), "\"args\":{\"at\":\"0xffffffff81000200\"}");
	expect_in(find('X', "cpuid"), "\"tid\":1,");
	tap_expect(strstr(perf.out, "\"name\":\"vCPU 0 functions\""), "no name of the track");
	tap_end();

	tap_begin("functions_go_on_behind_an_exit_and_handlers_are_inside_of_what_they_interrupt");
	begin_functions(path);
	branch_at(t + 100, BEGIN, 0, IN_MAIN);
	branch_at(t + 200, CALL, IN_MAIN, KERNEL + 0x100);
	branch_at(t + 300, END, IN_READ, 0);
	exit_at(t + 1000, 600);
	branch_at(t + 1100, BEGIN, 0, KERNEL + 0x300);
	branch_at(t + 1200, RETURN, KERNEL + 0x320, IN_READ);
	branch_at(t + 1300, INTR, IN_READ, KERNEL + 0x300);
	branch_at(t + 1400, END, IN_IRQ, 0);
	exit_at(t + 2000, 500);
	end();
	EXPECT_SLICES("+main@100 +read@200 -@400 -@400", "+main@1100 +read@1100 +irq@1100 -@1200",
		      "+irq@1300 -@1500 -@1500 -@1500");
	tap_end();

	tap_begin("jumps_to_other_functions_and_returns_to_unknown_ones_replace_the_slice");
	begin_functions(path);
	branch_at(t + 100, BEGIN, 0, IN_MAIN);
	branch_at(t + 200, CALL, IN_MAIN, KERNEL + 0x100);
	branch_at(t + 300, JUMP, IN_READ, IN_COPY);
	branch_at(t + 400, RETURN, IN_COPY, IN_IRQ);
	branch_at(t + 500, END, IN_IRQ, 0);
	exit_at(t + 1000, 400);
	end();
	EXPECT_SLICES("+main@100 +read@200 -@300 +copy@300 -@400 -@400 +irq@400 -@600");
	tap_end();

	tap_begin("estimates_beyond_the_exit_are_fitted_before_it");
	begin_functions(path);
	branch_at(t + 100, BEGIN, 0, IN_MAIN);
	branch_at(t + 600, CALL, IN_MAIN, KERNEL + 0x100);
	exit_at(t + 1000, 400);
	branch_at(t + 1100, RETURN, IN_READ, IN_MAIN);
	exit_at(t + 1050, 20);
	branch_at(t + 1100, END, IN_MAIN, 0);
	branch_at(t + 1010, BEGIN, 0, IN_MAIN);
	branch_at(t + 1020, END, IN_MAIN, 0);
	end();
	EXPECT_SLICES("+main@100 +read@350 -@600 -@600 +main@1010 -@1030");
	tap_end();

	tap_begin("functions_without_a_name_have_their_address");
	begin_functions(NULL);
	branch_at(t + 100, BEGIN, 0, IN_USER);
	branch_at(t + 200, CALL, IN_USER, IN_USER + 0x100);
	branch_at(t + 300, JUMP, IN_USER + 0x100, IN_USER + 0x200);
	branch_at(t + 400, RETURN, IN_USER + 0x200, IN_USER + 5);
	branch_at(t + 500, END, IN_USER, 0);
	exit_at(t + 1000, 400);
	end();
	EXPECT_SLICES("+0x401000@100 +0x401100@200 -@400 -@600");
	tap_end();
	unlink(path);
}

static void lost_functions(void)
{
	char path[] = "/tmp/kallsyms.XXXXXX";
	const u64 t = 10 * SECOND;

	made_kallsyms(path);
	tap_begin("a_trace_that_breaks_off_ends_its_slices_and_says_it");
	begin_functions(path);
	branch_at(t + 100, BEGIN, 0, IN_MAIN);
	branch_at(t + 200, CALL, IN_MAIN, KERNEL + 0x100);
	/* A packet is lost, and the stay goes on. */
	branch_at(t + 400, BEGIN, 0, IN_COPY);
	branch_at(t + 500, RETURN, IN_COPY, IN_READ);
	branch_at(t + 500, END, IN_READ, 0);
	exit_at(t + 1000, 400);
	/* The end of a stay is lost. */
	branch_at(t + 1100, BEGIN, 0, IN_MAIN);
	exit_at(t + 2000, 400);
	branch_at(t + 2100, BEGIN, 0, IN_IRQ);
	branch_at(t + 2200, END, IN_IRQ, 0);
	exit_at(t + 3000, 400);
	/* The recording ends in a stay. */
	branch_at(t + 3100, BEGIN, 0, IN_IRQ);
	branch_at(t + 3200, CALL, IN_IRQ, KERNEL + 0x200);
	end();
	EXPECT_SLICES("+main@100 +read@200 -@200 -@200", "+copy@400 -@500 +read@500 -@600",
		      "+read@1100 +main@1100 -@1100 -@1100", "+irq@2100 -@2600",
		      "+irq@3100 +copy@3200 -@3200 -@3200");
	tap_expect(count('i', "trace lost") == 2, "%zu losses told", count('i', "trace lost"));
	tap_end();

	tap_begin("exits_that_were_not_recorded_do_not_delay_or_unbalance");
	begin_functions(path);
	branch_at(t + 100, BEGIN, 0, IN_MAIN);
	branch_at(t + 300, END, IN_MAIN, 0);
	branch_at(t + 1100, BEGIN, 0, IN_MAIN);
	branch_at(t + 1300, END, IN_MAIN, 0);
	seq++;
	exit_at(t + 2000, 500);
	end();
	EXPECT_SLICES("+main@100 -@300 +main@1100 -@1500");
	tap_end();
	unlink(path);
}

static void random_functions(void)
{
	static const u32 flags[] = { BEGIN, END, CALL, CALL, CALL, INTR, RETURN, RETURN, JUMP };
	char path[] = "/tmp/kallsyms.XXXXXX";
	u64 t = 10 * SECOND, from, to;
	bool long_stay;
	size_t i;
	u32 flag;

	made_kallsyms(path);
	tap_begin("slices_nest_whatever_a_trace_says");
	begin_functions(path);
	for (i = 0; i < 30000; i++) {
		t += random_64() % 1000;
		/* One stay is so long that more waits than there is room for. */
		long_stay = i / 10000 == 1;
		if (!long_stay && random_64() % 10 == 0) {
			exit_at(t, random_64() % 500);
			continue;
		}
		flag = long_stay ? JUMP : flags[random_64() % ARRAY_SIZE(flags)];
		from = KERNEL + random_64() % 0x400;
		to = KERNEL + random_64() % 0x400;
		branch_at(t + random_64() % 5000 - 2500, flag, flag == BEGIN ? 0 : from,
			  flag == END ? 0 : to);
	}
	end();
	expect_nested();
	tap_expect(count('B', "main") > 1000, "%zu slices", count('B', "main"));
	tap_end();
	unlink(path);
}

/* Of the allocator; AddressSanitizer's does not say. */
static size_t allocated(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

#define DEEP		50
#define SHOWN		40
#define LONG_STAY	20000
#define WAITS_MOST	(256 << 10)

static void bounded_functions(void)
{
	char path[] = "/tmp/kallsyms.XXXXXX";
	u64 t = 10 * SECOND + 100, i, ends = 0;
	size_t before;

	made_kallsyms(path);
	tap_begin("calls_too_deep_to_be_shown_are_counted");
	begin_functions(path);
	branch_at(t++, BEGIN, 0, IN_MAIN);
	for (i = 0; i < DEEP; i++)
		branch_at(t++, CALL, i ? IN_READ : IN_MAIN, KERNEL + 0x100);
	for (i = 0; i < DEEP; i++)
		branch_at(t++, RETURN, IN_READ, i < DEEP - 1 ? IN_READ : IN_MAIN);
	branch_at(t, END, IN_MAIN, 0);
	exit_at(t + 1000, 500);
	end();
	expect_nested();
	for (i = 0; i < nr_events; i++)
		ends += events[i].ph == 'E' && events[i].ts < t;
	tap_expect(count('B', "read") == SHOWN - 1 && count('B', "main") == 1 && ends == SHOWN - 1,
		   "%zu and %zu slices, %llu end", count('B', "read"), count('B', "main"), ends);
	tap_end();

	tap_begin("what_waits_of_a_long_stay_is_bounded");
	begin_functions(path);
	branch_at(t, BEGIN, 0, IN_MAIN);
	before = allocated();
	for (i = 0; i < LONG_STAY; i++)
		branch_at(++t, JUMP, i % 2 ? IN_READ : IN_MAIN, i % 2 ? IN_MAIN : IN_READ);
	tap_expect(allocated() < before + WAITS_MOST, "%zu bytes more", allocated() - before);
	branch_at(t, END, IN_MAIN, 0);
	exit_at(t + 1000, 500);
	end();
	expect_nested();
	tap_expect(count('B', "read") == LONG_STAY / 2, "%zu slices", count('B', "read"));
	tap_end();
	unlink(path);
}

static void threads_of_others(void)
{
	const u64 t = 10 * SECOND;

	tap_begin("what_no_vcpu_executes_has_no_slice");
	begin_functions(NULL);
	thread_id = 2 * TID;
	branch_at(t + 100, BEGIN, 0, IN_USER);
	branch_at(t + 200, END, IN_USER, 0);
	thread_id = TID;
	end();
	tap_expect(!count('B', "0x401000"), "a slice:\n%s", perf.out);
	expect_nested();
	tap_end();

	tap_begin("a_timeline_with_functions_needs_a_trace_and_single_events");
	begin_functions(NULL);
	tap_expect(perf_end(&perf) < 0 && strstr(perf.err, "nothing of Intel PT is decoded"),
		   "without a trace: %s", perf.err);
	tap_expect(perf_begin(&perf, "itrace", NULL) < 0, "taken without timeline");
	perf_end(&perf);
	tap_expect(strstr(perf.err, "itrace is about timelines: give timeline, too"), "%s",
		   perf.err);
	tap_expect(perf_begin(&perf, "timeline itrace batch", NULL) < 0, "taken with batch");
	perf_end(&perf);
	tap_expect(strstr(perf.err, "have no place for round trips of batches"), "%s", perf.err);
	tap_end();
}

static void empty(void)
{
	tap_begin("a_timeline_without_records_is_one_too");
	begin("timeline");
	end();
	tap_expect(nr_events == 1, "%zu events", nr_events);
	find('i', "no samples of kvm_trace: record with -e 'kvm_trace:*'");
	tap_end();
}

int main(int argc, char **argv)
{
	struct perf_dlfilter_fns *fns;

	if (argc != 2)
		tap_die("usage: %s FILTER", argv[0]);
	perf_load(&perf, argv[1]);
	fns = perf_host_symbol(&perf, "perf_dlfilter_fns");
	fns->resolve_ip = no_name;
	fns->resolve_addr = no_name;
	tap_plan(21);
	slices();
	random_recording();
	many_tracks();
	flows();
	losses();
	hypercalls();
	empty();
	functions();
	lost_functions();
	random_functions();
	bounded_functions();
	threads_of_others();
	free(events);
	perf_unload(&perf);
	return tap_exit();
}
