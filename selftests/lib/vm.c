// SPDX-License-Identifier: GPL-2.0-only
/*
 * VMs and vCPUs over raw /dev/kvm, and KVM's own statistics of them. Any
 * error of an ioctl ends the test: only KVM_RUN may fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "vm.h"

#define CR0_PE		0x1ull
#define CR0_ET		0x10ull
#define CR0_PG		0x80000000ull
#define CR4_PAE		0x20ull
#define EFER_LME	0x100ull
#define EFER_LMA	0x400ull
#define PTE_PRESENT	0x1ull
#define PTE_WRITABLE	0x2ull
#define PTE_USER	0x4ull
#define PTE_LARGE	0x80ull
#define MAX_CPUID	256

/* 64-bit interrupt gate, present, for ring 0. */
#define GATE_64		0x8e00u
#define NMI_VECTOR	2
#define PF_VECTOR	14

static int kvm_fd = -1;

/**
 * run_on_cpu() - keep the calling thread, and those it starts, on a CPU
 * @cpu: modulo the number of CPUs
 *
 * Clocks of CPUs may differ by more than the time between two records: what
 * is to be told in its order by its times must be on one CPU.
 */
void run_on_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		tap_die("affinity to CPU %u", cpu);
}

/**
 * vm_kvm_fd() - /dev/kvm, opened once
 */
int vm_kvm_fd(void)
{
	if (kvm_fd < 0)
		kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm_fd < 0)
		tap_die("/dev/kvm cannot be opened: load kvm_amd or kvm_intel");
	return kvm_fd;
}

/**
 * vm_kvm_close() - let KVM's modules be unloaded
 */
void vm_kvm_close(void)
{
	if (kvm_fd >= 0)
		close(kvm_fd);
	kvm_fd = -1;
}

/**
 * vm_at() - guest memory as seen from here
 * @vm: VM
 * @gpa: guest-physical address inside its memory
 */
void *vm_at(struct vm *vm, u64 gpa)
{
	return vm->mem + gpa;
}

static void make_page_tables(struct vm *vm)
{
	u64 *pml4 = vm_at(vm, VM_PML4);
	u64 *pdpt = vm_at(vm, VM_PDPT);
	u64 *pd = vm_at(vm, VM_PD);
	const u64 all = PTE_PRESENT | PTE_WRITABLE | PTE_USER;
	u64 i;

	pml4[0] = VM_PDPT | all;
	for (i = 0; i < 4; i++)
		pdpt[i] = (VM_PD + i * PAGE_BYTES) | all;
	for (i = 0; i < 4 * 512; i++)
		pd[i] = i << 21 | all | PTE_LARGE;
}

static void set_gate(struct vm *vm, unsigned int vector, u32 handler)
{
	u32 *gate = vm_at(vm, VM_IDT + vector * 16);

	gate[0] = SEL_CODE64 << 16 | (handler & 0xffff);
	gate[1] = (handler & 0xffff0000u) | GATE_64;
}

static void make_descriptors(struct vm *vm)
{
	static const u64 gdt[] = {
		0,
		0x00af9a000000ffffull,	/* SEL_CODE64 */
		0x00cf92000000ffffull,	/* SEL_DATA */
		0x00cf9a000000ffffull,	/* SEL_CODE32 */
	};
	static const u8 nmi[] = { 0x48, 0xcf };		/* iretq */
	static const u8 page_fault[] = {
		0x48, 0x83, 0xc4, 0x08,			/* add $8, %rsp */
		0x4c, 0x89, 0x1c, 0x24,			/* mov %r11, (%rsp) */
		0x48, 0xcf,				/* iretq */
	};

	memcpy(vm_at(vm, VM_GDT), gdt, sizeof(gdt));
	memcpy(vm_at(vm, VM_NMI_HANDLER), nmi, sizeof(nmi));
	memcpy(vm_at(vm, VM_PF_HANDLER), page_fault, sizeof(page_fault));
	set_gate(vm, NMI_VECTOR, VM_NMI_HANDLER);
	set_gate(vm, PF_VECTOR, VM_PF_HANDLER);
}

/**
 * vm_create() - a VM with memory, page tables and descriptors
 * @vm: filled in
 * @max_vcpus: how many vCPUs will be created in it
 * @flags: VM_*
 */
