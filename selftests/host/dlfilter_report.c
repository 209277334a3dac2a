// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reports of kvm-trace.so: their keys, columns, order, bounds, and what is refused.
 * That they count what single events and batches say is tested in dlfilter_records.c.
 *
 *	dlfilter_report FILTER
 */
#include "dlfilter_rows.h"
#include "json_check.h"
#include "../../perf-plugins/report.h"

/* Columns of a row, behind its keys. */
enum { COUNT, COUNT_SHARE, RATE, TOTAL, TIME_SHARE, MEAN, MIN, P50, P99, MAX, PARTS };

/* The histogram */

static int by_number(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void expect_quantile(u64 *ns, size_t n, unsigned int percent)
{
	static struct kvm_trace_times times;
	u64 exact, found, apart;
	size_t i;

	memset(&times, 0, sizeof(times));
	for (i = 0; i < n; i++)
		kvm_trace_times_add(&times, ns[i]);
	qsort(ns, n, sizeof(*ns), by_number);
	exact = ns[(n * percent + 99) / 100 - 1];
	found = kvm_trace_times_quantile(&times, percent);
	apart = exact > found ? exact - found : found - exact;
	tap_expect(apart <= exact / 32 && found >= times.min && found <= times.max,
		   "p%u of %zu times: %llu, not %llu", percent, n, found, exact);
}

static void quantiles(void)
{
	static u64 ns[1000];
	size_t i, k, n;
	u64 first, middle, last;
	unsigned int b;

	tap_begin("percentiles_are_at_most_1_32_from_those_of_all_times");
	for (i = 0; i < 3000; i++) {
		n = 1 + random_64() % (i % 10 ? 20 : 1000);
		b = 24 + random_64() % 40;
		for (k = 0; k < n; k++)
			ns[k] = random_64() >> b >> random_64() % 24;
		expect_quantile(ns, n, 50);
		expect_quantile(ns, n, 99);
	}
	tap_end();

	tap_begin("buckets_follow_each_other_and_the_last_has_all_that_is_longer");
	for (i = 1, first = 0; i < KVM_TRACE_TIMES_BUCKETS; i++) {
		last = 1ull << KVM_TRACE_TIMES_MAX_BITS;
		/* The first time that is in it is behind @first, at @last at most. */
		while (last - first > 1) {
			middle = first + (last - first) / 2;
			if (kvm_trace_times_bucket(middle) < i)
				first = middle;
			else
				last = middle;
		}
		tap_expect(kvm_trace_times_bucket(last) == i, "bucket %zu: %llu is in %u", i, last,
			   kvm_trace_times_bucket(last));
	}
	tap_expect(kvm_trace_times_bucket(~0ull) == KVM_TRACE_TIMES_BUCKETS - 1, "~0 is in %u",
		   kvm_trace_times_bucket(~0ull));
	tap_end();

	tap_begin("longest_times_are_said_as_they_are");
	for (i = 0; i < 100; i++)
		ns[i] = i < 98 ? 1 : 1ull << 50;
	expect_quantile(ns, 100, 99);
	tap_end();

	tap_begin("buckets_that_are_full_stay_so");
	{
		static struct kvm_trace_times times = { .count = 1, .buckets = { ~0u } };
		static struct kvm_trace_times other = { .count = 1, .buckets = { 1 } };

		kvm_trace_times_add(&times, 0);
		kvm_trace_times_merge(&times, &other);
		tap_expect(times.buckets[0] == ~0u, "%u", times.buckets[0]);
	}
	tap_end();
}

/* Keys */

static void give_hypercall(u32 nr, bool with_round_trip)
{
	const struct kvm_trace_hypercall h = {
		.vm = 1, .seq = seq, .nr = nr, .abi = KVM_TRACE_ABI_KVM,
		.present = KVM_TRACE_HC_W_NS, .ns = 7000,
	};
	const struct kvm_trace_vmexit v = {
		.class = KVM_TRACE_CLASS_hypercall, .reason = 0x81, .host_ns = 7000,
	};
	struct record r;

	encode_hypercall(&r, &h);
	give("kvm_trace:hypercall", &r);
	if (with_round_trip)
		give_round_trip(v);
	else
		seq++;
	now += 10000;
}

static void give_times(unsigned int n, struct kvm_trace_vmexit v)
{
	v.host_ns = 1000;
	while (n--) {
		give_round_trip(v);
		now += 2000;
	}
}

static void give_some_of_each(void)
{
	static const struct {
		unsigned int n;
		struct kvm_trace_vmexit v;
	} some[] = {
		{ 3, { .have = KVM_TRACE_W_MSR, .msr = 0x6e0 } },
		{ 2, { .have = KVM_TRACE_W_MSR, .msr = 0x123456 } },
		{ 2, { .have = KVM_TRACE_W_IO, .io = 0x3f80001 } },
		{ 1, { .have = KVM_TRACE_W_IO, .io = 0x3f80011 } },
		{ 4, { .have = KVM_TRACE_W_CPUID_LEAF, .cpuid_leaf = 0x40000000 } },
		{ 1, { .have = KVM_TRACE_W_GPA, .gpa = 0xfee00123 } },
		{ 1, { .have = KVM_TRACE_W_GPA, .gpa = 0xfee00ff8 } },
		{ 1, { .have = KVM_TRACE_W_MMIO_GPA, .mmio_gpa = 0xfee00ffc } },
		{ 2, { .have = KVM_TRACE_W_HOST_VECTOR, .host_vector = 0xec } },
		{ 5, { .have = KVM_TRACE_W_RIP, .rip = 0xffffffff81000010 } },
		{ 6, { .vcpu = 3 } },
		{ 1, { .have = KVM_TRACE_W_HYPERCALL, .hypercall = 1ull << 32 | 11 } },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(some); i++)
		give_times(some[i].n, some[i].v);
	give_hypercall(11, true);
	give_hypercall(5, false);
	give_hypercall(11, true);
	/* Behind this one, a round trip that is not its own. */
	give_hypercall(5, false);
	give_times(1, (struct kvm_trace_vmexit){ .vcpu = 3 });
}

#define NR_ALL	"34"	/* with two hypercalls that have no round trip */
#define NR_TRIPS "32"

static void keys(void)
{
	static const struct {
		const char *by, *row, *count;
	} wanted[] = {
		{ "vm", "1 77 ", NR_TRIPS },
		{ "vcpu", "3 ", "7" },
		{ "class", "hypercall ", "2" },
		{ "reason", "VMMCALL ", "2" },
		{ "vcpu,reason", "0 CPUID ", "23" },
		{ "msr", "0x6e0 ", "IA32_TSC_DEADLINE" },
		{ "msr", "0x6e0 IA32_TSC_DEADLINE ", "3" },
		{ "msr", "0x123456 ", "2" },
		{ "port", "0x3f8 out ", "2" },
		{ "port", "0x3f8 in ", "1" },
		{ "cpuid", "0x40000000 ", "4" },
		{ "gpa", "0xfee00000 ", "3" },
		{ "vector", "0xec ", "2" },
		{ "rip", "0xffffffff81000010 ", "5" },
		{ "rip", "none ", "27" },
		{ "hypercall", "KVM SCHED_YIELD ", "3" },
		{ "hypercall", "KVM KICK_CPU ", "2" },
		{ "hypercall", "all ", NR_ALL },
		{ "vm,rip", "1 77 0xffffffff81000010 ", "5" },
		{ "vm,rip", "none ", "27" },
	};
	char args[64];
	size_t i;

	tap_begin("reports_by_each_key_count_what_has_it_and_the_rest_as_none");
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		snprintf(args, sizeof(args), "report by=%s", wanted[i].by);
		begin(args);
		give_vcpu(1, 0, 77, "vmm");
		give_some_of_each();
		perf_end(&perf);
		expect_cell(wanted[i].row, COUNT, wanted[i].count);
	}
	tap_end();
}

