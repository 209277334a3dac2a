// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells the core of the emulated Intel PT, and the log, what Bochs' processors do,
 * and lends them memory and time. Where Bochs calls is in instrument.h.
 */
#include "processor.h"
#include "options.h"
#include "log/write.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CPUS	64
#define TRACEEN		PT_EMU_CTL_TRACEEN

/* What is told only once it is known where the processor goes on. */
enum pending {
	PENDING_NOTHING,
	PENDING_EVENT,		/* an interrupt or exception is delivered */
	PENDING_LAUNCH,		/* a VM entry that may fail at once */
};

static struct processor {
	struct pt_emu *pt;
	struct pmu *pmu;
	struct branch_log *log;
	FILE *raw;
	FILE *msrs;		/* accesses of its MSRs */
	bool hot;		/* TraceEn */
	bool exiting;
	bool failed_entry;	/* what exits has not entered */
	enum pending pending;
	Bit64u from;		/* of what is pending */
	Bit64u launch;		/* the last VMLAUNCH or VMRESUME */
	Bit64u after;		/* the instruction behind the current one */
} processors[MAX_CPUS];

bool pt_hot;

static struct pt_options options;
static bool enabled;

void pt_die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

static Bit64u address(BX_CPU_C *c, Bit64u offset)
{
	return options.caps.lip ? pt_linear(c, offset) : offset;
}

static struct pt_emu_state state_at(BX_CPU_C *c, Bit64u offset)
{
	const unsigned int bits = pt_code_bits(c);
	struct pt_emu_state state = {};

	state.ip = address(c, offset);
	state.cr3 = c->cr3;
	state.pae = pt_pae(c);
	state.cpl = pt_cpl(c);
	state.mode = bits == 64 ? PT_EMU_MODE_64 : bits == 32 ? PT_EMU_MODE_32 : PT_EMU_MODE_16;
	state.non_root = c->in_vmx_guest;
	return state;
}

static struct pt_emu_state state_now(BX_CPU_C *c)
{
	return state_at(c, pt_rip(c));
}

static struct pt_emu_vmcs read_vmcs(BX_CPU_C *c)
{
	const VMCS_CACHE *vm = &c->vmcs;
	struct pt_emu_vmcs vmcs = {};

	vmcs.load_rtit_ctl = vm->vmentry_ctrls.LOAD_GUEST_RTIT_CTRL();
	vmcs.clear_rtit_ctl = vm->vmexit_ctrls1.CLEAR_IA32_RTIT_CTRL();
	vmcs.guest_physical = vm->vmexec_ctrls2.PROCESSOR_TRACE_USE_GPA();
	vmcs.ept = vm->vmexec_ctrls2.EPT_ENABLE();
	if (pt_has_vmx())
		vmcs.guest_rtit_ctl = c->VMread64(VMCS_64BIT_GUEST_IA32_RTIT_CTL);
	return vmcs;
}

static Bit64u read_ctl(const struct processor *p)
{
	__u64 ctl = 0;

	pt_emu_rdmsr(p->pt, PT_EMU_MSR_CTL, &ctl);
	return ctl;
}

static void update_hot(struct processor *p)
{
	unsigned int i;

	p->hot = read_ctl(p) & TRACEEN;
	if (!p->hot)
		p->pending = PENDING_NOTHING;
	pt_hot = false;
	for (i = 0; i < MAX_CPUS; i++)
		pt_hot |= processors[i].hot;
}

/* Memory in pieces that do not cross a page; no device is ever touched. */
static bool transfer(struct processor *p, Bit64u at, bool guest, void *data, size_t size,
		     bool write)
{
	BX_CPU_C *c = BX_CPU(p - processors);
	Bit8u *bytes = static_cast<Bit8u *>(data);

	while (size) {
		size_t part = 4096 - (at & 4095);
		bx_phy_address physical = at;

		if (part > size)
			part = size;
		if (guest && !c->dbg_translate_guest_physical_ept(at, &physical))
			return false;
		if (physical >= BX_MEM(0)->get_memory_len() ||
		    !BX_MEM(0)->getHostMemAddr(NULL, physical, BX_READ))
			return false;
		if (write)
			BX_MEM(0)->dmaWritePhysicalPage(physical, part, bytes);
		else
			BX_MEM(0)->dmaReadPhysicalPage(physical, part, bytes);
		at += part;
		bytes += part;
		size -= part;
	}
	return true;
}

static bool read_memory(void *machine, __u64 at, bool guest, void *data, size_t size)
{
	return transfer(static_cast<struct processor *>(machine), at, guest, data, size, false);
}

