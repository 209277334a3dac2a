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
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"
#include "trace.h"
#include "vm.h"

#define CR0_PE		0x1ull
#define CR0_ET		0x10ull
#define CR0_PG		0x80000000ull
#define CR4_PAE		0x20ull
#define CR4_OSFXSR	0x200ull
#define EFER_LME	0x100ull
#define EFER_LMA	0x400ull
#define PTE_PRESENT	0x1ull
#define PTE_WRITABLE	0x2ull
#define PTE_USER	0x4ull
#define PTE_LARGE	0x80ull
#define MAX_CPUID	256

/* 64-bit interrupt gate, present, for ring 0. */
#define GATE_64		0x8e00u

#define CPUID_DEADLINE	(1u << 24)	/* ECX of leaf 1: the APIC's timer takes TSC deadlines */
#define CPUID_HV	0x40000000u	/* leaves of the hypervisor */
#define HV_INTERFACE	0x31237648u	/* "Hv#1" */

#define XEN_MSR		0x40000200	/* where a guest says where its hypercall page is to be */

#define LATE_US		2000	/* until user space fills a page of AREA_LATE */

/*
 * An empty VM is kept open too: the first VM and the last one patch a static
 * key in the scheduler (preempt_notifier_key), and QEMU's emulation of two CPUs
 * may run the breakpoint that such patching sets after it was taken away.
 */
static int kvm_fd = -1, empty_vm = -1;

/**
 * cpu_is_intel() - whether VMs run on Intel VMX, not on AMD SVM
 */
bool cpu_is_intel(void)
{
	return __builtin_cpu_is("intel");
}

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
	if (empty_vm < 0)
		empty_vm = ioctl(kvm_fd, KVM_CREATE_VM, 0);
	if (empty_vm < 0)
		tap_die("KVM_CREATE_VM");
	return kvm_fd;
}

/**
 * vm_kvm_close() - let KVM's modules be unloaded
 */
void vm_kvm_close(void)
{
	if (empty_vm >= 0)
		close(empty_vm);
	if (kvm_fd >= 0)
		close(kvm_fd);
	empty_vm = -1;
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

/*
 * Handlers. Those of faults return to r11, so that the guest chooses where it
 * goes on; that of #DB ends single-stepping.
 */
#define HANDLER(name, code)						\
	extern const char handler_##name[], handler_##name##_end[];	\
	asm(".pushsection .rodata\n"					\
	    "handler_" #name ":\n" code "\n"				\
	    "handler_" #name "_end:\n"					\
	    ".popsection\n")

HANDLER(plain, "iretq");
HANDLER(debug, "andl $~0x100, 16(%rsp); iretq");
HANDLER(fault, "mov %r11, (%rsp); iretq");
HANDLER(fault_with_code, "add $8, %rsp; mov %r11, (%rsp); iretq");
HANDLER(apic, "push %rax; mov $0xfee000b0, %eax; movl $0, (%rax); pop %rax; iretq");

static const struct {
	u8 vector;
	const char *code, *end;
} handlers[] = {
#define HANDLER_ENTRY(vector, name) { vector, handler_##name, handler_##name##_end }
	HANDLER_ENTRY(1, debug),
	HANDLER_ENTRY(2, plain),
	HANDLER_ENTRY(3, plain),
	HANDLER_ENTRY(6, fault),
	HANDLER_ENTRY(13, fault_with_code),
	HANDLER_ENTRY(14, fault_with_code),
	HANDLER_ENTRY(VECTOR_IRQ, plain),
	HANDLER_ENTRY(VECTOR_APIC, apic),
#undef HANDLER_ENTRY
};

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
	u32 at = VM_HANDLERS;
	unsigned int i;

	memcpy(vm_at(vm, VM_GDT), gdt, sizeof(gdt));
	for (i = 0; i < ARRAY_SIZE(handlers); i++) {
		memcpy(vm_at(vm, at), handlers[i].code, handlers[i].end - handlers[i].code);
		set_gate(vm, handlers[i].vector, at);
		at += handlers[i].end - handlers[i].code;
	}
}

