// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plugin under libtraceevent itself: loads plugin_kvm_trace.so, hands
 * golden records to tep_print_event() and compares with the decoder's lines.
 * Also formats that lack fields or have more, and records that are cut.
 *
 *	plugin_libtraceevent PLUGIN-DIR [EVENTS-DIR]
 *
 * With EVENTS-DIR (/sys/kernel/tracing/events) the formats are those of the
 * running module.
 */
#include <event-parse.h>
#include "../../perf-plugins/event_formats.h"
#include "batch_lines.h"
#include "decode_encode.h"
#include "decode_golden.h"
#include "tap.h"

#define FORMAT_MAX	65536
#define FIRST_ID	1501

static const struct kvm_trace_event_format *const events = kvm_trace_event_formats;
static const char *events_dir;
static unsigned int compared;

static unsigned int number_of(const char *event)
{
	unsigned int i;

	for (i = 0; i < KVM_TRACE_EVENTS && strcmp(events[i].name, event); i++)
		;
	return i;
}

static void read_format(char *format, const struct kvm_trace_event_format *event)
{
	char path[4096];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s/format", events_dir, event->system, event->name);
	f = fopen(path, "r");
	if (!f)
		golden_die(path, 0, "cannot be read");
	n = fread(format, 1, FORMAT_MAX - 1, f);
	format[n] = 0;
	fclose(f);
}

struct reader {
	struct tep_handle *tep;
	struct tep_plugin_list *plugins;
};

static void load(struct reader *r)
{
	r->plugins = tep_load_plugins(r->tep);
}

static void open_reader(struct reader *r, const char *lacking, unsigned int extra)
{
	static char format[FORMAT_MAX];
	unsigned int i;

	r->tep = tep_alloc();
	if (!r->tep)
		golden_die("tep_alloc", 0, "no memory");
	tep_set_flag(r->tep, TEP_DISABLE_SYS_PLUGINS);
	load(r);
	for (i = 0; i < KVM_TRACE_EVENTS; i++) {
		if (events_dir)
			read_format(format, &events[i]);
		else
			kvm_trace_event_format(i, FIRST_ID + i, format, lacking, extra);
		if (tep_parse_event(r->tep, format, strlen(format), events[i].system))
			golden_die(events[i].name, 0, "libtraceevent does not parse the format");
	}
}

static void close_reader(struct reader *r)
{
	tep_unload_plugins(r->plugins, r->tep);
	tep_free(r->tep);
}

