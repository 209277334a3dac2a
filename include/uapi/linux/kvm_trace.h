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
#define KVM_TRACE_F_INJECTED		0x0080	/* interrupt or NMI injected by KVM */
#define KVM_TRACE_F_WRITE		0x0100	/* the access that caused the exit is a write */
#define KVM_TRACE_F_CLAMPED		0x0200	/* clock went back: times not below 0, but wrong */
#define KVM_TRACE_F_NESTED		0x0400	/* a nested guest ran at the exit */
#define KVM_TRACE_F_NESTED_ENTRY	0x0800	/* a nested guest runs after the entry */
#define KVM_TRACE_F_ENTRY_FAILED	0x1000	/* the VM entry failed */
#define KVM_TRACE_F_PROTECTED		0x2000	/* protected guest: registers not read */
#define KVM_TRACE_F_LATE_STAMP		0x4000	/* kvm_exit fired late (SVM, 6.1): bounds only */
#define KVM_TRACE_F_MORE		0x8000	/* set just if there is a word FLAGS_HI */

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
 * More flags, in the word FLAGS_HI: what takes some of KVM's tracepoints or a
 * longer look to know.
 *
 *	 31            11 10   9   8   7   6   5   4   3   2   1   0
 *	+----------------+---+---+---+---+---+---+---+---+---+---+---+
 *	|       0        |   |   |   |   |   |   |   |   |   |   |   |
 *	+----------------+---+---+---+---+---+---+---+---+---+---+---+
 *	                   |   |   |   |   |   |   |   |   |   |   +- FAST_MMIO
 *	                   |   |   |   |   |   |   |   |   |   +----- INJECTED_NMI
 *	                   |   |   |   |   |   |   |   |   +--------- INJECTED_EXCEPTION
 *	                   |   |   |   |   |   |   |   +------------- HALT_POLL
 *	                   |   |   |   |   |   |   +----------------- FASTPATH
 *	                   |   |   |   |   |   +--------------------- ASYNC_PF
 *	                   |   |   |   |   +------------------------- REFLECTED
 *	                   |   |   |   +----------------------------- IMMEDIATE_EXIT
 *	                   |   |   +--------------------------------- APICV
 *	                   |   +------------------------------------- FETCH
 *	                   +----------------------------------------- PARTIAL
 *
 * The events that a guest's own hypervisor injects into its guest are not KVM's
 * and in no flag or word. FASTPATH is told by the guest's TSC, which must tick
 * between two exits. PARTIAL is there without being asked for.
 */
#define KVM_TRACE_F2_FAST_MMIO		0x0001	/* a write that only signals an eventfd */
#define KVM_TRACE_F2_INJECTED_NMI	0x0002	/* an NMI was injected */
#define KVM_TRACE_F2_INJECTED_EXCEPTION	0x0004	/* the entry injects an exception */
#define KVM_TRACE_F2_HALT_POLL		0x0008	/* a halt ended while KVM polled */
#define KVM_TRACE_F2_FASTPATH		0x0010	/* entered again out of KVM's inner loop */
#define KVM_TRACE_F2_ASYNC_PF		0x0020	/* the host reads the page in meanwhile */
#define KVM_TRACE_F2_REFLECTED		0x0040	/* exit handed to the guest hypervisor */
#define KVM_TRACE_F2_IMMEDIATE_EXIT	0x0080	/* the entry was asked to exit at once */
#define KVM_TRACE_F2_APICV		0x0100	/* what APICv or AVIC delivers is not seen */
#define KVM_TRACE_F2_FETCH		0x0200	/* the page fault is of an instruction fetch */
#define KVM_TRACE_F2_PARTIAL		0x0400	/* words were changed meanwhile: some may miss */

#define KVM_TRACE_FLAGS_HI(X)						\
	X(KVM_TRACE_F2_FAST_MMIO,		"fast_mmio")		\
	X(KVM_TRACE_F2_INJECTED_NMI,		"injected_nmi")		\
	X(KVM_TRACE_F2_INJECTED_EXCEPTION,	"injected_exception")	\
	X(KVM_TRACE_F2_HALT_POLL,		"halt_poll")		\
	X(KVM_TRACE_F2_FASTPATH,		"fastpath")		\
	X(KVM_TRACE_F2_ASYNC_PF,		"async_pf")		\
	X(KVM_TRACE_F2_REFLECTED,		"reflected")		\
	X(KVM_TRACE_F2_IMMEDIATE_EXIT,		"immediate_exit")	\
	X(KVM_TRACE_F2_APICV,			"apicv")		\
	X(KVM_TRACE_F2_FETCH,			"fetch")		\
	X(KVM_TRACE_F2_PARTIAL,			"partial")

