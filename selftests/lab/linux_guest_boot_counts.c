// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: records equal KVM's own count of exits for a real Linux guest too.
 * Its VMM is stopped now and then while it boots, so that KVM's statistics and
 * the records can be compared at one moment.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define RING_MIB	64
#define PERIOD_US	300000
#define MAX_VCPUS	8

struct vcpu_count {
	u64 records, sum;	/* sum of their seq */
	u32 last_seq;
};

struct guest {
	pid_t pid;		/* of its VMM, 0 until it is known */
	char stats[64];		/* directory in debugfs */
	u32 vm;
	u64 records, exits;
	unsigned int compared, nr_vcpus, max_vcpus;
	struct vcpu_count vcpus[MAX_VCPUS];
};

static void count_record(struct guest *guest, const struct kvm_trace_vmexit *r)
{
	struct vcpu_count *v = &guest->vcpus[r->vcpu];

	if (r->vm != guest->vm || !tap_expect(r->vcpu < MAX_VCPUS, "vcpu %u", r->vcpu))
		return;
	tap_expect(!(r->have & KVM_TRACE_W_UNTRACED), "vcpu %u seq %u: untraced %d", r->vcpu,
		   r->seq, r->untraced);
	tap_expect(kvm_trace_reason_name(r->isa, kvm_trace_vmexit_code(r)), "unknown reason 0x%llx",
		   kvm_trace_vmexit_code(r));
	guest->nr_vcpus += !v->records;
	v->records++;
	v->sum += r->seq;
	if (r->seq > v->last_seq)
		v->last_seq = r->seq;
	guest->records++;
}

static void count_records(struct recorder *recorder, struct guest *guest)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample;
	struct kvm_trace_vmexit r;
	struct kvm_trace_vcpu vcpu;
	size_t i;

	trace_read(session);
	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (!guest->pid && sample_is(sample, "vcpu") &&
		    kvm_trace_vcpu_record(&vcpu, sample->raw, sample->size)) {
			guest->pid = vcpu.vmm_pid;
			guest->vm = vcpu.vm;
			snprintf(guest->stats, sizeof(guest->stats), "/sys/kernel/debug/kvm/%.*s",
				 (int)vcpu.name.len, vcpu.name.at);
		}
		if (sample_is(sample, "vmexit") &&
		    kvm_trace_vmexit_record(&r, sample->raw, sample->size))
			count_record(guest, &r);
	}
	tap_expect(!session->lost, "perf lost %llu samples", session->lost);
	trace_forget(session);
}

/* Whether each thread of a process is stopped. */
static bool all_stopped(pid_t pid)
{
	char path[64], state;
	struct dirent *entry;
	bool stopped = true;
	char *text, *name_end;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", pid, entry->d_name);
		text = file_read(path);
		name_end = text ? strrchr(text, ')') : NULL;
		state = name_end ? name_end[2] : 'T';
		stopped &= state == 'T';
		free(text);
	}
	if (dir)
		closedir(dir);
	return stopped;
}

static void compare(struct recorder *recorder, struct guest *guest)
{
	char path[96], *text;

	if (kill(guest->pid, SIGSTOP))
		return;
	while (!all_stopped(guest->pid))
		usleep(1000);
	snprintf(path, sizeof(path), "%s/exits", guest->stats);
	text = file_read(path);
	count_records(recorder, guest);
	kill(guest->pid, SIGCONT);
	if (!text)	/* its VM is gone already */
		return;
	guest->exits = strtoull(text, NULL, 10);
	free(text);
	guest->compared++;
	/* Each vCPU that ran has one round trip that is still open. */
	tap_expect(guest->exits >= guest->records &&
		   guest->exits <= guest->records + guest->max_vcpus,
		   "%llu records of %llu exits on %u vCPUs", guest->records, guest->exits,
		   guest->max_vcpus);
}

static void boot(const char *cpus)
{
	struct recorder recorder = {};
	struct guest guest = { .max_vcpus = atoi(cpus) };
	struct vcpu_count *v;
	int status = -1;
	unsigned int i;
	pid_t child;

	tap_begin("linux_guest_boot_counts: %s vCPU", cpus);
	recorder_start(&recorder, REC_OURS, RING_MIB);
	fflush(stdout);
	child = fork();
	if (!child) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("scripts/guest", "guest", "--smp", cpus, NULL);
		_exit(127);
	}
	while (waitpid(child, &status, WNOHANG) != child) {
		usleep(PERIOD_US);
		if (guest.pid)
			compare(&recorder, &guest);
		else
			count_records(&recorder, &guest);
	}
	count_records(&recorder, &guest);
	for (i = 0; i < guest.nr_vcpus; i++) {
		v = &guest.vcpus[i];
		/* Each seq from 0 to the last just once, in whatever order CPUs tell them. */
		tap_expect(v->records == v->last_seq + 1ull &&
			   v->sum == v->last_seq * (v->last_seq + 1ull) / 2,
			   "vcpu %u: %llu records up to seq %u", i, v->records, v->last_seq);
	}
	tap_expect(!status, "scripts/guest ended with 0x%x", status);
	tap_expect(guest.compared >= 3, "compared %u times", guest.compared);
	tap_expect(guest.nr_vcpus == guest.max_vcpus, "%u vCPUs", guest.nr_vcpus);
	tap_note("%llu records at the end, %llu exits when last compared, of %u times",
		 guest.records, guest.exits, guest.compared);
	recorder_close(&recorder);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(2);
	boot("1");
	boot("2");
	return tap_exit();
}
