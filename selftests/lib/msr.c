// SPDX-License-Identifier: GPL-2.0-only
/*
 * MSRs of a CPU, and memory by its physical address. See msr.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "module.h"
#include "msr.h"
#include "tap.h"
#include "vm.h"

#define PFN_PRESENT	(1ull << 63)
#define PFN_MASK	((1ull << 55) - 1)

static int device = -1;

/**
 * need_msrs() - open the MSRs of the first CPU, and stay on it
 */
void need_msrs(void)
{
	/* Without the option the kernel complains of writes. */
	if (!module_loaded("msr") && run("modprobe msr allow_writes=on"))
		tap_die("the msr module cannot be loaded");
	msr_on_cpu(0);
	run_on_cpu(0);
}

/**
 * msr_on_cpu() - from now on, MSRs are those of another CPU
 * @cpu: its number
 */
void msr_on_cpu(unsigned int cpu)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	if (device >= 0)
		close(device);
	device = open(path, O_RDWR | O_CLOEXEC);
	if (device < 0)
		tap_die("%s", path);
}

/**
 * msr_read() - RDMSR
 * @msr: its address
 * @value: what is read
 *
 * Return: false if it faults.
 */
bool msr_read(u32 msr, u64 *value)
{
	if (pread(device, value, sizeof(*value), msr) == sizeof(*value))
		return true;
	if (errno != EIO)
		tap_die("RDMSR of 0x%x", msr);
	return false;
}

/**
 * msr_write() - WRMSR
 * @msr: its address
 * @value: what is written
 *
 * Return: false if it faults.
 */
bool msr_write(u32 msr, u64 value)
{
	if (pwrite(device, &value, sizeof(value), msr) == sizeof(value))
		return true;
	if (errno != EIO)
		tap_die("WRMSR of 0x%x", msr);
	return false;
}

/**
 * msr_get() - RDMSR of an MSR that is there
 * @msr: its address
 *
 * Return: its value.
 */
u64 msr_get(u32 msr)
{
	u64 value = 0;

	if (!msr_read(msr, &value))
		tap_die("RDMSR of 0x%x faults", msr);
	return value;
}

/**
 * msr_set() - WRMSR of a value that is allowed
 * @msr: its address
 * @value: what is written
 */
void msr_set(u32 msr, u64 value)
{
	if (!msr_write(msr, value))
		tap_die("WRMSR of 0x%x to 0x%llx faults", msr, value);
}

static u64 physical_address(const void *at)
{
	int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	u64 entry = 0;

	if (map < 0 ||
	    pread(map, &entry, sizeof(entry), (u64)at / PAGE_BYTES * sizeof(entry)) !=
	    sizeof(entry) ||
	    !(entry & PFN_PRESENT) || !(entry & PFN_MASK))
		tap_die("no page with a known physical address");
	close(map);
	return (entry & PFN_MASK) * PAGE_BYTES;
}

static u8 *map_locked(size_t size, int flags)
{
	u8 *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED | MAP_POPULATE | flags, -1, 0);

	if (at == MAP_FAILED)
		tap_die("%zu bytes of memory that stay where they are", size);
	return at;
}

/**
 * physical_page() - a page that stays where it is
 * @address: its physical address
 *
 * Return: the page, which is never given back.
 */
u8 *physical_page(u64 *address)
{
	u8 *page = map_locked(PAGE_BYTES, 0);

	*address = physical_address(page);
	return page;
}

/**
 * physical_area() - memory in a row that stays where it is
 * @address: its physical address, a multiple of its size
 *
 * Return: AREA_BYTES of it, which are never given back.
 */
u8 *physical_area(u64 *address)
{
	u8 *area;

	if (run("echo 1 >/proc/sys/vm/nr_hugepages"))
		tap_die("/proc/sys/vm/nr_hugepages");
	area = map_locked(AREA_BYTES, MAP_HUGETLB);
	*address = physical_address(area);
	return area;
}
