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
#include <unistd.h>
#include <linux/perf_event.h>
#include "random_streams.h"
#include "tap.h"

#define BRANCHES	13000
#define PID		1000
#define SAMPLE_ID	77
#define PMU_TYPE	12	/* any: perf takes it from AUXTRACE_INFO */

/* tools/lib/perf/include/perf/event.h */
#define RECORD_AUXTRACE_INFO	70
#define RECORD_AUXTRACE		71
#define AUXTRACE_INTEL_PT	1
#define AUXTRACE_INFO_WORDS	17

#define MTCFREQ		(3ULL << PT_EMU_CTL_MTCFREQ_SHIFT)
#define MTCFREQ_FIELD	(0xfULL << PT_EMU_CTL_MTCFREQ_SHIFT)
#define MTC_ALL		(TRACE_ALL | PT_EMU_CTL_TSCEN | PT_EMU_CTL_CYCEN | \
			 PT_EMU_CTL_MTCEN | MTCFREQ)

#define CRYSTAL_RATIO	8	/* of pt_emu_default_caps() */

#define MAGIC		0x32454c4946524550ULL	/* PERFILE2 */
#define HEADER_SIZE	104

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

static void put(FILE *f, const void *data, size_t size)
{
	if (fwrite(data, 1, size, f) != size)
		tap_die("cannot write perf.data");
}

static void put_words(FILE *f, const u64 *words, size_t n)
{
	put(f, words, n * sizeof(*words));
}

static void put_header(FILE *f, u32 type, u16 misc, size_t size)
{
	const struct perf_event_header header = { type, misc, size };

	put(f, &header, sizeof(header));
}

/* What sample_id_all adds to each record: pid and tid, CPU, and identifier. */
static void put_sample_id(FILE *f)
{
	const u32 words[] = { PID, PID, 0, 0, SAMPLE_ID, 0 };

	put(f, words, sizeof(words));
}

#define SAMPLE_ID_SIZE	24

/* For --guest-code: a guest's user code is the process's own. */
static void put_mmap(FILE *f, const char *name, enum space space)
{
	static const struct {
		u16 misc;
		u32 pid;
		u32 tid;
	} maps[SPACES] = {
		[HOST_KERNEL] = { PERF_RECORD_MISC_KERNEL, ~0U, 0 },
		[HOST_USER] = { PERF_RECORD_MISC_USER, PID, PID },
		[HOST_USER_32] = { PERF_RECORD_MISC_USER, PID, PID },
		[GUEST_KERNEL] = { PERF_RECORD_MISC_GUEST_KERNEL, PID, 0 },
		[GUEST_USER] = { PERF_RECORD_MISC_USER, PID, PID },
	};
	const u32 pid[] = { maps[space].pid, maps[space].tid };
	const u64 where[] = { program_base(space), CODE_SIZE, 0 };
	char padded[64] = "";
	size_t length;

	snprintf(padded, sizeof(padded), "%s", name);
	length = (strlen(padded) + 8) & ~7UL;
	put_header(f, PERF_RECORD_MMAP, maps[space].misc,
		   sizeof(struct perf_event_header) + sizeof(pid) + sizeof(where) + length +
		   SAMPLE_ID_SIZE);
	put(f, pid, sizeof(pid));
	put(f, where, sizeof(where));
	put(f, padded, length);
	put_sample_id(f);
}

/* Without times; the bits are those of the format attributes of intel_pt. */
static void put_auxtrace_info(FILE *f)
{
	const u32 type[] = { AUXTRACE_INTEL_PT, 0 };
	const u64 words[AUXTRACE_INFO_WORDS] = {
		PMU_TYPE, 0, 0, 0, 0, PT_EMU_CTL_TSCEN, PT_EMU_CTL_DISRETC, 0, 0, 0,
		PT_EMU_CTL_MTCEN, MTCFREQ_FIELD, CRYSTAL_RATIO, 1, PT_EMU_CTL_CYCEN,
	};

	put_header(f, RECORD_AUXTRACE_INFO, 0,
		   sizeof(struct perf_event_header) + sizeof(type) + sizeof(words));
	put(f, type, sizeof(type));
	put_words(f, words, ARRAY_SIZE(words));
}

