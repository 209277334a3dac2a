/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The record ABI of kvm_trace: what lies behind the typed fields of its
 * tracepoints, bit by bit. This header is the format's documentation and is
 * compiled by the module and by every decoder. Names of exit reasons and
 * classes are in include/kvm_trace/exit_reasons.h.
 *
 * All numbers are little-endian, as the machine writes them. Points in time
 * are nanoseconds of local_clock(), the clock that perf stamps its samples
 * with; host time is measured with the TSC, scaled as the kernel scales it for
 * local_clock(), where the TSC is stable, else with local_clock() itself.
 * Records only grow: a new word takes the next free bit of its size, old
 * decoders skip what they do not know.
 */
#ifndef _UAPI_LINUX_KVM_TRACE_H
#define _UAPI_LINUX_KVM_TRACE_H

#include <linux/types.h>

/* Version of the layout; changes only when an old decoder would misread. */
#define KVM_TRACE_ABI_VERSION	1

/*
 * kvm_trace:vmexit - one per round trip: the time from one VM exit to the
 * next VM entry of the same vCPU, emitted at that entry. It starts behind
 * the 8 bytes that are common to all trace events:
 *
 *	 offset  size  field
 *	      8     8  host_ns   exit to entry; the sample's time is the entry
 *	     16     4  vm        number of the VM, counted from 1 since the module
 *	                         was loaded, never reused; a VM keeps it while some
 *	                         event of the module is enabled
 *	     20     4  seq       low 32 bits of the vCPU's record counter; a gap
 *	                         is a loss, a filter or min_host_ns
 *	     24     4  __data_loc of tail: length << 16 | offset
 *	     28     2  vcpu      vCPU id as given to KVM_CREATE_VCPU
 *	     30     2  reason    native exit reason: VMX basic exit reason, or bits
 *	                         15:0 of SVM's exit code (see KVM_TRACE_W_REASON_HI)
 *	     32     2  flags     KVM_TRACE_F_*
 *	     34     1  isa       KVM_TRACE_ISA_*: whose reasons these are
 *	     35     1  class     KVM_TRACE_CLASS_*: the same for both vendors
 *	     36        tail      empty, or words chosen by presence bits
 *
 * There is no padding.
 */
#define KVM_TRACE_VMEXIT_SIZE	36	/* without the tail */

#define KVM_TRACE_ISA_VMX	1	/* Intel; value of KVM's own events */
#define KVM_TRACE_ISA_SVM	2	/* AMD */

/*
 * reason where none is known: the VM entry failed and there was no exit (then
 * with ENTRY_FAILED), or the VMCS could not be read (with PROTECTED). Not to
 * be taken for SVM's -1, which has a word REASON_HI.
 */
#define KVM_TRACE_REASON_NONE	0xffff

/*
 * flags of kvm_trace:vmexit: what happened between the exit and the entry.
 * Counters of KVM's own statistics that grew in between tell most of them.
 *
 *	 15  14  13  12  11  10   9   8   7   6   5   4   3   2   1   0
 *	 |   |   |   |   |   |   |   |   |   |   |   |   |   |   |   |
 *	 |   |   |   |   |   |   |   |   |   |   |   |   |   |   |   +- USERSPACE
 *	 |   |   |   |   |   |   |   |   |   |   |   |   |   |   +----- HALTED
 *	 |   |   |   |   |   |   |   |   |   |   |   |   |   +--------- SCHED_OUT
 *	 |   |   |   |   |   |   |   |   |   |   |   |   +------------- MOVED_CPU
 *	 |   |   |   |   |   |   |   |   |   |   |   +----------------- PAGE_FAULT
 *	 |   |   |   |   |   |   |   |   |   |   +--------------------- EMULATED
 *	 |   |   |   |   |   |   |   |   |   +------------------------- MMIO
 *	 |   |   |   |   |   |   |   |   +----------------------------- INJECTED
 *	 |   |   |   |   |   |   |   +--------------------------------- WRITE
 *	 |   |   |   |   |   |   +------------------------------------- CLAMPED
 *	 |   |   |   |   |   +----------------------------------------- NESTED
 *	 |   |   |   |   +--------------------------------------------- NESTED_ENTRY
 *	 |   |   |   +------------------------------------------------- ENTRY_FAILED
 *	 |   |   +----------------------------------------------------- PROTECTED
 *	 |   +--------------------------------------------------------- LATE_STAMP
 *	 +------------------------------------------------------------- MORE
 */
