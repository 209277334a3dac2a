// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switch, one call at a time: what each costs in accesses, what is refused, and
 * corners that the model's world cannot have. The processor here is an array; the
 * model has the manual's.
 */
#include <string.h>

#include "tap.h"
#include "types.h"

#include "../../kvm-trace/pt/switch.h"

#define HOST		KVM_TRACE_PT_HOST
#define GUEST		KVM_TRACE_PT_GUEST
#define VMCS		KVM_TRACE_PT_VMCS
#define WINDOW		KVM_TRACE_PT_WINDOW
#define TRACEEN		KVM_TRACE_PT_CTL_TRACEEN
#define TOPA		0x100ULL
#define RANGE(n)	(1ULL << (KVM_TRACE_PT_CTL_RANGE_SHIFT + 4 * (n)))
#define ALL_RANGES	(RANGE(0) | RANGE(1) | RANGE(2) | RANGE(3))
#define STATUS		KVM_TRACE_PT_MSR_STATUS
#define BASE		KVM_TRACE_PT_MSR_OUTPUT_BASE
#define MASK		KVM_TRACE_PT_MSR_OUTPUT_MASK
#define CTL		KVM_TRACE_PT_MSR_CTL
#define ENTRY_WORD	0x11ffULL
#define EXIT_WORD	0x36effULL

#define FIRST_MSR	0x560
#define MSRS		0x28

static struct {
	u64 msr[MSRS];
	u64 entry, exit, guest_ctl;
	u64 vmcs;
	bool has_vmcs;
	unsigned int reads, writes, vmcs_accesses;
} cpu;

static struct kvm_trace_pt_switch pt;
static struct kvm_trace_pt_stream host, guest;

static u64 *msr(u32 which)
{
	return &cpu.msr[which - FIRST_MSR];
}

static bool do_rdmsr(u32 which, u64 *value)
{
	cpu.reads++;
	*value = *msr(which);
	return true;
}

static bool do_wrmsr(u32 which, u64 value)
{
	cpu.writes++;
	*msr(which) = value;
	return true;
}

static u64 *field(u32 which)
{
	if (which == KVM_TRACE_PT_ENTRY_CONTROLS)
		return &cpu.entry;
	return which == KVM_TRACE_PT_EXIT_CONTROLS ? &cpu.exit : &cpu.guest_ctl;
}

static bool do_vmread(u32 which, u64 *value)
{
	cpu.vmcs_accesses++;
	*value = *field(which);
	return cpu.has_vmcs;
}

static bool do_vmwrite(u32 which, u64 value)
{
	cpu.vmcs_accesses++;
	*field(which) = value;
	return true;
}

static bool do_vmptrst(u64 *vmcs)
{
	cpu.vmcs_accesses++;
	*vmcs = cpu.vmcs;
	return true;
}

static const struct kvm_trace_pt_ops ops = {
	.rdmsr = do_rdmsr,
	.wrmsr = do_wrmsr,
	.vmread = do_vmread,
	.vmwrite = do_vmwrite,
	.vmptrst = do_vmptrst,
};

static const struct kvm_trace_pt_caps all_caps = {
	.in_vmx = true,
	.controls = true,
	.cr3_filter = true,
	.ranges = KVM_TRACE_PT_MAX_RANGES,
};

static void fill(struct kvm_trace_pt_stream *stream, u64 ctl, u64 value)
{
	unsigned int i;

	memset(stream, 0, sizeof(*stream));
	stream->ctl = ctl;
	for (i = 0; i < KVM_TRACE_PT_REGS; i++)
		stream->reg[i] = value + i * 0x1000;
	stream->reg[KVM_TRACE_PT_STATUS] = value << 32;
}

/* A processor with other values everywhere, and nothing started. */
static void begin(const struct kvm_trace_pt_caps *caps, enum kvm_trace_pt_method method,
		  u64 found_ctl)
{
	unsigned int i;

	memset(&cpu, 0, sizeof(cpu));
	for (i = 0; i < MSRS; i++)
		cpu.msr[i] = 0x50000 + i;
	*msr(CTL) = found_ctl;
	*msr(STATUS) = 0x5ULL << 32;
	cpu.entry = ENTRY_WORD;
	cpu.exit = EXIT_WORD;
	cpu.vmcs = 0x1000;
	cpu.has_vmcs = true;
	fill(&host, TRACEEN | TOPA, 0x10000);
	fill(&guest, TRACEEN | TOPA | 0x4, 0x20000);
	kvm_trace_pt_init(&pt, &ops, caps, method);
}

