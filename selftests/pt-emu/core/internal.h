/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the core share: the state of one processor's Intel PT, and
 * the step from one file to the next: flow.c and vmx.c decide which packets
 * there are, packet.c makes their bytes, output.c puts these into memory.
 */
#ifndef _PT_EMU_INTERNAL_H
#define _PT_EMU_INTERNAL_H

#include "pt_emu.h"

#define RET_STACK	64	/* 36.4.2.2 */
#define BUFFER		512
#define NO_MODE		0xff
#define NO_VMCS		~0ULL

#define LOW_MASK	0x7fULL	/* of IA32_RTIT_OUTPUT_MASK_PTRS, always 1 */
#define OFFSET_SHIFT	32

/**
 * struct pt_emu - Intel PT of one logical processor
 * @caps: what it has
 * @ops: the machine's callbacks
 * @machine: their first argument
 * @ctl: IA32_RTIT_CTL
 * @status: Error and Stopped of IA32_RTIT_STATUS; the rest is told by the others
 * @byte_count: bytes since the last PSB
 * @output_base: IA32_RTIT_OUTPUT_BASE
 * @output_mask: IA32_RTIT_OUTPUT_MASK_PTRS
 * @cr3_match: IA32_RTIT_CR3_MATCH
 * @addr: IA32_RTIT_ADDRn_A and IA32_RTIT_ADDRn_B by turns
 * @now: where the processor is
 * @context_en: ContextEn
 * @filter_en: FilterEn
 * @vmx_operation: between VMXON and VMXOFF
 * @vmcs: the current VMCS, or NO_VMCS
 * @guest_physical: output addresses are guest-physical ones
 * @lost: packets are being lost to a full internal buffer
 * @full_ip: the next address is not compressed
 * @mode_sent: last MODE.Exec since the last PSB, or NO_MODE
 * @tnt: bits of the TNT packet in the making, the oldest highest
 * @tnt_bits: how many
 * @tnt_time: when the oldest was
 * @ret_depth: entries of @ret
 * @used: bytes of @buffer
 * @last_ip: the address that the next one is compressed against
 * @cycle: time of the last cycle packet
 * @mtc: crystal clock, shifted by MTCFreq, at the last TSC or MTC packet
 * @ret: where calls return to, for compressed RETs; the youngest is last
 * @buffer: packets that are not in memory yet
 */
struct pt_emu {
	struct pt_emu_caps caps;
	struct pt_emu_ops ops;
	void *machine;

	__u64 ctl;
	__u64 status;
	__u64 byte_count;
	__u64 output_base;
	__u64 output_mask;
	__u64 cr3_match;
	__u64 addr[2 * PT_EMU_MAX_RANGES];

	struct pt_emu_state now;
	__u64 vmcs;
	bool context_en;
	bool filter_en;
	bool vmx_operation;
	bool guest_physical;

	bool lost;
	bool full_ip;
	__u8 mode_sent;
	__u8 tnt;
	unsigned int tnt_bits;
	unsigned int ret_depth;
	unsigned int used;
	__u64 last_ip;
	__u64 cycle;
	__u64 tnt_time;
	__u64 mtc;
	__u64 ret[RET_STACK];
	__u8 buffer[BUFFER];
};

/* msr.c */
bool pt_emu_ctl_valid(const struct pt_emu_caps *caps, __u64 ctl);

/* flow.c */
void pt_emu_enable(struct pt_emu *pt, __u64 ctl, const struct pt_emu_state *next);
void pt_emu_disable(struct pt_emu *pt, __u64 ctl);
void pt_emu_pass_time(struct pt_emu *pt);
__u64 pt_emu_cr3_address(const struct pt_emu_state *state);
void pt_emu_arrive(struct pt_emu *pt, const struct pt_emu_state *to, bool new_cr3);

/* packet.c */
void pt_emu_put_tnt(struct pt_emu *pt, bool taken);
void pt_emu_put_tip(struct pt_emu *pt, __u64 ip);
void pt_emu_put_pge(struct pt_emu *pt, __u64 ip);
void pt_emu_put_pgd(struct pt_emu *pt, const __u64 *ip);
void pt_emu_put_fup(struct pt_emu *pt, __u64 ip);
void pt_emu_put_pip(struct pt_emu *pt);
void pt_emu_put_mode(struct pt_emu *pt);
void pt_emu_put_vmcs(struct pt_emu *pt);
void pt_emu_put_tsc(struct pt_emu *pt);
void pt_emu_put_cbr(struct pt_emu *pt);
__u64 pt_emu_mtc_now(const struct pt_emu *pt);
void pt_emu_put_mtc(struct pt_emu *pt);
void pt_emu_put_ptw(struct pt_emu *pt, __u64 value, bool wide, bool ip);
void pt_emu_put_stop(struct pt_emu *pt);
void pt_emu_put_ovf(struct pt_emu *pt);
void pt_emu_put_psb(struct pt_emu *pt, bool in_flow);

/* output.c */
void pt_emu_output_start(struct pt_emu *pt);
void pt_emu_output(struct pt_emu *pt, const void *data, size_t size);

#endif /* _PT_EMU_INTERNAL_H */
