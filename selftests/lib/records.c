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

#include "batches.h"
#include "records.h"
#include "tap.h"

/* Probes: on what KVM runs for an exit unless it enters again at once, and on reads. */
#define PROBE_SYSTEM	"kvm_trace_test"
#define PROBE_EVENT	"handle_exit"
#define PROBE_READ	"guest_read"
#define READ_FUNCTION	"copy_from_user_nofault"

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
	{ "kvm_trace_detail", "hypercall_sub" },
	{ "kvm_trace_batch", "vmexits" },
	{ PROBE_SYSTEM, PROBE_READ },
};

static void make_probes(unsigned int what)
{
	const char *text = cpu_is_intel() ?
		"p:" PROBE_SYSTEM "/" PROBE_EVENT " vmx_handle_exit" :
		"p:" PROBE_SYSTEM "/" PROBE_EVENT " svm_handle_exit";

	errno = what & REC_HANDLE_EXIT ? -tracefs_write(text, "kprobe_events") : 0;
	if (errno)
		tap_die("probe of KVM's handler of exits");
	errno = !(what & REC_GUEST_READ) ? 0 :
		-tracefs_write("p:" PROBE_SYSTEM "/" PROBE_READ " " READ_FUNCTION, "kprobe_events");
	if (errno)
		tap_die("probe of " READ_FUNCTION);
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

	make_probes(what);
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
	if (recorder->what & REC_GUEST_READ)
		tracefs_write("-:" PROBE_SYSTEM "/" PROBE_READ, "kprobe_events");
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

struct vmexits {
	struct vmexit *list;
	size_t count, room;
};

static void add_vmexit(const struct trace_sample *sample,
		       const struct kvm_trace_batch_reader *reader,
		       enum kvm_trace_batch_item item, void *arg)
{
	struct vmexits *all = arg;

	if (item != KVM_TRACE_BATCH_IS_VMEXIT)
		return;
	if (all->count == all->room) {
		all->room = 2 * all->room + 1;
		all->list = realloc(all->list, all->room * sizeof(*all->list));
		if (!all->list)
			tap_die("memory");
	}
	all->list[all->count++] = (struct vmexit){ sample, reader->vmexit };
}

/**
 * recorder_vmexits() - all vmexit records, in the order of time
 * @recorder: after recorder_stop()
 * @list: set to an array for free()
 *
 * With REC_BATCH alone they are those in batches, in the order of vm, vcpu and seq,
 * and their sample is the batch.
 *
 * Return: number of records.
 */
size_t recorder_vmexits(struct recorder *recorder, struct vmexit **list)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample;
	struct vmexits batched = {};
	size_t i, n = 0;

	if ((recorder->what & (REC_BATCH | REC_VMEXIT)) == REC_BATCH) {
		batches_each(session, add_vmexit, &batched);
		*list = batched.list;
		return batched.count;
	}
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

/* The VM that is looked for: by its name if it has one. */
struct wanted_vm {
	char name[32];
	u32 pid, number;
};

static void look_at_vcpu(const struct kvm_trace_vcpu *vcpu, struct wanted_vm *wanted)
{
	bool is = vcpu->vmm_pid == wanted->pid;

	if (wanted->name[0])
		is = vcpu->name.len == strlen(wanted->name) &&
		     !memcmp(vcpu->name.at, wanted->name, vcpu->name.len);
	if (is)
		wanted->number = vcpu->vm;
}

static void look_at_item(const struct trace_sample *sample,
			 const struct kvm_trace_batch_reader *reader,
			 enum kvm_trace_batch_item item, void *arg)
{
	(void)sample;
	if (item == KVM_TRACE_BATCH_IS_VCPU)
		look_at_vcpu(&reader->vcpu, arg);
}

static u32 find_vm(struct recorder *recorder, struct wanted_vm *wanted)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample;
	struct kvm_trace_vcpu vcpu;
	size_t i;

	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (sample_is(sample, "vcpu") &&
		    kvm_trace_vcpu_record(&vcpu, sample->raw, sample->size))
			look_at_vcpu(&vcpu, wanted);
	}
	if (recorder->what & REC_BATCH)
		batches_each(session, look_at_item, wanted);
	return wanted->number;
}

/**
 * recorder_vm() - number of a VM of this process
 * @recorder: after recorder_stop(), with REC_VCPU or REC_BATCH
 * @vm: VM
 *
 * Return: the number in records of the VM that a vcpu record says is @vm
 * (the last one, since a file descriptor can be used again); 0 if none does.
 */
u32 recorder_vm(struct recorder *recorder, const struct vm *vm)
{
	struct wanted_vm wanted = {};

	snprintf(wanted.name, sizeof(wanted.name), "%d-%d", getpid(), vm->fd);
	return find_vm(recorder, &wanted);
}

/**
 * recorder_vm_of() - number of the VM of another process
 * @recorder: after recorder_stop(), with REC_VCPU or REC_BATCH
 * @pid: process that has created a VM
 *
 * Return: the number in records of its last VM; 0 if no vcpu record tells of one.
 */
