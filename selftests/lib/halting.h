/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest that halts in KVM and is woken by the timer of its local APIC, and
 * what KVM's statistics say of it.
 */
#ifndef _SELFTESTS_HALTING_H
#define _SELFTESTS_HALTING_H

#include "vm.h"

struct halt_stats {
	u64 wait_ns, poll_ns;	/* poll_ns: successful or not */
	u64 exits, successful_polls;
};

void halting_load(struct vcpu *vcpu, u32 count, u32 odd_ns, u32 even_ns);
void halt_stats(struct vcpu *vcpu, struct halt_stats *stats);
void halt_poll_limit(struct vm *vm, u32 ns);

#endif /* _SELFTESTS_HALTING_H */
