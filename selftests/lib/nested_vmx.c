// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hypervisor of nested.c for VMX: its VMCS, as a table that it writes
 * itself, and its code. There the processor leaves all general registers
 * alone; the hypervisor saves the two that it needs.
 */
#include <string.h>
#include <sys/ioctl.h>

#include "guest.h"
#include "nested.h"
#include "tap.h"

#define AREA_VMXON	0xa1000
#define AREA_VMCS	0xa2000
#define AREA_IO_BITMAP	0xa3000		/* two pages */
#define AREA_MSR_BITMAP	0xa5000
#define AREA_STACK_1	0xa7000

#define MSR_FEATURE_CONTROL	0x3a
#define FEATURE_CONTROL_VMX	5	/* locked, VMXON outside SMX */
#define MSR_VMX_BASIC		0x480
#define MSR_VMX_PIN		0x481
#define MSR_VMX_CPU		0x482
#define MSR_VMX_EXIT		0x483
#define MSR_VMX_ENTRY		0x484

#define CR0_ALL		0x80000031ull	/* PG, NE, ET, PE */
#define CR4_ALL		0x2020ull	/* VMXE, PAE */
#define EFER_ALL	0x500ull	/* LMA, LME */
#define PIN_INTERRUPT	0x1
#define PIN_NMI		0x8
#define CPU_HLT		(1u << 7)
#define CPU_IO_BITMAPS	(1u << 25)
#define CPU_MSR_BITMAPS	(1u << 28)
#define EXIT_64		(1u << 9)
#define EXIT_ACK	(1u << 15)
#define EXIT_SAVE_EFER	(1u << 20)
#define EXIT_LOAD_EFER	(1u << 21)
#define ENTRY_64	(1u << 9)
#define ENTRY_LOAD_EFER	(1u << 15)
#define EXCEPTION_UD	(1u << 6)
#define RFLAGS_IF	0x202
#define SEL_TSS		0x20
#define AR_CODE64	0xa09b
#define AR_DATA		0xc093
#define AR_TSS		0x8b
#define AR_UNUSABLE	0x10000
#define LIMIT_TSS	0x67

/* SDM vol. 3D, appendix B. Segments in the order ES, CS, SS, DS, FS, GS, LDTR, TR. */
#define GUEST_SELECTOR(i)	(0x800 + 2 * (i))
#define GUEST_LIMIT(i)		(0x4800 + 2 * (i))
#define GUEST_AR(i)		(0x4814 + 2 * (i))
#define HOST_SELECTOR(i)	(0xc00 + 2 * (i))
#define SEGMENTS	8
#define HOST_SEGMENTS	7	/* no LDTR */

/* What the hypervisor finds at rbp. */
struct control {
	u64 vmxon, vmcs;
	struct field {
		u64 encoding, value;
	} fields[100];
};

/* 3: lets the nested guest go on; 4: takes the interrupt that ended it; 6: is done. */
extern const char nested_vmx[], nested_vmx_end[], nested_vmx_exit[], nested_vmx_near[];
asm(".pushsection .rodata\n"
	"nested_vmx:\n"
	"	vmxon (%rbp); vmclear 8(%rbp); vmptrld 8(%rbp); lea 16(%rbp), %rsi\n"
	"1:	mov (%rsi), %rax; test %rax, %rax; jz 2f; mov 8(%rsi), %rdx\n"
	"	vmwrite %rdx, %rax; add $16, %rsi; jmp 1b\n"
	"2:	vmlaunch; ud2\n"
	"nested_vmx_exit:\n"
	"	push %rax; push %rdx; inc %r13\n"
	"	mov $0x4402, %edx; vmread %rdx, %rax\n"		/* exit reason */
	"	cmp $1, %rax; je 4f\n"
	"	test %rax, %rax; jnz 5f\n"
	"	mov $0x4404, %edx; vmread %rdx, %rdx; cmp $2, %dl; je 3f\n"	/* an NMI */
	"5:	test %r14, %r14; jnz 6f\n"
	"	mov $0x681e, %edx; vmwrite %r15, %rdx\n"	/* the nested guest's RIP */
	"	movzbl -0x1000(%rbp), %edx; test %edx, %edx; jz 3f; out %al, %dx\n"
	"3:	pop %rdx; pop %rax; jmp 7f\n"
	"nested_vmx_near:\n"
	"	cpuid\n"
	"7:	vmresume; ud2\n"
	"4:	mov $0xfee000b0, %eax; movl $0, (%rax); jmp 3b\n"	/* end of interrupt */
	"6:	out %al, $" XSTR(PORT_DONE) "\n"
	"nested_vmx_end:\n"
	".popsection\n");

static u64 get_msr(struct vcpu *vcpu, u32 index)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msr = { .head.nmsrs = 1, .entry.index = index };

	if (ioctl(vcpu->fd, KVM_GET_MSRS, &msr) != 1)
		tap_die("KVM_GET_MSRS of 0x%x", index);
	return msr.entry.data;
}

/* What may be set of what is wanted, and what must be. */
static u32 controls(struct vcpu *vcpu, u32 msr, u32 wanted)
{
	const u64 allowed = get_msr(vcpu, msr);

	return (wanted | (u32)allowed) & (u32)(allowed >> 32);
}

static struct field *segments(struct field *at)
{
	static const u16 selectors[SEGMENTS] = { SEL_DATA, SEL_CODE64, SEL_DATA, SEL_DATA,
						 SEL_DATA, SEL_DATA, 0, SEL_TSS };
	static const u32 rights[SEGMENTS] = { AR_DATA, AR_CODE64, AR_DATA, AR_DATA, AR_DATA,
					      AR_DATA, AR_UNUSABLE, AR_TSS };
	unsigned int i;

