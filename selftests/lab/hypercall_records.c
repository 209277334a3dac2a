// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a hypercall's record has its number, the arguments that it uses
 * and no others, in the caller's width, and the result that the caller gets.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <linux/kvm_para.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ANSWER		0x5eed
#define IOPL_3		0x3000
#define GARBAGE		0xdeadbeef00000000

struct call {
	const char *name;
	u64 nr, args[4];	/* as the guest has them in its registers */
	unsigned int nargs;	/* that the record must have */
	enum vcpu_mode mode;
	unsigned int cpl;
	s64 result;
};

static const struct call calls[] = {
	{ "known number, two arguments", KVM_HC_KICK_CPU, { MARK_A0, 0x22222221, MARK_A2, MARK_A3 },
	  2, MODE_LONG, 0, 0 },
	{ "known number, one argument", KVM_HC_SCHED_YIELD, { 0x7777, MARK_A1, MARK_A2, MARK_A3 },
	  1, MODE_LONG, 0, 0 },
	{ "known number, no argument", KVM_HC_VAPIC_POLL_IRQ, { MARK_A0, MARK_A1, MARK_A2,
	  MARK_A3 }, 0, MODE_LONG, 0, 0 },
	{ "unknown number", MARK_UNKNOWN_NR, { MARK_A0, MARK_A1, MARK_A2, MARK_A3 }, 4, MODE_LONG,
	  0, -KVM_ENOSYS },
	{ "unknown number of 64 bits", 0x1234567800000005, { MARK_A0, 0, 1, MARK_A3 }, 4, MODE_LONG,
	  0, -KVM_ENOSYS },
	{ "32-bit caller", KVM_HC_KICK_CPU, { 0x11111110, 0xf2222221, 0x33333332, 0x44444443 }, 2,
	  MODE_PROTECTED, 0, 0 },
	{ "32-bit caller, unknown number", 0xf0000001, { 0xf1111110, 0xf2222221, 0xf3333332,
	  0xf4444443 }, 4, MODE_PROTECTED, 0, (u32)-KVM_ENOSYS },
	{ "caller in ring 3", MARK_UNKNOWN_NR, { MARK_A0, MARK_A1, MARK_A2, MARK_A3 }, 4, MODE_LONG,
	  3, -KVM_EPERM },
	{ "answered by user space", KVM_HC_MAP_GPA_RANGE, { VM_AREA, 1, 0, MARK_A3 }, 3, MODE_LONG,
	  0, ANSWER },
};

static void enter_ring_3(struct vcpu *vcpu)
{
	struct kvm_sregs sregs;

	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		tap_die("KVM_GET_SREGS");
	sregs.cs.dpl = 3;
	sregs.cs.selector |= 3;
	sregs.ss.dpl = 3;
	sregs.ss.selector |= 3;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs))
		tap_die("KVM_SET_SREGS");
}

/* Returns what the guest has in RAX afterwards. */
static u64 make_call(struct vcpu *vcpu, const struct call *call)
{
	static const u8 code[] = { 0x0f, 0x01, 0xd9, 0xe6, PORT_DONE };	/* vmmcall; out */
	/* A 32-bit caller does not know what is there. */
	const u64 upper = call->mode == MODE_LONG ? 0 : GARBAGE;
	struct kvm_regs regs;
	int reason;

	vcpu_set_mode(vcpu, call->mode);
	if (call->cpl)
		enter_ring_3(vcpu);
	guest_load_code(vcpu, code, sizeof(code));
	vcpu_get_regs(vcpu, &regs);
	regs.rax = call->nr | upper;
	regs.rbx = call->args[0] | upper;
	regs.rcx = call->args[1] | upper;
	regs.rdx = call->args[2] | upper;
	regs.rsi = call->args[3] | upper;
	if (call->cpl)
		regs.rflags |= IOPL_3;
	vcpu_set_regs(vcpu, &regs);
	for (;;) {
		reason = vcpu_run(vcpu);
		if (reason == KVM_EXIT_HYPERCALL)
			vcpu->run->hypercall.ret = ANSWER;
		else if (!guest_handle(vcpu, reason))
			break;
	}
	vcpu_get_regs(vcpu, &regs);
	return regs.rax;
}

