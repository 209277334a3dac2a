/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the plugin share: the state of one virtual CPU, and the step from
 * one file to the next. plugin.c finds what is of interest in the code that QEMU
 * translates, the others follow it as it is executed.
 */
#ifndef _PT_QEMU_CPU_H
#define _PT_QEMU_CPU_H

#include "../log/write.h"
#include "../options.h"
#include "api.h"

#define MAX_CPUS	8

/**
 * union transfer - an instruction that may branch, or writes CR3
 * @word: all of it, 0 for none
 * @offset: from the start of its block
 * @size: in bytes
 * @kind: an &enum pt_log_kind; of the two of a conditional branch, PT_LOG_TAKEN
 */
union transfer {
	__u64 word;
	struct {
		__u16 offset;
		__u8 size;
		__u8 kind;
	};
};

struct insn {
	__u8 size;
	__u8 code[PT_LOG_CODE_MAX - 1];
};

/**
 * struct block - instructions that QEMU translated as one
 * @number: of which there is one only
 * @insns: how many
 * @insn: they
 */
struct block {
	__u64 number;
	size_t insns;
	struct insn insn[];
};

/* Registers, in the order of their names in state.c */
enum reg {
	REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSP, REG_RIP, REG_EFLAGS, REG_CS, REG_CR0,
	REG_CR3, REG_CR4, REG_EFER, REGS
};

#define SEGMENTS	16

/**
 * struct segment - what a code segment's descriptor says
 * @selector: its selector
 * @known: it was seen
 * @mode: mode of its code
 * @base: its base
 */
struct segment {
	__u16 selector;
	bool known;
	enum pt_emu_mode mode;
	__u64 base;
};

#define PMU_COUNTERS	4
#define PMU_FIXED	3

/**
 * struct pmu - MSRs of performance monitoring, which only hold what is written
 * @announced: CPUID tells of it: on CPUs of Intel's
 * @counter: IA32_PMC
 * @select: IA32_PERFEVTSEL
 * @fixed: IA32_FIXED_CTR
 * @fixed_ctrl: IA32_FIXED_CTR_CTRL
 * @status: IA32_PERF_GLOBAL_STATUS
 * @ctrl: IA32_PERF_GLOBAL_CTRL
 */
struct pmu {
	bool announced;
	__u64 counter[PMU_COUNTERS];
	__u64 select[PMU_COUNTERS];
	__u64 fixed[PMU_FIXED];
	__u64 fixed_ctrl;
	__u64 status;
	__u64 ctrl;
};

#define SEEN_BLOCKS	(1U << 16)

/**
 * struct seen - a block whose code is in the log
 * @cr3: with which it was executed
 * @ip: where
 * @number: its number
 */
struct seen {
	__u64 cr3;
	__u64 ip;
	__u64 number;
};

/**
 * struct cpu - one virtual CPU
 * @index: its number
 * @pt: its Intel PT
 * @pmu: its performance monitoring
 * @log: the log, or NULL
 * @seen: for @log
 * @raw: what Intel PT writes to memory, or NULL
 * @msrs: accesses of its MSRs, or NULL
 * @scratch: for registers and memory
 * @time: the time stamp counter, which stands still within a callback
 * @tracing: TraceEn
 * @ctl: IA32_RTIT_CTL, while @tracing
 * @followed: it is told of blocks and branches
 * @exception: QEMU has told of an exception that is not delivered yet
 * @now: where it is, while @tracing
 * @base: base of its code segment, while @tracing
 * @branch: the last branch, until it is known where it went
 * @block: linear address of the block that it executes
 * @block_rip: the same, as RIP
 * @segments: code segments in long mode, of host and guest
 * @fault: an instruction is made to fault
 * @fault_ip: linear address of that
 * @fault_regs: RAX, RCX and RDX before
 * @cpuid: CPUID is being executed
 * @cpuid_leaf: which
 * @cpuid_subleaf: which
 * @guest: VMRUN is being executed, or the guest that it entered
 * @entering: and that is not known yet
 * @vmcb: physical address of its VMCB
 * @host_cr3: CR3 at VMRUN
 * @host_rip: RIP of what follows VMRUN
 * @vmrun: linear address of VMRUN
 * @first: where the guest starts
 * @first_base: and the base of its code segment
 * @tsc_offset: of the guest
 */
