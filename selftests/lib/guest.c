// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guests that loop over chosen kinds of VM exits: pieces of long-mode code
 * that are put behind each other, and the user-space half that answers.
 *
 * Registers of a loop: rsi counts down, rdi is the next fresh page, r8 and r9
 * are the first fresh page and the end of them, r10 is an address of MMIO, r11
 * is where handlers of faults return to, r12 is not mapped, r13 is the data of
 * string I/O, r14 and r15 are pages that user space takes away when told.
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

#define TSS_ADDRESS	0xfffbd000	/* no memory there; KVM needs three pages */
#define DATA_TICKS	0xff8	/* in AREA_DATA: ticks of the TSC in TIMER_US */

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

PIECE(pio_sizes, "mov $0x4142, %ax; outw %ax, $" XSTR(PORT_DATA) ";"
		 "mov $0x41424344, %eax; outl %eax, $" XSTR(PORT_DATA) ";"
		 "inw $" XSTR(PORT_DATA) ", %ax; inl $" XSTR(PORT_DATA) ", %eax");
PIECE(pio_string, "push %rsi; push %rdi; mov $" XSTR(PORT_DATA) ", %edx; mov %r13, %rsi;"
		  "mov $1, %ecx; rep outsb; mov $" XSTR(STRING_SHORT) ", %ecx; rep outsl;"
		  "outsw; mov %r13, %rdi; mov $" XSTR(STRING_LONG) ", %ecx; rep insl;"
		  "mov %r13, %rdi; mov $" XSTR(STRING_SHORT) ", %ecx; rep insw; insb;"
		  "pop %rdi; pop %rsi");
PIECE(pio_kernel, "push %rsi; mov $0xff, %al; outb %al, $" XSTR(PORT_PIC) ";"
		  "inb $" XSTR(PORT_PIC) ", %al; mov $" XSTR(PORT_PIC) ", %edx;"
		  "mov %r13, %rsi; mov $" XSTR(STRING_LONG) ", %ecx; rep outsb; pop %rsi");
/* KVM reads the byte from MMIO, then writes it to a port. */
PIECE(pio_mmio, "push %rsi; mov %r10, %rsi; mov $" XSTR(PORT_DATA) ", %edx; outsb; pop %rsi");
/* With VM_EMULATION, exits of UD2. */
#define EMULATED(code) "lea 1f(%rip), %r11; ud2; .ascii \"kvm\"; " code "; 1:"
PIECE(pio_emulated, "mov $0x41, %al;" EMULATED("outb %al, $" XSTR(PORT_DATA))
		    EMULATED("inb $" XSTR(PORT_DATA) ", %al"));
PIECE(mmio_sizes, "movb $0x11, (%r10); movw $0x2222, 2(%r10);"
		  "movabs $" XSTR(MARK_MMIO_64) ", %rax; mov %rax, 8(%r10);"
		  "mov (%r10), %al; mov 2(%r10), %ax; mov 8(%r10), %rax");
PIECE(mmio_cross, "movabs $" XSTR(MARK_MMIO_64) ", %rax; mov %rax, 0xffc(%r10);"
		  "mov 0xffc(%r10), %rax");
PIECE(mmio_wide, "movabs $" XSTR(MARK_MMIO_64) ", %rax; movq %rax, %xmm0;"
		 "movdqu %xmm0, 0x20(%r10); movdqu 0x20(%r10), %xmm0");
PIECE(mmio_string, "push %rdi; lea 0x60(%r10), %rdi; mov $" XSTR(STRING_SHORT) ", %ecx; rep stosl;"
		   "pop %rdi");
PIECE(mmio_rmw, "addl $1, 0x40(%r10)");
/* The version of the APIC, then its task priority. */
PIECE(mmio_apic, "mov $0xfee00000, %ebx; mov 0x30(%rbx), %eax; movl $0x20, 0x80(%rbx);"
		 "mov 0x80(%rbx), %eax; movl $0, 0x80(%rbx)");
/* Select its version, read it. */
PIECE(mmio_ioapic, "mov $0xfec00000, %ebx; movl $1, (%rbx); mov 0x10(%rbx), %eax");
PIECE(ioeventfd, "movl $7, " XSTR(VM_MMIO_EVENT) "(%r10)");
PIECE(mmio_fast, "movl $7, " XSTR(VM_MMIO_FAST) "(%r10)");
PIECE(cpuid_leaves, "xor %eax, %eax; xor %ecx, %ecx; cpuid; mov $1, %eax; cpuid;"
		    "mov $7, %eax; xor %ecx, %ecx; cpuid; mov $0xd, %eax; mov $1, %ecx; cpuid;"
		    "mov $0x40000000, %eax; cpuid; mov $0x5fffffff, %eax; mov $9, %ecx; cpuid");
