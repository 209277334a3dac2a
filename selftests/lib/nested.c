// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest that is a hypervisor itself, with SVM: its VMCB, its code and the
 * code of its nested guest. Both run in long mode on the page tables of vm.c.
 *
 * The processor leaves the general registers alone when it switches between
 * the two, but for rax and rsp: rbp is the address of the VMCB, r10 that of a
 * CPUID next to VMRUN, r11 counts down the rounds of the nested guest, r13
 * counts its exits up, r14 says that it is done, r15 is where it goes on after
 * an exit that its hypervisor sees.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "guest.h"
#include "module.h"
#include "nested.h"
#include "tap.h"
#include "trace.h"

/* Pages of a vCPU's area, behind those of guest.c. */
#define AREA_VMCB	NESTED_AREA_CONTROL
#define AREA_HSAVE	0xa1000
#define AREA_IOPM	0xa2000		/* three pages */
#define AREA_MSRPM	0xa5000		/* two pages */
#define AREA_NPT	0xaa000		/* PML4, PDPT, four PDs */
#define AREA_LAZY	0xb0000		/* not there until it is touched */

#define NESTED_HOLE	0xd0200000	/* not in the nested page tables */

#define PORT_NMI	0xf7	/* asks user space for an NMI */
#define PORT_IRQ	0xf8	/* asks user space for an interrupt */
#define PORT_LAZY	0xf9	/* asks user space to take the lazy page away */

#define MSI_ADDRESS	0xfee00000u
#define APIC_SVR	0xf0
#define APIC_SVR_ON	0x1ff

#define EXIT_INTR	0x60
#define EXIT_NMI	0x61

/* APM vol. 2, appendix B: the fields that are used. */
struct vmcb_segment {
	u16 selector, attributes;
	u32 limit;
	u64 base;
};

struct vmcb {
	u16 read_cr, write_cr;
	u32 dr, exceptions, misc1, misc2;
	u8 reserved1[0x40 - 0x14];
	u64 iopm, msrpm, tsc_offset;
	u32 asid, tlb;
	u64 int_ctl, int_state, exit_code, exit_info1, exit_info2, exit_int_info, nested_ctl;
	u8 reserved2[0xa8 - 0x98];
	u64 event_inj, nested_cr3;
	u8 reserved3[0x400 - 0xb8];
	struct vmcb_segment es, cs, ss, ds, fs, gs, gdtr, ldtr, idtr, tr;
	u8 reserved4[0x4cb - 0x4a0];
	u8 cpl;
	u32 reserved5;
	u64 efer;
	u8 reserved6[0x548 - 0x4d8];
	u64 cr4, cr3, cr0, dr7, dr6, rflags, rip;
	u8 reserved7[0x5d8 - 0x580];
	u64 rsp;
	u8 reserved8[0x5f8 - 0x5e0];
	u64 rax;
	u8 reserved9[0x668 - 0x600];
	u64 pat;
} __attribute__((packed));

static_assert(offsetof(struct vmcb, exit_code) == 0x70, "VMCB");
static_assert(offsetof(struct vmcb, nested_cr3) == 0xb0, "VMCB");
static_assert(offsetof(struct vmcb, cpl) == 0x4cb, "VMCB");
static_assert(offsetof(struct vmcb, cr4) == 0x548, "VMCB");
static_assert(offsetof(struct vmcb, rip) == 0x578, "VMCB");
static_assert(offsetof(struct vmcb, pat) == 0x668, "VMCB");

#define MISC1_INTR	(1u << 0)
#define MISC1_NMI	(1u << 1)
#define MISC1_CPUID	(1u << 18)
#define MISC1_HLT	(1u << 24)
#define MISC1_IO	(1u << 27)
#define MISC1_MSR	(1u << 28)
#define MISC2_VMRUN	(1u << 0)
#define MISC2_VMMCALL	(1u << 1)
#define MISC2_WBINVD	(1u << 9)
#define EXCEPTION_UD	(1u << 6)
#define EFER_ALL	0x1500ull	/* LME, LMA, SVME */
#define CR0_ALL		0x80000011ull	/* PG, ET, PE */
#define CR4_PAE		0x20ull
#define RFLAGS_IF	0x202ull
#define DR6_RESET	0xffff0ff0ull
#define PAT_RESET	0x0007040600070406ull
#define NESTED_CTL_NP	1
#define ATTR_CODE64	0xa9b
#define ATTR_DATA	0xc93

#define ORDER_OFFSET	"0x1000"	/* of rbp: the order */

