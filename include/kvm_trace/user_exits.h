/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the reasons for which KVM_RUN returns to user space, for the
 * decoders: KVM_EXIT_* of uapi linux/kvm.h (Linux 7.3), those of other
 * architectures too. selftests/host/decode_headers.sh fails if the kernel's
 * headers know one that is missing here.
 */
#ifndef _KVM_TRACE_USER_EXITS_H
#define _KVM_TRACE_USER_EXITS_H

/* X(number, name), by number */
#define KVM_TRACE_USER_EXITS(X)		\
	X(0, UNKNOWN)			\
	X(1, EXCEPTION)			\
	X(2, IO)			\
	X(3, HYPERCALL)			\
	X(4, DEBUG)			\
	X(5, HLT)			\
	X(6, MMIO)			\
	X(7, IRQ_WINDOW_OPEN)		\
	X(8, SHUTDOWN)			\
	X(9, FAIL_ENTRY)		\
	X(10, INTR)			\
	X(11, SET_TPR)			\
	X(12, TPR_ACCESS)		\
	X(13, S390_SIEIC)		\
	X(14, S390_RESET)		\
	X(15, DCR)			\
	X(16, NMI)			\
	X(17, INTERNAL_ERROR)		\
	X(18, OSI)			\
	X(19, PAPR_HCALL)		\
	X(20, S390_UCONTROL)		\
	X(21, WATCHDOG)			\
	X(22, S390_TSCH)		\
	X(23, EPR)			\
	X(24, SYSTEM_EVENT)		\
	X(25, S390_STSI)		\
	X(26, IOAPIC_EOI)		\
	X(27, HYPERV)			\
	X(28, ARM_NISV)			\
	X(29, X86_RDMSR)		\
	X(30, X86_WRMSR)		\
	X(31, DIRTY_RING_FULL)		\
	X(32, AP_RESET_HOLD)		\
	X(33, X86_BUS_LOCK)		\
	X(34, XEN)			\
	X(35, RISCV_SBI)		\
	X(36, RISCV_CSR)		\
	X(37, NOTIFY)			\
	X(38, LOONGARCH_IOCSR)		\
	X(39, MEMORY_FAULT)		\
	X(40, TDX)			\
	X(41, ARM_SEA)			\
	X(42, ARM_LDST64B)		\
	X(43, SNP_REQ_CERTS)

#endif /* _KVM_TRACE_USER_EXITS_H */
