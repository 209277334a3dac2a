/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every native exit reason with its name and its class, and the classes: the
 * one table that the module and all decoders compile. Codes and names are
 * those of uapi asm/vmx.h and asm/svm.h (Linux 7.3), of Intel's SDM vol. 3D,
 * appendix C, and of AMD's APM vol. 2, appendix C. The test
 * selftests/host/decode_headers.sh fails if the kernel's headers know one that
 * is missing here.
 */
#ifndef _KVM_TRACE_EXIT_REASONS_H
#define _KVM_TRACE_EXIT_REASONS_H

/*
 * X(number, name): what an exit is about, alike on both vendors. Numbers are
 * ABI: new ones come at the end.
 */
#define KVM_TRACE_CLASSES(X) \
	X(0, unknown)				\
	X(1, cpuid)				\
	X(2, hlt)				\
	X(3, io)				\
	X(4, mmio)				\
	X(5, page_fault)			\
	X(6, msr_read)				\
	X(7, msr_write)				\
	X(8, cr)				\
	X(9, dr)				\
	X(10, hypercall)			\
	X(11, interrupt)			\
	X(12, interrupt_window)			\
	X(13, nmi)				\
	X(14, nmi_window)			\
	X(15, exception)			\
	X(16, pause)				\
	X(17, invlpg)				\
	X(18, xsetbv)				\
	X(19, nested)				\
	X(20, apic)				\
	X(21, task_switch)			\
	X(22, shutdown)				\
	X(23, wbinvd)				\
	X(24, monitor)				\
	X(25, entry_failure)			\
	X(26, preemption_timer)			\
	X(27, descriptor_table)			\
	X(28, rdtsc)				\
	X(29, rdpmc)				\
	X(30, random)				\
	X(31, init_sipi)			\
	X(32, smi)				\
	X(33, mtf)				\
	X(34, dirty_log)			\
	X(35, invd)				\
	X(36, instruction)			\
	X(37, bus_lock)				\
	X(38, tlb)				\
	X(39, notify)				\
	X(40, enclave)				\
	X(41, vmgexit)				\
	X(42, tdcall)

#define KVM_TRACE_CLASS_ENUM(number, name) KVM_TRACE_CLASS_##name = (number),
enum kvm_trace_class {
	KVM_TRACE_CLASSES(KVM_TRACE_CLASS_ENUM)
	KVM_TRACE_CLASS_COUNT,
};

#undef KVM_TRACE_CLASS_ENUM

/*
 * X(code, name, class): VMX basic exit reasons. The reader refines some: an
 * EXCEPTION_NMI that is an NMI is of class nmi.
 */
