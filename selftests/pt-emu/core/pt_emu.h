/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An emulated Intel Processor Trace: one object a logical processor, with its
 * MSRs, its packets and its output. No emulator is known here: the machine
 * tells what it has done and lends its memory, in C or in C++.
 *
 * Calls for one object must not overlap; objects share nothing. Chapter and
 * table numbers in here are those of the manual's edition that README.md names.
 */
#ifndef _PT_EMU_H
#define _PT_EMU_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PT_EMU_MSR_OUTPUT_BASE		0x560
#define PT_EMU_MSR_OUTPUT_MASK		0x561
#define PT_EMU_MSR_CTL			0x570
#define PT_EMU_MSR_STATUS		0x571
#define PT_EMU_MSR_CR3_MATCH		0x572
#define PT_EMU_MSR_ADDR0_A		0x580
#define PT_EMU_MAX_RANGES		4

/* IA32_RTIT_CTL, table 36-6 */
#define PT_EMU_CTL_TRACEEN		(1ULL << 0)
#define PT_EMU_CTL_CYCEN		(1ULL << 1)
#define PT_EMU_CTL_OS			(1ULL << 2)
#define PT_EMU_CTL_USER			(1ULL << 3)
#define PT_EMU_CTL_FUPONPTW		(1ULL << 5)
#define PT_EMU_CTL_CR3FILTER		(1ULL << 7)
#define PT_EMU_CTL_TOPA			(1ULL << 8)
#define PT_EMU_CTL_MTCEN		(1ULL << 9)
#define PT_EMU_CTL_TSCEN		(1ULL << 10)
#define PT_EMU_CTL_DISRETC		(1ULL << 11)
#define PT_EMU_CTL_PTWEN		(1ULL << 12)
#define PT_EMU_CTL_BRANCHEN		(1ULL << 13)
#define PT_EMU_CTL_MTCFREQ_SHIFT	14
#define PT_EMU_CTL_CYCTHRESH_SHIFT	19
#define PT_EMU_CTL_PSBFREQ_SHIFT	24
#define PT_EMU_CTL_ADDR0_CFG_SHIFT	32

/* IA32_RTIT_STATUS, table 36-7 */
#define PT_EMU_STATUS_FILTEREN		(1ULL << 0)
#define PT_EMU_STATUS_CONTEXTEN		(1ULL << 1)
#define PT_EMU_STATUS_TRIGGEREN		(1ULL << 2)
#define PT_EMU_STATUS_ERROR		(1ULL << 4)
#define PT_EMU_STATUS_STOPPED		(1ULL << 5)
#define PT_EMU_STATUS_BYTECNT_SHIFT	32
#define PT_EMU_STATUS_BYTECNT		(0x1ffffULL << PT_EMU_STATUS_BYTECNT_SHIFT)

/* Entries of a table of physical addresses (ToPA), table 36-3 */
#define PT_EMU_TOPA_END			(1ULL << 0)
#define PT_EMU_TOPA_INT			(1ULL << 2)
#define PT_EMU_TOPA_STOP		(1ULL << 4)
#define PT_EMU_TOPA_SIZE_SHIFT		6