/* Columns */

static void parts(void)
{
	const u64 words = KVM_TRACE_W_USER_NS | KVM_TRACE_W_HALT_NS | KVM_TRACE_W_RUNNABLE_NS |
			  KVM_TRACE_W_GUEST_NS;

	tap_begin("columns_of_parts_are_there_if_records_tell_them_and_add_up");
	begin("report");
	give_round_trip((struct kvm_trace_vmexit){ .host_ns = 1000 });
	now += SECOND;
	give_round_trip((struct kvm_trace_vmexit){ .host_ns = 3000 });
	perf_end(&perf);
	expect_cell("all ", MAX, "3.00us");
	expect_cell("all ", PARTS, "no such column");
	expect_cell("all ", MEAN, "2.00us");
	expect_cell("all ", RATE, "2.0");
	expect_cell("VM ", PARTS + 3, "no such column");
	begin("report");
	give_round_trip((struct kvm_trace_vmexit){ .host_ns = 1000 });
	give_round_trip((struct kvm_trace_vmexit){
		.host_ns = 9000, .have = words, .user_ns = 2000, .halt_ns = 3000,
		.runnable_ns = 500, .guest_ns = 40 });
	perf_end(&perf);
	expect_cell("all ", PARTS, "5.00us");
	expect_cell("all ", PARTS + 1, "2.00us");
	expect_cell("all ", PARTS + 2, "3.00us");
	expect_cell("all ", PARTS + 3, "500ns");
	expect_cell("all ", PARTS + 4, "40ns");
	expect_cell("all ", PARTS + 5, "no such column");
	tap_end();
}

