// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state machine that gives Intel PT of one CPU to the host's stream, to the
 * guest's stream and back to whoever had it. What it must keep to is checked by
 * selftests/pt-model; what it costs is derived in Documentation/pt-modes.rst.
 *
 * All calls are made on the CPU itself with interrupts off. NMIs do not call in.
 */
#include "switch.h"

#define REG(reg)		((u16)(1u << (reg)))
#define SIDE(side)		((u8)(1u << (side)))
#define REGS_ALWAYS		(REG(KVM_TRACE_PT_STATUS) | REG(KVM_TRACE_PT_OUTPUT_BASE) | \
				 REG(KVM_TRACE_PT_OUTPUT_MASK))
#define REGS_MOVING_IN_TABLE	(REG(KVM_TRACE_PT_STATUS) | REG(KVM_TRACE_PT_OUTPUT_MASK))
#define REGS_MOVING		REGS_ALWAYS
#define REGS_OF_RANGE(range)	(REG(KVM_TRACE_PT_ADDR + 2 * (range)) * 3u)
#define RANGE_BITS		4

static u32 msr_of(unsigned int reg)
{
	switch (reg) {
	case KVM_TRACE_PT_STATUS:
		return KVM_TRACE_PT_MSR_STATUS;
	case KVM_TRACE_PT_OUTPUT_BASE:
		return KVM_TRACE_PT_MSR_OUTPUT_BASE;
	case KVM_TRACE_PT_OUTPUT_MASK:
		return KVM_TRACE_PT_MSR_OUTPUT_MASK;
	case KVM_TRACE_PT_CR3_MATCH:
		return KVM_TRACE_PT_MSR_CR3_MATCH;
	default:
		return KVM_TRACE_PT_MSR_ADDR0_A + reg - KVM_TRACE_PT_ADDR;
	}
}

/* The stream of a side, if it is to run. */
static struct kvm_trace_pt_stream *running(const struct kvm_trace_pt_switch *pt,
					   enum kvm_trace_pt_side side)
{
	return pt->refused & SIDE(side) ? NULL : pt->stream[side];
}

static enum kvm_trace_pt_side owner_outside(const struct kvm_trace_pt_switch *pt)
{
	return running(pt, KVM_TRACE_PT_HOST) ? KVM_TRACE_PT_HOST : KVM_TRACE_PT_SIDES;
}

static bool has_ended(const struct kvm_trace_pt_stream *stream)
{
	return stream->reg[KVM_TRACE_PT_STATUS] &
	       (KVM_TRACE_PT_STATUS_ERROR | KVM_TRACE_PT_STATUS_STOPPED);
}

static bool write_ctl(struct kvm_trace_pt_switch *pt, u64 value)
{
	if (!pt->ops->wrmsr(KVM_TRACE_PT_MSR_CTL, value)) {
		pt->unsure = true;
		return false;
	}
	pt->ctl = value;
	return true;
}

static bool read_reg(struct kvm_trace_pt_switch *pt, unsigned int reg)
{
	u64 value;

	if (!pt->ops->rdmsr(msr_of(reg), &value))
		return false;
	if (reg == KVM_TRACE_PT_STATUS)
		value &= ~KVM_TRACE_PT_STATUS_READ_ONLY;
	pt->now[reg] = value;
	pt->stale &= ~REG(reg);
	return true;
}

/* Writes what differs. */
static bool write_reg(struct kvm_trace_pt_switch *pt, unsigned int reg, u64 value)
{
	if (!(pt->stale & REG(reg)) && pt->now[reg] == value)
		return true;
	if (!pt->ops->wrmsr(msr_of(reg), value)) {
		pt->unsure = true;
		return false;
	}
	pt->now[reg] = value;
	pt->stale &= ~REG(reg);
	return true;
}

/* From now on the processor moves the owner's registers on. */
static void set_stale(struct kvm_trace_pt_switch *pt)
{
	pt->stale = pt->stream[pt->owner]->base_stays ? REGS_MOVING_IN_TABLE : REGS_MOVING;
}

/* TraceEn is 0: take down how far the owner's stream is. */
static u32 save_position(struct kvm_trace_pt_switch *pt)
{
	struct kvm_trace_pt_stream *stream = pt->stream[pt->owner];
	u16 moved = pt->stale;
	unsigned int reg;

	for (; moved; moved &= moved - 1) {
		reg = __builtin_ctz(moved);
		if (!read_reg(pt, reg)) {
			/* Going on from an older position would overwrite data. */
			pt->refused |= SIDE(pt->owner);
			return KVM_TRACE_PT_FAULT;
		}
		stream->reg[reg] = pt->now[reg];
	}
	return 0;
}