u32 recorder_vm_of(struct recorder *recorder, int pid)
{
	struct wanted_vm wanted = { .pid = pid };

	return find_vm(recorder, &wanted);
}

/**
 * recorder_lost() - exits that lost events tell of
 * @recorder: after recorder_stop(), with REC_LOST
 *
 * Return: the sum of the counts, for any reason.
 */
u64 recorder_lost(const struct recorder *recorder)
{
	const struct trace_sample *sample;
	struct kvm_trace_lost lost;
	u64 count = 0;
	size_t i;

	for (i = 0; i < recorder->session.nr_samples; i++) {
		sample = &recorder->session.samples[i];
		if (sample_is(sample, "lost") &&
		    kvm_trace_lost_record(&lost, sample->raw, sample->size))
			count += lost.count;
	}
	return count;
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

static void *room_for(const struct trace_session *session, const char *event, size_t size)
{
	size_t i, n = 0;
	void *room;

	for (i = 0; i < session->nr_samples; i++)
		n += sample_is(&session->samples[i], event);
	room = calloc(n + 1, size);
	if (!room)
		tap_die("memory");
	return room;
}

static int hypercall_by_seq(const void *a, const void *b)
{
	const struct hypercall *left = a, *right = b;

	return left->r.seq < right->r.seq ? -1 : left->r.seq > right->r.seq;
}

/**
 * recorder_hypercalls() - the hypercall records of one vCPU, in the order of seq
 * @recorder: after recorder_stop()
 * @vm: number of the VM
 * @vcpu: vCPU id
 * @list: set to an array for free()
 *
 * Each is expected to decode whole.
 *
 * Return: number of records.
 */
size_t recorder_hypercalls(struct recorder *recorder, u32 vm, u32 vcpu, struct hypercall **list)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample;
	struct kvm_trace_hypercall r;
	size_t i, n = 0;

	*list = room_for(session, "hypercall", sizeof(**list));
	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (!sample_is(sample, "hypercall"))
			continue;
		if (!kvm_trace_hypercall_record(&r, sample->raw, sample->size))
			tap_die("a hypercall record of %u bytes", sample->size);
		if (r.vm != vm || r.vcpu != vcpu)
			continue;
		tap_expect(!r.truncated && !r.reserved && !r.unknown,
			   "hypercall of seq %u cannot be decoded whole", r.seq);
		(*list)[n++] = (struct hypercall){ sample, r };
	}
	qsort(*list, n, sizeof(**list), hypercall_by_seq);
	return n;
}

static int sub_by_seq(const void *a, const void *b)
{
	const struct hypercall_sub *left = a, *right = b;

	if (left->r.seq != right->r.seq)
		return left->r.seq < right->r.seq ? -1 : 1;
	if (left->r.kind != right->r.kind)
		return left->r.kind < right->r.kind ? -1 : 1;
	return left->r.index < right->r.index ? -1 : left->r.index > right->r.index;
}

/**
 * recorder_hypercall_subs() - the hypercall_sub records of one vCPU
 * @recorder: after recorder_stop(), with REC_HYPERCALL_SUB
 * @vm: number of the VM
 * @vcpu: vCPU id
 * @list: set to an array for free(), in the order of seq, kind and index
 *
 * Each is expected to decode whole.
 *
 * Return: number of records.
 */
size_t recorder_hypercall_subs(struct recorder *recorder, u32 vm, u32 vcpu,
			       struct hypercall_sub **list)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample;
	struct kvm_trace_hypercall_sub r;
	size_t i, n = 0;

	*list = room_for(session, "hypercall_sub", sizeof(**list));
	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (!sample_is(sample, "hypercall_sub"))
			continue;
		if (!kvm_trace_hypercall_sub_record(&r, sample->raw, sample->size))
			tap_die("a hypercall_sub record of %u bytes", sample->size);
		if (r.vm != vm || r.vcpu != vcpu)
			continue;
		tap_expect(!r.truncated && !r.reserved && !r.unknown,
			   "hypercall_sub %u of seq %u cannot be decoded whole", r.index, r.seq);
		(*list)[n++] = (struct hypercall_sub){ sample, r };
	}
	qsort(*list, n, sizeof(**list), sub_by_seq);
	return n;
}

/**
 * hypercall_subs_of() - the records of one hypercall's batch or list
 * @list: of recorder_hypercall_subs()
 * @count: number of @list
 * @seq: seq of the hypercall record
 * @first: set to the first of them, in @list; they stand there one after another
 *
 * Return: number of records.
 */
size_t hypercall_subs_of(const struct hypercall_sub *list, size_t count, u32 seq,
			 const struct hypercall_sub **first)
{
	size_t low = 0, high = count, middle, n = 0;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (list[middle].r.seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	*first = list + low;
	while (low + n < count && list[low + n].r.seq == seq)
		n++;
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
