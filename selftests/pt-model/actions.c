// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can happen next: the scheduler, KVM, perf and the module's hooks do one step,
 * and after each the rules are looked at that hold in every state.
 */
#include <stdio.h>
#include <string.h>

#include "../pt-emu/core/pt_emu.h"

#include "world.h"

#define TRACEEN		KVM_TRACE_PT_CTL_TRACEEN
#define CTL_COMMON	(PT_EMU_CTL_TOPA | PT_EMU_CTL_BRANCHEN | PT_EMU_CTL_OS)
#define CTL_OF_HOST	(TRACEEN | CTL_COMMON | 1ULL << PT_EMU_CTL_ADDR0_CFG_SHIFT)
#define CTL_OF_GUEST	(TRACEEN | CTL_COMMON | PT_EMU_CTL_CR3FILTER)
#define CTL_OF_PERF	(TRACEEN | CTL_COMMON | PT_EMU_CTL_USER | \
			 1ULL << PT_EMU_CTL_ADDR0_CFG_SHIFT)

#define KVM_ENTRY_BIT	0x2000ULL	/* that KVM sets and clears by itself */
#define KVM_EXIT_BIT	0x1000ULL
#define ENTRY_WORD	0x11ffULL
#define EXIT_WORD	0x36effULL

#define ALWAYS_USED	0x7U
#define SIDE_BIT(side)	(1U << (side))
#define HOST		KVM_TRACE_PT_HOST
#define GUEST		KVM_TRACE_PT_GUEST
#define REFUSALS	(KVM_TRACE_PT_NOT_IN_VMX | KVM_TRACE_PT_NO_CONTROLS | \
			 KVM_TRACE_PT_NO_FILTER | KVM_TRACE_PT_BUSY | KVM_TRACE_PT_FAULT)
#define ENDS		(PT_EMU_STATUS_ERROR | PT_EMU_STATUS_STOPPED)

struct world world;
const struct scenario *scenario;
unsigned int without;

static bool in_irqs_off(unsigned int cpu)
{
	const u8 thread = world.cpu[cpu].thread;

	return thread != NONE && world.thread[thread].phase >= PHASE_ENTERING;
}

static enum output output_for(unsigned int owner, unsigned int side)
{
	return OUTPUT_STREAMS + owner * KVM_TRACE_PT_SIDES + side;
}

static u8 vmcs_of(unsigned int thread)
{
	return thread ? 2 : world.thread[0].nested;
}

/* A VMCS is active on one processor: KVM has it cleared on the one before. */
static void load_vmcs(unsigned int thread)
{
	const u8 vmcs = vmcs_of(thread);
	unsigned int i;

	for (i = 0; i < CPUS; i++)
		if (world.cpu[i].vmcs == vmcs)
			world.cpu[i].vmcs = NONE;
	world.cpu[world.thread[thread].cpu].vmcs = vmcs;
}

static void reset_position(enum output output, u64 ctl, u64 filter)
{
	struct position *position = &world.position[output];

	memset(position, 0, sizeof(*position));
	position->ctl = ctl;
	position->uses = ALWAYS_USED;
	if (ctl & PT_EMU_CTL_CR3FILTER)
		position->uses |= 1U << KVM_TRACE_PT_CR3_MATCH;
	if (ctl >> PT_EMU_CTL_ADDR0_CFG_SHIFT)
		position->uses |= 3U << KVM_TRACE_PT_ADDR;
	position->reg[KVM_TRACE_PT_OUTPUT_BASE] = output_base(output);
	position->reg[KVM_TRACE_PT_OUTPUT_MASK] = 0x7f;
	position->reg[KVM_TRACE_PT_CR3_MATCH] = filter;
	position->reg[KVM_TRACE_PT_ADDR] = filter;
	position->reg[KVM_TRACE_PT_ADDR + 1] = filter + 0x10000;
}

static void reset_stream(unsigned int owner, unsigned int side)
{
	struct kvm_trace_pt_stream *stream = &world.stream[owner][side];
	const enum output output = output_for(owner, side);
	unsigned int i;

	reset_position(output, side == HOST ? CTL_OF_HOST : CTL_OF_GUEST,
		       side == HOST ? 0x1000 : 0x6000);
	memset(stream, 0, sizeof(*stream));
	stream->ctl = world.position[output].ctl;
	stream->base_stays = scenario->base_stays;
	for (i = 0; i < REGS; i++)
		stream->reg[i] = world.position[output].reg[i];
}

