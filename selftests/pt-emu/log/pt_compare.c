// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares a trace of Intel PT with the log of what was executed: branch by branch what
 * libipt decodes, with code from the log, or what perf script printed.
 */
#include <err.h>
#include <getopt.h>
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "expect.h"
#include "sections.h"
#include "trace.h"

static const char usage[] =
	"usage: pt_compare [--cut] [--ctl CTL] [--guest OFFSET] [--perf FILE] LOG... TRACE\n"
	"\n"
	"LOG is a pt-log.N of an emulator, TRACE perf.data or the bytes of one trace. A\n"
	"trace that several logical processors wrote in turn takes the logs of them all.\n"
	"\n"
	"--ctl CTL    the trace has only what was traced with this IA32_RTIT_CTL\n"
	"--cut        the trace may begin and end anywhere, as a snapshot does\n"
	"--guest OFFSET\n"
	"             the trace has nothing of the host, and its first time is that of the log\n"
	"             less OFFSET, which may be 0\n"
	"--perf FILE  do not decode: compare with what this command printed\n"
	"             perf script -i TRACE -C N --itrace=be -F ip,addr\n"
	"\n"
	"The status is 0 if all is equal, 1 if not, 3 if there is nothing to compare.\n";

#define NOTHING	3

static struct expect expect;
static u64 steps;
static bool guest_only;
static u64 tsc_offset;

static const char * const step_names[] = {
	[STEP_END] = "the end", [STEP_ENABLED] = "enabled", [STEP_BRANCH] = "branch",
	[STEP_EVENT] = "event", [STEP_BRANCH_OUT] = "branch out of context",
	[STEP_EVENT_OUT] = "disabled",
};

static void print_step(const char *who, const struct step *step)
{
	fprintf(stderr, "  %s: %s 0x%llx -> 0x%llx, kind %u\n", who,
		step_names[step->kind], step->from, step->to, step->how);
}

/* Where decoder and log part. */
static void part(const char *why, const struct step *found, const struct step *expected)
	__attribute__((noreturn));

static void part(const char *why, const struct step *found, const struct step *expected)
{
	fprintf(stderr, "pt_compare: after %llu equal steps, record %zu of the log: %s\n",
		steps, expect.at, why);
	if (found)
		print_step("decoded", found);
	if (expected)
		print_step("log    ", expected);
	exit(1);
}

/* What the classes of libipt do not tell apart is one here too. */
static enum pt_insn_class class_of(enum pt_log_kind kind)
{
	switch (kind) {
	case PT_LOG_NOT_TAKEN:
	case PT_LOG_TAKEN:
		return ptic_cond_jump;
	case PT_LOG_JUMP:
	case PT_LOG_JUMP_INDIRECT:
		return ptic_jump;
	case PT_LOG_CALL:
	case PT_LOG_CALL_INDIRECT:
		return ptic_call;
	case PT_LOG_RET:
		return ptic_return;
	case PT_LOG_CR3:
		return ptic_other;
	default:
		return ptic_far_call;
	}
}

static bool is_branch(enum pt_insn_class class)
{
	return class != ptic_other && class != ptic_ptwrite;
}

static bool is_far(enum pt_insn_class class)
{
	return class == ptic_far_call || class == ptic_far_return || class == ptic_far_jump;
}

static bool class_equal(enum pt_insn_class found, enum pt_log_kind kind)
{
	const enum pt_insn_class class = class_of(kind);

	return class == found || (is_far(class) && is_far(found));
}

static bool is_in_guest(void)
{
	return expect.place.ctl && expect.place.now->non_root;
}

/* Where there is no host, an entry is the start of what is traced, and an exit its end. */
static void next_step(struct step *step)
{
	bool was, is;

	do {
		was = is_in_guest();
		expect_next(&expect, step);
		is = is_in_guest();
	} while (guest_only && !was && !is && step->kind != STEP_END);
	if (!guest_only || was == is)
		return;
	step->kind = is ? STEP_ENABLED : STEP_EVENT_OUT;
	if (is)
		step->from = 0;
	else
		step->to = 0;
}

/* What PIP packets have told since the flow has last been out of context. */
static struct {
	bool known;
	bool non_root;
	u64 cr3;
} paging;

/* No instruction has followed the last step. */
static bool landed;

