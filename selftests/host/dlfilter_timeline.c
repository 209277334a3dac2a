// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timelines of kvm-trace.so: that they are JSON of the Trace Event Format, that
 * slices are what records say and do not overlap, flows, rates and losses.
 *
 *	dlfilter_timeline FILTER
 */
#include "dlfilter_rows.h"
#include "json_check.h"

#define TRACKS	8
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
	tap_expect(complete && strchr("MXCisf", e->ph), "incomplete: %.*s",
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
	if (argc != 2)
		tap_die("usage: %s FILTER", argv[0]);
	perf_load(&perf, argv[1]);
	tap_plan(9);
	slices();
	random_recording();
	many_tracks();
	flows();
	losses();
	hypercalls();
	empty();
	free(events);
	perf_unload(&perf);
	return tap_exit();
}