static void reset_streams(void)
{
	unsigned int owner, side;

	for (owner = 0; owner < 2; owner++)
		for (side = 0; side < KVM_TRACE_PT_SIDES; side++)
			reset_stream(owner, side);
}

/* The registers of @cpu are as before all but for those that @position needs. */
static void check_registers(const struct cpu *cpu, const struct position *position)
{
	unsigned int i;

	for (i = 0; i < REGS; i++) {
		u64 expected = cpu->before[i];

		if (position && position->uses >> i & 1)
			continue;
		if (cpu->reg[i] != expected)
			broken("msrs_are_restored", "register %u is 0x%llx, was 0x%llx", i,
			       cpu->reg[i], expected);
	}
}

static void check_all_restored(const struct cpu *cpu)
{
	if (cpu->meddled)
		return;
	check_registers(cpu, NULL);
	if (cpu->ctl != cpu->before_ctl)
		broken("msrs_are_restored", "CTL is 0x%llx, was 0x%llx", cpu->ctl,
		       cpu->before_ctl);
}

/* Outside of a round trip's guest part nothing is there but the host's stream. */
static void check_outside(unsigned int at)
{
	const struct cpu *cpu = &world.cpu[at];

	if (!cpu->started || cpu->left || cpu->meddled)
		return;
	if (cpu->started & SIDE_BIT(HOST) && cpu->ctl & TRACEEN) {
		check_registers(cpu, &world.position[output_for(cpu->owner, HOST)]);
		if (cpu->ctl != CTL_OF_HOST)
			broken("settings_are_one_streams", "CTL 0x%llx outside of the guest",
			       cpu->ctl);
		return;
	}
	if (cpu->started & SIDE_BIT(HOST) && !cpu->excused)
		broken("host_is_traced", "TraceEn is 0 outside of the guest");
	check_all_restored(cpu);
}

static void check_host_code(unsigned int at)
{
	const struct cpu *cpu = &world.cpu[at];
	const enum output output = output_of(cpu->reg[KVM_TRACE_PT_OUTPUT_BASE]);
	const struct thread *thread = cpu->thread == NONE ? NULL : &world.thread[cpu->thread];
	const u8 phase = thread ? thread->phase : PHASE_USER;
	bool stub;

	if (cpu->left || (cpu->meddled && cpu->started))
		return;
	/* What perf makes of its own MSRs after that is not ours to promise. */
	world.over |= cpu->meddled;
	if (!cpu->started && output != OUTPUT_PERF && output != OUTPUT_NOBODY)
		broken("no_msr_holds_our_address", "OUTPUT_BASE 0x%llx",
		       cpu->reg[KVM_TRACE_PT_OUTPUT_BASE]);
	if (!(cpu->ctl & TRACEEN) || phase == PHASE_GUEST || output == OUTPUT_PERF)
		return;
	if (cpu->started & SIDE_BIT(HOST) && output == output_for(cpu->owner, HOST)) {
		if (phase == PHASE_ENTERING && !cpu->excused)
			broken("host_is_paused_for_the_guest", "TraceEn is 1 after kvm_entry");
		return;
	}
	stub = phase == PHASE_FAILED || phase == PHASE_LEAVING ||
	       (phase == PHASE_ENTERING && scenario->method == KVM_TRACE_PT_WINDOW);
	if (scenario->method == KVM_TRACE_PT_VMCS && !(thread && thread->lost_clear))
		stub = false;
	if (!stub)
		broken("no_host_code_in_the_guests_stream", "phase %u", phase);
}

static bool may_hold_bits(u8 vmcs)
{
	unsigned int i;

	for (i = 0; i < CPUS; i++) {
		const struct cpu *cpu = &world.cpu[i];

		if (cpu->vmcs == vmcs && (cpu->left || (cpu->thread != NONE &&
							world.thread[cpu->thread].phase >=
							PHASE_FAILED)))
			return true;
	}
	return false;
}

