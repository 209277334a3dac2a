// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a recording that starts or stops in the middle of a round trip
 * neither invents nor misattributes one. KVM's own events are recorded all
 * along; each record must begin at the one kvm_exit that lies before it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define WINDOWS		30
#define VCPUS		2
#define RING_MIB	4
#define LONGEST_US	20000
#define PAUSE_US	300	/* leaves the CPUs to the test now and then */
/* host_ns and entry_ns are of two clocks, read one after the other in an emulator. */
#define SLACK_NS	1000000ull
#define ENDLESS		(1ull << 40)

static size_t late;

struct context {
	const struct trace_sample *entry, *exit;	/* KVM's last ones */
	bool exit_used;
};

static void compare(struct context *c, const struct vmexit *v)
{
	u64 stamp = v->r.entry_ns - v->r.host_ns;

	if (!tap_expect(c->exit && !c->exit_used, "seq %u has no kvm_exit of its own", v->r.seq))
		return;
	c->exit_used = true;
	tap_expect((u32)kvm_trace_vmexit_code(&v->r) == trace_get(c->exit, "exit_reason"),
		   "seq %u: reason 0x%x, kvm_exit's is 0x%llx", v->r.seq, v->r.reason,
		   trace_get(c->exit, "exit_reason"));
	tap_expect(v->r.rip == trace_get(c->exit, "guest_rip"), "seq %u: rip 0x%llx", v->r.seq,
		   v->r.rip);
	/* Our stamp is taken before other probes of kvm_exit, behind those of kvm_entry. */
	late += stamp > c->exit->time + SLACK_NS;
	tap_expect(!c->entry || stamp > c->entry->time,
		   "seq %u: exit at %llu, before the kvm_entry at %llu", v->r.seq, stamp,
		   c->entry ? c->entry->time : 0);
	if (!(v->r.have & (KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_GUEST_NS_64)))
		return;
	tap_expect(c->entry && stamp - v->r.guest_ns >= c->entry->time,
		   "seq %u: guest time %llu begins before its kvm_entry", v->r.seq, v->r.guest_ns);
}

/*
 * The sample of kvm_entry comes before the record of that entry, so the entry
 * that a record's guest time began with is the last but one.
 */
static void follow(struct recorder *kvm, const struct vmexit *list, size_t count, u32 tid)
{
	const struct trace_sample *sample, *last_entry = NULL;
	struct context c = {};
	size_t i, k = 0;

	for (i = 0; i < kvm->session.nr_samples; i++) {
		sample = &kvm->session.samples[i];
		if (sample->tid != tid)
			continue;
		for (; k < count && list[k].sample->time < sample->time; k++)
			compare(&c, &list[k]);
		if (sample_is(sample, "kvm_exit")) {
			c.entry = last_entry;
			c.exit = sample;
			c.exit_used = false;
		} else {
			last_entry = sample;
		}
	}
	tap_expect(k == count, "%zu records come after the last event of KVM", count - k);
}

int main(void)
{
	struct recorder kvm = {}, ours = {};
	struct vmexit *all, *own;
	struct vcpu vcpus[VCPUS];
	size_t count, n, total = 0, i;
	unsigned int window, id;
	struct vm vm;

	need_kvm_trace();
	tap_plan(1);
	tap_begin("start_stop_pending: %d windows at random moments", WINDOWS);
	words_set("all");
	srand(1);
	vm_create(&vm, VCPUS, 0);
	for (id = 0; id < VCPUS; id++) {
		vcpu_create(&vm, &vcpus[id], id);
		vcpus[id].on_cpu = 1 + id;
		vcpus[id].pause_us = PAUSE_US;
		guest_start(&vcpus[id], KIND_MIX & ~KIND_BIT(KIND_entry_failure), ENDLESS);
	}
	for (window = 0; window < WINDOWS; window++) {
		recorder_start(&kvm, REC_KVM_EXIT | REC_KVM_ENTRY, RING_MIB);
		usleep(rand() % LONGEST_US);
		recorder_start(&ours, REC_OURS, RING_MIB);
		usleep(rand() % LONGEST_US);
		recorder_stop(&ours);
		usleep(rand() % LONGEST_US);
		recorder_stop(&kvm);
		tap_expect(!kvm.session.lost && !ours.session.lost, "perf lost samples");

		count = recorder_vmexits(&ours, &all);
		for (id = 0; id < VCPUS; id++) {
			n = 0;
			own = calloc(count + 1, sizeof(*own));
			for (i = 0; i < count; i++) {
				if (all[i].r.vcpu == id)
					own[n++] = all[i];
			}
			expect_whole(own, n, id ? "vCPU 1" : "vCPU 0");
			follow(&kvm, own, n, vcpus[id].tid);
			free(own);
		}
		total += count;
		free(all);
		recorder_close(&ours);
		recorder_close(&kvm);
	}
	for (id = 0; id < VCPUS; id++) {
		guest_stop(&vcpus[id]);
		vcpu_destroy(&vcpus[id]);
	}
	vm_destroy(&vm);
	tap_note("%zu records in %d windows", total, WINDOWS);
	tap_expect(total > WINDOWS, "%zu records in %d windows", total, WINDOWS);
	/* The machine may stop in between, but not often. */
	tap_expect(late * 100 <= total, "%zu of %zu exits are over %llu ns behind their kvm_exit",
		   late, total, SLACK_NS);
	words_set("default");
	tap_end();
	return tap_exit();
}