static void put_auxtrace(FILE *f, const u8 *trace, size_t size)
{
	const u64 words[] = { size, 0, 1 };
	const u32 where[] = { 0, PID, ~0U, 0 };

	put_header(f, RECORD_AUXTRACE, 0,
		   sizeof(struct perf_event_header) + sizeof(words) + sizeof(where));
	put_words(f, words, ARRAY_SIZE(words));
	put(f, where, sizeof(where));
	put(f, trace, size);
}

static void put_records(FILE *f, const char *dir, const u8 *trace, size_t size)
{
	const u32 process[] = { PID, PID };
	unsigned int space;
	char name[64];

	put_auxtrace_info(f);
	for (space = 0; space < SPACES; space++) {
		snprintf(name, sizeof(name), "%s/code%u", dir, space);
		put_mmap(f, name, space);
	}
	put_header(f, PERF_RECORD_ITRACE_START, 0,
		   sizeof(struct perf_event_header) + sizeof(process) + SAMPLE_ID_SIZE);
	put(f, process, sizeof(process));
	put_sample_id(f);
	put_auxtrace(f, trace, size);
}

static void write_perf_data(const char *dir, u64 ctl, const u8 *trace, size_t size)
{
	const struct perf_event_attr attr = {
		.type = PMU_TYPE,
		.size = sizeof(attr),
		.config = ctl & ~PT_EMU_CTL_TRACEEN,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_IDENTIFIER,
		.disabled = 1,
		.mmap = 1,
		.comm = 1,
		.mmap2 = 1,
		.sample_id_all = 1,
	};
	const u64 attr_at = HEADER_SIZE + sizeof(u64);
	const u64 data_at = attr_at + sizeof(attr) + 2 * sizeof(u64);
	u64 header[HEADER_SIZE / sizeof(u64)] = {
		MAGIC, HEADER_SIZE, sizeof(attr) + 2 * sizeof(u64),
		attr_at, sizeof(attr) + 2 * sizeof(u64), data_at,
	};
	const u64 ids[] = { HEADER_SIZE, sizeof(u64) }, id = SAMPLE_ID;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/perf.data", dir);
	f = fopen(path, "w");
	if (!f || fseek(f, data_at, SEEK_SET))
		tap_die("%s", path);
	put_records(f, dir, trace, size);
	header[6] = ftell(f) - data_at;
	rewind(f);
	put_words(f, header, ARRAY_SIZE(header));
	put_words(f, &id, 1);
	put(f, &attr, sizeof(attr));
	put_words(f, ids, ARRAY_SIZE(ids));
	if (fclose(f))
		tap_die("%s", path);
}

static void write_code(const char *dir)
{
	unsigned int space;
	char path[64];
	FILE *f;

	for (space = 0; space < SPACES; space++) {
		snprintf(path, sizeof(path), "%s/code%u", dir, space);
		f = fopen(path, "w");
		if (!f)
			tap_die("%s", path);
		put(f, program.code[space], CODE_SIZE);
		if (fclose(f))
			tap_die("%s", path);
	}
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

static void clean(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	if (system(command))
		tap_note("%s is left", dir);
}

static void test(const struct setting *s, u64 seed)
{
	char dir[] = "/tmp/pt-emu.XXXXXX";
	size_t size, done = 0;

	tap_begin("perf_decodes_random_flow_as_logged: %s", s->name);
	run_start(&run, &program, s, seed);
	tap_expect(run_program(&run, BRANCHES), "the log is full");
	pt_emu_flush(run.m->pt);
	size = machine_rdmsr(run.m, PT_EMU_MSR_OUTPUT_MASK) >> 32;
	if (!mkdtemp(dir))
		tap_die("%s", dir);
	write_code(dir);
	/* perf wants whole words; 0 is PAD. */
	memset(run.m->memory + size, 0, sizeof(u64));
	write_perf_data(dir, s->ctl, run.m->memory, (size + 7) & ~7UL);
	decode(dir, &done);
	tap_expect(done && run.logged - done < 128, "%zu of %zu instructions", done, run.logged);
	tap_note("%lu branches, %zu instructions", run.branches, done);
	clean(dir);
	machine_free(run.m);
	tap_end();
}

int main(void)
{
	const bool has_perf = !system("perf version >/dev/null 2>&1");
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