/*
 * The tail of kvm_trace:vmexit. Empty (length 0), or
 *
 *	__u32 mask;		presence bits 31:0, KVM_TRACE_W_*
 *	__u32 mask2;		presence bits 63:32; only if bit 31 is set
 *	...			one word per set bit, lowest bit first
 *
 * Bits 0 to 15 and 32 to 47 are words of 8 bytes, bits 16 to 30 and 48 to 62
 * words of 4 bytes, so a decoder can step over a word that it does not know.
 * Bit 63 would say the same of a third mask as bit 31 does of the second.
 * Words are packed and not aligned. A word that would say nothing is left out
 * although it was asked for: see each.
 *
 * Words that come from the guest's registers (RIP, MSR*, CPUID_*, CR*,
 * HYPERCALL, IO_VALUE but of strings and emulated I/O) are absent if PROTECTED.
 * Results, which are known at the entry only (MSR_VALUE, IO_VALUE and CR_VALUE
 * of reads, CPUID_AX_BX, CPUID_CX_DX), are absent unless the guest has got
 * behind the instruction: not if an exception was injected instead, if the level
 * of nesting changed, or if somebody has set the vCPU's registers.
 */
/* Guest RIP at the exit; absent if PROTECTED. */
#define KVM_TRACE_W_RIP			(1ull << 0)
/* Faulting guest-physical address; NPF, EPT violation and misconfiguration. */
#define KVM_TRACE_W_GPA			(1ull << 1)
/* Stands instead of GUEST_NS for 2^32 ns and more. */
#define KVM_TRACE_W_GUEST_NS_64		(1ull << 2)
/* SVM EXITINFO1; VMX exit qualification; absent if 0. */
#define KVM_TRACE_W_INFO1		(1ull << 3)
/* SVM EXITINFO2; VMX IDT-vectoring information; absent if 0. */
#define KVM_TRACE_W_INFO2		(1ull << 4)
/* Native reason >> 16; absent if 0. */
#define KVM_TRACE_W_REASON_HI		(1ull << 5)
/* local_clock() at the entry that ends the round trip. */
#define KVM_TRACE_W_ENTRY_NS		(1ull << 6)
/* Stand instead of USER_NS, HALT_NS, POLL_NS and RUNNABLE_NS as GUEST_NS_64 does. */
#define KVM_TRACE_W_USER_NS_64		(1ull << 7)
#define KVM_TRACE_W_HALT_NS_64		(1ull << 8)
#define KVM_TRACE_W_POLL_NS_64		(1ull << 9)
#define KVM_TRACE_W_RUNNABLE_NS_64	(1ull << 10)
/*
 * EDX:EAX of RDMSR or WRMSR; of a read that faulted absent. MSR and MSR_VALUE
 * are absent for the forms with an immediate index.
 */
#define KVM_TRACE_W_MSR_VALUE		(1ull << 11)
/* Guest-physical address of the last access of MMIO; absent if GPA has it. */
#define KVM_TRACE_W_MMIO_GPA		(1ull << 12)
/* What it read or wrote, at most 8 bytes; absent if it was not known. */
#define KVM_TRACE_W_MMIO_VALUE		(1ull << 13)
/* Value moved to or from the control register of CR; see there. */
#define KVM_TRACE_W_CR_VALUE		(1ull << 14)
/*
 * The guest's exception that caused the exit (class exception):
 *
 *	 63             32 31        9   8   7      0
 *	+-----------------+----------+-----+---------+
 *	|   error code    |    0     | ERR | vector  |
 *	+-----------------+----------+-----+---------+
 *
 * The error code counts if ERR is set.
 */
#define KVM_TRACE_W_EXCEPTION		(1ull << 15)
#define KVM_TRACE_EXCEPTION_VECTOR	0xffu
#define KVM_TRACE_EXCEPTION_ERR		0x100u
#define KVM_TRACE_EXCEPTION_CODE_SHIFT	32
/* ns in the guest before the exit; absent if the entry was not seen. */
#define KVM_TRACE_W_GUEST_NS		(1ull << 16)
/*
 * SVM EXITINTINFO 31:0; VMX VM-exit interruption information; absent if bit 31,
 * which makes it valid, is 0.
 */
#define KVM_TRACE_W_INTR_INFO		(1ull << 17)
/* Error code that belongs to INTR_INFO; absent if 0. */
#define KVM_TRACE_W_ERROR_CODE		(1ull << 18)
/* Exits that KVM counted since the entry before, less one; signed; absent if 0. */
#define KVM_TRACE_W_UNTRACED		(1ull << 19)
/* More flags, KVM_TRACE_F2_*; absent if 0. */
#define KVM_TRACE_W_FLAGS_HI		(1ull << 20)
/*
 * Parts of host_ns, each absent if 0. USER_NS: outside KVM_RUN, from
 * kvm_fpu(0) to kvm_fpu(1). HALT_NS: halted in KVM, polling included, as
 * halt_wait_ns, halt_poll_success_ns and halt_poll_fail_ns grew; KVM takes them
 * with CLOCK_MONOTONIC, which runs some parts in a million faster or slower, and
 * HALT_NS never exceeds what the others leave. A vCPU that waits to be started
 * is not halted. Handling is what remains: handling + user + halt = host_ns.
 */
#define KVM_TRACE_W_USER_NS		(1ull << 21)
#define KVM_TRACE_W_HALT_NS		(1ull << 22)
/* Part of HALT_NS in which KVM polled; absent if 0. */
#define KVM_TRACE_W_POLL_NS		(1ull << 23)
/*
 * ns of host_ns in which the thread was runnable and waited for a CPU (run
 * delay of /proc/PID/schedstat), whatever else it did; absent if 0.
 */