	for (i = 0; i < SEGMENTS; i++) {
		*at++ = (struct field){ GUEST_SELECTOR(i), selectors[i] };
		*at++ = (struct field){ GUEST_AR(i), rights[i] };
		*at++ = (struct field){ GUEST_LIMIT(i),
					i == SEGMENTS - 1 ? LIMIT_TSS : 0xffffffff };
	}
	for (i = 0; i < HOST_SEGMENTS; i++)
		*at++ = (struct field){ HOST_SELECTOR(i),
					i == HOST_SEGMENTS - 1 ? SEL_TSS : selectors[i] };
	return at;
}

static void make_fields(struct vcpu *vcpu, struct field *at, unsigned int flags)
{
	const struct field fields[] = {
		{ 0x4000, controls(vcpu, MSR_VMX_PIN, PIN_INTERRUPT | PIN_NMI) },
		{ 0x4002, controls(vcpu, MSR_VMX_CPU, CPU_IO_BITMAPS | CPU_MSR_BITMAPS |
				   (flags & NESTED_INTERCEPT ? CPU_HLT : 0)) },
		{ 0x400c, controls(vcpu, MSR_VMX_EXIT,
				   EXIT_64 | EXIT_ACK | EXIT_SAVE_EFER | EXIT_LOAD_EFER) },
		{ 0x4012, controls(vcpu, MSR_VMX_ENTRY, ENTRY_64 | ENTRY_LOAD_EFER) },
		{ 0x4004, EXCEPTION_UD },
		{ 0x2000, vcpu->area + AREA_IO_BITMAP },
		{ 0x2002, vcpu->area + AREA_IO_BITMAP + PAGE_BYTES },
		{ 0x2004, vcpu->area + AREA_MSR_BITMAP },
		{ 0x2800, ~0ull },				/* no shadow VMCS */
		{ 0x2806, EFER_ALL }, { 0x2c02, EFER_ALL },
		{ 0x6800, CR0_ALL }, { 0x6c00, CR0_ALL },
		{ 0x6802, VM_PML4 }, { 0x6c02, VM_PML4 },
		{ 0x6804, CR4_ALL }, { 0x6c04, CR4_ALL },
		{ 0x4810, 5 * 8 - 1 }, { 0x6816, VM_GDT }, { 0x6c0c, VM_GDT },
		{ 0x4812, 256 * 16 - 1 }, { 0x6818, VM_IDT }, { 0x6c0e, VM_IDT },
		{ 0x681a, 0x400 },				/* DR7 */
		{ 0x6820, RFLAGS_IF },
		{ 0x681e, vcpu->area + NESTED_AREA_CODE },
		{ 0x681c, vcpu->area + NESTED_AREA_STACK },
		{ 0x6c16, vcpu->area + AREA_CODE + (nested_vmx_exit - nested_vmx) },
		{ 0x6c14, vcpu->area + AREA_STACK_1 },
	};

	memcpy(at, fields, sizeof(fields));
	*segments(at + ARRAY_SIZE(fields)) = (struct field){};
}

static void prepare_vcpu(struct vcpu *vcpu)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msr = {
		.head.nmsrs = 1,
		.entry = { .index = MSR_FEATURE_CONTROL, .data = FEATURE_CONTROL_VMX },
	};
	struct kvm_sregs sregs;

	if (ioctl(vcpu->fd, KVM_SET_MSRS, &msr) != 1)
		tap_die("KVM_SET_MSRS");
	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		tap_die("KVM_GET_SREGS");
	sregs.cr0 = CR0_ALL;
	sregs.cr4 = CR4_ALL;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs))
		tap_die("KVM_SET_SREGS");
}

/**
 * nested_vmx_load() - the hypervisor that drives VMX
 * @vcpu: vCPU that does not run
 * @flags: NESTED_INTERCEPT and so on
 *
 * Return: address of a CPUID that is next to its VMRESUME.
 */
u64 nested_vmx_load(struct vcpu *vcpu, unsigned int flags)
{
	struct control *control = vm_at(vcpu->vm, vcpu->area + NESTED_AREA_CONTROL);
	u8 *io = vm_at(vcpu->vm, vcpu->area + AREA_IO_BITMAP);
	u8 *msrs = vm_at(vcpu->vm, vcpu->area + AREA_MSR_BITMAP);
	const u32 revision = get_msr(vcpu, MSR_VMX_BASIC) & 0x7fffffff;

	memset(control, 0, PAGE_BYTES);
	control->vmxon = vcpu->area + AREA_VMXON;
	control->vmcs = vcpu->area + AREA_VMCS;
	memcpy(vm_at(vcpu->vm, control->vmxon), &revision, sizeof(revision));
	memcpy(vm_at(vcpu->vm, control->vmcs), &revision, sizeof(revision));
	io[NESTED_PORT_REFLECTED / 8] |= 1 << NESTED_PORT_REFLECTED % 8;
	msrs[NESTED_MSR_REFLECTED / 8] |= 1 << NESTED_MSR_REFLECTED % 8;
	msrs[2048 + NESTED_MSR_REFLECTED / 8] |= 1 << NESTED_MSR_REFLECTED % 8;
	make_fields(vcpu, control->fields, flags);
	prepare_vcpu(vcpu);
	guest_load_code(vcpu, nested_vmx, nested_vmx_end - nested_vmx);
	return vcpu->area + AREA_CODE + (nested_vmx_near - nested_vmx);
}
