// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine does, and which packets that gives: contexts, filters and
 * table 36-50. VM entries and exits are in vmx.c.
 */
#include "internal.h"

#define ADDR_CFG_FILTER	1
#define ADDR_CFG_STOP	2
#define ADDR_CFG_BITS	4

#define PSB_MIN		2048ULL

/**
 * pt_emu_trigger_enabled() - TriggerEn (36.2.5.2)
 * @pt: of which processor
 *
 * Return: false while no packet of any kind is made: the machine need not tell
 * then what it does.
 */
bool pt_emu_trigger_enabled(const struct pt_emu *pt)
{
	return pt->ctl & PT_EMU_CTL_TRACEEN &&
	       !(pt->status & (PT_EMU_STATUS_ERROR | PT_EMU_STATUS_STOPPED));
}

/**
 * pt_emu_packet_enabled() - PacketEn (36.2.5.1)
 * @pt: of which processor
 *
 * Return: true if the instruction that comes next is traced. While it is false
 * with TriggerEn, the machine tells what may change that, and branches need be
 * told only with address ranges.
 */
bool pt_emu_packet_enabled(const struct pt_emu *pt)
{
	return pt_emu_trigger_enabled(pt) && pt->context_en && pt->filter_en &&
	       pt->ctl & PT_EMU_CTL_BRANCHEN;
}

/* Bits of CR3 that a PIP packet has and CR3 filtering compares: no PCID (36.2.4.2). */
__u64 pt_emu_cr3_address(const struct pt_emu_state *state)
{
	return state->cr3 & ~(state->pae ? 0x1fULL : 0xfffULL);
}

/* ContextEn (36.2.5.3) */
static bool in_context(const struct pt_emu *pt, const struct pt_emu_state *state)
{
	const struct pt_emu_state match = { .cr3 = pt->cr3_match, .pae = state->pae };

	if (!(pt->ctl & (state->cpl ? PT_EMU_CTL_USER : PT_EMU_CTL_OS)))
		return false;
	return !(pt->ctl & PT_EMU_CTL_CR3FILTER) ||
	       pt_emu_cr3_address(state) == pt_emu_cr3_address(&match);
}

static unsigned int addr_cfg(const struct pt_emu *pt, unsigned int range)
{
	return pt->ctl >> (PT_EMU_CTL_ADDR0_CFG_SHIFT + range * ADDR_CFG_BITS) & 0xf;
}

static bool has_ranges(const struct pt_emu *pt)
{
	return pt->ctl >> PT_EMU_CTL_ADDR0_CFG_SHIFT;
}

/* Whether an address is in a range of this use; *@used tells if there is any. */
static bool in_range(const struct pt_emu *pt, unsigned int use, __u64 ip, bool *used)
{
	unsigned int i;

	*used = false;
	for (i = 0; i < pt->caps.ranges; i++) {
		if (addr_cfg(pt, i) != use)
			continue;
		*used = true;
		if (ip >= pt->addr[2 * i] && ip <= pt->addr[2 * i + 1])
			return true;
	}
	return false;
}

/* FilterEn (36.2.5.5), decided by where branches and events land. */
static bool in_filter(const struct pt_emu *pt, __u64 ip)
{
	bool used, in = in_range(pt, ADDR_CFG_FILTER, ip, &used);

	return in || !used;
}

static bool in_stop(const struct pt_emu *pt, __u64 ip)
{
	bool used;

	return in_range(pt, ADDR_CFG_STOP, ip, &used);
}

static __u64 psb_period(const struct pt_emu *pt)
{
	return PSB_MIN << (pt->ctl >> PT_EMU_CTL_PSBFREQ_SHIFT & 0xf);
}

static void psb_if_due(struct pt_emu *pt)
{
	if (pt->byte_count >= psb_period(pt) && pt_emu_trigger_enabled(pt))
		pt_emu_put_psb(pt, pt_emu_packet_enabled(pt));
}

/* What cannot be told any more was lost, if nothing else. */
static void end_loss(struct pt_emu *pt)
{
	if (!pt->lost)
		return;
	pt->lost = false;
	pt->ret_depth = 0;
	pt_emu_put_ovf(pt);
}

/* TraceStop (36.2.4.3): what is in the buffer came before it. */
static void trace_stop(struct pt_emu *pt)
{
	end_loss(pt);
	pt_emu_put_stop(pt);
	pt_emu_flush(pt);
	pt->status |= PT_EMU_STATUS_STOPPED;
}

static void packets_start(struct pt_emu *pt)
{
	pt->ret_depth = 0;
	if (pt->mode_sent != pt->now.mode)
		pt_emu_put_mode(pt);
	pt_emu_put_pge(pt, pt->now.ip);
}

