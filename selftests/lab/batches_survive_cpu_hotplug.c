// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a CPU may be taken away, and come back, with a batch on it: no round
 * trip is lost, whether the vCPU goes on elsewhere, rests, or the consumer leaves.
 */
#include <stdio.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "batches.h"
#include "module.h"
#include "tap.h"
#include "guest.h"

#define CPU		1
#define ONLINE		"/sys/devices/system/cpu/cpu1/online"
#define TURNS		3
#define ROUNDS		20
#define PAUSE_US	300
#define RUN_US		300000
#define ENDLESS		(1ull << 40)

static void set_online(bool online)
{
	int err = file_write(ONLINE, online ? "1" : "0");

	if (err)
		tap_die("CPU %u %s: error %d", CPU, online ? "online" : "offline", err);
}

static void expect_exits(const struct batch_tally *t, struct vcpu *vcpu)
{
	tap_note("%llu round trips in %zu batches", t->trips, t->batches);
	tap_expect(!t->first_seq && !t->missing && t->trips + 1 == vcpu_stat(vcpu, "exits"),
		   "%llu round trips from seq %u, %llu missing, of %llu exits", t->trips,
		   t->first_seq, t->missing, vcpu_stat(vcpu, "exits"));
}

/* The vCPU's last round trips were on the CPU that goes. */
static void rests(bool wait)
{
	struct batch_tally t;
	unsigned int turn;
	struct vcpu vcpu;
	struct vm vm;

	tap_begin("batches_survive_cpu_hotplug: the vCPU rests, and %s", wait ? "is waited for" :
		  "the consumer leaves at once");
	for (turn = 0; turn < TURNS; turn++) {
		batch_ftrace_start();
		vm_create(&vm, 1, 0);
		vcpu_create(&vm, &vcpu, 0);
		run_on_cpu(CPU);
		guest_load(&vcpu, KIND_BIT(KIND_cpuid) | KIND_BIT(KIND_pio_out), ROUNDS);
		guest_run(&vcpu);
		run_on_cpu(0);
		set_online(false);
		/* A sweep of buffers that nobody touches emits it, or stopping does. */
		if (wait) {
			usleep(1000 * KVM_TRACE_BATCH_LAG_MS);
			batch_ftrace_read(&t);
			expect_exits(&t, &vcpu);
		}
		batch_ftrace_stop(&t);
		expect_exits(&t, &vcpu);
		set_online(true);
		vcpu_destroy(&vcpu);
		vm_destroy(&vm);
	}
	tap_end();
}

static void runs_on(void)
{
	struct batch_tally t;
	struct vcpu vcpu;
	unsigned int turn;
	cpu_set_t set;
	struct vm vm;

	tap_begin("batches_survive_cpu_hotplug: the vCPU goes on elsewhere");
	batch_ftrace_start();
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);
	vcpu.pause_us = PAUSE_US;
	guest_start(&vcpu, KIND_BIT(KIND_cpuid) | KIND_BIT(KIND_pio_out), ENDLESS);
	while (!vcpu.tid)
		usleep(100);
	CPU_ZERO(&set);
	CPU_SET(CPU, &set);
	for (turn = 0; turn < TURNS; turn++) {
		pthread_setaffinity_np(vcpu.thread, sizeof(set), &set);
		usleep(RUN_US);
		/* The kernel lets its thread run on the others. */
		set_online(false);
		usleep(RUN_US);
		set_online(true);
	}
	guest_stop(&vcpu);
	batch_ftrace_stop(&t);
	expect_exits(&t, &vcpu);
	tap_expect(t.trips > ROUNDS, "%llu round trips", t.trips);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	if (access(ONLINE, W_OK)) {
		printf("TAP version 13\n1..0 # SKIP no second CPU that can be taken away\n");
		return 0;
	}
	tap_plan(3);
	parameter_set("batch_words", "lean");
	run_on_cpu(0);
	rests(true);
	rests(false);
	runs_on();
	batch_ftrace_remove();
	return tap_exit();
}
