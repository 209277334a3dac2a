// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings of kvm_trace's events and of KVM's own. Decoding is done by
 * perf-plugins/decode.c, fields of KVM's events are read by name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "records.h"
#include "tap.h"

/* A probe on what KVM runs for an exit unless it enters again at once. */
#define PROBE_SYSTEM	"kvm_trace_test"
#define PROBE_EVENT	"handle_exit"

static const struct {
	const char *system, *name;
} events[REC_EVENTS] = {
	{ "kvm_trace", "vmexit" },
	{ "kvm_trace", "vcpu" },
	{ "kvm_trace", "hypercall" },
	{ "kvm_trace", "lost" },
	{ "kvm", "kvm_exit" },
	{ "kvm", "kvm_entry" },
	{ "kvm", "kvm_hypercall" },
	{ "kvm", "kvm_hv_hypercall" },
	{ "kvm", "kvm_xen_hypercall" },
	{ "kvm", "kvm_userspace_exit" },
	{ "kvm", "kvm_page_fault" },
	{ "kvm", "kvm_cpuid" },
	{ "kvm", "kvm_msr" },
	{ "kvm", "kvm_pio" },
	{ "kvm", "kvm_mmio" },
	{ "kvm", "kvm_fast_mmio" },
	{ "kvm", "kvm_cr" },
	{ "kvm", "kvm_inj_virq" },
	{ "kvm", "kvm_inj_exception" },
	{ "kvm", "kvm_emulate_insn" },
	{ "kvm", "kvm_async_pf_not_present" },
	{ "kvm", "kvm_vcpu_wakeup" },
	{ "kvm", "kvm_halt_poll_ns" },
	{ PROBE_SYSTEM, PROBE_EVENT },
};

static void make_probe(void)
{
	const char *text = cpu_is_intel() ?
		"p:" PROBE_SYSTEM "/" PROBE_EVENT " vmx_handle_exit" :
		"p:" PROBE_SYSTEM "/" PROBE_EVENT " svm_handle_exit";

	errno = -tracefs_write(text, "kprobe_events");
	if (errno)
		tap_die("probe of KVM's handler of exits");
}

/**
 * recorder_start() - attach to events and record, from the first moment on
 * @recorder: filled in
 * @what: REC_*
 * @ring_mib: size of each CPU's ring; it must hold all until recorder_stop()
 */
void recorder_start(struct recorder *recorder, unsigned int what, size_t ring_mib)
{
	struct trace_event *chosen[REC_EVENTS];
	unsigned int i, n = 0;

	if (what & REC_HANDLE_EXIT)
		make_probe();
	recorder->what = what;
	for (i = 0; i < REC_EVENTS; i++) {
		if (!(what & (1u << i)))
			continue;
		trace_event_need(&recorder->events[i], events[i].system, events[i].name);
		chosen[n++] = &recorder->events[i];
	}
	trace_open(&recorder->session, chosen, n, ring_mib);
}

/**
 * recorder_stop() - stop, and read what was recorded; stays attached
 * @recorder: recorder
 */
void recorder_stop(struct recorder *recorder)
{
	trace_stop(&recorder->session);
	trace_read(&recorder->session);
}

/**
 * recorder_close() - detach and free what was recorded
 * @recorder: recorder
 */
void recorder_close(struct recorder *recorder)
{
	trace_close(&recorder->session);
	if (recorder->what & REC_HANDLE_EXIT)
		tracefs_write("-:" PROBE_SYSTEM "/" PROBE_EVENT, "kprobe_events");
}

/**
 * sample_is() - whether a sample is of an event
 * @sample: sample
 * @event: name without the system
 */
bool sample_is(const struct trace_sample *sample, const char *event)
{
	return !strcmp(sample->event->name, event);
}

/**
 * recorder_vmexits() - all vmexit records, in the order of time
 * @recorder: after recorder_stop()
 * @list: set to an array for free()
 *
 * Return: number of records.
 */
size_t recorder_vmexits(struct recorder *recorder, struct vmexit **list)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample;
	size_t i, n = 0;

	*list = calloc(session->nr_samples + 1, sizeof(**list));
	if (!*list)
		tap_die("memory");
	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (!sample_is(sample, "vmexit"))
			continue;
		if (!kvm_trace_vmexit_record(&(*list)[n].r, sample->raw, sample->size))
			tap_die("a vmexit record of %u bytes", sample->size);
		(*list)[n++].sample = sample;
	}
	return n;
}

/**
 * recorder_vm() - number of a VM of this process
 * @recorder: after recorder_stop(), with REC_VCPU
 * @vm: VM
 *
 * Return: the number in records of the VM that a vcpu record says is @vm
 * (the last one, since a file descriptor can be used again); 0 if none does.
 */
u32 recorder_vm(struct recorder *recorder, const struct vm *vm)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample;
	struct kvm_trace_vcpu vcpu;
	char name[32];
	u32 number = 0;
	size_t i;

	snprintf(name, sizeof(name), "%d-%d", getpid(), vm->fd);
	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (sample_is(sample, "vcpu") &&
		    kvm_trace_vcpu_record(&vcpu, sample->raw, sample->size) &&
		    vcpu.name.len == strlen(name) && !memcmp(vcpu.name.at, name, vcpu.name.len))
			number = vcpu.vm;
	}
	return number;
}

static int by_seq(const void *a, const void *b)
{
	const struct vmexit *left = a, *right = b;

	return left->r.seq < right->r.seq ? -1 : left->r.seq > right->r.seq;
}

/**
 * vmexits_of() - the records of one vCPU, in the order of seq
 * @list: all records
 * @count: number of @list
 * @vm: number of the VM
 * @vcpu: vCPU id
 * @some: set to an array for free()
 *
 * Return: number of records.
 */
size_t vmexits_of(const struct vmexit *list, size_t count, u32 vm, u32 vcpu, struct vmexit **some)
{
	size_t i, n = 0;

	*some = calloc(count + 1, sizeof(**some));
	if (!*some)
		tap_die("memory");
	for (i = 0; i < count; i++) {
		if (list[i].r.vm == vm && list[i].r.vcpu == vcpu)
			(*some)[n++] = list[i];
	}
	/* Times of different CPUs may differ by more than a round trip takes. */
	qsort(*some, n, sizeof(**some), by_seq);
	return n;
}

/**
 * expect_whole() - records of one vCPU: no gap, no truncation, nothing untraced
 * @list: records of one vCPU
 * @count: number of @list
 * @what: which vCPU
 */
void expect_whole(const struct vmexit *list, size_t count, const char *what)
{
	const struct kvm_trace_vmexit *r;
	size_t i;

	for (i = 0; i < count; i++) {
		r = &list[i].r;
		tap_expect(!r->truncated && !r->unknown, "%s: record %zu cannot be decoded whole",
			   what, i);
		tap_expect(!(r->have & KVM_TRACE_W_UNTRACED),
			   "%s: record %zu (seq %u, reason 0x%x) has untraced %d",
			   what, i, r->seq, r->reason, r->untraced);
		tap_expect(!i || r->seq == list[i - 1].r.seq + 1,
			   "%s: seq %u follows %u", what, r->seq, i ? list[i - 1].r.seq : 0);
	}
}