void vm_create(struct vm *vm, unsigned int max_vcpus, unsigned int flags)
{
	struct kvm_userspace_memory_region region = {};

	memset(vm, 0, sizeof(*vm));
	vm->max_vcpus = max_vcpus;
	vm->flags = flags;
	vm->mem_bytes = VM_AREA + (size_t)max_vcpus * VM_AREA;
	vm->mem = mmap(NULL, vm->mem_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (vm->mem == MAP_FAILED)
		tap_die("%zu bytes of guest memory", vm->mem_bytes);
	/* Each page that a guest touches shall be one nested page fault. */
	madvise(vm->mem, vm->mem_bytes, MADV_NOHUGEPAGE);
	make_page_tables(vm);
	make_descriptors(vm);

	vm->fd = ioctl(vm_kvm_fd(), KVM_CREATE_VM, 0);
	if (vm->fd < 0)
		tap_die("KVM_CREATE_VM");
	if ((flags & VM_IRQCHIP) && ioctl(vm->fd, KVM_CREATE_IRQCHIP))
		tap_die("KVM_CREATE_IRQCHIP");
	region.memory_size = vm->mem_bytes;
	region.userspace_addr = (unsigned long)vm->mem;
	if (ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region))
		tap_die("KVM_SET_USER_MEMORY_REGION");
}

/**
 * vm_destroy() - let go of the VM; it ends when its vCPUs are closed too
 * @vm: VM
 */
void vm_destroy(struct vm *vm)
{
	close(vm->fd);
	munmap(vm->mem, vm->mem_bytes);
}

static void set_cpuid(struct vcpu *vcpu)
{
	static struct {
		struct kvm_cpuid2 head;
		struct kvm_cpuid_entry2 entries[MAX_CPUID];
	} cpuid;

	if (!cpuid.head.nent) {
		cpuid.head.nent = MAX_CPUID;
		if (ioctl(vm_kvm_fd(), KVM_GET_SUPPORTED_CPUID, &cpuid))
			tap_die("KVM_GET_SUPPORTED_CPUID");
	}
	if (ioctl(vcpu->fd, KVM_SET_CPUID2, &cpuid))
		tap_die("KVM_SET_CPUID2");
}

static struct kvm_segment segment(u16 selector, u8 type, bool long_mode)
{
	return (struct kvm_segment){
		.limit = 0xffffffff, .selector = selector, .type = type, .present = 1,
		.s = 1, .g = 1, .l = long_mode, .db = !long_mode,
	};
}

/**
 * vcpu_set_mode() - ring 0, flat segments, interrupts off
 * @vcpu: vCPU
 * @mode: MODE_*
 */
void vcpu_set_mode(struct vcpu *vcpu, enum vcpu_mode mode)
{
	struct kvm_sregs sregs;
	bool long_mode = mode == MODE_LONG;

	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		tap_die("KVM_GET_SREGS");
	sregs.cs = segment(long_mode ? SEL_CODE64 : SEL_CODE32, 0xb, long_mode);
	sregs.ds = segment(SEL_DATA, 0x3, false);
	sregs.es = sregs.ds;
	sregs.fs = sregs.ds;
	sregs.gs = sregs.ds;
	sregs.ss = sregs.ds;
	sregs.gdt.base = VM_GDT;
	sregs.gdt.limit = 4 * 8 - 1;
	sregs.idt.base = VM_IDT;
	sregs.idt.limit = 256 * 16 - 1;
	sregs.cr0 = CR0_PE | CR0_ET | (long_mode ? CR0_PG : 0);
	sregs.cr3 = long_mode ? VM_PML4 : 0;
	sregs.cr4 = long_mode ? CR4_PAE : 0;
	sregs.efer = long_mode ? EFER_LME | EFER_LMA : 0;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs))
		tap_die("KVM_SET_SREGS");
}

static void start_apic(struct vcpu *vcpu)
{
	struct kvm_mp_state runnable = { KVM_MP_STATE_RUNNABLE };
	struct kvm_lapic_state apic;

	/* All vCPUs but the first wait for INIT and SIPI. */
	if (ioctl(vcpu->fd, KVM_SET_MP_STATE, &runnable))
		tap_die("KVM_SET_MP_STATE");
	/* Before the first write to it KVM does not find an APIC by its id. */
	if (ioctl(vcpu->fd, KVM_GET_LAPIC, &apic) || ioctl(vcpu->fd, KVM_SET_LAPIC, &apic))
		tap_die("KVM_SET_LAPIC");
}

