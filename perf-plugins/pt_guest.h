/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest's stream of Intel PT made one that perf decodes as it would a host's: without
 * the host's code of method window, without the bit NR, and with the host's time. Reading
 * streams and writing files is for others.
 */
#ifndef _KVM_TRACE_PT_GUEST_H
#define _KVM_TRACE_PT_GUEST_H

#include "pt_packet.h"

/* How many changes of a guest's TSC back a packet's time is looked for. */
#define PT_GUEST_CLOCKS	4

/**
 * enum pt_guest_owner - whose code the next packets are of
 * @PT_OWNER_UNKNOWN: known at the next PSB
 * @PT_OWNER_HOST: the host's
 * @PT_OWNER_ENTERING: the guest's from the next address on
 * @PT_OWNER_GUEST: the guest's
 * @PT_OWNER_LEAVING: the host's from the next address on
 */
enum pt_guest_owner {
	PT_OWNER_UNKNOWN,
	PT_OWNER_HOST,
	PT_OWNER_ENTERING,
	PT_OWNER_GUEST,
	PT_OWNER_LEAVING,
};

/**
 * struct pt_guest_clock - how a guest's TSC follows from the host's
 * @offset: guest TSC = host TSC * ratio + offset
 * @ratio: fixed point
 * @shift: its binary places
 */
struct pt_guest_clock {
	__u64 offset;
	__u64 ratio;
	unsigned int shift;
};

/* Bytes that grow. */
struct pt_bytes {
	__u8 *data;
	size_t size, room;
};

/**
 * struct pt_guest - a stream, as far as it was read
 * @host: it is a host's, and nothing is changed but what follows lost bytes
 * @window: the host's code is in it, too
 * @keep_nr: leave the bit NR, by which perf script --guest-code knows a guest
 * @owner: of the next packet
 * @lost: bytes are missing before it, and that is not told yet
 * @clock: the latest first
 * @clocks: how many
 * @in_ip: of the last packet that was read
 * @out_ip: of the last one that was written
 * @tsc: the last time that was written
 * @pip: the last PIP's content
 * @mode: the last MODE.Exec that was read
 * @mode_out: the last one that was written
 * @raw: read, and not used yet
 * @out: what was made of it
 * @bad: how often there was no packet
 * @times: packets whose time is not known, and that were left out
 */
struct pt_guest {
	bool host, window, keep_nr, lost;
	enum pt_guest_owner owner;
	struct pt_guest_clock clock[PT_GUEST_CLOCKS];
	unsigned int clocks;
	__u64 in_ip, out_ip, tsc, pip;
	__u8 mode, mode_out;
	struct pt_bytes raw, out;
	__u64 bad, times;
};

void pt_guest_clock(struct pt_guest *guest, const struct pt_guest_clock *clock);
bool pt_guest_take(struct pt_guest *guest, const __u8 *data, size_t size, __u64 now);
void pt_guest_cut(struct pt_guest *guest);
void pt_guest_free(struct pt_guest *guest);
bool pt_bytes_add(struct pt_bytes *bytes, const void *data, size_t size);

#endif /* _KVM_TRACE_PT_GUEST_H */
