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

/* X(name): one kind of exit; each is a few instructions of the loop's body. */
#define GUEST_KINDS(X)		\
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

#define GUEST_KIND_ENUM(name) KIND_##name,
enum guest_kind {
	GUEST_KINDS(GUEST_KIND_ENUM)
	KIND_COUNT,
};

#undef GUEST_KIND_ENUM

#define KIND_BIT(kind)	(1u << (kind))
#define KIND_MIX	((1u << KIND_COUNT) - 1)

#define STR(x)		#x
#define XSTR(x)		STR(x)

#define PORT_DATA	0xe9
#define PORT_DONE	0xf4	/* the loop is over */
#define PORT_RENEW	0xf5	/* all fresh pages were touched: take them away */
#define PORT_DROP	0xf6	/* take the stack away */

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

const char *guest_kind_name(enum guest_kind kind);
unsigned int guest_kinds(const char *names);
void guest_load(struct vcpu *vcpu, unsigned int kinds, u64 count);
void guest_load_code(struct vcpu *vcpu, const void *code, size_t bytes);
void guest_run(struct vcpu *vcpu);
bool guest_handle(struct vcpu *vcpu, int reason);
void guest_fail_entries(struct vcpu *vcpu, u64 count);
void guest_start(struct vcpu *vcpu, unsigned int kinds, u64 count);
void guest_start_code(struct vcpu *vcpu, const void *code, size_t bytes);
void guest_join(struct vcpu *vcpu);
void guest_stop(struct vcpu *vcpu);

#endif /* _SELFTESTS_GUEST_H */