/* Prints size bytes as a record of the event, from a buffer that has no more. */
static void print(struct reader *r, const char *event, const void *bytes, size_t size,
		  char *text, size_t room)
{
	struct tep_event *e = tep_find_event_by_name(r->tep, events[number_of(event)].system,
						     event);
	struct tep_record record = { .size = size };
	__u16 type = e->id;
	struct trace_seq s;

	record.data = malloc(size);
	if (!record.data || size < sizeof(type))
		golden_die(event, 0, "no memory, or not a record");
	memcpy(record.data, bytes, size);
	memcpy(record.data, &type, sizeof(type));
	trace_seq_init(&s);
	tep_print_event(r->tep, &s, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	snprintf(text, room, "%s", s.buffer);
	trace_seq_destroy(&s);
	free(record.data);
}

/* Lets the plugin see a vcpu record that tells the VMM's pid. */
static void introduce(struct reader *r, __u32 vm, __u32 pid, __u8 abi_version)
{
	struct kvm_trace_vcpu c = {
		.vm = vm, .vmm_pid = pid, .abi_version = abi_version,
		.name = { "", 0 }, .vmm = { "", 0 },
	};
	char text[KVM_TRACE_TEXT_SIZE];
	struct record record;

	encode_vcpu(&record, &c);
	print(r, "vcpu", record.bytes, record.size, text, sizeof(text));
}

static __u32 vm_of(const struct golden *g)
{
	struct kvm_trace_vmexit v;
	struct kvm_trace_hypercall h;
	struct kvm_trace_hypercall_sub s;
	struct kvm_trace_lost l;

	if (!strcmp(g->event, "vmexit") && kvm_trace_vmexit_record(&v, g->bytes, g->size))
		return v.vm;
	if (!strcmp(g->event, "hypercall") && kvm_trace_hypercall_record(&h, g->bytes, g->size))
		return h.vm;
	if (!strcmp(g->event, "hypercall_sub") &&
	    kvm_trace_hypercall_sub_record(&s, g->bytes, g->size))
		return s.vm;
	return kvm_trace_lost_record(&l, g->bytes, g->size) ? l.vm : 0;
}

static void expect_text(const char *what, const char *expected, const char *text)
{
	tap_expect(!strcmp(text, expected), "%s: printed \"%s\", not \"%s\"", what, text,
		   expected);
}

static void golden_prints(const struct golden *g)
{
	char text[KVM_TRACE_TEXT_SIZE];
	struct reader r;

	open_reader(&r, NULL, 0);
	if (g->pid)
		introduce(&r, vm_of(g), g->pid, KVM_TRACE_ABI_VERSION);
	print(&r, g->event, g->bytes, g->size, text, sizeof(text));
	expect_text(g->name, g->text, text);
	compared++;
	close_reader(&r);
}

/* A record as a newer module may lay it out: 8 bytes of other fields first. */
static void print_with_more(struct reader *r, const char *event, const __u8 *bytes, size_t size,
			    char *text, size_t room)
{
	static const struct {
		const char *event;
		unsigned int at;
	} tails[] = {
		{ "vmexit", 24 },
		{ "hypercall", 24 },
		{ "hypercall_sub", 28 },
	};
	__u8 more[RECORD_MAX + 8];
	unsigned int i;
	__u32 loc;

	memcpy(more, bytes, 8);
	memset(more + 8, 0xee, 8);
	memcpy(more + 16, bytes + 8, size - 8);
	for (i = 0; i < ARRAY_SIZE(tails); i++) {
		if (strcmp(event, tails[i].event))
			continue;
		memcpy(&loc, bytes + tails[i].at, 4);
		loc += 8;
		memcpy(more + tails[i].at + 8, &loc, 4);
	}
	print(r, event, more, size + 8, text, room);
}

static void golden_prints_with_more(const struct golden *g)
{
	struct kvm_trace_vcpu c = {
		.vm = vm_of(g), .vmm_pid = g->pid, .name = { "", 0 }, .vmm = { "", 0 },
	};
	char text[KVM_TRACE_TEXT_SIZE];
	struct record record;
	struct reader r;

	open_reader(&r, NULL, 8);
	if (g->pid) {
		encode_vcpu(&record, &c);
		print_with_more(&r, "vcpu", record.bytes, record.size, text, sizeof(text));
	}
	print_with_more(&r, g->event, g->bytes, g->size, text, sizeof(text));
	expect_text(g->name, g->text, text);
	compared++;
	close_reader(&r);
}

static void golden_prints_cut(const struct golden *g)
{
	char text[KVM_TRACE_TEXT_SIZE], expected[KVM_TRACE_TEXT_SIZE];
	struct reader r;
	size_t size;

	open_reader(&r, NULL, 0);
	if (g->pid)
		introduce(&r, vm_of(g), g->pid, KVM_TRACE_ABI_VERSION);
	for (size = 8; size < g->size; size++) {
		print(&r, g->event, g->bytes, size, text, sizeof(text));
		/* Fields that did not arrive are absent: no line of the raw decoder to compare. */
		if (golden_decode(g->event, g->bytes, size, g->pid, expected, sizeof(expected)))
			expect_text(g->name, expected, text);
		tap_expect(!strncmp(text, "vm ", 3), "%s cut at %zu: %s", g->name, size, text);
		compared++;
	}
	close_reader(&r);
}

/*
 * One field missing at a time: the part of the line that tells it is gone or
 * is a question mark, and the rest is as it was.
 */
static void test_lacking(void)
{
	static const struct {
		const char *event;
		const char *lacking;
		const char *part;
		const char *instead;
	} cases[] = {
		{ "vmexit", NULL, "", "" },
		{ "vmexit", "vm", "vm 3", "vm ?" },
		{ "vmexit", "vcpu", "vcpu 1", "vcpu ?" },
		{ "vmexit", "isa", "SVM CPUID", "? 0x72" },
		{ "vmexit", "reason", "CPUID", "?" },
		{ "vmexit", "host_ns", " host 850ns", "" },
		{ "vmexit", "flags", " [injected] write", "" },
		{ "vmexit", "tail", " rip 0x1234", "" },
		{ "vmexit", "seq", "", "" },
		{ "vmexit", "class", "", "" },
		{ "hypercall", NULL, "", "" },
		{ "hypercall", "vm", "vm 3", "vm ?" },
		{ "hypercall", "vcpu", "vcpu 1", "vcpu ?" },
		{ "hypercall", "nr", "SCHED_YIELD apicid=2", "? a0=0x2" },
		{ "hypercall", "abi", "KVM SCHED_YIELD apicid=2", "? 0xb a0=0x2" },
		{ "hypercall", "present", " apicid=2 = 0", "" },
		{ "hypercall", "tail", " apicid=2 = 0", "" },
		{ "hypercall", "caller", " cpl0 64", "" },
		{ "hypercall", "seq", "", "" },
		{ "hypercall_sub", NULL, "", "" },
		{ "hypercall_sub", "vm", "vm 3", "vm ?" },
		{ "hypercall_sub", "vcpu", "vcpu 1", "vcpu ?" },
		{ "hypercall_sub", "index", "hypercall_sub 4", "hypercall_sub ?" },
		{ "hypercall_sub", "nr", "vcpu_op(0x1234) vcpuid=5", "? a0=0x1234 a1=0x5" },
		{ "hypercall_sub", "abi", "Xen vcpu_op(0x1234) vcpuid=5",
		  "? 0x18 a0=0x1234 a1=0x5" },
		{ "hypercall_sub", "kind", "(0x1234) vcpuid=5 64", " a0=0x1234 a1=0x5" },
		{ "hypercall_sub", "present", "(0x1234) vcpuid=5", "" },
		{ "hypercall_sub", "tail", "(0x1234) vcpuid=5", "" },
		{ "hypercall_sub", "seq", "", "" },
		{ "vcpu", NULL, "", "" },
		{ "vcpu", "vm", "vm 3", "vm ?" },
		{ "vcpu", "vcpu", "vcpu 1", "vcpu ?" },
		{ "vcpu", "vmm_pid", " (9)", "" },
		{ "vcpu", "vmm_tid", " tid 8", "" },
		{ "vcpu", "vmm[16]", " vmm \"q\"", "" },
		{ "vcpu", "name[24]", " debugfs 9-7", "" },
		{ "vcpu", "tsc_offset", " tsc_offset -5", "" },
		{ "vcpu", "tsc_ratio", " tsc_ratio 1.500000000", "" },
		{ "vcpu", "seq", " next_seq 2", "" },
		{ "vcpu", "generation", " generation 4", "" },
		{ "vcpu", "abi_version", "", "" },
		{ "lost", NULL, "", "" },
		{ "lost", "vm", "vm 3", "vm ?" },
		{ "lost", "vcpu", "vcpu 1", "vcpu ?" },
		{ "lost", "count", "lost 6", "lost ?" },
		{ "lost", "since", " since 0.000000007", "" },
		{ "lost", "why", " no_state", "" },
	};
	static const char *const whole[KVM_TRACE_EVENTS] = {
		[KVM_TRACE_KIND_VMEXIT] =
			"vm 3 vcpu 1 SVM CPUID rip 0x1234 host 850ns [injected] write",
		[KVM_TRACE_KIND_HYPERCALL] =
			"vm 3 vcpu 1 hypercall KVM SCHED_YIELD apicid=2 = 0 cpl0 64",
		[KVM_TRACE_KIND_HYPERCALL_SUB] =
			"vm 3 vcpu 1 hypercall_sub 4 Xen vcpu_op(0x1234) vcpuid=5 64",
		[KVM_TRACE_KIND_VCPU] =
			"vm 3 (9) vcpu 1 SVM tid 8 vmm \"q\" debugfs 9-7 tsc_offset -5 tsc_ratio 1.500000000 next_seq 2 generation 4",
		[KVM_TRACE_KIND_LOST] =
			"vm 3 vcpu 1 lost 6 since 0.000000007 no_state",
	};
	const struct kvm_trace_vmexit v = {
		.vm = 3, .vcpu = 1, .isa = KVM_TRACE_ISA_SVM, .reason = 0x72, .host_ns = 850,
		.flags = KVM_TRACE_F_INJECTED | KVM_TRACE_F_WRITE,
		.have = KVM_TRACE_W_RIP, .rip = 0x1234,
	};
	const struct kvm_trace_hypercall h = {
		.vm = 3, .vcpu = 1, .abi = KVM_TRACE_ABI_KVM, .nr = 11,
		.caller = KVM_TRACE_CALLER_LONG_MODE, .arg = { 2 },
		.present = KVM_TRACE_HC_ARG_32 | KVM_TRACE_HC_W_RESULT,
	};
	const struct kvm_trace_hypercall_sub s = {
		.vm = 3, .vcpu = 1, .abi = KVM_TRACE_ABI_XEN, .nr = 24, .index = 4,
		.kind = KVM_TRACE_SUB_KIND_CALL, .arg = { 0x1234, 5 },
		.present = KVM_TRACE_HC_ARG_32 | KVM_TRACE_HC_ARG_32 << 2,
	};
	const struct kvm_trace_vcpu c = {
		.vm = 3, .vcpu = 1, .isa = KVM_TRACE_ISA_SVM, .vmm_pid = 9, .vmm_tid = 8,
		.name = { "9-7", 3 }, .vmm = { "q", 1 }, .tsc_offset = -5,
		.tsc_ratio = 3ull << 31, .seq = 2, .generation = 4,
		.abi_version = KVM_TRACE_ABI_VERSION,
	};
	const struct kvm_trace_lost l = {
		.vm = 3, .vcpu = 1, .count = 6, .since = 7, .why = KVM_TRACE_LOST_NO_STATE,
	};
	char text[KVM_TRACE_TEXT_SIZE], expected[KVM_TRACE_TEXT_SIZE];
	struct record records[KVM_TRACE_EVENTS];
	const char *line, *part;
	unsigned int i, event;
	struct reader r;

	encode_vmexit(&records[KVM_TRACE_KIND_VMEXIT], &v);
	encode_hypercall(&records[KVM_TRACE_KIND_HYPERCALL], &h);
	encode_hypercall_sub(&records[KVM_TRACE_KIND_HYPERCALL_SUB], &s);
	encode_vcpu(&records[KVM_TRACE_KIND_VCPU], &c);
	encode_lost(&records[KVM_TRACE_KIND_LOST], &l);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		event = number_of(cases[i].event);
		line = whole[event];
		part = strstr(line, cases[i].part);
		snprintf(expected, sizeof(expected), "%.*s%s%s", (int)(part - line), line,
			 cases[i].instead, part + strlen(cases[i].part));
		open_reader(&r, cases[i].lacking, 0);
		print(&r, cases[i].event, records[event].bytes, records[event].size, text,
		      sizeof(text));
		expect_text(cases[i].event, expected, text);
		close_reader(&r);
	}
}

