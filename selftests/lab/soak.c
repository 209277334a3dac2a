// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: whatever comes and goes meanwhile, every exit is told, by single events and by
 * batches. 24 VMMs run at once; they end, are killed, stopped and moved between CPUs, and
 * others take their places; recorders of all kinds come, go and are killed; words change.
 * Then each vCPU's records are counted against KVM's own count, nothing has leaked, and the
 * module goes. Arguments: seconds, 30 if there is none, and the seed of what happens when.
 */
#include <signal.h>
#include <stdio.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "batches.h"
#include "module.h"
#include "records.h"
#include "slab.h"
#include "tap.h"

#define SECONDS		"30"
#define SEED		"1"
#define ALIVE		24
#define VCPUS		2
#define MAX_VMMS	100000u
#define VISITORS	3
#define RING_MIB	16
#define TURN_US		20000
#define PAUSE_US	500
#define LONGEST_MS	4000		/* a VMM lives, if it is not killed */
#define CALM_MS		400		/* until all VMs have come, and gone */
#define ENDLESS		(1ull << 40)
#define LEAK		2000		/* objects; there are more round trips by far */
#define PENDING		"/sys/kernel/debug/kvm_trace/pending"
#define PID_MAX		"/proc/sys/kernel/pid_max"
#define PIDS		4194304	/* no process has the number of an earlier one */

/* An entry that fails has a round trip, but no exit that KVM counts. */
#define KINDS		(KIND_MIX & ~KIND_BIT(KIND_entry_failure))

/* In memory that VMMs share with the test. */
struct vmm {
	pid_t pid;
	u32 nr_vcpus, life_ms;
	u32 runs;		/* all of its vCPUs are there */
	u32 told;		/* the counts are KVM's last ones */
	u64 kinds, exits[VCPUS];
};

struct shared {
	u32 end;
	struct vmm vmms[MAX_VMMS];
};

/* Record counters that were seen, in any order. */
struct seen {
	u64 count, sum;
	u32 last;
};

enum source { SINGLE, BATCH, SOURCES };

static const char *const source_names[] = { "single events", "batches" };

struct vm_seen {
	u32 pid;
	struct seen vcpus[SOURCES][VCPUS];
};

static struct vm_seen *vms;
static size_t nr_vms;

static struct shared *shared;
static u32 nr_vmms;
static pid_t visitors[VISITORS];
static u64 told_lost;
static struct {
	unsigned int stops, moves, visits, visitors_killed, words;
} did;

static u64 now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000ull + time.tv_nsec / 1000000;
}

static void set_priority(int nice)
{
	if (setpriority(PRIO_PROCESS, 0, nice))
		tap_die("setpriority");
}

static void run_vmm(struct vmm *vmm)
{
	struct vcpu vcpus[VCPUS];
	const u64 end = now_ms() + vmm->life_ms;
	struct vm vm;
	u32 i;

	set_priority(0);
	vm_create(&vm, vmm->nr_vcpus, guest_needs(vmm->kinds));
	for (i = 0; i < vmm->nr_vcpus; i++) {
		vcpu_create(&vm, &vcpus[i], i);
		vcpus[i].pause_us = PAUSE_US;
		guest_start(&vcpus[i], vmm->kinds, ENDLESS);
	}
	__atomic_store_n(&vmm->runs, 1, __ATOMIC_RELEASE);
	while (now_ms() < end && !__atomic_load_n(&shared->end, __ATOMIC_ACQUIRE))
		usleep(TURN_US);
	for (i = 0; i < vmm->nr_vcpus; i++) {
		guest_stop(&vcpus[i]);
		vmm->exits[i] = vcpu_stat(&vcpus[i], "exits");
	}
	__atomic_store_n(&vmm->told, 1, __ATOMIC_RELEASE);
	for (i = 0; i < vmm->nr_vcpus; i++)
		vcpu_destroy(&vcpus[i]);
	vm_destroy(&vm);
}

static u64 some_kinds(void)
{
	u64 kinds = KIND_BIT(KIND_cpuid);
	unsigned int kind;

	for (kind = 0; kind < KIND_PLAIN_COUNT; kind++) {
		if ((KINDS & KIND_BIT(kind)) && rand() % 2)
			kinds |= KIND_BIT(kind);
	}
	return kinds;
}

static void start_vmm(void)
{
	struct vmm *vmm = &shared->vmms[nr_vmms++];
	pid_t pid;

	vmm->nr_vcpus = 1 + rand() % VCPUS;
	vmm->life_ms = rand() % LONGEST_MS;
	vmm->kinds = some_kinds();
	pid = fork();
	if (pid < 0)
		tap_die("fork");
	if (!pid) {
		run_vmm(vmm);
		_exit(0);
	}
	/* It has this memory, too. */
	vmm->pid = pid;
}

