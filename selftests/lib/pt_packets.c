// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose code the packets of a trace are of. See pt_packets.h.
 */
#include <string.h>

#include "pt_packet.h"
#include "pt_packets.h"

static void count_ip(struct pt_packets *packets, const struct pt_packet *packet,
		     enum pt_owner owner)
{
	packets->tip[owner]++;
	if (packet->type == PT_PGE)
		packets->pge[owner]++;
	if (!packet->has_ip)
		return;
	if (packet->type == PT_TIP && packet->value == packets->place)
		packets->arrivals++;
	if (packet->value >> 63) {
		packets->kernel[owner]++;
		return;
	}
	if (!packets->high[owner] || packet->value < packets->low[owner])
		packets->low[owner] = packet->value;
	if (packet->value > packets->high[owner])
		packets->high[owner] = packet->value;
}

static void count_packet(struct pt_packets *packets, const struct pt_packet *packet,
			 enum pt_owner *owner)
{
	switch (packet->type) {
	case PT_PSB:
		packets->psb++;
		break;
	case PT_PIP:
		*owner = packet->value & PT_PIP_NR ? PT_OF_GUEST : PT_OF_HOST;
		packets->pip[*owner]++;
		break;
	case PT_TNT:
		packets->tnt[*owner]++;
		break;
	case PT_OVF:
		packets->ovf++;
		break;
	case PT_TSC:
		packets->tsc++;
		break;
	case PT_MTC:
		packets->mtc++;
		break;
	case PT_CYC:
		packets->cyc++;
		break;
	case PT_TIP:
	case PT_PGE:
	case PT_PGD:
	case PT_FUP:
		count_ip(packets, packet, *owner);
		break;
	default:
		break;
	}
}

/**
 * pt_packets_count() - go through a trace
 * @packets: counted on, all 0 at first but for @place
 * @data: the trace, which may begin and end anywhere
 * @size: its bytes
 */
void pt_packets_count(struct pt_packets *packets, const u8 *data, size_t size)
{
	const u8 *start = pt_packet_find_psb(data, size), *at = start;
	enum pt_owner owner = PT_OF_HOST;
	struct pt_packet packet;
	__u64 last = 0;
	size_t n;

	if (!start)
		return;
	packets->bytes += data + size - start;
	for (; at < data + size; at += n) {
		n = pt_packet_read(at, data + size - at, &last, &packet);
		if (!n) {
			packets->bad = at - data;
			return;
		}
		if (n > (size_t)(data + size - at))
			return;
		count_packet(packets, &packet, &owner);
	}
}