/* As above for the golden records: something of a line comes whatever lacks. */
static void golden_prints_lacking(const struct golden *g)
{
	const struct kvm_trace_event_field *field = events[number_of(g->event)].field;
	char text[KVM_TRACE_TEXT_SIZE];
	struct reader r;

	for (; field->name; field++) {
		open_reader(&r, field->name, 0);
		print(&r, g->event, g->bytes, g->size, text, sizeof(text));
		tap_expect(!strncmp(text, "vm ", 3), "%s without %s: %s", g->name, field->name,
			   text);
		compared++;
		close_reader(&r);
	}
}

/* Prints one vmexit of the VM and compares the pid that is shown. */
static void expect_pid(struct reader *r, __u32 vm, __u32 pid)
{
	struct kvm_trace_vmexit v = { .vm = vm, .isa = KVM_TRACE_ISA_SVM, .reason = 0x78 };
	char text[KVM_TRACE_TEXT_SIZE], expected[KVM_TRACE_TEXT_SIZE];
	struct record record;

	encode_vmexit(&record, &v);
	print(r, "vmexit", record.bytes, record.size, text, sizeof(text));
	kvm_trace_vmexit_text(&v, pid, expected, sizeof(expected));
	expect_text("pid of the VMM", expected, text);
}

static void test_pids(void)
{
	struct reader a, b;
	__u32 vm;

	open_reader(&a, NULL, 0);
	open_reader(&b, NULL, 0);
	expect_pid(&a, 1, 0);
	for (vm = 1; vm <= 3000; vm++)
		introduce(&a, vm * 4096, 100000 + vm, KVM_TRACE_ABI_VERSION);
	introduce(&b, 4096, 77, KVM_TRACE_ABI_VERSION);
	for (vm = 1; vm <= 3000; vm++)
		expect_pid(&a, vm * 4096, 100000 + vm);
	expect_pid(&a, 4097, 0);
	expect_pid(&b, 4096, 77);
	expect_pid(&b, 8192, 0);
	introduce(&a, 4096, 55, KVM_TRACE_ABI_VERSION);
	expect_pid(&a, 4096, 55);
	close_reader(&a);
	expect_pid(&b, 4096, 77);
	close_reader(&b);
}

