// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the program of random_streams.h, and executes it: chance decides each
 * branch, and what interrupts it.
 */
#include <string.h>
#include "random_streams.h"
#include "tap.h"

#define TSC_PER_INSN	3
#define TSC_GUEST_OFFSET	(1ULL << 32)

static const u64 base_of[SPACES] = {
	[HOST_KERNEL] = 0xffffffff81000000,
	[HOST_USER] = 0x0000555555554000,
	[HOST_USER_32] = 0x0000000008048000,
	[GUEST_KERNEL] = 0xffffffffa0000000,
	[GUEST_USER] = 0x00007fff12340000,
};

static bool is_user(enum space space)
{
	return space == HOST_USER || space == HOST_USER_32 || space == GUEST_USER;
}

static bool is_guest(enum space space)
{
	return space == GUEST_KERNEL || space == GUEST_USER;
}

static u32 random_below(u64 *state, u32 limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 11) % limit;
}

/* Ends that only some of the spaces have, in place of common ones. */
static enum kind special(enum space space, u32 dice)
{
	static const enum kind host_kernel[] = {
		KIND_SYSRET, KIND_IRET, KIND_IRET, KIND_MOV_CR3, KIND_WRMSR, KIND_VMRESUME,
		KIND_VMRESUME, KIND_VMPTRLD,
	};
	static const enum kind guest_kernel[] = { KIND_SYSRET, KIND_IRET, KIND_MOV_CR3 };

	switch (space) {
	case HOST_KERNEL:
		return host_kernel[dice % ARRAY_SIZE(host_kernel)];
	case GUEST_KERNEL:
		return guest_kernel[dice % ARRAY_SIZE(guest_kernel)];
	case HOST_USER_32:
		return KIND_INT;
	default:
		return dice & 1 ? KIND_SYSCALL : KIND_INT;
	}
}

/*
 * What libipt cannot tell is left out: a TIP.PGD without address that follows a
 * MOV to CR3 with its PIP may be a later branch's, unless a TNT is between them.
 */
static enum kind choose(const struct program *p, enum space where, unsigned int block,
			u64 *random)
{
	static const enum kind common[] = {
		KIND_JCC, KIND_JCC, KIND_JCC, KIND_JCC, KIND_JCC, KIND_JCC, KIND_JMP, KIND_CALL,
		KIND_CALL, KIND_INDIRECT_JMP, KIND_INDIRECT_CALL, KIND_RET, KIND_RET,
	};
	const u32 dice = random_below(random, 100);

	if (block == BLOCKS - 1 || block == STREAM_FILTER_BLOCKS - 1)
		return KIND_INDIRECT_JMP;
	if (block && p->block[where][block - 1].kind == KIND_MOV_CR3)
		return KIND_JCC;
	if (dice < 12)
		return special(where, random_below(random, 100));
	return common[random_below(random, ARRAY_SIZE(common))];
}

/* Instructions that are the same in 32-bit and in 64-bit mode. */
static size_t filler(u8 *code, u32 dice)
{
	static const u8 fillers[][6] = {
		{ 1, 0x90 }, { 2, 0x89, 0xc0 }, { 3, 0x0f, 0x1f, 0x00 },
		{ 5, 0xb8, 0x78, 0x56, 0x34, 0x12 },
	};
	const u8 *f = fillers[dice % ARRAY_SIZE(fillers)];

	memcpy(code, f + 1, f[0]);
	return f[0];
}

static size_t last_insn(u8 *code, enum kind kind)
{
	static const u8 last[][5] = {
		[KIND_JCC] = { 2, 0x0f, 0x84 },
		[KIND_JMP] = { 1, 0xe9 },
		[KIND_CALL] = { 1, 0xe8 },
		[KIND_INDIRECT_JMP] = { 2, 0xff, 0xe0 },
		[KIND_INDIRECT_CALL] = { 2, 0xff, 0xd0 },
		[KIND_RET] = { 1, 0xc3 },
		[KIND_INT] = { 2, 0xcd, 0x80 },
		[KIND_SYSCALL] = { 2, 0x0f, 0x05 },
		[KIND_SYSRET] = { 3, 0x48, 0x0f, 0x07 },
		[KIND_IRET] = { 2, 0x48, 0xcf },
		[KIND_MOV_CR3] = { 3, 0x0f, 0x22, 0xd8 },
		[KIND_WRMSR] = { 2, 0x0f, 0x30 },
		[KIND_VMRESUME] = { 3, 0x0f, 0x01, 0xc3 },
		[KIND_VMPTRLD] = { 3, 0x0f, 0xc7, 0x30 },
	};

	memcpy(code, last[kind] + 1, last[kind][0]);
	return last[kind][0];
}