static void run_visitor(void)
{
	static const unsigned int sets[] = {
		REC_VMEXIT, REC_BATCH, REC_VCPU | REC_LOST, REC_HYPERCALL | REC_HYPERCALL_SUB,
		REC_PATH, REC_OURS | REC_BATCH,
	};
	struct recorder recorder = {};

	set_priority(0);
	srand(getpid());
	recorder_start(&recorder, sets[rand() % ARRAY_SIZE(sets)], 1);
	usleep(rand() % (20 * TURN_US));
	recorder_stop(&recorder);
	recorder_close(&recorder);
}

static void start_visitor(pid_t *pid)
{
	*pid = fork();
	if (*pid < 0)
		tap_die("fork");
	if (!*pid) {
		run_visitor();
		_exit(0);
	}
	did.visits++;
}

static void move(pid_t pid)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(rand() % cpus, &set);
	/* Of a process, this is its first thread; what that starts has it, too. */
	did.moves += !sched_setaffinity(pid, sizeof(set), &set);
}

static void change_words(void)
{
	static const char *const words[] = { "lean", "default", "all" };

	words_set(words[rand() % ARRAY_SIZE(words)]);
	parameter_set("batch_words", words[rand() % ARRAY_SIZE(words)]);
	did.words++;
}

static void trouble(struct vmm *vmm)
{
	pid_t *visitor = &visitors[rand() % VISITORS];

	switch (rand() % 8) {
	case 0:
		kill(vmm->pid, SIGKILL);
		break;
	case 1:
		/* Not before: KVM lets a stop interrupt the creation of a VM. */
		if (!__atomic_load_n(&vmm->runs, __ATOMIC_ACQUIRE))
			break;
		kill(vmm->pid, SIGSTOP);
		usleep(rand() % TURN_US);
		kill(vmm->pid, SIGCONT);
		did.stops++;
		break;
	case 2:
	case 3:
		move(vmm->pid);
		break;
	case 4:
		change_words();
		break;
	case 5:
		free(file_read(PENDING));
		break;
	case 6:
		if (!*visitor)
			break;
		did.visitors_killed += !kill(*visitor, SIGKILL);
		*visitor = 0;
		break;
	default:
		if (!*visitor)
			start_visitor(visitor);
	}
}

/* Takes who has ended out of the lists. Returns how many VMMs are left. */
static unsigned int bury(u32 *alive, unsigned int count)
{
	unsigned int i;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		for (i = 0; i < VISITORS; i++) {
			if (visitors[i] == pid)
				visitors[i] = 0;
		}
		for (i = 0; i < count; i++) {
			if (shared->vmms[alive[i]].pid == pid)
				alive[i--] = alive[--count];
		}
	}
	return count;
}

static struct vm_seen *seen_of(u32 vm)
{
	size_t room = nr_vms;

	if (vm >= nr_vms) {
		while (vm >= room)
			room = 2 * room + 1;
		vms = realloc(vms, room * sizeof(*vms));
		if (!vms)
			tap_die("memory");
		memset(vms + nr_vms, 0, (room - nr_vms) * sizeof(*vms));
		nr_vms = room;
	}
	return &vms[vm];
}

static void count_trip(enum source source, const struct kvm_trace_vmexit *r)
{
	struct seen *seen;

	if (!tap_expect(r->vcpu < VCPUS, "vm %u has a vCPU %u", r->vm, r->vcpu))
		return;
	seen = &seen_of(r->vm)->vcpus[source][r->vcpu];
	seen->count++;
	seen->sum += r->seq;
	if (r->seq > seen->last)
		seen->last = r->seq;
}

static void count_item(const struct trace_sample *sample,
		       const struct kvm_trace_batch_reader *reader,
		       enum kvm_trace_batch_item item, void *arg)
{
	(void)sample;
	(void)arg;
	if (item == KVM_TRACE_BATCH_IS_VMEXIT)
		count_trip(BATCH, &reader->vmexit);
	else if (item == KVM_TRACE_BATCH_IS_VCPU)
		seen_of(reader->vcpu.vm)->pid = reader->vcpu.vmm_pid;
}

/* What the rings have now; samples of a vCPU may come later that are older. */
static void count_all(struct recorder *recorder)
{
	struct trace_session *session = &recorder->session;
	struct kvm_trace_vcpu vcpu;
	struct vmexit *list;
	size_t i, count;

	trace_read(session);
	count = recorder_vmexits(recorder, &list);
	for (i = 0; i < count; i++)
		count_trip(SINGLE, &list[i].r);
	free(list);
	batches_each(session, count_item, NULL);
	for (i = 0; i < session->nr_samples; i++) {
		if (sample_is(&session->samples[i], "vcpu") &&
		    kvm_trace_vcpu_record(&vcpu, session->samples[i].raw,
					  session->samples[i].size))
			seen_of(vcpu.vm)->pid = vcpu.vmm_pid;
	}
	tap_expect(!session->lost, "perf lost %llu samples", session->lost);
	told_lost += recorder_lost(recorder);
	trace_forget(session);
}

