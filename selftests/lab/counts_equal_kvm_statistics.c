// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: what records say happened adds up to what KVM counted. The loop
 * ends in an I/O exit whose round trip stays open, which KVM has counted.
 *
 * What KVM counts: io_exits, exits of I/O instructions that it handled itself;
 * mmio_exits, passes of its emulator that need user space, so that only
 * accesses of one fragment are one each; halt_exits, emulated HLTs, by
 * whatever way; irq_injections, interrupts put into the VMCB or VMCS, one that
 * was taken back again counted twice; hypercalls, at completion for Hyper-V's,
 * and for KVM's own at completion on 6.1 and 6.12 and at the start on 7.3: all
 * the same here, where each completes.
 */
#include <stdlib.h>

#include "module.h"
#include "path.h"
#include "tap.h"

#define ROUNDS		20
#define RING_MIB	16
#define OPEN_IO		1	/* the last exit */
#define POLL_NS		1000000ull

#define C(name)		KVM_TRACE_CLASS_##name

/*
 * All but those whose accesses of MMIO have more than one fragment or are part
 * of an exit with more to do, and those that change what others do.
 */
#define KINDS_ALL	(KIND_BIT(KIND_COUNT) - 1)
#define KINDS_OUT	(KIND_BIT(KIND_breakpoint) | KIND_BIT(KIND_xen_hypercall) |	\
			 KIND_BIT(KIND_mmio_cross) | KIND_BIT(KIND_mmio_wide) |		\
			 KIND_BIT(KIND_mmio_rmw) | KIND_BIT(KIND_pio_mmio))

struct sums {
	u64 io, mmio, mmio_flags, hlt, halted, hypercalls, irqs, nmis, halt_ns, poll_ns;
};

static void add(struct sums *sums, const struct kvm_trace_vmexit *r)
{
	sums->io += r->class == C(io);
	sums->mmio += (r->have & KVM_TRACE_W_MMIO) && (r->have & KVM_TRACE_W_USER_REASON) &&
		      (r->user_reason & KVM_TRACE_USER_REASON_EXIT) == KVM_EXIT_MMIO;
	sums->mmio_flags += !!(r->flags & KVM_TRACE_F_MMIO);
	sums->hlt += r->class == C(hlt);
	sums->halted += !!(r->flags & KVM_TRACE_F_HALTED);
	sums->hypercalls += r->class == C(hypercall);
	sums->irqs += r->injected >> KVM_TRACE_INJECTED_IRQS_SHIFT;
	sums->nmis += r->injected >> KVM_TRACE_INJECTED_NMIS_SHIFT & KVM_TRACE_INJECTED_NMIS;
	sums->halt_ns += r->halt_ns;
	sums->poll_ns += r->poll_ns;
}

static void expect_sum(struct vcpu *vcpu, const char *stat, u64 ours, u64 open)
{
	u64 kvms = vcpu_stat(vcpu, stat);

	tap_expect(ours + open == kvms && ours, "%llu records and %llu open, KVM's %s is %llu",
		   ours, open, stat, kvms);
}

static void run_mix(bool irqchip)
{
	u64 kinds = KINDS_ALL & ~KINDS_OUT, polled;
	unsigned int forbidden = irqchip ? VM_NO_IRQCHIP : VM_IRQCHIP, kind;
	struct recorder recorder = {};
	struct sums sums = {};
	struct vmexit *all;
	struct vcpu vcpu;
	size_t count, i;
	struct vm vm;

	tap_begin("counts_equal_kvm_statistics: %s APIC in the kernel", irqchip ? "with" : "no");
	for (kind = 0; kind < KIND_COUNT; kind++) {
		if (guest_needs(KIND_BIT(kind)) & forbidden)
			kinds &= ~KIND_BIT(kind);
	}
	recorder_start(&recorder, REC_OURS, RING_MIB);
	vm_create(&vm, 1, guest_needs(kinds));
	vm_set_halt_poll(&vm, POLL_NS);
	vcpu_create(&vm, &vcpu, 0);
	guest_start(&vcpu, kinds, ROUNDS);
	guest_join(&vcpu);
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < count; i++)
		add(&sums, &all[i].r);
	expect_whole(all, count, "vCPU 0");
	expect_sum(&vcpu, "exits", count, OPEN_IO);
	expect_sum(&vcpu, "io_exits", sums.io, OPEN_IO);
	expect_sum(&vcpu, "mmio_exits", sums.mmio, 0);
	expect_sum(&vcpu, "mmio_exits", sums.mmio_flags, 0);
	expect_sum(&vcpu, "halt_exits", sums.hlt, 0);
	expect_sum(&vcpu, "halt_exits", sums.halted, 0);
	expect_sum(&vcpu, "hypercalls", sums.hypercalls, 0);
	expect_sum(&vcpu, "irq_injections", sums.irqs, 0);
	expect_sum(&vcpu, "nmi_injections", sums.nmis, 0);
	polled = vcpu_stat(&vcpu, "halt_poll_success_ns") + vcpu_stat(&vcpu, "halt_poll_fail_ns");
	tap_expect(sums.poll_ns == polled, "records say %llu ns of polling, KVM's are %llu",
		   sums.poll_ns, polled);
	tap_expect(sums.halt_ns == polled + vcpu_stat(&vcpu, "halt_wait_ns") &&
		   !sums.halt_ns == !irqchip, "records say %llu ns halted, KVM's are %llu",
		   sums.halt_ns, polled + vcpu_stat(&vcpu, "halt_wait_ns"));
	tap_expect(!recorder.session.lost, "perf lost %llu samples", recorder.session.lost);
	free(all);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2);
	words_set("all");
	run_mix(false);
	run_mix(true);
	words_set("default");
	return tap_exit();
}