PIECE(rdmsr_gp, "lea 1f(%rip), %r11; mov $" XSTR(MARK_UNKNOWN_MSR) ", %ecx; rdmsr; 1:");
PIECE(wrmsr_gp, "lea 1f(%rip), %r11; mov $" XSTR(MARK_UNKNOWN_MSR) ", %ecx;"
		"mov $" XSTR(MARK_MSR_LOW) ", %eax; mov $" XSTR(MARK_MSR_HIGH) ", %edx; wrmsr; 1:");
#define ACCESS_MSR(index) "lea 1f(%rip), %r11; mov $" XSTR(index) ", %ecx; rdmsr; 1:"	\
			  "lea 1f(%rip), %r11; mov $" XSTR(index) ", %ecx;"		\
			  "mov $" XSTR(MARK_MSR_LOW) ", %eax;"				\
			  "mov $" XSTR(MARK_MSR_HIGH) ", %edx; wrmsr; 1:"
PIECE(msr_user, ACCESS_MSR(MSR_USER));
PIECE(msr_user_error, ACCESS_MSR(MSR_USER_ERROR));
PIECE(msr_user_nmi, ACCESS_MSR(MSR_USER_NMI));

/* Enable the APIC, and let its timer wait for a TSC deadline. */
#define START_TIMER "mov $0xfee00000, %ebx; movl $0x1ff, 0xf0(%rbx); movl $0x40032, 0x320(%rbx);"
/* One long after the end of the loop, then none. */
PIECE(tsc_deadline, START_TIMER "mov $0x6e0, %ecx; mov $-1, %eax; mov $0xffffff, %edx; wrmsr;"
		    "xor %eax, %eax; xor %edx, %edx; wrmsr");
PIECE(hlt_timer, START_TIMER "rdtsc; add " XSTR(DATA_TICKS) "(%r13), %eax; adc $0, %edx;"
		 "mov $0x6e0, %ecx; wrmsr; sti; hlt; cli");
/* Enable the APIC and send VECTOR_APIC to itself. */
#define SELF_IPI "mov $0xfee00000, %ebx; movl $0x1ff, 0xf0(%rbx); movl $0x44032, 0x300(%rbx);"
PIECE(self_ipi, "sti;" SELF_IPI "nop; cli");
PIECE(self_ipi_window, SELF_IPI "nop; sti; nop; nop; cli");
PIECE(irq, "sti; nop; outb %al, $" XSTR(PORT_ASK_IRQ) "; nop; cli");
PIECE(irq_window, "outb %al, $" XSTR(PORT_ASK_WINDOW) "; nop; sti; nop; nop; cli");
PIECE(nmi, "outb %al, $" XSTR(PORT_ASK_NMI));
PIECE(cr, "mov %cr0, %rax; xor $" XSTR(CR0_FLIPPED) ", %eax; mov %rax, %cr0;"
	  "mov %cr4, %rax; xor $" XSTR(CR4_FLIPPED) ", %eax; mov %rax, %cr4;"
	  "mov %cr3, %rax; mov %rax, %cr3");
PIECE(lmsw, "smsw %ax; xor $" XSTR(MSW_FLIPPED) ", %eax; lmsw %ax;"
	    "xor $" XSTR(MSW_FLIPPED) ", %eax; lmsw %ax");
PIECE(cr8, "mov $" XSTR(MARK_CR8) ", %eax; mov %rax, %cr8; mov %cr8, %rax; xor %eax, %eax;"
	   "mov %rax, %cr8");
/* An exit between them: SVM's KVM lets further accesses run until the next. */
PIECE(dr, "mov %dr7, %rax; outb %al, $" XSTR(PORT_DATA) "; mov %rax, %dr7");
PIECE(debug, "pushfq; orl $0x100, (%rsp); popfq; nop; nop");
PIECE(ud, "lea 1f(%rip), %r11; ud2; 1:");
PIECE(breakpoint, "int3");
#define SET_GUEST_OS(id) "mov $0x40000000, %ecx; mov $" #id ", %eax; xor %edx, %edx; wrmsr;"
PIECE(hv_hypercall, SET_GUEST_OS(1) "push %r8; mov $0x10000 + " XSTR(MARK_HV_CALL) ", %ecx;"
		    "xor %r8d, %r8d; vmmcall; pop %r8;" SET_GUEST_OS(0));
