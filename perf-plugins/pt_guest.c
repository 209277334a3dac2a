// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes of a guest's stream of Intel PT one that perf decodes. See pt_guest.h.
 */
#include <stdlib.h>
#include <string.h>

#include "pt_guest.h"

#define TSC_BITS	56
#define TSC_MASK	((1ull << TSC_BITS) - 1)
#define MODE_LEAF(byte)	((byte) >> 5)
#define MODE_NONE	0xff	/* a leaf that MODE.Exec is not */

/**
 * pt_bytes_add() - put bytes behind others
 * @bytes: all 0 at first; @bytes->data is for free()
 * @data: what is added
 * @size: how many
 *
 * Return: false without memory.
 */
bool pt_bytes_add(struct pt_bytes *bytes, const void *data, size_t size)
{
	size_t room = bytes->room ? bytes->room : 1 << 16;
	__u8 *more;

	while (room < bytes->size + size)
		room *= 2;
	if (room > bytes->room) {
		more = realloc(bytes->data, room);
		if (!more)
			return false;
		bytes->data = more;
		bytes->room = room;
	}
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	return true;
}

static bool copy(struct pt_guest *guest, const __u8 *at, const struct pt_packet *packet)
{
	return pt_bytes_add(&guest->out, at, packet->size);
}

/* First bytes of packets with an address, without IPBytes. */
static const __u8 firsts[] = {
	[PT_TIP] = 0x0d, [PT_PGE] = 0x11, [PT_PGD] = 0x01, [PT_FUP] = 0x1d,
};

#define IP_16	(1 << 5)
#define IP_32	(2 << 5)
#define IP_64	(6 << 5)

/* As packets before it may have been left out, so must what it is based on. */
static bool put_ip(struct pt_guest *guest, enum pt_packet_type type, __u64 ip)
{
	const __u64 changed = ip ^ guest->out_ip;
	size_t bytes = !(changed >> 16) ? 2 : !(changed >> 32) ? 4 : 8;
	__u8 packet[9] = { firsts[type] | (bytes == 2 ? IP_16 : bytes == 4 ? IP_32 : IP_64) };

	memcpy(packet + 1, &ip, bytes);
	guest->out_ip = ip;
	return pt_bytes_add(&guest->out, packet, 1 + bytes);
}

static bool put_no_ip(struct pt_guest *guest, enum pt_packet_type type)
{
	return pt_bytes_add(&guest->out, &firsts[type], 1);
}

static bool put_pip(struct pt_guest *guest)
{
	const __u64 value = guest->keep_nr ? guest->pip : guest->pip & ~PT_PIP_NR;
	__u8 packet[8] = { 0x02, 0x43 };

	memcpy(packet + 2, &value, 6);
	return pt_bytes_add(&guest->out, packet, sizeof(packet));
}

static bool put_mode(struct pt_guest *guest)
{
	const __u8 packet[] = { 0x99, guest->mode };

	guest->mode_out = guest->mode;
	return pt_bytes_add(&guest->out, packet, sizeof(packet));
}

static bool put_ovf(struct pt_guest *guest)
{
	static const __u8 packet[] = { 0x02, 0xf3 };

	return pt_bytes_add(&guest->out, packet, sizeof(packet));
}

/* Which change of the guest's TSC a time is of, it does not say: what is possible is. */
static bool host_time(const struct pt_guest *guest, __u64 time, __u64 now, __u64 *host)
{
	const struct pt_guest_clock *clock;
	unsigned int i;

	for (i = 0; i < guest->clocks; i++) {
		clock = &guest->clock[i];
		*host = ((__uint128_t)((time - clock->offset) & TSC_MASK) << clock->shift) /
			clock->ratio;
		if (*host >= guest->tsc && *host <= now)
			return true;
	}
	return false;
}

static bool put_tsc(struct pt_guest *guest, __u64 time, bool of_guest, __u64 now)
{
	__u8 packet[8] = { 0x19 };

	if (of_guest && !guest->host && !host_time(guest, time, now, &time)) {
		guest->times++;
		return true;
	}
	guest->tsc = time;
	memcpy(packet + 1, &time, sizeof(packet) - 1);
	return pt_bytes_add(&guest->out, packet, sizeof(packet));
}

static void see_mode(struct pt_guest *guest, const __u8 *at)
{
	if (!MODE_LEAF(at[1]))
		guest->mode = at[1];
}

/* PSB+: its size, 0 if its end is not there yet, and what is in it. */
struct group {
	size_t size;
	bool has_pip, has_ip;
	__u64 pip, ip;
};

static struct group read_group(const __u8 *at, size_t left)
{
	struct group group = { 0 };
	struct pt_packet packet;
	size_t done = 0, n;
	__u64 ip;

