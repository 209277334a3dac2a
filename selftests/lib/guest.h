/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guests that loop over chosen kinds of VM exits, and the user-space half
 * that answers them. Values that a guest passes are marked constants, so
 * that a mix-up shows.
 */
#ifndef _SELFTESTS_GUEST_H
#define _SELFTESTS_GUEST_H

#include <stdbool.h>

#include "vm.h"

/*
 * X(name): one kind of exit; each is a few instructions of the loop's body.
 * The plain kinds run in any VM. What the others need, guest_needs() tells.
 */
#define GUEST_PLAIN_KINDS(X)	\
	X(pio_out)		\
	X(pio_in)		\
	X(mmio_read)		\
	X(mmio_write)		\
	X(cpuid)		\
	X(rdmsr)		\
	X(wrmsr)		\
	X(hypercall)		\
	X(hypercall_unknown)	\
	X(hlt)			\
	X(npf)			\
	X(exception)		\
	X(entry_failure)

#define GUEST_MORE_KINDS(X)	\
	X(pio_sizes)		\
	X(pio_string)		\
	X(pio_kernel)		\
	X(pio_mmio)		\
	X(pio_emulated)		\
	X(mmio_sizes)		\
	X(mmio_cross)		\
	X(mmio_wide)		\
	X(mmio_rmw)		\
	X(mmio_string)		\
	X(mmio_apic)		\
	X(mmio_ioapic)		\
	X(ioeventfd)		\
	X(mmio_fast)		\
	X(cpuid_leaves)		\
	X(rdmsr_gp)		\
	X(wrmsr_gp)		\
	X(msr_user)		\
	X(msr_user_error)	\
	X(msr_user_nmi)		\
	X(tsc_deadline)		\
	X(hlt_timer)		\
	X(self_ipi)		\
	X(self_ipi_window)	\
	X(irq)			\
	X(irq_window)		\
	X(nmi)			\
	X(cr)			\
	X(lmsw)			\
	X(cr8)			\
	X(dr)			\
	X(debug)		\
	X(ud)			\
	X(breakpoint)		\
	X(hv_hypercall)		\
	X(xen_hypercall)	\
	X(invd)			\
	X(wbinvd)		\
	X(xsetbv)		\
	X(npf_read)		\
	X(npf_fetch)		\
	X(async_pf)		\
	X(immediate_exit)	\
	X(spin)

#define GUEST_KINDS(X) GUEST_PLAIN_KINDS(X) GUEST_MORE_KINDS(X)

#define GUEST_KIND_ENUM(name) KIND_##name,
#define GUEST_KIND_ONE(name) + 1
enum guest_kind {
	GUEST_KINDS(GUEST_KIND_ENUM)
	KIND_COUNT,
	KIND_PLAIN_COUNT = 0 GUEST_PLAIN_KINDS(GUEST_KIND_ONE),
};

#undef GUEST_KIND_ENUM
#undef GUEST_KIND_ONE

#define KIND_BIT(kind)	(1ull << (kind))
#define KIND_MIX	(KIND_BIT(KIND_PLAIN_COUNT) - 1)

#define STR(x)		#x
#define XSTR(x)		STR(x)

#define PORT_DATA	0xe9
#define PORT_DONE	0xf4	/* the loop is over */
#define PORT_RENEW	0xf5	/* all fresh pages were touched: take them away */
#define PORT_DROP	0xf6	/* take the stack away */
#define PORT_PAGE	0xf7	/* make AREA_PAGE fresh */
#define PORT_LATE	0xf8	/* make AREA_LATE fresh */
#define PORT_ASK_NMI	0xf9	/* ask for an NMI */
#define PORT_ASK_IRQ	0xfa	/* ask for an interrupt now */
#define PORT_ASK_WINDOW	0xfb	/* ask for an interrupt as soon as they are on */
#define PORT_IMMEDIATE	0xfc	/* one KVM_RUN that returns before it enters */
#define PORT_PIC	0x21	/* mask of the PIC */

/* Where guest_load_real_mode() puts code. */
#define REAL_MODE_CODE		0x20000
#define REAL_MODE_SELECTOR	0x2000

/* Without suffixes: the assembler reads them too. */
#define MARK_CPUID	0x80000000
#define MARK_RDMSR	0x8b		/* microcode level: KVM emulates it */
#define MARK_WRMSR	0x79		/* microcode update: KVM drops the write */
#define MARK_WRMSR_LOW	0x44d00d44
#define MARK_NR		5		/* KVM_HC_KICK_CPU of an APIC that is not there */
#define MARK_APICID	0x22222221
#define MARK_UNKNOWN_NR	0x1337
#define MARK_A0		0xa0a0a0a011111110
#define MARK_A1		0xa1a1a1a122222221
#define MARK_A2		0xa2a2a2a233333332
#define MARK_A3		0xa3a3a3a344444443
#define MARK_MMIO_WRITE	0x57ab1e57
#define MARK_READ	0x5a		/* each byte that user space answers */
#define MARK_UNKNOWN_MSR 0x0badc0de
#define MARK_MSR_LOW	0x76543210
#define MARK_MSR_HIGH	0xfedcba98
#define MARK_MSR_READ	0x0123456789abcdef	/* what user space answers */
#define MARK_MMIO_64	0x1122334455667788
#define MARK_CR8	5
#define MARK_XEN_CALL	0x21
#define MARK_HV_CALL	0x8		/* HvCallNotifyLongSpinWait */
#define CR0_FLIPPED	0x40000		/* AM */
#define CR4_FLIPPED	0x10		/* PSE */
#define MSW_FLIPPED	0x4		/* EM */
#define SPIN_LOOPS	200000
#define STRING_LONG	1000
#define STRING_SHORT	5
#define TIMER_US	2000		/* from arming to expiry */

const char *guest_kind_name(enum guest_kind kind);
u64 guest_kinds(const char *names);
unsigned int guest_needs(u64 kinds);
void guest_load(struct vcpu *vcpu, u64 kinds, u64 count);
void guest_load_list(struct vcpu *vcpu, const enum guest_kind *kinds, size_t nr_kinds, u64 count);
void guest_load_code(struct vcpu *vcpu, const void *code, size_t bytes);
void guest_load_real_mode(struct vcpu *vcpu, const void *code, size_t bytes);
void guest_run(struct vcpu *vcpu);
void guest_run_exits(struct vcpu *vcpu, unsigned int count);
bool guest_handle(struct vcpu *vcpu, int reason);
void guest_fail_entries(struct vcpu *vcpu, u64 count);
void guest_start(struct vcpu *vcpu, u64 kinds, u64 count);
void guest_start_list(struct vcpu *vcpu, const enum guest_kind *kinds, size_t nr_kinds, u64 count);
void guest_start_code(struct vcpu *vcpu, const void *code, size_t bytes);
void guest_join(struct vcpu *vcpu);
void guest_run_all(struct vcpu *vcpus, unsigned int nr_vcpus, u64 kinds, u64 count);
void guest_stop(struct vcpu *vcpu);

#endif /* _SELFTESTS_GUEST_H */
