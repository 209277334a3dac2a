// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guests for the tests of kvm_pt's modes, and what their packets must be. See pt_mode.h.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "module.h"
#include "pt_mode.h"
#include "tap.h"

/**
 * need_kvm_pt() - load kvm_trace on a machine whose Intel PT it can use
 */
void need_kvm_pt(void)
{
	need_kvm_trace();
	errno = 0;
	if (!pt_has_pmu(KVM_PT))
		tap_die("no PMU kvm_pt: this needs Intel PT, as scripts/lab run --pt gives it");
}

/**
 * pt_method_name() - as the term method and caps/methods name it
 * @method: which
 */
const char *pt_method_name(enum pt_method method)
{
	return method == PT_METHOD_VMCS ? "vmcs" : "window";
}

/**
 * pt_has_method() - whether kvm_pt can use it here
 * @method: which
 */
bool pt_has_method(enum pt_method method)
{
	char *methods = pt_cap(KVM_PT, "methods");
	bool has = methods && strstr(methods, pt_method_name(method));

	free(methods);
	return has;
}

/**
 * pt_terms() - of an event whose trace tells its time
 * @to: PT_TERMS_BYTES bytes
 * @mode: its mode
 * @stream: its stream, or 0
 * @method: its method, or 0; that of a host has none
 * @psb_period: tells its trace from others in a log; not 0
 *
 * Return: @to.
 */
char *pt_terms(char *to, enum pt_mode mode, enum pt_stream stream, enum pt_method method,
	       unsigned int psb_period)
{
	const bool host = mode == PT_MODE_HOST || stream == PT_STREAM_HOST;

	snprintf(to, PT_TERMS_BYTES, "tsc,noretcomp,mode=%u,stream=%u,method=%u,psb_period=%u",
		 mode, stream, host ? 0 : method, psb_period);
	return to;
}

/**
 * pt_must_open() - pt_open() of an event of kvm_pt's that must be there
 * @event: filled in
 * @terms: as for pt_open()
 * @tid: as for pt_open()
 * @cpu: as for pt_open()
 * @aux_bytes: as for pt_open()
 * @flags: as for pt_open()
 */
void pt_must_open(struct pt_event *event, const char *terms, int tid, int cpu, size_t aux_bytes,
		  unsigned int flags)
{
	errno = -pt_open(event, KVM_PT, terms, tid, cpu, aux_bytes, flags);
	if (errno)
		tap_die("perf_event_open of kvm_pt/%s/", terms);
}

#define TRY_BYTES	(1ul << 20)

/**
 * pt_try_open() - whether an event can be opened; if so, it is closed again
 * @pmu: as for pt_open()
 * @terms: as for pt_open()
 * @tid: as for pt_open()
 * @cpu: as for pt_open()
 *
 * Return: 0 or a negative errno.
 */
int pt_try_open(const char *pmu, const char *terms, int tid, int cpu)
{
	struct pt_event event;
	int err = pt_open(&event, pmu, terms, tid, cpu, TRY_BYTES, 0);

	if (!err)
		pt_close(&event);
	return err;
}

/**
 * pt_run_kinds() - a guest in this thread, with all that its kinds of exits need
 * @kinds: names, as guest_kinds() takes them
 * @count: rounds
 * @area: its code is in that MiB of the guest's memory, from 0
 *
 * Return: KVM's count of its exits.
 */
u64 pt_run_kinds(const char *kinds, u64 count, unsigned int area)
{
	const u64 bits = guest_kinds(kinds);
	struct vcpu vcpus[4];
	struct vm vm;
	unsigned int i;
	u64 exits;

	vm_create(&vm, area + 1, guest_needs(bits));
	for (i = 0; i <= area; i++)
		vcpu_create(&vm, &vcpus[i], i);
	guest_load(&vcpus[area], bits, count);
	guest_run(&vcpus[area]);
	exits = vcpu_stat(&vcpus[area], "exits");
	for (i = 0; i <= area; i++)
		vcpu_destroy(&vcpus[i]);
	vm_destroy(&vm);
	return exits;
}

#define ENDLESS	(1ull << 40)