static void expect_handled(struct reader *r, const char *event, bool handled)
{
	static const __u8 bytes[128];
	char text[KVM_TRACE_TEXT_SIZE];

	print(r, event, bytes, sizeof(bytes), text, sizeof(text));
	tap_expect((!strncmp(text, "vm ?", 4) || !strncmp(text, "batch not ", 10)) == handled,
		   "%s is %shandled: %s", event, handled ? "not " : "", text);
}

static void test_pairs(void)
{
	struct reader r;
	unsigned int i, round;

	open_reader(&r, NULL, 0);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < KVM_TRACE_EVENTS; i++)
			expect_handled(&r, events[i].name, true);
		tep_unload_plugins(r.plugins, r.tep);
		for (i = 0; i < KVM_TRACE_EVENTS; i++)
			expect_handled(&r, events[i].name, false);
		load(&r);
	}
	close_reader(&r);
}

static void test_other_abi(void)
{
	struct reader r;

	open_reader(&r, NULL, 0);
	introduce(&r, 1, 100, KVM_TRACE_ABI_VERSION + 1);
	expect_handled(&r, "vmexit", false);
	expect_handled(&r, "hypercall", false);
	expect_handled(&r, "hypercall_sub", false);
	introduce(&r, 1, 100, KVM_TRACE_ABI_VERSION);
	expect_handled(&r, "vmexit", true);
	expect_handled(&r, "hypercall", true);
	expect_handled(&r, "hypercall_sub", true);
	close_reader(&r);
}