/* TraceEn is 0: load what @side needs over what is there. */
static bool load(struct kvm_trace_pt_switch *pt, enum kvm_trace_pt_side side)
{
	u16 regs = pt->uses[side];

	for (; regs; regs &= regs - 1) {
		unsigned int reg = __builtin_ctz(regs);

		if (!write_reg(pt, reg, pt->stream[side]->reg[reg]))
			return false;
	}
	return true;
}

/* TraceEn is 0: load what the registers hold outside of the guest. */
static bool load_outside(struct kvm_trace_pt_switch *pt)
{
	const struct kvm_trace_pt_stream *host = running(pt, KVM_TRACE_PT_HOST);
	u16 regs = pt->found_uses;

	pt->mixed = true;
	for (; regs; regs &= regs - 1) {
		unsigned int reg = __builtin_ctz(regs);
		bool of_host = host && pt->uses[KVM_TRACE_PT_HOST] & REG(reg);

		if (!write_reg(pt, reg, of_host ? host->reg[reg] : pt->found[reg]))
			return false;
	}
	pt->owner = owner_outside(pt);
	pt->mixed = false;
	return true;
}

/* KVM leaves both bits alone, or uses Intel PT for its guests by itself. */
static bool vmcs_is_free(struct kvm_trace_pt_switch *pt, u64 *entry, u64 *exit)
{
	const struct kvm_trace_pt_ops *ops = pt->ops;

	return ops->vmptrst(&pt->vmcs) &&
	       ops->vmread(KVM_TRACE_PT_ENTRY_CONTROLS, entry) &&
	       ops->vmread(KVM_TRACE_PT_EXIT_CONTROLS, exit) &&
	       !(*entry & KVM_TRACE_PT_ENTRY_LOAD_CTL) && !(*exit & KVM_TRACE_PT_EXIT_CLEAR_CTL);
}

/*
 * With load-RTIT_CTL a VM entry with TraceEn=1 fails. An enlightened VMCS, which VMREAD does
 * not find, cannot have it.
 */
static bool kvm_loads_ctl(struct kvm_trace_pt_switch *pt)
{
	u64 entry;

	return pt->ops->vmread(KVM_TRACE_PT_ENTRY_CONTROLS, &entry) &&
	       entry & KVM_TRACE_PT_ENTRY_LOAD_CTL;
}

/* CLEAR is set before LOAD and cleared after it: no exit goes on tracing. */
static bool arm_vmcs(struct kvm_trace_pt_switch *pt, u64 ctl, u64 entry, u64 exit)
{
	const struct kvm_trace_pt_ops *ops = pt->ops;

	pt->armed = true;
	return ops->vmwrite(KVM_TRACE_PT_GUEST_CTL, ctl) &&
	       ops->vmwrite(KVM_TRACE_PT_EXIT_CONTROLS, exit | KVM_TRACE_PT_EXIT_CLEAR_CTL) &&
	       ops->vmwrite(KVM_TRACE_PT_ENTRY_CONTROLS, entry | KVM_TRACE_PT_ENTRY_LOAD_CTL);
}

/* KVM may have written its controls since, so what is there is changed, not replaced. */
static u32 disarm_vmcs(struct kvm_trace_pt_switch *pt, bool exited)
{
	const struct kvm_trace_pt_ops *ops = pt->ops;
	u64 entry, exit, vmcs;
	u32 result = 0;

	if (!exited && (!ops->vmptrst(&vmcs) || vmcs != pt->vmcs))
		return KVM_TRACE_PT_NO_VMCS;
	if (!ops->vmread(KVM_TRACE_PT_ENTRY_CONTROLS, &entry))
		return KVM_TRACE_PT_FAULT;
	if (!(entry & KVM_TRACE_PT_ENTRY_LOAD_CTL))
		result = exited ? KVM_TRACE_PT_UNTRACED : 0;
	else if (!ops->vmwrite(KVM_TRACE_PT_ENTRY_CONTROLS, entry & ~KVM_TRACE_PT_ENTRY_LOAD_CTL))
		return KVM_TRACE_PT_FAULT;
	if (!ops->vmread(KVM_TRACE_PT_EXIT_CONTROLS, &exit) ||
	    (exit & KVM_TRACE_PT_EXIT_CLEAR_CTL &&
	     !ops->vmwrite(KVM_TRACE_PT_EXIT_CONTROLS, exit & ~KVM_TRACE_PT_EXIT_CLEAR_CTL)) ||
	    !ops->vmwrite(KVM_TRACE_PT_GUEST_CTL, 0))
		return result | KVM_TRACE_PT_FAULT;
	pt->armed = false;
	return result;
}