/*
 * The guest's CTL alone does no harm, and a VM exit saves there what IA32_RTIT_CTL is:
 * ours in method window, and wherever it could not be cleared.
 */
static bool guest_ctl_is_ours(void)
{
	return scenario->method == KVM_TRACE_PT_VMCS && !scenario->faults;
}

static void check_vmcs(u8 at)
{
	const struct vmcs *vmcs = &world.vmcs[at];

	if (scenario->kvm_loads) {
		if (~vmcs->entry & KVM_TRACE_PT_ENTRY_LOAD_CTL ||
		    ~vmcs->exit & KVM_TRACE_PT_EXIT_CLEAR_CTL)
			broken("bits_of_kvm_are_kept", "VMCS %u: entry 0x%llx exit 0x%llx", at,
			       vmcs->entry, vmcs->exit);
		return;
	}
	if (may_hold_bits(at))
		return;
	if (vmcs->entry & KVM_TRACE_PT_ENTRY_LOAD_CTL || vmcs->exit & KVM_TRACE_PT_EXIT_CLEAR_CTL ||
	    (guest_ctl_is_ours() && vmcs->guest_ctl == CTL_OF_GUEST))
		broken("no_vmcs_holds_our_bits", "VMCS %u: entry 0x%llx exit 0x%llx CTL 0x%llx",
		       at, vmcs->entry, vmcs->exit, vmcs->guest_ctl);
}

static void check_state(void)
{
	unsigned int i;

	for (i = 0; i < VMCSS; i++)
		check_vmcs(i);
	for (i = 0; i < scenario->cpus; i++) {
		const struct cpu *cpu = &world.cpu[i];

		if (cpu->thread == NONE || world.thread[cpu->thread].phase <= PHASE_KVM)
			check_outside(i);
		check_host_code(i);
	}
}

static void begin_call(unsigned int at)
{
	processor_start(at);
	call_begins();
}

/* What a call says is true, and what it costs if there is no stream. */
static u32 end_call(unsigned int at, u32 result)
{
	const u32 expected = scenario->kvm_loads ? KVM_TRACE_PT_NO_VMCS : 0;
	struct cpu *cpu = &world.cpu[at];

	if (result & KVM_TRACE_PT_FAULT && !call_faulted() && !cpu->meddled)
		broken("reports_are_true", "FAULT without one");
	if (call_faulted() && !result)
		broken("reports_are_true", "a fault is not told");
	if (!cpu->started && accesses)
		broken("nothing_is_accessed_without_a_stream", "%lu accesses", accesses);
	cpu->left = !!(result & KVM_TRACE_PT_LEFT);
	if (result & ~expected & (KVM_TRACE_PT_FAULT | KVM_TRACE_PT_NO_VMCS | KVM_TRACE_PT_BUSY))
		cpu->excused = 1;
	if (result & ~expected & (KVM_TRACE_PT_NO_VMCS | KVM_TRACE_PT_LEFT) && !scenario->faults &&
	    !cpu->meddled)
		broken("reports_are_true", "0x%x without a fault", result);
	return result;
}

static void start_stream(unsigned int at, enum kvm_trace_pt_side side)
{
	struct cpu *cpu = &world.cpu[at];
	struct kvm_trace_pt_stream *stream;
	struct position *position;
	u8 started = cpu->started;
	u32 result;

	if (!started) {
		cpu->owner = scenario->per_cpu ? at : cpu->thread;
		cpu->before_ctl = cpu->ctl;
		memcpy(cpu->before, cpu->reg, sizeof(cpu->before));
		cpu->excused = 0;
	}
	stream = &world.stream[cpu->owner][side];
	position = &world.position[output_for(cpu->owner, side)];
	/* Its reader has taken the data. */
	stream->reg[KVM_TRACE_PT_STATUS] &= ~ENDS;
	position->reg[KVM_TRACE_PT_STATUS] &= ~ENDS;

	begin_call(at);
	cpu->started |= SIDE_BIT(side);
	result = kvm_trace_pt_start(&cpu->pt, side, stream);
	if (scenario->not_in_vmx && (result != KVM_TRACE_PT_NOT_IN_VMX || accesses))
		broken("refused_where_vmx_does_not_allow_it", "0x%x, %lu accesses", result,
		       accesses);
	if (result & KVM_TRACE_PT_BUSY && !scenario->unreserved)
		broken("reports_are_true", "BUSY without anybody");
	end_call(at, result & ~KVM_TRACE_PT_NOT_IN_VMX);
	if (cpu->pt.stream[side])
		return;
	if (!(result & (REFUSALS | KVM_TRACE_PT_LEFT)))
		broken("reports_are_true", "0x%x, but nothing is started", result);
	cpu->started = started;
	if (result & KVM_TRACE_PT_FAULT)
		reset_stream(cpu->owner, side);
}