#define PIECE(name, code)					\
	extern const char nested_##name[], nested_##name##_end[];	\
	asm(".pushsection .rodata\n"				\
	    "nested_" #name ":\n" code "\n"			\
	    "nested_" #name "_end:\n"				\
	    ".popsection\n")

/*
 * 1: writes to the port of the order, if any; 2: runs the nested guest; 3 and
 * 4: lets in the interrupt or the NMI that ended it; 5: sets the ASID that the
 * first VMCB lacks; 6: is done. The CPUID is the nested guest's: an exit there
 * is followed by an entry a few bytes behind it, but at the other level.
 */
#define HYPERVISOR								\
	"mov $0xc0000080, %ecx; rdmsr; bts $12, %eax; wrmsr;"	/* EFER.SVME */	\
	"mov $0xc0010117, %ecx; lea 0x1000(%rbp), %rax; xor %edx, %edx; wrmsr;"	\
	"clgi;"									\
	"1: movzbl -" ORDER_OFFSET "(%rbp), %edx; test %edx, %edx; jz 2f; out %al, %dx;" \
	"2: mov %rbp, %rax; jmp 7f;"						\
	"nested_near:; cpuid;"							\
	"7: vmrun %rax;"							\
	"inc %r13; mov 0x70(%rbp), %rax;"					\
	"cmp $" XSTR(EXIT_INTR) ", %rax; je 3f; cmp $" XSTR(EXIT_NMI) ", %rax; je 4f;" \
	"cmp $-1, %rax; je 5f;"							\
	"test %r14, %r14; jnz 6f; mov %r15, 0x578(%rbp); jmp 1b;"		\
	"3: stgi; sti; nop; cli; clgi; jmp 2b;"					\
	"4: stgi; nop; clgi; jmp 2b;"						\
	"5: movl $1, 0x58(%rbp); jmp 1b;"					\
	"6: out %al, $" XSTR(PORT_DONE)

PIECE(hypervisor, HYPERVISOR);

#define NEXT(code) "lea 1f(%rip), %r15; " code "; 1:"

PIECE(cpuid, NEXT("mov $" XSTR(NESTED_CPUID) ", %eax; xor %ecx, %ecx; cpuid"));
PIECE(hlt, NEXT("hlt"));
PIECE(wbinvd, NEXT("wbinvd"));
PIECE(cr_write, NEXT("mov %cr0, %rax; mov %rax, %cr0"));
PIECE(kept_io, "outb %al, $" XSTR(PORT_DATA) "; inb $" XSTR(PORT_DATA) ", %al");
PIECE(kept_rdmsr, "mov $" XSTR(MARK_RDMSR) ", %ecx; rdmsr");
PIECE(kept_mmio, "mov $" XSTR(VM_MMIO) ", %eax; mov (%rax), %ebx; mov %ebx, 4(%rax)");
PIECE(kept_npf, "outb %al, $" XSTR(PORT_LAZY) "; movb $1, 0x10000(%rbp)");
PIECE(reflected_io, NEXT("outb %al, $" XSTR(NESTED_PORT_REFLECTED)));
PIECE(reflected_rdmsr, NEXT("mov $" XSTR(NESTED_MSR_REFLECTED) ", %ecx; rdmsr"));
PIECE(reflected_wrmsr, NEXT("mov $" XSTR(NESTED_MSR_REFLECTED) ", %ecx;"
			    "mov $" XSTR(MARK_WRMSR_LOW) ", %eax; xor %edx, %edx; wrmsr"));
PIECE(reflected_vmmcall, NEXT("mov $" XSTR(MARK_UNKNOWN_NR) ", %eax; vmmcall"));
PIECE(reflected_ud, NEXT("ud2"));
PIECE(reflected_npf, NEXT("mov $" XSTR(NESTED_HOLE) ", %eax; mov (%rax), %ebx"));
PIECE(reflected_near, NEXT("mov $" XSTR(NESTED_CPUID) ", %eax; xor %ecx, %ecx; jmp *%r10"));
PIECE(nmi, "outb %al, $" XSTR(PORT_NMI));
PIECE(irq, "outb %al, $" XSTR(PORT_IRQ));
PIECE(loop_end, "dec %r11; jz 1f; .byte 0xe9; .long 0; 1: mov $1, %r14d; vmmcall");

#define LOOP_DISPLACEMENT	6	/* of the jump, in loop_end */
#define LOOP_JUMP_END		10

extern const char nested_near[];

static const struct {
	const char *code, *end;
} kinds_of_exit[] = {
#define KIND_ENTRY(kind) { nested_##kind, nested_##kind##_end },
	NESTED_KINDS(KIND_ENTRY)
#undef KIND_ENTRY
};