struct cpu {
	unsigned int index;
	struct pt_emu *pt;
	struct pmu pmu;
	struct pt_log *log;
	struct seen *seen;
	FILE *raw;
	FILE *msrs;
	struct byte_array *scratch;

	__u64 time;
	bool tracing;
	__u64 ctl;
	bool followed;
	bool exception;
	struct pt_emu_state now;
	__u64 base;
	union transfer branch;
	__u64 block;
	__u64 block_rip;
	struct segment segments[2][SEGMENTS];

	bool fault;
	__u64 fault_ip;
	__u64 fault_regs[3];

	bool cpuid;
	__u32 cpuid_leaf;
	__u32 cpuid_subleaf;

	bool guest;
	bool entering;
	__u64 vmcb;
	__u64 host_cr3;
	__u64 host_rip;
	__u64 vmrun;
	struct pt_emu_state first;
	__u64 first_base;
	__u64 tsc_offset;
};

/* plugin.c */
extern struct pt_options options;
extern struct cpu cpus[MAX_CPUS];
struct cpu *cpu_current(void);
void follow_blocks(bool on);
void fatal(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* state.c */
void registers_find(void);
__u64 reg_read(struct cpu *c, enum reg which);
void reg_write(struct cpu *c, enum reg which, __u64 value);
bool memory_read(struct cpu *c, __u64 address, void *data, size_t size);
bool memory_write(struct cpu *c, __u64 address, const void *data, size_t size);
void state_read(struct cpu *c, struct pt_emu_state *state);
void state_interrupted(struct cpu *c, __u64 ip, struct pt_emu_state *state);

/* flow.c */
void follow(struct cpu *c);
void time_passes(struct cpu *c);
__u64 guest_time(const struct cpu *c);
void flow_start(struct cpu *c, __u64 ctl, const struct pt_emu_state *to);
void flow_stop(struct cpu *c, __u64 ip);
void flow_step(struct cpu *c, enum pt_log_kind kind, __u64 from,
	       const struct pt_emu_state *to);
void branch_starts(unsigned int index, void *data);
void far_starts(unsigned int index, void *data);
bool changes_state(union transfer branch);
union transfer branch_before(struct cpu *c, __u64 ip, bool faulted);
void branch_retired(struct cpu *c, union transfer branch, const struct pt_emu_state *to);
void block_starts(unsigned int index, void *data);
void discontinuity(unsigned int index, enum qemu_plugin_discon_type type, __u64 from,
		   __u64 to, void *data);

/* msr.c */
void block_notes(unsigned int index, void *data);
void wrmsr_starts(unsigned int index, void *data);
void rdmsr_starts(unsigned int index, void *data);
void rdpmc_starts(unsigned int index, void *data);
void cpuid_starts(unsigned int index, void *data);
void cpuid_may_end(unsigned int index, void *data);
void cpuid_end(struct cpu *c);
void fault_delivered(struct cpu *c, __u64 from);

/* pmu.c */
bool pmu_has_msr(struct cpu *c, __u32 msr);
__u64 pmu_rdmsr(struct cpu *c, __u32 msr);
void pmu_wrmsr(struct cpu *c, __u32 msr, __u64 value);
bool pmu_rdpmc(struct cpu *c, __u32 counter, __u64 *value);
void pmu_cpuid(struct cpu *c, __u32 leaf, __u32 regs[4]);
void pmu_interrupt(struct cpu *c);

/* svm.c */
void vmrun_starts(unsigned int index, void *data);
void vmrun_may_end(unsigned int index, void *data);
void guest_entered(struct cpu *c);

#endif /* _PT_QEMU_CPU_H */
