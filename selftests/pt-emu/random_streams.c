// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random flows, traced by the core and decoded by libipt: no error, and each
 * instruction that should be traced, in its order, and no other. One result a
 * setting; the numbers are the same in each run.
 */
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>
#include "random_streams.h"
#include "tap.h"

#define BRANCHES	13000	/* a stream */
#define STREAMS		10	/* a setting */

#define CYC_ALL		(TRACE_ALL | PT_EMU_CTL_TSCEN | PT_EMU_CTL_CYCEN)
#define MTCFREQ		3
#define MTC_ALL		(CYC_ALL | PT_EMU_CTL_MTCEN | \
			 (u64)MTCFREQ << PT_EMU_CTL_MTCFREQ_SHIFT)
#define PSBFREQ(n)	((u64)(n) << PT_EMU_CTL_PSBFREQ_SHIFT)
#define ADDR0_FILTER	(1ULL << PT_EMU_CTL_ADDR0_CFG_SHIFT)

static const struct setting settings[] = {
	{ .name = "kernel_and_user", .ctl = TRACE_ALL },
	{ .name = "user_only", .ctl = TRACE_ALL & ~PT_EMU_CTL_OS },
	{ .name = "kernel_only", .ctl = TRACE_ALL & ~PT_EMU_CTL_USER },
	{ .name = "one_cr3", .ctl = TRACE_ALL | PT_EMU_CTL_CR3FILTER },
	{ .name = "one_cr3_user_only",
	  .ctl = (TRACE_ALL | PT_EMU_CTL_CR3FILTER) & ~PT_EMU_CTL_OS },
	{ .name = "time_and_cycles_and_rare_psb", .ctl = CYC_ALL | PSBFREQ(5) },
	{ .name = "time_by_mtc", .ctl = MTC_ALL },
	{ .name = "compressed_returns", .ctl = TRACE_ALL, .ret_compression = true },
	{ .name = "guest_only_by_vmcs_controls", .ctl = TRACE_ALL, .guest_only = true },
	{ .name = "guest_only_by_vmcs_controls_user_only", .ctl = TRACE_ALL & ~PT_EMU_CTL_OS,
	  .guest_only = true },
	{ .name = "overflows", .ctl = TRACE_ALL, .losses = true },
	{ .name = "overflows_user_only", .ctl = TRACE_ALL & ~PT_EMU_CTL_OS, .losses = true },
	{ .name = "one_address_range", .ctl = TRACE_ALL | ADDR0_FILTER, .filtered = true },
};

static struct program program;
static struct run run;

static int read_code(u8 *buffer, size_t size, const struct pt_asid *asid, unsigned long ip,
		     void *context)
{
	(void)asid;
	return program_read(context, ip, buffer, &size) ? (int)size : -pte_nomap;
}

static void trace(const struct setting *s, u64 seed)
{
	run_start(&run, &program, s, seed);
	tap_expect(run_program(&run, BRANCHES), "the log is full");
	pt_emu_flush(run.m->pt);
}

/* An overflow: the log goes on where the trace does. */
static bool skip_loss(size_t *done, unsigned int *losses)
{
	const struct loss *loss = &run.loss[(*losses)++];

	if (!tap_expect(*losses <= run.losses && *done <= loss->from,
			"overflow %u after %zu instructions", *losses, *done))
		return false;
	*done = loss->to;
	return true;
}

/* The instructions of the trace against the log, up to the first difference. */
static bool compare(struct pt_insn_decoder *decoder, size_t *done)
{
	unsigned int losses = 0;
	struct pt_event event;
	struct pt_insn insn;
	int status = pt_insn_sync_forward(decoder);

	while (status >= 0) {
		if (status & pts_event_pending) {
			status = pt_insn_event(decoder, &event, sizeof(event));
			if (status >= 0 && event.type == ptev_overflow &&
			    !skip_loss(done, &losses))
				return false;
			continue;
		}
		if (status & pts_eos)
			return true;
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (status < 0)
			break;
		if (!tap_expect(*done < run.logged && insn.ip == run.log[*done],
				"instruction %zu is at 0x%llx, logged is 0x%llx", *done,
				(u64)insn.ip, *done < run.logged ? run.log[*done] : 0))
			return false;
		++*done;
	}
	return tap_expect(status == -pte_eos, "libipt: %s after %zu instructions",
			  pt_errstr(pt_errcode(status)), *done);
}

static void decode(const struct setting *s, size_t size, size_t *done)
{
	struct pt_insn_decoder *decoder;
	__u32 leaf_15h[4] = { 0 };
	struct pt_config config;

	pt_config_init(&config);
	config.begin = run.m->memory;
	config.end = run.m->memory + size;
	if (s->ctl & PT_EMU_CTL_MTCEN) {
		config.mtc_freq = MTCFREQ;
		pt_emu_cpuid(run.m->pt, 0x15, 0, leaf_15h);
		config.cpuid_0x15_eax = leaf_15h[0];
		config.cpuid_0x15_ebx = leaf_15h[1];
	}
	if (s->filtered) {
		config.addr_filter.config.ctl.addr0_cfg = 1;
		config.addr_filter.addr0_a = program.block[HOST_KERNEL][0].ip[0];
		config.addr_filter.addr0_b = program_filter_end(&program);
	}
	decoder = pt_insn_alloc_decoder(&config);
	if (!decoder)
		tap_die("libipt has no instruction decoder");
	pt_image_set_callback(pt_insn_get_image(decoder), read_code, &program);
	compare(decoder, done);
	pt_insn_free_decoder(decoder);
}

int main(void)
{
	unsigned long branches;
	unsigned int overflows;
	size_t i, size, done, insns, bytes;
	u64 stream;

	tap_plan(ARRAY_SIZE(settings));
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		tap_begin("random_flow_is_decoded_without_error_and_equals_the_log: %s",
			  settings[i].name);
		branches = 0;
		insns = 0;
		overflows = 0;
		bytes = 0;
		for (stream = 0; stream < STREAMS; stream++) {
			trace(&settings[i], 0x9e3779b97f4a7c15 * (i * STREAMS + stream + 1));
			size = machine_rdmsr(run.m, PT_EMU_MSR_OUTPUT_MASK) >> 32;
			done = 0;
			decode(&settings[i], size, &done);
			/* What the last branches would tell is still to come. */
			tap_expect(done && run.logged - done < 64, "%zu of %zu instructions", done,
				   run.logged);
			branches += run.branches;
			insns += done;
			overflows += run.losses;
			bytes += size;
			machine_free(run.m);
		}
		tap_note("%lu branches, %zu instructions, %zu bytes, %u overflows", branches, insns,
			 bytes, overflows);
		tap_end();
	}
	return tap_exit();
}
