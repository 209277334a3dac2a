// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory, clock and interrupts of the machine of the tests, and short ways to
 * Intel PT's MSRs.
 */
#include <stdlib.h>
#include <string.h>
#include "machine.h"
#include "tap.h"

static u8 *find(struct machine *m, u64 address, bool guest, size_t size)
{
	const u64 at = address - (guest ? GUEST_BASE : MEMORY_BASE);

	return at < MEMORY_SIZE && size <= MEMORY_SIZE - at ? m->memory + at : NULL;
}

static bool read_memory(void *machine, __u64 address, bool guest, void *data, size_t size)
{
	const u8 *at = find(machine, address, guest, size);

	if (at)
		memcpy(data, at, size);
	return at;
}

static bool write_memory(void *machine, __u64 address, bool guest, const void *data, size_t size)
{
	u8 *at = find(machine, address, guest, size);

	if (at)
		memcpy(at, data, size);
	return at;
}

static __u64 read_tsc(void *machine)
{
	struct machine *m = machine;

	return m->tsc + m->tsc_offset;
}

/* As the time stamp counter that was never written. */
static __u64 read_clock(void *machine)
{
	const struct machine *m = machine;

	return m->tsc;
}

static void request_pmi(void *machine)
{
	struct machine *m = machine;

	m->pmis++;
	m->status_at_pmi = machine_rdmsr(m, PT_EMU_MSR_STATUS);
}

/**
 * machine_new() - a machine whose memory holds MEMORY_UNSET
 * @caps: its Intel PT
 *
 * Return: for machine_free(); ends the test without memory.
 */
struct machine *machine_new(const struct pt_emu_caps *caps)
{
	static const struct pt_emu_ops ops = {
		.read = read_memory,
		.write = write_memory,
		.tsc = read_tsc,
		.clock = read_clock,
		.pmi = request_pmi,
	};
	struct machine *m = calloc(1, sizeof(*m));

	if (!m)
		tap_die("memory for a machine");
	memset(m->memory, MEMORY_UNSET, sizeof(m->memory));
	m->pt = pt_emu_new(caps, &ops, m);
	if (!m->pt)
		tap_die("memory for Intel PT");
	return m;
}

/**
 * machine_free() - the end of a machine
 * @m: from machine_new()
 */
void machine_free(struct machine *m)
{
	pt_emu_free(m->pt);
	free(m);
}

/**
 * machine_rdmsr() - an MSR that is known to be there
 * @m: the machine
 * @msr: its address
 *
 * Return: its value.
 */
u64 machine_rdmsr(struct machine *m, u32 msr)
{
	__u64 value = 0;

	tap_expect(pt_emu_rdmsr(m->pt, msr, &value), "RDMSR of 0x%x faults", msr);
	return value;
}

/**
 * machine_wrmsr() - set an MSR to a value that it is known to take
 * @m: the machine
 * @msr: its address; not IA32_RTIT_CTL with TraceEn
 * @value: the value
 */
void machine_wrmsr(struct machine *m, u32 msr, u64 value)
{
	const struct pt_emu_state next = { .mode = PT_EMU_MODE_64 };

	tap_expect(pt_emu_wrmsr(m->pt, msr, value, 0, &next), "WRMSR of 0x%x to 0x%llx faults",
		   msr, value);
}

/**
 * machine_enable() - WRMSR of IA32_RTIT_CTL with TraceEn
 * @m: the machine
 * @ctl: the value
 * @next: where the processor goes on
 *
 * Return: whether it did not fault.
 */
bool machine_enable(struct machine *m, u64 ctl, const struct pt_emu_state *next)
{
	return pt_emu_wrmsr(m->pt, PT_EMU_MSR_CTL, ctl, next->ip, next);
}

/**
 * machine_disable() - WRMSR that clears IA32_RTIT_CTL
 * @m: the machine
 * @ip: of the instruction
 *
 * Return: whether it did not fault.
 */
bool machine_disable(struct machine *m, u64 ip)
{
	const struct pt_emu_state next = { .ip = ip, .mode = PT_EMU_MODE_64 };

	return pt_emu_wrmsr(m->pt, PT_EMU_MSR_CTL, 0, ip, &next);
}