static bool write_memory(void *machine, __u64 at, bool guest, const void *data, size_t size)
{
	struct processor *p = static_cast<struct processor *>(machine);

	if (p->raw && fwrite(data, 1, size, p->raw) != size)
		pt_die("pt-raw.%u: cannot write to it", (unsigned int)(p - processors));
	return transfer(p, at, guest, const_cast<void *>(data), size, true);
}

static __u64 read_tsc(void *machine)
{
	return BX_CPU(static_cast<struct processor *>(machine) - processors)->get_Virtual_TSC();
}

static __u64 read_clock(void *machine)
{
	return bx_pc_system.time_ticks();
}

static void interrupt(void *machine)
{
	pmu_interrupt(static_cast<struct processor *>(machine)->pmu);
}

static const struct pt_emu_ops ops = {
	read_memory, write_memory, read_tsc, read_clock, interrupt,
};

/* The words of --pt are in the environment; without them there is no Intel PT. */
void pt_init(void)
{
	const char *words = getenv("PT_EMU"), *wrong = NULL;
	char *copy, *word, *rest;

	if (!words)
		return;
	pt_options_default(&options);
	/* What this Bochs is. */
	options.caps.maxphyaddr = BX_PHY_ADDRESS_WIDTH;
	options.caps.ptwrite = false;
	copy = strdup(words);
	for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		wrong = pt_options_parse(&options, word);
		if (!wrong && options.caps.ptwrite)
			wrong = "Bochs has no such instruction";
		if (wrong)
			pt_die("--pt: %s: %s", word, wrong);
	}
	free(copy);
	enabled = true;
}

void pt_exit(void)
{
	unsigned int i;

	pt_hot = false;
	for (i = 0; i < MAX_CPUS; i++) {
		if (processors[i].log)
			log_close(processors[i].log);
		if (processors[i].raw)
			fclose(processors[i].raw);
		if (processors[i].msrs)
			fclose(processors[i].msrs);
		pt_emu_free(processors[i].pt);
		pmu_free(processors[i].pmu);
		processors[i] = {};
	}
}

void pt_initialize(unsigned int cpu)
{
	struct processor *p = &processors[cpu];
	char name[32] = "";

	if (!enabled)
		return;
	p->pt = pt_emu_new(&options.caps, &ops, p);
	p->pmu = pmu_new(cpu, options.caps.core_bus_ratio);
	if (options.log)
		p->log = log_open(cpu);
	if (options.raw) {
		snprintf(name, sizeof(name), "pt-raw.%u", cpu);
		p->raw = fopen(name, "w");
	}
	if (options.msrs) {
		snprintf(name, sizeof(name), "pt-msrs.%u", cpu);
		p->msrs = fopen(name, "w");
	}
	if (!p->pt || (options.raw && !p->raw) || (options.msrs && !p->msrs))
		pt_die("--pt: no memory, or the file %s cannot be made", name);
}

void pt_reset(unsigned int cpu, unsigned int type)
{
	struct processor *p = &processors[cpu];

	if (!p->pt)
		return;
	if (p->hot && p->log)
		log_stop(p->log, 0);
	pt_emu_reset(p->pt, type == BX_RESET_HARDWARE);
	update_hot(p);
}

bool pt_has_vmx(void)
{
	return enabled && options.caps.vmx;
}

bool pt_has_gpa(void)
{
	return pt_has_vmx() && options.caps.gpa;
}

void pt_cpuid(unsigned int cpu, Bit32u leaf, Bit32u subleaf, cpuid_function_t *regs)
{
	__u32 values[4] = { regs->eax, regs->ebx, regs->ecx, regs->edx };

	if (!enabled)
		return;
	pt_emu_cpuid(processors[cpu].pt, leaf, subleaf, values);
	regs->eax = values[0];
	regs->ebx = values[1];
	regs->ecx = values[2];
	regs->edx = values[3];
}

static void log_msr(unsigned int cpu, char how, Bit32u index, Bit64u value)
{
	if (processors[cpu].msrs)
		pt_log_msr(processors[cpu].msrs, BX_CPU(cpu)->get_Virtual_TSC(), how, index, value);
}

enum pt_access pt_rdmsr(unsigned int cpu, Bit32u index, Bit64u *value)
{
	const struct processor *p = &processors[cpu];
	__u64 read = 0;
	bool good;

	if (!enabled)
		return PT_NOT_OURS;
	if (!pt_emu_has_msr(index))
		return pmu_rdmsr(p->pmu, index, value);
	good = pt_emu_rdmsr(p->pt, index, &read);
	log_msr(cpu, good ? 'r' : 'R', index, read);
	if (!good)
		return PT_FAULT;
	*value = read;
	return PT_DONE;
}

