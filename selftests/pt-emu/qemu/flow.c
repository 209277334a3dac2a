// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the virtual CPU executes while TraceEn is 1: first into the log, then to the
 * core. Which instructions are branches is found in plugin.c.
 */
#include "cpu.h"

static const __u8 bits[] = {
	[PT_EMU_MODE_16] = 16, [PT_EMU_MODE_64] = 64, [PT_EMU_MODE_32] = 32,
};

/* Lets translated code tell of blocks and branches as long as one virtual CPU needs it. */
void follow(struct cpu *c)
{
	static unsigned int following;
	const bool needs = c->tracing || c->entering || c->cpuid;

	if (needs == c->followed)
		return;
	c->followed = needs;
	follow_blocks(__atomic_add_fetch(&following, needs ? 1 : -1, __ATOMIC_SEQ_CST));
}

/* At the start of a callback, for all that it tells. */
void time_passes(struct cpu *c)
{
	c->time = cpus_get_elapsed_ticks();
}

/* What RDTSC reads. */
__u64 guest_time(const struct cpu *c)
{
	return c->time + (c->guest ? c->tsc_offset : 0);
}

static void log_step(struct cpu *c, enum pt_log_kind kind, __u64 from,
		     const struct pt_emu_state *at, __u64 to)
{
	const struct pt_log_record record = {
		.kind = kind,
		.cpl = at->cpl,
		.bits = bits[at->mode],
		.non_root = at->non_root,
		.pae = at->pae,
		.cr3 = at->cr3,
		.from = from,
		.to = to,
		.tsc = guest_time(c),
	};

	if (c->log)
		pt_log_put(c->log, &record);
}

/* A step: into the log. The caller tells the core. */
void flow_step(struct cpu *c, enum pt_log_kind kind, __u64 from,
	       const struct pt_emu_state *to)
{
	c->now = *to;
	log_step(c, kind, from, to, to->ip);
}

/* TraceEn was set. */
void flow_start(struct cpu *c, __u64 ctl, const struct pt_emu_state *to)
{
	c->tracing = true;
	c->ctl = ctl;
	c->exception = false;
	c->branch.word = 0;
	if (c->log)
		pt_log_msrs(c->log, c->pt, ctl);
	flow_step(c, PT_LOG_START, ctl, to);
	follow(c);
}

/* TraceEn was cleared. */
void flow_stop(struct cpu *c, __u64 ip)
{
	log_step(c, PT_LOG_STOP, ip, &c->now, 0);
	if (c->log)
		pt_log_flush(c->log);
	c->tracing = false;
	follow(c);
}

/* An instruction that may branch is about to be executed. */
void branch_starts(unsigned int index, void *data)
{
	(void)index;
	cpu_current()->branch.word = (__u64)data;
}

/* So is one that changes more than the address; its block may have been skipped. */
void far_starts(unsigned int index, void *data)
{
	struct cpu *c = cpu_current();

	(void)index;
	c->branch.word = (__u64)data;
	c->block = reg_read(c, REG_RIP) + c->base;
}

bool changes_state(union transfer branch)
{
	return branch.kind == PT_LOG_FAR || branch.kind == PT_LOG_CR3;
}

/* Nobody asks where a near branch went at a privilege level that is not traced. */
static bool can_be_skipped(const struct cpu *c)
{
	return !(c->ctl & (c->now.cpl ? PT_EMU_CTL_USER : PT_EMU_CTL_OS)) &&
	       !(c->branch.word && changes_state(c->branch));
}

/*
 * The branch that is pending before @ip, at which the flow is interrupted by an event,
 * or 0. @faulted tells that the event may be the branch's own.
 */
union transfer branch_before(struct cpu *c, __u64 ip, bool faulted)
{
	const union transfer branch = c->branch;

	if (!can_be_skipped(c) && !(faulted && ip == c->block + branch.offset))
		return branch;
	c->branch.word = 0;
	return c->branch;
}

