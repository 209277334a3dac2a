// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: each record says whether a nested guest ran at the exit and runs
 * after the entry, and which exits went to its hypervisor. A guest drives SVM
 * or VMX with a nested guest of its own; KVM's events of nested guests, recorded
 * beside, say what is right.
 */
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "nested.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		20
#define RING_MIB	8
#define VMX_EXTERNAL_INTERRUPT	1

enum event {
	VMEXIT,
	EXIT,
	ENTRY,
	USERSPACE_EXIT,
	NESTED_ENTER,
	NESTED_EXIT,
	NESTED_INJECT,
	NESTED_INTR,
	EVENTS,
};

static const struct {
	const char *system, *name;
} names[EVENTS] = {
	[VMEXIT] = { "kvm_trace", "vmexit" },
	[EXIT] = { "kvm", "kvm_exit" },
	[ENTRY] = { "kvm", "kvm_entry" },
	[USERSPACE_EXIT] = { "kvm", "kvm_userspace_exit" },
	[NESTED_ENTER] = { "kvm", "kvm_nested_vmenter" },
	[NESTED_EXIT] = { "kvm", "kvm_nested_vmexit" },
	[NESTED_INJECT] = { "kvm", "kvm_nested_vmexit_inject" },
	[NESTED_INTR] = { "kvm", "kvm_nested_intr_vmexit" },
};

#define KEPT_KINDS	(NESTED_BIT(NESTED_cpuid) | NESTED_BIT(NESTED_hlt) |		\
			 NESTED_BIT(NESTED_wbinvd) | NESTED_BIT(NESTED_cr_write) |	\
			 NESTED_BIT(NESTED_kept_io) | NESTED_BIT(NESTED_kept_rdmsr) |	\
			 NESTED_BIT(NESTED_kept_mmio) | NESTED_BIT(NESTED_kept_npf))
#define SEEN_KINDS	(NESTED_BIT(NESTED_cpuid) | NESTED_BIT(NESTED_hlt) |		\
			 NESTED_BIT(NESTED_wbinvd) | NESTED_BIT(NESTED_cr_write) |	\
			 NESTED_BIT(NESTED_reflected_io) |				\
			 NESTED_BIT(NESTED_reflected_rdmsr) |				\
			 NESTED_BIT(NESTED_reflected_wrmsr) |				\
			 NESTED_BIT(NESTED_reflected_vmmcall) |				\
			 NESTED_BIT(NESTED_reflected_ud) |				\
			 NESTED_BIT(NESTED_reflected_near))

static const struct load {
	const char *name;
	unsigned int kinds, flags;
	bool irqchip;
} loads[] = {
	{ "exits that KVM handles", KEPT_KINDS, 0, false },
	{ "exits that KVM handles, nested paging", KEPT_KINDS, NESTED_PAGING, false },
	{ "exits that the hypervisor sees", SEEN_KINDS, NESTED_INTERCEPT, false },
	{ "exits that the hypervisor sees, nested paging",
	  SEEN_KINDS | NESTED_BIT(NESTED_reflected_npf), NESTED_INTERCEPT | NESTED_PAGING,
	  false },
	{ "both", KEPT_KINDS | SEEN_KINDS, NESTED_INTERCEPT, false },
	{ "both, nested paging, NMIs", NESTED_ALL & ~NESTED_BIT(NESTED_irq),
	  NESTED_INTERCEPT | NESTED_PAGING | NESTED_INVALID, false },
	/* What KVM emulates may go to the hypervisor too, but as another exit. */
	{ "exits that the hypervisor sees, emulated", SEEN_KINDS,
	  NESTED_INTERCEPT | NESTED_PAGING | NESTED_SHARE, false },
	{ "NMIs at the entry", SEEN_KINDS, NESTED_INTERCEPT | NESTED_NMI_AT_ENTRY, false },
	{ "interrupts", SEEN_KINDS | NESTED_BIT(NESTED_irq), NESTED_INTERCEPT, true },
	{ "interrupts at the entry", SEEN_KINDS, NESTED_INTERCEPT | NESTED_IRQ_AT_ENTRY, true },
};

