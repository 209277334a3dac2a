/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest whose every exit carries its vCPU's mark and the number of the
 * round, so that a word of another vCPU, of an earlier round trip or of none
 * shows.
 */
#ifndef _SELFTESTS_MARKED_H
#define _SELFTESTS_MARKED_H

#include <stdbool.h>

#include "records.h"
#include "vm.h"

/* The steps of a round, in their order. */
enum marked_step {
	MARKED_WRMSR,
	MARKED_RDMSR,
	MARKED_OUT,
	MARKED_IN,
	MARKED_MMIO_WRITE,
	MARKED_MMIO_READ,
	MARKED_CPUID,
	MARKED_HYPERCALL,
	MARKED_HLT,
	MARKED_STEPS,
};

#define MARKED_MAX_ROUNDS	0x7fffffu

struct marked {
	struct vcpu *vcpu;
	u32 mark, rounds;	/* mark: 1 to 255 */
	u32 out;		/* last value written to the port */
	u64 mmio;		/* last value written to MMIO */
};

struct marked_seen {
	size_t records, interrupted;	/* interrupted: KVM_RUN gave EINTR */
	u32 round;			/* rounds that were begun */
	enum marked_step step;		/* the next one of the round */
};

void marked_load(struct marked *guest, struct vcpu *vcpu, u32 mark, u32 rounds);
bool marked_handle(struct marked *guest, int reason);
void marked_expect(const struct vmexit *list, size_t count, u32 mark, bool all_words,
		   struct marked_seen *seen);

#endif /* _SELFTESTS_MARKED_H */
