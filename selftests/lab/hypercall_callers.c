// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a hypercall's record says who made the call, from where, how long it
 * took and what came back, of callers of every kind.
 */
#include <linux/kvm_para.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "calls.h"
#include "module.h"
#include "nested.h"
#include "tap.h"

#define ALL_WORDS	(KVM_TRACE_HC_W_RIP | KVM_TRACE_HC_W_NS | KVM_TRACE_HC_W_RETURN)
#define XEN_MSR		0x40000200
#define XEN_BYTES	32	/* of each call in Xen's hypercall page */
#define MSR_HYPERCALL	0x40000001
#define XEN_CALL	0x1337
#define HV_CALL		(0x8 | HV_FAST)
#define HV_POST_MESSAGE	0x5c
#define USER_US		3000
#define ROUNDS		50

/* a0: a page's address, with which MAP_GPA_RANGE gets to user space. */
static const u64 marks[KVM_TRACE_HC_REGS] = {
	0xa0a0a0a011111000, MARK_A1, MARK_A2, MARK_A3, 0x44, 0x55,
};

static bool make(struct calls *calls, const struct guest_call *wanted)
{
	struct guest_call call = *wanted;

	memcpy(call.arg, marks, sizeof(marks));
	call.answer = 0x5eed5eed5eed5eed;
	return calls_make(calls, &call)->asked;
}

/* Whether a case can be run; it is closed if not. */
static bool xen_or_skip(void)
{
	if (vm_has_xen())
		return true;
	tap_skip("KVM is built without CONFIG_KVM_XEN");
	return false;
}

static void check_rings(u8 abi, u64 nr, unsigned int vm_flags, const char *name)
{
	struct guest_call call = { .abi = abi, .nr = nr };
	struct calls calls;

	tap_begin("hypercall_callers: %s, rings 0 to 3 of every mode", name);
	if (abi == KVM_TRACE_ABI_XEN && !xen_or_skip())
		return;
	calls_start(&calls, vm_flags, ALL_WORDS, 0);
	for (call.mode = MODE_LONG; call.mode <= MODE_COMPAT; call.mode++) {
		for (call.cpl = 0; call.cpl <= 3; call.cpl++)
			make(&calls, &call);
	}
	calls_end(&calls);
	tap_end();
}

/* KVM answers with an exception, and neither counts it nor tells of it. */
static void check_refused(void)
{
	struct guest_call call = { .abi = KVM_TRACE_ABI_HYPERV, .nr = HV_CALL };
	struct calls calls;

	tap_begin("hypercall_callers: Hyper-V, no record of a caller that gets an exception");
	calls_start(&calls, VM_HYPERV, ALL_WORDS, 0);
	make(&calls, &call);
	call.cpl = 3;
	call.refused = true;
	make(&calls, &call);
	calls_end(&calls);
	tap_end();
}

/* The guest says where its page of Xen's hypercalls is to be. */
static void make_xen_page(struct vcpu *vcpu, enum vcpu_mode mode, u64 at)
{
	static const u8 code[] = { 0x0f, 0x30, 0xe6, PORT_DONE };	/* wrmsr; out */
	struct kvm_regs regs;

	vcpu_set_mode(vcpu, mode);
	guest_load_code(vcpu, code, sizeof(code));
	vcpu_get_regs(vcpu, &regs);
	regs.rcx = XEN_MSR;
	regs.rax = at;
	regs.rdx = 0;
	vcpu_set_regs(vcpu, &regs);
	guest_run(vcpu);
}

static void make_hyperv_page(struct vcpu *vcpu, u64 at)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msr = { { .nmsrs = 1 }, { .index = MSR_HYPERCALL, .data = at | 1 } };

	if (ioctl(vcpu->fd, KVM_SET_MSRS, &msr) != 1)
		tap_die("Hyper-V's hypercall page");
}

