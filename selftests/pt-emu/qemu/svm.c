// SPDX-License-Identifier: GPL-2.0-only
/*
 * VMRUN and #VMEXIT, of which QEMU does not tell: they are seen by where execution goes
 * on. To decoders, which do not know VMRUN, both are events. Offsets are those of the
 * virtual machine control block in AMD's manual, volume 2, appendix B.
 */
#include "cpu.h"

#define VMCB_TSC_OFFSET		0x050
#define VMCB_EXITCODE		0x070
#define VMCB_CS_SELECTOR	0x410
#define VMCB_CS_ATTRIB		0x412
#define VMCB_CS_BASE		0x418
#define VMCB_CPL		0x4cb
#define VMCB_EFER		0x4d0
#define VMCB_CR4		0x548
#define VMCB_CR3		0x550
#define VMCB_CR0		0x558
#define VMCB_RIP		0x578

#define ATTRIB_L		(1U << 9)
#define ATTRIB_D		(1U << 10)
#define EFER_LMA		(1U << 10)
#define CR0_PG			(1U << 31)
#define CR4_PAE			(1U << 5)

#define VMEXIT_INVALID		~0ULL
#define VMEXIT_INTR		0x60
#define VMEXIT_VINTR		0x64

#define VMRUN_SIZE		3

static __u64 vmcb_read(struct cpu *c, unsigned int offset, size_t size)
{
	__u64 value = 0;

	if (!memory_read(c, c->vmcb + offset, &value, size))
		fatal("the VMCB at 0x%llx is not in memory", c->vmcb);
	return value;
}

/* Returns the base of CS. */
static __u64 vmcb_state(struct cpu *c, struct pt_emu_state *state)
{
	const unsigned int attrib = vmcb_read(c, VMCB_CS_ATTRIB, 2);
	const __u64 base = vmcb_read(c, VMCB_CS_BASE, 8);
	const bool lma = vmcb_read(c, VMCB_EFER, 8) & EFER_LMA;

	state->ip = vmcb_read(c, VMCB_RIP, 8) + base;
	state->cr3 = vmcb_read(c, VMCB_CR3, 8);
	state->cpl = vmcb_read(c, VMCB_CPL, 1);
	state->non_root = true;
	state->pae = !lma && vmcb_read(c, VMCB_CR0, 8) & CR0_PG &&
		     vmcb_read(c, VMCB_CR4, 8) & CR4_PAE;
	if (lma && attrib & ATTRIB_L)
		state->mode = PT_EMU_MODE_64;
	else
		state->mode = attrib & ATTRIB_D ? PT_EMU_MODE_32 : PT_EMU_MODE_16;
	return base;
}

void vmrun_starts(unsigned int index, void *data)
{
	struct cpu *c = cpu_current();

	(void)index;
	if (c->guest)
		return;
	c->vmcb = reg_read(c, REG_RAX);
	c->host_cr3 = reg_read(c, REG_CR3);
	c->vmrun = c->block + (size_t)data;
	c->host_rip = c->block_rip + (size_t)data + VMRUN_SIZE;
	c->tsc_offset = vmcb_read(c, VMCB_TSC_OFFSET, 8);
	c->first_base = vmcb_state(c, &c->first);
	c->guest = true;
	c->entering = true;
	follow(c);
}

/* The guest's first instruction is about to be executed, or could have been. */
void guest_entered(struct cpu *c)
{
	c->entering = false;
	follow(c);
	if (!c->tracing)
		return;
	c->base = c->first_base;
	flow_step(c, PT_LOG_VMENTRY, c->vmrun, &c->first);
	pt_emu_event(c->pt, c->vmrun, &c->first);
}

/* Interrupts come between instructions; all else may be a branch's own. */
static void branch_exits(struct cpu *c, const struct pt_emu_state *saved, __u64 code)
{
	const bool interrupt = code >= VMEXIT_INTR && code <= VMEXIT_VINTR;
	const union transfer branch = branch_before(c, saved->ip, !interrupt);

	if (branch.word)
		branch_retired(c, branch, saved);
}

static void guest_left(struct cpu *c, __u64 code)
{
	struct pt_emu_state saved, host;

	time_passes(c);
	if (c->entering)
		guest_entered(c);
	if (c->tracing) {
		vmcb_state(c, &saved);
		branch_exits(c, &saved, code);
	}
	c->guest = false;
	c->exception = false;
	if (!c->tracing)
		return;
	state_read(c, &host);
	flow_step(c, PT_LOG_VMEXIT, saved.ip, &host);
	pt_emu_event(c->pt, saved.ip, &host);
}

/* Its checks failed: #VMEXIT without an instruction of the guest, so from VMRUN itself. */
static void entry_failed(struct cpu *c)
{
	struct pt_emu_state host;

	time_passes(c);
	c->guest = false;
	c->entering = false;
	follow(c);
	if (!c->tracing)
		return;
	state_read(c, &host);
	flow_step(c, PT_LOG_VMEXIT, c->vmrun, &host);
	pt_emu_event(c->pt, c->vmrun, &host);
}

/* The start of a block that follows VMRUN. */
void vmrun_may_end(unsigned int index, void *data)
{
	struct cpu *c = cpu_current();
	__u64 code;

	(void)index;
	(void)data;
	if (!c->guest || reg_read(c, REG_RIP) != c->host_rip ||
	    reg_read(c, REG_CR3) != c->host_cr3)
		return;
	code = vmcb_read(c, VMCB_EXITCODE, 8);
	if (code == VMEXIT_INVALID)
		entry_failed(c);
	else
		guest_left(c, code);
}
