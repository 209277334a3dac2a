// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guests that loop over chosen kinds of VM exits: pieces of long-mode code
 * that are put behind each other, and the user-space half that answers.
 *
 * Registers of a loop: rsi counts down, rdi is the next fresh page, r8 and r9
 * are the first fresh page and the end of them, r10 is an address of MMIO, r11
 * is where the handler of page faults returns to, r12 is not mapped.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "tap.h"

#define PIECE(name, code)					\
	extern const char piece_##name[], piece_##name##_end[];	\
	asm(".pushsection .rodata\n"				\
	    "piece_" #name ":\n" code "\n"			\
	    "piece_" #name "_end:\n"				\
	    ".popsection\n")

PIECE(pio_out, "mov $0x41, %al; outb %al, $" XSTR(PORT_DATA));
PIECE(pio_in, "inb $" XSTR(PORT_DATA) ", %al");
PIECE(mmio_read, "mov (%r10), %eax");
PIECE(mmio_write, "mov $" XSTR(MARK_MMIO_WRITE) ", %eax; mov %eax, 4(%r10)");
PIECE(cpuid, "mov $" XSTR(MARK_CPUID) ", %eax; xor %ecx, %ecx; cpuid");
PIECE(rdmsr, "mov $" XSTR(MARK_RDMSR) ", %ecx; rdmsr");
PIECE(wrmsr, "mov $" XSTR(MARK_WRMSR) ", %ecx; mov $" XSTR(MARK_WRMSR_LOW) ", %eax;"
	     "xor %edx, %edx; wrmsr");
PIECE(hypercall, "mov $" XSTR(MARK_NR) ", %eax; movabs $" XSTR(MARK_A0) ", %rbx;"
		 "mov $" XSTR(MARK_APICID) ", %ecx; vmmcall");
PIECE(hypercall_unknown, "mov $" XSTR(MARK_UNKNOWN_NR) ", %eax; push %rsi;"
			 "movabs $" XSTR(MARK_A0) ", %rbx; movabs $" XSTR(MARK_A1) ", %rcx;"
			 "movabs $" XSTR(MARK_A2) ", %rdx; movabs $" XSTR(MARK_A3) ", %rsi;"
			 "vmmcall; pop %rsi");
PIECE(hlt, "hlt");
PIECE(npf, "movb $1, (%rdi); add $4096, %rdi; cmp %r9, %rdi; jb 1f;"
	   "mov %r8, %rdi; outb %al, $" XSTR(PORT_RENEW) "; 1:");
/* A page fault whose delivery finds no stack: a VM exit with an event in it. */
PIECE(exception, "outb %al, $" XSTR(PORT_DROP) "; lea 1f(%rip), %r11; movb $1, (%r12); 1:");
PIECE(entry_failure, "");
PIECE(loop_end, "dec %rsi; jz 1f; .byte 0xe9; .long 0; 1: outb %al, $" XSTR(PORT_DONE));

#define LOOP_DISPLACEMENT	6	/* of the jump, in loop_end */
#define LOOP_JUMP_END		10

static const struct {
	const char *name, *code, *end;
} kinds_of_exit[] = {
#define KIND_ENTRY(kind) { #kind, piece_##kind, piece_##kind##_end },
	GUEST_KINDS(KIND_ENTRY)
#undef KIND_ENTRY
};

/**
 * guest_kind_name() - its name
 * @kind: KIND_*
 */
const char *guest_kind_name(enum guest_kind kind)
{
	return kinds_of_exit[kind].name;
}

/**
 * guest_kinds() - kinds from their names
 * @names: comma-separated, or "mix" for all
 *
 * Return: bits of the kinds; 0 if one is not known.
 */