static void start(enum kvm_trace_pt_side side)
{
	u32 result = kvm_trace_pt_start(&pt, side, side == HOST ? &host : &guest);

	tap_expect(!result, "start of side %u: 0x%x", side, result);
}

/* A guest that ran, as its VM entry and exit leave the processor. */
static void run_guest(void)
{
	if (cpu.entry & KVM_TRACE_PT_ENTRY_LOAD_CTL)
		*msr(CTL) = cpu.guest_ctl;
	if (*msr(CTL) & TRACEEN) {
		*msr(MASK) += 0x40ULL << 32;
		*msr(STATUS) += 0x40ULL << 32;
		if (!guest.base_stays)
			*msr(BASE) ^= 0x100000;
	}
	if (cpu.exit & KVM_TRACE_PT_EXIT_CLEAR_CTL)
		*msr(CTL) = 0;
}

struct cost {
	unsigned int reads, writes, vmcs_accesses;
};

static void expect_cost(const char *what, unsigned int round, struct cost cost)
{
	tap_expect(cpu.reads == cost.reads && cpu.writes == cost.writes &&
		   cpu.vmcs_accesses == cost.vmcs_accesses,
		   "%s, round %u: %u RDMSR, %u WRMSR, %u VMCS; expected %u, %u, %u", what, round,
		   cpu.reads, cpu.writes, cpu.vmcs_accesses, cost.reads, cost.writes,
		   cost.vmcs_accesses);
	cpu.reads = 0;
	cpu.writes = 0;
	cpu.vmcs_accesses = 0;
}

/* Per round trip; the derivation is in Documentation/pt-modes.rst. */
static const struct {
	const char *mode;
	u8 sides;
	enum kvm_trace_pt_method method;
	bool base_stays;
	u64 found_ctl;
	struct cost entry, exit;
} costs[] = {
	{ "off", 0, VMCS, false, 0, { 0, 0, 0 }, { 0, 0, 0 } },
	{ "off", 0, WINDOW, false, 0, { 0, 0, 0 }, { 0, 0, 0 } },
	{ "host", 1, VMCS, false, 0, { 0, 1, 0 }, { 0, 1, 0 } },
	{ "host", 1, WINDOW, false, 0, { 0, 1, 0 }, { 0, 1, 0 } },
	{ "guest", 2, VMCS, false, 0, { 1, 3, 6 }, { 4, 3, 5 } },
	{ "guest, one table", 2, VMCS, true, 0, { 1, 3, 6 }, { 3, 3, 5 } },
	{ "guest, CTL found", 2, VMCS, false, TOPA, { 1, 3, 6 }, { 4, 4, 5 } },
	{ "guest", 2, WINDOW, false, 0, { 1, 4, 1 }, { 3, 4, 0 } },
	{ "guest, one table", 2, WINDOW, true, 0, { 1, 4, 1 }, { 2, 4, 0 } },
	{ "guest, CTL found", 2, WINDOW, false, TOPA, { 1, 4, 1 }, { 3, 4, 0 } },
	{ "host_guest", 3, VMCS, false, 0, { 3, 4, 6 }, { 4, 4, 5 } },
	{ "host_guest, one table", 3, VMCS, true, 0, { 2, 4, 6 }, { 3, 4, 5 } },
	{ "host_guest", 3, WINDOW, false, 0, { 3, 5, 1 }, { 3, 5, 0 } },
	{ "host_guest, one table", 3, WINDOW, true, 0, { 2, 5, 1 }, { 2, 5, 0 } },
};

static void test_costs(void)
{
	unsigned int i, round;

	for (i = 0; i < ARRAY_SIZE(costs); i++) {
		tap_begin("accesses_of_a_round_trip: %s, %s", costs[i].mode,
			  costs[i].method == VMCS ? "vmcs" : "window");
		begin(&all_caps, costs[i].method, costs[i].found_ctl);
		host.base_stays = costs[i].base_stays;
		guest.base_stays = costs[i].base_stays;
		if (costs[i].sides & 1)
			start(HOST);
		if (costs[i].sides & 2)
			start(GUEST);
		cpu.reads = 0;
		cpu.writes = 0;
		for (round = 0; round < 3; round++) {
			kvm_trace_pt_entering(&pt);
			expect_cost("entry", round, costs[i].entry);
			run_guest();
			kvm_trace_pt_leaving(&pt);
			expect_cost("exit", round, costs[i].exit);
		}
		tap_end();
	}
}

