/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Switches one logical processor's Intel PT at each VM entry and exit. Pure C on
 * a table of accesses: the module, the model and its tests compile the same file.
 * Buffers, perf events, and which hook calls what are not in here.
 */
#ifndef _KVM_TRACE_PT_SWITCH_H
#define _KVM_TRACE_PT_SWITCH_H

#include <linux/types.h>

/* MSRs (SDM vol. 3C, "Intel Processor Trace", "Configuration MSRs"). */
#define KVM_TRACE_PT_MSR_OUTPUT_BASE	0x560
#define KVM_TRACE_PT_MSR_OUTPUT_MASK	0x561
#define KVM_TRACE_PT_MSR_CTL		0x570
#define KVM_TRACE_PT_MSR_STATUS		0x571
#define KVM_TRACE_PT_MSR_CR3_MATCH	0x572
#define KVM_TRACE_PT_MSR_ADDR0_A	0x580

#define KVM_TRACE_PT_CTL_TRACEEN	0x1ull
#define KVM_TRACE_PT_CTL_CR3FILTER	0x80ull
#define KVM_TRACE_PT_CTL_RANGE_SHIFT	32	/* ADDR0_CFG; four bits each range */
#define KVM_TRACE_PT_CTL_RANGE		0xfull
#define KVM_TRACE_PT_CTL_STOPS		0x222200000000ull	/* ranges that stop the trace */

#define KVM_TRACE_PT_STATUS_READ_ONLY	0x7ull	/* FilterEn, ContextEn, TriggerEn */
#define KVM_TRACE_PT_STATUS_ERROR	0x10ull
#define KVM_TRACE_PT_STATUS_STOPPED	0x20ull

/* Fields of the VMCS (SDM vol. 3D, "Field Encoding in VMCS") and controls. */
#define KVM_TRACE_PT_GUEST_CTL		0x2814
#define KVM_TRACE_PT_EXIT_CONTROLS	0x400c
#define KVM_TRACE_PT_ENTRY_CONTROLS	0x4012
#define KVM_TRACE_PT_ENTRY_LOAD_CTL	0x40000ull
#define KVM_TRACE_PT_EXIT_CLEAR_CTL	0x2000000ull

#define KVM_TRACE_PT_MAX_RANGES		4

/**
 * enum kvm_trace_pt_reg - MSRs that cannot be written while TraceEn is 1
 * @KVM_TRACE_PT_STATUS:	IA32_RTIT_STATUS without the bits that only read
 * @KVM_TRACE_PT_OUTPUT_BASE:	IA32_RTIT_OUTPUT_BASE
 * @KVM_TRACE_PT_OUTPUT_MASK:	IA32_RTIT_OUTPUT_MASK_PTRS
 * @KVM_TRACE_PT_CR3_MATCH:	IA32_RTIT_CR3_MATCH
 * @KVM_TRACE_PT_ADDR:		the first of IA32_RTIT_ADDRn_A and _B by turns
 * @KVM_TRACE_PT_REGS:		how many there are
 */
enum kvm_trace_pt_reg {
	KVM_TRACE_PT_STATUS,
	KVM_TRACE_PT_OUTPUT_BASE,
	KVM_TRACE_PT_OUTPUT_MASK,
	KVM_TRACE_PT_CR3_MATCH,
	KVM_TRACE_PT_ADDR,
	KVM_TRACE_PT_REGS = KVM_TRACE_PT_ADDR + 2 * KVM_TRACE_PT_MAX_RANGES,
};

/**
 * enum kvm_trace_pt_side - whose code a stream traces
 * @KVM_TRACE_PT_HOST:	all but the guest's
 * @KVM_TRACE_PT_GUEST:	the guest's
 * @KVM_TRACE_PT_SIDES:	how many there are; as an owner of the MSRs, neither
 *
 * The streams that are started are the mode: none (off, system), host, guest, or
 * both (host_guest).
 */
enum kvm_trace_pt_side {
	KVM_TRACE_PT_HOST,
	KVM_TRACE_PT_GUEST,
	KVM_TRACE_PT_SIDES,
};

/**
 * enum kvm_trace_pt_method - how the guest's stream is switched on and off
 * @KVM_TRACE_PT_VMCS:	by the VM entry and the VM exit themselves
 * @KVM_TRACE_PT_WINDOW: by WRMSR around them, with the host's code in between
 */
enum kvm_trace_pt_method {
	KVM_TRACE_PT_VMCS,
	KVM_TRACE_PT_WINDOW,
};

/* What a call has to tell; 0 is success with nothing to tell. */
#define KVM_TRACE_PT_NOT_IN_VMX	0x1u	/* VMX_MISC[14] is 0: no trace in VMX operation */
#define KVM_TRACE_PT_NO_CONTROLS 0x2u	/* the controls for method vmcs are not there */
#define KVM_TRACE_PT_NO_FILTER	0x4u	/* a range, or the CR3 filter, is not there */
#define KVM_TRACE_PT_BUSY	0x8u	/* somebody else uses Intel PT on this CPU */
#define KVM_TRACE_PT_FAULT	0x10u	/* an access has faulted */
#define KVM_TRACE_PT_NO_VMCS	0x20u	/* the VMCS cannot be accessed, or KVM traces */
#define KVM_TRACE_PT_ENDED	0x40u	/* the guest's stream: Stopped or Error is set */
#define KVM_TRACE_PT_HOST_CODE	0x80u	/* the guest's stream has host code: CLEAR was lost */
#define KVM_TRACE_PT_UNTRACED	0x100u	/* the guest ran untraced: LOAD was lost */
#define KVM_TRACE_PT_LEFT	0x200u	/* not all is undone: call again, free nothing */