static void stop_stream(unsigned int at, enum kvm_trace_pt_side side)
{
	struct cpu *cpu = &world.cpu[at];
	u32 result;

	if (!(cpu->started & SIDE_BIT(side)))
		return;
	begin_call(at);
	result = end_call(at, kvm_trace_pt_stop(&cpu->pt, side));
	if (result & KVM_TRACE_PT_LEFT)
		return;
	if (cpu->started == SIDE_BIT(side))
		check_all_restored(cpu);
	cpu->started &= ~SIDE_BIT(side);
	/* Where it stopped may be unknown: it begins anew. */
	if (cpu->excused)
		reset_stream(cpu->owner, side);
	if (!cpu->started)
		cpu->excused = 0;
}

static void all_off(unsigned int at)
{
	struct cpu *cpu = &world.cpu[at];
	const u8 started = cpu->started;

	begin_call(at);
	if (end_call(at, kvm_trace_pt_offline(&cpu->pt)) & KVM_TRACE_PT_LEFT)
		return;
	if (started)
		check_all_restored(cpu);
	cpu->started = 0;
	cpu->excused = 0;
}

static void start_streams(unsigned int at)
{
	unsigned int side;

	if (!scenario->per_cpu && world.cpu[at].thread == NONE)
		return;
	for (side = 0; side < KVM_TRACE_PT_SIDES; side++)
		if (scenario->sides & ~world.cpu[at].started & SIDE_BIT(side))
			start_stream(at, side);
}

static void stop_streams(unsigned int at)
{
	stop_stream(at, GUEST);
	stop_stream(at, HOST);
}

static bool undo(unsigned int at)
{
	begin_call(at);
	end_call(at, kvm_trace_pt_undo(&world.cpu[at].pt));
	return true;
}

static bool sched_in(unsigned int thread, unsigned int at)
{
	struct thread *t = &world.thread[thread];
	struct cpu *cpu = &world.cpu[at];

	if (thread >= scenario->threads || at >= scenario->cpus || t->cpu != NONE ||
	    cpu->thread != NONE || !cpu->online)
		return false;
	t->cpu = at;
	cpu->thread = thread;
	if (world.session && !scenario->per_cpu) {
		stop_streams(at);
		start_streams(at);
	}
	if (t->phase != PHASE_USER)
		load_vmcs(thread);
	return true;
}

static bool sched_out(unsigned int thread, unsigned int arg)
{
	struct thread *t = &world.thread[thread];
	struct cpu *cpu = &world.cpu[t->cpu];

	(void)arg;
	if (t->cpu == NONE || t->phase > PHASE_FAILED)
		return false;
	if (!(without & WITHOUT_SCHED_OUT)) {
		if (scenario->per_cpu)
			undo(t->cpu);
		else
			stop_streams(t->cpu);
	}
	cpu->thread = NONE;
	t->cpu = NONE;
	return true;
}

/* A thread that runs and is in this phase; its processor. */
static struct cpu *running_in(unsigned int thread, u8 phase)
{
	const struct thread *t = &world.thread[thread];

	return t->cpu != NONE && t->phase == phase ? &world.cpu[t->cpu] : NULL;
}

static bool kvm_run(unsigned int thread, unsigned int arg)
{
	(void)arg;
	if (!running_in(thread, PHASE_USER))
		return false;
	load_vmcs(thread);
	world.thread[thread].phase = PHASE_KVM;
	return true;
}