/* The pending branch went to @to; of near branches only the address is looked at. */
void branch_retired(struct cpu *c, union transfer branch, const struct pt_emu_state *to)
{
	const __u64 from = c->block + branch.offset, after = from + branch.size;
	struct pt_emu_state next = changes_state(branch) ? *to : c->now;
	enum pt_log_kind kind = branch.kind;

	c->branch.word = 0;
	next.ip = to->ip;
	if (kind == PT_LOG_TAKEN && next.ip == after)
		kind = PT_LOG_NOT_TAKEN;
	flow_step(c, kind, from, &next);
	switch (kind) {
	case PT_LOG_NOT_TAKEN:
	case PT_LOG_TAKEN:
		pt_emu_conditional(c->pt, kind == PT_LOG_TAKEN, next.ip);
		break;
	case PT_LOG_JUMP:
		pt_emu_direct(c->pt, next.ip);
		break;
	case PT_LOG_JUMP_INDIRECT:
		pt_emu_indirect(c->pt, next.ip);
		break;
	case PT_LOG_CALL:
	case PT_LOG_CALL_INDIRECT:
		pt_emu_call(c->pt, kind == PT_LOG_CALL_INDIRECT, next.ip, after);
		break;
	case PT_LOG_RET:
		pt_emu_ret(c->pt, next.ip);
		break;
	case PT_LOG_CR3:
		pt_emu_mov_cr3(c->pt, &next);
		break;
	default:
		pt_emu_far(c->pt, &next);
	}
}

static void log_block(struct cpu *c, const struct block *block, __u64 ip)
{
	struct seen *seen = &c->seen[(ip ^ ip >> 16) % SEEN_BLOCKS];
	size_t i;

	if (seen->number == block->number && seen->ip == ip && seen->cr3 == c->now.cr3)
		return;
	*seen = (struct seen){ c->now.cr3, ip, block->number };
	for (i = 0; i < block->insns; i++) {
		const struct insn *insn = &block->insn[i];

		pt_log_code(c->log, c->now.cr3, ip, insn->code, insn->size);
		ip += insn->size;
	}
}

/* The start of each block, if asked for by follow(). */
void block_starts(unsigned int index, void *data)
{
	struct cpu *c = cpu_current();
	struct pt_emu_state state;
	union transfer branch;

	(void)index;
	if (c->cpuid)
		cpuid_end(c);
	if (!c->tracing && !c->entering)
		return;
	time_passes(c);
	if (c->entering)
		guest_entered(c);
	if (!c->tracing)
		return;
	if (can_be_skipped(c)) {
		c->branch.word = 0;
		return;
	}
	branch = c->branch;
	if (branch.word && changes_state(branch))
		state_read(c, &state);
	else
		state.ip = reg_read(c, REG_RIP) + c->base;
	if (branch.word)
		branch_retired(c, branch, &state);
	c->block = state.ip;
	if (c->log)
		log_block(c, data, c->block);
}

static void branch_interrupted(struct cpu *c, __u64 from)
{
	const union transfer branch = branch_before(c, from, c->exception);
	struct pt_emu_state state = { .ip = from };

	if (!branch.word)
		return;
	if (changes_state(branch))
		state_interrupted(c, from, &state);
	branch_retired(c, branch, &state);
}

/*
 * QEMU tells an exception twice: as one, from where the block began, then as an
 * interrupt, once it is delivered, from the right address.
 */
void discontinuity(unsigned int index, enum qemu_plugin_discon_type type, __u64 from,
		   __u64 to, void *data)
{
	struct cpu *c = &cpus[index];
	struct pt_emu_state state;

	(void)data;
	if (type == QEMU_PLUGIN_DISCON_EXCEPTION) {
		c->exception = true;
		return;
	}
	if (c->fault)
		fault_delivered(c, from);
	time_passes(c);
	if (c->entering) {
		if (c->exception && from == c->vmrun) {
			c->guest = false;
			c->entering = false;
			follow(c);
		} else {
			guest_entered(c);
		}
	}
	if (c->tracing) {
		branch_interrupted(c, from);
		state_read(c, &state);
		state.ip = to;
		flow_step(c, PT_LOG_EVENT, from, &state);
		pt_emu_event(c->pt, from, &state);
	}
	c->exception = false;
}
