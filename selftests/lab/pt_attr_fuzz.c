// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: whatever is in a perf_event_attr, kvm_pt and the module's tracepoints take it or
 * refuse it, and nothing is left of it: no descriptor, no changed MSR of Intel PT, nothing
 * that keeps the module. An ordinary user opens none. (That the kernel does not complain, is
 * for the lab to see.) The first argument is how many are tried, the second one a seed.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../pt-emu/core/pt_emu.h"
#include "module.h"
#include "msr.h"
#include "pt_mode.h"
#include "tap.h"
#include "trace.h"
#include "user.h"

#define SEED		20262
#define DEFAULT_TRIES	2000
#define TRIES_AS_USER	(DEFAULT_TRIES / 4)
#define AUX_PAGES_MAX	64
#define RUN_EACH	8	/* of those that could be opened: a guest runs under it */
#define LONGEST		(2 * sizeof(struct perf_event_attr))

/* Of whose attributes the fields are changed. */
static const char *const terms[] = {
	"mode=2", "mode=1", "mode=3,stream=1", "mode=3,stream=2", "tsc,noretcomp,mode=2",
	"tsc,cyc,mtc,mode=2,method=2", "mode=2,method=1", "mode=2,psb_period=3",
};

static const struct {
	const char *system, *name;
} tracepoints[] = {
	{ "kvm_trace", "vmexit" }, { "kvm_trace", "hypercall" }, { "kvm_trace", "vcpu" },
	{ "kvm_trace", "lost" }, { "kvm_trace_detail", "hypercall_sub" },
	{ "kvm_trace_detail", "pt" }, { "kvm_trace_batch", "vmexits" },
};

static int ids[ARRAY_SIZE(tracepoints)];

union attr {
	struct perf_event_attr known;
	u8 bytes[LONGEST];
	u64 words[LONGEST / sizeof(u64)];
};

struct tries {
	unsigned int count, seed;
	bool pt, refused_all;	/* @refused_all: wanted of an ordinary user */
	unsigned int opened, mapped, ran;
};

static u64 random_64(void)
{
	return (u64)random() << 42 ^ (u64)random() << 21 ^ random();
}

static u64 random_word(void)
{
	switch (random() % 4) {
	case 0:
		return 1ull << random() % 64;
	case 1:
		return random_64() >> random() % 64;
	case 2:
		return random() % 16;
	default:
		return -(u64)(random() % 4096);
	}
}

/* Some fields of one that is right, or one in which nothing is. */
static void random_attr(union attr *attr, bool pt)
{
	const u32 size = sizeof(attr->known);
	unsigned int n = random() % 4;
	u32 type;
	size_t at;

	memset(attr, 0, sizeof(*attr));
	if (pt_attr(KVM_PT, terms[random() % ARRAY_SIZE(terms)], &attr->known))
		tap_die("terms of kvm_pt");
	if (!pt) {
		attr->known = (struct perf_event_attr){
			.type = PERF_TYPE_TRACEPOINT, .config = ids[random() % ARRAY_SIZE(ids)],
			.sample_period = 1, .sample_type = PERF_SAMPLE_RAW,
		};
	}
	attr->known.size = size;
	type = attr->known.type;
	if (random() % 16 == 0)
		n = sizeof(attr->known) / sizeof(u64);
	for (; n; n--) {
		at = random() % (size / sizeof(u64));
		/* Type and size are one word, which hardly anything else would do for. */
		if (at)
			attr->words[at] = random() % 2 ? random_word() :
					  attr->words[at] ^ 1ull << random() % 64;
	}
	if (random() % 32 == 0) {
		attr->known.size = random() % 3 ? random() % LONGEST : random_64();
		attr->words[LONGEST / sizeof(u64) - 1] = random() % 2;
	}
	attr->known.type = type;
	/* Its signal would end the test. */
	attr->known.sigtrap = 0;
}

/* A ring of any size, and an area of any size. */
static void map_and_run(struct tries *t, int fd)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const size_t ring = page << random() % 4, area = page * (random() % AUX_PAGES_MAX + 1);
	struct perf_event_mmap_page *head;
	u8 *aux = MAP_FAILED;

	head = mmap(NULL, page + ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (head != MAP_FAILED && t->pt) {
		head->aux_offset = page + ring;
		head->aux_size = area;
		aux = mmap(NULL, area, random() % 2 ? PROT_READ : PROT_READ | PROT_WRITE,
			   MAP_SHARED, fd, head->aux_offset);
		t->mapped += aux != MAP_FAILED;
	}
	ioctl(fd, random() % 4 ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_RESET, 0);
	if (t->opened % RUN_EACH == 0) {
		pt_run_kinds("cpuid,pio_out", 5, 0);
		t->ran++;
	}
	if (random() % 2)
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (aux != MAP_FAILED)
		munmap(aux, area);
	if (head != MAP_FAILED)
		munmap(head, page + ring);
}

static int try_all(void *arg)
{
	static const int tids[] = { 0, 0, -1, 1 }, cpus[] = { -1, 0, 0, 1, 99 };
	struct tries *t = arg;
	union attr attr;
	unsigned int i;
	int fd;

	srandom(t->seed);
	for (i = 0; i < t->count; i++) {
		random_attr(&attr, t->pt);
		fd = syscall(SYS_perf_event_open, &attr, tids[random() % ARRAY_SIZE(tids)],
			     cpus[random() % ARRAY_SIZE(cpus)], -1,
			     PERF_FLAG_FD_CLOEXEC | (random() % 16 ? 0 : random() % 16));
		if (fd < 0)
			continue;
		t->opened++;
		if (t->refused_all)
			return -EEXIST;
		map_and_run(t, fd);
		close(fd);
	}
	return 0;
}