#define KVM_TRACE_F_USERSPACE		0x0001	/* KVM_RUN returned to user space */
#define KVM_TRACE_F_HALTED		0x0002	/* an emulated halt (halt_exits grew) */
#define KVM_TRACE_F_SCHED_OUT		0x0004	/* thread was switched out, or is another now */
#define KVM_TRACE_F_MOVED_CPU		0x0008	/* entered on another CPU than it left */
#define KVM_TRACE_F_PAGE_FAULT		0x0010	/* KVM mapped a page (pf_fixed grew) */
#define KVM_TRACE_F_EMULATED		0x0020	/* KVM emulated an instruction */
#define KVM_TRACE_F_MMIO		0x0040	/* user-space MMIO (mmio_exits grew) */
#define KVM_TRACE_F_INJECTED		0x0080	/* interrupt or NMI injected */
#define KVM_TRACE_F_WRITE		0x0100	/* the access that caused the exit is a write */
#define KVM_TRACE_F_CLAMPED		0x0200	/* clock went back: times not below 0, but wrong */
#define KVM_TRACE_F_NESTED		0x0400	/* a nested guest ran at the exit */
#define KVM_TRACE_F_NESTED_ENTRY	0x0800	/* a nested guest runs after the entry */
#define KVM_TRACE_F_ENTRY_FAILED	0x1000	/* the VM entry failed */
#define KVM_TRACE_F_PROTECTED		0x2000	/* protected guest: registers not read */
#define KVM_TRACE_F_LATE_STAMP		0x4000	/* kvm_exit fired late (SVM, 6.1): bounds only */
#define KVM_TRACE_F_MORE		0x8000	/* reserved for a second word of flags */

/* Bit and name of each flag, as decoders print it. */
#define KVM_TRACE_FLAGS(X)				\
	X(KVM_TRACE_F_USERSPACE,	"userspace")	\
	X(KVM_TRACE_F_HALTED,		"halted")	\
	X(KVM_TRACE_F_SCHED_OUT,	"sched_out")	\
	X(KVM_TRACE_F_MOVED_CPU,	"moved_cpu")	\
	X(KVM_TRACE_F_PAGE_FAULT,	"page_fault")	\
	X(KVM_TRACE_F_EMULATED,		"emulated")	\
	X(KVM_TRACE_F_MMIO,		"mmio")		\
	X(KVM_TRACE_F_INJECTED,		"injected")	\
	X(KVM_TRACE_F_WRITE,		"write")	\
	X(KVM_TRACE_F_CLAMPED,		"clamped")	\
	X(KVM_TRACE_F_NESTED,		"nested")	\
	X(KVM_TRACE_F_NESTED_ENTRY,	"nested_entry")	\
	X(KVM_TRACE_F_ENTRY_FAILED,	"entry_failed")	\
	X(KVM_TRACE_F_PROTECTED,	"protected")	\
	X(KVM_TRACE_F_LATE_STAMP,	"late_stamp")	\
	X(KVM_TRACE_F_MORE,		"more")

/*
 * The tail of kvm_trace:vmexit. Empty (length 0), or
 *
 *	__u32 words;		presence bits, KVM_TRACE_W_*
 *	...			one word per set bit, lowest bit first
 *
 * Bits 0 to 15 are words of 8 bytes, bits 16 to 30 words of 4 bytes, so a
 * decoder can step over a word that it does not know. If bit 31 is set, a
 * second mask with the same rule follows the first at once, before the
 * words; its words follow those of the first. Words are packed and not
 * aligned. A word that would say nothing is left out although it was asked
 * for: see each.
 */
