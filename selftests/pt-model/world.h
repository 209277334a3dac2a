/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The world of the model: processors, VMCSs, threads that run vCPUs, perf. A state
 * is plain data without padding that matters, so that states can be copied and
 * compared.
 */
#ifndef _PT_MODEL_WORLD_H
#define _PT_MODEL_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#include "../../kvm-trace/pt/switch.h"

#define CPUS	2
#define THREADS	2
#define VMCSS	3	/* of thread 0, of its nested guest, of thread 1 */
#define NONE	0xff

#define MOST_MEDDLING	2	/* while a stream is started */

#define REGS	6	/* STATUS, OUTPUT_*, CR3_MATCH, one range */

/* Whose output an address is. */
enum output {
	OUTPUT_PERF,		/* of perf's own Intel PT */
	OUTPUT_STREAMS,		/* then those of the streams, host and guest by turns */
	OUTPUTS = OUTPUT_STREAMS + 2 * KVM_TRACE_PT_SIDES,
	OUTPUT_NOBODY = OUTPUTS,
};

/**
 * enum phase - where the thread of a vCPU is
 * @PHASE_USER: in user space
 * @PHASE_KVM: in KVM, interrupts on
 * @PHASE_FAILED: as that, after a VM entry that failed without a VM exit
 * @PHASE_ENTERING: between the probe of kvm_entry and VMLAUNCH
 * @PHASE_GUEST: in the guest
 * @PHASE_LEAVING: between the VM exit and the probe of kvm_exit
 */
enum phase {
	PHASE_USER,
	PHASE_KVM,
	PHASE_FAILED,
	PHASE_ENTERING,
	PHASE_GUEST,
	PHASE_LEAVING,
};

/**
 * struct position - where a trace stopped
 * @ctl: its IA32_RTIT_CTL
 * @reg: the other MSRs
 * @uses: those of them that it needs
 */
struct position {
	u64 ctl;
	u64 reg[REGS];
	u64 uses;
};

struct cpu {
	u64 ctl;
	u64 reg[REGS];		/* if TraceEn is 1: as they were when it was set */
	u64 before_ctl;		/* as the first stream found them */
	u64 before[REGS];
	struct kvm_trace_pt_switch pt;
	u8 vmcs;		/* the current one */
	u8 thread;
	u8 online;
	u8 started;		/* bits of the sides whose stream the switch has */
	u8 left;		/* the last call said that it could not undo all */
	u8 excused;		/* a fault was reported since a stream was started */
	u8 meddled;		/* times that perf has written MSRs meanwhile */
	u8 owner;		/* of the streams that are started: a thread or a processor */
};

struct vmcs {
	u64 entry;
	u64 exit;
	u64 entry_shadow;	/* what KVM believes */
	u64 exit_shadow;
	u64 guest_ctl;
};

struct thread {
	u8 phase;
	u8 cpu;
	u8 nested;		/* the VMCS that it uses is that of its nested guest */
	u8 armed;		/* method vmcs: both bits were set at kvm_entry */
	u8 lost_load;		/* and KVM has written over this one since */
	u8 lost_clear;
	u8 meddled;		/* of the processor, when kvm_entry began */
	u8 vmcs_failed;		/* an access of the VMCS has failed in kvm_entry */
};

/* perf's driver, on CPU 0 */
struct perf {
	u8 exists;
	u8 running;		/* scheduled in; paused or not */
	u8 unused[6];
	u64 base;		/* what it believes to be in the MSRs */
	u64 mask;
	u64 filter;
};

struct world {
	struct cpu cpu[CPUS];
	struct vmcs vmcs[VMCSS];
	struct thread thread[THREADS];
	struct perf perf;
	struct position position[OUTPUTS];
	struct kvm_trace_pt_stream stream[2][KVM_TRACE_PT_SIDES];	/* of threads or CPUs */
	u32 session;
	u32 over;		/* nothing is promised any more */
};

/**
 * struct scenario - what is explored together
 * @name: as a test's
 * @cpus: how many
 * @threads: how many, each a vCPU
 * @nested: thread 0's guest has a guest
 * @sides: bits of the streams that the session has
 * @method: for the guest's
 * @per_cpu: the streams belong to CPUs, else to threads
 * @faults: how many accesses of one call may fault or fail
 * @ends: streams may end with Stopped or Error
 * @hotplug: CPUs go offline and online
 * @suspends: the machine is suspended and resumed
 * @kvm_writes: KVM writes its control words
 * @kvm_loads: KVM has both controls set for itself (kvm_intel's pt_mode=1)
 * @perf: perf's Intel PT is used while ours is not
 * @unreserved: it is used at any time, by NMIs within our calls too
 * @not_in_vmx: IA32_VMX_MISC[14] is 0
 * @found_ctl: IA32_RTIT_CTL as it was left behind
 * @base_stays: outputs are one table each
 */
struct scenario {
	const char *name;
	u8 cpus;
	u8 threads;
	bool nested;
	u8 sides;
	enum kvm_trace_pt_method method;
	bool per_cpu;
	u8 faults;
	bool ends;
	bool hotplug;
	bool suspends;
	bool kvm_writes;
	bool kvm_loads;
	bool perf;
	bool unreserved;
	bool not_in_vmx;
	u64 found_ctl;
	bool base_stays;
};

/* Bits of what hooks are left out, to see that each is needed. */
#define WITHOUT_SCHED_OUT	0x1u
#define WITHOUT_KVM_FPU		0x2u
#define WITHOUT_NESTED_FAILED	0x4u
#define WITHOUT_OFFLINE		0x8u
#define WITHOUT_SUSPEND		0x10u

extern struct world world;
extern const struct scenario *scenario;
extern unsigned int without;

/* choice.c */
unsigned int choose(unsigned int alternatives);
void choices_start(void);
bool choices_next(void);

/* rules.c */
void broken(const char *name, const char *fmt, ...) __printf(2, 3);
const char *broken_text(void);
void broken_forget(void);

/* processor.c */
extern const struct kvm_trace_pt_ops processor_ops;
extern unsigned long accesses;
extern bool tell_accesses;
void processor_start(unsigned int cpu);
void processor_reset(unsigned int cpu);
bool processor_write(u32 msr, u64 value);
u64 processor_read(u32 msr);
bool processor_vmentry(bool fails_late);
void processor_vmexit(void);
void call_begins(void);
bool call_faulted(void);
bool call_failed_vmcs(void);
enum output output_of(u64 address);
u64 output_base(enum output output);

/* perf.c */
void perf_start(void);
void perf_stop(void);
void perf_pause(void);
void perf_resume(void);
void perf_pmi(void);
void perf_lost_msrs(void);

/* actions.c */
extern const unsigned int action_count;
void world_start(void);
bool action_run(unsigned int action);
void action_print(unsigned int action);

#endif /* _PT_MODEL_WORLD_H */
