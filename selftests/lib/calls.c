// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hypercalls of hand-written guests, of each ABI, with a marked value in every
 * register. What a record of each must say is in calls_check.c.
 */
#include <errno.h>
#include <linux/kvm_para.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "calls.h"
#include "module.h"
#include "tap.h"

#define VCPU_ID		9
#define RING_MIB	8
#define IOPL_3		0x3000
#define SINGLE_STEP	0x100
#define MSR_GUEST_OS_ID	0x40000000
#define GUEST_OS_ID	0x8100000000000000ull	/* an open-source system */
/* What a 32-bit caller does not know of, and what no call uses. */
#define GARBAGE		0xdeadbeef00000000ull
#define UNUSED		0xbadbadbadbadbad0ull

/* Offsets in the guest's code. */
#define AT_DONE		5
#define AT_PAGE		7
#define AT_IN_LINE	11

static const u8 code[] = {
	0xe8, AT_PAGE - AT_DONE, 0, 0, 0,	/* call AT_PAGE */
	0xe6, PORT_DONE,			/* out %al, $PORT_DONE */
	0x0f, 0x01, 0xd9, 0xc3,			/* vmmcall; ret */
	0x0f, 0x01, 0xd9, 0xe6, PORT_DONE,	/* vmmcall; out %al, $PORT_DONE */
};

static void put_args(struct kvm_regs *regs, const struct guest_call *call)
{
	const u64 *arg = call->arg;

	if (call->abi == KVM_TRACE_ABI_HYPERV && call->mode == MODE_LONG) {
		regs->rcx = call->nr;
		regs->rdx = arg[0];
		regs->r8 = arg[1];
	} else if (call->abi == KVM_TRACE_ABI_HYPERV) {
		regs->rdx = call->nr >> 32 | GARBAGE;
		regs->rax = (u32)call->nr | GARBAGE;
		regs->rbx = arg[0] >> 32 | GARBAGE;
		regs->rcx = (u32)arg[0] | GARBAGE;
		regs->rdi = arg[1] >> 32 | GARBAGE;
		regs->rsi = (u32)arg[1] | GARBAGE;
	} else if (call->abi == KVM_TRACE_ABI_XEN && call->mode == MODE_LONG) {
		regs->rax = call->nr;
		regs->rdi = arg[0];
		regs->rsi = arg[1];
		regs->rdx = arg[2];
		regs->r10 = arg[3];
		regs->r8 = arg[4];
		regs->r9 = arg[5];
	} else {
		const u64 upper = call->mode == MODE_LONG ? 0 : GARBAGE;

		/* With garbage there, 6.12 loses its way to user space. */
		regs->rax = call->nr | (call->nr == KVM_HC_MAP_GPA_RANGE ? 0 : upper);
		regs->rbx = arg[0] | upper;
		regs->rcx = arg[1] | upper;
		regs->rdx = arg[2] | upper;
		regs->rsi = arg[3] | upper;
		if (call->abi == KVM_TRACE_ABI_XEN) {
			regs->rdi = arg[4] | upper;
			regs->rbp = arg[5] | upper;
		}
	}
}

static void set_segments(struct vcpu *vcpu, const struct guest_call *call)
{
	struct kvm_sregs sregs;

	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		tap_die("KVM_GET_SREGS");
	sregs.cs.dpl = call->cpl;
	sregs.cs.selector |= call->cpl;
	sregs.ss.dpl = call->cpl;
	sregs.ss.selector |= call->cpl;
	sregs.ss.base = call->stack_base;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs))
		tap_die("KVM_SET_SREGS");
}

static void replace_instruction(u8 *instruction)
{
	static const u8 vmcall = 0xc1, vmmcall = 0xd9;

	instruction[2] = cpu_is_intel() ? vmmcall : vmcall;
}