/* Classes by number, each so long and so often. */
static void give_classes(void)
{
	static const struct {
		u8 class;
		u64 ns, n;
	} some[] = {
		{ KVM_TRACE_CLASS_hlt, 50000, 1 }, { KVM_TRACE_CLASS_io, 9000, 3 },
		{ KVM_TRACE_CLASS_cr, 100, 9 },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(some); i++)
		for (k = 0; k < some[i].n; k++)
			give_round_trip((struct kvm_trace_vmexit){
				.class = some[i].class, .host_ns = some[i].ns,
				.have = KVM_TRACE_W_USER_NS,
				.user_ns = some[i].class == KVM_TRACE_CLASS_io ? 8999 : 50 });
}

static void order_of_rows(void)
{
	static const struct {
		const char *sort, *classes;
	} wanted[] = {
		{ "", "hlt io cr" }, { "sort=count", "cr io hlt" }, { "sort=total", "hlt io cr" },
		{ "sort=mean", "hlt io cr" }, { "sort=max", "hlt io cr" },
		{ "sort=p50", "hlt io cr" }, { "sort=p99", "hlt io cr" },
		{ "sort=min", "hlt io cr" }, { "sort=user", "io cr hlt" },
		{ "sort=handling", "hlt cr io" },
	};
	char args[64], found[64], line[1024];
	const char *at;
	size_t i, len;

	tap_begin("rows_are_sorted_by_the_chosen_column");
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		snprintf(args, sizeof(args), "report by=class %s", wanted[i].sort);
		begin(args);
		give_classes();
		perf_end(&perf);
		for (len = 0, at = strchr(perf.out, '\n') + 1; *at != 'a';
		     at = strchr(at, '\n') + 1)
			len += snprintf(found + len, sizeof(found) - len, "%s%.*s",
					len ? " " : "", (int)strcspn(at, " "), at);
		tap_expect(!strcmp(found, wanted[i].classes), "%s: %s, not %s", wanted[i].sort,
			   found, wanted[i].classes);
	}
	tap_end();

	tap_begin("rows_beyond_the_chosen_number_are_others");
	begin("report by=class sort=count rows=1");
	give_classes();
	perf_end(&perf);
	expect_cell("cr ", COUNT, "9");
	expect_cell("others ", COUNT, "4");
	expect_cell("others ", MAX, "50.00us");
	expect_cell("all ", COUNT, "13");
	tap_expect(!find_line("io ", line, sizeof(line)), "there is: %s", line);
	tap_end();
}

static void many_rows(void)
{
	char text[32];
	size_t i;

	tap_begin("rows_beyond_the_most_that_are_kept_are_counted_as_others");
	begin("report by=rip sort=count rows=2");
	for (i = 0; i < KVM_TRACE_REPORT_ROWS_MAX + 10; i++) {
		give_round_trip((struct kvm_trace_vmexit){
			.host_ns = 1, .have = KVM_TRACE_W_RIP, .rip = 0x1000 + i });
		now += 10;
	}
	/* What is there still counts. */
	give_round_trip((struct kvm_trace_vmexit){
		.host_ns = 1, .have = KVM_TRACE_W_RIP, .rip = 0x1005 });
	perf_end(&perf);
	expect_cell("0x1005 ", COUNT, "2");
	snprintf(text, sizeof(text), "%u", KVM_TRACE_REPORT_ROWS_MAX - 2 + 10);
	expect_cell("others ", COUNT, text);
	snprintf(text, sizeof(text), "%u", KVM_TRACE_REPORT_ROWS_MAX + 11);
	expect_cell("all ", COUNT, text);
	tap_end();
}

/* JSON */

static void expect_member(const char *member)
{
	tap_expect(strstr(perf.out, member), "no %s in\n%s", member, perf.out);
}