/**
 * nested_why_not() - why a guest of that kind cannot be had
 * @flags: as for nested_load()
 *
 * Return: a reason, or NULL if it can.
 */
const char *nested_why_not(unsigned int flags)
{
	const bool intel = cpu_is_intel();
	char *text = file_read(intel ? "/sys/module/kvm_intel/parameters/nested" :
				       "/sys/module/kvm_amd/parameters/nested");
	const bool on = text && (*text == '1' || *text == 'Y');

	free(text);
	if (!on)
		return "KVM is loaded with nested=0";
	if (intel && flags & ~(NESTED_INTERCEPT | NESTED_IRQ_AT_ENTRY))
		return "the hypervisor for VMX has neither EPT nor NMIs at its entries";
	return NULL;
}

/**
 * nested_kinds() - the kinds of exits that there are
 *
 * Return: bits of NESTED_*
 */
unsigned int nested_kinds(void)
{
	return cpu_is_intel() ? NESTED_VMX_KINDS : NESTED_ALL;
}

static void apic_on(struct vcpu *vcpu)
{
	struct kvm_lapic_state apic;
	const u32 on = APIC_SVR_ON;

	if (ioctl(vcpu->fd, KVM_GET_LAPIC, &apic))
		tap_die("KVM_GET_LAPIC");
	memcpy(apic.regs + APIC_SVR, &on, sizeof(on));
	if (ioctl(vcpu->fd, KVM_SET_LAPIC, &apic))
		tap_die("KVM_SET_LAPIC");
}

static u64 make_nested_paging(struct vcpu *vcpu, bool share)
{
	const u64 at = vcpu->area + AREA_NPT;
	u64 *pml4 = vm_at(vcpu->vm, at), *pdpt = pml4 + 512, *pd = pdpt + 512;
	unsigned int i;

	memcpy(pml4, vm_at(vcpu->vm, VM_PML4), PAGE_BYTES);
	memcpy(pdpt, vm_at(vcpu->vm, VM_PDPT), PAGE_BYTES);
	memcpy(pd, vm_at(vcpu->vm, VM_PD), 4 * PAGE_BYTES);
	pml4[0] += at + PAGE_BYTES - VM_PDPT;
	/* The last GiB, which has the hole, is never shared. */
	for (i = share ? 3 : 0; i < 4; i++)
		pdpt[i] += at + 2 * PAGE_BYTES - VM_PD;
	pd[NESTED_HOLE >> 21] = 0;
	return at;
}

static void make_vmcb(struct vcpu *vcpu, unsigned int flags)
{
	struct vmcb *vmcb = vm_at(vcpu->vm, vcpu->area + AREA_VMCB);
	u8 *iopm = vm_at(vcpu->vm, vcpu->area + AREA_IOPM);
	u8 *msrpm = vm_at(vcpu->vm, vcpu->area + AREA_MSRPM);

	iopm[NESTED_PORT_REFLECTED / 8] |= 1 << NESTED_PORT_REFLECTED % 8;
	msrpm[NESTED_MSR_REFLECTED / 4] |= 3 << 2 * (NESTED_MSR_REFLECTED % 4);
	*vmcb = (struct vmcb){
		.exceptions = EXCEPTION_UD,
		.misc1 = MISC1_INTR | MISC1_NMI | MISC1_IO | MISC1_MSR,
		.misc2 = MISC2_VMRUN | MISC2_VMMCALL,
		.iopm = vcpu->area + AREA_IOPM,
		.msrpm = vcpu->area + AREA_MSRPM,
		.asid = !(flags & NESTED_INVALID),
		.cs = { SEL_CODE64, ATTR_CODE64, 0xffffffff, 0 },
		.ds = { SEL_DATA, ATTR_DATA, 0xffffffff, 0 },
		.gdtr = { .base = VM_GDT, .limit = 4 * 8 - 1 },
		.idtr = { .base = VM_IDT, .limit = 256 * 16 - 1 },
		.efer = EFER_ALL, .cr4 = CR4_PAE, .cr3 = VM_PML4, .cr0 = CR0_ALL,
		.dr6 = DR6_RESET, .dr7 = 0x400, .rflags = RFLAGS_IF, .pat = PAT_RESET,
		.rip = vcpu->area + NESTED_AREA_CODE, .rsp = vcpu->area + NESTED_AREA_STACK,
	};
	vmcb->es = vmcb->ds;
	vmcb->ss = vmcb->ds;
	if (flags & NESTED_INTERCEPT) {
		vmcb->write_cr = 1;
		vmcb->misc1 |= MISC1_CPUID | MISC1_HLT;
		vmcb->misc2 |= MISC2_WBINVD;
	}
	if (flags & NESTED_PAGING) {
		vmcb->nested_ctl = NESTED_CTL_NP;
		vmcb->nested_cr3 = make_nested_paging(vcpu, flags & NESTED_SHARE);
	}
}

