/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest that is a hypervisor itself: it drives SVM or VMX and has a nested
 * guest, which makes exits of chosen kinds.
 */
#ifndef _SELFTESTS_NESTED_H
#define _SELFTESTS_NESTED_H

#include <stdbool.h>

#include "vm.h"

/*
 * X(name): a kind of exit of the nested guest. Whether its hypervisor sees it
 * depends on the intercepts, see nested_load(); those called kept are always
 * handled by KVM, those called reflected never.
 */
#define NESTED_KINDS(X)		\
	X(cpuid)		\
	X(hlt)			\
	X(wbinvd)		\
	X(cr_write)		\
	X(kept_io)		\
	X(kept_rdmsr)		\
	X(kept_mmio)		\
	X(kept_npf)		\
	X(reflected_io)		\
	X(reflected_rdmsr)	\
	X(reflected_wrmsr)	\
	X(reflected_vmmcall)	\
	X(reflected_ud)		\
	X(reflected_npf)	\
	X(reflected_near)	\
	X(nmi)			\
	X(irq)

#define NESTED_KIND_ENUM(name) NESTED_##name,
enum nested_kind {
	NESTED_KINDS(NESTED_KIND_ENUM)
	NESTED_KIND_COUNT,
};

#undef NESTED_KIND_ENUM

#define NESTED_BIT(kind)	(1u << (kind))
#define NESTED_ALL		(NESTED_BIT(NESTED_KIND_COUNT) - 1)

/* What the hypervisor of the nested guest does; see nested_load(). */
#define NESTED_INTERCEPT	0x1	/* intercepts CPUID, HLT, WBINVD and writes to CR0 */
#define NESTED_PAGING		0x2	/* has nested page tables */
#define NESTED_NMI_AT_ENTRY	0x4	/* an NMI is pending when it enters */
#define NESTED_IRQ_AT_ENTRY	0x8	/* an interrupt is pending when it enters */
#define NESTED_INVALID		0x10	/* its first VMCB is not valid */
/*
 * Nested page tables that are the guest's own, too: KVM write-protects them and
 * emulates what the nested guest does when the processor wants to mark a page.
 */
#define NESTED_SHARE		0x20

#define NESTED_CPUID		0x80000002	/* leaf that the nested guest asks for */

const char *nested_why_not(unsigned int flags);
unsigned int nested_kinds(void);
void nested_load(struct vcpu *vcpu, unsigned int kinds, unsigned int flags, u32 count);
void nested_run(struct vcpu *vcpu);
u64 nested_exits_seen(struct vcpu *vcpu);

/* Shared by nested.c and nested_vmx.c. */
#define NESTED_PORT_REFLECTED	0xea
#define NESTED_MSR_REFLECTED	0x174	/* SYSENTER_CS */
#define NESTED_AREA_ORDER	0x9f000	/* a byte that tells the hypervisor what to do */
#define NESTED_AREA_CONTROL	0xa0000
#define NESTED_AREA_CODE	0xa7000	/* of the nested guest */
#define NESTED_AREA_STACK	0xaa000

#define NESTED_VMX_KINDS							\
	(NESTED_ALL & ~(NESTED_BIT(NESTED_wbinvd) | NESTED_BIT(NESTED_cr_write) |	\
			NESTED_BIT(NESTED_reflected_npf)))

u64 nested_vmx_load(struct vcpu *vcpu, unsigned int flags);

#endif /* _SELFTESTS_NESTED_H */
