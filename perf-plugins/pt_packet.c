// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of Intel PT: their types, sizes and addresses. See pt_packet.h.
 */
#include <string.h>

#include "array_size.h"
#include "pt_packet.h"

static const __u8 psb[PT_PSB_BYTES] = {
	2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
};

/* Packets that begin with 0x02, by their second byte. */
static const struct {
	__u8 second, size;
	enum pt_packet_type type;
} extended[] = {
	{ 0x82, PT_PSB_BYTES, PT_PSB },
	{ 0x23, 2, PT_PSBEND },
	{ 0xa3, 8, PT_TNT },
	{ 0x43, 8, PT_PIP },
	{ 0xc8, 7, PT_VMCS },
	{ 0x03, 4, PT_CBR },
	{ 0x73, 7, PT_TMA },
	{ 0xf3, 2, PT_OVF },
	{ 0x83, 2, PT_OTHER },	/* TraceStop */
	{ 0xc3, 11, PT_OTHER },	/* MNT */
	{ 0x62, 2, PT_OTHER },	/* EXSTOP */
	{ 0xe2, 2, PT_OTHER },	/* EXSTOP with IP */
	{ 0xc2, 10, PT_OTHER },	/* MWAIT */
	{ 0x22, 4, PT_OTHER },	/* PWRE */
	{ 0xa2, 7, PT_OTHER },	/* PWRX */
	{ 0x13, 4, PT_OTHER },	/* CFE */
	{ 0x53, 11, PT_OTHER },	/* EVD */
};

#define PTW_MASK	0x1f
#define PTW		0x12
#define PTW_SIZE(byte)	(2 + ((byte) >> 5 & 3 ? 8 : 4))

#define IP_MASK		0x1f
#define IP_BYTES_SHIFT	5

static const struct {
	__u8 first;
	enum pt_packet_type type;
} with_ip[] = {
	{ 0x0d, PT_TIP }, { 0x11, PT_PGE }, { 0x01, PT_PGD }, { 0x1d, PT_FUP },
};

#define NO_IP_BYTES	0xff

/* By IPBytes: how many, and whether the last one extends the sign. */
static const __u8 ip_bytes[] = { 0, 2, 4, 6, 6, NO_IP_BYTES, 8, NO_IP_BYTES };

#define IP_SIGN_EXTENDED	3

static __u64 number(const __u8 *at, size_t bytes)
{
	__u64 value = 0;

	memcpy(&value, at, bytes);
	return value;
}

static void read_extended(const __u8 *at, size_t left, struct pt_packet *packet)
{
	size_t i;

	packet->type = PT_OTHER;
	packet->size = left < 2 ? 2 : (at[1] & PTW_MASK) == PTW ? PTW_SIZE(at[1]) : 0;
	if (left < 2)
		return;
	for (i = 0; i < ARRAY_SIZE(extended); i++) {
		if (extended[i].second != at[1])
			continue;
		packet->type = extended[i].type;
		packet->size = extended[i].size;
	}
	if (packet->type == PT_PIP && packet->size <= left)
		packet->value = number(at + 2, 6);
	if (packet->type == PT_PSB && memcmp(at, psb, left < sizeof(psb) ? left : sizeof(psb)))
		packet->size = 0;
}

static size_t cyc_size(const __u8 *at, size_t left)
{
	bool more = *at & 4;
	size_t n = 1;

	while (more && n < left)
		more = at[n++] & 1;
	return n + more;
}

static __u64 take_ip(const __u8 *at, __u64 last)
{
	const unsigned int how = *at >> IP_BYTES_SHIFT;

	memcpy(&last, at + 1, ip_bytes[how]);
	return how == IP_SIGN_EXTENDED ? (__u64)((__s64)(last << 16) >> 16) : last;
}

static void read_ip(const __u8 *at, size_t left, __u64 *last_ip, struct pt_packet *packet)
{
	const __u8 bytes = ip_bytes[*at >> IP_BYTES_SHIFT];
	size_t i;

	packet->size = 0;
	for (i = 0; i < ARRAY_SIZE(with_ip) && bytes != NO_IP_BYTES; i++) {
		if (with_ip[i].first != (*at & IP_MASK))
			continue;
		packet->type = with_ip[i].type;
		packet->size = 1 + bytes;
		packet->has_ip = bytes;
	}
	if (!packet->has_ip || packet->size > left)
		return;
	*last_ip = take_ip(at, *last_ip);
	packet->value = *last_ip;
}

/**
 * pt_packet_read() - one packet
 * @at: its first byte
 * @left: bytes that there are, 1 at least
 * @last_ip: the address of the packet before, which this one may be based on
 * @packet: filled in
 *
 * Return: its size; 0 if no packet begins so; more than @left if its end is missing.
 */
size_t pt_packet_read(const __u8 *at, size_t left, __u64 *last_ip, struct pt_packet *packet)
{
	*packet = (struct pt_packet){ .type = PT_OTHER };
	if (*at == 0x02) {
		read_extended(at, left, packet);
		if (packet->type == PT_PSB)
			*last_ip = 0;
	} else if (!(*at & 1)) {
		packet->type = *at ? PT_TNT : PT_PAD;
		packet->size = 1;
	} else if ((*at & 3) == 3) {
		packet->type = PT_CYC;
		packet->size = cyc_size(at, left);
	} else if (*at == 0x19) {
		packet->type = PT_TSC;
		packet->size = 8;
		if (left >= packet->size)
			packet->value = number(at + 1, 7);
	} else if (*at == 0x99 || *at == 0x59) {
		packet->type = *at == 0x99 ? PT_MODE : PT_MTC;
		packet->size = 2;
	} else {
		read_ip(at, left, last_ip, packet);
	}
	return packet->size;
}

/**
 * pt_packet_find_psb() - where a decoder can begin
 * @at: bytes of a trace
 * @left: how many
 *
 * Return: the first PSB, or NULL.
 */
const __u8 *pt_packet_find_psb(const __u8 *at, size_t left)
{
	return memmem(at, left, psb, sizeof(psb));
}