static void batch_prints(const struct batch_file *f)
{
	static char text[2 * BATCH_TEXT_MAX], expected[2 * BATCH_TEXT_MAX];
	struct batch_line l;
	struct reader r;
	const char *line;
	__u16 vcpu, count;
	size_t len;
	__u32 vm;

	memcpy(&vm, f->bytes + 32, sizeof(vm));
	memcpy(&vcpu, f->bytes + 48, sizeof(vcpu));
	memcpy(&count, f->bytes + 50, sizeof(count));
	len = snprintf(expected, sizeof(expected), "vm %u vcpu %u, %u round trips:", vm, vcpu,
		       count);
	for (line = f->text; *line; line += strcspn(line, "\n") + 1) {
		batch_line_parse(line, true, &l);
		len += snprintf(expected + len, sizeof(expected) - len,
				"\n  %llu.%09llu: %s: %s", l.ns / 1000000000,
				l.ns % 1000000000, l.event, l.text);
	}
	open_reader(&r, NULL, 0);
	print(&r, "vmexits", f->bytes, f->size, text, sizeof(text));
	batch_line_drop_pids(text);
	batch_line_drop_pids(expected);
	expect_text(f->name, expected, text);
	compared++;
	close_reader(&r);
}

/* Each damaged batch has a line that says why, and the next one is read. */
static void batch_prints_damaged(const struct batch_file *f)
{
	char text[2 * BATCH_TEXT_MAX];
	struct batch_file damaged = *f;
	struct reader r;
	size_t n;

	open_reader(&r, NULL, 0);
	for (n = KVM_TRACE_BATCH_SIZE; n < f->size; n++) {
		damaged.bytes[n] ^= 0x10;
		print(&r, "vmexits", damaged.bytes, f->size, text, sizeof(text));
		expect_text(f->name, "batch not read: some of its bytes were changed", text);
		damaged.bytes[n] ^= 0x10;
		print(&r, "vmexits", f->bytes, n, text, sizeof(text));
		expect_text(f->name, "batch not read: its end is missing", text);
		compared++;
	}
	print(&r, "vmexits", f->bytes, f->size, text, sizeof(text));
	tap_expect(!strncmp(text, "vm ", 3), "%s is not read behind damaged ones", f->name);
	close_reader(&r);
}

