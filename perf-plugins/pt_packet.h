/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets of Intel PT by their first bytes, after the manual's "Packet Definitions". What
 * they say of a flow is for others.
 */
#ifndef _KVM_TRACE_PT_PACKET_H
#define _KVM_TRACE_PT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define PT_PSB_BYTES	16

/* Packets that are told apart. PT_OTHER has no address, no branch and no time. */
enum pt_packet_type {
	PT_PAD,
	PT_TNT,
	PT_TIP,
	PT_PGE,
	PT_PGD,
	PT_FUP,
	PT_PSB,
	PT_PSBEND,
	PT_PIP,
	PT_TSC,
	PT_CBR,
	PT_MTC,
	PT_CYC,
	PT_TMA,
	PT_MODE,
	PT_VMCS,
	PT_OVF,
	PT_OTHER,
};

/**
 * struct pt_packet - one of them
 * @type: an &enum pt_packet_type
 * @size: its bytes
 * @has_ip: it has an address, which is @value
 * @value: an address; time of PT_TSC; CR3 and bit NR of PT_PIP, as they are in the packet
 */
struct pt_packet {
	enum pt_packet_type type;
	size_t size;
	bool has_ip;
	__u64 value;
};

#define PT_PIP_NR	1ull

size_t pt_packet_read(const __u8 *at, size_t left, __u64 *last_ip, struct pt_packet *packet);
const __u8 *pt_packet_find_psb(const __u8 *at, size_t left);

#endif /* _KVM_TRACE_PT_PACKET_H */
