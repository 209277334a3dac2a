// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: kvm_trace/pending in debugfs shows which vCPU is out of its guest
 * right now, why and for how long, and no other.
 */
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define PENDING		"/sys/kernel/debug/kvm_trace/pending"
#define ID		7
#define PAUSE_US	50000
#define TRIES		200
#define ENDLESS		(1ull << 40)

struct line {
	unsigned int vm;
	int pid;
	char isa[8], reason[32], flags[128];
	unsigned long long ns;
};

/* The line of a vCPU; false if there is none. */
static bool pending(unsigned int id, struct line *line)
{
	char *text = file_read(PENDING), *at;
	unsigned int vcpu;
	bool found = false;

	if (!text)
		tap_die(PENDING);
	for (at = strtok(text, "\n"); at && !found; at = strtok(NULL, "\n")) {
		memset(line, 0, sizeof(*line));
		if (*at == '#')
			continue;
		if (sscanf(at, "vm %u (%d) vcpu %u %7s %31s %llu ns [%127[^]]", &line->vm,
			   &line->pid, &vcpu, line->isa, line->reason, &line->ns, line->flags) < 6)
			tap_expect(false, "cannot read the line \"%s\"", at);
		found = vcpu == id;
	}
	free(text);
	return found;
}

static void in_user_space(void)
{
	struct line first, second;
	struct vcpu vcpu;
	struct vm vm;
	int reason;

	tap_begin("pending_file: a vCPU in user space");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, ID);
	tap_expect(!pending(ID, &first), "it is shown before it ran");
	guest_load(&vcpu, KIND_BIT(KIND_pio_out), 1);
	reason = vcpu_run(&vcpu);
	tap_expect(pending(ID, &first), "it is not shown");
	usleep(PAUSE_US);
	tap_expect(pending(ID, &second), "it is not shown %d us later", PAUSE_US);
	tap_expect(second.ns >= first.ns + PAUSE_US * 1000ull, "its age is %llu ns, then %llu ns",
		   first.ns, second.ns);
	tap_expect(!strcmp(first.reason, "IOIO") || !strcmp(first.reason, "IO_INSTRUCTION"),
		   "its reason is %s", first.reason);
	tap_expect(strstr(first.flags, "userspace") && strstr(first.flags, "write"),
		   "its flags are %s", first.flags);
	tap_expect(first.pid == getpid(), "its process is %d", first.pid);
	if (guest_handle(&vcpu, reason))
		guest_run(&vcpu);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_expect(!pending(ID, &first), "it is shown after its VM is gone");
	tap_end();
}

static void in_guest(void)
{
	static const u8 spin[] = { 0xeb, 0xfe };	/* jmp to itself */
	struct vcpu vcpu;
	struct line line;
	struct vm vm;
	int try;

	tap_begin("pending_file: not a vCPU in the guest");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		tap_skip("with one CPU the reader is there only while the vCPU is not");
		return;
	}
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, ID);
	guest_start_code(&vcpu, spin, sizeof(spin));
	for (try = 0; try < TRIES && pending(ID, &line); try++)
		usleep(1000);
	tap_expect(try < TRIES, "a vCPU that spins is shown each time, %s %llu ns", line.reason,
		   line.ns);
	guest_stop(&vcpu);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_end();
}

static void halted(void)
{
	static const u8 code[] = { 0xf4, 0xe6, PORT_DONE };
	struct kvm_msi nmi = { .address_lo = 0xfee00000, .data = 0x400 };
	struct vcpu vcpu;
	struct line line;
	struct vm vm;
	int try;

	tap_begin("pending_file: a halted vCPU");
	vm_create(&vm, 1, VM_IRQCHIP);
	vcpu_create(&vm, &vcpu, 0);
	guest_start_code(&vcpu, code, sizeof(code));
	for (try = 0; try < TRIES; try++) {
		usleep(PAUSE_US / 10);
		if (pending(0, &line) && !strcmp(line.reason, "HLT"))
			break;
	}
	usleep(PAUSE_US);
	tap_expect(pending(0, &line) && !strcmp(line.reason, "HLT") &&
		   line.ns >= PAUSE_US * 1000ull, "%s for %llu ns is shown", line.reason, line.ns);
	ioctl(vm.fd, KVM_SIGNAL_MSI, &nmi);
	guest_join(&vcpu);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_end();
}

/* Reads while vCPUs run: each line must be one whole state. */
static void while_running(void)
{
	struct vcpu vcpus[2];
	struct line line;
	struct vm vm;
	int try, i;

	tap_begin("pending_file: read while vCPUs run");
	vm_create(&vm, 2, 0);
	for (i = 0; i < 2; i++) {
		vcpu_create(&vm, &vcpus[i], i);
		guest_start(&vcpus[i], KIND_MIX & ~KIND_BIT(KIND_entry_failure), ENDLESS);
	}
	for (try = 0; try < TRIES; try++) {
		for (i = 0; i < 2; i++) {
			if (pending(i, &line))
				tap_expect(line.pid == getpid() && line.ns < 10000000000ull,
					   "vcpu %d: process %d, %llu ns", i, line.pid, line.ns);
		}
	}
	for (i = 0; i < 2; i++) {
		guest_stop(&vcpus[i]);
		vcpu_destroy(&vcpus[i]);
	}
	vm_destroy(&vm);
	tap_end();
}

int main(void)
{
	struct recorder recorder = {};
	char *text;

	need_kvm_trace();
	tap_plan(5);
	recorder_start(&recorder, REC_VMEXIT, 16);
	in_user_space();
	in_guest();
	halted();
	while_running();
	recorder_close(&recorder);

	tap_begin("pending_file: says when nothing records");
	text = file_read(PENDING);
	tap_expect(text && strstr(text, "not recording"), "it reads \"%s\"", text ? text : "");
	free(text);
	tap_end();
	return tap_exit();
}