/* Guest RIP at the exit; absent if PROTECTED. */
#define KVM_TRACE_W_RIP		0x00000001u
/* Faulting guest-physical address; NPF, EPT violation and misconfiguration. */
#define KVM_TRACE_W_GPA		0x00000002u
/* Stands instead of GUEST_NS for 2^32 ns and more. */
#define KVM_TRACE_W_GUEST_NS_64	0x00000004u
/* SVM EXITINFO1; VMX exit qualification; absent if 0. */
#define KVM_TRACE_W_INFO1	0x00000008u
/* SVM EXITINFO2; VMX IDT-vectoring information; absent if 0. */
#define KVM_TRACE_W_INFO2	0x00000010u
/* Native reason >> 16; absent if 0. */
#define KVM_TRACE_W_REASON_HI	0x00000020u
/* local_clock() at the entry that ends the round trip. */
#define KVM_TRACE_W_ENTRY_NS	0x00000040u
/* ns in the guest before the exit; absent if the entry was not seen. */
#define KVM_TRACE_W_GUEST_NS	0x00010000u
/* SVM EXITINTINFO 31:0; VMX VM-exit interruption information; absent if 0. */
#define KVM_TRACE_W_INTR_INFO	0x00020000u
/* Error code that belongs to INTR_INFO; absent if 0. */
#define KVM_TRACE_W_ERROR_CODE	0x00040000u
/* Exits that KVM counted since the entry before, less one; signed; absent if 0. */
#define KVM_TRACE_W_UNTRACED	0x00080000u
/* A second mask follows. */
#define KVM_TRACE_W_NEXT_MASK	0x80000000u

/* Bytes of the word of a bit, by the bit's number; bits of each size. */
#define KVM_TRACE_W_SIZE(bit)	((bit) < 16 ? 8u : 4u)
#define KVM_TRACE_W_MASK_8	0x0000ffffu
#define KVM_TRACE_W_MASK_4	0x7fff0000u

/*
 * Words that a user may choose (module parameter "words"): bit and name.
 * GUEST_NS_64 goes with GUEST_NS. REASON_HI and UNTRACED are not a choice:
 * without them a record would say something wrong.
 */
#define KVM_TRACE_WORDS(X)			\
	X(KVM_TRACE_W_RIP,		"rip")		\
	X(KVM_TRACE_W_GPA,		"gpa")		\
	X(KVM_TRACE_W_GUEST_NS,		"guest_ns")	\
	X(KVM_TRACE_W_INFO1,		"info1")	\
	X(KVM_TRACE_W_INFO2,		"info2")	\
	X(KVM_TRACE_W_INTR_INFO,	"intr_info")	\
	X(KVM_TRACE_W_ERROR_CODE,	"error_code")	\
	X(KVM_TRACE_W_ENTRY_NS,		"entry_ns")

#define KVM_TRACE_WORDS_LEAN	0u
#define KVM_TRACE_WORDS_DEFAULT	(KVM_TRACE_W_RIP | KVM_TRACE_W_GPA | \
				 KVM_TRACE_W_GUEST_NS)

/*
 * kvm_trace:hypercall - one per hypercall, emitted at the VM entry at which
 * the result is known, just before the vmexit record of the same round trip:
 *
 *	 offset  size  field
 *	      8     4  vm        as in vmexit
 *	     12     4  seq       that of the vmexit record it belongs to
 *	     16     4  nr        bits 31:0 of the hypercall number
 *	     20     4  present   KVM_TRACE_HC_*: which arguments and words follow
 *	     24     4  __data_loc of tail: length << 16 | offset
 *	     28     2  vcpu      as in vmexit
 *	     30     1  abi       KVM_TRACE_ABI_*
 *	     31     1  caller    KVM_TRACE_CALLER_*
 *	     32        tail
 *
 * present, and the tail, whose parts stand in the order of their bits:
 *
 *	 31              16 15  14 13  12 11  10 9   8 7   6 5   4 3   2 1   0
 *	+------------------+------+------+------+-----+-----+-----+-----+-----+
 *	|      words       |  0   |  0   |  a5  | a4  | a3  | a2  | a1  | a0  |
 *	+------------------+------+------+------+-----+-----+-----+-----+-----+
 *
 * Each argument has two bits: 00 absent (the call does not use it), 01 four
 * bytes, 10 eight bytes, 11 reserved. Four bytes are the whole argument: a
 * 32-bit caller has no more, and a 64-bit caller's upper half was zero. Bits
 * 16 to 23 are words of 8 bytes, bits 24 to 31 words of 4 bytes; they follow
 * the arguments, lowest bit first.
 */