static void compare(const struct call *call, const struct kvm_trace_hypercall *h, u64 rax)
{
	bool wide = call->mode == MODE_LONG;
	unsigned int i, size;

	tap_expect(!h->truncated && !h->reserved && !h->unknown, "it cannot be decoded whole");
	tap_expect(h->nr == call->nr, "nr is 0x%llx", h->nr);
	tap_expect(h->abi == KVM_TRACE_ABI_KVM, "abi is %u", h->abi);
	tap_expect(h->caller == (call->cpl | (wide ? KVM_TRACE_CALLER_LONG_MODE : 0)),
		   "caller is 0x%x", h->caller);
	for (i = 0; i < KVM_TRACE_HC_ARGS; i++) {
		size = i >= call->nargs ? KVM_TRACE_HC_ARG_ABSENT :
		       call->args[i] >> 32 ? KVM_TRACE_HC_ARG_64 : KVM_TRACE_HC_ARG_32;
		tap_expect(KVM_TRACE_HC_ARG(h->present, i) == size,
			   "a%u has presence bits %u, not %u", i, KVM_TRACE_HC_ARG(h->present, i),
			   size);
		if (size)
			tap_expect(h->arg[i] == call->args[i], "a%u is 0x%llx, not 0x%llx", i,
				   h->arg[i], call->args[i]);
	}
	tap_expect(h->have & (KVM_TRACE_HC_W_RESULT | KVM_TRACE_HC_W_RESULT_64), "no result");
	tap_expect(wide ? (u64)h->result == rax : (u32)h->result == (u32)rax,
		   "result is 0x%llx, the guest has 0x%llx", h->result, rax);
	tap_expect(rax == (u64)call->result || (!wide && (u32)rax == (u32)call->result),
		   "the guest has 0x%llx, the test wants 0x%llx", rax, call->result);
}

static void check_call(const struct call *call)
{
	struct kvm_enable_cap exits = { .cap = KVM_CAP_EXIT_HYPERCALL,
					.args = { 1 << KVM_HC_MAP_GPA_RANGE } };
	const struct trace_sample *sample, *vmexit = NULL;
	struct kvm_trace_hypercall h = {};
	struct recorder recorder = {};
	struct kvm_trace_vmexit r;
	struct vcpu vcpu;
	unsigned int n = 0;
	struct vm vm;
	size_t i;
	u64 rax;

	tap_begin("hypercall_records: %s", call->name);
	recorder_start(&recorder, REC_OURS, 1);
	vm_create(&vm, 1, 0);
	if (ioctl(vm.fd, KVM_ENABLE_CAP, &exits))
		tap_die("KVM_CAP_EXIT_HYPERCALL");
	vcpu_create(&vm, &vcpu, 9);
	rax = make_call(&vcpu, call);
	recorder_stop(&recorder);
	for (i = 0; i < recorder.session.nr_samples; i++) {
		sample = &recorder.session.samples[i];
		if (sample_is(sample, "hypercall")) {
			n += kvm_trace_hypercall_record(&h, sample->raw, sample->size);
			vmexit = NULL;
		} else if (sample_is(sample, "vmexit") && n && !vmexit) {
			vmexit = sample;
		}
	}
	tap_expect(n == 1, "%u hypercall records of one hypercall", n);
	if (n == 1) {
		compare(call, &h, rax);
		tap_expect(h.vcpu == 9 && h.vm == recorder_vm(&recorder, &vm), "vm %u vcpu %u",
			   h.vm, h.vcpu);
		tap_expect(vmexit && kvm_trace_vmexit_record(&r, vmexit->raw, vmexit->size) &&
			   r.seq == h.seq && r.class == KVM_TRACE_CLASS_hypercall,
			   "the next vmexit record is not that of its round trip");
	}
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

/* Each hypercall of a loop has a record, and KVM counts as many. */
static void check_loop(void)
{
	struct recorder recorder = {};
	struct vcpu vcpu;
	u64 counted, n = 0;
	struct vm vm;
	size_t i;

	tap_begin("hypercall_records: as many as KVM counts");
	recorder_start(&recorder, REC_OURS, 4);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	guest_start(&vcpu, KIND_MIX, 100);
	guest_join(&vcpu);
	recorder_stop(&recorder);
	for (i = 0; i < recorder.session.nr_samples; i++)
		n += sample_is(&recorder.session.samples[i], "hypercall");
	counted = vcpu_stat(&vcpu, "hypercalls");
	tap_expect(n == counted && n == 200, "%llu records, KVM counted %llu, the guest made 200",
		   n, counted);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	unsigned int i;

	need_kvm_trace();
	tap_plan(ARRAY_SIZE(calls) + 1);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		check_call(&calls[i]);
	check_loop();
	return tap_exit();
}