	while (done < left) {
		n = pt_packet_read(at + done, left - done, &ip, &packet);
		if (n > left - done)
			break;
		/* What is no packet, or belongs to no PSB+, ends it, too. */
		if (!n || packet.type == PT_TNT || packet.type == PT_OVF) {
			group.size = done;
			break;
		}
		done += n;
		if (packet.type == PT_PIP) {
			group.has_pip = true;
			group.pip = packet.value;
		} else if (packet.type == PT_FUP && packet.has_ip) {
			group.has_ip = true;
			group.ip = packet.value;
		} else if (packet.type == PT_PSBEND) {
			group.size = done;
			break;
		}
	}
	return group;
}

static bool take_in_group(struct pt_guest *guest, const __u8 *at, const struct pt_packet *packet,
			  bool of_guest, __u64 now)
{
	switch (packet->type) {
	case PT_PSB:
		guest->out_ip = 0;
		guest->mode_out = MODE_NONE;
		return copy(guest, at, packet);
	case PT_TSC:
		return put_tsc(guest, packet->value, of_guest, now);
	case PT_MODE:
		see_mode(guest, at);
		guest->mode_out = guest->mode;
		return copy(guest, at, packet);
	case PT_PIP:
		return !of_guest || put_pip(guest);
	case PT_FUP:
		return !of_guest || !packet->has_ip || put_ip(guest, PT_FUP, packet->value);
	case PT_PAD:
	case PT_VMCS:
		return true;
	default:
		return copy(guest, at, packet);
	}
}

/* As a processor tells of a loss: OVF, and where it goes on if it does so here. */
static bool tell_loss(struct pt_guest *guest, const struct group *group, bool of_guest)
{
	if (!guest->lost)
		return true;
	guest->lost = false;
	return put_ovf(guest) && (!of_guest || !group->has_ip || put_ip(guest, PT_FUP, group->ip));
}

static bool take_group(struct pt_guest *guest, const __u8 *at, const struct group *group, __u64 now)
{
	struct pt_packet packet;
	size_t done, n;
	bool of_guest;

	if (group->has_pip)
		guest->pip = group->pip;
	if (!guest->window)
		guest->owner = PT_OWNER_GUEST;
	else if (group->has_pip)
		guest->owner = guest->pip & PT_PIP_NR ? PT_OWNER_GUEST : PT_OWNER_HOST;
	else if (guest->owner == PT_OWNER_UNKNOWN)
		guest->owner = PT_OWNER_HOST;
	of_guest = guest->owner == PT_OWNER_GUEST;
	if (!tell_loss(guest, group, of_guest))
		return false;
	for (done = 0; done < group->size; done += n) {
		n = pt_packet_read(at + done, group->size - done, &guest->in_ip, &packet);
		if (!take_in_group(guest, at + done, &packet, of_guest, now))
			return false;
	}
	return true;
}

static bool take_pip(struct pt_guest *guest, __u64 pip)
{
	const bool of_guest = guest->owner == PT_OWNER_GUEST || guest->owner == PT_OWNER_LEAVING;

	guest->pip = pip;
	if (guest->window && !(pip & PT_PIP_NR)) {
		guest->owner = of_guest ? PT_OWNER_LEAVING : PT_OWNER_HOST;
		return true;
	}
	if (guest->window && !of_guest) {
		guest->owner = PT_OWNER_ENTERING;
		return true;
	}
	guest->owner = PT_OWNER_GUEST;
	return put_pip(guest);
}

/* What is an event or a branch to the guest is the trace's start. */
static bool enter(struct pt_guest *guest, __u64 ip)
{
	guest->owner = PT_OWNER_GUEST;
	if (!put_pip(guest))
		return false;
	if (guest->mode_out != guest->mode && !put_mode(guest))
		return false;
	return put_ip(guest, PT_PGE, ip);
}

static bool take_ip(struct pt_guest *guest, const struct pt_packet *packet)
{
	switch (guest->owner) {
	case PT_OWNER_ENTERING:
		return packet->type == PT_FUP || enter(guest, packet->value);
	case PT_OWNER_GUEST:
		return packet->has_ip ? put_ip(guest, packet->type, packet->value) :
					put_no_ip(guest, packet->type);
	case PT_OWNER_LEAVING:
		if (packet->type == PT_FUP)
			return true;
		guest->owner = PT_OWNER_HOST;
		return put_no_ip(guest, PT_PGD);
	default:
		return true;
	}
}

/* It goes on at the next PSB, maybe on the other side. */
static void lose(struct pt_guest *guest)
{
	guest->lost = true;
	guest->owner = PT_OWNER_UNKNOWN;
}

