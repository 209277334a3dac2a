/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hypercalls of hand-written guests, of each ABI, with a marked value in every
 * register, and what a record of each must say. What a call uses is what
 * include/kvm_trace/hypercalls*.h say.
 */
#ifndef _SELFTESTS_CALLS_H
#define _SELFTESTS_CALLS_H

#include <kvm_trace/hypercalls.h>

#include "records.h"

/* Pages of a vCPU's area that guest.h leaves free. */
#define AREA_CALL_PAGE	0xa000u	/* KVM writes its hypercall page there */
#define AREA_INPUT	0xb000u
#define AREA_SHARED	0xc000u	/* Xen's shared_info */

/* Parts of Hyper-V's input value. */
#define HV_FAST		0x10000ull
#define HV_VAR(n)	((u64)(n) << 17)
#define HV_NESTED	0x80000000ull
#define HV_COUNT(n)	((u64)(n) << 32)
#define HV_START(n)	((u64)(n) << 48)
#define HV_RESERVED	0xf000f00078000000ull

struct guest_call {
	u8 abi;			/* KVM_TRACE_ABI_* */
	enum vcpu_mode mode;
	u8 cpl;
	u64 nr;			/* of Hyper-V the input value */
	u64 arg[KVM_TRACE_HC_REGS];
	u64 answer;		/* of user space, if it is asked */
	u64 page;		/* entry of a hypercall page; 0: the test's own */
	u64 instruction;	/* address of the VMCALL in that page */
	u64 rsp;		/* call in line, with that stack; 0: as guests do */
	u64 top;		/* what is on that stack; 0: it cannot be read */
	u64 stack_base;		/* of a 32-bit caller */
	u64 field[2];		/* a6 and a7, with CALLS_SUB: those of fields */
	u8 fields;		/* bit 0, a6; bit 1, a7 */
	bool unreadable;	/* with CALLS_SUB: something cannot be read */
	u64 at_least_ns;	/* that it takes */
	bool refused;		/* KVM makes no hypercall of it */
	bool moved;		/* user space lets the guest go on elsewhere */
	bool handed;		/* another thread runs the vCPU on */
	bool left;		/* user space comes back before the guest is entered */
	bool step;		/* of a 64-bit caller in line: a single step */
	bool other;		/* the other vendor's instruction, which KVM replaces */
	/* What came of it. */
	u64 rip, ret;		/* of the instruction; where its caller goes on, or 0 */
	u64 result;		/* that the guest has */
	bool asked;		/* user space was */
};

/* One row of a table. */
struct call_row {
	u64 nr;
	unsigned int how;
	u8 kinds[KVM_TRACE_HC_REGS];
};

/* For calls_start(). */
#define CALLS_ALL_ARGS	0x1	/* record all registers, not only what calls use */
#define CALLS_SUB	0x2	/* read guest memory */
#define CALLS_ALONE	0x4	/* do not record vmexit */

/* A VM, the hypercalls that it made, and the recording of them. */
struct calls {
	struct recorder recorder;
	struct vm vm;
	struct vcpu vcpu;
	struct guest_call *made;
	size_t nr_made;
	u32 words;		/* KVM_TRACE_HC_W_*: those that were chosen */
	unsigned int flags;	/* CALLS_* */
};

const struct call_row *call_rows(u8 abi, size_t *count);
unsigned int call_args(u8 abi);
bool call_row_fits(const struct call_row *row, u8 abi, enum vcpu_mode mode);
bool call_arg_wanted(const struct calls *calls, const struct guest_call *call, unsigned int i);

void calls_start(struct calls *calls, unsigned int vm_flags, u32 words, unsigned int flags);
const struct guest_call *calls_make(struct calls *calls, const struct guest_call *call);
void calls_end(struct calls *calls);
void calls_compare(struct calls *calls);

#endif /* _SELFTESTS_CALLS_H */
