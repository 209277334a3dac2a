// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the words and flags of a record say what KVM's own events told in
 * the same round trip, no less and no more, for every kind of exit. What the
 * kind is for must be in at least one record of each round.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "path.h"
#include "tap.h"

#define ROUNDS		20
#define RING_MIB	8
#define LONG_POLL_NS	1000000000ull

#define W(name)		KVM_TRACE_W_##name
#define F2(name)	KVM_TRACE_F2_##name
#define IO_WORDS	(W(IO) | W(IO_VALUE))
#define MMIO_WORDS	(W(MMIO) | W(MMIO_VALUE))
#define CPUID_WORDS	(W(CPUID_LEAF) | W(CPUID_INDEX) | W(CPUID_AX_BX) | W(CPUID_CX_DX))
#define MSR_WORDS	(W(MSR) | W(MSR_VALUE))

static struct recorder recorder;

/* Words and flags that one record has at least once in a round. */
static const struct {
	u64 words;
	u32 flags_hi, on_intel;	/* SVM without next-RIP saving has no fast paths */
} needed[KIND_COUNT] = {
	[KIND_pio_out]		= { IO_WORDS | W(USER_REASON) },
	[KIND_pio_in]		= { IO_WORDS | W(USER_REASON) },
	[KIND_mmio_read]	= { MMIO_WORDS | W(GPA) | W(USER_REASON) },
	[KIND_mmio_write]	= { MMIO_WORDS | W(GPA) | W(USER_REASON) },
	[KIND_cpuid]		= { CPUID_WORDS },
	[KIND_rdmsr]		= { MSR_WORDS },
	[KIND_wrmsr]		= { MSR_WORDS },
	[KIND_hypercall]	= { W(HYPERCALL) },
	[KIND_hypercall_unknown] = { W(HYPERCALL) },
	[KIND_hlt]		= { W(USER_REASON) },
	[KIND_npf]		= { W(GPA) },
	[KIND_exception]	= { W(GPA) | W(INJECTED_EXCEPTION), F2(INJECTED_EXCEPTION) },
	[KIND_entry_failure]	= { W(USER_REASON) },
	[KIND_pio_sizes]	= { IO_WORDS },
	[KIND_pio_string]	= { IO_WORDS | W(IO_COUNT) },
	[KIND_pio_kernel]	= { IO_WORDS | W(IO_COUNT) },
	[KIND_pio_mmio]		= { IO_WORDS | MMIO_WORDS | W(MMIO_GPA) | W(USER_REASON) },
	[KIND_pio_emulated]	= { W(EXCEPTION) | IO_WORDS | W(USER_REASON) },
	[KIND_mmio_sizes]	= { MMIO_WORDS },
	[KIND_mmio_cross]	= { MMIO_WORDS | W(MMIO_GPA) },
	[KIND_mmio_wide]	= { MMIO_WORDS },
	[KIND_mmio_string]	= { MMIO_WORDS },
	[KIND_mmio_rmw]		= { MMIO_WORDS },
	[KIND_mmio_apic]	= { MMIO_WORDS },
	[KIND_mmio_ioapic]	= { MMIO_WORDS },
	[KIND_ioeventfd]	= { MMIO_WORDS },
	[KIND_mmio_fast]	= { W(GPA), 0, F2(FAST_MMIO) },
	[KIND_cpuid_leaves]	= { CPUID_WORDS },
	[KIND_rdmsr_gp]		= { W(MSR) | W(INJECTED_EXCEPTION), F2(INJECTED_EXCEPTION) },
	[KIND_wrmsr_gp]		= { MSR_WORDS | W(INJECTED_EXCEPTION), F2(INJECTED_EXCEPTION) },
	[KIND_msr_user]		= { MSR_WORDS | W(USER_REASON) },
	[KIND_msr_user_error]	= { MSR_WORDS | W(USER_REASON) | W(INJECTED_EXCEPTION),
				    F2(INJECTED_EXCEPTION) },
	[KIND_msr_user_nmi]	= { MSR_WORDS | W(USER_REASON) | W(INJECTED_EXCEPTION),
				    F2(INJECTED_EXCEPTION) | F2(IMMEDIATE_EXIT) },
	[KIND_tsc_deadline]	= { MSR_WORDS, 0, F2(FASTPATH) },
	[KIND_hlt_timer]	= { W(INJECTED) | W(HALT_NS) },
	[KIND_self_ipi]		= { MMIO_WORDS | W(INJECTED) },
	[KIND_self_ipi_window]	= { W(INJECTED) },
	[KIND_irq]		= { IO_WORDS | W(INJECTED) | W(USER_REASON) },
	[KIND_irq_window]	= { W(INJECTED) | W(USER_REASON) },
	[KIND_nmi]		= { IO_WORDS | W(INJECTED), F2(INJECTED_NMI) },
	[KIND_cr]		= { W(CR) | W(CR_VALUE) },
	[KIND_lmsw]		= { W(CR) | W(CR_VALUE) },
	[KIND_cr8]		= { W(CR) | W(USER_REASON) },
	[KIND_debug]		= { W(EXCEPTION) | W(INJECTED_EXCEPTION), F2(INJECTED_EXCEPTION) },
	[KIND_ud]		= { W(EXCEPTION) | W(INJECTED_EXCEPTION), F2(INJECTED_EXCEPTION) },
	[KIND_breakpoint]	= { W(EXCEPTION) | W(USER_REASON) },
	[KIND_hv_hypercall]	= { W(HYPERCALL) },
	[KIND_xen_hypercall]	= { W(HYPERCALL) | W(USER_REASON) },
	[KIND_npf_read]		= { W(GPA) },
	[KIND_npf_fetch]	= { W(GPA), F2(FETCH) },
	[KIND_async_pf]		= { W(GPA), F2(ASYNC_PF) },
	[KIND_immediate_exit]	= { IO_WORDS | W(USER_REASON) },
};