/**
 * vcpu_create() - a vCPU in long mode that can be run
 * @vm: VM
 * @vcpu: filled in
 * @id: as KVM_CREATE_VCPU takes it
 */
void vcpu_create(struct vm *vm, struct vcpu *vcpu, unsigned int id)
{
	int bytes;

	memset(vcpu, 0, sizeof(*vcpu));
	vcpu->vm = vm;
	vcpu->id = id;
	vcpu->index = vm->nr_vcpus++;
	vcpu->area = VM_AREA + (u64)vcpu->index * VM_AREA;
	if (vcpu->index >= vm->max_vcpus)
		tap_die("more than %u vCPUs", vm->max_vcpus);
	vcpu->fd = ioctl(vm->fd, KVM_CREATE_VCPU, (unsigned long)id);
	if (vcpu->fd < 0)
		tap_die("KVM_CREATE_VCPU %u", id);
	bytes = ioctl(vm_kvm_fd(), KVM_GET_VCPU_MMAP_SIZE, 0);
	if (bytes < 0)
		tap_die("KVM_GET_VCPU_MMAP_SIZE");
	vcpu->run_bytes = bytes;
	vcpu->run = mmap(NULL, vcpu->run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu->fd, 0);
	if (vcpu->run == MAP_FAILED)
		tap_die("kvm_run of vCPU %u", id);
	vcpu->stats_fd = ioctl(vcpu->fd, KVM_GET_STATS_FD, NULL);
	if (vcpu->stats_fd < 0)
		tap_die("KVM_GET_STATS_FD");
	set_cpuid(vcpu);
	vcpu_set_mode(vcpu, MODE_LONG);
	if (vm->flags & VM_IRQCHIP)
		start_apic(vcpu);
}

/**
 * vcpu_destroy() - close the vCPU
 * @vcpu: vCPU
 */
void vcpu_destroy(struct vcpu *vcpu)
{
	munmap(vcpu->run, vcpu->run_bytes);
	close(vcpu->stats_fd);
	close(vcpu->fd);
}

/**
 * vcpu_get_regs() - KVM_GET_REGS
 * @vcpu: vCPU that does not run
 * @regs: filled in
 */
void vcpu_get_regs(struct vcpu *vcpu, struct kvm_regs *regs)
{
	if (ioctl(vcpu->fd, KVM_GET_REGS, regs))
		tap_die("KVM_GET_REGS");
}

/**
 * vcpu_set_regs() - KVM_SET_REGS
 * @vcpu: vCPU that does not run
 * @regs: new registers
 */
void vcpu_set_regs(struct vcpu *vcpu, const struct kvm_regs *regs)
{
	if (ioctl(vcpu->fd, KVM_SET_REGS, regs))
		tap_die("KVM_SET_REGS");
}

/**
 * vcpu_run() - one KVM_RUN
 * @vcpu: vCPU
 *
 * Return: KVM_EXIT_*, or a negative errno.
 */
int vcpu_run(struct vcpu *vcpu)
{
	int ret = ioctl(vcpu->fd, KVM_RUN, 0);

	vcpu->user_exits++;
	return ret < 0 ? -errno : (int)vcpu->run->exit_reason;
}

/**
 * vcpu_stat() - a statistic of KVM's own
 * @vcpu: vCPU
 * @name: as in the binary statistics of the vCPU
 */
u64 vcpu_stat(struct vcpu *vcpu, const char *name)
{
	struct kvm_stats_header head;
	struct kvm_stats_desc *desc;
	size_t bytes, i;
	u64 value;
	char *all;

	if (pread(vcpu->stats_fd, &head, sizeof(head), 0) != sizeof(head))
		tap_die("header of KVM's statistics");
	bytes = sizeof(*desc) + head.name_size;
	all = malloc(bytes * head.num_desc);
	if (!all || pread(vcpu->stats_fd, all, bytes * head.num_desc, head.desc_offset) < 0)
		tap_die("descriptors of KVM's statistics");
	for (i = 0; i < head.num_desc; i++) {
		desc = (struct kvm_stats_desc *)(all + i * bytes);
		if (strcmp(desc->name, name))
			continue;
		if (pread(vcpu->stats_fd, &value, sizeof(value),
			  head.data_offset + desc->offset) != sizeof(value))
			tap_die("KVM's statistic %s", name);
		free(all);
		return value;
	}
	errno = ENOENT;
	tap_die("KVM's statistic %s", name);
}