/* A round trip as KVM's events tell it. */
struct trip {
	u32 code, inject_code;
	bool exit, nested, nested_entry, reflected, immediate;
};

struct totals {
	u64 records, reflected, levels, immediate;
};

static void compare(const struct trip *trip, const struct kvm_trace_vmexit *r,
		    struct totals *totals)
{
	const bool nested = r->flags & KVM_TRACE_F_NESTED;
	const bool nested_entry = r->flags & KVM_TRACE_F_NESTED_ENTRY;
	const u32 hi = r->have & KVM_TRACE_W_FLAGS_HI ? r->flags_hi : 0;

	tap_expect((u32)kvm_trace_vmexit_code(r) == trip->code,
		   "seq %u: code 0x%llx, kvm_exit has 0x%x", r->seq, kvm_trace_vmexit_code(r),
		   trip->code);
	tap_expect(nested == trip->nested && nested_entry == trip->nested_entry,
		   "seq %u code 0x%x: nested %d at the exit and %d at the entry, not %d and %d",
		   r->seq, trip->code, nested, nested_entry, trip->nested, trip->nested_entry);
	tap_expect(!(hi & KVM_TRACE_F2_REFLECTED) == !trip->reflected,
		   "seq %u code 0x%x: flags_hi 0x%x, reflected is %d", r->seq, trip->code, hi,
		   trip->reflected);
	tap_expect(!(hi & KVM_TRACE_F2_IMMEDIATE_EXIT) == !trip->immediate,
		   "seq %u code 0x%x: flags_hi 0x%x, immediate exit is %d", r->seq, trip->code,
		   hi, trip->immediate);
	totals->records++;
	totals->reflected += trip->reflected;
	totals->levels += trip->nested != trip->nested_entry;
	totals->immediate += trip->immediate;
}

/* What is only known at the entry is of a guest that does not run then. */
static void expect_no_results(const struct kvm_trace_vmexit *r)
{
	u64 results = KVM_TRACE_W_CPUID_AX_BX | KVM_TRACE_W_CPUID_CX_DX |
		      KVM_TRACE_W_HYPERCALL;

	if (!(r->flags & KVM_TRACE_F_NESTED) == !(r->flags & KVM_TRACE_F_NESTED_ENTRY))
		return;
	if (r->class == KVM_TRACE_CLASS_msr_read)
		results |= KVM_TRACE_W_MSR_VALUE;
	if (r->io & KVM_TRACE_IO_IN)
		results |= KVM_TRACE_W_IO_VALUE;
	tap_expect(!(r->have & results), "seq %u: a result, although the level changed: 0x%llx",
		   r->seq, r->have & results);
}

static void join(struct trace_session *session, struct trace_event *events,
		 struct totals *totals)
{
	const struct trace_sample *sample;
	const struct trace_event *before = NULL;
	struct kvm_trace_vmexit r;
	struct trip trip = {};
	bool level = false;
	u32 code = 0;
	size_t i;

	for (i = 0; i < session->nr_samples; i++, before = sample->event) {
		sample = &session->samples[i];
		switch (sample->event - events) {
		case EXIT:
			trip = (struct trip){
				.code = trace_get(sample, "exit_reason"),
				.exit = true,
				.nested = level,
			};
			break;
		case NESTED_ENTER:
			level = true;
			break;
		case NESTED_EXIT:
			code = trace_get(sample, "exit_reason");
			tap_expect(level, "kvm_nested_vmexit of a guest that is not nested");
			break;
		case NESTED_INJECT:
			/*
			 * With nothing in between: this exit, and not what came of it.
			 * The host's interrupts are never handed on.
			 */
			trip.reflected = before == &events[NESTED_EXIT] &&
					 (u32)trace_get(sample, "exit_code") == code &&
					 !(cpu_is_intel() && code == VMX_EXTERNAL_INTERRUPT);
			level = false;
			break;
		case ENTRY:
			trip.nested_entry = level;
			trip.immediate = trace_get(sample, "immediate_exit");
			break;
		case VMEXIT:
			if (!kvm_trace_vmexit_record(&r, sample->raw, sample->size))
				tap_die("a vmexit record of %u bytes", sample->size);
			if (tap_expect(trip.exit, "seq %u has no kvm_exit before it", r.seq)) {
				compare(&trip, &r, totals);
				expect_no_results(&r);
			}
			trip.exit = false;
			break;
		}
	}
}