static void json(void)
{
	tap_begin("json_says_what_the_table_says_and_what_is_not_known_is_null");
	begin("report json");
	give_vcpu(1, 0, 77, "vmm");
	give_classes();
	seq += 3;
	give_round_trip((struct kvm_trace_vmexit){ .vm = 1, .host_ns = 300 });
	perf_end(&perf);
	tap_expect(is_json(perf.out), "not JSON: %s", perf.out);
	expect_member("\"losses\":{\"round_trips\":3,\"gaps\":1,");
	expect_member("\"by\":[\"vm\",\"class\",\"reason\"]");
	expect_member("{\"vm\":1,\"pid\":77,\"class\":\"io\",\"reason\":\"READ_CR0\",\"count\":3,");
	expect_member("\"host_ns\":{\"total\":27000,\"mean\":9000,\"min\":9000,\"p50\":9000,");
	expect_member("\"handling_ns\":3,\"user_ns\":26997,\"halted_ns\":null,");
	expect_member("\"guest_ns\":null}");
	expect_member("\"all\":{\"count\":14,");
	begin("report by=rip json");
	give_times(2, (struct kvm_trace_vmexit){ .vm = 1 });
	perf_end(&perf);
	tap_expect(is_json(perf.out), "not JSON: %s", perf.out);
	expect_member("\"rows\":[\n],");
	expect_member("\"none\":{\"count\":2,");
	tap_end();
}

/* What is chosen */

static void give_three_vms(void)
{
	u32 vm;

	for (vm = 1; vm <= 3; vm++) {
		seq = 5;
		give_vcpu(vm, 0, 70 + vm, "vmm");
		give_times(vm, (struct kvm_trace_vmexit){ .vm = vm });
	}
}

static void chosen(void)
{
	static const struct {
		const char *args, *count;
	} wanted[] = {
		{ "report", "6" }, { "report vm=2", "2" }, { "report pid=73", "3" },
		{ "report vm=1,3", "4" }, { "report vm=1 pid=72", "3" },
		{ "report by=rip vm=3", "3" },
	};
	size_t i;

	tap_begin("only_chosen_vms_count");
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		begin(wanted[i].args);
		give_three_vms();
		perf_end(&perf);
		expect_cell("all ", COUNT, wanted[i].count);
	}
	begin("vm=2");
	give_three_vms();
	perf_end(&perf);
	tap_expect(strstr(perf.out, "vm 2 ") && !strstr(perf.out, "vm 1 ") &&
		   !strstr(perf.out, "vm 3 "), "lines: %s", perf.out);
	begin("report vm=9");
	give_three_vms();
	tap_expect(perf_end(&perf) < 0 && strstr(perf.err, "no records of the chosen VMs"),
		   "said \"%s\"", perf.err);
	tap_expect(!*perf.out, "printed %s", perf.out);
	/* Where none was chosen, none is missed. */
	begin("report");
	perf_sample(&perf, "kvm_trace:vmexit", now, "", 1);
	tap_expect(!perf_end(&perf), "status of a report of nothing: %s", perf.err);
	expect_cell("all ", COUNT, "0");
	tap_end();
}

static void names(void)
{
	char path[] = "/tmp/names.XXXXXX", args[64];
	int fd = mkstemp(path);

	tap_begin("names_of_vms_stand_beside_their_processes");
	if (fd < 0 || dprintf(fd, "72 web \"1\"\n\n71 db\n") < 0)
		tap_die("%s: cannot be written", path);
	snprintf(args, sizeof(args), "report by=vm names=%s", path);
	begin(args);
	give_three_vms();
	perf_end(&perf);
	expect_cell("1 71 db ", COUNT, "1");
	expect_cell("2 72 web \"1\" ", COUNT, "2");
	expect_cell("3 73 ? ", COUNT, "3");
	expect_cell("all ", COUNT, "6");
	snprintf(args, sizeof(args), "report json names=%s", path);
	begin(args);
	give_three_vms();
	perf_end(&perf);
	tap_expect(is_json(perf.out), "not JSON: %s", perf.out);
	expect_member("\"vm\":2,\"pid\":72,\"name\":\"web \\\"1\\\"\",");
	expect_member("\"vm\":3,\"pid\":73,\"class\"");
	snprintf(args, sizeof(args), "timeline names=%s", path);
	begin(args);
	give_three_vms();
	perf_end(&perf);
	expect_member("\"args\":{\"name\":\"VM 1 (db 71)\"}");
	expect_member("\"args\":{\"name\":\"VM 3 (vmm 73)\"}");
	if (dprintf(fd, "web\n") < 0)
		tap_die("%s: cannot be written", path);
	close(fd);
	tap_expect(perf_begin(&perf, args, NULL) < 0, "a line without a process is taken");
	perf_end(&perf);
	tap_expect(strstr(perf.err, "not all lines are PID NAME"), "said \"%s\"", perf.err);
	unlink(path);
	tap_expect(perf_begin(&perf, args, NULL) < 0, "no file, but no error");
	perf_end(&perf);
	tap_expect(strstr(perf.err, "it cannot be opened"), "said \"%s\"", perf.err);
	tap_end();
}