/* TraceEn 0 to 1 (36.2.7.3, cases 2a to 2e of table 36-50), by WRMSR or VM entry. */
void pt_emu_enable(struct pt_emu *pt, __u64 ctl, const struct pt_emu_state *next)
{
	bool stop;

	pt->ctl = ctl;
	pt->now = *next;
	pt->lost = false;
	pt->tnt = 0;
	pt->tnt_bits = 0;
	pt->full_ip = true;
	pt->mode_sent = NO_MODE;
	pt->cycle = pt->ops.clock(pt->machine);
	if (ctl & PT_EMU_CTL_MTCEN)
		pt->mtc = pt_emu_mtc_now(pt);
	pt_emu_output_start(pt);
	if (!pt_emu_trigger_enabled(pt))
		return;
	pt->context_en = in_context(pt, next);
	stop = pt->context_en && in_stop(pt, next->ip);
	pt->filter_en = !stop && in_filter(pt, next->ip);
	if (!pt->byte_count || !pt->caps.psb_cyc) {
		pt_emu_put_psb(pt, false);
	} else {
		pt_emu_put_tsc(pt);
		pt_emu_put_cbr(pt);
	}
	if (pt_emu_packet_enabled(pt))
		packets_start(pt);
	if (stop)
		trace_stop(pt);
}

/* TraceEn 1 to 0; the packets that tell it have been made. */
void pt_emu_disable(struct pt_emu *pt, __u64 ctl)
{
	end_loss(pt);
	pt_emu_flush(pt);
	pt->ctl = ctl;
	pt->context_en = false;
	pt->filter_en = false;
}

enum transfer {
	TRANSFER_NONE,		/* the flow goes on, in another context */
	TRANSFER_CONDITIONAL,	/* taken */
	TRANSFER_DIRECT,
	TRANSFER_INDIRECT,	/* and all others whose target a packet tells */
};

/*
 * All of table 36-50 that comes after a FUP. The packets in between are PIP and
 * MODE.Exec, the last one is TIP, TIP.PGE or TIP.PGD.
 */
static void transfer(struct pt_emu *pt, enum transfer how, const struct pt_emu_state *to,
		     bool new_cr3)
{
	const bool was = pt_emu_packet_enabled(pt);
	bool is, stop;

	pt->now = *to;
	if (!pt_emu_trigger_enabled(pt))
		return;
	pt->context_en = in_context(pt, to);
	if (how != TRANSFER_NONE)
		pt->filter_en = in_filter(pt, to->ip);
	stop = pt->context_en && in_stop(pt, to->ip);
	if (stop)
		pt->filter_en = false;
	is = pt_emu_packet_enabled(pt);

	if (new_cr3 && pt->context_en && pt->ctl & PT_EMU_CTL_OS)
		pt_emu_put_pip(pt);
	if (was && !is) {
		const bool told = pt->context_en && how != TRANSFER_CONDITIONAL;

		pt_emu_put_pgd(pt, told ? &to->ip : NULL);
	} else if (is && !was) {
		packets_start(pt);
	} else if (is && how == TRANSFER_CONDITIONAL) {
		pt_emu_put_tnt(pt, true);
	} else if (is && how == TRANSFER_INDIRECT) {
		if (pt->mode_sent != to->mode)
			pt_emu_put_mode(pt);
		pt_emu_put_tip(pt, to->ip);
	}
	if (stop)
		trace_stop(pt);
	else
		psb_if_due(pt);
}

/* Before the packets of an event, never within them; for vmx.c too. */
void pt_emu_pass_time(struct pt_emu *pt)
{
	if (pt->ctl & PT_EMU_CTL_MTCEN && pt_emu_trigger_enabled(pt))
		pt_emu_put_mtc(pt);
}

static void near_transfer(struct pt_emu *pt, enum transfer how, __u64 target)
{
	struct pt_emu_state to = pt->now;

	pt_emu_pass_time(pt);
	to.ip = target;
	transfer(pt, how, &to, false);
}

/* A far transfer, for vmx.c too; CR3 may be new even if its value is the old one. */
void pt_emu_arrive(struct pt_emu *pt, const struct pt_emu_state *to, bool new_cr3)
{
	pt->ret_depth = 0;
	transfer(pt, TRANSFER_INDIRECT, to, new_cr3 || to->cr3 != pt->now.cr3);
}

/**
 * pt_emu_conditional() - a conditional branch: Jcc, J*CXZ or LOOP
 * @pt: of which processor
 * @taken: whether it was taken
 * @next: the instruction that comes next
 */
void pt_emu_conditional(struct pt_emu *pt, bool taken, __u64 next)
{
	pt_emu_pass_time(pt);
	if (taken && has_ranges(pt)) {
		near_transfer(pt, TRANSFER_CONDITIONAL, next);
		return;
	}
	pt->now.ip = next;
	if (!pt_emu_packet_enabled(pt))
		return;
	pt_emu_put_tnt(pt, taken);
	psb_if_due(pt);
}

/**
 * pt_emu_direct() - an unconditional direct near jump
 * @pt: of which processor
 * @target: where it went
 */
void pt_emu_direct(struct pt_emu *pt, __u64 target)
{
	near_transfer(pt, TRANSFER_DIRECT, target);
}

/**
 * pt_emu_indirect() - an indirect near jump
 * @pt: of which processor
 * @target: where it went
 */