static void told_paging(u64 cr3, bool non_root)
{
	paging.known = true;
	paging.cr3 = cr3;
	paging.non_root = non_root;
}

static void compare(const struct step *found, enum pt_insn_class class)
{
	struct step expected;

	next_step(&expected);
	/* VMX: an entry is a branch of the instruction; SVM's no decoder knows. */
	if (expected.how == PT_LOG_VMENTRY && expected.kind == STEP_EVENT)
		expected.kind = found->kind;
	if (expected.how == PT_LOG_VMENTRY && expected.kind == STEP_EVENT_OUT &&
	    found->kind == STEP_BRANCH_OUT)
		expected.kind = STEP_BRANCH_OUT;
	if (found->kind != expected.kind || found->from != expected.from ||
	    found->to != expected.to)
		part("decoder and log differ", found, &expected);
	if ((found->kind == STEP_BRANCH || found->kind == STEP_BRANCH_OUT) &&
	    !class_equal(class, expected.how))
		part("the instruction is of another kind", found, &expected);
	landed = true;
	if (found->kind == STEP_BRANCH_OUT || found->kind == STEP_EVENT_OUT)
		paging.known = false;
	steps++;
}

/* What libipt has told last, if it is a branch whose target is to come. */
struct pending {
	bool branch;
	enum pt_insn_class class;
	u64 ip;
	u64 last_ip;	/* of any instruction */
};

static void branch_went(struct pending *pending, u64 to)
{
	const struct step step = { .kind = STEP_BRANCH, .from = pending->ip, .to = to };

	if (!pending->branch)
		return;
	pending->branch = false;
	compare(&step, pending->class);
}

static void event(struct pending *pending, const struct pt_event *event)
{
	struct step step = { .kind = STEP_END };

	if (event->type == ptev_paging)
		told_paging(event->variant.paging.cr3, event->variant.paging.non_root);
	if (event->status_update) {
		if (event->type == ptev_async_paging)
			told_paging(event->variant.async_paging.cr3,
				    event->variant.async_paging.non_root);
		return;
	}
	switch (event->type) {
	case ptev_async_paging:
		branch_went(pending, event->variant.async_paging.ip);
		told_paging(event->variant.async_paging.cr3, event->variant.async_paging.non_root);
		return;
	case ptev_enabled:
		step = (struct step){ .kind = STEP_ENABLED, .to = event->variant.enabled.ip };
		break;
	case ptev_disabled:
		step = (struct step){ .kind = STEP_BRANCH_OUT, .from = pending->last_ip,
				      .to = event->ip_suppressed ? 0 : event->variant.disabled.ip };
		pending->branch = false;
		break;
	case ptev_async_disabled:
		branch_went(pending, event->variant.async_disabled.at);
		step = (struct step){ .kind = STEP_EVENT_OUT,
				      .from = event->variant.async_disabled.at,
				      .to = event->ip_suppressed ? 0 :
					    event->variant.async_disabled.ip };
		break;
	case ptev_async_branch:
		branch_went(pending, event->variant.async_branch.from);
		step = (struct step){ .kind = STEP_EVENT, .from = event->variant.async_branch.from,
				      .to = event->variant.async_branch.to };
		break;
	case ptev_overflow:
		part("the trace has an overflow", NULL, NULL);
	default:
		return;
	}
	compare(&step, pending->class);
}

static int read_code(u8 *buffer, size_t size, const struct pt_asid *asid, u64 ip, void *context)
{
	const struct pt_code *code = expect_code(&expect, ip);

	(void)asid;
	(void)context;
	if (!code)
		return -pte_nomap;
	if (size > code->size)
		size = code->size;
	memcpy(buffer, code->bytes, size);
	return size;
}

/* Where the trace is cut, a decoder does not know of an event that comes next, and runs on. */
static bool is_cut_here(const struct pt_insn_decoder *decoder, u64 cut_at)
{
	unsigned long offset;	/* libipt's uint64_t is no u64 */

	return cut_at && !pt_insn_get_offset(decoder, &offset) && offset >= cut_at;
}

