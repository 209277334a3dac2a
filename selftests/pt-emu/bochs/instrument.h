/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bochs' callbacks for instrumentation, and the hooks that bochs-build.sh puts into
 * its source: what both expand to inside Bochs. What they do is in instrument.cc.
 */
#ifndef _PT_INSTRUMENT_H
#define _PT_INSTRUMENT_H

#if !BX_INSTRUMENTATION
#error "configure Bochs with --enable-instrumentation=instrument/pt"
#endif

#include "mark.h"

#define BX_INSTR_STORE_OPCODE_BYTES

class bxInstruction_c;
struct cpuid_function_t;

/* Instructions that cost more on silicon than a count of instructions shows. */
enum dear_instruction {
	DEAR_TSC,
	DEAR_RDMSR,
	DEAR_WRMSR,
	DEAR_VMREAD,
	DEAR_VMWRITE,
	DEAR_INSTRUCTIONS,
};

extern Bit64u dear[DEAR_INSTRUCTIONS];

/* A processor traces: all that follows is told to it. */
extern bool pt_hot;

#define PT_TELL(call) \
	do { \
		if (__builtin_expect(pt_hot, 0)) \
			call; \
	} while (0)

enum pt_access {
	PT_NOT_OURS,
	PT_DONE,
	PT_FAULT,
};

void pt_init(void);
void pt_exit(void);
void pt_initialize(unsigned int cpu);
void pt_reset(unsigned int cpu, unsigned int type);
void pt_before(unsigned int cpu, const bxInstruction_c *i);
void pt_after(unsigned int cpu, const bxInstruction_c *i);
void pt_conditional(unsigned int cpu, bool taken, Bit64u from, Bit64u to);
void pt_near(unsigned int cpu, unsigned int what, Bit64u to);
void pt_far(unsigned int cpu, unsigned int what);
void pt_interrupt(unsigned int cpu, unsigned int type);
void pt_context(unsigned int cpu, unsigned int what);
void pt_vmexit(unsigned int cpu, Bit32u reason);
void pt_vmexit_done(unsigned int cpu);
enum pt_access pt_wrmsr(unsigned int cpu, Bit32u index, Bit64u value);
enum pt_access pt_rdmsr(unsigned int cpu, Bit32u index, Bit64u *value);
void pt_cpuid(unsigned int cpu, Bit32u leaf, Bit32u subleaf, cpuid_function_t *regs);
bool pt_has_vmx(void);
bool pt_has_gpa(void);
void pt_vmlaunch(unsigned int cpu);
bool pt_bad_controls(unsigned int cpu);
bool pt_bad_guest(unsigned int cpu);
void pt_vmentry(unsigned int cpu);
void pt_vmx_operation(unsigned int cpu, bool on);
void pt_vmptrld(unsigned int cpu, Bit64u vmcs);
void pt_vmclear(unsigned int cpu, Bit64u vmcs);
void dear_mark(void);

#define BX_INSTR_INIT_ENV()		pt_init()
#define BX_INSTR_EXIT_ENV()		pt_exit()
#define BX_INSTR_INITIALIZE(cpu)	pt_initialize(cpu)
#define BX_INSTR_RESET(cpu, type)	pt_reset(cpu, type)
#define BX_INSTR_BEFORE_EXECUTION(cpu, i) PT_TELL(pt_before(cpu, i))
#define BX_INSTR_AFTER_EXECUTION(cpu, i) PT_TELL(pt_after(cpu, i))
#define BX_INSTR_CNEAR_BRANCH_TAKEN(cpu, from, to) PT_TELL(pt_conditional(cpu, true, from, to))
#define BX_INSTR_CNEAR_BRANCH_NOT_TAKEN(cpu, from) PT_TELL(pt_conditional(cpu, false, from, RIP))
#define BX_INSTR_UCNEAR_BRANCH(cpu, what, from, to) PT_TELL(pt_near(cpu, what, to))
#define BX_INSTR_FAR_BRANCH(cpu, what, from_cs, from, to_cs, to) PT_TELL(pt_far(cpu, what))
#define BX_INSTR_TLB_CNTRL(cpu, what, value) pt_context(cpu, what)