static bool has_target(enum kind kind)
{
	return kind == KIND_JCC || kind == KIND_JMP || kind == KIND_CALL;
}

/*
 * Direct jumps lead forward: which round of a loop without any packet is
 * interrupted, no decoder can tell. And conditional ones stay on their side of the
 * filter: libipt cannot place the TIP.PGD without address that they give.
 */
static unsigned int choose_target(enum kind kind, unsigned int block, u64 *random)
{
	if (kind == KIND_JMP || kind == KIND_CALL)
		return block + 1 + random_below(random, BLOCKS - 1 - block);
	return random_below(random, STREAM_FILTER_BLOCKS) +
	       (block < STREAM_FILTER_BLOCKS ? 0 : STREAM_FILTER_BLOCKS);
}

/**
 * program_make() - lay the blocks of all spaces out, one behind the other
 * @p: the program
 * @seed: what it depends on, not 0
 */
void program_make(struct program *p, u64 seed)
{
	u64 random = seed;
	unsigned int space, i, n;

	for (space = 0; space < SPACES; space++) {
		u8 *code = p->code[space];
		size_t at = 0;

		for (i = 0; i < BLOCKS; i++) {
			struct block *b = &p->block[space][i];

			b->kind = choose(p, space, i, &random);
			b->target = choose_target(b->kind, i, &random);
			b->insns = 1 + random_below(&random, MAX_INSNS);
			for (n = 0; n < b->insns; n++) {
				b->ip[n] = base_of[space] + at;
				if (n < b->insns - 1)
					at += filler(code + at, random_below(&random, 4));
			}
			at += last_insn(code + at, b->kind);
			if (has_target(b->kind))
				at += sizeof(u32);
			b->ip[b->insns] = base_of[space] + at;
		}
		for (i = 0; i < BLOCKS; i++) {
			const struct block *b = &p->block[space][i];
			const u64 next = b->ip[b->insns];
			const u32 distance = p->block[space][b->target].ip[0] - next;

			if (has_target(b->kind))
				memcpy(code + (next - base_of[space]) - sizeof(distance),
				       &distance, sizeof(distance));
		}
	}
}

/**
 * program_read() - read the program's code
 * @p: the program
 * @ip: from where
 * @buffer: to where
 * @size: how much; less, if it ends before
 *
 * Return: whether there is code.
 */
bool program_read(const struct program *p, u64 ip, u8 *buffer, size_t *size)
{
	unsigned int space;

	for (space = 0; space < SPACES; space++) {
		const u64 at = ip - base_of[space];

		if (at >= CODE_SIZE)
			continue;
		if (*size > CODE_SIZE - at)
			*size = CODE_SIZE - at;
		memcpy(buffer, p->code[space] + at, *size);
		return true;
	}
	return false;
}

/**
 * program_base() - where the code of a space starts
 * @space: the space
 *
 * Return: its address; CODE_SIZE bytes follow.
 */
u64 program_base(enum space space)
{
	return base_of[space];
}

/**
 * program_filter_end() - the end of the filter's range
 * @p: the program
 *
 * Return: the last address in it.
 */
u64 program_filter_end(const struct program *p)
{
	return p->block[HOST_KERNEL][STREAM_FILTER_BLOCKS].ip[0] - 1;
}

static const struct block *block_of(const struct run *r, const struct place *p)
{
	return &r->program->block[p->space][p->block];
}

static u64 ip_of(const struct run *r, const struct place *p)
{
	return block_of(r, p)->ip[p->insn];
}