static void call_xen_page(struct calls *calls, enum vcpu_mode mode, u64 at)
{
	struct guest_call call = { .abi = KVM_TRACE_ABI_XEN, .mode = mode };

	make_xen_page(&calls->vcpu, mode, at);
	for (call.nr = 1; call.nr < PAGE_BYTES / XEN_BYTES; call.nr += 17) {
		call.page = at + call.nr * XEN_BYTES;
		call.instruction = call.page + 5;
		make(calls, &call);
	}
}

/* In a VM with Xen the page sets bit 31 of EAX, a 32-bit caller's input value. */
static void call_hyperv_page(struct calls *calls, enum vcpu_mode mode, u64 at)
{
	const bool xen = calls->vm.flags & VM_XEN;
	const struct guest_call call = {
		.abi = KVM_TRACE_ABI_HYPERV, .mode = mode,
		.nr = HV_CALL | (xen && mode != MODE_LONG ? HV_NESTED : 0),
		.page = at, .instruction = at + (xen ? 5 : 0),
	};

	make_hyperv_page(&calls->vcpu, at);
	make(calls, &call);
}

static void check_pages(unsigned int vm_flags, const char *name)
{
	struct calls calls;
	unsigned int mode;
	u64 at;

	tap_begin("hypercall_callers: %s, through KVM's hypercall page", name);
	if (vm_flags & VM_XEN && !xen_or_skip())
		return;
	calls_start(&calls, vm_flags, ALL_WORDS, 0);
	at = calls.vcpu.area + AREA_CALL_PAGE;
	for (mode = MODE_LONG; mode <= MODE_COMPAT; mode++) {
		if (vm_flags & VM_XEN)
			call_xen_page(&calls, mode, at);
		if (vm_flags & VM_HYPERV)
			call_hyperv_page(&calls, mode, at);
	}
	calls_end(&calls);
	tap_end();
}

/* What is on the stack, or that it cannot be read. */
static void check_stacks(u8 abi, u64 nr, unsigned int vm_flags, const char *name)
{
	struct guest_call call = { .abi = abi, .nr = nr };
	struct calls calls;
	u64 area, data;

	tap_begin("hypercall_callers: %s, stacks of every kind", name);
	if (abi == KVM_TRACE_ABI_XEN && !xen_or_skip())
		return;
	calls_start(&calls, vm_flags, ALL_WORDS, 0);
	area = calls.vcpu.area;
	data = area + AREA_INPUT;
	memset(vm_at(&calls.vm, data), 0x5a, 2 * PAGE_BYTES);

	call.top = 0x5a5a5a5a5a5a5a5a;
	call.rsp = data;
	make(&calls, &call);
	call.rsp = data + PAGE_BYTES - 4;	/* in two pages */
	make(&calls, &call);
	call.top = 0;
	call.rsp = VM_UNMAPPED;		/* not in the page tables */
	make(&calls, &call);
	call.rsp = VM_UNMAPPED - 4;	/* half of it is not */
	make(&calls, &call);
	call.rsp = VM_MMIO;		/* not in the VM's memory */
	make(&calls, &call);
	call.rsp = 0xfffffffffffffff8;
	make(&calls, &call);
	call.rsp = 0x8000000000000000;	/* not canonical */
	make(&calls, &call);
	madvise(vm_at(&calls.vm, area + AREA_FRESH), PAGE_BYTES, MADV_DONTNEED);
	call.rsp = area + AREA_FRESH;	/* not in the host's memory now */
	make(&calls, &call);

	for (call.mode = MODE_PROTECTED; call.mode <= MODE_COMPAT; call.mode++) {
		call.top = 0x5a5a5a5a;
		call.rsp = data + PAGE_BYTES - 2;
		make(&calls, &call);
		call.rsp = 0xffffffff00000000 | data;	/* of which it knows 32 bits */
		make(&calls, &call);
		call.top = 0;
		call.rsp = VM_MMIO;
		make(&calls, &call);
		call.rsp = 0xfffffffe;	/* beyond its 4 GiB */
		make(&calls, &call);
	}
	/* A segment with a base; long mode does without. */
	call = (struct guest_call){ .abi = abi, .nr = nr, .mode = MODE_PROTECTED,
				    .stack_base = area };
	make(&calls, &call);
	calls_end(&calls);
	tap_end();
}