static void filter_msrs(struct vm *vm)
{
	struct kvm_enable_cap exits = { .cap = KVM_CAP_X86_USER_SPACE_MSR,
					.args = { KVM_MSR_EXIT_REASON_FILTER } };
	static u8 none[1];
	struct kvm_msr_filter filter = {
		.flags = KVM_MSR_FILTER_DEFAULT_ALLOW,
		.ranges[0] = { .flags = KVM_MSR_FILTER_READ | KVM_MSR_FILTER_WRITE,
			       .base = MSR_USER, .nmsrs = 8, .bitmap = none },
	};

	if (ioctl(vm->fd, KVM_ENABLE_CAP, &exits))
		tap_die("KVM_CAP_X86_USER_SPACE_MSR");
	if (ioctl(vm->fd, KVM_X86_SET_MSR_FILTER, &filter))
		tap_die("KVM_X86_SET_MSR_FILTER");
}

static void signal_events(struct vm *vm)
{
	struct kvm_ioeventfd event = { .addr = VM_MMIO + VM_MMIO_EVENT, .len = 4 };
	struct kvm_ioeventfd fast = { .addr = VM_MMIO + VM_MMIO_FAST };

	vm->eventfd = eventfd(0, EFD_CLOEXEC);
	event.fd = vm->eventfd;
	fast.fd = vm->eventfd;
	if (vm->eventfd < 0 || ioctl(vm->fd, KVM_IOEVENTFD, &event) ||
	    ioctl(vm->fd, KVM_IOEVENTFD, &fast))
		tap_die("KVM_IOEVENTFD");
}

static void take_xen_calls(struct vm *vm)
{
	struct kvm_xen_hvm_config config = {
		.flags = KVM_XEN_HVM_CONFIG_INTERCEPT_HCALL,
		.msr = XEN_MSR,
	};

	if (ioctl(vm->fd, KVM_XEN_HVM_CONFIG, &config))
		tap_die("KVM_XEN_HVM_CONFIG");
}

/* Affects all VMs: a parameter of kvm. */
static void force_emulation(const char *value)
{
	errno = -file_write("/sys/module/kvm/parameters/force_emulation_prefix", value);
	if (errno)
		tap_die("parameter force_emulation_prefix of kvm");
}

/* Fills pages of AREA_LATE until vm_destroy() cancels it. */
static void *fill_late(void *data)
{
	struct vm *vm = data;
	struct pollfd fds = { .fd = vm->late_fd, .events = POLLIN };
	struct uffdio_zeropage page = { .range.len = PAGE_BYTES };
	struct uffd_msg msg;

	for (;;) {
		poll(&fds, 1, -1);
		if (read(vm->late_fd, &msg, sizeof(msg)) != sizeof(msg) ||
		    msg.event != UFFD_EVENT_PAGEFAULT)
			continue;
		usleep(LATE_US);
		page.range.start = msg.arg.pagefault.address & ~(u64)(PAGE_BYTES - 1);
		/* EEXIST: a second fault on the page that the first one filled. */
		if (ioctl(vm->late_fd, UFFDIO_ZEROPAGE, &page) && errno != EEXIST)
			tap_die("UFFDIO_ZEROPAGE");
	}
}

static void fill_pages_late(struct vm *vm)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register page = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	unsigned int i;

	vm->late_fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (vm->late_fd < 0 || ioctl(vm->late_fd, UFFDIO_API, &api))
		tap_die("userfaultfd");
	for (i = 0; i < vm->max_vcpus; i++) {
		page.range.start = (unsigned long)vm_at(vm, VM_AREA + (u64)i * VM_AREA + AREA_LATE);
		page.range.len = PAGE_BYTES;
		if (ioctl(vm->late_fd, UFFDIO_REGISTER, &page))
			tap_die("UFFDIO_REGISTER");
	}
	errno = pthread_create(&vm->late_thread, NULL, fill_late, vm);
	if (errno)
		tap_die("thread that fills pages");
}