static struct pt_emu_state state_of(const struct run *r, const struct place *p)
{
	return (struct pt_emu_state){
		.ip = ip_of(r, p),
		.cr3 = r->cr3[is_guest(p->space)],
		.cpl = is_user(p->space) ? 3 : 0,
		.mode = p->space == HOST_USER_32 ? PT_EMU_MODE_32 : PT_EMU_MODE_64,
		.non_root = is_guest(p->space),
	};
}

static struct place start_of(enum space space, unsigned int block)
{
	return (struct place){ .space = space, .block = block };
}

static struct place anywhere(struct run *r, enum space space)
{
	return start_of(space, random_below(&r->random, BLOCKS));
}

/* What should be traced, by the setting alone. */
static bool is_traced(const struct run *r)
{
	const struct setting *s = r->setting;
	const bool guest = is_guest(r->at.space);

	if (s->guest_only ? !guest : !r->on)
		return false;
	if (!(s->ctl & (is_user(r->at.space) ? PT_EMU_CTL_USER : PT_EMU_CTL_OS)))
		return false;
	if (s->ctl & PT_EMU_CTL_CR3FILTER && r->cr3[guest] != STREAM_CR3)
		return false;
	return !s->filtered || r->in_filter;
}

/* Branches that are taken, and events, decide whether the filter lets through. */
static void land(struct run *r, struct place to)
{
	r->at = to;
	r->in_filter = to.space == HOST_KERNEL && to.block < STREAM_FILTER_BLOCKS;
}

static bool log_insn(struct run *r)
{
	if (!is_traced(r))
		return true;
	if (r->logged == MAX_LOG)
		return false;
	r->log[r->logged++] = ip_of(r, &r->at);
	return true;
}

static void tell_far(struct run *r, struct place to)
{
	struct pt_emu_state state;

	land(r, to);
	state = state_of(r, &r->at);
	pt_emu_far(r->m->pt, &state);
}

/* To a kernel of the same side, which may return to @back. */
static void tell_event(struct run *r, struct place back)
{
	const u64 from = ip_of(r, &r->at);
	struct pt_emu_state state;

	if (r->nested < MAX_NESTED)
		r->interrupted[r->nested++] = back;
	land(r, anywhere(r, is_guest(r->at.space) ? GUEST_KERNEL : HOST_KERNEL));
	state = state_of(r, &r->at);
	pt_emu_event(r->m->pt, from, &state);
}

static void iret(struct run *r)
{
	const bool guest = is_guest(r->at.space);
	enum space user = guest ? GUEST_USER : HOST_USER;

	if (r->nested && is_guest(r->interrupted[r->nested - 1].space) == guest) {
		tell_far(r, r->interrupted[--r->nested]);
		return;
	}
	/* libipt cannot follow a MODE.Exec that is lost. */
	if (!guest && !r->setting->losses && random_below(&r->random, 2))
		user = HOST_USER_32;
	tell_far(r, anywhere(r, user));
}

static struct pt_emu_vmcs vmcs_of(const struct run *r)
{
	if (!r->setting->guest_only)
		return (struct pt_emu_vmcs){ 0 };
	return (struct pt_emu_vmcs){
		.load_rtit_ctl = true, .clear_rtit_ctl = true, .guest_rtit_ctl = r->setting->ctl,
	};
}

static struct place next_block(const struct run *r)
{
	return start_of(r->at.space, r->at.block + 1);
}

static void vmresume(struct run *r)
{
	const struct pt_emu_vmcs vmcs = vmcs_of(r);
	const bool fails = r->setting->no_guest || !random_below(&r->random, 8);
	struct pt_emu_state state;

	land(r, fails ? next_block(r) : r->guest);
	state = state_of(r, &r->at);
	if (fails) {
		pt_emu_vmentry_failed(r->m->pt, false, &state);
		return;
	}
	tap_expect(pt_emu_vmentry_check(r->m->pt, &vmcs) == PT_EMU_ENTRY_OK, "the entry fails");
	r->m->tsc_offset = TSC_GUEST_OFFSET;
	pt_emu_vmentry(r->m->pt, &vmcs, &state);
}

