/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine that the tests give to the core: some memory, a clock, and a count
 * of interrupts. It executes nothing.
 */
#ifndef _PT_EMU_MACHINE_H
#define _PT_EMU_MACHINE_H

#include "core/pt_emu.h"
#include "types.h"

#define MEMORY_BASE	0x10000000ULL	/* physical */
#define MEMORY_SIZE	0x400000ULL
#define GUEST_BASE	0x4000000ULL	/* guest-physical address of the same memory */
#define MEMORY_UNSET	0xee

#define TRACE_ALL	(PT_EMU_CTL_TRACEEN | PT_EMU_CTL_OS | PT_EMU_CTL_USER | \
			 PT_EMU_CTL_BRANCHEN)

struct machine {
	struct pt_emu *pt;
	u64 tsc;
	u64 tsc_offset;	/* what RDTSC adds */
	unsigned int pmis;
	u64 status_at_pmi;	/* of the last one */
	u8 memory[MEMORY_SIZE];
};

struct machine *machine_new(const struct pt_emu_caps *caps);
void machine_free(struct machine *m);

u64 machine_rdmsr(struct machine *m, u32 msr);
void machine_wrmsr(struct machine *m, u32 msr, u64 value);
bool machine_enable(struct machine *m, u64 ctl, const struct pt_emu_state *next);
bool machine_disable(struct machine *m, u64 ip);

#endif /* _PT_EMU_MACHINE_H */