/**
 * vm_has_xen() - whether KVM knows Xen's hypercalls
 */
bool vm_has_xen(void)
{
	return ioctl(vm_kvm_fd(), KVM_CHECK_EXTENSION, KVM_CAP_XEN_HVM) &
	       KVM_XEN_HVM_CONFIG_INTERCEPT_HCALL;
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
	if (flags & VM_MSR_FILTER)
		filter_msrs(vm);
	if (flags & VM_IOEVENTFD)
		signal_events(vm);
	if (flags & VM_LATE_PAGE)
		fill_pages_late(vm);
	if (flags & VM_XEN)
		take_xen_calls(vm);
	if (flags & VM_EMULATION)
		force_emulation("1");
}

/**
 * vm_set_halt_poll() - how long KVM may poll when a vCPU halts
 * @vm: VM
 * @ns: at most that long; 0: not at all
 */
void vm_set_halt_poll(struct vm *vm, u64 ns)
{
	struct kvm_enable_cap poll = { .cap = KVM_CAP_HALT_POLL, .args = { ns } };

	if (ioctl(vm->fd, KVM_ENABLE_CAP, &poll))
		tap_die("KVM_CAP_HALT_POLL");
}

/**
 * vm_destroy() - let go of the VM; it ends when its vCPUs are closed too
 * @vm: VM
 */
void vm_destroy(struct vm *vm)
{
	close(vm->fd);
	if (vm->flags & VM_LATE_PAGE) {
		pthread_cancel(vm->late_thread);
		pthread_join(vm->late_thread, NULL);
		close(vm->late_fd);
	}
	if (vm->flags & VM_IOEVENTFD)
		close(vm->eventfd);
	if (vm->flags & VM_EMULATION)
		force_emulation("0");
	munmap(vm->mem, vm->mem_bytes);
}

struct cpuid {
	struct kvm_cpuid2 head;
	struct kvm_cpuid_entry2 entries[MAX_CPUID];
};

/* A guest asks for Hyper-V's hypercalls only if CPUID says "Hv#1". */
static void say_hyperv(struct cpuid *cpuid)
{
	unsigned int i;

	for (i = 0; i < cpuid->head.nent; i++) {
		if (cpuid->entries[i].function == CPUID_HV + 1)
			cpuid->entries[i].eax = HV_INTERFACE;
	}
}

static void set_cpuid(struct vcpu *vcpu)
{
	static struct cpuid supported;
	struct cpuid cpuid;
	unsigned int i;

	if (!supported.head.nent) {
		supported.head.nent = MAX_CPUID;
		if (ioctl(vm_kvm_fd(), KVM_GET_SUPPORTED_CPUID, &supported))
			tap_die("KVM_GET_SUPPORTED_CPUID");
	}
	cpuid = supported;
	for (i = 0; i < cpuid.head.nent; i++) {
		if (cpuid.entries[i].function == 1 && (vcpu->vm->flags & VM_IRQCHIP))
			cpuid.entries[i].ecx |= CPUID_DEADLINE;
	}
	if (vcpu->vm->flags & VM_HYPERV)
		say_hyperv(&cpuid);
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
	const bool long_mode = mode == MODE_LONG, paging = mode != MODE_PROTECTED;

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
	sregs.cr0 = CR0_PE | CR0_ET | (paging ? CR0_PG : 0);
	sregs.cr3 = paging ? VM_PML4 : 0;
	sregs.cr4 = paging ? CR4_PAE | CR4_OSFXSR : 0;
	sregs.efer = paging ? EFER_LME | EFER_LMA : 0;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs))
		tap_die("KVM_SET_SREGS");
}

static void debug_guest(struct vcpu *vcpu)
{
	struct kvm_guest_debug debug = {
		.control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_SW_BP,
	};

	if (ioctl(vcpu->fd, KVM_SET_GUEST_DEBUG, &debug))
		tap_die("KVM_SET_GUEST_DEBUG");
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
	if (vm->flags & VM_GUEST_DEBUG)
		debug_guest(vcpu);
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
