// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison of a trace with a log: equal ones pass, and a change of any kind in
 * either of them is found. The flow is a small loop, told to the core and to the log,
 * whole or as filters of addresses and CR3 leave it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "log/write.h"
#include "machine.h"
#include "tap.h"

#define ROUNDS	1000
#define HANDLER	0x2000ULL

/* call 8; jmp 0; nop; jne b; nop; ret */
static const u8 code[] = {
	0xe8, 0x03, 0x00, 0x00, 0x00, 0xeb, 0xf9, 0x90, 0x75, 0x01, 0x90, 0xc3,
};

/* mov %rax,%cr3; jmp 5; mov %rax,%cr3; iretq */
static const u8 handler[] = { 0x0f, 0x22, 0xd8, 0xeb, 0x00, 0x0f, 0x22, 0xd8, 0x48, 0xcf };

struct insn {
	u64 address;
	size_t size;
};

static const struct insn insns[] = { { 0, 5 }, { 5, 2 }, { 8, 2 }, { 0xa, 1 }, { 0xb, 1 } };
static const struct insn handler_insns[] = { { 0, 3 }, { 3, 2 }, { 5, 3 }, { 8, 2 } };

#define FILTER_ADDR0	(1ULL << PT_EMU_CTL_ADDR0_CFG_SHIFT)
#define STOP_ADDR0	(2ULL << PT_EMU_CTL_ADDR0_CFG_SHIFT)
#define CR3		0x1000ULL
#define OTHER_CR3	0x3000ULL

/* What there is to compare, and what is changed in it. */
struct variant {
	const char *name;
	u64 filters;	/* IA32_RTIT_CTL's bits for them */
	u64 first;	/* IA32_RTIT_ADDR0_A */
	u64 last;	/* IA32_RTIT_ADDR0_B */
	u64 cr3;	/* IA32_RTIT_CR3_MATCH */
	bool never_taken;	/* the conditional branch */
	u8 changed;	/* kind of the record to change, in the middle */
	u64 cr3_changed;	/* not its address, but these bits of CR3, */
	u8 bits;	/* or the execution mode */
	bool non_root;
	bool pip_lost;
	bool wrong_code;
	size_t cut;	/* bytes of the trace that are missing */
};

struct flow {
	struct machine *m;
	struct pt_log *log;
	struct pt_emu_state now;
	const struct variant *v;
	u8 changed;
	unsigned int round;
};

static void put(struct flow *f, enum pt_log_kind kind, u64 from, u64 to)
{
	struct pt_log_record record = {
		.kind = kind,
		.bits = 64,
		.cr3 = f->now.cr3,
		.from = from,
		.to = to,
		.tsc = ++f->m->tsc,
	};

	f->now.ip = to;
	if (f->changed == kind && f->round >= ROUNDS / 2) {
		f->changed = 0;
		record.cr3 ^= f->v->cr3_changed;
		record.non_root = f->v->non_root;
		if (f->v->bits)
			record.bits = f->v->bits;
		else if (!f->v->cr3_changed && !f->v->non_root)
			record.from++;
	}
	pt_log_put(f->log, &record);
}

static void put_code_at(struct flow *f, u64 cr3, u64 base, const u8 *bytes,
			const struct insn *insn, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		pt_log_code(f->log, cr3, base + insn[i].address, bytes + insn[i].address,
			    insn[i].size);
}

static void put_code(struct flow *f)
{
	put_code_at(f, CR3, 0, code, insns, ARRAY_SIZE(insns));
	put_code_at(f, CR3, HANDLER, handler, handler_insns, ARRAY_SIZE(handler_insns));
	put_code_at(f, OTHER_CR3, HANDLER, handler, handler_insns, ARRAY_SIZE(handler_insns));
}