/**
 * pt_guest_start() - let a guest run, on this thread's CPUs
 * @guest: filled in
 * @area: its code is in that MiB of the guest's memory, from 0
 */
void pt_guest_start(struct pt_guest *guest, unsigned int area)
{
	vm_create(&guest->vm, area + 1, 0);
	/* The areas below have no vCPU. */
	guest->vm.nr_vcpus = area;
	vcpu_create(&guest->vm, &guest->vcpu, 0);
	guest_start(&guest->vcpu, KIND_BIT(KIND_cpuid) | KIND_BIT(KIND_pio_out) |
		    KIND_BIT(KIND_mmio_read), ENDLESS);
	while (!*(volatile int *)&guest->vcpu.tid)
		usleep(1000);
}

/**
 * pt_fork_guest() - let a guest run in a process of its own, until that is killed
 *
 * Return: its process id.
 */
int pt_fork_guest(void)
{
	int child = fork();

	if (child < 0)
		tap_die("fork");
	if (!child) {
		/* KVM's file descriptors are of the process that opened them. */
		vm_kvm_close();
		pt_run_kinds("cpuid,pio_out", ENDLESS, 0);
		_exit(0);
	}
	return child;
}

/**
 * pt_guest_end() - stop it
 * @guest: from pt_guest_start()
 */
void pt_guest_end(struct pt_guest *guest)
{
	guest_stop(&guest->vcpu);
	vcpu_destroy(&guest->vcpu);
	vm_destroy(&guest->vm);
}

/**
 * pt_move() - a thread to a CPU
 * @tid: its number
 * @cpu: the only one that it may use then
 */
void pt_move(int tid, unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		tap_die("thread %d to CPU %u", tid, cpu);
}

/*
 * User code that calls a function and the kernel, which exits and calls one, too. %rdx has
 * the address to begin with, %rsi the rounds.
 */
asm(".pushsection .rodata;"
	"pt_calls: mov %rdx, %rcx; mov $0x3002, %r11d; sysretq;"
	"pt_calls_user: call pt_calls_f; syscall; dec %rsi; jnz pt_calls_user;"
	"call pt_calls_g; outb %al, $" XSTR(PORT_DONE) ";"
	"pt_calls_f: nop; ret;"
	"pt_calls_g: nop; ret;"
	"pt_calls_kernel: mov %rcx, %rdi; xor %eax, %eax; cpuid; mov %rdi, %rcx;"
	"call pt_calls_k; sysretq;"
	"pt_calls_k: nop; ret;"
	"pt_calls_end: .popsection");

extern const char pt_calls[], pt_calls_user[], pt_calls_f[], pt_calls_g[], pt_calls_kernel[],
		  pt_calls_k[], pt_calls_end[];

#define CALLS_AREA	VM_AREA		/* of the only vCPU */
#define FUNCTION_BYTES	2
#define MSR_STAR	0xc0000081
#define MSR_LSTAR	0xc0000082
#define MSR_FMASK	0xc0000084
#define EFER_SCE	1

static void allow_syscall(struct vcpu *vcpu)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entries[3];
	} msrs = {
		.head.nmsrs = ARRAY_SIZE(msrs.entries),
		.entries = {
			{ .index = MSR_STAR,
			  .data = (u64)SEL_CODE64 << 32 | (u64)SEL_CODE64 << 48 },
			{ .index = MSR_LSTAR,
			  .data = vcpu->area + AREA_CODE + (pt_calls_kernel - pt_calls) },
			{ .index = MSR_FMASK },
		},
	};
	struct kvm_sregs sregs;

	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		tap_die("KVM_GET_SREGS");
	sregs.efer |= EFER_SCE;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs))
		tap_die("KVM_SET_SREGS");
	if (ioctl(vcpu->fd, KVM_SET_MSRS, &msrs) != ARRAY_SIZE(msrs.entries))
		tap_die("KVM_SET_MSRS");
}

/**
 * pt_run_calls() - a guest in this thread, of calls in user code and in its kernel
 * @rounds: of its loop, at least 1; each has one exit and returns twice
 *
 * Return: KVM's count of its exits.
 */
