// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace as libipt sees it, in lines of text: its packets, and the flow of
 * instructions with the events between them.
 */
#include <intel-pt.h>
#include <string.h>
#include "corpus.h"
#include "tap.h"

static void configure(struct pt_config *config, const struct bytes *bytes)
{
	pt_config_init(config);
	/* libipt reads only; its fields are not const. */
	config->begin = (u8 *)bytes->data;
	config->end = (u8 *)bytes->data + bytes->size;
}

static void add_ip(struct lines *lines, const char *name, const struct pt_packet_ip *p)
{
	static const char * const forms[] = {
		[pt_ipc_update_16] = "update16", [pt_ipc_update_32] = "update32",
		[pt_ipc_sext_48] = "sext48", [pt_ipc_update_48] = "update48",
		[pt_ipc_full] = "full",
	};

	if (p->ipc == pt_ipc_suppressed)
		line_add(lines, "%s", name);
	else
		line_add(lines, "%s %s %llx", name, forms[p->ipc], (u64)p->ip);
}

static void add_tnt(struct lines *lines, const struct pt_packet_tnt *p)
{
	char bits[65] = "";
	unsigned int i;

	for (i = 0; i < p->bit_size; i++)
		bits[i] = p->payload >> (p->bit_size - 1 - i) & 1 ? 't' : 'n';
	line_add(lines, "tnt %s", bits);
}

static unsigned int mode_of(const struct pt_packet_mode_exec *exec)
{
	if (exec->csl)
		return 64;
	return exec->csd ? 32 : 16;
}

static void add_packet(struct lines *lines, const struct pt_packet *p)
{
	switch (p->type) {
	case ppt_pad:
		line_add(lines, "pad");
		break;
	case ppt_psb:
		line_add(lines, "psb");
		break;
	case ppt_psbend:
		line_add(lines, "psbend");
		break;
	case ppt_fup:
		add_ip(lines, "fup", &p->payload.ip);
		break;
	case ppt_tip:
		add_ip(lines, "tip", &p->payload.ip);
		break;
	case ppt_tip_pge:
		add_ip(lines, "tip.pge", &p->payload.ip);
		break;
	case ppt_tip_pgd:
		add_ip(lines, "tip.pgd", &p->payload.ip);
		break;
	case ppt_tnt_8:
		add_tnt(lines, &p->payload.tnt);
		break;
	case ppt_mode:
		if (p->payload.mode.leaf == pt_mol_exec)
			line_add(lines, "mode.exec %u", mode_of(&p->payload.mode.bits.exec));
		else
			line_add(lines, "mode.tsx");
		break;
	case ppt_pip:
		line_add(lines, "pip cr3 %llx nr %u", (u64)p->payload.pip.cr3, p->payload.pip.nr);
		break;
	case ppt_vmcs:
		line_add(lines, "vmcs %llx", (u64)p->payload.vmcs.base);
		break;
	case ppt_tsc:
		line_add(lines, "tsc %llx", (u64)p->payload.tsc.tsc);
		break;
	case ppt_cbr:
		line_add(lines, "cbr %u", p->payload.cbr.ratio);
		break;
	case ppt_tma:
		line_add(lines, "tma ctc %x fc %x", p->payload.tma.ctc, p->payload.tma.fc);
		break;
	case ppt_mtc:
		line_add(lines, "mtc %x", p->payload.mtc.ctc);
		break;
	case ppt_cyc:
		line_add(lines, "cyc %llu", (u64)p->payload.cyc.value);
		break;
	case ppt_stop:
		line_add(lines, "stop");
		break;
	case ppt_ovf:
		line_add(lines, "ovf");
		break;
	case ppt_ptw:
		line_add(lines, "ptw %u %llx ip %u", p->payload.ptw.plc ? 8 : 4,
			 (u64)p->payload.ptw.payload, p->payload.ptw.ip);
		break;
	default:
		line_add(lines, "packet of type %d", p->type);
	}
}

/**
 * corpus_packets() - the packets of a trace
 * @bytes: the trace, from its first PSB on
 * @packets: a line each
 * @sizes: in bytes, of each
 */
void corpus_packets(const struct bytes *bytes, struct lines *packets, u8 sizes[MAX_LINES])
{
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	struct pt_packet packet;
	int status;

	packets->n = 0;
	configure(&config, bytes);
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder)
		tap_die("libipt has no packet decoder");
	status = pt_pkt_sync_forward(decoder);
	while (status >= 0) {
		status = pt_pkt_next(decoder, &packet, sizeof(packet));
		if (status < 0)
			break;
		add_packet(packets, &packet);
		sizes[packets->n - 1] = packet.size;
	}
	if (status != -pte_eos)
		line_add(packets, "error: %s", pt_errstr(pt_errcode(status)));
	pt_pkt_free_decoder(decoder);
}