/**
 * struct kvm_trace_pt_ops - accesses on the CPU that calls
 * @rdmsr:	RDMSR
 * @wrmsr:	WRMSR
 * @vmread:	VMREAD of the current VMCS
 * @vmwrite:	VMWRITE to the current VMCS
 * @vmptrst:	VMPTRST: the address of the current VMCS
 *
 * Each returns false if it faults or fails; nothing has changed then.
 */
struct kvm_trace_pt_ops {
	bool (*rdmsr)(u32 msr, u64 *value);
	bool (*wrmsr)(u32 msr, u64 value);
	bool (*vmread)(u32 field, u64 *value);
	bool (*vmwrite)(u32 field, u64 value);
	bool (*vmptrst)(u64 *vmcs);
};

/**
 * struct kvm_trace_pt_caps - what the CPU has
 * @in_vmx:	tracing in VMX operation (IA32_VMX_MISC[14])
 * @controls:	both VMCS controls, "load IA32_RTIT_CTL" and "clear IA32_RTIT_CTL"
 * @cr3_filter:	CPUID.(14H,0):EBX[0]
 * @ranges:	CPUID.(14H,1):EAX[2:0]; those beyond KVM_TRACE_PT_MAX_RANGES are not used
 */
struct kvm_trace_pt_caps {
	bool in_vmx;
	bool controls;
	bool cr3_filter;
	u8 ranges;
};

/**
 * struct kvm_trace_pt_stream - a trace and how far it is
 * @ctl:	IA32_RTIT_CTL with TraceEn
 * @reg:	the other MSRs; STATUS and OUTPUT_* move on as the trace does
 * @base_stays:	output never leaves the table or the range of OUTPUT_BASE
 *
 * Owned by the switch between kvm_trace_pt_start() and kvm_trace_pt_stop(). The
 * owner may read @reg of the guest's after kvm_trace_pt_leaving(), and of both
 * after kvm_trace_pt_stop().
 */
struct kvm_trace_pt_stream {
	u64 ctl;
	u64 reg[KVM_TRACE_PT_REGS];
	bool base_stays;
};

/**
 * struct kvm_trace_pt_switch - Intel PT of one CPU
 * @ops:	accesses
 * @caps:	what the CPU has
 * @method:	for the guest's stream
 * @stream:	those that are started
 * @uses:	bits of the registers that each of them needs
 * @found_uses:	registers that were read before the first stream needed them
 * @found:	what was read
 * @now:	what the registers hold, but for @stale
 * @stale:	registers that tracing may have moved on since @now was set
 * @owner:	whose values the registers hold; KVM_TRACE_PT_SIDES: those found
 * @found_ctl:	IA32_RTIT_CTL as it was found; TraceEn is 0
 * @ctl:	IA32_RTIT_CTL as it was last read or written
 * @vmcs:	address of the VMCS that is armed
 * @refused:	bits of the sides whose stream stays off until it is started again
 * @inside:	an entry was prepared, or a change was begun, and is not undone
 * @armed:	@vmcs may hold our bits
 * @mixed:	the change to what holds outside of the guest was begun, not ended
 * @unsure:	a write has faulted, so somebody else may have set TraceEn
 */
struct kvm_trace_pt_switch {
	const struct kvm_trace_pt_ops *ops;
	struct kvm_trace_pt_caps caps;
	enum kvm_trace_pt_method method;
	struct kvm_trace_pt_stream *stream[KVM_TRACE_PT_SIDES];
	u16 uses[KVM_TRACE_PT_SIDES];
	u16 found_uses;
	u16 stale;
	enum kvm_trace_pt_side owner;
	u64 found[KVM_TRACE_PT_REGS];
	u64 now[KVM_TRACE_PT_REGS];
	u64 found_ctl;
	u64 ctl;
	u64 vmcs;
	u8 refused;
	bool inside;
	bool armed;
	bool mixed;
	bool unsure;
};

void kvm_trace_pt_init(struct kvm_trace_pt_switch *pt, const struct kvm_trace_pt_ops *ops,
		       const struct kvm_trace_pt_caps *caps, enum kvm_trace_pt_method method);
u32 kvm_trace_pt_start(struct kvm_trace_pt_switch *pt, enum kvm_trace_pt_side side,
		       struct kvm_trace_pt_stream *stream);
u32 kvm_trace_pt_stop(struct kvm_trace_pt_switch *pt, enum kvm_trace_pt_side side);
u32 kvm_trace_pt_entering(struct kvm_trace_pt_switch *pt);
u32 kvm_trace_pt_leaving(struct kvm_trace_pt_switch *pt);
u32 kvm_trace_pt_undo(struct kvm_trace_pt_switch *pt);
u32 kvm_trace_pt_offline(struct kvm_trace_pt_switch *pt);

#endif /* _KVM_TRACE_PT_SWITCH_H */
