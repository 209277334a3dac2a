// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processor, and the accesses that the switch makes to it. What an MSR takes,
 * which VM entry fails and what entries and exits do to IA32_RTIT_CTL is known to
 * the core of selftests/pt-emu, with the manual's sections; here is what has to hold
 * beyond that. How much a trace writes is reduced to whether it has moved on.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "../pt-emu/core/pt_emu.h"

#include "tap.h"
#include "world.h"

#define OUTPUT_SIZE	0x1000000ULL
#define OTHER_TABLE	0x1000ULL
#define BUFFER		0x10000ULL
#define TABLE_END	PT_EMU_TOPA_END
#define MOVED		(0x40ULL << 32)	/* bytes, in OUTPUT_MASK_PTRS and in STATUS */
#define VMCS_ADDRESS	0x1000ULL

/* The switch and the core name the same things. */
static_assert(KVM_TRACE_PT_MSR_OUTPUT_BASE == PT_EMU_MSR_OUTPUT_BASE, "OUTPUT_BASE");
static_assert(KVM_TRACE_PT_MSR_OUTPUT_MASK == PT_EMU_MSR_OUTPUT_MASK, "OUTPUT_MASK");
static_assert(KVM_TRACE_PT_MSR_CTL == PT_EMU_MSR_CTL, "CTL");
static_assert(KVM_TRACE_PT_MSR_STATUS == PT_EMU_MSR_STATUS, "STATUS");
static_assert(KVM_TRACE_PT_MSR_CR3_MATCH == PT_EMU_MSR_CR3_MATCH, "CR3_MATCH");
static_assert(KVM_TRACE_PT_MSR_ADDR0_A == PT_EMU_MSR_ADDR0_A, "ADDR0_A");
static_assert(KVM_TRACE_PT_CTL_TRACEEN == PT_EMU_CTL_TRACEEN, "TraceEn");
static_assert(KVM_TRACE_PT_CTL_CR3FILTER == PT_EMU_CTL_CR3FILTER, "CR3Filter");
static_assert(KVM_TRACE_PT_CTL_RANGE_SHIFT == PT_EMU_CTL_ADDR0_CFG_SHIFT, "ADDR0_CFG");
static_assert(KVM_TRACE_PT_STATUS_ERROR == PT_EMU_STATUS_ERROR, "Error");
static_assert(KVM_TRACE_PT_STATUS_STOPPED == PT_EMU_STATUS_STOPPED, "Stopped");

static const u32 msrs[REGS] = {
	KVM_TRACE_PT_MSR_STATUS, KVM_TRACE_PT_MSR_OUTPUT_BASE, KVM_TRACE_PT_MSR_OUTPUT_MASK,
	KVM_TRACE_PT_MSR_CR3_MATCH, KVM_TRACE_PT_MSR_ADDR0_A, KVM_TRACE_PT_MSR_ADDR0_A + 1,
};

static struct pt_emu *pt;
static unsigned int here;
static bool loading;
static unsigned int faults_left, nmis_left;
static bool faulted, vmcs_failed, interrupted;

unsigned long accesses;	/* since processor_start() */
bool tell_accesses;

/**
 * output_of() - whose output an address is
 * @address: of a table or a buffer
 *
 * Return: OUTPUT_NOBODY if it is nobody's.
 */
enum output output_of(u64 address)
{
	const u64 at = address / OUTPUT_SIZE;

	return at && at <= OUTPUTS ? at - 1 : OUTPUT_NOBODY;
}

/**
 * output_base() - IA32_RTIT_OUTPUT_BASE at the start of an output
 * @output: whose
 *
 * Return: the address of its first table.
 */
u64 output_base(enum output output)
{
	return (output + 1) * OUTPUT_SIZE;
}

static enum output current_output(void)
{
	return output_of(world.cpu[here].reg[KVM_TRACE_PT_OUTPUT_BASE]);
}

/* Two tables of one region each, or one that ends in itself. */
static bool read_table(void *machine, __u64 address, bool guest, void *data, size_t size)
{
	const u64 table = address & ~(OTHER_TABLE - 1);
	const u64 next = scenario->base_stays ? table : table ^ OTHER_TABLE;
	u64 entry;

	(void)machine;
	if (guest || size != sizeof(entry) || output_of(address) == OUTPUT_NOBODY ||
	    address - table > sizeof(entry))
		return false;
	entry = address == table ? table + BUFFER : next | TABLE_END;
	memcpy(data, &entry, size);
	return true;
}