#define KVM_TRACE_W_RUNNABLE_NS		(1ull << 24)
/* ECX of RDMSR or WRMSR: index of the MSR. */
#define KVM_TRACE_W_MSR			(1ull << 25)
/*
 * I/O instruction, of the exit or of the last one that KVM emulated:
 *
 *	 31            16 15      7   6    5    4    3      0
 *	+----------------+---------+-----+-----+----+--------+
 *	|      port      |    0    | REP | STR | IN |  size  |
 *	+----------------+---------+-----+-----+----+--------+
 *
 * size in bytes. The direction is in IN, as flag WRITE is of the exit. Of I/O
 * that KVM emulates after an exit for another reason, STR and REP are both set
 * if it moved more than one element, else neither.
 */
#define KVM_TRACE_W_IO			(1ull << 26)
#define KVM_TRACE_IO_SIZE		0x0fu
#define KVM_TRACE_IO_IN			0x10u
#define KVM_TRACE_IO_STRING		0x20u	/* INS or OUTS */
#define KVM_TRACE_IO_REP		0x40u
#define KVM_TRACE_IO_PORT_SHIFT		16
/* EAX of CPUID. */
#define KVM_TRACE_W_CPUID_LEAF		(1ull << 27)
/*
 * What KVM injected in the round trip; absent if it was neither interrupt nor
 * NMI. Sum of irqs = growth of KVM's irq_injections.
 *
 *	 31            16 15       9   8   7      0
 *	+----------------+-----------+-----+--------+
 *	|      irqs      |    nmis   | VEC | vector |
 *	+----------------+-----------+-----+--------+
 *
 * vector counts if VEC is set: of the interrupt that the entry injects. More
 * than one injection is one interrupt that was taken back and injected again. Counts stop
 * at 65535 and 127.
 */
#define KVM_TRACE_W_INJECTED		(1ull << 29)
#define KVM_TRACE_INJECTED_VECTOR	0xffu
#define KVM_TRACE_INJECTED_VEC		0x100u
#define KVM_TRACE_INJECTED_NMIS_SHIFT	9
#define KVM_TRACE_INJECTED_NMIS		0x7fu
#define KVM_TRACE_INJECTED_IRQS_SHIFT	16
#define KVM_TRACE_INJECTED_IRQS		0xffffu
/*
 * Why KVM_RUN returned, the last time if it did so more than once; absent if
 * it did not: KVM_EXIT_* (uapi linux/kvm.h) in bits 15:0, errno as a positive
 * number in bits 31:16. With an errno, KVM_EXIT_* may be that of an earlier
 * return.
 */
#define KVM_TRACE_W_USER_REASON		(1ull << 30)
#define KVM_TRACE_USER_REASON_EXIT	0xffffu
#define KVM_TRACE_USER_REASON_ERRNO_SHIFT 16
/* A second mask follows. */
#define KVM_TRACE_W_NEXT_MASK		(1ull << 31)
/* Results of CPUID: EBX:EAX (EAX in bits 31:0) and EDX:ECX (ECX there). */
#define KVM_TRACE_W_CPUID_AX_BX		(1ull << 32)
#define KVM_TRACE_W_CPUID_CX_DX		(1ull << 33)
/* Exception that the entry injects, in the form of EXCEPTION. */
#define KVM_TRACE_W_INJECTED_EXCEPTION	(1ull << 34)
/*
 * Hypercall of the exit; absent if it went to the guest's own hypervisor:
 *
 *	 63        40 39     32 31             0
 *	+------------+---------+----------------+
 *	|     0      |   abi   |     number     |
 *	+------------+---------+----------------+
 *
 * abi as KVM_TRACE_ABI_*; number, bits 31:0 of RAX; of Hyper-V the 16-bit call
 * code.
 */
#define KVM_TRACE_W_HYPERCALL		(1ull << 35)
#define KVM_TRACE_HYPERCALL_ABI_SHIFT	32
/* ECX of CPUID: index of the subleaf. */
#define KVM_TRACE_W_CPUID_INDEX		(1ull << 48)
/*
 * Value of IO, its lowest size bytes; of INS and OUTS that of the first element
 * of the last batch.
 */
#define KVM_TRACE_W_IO_VALUE		(1ull << 49)
/* Elements that INS or OUTS moved in the round trip, also 0; absent if 1. */
#define KVM_TRACE_W_IO_COUNT		(1ull << 50)
/*
 * Accesses of MMIO that KVM emulated, the last one:
 *
 *	 31            16 15          9   8   7      0
 *	+----------------+-------------+-----+--------+
 *	|     count      |      0      |  W  |  size  |
 *	+----------------+-------------+-----+--------+
 *
 * size in bytes, W for a write, count of accesses in the round trip, stops at
 * 65535. A write across pages counts in each of them. Of more than 8 bytes,
 * MMIO_VALUE is the first 8, and MMIO_GPA of a read that user space answered is
 * that of its last piece, as in KVM's own event.
 */
