// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest whose every exit carries its vCPU's mark and the number of the
 * round, and what its records must then be.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "guest.h"
#include "marked.h"
#include "tap.h"

#define PORT_MARKED	0xe0
#define LEAF		0x80000002
#define MARK_SHIFT	24
#define ANSWER		0x800000u	/* set in what user space answers */
#define MSR_SHIFT	32

/* r8d is the mark's value, r9d the round, r11d the last round. */
extern const char marked_code[], marked_code_end[];
asm(".pushsection .rodata\n"
	"marked_code:\n"
	"1:	inc %r9d\n"
	"	mov %r8d, %ebx; or %r9d, %ebx\n"
	"	mov $" XSTR(MARK_WRMSR) ", %ecx; mov %r9d, %eax; mov %r8d, %edx; wrmsr\n"
	"	mov $" XSTR(MARK_RDMSR) ", %ecx; rdmsr\n"
	"	mov $" XSTR(PORT_MARKED) ", %edx; mov %ebx, %eax; outl %eax, %dx\n"
	"	inl %dx, %eax\n"
	"	mov %r8, %rax; shl $32, %rax; or %r9, %rax; mov %rax, (%r10)\n"
	"	mov 8(%r10), %rax\n"
	"	mov %ebx, %ecx; mov $" XSTR(LEAF) ", %eax; cpuid\n"
	"	mov %r8d, %eax; or %r9d, %eax; mov %rax, %rbx; mov %rax, %rcx; mov %rax, %rdx\n"
	"	mov %rax, %rsi\n"
	"	vmmcall\n"
	"	hlt\n"
	"	cmp %r11d, %r9d; jne 1b\n"
	"	out %al, $" XSTR(PORT_DONE) "\n"
	"marked_code_end:\n"
	".popsection\n");

/**
 * marked_load() - a marked guest in a vCPU
 * @guest: filled in
 * @vcpu: vCPU that does not run, of a VM without VM_IRQCHIP
 * @mark: 1 to 255
 * @rounds: 1 to MARKED_MAX_ROUNDS
 */
void marked_load(struct marked *guest, struct vcpu *vcpu, u32 mark, u32 rounds)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msr = {
		.head.nmsrs = 1,
		.entry = { .index = MARK_RDMSR, .data = (u64)mark << MSR_SHIFT | mark },
	};
	struct kvm_regs regs;

	*guest = (struct marked){ .vcpu = vcpu, .mark = mark, .rounds = rounds };
	if (ioctl(vcpu->fd, KVM_SET_MSRS, &msr) != 1)
		tap_die("KVM_SET_MSRS");
	guest_load_code(vcpu, marked_code, marked_code_end - marked_code);
	vcpu_get_regs(vcpu, &regs);
	regs.r8 = mark << MARK_SHIFT;
	regs.r9 = 0;
	regs.r11 = rounds;
	vcpu_set_regs(vcpu, &regs);
}

/**
 * marked_handle() - answer one exit to user space
 * @guest: guest
 * @reason: return value of vcpu_run()
 *
 * Return: whether it can be run again; false at the end of its last round.
 */
bool marked_handle(struct marked *guest, int reason)
{
	struct kvm_run *run = guest->vcpu->run;
	void *data = (char *)run + run->io.data_offset;
	u32 in;

	if (reason == KVM_EXIT_IO && run->io.port == PORT_MARKED) {
		in = guest->out | ANSWER;
		if (run->io.direction == KVM_EXIT_IO_IN)
			memcpy(data, &in, sizeof(in));
		else
			memcpy(&guest->out, data, sizeof(guest->out));
		return true;
	}
	if (reason == KVM_EXIT_MMIO) {
		if (run->mmio.is_write)
			memcpy(&guest->mmio, run->mmio.data, sizeof(guest->mmio));
		else
			memcpy(run->mmio.data, &(u64){ guest->mmio | ANSWER }, sizeof(u64));
		return true;
	}
	return guest_handle(guest->vcpu, reason);
}

/* Words that tell of something that the guest did. */
#define WORDS_OF_MSR	(KVM_TRACE_W_MSR | KVM_TRACE_W_MSR_VALUE)
#define WORDS_OF_IO	(KVM_TRACE_W_IO | KVM_TRACE_W_IO_VALUE | KVM_TRACE_W_IO_COUNT)
#define WORDS_OF_MMIO	(KVM_TRACE_W_MMIO | KVM_TRACE_W_MMIO_GPA | KVM_TRACE_W_MMIO_VALUE)
#define WORDS_OF_CPUID	(KVM_TRACE_W_CPUID_LEAF | KVM_TRACE_W_CPUID_INDEX |	\
			 KVM_TRACE_W_CPUID_AX_BX | KVM_TRACE_W_CPUID_CX_DX)