static bool write_buffer(void *machine, __u64 address, bool guest, const void *data, size_t size)
{
	(void)machine;
	(void)guest;
	(void)data;
	(void)size;
	if (!loading && output_of(address) != current_output())
		broken("trace_goes_to_its_own_output", "written at 0x%llx", address);
	return true;
}

static __u64 no_time(void *machine)
{
	(void)machine;
	return 0;
}

static void no_pmi(void *machine)
{
	(void)machine;
}

static struct pt_emu_state state_of(bool guest)
{
	return (struct pt_emu_state){
		.ip = guest ? 0x2000 : 0x1000,
		.cr3 = guest ? 0x6000 : 0x5000,
		.mode = PT_EMU_MODE_64,
		.non_root = guest,
	};
}

static bool core_write(u32 msr, u64 value)
{
	const struct pt_emu_state next = state_of(false);

	return pt_emu_wrmsr(pt, msr, value, next.ip, &next);
}

/**
 * processor_read() - an MSR, without any rule
 * @msr: its address
 *
 * Return: its value; 0 for those that are not there.
 */
u64 processor_read(u32 msr)
{
	__u64 value = 0;

	pt_emu_rdmsr(pt, msr, &value);
	return value;
}

/* The processor moves registers on while TraceEn is 1: they are taken when it is 0. */
static void take_registers(void)
{
	struct cpu *cpu = &world.cpu[here];
	unsigned int i;

	cpu->ctl = processor_read(KVM_TRACE_PT_MSR_CTL);
	if (cpu->ctl & KVM_TRACE_PT_CTL_TRACEEN)
		return;
	for (i = 0; i < REGS; i++)
		cpu->reg[i] = processor_read(msrs[i]);
}

/**
 * processor_start() - actions on a processor follow
 * @cpu: which
 */
void processor_start(unsigned int cpu)
{
	static const struct pt_emu_ops ops = {
		.read = read_table,
		.write = write_buffer,
		.tsc = no_time,
		.clock = no_time,
		.pmi = no_pmi,
	};
	const struct cpu *from = &world.cpu[cpu];
	struct pt_emu_caps caps;
	unsigned int i;

	if (!pt) {
		pt_emu_default_caps(&caps);
		caps.ranges = 1;
		pt = pt_emu_new(&caps, &ops, NULL);
		if (!pt)
			tap_die("memory for Intel PT");
	}
	here = cpu;
	loading = true;
	pt_emu_reset(pt, true);
	pt_emu_vmx_operation(pt, true, 0);
	for (i = 0; i < REGS; i++)
		core_write(msrs[i], from->reg[i]);
	core_write(KVM_TRACE_PT_MSR_CTL, from->ctl);
	loading = false;
	accesses = 0;
}

/**
 * processor_reset() - power is lost: MSRs and the current VMCS are
 * @cpu: of which processor
 */
void processor_reset(unsigned int cpu)
{
	processor_start(cpu);
	pt_emu_reset(pt, true);
	take_registers();
	world.cpu[cpu].vmcs = NONE;
}

/*
 * TraceEn was set: a trace goes on where it stopped, with its own settings, or it
 * writes over data, its own or another's.
 */
static void check_enabled(void)
{
	const struct cpu *cpu = &world.cpu[here];
	const enum output output = current_output();
	const struct position *position = &world.position[output];
	unsigned int i;

	if (cpu->meddled)
		return;
	if (output == OUTPUT_NOBODY) {
		broken("trace_goes_to_its_own_output", "enabled with nobody's OUTPUT_BASE 0x%llx",
		       cpu->reg[KVM_TRACE_PT_OUTPUT_BASE]);
		return;
	}
	if (cpu->ctl != position->ctl)
		broken("settings_are_one_streams", "CTL 0x%llx with the output of 0x%llx",
		       cpu->ctl, position->ctl);
	for (i = 0; i < REGS; i++) {
		if (position->uses >> i & 1 && cpu->reg[i] != position->reg[i])
			broken("stream_goes_on_where_it_stopped",
			       "MSR 0x%x is 0x%llx, output %u stopped at 0x%llx", msrs[i],
			       cpu->reg[i], output, position->reg[i]);
	}
}