static void vmexit(struct run *r)
{
	const struct pt_emu_vmcs vmcs = vmcs_of(r);
	const u64 from = ip_of(r, &r->at);
	struct pt_emu_state state;

	r->guest = r->at;
	pt_emu_vmexit(r->m->pt, &vmcs, from);
	land(r, anywhere(r, HOST_KERNEL));
	state = state_of(r, &r->at);
	r->m->tsc_offset = 0;
	pt_emu_vmexit_done(r->m->pt, &state);
}

static void mov_cr3(struct run *r)
{
	const bool guest = is_guest(r->at.space);
	struct pt_emu_state state;

	r->cr3[guest] = STREAM_CR3 + random_below(&r->random, 3) * 0x1000;
	r->at = next_block(r);
	state = state_of(r, &r->at);
	pt_emu_mov_cr3(r->m->pt, &state);
}

/* Switches the host's tracing off and on. */
static void wrmsr(struct run *r)
{
	const u64 ip = ip_of(r, &r->at);
	struct pt_emu_state state;

	r->on = !r->on;
	if (r->on)
		land(r, next_block(r));
	else
		r->at = next_block(r);
	if (r->losing) {
		r->losing = false;
		r->loss[r->losses++].to = r->logged;
	}
	state = state_of(r, &r->at);
	if (!r->setting->guest_only)
		tap_expect(pt_emu_wrmsr(r->m->pt, PT_EMU_MSR_CTL, r->on ? r->setting->ctl : 0, ip,
					&state), "WRMSR faults");
}

static void call(struct run *r, bool indirect, struct place to)
{
	const struct place after = next_block(r);

	if (r->depth == MAX_NESTED)
		r->depth = 0;
	r->calls[r->depth++] = after;
	land(r, to);
	pt_emu_call(r->m->pt, indirect, ip_of(r, &r->at), ip_of(r, &after));
}

static void ret(struct run *r)
{
	struct place to = anywhere(r, r->at.space);

	if (r->depth && r->calls[r->depth - 1].space == r->at.space && random_below(&r->random, 8))
		to = r->calls[--r->depth];
	land(r, to);
	pt_emu_ret(r->m->pt, ip_of(r, &r->at));
}

static void jcc(struct run *r)
{
	const struct place target = start_of(r->at.space, block_of(r, &r->at)->target);
	const bool taken = random_below(&r->random, 2);

	if (taken)
		land(r, target);
	else
		r->at = next_block(r);
	pt_emu_conditional(r->m->pt, taken, ip_of(r, &r->at));
}

/* The last instruction of a block. */
static void branch(struct run *r)
{
	const struct block *b = block_of(r, &r->at);
	const struct place target = start_of(r->at.space, b->target);

	switch (b->kind) {
	case KIND_JCC:
		jcc(r);
		break;
	case KIND_JMP:
		land(r, target);
		pt_emu_direct(r->m->pt, ip_of(r, &r->at));
		break;
	case KIND_CALL:
		call(r, false, target);
		break;
	case KIND_INDIRECT_JMP:
		land(r, anywhere(r, r->at.space));
		pt_emu_indirect(r->m->pt, ip_of(r, &r->at));
		break;
	case KIND_INDIRECT_CALL:
		call(r, true, anywhere(r, r->at.space));
		break;
	case KIND_RET:
		ret(r);
		break;
	case KIND_INT:
		tell_event(r, next_block(r));
		break;
	case KIND_SYSCALL:
		tell_far(r, anywhere(r, is_guest(r->at.space) ? GUEST_KERNEL : HOST_KERNEL));
		break;
	case KIND_SYSRET:
		tell_far(r, anywhere(r, is_guest(r->at.space) ? GUEST_USER : HOST_USER));
		break;
	case KIND_IRET:
		iret(r);
		break;
	case KIND_MOV_CR3:
		mov_cr3(r);
		break;
	case KIND_WRMSR:
		wrmsr(r);
		break;
	case KIND_VMRESUME:
		vmresume(r);
		break;
	case KIND_VMPTRLD:
		r->at = next_block(r);
		pt_emu_vmptrld(r->m->pt, random_below(&r->random, 16) * 0x1000, ip_of(r, &r->at));
		break;
	}
}