static const struct {
	const char *why;
	struct kvm_trace_pt_caps caps;
	u64 ctl;
	enum kvm_trace_pt_method method;
	u32 host, guest;
} refusals[] = {
	{ "no trace in VMX operation", { false, true, true, 4 }, 0, VMCS,
	  KVM_TRACE_PT_NOT_IN_VMX, KVM_TRACE_PT_NOT_IN_VMX },
	{ "no trace in VMX operation, window", { false, true, true, 4 }, 0, WINDOW,
	  KVM_TRACE_PT_NOT_IN_VMX, KVM_TRACE_PT_NOT_IN_VMX },
	{ "no controls", { true, false, true, 4 }, 0, VMCS, 0, KVM_TRACE_PT_NO_CONTROLS },
	{ "no controls, window", { true, false, true, 4 }, 0, WINDOW, 0, 0 },
	{ "no CR3 filter", { true, true, false, 4 }, KVM_TRACE_PT_CTL_CR3FILTER, VMCS,
	  KVM_TRACE_PT_NO_FILTER, KVM_TRACE_PT_NO_FILTER },
	{ "no ranges", { true, true, true, 0 }, RANGE(0), VMCS,
	  KVM_TRACE_PT_NO_FILTER, KVM_TRACE_PT_NO_FILTER },
	{ "third of two ranges", { true, true, true, 2 }, RANGE(2), VMCS,
	  KVM_TRACE_PT_NO_FILTER, KVM_TRACE_PT_NO_FILTER },
	{ "second of two ranges", { true, true, true, 2 }, RANGE(1), VMCS, 0, 0 },
	{ "fourth of more ranges than there are numbers for", { true, true, true, 7 }, RANGE(3),
	  VMCS, 0, 0 },
};

static void expect_start(enum kvm_trace_pt_side side, struct kvm_trace_pt_stream *stream,
			 u32 expected)
{
	u32 result;

	cpu.reads = 0;
	cpu.writes = 0;
	result = kvm_trace_pt_start(&pt, side, stream);
	tap_expect(result == expected, "side %u: 0x%x, expected 0x%x", side, result, expected);
	tap_expect(!expected == !!cpu.reads, "side %u: %u RDMSR", side, cpu.reads);
	tap_expect(!expected || !cpu.writes, "side %u: %u WRMSR", side, cpu.writes);
}

static void test_refusals(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		tap_begin("start_refuses_without_an_access: %s", refusals[i].why);
		begin(&refusals[i].caps, refusals[i].method, 0);
		host.ctl |= refusals[i].ctl;
		expect_start(HOST, &host, refusals[i].host);
		begin(&refusals[i].caps, refusals[i].method, 0);
		guest.ctl |= refusals[i].ctl;
		expect_start(GUEST, &guest, refusals[i].guest);
		tap_end();
	}
}

static void test_busy(void)
{
	u32 result;

	tap_begin("busy_cpu_is_not_written_and_stays_off_until_started_again");
	begin(&all_caps, VMCS, TRACEEN);
	result = kvm_trace_pt_start(&pt, GUEST, &guest);
	tap_expect(result == KVM_TRACE_PT_BUSY, "start: 0x%x", result);
	result = kvm_trace_pt_start(&pt, HOST, &host);
	tap_expect(result == KVM_TRACE_PT_BUSY, "start of host: 0x%x", result);
	*msr(CTL) = 0;
	start(GUEST);
	*msr(CTL) = TRACEEN;
	result = kvm_trace_pt_entering(&pt);
	tap_expect(result == KVM_TRACE_PT_BUSY, "entering: 0x%x", result);
	/* Its values may be others now, even if it does not trace any more. */
	*msr(CTL) = 0;
	*msr(BASE) = 0x77000;
	cpu.reads = 0;
	result = kvm_trace_pt_entering(&pt);
	tap_expect(!result && !cpu.reads, "entering again: 0x%x, %u RDMSR", result, cpu.reads);
	tap_expect(!cpu.writes && cpu.entry == ENTRY_WORD, "%u WRMSR, entry 0x%llx", cpu.writes,
		   cpu.entry);
	kvm_trace_pt_stop(&pt, GUEST);
	start(GUEST);
	kvm_trace_pt_entering(&pt);
	tap_expect(cpu.entry & KVM_TRACE_PT_ENTRY_LOAD_CTL, "not armed after a new start");
	run_guest();
	kvm_trace_pt_leaving(&pt);
	tap_expect(*msr(BASE) == 0x77000, "OUTPUT_BASE 0x%llx", *msr(BASE));
	tap_end();
}

