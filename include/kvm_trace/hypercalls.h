/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hypercalls and the arguments that each uses: one table per ABI, compiled by
 * the module (which arguments go into the record) and by the decoders (their
 * names). KVM's own numbers are those of uapi linux/kvm_para.h, what each
 * takes is in the kernel's Documentation/virt/kvm/x86/hypercalls.rst.
 */
#ifndef _KVM_TRACE_HYPERCALLS_H
#define _KVM_TRACE_HYPERCALLS_H

/*
 * X(number, name, count of arguments, names of a0 to a3). A number that is
 * not here may use any argument: all four are recorded.
 */
#define KVM_TRACE_KVM_HYPERCALLS(X)						\
	X(1, VAPIC_POLL_IRQ, 0, "", "", "", "")					\
	X(2, MMU_OP, 3, "length", "gpa", "gpa_high", "")			\
	X(3, FEATURES, 0, "", "", "", "")					\
	X(4, PPC_MAP_MAGIC_PAGE, 2, "gpa", "ea", "", "")			\
	X(5, KICK_CPU, 2, "flags", "apicid", "", "")				\
	X(6, MIPS_GET_CLOCK_FREQ, 0, "", "", "", "")				\
	X(7, MIPS_EXIT_VM, 0, "", "", "", "")					\
	X(8, MIPS_CONSOLE_OUTPUT, 3, "fd", "gva", "length", "")			\
	X(9, CLOCK_PAIRING, 2, "gpa", "clock_type", "", "")			\
	X(10, SEND_IPI, 4, "mask_low", "mask_high", "apicid_min", "icr")	\
	X(11, SCHED_YIELD, 1, "apicid", "", "", "")				\
	X(12, MAP_GPA_RANGE, 3, "gpa", "npages", "attributes", "")

#define KVM_TRACE_KVM_HYPERCALL_ARGS	4

#endif /* _KVM_TRACE_HYPERCALLS_H */