/*
 * Back to what holds outside of the guest. What fails is tried again by the next
 * call: until then @inside stays set and nothing new is begun.
 */
static u32 leave(struct kvm_trace_pt_switch *pt, bool exited)
{
	bool stopped = true;
	u32 result = 0;
	u64 ctl;

	/* A VM exit clears TraceEn, unless KVM has written its exit controls. */
	if (pt->armed || pt->unsure) {
		if (pt->ops->rdmsr(KVM_TRACE_PT_MSR_CTL, &pt->ctl)) {
			pt->unsure = false;
		} else {
			pt->ctl = KVM_TRACE_PT_CTL_TRACEEN;
			result |= KVM_TRACE_PT_FAULT;
		}
		if (exited && pt->armed && pt->ctl & KVM_TRACE_PT_CTL_TRACEEN)
			result |= KVM_TRACE_PT_HOST_CODE;
	}
	ctl = running(pt, KVM_TRACE_PT_HOST) ? 0 : pt->found_ctl;
	if (pt->ctl & KVM_TRACE_PT_CTL_TRACEEN)
		stopped = write_ctl(pt, ctl);
	/* Even if TraceEn stays: an entry with LOAD would then fail. */
	if (pt->armed)
		result |= disarm_vmcs(pt, exited);
	if (!stopped)
		return result | KVM_TRACE_PT_FAULT | KVM_TRACE_PT_LEFT;
	/* An armed VMCS must find the guest's output. */
	if (pt->armed)
		return result | KVM_TRACE_PT_LEFT;

	if (pt->mixed || pt->owner != owner_outside(pt)) {
		if (pt->stale)
			result |= save_position(pt);
		if (pt->owner == KVM_TRACE_PT_GUEST && has_ended(pt->stream[KVM_TRACE_PT_GUEST]))
			result |= KVM_TRACE_PT_ENDED;
		if (!load_outside(pt))
			return result | KVM_TRACE_PT_FAULT | KVM_TRACE_PT_LEFT;
	}
	ctl = running(pt, KVM_TRACE_PT_HOST) ? pt->stream[KVM_TRACE_PT_HOST]->ctl : pt->found_ctl;
	if (pt->ctl != ctl && !write_ctl(pt, ctl))
		return result | KVM_TRACE_PT_FAULT | KVM_TRACE_PT_LEFT;
	if (pt->owner == KVM_TRACE_PT_HOST)
		set_stale(pt);
	pt->inside = false;
	return result;
}

/* Gives streams back; those that stay go on. Rare, so nothing is taken for granted. */
static u32 drop(struct kvm_trace_pt_switch *pt, u8 sides)
{
	unsigned int side;
	u32 result = 0;

	pt->refused |= sides;
	if (pt->inside || sides & SIDE(KVM_TRACE_PT_HOST)) {
		pt->inside = true;
		pt->unsure = true;
		result = leave(pt, false);
		if (pt->inside)
			return result;
	}
	for (side = 0; side < KVM_TRACE_PT_SIDES; side++) {
		if (sides & SIDE(side)) {
			pt->stream[side] = NULL;
			pt->uses[side] = 0;
		}
	}
	return result;
}

static bool exists(const struct kvm_trace_pt_caps *caps, u16 regs)
{
	unsigned int range;

	for (range = caps->ranges; range < KVM_TRACE_PT_MAX_RANGES; range++)
		if (regs & REGS_OF_RANGE(range))
			return false;
	return caps->cr3_filter || !(regs & REG(KVM_TRACE_PT_CR3_MATCH));
}

static u16 needs(u64 ctl)
{
	u16 regs = REGS_ALWAYS;
	unsigned int range;

	if (ctl & KVM_TRACE_PT_CTL_CR3FILTER)
		regs |= REG(KVM_TRACE_PT_CR3_MATCH);
	ctl >>= KVM_TRACE_PT_CTL_RANGE_SHIFT;
	for (range = 0; range < KVM_TRACE_PT_MAX_RANGES; range++, ctl >>= RANGE_BITS)
		if (ctl & KVM_TRACE_PT_CTL_RANGE)
			regs |= REGS_OF_RANGE(range);
	return regs;
}