static unsigned int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	if (!dir)
		tap_die("/proc/self/fd");
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static const u32 msrs[] = {
	PT_EMU_MSR_CTL, PT_EMU_MSR_STATUS, PT_EMU_MSR_OUTPUT_BASE, PT_EMU_MSR_OUTPUT_MASK,
	PT_EMU_MSR_CR3_MATCH, PT_EMU_MSR_ADDR0_A, PT_EMU_MSR_ADDR0_A + 1, PT_EMU_MSR_ADDR0_A + 2,
	PT_EMU_MSR_ADDR0_A + 3,
};

#define CPUS	2

static void read_msrs(u64 values[CPUS][ARRAY_SIZE(msrs)])
{
	unsigned int cpu;
	size_t i;

	for (cpu = 0; cpu < CPUS; cpu++) {
		msr_on_cpu(cpu);
		for (i = 0; i < ARRAY_SIZE(msrs); i++)
			values[cpu][i] = msr_get(msrs[i]);
	}
	msr_on_cpu(0);
}

/* Tracing is off on each CPU, so what is in them is nobody's but what was planted. */
static void plant(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		msr_on_cpu(cpu);
		msr_set(PT_EMU_MSR_CR3_MATCH, 0x12340 + 0x20 * cpu);
		msr_set(PT_EMU_MSR_ADDR0_A, 0x1000 * (cpu + 1));
		msr_set(PT_EMU_MSR_ADDR0_A + 1, 0x2fff + 0x1000 * cpu);
	}
	msr_on_cpu(0);
}

static void unplant(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		msr_on_cpu(cpu);
		msr_set(PT_EMU_MSR_CR3_MATCH, 0);
		msr_set(PT_EMU_MSR_ADDR0_A, 0);
		msr_set(PT_EMU_MSR_ADDR0_A + 1, 0);
	}
	msr_on_cpu(0);
}

static void expect_msrs(u64 before[CPUS][ARRAY_SIZE(msrs)])
{
	u64 after[CPUS][ARRAY_SIZE(msrs)];
	unsigned int cpu;
	size_t i;

	read_msrs(after);
	for (cpu = 0; cpu < CPUS; cpu++) {
		for (i = 0; i < ARRAY_SIZE(msrs); i++)
			tap_expect(after[cpu][i] == before[cpu][i],
				   "CPU %u MSR 0x%x is 0x%llx and not 0x%llx", cpu, msrs[i],
				   after[cpu][i], before[cpu][i]);
	}
}

static void test_root(bool pt, unsigned int count, unsigned int seed)
{
	struct tries t = { .pt = pt, .count = count, .seed = seed };
	u64 before[CPUS][ARRAY_SIZE(msrs)];
	unsigned int fds;

	tap_begin("any_attributes_leave_nothing: %s, root", pt ? KVM_PT : "tracepoints");
	/* KVM stays open, once a guest has run. */
	pt_run_kinds("cpuid", 1, 0);
	plant();
	read_msrs(before);
	fds = count_fds();
	try_all(&t);
	tap_expect(count_fds() == fds, "%u descriptors are open, before it were %u", count_fds(),
		   fds);
	tap_expect(t.opened && t.opened < count && t.ran && (!pt || t.mapped),
		   "%u of %u were opened, %u areas mapped, %u guests run", t.opened, count,
		   t.mapped, t.ran);
	expect_msrs(before);
	unplant();
	tap_expect(!module_users("kvm_trace"), "the module has %d users",
		   module_users("kvm_trace"));
	tap_note("seed %u: %u tried, %u opened, %u areas, %u guests", seed, count, t.opened,
		 t.mapped, t.ran);
	tap_end();
}

static void test_user(bool pt, unsigned int count, unsigned int seed)
{
	struct tries t = { .pt = pt, .count = count, .seed = seed, .refused_all = true };
	u64 before[CPUS][ARRAY_SIZE(msrs)];
	int err;

	tap_begin("any_attributes_are_refused: %s, an ordinary user", pt ? KVM_PT : "tracepoints");
	plant();
	read_msrs(before);
	/* Of kvm_pt whatever it is; where it is 3, the kernel asks nobody. */
	set_paranoid(pt ? -1 : 3);
	err = as_user(false, RLIM_INFINITY, try_all, &t);
	tap_expect(!err, "one was opened, by attributes of seed %u", seed);
	expect_msrs(before);
	unplant();
	tap_end();
}

int main(int argc, char **argv)
{
	const unsigned int count = argc > 1 ? strtoul(argv[1], NULL, 0) : DEFAULT_TRIES;
	const unsigned int seed = argc > 2 ? strtoul(argv[2], NULL, 0) : SEED;
	struct trace_event event;
	char *paranoid;
	size_t i;

	need_kvm_pt();
	need_msrs();
	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		trace_event_need(&event, tracepoints[i].system, tracepoints[i].name);
		ids[i] = event.id;
	}
	paranoid = file_read("/proc/sys/kernel/perf_event_paranoid");
	if (!paranoid)
		tap_die("perf_event_paranoid");
	tap_plan(5);
	test_root(true, count, seed);
	test_root(false, count / 4, seed + 1);
	test_user(true, TRIES_AS_USER, seed + 2);
	test_user(false, TRIES_AS_USER, seed + 3);
	set_paranoid(atoi(paranoid));
	free(paranoid);

	tap_begin("the_module_can_be_unloaded_after_that");
	vm_kvm_close();
	tap_expect(!run("rmmod kvm_trace"), "it cannot");
	need_kvm_pt();
	tap_end();
	return tap_exit();
}