static bool to_user(unsigned int thread, unsigned int arg)
{
	struct thread *t = &world.thread[thread];

	(void)arg;
	if (!running_in(thread, PHASE_KVM) && (!running_in(thread, PHASE_FAILED) || t->nested))
		return false;
	if (!(without & WITHOUT_KVM_FPU))
		undo(t->cpu);
	t->phase = PHASE_USER;
	return true;
}

static bool nested_failed(unsigned int thread, unsigned int arg)
{
	struct thread *t = &world.thread[thread];

	(void)arg;
	if (!running_in(thread, PHASE_FAILED) || !t->nested)
		return false;
	if (!(without & WITHOUT_NESTED_FAILED))
		undo(t->cpu);
	t->nested = 0;
	load_vmcs(thread);
	t->phase = PHASE_KVM;
	return true;
}

static bool nested_switch(unsigned int thread, unsigned int arg)
{
	(void)arg;
	if (!scenario->nested || !running_in(thread, PHASE_KVM))
		return false;
	world.thread[thread].nested ^= 1;
	load_vmcs(thread);
	return true;
}

/*
 * A control word comes from what KVM believes, with a bit of its own changed; or with
 * none, where there are states enough without.
 */
static bool kvm_writes(unsigned int thread, unsigned int exit_word)
{
	struct thread *t = &world.thread[thread];
	struct vmcs *vmcs = &world.vmcs[vmcs_of(thread)];

	if (!scenario->kvm_writes ||
	    (!running_in(thread, PHASE_KVM) && !running_in(thread, PHASE_ENTERING)))
		return false;
	if (exit_word) {
		t->lost_clear |= t->phase == PHASE_ENTERING && t->armed;
		vmcs->exit_shadow ^= scenario->faults ? 0 : KVM_EXIT_BIT;
		vmcs->exit = vmcs->exit_shadow;
	} else {
		t->lost_load |= t->phase == PHASE_ENTERING && t->armed;
		vmcs->entry_shadow ^= scenario->faults ? 0 : KVM_ENTRY_BIT;
		vmcs->entry = vmcs->entry_shadow;
	}
	return true;
}

static bool guest_stream_has_ended(const struct cpu *cpu)
{
	return world.position[output_for(cpu->owner, GUEST)].reg[KVM_TRACE_PT_STATUS] & ENDS;
}

static bool kvm_entry(unsigned int thread, unsigned int arg)
{
	struct thread *t = &world.thread[thread];
	struct cpu *cpu = running_in(thread, PHASE_KVM);
	u32 result;

	(void)arg;
	if (!cpu)
		return false;
	t->meddled = cpu->meddled;
	begin_call(t->cpu);
	result = end_call(t->cpu, kvm_trace_pt_entering(&cpu->pt));
	if (scenario->kvm_loads && cpu->started & SIDE_BIT(GUEST) &&
	    !(result & KVM_TRACE_PT_NO_VMCS) && !(cpu->ctl & TRACEEN))
		broken("reports_are_true", "0x%x, and the guest is not traced", result);
	t->vmcs_failed = call_failed_vmcs();
	t->phase = PHASE_ENTERING;
	t->lost_load = 0;
	t->lost_clear = 0;
	t->armed = scenario->method == KVM_TRACE_PT_VMCS && !scenario->kvm_loads &&
		   world.vmcs[cpu->vmcs].entry & KVM_TRACE_PT_ENTRY_LOAD_CTL;
	return true;
}

/* The guest runs now. */
static void check_guest_code(unsigned int at)
{
	const struct cpu *cpu = &world.cpu[at];
	const struct thread *t = &world.thread[cpu->thread];
	const enum output output = output_of(cpu->reg[KVM_TRACE_PT_OUTPUT_BASE]);
	const bool tracing = cpu->ctl & TRACEEN;

	if (cpu->meddled || (!cpu->started && output == OUTPUT_PERF))
		return;
	if (tracing && !cpu->excused && output != output_for(cpu->owner, GUEST))
		broken("no_guest_code_in_another_stream", "OUTPUT_BASE 0x%llx",
		       cpu->reg[KVM_TRACE_PT_OUTPUT_BASE]);
	if (!(cpu->started & SIDE_BIT(GUEST)) || cpu->excused || cpu->left)
		return;
	if (guest_stream_has_ended(cpu)) {
		if (tracing)
			broken("a_stream_that_has_ended_stays_off", "TraceEn is 1");
	} else if (!tracing && !t->lost_load && !scenario->kvm_loads) {
		broken("guest_is_traced", "TraceEn is 0");
	}
}