/* The first instruction behind a step, where all that belongs to that has been told. */
static void check_state(const struct pt_insn *insn)
{
	static const u8 bits[] = { [ptem_16bit] = 16, [ptem_32bit] = 32, [ptem_64bit] = 64 };
	const struct step found = { .kind = STEP_BRANCH, .from = insn->ip };
	const struct pt_log_record *now = expect.place.now;
	const unsigned int low = now->pae ? 5 : 12;

	if (!landed)
		return;
	landed = false;
	if (insn->mode >= ARRAY_SIZE(bits) || bits[insn->mode] != now->bits)
		part("the code is of another execution mode", &found, NULL);
	if (paging.known && paging.cr3 >> low != now->cr3 >> low)
		part("CR3 is another one", &found, NULL);
	/* Of a guest alone, NR says nothing to perf. */
	if (!guest_only && paging.known && paging.non_root != now->non_root)
		part("one is in non-root operation, and the other is not", &found, NULL);
}

static int follow(struct pt_insn_decoder *decoder, int status, u64 cut_at)
{
	struct pending pending = { .branch = false };
	struct pt_event told;
	struct pt_insn insn;

	while (status >= 0) {
		if (is_cut_here(decoder, cut_at))
			return -pte_eos;
		if (status & pts_event_pending) {
			status = pt_insn_event(decoder, &told, sizeof(told));
			if (status >= 0)
				event(&pending, &told);
			continue;
		}
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (status < 0)
			break;
		branch_went(&pending, insn.ip);
		check_state(&insn);
		pending.last_ip = insn.ip;
		pending.branch = is_branch(insn.iclass);
		pending.class = insn.iclass;
		pending.ip = insn.ip;
	}
	return status;
}

static void configure(struct pt_config *config, const struct trace *trace)
{
	pt_config_init(config);
	config->begin = trace->data;
	config->end = trace->data + trace->size;
}

/* After PSB no earlier address is there to update. */
static u64 whole_ip(const struct pt_packet_ip *packet)
{
	const s64 shifted = packet->ip << 16;

	return packet->ipc == pt_ipc_sext_48 ? (u64)(shifted >> 16) : packet->ip;
}

/* Time and address of the first PSB+. */
static bool find_start(const struct trace *trace, u64 *tsc, u64 *ip)
{
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	struct pt_packet packet;
	bool found = false;
	int status;

	*ip = 0;
	configure(&config, trace);
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder)
		errx(2, "libipt has no memory");
	for (status = pt_pkt_sync_forward(decoder); status >= 0;) {
		status = pt_pkt_next(decoder, &packet, sizeof(packet));
		if (status < 0 || packet.type == ppt_psbend)
			break;
		if (packet.type == ppt_tsc) {
			*tsc = packet.payload.tsc.tsc;
			found = true;
		}
		if (packet.type == ppt_fup)
			*ip = whole_ip(&packet.payload.ip);
	}
	pt_pkt_free_decoder(decoder);
	return found;
}

/* Behind the last whole packet. */
static u64 whole_size(const struct trace *trace)
{
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	struct pt_packet packet;
	unsigned long offset = 0;
	int status;

	configure(&config, trace);
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder)
		errx(2, "libipt has no memory");
	pt_pkt_sync_set(decoder, trace->size);
	for (status = pt_pkt_sync_backward(decoder); status >= 0;)
		status = pt_pkt_next(decoder, &packet, sizeof(packet));
	pt_pkt_get_offset(decoder, &offset);
	pt_pkt_free_decoder(decoder);
	return offset;
}

/* Returns false for a trace without a PSB. */
static bool go_to_start(const struct trace *trace)
{
	u64 tsc, ip;

	if (!find_start(trace, &tsc, &ip))
		return false;
	tsc += tsc_offset;
	if (!expect_start(&expect, tsc, ip))
		errx(1, "the log has nothing at the time of the first PSB, 0x%llx",
		     tsc);
	return true;
}

static void compare_trace(const struct trace *trace, bool cut)
{
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	int status;

	configure(&config, trace);
	decoder = pt_insn_alloc_decoder(&config);
	if (!decoder)
		errx(2, "libipt has no memory");
	pt_image_set_callback(pt_insn_get_image(decoder), (read_memory_callback_t *)read_code,
			      NULL);
	status = pt_insn_sync_forward(decoder);
	if (status >= 0)
		status = follow(decoder, status, cut ? whole_size(trace) : 0);
	if (status != -pte_eos)
		part(pt_errstr(pt_errcode(status)), NULL, NULL);
	pt_insn_free_decoder(decoder);
}