#define KVM_TRACE_W_MMIO		(1ull << 51)
#define KVM_TRACE_MMIO_SIZE		0xffu
#define KVM_TRACE_MMIO_WRITE		0x100u
#define KVM_TRACE_MMIO_COUNT_SHIFT	16
/*
 * Access of a control register:
 *
 *	 31         6 5    4 3      0
 *	+------------+------+--------+
 *	|     0      | kind | number |
 *	+------------+------+--------+
 *
 * CR_VALUE of a move is the moved value, of LMSW its 16 bits, of CLTS absent.
 * Where an SVM processor gives no operand (no decode assists), KVM's value of
 * CR0, CR3 or CR4 at the entry stands for it, and CR8's is absent.
 */
#define KVM_TRACE_W_CR			(1ull << 52)
#define KVM_TRACE_CR_NUMBER		0x0fu
#define KVM_TRACE_CR_KIND_SHIFT		4
#define KVM_TRACE_CR_MOV_TO		0u
#define KVM_TRACE_CR_MOV_FROM		1u
#define KVM_TRACE_CR_CLTS		2u
#define KVM_TRACE_CR_LMSW		3u
/* Vector of the host's interrupt (class interrupt); SVM does not tell it. */
#define KVM_TRACE_W_HOST_VECTOR		(1ull << 53)

/* Bytes of the word of a bit, by the bit's number; bits of each size. */
#define KVM_TRACE_W_SIZE(bit)	(((bit) & 31) < 16 ? 8u : 4u)
#define KVM_TRACE_W_MASK_8	0x0000ffff0000ffffull
#define KVM_TRACE_W_MASK_4	0x7fff00007fff0000ull

/*
 * Words that a user may choose (module parameter "words"): bit and name. The
 * *_64 words go with those they stand for. REASON_HI and UNTRACED are not a
 * choice: without them a record would say something wrong.
 */
#define KVM_TRACE_WORDS(X)					\
	X(KVM_TRACE_W_RIP,		"rip")			\
	X(KVM_TRACE_W_GPA,		"gpa")			\
	X(KVM_TRACE_W_GUEST_NS,		"guest_ns")		\
	X(KVM_TRACE_W_INFO1,		"info1")		\
	X(KVM_TRACE_W_INFO2,		"info2")		\
	X(KVM_TRACE_W_INTR_INFO,	"intr_info")		\
	X(KVM_TRACE_W_ERROR_CODE,	"error_code")		\
	X(KVM_TRACE_W_ENTRY_NS,		"entry_ns")		\
	X(KVM_TRACE_W_FLAGS_HI,		"flags_hi")		\
	X(KVM_TRACE_W_USER_NS,		"user_ns")		\
	X(KVM_TRACE_W_HALT_NS,		"halt_ns")		\
	X(KVM_TRACE_W_POLL_NS,		"poll_ns")		\
	X(KVM_TRACE_W_RUNNABLE_NS,	"runnable_ns")		\
	X(KVM_TRACE_W_USER_REASON,	"user_reason")		\
	X(KVM_TRACE_W_INJECTED,		"injected")		\
	X(KVM_TRACE_W_INJECTED_EXCEPTION, "injected_exception")	\
	X(KVM_TRACE_W_EXCEPTION,	"exception")		\
	X(KVM_TRACE_W_HOST_VECTOR,	"host_vector")		\
	X(KVM_TRACE_W_MSR,		"msr")			\
	X(KVM_TRACE_W_MSR_VALUE,	"msr_value")		\
	X(KVM_TRACE_W_IO,		"io")			\
	X(KVM_TRACE_W_IO_VALUE,		"io_value")		\
	X(KVM_TRACE_W_IO_COUNT,		"io_count")		\
	X(KVM_TRACE_W_MMIO,		"mmio")			\
	X(KVM_TRACE_W_MMIO_GPA,		"mmio_gpa")		\
	X(KVM_TRACE_W_MMIO_VALUE,	"mmio_value")		\
	X(KVM_TRACE_W_CPUID_LEAF,	"cpuid_leaf")		\
	X(KVM_TRACE_W_CPUID_INDEX,	"cpuid_index")		\
	X(KVM_TRACE_W_CPUID_AX_BX,	"cpuid_ax_bx")		\
	X(KVM_TRACE_W_CPUID_CX_DX,	"cpuid_cx_dx")		\
	X(KVM_TRACE_W_CR,		"cr")			\
	X(KVM_TRACE_W_CR_VALUE,		"cr_value")		\
	X(KVM_TRACE_W_HYPERCALL,	"hypercall")

/* Words of lengths of time in 4 bytes, and what stands for them in 8. */
#define KVM_TRACE_WORDS_OF_TIME(X)				\
	X(KVM_TRACE_W_GUEST_NS,		KVM_TRACE_W_GUEST_NS_64)	\
	X(KVM_TRACE_W_USER_NS,		KVM_TRACE_W_USER_NS_64)		\
	X(KVM_TRACE_W_HALT_NS,		KVM_TRACE_W_HALT_NS_64)		\
	X(KVM_TRACE_W_POLL_NS,		KVM_TRACE_W_POLL_NS_64)		\
	X(KVM_TRACE_W_RUNNABLE_NS,	KVM_TRACE_W_RUNNABLE_NS_64)

