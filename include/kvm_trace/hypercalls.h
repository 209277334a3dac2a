/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hypercall tables say, and KVM's own table; hypercalls_hyperv.h and
 * hypercalls_xen.h have the others. Compiled by the module (which arguments go
 * into the record) and by the decoders (names). KVM's numbers are those of uapi
 * linux/kvm_para.h, what each takes is in the kernel's
 * Documentation/virt/kvm/x86/hypercalls.rst.
 */
#ifndef _KVM_TRACE_HYPERCALLS_H
#define _KVM_TRACE_HYPERCALLS_H

/*
 * What an argument is. PTR only says where in guest memory something is, and is
 * recorded only if all arguments are asked for. Decoders print COUNT, ID and NS
 * in decimal, SUB and FLAGS by name, and the others in hex.
 */
enum kvm_trace_arg_kind {
	KVM_TRACE_ARG_NONE,	/* not used by the call */
	KVM_TRACE_ARG_PTR,	/* address of the caller's data */
	KVM_TRACE_ARG_SUB,	/* number of the sub-operation, see *_SUBS */
	KVM_TRACE_ARG_FLAGS,	/* bits, see *_FLAGS */
	KVM_TRACE_ARG_COUNT,	/* how many */
	KVM_TRACE_ARG_ID,	/* of a VM, a vCPU, a port, ... */
	KVM_TRACE_ARG_NS,	/* a time in ns */
	KVM_TRACE_ARG_GPA,	/* guest-physical address that the call is about */
	KVM_TRACE_ARG_GVA,	/* guest-virtual address that the call is about */
	KVM_TRACE_ARG_MASK,	/* a set: of vCPUs, ... */
	KVM_TRACE_ARG_VALUE,	/* any other number */
};

/*
 * Tables of calls: X(number, name, how, A(kind, name), ...), by number. A() of
 * a0 and on; those behind the last are NONE. how:
 *	KVM, Xen	0: any caller; 32, 64: what it is of a 32-bit, 64-bit one
 *	Hyper-V		the arguments are those of a fast call; 1: such a call has
 *			more of its input in XMM registers
 *
 * Names of sub-operations: *_SUBS(X): X(number of the call, number, name), of
 * the one argument or field that is SUB; of the bits of arguments: *_FLAGS(X):
 * X(number of the call, a, mask, name), with a the number of the argument.
 *
 * Fields of structures that an argument points to: *_FIELDS(X): X(number of the
 * call, sub-operation or -1 for any, argument that points, argument that the
 * field becomes (6 or 7), offset for a 32-bit caller, offset for a 64-bit
 * caller, bytes (1, 2, 4, 8; 0: 4 of a 32-bit caller, 8 of a 64-bit one), kind,
 * name). A call whose sub-operation is in memory has it as such a field.
 */

#define KVM_TRACE_KVM_CALLS(X, A)						\
	X(1, VAPIC_POLL_IRQ, 0)							\
	X(2, MMU_OP, 0, A(COUNT, "length"), A(PTR, "gpa"), A(PTR, "gpa_high"))	\
	X(3, FEATURES, 0)							\
	X(4, PPC_MAP_MAGIC_PAGE, 0, A(GPA, "gpa"), A(GVA, "ea"))		\
	X(5, KICK_CPU, 0, A(VALUE, "flags"), A(ID, "apicid"))			\
	X(6, MIPS_GET_CLOCK_FREQ, 0)						\
	X(7, MIPS_EXIT_VM, 0)							\
	X(8, MIPS_CONSOLE_OUTPUT, 0, A(ID, "fd"), A(PTR, "gva"),		\
	  A(COUNT, "length"))							\
	X(9, CLOCK_PAIRING, 0, A(PTR, "gpa"), A(ID, "clock_type"))		\
	X(10, SEND_IPI, 0, A(MASK, "mask_low"), A(MASK, "mask_high"),		\
	  A(ID, "apicid_min"), A(VALUE, "icr"))					\
	X(11, SCHED_YIELD, 0, A(ID, "apicid"))					\
	X(12, MAP_GPA_RANGE, 0, A(GPA, "gpa"), A(COUNT, "npages"),		\
	  A(FLAGS, "attributes"))

/* Arguments that the ABI can pass. */
#define KVM_TRACE_KVM_ARGS	4

#define KVM_TRACE_KVM_FLAGS(X)				\
	X(12, 2, 0x01, "2m")				\
	X(12, 2, 0x02, "1g")				\
	X(12, 2, 0x10, "encrypted")

#endif /* _KVM_TRACE_HYPERCALLS_H */