enum entry { ENTRY_GOOD, ENTRY_FAILS_EARLY, ENTRY_FAILS_LATE };

static bool vmlaunch(unsigned int thread, unsigned int how)
{
	struct thread *t = &world.thread[thread];

	if (!running_in(thread, PHASE_ENTERING))
		return false;
	if (how == ENTRY_FAILS_EARLY) {
		t->phase = PHASE_FAILED;
		return true;
	}
	processor_start(t->cpu);
	if (!processor_vmentry(how == ENTRY_FAILS_LATE)) {
		if (world.cpu[t->cpu].meddled == t->meddled && !t->vmcs_failed)
			broken("no_vm_entry_fails_by_us", "CTL is 0x%llx",
			       world.cpu[t->cpu].ctl);
		t->phase = PHASE_FAILED;
		return true;
	}
	t->phase = how == ENTRY_GOOD ? PHASE_GUEST : PHASE_LEAVING;
	if (how == ENTRY_GOOD)
		check_guest_code(t->cpu);
	return true;
}

static bool vmexit(unsigned int thread, unsigned int arg)
{
	(void)arg;
	if (!running_in(thread, PHASE_GUEST))
		return false;
	processor_start(world.thread[thread].cpu);
	processor_vmexit();
	world.thread[thread].phase = PHASE_LEAVING;
	return true;
}

static bool kvm_exit(unsigned int thread, unsigned int arg)
{
	struct thread *t = &world.thread[thread];
	struct cpu *cpu = running_in(thread, PHASE_LEAVING);
	u32 result;

	(void)arg;
	if (!cpu)
		return false;
	begin_call(t->cpu);
	result = end_call(t->cpu, kvm_trace_pt_leaving(&cpu->pt));
	if (!cpu->excused && !cpu->meddled) {
		if (!!(result & KVM_TRACE_PT_UNTRACED) != t->lost_load)
			broken("reports_are_true", "0x%x, LOAD lost: %u", result, t->lost_load);
		if (!!(result & KVM_TRACE_PT_HOST_CODE) != (t->lost_clear && !t->lost_load))
			broken("reports_are_true", "0x%x, CLEAR lost: %u", result, t->lost_clear);
	}
	t->phase = PHASE_KVM;
	t->armed = 0;
	t->lost_load = 0;
	t->lost_clear = 0;
	t->meddled = 0;
	t->vmcs_failed = 0;
	return true;
}

static bool all_irqs_on(void)
{
	unsigned int i;

	for (i = 0; i < scenario->cpus; i++)
		if (in_irqs_off(i))
			return false;
	return true;
}

static bool event_added(unsigned int unused, unsigned int arg)
{
	unsigned int i;

	(void)unused;
	(void)arg;
	/* Ours holds a counter of perf's, which keeps perf's other users out. */
	if (world.session || (world.perf.exists && !scenario->unreserved) || !all_irqs_on())
		return false;
	world.session = 1;
	reset_streams();
	for (i = 0; i < scenario->cpus; i++)
		if (world.cpu[i].online)
			start_streams(i);
	return true;
}

static void end_session(void)
{
	unsigned int i;

	for (i = 0; i < scenario->cpus; i++)
		if (world.cpu[i].started)
			return;
	world.session = 0;
	reset_streams();
}

/* Each CPU that is online ends what it does with Intel PT, and so the session. */
static bool ended_by(void (*end)(unsigned int at))
{
	unsigned int i;

	if (!world.session || !all_irqs_on())
		return false;
	for (i = 0; i < scenario->cpus; i++)
		if (world.cpu[i].online)
			end(i);
	end_session();
	return true;
}

static bool event_removed(unsigned int unused, unsigned int arg)
{
	(void)unused;
	(void)arg;
	return ended_by(stop_streams);
}

static bool unloaded(unsigned int unused, unsigned int arg)
{
	(void)unused;
	(void)arg;
	return ended_by(all_off);
}

static bool is_idle(unsigned int at)
{
	return world.cpu[at].online && world.cpu[at].thread == NONE &&
	       (at || !world.perf.running);
}