/* Reads what a stream will displace, if no stream before it did. */
static u32 find(struct kvm_trace_pt_switch *pt, u16 regs)
{
	if (!pt->stream[KVM_TRACE_PT_HOST] && !pt->stream[KVM_TRACE_PT_GUEST]) {
		if (!pt->ops->rdmsr(KVM_TRACE_PT_MSR_CTL, &pt->ctl))
			return KVM_TRACE_PT_FAULT;
		if (pt->ctl & KVM_TRACE_PT_CTL_TRACEEN)
			return KVM_TRACE_PT_BUSY;
		pt->found_ctl = pt->ctl;
		pt->found_uses = 0;
		pt->unsure = false;
	}
	for (regs &= ~pt->found_uses; regs; regs &= regs - 1) {
		unsigned int reg = __builtin_ctz(regs);

		if (!read_reg(pt, reg))
			return KVM_TRACE_PT_FAULT;
		pt->found[reg] = pt->now[reg];
		pt->found_uses |= REG(reg);
	}
	return 0;
}

/**
 * kvm_trace_pt_init() - a CPU whose Intel PT nobody has asked us for
 * @pt:	    set to that
 * @ops:    its accesses
 * @caps:   what it has; copied
 * @method: for guest streams
 */
void kvm_trace_pt_init(struct kvm_trace_pt_switch *pt, const struct kvm_trace_pt_ops *ops,
		       const struct kvm_trace_pt_caps *caps, enum kvm_trace_pt_method method)
{
	*pt = (struct kvm_trace_pt_switch){
		.ops = ops,
		.caps = *caps,
		.method = method,
		.owner = KVM_TRACE_PT_SIDES,
	};
}

/**
 * kvm_trace_pt_start() - take over a stream
 * @pt:	    of this CPU
 * @side:   which; none of it is started
 * @stream: where it starts, or goes on from
 *
 * A host stream traces when this returns. A guest stream does from the next
 * kvm_trace_pt_entering() on; no MSR is written for it here. The caller has made
 * sure that perf's own Intel PT stays off this CPU.
 *
 * Context: this CPU, interrupts off, not between a VM entry's probe and its exit's.
 * Return: KVM_TRACE_PT_*; the stream is not started if one of NOT_IN_VMX, NO_CONTROLS,
 *	NO_FILTER, BUSY, FAULT or LEFT is set. With LEFT, kvm_trace_pt_stop() must
 *	follow before the stream may go.
 */
u32 kvm_trace_pt_start(struct kvm_trace_pt_switch *pt, enum kvm_trace_pt_side side,
		       struct kvm_trace_pt_stream *stream)
{
	u16 uses = needs(stream->ctl);
	u32 result = 0;

	if (!pt->caps.in_vmx)
		return KVM_TRACE_PT_NOT_IN_VMX;
	if (side == KVM_TRACE_PT_GUEST && pt->method == KVM_TRACE_PT_VMCS && !pt->caps.controls)
		return KVM_TRACE_PT_NO_CONTROLS;
	if (!exists(&pt->caps, uses))
		return KVM_TRACE_PT_NO_FILTER;

	if (pt->inside)
		result = leave(pt, false);
	if (pt->inside)
		return result;
	result |= find(pt, uses);
	if (result & (KVM_TRACE_PT_FAULT | KVM_TRACE_PT_BUSY))
		return result;

	pt->stream[side] = stream;
	pt->uses[side] = uses;
	pt->refused &= ~SIDE(side);
	if (side == KVM_TRACE_PT_HOST) {
		pt->inside = true;
		result |= leave(pt, false);
		if (result & KVM_TRACE_PT_FAULT)
			result = (result & ~KVM_TRACE_PT_LEFT) | kvm_trace_pt_stop(pt, side);
	}
	return result;
}

/**
 * kvm_trace_pt_stop() - give a stream back, and with the last one all MSRs
 * @pt:	  of this CPU
 * @side: which; nothing happens if it is not started
 *
 * Undoes an entry that has failed, too. If FAULT was reported since the start, where
 * the stream has stopped may be unknown: its owner begins another.
 *
 * Context: as kvm_trace_pt_start().
 * Return: KVM_TRACE_PT_*; with LEFT the stream is still the switch's.
 */
u32 kvm_trace_pt_stop(struct kvm_trace_pt_switch *pt, enum kvm_trace_pt_side side)
{
	return pt->stream[side] ? drop(pt, SIDE(side)) : 0;
}

