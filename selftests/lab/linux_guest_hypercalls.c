// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the hypercalls that Linux makes of its own accord, as a guest of KVM
 * and of Hyper-V, are recorded and decoded by name, each that KVM tells of. This
 * program is also what the guest runs, to provoke them.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define RING_MIB	32
#define PERIOD_US	200000
#define BOOTS		3	/* at most */
#define SECONDS		5	/* of load in the first of them */
#define MAX_CALLS	8	/* that a guest must make */
#define FUTEXES		500	/* calls between two changes of the page tables */

/*
 * More vCPUs than CPUs, so that a vCPU that is to be kicked, interrupted or
 * waited for often does not run. Linux sends an IPI to one CPU without SEND_IPI:
 * it takes three vCPUs, and no_ipi_broadcast keeps it from the shorthand for all.
 * With pv-tlb-flush a vCPU that does not run would get no IPI.
 */
#define VCPUS		"3"

#define HYPERV_TIMERS	"hv-time,hv-synic,hv-stimer"

struct expected {
	const char *name, *append, *cpu;
	u8 abi;
	u32 calls[MAX_CALLS];
};

static const struct expected guests[] = {
	{ .name = "a guest of KVM", .abi = KVM_TRACE_ABI_KVM, .append = "no_ipi_broadcast=1",
	  .cpu = "host,+kvm-pv-unhalt,+kvm-pv-ipi,+kvm-pv-sched-yield,-kvm-pv-tlb-flush",
	  .calls = { 5 /* KICK_CPU */, 10 /* SEND_IPI */, 11 /* SCHED_YIELD */ } },
	/* Without KVM's clock and Hyper-V's frequencies it would not know the TSC's. */
	{ .name = "a guest of Hyper-V", .abi = KVM_TRACE_ABI_HYPERV, .append = "quiet",
	  .cpu = "host,kvm=off,hv-relaxed,hv-vapic,hv-vpindex,hv-frequencies,hv-tlbflush,hv-ipi,"
		 HYPERV_TIMERS,
	  .calls = { 0x3 /* FlushVirtualAddressList */, 0xb /* SendSyntheticClusterIpi */ } },
};

static struct {
	u32 word;
	char *page;
	time_t end;
} load;

/*
 * All take the spinlock of a futex, which a vCPU that does not run may hold, and
 * the first changes page tables, for which it interrupts the others.
 */
static void *load_cpu(void *data)
{
	unsigned long cpu = (unsigned long)data;
	int i;

	run_on_cpu(cpu);
	while (time(NULL) < load.end) {
		if (!cpu) {
			*(volatile char *)load.page = 1;
			mprotect(load.page, PAGE_BYTES, PROT_READ);
			mprotect(load.page, PAGE_BYTES, PROT_READ | PROT_WRITE);
		}
		for (i = 0; i < FUTEXES; i++)
			syscall(SYS_futex, &load.word, FUTEX_WAIT_PRIVATE, 1, NULL);
	}
	return NULL;
}

static int run_load(unsigned int seconds)
{
	unsigned long cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[cpus];

	load.end = time(NULL) + seconds;
	load.page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	if (load.page == MAP_FAILED)
		return EXIT_FAILURE;
	for (cpu = 0; cpu < cpus; cpu++) {
		if (pthread_create(&threads[cpu], NULL, load_cpu, (void *)cpu))
			return EXIT_FAILURE;
	}
	for (cpu = 0; cpu < cpus; cpu++)
		pthread_join(threads[cpu], NULL);
	printf("guest: %lu CPUs were loaded for %u s\n", cpus, seconds);
	return EXIT_SUCCESS;
}

struct counts {
	u64 records, subs, of_kvm;
	u64 calls[MAX_CALLS];
};

/* That the line has the call's name, where a number would be if it had none. */
static void expect_named(const struct kvm_trace_hypercall *h)
{
	char text[KVM_TRACE_TEXT_SIZE], name[64];
	const char *call = kvm_trace_call_name(h->abi, h->nr);

	if (!tap_expect(call, "number 0x%llx of ABI %u has no name", h->nr, h->abi))
		return;
	kvm_trace_hypercall_text(h, 1, text, sizeof(text));
	snprintf(name, sizeof(name), "hypercall %s %s",
		 h->abi == KVM_TRACE_ABI_KVM ? "KVM" : "Hyper-V", call);
	tap_expect(strstr(text, name), "not \"%s\" but \"%s\"", name, text);
}