#define WORDS_OF_DETAIL	(WORDS_OF_MSR | WORDS_OF_IO | WORDS_OF_MMIO | WORDS_OF_CPUID |	\
			 KVM_TRACE_W_CR | KVM_TRACE_W_CR_VALUE | KVM_TRACE_W_EXCEPTION |	\
			 KVM_TRACE_W_INJECTED_EXCEPTION | KVM_TRACE_W_HYPERCALL |	\
			 KVM_TRACE_W_INJECTED)

static const struct {
	const char *name;
	u8 class;
	u64 needs, may;
	int user_reason;	/* -1: none */
} steps[MARKED_STEPS] = {
	[MARKED_WRMSR] = { "WRMSR", KVM_TRACE_CLASS_msr_write, WORDS_OF_MSR, 0, -1 },
	[MARKED_RDMSR] = { "RDMSR", KVM_TRACE_CLASS_msr_read, WORDS_OF_MSR, 0, -1 },
	[MARKED_OUT] = { "OUT", KVM_TRACE_CLASS_io, KVM_TRACE_W_IO | KVM_TRACE_W_IO_VALUE, 0,
			 KVM_EXIT_IO },
	[MARKED_IN] = { "IN", KVM_TRACE_CLASS_io, KVM_TRACE_W_IO | KVM_TRACE_W_IO_VALUE, 0,
			KVM_EXIT_IO },
	/* Of a page fault or of its own class: that is the processor's choice. */
	[MARKED_MMIO_WRITE] = { "MMIO write", KVM_TRACE_CLASS_COUNT,
				KVM_TRACE_W_MMIO | KVM_TRACE_W_MMIO_VALUE,
				KVM_TRACE_W_MMIO_GPA, KVM_EXIT_MMIO },
	[MARKED_MMIO_READ] = { "MMIO read", KVM_TRACE_CLASS_COUNT,
			       KVM_TRACE_W_MMIO | KVM_TRACE_W_MMIO_VALUE,
			       KVM_TRACE_W_MMIO_GPA, KVM_EXIT_MMIO },
	[MARKED_CPUID] = { "CPUID", KVM_TRACE_CLASS_cpuid, WORDS_OF_CPUID, 0, -1 },
	[MARKED_HYPERCALL] = { "hypercall", KVM_TRACE_CLASS_hypercall, KVM_TRACE_W_HYPERCALL,
			       0, -1 },
	[MARKED_HLT] = { "HLT", KVM_TRACE_CLASS_hlt, 0, 0, KVM_EXIT_HLT },
};

/* Interrupts of the host and memory that is not there yet come between the steps. */
static bool is_noise(const struct kvm_trace_vmexit *r)
{
	return r->class == KVM_TRACE_CLASS_interrupt || r->class == KVM_TRACE_CLASS_nmi ||
	       (r->class == KVM_TRACE_CLASS_page_fault && !(r->flags & KVM_TRACE_F_MMIO));
}

static bool is_step(const struct kvm_trace_vmexit *r, enum marked_step step)
{
	if (steps[step].class == KVM_TRACE_CLASS_COUNT)
		return r->flags & KVM_TRACE_F_MMIO;
	return r->class == steps[step].class && !(r->flags & KVM_TRACE_F_MMIO);
}

static bool value_is_right(const struct kvm_trace_vmexit *r, enum marked_step step, u32 mark,
			   u32 round)
{
	const u32 value = mark << MARK_SHIFT | round;
	const u64 wide = (u64)(mark << MARK_SHIFT) << 32 | round;

	switch (step) {
	case MARKED_WRMSR:
		return r->msr == MARK_WRMSR && r->msr_value == wide;
	case MARKED_RDMSR:
		return r->msr == MARK_RDMSR && r->msr_value == ((u64)mark << MSR_SHIFT | mark);
	case MARKED_OUT:
		return r->io == (PORT_MARKED << KVM_TRACE_IO_PORT_SHIFT | 4) &&
		       r->io_value == value;
	case MARKED_IN:
		return r->io == (PORT_MARKED << KVM_TRACE_IO_PORT_SHIFT | 4 | KVM_TRACE_IO_IN) &&
		       r->io_value == (value | ANSWER);
	case MARKED_MMIO_WRITE:
		return r->mmio == (1 << KVM_TRACE_MMIO_COUNT_SHIFT | 8 | KVM_TRACE_MMIO_WRITE) &&
		       r->mmio_value == wide;
	case MARKED_MMIO_READ:
		return r->mmio == (1 << KVM_TRACE_MMIO_COUNT_SHIFT | 8) &&
		       r->mmio_value == (wide | ANSWER);
	case MARKED_CPUID:
		return r->cpuid_leaf == LEAF && r->cpuid_index == value;
	case MARKED_HYPERCALL:
		return r->hypercall ==
		       ((u64)KVM_TRACE_ABI_KVM << KVM_TRACE_HYPERCALL_ABI_SHIFT | value);
	default:
		return true;
	}
}