void pt_emu_indirect(struct pt_emu *pt, __u64 target)
{
	near_transfer(pt, TRANSFER_INDIRECT, target);
}

static void push_ret(struct pt_emu *pt, __u64 ip)
{
	unsigned int i;

	if (pt->ret_depth == RET_STACK) {
		for (i = 1; i < RET_STACK; i++)
			pt->ret[i - 1] = pt->ret[i];
		pt->ret_depth--;
	}
	pt->ret[pt->ret_depth++] = ip;
}

/**
 * pt_emu_call() - a near call
 * @pt: of which processor
 * @indirect: its target is not in the instruction
 * @target: where it went
 * @after_call: the instruction behind it
 */
void pt_emu_call(struct pt_emu *pt, bool indirect, __u64 target, __u64 after_call)
{
	if (pt->caps.ret_compression && pt_emu_packet_enabled(pt) &&
	    (indirect || target != after_call))
		push_ret(pt, after_call);
	near_transfer(pt, indirect ? TRANSFER_INDIRECT : TRANSFER_DIRECT, target);
}

/* A compressed RET is told as a branch that is taken (36.4.2.2). */
static bool compress_ret(struct pt_emu *pt, __u64 target)
{
	if (!pt->ret_depth || pt->ctl & PT_EMU_CTL_DISRETC)
		return false;
	if (pt->ret[pt->ret_depth - 1] != target || !pt_emu_packet_enabled(pt)) {
		pt->ret_depth = 0;
		return false;
	}
	pt->ret_depth--;
	return true;
}

/**
 * pt_emu_ret() - a near return
 * @pt: of which processor
 * @target: where it went
 */
void pt_emu_ret(struct pt_emu *pt, __u64 target)
{
	near_transfer(pt, compress_ret(pt, target) ? TRANSFER_CONDITIONAL : TRANSFER_INDIRECT,
		      target);
}

/**
 * pt_emu_far() - a far call, jump or return, SYSCALL, SYSRET, SYSENTER, SYSEXIT
 * @pt: of which processor
 * @to: where it went
 */
void pt_emu_far(struct pt_emu *pt, const struct pt_emu_state *to)
{
	pt_emu_pass_time(pt);
	pt_emu_arrive(pt, to, false);
}

/**
 * pt_emu_event() - an interrupt, an exception, or INT n, INT3, INTO
 * @pt: of which processor
 * @from: for interrupts and traps the instruction that would have come next; for
 *	faults and software interrupts the instruction itself (table 36-23)
 * @to: the first instruction of the handler
 */
void pt_emu_event(struct pt_emu *pt, __u64 from, const struct pt_emu_state *to)
{
	pt_emu_pass_time(pt);
	if (pt_emu_packet_enabled(pt))
		pt_emu_put_fup(pt, from);
	pt_emu_arrive(pt, to, false);
}

/**
 * pt_emu_mov_cr3() - a write of CR3, or what else changes the context within a flow
 * @pt: of which processor
 * @next: the instruction that comes next
 */
void pt_emu_mov_cr3(struct pt_emu *pt, const struct pt_emu_state *next)
{
	pt_emu_pass_time(pt);
	transfer(pt, TRANSFER_NONE, next, true);
}

/**
 * pt_emu_ptwrite() - PTWRITE (36.4.2.21)
 * @pt: of which processor
 * @ip: of the instruction
 * @value: its operand
 * @wide: whether the operand has 64 bits
 * @next: the instruction that comes next
 */
void pt_emu_ptwrite(struct pt_emu *pt, __u64 ip, __u64 value, bool wide, __u64 next)
{
	const bool fup = pt->ctl & PT_EMU_CTL_FUPONPTW;

	pt->now.ip = next;
	if (!pt_emu_trigger_enabled(pt) || !pt->context_en || !pt->filter_en ||
	    !(pt->ctl & PT_EMU_CTL_PTWEN))
		return;
	pt_emu_put_ptw(pt, value, wide, fup);
	if (fup)
		pt_emu_put_fup(pt, ip);
	psb_if_due(pt);
}

/**
 * pt_emu_lose() - an internal buffer overflow (36.3.8) begins
 * @pt: of which processor
 *
 * An emulator has none: tests ask for it. Until pt_emu_recover() the machine goes
 * on to tell what it does.
 */
void pt_emu_lose(struct pt_emu *pt)
{
	pt->lost = pt_emu_trigger_enabled(pt);
}

/**
 * pt_emu_recover() - the internal buffer overflow is resolved
 * @pt: of which processor
 * @next: the instruction that comes next
 *
 * PSB+ follows at once, so that the decoder learns what it missed.
 */
void pt_emu_recover(struct pt_emu *pt, __u64 next)
{
	if (!pt->lost || !pt_emu_trigger_enabled(pt))
		return;
	pt->now.ip = next;
	end_loss(pt);
	if (pt_emu_packet_enabled(pt))
		pt_emu_put_fup(pt, pt->now.ip);
	pt_emu_put_psb(pt, pt_emu_packet_enabled(pt));
}