/*
 * User space takes its time, and answers; it comes back in between; it hands the
 * vCPU to another thread; it lets the guest go on elsewhere.
 */
static void check_user_space(u8 abi, u64 nr, unsigned int vm_flags, const char *name)
{
	struct guest_call call = { .abi = abi, .nr = nr, .at_least_ns = USER_US * 1000 };
	struct calls calls;

	tap_begin("hypercall_callers: %s, answered by user space", name);
	if (abi == KVM_TRACE_ABI_XEN && !xen_or_skip())
		return;
	calls_start(&calls, vm_flags, ALL_WORDS, 0);
	calls.vcpu.pause_us = USER_US;
	for (call.mode = MODE_LONG; call.mode <= MODE_COMPAT; call.mode++) {
		tap_expect(make(&calls, &call), "KVM answered itself");
		call.left = true;
		make(&calls, &call);
		call.left = false;
		call.handed = true;
		make(&calls, &call);
		call.handed = false;
		/* Of other ABIs, KVM steps over the instruction that is there then. */
		call.moved = abi == KVM_TRACE_ABI_XEN;
		if (call.moved)
			make(&calls, &call);
		call.moved = false;
	}
	calls_end(&calls);
	tap_end();
}

static void check_long_answer(void)
{
	struct guest_call call = { .abi = KVM_TRACE_ABI_KVM, .nr = KVM_HC_MAP_GPA_RANGE,
				   .at_least_ns = 1ull << 32 };
	struct calls calls;

	tap_begin("hypercall_callers: KVM, an answer that takes more than 2^32 ns");
	calls_start(&calls, 0, ALL_WORDS, 0);
	calls.vcpu.pause_us = 4400000;
	make(&calls, &call);
	calls_end(&calls);
	tap_end();
}

/* A debug exception comes behind the instruction, so the guest has its result. */
static void check_instructions(void)
{
	struct guest_call call = { .abi = KVM_TRACE_ABI_KVM, .nr = MARK_UNKNOWN_NR };
	struct calls calls;

	tap_begin("hypercall_callers: KVM, single step and the other vendor's instruction");
	calls_start(&calls, 0, ALL_WORDS, 0);
	call.step = true;
	make(&calls, &call);
	call.step = false;
	call.other = true;
	for (; call.mode <= MODE_COMPAT; call.mode++)
		make(&calls, &call);
	calls_end(&calls);
	tap_end();
}

/* The event alone attaches to all that it needs. */
static void check_alone(void)
{
	struct calls calls;

	tap_begin("hypercall_callers: each ABI, while no other event is recorded");
	calls_start(&calls, VM_HYPERV | (vm_has_xen() ? VM_XEN : 0), ALL_WORDS, CALLS_ALONE);
	if (vm_has_xen())
		make(&calls, &(struct guest_call){ .abi = KVM_TRACE_ABI_XEN, .nr = XEN_CALL });
	make(&calls, &(struct guest_call){ .abi = KVM_TRACE_ABI_HYPERV, .nr = HV_CALL });
	calls_end(&calls);
	calls_start(&calls, 0, ALL_WORDS, CALLS_ALONE);
	make(&calls, &(struct guest_call){ .abi = KVM_TRACE_ABI_KVM, .nr = MARK_UNKNOWN_NR });
	calls_end(&calls);
	tap_end();
}

static void expect_nested(const struct kvm_trace_hypercall *r, struct vm *vm, bool last)
{
	static const u8 vmcall[] = { 0x0f, 0x01, 0xc1 }, vmmcall[] = { 0x0f, 0x01, 0xd9 };

	tap_expect(r->abi == KVM_TRACE_ABI_L1, "ABI is %u", r->abi);
	tap_expect(r->caller == (KVM_TRACE_CALLER_NESTED | KVM_TRACE_CALLER_LONG_MODE),
		   "caller is 0x%x", r->caller);
	tap_expect(last || r->nr == MARK_UNKNOWN_NR, "nr is 0x%llx", r->nr);
	tap_expect(!(r->have & 0xffff) &&
		   !(r->have & (KVM_TRACE_HC_W_RESULT | KVM_TRACE_HC_W_RESULT_64 |
				KVM_TRACE_HC_W_RETURN)), "it has 0x%x", r->have);
	tap_expect(r->have & KVM_TRACE_HC_W_RIP && r->rip < vm->mem_bytes &&
		   !memcmp(vm_at(vm, r->rip), cpu_is_intel() ? vmcall : vmmcall, sizeof(vmcall)),
		   "there is no hypercall at rip 0x%llx", r->rip);
}

