// SPDX-License-Identifier: GPL-2.0-only
/*
 * WRMSR, RDMSR and CPUID: those of Intel PT are the core's, the others QEMU's. A guest's
 * are intercepted by its hypervisor, which then has its own ones executed.
 */
#include "cpu.h"

#define MSR_PLATFORM_INFO	0xce
#define PLATFORM_RATIO_SHIFT	8	/* maximum non-turbo ratio */
#define PLATFORM_MIN_SHIFT	40

/* What QEMU itself faults at: reserved bits of the first, the second outside x2APIC mode. */
#define MSR_APIC_BASE		0x1b
#define MSR_X2APIC		0x800

#define VENDOR_INTEL		0x756e6547	/* "Genu" */

#define INSN_SIZE		2
#define CR0_PE			1
#define RPL			3

/* For the callbacks below: @data is the offset of an instruction in its block. */
void block_notes(unsigned int index, void *data)
{
	struct cpu *c = cpu_current();

	(void)index;
	(void)data;
	c->block_rip = reg_read(c, REG_RIP);
	c->block = c->block_rip + c->base;
}

static bool is_supervisor(struct cpu *c)
{
	return !(reg_read(c, REG_CR0) & CR0_PE) || !(reg_read(c, REG_CS) & RPL);
}

/*
 * @code is where the callback returns to. QEMU makes EFLAGS from the last result and
 * its kind; in the middle of a block only the code knows the kind, and an interrupt
 * before the next one would save any bits as flags.
 */
static void go_on(const void *code, __u64 pc) __attribute__((noreturn));

static void go_on(const void *code, __u64 pc)
{
	if (!cpu_restore_state(current_cpu, (uintptr_t)code))
		fatal("QEMU has no translated code at a callback's return address");
	qemu_plugin_set_pc(pc);
}

/* General protection: QEMU is led to an MSR access at which it faults. */
static void fault(struct cpu *c, __u64 ip, bool write)
{
	c->fault = true;
	c->fault_ip = ip;
	c->fault_regs[0] = reg_read(c, REG_RAX);
	c->fault_regs[1] = reg_read(c, REG_RCX);
	c->fault_regs[2] = reg_read(c, REG_RDX);
	reg_write(c, REG_RCX, write ? MSR_APIC_BASE : MSR_X2APIC);
	if (write) {
		reg_write(c, REG_RAX, 0xffffffff);
		reg_write(c, REG_RDX, 0xffffffff);
	}
}

void fault_delivered(struct cpu *c, __u64 from)
{
	if (from != c->fault_ip)
		return;
	c->fault = false;
	reg_write(c, REG_RAX, c->fault_regs[0]);
	reg_write(c, REG_RCX, c->fault_regs[1]);
	reg_write(c, REG_RDX, c->fault_regs[2]);
}

static void log_msr(struct cpu *c, char how, __u32 msr, __u64 value)
{
	if (c->msrs && pt_emu_has_msr(msr))
		pt_log_msr(c->msrs, guest_time(c), how, msr, value);
}

void wrmsr_starts(unsigned int index, void *data)
{
	const void *code = __builtin_return_address(0);
	struct cpu *c = cpu_current();
	const __u32 msr = reg_read(c, REG_RCX);
	struct pt_emu_state next;
	bool was, on;
	__u64 value, ip;

	(void)index;
	if ((!pt_emu_has_msr(msr) && !pmu_has_msr(c, msr)) || c->guest || !is_supervisor(c))
		return;
	value = (__u32)reg_read(c, REG_RAX) | reg_read(c, REG_RDX) << 32;
	if (pmu_has_msr(c, msr)) {
		pmu_wrmsr(c, msr, value);
		go_on(code, c->block_rip + (size_t)data + INSN_SIZE);
	}
	state_read(c, &next);
	ip = c->block_rip + (size_t)data + c->base;
	next.ip = ip + INSN_SIZE;
	time_passes(c);
	if (!pt_emu_wrmsr(c->pt, msr, value, ip, &next)) {
		log_msr(c, 'W', msr, value);
		fault(c, ip, true);
		return;
	}
	log_msr(c, 'w', msr, value);
	was = c->tracing;
	on = msr == PT_EMU_MSR_CTL ? value & PT_EMU_CTL_TRACEEN : was;
	if (was && !on)
		flow_stop(c, ip);
	if (on && !was)
		flow_start(c, value, &next);
	go_on(code, next.ip - c->base);
}