static void handle_event(struct flow *f)
{
	put(f, PT_LOG_EVENT, 5, HANDLER);
	pt_emu_event(f->m->pt, 5, &f->now);
	f->now.cr3 = OTHER_CR3;
	put(f, PT_LOG_CR3, HANDLER, HANDLER + 3);
	if (!f->v->pip_lost)
		pt_emu_mov_cr3(f->m->pt, &f->now);
	put(f, PT_LOG_JUMP, HANDLER + 3, HANDLER + 5);
	pt_emu_direct(f->m->pt, f->now.ip);
	f->now.cr3 = CR3;
	put(f, PT_LOG_CR3, HANDLER + 5, HANDLER + 8);
	pt_emu_mov_cr3(f->m->pt, &f->now);
	put(f, PT_LOG_FAR, HANDLER + 8, 5);
	pt_emu_far(f->m->pt, &f->now);
}

static void go_round(struct flow *f)
{
	const bool taken = f->round % 3 && !f->v->never_taken;

	put(f, PT_LOG_CALL, 0, 8);
	pt_emu_call(f->m->pt, false, 8, 5);
	put(f, taken ? PT_LOG_TAKEN : PT_LOG_NOT_TAKEN, 8, taken ? 0xb : 0xa);
	pt_emu_conditional(f->m->pt, taken, f->now.ip);
	put(f, PT_LOG_RET, 0xb, 5);
	pt_emu_ret(f->m->pt, 5);
	if (f->round % 10 == 9)
		handle_event(f);
	put(f, PT_LOG_JUMP, 5, 0);
	pt_emu_direct(f->m->pt, 0);
}

static void write_trace(const struct machine *m, const char *path, size_t size)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(m->memory, 1, size, file) != size || fclose(file))
		tap_die("%s", path);
}

static void set_filters(struct flow *f, const struct variant *v)
{
	machine_wrmsr(f->m, PT_EMU_MSR_ADDR0_A, v->first);
	machine_wrmsr(f->m, PT_EMU_MSR_ADDR0_A + 1, v->last);
	machine_wrmsr(f->m, PT_EMU_MSR_CR3_MATCH, v->cr3);
}

/* The log says that another filter was used. */
static void put_msrs(struct flow *f, const struct variant *v, u64 ctl)
{
	struct pt_log_record wrong = { .kind = PT_LOG_MSR };

	pt_log_msrs(f->log, f->m->pt, ctl);
	if (v->changed != PT_LOG_MSR)
		return;
	wrong.from = v->cr3 ? PT_EMU_MSR_CR3_MATCH : PT_EMU_MSR_ADDR0_A + 1;
	wrong.to = v->cr3 ? OTHER_CR3 : v->last - 1;
	pt_log_put(f->log, &wrong);
}

