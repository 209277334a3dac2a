/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of what an emulator executed while IA32_RTIT_CTL.TraceEn was 1, gained
 * without the encoder: the format, one for all front ends. One file a logical
 * processor, little-endian: a header, then records of one size. A front end may leave
 * out near branches, and code, at privilege levels that IA32_RTIT_CTL does not name.
 */
#ifndef _PT_LOG_H
#define _PT_LOG_H

#include <linux/types.h>

#define PT_LOG_MAGIC	"PTLOG\n\032"	/* with its NUL, 8 bytes */
#define PT_LOG_VERSION	2
#define PT_LOG_CODE_MAX	16

/**
 * struct pt_log_header - the start of a log
 * @magic: PT_LOG_MAGIC
 * @version: PT_LOG_VERSION
 * @record_size: size of &struct pt_log_record
 * @cpu: number of the logical processor
 * @reserved: 0
 */
struct pt_log_header {
	char magic[8];
	__u32 version;
	__u32 record_size;
	__u32 cpu;
	__u32 reserved;
};

/**
 * enum pt_log_kind - what a record tells
 * @PT_LOG_START: TraceEn became 1, by WRMSR or by a VM entry, whose PT_LOG_VMENTRY
 *	comes first: from is IA32_RTIT_CTL, to the instruction that comes next
 * @PT_LOG_STOP: TraceEn became 0: from is the WRMSR, or the instruction that a VM exit
 *	interrupted, whose PT_LOG_VMEXIT comes after this; to is 0
 * @PT_LOG_NOT_TAKEN: a conditional branch, not taken; to is the instruction behind it
 * @PT_LOG_TAKEN: a conditional branch, taken
 * @PT_LOG_JUMP: a direct near jump
 * @PT_LOG_JUMP_INDIRECT: an indirect near jump
 * @PT_LOG_CALL: a direct near call
 * @PT_LOG_CALL_INDIRECT: an indirect near call
 * @PT_LOG_RET: a near return
 * @PT_LOG_FAR: a far call, jump or return, SYSCALL, SYSRET, SYSENTER, SYSEXIT
 * @PT_LOG_EVENT: an interrupt, an exception or INT n: from is the instruction itself for
 *	faults and INT n, for interrupts and traps the one that would have come next
 * @PT_LOG_CR3: a write of CR3 by MOV; to is the instruction behind it
 * @PT_LOG_VMENTRY: from is VMLAUNCH, VMRESUME or VMRUN, to the guest's first instruction,
 *	before an event that the entry injects
 * @PT_LOG_VMEXIT: from is the guest's instruction pointer that the exit saves; or VMRUN,
 *	if it has failed and entered nothing
 * @PT_LOG_CODE: the bytes of an instruction, before the first time that this processor
 *	executes them, or executes them again after others at that address; not a
 *	branch. A front end may leave these out.
 * @PT_LOG_MSR: before PT_LOG_START, IA32_RTIT_STATUS and what the filters compare with that
 *	IA32_RTIT_CTL names: from is the MSR's number, to its value; not a branch
 */
enum pt_log_kind {
	PT_LOG_START = 1,
	PT_LOG_STOP,
	PT_LOG_NOT_TAKEN,
	PT_LOG_TAKEN,
	PT_LOG_JUMP,
	PT_LOG_JUMP_INDIRECT,
	PT_LOG_CALL,
	PT_LOG_CALL_INDIRECT,
	PT_LOG_RET,
	PT_LOG_FAR,
	PT_LOG_EVENT,
	PT_LOG_CR3,
	PT_LOG_VMENTRY,
	PT_LOG_VMEXIT,
	PT_LOG_CODE,
	PT_LOG_MSR,
};

/**
 * struct pt_log_record - one step
 * @kind: an &enum pt_log_kind
 * @cpl: privilege level at @to; 0 in real-address mode, 3 in virtual-8086 mode
 * @bits: of code at @to: 16, 32 or 64
 * @non_root: 1 in a guest (VMX non-root operation, or an SVM guest) at @to
 * @size: PT_LOG_CODE: how many bytes of @code; else 0
 * @pae: 1 if PAE paging is used at @to
 * @reserved: 0
 * @cr3: CR3 at @to
 * @from: linear address of the instruction that branches, or as the kind says
 * @to: linear address of the instruction that comes next
 * @tsc: the time stamp counter as RDTSC would read it, or 0 if a front end cannot tell
 * @address: PT_LOG_CODE: linear address of the instruction
 * @code: PT_LOG_CODE: its bytes
 *
 * Each record's state is that of the next one's @from: nothing between two records
 * changes it. Near branches do not. PT_LOG_MSR has none.
 */
struct pt_log_record {
	__u8 kind;
	__u8 cpl;
	__u8 bits;
	__u8 non_root;
	__u8 size;
	__u8 pae;
	__u8 reserved[2];
	__u64 cr3;
	union {
		struct {
			__u64 from;
			__u64 to;
			__u64 tsc;
		};
		struct {
			__u64 address;
			__u8 code[PT_LOG_CODE_MAX];
		};
	};
};

#endif /* _PT_LOG_H */
