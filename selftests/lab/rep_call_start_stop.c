// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the records of a call's elements can be asked for, and no longer, at
 * any time while a guest makes calls; from the first call that is recorded with
 * all of them to the last one none is missing.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "guest.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define GUEST_OS_ID	0x40000000u	/* MSR; hypercalls are Hyper-V's once it is set */
#define FLUSH_LIST	0x3
#define ELEMENTS	5
#define INPUT		0x280000
#define MAX_VCPUS	3
#define ROUNDS		25
#define ROUND_US	10000
#define RING_MIB	2

#define CODE(name, code)				\
	extern const char name[], name##_end[];		\
	asm(".pushsection .rodata\n"			\
	    #name ":\n" code "\n"			\
	    #name "_end:\n"				\
	    ".popsection\n")

CODE(caller, "1: mov $" XSTR(ELEMENTS) ", %ecx; shl $32, %rcx; or $" XSTR(FLUSH_LIST) ", %rcx;"
	     "mov $" XSTR(INPUT) ", %edx; xor %r8d, %r8d; vmmcall; jmp 1b");

static struct vm vm;
static struct vcpu vcpu;
static u64 whole, rounds_whole;

static void start_guest(void)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msrs = { .head.nmsrs = 1, .entry = { .index = GUEST_OS_ID, .data = 1 } };
	u64 *input;
	unsigned int i;

	vm_create(&vm, MAX_VCPUS, VM_HYPERV);
	vcpu_create(&vm, &vcpu, 0);
	if (ioctl(vcpu.fd, KVM_SET_MSRS, &msrs) != 1)
		tap_die("MSR 0x%x", GUEST_OS_ID);
	input = vm_at(&vm, INPUT);
	for (i = 0; i < ELEMENTS; i++)
		input[3 + i] = 0x1000000ull * i;
	vcpu.on_cpu = 1;
	guest_start_code(&vcpu, caller, caller_end - caller);
}

/*
 * perf opens and closes events one by one, and on one CPU after the other: calls
 * at both ends may lack records.
 */
static void check_round(struct recorder *recorder)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample;
	struct kvm_trace_hypercall h;
	u64 subs = 0, missing = 0, good = 0;
	size_t i;

	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (sample_is(sample, "hypercall_sub")) {
			subs++;
			continue;
		}
		memset(&h, 0, sizeof(h));
		tap_expect(kvm_trace_hypercall_record(&h, sample->raw, sample->size) &&
			   !h.truncated && h.nr == FLUSH_LIST, "number 0x%llx", h.nr);
		if (h.have & KVM_TRACE_HC_W_SUB && h.sub == ELEMENTS && subs == ELEMENTS) {
			tap_expect(!good || !missing, "%llu calls between have not all", missing);
			missing = 0;
			good++;
		} else {
			missing++;
		}
		subs = 0;
	}
	whole += good;
	rounds_whole += !!good;
}

static void only_elements(void)
{
	struct recorder recorder = {};
	size_t i;

	tap_begin("rep_call_start_stop: elements alone");
	recorder_start(&recorder, REC_HYPERCALL_SUB, RING_MIB);
	usleep(10 * ROUND_US);
	recorder_stop(&recorder);
	tap_expect(recorder.session.nr_samples > 10 * ELEMENTS, "%zu records",
		   recorder.session.nr_samples);
	for (i = 0; i < recorder.session.nr_samples; i++)
		tap_expect(sample_is(&recorder.session.samples[i], "hypercall_sub"),
			   "a record of another event");
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	struct recorder recorder;
	unsigned int round;

	need_kvm_trace();
	tap_plan(2);
	start_guest();
	tap_begin("rep_call_start_stop");
	for (round = 0; round < ROUNDS; round++) {
		memset(&recorder, 0, sizeof(recorder));
		recorder_start(&recorder, REC_HYPERCALL | REC_HYPERCALL_SUB, RING_MIB);
		usleep(ROUND_US);
		recorder_stop(&recorder);
		check_round(&recorder);
		recorder_close(&recorder);
	}
	tap_expect(rounds_whole > ROUNDS / 3, "%llu of %d rounds have a call with all its elements",
		   rounds_whole, ROUNDS);
	tap_note("%llu calls with all their elements, in %llu of %d rounds", whole, rounds_whole,
		 ROUNDS);
	tap_end();
	only_elements();
	guest_stop(&vcpu);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	return tap_exit();
}