static void expect_totals(const struct load *load, const struct totals *totals)
{
	const unsigned int kinds = load->kinds & nested_kinds();
	const bool at_entry = load->flags & (NESTED_NMI_AT_ENTRY | NESTED_IRQ_AT_ENTRY);
	const unsigned int seen = load->flags & NESTED_INTERCEPT ?
		__builtin_popcount(kinds & (SEEN_KINDS | NESTED_BIT(NESTED_reflected_npf))) : 0;
	const unsigned int events = __builtin_popcount(kinds & (NESTED_BIT(NESTED_nmi) |
								NESTED_BIT(NESTED_irq)));

	tap_expect(load->flags & NESTED_SHARE || totals->reflected >= (u64)seen * ROUNDS,
		   "%llu reflected in %d rounds of %u", totals->reflected, ROUNDS, seen);
	tap_expect(totals->levels >= 2ull * ROUNDS * (seen + events + (at_entry ? seen : 0)),
		   "%llu changes of the level in %d rounds", totals->levels, ROUNDS);
	tap_expect(!at_entry || totals->immediate >= (u64)seen * ROUNDS,
		   "%llu immediate exits in %d rounds of %u", totals->immediate, ROUNDS, seen);
}

static void run_load(const struct load *load)
{
	static struct trace_event events[EVENTS];
	struct trace_event *chosen[EVENTS];
	struct trace_session session;
	struct totals totals = {};
	struct vcpu vcpu;
	struct vm vm;
	u64 exits;
	int i;

	tap_begin("nested_levels_and_reflection: %s", load->name);
	for (i = 0; i < EVENTS; i++) {
		trace_event_need(&events[i], names[i].system, names[i].name);
		chosen[i] = &events[i];
	}
	trace_open(&session, chosen, EVENTS, RING_MIB);
	vm_create(&vm, 1, load->irqchip ? VM_IRQCHIP : 0);
	vcpu_create(&vm, &vcpu, 0);
	nested_load(&vcpu, load->kinds & nested_kinds(), load->flags, ROUNDS);
	nested_run(&vcpu);
	trace_stop(&session);
	trace_read(&session);

	join(&session, events, &totals);
	exits = vcpu_stat(&vcpu, "exits");
	tap_note("%llu records, %llu change the level, %llu reflected, %llu immediate exits",
		 totals.records, totals.levels, totals.reflected, totals.immediate);
	/* Each exit that it saw is one of a record, and so is each VMRUN that worked. */
	tap_expect(totals.levels == 2 * nested_exits_seen(&vcpu) -
				    2 * !!(load->flags & NESTED_INVALID),
		   "%llu changes of the level, the hypervisor saw %llu exits", totals.levels,
		   nested_exits_seen(&vcpu));
	tap_expect(totals.records + 1 == exits, "%llu records of %llu exits", totals.records,
		   exits);
	expect_totals(load, &totals);
	tap_expect(!session.lost, "perf lost %llu samples", session.lost);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	trace_close(&session);
	tap_end();
}

int main(void)
{
	const char *why_not;
	size_t i;

	need_kvm_trace();
	tap_plan(ARRAY_SIZE(loads));
	run_on_cpu(0);
	words_set("all");
	for (i = 0; i < ARRAY_SIZE(loads); i++) {
		why_not = nested_why_not(loads[i].flags);
		if (!why_not) {
			run_load(&loads[i]);
			continue;
		}
		tap_begin("nested_levels_and_reflection: %s", loads[i].name);
		tap_skip("%s", why_not);
	}
	words_set("default");
	return tap_exit();
}
