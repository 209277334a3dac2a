// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: without nested paging, where the guest's page faults and its moves
 * to CR3 are exits, the words of a record say what KVM's events told too: the
 * vector and the error code of the exception above all.
 */
#include <stdlib.h>

#include "module.h"
#include "path.h"
#include "tap.h"

#define ROUNDS		20
#define RING_MIB	8
#define PF_VECTOR	14

static void load(const char *intel, const char *amd)
{
	vm_kvm_close();
	if (cpu_is_intel() ? run("rmmod kvm_intel && modprobe kvm_intel %s", intel) :
			     run("rmmod kvm_amd && modprobe kvm_amd %s", amd))
		tap_die("KVM cannot be loaded again: does something use it?");
}

static void with_nested_paging(void)
{
	load("", "");
}

/* What KVM says of a page fault, against the word of the exit. */
static size_t check_page_faults(const struct path *path)
{
	const struct trace_sample *event;
	const struct kvm_trace_vmexit *r;
	size_t i, n = 0;

	for (i = 0; i < path->nr_trips; i++) {
		r = &path->trips[i].v->r;
		event = trip_last(&path->trips[i], "kvm_page_fault");
		if (!event)
			continue;
		n++;
		tap_expect(r->exception == (PF_VECTOR | KVM_TRACE_EXCEPTION_ERR |
			   trace_get(event, "error_code") << KVM_TRACE_EXCEPTION_CODE_SHIFT),
			   "seq %u: exception 0x%llx, kvm_page_fault's error code 0x%llx", r->seq,
			   r->exception, trace_get(event, "error_code"));
	}
	return n;
}

static size_t count_cr3(const struct path *path)
{
	const struct kvm_trace_vmexit *r;
	size_t i, n = 0;

	for (i = 0; i < path->nr_trips; i++) {
		r = &path->trips[i].v->r;
		if (r->class != KVM_TRACE_CLASS_cr || (r->cr & KVM_TRACE_CR_NUMBER) != 3)
			continue;
		n++;
		tap_expect(r->cr_value == VM_PML4, "seq %u: CR3 is 0x%llx", r->seq, r->cr_value);
	}
	return n;
}

static void run_kinds(const char *name, u64 kinds, bool faults)
{
	struct recorder recorder = {};
	struct path path;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("shadow_paging_words: %s", name);
	recorder_start(&recorder, REC_PATH, RING_MIB);
	vm_create(&vm, 1, guest_needs(kinds));
	vcpu_create(&vm, &vcpu, 0);
	vcpu.on_cpu = 1;
	guest_start(&vcpu, kinds, ROUNDS);
	guest_join(&vcpu);
	recorder_stop(&recorder);
	path_join(&path, &recorder, &vm, &vcpu);
	path_check(&path);
	tap_expect(check_page_faults(&path) >= (faults ? ROUNDS : 1), "fewer page faults than %d",
		   ROUNDS);
	if (kinds & KIND_BIT(KIND_cr))
		/* QEMU's SVM has no exit for a read. */
		tap_expect(count_cr3(&path) >= ROUNDS, "%zu moves of CR3 in %d rounds",
			   count_cr3(&path), ROUNDS);
	path_free(&path);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(4);
	words_set("all");
	load("ept=0", "npt=0");
	atexit(with_nested_paging);
	run_kinds("npf", KIND_BIT(KIND_npf), true);
	run_kinds("cr", KIND_BIT(KIND_cr), false);
	run_kinds("mmio", KIND_BIT(KIND_mmio_read) | KIND_BIT(KIND_mmio_sizes), false);
	run_kinds("mix", KIND_MIX & ~KIND_BIT(KIND_entry_failure), true);
	words_set("default");
	return tap_exit();
}