#define KVM_TRACE_VMX_REASONS(X) \
	X(0, EXCEPTION_NMI, exception)				\
	X(1, EXTERNAL_INTERRUPT, interrupt)			\
	X(2, TRIPLE_FAULT, shutdown)				\
	X(3, INIT_SIGNAL, init_sipi)				\
	X(4, SIPI_SIGNAL, init_sipi)				\
	X(5, IO_SMI, smi)					\
	X(6, OTHER_SMI, smi)					\
	X(7, INTERRUPT_WINDOW, interrupt_window)		\
	X(8, NMI_WINDOW, nmi_window)				\
	X(9, TASK_SWITCH, task_switch)				\
	X(10, CPUID, cpuid)					\
	X(11, GETSEC, instruction)				\
	X(12, HLT, hlt)						\
	X(13, INVD, invd)					\
	X(14, INVLPG, invlpg)					\
	X(15, RDPMC, rdpmc)					\
	X(16, RDTSC, rdtsc)					\
	X(17, RSM, smi)						\
	X(18, VMCALL, hypercall)				\
	X(19, VMCLEAR, nested)					\
	X(20, VMLAUNCH, nested)					\
	X(21, VMPTRLD, nested)					\
	X(22, VMPTRST, nested)					\
	X(23, VMREAD, nested)					\
	X(24, VMRESUME, nested)					\
	X(25, VMWRITE, nested)					\
	X(26, VMOFF, nested)					\
	X(27, VMON, nested)					\
	X(28, CR_ACCESS, cr)					\
	X(29, DR_ACCESS, dr)					\
	X(30, IO_INSTRUCTION, io)				\
	X(31, MSR_READ, msr_read)				\
	X(32, MSR_WRITE, msr_write)				\
	X(33, INVALID_STATE, entry_failure)			\
	X(34, MSR_LOAD_FAIL, entry_failure)			\
	X(36, MWAIT_INSTRUCTION, monitor)			\
	X(37, MONITOR_TRAP_FLAG, mtf)				\
	X(39, MONITOR_INSTRUCTION, monitor)			\
	X(40, PAUSE_INSTRUCTION, pause)				\
	X(41, MCE_DURING_VMENTRY, entry_failure)		\
	X(43, TPR_BELOW_THRESHOLD, apic)			\
	X(44, APIC_ACCESS, apic)				\
	X(45, EOI_INDUCED, apic)				\
	X(46, GDTR_IDTR, descriptor_table)			\
	X(47, LDTR_TR, descriptor_table)			\
	X(48, EPT_VIOLATION, page_fault)			\
	X(49, EPT_MISCONFIG, mmio)				\
	X(50, INVEPT, nested)					\
	X(51, RDTSCP, rdtsc)					\
	X(52, PREEMPTION_TIMER, preemption_timer)		\
	X(53, INVVPID, nested)					\
	X(54, WBINVD, wbinvd)					\
	X(55, XSETBV, xsetbv)					\
	X(56, APIC_WRITE, apic)					\
	X(57, RDRAND, random)					\
	X(58, INVPCID, invlpg)					\
	X(59, VMFUNC, nested)					\
	X(60, ENCLS, enclave)					\
	X(61, RDSEED, random)					\
	X(62, PML_FULL, dirty_log)				\
	X(63, XSAVES, instruction)				\
	X(64, XRSTORS, instruction)				\
	X(67, UMWAIT, monitor)					\
	X(68, TPAUSE, monitor)					\
	X(74, BUS_LOCK, bus_lock)				\
	X(75, NOTIFY, notify)					\
	X(76, SEAMCALL, tdcall)					\
	X(77, TDCALL, tdcall)					\
	X(84, MSR_READ_IMM, msr_read)				\
	X(85, MSR_WRITE_IMM, msr_write)

/* VMX reasons are below this number; SVM codes of the first table too. */
#define KVM_TRACE_VMX_REASON_END	86
#define KVM_TRACE_SVM_REASON_END	0x404

/*
 * X(code, name, class): SVM exit codes that hardware writes for guests that
 * ran. The reader refines: an MSR exit that writes is of class msr_write, an
 * NPF on a page that KVM has marked as MMIO of class mmio, as EPT_MISCONFIG is.
 */
