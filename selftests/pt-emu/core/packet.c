// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of each packet (36.4.2), with compression of addresses, TNT packets
 * in the making, and cycle packets. When which packet is due is not known here.
 */
#include "internal.h"

#define EXT		0x02	/* first byte of packets with an opcode of two bytes */
#define OP_TIP		0x0d
#define OP_PGE		0x11
#define OP_PGD		0x01
#define OP_FUP		0x1d
#define OP_TSC		0x19
#define OP_MODE		0x99
#define EXT_PSB		0x82
#define EXT_PSBEND	0x23
#define EXT_PIP		0x43
#define EXT_CBR		0x03
#define EXT_STOP	0x83
#define EXT_OVF		0xf3
#define EXT_PTW		0x12
#define EXT_VMCS	0xc8
#define OP_MTC		0x59
#define EXT_TMA		0x73

/* More lost ticks a decoder cannot count (36.4.2.12). */
#define MTC_MAX_LOST	255

#define IPBYTES_SHIFT	5
#define TNT_BITS	6
#define MAX_PAYLOAD	8

#define CYC_HEADER	0x03
#define CYC_EXP_FIRST	0x04
#define CYC_EXP		0x01

/*
 * Bytes that PSB+ can follow: every packet ends here. While packets are lost
 * (36.3.8), so is what TNT and address compression remember.
 */
static void put(struct pt_emu *pt, const void *data, size_t size)
{
	if (pt->lost)
		return;
	pt_emu_output(pt, data, size);
	pt->byte_count += size;
}

static void put_le(struct pt_emu *pt, __u8 first, int second, __u64 payload, unsigned int bytes)
{
	__u8 data[2 + MAX_PAYLOAD] = { first };
	unsigned int size = 1, i;

	if (second >= 0)
		data[size++] = second;
	for (i = 0; i < bytes; i++)
		data[size++] = payload >> 8 * i;
	put(pt, data, size);
}

/*
 * A cycle packet, before a packet that is eligible for one (36.4.2.14): when what that
 * tells was. The cycles of a loss are told with its OVF.
 */
static void put_cyc(struct pt_emu *pt, __u64 now)
{
	const unsigned int choice = pt->ctl >> PT_EMU_CTL_CYCTHRESH_SHIFT & 0xf;
	const __u64 threshold = choice ? 1ULL << (choice - 1) : 1;
	__u8 data[MAX_PAYLOAD + 2];
	__u64 cycles = now - pt->cycle;
	unsigned int size = 1;

	if (!(pt->ctl & PT_EMU_CTL_CYCEN) || pt->lost || cycles < threshold)
		return;
	pt->cycle = now;
	data[0] = CYC_HEADER | (cycles & 0x1f) << 3;
	cycles >>= 5;
	if (cycles)
		data[0] |= CYC_EXP_FIRST;
	while (cycles && size < sizeof(data)) {
		data[size] = (cycles & 0x7f) << 1;
		cycles >>= 7;
		if (cycles)
			data[size] |= CYC_EXP;
		size++;
	}
	put(pt, data, size);
}

static void put_cyc_now(struct pt_emu *pt)
{
	put_cyc(pt, pt->ops.clock(pt->machine));
}

static void flush_tnt(struct pt_emu *pt)
{
	__u8 tnt;

	if (!pt->tnt_bits)
		return;
	tnt = (1U << pt->tnt_bits | pt->tnt) << 1;
	pt->tnt = 0;
	pt->tnt_bits = 0;
	put_cyc(pt, pt->tnt_time);
	put(pt, &tnt, sizeof(tnt));
}

/* What precedes each other packet. */
static void begin(struct pt_emu *pt)
{
	flush_tnt(pt);
	put_cyc_now(pt);
}

void pt_emu_put_tnt(struct pt_emu *pt, bool taken)
{
	if (!pt->tnt_bits)
		pt->tnt_time = pt->ops.clock(pt->machine);
	pt->tnt = pt->tnt << 1 | taken;
	if (++pt->tnt_bits == TNT_BITS)
		flush_tnt(pt);
}

/* The shortest form that tables 36-17 and 36-18 allow. */
static void put_ip(struct pt_emu *pt, __u8 opcode, __u64 ip)
{
	const __u64 differ = pt->full_ip ? ~0ULL : ip ^ pt->last_ip;
	unsigned int ipbytes = 6, bytes = 8;

	if (!(differ >> 16)) {
		ipbytes = 1;
		bytes = 2;
	} else if (!(differ >> 32)) {
		ipbytes = 2;
		bytes = 4;
	} else if (!(ip >> 47) || ip >> 47 == 0x1ffff) {
		ipbytes = 3;
		bytes = 6;
	}
	put_le(pt, opcode | ipbytes << IPBYTES_SHIFT, -1, ip, bytes);
	if (pt->lost)
		return;
	pt->last_ip = ip;
	pt->full_ip = false;
}

void pt_emu_put_tip(struct pt_emu *pt, __u64 ip)
{
	begin(pt);
	put_ip(pt, OP_TIP, ip);
}

void pt_emu_put_pge(struct pt_emu *pt, __u64 ip)
{
	begin(pt);
	put_ip(pt, OP_PGE, ip);
}