/**
 * struct pt_emu_caps - what the processor has, and so what CPUID announces
 * @cr3_filter: CPUID.(14H,0):EBX[0], filtering by CR3
 * @psb_cyc: EBX[1], PSBFreq, PacketByteCnt and cycle packets
 * @mtc: EBX[3], MTC and TMA packets
 * @ptwrite: EBX[4], PTWRITE packets
 * @topa: CPUID.(14H,0):ECX[0], output by a table of physical addresses
 * @topa_multi: ECX[1], such a table may have more than one output region
 * @single_range: ECX[2], output to one range
 * @lip: ECX[31], addresses in packets are linear ones; else offsets from CS base
 * @vmx: IA32_VMX_MISC[14], tracing in VMX operation, with VMCS packets and the VMCS
 *	controls "load IA32_RTIT_CTL" and "clear IA32_RTIT_CTL"
 * @gpa: the VMCS control "Intel PT uses guest physical addresses"
 * @ret_compression: compress near RETs if DisRETC is 0; not announced anywhere
 * @ranges: CPUID.(14H,1):EAX[2:0], address ranges, PT_EMU_MAX_RANGES at most;
 *	if there are any, EBX[2] of sub-leaf 0 is set
 * @maxphyaddr: width of physical addresses, in bits
 * @core_bus_ratio: ratio that CBR packets carry
 * @crystal_ratio: ticks of the time stamp counter per tick of the core crystal clock,
 *	1 to 511; CPUID leaf 15H tells it
 * @mtc_freqs: CPUID.(14H,1):EAX[31:16], encodings of MTCFreq, a bit each
 * @psb_freqs: CPUID.(14H,1):EBX[31:16], encodings of PSBFreq, a bit each
 * @cyc_thresholds: CPUID.(14H,1):EBX[15:0], encodings of CycThresh, a bit each
 */
struct pt_emu_caps {
	bool cr3_filter;
	bool psb_cyc;
	bool mtc;
	bool ptwrite;
	bool topa;
	bool topa_multi;
	bool single_range;
	bool lip;
	bool vmx;
	bool gpa;
	bool ret_compression;
	__u8 ranges;
	__u8 maxphyaddr;
	__u8 core_bus_ratio;
	__u16 crystal_ratio;
	__u16 mtc_freqs;
	__u16 psb_freqs;
	__u16 cyc_thresholds;
};

/**
 * enum pt_emu_mode - execution mode, as MODE.Exec encodes it (table 36-26)
 * @PT_EMU_MODE_16: CS.L and CS.D are 0
 * @PT_EMU_MODE_64: CS.L and IA32_EFER.LMA are 1
 * @PT_EMU_MODE_32: CS.D is 1
 */
enum pt_emu_mode {
	PT_EMU_MODE_16 = 0,
	PT_EMU_MODE_64 = 1,
	PT_EMU_MODE_32 = 2,
};

/**
 * struct pt_emu_state - where the processor is
 * @ip: the instruction it executes next, as &struct pt_emu_caps.lip says
 * @cr3: CR3
 * @pae: PAE paging is used, where CR3[11:5] are bits of an address, too
 * @cpl: 0 to 3; 0 in real-address mode and 3 in virtual-8086 mode (36.2.4.1)
 * @mode: its execution mode
 * @non_root: it is in VMX non-root operation
 */
struct pt_emu_state {
	__u64 ip;
	__u64 cr3;
	bool pae;
	__u8 cpl;
	enum pt_emu_mode mode;
	bool non_root;
};

/**
 * struct pt_emu_ops - what the machine lends
 * @read: read memory; guest tells that the address is a guest-physical one.
 *	False: nothing can be read there, which is an operational error.
 * @write: write memory, as @read; size never crosses an output region
 * @tsc: the time stamp counter as RDTSC reads it now: in VMX non-root operation
 *	with offset and scaling (36.5.2.1)
 * @clock: a count that runs as the time stamp counter does, but that no write,
 *	offset or scaling changes: for CYC, MTC and TMA packets
 * @pmi: request a performance-monitoring interrupt for a filled ToPA region, and
 *	set bit 55 of IA32_PERF_GLOBAL_STATUS
 *
 * The first argument is what pt_emu_new() was given. The callbacks are called
 * from within any function that may write out packets.
 */
struct pt_emu_ops {
	bool (*read)(void *machine, __u64 address, bool guest, void *data, size_t size);
	bool (*write)(void *machine, __u64 address, bool guest, const void *data, size_t size);
	__u64 (*tsc)(void *machine);
	__u64 (*clock)(void *machine);
	void (*pmi)(void *machine);
};

