// SPDX-License-Identifier: GPL-2.0-only
/*
 * pt_record FILE COMMAND...: runs COMMAND while Intel PT traces all of CPU 0, and leaves
 * the trace in FILE. Not with perf, which looks for Intel PT on CPUs of Intel's only.
 */
#include <err.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "types.h"

#define PMU		"/sys/bus/event_source/devices/intel_pt/type"
#define RTIT_TSC	(1ULL << 10)
#define RTIT_NORETCOMP	(1ULL << 11)
#define AUX_SIZE	(64UL << 20)

struct recording {
	int fd;
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

static void record_start(struct recording *r)
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
	r->page->aux_size = AUX_SIZE;
	r->aux = mmap(NULL, AUX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		      r->page->aux_offset);
	if (r->aux == MAP_FAILED)
		err(2, "mmap of %lu bytes for the trace", AUX_SIZE);
	if (ioctl(r->fd, PERF_EVENT_IOC_ENABLE, 0))
		err(2, "enabling intel_pt");
}

static void record_stop(struct recording *r, const char *path)
{
	FILE *file;
	u64 size;

	if (ioctl(r->fd, PERF_EVENT_IOC_DISABLE, 0))
		err(2, "disabling intel_pt");
	size = __atomic_load_n(&r->page->aux_head, __ATOMIC_ACQUIRE);
	if (size >= AUX_SIZE)
		errx(2, "the trace is longer than %lu bytes", AUX_SIZE);
	file = fopen(path, "w");
	if (!file || fwrite(r->aux, 1, size, file) != size || fclose(file))
		err(2, "%s", path);
}

int main(int argc, char **argv)
{
	struct recording recording;
	int status;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: pt_record FILE COMMAND...\n");
		return 2;
	}
	record_start(&recording);
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (!pid) {
		execvp(argv[2], argv + 2);
		err(127, "%s", argv[2]);
	}
	waitpid(pid, &status, 0);
	record_stop(&recording, argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