static void power_off(unsigned int at, unsigned int hook)
{
	if (!(without & hook))
		all_off(at);
	processor_reset(at);
	if (!at)
		perf_lost_msrs();
}

static bool cpu_offline(unsigned int at, unsigned int arg)
{
	(void)arg;
	if (!scenario->hotplug || at >= scenario->cpus || !is_idle(at))
		return false;
	power_off(at, WITHOUT_OFFLINE);
	world.cpu[at].online = 0;
	return true;
}

static bool cpu_online(unsigned int at, unsigned int arg)
{
	(void)arg;
	if (!scenario->hotplug || at >= scenario->cpus || world.cpu[at].online)
		return false;
	world.cpu[at].online = 1;
	if (world.session && scenario->per_cpu)
		start_streams(at);
	return true;
}

static bool suspended(unsigned int unused, unsigned int arg)
{
	unsigned int i;

	(void)unused;
	(void)arg;
	if (!scenario->suspends)
		return false;
	for (i = 0; i < scenario->cpus; i++)
		if (!is_idle(i))
			return false;
	for (i = 0; i < scenario->cpus; i++) {
		power_off(i, WITHOUT_SUSPEND);
		if (world.session && scenario->per_cpu)
			start_streams(i);
	}
	return true;
}

static bool perf_created(unsigned int unused, unsigned int arg)
{
	(void)unused;
	(void)arg;
	if (!scenario->perf || world.perf.exists || (world.session && !scenario->unreserved))
		return false;
	world.perf.exists = 1;
	return true;
}

static bool perf_removed(unsigned int unused, unsigned int arg)
{
	(void)unused;
	(void)arg;
	if (!world.perf.exists || world.perf.running)
		return false;
	world.perf.exists = 0;
	return true;
}

/* Also in NMIs, at any point where the host runs. */
static bool perf_acts(unsigned int action, unsigned int arg)
{
	static void (*const acts[])(void) = { perf_start, perf_stop, perf_pause, perf_resume,
					      perf_pmi };
	const u8 thread = world.cpu[0].thread;
	const bool scheduling = action < 2;

	(void)arg;
	if (!world.perf.exists || !world.cpu[0].online || world.perf.running != !!action ||
	    (scheduling && in_irqs_off(0)) ||
	    (thread != NONE && world.thread[thread].phase == PHASE_GUEST) ||
	    world.cpu[0].meddled == MOST_MEDDLING)
		return false;
	processor_start(0);
	if (world.cpu[0].started)
		world.cpu[0].meddled++;
	acts[action]();
	return true;
}

static const struct {
	const char *name;
	bool (*run)(unsigned int which, unsigned int arg);
	u8 which, arg;
} table[] = {
	{ "kvm_entry", kvm_entry, 0, 0 },
	{ "VM entry", vmlaunch, 0, ENTRY_GOOD },
	{ "VM exit", vmexit, 0, 0 },
	{ "kvm_exit", kvm_exit, 0, 0 },
	{ "VM entry fails early", vmlaunch, 0, ENTRY_FAILS_EARLY },
	{ "VM entry fails late", vmlaunch, 0, ENTRY_FAILS_LATE },
	{ "KVM writes entry controls", kvm_writes, 0, 0 },
	{ "KVM writes exit controls", kvm_writes, 0, 1 },
	{ "KVM_RUN", kvm_run, 0, 0 },
	{ "to user space", to_user, 0, 0 },
	{ "other VMCS, nested", nested_switch, 0, 0 },
	{ "kvm_nested_vmenter_failed", nested_failed, 0, 0 },
	{ "sched-in", sched_in, 0, 0 },
	{ "sched-in", sched_in, 0, 1 },
	{ "sched-out", sched_out, 0, 0 },
	{ "kvm_entry", kvm_entry, 1, 0 },
	{ "VM entry", vmlaunch, 1, ENTRY_GOOD },
	{ "VM exit", vmexit, 1, 0 },
	{ "kvm_exit", kvm_exit, 1, 0 },
	{ "VM entry fails early", vmlaunch, 1, ENTRY_FAILS_EARLY },
	{ "VM entry fails late", vmlaunch, 1, ENTRY_FAILS_LATE },
	{ "KVM writes entry controls", kvm_writes, 1, 0 },
	{ "KVM writes exit controls", kvm_writes, 1, 1 },
	{ "KVM_RUN", kvm_run, 1, 0 },
	{ "to user space", to_user, 1, 0 },
	{ "sched-in", sched_in, 1, 0 },
	{ "sched-in", sched_in, 1, 1 },
	{ "sched-out", sched_out, 1, 0 },
	{ "event added", event_added, 0, 0 },
	{ "event removed", event_removed, 0, 0 },
	{ "module unloaded", unloaded, 0, 0 },
	{ "CPU offline", cpu_offline, 0, 0 },
	{ "CPU offline", cpu_offline, 1, 0 },
	{ "CPU online", cpu_online, 0, 0 },
	{ "CPU online", cpu_online, 1, 0 },
	{ "suspend and resume", suspended, 0, 0 },
	{ "perf's event created", perf_created, 0, 0 },
	{ "perf's event removed", perf_removed, 0, 0 },
	{ "perf's event in", perf_acts, 0, 0 },
	{ "perf's event out", perf_acts, 1, 0 },
	{ "AUX pause", perf_acts, 2, 0 },
	{ "AUX resume", perf_acts, 3, 0 },
	{ "PMI", perf_acts, 4, 0 },
};