/* Those that a FUP names have not been executed for a decoder. */
static bool is_executed(const struct run *r)
{
	const enum kind kind = block_of(r, &r->at)->kind;

	if (kind == KIND_INT)
		return false;
	return kind != KIND_WRMSR || !r->on || r->setting->guest_only;
}

/* Tracing that ends or is off has no overflow, and the end of tracing resolves one. */
static void lose_or_recover(struct run *r)
{
	struct loss *loss = &r->loss[r->losses];

	if (r->losses == MAX_LOSSES || !pt_emu_trigger_enabled(r->m->pt))
		return;
	if (!r->losing && !random_below(&r->random, 300)) {
		r->losing = true;
		loss->from = r->logged;
		pt_emu_lose(r->m->pt);
	} else if (r->losing && !random_below(&r->random, 30)) {
		r->losing = false;
		loss->to = r->logged;
		r->losses++;
		pt_emu_recover(r->m->pt, ip_of(r, &r->at));
	}
}

static void interrupt(struct run *r)
{
	if (is_guest(r->at.space) && random_below(&r->random, 2))
		vmexit(r);
	else
		tell_event(r, r->at);
}

/**
 * run_start() - a new program and machine, and tracing enabled as the setting says
 * @r: filled in; the machine is the caller's to free
 * @p: the program, made anew
 * @s: the setting
 * @seed: what all of it depends on, not 0
 */
void run_start(struct run *r, struct program *p, const struct setting *s, u64 seed)
{
	struct pt_emu_state state = { .cr3 = STREAM_CR3, .mode = PT_EMU_MODE_64 };
	struct pt_emu_caps caps;

	program_make(p, seed);
	memset(r, 0, sizeof(*r));
	pt_emu_default_caps(&caps);
	caps.ret_compression = s->ret_compression;
	r->m = machine_new(&caps);
	r->program = p;
	r->setting = s;
	r->random = seed;
	r->cr3[0] = STREAM_CR3;
	r->cr3[1] = STREAM_CR3;
	r->at.space = HOST_KERNEL;
	r->guest.space = GUEST_KERNEL;
	r->in_filter = true;
	r->on = true;
	state.ip = ip_of(r, &r->at);
	pt_emu_vmx_operation(r->m->pt, true, state.ip);

	machine_wrmsr(r->m, PT_EMU_MSR_OUTPUT_BASE, MEMORY_BASE);
	machine_wrmsr(r->m, PT_EMU_MSR_OUTPUT_MASK, MEMORY_SIZE - 1);
	machine_wrmsr(r->m, PT_EMU_MSR_CR3_MATCH, STREAM_CR3);
	machine_wrmsr(r->m, PT_EMU_MSR_ADDR0_A, state.ip);
	machine_wrmsr(r->m, PT_EMU_MSR_ADDR0_A + 1, program_filter_end(p));
	if (!s->guest_only)
		tap_expect(machine_enable(r->m, s->ctl, &state), "tracing cannot be enabled");
}

/**
 * run_program() - execute until so many branches have been traced
 * @r: the run, as run_start() or an earlier call has left it
 * @branches: how many
 *
 * Return: false if the log is full.
 */
bool run_program(struct run *r, unsigned long branches)
{
	bool traced;

	while (r->branches < branches) {
		r->m->tsc += TSC_PER_INSN;
		if (r->setting->losses)
			lose_or_recover(r);
		traced = is_traced(r);
		if (!random_below(&r->random, 150)) {
			interrupt(r);
			r->branches += traced;
			continue;
		}
		if (r->at.insn < block_of(r, &r->at)->insns - 1) {
			if (!log_insn(r))
				return false;
			r->at.insn++;
			continue;
		}
		if (is_executed(r) && !log_insn(r))
			return false;
		branch(r);
		r->branches += traced;
	}
	return true;
}
