// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of what a processor executes while TraceEn is 1, in the format of
 * ../log/log.h. It is gained from the sequence of instruction pointers and the bytes
 * there, and knows neither the core nor what Bochs tells of branches.
 */
#include "processor.h"
#include "log/write.h"

#include <stdio.h>
#include <string.h>

struct branch_log {
	unsigned int cpu;
	struct pt_log *file;
	bool running;		/* an instruction has begun, and not retired */
	Bit64u address;		/* of it, or of the last one */
	Bit64u next;		/* behind what has retired last */
	Bit8u size, kind;	/* of the instruction; a kind of 0 does not branch */
	bool entered;		/* it was a VM entry, and there is a record of it */
	bool event;		/* is being delivered */
	Bit64u event_from;
	bool exiting;
	Bit64u exit_from;
	Bit8u exit_kind;
};

static BX_CPU_C *processor_of(const struct branch_log *log)
{
	return BX_CPU(log->cpu);
}

static Bit64u here(const struct branch_log *log)
{
	BX_CPU_C *c = processor_of(log);

	return pt_linear(c, pt_rip(c));
}

static struct pt_log_record record(const struct branch_log *log, Bit8u kind)
{
	BX_CPU_C *c = processor_of(log);
	struct pt_log_record r = {};

	r.kind = kind;
	r.cpl = pt_cpl(c);
	r.bits = pt_code_bits(c);
	r.non_root = c->in_vmx_guest;
	r.pae = pt_pae(c);
	r.cr3 = c->cr3;
	return r;
}

static void put_step(struct branch_log *log, Bit8u kind, Bit64u from, Bit64u to)
{
	struct pt_log_record r = record(log, kind);

	r.from = from;
	r.to = to;
	r.tsc = processor_of(log)->get_Virtual_TSC();
	pt_log_put(log->file, &r);
}

struct branch_log *log_open(unsigned int cpu)
{
	struct branch_log *log = new struct branch_log();
	char name[32];

	log->cpu = cpu;
	snprintf(name, sizeof(name), "pt-log.%u", cpu);
	log->file = pt_log_open(name, cpu);
	if (!log->file)
		pt_die("%s: cannot make that file", name);
	return log;
}

void log_close(struct branch_log *log)
{
	if (!pt_log_close(log->file))
		pt_die("pt-log.%u: could not write all of it: make room", log->cpu);
	delete log;
}

/* Group 5 and the three opcodes of the two-byte map that hide in ModRM. */
static Bit8u kind_of_group5(Bit8u modrm)
{
	switch (modrm >> 3 & 7) {
	case 2:
		return PT_LOG_CALL_INDIRECT;
	case 3:
	case 5:
		return PT_LOG_FAR;
	case 4:
		return PT_LOG_JUMP_INDIRECT;
	}
	return 0;
}

static Bit8u kind_of_two_bytes(const Bit8u *b)
{
	switch (b[0]) {
	case 0x01:	/* VMLAUNCH, VMRESUME */
		return b[1] == 0xc2 || b[1] == 0xc3 ? PT_LOG_VMENTRY : 0;
	case 0x05:	/* SYSCALL */
	case 0x07:	/* SYSRET */
	case 0x34:	/* SYSENTER */
	case 0x35:	/* SYSEXIT */
		return PT_LOG_FAR;
	case 0x22:
		return (b[1] >> 3 & 7) == 3 ? PT_LOG_CR3 : 0;
	}
	return (b[0] & 0xf0) == 0x80 ? PT_LOG_NOT_TAKEN : 0;
}

/* PT_LOG_NOT_TAKEN stands for both of a conditional branch. INT n is an event. */
static Bit8u kind_of(const Bit8u *bytes, unsigned int size, unsigned int bits)
{
	static const char prefixes[] = "\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3";
	Bit8u padded[PT_LOG_CODE_MAX + 2] = {};
	const Bit8u *b = padded;

	memcpy(padded, bytes, size);
	while ((*b && strchr(prefixes, *b)) || (bits == 64 && (*b & 0xf0) == 0x40))
		b++;
	switch (*b) {
	case 0x0f:
		return kind_of_two_bytes(b + 1);
	case 0x9a:
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xea:
		return PT_LOG_FAR;
	case 0xc2:
	case 0xc3:
		return PT_LOG_RET;
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return PT_LOG_NOT_TAKEN;
	case 0xe8:
		return PT_LOG_CALL;
	case 0xe9:
	case 0xeb:
		return PT_LOG_JUMP;
	case 0xff:
		return kind_of_group5(b[1]);
	}
	return (*b & 0xf0) == 0x70 ? PT_LOG_NOT_TAKEN : 0;
}

static void put_event(struct branch_log *log, Bit64u to)
{
	if (log->event)
		put_step(log, PT_LOG_EVENT, log->event_from, to);
	log->event = false;
}

/* The next instruction is the first. */
void log_start(struct branch_log *log, const struct pt_emu *pt, Bit64u ctl)
{
	pt_log_msrs(log->file, pt, ctl);
	put_step(log, PT_LOG_START, ctl, here(log));
	log->running = false;
	log->event = false;
	log->kind = 0;
	log->next = here(log);
}

void log_stop(struct branch_log *log, Bit64u from)
{
	put_step(log, PT_LOG_STOP, from, 0);
}

void log_before(struct branch_log *log, const bxInstruction_c *i)
{
	BX_CPU_C *c = processor_of(log);

	log->address = here(log);
	put_event(log, log->address);
	log->running = true;
	log->entered = false;
	log->size = i->ilen();
	log->kind = kind_of(i->get_opcode_bytes(), log->size, pt_code_bits(c));
	pt_log_code(log->file, c->cr3, log->address, i->get_opcode_bytes(), log->size);
}

/* It has retired: RIP is where it went. */
void log_after(struct branch_log *log)
{
	const Bit64u to = here(log);
	Bit8u kind = log->kind;

	if (!log->running && !log->entered)
		return;
	log->running = false;
	log->next = to;
	if (kind == PT_LOG_NOT_TAKEN && to != log->address + log->size)
		kind = PT_LOG_TAKEN;
	else if (kind == PT_LOG_VMENTRY)
		kind = log->entered ? 0 : PT_LOG_FAR;
	if (kind)
		put_step(log, kind, log->address, to);
}

/* Delivery begins, or begins anew with another vector. */
void log_interrupt(struct branch_log *log)
{
	BX_CPU_C *c = processor_of(log);

	if (log->event && c->in_event)
		return;
	if (log->event)
		log->next = here(log);
	put_event(log, log->next);
	log->event = true;
	log->event_from = log->running ? log->address : log->next;
	log->running = false;
}

void log_vmentry(struct branch_log *log, Bit64u from)
{
	put_step(log, PT_LOG_VMENTRY, from, here(log));
	log->running = false;
	log->entered = true;
	log->kind = PT_LOG_VMENTRY;
	log->next = here(log);
}

/* An entry that fails late goes to where exits go, without having been in a guest. */
void log_vmexit(struct branch_log *log, Bit64u from, bool failed_entry)
{
	if (processor_of(log)->in_event)
		log->event = false;
	put_event(log, from);
	log->exiting = true;
	log->exit_from = from;
	log->exit_kind = failed_entry ? PT_LOG_FAR : PT_LOG_VMEXIT;
}

void log_vmexit_done(struct branch_log *log)
{
	if (!log->exiting)
		return;
	log->exiting = false;
	log->running = false;
	log->kind = 0;
	log->next = here(log);
	put_step(log, log->exit_kind, log->exit_from, log->next);
}
