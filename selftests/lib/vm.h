/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VMs and vCPUs over raw /dev/kvm, and KVM's own statistics of them. What the
 * guests execute is in guest.h.
 */
#ifndef _SELFTESTS_VM_H
#define _SELFTESTS_VM_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define PAGE_BYTES	4096u

/*
 * Guest memory: tables of all vCPUs in the first MiB, then one MiB for each
 * vCPU, in the order of their creation.
 */
#define VM_PML4		0x1000u
#define VM_PDPT		0x2000u
#define VM_PD		0x3000u	/* four tables: 4 GiB of identity mapping */
#define VM_GDT		0x7000u
#define VM_IDT		0x8000u
#define VM_NMI_HANDLER	0x9000u
#define VM_PF_HANDLER	0x9100u
#define VM_AREA		0x100000u
#define VM_MMIO		0xd0000000u	/* no memory there */
#define VM_UNMAPPED	0x100000000ull	/* not in the page tables */

#define AREA_CODE	0x0u
#define AREA_STACK	0x8000u
#define AREA_FRESH	0x10000u
#define AREA_FRESH_PAGES 128u

/* Selectors of the GDT. */
#define SEL_CODE64	0x08
#define SEL_DATA	0x10
#define SEL_CODE32	0x18

enum vm_flags {
	VM_IRQCHIP = 1,		/* local APIC and I/O APIC in the kernel */
};

enum vcpu_mode {
	MODE_LONG,
	MODE_PROTECTED,		/* flat 32 bits, no paging */
};

struct vm {
	int fd;
	unsigned int nr_vcpus, max_vcpus, flags;
	u8 *mem;
	size_t mem_bytes;
};

struct vcpu {
	struct vm *vm;
	int fd, stats_fd;
	unsigned int id, index;
	u64 area;		/* guest address of its MiB */
	struct kvm_run *run;
	size_t run_bytes;
	pthread_t thread;
	int tid;
	u64 user_exits;	/* returns of KVM_RUN */
	u64 fail_entries;	/* to be made before the loop */
	unsigned int pause_us;	/* guest_run() waits after each exit to user space */
	unsigned int on_cpu;	/* 1 + CPU for its thread; 0: any */
	volatile bool stop;	/* see guest_stop() */
};

void run_on_cpu(unsigned int cpu);
int vm_kvm_fd(void);
void vm_kvm_close(void);
void vm_create(struct vm *vm, unsigned int max_vcpus, unsigned int flags);
void vm_destroy(struct vm *vm);
void vcpu_create(struct vm *vm, struct vcpu *vcpu, unsigned int id);
void vcpu_destroy(struct vcpu *vcpu);
void vcpu_set_mode(struct vcpu *vcpu, enum vcpu_mode mode);
void vcpu_get_regs(struct vcpu *vcpu, struct kvm_regs *regs);
void vcpu_set_regs(struct vcpu *vcpu, const struct kvm_regs *regs);
int vcpu_run(struct vcpu *vcpu);
u64 vcpu_stat(struct vcpu *vcpu, const char *name);
void *vm_at(struct vm *vm, u64 gpa);

#endif /* _SELFTESTS_VM_H */