/* perf tells of branches that are taken, and of 0 for what is out of context. */
static void expect_taken(struct step *step)
{
	do {
		next_step(step);
	} while (step->kind == STEP_BRANCH && step->how == PT_LOG_NOT_TAKEN);
}

static void compare_text(const char *path)
{
	struct step found = { .kind = STEP_BRANCH }, expected;
	char line[512], *arrow, *end;
	FILE *file = fopen(path, "r");

	if (!file)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), file)) {
		arrow = strstr(line, "=>");
		if (!arrow)
			part(line, NULL, NULL);
		found.from = strtoull(line, &end, 16);
		found.to = strtoull(arrow + 2, NULL, 16);
		expect_taken(&expected);
		if (end == line || found.from != expected.from || found.to != expected.to)
			part("perf and log differ", &found, &expected);
		steps++;
	}
	fclose(file);
}

static void check_end(bool cut)
{
	if (!cut && !(guest_only && !is_in_guest()) && !expect_is_stopped(&expect))
		part("the trace ends before tracing did", NULL, NULL);
}

static void print_counts(void)
{
	static const char * const names[] = {
		[PT_LOG_NOT_TAKEN] = "not taken", [PT_LOG_TAKEN] = "taken",
		[PT_LOG_JUMP] = "jumps", [PT_LOG_JUMP_INDIRECT] = "indirect jumps",
		[PT_LOG_CALL] = "calls", [PT_LOG_CALL_INDIRECT] = "indirect calls",
		[PT_LOG_RET] = "returns", [PT_LOG_FAR] = "far", [PT_LOG_EVENT] = "events",
		[PT_LOG_VMENTRY] = "entries", [PT_LOG_VMEXIT] = "exits",
	};
	size_t i;

	printf("%llu steps equal:", steps);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i])
			printf("%s %llu %s", i == PT_LOG_NOT_TAKEN ? "" : ",",
			       expect.counts[i], names[i]);
	}
	printf(", %llu starts, %llu steps in the host, %llu in guests",
	       expect.counts[PT_LOG_START], expect.steps[0], expect.steps[1]);
	putchar('\n');
}

/* Of one log all is taken, unless told otherwise. */
static unsigned int take_logs(char **paths, size_t n, const u64 *ctl)
{
	struct log_file *logs = calloc(n, sizeof(*logs)), merged;
	size_t i;

	if (!logs)
		errx(2, "no memory");
	for (i = 0; i < n; i++)
		log_read(&logs[i], paths[i]);
	if (n > 1 || ctl)
		log_merge(&merged, logs, n, ctl);
	else
		merged = *logs;
	expect_open(&expect, &merged);
	return merged.cpu;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "cut", no_argument, NULL, 'c' },
		{ "ctl", required_argument, NULL, 't' },
		{ "guest", required_argument, NULL, 'g' },
		{ "perf", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	bool cut = false, one_ctl = false;
	const char *text = NULL;
	struct trace *traces;
	unsigned int cpu;
	char *end;
	u64 ctl;
	size_t n, i;
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 'c':
			cut = true;
			break;
		case 't':
			one_ctl = true;
			ctl = strtoull(optarg, &end, 16);
			if (end != optarg && !*end)
				break;
			errx(2, "--ctl takes a hexadecimal number, not '%s'", optarg);
		case 'g':
			guest_only = true;
			tsc_offset = strtoull(optarg, &end, 0);
			if (end != optarg && !*end)
				break;
			errx(2, "--guest takes a number, not '%s'", optarg);
		case 'p':
			text = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (argc - optind < 2) {
		fputs(usage, stderr);
		return 2;
	}
	cpu = take_logs(argv + optind, argc - optind - 1, one_ctl ? &ctl : NULL);
	n = trace_read(argv[argc - 1], cpu, &traces);
	for (i = 0; i < n; i++) {
		if (!go_to_start(&traces[i]))
			continue;
		if (text)
			compare_text(text);
		else
			compare_trace(&traces[i], cut);
		check_end(cut);
		if (text)
			break;
	}
	print_counts();
	return steps ? 0 : NOTHING;
}
