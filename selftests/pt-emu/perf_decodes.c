// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random flows again, decoded by perf, which has a decoder of its own: the trace is
 * wrapped in a perf.data with the code of host and guest as files, and perf's list of
 * instructions equals the log. Left out are kernels with a CR3 filter, as perf does not
 * see that a MOV to CR3 ends the flow, and guests' kernels without user code: entries
 * into a guest's user code have no PIP then, and perf looks for its kernel in the host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include "perf_data.h"
#include "random_streams.h"
#include "tap.h"

#define BRANCHES	13000

#define MTC_ALL		(TRACE_ALL | PT_EMU_CTL_TSCEN | PT_EMU_CTL_CYCEN | \
			 PT_EMU_CTL_MTCEN | PERF_DATA_MTCFREQ)

static const struct setting settings[] = {
	{ .name = "kernel_and_user", .ctl = TRACE_ALL },
	{ .name = "user_only", .ctl = TRACE_ALL & ~PT_EMU_CTL_OS },
	{ .name = "host_kernel_only", .ctl = TRACE_ALL & ~PT_EMU_CTL_USER, .no_guest = true },
	{ .name = "one_cr3_user_only",
	  .ctl = (TRACE_ALL | PT_EMU_CTL_CR3FILTER) & ~PT_EMU_CTL_OS },
	{ .name = "time_and_cycles", .ctl = TRACE_ALL | PT_EMU_CTL_TSCEN | PT_EMU_CTL_CYCEN },
	{ .name = "time_by_mtc", .ctl = MTC_ALL },
	{ .name = "compressed_returns", .ctl = TRACE_ALL, .ret_compression = true },
	{ .name = "guest_only_by_vmcs_controls", .ctl = TRACE_ALL, .guest_only = true },
};

static struct program program;
static struct run run;

/* For --guest-code: a guest's user code is the process's own. */
static const struct {
	u16 misc;
	u32 pid;
	u32 tid;
} maps[SPACES] = {
	[HOST_KERNEL] = { PERF_RECORD_MISC_KERNEL, ~0U, 0 },
	[HOST_USER] = { PERF_RECORD_MISC_USER, PERF_DATA_PID, PERF_DATA_PID },
	[HOST_USER_32] = { PERF_RECORD_MISC_USER, PERF_DATA_PID, PERF_DATA_PID },
	[GUEST_KERNEL] = { PERF_RECORD_MISC_GUEST_KERNEL, PERF_DATA_PID, 0 },
	[GUEST_USER] = { PERF_RECORD_MISC_USER, PERF_DATA_PID, PERF_DATA_PID },
};

static void write_perf_data(const char *dir, u64 ctl, const u8 *trace, size_t size)
{
	struct perf_mapping mappings[SPACES];
	unsigned int space;

	for (space = 0; space < SPACES; space++)
		mappings[space] = (struct perf_mapping){
			maps[space].misc, maps[space].pid, maps[space].tid,
			program_base(space), program.code[space], CODE_SIZE,
		};
	perf_data_write(dir, ctl, trace, size, mappings, SPACES);
}

static void compare(FILE *perf, size_t *done)
{
	char line[512], *end;
	u64 ip;

	while (fgets(line, sizeof(line), perf)) {
		ip = strtoull(line, &end, 16);
		if (end == line || strspn(end, "\n ") != strlen(end)) {
			tap_expect(false, "perf, after %zu instructions: %s", *done, line);
			return;
		}
		if (!tap_expect(*done < run.logged && ip == run.log[*done],
				"instruction %zu is at 0x%llx, logged is 0x%llx", *done, ip,
				*done < run.logged ? run.log[*done] : 0))
			return;
		++*done;
	}
}

static void decode(const char *dir, size_t *done)
{
	char command[256];
	FILE *perf;

	snprintf(command, sizeof(command),
		 "perf script -i %s/perf.data --guest-code --itrace=i0nse -F ip 2>%s/errors",
		 dir, dir);
	perf = popen(command, "r");
	if (!perf)
		tap_die("perf script");
	compare(perf, done);
	pclose(perf);
}

static void test(const struct setting *s, u64 seed)
{
	char dir[] = PERF_DATA_DIR;
	size_t size, done = 0;

	tap_begin("perf_decodes_random_flow_as_logged: %s", s->name);
	run_start(&run, &program, s, seed);
	tap_expect(run_program(&run, BRANCHES), "the log is full");
	pt_emu_flush(run.m->pt);
	size = machine_rdmsr(run.m, PT_EMU_MSR_OUTPUT_MASK) >> 32;
	if (!mkdtemp(dir))
		tap_die("%s", dir);
	write_perf_data(dir, s->ctl, run.m->memory, size);
	decode(dir, &done);
	tap_expect(done && run.logged - done < 128, "%zu of %zu instructions", done, run.logged);
	tap_note("%lu branches, %zu instructions", run.branches, done);
	perf_data_remove(dir);
	machine_free(run.m);
	tap_end();
}

int main(void)
{
	const bool has_perf = perf_is_here();
	size_t i;

	tap_plan(ARRAY_SIZE(settings));
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		if (has_perf) {
			test(&settings[i], 0x9e3779b97f4a7c15 * (1000 + i));
			continue;
		}
		tap_begin("perf_decodes_random_flow_as_logged: %s", settings[i].name);
		tap_skip("no perf here");
	}
	return tap_exit();
}