static bool take_packet(struct pt_guest *guest, const __u8 *at, const struct pt_packet *packet,
			__u64 now)
{
	const bool of_guest = guest->owner == PT_OWNER_GUEST;

	switch (packet->type) {
	case PT_PAD:
	case PT_VMCS:
		return true;
	case PT_TSC:
		return put_tsc(guest, packet->value, of_guest, now);
	case PT_CBR:
	case PT_MTC:
	case PT_CYC:
	case PT_TMA:
		return copy(guest, at, packet);
	case PT_MODE:
		see_mode(guest, at);
		if (!of_guest)
			return true;
		guest->mode_out = guest->mode;
		return copy(guest, at, packet);
	case PT_PIP:
		return take_pip(guest, packet->value);
	case PT_TIP:
	case PT_PGE:
	case PT_PGD:
	case PT_FUP:
		return take_ip(guest, packet);
	case PT_OVF:
		lose(guest);
		return true;
	default:
		return !of_guest || copy(guest, at, packet);
	}
}

/* Skips what cannot be understood; the last bytes may begin a PSB. */
static size_t to_psb(const struct pt_guest *guest, size_t at)
{
	const size_t left = guest->raw.size - at;
	const __u8 *psb = pt_packet_find_psb(guest->raw.data + at, left);

	if (psb)
		return psb - guest->raw.data;
	return left < PT_PSB_BYTES ? at : guest->raw.size - (PT_PSB_BYTES - 1);
}

/* Takes one packet, or PSB+, at *@at. Returns false if there is no whole one. */
static bool take_one(struct pt_guest *guest, size_t *at, __u64 now, bool *good)
{
	const __u8 *data = guest->raw.data + *at;
	const size_t left = guest->raw.size - *at;
	__u64 ip = guest->in_ip;
	struct pt_packet packet;
	struct group group;
	size_t n;

	n = pt_packet_read(data, left, &ip, &packet);
	if (n > left)
		return false;
	if (!n) {
		guest->bad++;
		lose(guest);
		return true;
	}
	if (packet.type == PT_PSB) {
		group = read_group(data, left);
		n = group.size;
		if (!n)
			return false;
		*good = take_group(guest, data, &group, now);
	} else {
		guest->in_ip = ip;
		*good = take_packet(guest, data, &packet, now);
	}
	*at += n;
	return true;
}

/**
 * pt_guest_clock() - the guest's TSC follows from the host's in this way from now on
 * @guest: the stream
 * @clock: how
 */
void pt_guest_clock(struct pt_guest *guest, const struct pt_guest_clock *clock)
{
	if (!clock->ratio || (guest->clocks && clock->offset == guest->clock[0].offset &&
			      clock->ratio == guest->clock[0].ratio))
		return;
	memmove(&guest->clock[1], &guest->clock[0],
		(PT_GUEST_CLOCKS - 1) * sizeof(guest->clock[0]));
	guest->clock[0] = *clock;
	if (guest->clocks < PT_GUEST_CLOCKS)
		guest->clocks++;
}

/**
 * pt_guest_take() - bytes of the stream
 * @guest: all 0 at first, but for @guest->host, @guest->window and @guest->keep_nr
 * @data: the bytes, which begin and end anywhere
 * @size: how many
 * @now: the host's TSC, after all that is in them
 *
 * What is made of them is put behind @guest->out.
 *
 * Return: false without memory.
 */
bool pt_guest_take(struct pt_guest *guest, const __u8 *data, size_t size, __u64 now)
{
	bool good = true;
	size_t at = 0;

	if (!pt_bytes_add(&guest->raw, data, size))
		return false;
	while (good && at < guest->raw.size) {
		if (guest->owner == PT_OWNER_UNKNOWN) {
			at = to_psb(guest, at);
			if (guest->raw.size - at < PT_PSB_BYTES)
				break;
		}
		if (!take_one(guest, &at, now, &good))
			break;
	}
	memmove(guest->raw.data, guest->raw.data + at, guest->raw.size - at);
	guest->raw.size -= at;
	return good;
}

/**
 * pt_guest_cut() - bytes are missing here: what follows is understood from its PSB on
 * @guest: the stream
 */
void pt_guest_cut(struct pt_guest *guest)
{
	guest->raw.size = 0;
	lose(guest);
}

/**
 * pt_guest_free() - free a stream's bytes; what was counted stays
 * @guest: the stream
 */
void pt_guest_free(struct pt_guest *guest)
{
	free(guest->raw.data);
	free(guest->out.data);
	guest->raw = (struct pt_bytes){ 0 };
	guest->out = (struct pt_bytes){ 0 };
}