static void expect_trip(const struct vmexit *exits, size_t count,
			const struct kvm_trace_hypercall *r)
{
	size_t i;

	for (i = 0; i < count && exits[i].r.seq != r->seq; i++)
		;
	tap_expect(i < count && exits[i].r.class == KVM_TRACE_CLASS_hypercall &&
		   exits[i].r.host_ns == r->ns,
		   "seq %u: its round trip is no hypercall or took other than %lluns", r->seq,
		   r->ns);
}

/* KVM has no event of them, and does not count them. */
static void check_nested(bool alone)
{
	const unsigned int kinds = NESTED_BIT(NESTED_reflected_vmmcall) |
				   NESTED_BIT(NESTED_kept_io);
	struct vmexit *all, *exits;
	struct recorder recorder = {};
	size_t n, nr_exits, i;
	struct hypercall *list;
	struct vcpu vcpu;
	struct vm vm;
	u32 number;

	tap_begin("hypercall_callers: a nested guest, to its own hypervisor%s",
		  alone ? ", while no other event is recorded" : "");
	if (nested_why_not(0)) {
		tap_skip("%s", nested_why_not(0));
		return;
	}
	recorder_start(&recorder, alone ? REC_HYPERCALL | REC_VCPU : REC_OURS, 4);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	nested_load(&vcpu, kinds, 0, ROUNDS);
	nested_run(&vcpu);
	recorder_stop(&recorder);
	number = recorder_vm(&recorder, &vm);
	n = recorder_hypercalls(&recorder, number, 0, &list);
	nr_exits = recorder_vmexits(&recorder, &all);
	nr_exits = vmexits_of(all, nr_exits, number, 0, &exits);
	/* The last one ends the loop. */
	tap_expect(n == ROUNDS + 1, "%zu records of %d hypercalls", n, ROUNDS + 1);
	for (i = 0; i < n; i++) {
		expect_nested(&list[i].r, &vm, i + 1 == n);
		if (!alone)
			expect_trip(exits, nr_exits, &list[i].r);
	}
	tap_expect(!vcpu_stat(&vcpu, "hypercalls"), "KVM counts them");
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	free(list);
	free(exits);
	free(all);
	tap_end();
}

int main(void)
{
	const unsigned int hyperv = VM_HYPERV | VM_IRQCHIP;

	need_kvm_trace();
	tap_plan(16);
	check_rings(KVM_TRACE_ABI_KVM, MARK_UNKNOWN_NR, 0, "KVM");
	check_rings(KVM_TRACE_ABI_XEN, XEN_CALL, VM_XEN, "Xen");
	check_refused();
	check_pages(VM_XEN, "Xen");
	check_pages(VM_HYPERV, "Hyper-V");
	check_pages(VM_XEN | VM_HYPERV, "Xen and Hyper-V");
	check_stacks(KVM_TRACE_ABI_XEN, XEN_CALL, VM_XEN, "Xen");
	check_stacks(KVM_TRACE_ABI_HYPERV, HV_CALL, VM_HYPERV, "Hyper-V");
	check_user_space(KVM_TRACE_ABI_KVM, KVM_HC_MAP_GPA_RANGE, 0, "KVM");
	check_user_space(KVM_TRACE_ABI_XEN, XEN_CALL, VM_XEN, "Xen");
	check_user_space(KVM_TRACE_ABI_HYPERV, HV_POST_MESSAGE, hyperv, "Hyper-V");
	check_long_answer();
	check_instructions();
	check_alone();
	check_nested(false);
	check_nested(true);
	return tap_exit();
}
