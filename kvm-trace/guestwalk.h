/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A walk of a guest's page tables. Knows nothing of KVM or of how memory is
 * read, and is compiled by a test on the host too.
 */
#ifndef _KVM_TRACE_GUESTWALK_H
#define _KVM_TRACE_GUESTWALK_H

#include <linux/types.h>

/* Most table entries that a walk reads. */
#define KVM_TRACE_WALK_READS	5

/**
 * struct kvm_trace_paging - how a guest's addresses are translated
 * @cr3:	as the guest has it
 * @levels:	of tables: 2 (32-bit), 3 (PAE), 4 or 5; 0 if paging is off
 * @maxphyaddr:	bits of a guest-physical address, at most 52
 * @pse:	32-bit tables may have pages of 4 MiB
 */
struct kvm_trace_paging {
	u64 cr3;
	u8 levels;
	u8 maxphyaddr;
	bool pse;
};

void kvm_trace_paging_set(struct kvm_trace_paging *paging, u64 cr0, u64 cr3,
			  u64 cr4, bool long_mode, unsigned int maxphyaddr);
bool kvm_trace_walk(const struct kvm_trace_paging *paging, u64 gva,
		    bool (*read)(void *data, u64 gpa, void *to,
				 unsigned int len),
		    void *data, u64 *gpa);

#endif /* _KVM_TRACE_GUESTWALK_H */