enum pt_access pt_wrmsr(unsigned int cpu, Bit32u index, Bit64u value)
{
	struct processor *p = &processors[cpu];
	BX_CPU_C *c = BX_CPU(cpu);
	bool was_hot = p->hot;
	struct pt_emu_state next;
	bool good;

	if (!enabled)
		return PT_NOT_OURS;
	if (!pt_emu_has_msr(index))
		return pmu_wrmsr(p->pmu, index, value);
	next = state_now(c);
	good = pt_emu_wrmsr(p->pt, index, value, address(c, c->prev_rip), &next);
	log_msr(cpu, good ? 'w' : 'W', index, value);
	if (!good)
		return PT_FAULT;
	if (index != PT_EMU_MSR_CTL)
		return PT_DONE;
	update_hot(p);
	if (p->log && p->hot && !was_hot)
		log_start(p->log, p->pt, value);
	else if (p->log && was_hot && !p->hot)
		log_stop(p->log, pt_linear(c, c->prev_rip));
	return PT_DONE;
}

/* What is pending has ended, and the processor goes on here. */
static void settle(struct processor *p, const struct pt_emu_state *to)
{
	const enum pending pending = p->pending;

	p->pending = PENDING_NOTHING;
	if (pending == PENDING_EVENT)
		pt_emu_event(p->pt, p->from, to);
	else if (pending == PENDING_LAUNCH)
		pt_emu_vmentry_failed(p->pt, false, to);
}

/* Traces of instructions end with one that has no bytes and does nothing. */
void pt_before(unsigned int cpu, const bxInstruction_c *i)
{
	struct processor *p = &processors[cpu];
	BX_CPU_C *c = BX_CPU(cpu);

	if (!p->hot || !i->ilen())
		return;
	if (p->pending) {
		const struct pt_emu_state now = state_now(c);

		settle(p, &now);
	}
	p->after = address(c, pt_rip(c) + i->ilen());
	if (p->log)
		log_before(p->log, i);
}

void pt_after(unsigned int cpu, const bxInstruction_c *i)
{
	struct processor *p = &processors[cpu];

	if (p->hot && p->log)
		log_after(p->log);
}

void pt_conditional(unsigned int cpu, bool taken, Bit64u from, Bit64u to)
{
	struct processor *p = &processors[cpu];

	if (p->hot)
		pt_emu_conditional(p->pt, taken, address(BX_CPU(cpu), to));
}

void pt_near(unsigned int cpu, unsigned int what, Bit64u to)
{
	struct processor *p = &processors[cpu];
	const Bit64u target = address(BX_CPU(cpu), to);

	if (!p->hot)
		return;
	switch (what) {
	case BX_INSTR_IS_JMP:
		pt_emu_direct(p->pt, target);
		break;
	case BX_INSTR_IS_JMP_INDIRECT:
		pt_emu_indirect(p->pt, target);
		break;
	case BX_INSTR_IS_CALL:
		pt_emu_call(p->pt, false, target, p->after);
		break;
	case BX_INSTR_IS_CALL_INDIRECT:
		pt_emu_call(p->pt, true, target, p->after);
		break;
	case BX_INSTR_IS_RET:
		pt_emu_ret(p->pt, target);
		break;
	}
}

/* INT n comes to pt_interrupt() first and is settled there. */
void pt_far(unsigned int cpu, unsigned int what)
{
	struct processor *p = &processors[cpu];
	const struct pt_emu_state now = state_now(BX_CPU(cpu));

	if (p->hot && what != BX_INSTR_IS_INT)
		pt_emu_far(p->pt, &now);
}

/*
 * Delivery begins. Software interrupts have moved RIP on, all others are where
 * they return to. One exception in the delivery of another takes its place.
 */
void pt_interrupt(unsigned int cpu, unsigned int type)
{
	const bool software = type == BX_SOFTWARE_INTERRUPT || type == BX_SOFTWARE_EXCEPTION ||
			      type == BX_PRIVILEGED_SOFTWARE_INTERRUPT;
	struct processor *p = &processors[cpu];
	BX_CPU_C *c = BX_CPU(cpu);
	const struct pt_emu_state now = state_at(c, software ? c->prev_rip : pt_rip(c));

	if (!p->hot)
		return;
	if (p->log)
		log_interrupt(p->log);
	if (c->in_event && p->pending == PENDING_EVENT)
		return;
	if (p->pending == PENDING_LAUNCH && now.ip == p->from)
		p->pending = PENDING_NOTHING;
	settle(p, &now);
	p->pending = PENDING_EVENT;
	p->from = now.ip;
}

