// SPDX-License-Identifier: GPL-2.0-only
/*
 * pt_record [--fragments] FILE COMMAND...: runs COMMAND while Intel PT traces all of CPU 0,
 * and leaves the trace in FILE. With --fragments it traces from a guest's first exit on,
 * now and then, until a small ring is full, to FILE.0 and so on. Not with perf, which looks
 * for Intel PT on CPUs of Intel's only.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "types.h"

#define PMU		"/sys/bus/event_source/devices/intel_pt/type"
#define RTIT_TSC	(1ULL << 10)
#define RTIT_NORETCOMP	(1ULL << 11)
#define EXITS		"/sys/kernel/debug/kvm/exits"
#define MSRS		"/dev/cpu/0/msr"
#define RTIT_STATUS	0x571
#define STATUS_STOPPED	(1ULL << 5)
#define POLL_US		1000
#define AUX_SIZE	(64UL << 20)
#define FRAGMENT_SIZE	(256UL << 10)
#define FRAGMENTS	8
#define PAUSE_US	300000

struct recording {
	int fd;
	size_t aux_size;
	struct perf_event_mmap_page *page;
	u8 *aux;
};

static u32 pmu_type(void)
{
	FILE *file = fopen(PMU, "r");
	u32 type;

	if (!file || fscanf(file, "%u", &type) != 1)
		errx(2, "no Intel PT here: start the lab with --pt");
	fclose(file);
	return type;
}

static void record_open(struct recording *r)
{
	struct perf_event_attr attr = {
		.type = pmu_type(),
		.size = sizeof(attr),
		.config = RTIT_TSC | RTIT_NORETCOMP,
		.disabled = 1,
	};
	const size_t page = sysconf(_SC_PAGESIZE);

	r->fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (r->fd < 0)
		err(2, "perf_event_open of intel_pt");
	r->page = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->page == MAP_FAILED)
		err(2, "mmap of the ring of intel_pt");
	r->page->aux_offset = 2 * page;
	r->page->aux_size = r->aux_size;
	r->aux = mmap(NULL, r->aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		      r->page->aux_offset);
	if (r->aux == MAP_FAILED)
		err(2, "mmap of %zu bytes for the trace", r->aux_size);
}

static void record_start(struct recording *r)
{
	if (ioctl(r->fd, PERF_EVENT_IOC_ENABLE, 0))
		err(2, "enabling intel_pt");
}

static u64 record_stop(struct recording *r, const char *path)
{
	FILE *file;
	u64 size;

	if (ioctl(r->fd, PERF_EVENT_IOC_DISABLE, 0))
		err(2, "disabling intel_pt");
	size = __atomic_load_n(&r->page->aux_head, __ATOMIC_ACQUIRE);
	file = fopen(path, "w");
	if (!file || fwrite(r->aux, 1, size, file) != size || fclose(file))
		err(2, "%s", path);
	munmap(r->aux, r->aux_size);
	munmap(r->page, 2 * sysconf(_SC_PAGESIZE));
	close(r->fd);
	return size;
}

static bool guest_has_run(void)
{
	unsigned long long exits;
	FILE *file = fopen(EXITS, "r");

	if (!file || fscanf(file, "%llu", &exits) != 1)
		err(2, "%s", EXITS);
	fclose(file);
	return exits;
}

/* The end of the ring has STOP. */
static bool ring_is_full(int msrs)
{
	u64 status;

	if (pread(msrs, &status, sizeof(status), RTIT_STATUS) != sizeof(status))
		err(2, "reading IA32_RTIT_STATUS in %s", MSRS);
	return status & STATUS_STOPPED;
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

static void record_fragment(const char *path, unsigned int number, int msrs)
{
	struct recording recording = { .aux_size = FRAGMENT_SIZE };
	char name[4096];

	snprintf(name, sizeof(name), "%s.%u", path, number);
	record_open(&recording);
	record_start(&recording);
	while (!ring_is_full(msrs))
		usleep(POLL_US);
	record_stop(&recording, name);
}

static void record_fragments(const char *path, pid_t pid)
{
	const int msrs = open(MSRS, O_RDONLY);
	unsigned int i;

	if (msrs < 0)
		err(2, "%s", MSRS);
	while (!guest_has_run() && !has_ended(pid))
		usleep(POLL_US);
	for (i = 0; i < FRAGMENTS && !has_ended(pid); i++) {
		record_fragment(path, i, msrs);
		usleep(PAUSE_US);
	}
	close(msrs);
}

static pid_t start(char **command)
{
	const pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (pid)
		return pid;
	execvp(command[0], command);
	err(127, "%s", command[0]);
}

int main(int argc, char **argv)
{
	const bool fragments = argc > 1 && !strcmp(argv[1], "--fragments");
	struct recording recording = { .aux_size = AUX_SIZE };
	int status;
	pid_t pid;

	argv += fragments;
	argc -= fragments;
	if (argc < 3) {
		fprintf(stderr, "usage: pt_record [--fragments] FILE COMMAND...\n");
		return 2;
	}
	if (fragments) {
		pid = start(argv + 2);
		record_fragments(argv[1], pid);
		waitpid(pid, &status, 0);
	} else {
		record_open(&recording);
		record_start(&recording);
		waitpid(start(argv + 2), &status, 0);
		if (record_stop(&recording, argv[1]) >= AUX_SIZE)
			errx(2, "the trace is longer than %lu bytes", AUX_SIZE);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