static bool has_msr(struct cpu *c, __u32 msr)
{
	return pt_emu_has_msr(msr) || msr == MSR_PLATFORM_INFO || pmu_has_msr(c, msr);
}

static bool read_msr(struct cpu *c, __u32 msr, __u64 *value)
{
	const __u64 ratio = options.caps.core_bus_ratio;

	if (pt_emu_has_msr(msr))
		return pt_emu_rdmsr(c->pt, msr, value);
	if (msr == MSR_PLATFORM_INFO)
		*value = ratio << PLATFORM_RATIO_SHIFT | ratio << PLATFORM_MIN_SHIFT;
	else
		*value = pmu_rdmsr(c, msr);
	return true;
}

/* The instruction has read its value into EDX:EAX. */
static void has_read(struct cpu *c, __u64 value, const void *code, __u64 next)
	__attribute__((noreturn));

static void has_read(struct cpu *c, __u64 value, const void *code, __u64 next)
{
	reg_write(c, REG_RAX, (__u32)value);
	reg_write(c, REG_RDX, value >> 32);
	go_on(code, next);
}

void rdmsr_starts(unsigned int index, void *data)
{
	const void *code = __builtin_return_address(0);
	struct cpu *c = cpu_current();
	const __u32 msr = reg_read(c, REG_RCX);
	const __u64 rip = c->block_rip + (size_t)data;
	__u64 value;

	(void)index;
	if (!has_msr(c, msr) || c->guest || !is_supervisor(c))
		return;
	time_passes(c);
	if (!read_msr(c, msr, &value)) {
		log_msr(c, 'R', msr, 0);
		fault(c, rip + c->base, false);
		return;
	}
	log_msr(c, 'r', msr, value);
	has_read(c, value, code, rip + INSN_SIZE);
}

void rdpmc_starts(unsigned int index, void *data)
{
	const void *code = __builtin_return_address(0);
	struct cpu *c = cpu_current();
	__u64 value;

	(void)index;
	if (!c->guest && is_supervisor(c) && pmu_rdpmc(c, reg_read(c, REG_RCX), &value))
		has_read(c, value, code, c->block_rip + (size_t)data + INSN_SIZE);
}

/* QEMU executes CPUID; then the core changes what it found. */
void cpuid_starts(unsigned int index, void *data)
{
	struct cpu *c = cpu_current();

	(void)index;
	(void)data;
	if (c->guest)
		return;
	c->cpuid = true;
	c->cpuid_leaf = reg_read(c, REG_RAX);
	c->cpuid_subleaf = reg_read(c, REG_RCX);
	follow(c);
}

void cpuid_end(struct cpu *c)
{
	static const enum reg order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX };
	__u32 regs[4];
	size_t i;

	for (i = 0; i < 4; i++)
		regs[i] = reg_read(c, order[i]);
	if (!c->cpuid_leaf)
		c->pmu.announced = regs[1] == VENDOR_INTEL;
	pt_emu_cpuid(c->pt, c->cpuid_leaf, c->cpuid_subleaf, regs);
	pmu_cpuid(c, c->cpuid_leaf, regs);
	for (i = 0; i < 4; i++)
		reg_write(c, order[i], regs[i]);
	c->cpuid = false;
	follow(c);
}

void cpuid_may_end(unsigned int index, void *data)
{
	struct cpu *c = cpu_current();

	(void)index;
	(void)data;
	if (c->cpuid)
		cpuid_end(c);
}