void pt_context(unsigned int cpu, unsigned int what)
{
	struct processor *p = &processors[cpu];

	if (what == BX_INSTR_CONTEXT_SWITCH && p->exiting) {
		pt_vmexit_done(cpu);
	} else if (what == BX_INSTR_MOV_CR3 && p->hot) {
		const struct pt_emu_state now = state_now(BX_CPU(cpu));

		pt_emu_mov_cr3(p->pt, &now);
	}
}

void pt_vmlaunch(unsigned int cpu)
{
	struct processor *p = &processors[cpu];
	BX_CPU_C *c = BX_CPU(cpu);

	if (!enabled)
		return;
	p->launch = pt_linear(c, c->prev_rip);
	if (p->hot) {
		p->pending = PENDING_LAUNCH;
		p->from = address(c, c->prev_rip);
	}
}

static enum pt_emu_entry check_entry(unsigned int cpu)
{
	const struct pt_emu_vmcs vmcs = read_vmcs(BX_CPU(cpu));

	return pt_emu_vmentry_check(processors[cpu].pt, &vmcs);
}

bool pt_bad_controls(unsigned int cpu)
{
	return enabled && check_entry(cpu) == PT_EMU_ENTRY_BAD_CONTROLS;
}

bool pt_bad_guest(unsigned int cpu)
{
	return enabled && check_entry(cpu) == PT_EMU_ENTRY_BAD_GUEST;
}

void pt_vmentry(unsigned int cpu)
{
	struct processor *p = &processors[cpu];
	const bool was_hot = p->hot;
	struct pt_emu_state guest;
	struct pt_emu_vmcs vmcs;

	if (!enabled)
		return;
	guest = state_now(BX_CPU(cpu));
	vmcs = read_vmcs(BX_CPU(cpu));
	p->pending = PENDING_NOTHING;
	pt_emu_vmentry(p->pt, &vmcs, &guest);
	update_hot(p);
	if (!p->log)
		return;
	if (was_hot || p->hot)
		log_vmentry(p->log, p->launch);
	if (p->hot && !was_hot)
		log_start(p->log, p->pt, vmcs.guest_rtit_ctl);
}

/* Begins: nothing of the guest's state is saved yet. */
void pt_vmexit(unsigned int cpu, Bit32u reason)
{
	struct processor *p = &processors[cpu];
	BX_CPU_C *c = BX_CPU(cpu);
	const Bit64u offset = IS_TRAP_LIKE_VMEXIT((reason & 0xffff)) ? pt_rip(c) : c->prev_rip;
	struct pt_emu_state now;
	struct pt_emu_vmcs vmcs;
	Bit64u ctl;

	if (!enabled)
		return;
	now = state_at(c, offset);
	vmcs = read_vmcs(c);
	p->exiting = true;
	p->failed_entry = reason >> 31;
	if (c->in_event || p->pending == PENDING_LAUNCH)
		p->pending = PENDING_NOTHING;
	settle(p, &now);
	if (p->hot && p->log)
		log_vmexit(p->log, p->failed_entry ? p->launch : pt_linear(c, offset), p->failed_entry);
	if (p->failed_entry)
		return;
	ctl = pt_emu_vmexit(p->pt, &vmcs, now.ip);
	if (p->hot && vmcs.clear_rtit_ctl && p->log)
		log_stop(p->log, pt_linear(c, offset));
	if (pt_has_vmx())
		c->VMwrite64(VMCS_64BIT_GUEST_IA32_RTIT_CTL, ctl);
}

void pt_vmexit_done(unsigned int cpu)
{
	struct processor *p = &processors[cpu];
	const struct pt_emu_state host = state_now(BX_CPU(cpu));

	p->exiting = false;
	if (p->failed_entry)
		pt_emu_vmentry_failed(p->pt, true, &host);
	else
		pt_emu_vmexit_done(p->pt, &host);
	if (p->hot && p->log)
		log_vmexit_done(p->log);
	update_hot(p);
}

void pt_vmx_operation(unsigned int cpu, bool on)
{
	struct processor *p = &processors[cpu];
	BX_CPU_C *c = BX_CPU(cpu);
	const bool was_hot = p->hot;

	if (!enabled)
		return;
	pt_emu_vmx_operation(p->pt, on, address(c, c->prev_rip));
	update_hot(p);
	if (was_hot && !p->hot && p->log)
		log_stop(p->log, pt_linear(c, c->prev_rip));
}

void pt_vmptrld(unsigned int cpu, Bit64u vmcs)
{
	BX_CPU_C *c = BX_CPU(cpu);

	if (enabled)
		pt_emu_vmptrld(processors[cpu].pt, vmcs, address(c, pt_rip(c)));
}

void pt_vmclear(unsigned int cpu, Bit64u vmcs)
{
	if (enabled)
		pt_emu_vmclear(processors[cpu].pt, vmcs);
}
