// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the typed fields can be filtered on and summed up. Each filter, in
 * an ftrace instance of its own, lets just those events pass that an
 * unfiltered recording of the same run has; so with a hist trigger.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define ROUNDS		60
#define VMS		2
#define VCPUS		2
#define RING_MIB	4
#define NAME		"instances/kvm_trace_filter_%u"
#define HIST		"hist:keys=vm,class:vals=host_ns"

struct choice {
	u32 vm;
	u16 reason;
	u8 isa;		/* the one that is not here */
	u64 host_ns;
};

enum filter {
	BY_VM, BY_VCPU, BY_REASON, BY_CLASS, BY_HOST_NS, BY_FLAGS, BY_ISA, BY_SEQ, BY_SEVERAL,
	FILTERS,
};

static const char * const names[FILTERS] = {
	"vm", "vcpu", "reason", "class", "host_ns", "flags", "isa", "seq", "several fields",
};

/* The instance behind those of the filters. */
#define HIST_NR		FILTERS

static bool passes(enum filter filter, const struct kvm_trace_vmexit *r, const struct choice *c)
{
	switch (filter) {
	case BY_VM:
		return r->vm == c->vm;
	case BY_VCPU:
		return r->vcpu == 1;
	case BY_REASON:
		return r->reason == c->reason;
	case BY_CLASS:
		return r->class == KVM_TRACE_CLASS_io;
	case BY_HOST_NS:
		return r->host_ns > c->host_ns;
	case BY_FLAGS:
		return r->flags & KVM_TRACE_F_USERSPACE;
	case BY_ISA:
		return r->isa == c->isa;
	case BY_SEQ:
		return r->seq < 50;
	default:
		return (r->vcpu == 0 && r->class != KVM_TRACE_CLASS_io) ||
		       (r->flags & KVM_TRACE_F_WRITE);
	}
}

static void filter_text(enum filter filter, const struct choice *c, char *text, size_t bytes)
{
	switch (filter) {
	case BY_VM:
		snprintf(text, bytes, "vm == %u", c->vm);
		break;
	case BY_VCPU:
		snprintf(text, bytes, "vcpu == 1");
		break;
	case BY_REASON:
		snprintf(text, bytes, "reason == %u", c->reason);
		break;
	case BY_CLASS:
		snprintf(text, bytes, "class == %u", KVM_TRACE_CLASS_io);
		break;
	case BY_HOST_NS:
		snprintf(text, bytes, "host_ns > %llu", c->host_ns);
		break;
	case BY_FLAGS:
		snprintf(text, bytes, "flags & %u", KVM_TRACE_F_USERSPACE);
		break;
	case BY_ISA:
		snprintf(text, bytes, "isa == %u", c->isa);
		break;
	case BY_SEQ:
		snprintf(text, bytes, "seq < 50");
		break;
	default:
		snprintf(text, bytes, "vcpu == 0 && class != %u || flags & %u", KVM_TRACE_CLASS_io,
			 KVM_TRACE_F_WRITE);
	}
}

static void make_instance(unsigned int nr, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), TRACEFS "/" NAME, nr);
	if (mkdir(path, 0700))
		tap_die("%s", path);
	errno = -tracefs_write("8192", NAME "/buffer_size_kb", nr);
	if (errno)
		tap_die("buffer of %s", path);
	errno = -tracefs_write(text, NAME "/events/kvm_trace/vmexit/%s", nr, file);
	if (errno)
		tap_die("%s '%s' of %s", file, text, path);
	tracefs_write("1", NAME "/events/kvm_trace/vmexit/enable", nr);
}

static void remove_instance(unsigned int nr)
{
	char path[128];

	tracefs_write("!" HIST, NAME "/events/kvm_trace/vmexit/trigger", nr);
	snprintf(path, sizeof(path), TRACEFS "/" NAME, nr);
	rmdir(path);
}

static u64 events_in(unsigned int nr)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;
	char *text, *at;
	u64 n = 0;

	for (cpu = 0; cpu < cpus; cpu++) {
		text = tracefs_read(NAME "/per_cpu/cpu%u/stats", nr, cpu);
		at = text ? strstr(text, "entries: ") : NULL;
		if (!at)
			tap_die("statistics of instance %u", nr);
		n += strtoull(at + strlen("entries: "), NULL, 10);
		free(text);
	}
	return n;
}