unsigned int guest_kinds(const char *names)
{
	unsigned int kinds = 0, kind;
	size_t length;

	if (!strcmp(names, "mix"))
		return KIND_MIX;
	for (;; names++) {
		length = strcspn(names, ",");
		for (kind = 0; kind < KIND_COUNT; kind++) {
			if (strlen(kinds_of_exit[kind].name) == length &&
			    !strncmp(kinds_of_exit[kind].name, names, length))
				break;
		}
		if (kind == KIND_COUNT)
			return 0;
		kinds |= KIND_BIT(kind);
		names += length;
		if (!*names)
			return kinds;
	}
}

static char *put(char *at, const char *code, const char *end)
{
	memcpy(at, code, end - code);
	return at + (end - code);
}

/**
 * guest_load_code() - code of the test's own
 * @vcpu: vCPU that does not run; its rip and rsp are set
 * @code: position-independent code
 * @bytes: size of @code
 */
void guest_load_code(struct vcpu *vcpu, const void *code, size_t bytes)
{
	struct kvm_regs regs = {
		.rip = vcpu->area + AREA_CODE,
		.rsp = vcpu->area + AREA_STACK,
		.rflags = 2,
		.rdi = vcpu->area + AREA_FRESH,
		.r8 = vcpu->area + AREA_FRESH,
		.r9 = vcpu->area + AREA_FRESH + AREA_FRESH_PAGES * PAGE_BYTES,
		.r10 = VM_MMIO,
		.r12 = VM_UNMAPPED,
	};

	memcpy(vm_at(vcpu->vm, regs.rip), code, bytes);
	vcpu_set_regs(vcpu, &regs);
}

/**
 * guest_load() - a loop over kinds of exits, each once per round
 * @vcpu: vCPU that does not run
 * @kinds: bits of KIND_*
 * @count: rounds, at least 1
 */
void guest_load(struct vcpu *vcpu, unsigned int kinds, u64 count)
{
	struct kvm_regs regs;
	char code[1024], *at = code;
	unsigned int kind;
	int jump;

	for (kind = 0; kind < KIND_COUNT; kind++) {
		if (kinds & KIND_BIT(kind))
			at = put(at, kinds_of_exit[kind].code, kinds_of_exit[kind].end);
	}
	jump = code - (at + LOOP_JUMP_END);
	put(at, piece_loop_end, piece_loop_end_end);
	memcpy(at + LOOP_DISPLACEMENT, &jump, sizeof(jump));
	guest_load_code(vcpu, code, at - code + (piece_loop_end_end - piece_loop_end));
	vcpu_get_regs(vcpu, &regs);
	regs.rsi = count;
	vcpu_set_regs(vcpu, &regs);
}

/**
 * guest_handle() - answer one exit to user space
 * @vcpu: vCPU
 * @reason: return value of vcpu_run()
 *
 * Return: whether the vCPU can be run again; false at the end of its loop.
 */
bool guest_handle(struct vcpu *vcpu, int reason)
{
	struct kvm_run *run = vcpu->run;

	switch (reason) {
	case -EINTR:
	case KVM_EXIT_HLT:
		return true;
	case KVM_EXIT_IO:
		if (run->io.port == PORT_DONE)
			return false;
		if (run->io.port == PORT_RENEW)
			madvise(vm_at(vcpu->vm, vcpu->area + AREA_FRESH),
				AREA_FRESH_PAGES * PAGE_BYTES, MADV_DONTNEED);
		if (run->io.port == PORT_DROP)
			madvise(vm_at(vcpu->vm, vcpu->area + AREA_STACK - PAGE_BYTES), PAGE_BYTES,
				MADV_DONTNEED);
		if (run->io.direction == KVM_EXIT_IO_IN)
			memset((char *)run + run->io.data_offset, MARK_READ, run->io.size);
		return true;
	case KVM_EXIT_MMIO:
		if (!run->mmio.is_write)
			memset(run->mmio.data, MARK_READ, sizeof(run->mmio.data));
		return true;
	}
	errno = reason < 0 ? -reason : EPROTO;
	tap_die("vCPU %u left KVM_RUN with %d", vcpu->id, reason);
}

/**
 * guest_run() - run a vCPU to the end of its loop or guest_stop(), in this thread
 * @vcpu: vCPU
 */