/* Inside interrupt(), wrmsr() and VMexit(): these see the arguments of all three. */
#define BX_INSTR_INTERRUPT(cpu, vector)	PT_TELL(pt_interrupt(cpu, type))
#define BX_INSTR_VMEXIT(cpu, reason, qualification) pt_vmexit(cpu, reason)
#define BX_INSTR_WRMSR(cpu, index, value) \
	do { \
		enum pt_access access = pt_wrmsr(cpu, index, value); \
		if (access != PT_NOT_OURS) \
			return access == PT_DONE; \
	} while (0)

/* Hooks of ours. */
#define PT_RDMSR(index, value) \
	do { \
		enum pt_access access = pt_rdmsr(BX_CPU_ID, index, value); \
		if (access != PT_NOT_OURS) \
			return access == PT_DONE; \
	} while (0)
#define PT_CPUID(leaf, subleaf, regs)	pt_cpuid(BX_CPU_ID, leaf, subleaf, regs)
#define PT_VMX_MISC			(pt_has_vmx() ? 1U << 14 : 0)
#define PT_SECONDARY_CONTROLS \
	(pt_has_gpa() ? VMX_VM_EXEC_CTRL2_PROCESSOR_TRACE_USE_GPA : 0)
#define PT_EXIT_CONTROLS		(pt_has_vmx() ? VMX_VMEXIT_CTRL1_CLEAR_IA32_RTIT_CTRL : 0)
#define PT_ENTRY_CONTROLS		(pt_has_vmx() ? VMX_VMENTRY_CTRL1_LOAD_GUEST_RTIT_CTRL : 0)
#define PT_VMLAUNCH()			pt_vmlaunch(BX_CPU_ID)
#define PT_CHECK_CONTROLS() \
	do { \
		if (pt_bad_controls(BX_CPU_ID)) \
			return VMXERR_VMENTRY_INVALID_VM_CONTROL_FIELD; \
	} while (0)
#define PT_CHECK_GUEST() \
	do { \
		if (pt_bad_guest(BX_CPU_ID)) \
			return VMX_VMEXIT_VMENTRY_FAILURE_GUEST_STATE; \
	} while (0)
#define PT_VMENTRY()			pt_vmentry(BX_CPU_ID)
#define PT_VMX_OPERATION(on)		pt_vmx_operation(BX_CPU_ID, on)
#define PT_VMPTRLD(vmcs)		pt_vmptrld(BX_CPU_ID, vmcs)
#define PT_VMCLEAR(vmcs)		pt_vmclear(BX_CPU_ID, vmcs)

/* Not of Intel PT: for selftests/bench. Its mark is a NOP with an operand of its own. */
#define DEAR(what)			(dear[DEAR_##what]++)
#define DEAR_MARK(i) \
	do { \
		if (!(i)->modC0() && (i)->displ32s() == MARK_DISPLACEMENT) \
			dear_mark(); \
	} while (0)

/* Not used. */
#define BX_INSTR_EXIT(cpu)
#define BX_INSTR_HLT(cpu)
#define BX_INSTR_MWAIT(cpu, address, size, flags)
#define BX_INSTR_DEBUG_PROMPT()
#define BX_INSTR_DEBUG_CMD(command)
#define BX_INSTR_OPCODE(cpu, i, opcode, size, is_32, is_64)
#define BX_INSTR_EXCEPTION(cpu, vector, error)
#define BX_INSTR_HWINTERRUPT(cpu, vector, cs, ip)
#define BX_INSTR_CLFLUSH(cpu, linear, physical)
#define BX_INSTR_CACHE_CNTRL(cpu, what)
#define BX_INSTR_PREFETCH_HINT(cpu, what, segment, offset)
#define BX_INSTR_REPEAT_ITERATION(cpu, i)
#define BX_INSTR_LIN_ACCESS(cpu, linear, physical, size, type, rw)
#define BX_INSTR_PHY_ACCESS(cpu, physical, size, type, rw)
#define BX_INSTR_INP(port, size)
#define BX_INSTR_INP2(port, size, value)
#define BX_INSTR_OUTP(port, size, value)

#endif /* _PT_INSTRUMENT_H */