static void test_other_vmcs(void)
{
	u32 result;

	tap_begin("vmcs_that_is_not_current_is_undone_once_it_is_again");
	begin(&all_caps, VMCS, 0);
	start(GUEST);
	kvm_trace_pt_entering(&pt);
	cpu.vmcs = 0x2000;
	result = kvm_trace_pt_undo(&pt);
	tap_expect(result & KVM_TRACE_PT_LEFT, "undo with another VMCS: 0x%x", result);
	tap_expect(*msr(BASE) == guest.reg[KVM_TRACE_PT_OUTPUT_BASE],
		   "the armed VMCS would trace to 0x%llx", *msr(BASE));
	result = kvm_trace_pt_offline(&pt);
	tap_expect(result & KVM_TRACE_PT_LEFT, "offline with another VMCS: 0x%x", result);
	cpu.vmcs = 0x1000;
	result = kvm_trace_pt_offline(&pt);
	tap_expect(!result, "offline: 0x%x", result);
	tap_expect(cpu.entry == ENTRY_WORD && cpu.exit == EXIT_WORD && !cpu.guest_ctl,
		   "entry 0x%llx exit 0x%llx guest CTL 0x%llx", cpu.entry, cpu.exit,
		   cpu.guest_ctl);
	tap_expect(*msr(BASE) != guest.reg[KVM_TRACE_PT_OUTPUT_BASE], "OUTPUT_BASE is ours");
	tap_end();
}

static void expect_vmcs_refused(const char *why)
{
	u32 result;

	cpu.writes = 0;
	result = kvm_trace_pt_entering(&pt);
	tap_expect(result == KVM_TRACE_PT_NO_VMCS && !cpu.writes, "%s: 0x%x, %u WRMSR", why, result,
		   cpu.writes);
	tap_expect(!kvm_trace_pt_leaving(&pt), "%s: something to leave", why);
}

static void test_vmcs_refused(void)
{
	tap_begin("vmcs_that_cannot_be_used_is_left_alone_and_the_next_one_is_armed");
	begin(&all_caps, VMCS, 0);
	start(GUEST);
	cpu.has_vmcs = false;
	expect_vmcs_refused("enlightened VMCS");
	cpu.has_vmcs = true;
	cpu.entry |= KVM_TRACE_PT_ENTRY_LOAD_CTL;
	expect_vmcs_refused("KVM's LOAD");
	cpu.entry = ENTRY_WORD;
	cpu.exit |= KVM_TRACE_PT_EXIT_CLEAR_CTL;
	expect_vmcs_refused("KVM's CLEAR");
	tap_expect(cpu.exit == (EXIT_WORD | KVM_TRACE_PT_EXIT_CLEAR_CTL), "KVM's CLEAR is gone");
	cpu.exit = EXIT_WORD;
	tap_expect(!kvm_trace_pt_entering(&pt), "the next one is refused");
	tap_expect(cpu.entry & KVM_TRACE_PT_ENTRY_LOAD_CTL, "the next one is not armed");
	tap_end();
}

static void test_window_refused(void)
{
	tap_begin("window_leaves_a_guest_alone_whose_entry_loads_ctl_by_itself");
	begin(&all_caps, WINDOW, 0);
	start(GUEST);
	cpu.entry |= KVM_TRACE_PT_ENTRY_LOAD_CTL;
	expect_vmcs_refused("KVM's LOAD");
	cpu.entry = ENTRY_WORD;
	cpu.has_vmcs = false;
	tap_expect(!kvm_trace_pt_entering(&pt), "an enlightened VMCS is refused");
	tap_expect(*msr(CTL) & TRACEEN, "and its guest is not traced");
	tap_end();
}