static void go_on(struct recorder *recorder, u64 ms)
{
	const u64 end = now_ms() + ms;
	unsigned int count = 0;
	u32 alive[ALIVE];

	__atomic_store_n(&shared->end, 0, __ATOMIC_RELEASE);
	while (now_ms() < end) {
		count = bury(alive, count);
		while (count < ALIVE && nr_vmms < MAX_VMMS) {
			alive[count++] = nr_vmms;
			start_vmm();
		}
		if (count)
			trouble(&shared->vmms[alive[rand() % count]]);
		usleep(rand() % TURN_US);
		count_all(recorder);
	}
	__atomic_store_n(&shared->end, 1, __ATOMIC_RELEASE);
	while (waitpid(-1, NULL, 0) > 0)
		;
	memset(visitors, 0, sizeof(visitors));
	count_all(recorder);
}

/* The numbers of @count round trips that begin with 0 and leave none out. */
static u64 sum_of(u64 count)
{
	return count ? count * (count - 1) / 2 : 0;
}

static void expect_vcpu(const struct vmm *vmm, unsigned int id, enum source source,
			const struct seen *seen)
{
	const u64 exits = vmm->exits[id];

	tap_expect(!seen->count || (seen->last + 1 == seen->count &&
				    seen->sum == sum_of(seen->count)),
		   "process %d, vCPU %u, %s: %llu round trips, up to seq %u, sum %llu", vmm->pid,
		   id, source_names[source], seen->count, seen->last, seen->sum);
	/* One round trip is always open. */
	if (vmm->told)
		tap_expect(seen->count == (exits ? exits - 1 : 0),
			   "process %d, vCPU %u, %s: %llu round trips of %llu exits", vmm->pid, id,
			   source_names[source], seen->count, exits);
}

static u64 expect_all(void)
{
	static const struct vm_seen none;
	u32 *vm_of = calloc(PIDS, sizeof(*vm_of)), vm, i;
	const struct vm_seen *seen;
	unsigned int told = 0, id;
	enum source source;
	u64 trips = 0;

	if (!vm_of)
		tap_die("memory");
	for (vm = 1; vm < nr_vms; vm++)
		vm_of[vms[vm].pid % PIDS] = vm;
	for (i = 0; i < nr_vmms; i++) {
		vm = vm_of[shared->vmms[i].pid];
		seen = vm ? &vms[vm] : &none;
		told += shared->vmms[i].told;
		for (id = 0; id < VCPUS; id++) {
			for (source = 0; source < SOURCES; source++)
				expect_vcpu(&shared->vmms[i], id, source,
					    &seen->vcpus[source][id]);
			trips += seen->vcpus[SINGLE][id].count;
		}
	}
	free(vm_of);
	tap_note("%u VMMs, %u of them to their end, %u killed; %u stops, %u moves", nr_vmms, told,
		 nr_vmms - told, did.stops, did.moves);
	tap_note("%u recorders came, %u of them killed; words were changed %u times", did.visits,
		 did.visitors_killed, did.words);
	tap_note("%llu round trips, %llu told as lost", trips, told_lost);
	tap_expect(nr_vmms >= ALIVE && nr_vmms < MAX_VMMS, "%u VMMs", nr_vmms);
	tap_expect(told && told < nr_vmms && did.stops && did.moves && did.visits && did.words,
		   "not all kinds of trouble were made");
	return trips;
}

int main(int argc, char **argv)
{
	const u64 seconds = strtoull(argc > 1 ? argv[1] : SECONDS, NULL, 0);
	struct slab_count before, after;
	struct recorder recorder = {};

	need_kvm_trace();
	tap_plan(3);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		tap_die("memory");
	if (file_write(PID_MAX, XSTR(PIDS)))
		tap_die(PID_MAX);
	srand(strtoul(argc > 2 ? argv[2] : SEED, NULL, 0));
	klog_mark();
	tap_begin("soak: every exit of each vCPU");
	fflush(stdout);
	/* Beside all those guests, little trouble would be made. */
	set_priority(-20);
	recorder_start(&recorder, REC_OURS | REC_BATCH, RING_MIB);
	go_on(&recorder, CALM_MS);
	slab_count(&before);
	go_on(&recorder, seconds * 1000);
	trace_stop(&recorder.session);
	count_all(&recorder);
	slab_count_after(&after, &before, LEAK);
	tap_expect(expect_all() > 0 && !told_lost, "%llu round trips are told as lost", told_lost);
	tap_end();

	tap_begin("soak: nothing leaks");
	slab_expect(&before, &after, LEAK, "all of it");
	tap_end();

	tap_begin("soak: the module goes");
	recorder_close(&recorder);
	words_set("default");
	parameter_set("batch_words", "lean");
	expect_kvm_trace_goes();
	tap_end();
	return tap_exit();
}
