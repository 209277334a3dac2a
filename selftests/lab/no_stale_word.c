// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: no word and no flag of an earlier round trip is in a record. Kinds
 * of exits follow each other in random orders; each record has exactly the
 * words that KVM's events in its own round trip call for.
 */
#include <stdlib.h>

#include "module.h"
#include "path.h"
#include "tap.h"

#define ORDERS		12
#define KINDS_A_ROUND	40
#define ROUNDS		3
#define RING_MIB	16
#define POLL_NS		1000000ull
#define SEED		20071

/* Kinds at whose end KVM has injected an exception. */
#define INJECTING	(KIND_BIT(KIND_exception) | KIND_BIT(KIND_rdmsr_gp) |		\
			 KIND_BIT(KIND_wrmsr_gp) | KIND_BIT(KIND_msr_user_error) |	\
			 KIND_BIT(KIND_msr_user_nmi) | KIND_BIT(KIND_debug) |		\
			 KIND_BIT(KIND_ud))
#define UNFIT		(VM_GUEST_DEBUG | VM_XEN)	/* what changes other kinds */

/*
 * QEMU's SVM leaves the type of an injected exception, without the valid bit,
 * in EXITINTINFO of the next exit; KVM 7.3 looks at the type only and then
 * refuses to emulate an access of MMIO. A CPUID is put between.
 */
static size_t fill(enum guest_kind *list, unsigned int forbidden)
{
	size_t n = 0;

	while (n < KINDS_A_ROUND) {
		list[n] = random() % KIND_COUNT;
		if (guest_needs(KIND_BIT(list[n])) & (forbidden | UNFIT))
			continue;
		if (KIND_BIT(list[n++]) & INJECTING)
			list[n++] = KIND_cpuid;
	}
	return n;
}

static void run_order(unsigned int order)
{
	bool irqchip = order % 2;
	enum guest_kind list[KINDS_A_ROUND + 1];
	size_t n = fill(list, irqchip ? VM_NO_IRQCHIP : VM_IRQCHIP), i;
	struct recorder recorder = {};
	struct path path;
	struct vcpu vcpu;
	u64 kinds = 0;
	struct vm vm;

	tap_begin("no_stale_word: order %u, %s APIC in the kernel", order, irqchip ? "with" : "no");
	for (i = 0; i < n; i++)
		kinds |= KIND_BIT(list[i]);
	recorder_start(&recorder, REC_PATH, RING_MIB);
	vm_create(&vm, 1, guest_needs(kinds) | (irqchip ? VM_IRQCHIP : VM_NO_IRQCHIP));
	vm_set_halt_poll(&vm, order % 4 < 2 ? 0 : POLL_NS);
	vcpu_create(&vm, &vcpu, 0);
	vcpu.on_cpu = 1;
	guest_start_list(&vcpu, list, n, ROUNDS);
	guest_join(&vcpu);
	recorder_stop(&recorder);
	path_join(&path, &recorder, &vm, &vcpu);
	tap_expect(path.nr_trips >= n * ROUNDS / 2, "%zu round trips of %zu kinds in %d rounds",
		   path.nr_trips, n, ROUNDS);
	path_check(&path);
	path_free(&path);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	unsigned int order;

	need_kvm_trace();
	tap_plan(ORDERS);
	words_set("all");
	srandom(SEED);
	for (order = 0; order < ORDERS; order++)
		run_order(order);
	words_set("default");
	return tap_exit();
}