/**
 * struct pt_emu_vmcs - what the VMCS says of Intel PT
 * @load_rtit_ctl: VM-entry control 18
 * @clear_rtit_ctl: VM-exit control 25
 * @guest_physical: secondary processor-based control 24
 * @ept: secondary processor-based control 1
 * @guest_rtit_ctl: the guest's IA32_RTIT_CTL, field 2814H
 */
struct pt_emu_vmcs {
	bool load_rtit_ctl;
	bool clear_rtit_ctl;
	bool guest_physical;
	bool ept;
	__u64 guest_rtit_ctl;
};

/**
 * enum pt_emu_entry - what the checks of a VM entry find
 * @PT_EMU_ENTRY_OK: nothing that concerns Intel PT
 * @PT_EMU_ENTRY_BAD_CONTROLS: VMfailValid, VM-instruction error 7
 * @PT_EMU_ENTRY_BAD_GUEST: a VM exit with reason 80000021H
 */
enum pt_emu_entry {
	PT_EMU_ENTRY_OK,
	PT_EMU_ENTRY_BAD_CONTROLS,
	PT_EMU_ENTRY_BAD_GUEST,
};

struct pt_emu;

void pt_emu_default_caps(struct pt_emu_caps *caps);
struct pt_emu *pt_emu_new(const struct pt_emu_caps *caps, const struct pt_emu_ops *ops,
			  void *machine);
void pt_emu_free(struct pt_emu *pt);
void pt_emu_reset(struct pt_emu *pt, bool cold);

void pt_emu_cpuid(const struct pt_emu *pt, __u32 leaf, __u32 subleaf, __u32 regs[4]);
bool pt_emu_has_msr(__u32 msr);
bool pt_emu_rdmsr(const struct pt_emu *pt, __u32 msr, __u64 *value);
bool pt_emu_wrmsr(struct pt_emu *pt, __u32 msr, __u64 value, __u64 ip,
		  const struct pt_emu_state *next);

bool pt_emu_trigger_enabled(const struct pt_emu *pt);
bool pt_emu_packet_enabled(const struct pt_emu *pt);
void pt_emu_flush(struct pt_emu *pt);

void pt_emu_conditional(struct pt_emu *pt, bool taken, __u64 next);
void pt_emu_direct(struct pt_emu *pt, __u64 target);
void pt_emu_indirect(struct pt_emu *pt, __u64 target);
void pt_emu_call(struct pt_emu *pt, bool indirect, __u64 target, __u64 after_call);
void pt_emu_ret(struct pt_emu *pt, __u64 target);
void pt_emu_far(struct pt_emu *pt, const struct pt_emu_state *to);
void pt_emu_event(struct pt_emu *pt, __u64 from, const struct pt_emu_state *to);
void pt_emu_mov_cr3(struct pt_emu *pt, const struct pt_emu_state *next);
void pt_emu_ptwrite(struct pt_emu *pt, __u64 ip, __u64 value, bool wide, __u64 next);
void pt_emu_lose(struct pt_emu *pt);
void pt_emu_recover(struct pt_emu *pt, __u64 next);

void pt_emu_vmx_operation(struct pt_emu *pt, bool on, __u64 ip);
void pt_emu_vmptrld(struct pt_emu *pt, __u64 vmcs, __u64 next);
void pt_emu_vmclear(struct pt_emu *pt, __u64 vmcs);
enum pt_emu_entry pt_emu_vmentry_check(const struct pt_emu *pt, const struct pt_emu_vmcs *vmcs);
void pt_emu_vmentry(struct pt_emu *pt, const struct pt_emu_vmcs *vmcs,
		    const struct pt_emu_state *guest);
void pt_emu_vmentry_failed(struct pt_emu *pt, bool late, const struct pt_emu_state *to);
__u64 pt_emu_vmexit(struct pt_emu *pt, const struct pt_emu_vmcs *vmcs, __u64 from);
void pt_emu_vmexit_done(struct pt_emu *pt, const struct pt_emu_state *host);

#ifdef __cplusplus
}
#endif

#endif /* _PT_EMU_H */