/* Without an address if it is out of context (36.4.2.5). */
void pt_emu_put_pgd(struct pt_emu *pt, const __u64 *ip)
{
	begin(pt);
	if (ip)
		put_ip(pt, OP_PGD, *ip);
	else
		put_le(pt, OP_PGD, -1, 0, 0);
}

/* FUP is not eligible for a cycle packet. */
void pt_emu_put_fup(struct pt_emu *pt, __u64 ip)
{
	flush_tnt(pt);
	put_ip(pt, OP_FUP, ip);
}

void pt_emu_put_pip(struct pt_emu *pt)
{
	begin(pt);
	put_le(pt, EXT, EXT_PIP, pt_emu_cr3_address(&pt->now) >> 4 | pt->now.non_root, 6);
}

void pt_emu_put_mode(struct pt_emu *pt)
{
	begin(pt);
	put_le(pt, OP_MODE, pt->now.mode, 0, 0);
	if (!pt->lost)
		pt->mode_sent = pt->now.mode;
}

/* In VMX operation; all 1s without a VMCS (36.4.2.15). */
void pt_emu_put_vmcs(struct pt_emu *pt)
{
	if (!pt->vmx_operation || !pt->context_en)
		return;
	begin(pt);
	put_le(pt, EXT, EXT_VMCS, pt->vmcs >> 12, 5);
}

/* 36.4.2.13: what crystal clock and time stamp counter were at the TSC packet. */
static void put_tma(struct pt_emu *pt)
{
	const __u64 clock = pt->ops.clock(pt->machine);
	const __u64 crystal = clock / pt->caps.crystal_ratio & 0xffff;
	const __u64 fast = clock % pt->caps.crystal_ratio;

	put_le(pt, EXT, EXT_TMA, crystal | fast << 24, 5);
}

void pt_emu_put_tsc(struct pt_emu *pt)
{
	if (!(pt->ctl & PT_EMU_CTL_TSCEN))
		return;
	begin(pt);
	put_le(pt, OP_TSC, -1, pt->ops.tsc(pt->machine), 7);
	if (pt->ctl & PT_EMU_CTL_MTCEN)
		put_tma(pt);
}

/* Ticks of the core crystal clock that MTCFreq counts. */
__u64 pt_emu_mtc_now(const struct pt_emu *pt)
{
	const __u64 crystal = pt->ops.clock(pt->machine) / pt->caps.crystal_ratio;

	return crystal >> (pt->ctl >> PT_EMU_CTL_MTCFREQ_SHIFT & 0xf);
}

/*
 * MTC packets for the time that has passed (36.4.2.12). After a long time with nothing
 * to tell, which a real processor would have slept through, a TSC packet.
 */
void pt_emu_put_mtc(struct pt_emu *pt)
{
	const __u64 now = pt_emu_mtc_now(pt);

	if (now - pt->mtc > MTC_MAX_LOST) {
		pt->mtc = now;
		pt_emu_put_tsc(pt);
		return;
	}
	while (pt->mtc != now) {
		begin(pt);
		put_le(pt, OP_MTC, ++pt->mtc & 0xff, 0, 0);
	}
}

void pt_emu_put_cbr(struct pt_emu *pt)
{
	flush_tnt(pt);
	put_le(pt, EXT, EXT_CBR, pt->caps.core_bus_ratio, 2);
}

void pt_emu_put_ptw(struct pt_emu *pt, __u64 value, bool wide, bool ip)
{
	begin(pt);
	put_le(pt, EXT, EXT_PTW | wide << 5 | ip << 7, value, wide ? 8 : 4);
}

void pt_emu_put_stop(struct pt_emu *pt)
{
	flush_tnt(pt);
	put_le(pt, EXT, EXT_STOP, 0, 0);
}

/* The next address is whole: libipt forgets the last one at OVF. */
void pt_emu_put_ovf(struct pt_emu *pt)
{
	pt->tnt = 0;
	pt->tnt_bits = 0;
	pt->full_ip = true;
	put_cyc_now(pt);
	put_le(pt, EXT, EXT_OVF, 0, 0);
}

/*
 * PSB+ (36.3.7), without MODE.TSX. @in_flow is PacketEn, but for the PSB that starts a
 * trace, which comes before its TIP.PGE. MTC packets that are due come before its TMA: a
 * decoder takes one that is behind that for 256 ticks.
 */
void pt_emu_put_psb(struct pt_emu *pt, bool in_flow)
{
	unsigned int i;

	if (pt->ctl & PT_EMU_CTL_MTCEN)
		pt_emu_put_mtc(pt);
	flush_tnt(pt);
	if (!pt->lost)
		pt->byte_count = 0;
	for (i = 0; i < 8; i++)
		put_le(pt, EXT, EXT_PSB, 0, 0);
	pt->last_ip = 0;
	pt->full_ip = false;
	pt->mode_sent = NO_MODE;
	pt->ret_depth = 0;
	pt_emu_put_tsc(pt);
	if (pt->context_en && pt->ctl & PT_EMU_CTL_OS)
		pt_emu_put_pip(pt);
	pt_emu_put_vmcs(pt);
	pt_emu_put_cbr(pt);
	if (in_flow) {
		pt_emu_put_mode(pt);
		pt_emu_put_fup(pt, pt->now.ip);
	}
	put_le(pt, EXT, EXT_PSBEND, 0, 0);
}