/* TraceEn was cleared: the trace may have moved on, or ended by itself. */
static void was_disabled(void)
{
	struct cpu *cpu = &world.cpu[here];
	const enum output output = current_output();
	const u64 ends = cpu->reg[KVM_TRACE_PT_STATUS] &
			 (PT_EMU_STATUS_STOPPED | PT_EMU_STATUS_ERROR);
	unsigned int i;

	switch (ends || scenario->unreserved ? 1 : choose(scenario->ends ? 4 : 2)) {
	case 0:
		cpu->reg[KVM_TRACE_PT_OUTPUT_MASK] ^= MOVED;
		cpu->reg[KVM_TRACE_PT_STATUS] ^= MOVED;
		if (!scenario->base_stays)
			cpu->reg[KVM_TRACE_PT_OUTPUT_BASE] ^= OTHER_TABLE;
		break;
	case 2:
		cpu->reg[KVM_TRACE_PT_STATUS] |= PT_EMU_STATUS_STOPPED;
		break;
	case 3:
		cpu->reg[KVM_TRACE_PT_STATUS] |= PT_EMU_STATUS_ERROR;
		break;
	}
	for (i = KVM_TRACE_PT_STATUS; i <= KVM_TRACE_PT_OUTPUT_MASK; i++) {
		core_write(msrs[i], cpu->reg[i]);
		if (output != OUTPUT_NOBODY)
			world.position[output].reg[i] = cpu->reg[i];
	}
}

static void took(u64 before)
{
	struct cpu *cpu = &world.cpu[here];
	u64 after = processor_read(KVM_TRACE_PT_MSR_CTL);

	if (before & ~after & KVM_TRACE_PT_CTL_TRACEEN)
		was_disabled();
	take_registers();
	if (cpu->ctl & ~before & KVM_TRACE_PT_CTL_TRACEEN)
		check_enabled();
}

/**
 * processor_write() - WRMSR
 * @msr: its address
 * @value: the value
 *
 * Return: false if it faults.
 */
bool processor_write(u32 msr, u64 value)
{
	const u64 before = world.cpu[here].ctl;

	if (!core_write(msr, value))
		return false;
	took(before);
	return true;
}

static struct pt_emu_vmcs vmcs_of(const struct vmcs *vmcs)
{
	return (struct pt_emu_vmcs){
		.load_rtit_ctl = vmcs->entry & KVM_TRACE_PT_ENTRY_LOAD_CTL,
		.clear_rtit_ctl = vmcs->exit & KVM_TRACE_PT_EXIT_CLEAR_CTL,
		.guest_rtit_ctl = vmcs->guest_ctl,
	};
}

/**
 * processor_vmentry() - VMLAUNCH or VMRESUME of the current VMCS
 * @fails_late: with a VM exit, after the guest's MSRs were loaded
 *
 * Return: false if its checks of Intel PT fail.
 */
bool processor_vmentry(bool fails_late)
{
	struct vmcs *vmcs = &world.vmcs[world.cpu[here].vmcs];
	const struct pt_emu_vmcs controls = vmcs_of(vmcs);
	const struct pt_emu_state guest = state_of(true);
	const u64 before = world.cpu[here].ctl;

	if (pt_emu_vmentry_check(pt, &controls) != PT_EMU_ENTRY_OK)
		return false;
	pt_emu_vmentry(pt, &controls, &guest);
	took(before);
	if (fails_late)
		processor_vmexit();
	return true;
}

/**
 * processor_vmexit() - a VM exit
 */
void processor_vmexit(void)
{
	struct vmcs *vmcs = &world.vmcs[world.cpu[here].vmcs];
	const struct pt_emu_vmcs controls = vmcs_of(vmcs);
	const struct pt_emu_state host = state_of(false);
	const u64 before = world.cpu[here].ctl;

	vmcs->guest_ctl = pt_emu_vmexit(pt, &controls, 0x2000);
	pt_emu_vmexit_done(pt, &host);
	took(before);
}

/**
 * call_begins() - the switch is called
 */
void call_begins(void)
{
	faults_left = scenario->faults;
	nmis_left = scenario->unreserved && here == 0;
	faulted = false;
	vmcs_failed = false;
	interrupted = false;
}

/**
 * call_faulted() - how the call went
 *
 * Return: true if an access was made to fault.
 */
bool call_faulted(void)
{
	return faulted;
}

/**
 * call_failed_vmcs() - whether the VMCS could be accessed
 *
 * Return: true if an access of it was made to fail.
 */
bool call_failed_vmcs(void)
{
	return vmcs_failed;
}

/* Before each access, and so after the one before, perf may pause or resume in an NMI. */
static void nmi(void)
{
	static void (*const handlers[])(void) = { NULL, perf_pause, perf_resume, perf_pmi };
	unsigned int which;

	if (!nmis_left || !world.perf.running || world.cpu[here].meddled == MOST_MEDDLING)
		return;
	which = choose(ARRAY_SIZE(handlers));
	if (!which)
		return;
	nmis_left--;
	interrupted = true;
	world.cpu[here].meddled++;
	handlers[which]();
}