static void count_record(const struct expected *guest, const struct kvm_trace_hypercall *h,
			 struct counts *counts)
{
	char text[KVM_TRACE_TEXT_SIZE];
	unsigned int i;

	tap_expect(!h->truncated && !h->reserved && !h->unknown, "record %llu is not whole",
		   counts->records);
	tap_expect(h->abi == guest->abi, "ABI %u, not %u", h->abi, guest->abi);
	expect_named(h);
	counts->records++;
	for (i = 0; i < MAX_CALLS && guest->calls[i]; i++) {
		if (guest->calls[i] == h->nr && !counts->calls[i]++) {
			kvm_trace_hypercall_text(h, 0, text, sizeof(text));
			tap_note("%s", text);
		}
	}
}

static void count_records(const struct expected *guest, struct recorder *recorder,
			  struct counts *counts)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample;
	struct kvm_trace_hypercall h;
	size_t i;

	trace_read(session);
	tap_expect(!session->lost, "perf lost %llu samples", session->lost);
	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		memset(&h, 0, sizeof(h));
		if (sample_is(sample, "hypercall_sub"))
			counts->subs++;
		else if (sample_is(sample, "hypercall") &&
			 kvm_trace_hypercall_record(&h, sample->raw, sample->size))
			count_record(guest, &h, counts);
		else if (sample_is(sample, "kvm_hypercall") ||
			 sample_is(sample, "kvm_hv_hypercall"))
			counts->of_kvm++;
	}
	trace_forget(session);
}

static void boot(const struct expected *guest, struct recorder *recorder, struct counts *counts,
		 const char *program, unsigned int seconds)
{
	char load_command[512];
	int status = -1;
	pid_t child;

	snprintf(load_command, sizeof(load_command), "%s %u", program, seconds);
	fflush(stdout);
	child = fork();
	if (!child) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("scripts/guest", "guest", "--smp", VCPUS, "--cpu", guest->cpu, "--append",
		      guest->append, "--run", load_command, NULL);
		_exit(127);
	}
	while (waitpid(child, &status, WNOHANG) != child) {
		usleep(PERIOD_US);
		count_records(guest, recorder, counts);
	}
	count_records(guest, recorder, counts);
	tap_expect(!status, "scripts/guest ended with 0x%x", status);
}

static bool all_seen(const struct expected *guest, const struct counts *counts)
{
	unsigned int i;

	for (i = 0; i < MAX_CALLS && guest->calls[i]; i++) {
		if (!counts->calls[i])
			return false;
	}
	return true;
}

static void check(const struct expected *guest, const char *program)
{
	struct recorder recorder = {};
	struct counts counts = {};
	unsigned int seconds = SECONDS, i;

	tap_begin("linux_guest_hypercalls: %s", guest->name);
	recorder_start(&recorder, REC_HYPERCALL | REC_HYPERCALL_SUB | REC_KVM_HYPERCALL |
		       REC_KVM_HV_HYPERCALL, RING_MIB);
	/* When a vCPU does not run is for chance to say. */
	for (i = 0; i < BOOTS && !all_seen(guest, &counts); i++, seconds *= 2)
		boot(guest, &recorder, &counts, program, seconds);
	for (i = 0; i < MAX_CALLS && guest->calls[i]; i++)
		tap_expect(counts.calls[i], "no %s in %llu records",
			   kvm_trace_call_name(guest->abi, guest->calls[i]), counts.records);
	/* At the end of a guest each of its vCPUs may be in a call that is never done. */
	tap_expect(counts.records <= counts.of_kvm &&
		   counts.of_kvm - counts.records <= i * atoi(VCPUS),
		   "%llu records, KVM told of %llu", counts.records, counts.of_kvm);
	tap_expect(guest->abi != KVM_TRACE_ABI_HYPERV || counts.subs,
		   "no element of a list in %llu records", counts.records);
	tap_note("%llu hypercalls, %llu elements of lists; %llu %llu %llu of those wanted",
		 counts.records, counts.subs, counts.calls[0], counts.calls[1], counts.calls[2]);
	recorder_close(&recorder);
	tap_end();
}

int main(int argc, char **argv)
{
	char program[PATH_MAX] = "";
	unsigned int i;

	if (argc > 1)
		return run_load(atoi(argv[1]));
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		tap_die("/proc/self/exe");
	need_kvm_trace();
	tap_plan(ARRAY_SIZE(guests));
	for (i = 0; i < ARRAY_SIZE(guests); i++)
		check(&guests[i], program);
	return tap_exit();
}
