/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets of an Intel PT trace, counted by whose code they are of, without a decoder and
 * without code: for what a test, or a machine without libipt, can tell from them alone.
 */
#ifndef _SELFTESTS_PT_PACKETS_H
#define _SELFTESTS_PT_PACKETS_H

#include <stddef.h>

#include "types.h"

/**
 * enum pt_owner - by the last PIP
 * @PT_OF_HOST: its NR bit is 0, or there was none
 * @PT_OF_GUEST: it is 1
 * @PT_OWNERS: how many there are
 */
enum pt_owner {
	PT_OF_HOST,
	PT_OF_GUEST,
	PT_OWNERS,
};

/**
 * struct pt_packets - what was counted, behind the first PSB
 * @place: given: an address
 * @arrivals: TIP to it
 * @psb: PSB
 * @ovf: OVF
 * @tsc: TSC
 * @mtc: MTC
 * @cyc: CYC
 * @pip: PIP of each owner
 * @tnt: TNT of each
 * @tip: TIP, TIP.PGE, TIP.PGD and FUP of each
 * @kernel: those of them whose address is in the upper half
 * @pge: TIP.PGE of each
 * @low: the lowest address of each in the lower half
 * @high: the highest of them
 * @bytes: all of it, from the first PSB
 * @bad: offset of a byte that begins no packet; 0: there is none
 */
struct pt_packets {
	u64 place, arrivals;
	u64 psb, ovf, tsc, mtc, cyc;
	u64 pip[PT_OWNERS], tnt[PT_OWNERS], tip[PT_OWNERS], kernel[PT_OWNERS], pge[PT_OWNERS];
	u64 low[PT_OWNERS], high[PT_OWNERS];
	u64 bytes;
	size_t bad;
};

void pt_packets_count(struct pt_packets *packets, const u8 *data, size_t size);

#endif /* _SELFTESTS_PT_PACKETS_H */