PIECE(xen_hypercall, "mov $" XSTR(MARK_XEN_CALL) ", %eax; vmmcall");
PIECE(invd, "invd");
PIECE(wbinvd, "wbinvd");
PIECE(xsetbv, "mov %cr4, %rax; or $0x40000, %eax; mov %rax, %cr4; xor %ecx, %ecx; xgetbv; xsetbv");
PIECE(npf_read, "outb %al, $" XSTR(PORT_PAGE) "; mov (%r14), %al");
PIECE(npf_fetch, "outb %al, $" XSTR(PORT_PAGE) "; call *%r14");
/* KVM fetches a page in the background only if interrupts are on. */
PIECE(async_pf, "sti; nop; outb %al, $" XSTR(PORT_LATE) "; mov (%r15), %al; cli");
PIECE(immediate_exit, "outb %al, $" XSTR(PORT_IMMEDIATE));
/* Long enough for the host's timer to interrupt it. */
PIECE(spin, "sti; mov $" XSTR(SPIN_LOOPS) ", %ecx; 1: dec %ecx; jnz 1b; cli");
PIECE(loop_end, "dec %rsi; jz 1f; .byte 0xe9; .long 0; 1: outb %al, $" XSTR(PORT_DONE));

#define MAX_PIECE		256	/* bytes */
#define RET			0xc3
#define LOOP_DISPLACEMENT	6	/* of the jump, in loop_end */
#define LOOP_JUMP_END		10

static const struct {
	const char *name, *code, *end;
} kinds_of_exit[] = {
#define KIND_ENTRY(kind) { #kind, piece_##kind, piece_##kind##_end },
	GUEST_KINDS(KIND_ENTRY)
#undef KIND_ENTRY
};