/* KVM's own calls are made in line, the others through a hypercall page. */
static void load_call(struct vcpu *vcpu, struct guest_call *call)
{
	const bool in_line = call->abi == KVM_TRACE_ABI_KVM || call->rsp;
	struct kvm_regs regs;
	s32 displacement;

	vcpu_set_mode(vcpu, call->mode);
	set_segments(vcpu, call);
	guest_load_code(vcpu, code, sizeof(code));
	vcpu_get_regs(vcpu, &regs);
	call->rip = regs.rip + (in_line ? AT_IN_LINE : AT_PAGE);
	call->ret = in_line ? call->top : regs.rip + AT_DONE;
	if (call->page) {
		call->rip = call->instruction;
		displacement = call->page - call->ret;
		memcpy(vm_at(vcpu->vm, regs.rip + 1), &displacement, sizeof(displacement));
	}
	if (call->other)
		replace_instruction(vm_at(vcpu->vm, call->rip));
	regs = (struct kvm_regs){
		.rip = in_line ? call->rip : regs.rip, .rsp = regs.rsp - call->stack_base,
		.rflags = regs.rflags | (call->cpl ? IOPL_3 : 0) | (call->step ? SINGLE_STEP : 0),
		.rax = UNUSED, .rbx = UNUSED | 1, .rcx = UNUSED | 2, .rdx = UNUSED | 3,
		.rsi = UNUSED | 4, .rdi = UNUSED | 5, .rbp = UNUSED | 6, .r8 = UNUSED | 7,
		.r9 = UNUSED | 8, .r10 = UNUSED | 9, .r11 = UNUSED | 10, .r12 = UNUSED | 11,
		.r13 = UNUSED | 12, .r14 = UNUSED | 13, .r15 = UNUSED | 14,
	};
	if (call->rsp)
		regs.rsp = call->rsp;
	put_args(&regs, call);
	vcpu_set_regs(vcpu, &regs);
}

static void go_on_elsewhere(struct vcpu *vcpu)
{
	struct kvm_regs regs;

	vcpu_get_regs(vcpu, &regs);
	regs.rip = vcpu->area + AREA_CODE + AT_DONE;
	vcpu_set_regs(vcpu, &regs);
}

/* KVM_RUN completes the call, and returns before it enters the guest. */
static void come_back(struct vcpu *vcpu)
{
	vcpu->run->immediate_exit = 1;
	if (vcpu_run(vcpu) != -EINTR)
		tap_die("KVM_RUN with immediate_exit entered the guest");
	vcpu->run->immediate_exit = 0;
}

static void *run_on(void *vcpu)
{
	guest_run(vcpu);
	return NULL;
}

static void run_in_thread(struct vcpu *vcpu)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run_on, vcpu);
	if (errno)
		tap_die("thread of the vCPU");
	pthread_join(thread, NULL);
}

static void run_call(struct vcpu *vcpu, struct guest_call *call)
{
	struct kvm_run *run = vcpu->run;
	int reason;

	for (;;) {
		reason = vcpu_run(vcpu);
		/* There is no handler for what a caller in ring 3 gets. */
		if (call->refused && reason == KVM_EXIT_SHUTDOWN)
			return;
		if (reason == KVM_EXIT_HYPERCALL)
			run->hypercall.ret = call->answer;
		else if (reason == KVM_EXIT_XEN && run->xen.type == KVM_EXIT_XEN_HCALL)
			run->xen.u.hcall.result = call->answer;
		else if (reason == KVM_EXIT_HYPERV && run->hyperv.type == KVM_EXIT_HYPERV_HCALL)
			run->hyperv.u.hcall.result = call->answer;
		else if (guest_handle(vcpu, reason))
			continue;
		else
			return;
		call->asked = true;
		usleep(vcpu->pause_us);
		if (call->moved)
			go_on_elsewhere(vcpu);
		if (call->left)
			come_back(vcpu);
		if (call->handed) {
			run_in_thread(vcpu);
			return;
		}
	}
}

/**
 * calls_make() - let the guest make one hypercall
 * @calls: after calls_start()
 * @call: the call
 *
 * Return: the call, and what came of it; valid until the next one.
 */