#define KVM_TRACE_WORDS_LEAN	0ull
#define KVM_TRACE_WORDS_DEFAULT	(KVM_TRACE_W_RIP | KVM_TRACE_W_GPA |		\
				 KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_MSR |	\
				 KVM_TRACE_W_IO | KVM_TRACE_W_CPUID_LEAF)

/*
 * kvm_trace:hypercall - one per hypercall, emitted at the VM entry at which
 * the result is known, just before the vmexit record of the same round trip:
 *
 *	 offset  size  field
 *	      8     4  vm        as in vmexit
 *	     12     4  seq       that of the vmexit record it belongs to
 *	     16     4  nr        bits 31:0 of the number; of Hyper-V the call code
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
 *	|      words       |  a7  |  a6  |  a5  | a4  | a3  | a2  | a1  | a0  |
 *	+------------------+------+------+------+-----+-----+-----+-----+-----+
 *
 * Each argument has two bits: 00 absent, 01 four bytes, 10 eight bytes, 11
 * reserved. Four bytes are the whole argument: a 32-bit caller has no more, but
 * for Hyper-V's, which are in pairs of registers, and of 64 bits the upper half
 * was zero. Bits 16 to 23 are words of 8 bytes,
 * bits 24 to 31 words of 4 bytes; they follow the arguments, lowest bit first.
 *
 * a0 to a5 come from the caller's registers, in the ABI's order; of Hyper-V, a0
 * is the input and a1 the output: values if FAST, else guest-physical addresses.
 * Of a call that include/kvm_trace/hypercalls*.h know, those that it does not
 * use and those that only point to guest memory are absent, unless parameter
 * hypercall_args asks for all; of others, all that the ABI can pass are there,
 * but of Hyper-V's only values.
 *
 * a6 and a7 are fields of the structure in guest memory that an argument points
 * to, as those tables name them. They are there only while
 * kvm_trace_detail:hypercall_sub is enabled, and if they could be read.
 */
#define KVM_TRACE_HYPERCALL_SIZE	32	/* without the tail */
#define KVM_TRACE_HC_ARGS		8
#define KVM_TRACE_HC_REGS		6	/* of them, from registers */
#define KVM_TRACE_HC_ARG_ABSENT		0u
#define KVM_TRACE_HC_ARG_32		1u
#define KVM_TRACE_HC_ARG_64		2u
#define KVM_TRACE_HC_ARG(present, i)	(((present) >> (2 * (i))) & 3u)
/* Stands instead of RESULT for a result that needs 64 bits. */
#define KVM_TRACE_HC_W_RESULT_64	0x00010000u
/* RIP of the instruction; absent if the guest is protected. */
#define KVM_TRACE_HC_W_RIP		0x00020000u
/*
 * The word on top of the caller's stack: where the caller of Xen's or Hyper-V's
 * hypercall page goes on. Absent of KVM's calls, which guests make in line, and
 * if it cannot be read. To have it, guest memory is read.
 */
#define KVM_TRACE_HC_W_RETURN		0x00040000u
/* Stands instead of NS for 2^32 ns and more. */
#define KVM_TRACE_HC_W_NS_64		0x00080000u
/* Bits 63:32 of the number; absent if 0. */
#define KVM_TRACE_HC_W_NR_HI		0x01000000u
/*
 * Result, RAX at the entry, to be sign-extended from 32 bits; of a 32-bit
 * caller of Hyper-V, EDX:EAX. Absent (as RESULT_64) if it is 0, which ZERO in
 * caller says, and if it is not in registers: the guest is protected, has not got
 * behind the instruction, or is at another level of nesting, or somebody has set
 * the vCPU's registers.
 */
#define KVM_TRACE_HC_W_RESULT		0x02000000u
/* host_ns of the round trip: how long the call took. */
#define KVM_TRACE_HC_W_NS		0x04000000u
/*
 * Of Hyper-V's input value (TLFS, "Hypercall Inputs") what is not the call code;
 * each is absent if 0, and HV_CONTROL if it says nothing but FAST, as caller does.
 *
 * HV_CONTROL:	 31        16  15  14       11 10             1   0
 *		+-------------+---+-----------+----------------+------+
 *		|      0      | N |     0     | variable header | FAST |
 *		+-------------+---+-----------+----------------+------+
 *
 * variable header in units of 8 bytes; N, for the nested hypervisor (bit 31 of
 * the input value; the page that KVM gives to guests of both Xen and Hyper-V sets
 * it in 32-bit calls, whatever they are for). Bits 14:11 are reserved, and as the guest has them.
 *
 * HV_REPS:	 31   28 27         16 15   12 11         0
 *		+-------+-------------+-------+------------+
 *		|   0   |    start    |   0   |    count   |
 *		+-------+-------------+-------+------------+
 *
 * first element, and number of elements, of a rep call; the reserved bits are as
 * the guest has them.
 */
