/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of this front end share: the state of Bochs' processors, as the
 * core and the log want it, and the parts that are not Intel PT's core.
 */
#ifndef _PT_PROCESSOR_H
#define _PT_PROCESSOR_H

#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "cpu/apic.h"
#include "cpu/cpuid.h"
#include "memory/memory-bochs.h"
#include "pc_system.h"

void pt_die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Linear address of an offset in the code segment. */
static inline Bit64u pt_linear(BX_CPU_C *c, Bit64u offset)
{
	if (c->long64_mode())
		return offset;
	return (Bit32u)(c->sregs[BX_SEG_REG_CS].cache.u.segment.base + offset);
}

static inline Bit64u pt_rip(BX_CPU_C *c)
{
	return c->gen_reg[BX_64BIT_REG_RIP].rrx;
}

static inline unsigned int pt_cpl(BX_CPU_C *c)
{
	if (c->real_mode())
		return 0;
	return c->v8086_mode() ? 3 : c->sregs[BX_SEG_REG_CS].selector.rpl;
}

static inline bool pt_pae(BX_CPU_C *c)
{
	return c->cr0.get_PG() && c->cr4.get_PAE() && !c->long_mode();
}

static inline unsigned int pt_code_bits(BX_CPU_C *c)
{
	if (c->long64_mode())
		return 64;
	return c->sregs[BX_SEG_REG_CS].cache.u.segment.d_b ? 32 : 16;
}

/* log.cc */
struct branch_log;

struct branch_log *log_open(unsigned int cpu);
void log_close(struct branch_log *log);
void log_start(struct branch_log *log, const struct pt_emu *pt, Bit64u ctl);
void log_stop(struct branch_log *log, Bit64u from);
void log_before(struct branch_log *log, const bxInstruction_c *i);
void log_after(struct branch_log *log);
void log_interrupt(struct branch_log *log);
void log_vmentry(struct branch_log *log, Bit64u from);
void log_vmexit(struct branch_log *log, Bit64u from, bool failed_entry);
void log_vmexit_done(struct branch_log *log);

/* pmu.cc */
struct pmu;

struct pmu *pmu_new(unsigned int cpu, unsigned int bus_ratio);
void pmu_free(struct pmu *pmu);
enum pt_access pmu_rdmsr(const struct pmu *pmu, Bit32u index, Bit64u *value);
enum pt_access pmu_wrmsr(struct pmu *pmu, Bit32u index, Bit64u value);
void pmu_interrupt(struct pmu *pmu);

#endif /* _PT_PROCESSOR_H */