/*
 * Values of CR0 and CR4 that the guest moves: it flips one bit a time. Where
 * KVM has no kvm_cr, as on SVM without decode assists, this is what tells.
 */
static void check_flips(const struct path *path)
{
	static const struct {
		u32 number;
		u64 flipped;
	} registers[] = { { 0, CR0_FLIPPED }, { 4, CR4_FLIPPED } };
	const struct kvm_trace_vmexit *r;
	unsigned int k, moves;
	u64 last = 0;
	size_t i;

	for (k = 0; k < ARRAY_SIZE(registers); k++) {
		moves = 0;
		for (i = 0; i < path->nr_trips; i++) {
			r = &path->trips[i].v->r;
			if (!(r->have & W(CR)) || r->cr != registers[k].number)
				continue;
			tap_expect(!moves++ || r->cr_value == (last ^ registers[k].flipped),
				   "seq %u: CR%u is 0x%llx after 0x%llx", r->seq, r->cr,
				   r->cr_value, last);
			last = r->cr_value;
		}
		tap_expect(moves == ROUNDS, "%u moves to CR%u in %d rounds", moves,
			   registers[k].number, ROUNDS);
	}
}

static void check_immediate(const struct path *path)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < path->nr_trips; i++)
		n += path->trips[i].v->r.user_reason >> KVM_TRACE_USER_REASON_ERRNO_SHIFT == EINTR;
	tap_expect(n == ROUNDS, "%u records with EINTR in %d rounds", n, ROUNDS);
}

static void check_sums(const struct path *path, struct vcpu *vcpu)
{
	const struct kvm_trace_vmexit *r;
	u64 nmis = 0;
	size_t i;

	for (i = 0; i < path->nr_trips; i++) {
		r = &path->trips[i].v->r;
		nmis += r->injected >> KVM_TRACE_INJECTED_NMIS_SHIFT & KVM_TRACE_INJECTED_NMIS;
	}
	tap_expect(nmis == vcpu_stat(vcpu, "nmi_injections"), "%llu NMIs, KVM counted %llu", nmis,
		   vcpu_stat(vcpu, "nmi_injections"));
}

/* Whether KVM saw an exit that a kind is for: not every CPU has all. */
static bool cpu_exits(const struct path *path, enum guest_kind kind)
{
	size_t i;

	for (i = 0; i < path->nr_trips; i++) {
		if (kind != KIND_breakpoint ||
		    path->trips[i].v->r.class == KVM_TRACE_CLASS_exception)
			return true;
	}
	return false;
}

static void check_kind(enum guest_kind kind, u64 halt_poll_ns, u32 flags_hi)
{
	const struct kvm_trace_vmexit *r;
	u64 words = needed[kind].words;
	struct path path;
	struct vcpu vcpu;
	size_t i, n = 0, enough;
	struct vm vm;
	bool exits;

	flags_hi |= needed[kind].flags_hi;
	if (cpu_is_intel())
		flags_hi |= needed[kind].on_intel;
	words |= flags_hi ? W(FLAGS_HI) : 0;
	trace_forget(&recorder.session);
	vm_create(&vm, 1, guest_needs(KIND_BIT(kind)));
	vm_set_halt_poll(&vm, halt_poll_ns);
	vcpu_create(&vm, &vcpu, 0);
	vcpu.on_cpu = 1;
	/* What happened in the round trip before must not stick to this one. */
	guest_start(&vcpu, KIND_BIT(kind) | KIND_BIT(KIND_pio_out), ROUNDS);
	guest_join(&vcpu);
	trace_read(&recorder.session);

	path_join(&path, &recorder, &vm, &vcpu);
	path_check(&path);
	exits = cpu_exits(&path, kind);
	check_sums(&path, &vcpu);
	for (i = 0; i < path.nr_trips; i++) {
		r = &path.trips[i].v->r;
		n += (r->have & words) == words && (r->flags_hi & flags_hi) == flags_hi;
	}
	/*
	 * A timer may expire before the HLT, if something else ran meanwhile; the
	 * first access of a page of MMIO is an ordinary page fault.
	 */
	enough = kind == KIND_hlt_timer ? 1 : kind == KIND_mmio_fast ? ROUNDS - 1 : ROUNDS;
	tap_expect(!exits || n >= enough,
		   "%zu records with words 0x%llx and more flags 0x%x in %d rounds", n, words,
		   flags_hi, ROUNDS);
	if (kind == KIND_cr && path.nr_trips && !trip_count(&path.trips[0], "kvm_cr"))
		check_flips(&path);
	if (kind == KIND_immediate_exit)
		check_immediate(&path);
	path_free(&path);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	if (exits)
		tap_end();
	else
		tap_skip("KVM asked for INT3 to exit, and this CPU does not: QEMU's emulation");
}

int main(void)
{
	unsigned int kind;

	need_kvm_trace();
	tap_plan(KIND_COUNT + 1);
	words_set("all");
	recorder_start(&recorder, REC_PATH, RING_MIB);
	for (kind = 0; kind < KIND_COUNT; kind++) {
		tap_begin("detail_words_equal_kvm_events: %s", guest_kind_name(kind));
		if (kind == KIND_xen_hypercall && !vm_has_xen())
			tap_skip("this kernel is built without CONFIG_KVM_XEN");
		else
			check_kind(kind, 0, 0);
	}
	tap_begin("detail_words_equal_kvm_events: hlt_timer with polling");
	check_kind(KIND_hlt_timer, LONG_POLL_NS, F2(HALT_POLL));
	recorder_close(&recorder);
	words_set("default");
	return tap_exit();
}