/**
 * kvm_trace_pt_entering() - a VM entry comes next
 * @pt:	of this CPU
 *
 * Pauses the host's stream and arms the guest's. One that has ended, or whose last
 * try failed, stays off: a guest goes on untraced rather than not at all.
 *
 * Context: kvm_entry tracepoint, the VMCS to be entered is current.
 * Return: KVM_TRACE_PT_*
 */
u32 kvm_trace_pt_entering(struct kvm_trace_pt_switch *pt)
{
	struct kvm_trace_pt_stream *host, *guest;
	u64 ctl, entry = 0, exit = 0;
	bool by_vmcs = pt->method == KVM_TRACE_PT_VMCS;
	u32 result = 0;

	/* The entry before has failed. */
	if (pt->inside) {
		result = leave(pt, false);
		if (pt->inside)
			return result;
	}
	host = running(pt, KVM_TRACE_PT_HOST);
	guest = running(pt, KVM_TRACE_PT_GUEST);
	if (guest && has_ended(guest))
		guest = NULL;
	if (guest && (by_vmcs ? !vmcs_is_free(pt, &entry, &exit) : kvm_loads_ctl(pt))) {
		result |= KVM_TRACE_PT_NO_VMCS;
		guest = NULL;
	}

	if (host) {
		if (!write_ctl(pt, 0))
			return result | KVM_TRACE_PT_FAULT;
	} else if (guest) {
		if (!pt->ops->rdmsr(KVM_TRACE_PT_MSR_CTL, &ctl))
			result |= KVM_TRACE_PT_FAULT;
		else if (ctl != pt->ctl)
			result |= KVM_TRACE_PT_BUSY;
		if (result & (KVM_TRACE_PT_FAULT | KVM_TRACE_PT_BUSY)) {
			/* What was found may be somebody's old values by now. */
			pt->refused |= SIDE(KVM_TRACE_PT_GUEST);
			return result;
		}
	} else {
		return result;
	}
	pt->inside = true;
	if (!guest)
		return result;

	if (pt->stale)
		result |= save_position(pt);
	pt->owner = KVM_TRACE_PT_GUEST;
	if (load(pt, KVM_TRACE_PT_GUEST) &&
	    (by_vmcs ? arm_vmcs(pt, guest->ctl, entry, exit) : write_ctl(pt, guest->ctl))) {
		set_stale(pt);
		return result;
	}
	pt->refused |= SIDE(KVM_TRACE_PT_GUEST);
	return result | KVM_TRACE_PT_FAULT | leave(pt, false);
}

/**
 * kvm_trace_pt_leaving() - a VM exit, or a late failure of a VM entry, has happened
 * @pt:	of this CPU
 *
 * The guest's stream has moved on when this returns. Whoever reads its data from
 * another CPU needs a memory barrier after it.
 *
 * Context: kvm_exit tracepoint on the CPU of kvm_entry, same VMCS.
 * Return: KVM_TRACE_PT_*
 */
u32 kvm_trace_pt_leaving(struct kvm_trace_pt_switch *pt)
{
	return pt->inside ? leave(pt, true) : 0;
}

/**
 * kvm_trace_pt_undo() - no VM exit will come of the entry that was prepared, if any
 * @pt:	of this CPU
 *
 * To be called where KVM or the scheduler may next change the VMCS or the CPU of
 * the thread: sched-out, kvm_fpu(0), kvm_userspace_exit, kvm_nested_vmenter_failed.
 *
 * Context: this CPU, interrupts off, not between a VM entry's probe and its exit's.
 * Return: KVM_TRACE_PT_*
 */
u32 kvm_trace_pt_undo(struct kvm_trace_pt_switch *pt)
{
	return pt->inside ? leave(pt, false) : 0;
}

/**
 * kvm_trace_pt_offline() - stop all: CPU offline, suspend, unload
 * @pt:	of this CPU
 *
 * Context: as kvm_trace_pt_start().
 * Return: KVM_TRACE_PT_*; without LEFT no MSR and no VMCS has anything of ours.
 */
u32 kvm_trace_pt_offline(struct kvm_trace_pt_switch *pt)
{
	if (!pt->stream[KVM_TRACE_PT_HOST] && !pt->stream[KVM_TRACE_PT_GUEST])
		return 0;
	return drop(pt, SIDE(KVM_TRACE_PT_HOST) | SIDE(KVM_TRACE_PT_GUEST));
}
