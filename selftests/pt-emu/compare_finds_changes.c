// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison of a trace with a log: equal ones pass, and a change of any kind in
 * either of them is found. The flow is a small loop, told to the core and to the log.
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

/* call 8; jmp 0; nop; jne b; nop; ret; and the handler: iretq */
static const u8 code[] = {
	0xe8, 0x03, 0x00, 0x00, 0x00, 0xeb, 0xf9, 0x90, 0x75, 0x01, 0x90, 0xc3,
};

static const u8 handler[] = { 0x48, 0xcf };

static const struct {
	u64 address;
	size_t size;
} insns[] = {
	{ 0, 5 }, { 5, 2 }, { 8, 2 }, { 0xa, 1 }, { 0xb, 1 },
};

struct flow {
	struct machine *m;
	struct pt_log *log;
	struct pt_emu_state now;
	u8 changed;	/* kind of the record to change, in the middle */
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
		record.from++;
	}
	pt_log_put(f->log, &record);
}

static void put_code(struct flow *f)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(insns); i++)
		pt_log_code(f->log, f->now.cr3, insns[i].address, code + insns[i].address,
			    insns[i].size);
	pt_log_code(f->log, f->now.cr3, HANDLER, handler, sizeof(handler));
}

static void go_round(struct flow *f)
{
	const bool taken = f->round % 3;

	put(f, PT_LOG_CALL, 0, 8);
	pt_emu_call(f->m->pt, false, 8, 5);
	put(f, taken ? PT_LOG_TAKEN : PT_LOG_NOT_TAKEN, 8, taken ? 0xb : 0xa);
	pt_emu_conditional(f->m->pt, taken, f->now.ip);
	put(f, PT_LOG_RET, 0xb, 5);
	pt_emu_ret(f->m->pt, 5);
	if (f->round % 10 == 0) {
		put(f, PT_LOG_EVENT, 5, HANDLER);
		pt_emu_event(f->m->pt, 5, &f->now);
		put(f, PT_LOG_FAR, HANDLER, 5);
		pt_emu_far(f->m->pt, &f->now);
	}
	put(f, PT_LOG_JUMP, 5, 0);
	pt_emu_direct(f->m->pt, 0);
}

static void write_trace(const struct machine *m, const char *path, size_t size)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(m->memory, 1, size, file) != size || fclose(file))
		tap_die("%s", path);
}

/* Returns the status of pt_compare; @cut bytes of the trace are missing. */
static int compare(const char *dir, u8 changed, bool wrong_code, size_t cut)
{
	struct flow f = { .changed = changed, .now = { .mode = PT_EMU_MODE_64, .cr3 = 0x1000 } };
	struct pt_emu_caps caps;
	char log[64], trace[64], command[256];
	const u64 ctl = TRACE_ALL | PT_EMU_CTL_TSCEN | PT_EMU_CTL_DISRETC;
	int status;

	snprintf(log, sizeof(log), "%s/log", dir);
	snprintf(trace, sizeof(trace), "%s/trace", dir);
	pt_emu_default_caps(&caps);
	f.m = machine_new(&caps);
	machine_wrmsr(f.m, PT_EMU_MSR_OUTPUT_BASE, MEMORY_BASE);
	machine_wrmsr(f.m, PT_EMU_MSR_OUTPUT_MASK, MEMORY_SIZE - 1);
	f.log = pt_log_open(log, 0);
	if (!f.log)
		tap_die("%s", log);
	put(&f, PT_LOG_START, ctl, 0);
	put_code(&f);
	if (!machine_enable(f.m, ctl, &f.now))
		tap_die("TraceEn cannot be set");
	for (f.round = 0; f.round < ROUNDS; f.round++) {
		go_round(&f);
		if (wrong_code && f.round == ROUNDS / 2)
			pt_log_code(f.log, f.now.cr3, 8, "\x90\x90", 2);
	}
	put(&f, PT_LOG_STOP, 0, 0);
	machine_disable(f.m, 0);
	write_trace(f.m, trace, (machine_rdmsr(f.m, PT_EMU_MSR_OUTPUT_MASK) >> 32) - cut);
	machine_free(f.m);
	if (!pt_log_close(f.log))
		tap_die("%s", log);
	snprintf(command, sizeof(command), "log/pt_compare %s %s >%s/out 2>&1", log, trace, dir);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test(const char *dir, const char *what, u8 changed, bool wrong_code, size_t cut)
{
	int status;

	tap_begin("compare_finds_a_change: %s", what);
	status = compare(dir, changed, wrong_code, cut);
	tap_expect(status == 1, "pt_compare ended with %d", status);
	tap_end();
}

int main(void)
{
	char dir[] = "/tmp/pt-emu.XXXXXX", command[64];
	int status;

	if (!mkdtemp(dir))
		tap_die("%s", dir);
	tap_plan(11);
	tap_begin("compare_passes_what_is_equal");
	status = compare(dir, 0, false, 0);
	tap_expect(!status, "pt_compare ended with %d", status);
	tap_end();
	test(dir, "not taken", PT_LOG_NOT_TAKEN, false, 0);
	test(dir, "taken", PT_LOG_TAKEN, false, 0);
	test(dir, "jump", PT_LOG_JUMP, false, 0);
	test(dir, "call", PT_LOG_CALL, false, 0);
	test(dir, "return", PT_LOG_RET, false, 0);
	test(dir, "far", PT_LOG_FAR, false, 0);
	test(dir, "event", PT_LOG_EVENT, false, 0);
	test(dir, "stop", PT_LOG_STOP, false, 0);
	test(dir, "code", 0, true, 0);
	test(dir, "the trace ends early", 0, false, 40);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	if (system(command))
		tap_note("%s is left", dir);
	return tap_exit();
}