#define KVM_TRACE_HC_W_HV_CONTROL	0x08000000u
#define KVM_TRACE_HV_FAST		0x0001u
#define KVM_TRACE_HV_VAR_SHIFT		1
#define KVM_TRACE_HV_VAR		0x03ffu
#define KVM_TRACE_HV_NESTED		0x8000u
#define KVM_TRACE_HC_W_HV_REPS		0x10000000u
#define KVM_TRACE_HV_REPS_COUNT		0x0fffu
#define KVM_TRACE_HV_REPS_START_SHIFT	16
/*
 * What reading guest memory came to, of calls that have something there; only
 * while kvm_trace_detail:hypercall_sub is enabled:
 *
 *	 31                16 15                0
 *	+--------------------+------------------+
 *	| KVM_TRACE_SUB_*    | records made     |
 *	+--------------------+------------------+
 *
 * Of n calls or elements, those for which no record was made could not be read,
 * or were beyond a limit, as the upper half says.
 */
#define KVM_TRACE_HC_W_SUB		0x20000000u
#define KVM_TRACE_HC_W_MASK_8		0x00ff0000u
#define KVM_TRACE_HC_W_MASK_4		0xff000000u

#define KVM_TRACE_SUB_COUNT		0xffffu
#define KVM_TRACE_SUB_UNREADABLE	0x00010000u	/* no such page, or not in memory now */
#define KVM_TRACE_SUB_MAX_CALLS		0x00020000u	/* more than KVM_TRACE_SUB_CALLS */
#define KVM_TRACE_SUB_MAX_BYTES		0x00040000u	/* more than KVM_TRACE_SUB_BYTES */
#define KVM_TRACE_SUB_MAX_WALKS		0x00080000u	/* more than KVM_TRACE_SUB_WALKS */
#define KVM_TRACE_SUB_ENCRYPTED		0x00100000u	/* the guest's memory is encrypted */
#define KVM_TRACE_SUB_XMM		0x00200000u	/* the list is in XMM registers */
#define KVM_TRACE_SUB_NESTED		0x00400000u	/* a nested guest's addresses */

/* Bit and name of each, as decoders print it. */
#define KVM_TRACE_SUB_FLAGS(X)					\
	X(KVM_TRACE_SUB_UNREADABLE,	"unreadable")		\
	X(KVM_TRACE_SUB_MAX_CALLS,	"max_calls")		\
	X(KVM_TRACE_SUB_MAX_BYTES,	"max_bytes")		\
	X(KVM_TRACE_SUB_MAX_WALKS,	"max_walks")		\
	X(KVM_TRACE_SUB_ENCRYPTED,	"encrypted")		\
	X(KVM_TRACE_SUB_XMM,		"xmm")			\
	X(KVM_TRACE_SUB_NESTED,		"nested")

/* Most that is done for one hypercall. */
#define KVM_TRACE_SUB_CALLS	128	/* records of hypercall_sub */
#define KVM_TRACE_SUB_BYTES	8192	/* bytes of guest memory, page tables not counted */
#define KVM_TRACE_SUB_WALKS	4	/* guest-virtual pages looked up */

/*
 * Words that a user may choose (module parameter "hypercall_words"): bit and
 * name. NS_64 goes with NS.
 */
#define KVM_TRACE_HC_WORDS(X)				\
	X(KVM_TRACE_HC_W_RIP,		"rip")		\
	X(KVM_TRACE_HC_W_NS,		"ns")		\
	X(KVM_TRACE_HC_W_RETURN,	"return")
#define KVM_TRACE_HC_WORDS_LEAN		0u
#define KVM_TRACE_HC_WORDS_DEFAULT	(KVM_TRACE_HC_W_RIP | KVM_TRACE_HC_W_NS)

#define KVM_TRACE_ABI_KVM	1	/* KVM_HC_*, uapi/linux/kvm_para.h */
#define KVM_TRACE_ABI_HYPERV	2	/* Hyper-V's, handled by KVM */
#define KVM_TRACE_ABI_XEN	3	/* Xen's, handled by KVM or user space */
/*
 * Made by a nested guest to its own hypervisor, so it is not known whose; the
 * number is RAX. Such a call has no arguments and no result.
 */
#define KVM_TRACE_ABI_L1	4

#define KVM_TRACE_ABIS(X)			\
	X(KVM_TRACE_ABI_KVM,	"KVM")		\
	X(KVM_TRACE_ABI_HYPERV,	"Hyper-V")	\
	X(KVM_TRACE_ABI_XEN,	"Xen")		\
	X(KVM_TRACE_ABI_L1,	"L1")

/*
 * caller:	   7      6       5     4      3         2      1   0
 *		+-----+--------+-----+------+--------+-----------+-----+
 *		|  0  | ZERO   | XMM | FAST | NESTED | LONG_MODE | CPL |
 *		+-----+--------+-----+------+--------+-----------+-----+
 */
#define KVM_TRACE_CALLER_CPL		0x03	/* 0 for a protected guest: not known */
#define KVM_TRACE_CALLER_LONG_MODE	0x04	/* 64-bit code; else 32 or 16 bits, 32 count */
#define KVM_TRACE_CALLER_NESTED		0x08	/* made by a nested guest */
#define KVM_TRACE_CALLER_FAST		0x10	/* Hyper-V: input is in registers */
#define KVM_TRACE_CALLER_XMM		0x20	/* Hyper-V: and more of it in XMM registers */
#define KVM_TRACE_CALLER_ZERO		0x40	/* the result is 0 and has no word */