/* Fields in other places are left to TP_printk: the check is over all of them. */
static void batch_prints_with_more(const struct batch_file *f)
{
	char text[KVM_TRACE_TEXT_SIZE];
	struct reader r;

	open_reader(&r, NULL, 8);
	print(&r, "vmexits", f->bytes, f->size, text, sizeof(text));
	expect_text(f->name, KVM_TRACE_WITHOUT_PLUGIN, text);
	compared++;
	close_reader(&r);
}

static void each_batch(const char *promise, char *program,
		       void (*test)(const struct batch_file *f))
{
	tap_begin("%s", promise);
	compared = 0;
	batch_file_each(program, test);
	tap_note("%u batches", compared);
	tap_expect(compared, "no batch was printed");
	tap_end();
}

/* Of a format that it cannot parse, libtraceevent prints bare numbers at best. */
static void test_print_fmt(void)
{
	struct tep_event *event;
	struct reader r;
	unsigned int i;

	open_reader(&r, NULL, 0);
	for (i = 0; i < KVM_TRACE_EVENTS; i++) {
		event = tep_find_event_by_name(r.tep, events[i].system, events[i].name);
		tap_expect(!(event->flags & TEP_EVENT_FL_FAILED), "%s: %s", events[i].name,
			   event->print_fmt.format);
	}
	close_reader(&r);
}

static void each_golden(const char *promise, char *program,
			void (*test)(const struct golden *g))
{
	tap_begin("%s", promise);
	compared = 0;
	golden_each(program, test);
	tap_note("%u lines", compared);
	tap_expect(compared, "no line was compared");
	tap_end();
}

static void once(const char *promise, void (*test)(void))
{
	tap_begin("%s", promise);
	test();
	tap_end();
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		puts("Bail out! the directory of plugin_kvm_trace.so is missing");
		return 1;
	}
	events_dir = argv[2];
	setenv("TRACEEVENT_PLUGIN_DIR", argv[1], 1);
	/* No plugin from the user's own directory. */
	unsetenv("HOME");

	tap_plan(events_dir ? 6 : 11);
	each_golden("plugin_prints_golden_records_as_the_decoder_does", argv[0], golden_prints);
	each_golden("plugin_reads_cut_records_no_further_than_they_go", argv[0],
		    golden_prints_cut);
	each_batch("plugin_prints_a_line_for_each_record_of_a_batch", argv[0], batch_prints);
	each_batch("plugin_tells_of_damaged_batches_and_reads_the_next", argv[0],
		   batch_prints_damaged);
	once("plugin_knows_the_vmm_of_3000_vms_in_each_trace", test_pids);
	if (events_dir) {
		once("libtraceevent_parses_what_TP_printk_says", test_print_fmt);
		return tap_exit();
	}
	each_golden("plugin_finds_fields_in_other_places_behind_unknown_ones", argv[0],
		    golden_prints_with_more);
	each_batch("batches_of_another_layout_are_left_to_TP_printk", argv[0],
		   batch_prints_with_more);
	each_golden("plugin_prints_a_line_whichever_field_is_missing", argv[0],
		    golden_prints_lacking);
	once("a_line_lacks_just_what_the_format_lacks", test_lacking);
	once("plugin_unregisters_what_it_registered", test_pairs);
	once("records_of_another_abi_version_are_left_to_TP_printk", test_other_abi);
	return tap_exit();
}