#define KVM_TRACE_SVM_REASONS(X) \
	X(0x000, READ_CR0, cr)					\
	X(0x002, READ_CR2, cr)					\
	X(0x003, READ_CR3, cr)					\
	X(0x004, READ_CR4, cr)					\
	X(0x008, READ_CR8, cr)					\
	X(0x010, WRITE_CR0, cr)					\
	X(0x012, WRITE_CR2, cr)					\
	X(0x013, WRITE_CR3, cr)					\
	X(0x014, WRITE_CR4, cr)					\
	X(0x018, WRITE_CR8, cr)					\
	X(0x020, READ_DR0, dr)					\
	X(0x021, READ_DR1, dr)					\
	X(0x022, READ_DR2, dr)					\
	X(0x023, READ_DR3, dr)					\
	X(0x024, READ_DR4, dr)					\
	X(0x025, READ_DR5, dr)					\
	X(0x026, READ_DR6, dr)					\
	X(0x027, READ_DR7, dr)					\
	X(0x030, WRITE_DR0, dr)					\
	X(0x031, WRITE_DR1, dr)					\
	X(0x032, WRITE_DR2, dr)					\
	X(0x033, WRITE_DR3, dr)					\
	X(0x034, WRITE_DR4, dr)					\
	X(0x035, WRITE_DR5, dr)					\
	X(0x036, WRITE_DR6, dr)					\
	X(0x037, WRITE_DR7, dr)					\
	X(0x040, EXCP_DE, exception)				\
	X(0x041, EXCP_DB, exception)				\
	X(0x042, EXCP_NMI, exception)				\
	X(0x043, EXCP_BP, exception)				\
	X(0x044, EXCP_OF, exception)				\
	X(0x045, EXCP_BR, exception)				\
	X(0x046, EXCP_UD, exception)				\
	X(0x047, EXCP_NM, exception)				\
	X(0x048, EXCP_DF, exception)				\
	X(0x049, EXCP_CSO, exception)				\
	X(0x04a, EXCP_TS, exception)				\
	X(0x04b, EXCP_NP, exception)				\
	X(0x04c, EXCP_SS, exception)				\
	X(0x04d, EXCP_GP, exception)				\
	X(0x04e, EXCP_PF, exception)				\
	X(0x04f, EXCP_15, exception)				\
	X(0x050, EXCP_MF, exception)				\
	X(0x051, EXCP_AC, exception)				\
	X(0x052, EXCP_MC, exception)				\
	X(0x053, EXCP_XM, exception)				\
	X(0x054, EXCP_VE, exception)				\
	X(0x055, EXCP_CP, exception)				\
	X(0x056, EXCP_22, exception)				\
	X(0x057, EXCP_23, exception)				\
	X(0x058, EXCP_24, exception)				\
	X(0x059, EXCP_25, exception)				\
	X(0x05a, EXCP_26, exception)				\
	X(0x05b, EXCP_27, exception)				\
	X(0x05c, EXCP_HV, exception)				\
	X(0x05d, EXCP_VC, exception)				\
	X(0x05e, EXCP_SX, exception)				\
	X(0x05f, EXCP_31, exception)				\
	X(0x060, INTR, interrupt)				\
	X(0x061, NMI, nmi)					\
	X(0x062, SMI, smi)					\
	X(0x063, INIT, init_sipi)				\
	X(0x064, VINTR, interrupt_window)			\
	X(0x065, CR0_SEL_WRITE, cr)				\
	X(0x066, IDTR_READ, descriptor_table)			\
	X(0x067, GDTR_READ, descriptor_table)			\
	X(0x068, LDTR_READ, descriptor_table)			\
	X(0x069, TR_READ, descriptor_table)			\
	X(0x06a, IDTR_WRITE, descriptor_table)			\
	X(0x06b, GDTR_WRITE, descriptor_table)			\
	X(0x06c, LDTR_WRITE, descriptor_table)			\
	X(0x06d, TR_WRITE, descriptor_table)			\
	X(0x06e, RDTSC, rdtsc)					\
	X(0x06f, RDPMC, rdpmc)					\
	X(0x070, PUSHF, instruction)				\
	X(0x071, POPF, instruction)				\
	X(0x072, CPUID, cpuid)					\
	X(0x073, RSM, smi)					\
	X(0x074, IRET, nmi_window)				\
	X(0x075, SWINT, instruction)				\
	X(0x076, INVD, invd)					\
	X(0x077, PAUSE, pause)					\
	X(0x078, HLT, hlt)					\
	X(0x079, INVLPG, invlpg)				\
	X(0x07a, INVLPGA, nested)				\
	X(0x07b, IOIO, io)					\
	X(0x07c, MSR, msr_read)					\
	X(0x07d, TASK_SWITCH, task_switch)			\
	X(0x07e, FERR_FREEZE, instruction)			\
	X(0x07f, SHUTDOWN, shutdown)				\
	X(0x080, VMRUN, nested)					\
	X(0x081, VMMCALL, hypercall)				\
	X(0x082, VMLOAD, nested)				\
	X(0x083, VMSAVE, nested)				\
	X(0x084, STGI, nested)					\
	X(0x085, CLGI, nested)					\
	X(0x086, SKINIT, nested)				\
	X(0x087, RDTSCP, rdtsc)					\
	X(0x088, ICEBP, exception)				\
	X(0x089, WBINVD, wbinvd)				\
	X(0x08a, MONITOR, monitor)				\
	X(0x08b, MWAIT, monitor)				\
	X(0x08c, MWAIT_COND, monitor)				\
	X(0x08d, XSETBV, xsetbv)				\
	X(0x08e, RDPRU, instruction)				\
	X(0x08f, EFER_WRITE_TRAP, msr_write)			\
	X(0x090, CR0_WRITE_TRAP, cr)				\
	X(0x091, CR1_WRITE_TRAP, cr)				\
	X(0x092, CR2_WRITE_TRAP, cr)				\
	X(0x093, CR3_WRITE_TRAP, cr)				\
	X(0x094, CR4_WRITE_TRAP, cr)				\
	X(0x095, CR5_WRITE_TRAP, cr)				\
	X(0x096, CR6_WRITE_TRAP, cr)				\
	X(0x097, CR7_WRITE_TRAP, cr)				\
	X(0x098, CR8_WRITE_TRAP, cr)				\
	X(0x099, CR9_WRITE_TRAP, cr)				\
	X(0x09a, CR10_WRITE_TRAP, cr)				\
	X(0x09b, CR11_WRITE_TRAP, cr)				\
	X(0x09c, CR12_WRITE_TRAP, cr)				\
	X(0x09d, CR13_WRITE_TRAP, cr)				\
	X(0x09e, CR14_WRITE_TRAP, cr)				\
	X(0x09f, CR15_WRITE_TRAP, cr)				\
	X(0x0a0, INVLPGB, tlb)					\
	X(0x0a1, ILLEGAL_INVLPGB, tlb)				\
	X(0x0a2, INVPCID, invlpg)				\
	X(0x0a3, MCOMMIT, instruction)				\
	X(0x0a4, TLBSYNC, tlb)					\
	X(0x0a5, BUS_LOCK, bus_lock)				\
	X(0x0a6, IDLE_HLT, hlt)					\
	X(0x400, NPF, page_fault)				\
	X(0x401, AVIC_INCOMPLETE_IPI, apic)			\
	X(0x402, AVIC_UNACCELERATED_ACCESS, apic)		\
	X(0x403, VMGEXIT, vmgexit)

