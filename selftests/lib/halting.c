// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest that halts in KVM and is woken by the timer of its local APIC.
 */
#include <sys/ioctl.h>

#include "guest.h"
#include "halting.h"
#include "tap.h"

/* r12d halts; r13d and r14d are the timer's counts in turn. */
extern const char halting_code[], halting_code_end[];
asm(".pushsection .rodata\n"
	"halting_code:\n"
	"	mov $0xfee00000, %ebx\n"
	"	movl $0x1ff, 0xf0(%rbx)\n"		/* software-enable */
	"	movl $0xb, 0x3e0(%rbx)\n"		/* divide by 1 */
	"	movl $" XSTR(VECTOR_APIC) ", 0x320(%rbx)\n"	/* one shot */
	"1:	mov %r13d, 0x380(%rbx)\n"
	"	xchg %r14, %r13\n"
	"	sti\n"
	"	hlt\n"
	"	cli\n"
	"	dec %r12d; jnz 1b\n"
	"	out %al, $" XSTR(PORT_DONE) "\n"
	"halting_code_end:\n"
	".popsection\n");

/**
 * halting_load() - a guest that halts again and again
 * @vcpu: vCPU that does not run, of a VM with VM_IRQCHIP
 * @count: how often, at least 1
 * @odd_ns: length of the first, the third...; a tick of KVM's local APIC is 1 ns
 * @even_ns: length of the others
 */
void halting_load(struct vcpu *vcpu, u32 count, u32 odd_ns, u32 even_ns)
{
	struct kvm_regs regs;

	guest_load_code(vcpu, halting_code, halting_code_end - halting_code);
	vcpu_get_regs(vcpu, &regs);
	regs.r12 = count;
	regs.r13 = odd_ns;
	regs.r14 = even_ns;
	vcpu_set_regs(vcpu, &regs);
}

/**
 * halt_stats() - KVM's statistics of a vCPU's halts
 * @vcpu: vCPU
 * @stats: filled in
 */
void halt_stats(struct vcpu *vcpu, struct halt_stats *stats)
{
	stats->wait_ns = vcpu_stat(vcpu, "halt_wait_ns");
	stats->poll_ns = vcpu_stat(vcpu, "halt_poll_success_ns") +
			 vcpu_stat(vcpu, "halt_poll_fail_ns");
	stats->exits = vcpu_stat(vcpu, "halt_exits");
	stats->successful_polls = vcpu_stat(vcpu, "halt_successful_poll");
}

/**
 * halt_poll_limit() - how long KVM polls at most before a vCPU sleeps
 * @vm: VM
 * @ns: 0 for not at all
 */
void halt_poll_limit(struct vm *vm, u32 ns)
{
	struct kvm_enable_cap limit = { .cap = KVM_CAP_HALT_POLL, .args = { ns } };

	if (ioctl(vm->fd, KVM_ENABLE_CAP, &limit))
		tap_die("KVM_CAP_HALT_POLL");
}