/*
 * kvm_trace_detail:hypercall_sub - one per call inside a batch, or element of a
 * list, of a hypercall. Emitted when the hypercall is made, so before its
 * hypercall record, if there is one, which has the same vm, vcpu and seq:
 *
 *	 offset  size  field
 *	      8     4  vm        as in vmexit
 *	     12     4  seq       as in hypercall
 *	     16     4  index     place in the batch or list, from 0
 *	     20     4  nr        as in hypercall: of the inner call, or of the call
 *	                         whose list it is
 *	     24     4  present   as in hypercall
 *	     28     4  __data_loc of tail: length << 16 | offset
 *	     32     2  vcpu      as in vmexit
 *	     34     1  abi       KVM_TRACE_ABI_*
 *	     35     1  kind      KVM_TRACE_SUB_KIND_*: what a0 and a1 are
 *	     36        tail      arguments, and of the words only NR_HI
 *
 * Guest memory is read only while this event is enabled. It is the guest's and
 * may change meanwhile: a record is what was there when it was read, once.
 */
#define KVM_TRACE_HYPERCALL_SUB_SIZE	36	/* without the tail */
/* Call inside Xen's multicall, arguments as of a hypercall; not looked into. */
#define KVM_TRACE_SUB_KIND_CALL		1	/* of a 64-bit caller */
/*
 * Addresses whose translations Hyper-V flushes: a0, first page; a1, pages, as KVM
 * counts them: 1 and bits 11:0, also if the guest asks for extended ranges.
 */
#define KVM_TRACE_SUB_KIND_GVA_RANGE	2
/* Virtual processors of Hyper-V: a0, bank; a1, mask; bit n is VP 64 * bank + n. */
#define KVM_TRACE_SUB_KIND_VP_BANK	3
#define KVM_TRACE_SUB_KIND_CALL_32	4	/* as CALL, of a 32-bit caller */

/*
 * kvm_trace:vcpu - who a vm and vcpu number is: when a consumer first sees a
 * vCPU, when something in it changed (the TSC: after 100 ms, and 500 ms more
 * where only lean batches are wanted, at the latest),
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
 *	      8     8  count    VM exits without a record; of NO_BUFFER, missing in
 *	                        batches alone, whose record counters tell as well
 *	     16     8  since    local_clock() of the first of them
 *	     24     4  vm       of the vCPU that tells of it; 0: it has no state
 *	     28     2  vcpu     of the same
 *	     30     1  why      KVM_TRACE_LOST_*
 *	     31     1  zero
 */
#define KVM_TRACE_LOST_SIZE	32
/* No free vCPU state: max_vcpus reached, or a burst of new vCPUs. */
#define KVM_TRACE_LOST_NO_STATE		1
/* No free buffer of batches: a burst of new vCPUs. It is told once there is one. */
#define KVM_TRACE_LOST_NO_BUFFER	2
#define KVM_TRACE_LOST_WHY(X)				\
	X(KVM_TRACE_LOST_NO_STATE,	"no_state")	\
	X(KVM_TRACE_LOST_NO_BUFFER,	"no_buffer")

/*
 * kvm_trace_detail:pt - what happened to a stream of the PMU kvm_pt: a trace of
 * Intel PT into the AUX area of one perf event.
 *
 *	 offset  size  field
 *	      8     8  bytes    of trace published by this (OFF, PUBLISHED)
 *	     16     8  entries  VM entries that this trace comes from (same); of a
 *	                        host's stream, those that it was paused for
 *	     24     4  tid      thread that the event is for; 0: a CPU, or it has ended
 *	     28     4  on_cpu   CPU that the event is for; KVM_TRACE_PT_ANY_CPU: any
 *	     32     4  losses   how often the stream has ended by itself since the
 *	                        event was opened: each time some trace is missing
 *	     36     1  what     KVM_TRACE_PT_*
 *	     37     1  why      KVM_TRACE_PT_WHY_*
 *	     38     2  config   as the event's attr.config1, with what was chosen for 0:
 *
 *	 15             6 5      4 3      2 1    0
 *	+----------------+--------+--------+------+
 *	|       0        | method | stream | mode |
 *	+----------------+--------+--------+------+
 *
 * mode:   1 host, 2 guest, 3 host_guest
 * stream: 1 host, 2 guest
 * method: 1 vmcs, 2 window; 0 of a host's stream
 *
 * A sample of ON, OFF or PUBLISHED is of the CPU that it happened on, one of REFUSED
 * of the process that asked.
 */
#define KVM_TRACE_PT_SIZE	40
#define KVM_TRACE_PT_ANY_CPU	0xffffffffu

#define KVM_TRACE_PT_ON		1	/* scheduled in, or enabled */
#define KVM_TRACE_PT_OFF	2	/* scheduled out, disabled, or see why */
#define KVM_TRACE_PT_PUBLISHED	3	/* goes on; the watermark was reached */
#define KVM_TRACE_PT_REFUSED	4	/* not opened, or not switched on: see why */
#define KVM_TRACE_PT_NOTE	5	/* goes on, but see why */