/*
 * X(code, name, class): SVM codes of more than 16 bits: those that hardware
 * gives for a guest that did not run (negative), and those that software
 * uses (GHCB, nested).
 */
#define KVM_TRACE_SVM_REASONS_WIDE(X) \
	X(0x80000001, VMGEXIT_MMIO_READ, mmio)			\
	X(0x80000002, VMGEXIT_MMIO_WRITE, mmio)			\
	X(0x80000003, VMGEXIT_NMI_COMPLETE, vmgexit)		\
	X(0x80000004, VMGEXIT_AP_HLT_LOOP, hlt)			\
	X(0x80000005, VMGEXIT_AP_JUMP_TABLE, vmgexit)		\
	X(0x80000010, VMGEXIT_PSC, vmgexit)			\
	X(0x80000011, VMGEXIT_GUEST_REQUEST, vmgexit)		\
	X(0x80000012, VMGEXIT_EXT_GUEST_REQUEST, vmgexit)	\
	X(0x80000013, VMGEXIT_AP_CREATION, vmgexit)		\
	X(0x80000018, VMGEXIT_SNP_RUN_VMPL, vmgexit)		\
	X(0x8000001a, VMGEXIT_SAVIC, vmgexit)			\
	X(0x8000fffd, VMGEXIT_HV_FEATURES, vmgexit)		\
	X(0x8000fffe, VMGEXIT_TERM_REQUEST, vmgexit)		\
	X(0x8000ffff, VMGEXIT_UNSUPPORTED_EVENT, vmgexit)	\
	X(0xf0000000, SW, vmgexit)				\
	X(0xfffffffffffffffcull, INVALID_PMC, entry_failure)	\
	X(0xfffffffffffffffdull, IDLE_REQUIRED, entry_failure)	\
	X(0xfffffffffffffffeull, BUSY, entry_failure)		\
	X(0xffffffffffffffffull, ERR, entry_failure)

#endif /* _KVM_TRACE_EXIT_REASONS_H */