static void add_event(struct lines *lines, const struct pt_event *e)
{
	switch (e->type) {
	case ptev_enabled:
		line_add(lines, "enabled %llx%s", (u64)e->variant.enabled.ip,
			 e->variant.enabled.resumed ? " resumed" : "");
		break;
	case ptev_disabled:
		if (e->ip_suppressed)
			line_add(lines, "disabled");
		else
			line_add(lines, "disabled to %llx", (u64)e->variant.disabled.ip);
		break;
	case ptev_async_disabled:
		if (e->ip_suppressed)
			line_add(lines, "async-disabled at %llx",
				 (u64)e->variant.async_disabled.at);
		else
			line_add(lines, "async-disabled at %llx to %llx",
				 (u64)e->variant.async_disabled.at,
				 (u64)e->variant.async_disabled.ip);
		break;
	case ptev_async_branch:
		line_add(lines, "async-branch from %llx to %llx",
			 (u64)e->variant.async_branch.from, (u64)e->variant.async_branch.to);
		break;
	case ptev_paging:
		line_add(lines, "paging cr3 %llx nr %u", (u64)e->variant.paging.cr3,
			 e->variant.paging.non_root);
		break;
	case ptev_async_paging:
		line_add(lines, "async-paging cr3 %llx nr %u",
			 (u64)e->variant.async_paging.cr3, e->variant.async_paging.non_root);
		break;
	case ptev_vmcs:
		line_add(lines, "vmcs %llx", (u64)e->variant.vmcs.base);
		break;
	case ptev_overflow:
		if (e->ip_suppressed)
			line_add(lines, "overflow");
		else
			line_add(lines, "overflow to %llx", (u64)e->variant.overflow.ip);
		break;
	case ptev_exec_mode:
		line_add(lines, "exec-mode %u",
			 e->variant.exec_mode.mode == ptem_64bit ? 64 :
			 e->variant.exec_mode.mode == ptem_32bit ? 32 : 16);
		break;
	case ptev_stop:
		line_add(lines, "stop");
		break;
	case ptev_ptwrite:
		if (e->ip_suppressed)
			line_add(lines, "ptwrite %llx", (u64)e->variant.ptwrite.payload);
		else
			line_add(lines, "ptwrite %llx at %llx", (u64)e->variant.ptwrite.payload,
				 (u64)e->variant.ptwrite.ip);
		break;
	case ptev_cbr:
		break;
	default:
		line_add(lines, "event of type %d", e->type);
	}
}

static int read_code(u8 *buffer, size_t size, const struct pt_asid *asid, unsigned long ip,
		     void *context)
{
	const struct corpus_case *c = context;
	unsigned int i;

	(void)asid;
	for (i = 0; i < c->codes; i++) {
		const struct code *code = &c->code[i];

		if (ip < code->address || ip >= code->address + code->size)
			continue;
		if (size > code->address + code->size - ip)
			size = code->address + code->size - ip;
		memcpy(buffer, code->data + (ip - code->address), size);
		return size;
	}
	return -pte_nomap;
}

/* Versions of libipt differ in whether they tell what PSB+ or MODE.Exec repeats. */
static bool is_repeated(const struct pt_event *e, enum pt_exec_mode *mode)
{
	const enum pt_exec_mode before = *mode;

	if (e->type == ptev_exec_mode)
		*mode = e->variant.exec_mode.mode;
	return e->status_update || (e->type == ptev_exec_mode && before == *mode);
}

static int follow(struct pt_insn_decoder *decoder, int status, struct lines *flow)
{
	enum pt_exec_mode mode = ptem_unknown;
	struct pt_event event;
	struct pt_insn insn;

	while (status >= 0) {
		if (status & pts_event_pending) {
			status = pt_insn_event(decoder, &event, sizeof(event));
			if (status >= 0 && !is_repeated(&event, &mode))
				add_event(flow, &event);
			continue;
		}
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (status >= 0)
			line_add(flow, "%llx", (u64)insn.ip);
	}
	return status;
}

/**
 * corpus_flow() - the flow of instructions in a trace
 * @c: the case, for its code
 * @bytes: the trace
 * @flow: a line for each instruction, with its address, and for each event
 */
void corpus_flow(const struct corpus_case *c, const struct bytes *bytes, struct lines *flow)
{
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	int status;

	flow->n = 0;
	configure(&config, bytes);
	decoder = pt_insn_alloc_decoder(&config);
	if (!decoder)
		tap_die("libipt has no instruction decoder");
	pt_image_set_callback(pt_insn_get_image(decoder), read_code, (void *)c);
	for (;;) {
		status = pt_insn_sync_forward(decoder);
		if (status >= 0)
			status = follow(decoder, status, flow);
		if (status == -pte_eos)
			break;
		line_add(flow, "error: %s", pt_errstr(pt_errcode(status)));
	}
	pt_insn_free_decoder(decoder);
}