#define KVM_TRACE_PT_WHATS(X)				\
	X(KVM_TRACE_PT_ON,		"on")		\
	X(KVM_TRACE_PT_OFF,		"off")		\
	X(KVM_TRACE_PT_PUBLISHED,	"published")	\
	X(KVM_TRACE_PT_REFUSED,		"refused")	\
	X(KVM_TRACE_PT_NOTE,		"note")

#define KVM_TRACE_PT_CONFIG_MODE	0x03
#define KVM_TRACE_PT_CONFIG_STREAM	0x0c
#define KVM_TRACE_PT_CONFIG_METHOD	0x30
#define KVM_TRACE_PT_CONFIG_STREAM_SHIFT	2
#define KVM_TRACE_PT_CONFIG_METHOD_SHIFT	4

#define KVM_TRACE_PT_MODES(X)		\
	X(1, "host")			\
	X(2, "guest")			\
	X(3, "host_guest")
#define KVM_TRACE_PT_METHODS(X)		\
	X(1, "vmcs")			\
	X(2, "window")

/*
 * why: the user asked for it; or in short what the kernel's log says in full:
 *
 * refused when it is opened
 *	NO_PT		the CPU has no Intel PT
 *	NO_TOPA		its tables of physical addresses have one entry only
 *	NO_VMX		it has no Intel VMX
 *	NOT_IN_VMX	it does not trace in VMX operation (IA32_VMX_MISC[14] is 0)
 *	NO_CONTROLS	method vmcs, and the VMCS controls for IA32_RTIT_CTL are missing
 *	EVMCS		method vmcs, and KVM uses an enlightened VMCS of Hyper-V
 *	LATE_EXIT	this KVM fires kvm_exit with interrupts on
 *	INTEL_PT	perf's intel_pt is in use
 *	LBR		LBR or BTS is in use, and the CPU has no Intel PT beside it
 *	TARGET		there is such a stream of this thread or CPU already
 *	MIXED		there are events of the other kind: of threads, of CPUs
 *	LOCKDOWN	the kernel is locked down
 *	NO_RIGHT	CAP_PERFMON is missing
 *	CONFIG		the CPU does not have what the event's attributes ask for
 *	NO_HOOK		KVM's tracepoints cannot be used
 *	RESERVE		perf has refused the events that keep intel_pt off
 * ended, or not switched on
 *	FULL		the AUX area is full, and is read too slowly
 *	TOPA_ERROR	Intel PT has reported an operational error
 *	FOREIGN		IA32_RTIT_CTL was changed by somebody else
 *	FAULT		an access to an MSR or the VMCS has faulted
 *	OFFLINE		the CPU goes offline or sleeps
 *	LEFT		not all could be undone yet, and the module stays until it is
 *	STOP		a "stop" of the event's address filters was reached
 * notes, each once from ON to OFF
 *	PROTECTED	a guest's state is protected (SEV-ES, TDX): it is not traced
 *	NO_VMCS		the VMCS cannot be accessed, or KVM uses Intel PT for the guest
 *	HOST_CODE	KVM took a control from the VMCS: there is host code in the trace
 *	UNTRACED	KVM took a control from the VMCS: some of the guest's is missing
 */
#define KVM_TRACE_PT_WHYS(X)			\
	X(0,	NONE,		"none")		\
	X(1,	NO_PT,		"no_pt")	\
	X(2,	NO_TOPA,	"no_topa")	\
	X(3,	NO_VMX,		"no_vmx")	\
	X(4,	NOT_IN_VMX,	"not_in_vmx")	\
	X(5,	NO_CONTROLS,	"no_controls")	\
	X(6,	EVMCS,		"evmcs")	\
	X(7,	LATE_EXIT,	"late_exit")	\
	X(8,	INTEL_PT,	"intel_pt")	\
	X(9,	LBR,		"lbr")		\
	X(10,	TARGET,		"target")	\
	X(11,	MIXED,		"mixed")	\
	X(12,	LOCKDOWN,	"lockdown")	\
	X(13,	NO_RIGHT,	"no_right")	\
	X(14,	CONFIG,		"config")	\
	X(15,	NO_HOOK,	"no_hook")	\
	X(16,	FULL,		"full")		\
	X(17,	TOPA_ERROR,	"topa_error")	\
	X(18,	FOREIGN,	"foreign")	\
	X(19,	FAULT,		"fault")	\
	X(20,	OFFLINE,	"offline")	\
	X(21,	LEFT,		"left")		\
	X(22,	PROTECTED,	"protected")	\
	X(23,	NO_VMCS,	"no_vmcs")	\
	X(24,	HOST_CODE,	"host_code")	\
	X(25,	UNTRACED,	"untraced")	\
	X(26,	RESERVE,	"reserve")	\
	X(27,	STOP,		"stop")

#define KVM_TRACE_PT_WHY_ENUM(number, id, name)	KVM_TRACE_PT_WHY_##id = number,
enum kvm_trace_pt_why {
	KVM_TRACE_PT_WHYS(KVM_TRACE_PT_WHY_ENUM)
};

#endif /* _UAPI_LINUX_KVM_TRACE_H */