/* Flags of vm_create() without which a kind does not do what it is to do. */
static const unsigned int needs[KIND_COUNT] = {
	[KIND_hlt]		= VM_NO_IRQCHIP,
	[KIND_pio_kernel]	= VM_IRQCHIP,
	[KIND_mmio_apic]	= VM_IRQCHIP,
	[KIND_mmio_ioapic]	= VM_IRQCHIP,
	[KIND_ioeventfd]	= VM_IOEVENTFD,
	[KIND_mmio_fast]	= VM_IOEVENTFD,
	[KIND_msr_user]		= VM_MSR_FILTER,
	[KIND_msr_user_error]	= VM_MSR_FILTER,
	[KIND_msr_user_nmi]	= VM_MSR_FILTER,
	[KIND_tsc_deadline]	= VM_IRQCHIP,
	[KIND_hlt_timer]	= VM_IRQCHIP,
	[KIND_self_ipi]		= VM_IRQCHIP,
	[KIND_self_ipi_window]	= VM_IRQCHIP,
	[KIND_irq]		= VM_NO_IRQCHIP,
	[KIND_irq_window]	= VM_NO_IRQCHIP,
	[KIND_cr8]		= VM_NO_IRQCHIP,
	[KIND_breakpoint]	= VM_GUEST_DEBUG,
	[KIND_hv_hypercall]	= VM_HYPERV,
	[KIND_xen_hypercall]	= VM_XEN,
	[KIND_pio_emulated]	= VM_EMULATION,
	[KIND_async_pf]		= VM_IRQCHIP | VM_LATE_PAGE,
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
u64 guest_kinds(const char *names)
{
	unsigned int kind;
	u64 kinds = 0;
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

/**
 * guest_needs() - what a VM must have
 * @kinds: bits of KIND_*
 *
 * Return: flags for vm_create(). Kinds that give both VM_IRQCHIP and
 * VM_NO_IRQCHIP cannot be in one VM.
 */
unsigned int guest_needs(u64 kinds)
{
	unsigned int flags = 0, kind;

	for (kind = 0; kind < KIND_COUNT; kind++) {
		if (kinds & KIND_BIT(kind))
			flags |= needs[kind];
	}
	return flags;
}

static char *put(char *at, const char *code, const char *end)
{
	memcpy(at, code, end - code);
	return at + (end - code);
}

/* Each vendor has its own instruction. KVM replaces the other's, at an exit more. */
static void use_vmcall(u8 *code, size_t bytes)
{
	static const u8 vmmcall[] = { 0x0f, 0x01, 0xd9 };
	u8 *at = code;

	while ((at = memmem(at, code + bytes - at, vmmcall, sizeof(vmmcall))))
		at[2] = 0xc1;
}

/**
 * guest_load_code() - code of the test's own
 * @vcpu: vCPU that does not run; its rip and rsp are set
 * @code: position-independent code; its VMMCALL become VMCALL on Intel
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
		.r13 = vcpu->area + AREA_DATA,
		.r14 = vcpu->area + AREA_PAGE,
		.r15 = vcpu->area + AREA_LATE,
	};

	int khz = ioctl(vcpu->fd, KVM_GET_TSC_KHZ);

	if (khz <= 0)
		tap_die("KVM_GET_TSC_KHZ");
	*(u64 *)vm_at(vcpu->vm, regs.r13 + DATA_TICKS) = (u64)khz * TIMER_US / 1000;
	memcpy(vm_at(vcpu->vm, regs.rip), code, bytes);
	if (cpu_is_intel())
		use_vmcall(vm_at(vcpu->vm, regs.rip), bytes);
	vcpu_set_regs(vcpu, &regs);
}

/**
 * guest_load_list() - a loop over kinds of exits in an order of the test's own
 * @vcpu: vCPU that does not run
 * @kinds: KIND_*, also more than once
 * @nr_kinds: number of @kinds
 * @count: rounds, at least 1
 */
void guest_load_list(struct vcpu *vcpu, const enum guest_kind *kinds, size_t nr_kinds, u64 count)
{
	char code[AREA_STACK - PAGE_BYTES], *at = code;
	struct kvm_regs regs;
	size_t i;
	int jump;

	for (i = 0; i < nr_kinds; i++) {
		at = put(at, kinds_of_exit[kinds[i]].code, kinds_of_exit[kinds[i]].end);
		if (at > code + sizeof(code) - MAX_PIECE)
			tap_die("%zu pieces of code do not fit", nr_kinds);
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
 * guest_load() - a loop over kinds of exits, each once per round
 * @vcpu: vCPU that does not run
 * @kinds: bits of KIND_*
 * @count: rounds, at least 1
 */
void guest_load(struct vcpu *vcpu, u64 kinds, u64 count)
{
	enum guest_kind list[KIND_COUNT];
	unsigned int kind, n = 0;

	for (kind = 0; kind < KIND_COUNT; kind++) {
		if (kinds & KIND_BIT(kind))
			list[n++] = kind;
	}
	guest_load_list(vcpu, list, n, count);
}

static void interrupt(struct vcpu *vcpu)
{
	struct kvm_interrupt irq = { VECTOR_IRQ };

	if (ioctl(vcpu->fd, KVM_INTERRUPT, &irq))
		tap_die("KVM_INTERRUPT");
}

static void nmi(struct vcpu *vcpu)
{
	if (ioctl(vcpu->fd, KVM_NMI))
		tap_die("KVM_NMI");
}

static void drop_page(struct vcpu *vcpu, u32 offset)
{
	madvise(vm_at(vcpu->vm, vcpu->area + offset), PAGE_BYTES, MADV_DONTNEED);
}

static void return_at_once(struct vcpu *vcpu)
{
	vcpu->run->immediate_exit = 1;
	if (vcpu_run(vcpu) != -EINTR)
		tap_die("KVM_RUN with immediate_exit entered the guest");
	vcpu->run->immediate_exit = vcpu->stop;
}

static void answer_io(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;

	if (run->io.direction == KVM_EXIT_IO_IN) {
		memset((char *)run + run->io.data_offset, MARK_READ,
		       (size_t)run->io.size * run->io.count);
		return;
	}
	switch (run->io.port) {
	case PORT_RENEW:
		madvise(vm_at(vcpu->vm, vcpu->area + AREA_FRESH), AREA_FRESH_PAGES * PAGE_BYTES,
			MADV_DONTNEED);
		break;
	case PORT_DROP:
		drop_page(vcpu, AREA_STACK - PAGE_BYTES);
		break;
	case PORT_PAGE:
		drop_page(vcpu, AREA_PAGE);
		*(u8 *)vm_at(vcpu->vm, vcpu->area + AREA_PAGE) = RET;
		break;
	case PORT_LATE:
		drop_page(vcpu, AREA_LATE);
		break;
	case PORT_ASK_NMI:
		nmi(vcpu);
		break;
	case PORT_ASK_IRQ:
		interrupt(vcpu);
		break;
	case PORT_ASK_WINDOW:
		run->request_interrupt_window = 1;
		break;
	case PORT_IMMEDIATE:
		return_at_once(vcpu);
		break;
	}
}

static void step_over_breakpoint(struct vcpu *vcpu)
{
	struct kvm_regs regs;

	vcpu_get_regs(vcpu, &regs);
	regs.rip++;
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
	case KVM_EXIT_SET_TPR:
	case KVM_EXIT_XEN:
		return true;
	case KVM_EXIT_IO:
		if (run->io.port == PORT_DONE)
			return false;
		answer_io(vcpu);
		return true;
	case KVM_EXIT_MMIO:
		if (!run->mmio.is_write)
			memset(run->mmio.data, MARK_READ, sizeof(run->mmio.data));
		return true;
	case KVM_EXIT_X86_RDMSR:
	case KVM_EXIT_X86_WRMSR:
		run->msr.data = MARK_MSR_READ;
		run->msr.error = run->msr.index != MSR_USER;
		if (run->msr.index == MSR_USER_NMI)
			nmi(vcpu);
		return true;
	case KVM_EXIT_IRQ_WINDOW_OPEN:
		run->request_interrupt_window = 0;
		interrupt(vcpu);
		return true;
	case KVM_EXIT_INTERNAL_ERROR:
		errno = EPROTO;
		tap_die("vCPU %u: KVM's internal error %u: 0x%llx 0x%llx", vcpu->id,
			run->internal.suberror, run->internal.data[0], run->internal.data[1]);
	case KVM_EXIT_DEBUG:
		step_over_breakpoint(vcpu);
		return true;
	}
	if (reason == KVM_EXIT_SHUTDOWN) {
		errno = EPROTO;
		tap_die("vCPU %u: the guest has shut down, as by a triple fault", vcpu->id);
	}
	errno = reason < 0 ? -reason : EPROTO;
	tap_die("vCPU %u left KVM_RUN with %d", vcpu->id, reason);
}

/**
 * guest_load_real_mode() - code that runs in real mode, in every segment
 * @vcpu: vCPU that does not run; all its registers are new
 * @code: code
 * @bytes: its size
 *
 * KVM needs pages for it on Intel without unrestricted guests.
 */
void guest_load_real_mode(struct vcpu *vcpu, const void *code, size_t bytes)
{
	const struct kvm_segment segment = {
		.base = REAL_MODE_CODE, .limit = 0xffff, .selector = REAL_MODE_SELECTOR,
		.type = 3, .present = 1, .s = 1,
	};
	struct kvm_regs regs = { .rflags = 2, .rsp = 0x8000 };
	struct kvm_sregs sregs;

	if (cpu_is_intel() && ioctl(vcpu->vm->fd, KVM_SET_TSS_ADDR, TSS_ADDRESS))
		tap_die("KVM_SET_TSS_ADDR");
	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		tap_die("KVM_GET_SREGS");
	sregs.cr0 &= ~0x80000001ull;	/* PG, PE */
	sregs.cr4 = 0;
	sregs.efer = 0;
	sregs.cs = segment;
	sregs.ds = segment;
	sregs.es = segment;
	sregs.fs = segment;
	sregs.gs = segment;
	sregs.ss = segment;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs))
		tap_die("KVM_SET_SREGS of real mode");
	memcpy(vm_at(vcpu->vm, REAL_MODE_CODE), code, bytes);
	vcpu_set_regs(vcpu, &regs);
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
 * guest_run_exits() - run a vCPU for some exits to user space, in this thread
 * @vcpu:  vCPU
 * @count: how many exits
 */
void guest_run_exits(struct vcpu *vcpu, unsigned int count)
{
	while (count--)
		guest_handle(vcpu, vcpu_run(vcpu));
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
void guest_start(struct vcpu *vcpu, u64 kinds, u64 count)
{
	guest_load(vcpu, kinds, count);
	vcpu->fail_entries = kinds & KIND_BIT(KIND_entry_failure) ? count : 0;
	start_thread(vcpu);
}

/**
 * guest_start_list() - load a loop as guest_load_list() does, and run it in a thread
 * @vcpu: vCPU that does not run
 * @kinds: KIND_*, also more than once
 * @nr_kinds: number of @kinds
 * @count: rounds
 */
void guest_start_list(struct vcpu *vcpu, const enum guest_kind *kinds, size_t nr_kinds, u64 count)
{
	guest_load_list(vcpu, kinds, nr_kinds, count);
	vcpu->fail_entries = 0;
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

/**
 * guest_run_all() - the same loop on several vCPUs at a time, to its end
 * @vcpus: vCPUs that do not run
 * @nr_vcpus: how many
 * @kinds: as for guest_start()
 * @count: as for guest_start()
 */
void guest_run_all(struct vcpu *vcpus, unsigned int nr_vcpus, u64 kinds, u64 count)
{
	unsigned int i;

	for (i = 0; i < nr_vcpus; i++)
		guest_start(&vcpus[i], kinds, count);
	for (i = 0; i < nr_vcpus; i++)
		guest_join(&vcpus[i]);
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