static void test_status(void)
{
	tap_begin("bits_of_status_that_only_read_are_not_kept");
	begin(&all_caps, WINDOW, 0);
	*msr(STATUS) = KVM_TRACE_PT_STATUS_READ_ONLY;
	guest.reg[KVM_TRACE_PT_STATUS] = 0;
	start(GUEST);
	cpu.writes = 0;
	kvm_trace_pt_entering(&pt);
	/* STATUS is 0 to software, so it is not written. */
	tap_expect(cpu.writes == 3, "%u WRMSR", cpu.writes);
	kvm_trace_pt_leaving(&pt);
	tap_expect(!guest.reg[KVM_TRACE_PT_STATUS], "STATUS 0x%llx",
		   guest.reg[KVM_TRACE_PT_STATUS]);
	tap_end();
}

static void test_ended(void)
{
	u32 result;

	tap_begin("stream_that_has_ended_costs_nothing_until_its_owner_clears_it");
	begin(&all_caps, VMCS, 0);
	start(GUEST);
	kvm_trace_pt_entering(&pt);
	run_guest();
	*msr(STATUS) |= KVM_TRACE_PT_STATUS_STOPPED;
	result = kvm_trace_pt_leaving(&pt);
	tap_expect(result == KVM_TRACE_PT_ENDED, "leaving: 0x%x", result);
	cpu.reads = 0;
	cpu.writes = 0;
	cpu.vmcs_accesses = 0;
	tap_expect(!kvm_trace_pt_entering(&pt), "entering tells something");
	expect_cost("entry", 1, (struct cost){ 0, 0, 0 });
	guest.reg[KVM_TRACE_PT_STATUS] = 0;
	kvm_trace_pt_entering(&pt);
	tap_expect(cpu.entry & KVM_TRACE_PT_ENTRY_LOAD_CTL, "not armed after it was cleared");
	tap_end();
}

static void test_filters(void)
{
	u64 before[MSRS];
	unsigned int i;

	tap_begin("only_filters_in_use_are_loaded_and_all_are_restored");
	begin(&all_caps, WINDOW, 0);
	memcpy(before, cpu.msr, sizeof(before));
	guest.ctl |= RANGE(0) | RANGE(3) | KVM_TRACE_PT_CTL_CR3FILTER;
	start(GUEST);
	kvm_trace_pt_entering(&pt);
	for (i = 0; i < 8; i++) {
		bool in_use = i < 2 || i >= 6;
		u64 value = *msr(KVM_TRACE_PT_MSR_ADDR0_A + i);
		u64 expected = in_use ? guest.reg[KVM_TRACE_PT_ADDR + i] :
			       before[KVM_TRACE_PT_MSR_ADDR0_A + i - FIRST_MSR];

		tap_expect(value == expected, "ADDR MSR %u: 0x%llx, expected 0x%llx", i, value,
			   expected);
	}
	tap_expect(*msr(KVM_TRACE_PT_MSR_CR3_MATCH) == guest.reg[KVM_TRACE_PT_CR3_MATCH],
		   "CR3_MATCH 0x%llx", *msr(KVM_TRACE_PT_MSR_CR3_MATCH));
	run_guest();
	kvm_trace_pt_leaving(&pt);
	tap_expect(!memcmp(before, cpu.msr, sizeof(before)), "MSRs differ after kvm_exit");

	guest.ctl |= ALL_RANGES;
	kvm_trace_pt_stop(&pt, GUEST);
	start(GUEST);
	kvm_trace_pt_entering(&pt);
	for (i = 0; i < 8; i++)
		tap_expect(*msr(KVM_TRACE_PT_MSR_ADDR0_A + i) == guest.reg[KVM_TRACE_PT_ADDR + i],
			   "ADDR MSR %u of four ranges", i);
	kvm_trace_pt_offline(&pt);
	tap_expect(!memcmp(before, cpu.msr, sizeof(before)), "MSRs differ after offline");
	tap_end();
}

static void test_idle(void)
{
	tap_begin("calls_without_a_stream_access_nothing");
	begin(&all_caps, VMCS, 0);
	kvm_trace_pt_leaving(&pt);
	kvm_trace_pt_undo(&pt);
	kvm_trace_pt_stop(&pt, HOST);
	kvm_trace_pt_stop(&pt, GUEST);
	kvm_trace_pt_offline(&pt);
	expect_cost("idle", 0, (struct cost){ 0, 0, 0 });
	tap_end();
}

int main(void)
{
	tap_plan(ARRAY_SIZE(costs) + ARRAY_SIZE(refusals) + 8);
	test_costs();
	test_refusals();
	test_busy();
	test_other_vmcs();
	test_vmcs_refused();
	test_window_refused();
	test_status();
	test_ended();
	test_filters();
	test_idle();
	return tap_exit();
}