void guest_run(struct vcpu *vcpu)
{
	while (guest_handle(vcpu, vcpu_run(vcpu)) && !vcpu->stop) {
		if (vcpu->pause_us)
			usleep(vcpu->pause_us);
	}
}

/**
 * guest_fail_entries() - VM entries that the processor refuses
 * @vcpu: vCPU in long mode that does not run; it is left as it was
 * @count: how many
 *
 * A code segment that is both 64 and 32 bits wide passes KVM's checks of
 * KVM_SET_SREGS, but not those of VMRUN (APM vol. 2, 15.5.1).
 */
void guest_fail_entries(struct vcpu *vcpu, u64 count)
{
	struct kvm_sregs good, bad;
	struct kvm_regs regs;
	int reason;

	vcpu_get_regs(vcpu, &regs);
	if (ioctl(vcpu->fd, KVM_GET_SREGS, &good))
		tap_die("KVM_GET_SREGS");
	bad = good;
	bad.cs.db = 1;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &bad))
		tap_die("KVM_SET_SREGS");
	while (count--) {
		reason = vcpu_run(vcpu);
		if (reason != KVM_EXIT_FAIL_ENTRY)
			tap_die("VM entry with CS.L and CS.D set: KVM_RUN gave %d", reason);
	}
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &good))
		tap_die("KVM_SET_SREGS");
	/* QEMU's VMRUN stores registers of the host on such a failure. */
	vcpu_set_regs(vcpu, &regs);
}

static void *run_thread(void *data)
{
	struct vcpu *vcpu = data;

	vcpu->tid = syscall(SYS_gettid);
	if (vcpu->on_cpu)
		run_on_cpu(vcpu->on_cpu - 1);
	if (vcpu->fail_entries)
		guest_fail_entries(vcpu, vcpu->fail_entries);
	guest_run(vcpu);
	return NULL;
}

static void start_thread(struct vcpu *vcpu)
{
	errno = pthread_create(&vcpu->thread, NULL, run_thread, vcpu);
	if (errno)
		tap_die("thread of vCPU %u", vcpu->id);
}

/**
 * guest_start() - load a loop and run it in a thread of its own
 * @vcpu: vCPU that does not run
 * @kinds: bits of KIND_*
 * @count: rounds; entry failures are that many too, before the loop
 */
void guest_start(struct vcpu *vcpu, unsigned int kinds, u64 count)
{
	guest_load(vcpu, kinds, count);
	vcpu->fail_entries = kinds & KIND_BIT(KIND_entry_failure) ? count : 0;
	start_thread(vcpu);
}

/**
 * guest_start_code() - load code of the test's own and run it in a thread
 * @vcpu: vCPU that does not run
 * @code: position-independent code; it ends with a write to PORT_DONE
 * @bytes: size of @code
 */
void guest_start_code(struct vcpu *vcpu, const void *code, size_t bytes)
{
	guest_load_code(vcpu, code, bytes);
	vcpu->fail_entries = 0;
	start_thread(vcpu);
}

/**
 * guest_join() - wait for the end of a loop
 * @vcpu: vCPU that guest_start() started
 */
void guest_join(struct vcpu *vcpu)
{
	pthread_join(vcpu->thread, NULL);
}

static void ignore_signal(int signal)
{
	(void)signal;
}

/**
 * guest_stop() - end a loop early, and wait for it
 * @vcpu: vCPU that guest_start() started
 */
void guest_stop(struct vcpu *vcpu)
{
	struct sigaction action = { .sa_handler = ignore_signal };

	sigaction(SIGUSR1, &action, NULL);
	vcpu->stop = true;
	__atomic_store_n(&vcpu->run->immediate_exit, 1, __ATOMIC_SEQ_CST);
	pthread_kill(vcpu->thread, SIGUSR1);
	guest_join(vcpu);
	vcpu->run->immediate_exit = 0;
	vcpu->stop = false;
}
