// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: min_host_ns drops just the round trips that are shorter, counts
 * them in seq, takes effect at once, and refuses what is no number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		60
#define EVERY		10
#define LIMIT		"20000000"
#define LIMIT_NS	20000000ull

/* Every tenth exit to user space takes longer than the limit. */
static u64 run_loop(struct vcpu *vcpu)
{
	const struct timespec pause = { .tv_nsec = LIMIT_NS + LIMIT_NS / 2 };
	unsigned int n = 0;

	guest_load(vcpu, KIND_BIT(KIND_pio_out) | KIND_BIT(KIND_cpuid), ROUNDS);
	while (guest_handle(vcpu, vcpu_run(vcpu))) {
		if (!(n++ % EVERY))
			nanosleep(&pause, NULL);
	}
	return vcpu_stat(vcpu, "exits");
}

int main(void)
{
	struct recorder recorder = {};
	struct vmexit *all;
	size_t count, i, longer = 0;
	struct vcpu vcpu;
	u64 exits;
	char *value;
	struct vm vm;

	need_kvm_trace();
	tap_plan(3);
	recorder_start(&recorder, REC_OURS, 4);
	vm_create(&vm, 1, 0);
	vcpu_create(&vm, &vcpu, 0);

	tap_begin("min_host_ns_drops: shorter round trips");
	if (parameter_set("min_host_ns", LIMIT))
		tap_die("parameter min_host_ns");
	exits = run_loop(&vcpu);
	trace_read(&recorder.session);
	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < count; i++)
		tap_expect(all[i].r.host_ns >= LIMIT_NS, "record of %llu ns", all[i].r.host_ns);
	tap_expect(count >= ROUNDS / EVERY && count < ROUNDS, "%zu records of %d long round trips",
		   count, ROUNDS / EVERY);
	free(all);
	trace_forget(&recorder.session);
	tap_end();

	tap_begin("min_host_ns_drops: what is dropped shows as a gap of seq");
	if (parameter_set("min_host_ns", "0"))
		tap_die("parameter min_host_ns");
	run_loop(&vcpu);
	recorder_stop(&recorder);
	count = recorder_vmexits(&recorder, &all);
	tap_expect(count == vcpu_stat(&vcpu, "exits") - exits, "%zu records of %llu exits", count,
		   vcpu_stat(&vcpu, "exits") - exits);
	tap_expect(all[0].r.seq == exits - 1, "seq %u behind %llu exits", all[0].r.seq, exits);
	for (i = 0; i < count; i++)
		longer += all[i].r.host_ns >= LIMIT_NS;
	tap_expect(longer >= ROUNDS / EVERY, "%zu long round trips", longer);
	expect_whole(all, count, "vCPU 0");
	free(all);
	tap_end();

	tap_begin("min_host_ns_drops: a wrong value is refused");
	if (parameter_set("min_host_ns", "5"))
		tap_die("parameter min_host_ns");
	tap_expect(parameter_set("min_host_ns", "soon") == -EINVAL, "\"soon\" is taken");
	tap_expect(parameter_set("min_host_ns", "-1") == -EINVAL, "\"-1\" is taken");
	value = parameter_get("min_host_ns");
	tap_expect(!strcmp(value, "5"), "the value is %s now", value);
	free(value);
	parameter_set("min_host_ns", "0");
	tap_end();

	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	return tap_exit();
}