static char *put(char *at, const char *code, const char *end)
{
	memcpy(at, code, end - code);
	return at + (end - code);
}

static void use_vmcall(u8 *at, const u8 *end)
{
	static const u8 vmmcall[] = { 0x0f, 0x01, 0xd9 };

	while ((at = memmem(at, end - at, vmmcall, sizeof(vmmcall))))
		at[2] = 0xc1;
}

/**
 * nested_load() - a hypervisor with a nested guest that loops over kinds of exits
 * @vcpu: vCPU that does not run; with NESTED_irq or NESTED_IRQ_AT_ENTRY, of a VM
 *	  with VM_IRQCHIP
 * @kinds: bits of NESTED_*; NESTED_reflected_npf needs NESTED_PAGING
 * @flags: NESTED_INTERCEPT and so on
 * @count: rounds, at least 1
 */
void nested_load(struct vcpu *vcpu, unsigned int kinds, unsigned int flags, u32 count)
{
	char *start = vm_at(vcpu->vm, vcpu->area + NESTED_AREA_CODE), *at = start, *end;
	u8 *order = vm_at(vcpu->vm, vcpu->area + NESTED_AREA_ORDER);
	struct kvm_regs regs;
	unsigned int kind;
	u64 near;
	int jump;

	for (kind = 0; kind < NESTED_KIND_COUNT; kind++) {
		if (kinds & NESTED_BIT(kind))
			at = put(at, kinds_of_exit[kind].code, kinds_of_exit[kind].end);
	}
	jump = start - (at + LOOP_JUMP_END);
	end = put(at, nested_loop_end, nested_loop_end_end);
	memcpy(at + LOOP_DISPLACEMENT, &jump, sizeof(jump));
	if (cpu_is_intel())
		use_vmcall((u8 *)start, (u8 *)end);
	*order = flags & NESTED_NMI_AT_ENTRY ? PORT_NMI :
		 flags & NESTED_IRQ_AT_ENTRY ? PORT_IRQ : 0;
	if (vcpu->vm->flags & VM_IRQCHIP)
		apic_on(vcpu);
	if (cpu_is_intel()) {
		near = nested_vmx_load(vcpu, flags);
	} else {
		make_vmcb(vcpu, flags);
		guest_load_code(vcpu, nested_hypervisor,
				nested_hypervisor_end - nested_hypervisor);
		near = vcpu->area + AREA_CODE + (nested_near - nested_hypervisor);
	}
	vcpu_get_regs(vcpu, &regs);
	regs.rbp = vcpu->area + AREA_VMCB;
	regs.r10 = near;
	regs.r11 = count;
	regs.r13 = 0;
	regs.r14 = 0;
	vcpu_set_regs(vcpu, &regs);
}

static bool handle(struct vcpu *vcpu, int reason)
{
	struct kvm_msi irq = { .address_lo = MSI_ADDRESS, .data = VECTOR_APIC };

	if (reason == KVM_EXIT_IO) {
		switch (vcpu->run->io.port) {
		case PORT_NMI:
			if (ioctl(vcpu->fd, KVM_NMI))
				tap_die("KVM_NMI");
			return true;
		case PORT_IRQ:
			if (ioctl(vcpu->vm->fd, KVM_SIGNAL_MSI, &irq) < 0)
				tap_die("KVM_SIGNAL_MSI");
			return true;
		case PORT_LAZY:
			madvise(vm_at(vcpu->vm, vcpu->area + AREA_LAZY), PAGE_BYTES,
				MADV_DONTNEED);
			return true;
		}
	}
	return guest_handle(vcpu, reason);
}

/**
 * nested_run() - run a vCPU to the end of its nested guest, in this thread
 * @vcpu: vCPU after nested_load()
 */
void nested_run(struct vcpu *vcpu)
{
	while (handle(vcpu, vcpu_run(vcpu)))
		;
}

/**
 * nested_exits_seen() - exits of the nested guest that its hypervisor saw
 * @vcpu: vCPU that does not run
 */
u64 nested_exits_seen(struct vcpu *vcpu)
{
	struct kvm_regs regs;

	vcpu_get_regs(vcpu, &regs);
	return regs.r13;
}
