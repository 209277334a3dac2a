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
#define VM_HANDLERS	0x9000u	/* of exceptions and interrupts, one behind the other */
#define VM_AREA		0x100000u
#define VM_MMIO		0xd0000000u	/* no memory there */
#define VM_MMIO_EVENT	0x4000		/* above it, with VM_IOEVENTFD: a write of 4 bytes */
#define VM_MMIO_FAST	0x5000		/* the same: a write of any size */
#define VM_UNMAPPED	0x100000000ull	/* not in the page tables */

#define AREA_CODE	0x0u
#define AREA_STACK	0x8000u
#define AREA_DATA	0x9000u	/* of string I/O */
#define AREA_PAGE	0xe000u	/* fresh when it is asked for, and starts with RET */
#define AREA_LATE	0xf000u	/* with VM_LATE_PAGE: user space takes its time to fill it */
#define AREA_FRESH	0x10000u
#define AREA_FRESH_PAGES 128u

/* Selectors of the GDT. */
#define SEL_CODE64	0x08
#define SEL_DATA	0x10
#define SEL_CODE32	0x18

/* Vectors of interrupts that have a handler. */
#define VECTOR_IRQ	0x31	/* of user space */
#define VECTOR_APIC	0x32	/* of the local APIC; its handler writes EOI */

/* MSRs whose accesses go to user space, with VM_MSR_FILTER. */
#define MSR_USER	0x10a00000
#define MSR_USER_ERROR	0x10a00001	/* user space refuses it */
#define MSR_USER_NMI	0x10a00002	/* user space refuses it and asks for an NMI */

enum vm_flags {
	VM_IRQCHIP	= 0x01,	/* local APIC, I/O APIC and PIC in the kernel */
	VM_MSR_FILTER	= 0x02,
	VM_IOEVENTFD	= 0x04,
	VM_LATE_PAGE	= 0x08,
	VM_GUEST_DEBUG	= 0x10,	/* breakpoints exit to user space */
	VM_HYPERV	= 0x20,	/* CPUID tells of Hyper-V instead of KVM */
	VM_NO_IRQCHIP	= 0x40,	/* what needs it cannot be with VM_IRQCHIP */
	VM_XEN		= 0x80,	/* hypercalls are Xen's; see vm_has_xen() */
	VM_EMULATION	= 0x100, /* KVM emulates what stands behind UD2 and "kvm" */
};

enum vcpu_mode {
	MODE_LONG,
	MODE_PROTECTED,		/* flat 32 bits, no paging */
	MODE_COMPAT,		/* the same code in long mode, with paging */
};

struct vm {
	int fd;
	unsigned int nr_vcpus, max_vcpus, flags;
	u8 *mem;
	size_t mem_bytes;
	int late_fd, eventfd;
	pthread_t late_thread;
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

bool cpu_is_intel(void);
void run_on_cpu(unsigned int cpu);
int vm_kvm_fd(void);
void vm_kvm_close(void);
bool vm_has_xen(void);
void vm_create(struct vm *vm, unsigned int max_vcpus, unsigned int flags);
void vm_set_halt_poll(struct vm *vm, u64 ns);
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