/* Returns the status of pt_compare. */
static int compare(const char *dir, const struct variant *v)
{
	struct flow f = {
		.v = v, .changed = v->changed,
		.now = { .mode = PT_EMU_MODE_64, .cr3 = CR3 },
	};
	struct pt_emu_caps caps;
	char log[64], trace[64], command[256];
	const u64 ctl = TRACE_ALL | PT_EMU_CTL_TSCEN | PT_EMU_CTL_DISRETC | v->filters;
	int status;

	snprintf(log, sizeof(log), "%s/log", dir);
	snprintf(trace, sizeof(trace), "%s/trace", dir);
	pt_emu_default_caps(&caps);
	f.m = machine_new(&caps);
	machine_wrmsr(f.m, PT_EMU_MSR_OUTPUT_BASE, MEMORY_BASE);
	machine_wrmsr(f.m, PT_EMU_MSR_OUTPUT_MASK, MEMORY_SIZE - 1);
	set_filters(&f, v);
	f.log = pt_log_open(log, 0);
	if (!f.log)
		tap_die("%s", log);
	put_msrs(&f, v, ctl);
	put(&f, PT_LOG_START, ctl, 0);
	put_code(&f);
	if (!machine_enable(f.m, ctl, &f.now))
		tap_die("TraceEn cannot be set");
	for (f.round = 0; f.round < ROUNDS; f.round++) {
		go_round(&f);
		if (v->wrong_code && f.round == ROUNDS / 2)
			pt_log_code(f.log, f.now.cr3, 8, "\x90\x90", 2);
	}
	put(&f, PT_LOG_STOP, 0, 0);
	machine_disable(f.m, 0);
	write_trace(f.m, trace, (machine_rdmsr(f.m, PT_EMU_MSR_OUTPUT_MASK) >> 32) - v->cut);
	machine_free(f.m);
	if (!pt_log_close(f.log))
		tap_die("%s", log);
	snprintf(command, sizeof(command), "log/pt_compare %s %s >%s/out 2>&1", log, trace, dir);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define LOOP_ONLY	.filters = FILTER_ADDR0, .last = 0xfff
#define CALLER_ONLY	.filters = FILTER_ADDR0, .last = 5
#define CR3_ONLY	.filters = PT_EMU_CTL_CR3FILTER, .cr3 = CR3
#define UP_TO_EVENT	.filters = STOP_ADDR0, .first = HANDLER, .last = HANDLER

static const struct variant equal[] = {
	{ .name = "without a filter" },
	{ "range that events leave", LOOP_ONLY },
	{ "range that calls leave", CALLER_ONLY },
	{ "range that code runs out of", .filters = FILTER_ADDR0, .last = 8, .never_taken = true },
	{ "range that MOV to CR3 runs out of", .filters = FILTER_ADDR0, .last = HANDLER },
	{ "range and CR3", .filters = FILTER_ADDR0 | PT_EMU_CTL_CR3FILTER,
	  .last = HANDLER + 0xff, .cr3 = CR3 },
	{ "CR3", CR3_ONLY },
	{ "CR3 with a PCID", .filters = PT_EMU_CTL_CR3FILTER, .cr3 = CR3 | 0xfe0 },
	{ "TraceStop", UP_TO_EVENT },
};

static const struct variant changes[] = {
	{ "not taken", .changed = PT_LOG_NOT_TAKEN },
	{ "taken", .changed = PT_LOG_TAKEN },
	{ "jump", .changed = PT_LOG_JUMP },
	{ "call", .changed = PT_LOG_CALL },
	{ "return", .changed = PT_LOG_RET },
	{ "far", .changed = PT_LOG_FAR },
	{ "event", .changed = PT_LOG_EVENT },
	{ "stop", .changed = PT_LOG_STOP },
	{ "CR3 in a flow", .changed = PT_LOG_FAR, .cr3_changed = 0x10000 },
	{ "a PIP packet is missing", .pip_lost = true },
	{ "non-root operation", .changed = PT_LOG_EVENT, .non_root = true },
	{ "execution mode", .changed = PT_LOG_FAR, .bits = 32 },
	{ "code", .wrong_code = true },
	{ "the trace ends early", .cut = 40 },
	{ "range", CALLER_ONLY, .changed = PT_LOG_MSR },
	{ "call out of a range", CALLER_ONLY, .changed = PT_LOG_CALL },
	{ "CR3", CR3_ONLY, .changed = PT_LOG_MSR },
	{ "MOV to CR3", CR3_ONLY, .changed = PT_LOG_CR3 },
	{ "TraceStop", UP_TO_EVENT, .changed = PT_LOG_MSR },
};

static void test(const char *dir, const char *promise, const struct variant *v, int expected)
{
	int status;

	tap_begin("%s: %s", promise, v->name);
	status = compare(dir, v);
	tap_expect(status == expected, "pt_compare ended with %d", status);
	tap_end();
}

int main(void)
{
	char dir[] = "/tmp/pt-emu.XXXXXX", command[64];
	size_t i;

	if (!mkdtemp(dir))
		tap_die("%s", dir);
	tap_plan(ARRAY_SIZE(equal) + ARRAY_SIZE(changes));
	for (i = 0; i < ARRAY_SIZE(equal); i++)
		test(dir, "compare_passes_what_is_equal", &equal[i], 0);
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		test(dir, "compare_finds_a_change", &changes[i], 1);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	if (system(command))
		tap_note("%s is left", dir);
	return tap_exit();
}