const struct guest_call *calls_make(struct calls *calls, const struct guest_call *call)
{
	struct guest_call *made;
	struct kvm_regs regs;

	calls->made = reallocarray(calls->made, calls->nr_made + 1, sizeof(*calls->made));
	if (!calls->made)
		tap_die("memory");
	made = &calls->made[calls->nr_made++];
	*made = *call;
	load_call(&calls->vcpu, made);
	run_call(&calls->vcpu, made);
	vcpu_get_regs(&calls->vcpu, &regs);
	made->result = call->mode == MODE_LONG ? regs.rax : (u32)regs.rax;
	if (call->mode != MODE_LONG && call->abi == KVM_TRACE_ABI_HYPERV)
		made->result |= regs.rdx << 32;
	return made;
}

static void set_parameter(const char *name, const char *value)
{
	if (parameter_set(name, value))
		tap_die("parameter %s of kvm_trace: %s", name, value);
}

static void choose(u32 words, bool all_args)
{
	static const struct {
		u32 bit;
		const char *name;
	} all[] = {
#define WORD(bit, name) { bit, name },
		KVM_TRACE_HC_WORDS(WORD)
#undef WORD
	};
	char text[64] = "";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (words & all[i].bit)
			strcat(strcat(text, *text ? "," : ""), all[i].name);
	}
	set_parameter("hypercall_words", *text ? text : "lean");
	set_parameter("hypercall_args", all_args ? "all" : "used");
}

/* Messages and signals to other partitions go to user space only with SynIC. */
static void enable_hyperv(struct calls *calls)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msr = { { .nmsrs = 1 }, { .index = MSR_GUEST_OS_ID, .data = GUEST_OS_ID } };
	struct kvm_enable_cap synic = { .cap = KVM_CAP_HYPERV_SYNIC };

	if (ioctl(calls->vcpu.fd, KVM_SET_MSRS, &msr) != 1)
		tap_die("Hyper-V's guest id");
	if (calls->vm.flags & VM_IRQCHIP && ioctl(calls->vcpu.fd, KVM_ENABLE_CAP, &synic))
		tap_die("KVM_CAP_HYPERV_SYNIC");
}

/**
 * calls_start() - a VM whose hypercalls are recorded
 * @calls: filled in
 * @vm_flags: VM_*
 * @words: KVM_TRACE_HC_W_* that records are to have, of those that can be chosen
 * @flags: CALLS_*
 */
void calls_start(struct calls *calls, unsigned int vm_flags, u32 words, unsigned int flags)
{
	struct kvm_enable_cap exits = { .cap = KVM_CAP_EXIT_HYPERCALL,
					.args = { 1 << KVM_HC_MAP_GPA_RANGE } };
	unsigned int what = REC_KVM_HYPERCALL | REC_KVM_HV_HYPERCALL | REC_KVM_XEN_HYPERCALL;

	memset(calls, 0, sizeof(*calls));
	calls->words = words;
	calls->flags = flags;
	/* Records are joined to KVM's events by their order. */
	run_on_cpu(0);
	choose(words, flags & CALLS_ALL_ARGS);
	what |= flags & CALLS_ALONE ? REC_HYPERCALL | REC_VCPU : REC_OURS;
	if (flags & CALLS_SUB)
		what |= REC_HYPERCALL_SUB;
	recorder_start(&calls->recorder, what, RING_MIB);
	vm_create(&calls->vm, 1, vm_flags);
	if (ioctl(calls->vm.fd, KVM_ENABLE_CAP, &exits))
		tap_die("KVM_CAP_EXIT_HYPERCALL");
	vcpu_create(&calls->vm, &calls->vcpu, VCPU_ID);
	if (vm_flags & VM_HYPERV)
		enable_hyperv(calls);
}

/**
 * calls_end() - stop recording, and compare: see calls_compare()
 * @calls: after calls_start(); what it holds is freed
 */
void calls_end(struct calls *calls)
{
	recorder_stop(&calls->recorder);
	calls_compare(calls);
	choose(KVM_TRACE_HC_WORDS_DEFAULT, false);
	vcpu_destroy(&calls->vcpu);
	vm_destroy(&calls->vm);
	recorder_close(&calls->recorder);
	free(calls->made);
}