/*
 * Every access of the switch begins here; true if it is to fail. Method window goes on with
 * a VMCS that it cannot read.
 */
static bool fails(const char *what, u32 which, u64 value)
{
	const bool vmcs = *what == 'V';
	bool fail;

	nmi();
	accesses++;
	fail = faults_left && choose(2);
	faults_left -= fail;
	faulted |= fail && !(vmcs && scenario->method == KVM_TRACE_PT_WINDOW);
	vmcs_failed |= fail && vmcs;
	if (tell_accesses)
		printf("#     %s 0x%x 0x%llx%s\n", what, which, value, fail ? " fails" : "");
	return fail;
}

static bool is_tracing(void)
{
	return world.cpu[here].ctl & KVM_TRACE_PT_CTL_TRACEEN;
}

static bool has_msr(u32 msr)
{
	__u64 value;

	if (pt_emu_has_msr(msr) && pt_emu_rdmsr(pt, msr, &value))
		return true;
	broken("only_msrs_that_are_announced", "access of 0x%x", msr);
	return false;
}

static bool moves_on(u32 msr)
{
	return msr == KVM_TRACE_PT_MSR_STATUS || msr == KVM_TRACE_PT_MSR_OUTPUT_BASE ||
	       msr == KVM_TRACE_PT_MSR_OUTPUT_MASK;
}

static bool checked_rdmsr(u32 msr, u64 *value)
{
	if (fails("RDMSR", msr, processor_read(msr)) || !has_msr(msr))
		return false;
	if (moves_on(msr) && is_tracing() && !world.cpu[here].meddled)
		broken("position_read_when_tracing_is_off", "RDMSR of 0x%x with TraceEn=1", msr);
	*value = processor_read(msr);
	return true;
}

static bool checked_wrmsr(u32 msr, u64 value)
{
	bool ok;

	if (fails("WRMSR", msr, value) || !has_msr(msr))
		return false;
	if (msr != KVM_TRACE_PT_MSR_CTL && is_tracing() && !interrupted)
		broken("no_configuration_while_tracing", "WRMSR of 0x%x with TraceEn=1", msr);
	ok = processor_write(msr, value);
	if (!ok && !world.cpu[here].meddled)
		broken("no_wrmsr_faults", "WRMSR of 0x%x to 0x%llx faults, CTL is 0x%llx", msr,
		       value, world.cpu[here].ctl);
	return ok;
}

static u64 *field_of(u32 field)
{
	struct vmcs *vmcs = &world.vmcs[world.cpu[here].vmcs];

	if (world.cpu[here].vmcs == NONE)
		return NULL;
	switch (field) {
	case KVM_TRACE_PT_ENTRY_CONTROLS:
		return &vmcs->entry;
	case KVM_TRACE_PT_EXIT_CONTROLS:
		return &vmcs->exit;
	case KVM_TRACE_PT_GUEST_CTL:
		return &vmcs->guest_ctl;
	default:
		broken("only_fields_of_intel_pt", "access of 0x%x", field);
		return NULL;
	}
}

static bool checked_vmread(u32 field, u64 *value)
{
	const u64 *from = field_of(field);

	if (fails("VMREAD", field, from ? *from : 0) || !from)
		return false;
	*value = *from;
	return true;
}

static bool checked_vmwrite(u32 field, u64 value)
{
	u64 *to = field_of(field);
	u64 ours = ~0ULL;

	if (fails("VMWRITE", field, value) || !to)
		return false;
	if (field == KVM_TRACE_PT_ENTRY_CONTROLS)
		ours = KVM_TRACE_PT_ENTRY_LOAD_CTL;
	else if (field == KVM_TRACE_PT_EXIT_CONTROLS)
		ours = KVM_TRACE_PT_EXIT_CLEAR_CTL;
	if ((*to ^ value) & ~ours)
		broken("bits_of_kvm_are_kept", "field 0x%x from 0x%llx to 0x%llx", field, *to,
		       value);
	*to = value;
	return true;
}

static bool checked_vmptrst(u64 *vmcs)
{
	const u8 current_vmcs = world.cpu[here].vmcs;

	if (fails("VMPTRST", 0, current_vmcs))
		return false;
	*vmcs = current_vmcs == NONE ? ~0ULL : (current_vmcs + 1) * VMCS_ADDRESS;
	return true;
}

const struct kvm_trace_pt_ops processor_ops = {
	.rdmsr = checked_rdmsr,
	.wrmsr = checked_wrmsr,
	.vmread = checked_vmread,
	.vmwrite = checked_vmwrite,
	.vmptrst = checked_vmptrst,
};