const unsigned int action_count = ARRAY_SIZE(table);

/**
 * action_print() - what happens, for a report
 * @action: its number
 */
void action_print(unsigned int action)
{
	printf("%s", table[action].name);
	if (scenario->threads > 1 || scenario->cpus > 1)
		printf(" (%u, %u)", table[action].which, table[action].arg);
}

/**
 * action_run() - do it, and look at what holds after it
 * @action: its number
 *
 * Return: false if it cannot happen now; then nothing has changed.
 */
bool action_run(unsigned int action)
{
	if (world.over || !table[action].run(table[action].which, table[action].arg))
		return false;
	check_state();
	return true;
}

/**
 * world_start() - the state in which all begins
 *
 * Nothing runs, and the MSRs are as perf has left them.
 */
void world_start(void)
{
	const struct kvm_trace_pt_caps caps = {
		.in_vmx = !scenario->not_in_vmx,
		.controls = true,
		.cr3_filter = true,
		.ranges = 1,
	};
	unsigned int i;

	memset(&world, 0, sizeof(world));
	reset_position(OUTPUT_PERF, CTL_OF_PERF, 0x20000);
	world.position[OUTPUT_PERF].reg[KVM_TRACE_PT_STATUS] = 0x80ULL << 32;
	world.perf.base = world.position[OUTPUT_PERF].reg[KVM_TRACE_PT_OUTPUT_BASE];
	world.perf.mask = world.position[OUTPUT_PERF].reg[KVM_TRACE_PT_OUTPUT_MASK];
	world.perf.filter = world.position[OUTPUT_PERF].reg[KVM_TRACE_PT_ADDR];
	for (i = 0; i < CPUS; i++) {
		struct cpu *cpu = &world.cpu[i];

		cpu->ctl = scenario->found_ctl;
		memcpy(cpu->reg, world.position[OUTPUT_PERF].reg, sizeof(cpu->reg));
		cpu->vmcs = NONE;
		cpu->thread = NONE;
		cpu->online = 1;
		kvm_trace_pt_init(&cpu->pt, &processor_ops, &caps, scenario->method);
	}
	for (i = 0; i < VMCSS; i++) {
		world.vmcs[i].entry_shadow = ENTRY_WORD;
		world.vmcs[i].exit_shadow = EXIT_WORD;
		if (scenario->kvm_loads) {
			world.vmcs[i].entry_shadow |= KVM_TRACE_PT_ENTRY_LOAD_CTL;
			world.vmcs[i].exit_shadow |= KVM_TRACE_PT_EXIT_CLEAR_CTL;
		}
		world.vmcs[i].entry = world.vmcs[i].entry_shadow;
		world.vmcs[i].exit = world.vmcs[i].exit_shadow;
	}
	for (i = 0; i < THREADS; i++)
		world.thread[i].cpu = NONE;
	reset_streams();
}