static void expect_words(const struct kvm_trace_vmexit *r, enum marked_step step, u32 mark,
			 u32 round)
{
	const u64 detail = r->have & WORDS_OF_DETAIL;

	tap_expect((detail & steps[step].needs) == steps[step].needs &&
		   !(detail & ~(steps[step].needs | steps[step].may)),
		   "seq %u, %s of round %u of mark %u: words 0x%llx, not 0x%llx", r->seq,
		   steps[step].name, round, mark, detail, steps[step].needs);
	tap_expect(value_is_right(r, step, mark, round),
		   "seq %u, %s of round %u of mark 0x%x: msr 0x%x 0x%llx io 0x%x 0x%x mmio 0x%x 0x%llx cpuid 0x%x 0x%x hypercall 0x%llx",
		   r->seq, steps[step].name, round, mark, r->msr, r->msr_value, r->io,
		   r->io_value, r->mmio, r->mmio_value, r->cpuid_leaf, r->cpuid_index,
		   r->hypercall);
}

/* EINTR may come instead of a return for the step's sake, or after it. */
static void expect_user(const struct kvm_trace_vmexit *r, int reason, const char *what,
			struct marked_seen *seen)
{
	const u32 error = r->user_reason >> KVM_TRACE_USER_REASON_ERRNO_SHIFT;
	const bool user = r->flags & KVM_TRACE_F_USERSPACE;

	tap_expect(user == !!(r->have & KVM_TRACE_W_USER_REASON),
		   "seq %u, %s: flags 0x%x, have 0x%llx", r->seq, what, r->flags, r->have);
	if (!user) {
		tap_expect(reason < 0, "seq %u, %s: not in user space", r->seq, what);
	} else if (error) {
		tap_expect(error == EINTR, "seq %u, %s: errno %u", r->seq, what, error);
		seen->interrupted++;
	} else {
		tap_expect((int)(r->user_reason & KVM_TRACE_USER_REASON_EXIT) == reason,
			   "seq %u, %s: KVM_RUN returned %u, not %d", r->seq, what,
			   r->user_reason, reason);
	}
	tap_expect(user || !(r->have & (KVM_TRACE_W_USER_NS | KVM_TRACE_W_USER_NS_64)),
		   "seq %u, %s: %llu ns in user space, where it was not", r->seq, what,
		   r->user_ns);
	tap_expect(r->user_ns + r->halt_ns <= r->host_ns,
		   "seq %u, %s: host %llu ns, but user %llu and halted %llu", r->seq, what,
		   r->host_ns, r->user_ns, r->halt_ns);
}

/**
 * marked_expect() - expect that records are those of a marked guest
 * @list: records of one vCPU, in the order of seq, from its first one on
 * @count: number of @list
 * @mark: the guest's
 * @all_words: they have all words; else the classes only are looked at
 * @seen: filled in
 */
void marked_expect(const struct vmexit *list, size_t count, u32 mark, bool all_words,
		   struct marked_seen *seen)
{
	const struct kvm_trace_vmexit *r;
	size_t i;

	*seen = (struct marked_seen){ .records = count };
	for (i = 0; i < count; i++) {
		r = &list[i].r;
		if (is_noise(r)) {
			tap_expect(!(r->have & WORDS_OF_DETAIL),
				   "seq %u, class %s: words 0x%llx are not its own", r->seq,
				   kvm_trace_class_name(r->class), r->have & WORDS_OF_DETAIL);
			if (all_words)
				expect_user(r, -1, kvm_trace_class_name(r->class), seen);
			continue;
		}
		if (!tap_expect(is_step(r, seen->step), "seq %u: class %s flags 0x%x, not %s",
				r->seq, kvm_trace_class_name(r->class), r->flags,
				steps[seen->step].name))
			return;
		seen->round += seen->step == MARKED_WRMSR;
		if (all_words) {
			expect_words(r, seen->step, mark, seen->round);
			expect_user(r, steps[seen->step].user_reason, steps[seen->step].name,
				    seen);
		}
		seen->step = (seen->step + 1) % MARKED_STEPS;
	}
}