/* Single events wait for 2 seconds of the recording. */
static void intervals(void)
{
	const char *at;
	size_t i, n = 0;

	tap_begin("reports_of_intervals_add_up_to_that_of_all");
	begin("report by=class every=1");
	for (i = 0; i < 1000; i++) {
		give_round_trip((struct kvm_trace_vmexit){ .host_ns = 1000 });
		now += SECOND / 100;
	}
	perf_end(&perf);
	for (i = 0, at = perf.out; (at = strstr(at, "\nall ")); at++, i++)
		n += strtoull(at + 5 + strspn(at + 5, " "), NULL, 10);
	tap_expect(n == 1000 && i == 10, "%zu in %zu reports:\n%s", n, i, perf.out);
	tap_end();
}

#define SOME_KEYS	", with commas between them, of vm vcpu class reason hypercall" \
			" msr port gpa cpuid vector rip"
#define COLUMNS		" count total mean min p50 p99 max handling user halted runnable guest"
#define FROM_1		" from 1 on, with commas between them"
#define OF_REPORTS	"by=, sort=, json, every= and rows= are about reports"
#define ONE		": give one of them, or none"

static void refused(void)
{
	static const struct {
		const char *args, *message;
	} wanted[] = {
		{ "report report", "--dlarg report: give it once" },
		{ "report timeline", "report, timeline and flow= are different outputs" ONE },
		{ "json", OF_REPORTS ": give report, too" },
		{ "report by=", "--dlarg by=: give some" SOME_KEYS },
		{ "report by=vm,", "--dlarg by=vm,: give some" SOME_KEYS },
		{ "report sort=vm", "--dlarg sort=vm: give one of" COLUMNS },
		{ "report every=0", "--dlarg every=0: give seconds, 1 or more" },
		{ "report rows=x", "--dlarg rows=x: give a number, 1 or more" },
		{ "vm=1,", "--dlarg vm=1,: give numbers" FROM_1 },
		{ "vm=-1", "--dlarg vm=-1: give numbers" FROM_1 },
		{ "pid=4294967296", "--dlarg pid=4294967296: give numbers" FROM_1 },
	};
	char message[256];
	size_t i;

	tap_begin("wrong_words_are_refused_in_one_line_and_nothing_is_printed");
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		snprintf(message, sizeof(message), "kvm-trace: %s\n", wanted[i].message);
		tap_expect(perf_begin(&perf, wanted[i].args, NULL) < 0, "%s", wanted[i].args);
		perf_end(&perf);
		tap_expect(!strcmp(perf.err, message), "said \"%s\", not \"%s\"", perf.err,
			   message);
		tap_expect(!*perf.out, "%s: printed %s", wanted[i].args, perf.out);
	}
	tap_end();
}

/* Of records as large as many, since a line stands for many. */
static void progress(void)
{
	static const char told[] = "\rkvm-trace: 10 MiB of records read, of 3 s \r\033[K";
	char path[] = "/tmp/progress.XXXXXX", args[64], found[2 * sizeof(told)] = "";
	const size_t size = 5 << 20;
	const struct kvm_trace_lost l = { .count = 1, .vm = 1, .why = 1 };
	char *large = calloc(1, size);
	int fd = mkstemp(path);
	struct record r;

	tap_begin("progress_is_told_and_taken_away");
	if (fd < 0 || !large)
		tap_die("%s: cannot be made", path);
	encode_lost(&r, &l);
	memcpy(large, r.bytes, r.size);
	snprintf(args, sizeof(args), "report progress=%s", path);
	begin(args);
	perf_sample(&perf, "kvm_trace:lost", now, large, size);
	perf_sample(&perf, "kvm_trace:lost", now + 3 * SECOND, large, size);
	perf_end(&perf);
	tap_expect(read(fd, found, sizeof(found) - 1) >= 0 && !strcmp(found, told), "told \"%s\"",
		   found);
	begin(args);
	perf_sample(&perf, "kvm_trace:lost", now, large, r.size);
	perf_end(&perf);
	tap_expect(lseek(fd, 0, SEEK_END) == 0, "told of little");
	tap_end();
	unlink(path);
	close(fd);
	free(large);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		tap_die("usage: %s FILTER", argv[0]);
	perf_load(&perf, argv[1]);
	tap_plan(15);
	quantiles();
	keys();
	parts();
	order_of_rows();
	many_rows();
	json();
	chosen();
	names();
	progress();
	intervals();
	refused();
	perf_unload(&perf);
	return tap_exit();
}
