// SPDX-License-Identifier: GPL-2.0-only
/*
 * microvm: a VMM of few lines that makes VM exits of chosen kinds and prints
 * what KVM counted. It is the load of tests that use perf(1) or trace-cmd(1),
 * and of the benchmark; the guests themselves are in lib/guest.c.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <x86intrin.h>

#include "guest.h"
#include "tap.h"
#include "vm.h"

#define MAX_VMS		16
#define MAX_VCPUS	64

static const char usage[] =
	"usage: microvm [--kinds KIND,...|mix] [--count ROUNDS] [--vcpus N] [--vms N]\n"
	"               [--vcpu-id FIRST] [--irqchip] [--wait] [--memory FILE]\n"
	"Runs VMs whose vCPUs make VM exits of each kind, once a round, and prints\n"
	"KVM's statistics of each vCPU and the TSC ticks an exit took.\n"
	"  --vcpu-id FIRST  ids of the vCPUs count from FIRST\n"
	"  --wait           wait for a line on stdin before the vCPUs run\n"
	"  --memory FILE    leave the last VM's memory, with its code, in FILE\n"
	"Kinds:";

static const char * const shown[] = {
	"exits", "io_exits", "mmio_exits", "halt_exits", "hypercalls", "insn_emulation", "pf_fixed",
};

static void print_usage(FILE *to)
{
	unsigned int kind;

	fputs(usage, to);
	for (kind = 0; kind < KIND_COUNT; kind++)
		fprintf(to, " %s", guest_kind_name(kind));
	fputs(" mix\n", to);
}

static u64 parse(const char *option, const char *text, u64 low, u64 high)
{
	char *end;
	u64 value = strtoull(text, &end, 0);

	if (*end || end == text || *text == '-' || value < low || value > high) {
		fprintf(stderr, "microvm: --%s takes a number from %llu to %llu, not '%s'\n",
			option, low, high, text);
		exit(2);
	}
	return value;
}

static void save_memory(const struct vm *vm, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(vm->mem, vm->mem_bytes, 1, file) != 1 || fclose(file)) {
		fprintf(stderr, "microvm: cannot write %s: name a file elsewhere\n", path);
		exit(2);
	}
}

static void print_stats(unsigned int vm, struct vcpu *vcpu)
{
	unsigned int i;

	printf("vm %u vcpu %u", vm, vcpu->id);
	for (i = 0; i < ARRAY_SIZE(shown); i++)
		printf(" %s=%llu", shown[i], vcpu_stat(vcpu, shown[i]));
	printf(" user_exits=%llu\n", vcpu->user_exits);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "kinds", required_argument, NULL, 'k' },
		{ "count", required_argument, NULL, 'c' },
		{ "vcpus", required_argument, NULL, 'n' },
		{ "vms", required_argument, NULL, 'm' },
		{ "vcpu-id", required_argument, NULL, 'i' },
		{ "irqchip", no_argument, NULL, 'a' },
		{ "wait", no_argument, NULL, 'w' },
		{ "memory", required_argument, NULL, 'y' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	static struct vcpu vcpus[MAX_VMS][MAX_VCPUS];
	static struct vm vms[MAX_VMS];
	u64 kinds = KIND_MIX;
	unsigned int flags = 0, nr_vms = 1, nr_vcpus = 1, first = 0, m, i;
	u64 count = 1000, ticks, exits = 0;
	const char *memory = NULL;
	bool wait = false;
	int option, max_ids;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'k':
			kinds = guest_kinds(optarg);
			if (kinds)
				break;
			fprintf(stderr, "microvm: --kinds '%s' names an unknown kind: see --help\n",
				optarg);
			return 2;
		case 'c':
			count = parse("count", optarg, 1, 1ull << 32);
			break;
		case 'n':
			nr_vcpus = parse("vcpus", optarg, 1, MAX_VCPUS);
			break;
		case 'm':
			nr_vms = parse("vms", optarg, 1, MAX_VMS);
			break;
		case 'i':
			max_ids = ioctl(vm_kvm_fd(), KVM_CHECK_EXTENSION, KVM_CAP_MAX_VCPU_ID);
			first = parse("vcpu-id", optarg, 0, max_ids - 1);
			break;
		case 'a':
			flags |= VM_IRQCHIP;
			break;
		case 'w':
			wait = true;
			break;
		case 'y':
			memory = optarg;
			break;
		case 'h':
			print_usage(stdout);
			return 0;
		default:
			print_usage(stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "microvm: '%s' is not an option: see --help\n", argv[optind]);
		return 2;
	}
	flags |= guest_needs(kinds);
	if ((flags & VM_IRQCHIP) && (flags & VM_NO_IRQCHIP)) {
		fprintf(stderr,
			"microvm: kinds with and without --irqchip cannot be in one VM: run them apart\n");
		return 2;
	}

	for (m = 0; m < nr_vms; m++) {
		vm_create(&vms[m], nr_vcpus, flags);
		for (i = 0; i < nr_vcpus; i++)
			vcpu_create(&vms[m], &vcpus[m][i], first + i);
	}
	if (wait)
		getchar();
	ticks = __rdtsc();
	for (m = 0; m < nr_vms; m++) {
		for (i = 0; i < nr_vcpus; i++)
			guest_start(&vcpus[m][i], kinds, count);
	}
	for (m = 0; m < nr_vms; m++) {
		for (i = 0; i < nr_vcpus; i++)
			guest_join(&vcpus[m][i]);
	}
	ticks = __rdtsc() - ticks;
	if (memory)
		save_memory(&vms[nr_vms - 1], memory);

	for (m = 0; m < nr_vms; m++) {
		for (i = 0; i < nr_vcpus; i++) {
			print_stats(m, &vcpus[m][i]);
			exits += vcpu_stat(&vcpus[m][i], "exits");
		}
	}
	printf("total exits=%llu ticks=%llu ticks_per_exit=%.1f\n", exits, ticks,
	       (double)ticks / exits);
	return 0;
}