u64 pt_run_calls(u64 rounds)
{
	struct kvm_regs regs;
	struct vcpu vcpu;
	struct vm vm;
	u64 exits;

	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	allow_syscall(&vcpu);
	guest_load_code(&vcpu, pt_calls, pt_calls_end - pt_calls);
	vcpu_get_regs(&vcpu, &regs);
	regs.rdx = regs.rip + (pt_calls_user - pt_calls);
	regs.rsi = rounds;
	vcpu_set_regs(&vcpu, &regs);
	guest_run(&vcpu);
	exits = vcpu_stat(&vcpu, "exits");
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	return exits;
}

/**
 * pt_place() - an address filter for code of pt_run_calls()
 * @to: PT_TERMS_BYTES bytes
 * @action: "filter" or "stop"
 * @place: the code
 *
 * Return: @to.
 */
char *pt_place(char *to, const char *action, enum pt_place place)
{
	static const char * const functions[] = {
		[PT_OF_USER] = pt_calls_f, [PT_OF_KERNEL] = pt_calls_k, [PT_AT_END] = pt_calls_g,
	};
	const u64 at = CALLS_AREA + AREA_CODE + (functions[place] - pt_calls);

	snprintf(to, PT_TERMS_BYTES, "%s 0x%llx/%u", action, at, FUNCTION_BYTES);
	return to;
}

/**
 * pt_count() - count the packets of a trace
 * @event: after pt_stop()
 * @packets: filled in
 */
void pt_count(const struct pt_event *event, struct pt_packets *packets)
{
	const u8 *data;
	size_t size, i;

	memset(packets, 0, sizeof(*packets));
	for (i = 0; (data = pt_part(event, i, &size)); i++)
		pt_packets_count(packets, data, size);
}

static void expect_whole(const struct pt_event *event, const struct pt_packets *packets)
{
	tap_expect(!packets->bad, "no packet begins at byte %zu of %zu", packets->bad, event->size);
	tap_expect(packets->psb, "no PSB in %zu bytes", event->size);
	tap_expect(!packets->ovf, "%llu OVF", packets->ovf);
}

/**
 * pt_expect_guest() - the trace of a guest of guest.h
 * @event: after pt_stop()
 * @method: its method
 *
 * All its code is in the lower half of the address space, and the host's is not.
 */
void pt_expect_guest(const struct pt_event *event, enum pt_method method)
{
	struct pt_packets p;

	pt_count(event, &p);
	expect_whole(event, &p);
	tap_expect(p.tip[PT_OF_GUEST], "no address of a guest");
	tap_expect(!p.kernel[PT_OF_GUEST], "%llu of the kernel's addresses with NR=1",
		   p.kernel[PT_OF_GUEST]);
	tap_expect(p.low[PT_OF_GUEST] >= VM_HANDLERS, "an address of no guest's, 0x%llx",
		   p.low[PT_OF_GUEST]);
	tap_expect(!p.high[PT_OF_HOST], "addresses up to 0x%llx with NR=0", p.high[PT_OF_HOST]);
	if (method == PT_METHOD_VMCS)
		tap_expect(!p.pip[PT_OF_HOST] && !p.tip[PT_OF_HOST] && !p.tnt[PT_OF_HOST],
			   "of the host: %llu PIP, %llu addresses, %llu TNT", p.pip[PT_OF_HOST],
			   p.tip[PT_OF_HOST], p.tnt[PT_OF_HOST]);
}

/**
 * pt_expect_host() - the trace of a host, without its guests
 * @event: after pt_stop()
 */
void pt_expect_host(const struct pt_event *event)
{
	struct pt_packets p;

	pt_count(event, &p);
	expect_whole(event, &p);
	tap_expect(p.kernel[PT_OF_HOST], "no address of the kernel");
	tap_expect(!p.pip[PT_OF_GUEST] && !p.tip[PT_OF_GUEST] && !p.tnt[PT_OF_GUEST],
		   "of a guest: %llu PIP, %llu addresses, %llu TNT", p.pip[PT_OF_GUEST],
		   p.tip[PT_OF_GUEST], p.tnt[PT_OF_GUEST]);
}