#define KVM_TRACE_HYPERCALL_SIZE	32	/* without the tail */
#define KVM_TRACE_HC_ARGS		6
#define KVM_TRACE_HC_ARG_ABSENT		0u
#define KVM_TRACE_HC_ARG_32		1u
#define KVM_TRACE_HC_ARG_64		2u
#define KVM_TRACE_HC_ARG(present, i)	(((present) >> (2 * (i))) & 3u)
/* Stands instead of RESULT for a result that needs 64 bits. */
#define KVM_TRACE_HC_W_RESULT_64	0x00010000u
/* Bits 63:32 of the number; absent if 0. */
#define KVM_TRACE_HC_W_NR_HI		0x01000000u
/* Result, RAX at the entry, to be sign-extended from 32 bits. */
#define KVM_TRACE_HC_W_RESULT		0x02000000u
#define KVM_TRACE_HC_W_MASK_8		0x00ff0000u
#define KVM_TRACE_HC_W_MASK_4		0xff000000u

#define KVM_TRACE_ABI_KVM	1	/* KVM_HC_*, uapi/linux/kvm_para.h */

/*
 * caller:	 7     6     5     4     3     2   1     0
 *		 0     0     0     0  NESTED LONG_MODE  CPL
 */
#define KVM_TRACE_CALLER_CPL		0x03	/* 0 for a protected guest: not known */
#define KVM_TRACE_CALLER_LONG_MODE	0x04	/* 64-bit code; else 32 or 16 bits, 32 count */
#define KVM_TRACE_CALLER_NESTED		0x08	/* made by a nested guest */

/*
 * kvm_trace:vcpu - who a vm and vcpu number is: when a consumer first sees a
 * vCPU, when something in it changed (the TSC: after 100 ms at the latest),
 * and every KVM_TRACE_VCPU_PERIOD_S seconds, at a VM entry.
 *
 *	 offset  size  field
 *	      8     8  tsc_offset    guest TSC = host TSC * tsc_ratio + tsc_offset
 *	     16     8  tsc_ratio     fixed point as the hardware's multiplier:
 *	                             SVM 8.32 (1 << 32 is 1.0), VMX 16.48
 *	     24     4  vm, as in vmexit
 *	     28     4  seq           record counter of the vCPU now: the next
 *	                             vmexit record carries it
 *	     32     4  vmm_pid       process that created the VM
 *	     36     4  vmm_tid       thread that runs the vCPU now
 *	     40     4  generation    grows when somebody starts to consume an
 *	                             event; says only whether two are the same
 *	     44    24  name          KVM's debugfs directory "PID-FD", or ""; ends
 *	                             with NUL
 *	     68    16  vmm           name of the VMM's main thread, ends with NUL
 *	     84     2  vcpu, as in vmexit
 *	     86     1  isa
 *	     87     1  abi_version   KVM_TRACE_ABI_VERSION
 */
#define KVM_TRACE_VCPU_SIZE		88
#define KVM_TRACE_VCPU_NAME_LEN		24
#define KVM_TRACE_VCPU_VMM_LEN		16
#define KVM_TRACE_VCPU_PERIOD_S		4

/*
 * kvm_trace:lost - the module itself could not make records.
 *
 *	 offset  size  field
 *	      8     8  count    VM exits without a record
 *	     16     8  since    local_clock() of the first of them
 *	     24     4  vm       of the vCPU that tells of it; 0: it has no state
 *	     28     2  vcpu     of the same
 *	     30     1  why      KVM_TRACE_LOST_*
 *	     31     1  zero
 */
#define KVM_TRACE_LOST_SIZE	32
/* No free vCPU state: max_vcpus reached, or a burst of new vCPUs. */
#define KVM_TRACE_LOST_NO_STATE	1
#define KVM_TRACE_LOST_WHY(X)				\
	X(KVM_TRACE_LOST_NO_STATE,	"no_state")

#endif /* _UAPI_LINUX_KVM_TRACE_H */