static void run_vms(struct recorder *recorder, struct choice *first)
{
	struct vcpu vcpus[VMS][VCPUS];
	struct vm vms[VMS];
	unsigned int m, i;

	for (m = 0; m < VMS; m++) {
		vm_create(&vms[m], VCPUS, 0);
		for (i = 0; i < VCPUS; i++) {
			vcpu_create(&vms[m], &vcpus[m][i], i);
			guest_start(&vcpus[m][i], KIND_MIX, ROUNDS);
		}
	}
	for (m = 0; m < VMS; m++) {
		for (i = 0; i < VCPUS; i++)
			guest_join(&vcpus[m][i]);
	}
	recorder_stop(recorder);
	first->vm = recorder_vm(recorder, &vms[0]);
	for (m = 0; m < VMS; m++) {
		for (i = 0; i < VCPUS; i++)
			vcpu_destroy(&vcpus[m][i]);
		vm_destroy(&vms[m]);
	}
}

static int by_host_ns(const void *a, const void *b)
{
	const struct vmexit *left = a, *right = b;

	return left->r.host_ns < right->r.host_ns ? -1 : left->r.host_ns > right->r.host_ns;
}

/* Learns what to filter for: numbers of VMs count on from run to run. */
static void choose(struct choice *choice)
{
	struct recorder recorder = {};
	struct vmexit *all;
	size_t count, i;

	recorder_start(&recorder, REC_OURS, RING_MIB);
	run_vms(&recorder, choice);
	choice->vm += VMS;
	count = recorder_vmexits(&recorder, &all);
	for (i = 0; i < count && all[i].r.class != KVM_TRACE_CLASS_cpuid; i++)
		;
	choice->reason = all[i].r.reason;
	choice->isa = cpu_is_intel() ? KVM_TRACE_ISA_SVM : KVM_TRACE_ISA_VMX;
	qsort(all, count, sizeof(*all), by_host_ns);
	choice->host_ns = all[count / 2].r.host_ns;
	free(all);
	recorder_close(&recorder);
}

/* Each line "{ vm: N, class: N } hitcount: N host_ns: N" against the records. */
static void check_hist(const struct vmexit *all, size_t count)
{
	u64 hits, sum, total = 0, own_hits, own_sum;
	unsigned int vm, class;
	char *text, *at;
	size_t i;

	tap_begin("hist_trigger_counts");
	text = tracefs_read(NAME "/events/kvm_trace/vmexit/hist", HIST_NR);
	if (!text)
		tap_die("hist of the instance");
	for (at = strtok(text, "\n"); at; at = strtok(NULL, "\n")) {
		if (sscanf(at, "{ vm: %u, class: %u } hitcount: %llu host_ns: %llu", &vm, &class,
			   &hits, &sum) != 4)
			continue;
		total += hits;
		for (i = 0, own_hits = 0, own_sum = 0; i < count; i++) {
			if (all[i].r.vm == vm && all[i].r.class == class) {
				own_hits++;
				own_sum += all[i].r.host_ns;
			}
		}
		tap_expect(hits == own_hits && sum == own_sum,
			   "vm %u class %u: %llu hits and %llu ns, the records have %llu and %llu",
			   vm, class, hits, sum, own_hits, own_sum);
	}
	tap_expect(total == count, "%llu hits, there are %zu records", total, count);
	free(text);
	tap_end();
}

int main(void)
{
	struct recorder recorder = {};
	struct choice choice, same;
	struct vmexit *all;
	char text[128];
	size_t count, i;
	unsigned int f;
	u64 own, found;

	need_kvm_trace();
	tap_plan(FILTERS + 1);
	choose(&choice);
	for (f = 0; f < FILTERS; f++) {
		filter_text(f, &choice, text, sizeof(text));
		make_instance(f, "filter", text);
	}
	make_instance(HIST_NR, "trigger", HIST);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	run_vms(&recorder, &same);
	for (f = 0; f <= HIST_NR; f++)
		tracefs_write("0", NAME "/events/kvm_trace/vmexit/enable", f);

	count = recorder_vmexits(&recorder, &all);
	for (f = 0; f < FILTERS; f++) {
		tap_begin("filter_each_field: %s", names[f]);
		for (i = 0, own = 0; i < count; i++)
			own += passes(f, &all[i].r, &choice);
		found = events_in(f);
		tap_expect(found == own, "%llu events of %zu pass, not %llu", found, count, own);
		tap_expect(own < count && (own || f == BY_ISA),
			   "the test chose a filter for %llu of %zu", own, count);
		tap_end();
	}
	check_hist(all, count);
	for (f = 0; f <= HIST_NR; f++)
		remove_instance(f);
	free(all);
	recorder_close(&recorder);
	return tap_exit();
}
