// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: BPF programs on the raw tracepoint of batches, which attach without
 * asking the module, may come and go while perf's consumers do, and single events
 * are recorded all along: buffers are neither lost nor left.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "batches.h"
#include "bpf.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define TURNS		60
#define RING_MIB	1
#define PAUSE_US	300
#define ENDLESS		(1ull << 40)
#define KINDS		(KIND_MIX & ~KIND_BIT(KIND_entry_failure))

static volatile bool going = true;
static unsigned int attached;

static void *come_and_go(void *arg)
{
	struct bpf_counter counter;

	(void)arg;
	while (going && !bpf_counter_attach(&counter, "vmexits")) {
		attached++;
		usleep(PAUSE_US);
		bpf_counter_detach(&counter);
		usleep(PAUSE_US);
	}
	return NULL;
}

int main(void)
{
	struct recorder singles = {}, batches = {};
	unsigned int turn;
	struct vcpu vcpu;
	pthread_t bpf;
	struct vm vm;

	need_kvm_trace();
	tap_plan(1);
	tap_begin("batches_bpf_comes_and_goes");
	klog_mark();
	parameter_set("batch_words", "lean");
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	vcpu.pause_us = PAUSE_US;
	recorder_start(&singles, REC_VMEXIT, RING_MIB);
	guest_start(&vcpu, KINDS, ENDLESS);
	errno = pthread_create(&bpf, NULL, come_and_go, NULL);
	if (errno)
		tap_die("a thread");
	for (turn = 0; turn < TURNS; turn++) {
		recorder_start(&batches, REC_BATCH, RING_MIB);
		usleep(PAUSE_US);
		recorder_close(&batches);
	}
	going = false;
	pthread_join(bpf, NULL);
	guest_stop(&vcpu);
	recorder_close(&singles);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_note("%u times BPF, %u times perf", attached, TURNS);
	tap_expect(attached > TURNS / 10, "BPF was attached %u times", attached);
	expect_kvm_trace_goes();
	tap_end();
	return tap_exit();
}
