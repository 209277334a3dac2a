// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads where the kernel is: /proc/kcore has its memory as it is mapped, its code and its
 * struct pages, /proc/vmallocinfo and /proc/modules have the rest. These ranges are few of
 * all that an address might be, so that random bytes look like none of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addresses.h"
#include "tap.h"
#include "trace.h"

#define GIB		(1ull << 30)
#define KERNEL_MAP	0xffffffff80000000ull	/* code and modules are above */
#define ENTRY_AREA	0xfffffe0000000000ull	/* stacks and tables of entries, of each CPU */
#define ENTRY_BYTES	(16ull << 20)
#define LEAST		0xffff800000000000ull

/* The parts of an ELF file that are looked at. */
struct head_layout {
	u8 before[32];
	u64 parts_at;
	u8 between[16];
	u16 nr_parts;
};

struct part_layout {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};

#define PART_LOAD	1
#define NO_PADDR	-1ull

struct range {
	u64 from, to;
	const char *what;
};

static struct range *ranges;
static size_t nr_ranges, room;

static void add(u64 from, u64 to, const char *what)
{
	if (from < LEAST || to <= from)
		tap_die("%s from 0x%llx to 0x%llx is not the kernel's", what, from, to);
	if (nr_ranges == room) {
		room = room ? 2 * room : 1024;
		ranges = reallocarray(ranges, room, sizeof(*ranges));
		if (!ranges)
			tap_die("memory");
	}
	ranges[nr_ranges++] = (struct range){ from, to, what };
}

/* Without areas of which only parts are in use: those have files of their own. */
static void read_kcore(void)
{
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	struct head_layout head;
	struct part_layout part;
	unsigned int i;

	if (fd < 0 || read(fd, &head, sizeof(head)) != sizeof(head))
		tap_die("/proc/kcore");
	for (i = 0; i < head.nr_parts; i++) {
		if (pread(fd, &part, sizeof(part), head.parts_at + i * sizeof(part)) !=
		    sizeof(part))
			tap_die("/proc/kcore");
		if (part.type != PART_LOAD ||
		    (part.paddr == NO_PADDR && (part.memsz >= GIB || part.vaddr >= KERNEL_MAP)))
			continue;
		add(part.vaddr, part.vaddr + part.memsz,
		    part.vaddr >= KERNEL_MAP ? "the kernel's code or data" :
		    part.paddr == NO_PADDR ? "struct pages" : "the kernel's memory");
	}
	close(fd);
}

static void read_lines(const char *path, const char *what)
{
	FILE *file = fopen(path, "r");
	unsigned long long from, to;
	unsigned int size, n = 0;
	char *line = NULL;
	size_t bytes = 0;

	if (!file)
		tap_die("%s", path);
	while (getline(&line, &bytes, file) > 0) {
		if (sscanf(line, "0x%llx-0x%llx", &from, &to) == 2)
			add(from, to, what);
		else if (sscanf(line, "%*s %u %*d %*s %*s 0x%llx", &size, &from) == 2)
			add(from, from + size, what);
		else
			continue;
		n++;
	}
	if (!n)
		tap_die("%s has no addresses", path);
	free(line);
	fclose(file);
}

static int by_from(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->from < right->from ? -1 : left->from > right->from;
}

/**
 * addresses_read() - find them out; again, if the kernel may have others by now
 *
 * Those that were found before stay.
 */
void addresses_read(void)
{
	size_t i, n = 0;
	char *before;

	/* Or what is read is not what they are. */
	before = file_read("/proc/sys/kernel/kptr_restrict");
	errno = before ? -file_write("/proc/sys/kernel/kptr_restrict", "1") : errno;
	if (errno)
		tap_die("kptr_restrict");
	read_kcore();
	read_lines("/proc/vmallocinfo", "vmalloc's memory");
	read_lines("/proc/modules", "a module");
	add(ENTRY_AREA, ENTRY_AREA + ENTRY_BYTES, "the area of entries");
	file_write("/proc/sys/kernel/kptr_restrict", before);
	free(before);
	qsort(ranges, nr_ranges, sizeof(*ranges), by_from);
	for (i = 1; i < nr_ranges; i++) {
		if (ranges[i].from > ranges[n].to)
			ranges[++n] = ranges[i];
		else if (ranges[i].to > ranges[n].to)
			ranges[n].to = ranges[i].to;
	}
	nr_ranges = n + 1;
}

/**
 * addresses_free() - forget them
 */
void addresses_free(void)
{
	free(ranges);
	ranges = NULL;
	nr_ranges = 0;
	room = 0;
}

/**
 * address_of() - what a number is the address of
 * @value: the number
 *
 * Return: NULL if it is none of the kernel's.
 */
const char *address_of(u64 value)
{
	size_t low = 0, high = nr_ranges, middle;

	if (value < LEAST)
		return NULL;
	while (low < high) {
		middle = (low + high) / 2;
		if (value < ranges[middle].from)
			high = middle;
		else if (value >= ranges[middle].to)
			low = middle + 1;
		else
			return ranges[middle].what;
	}
	return NULL;
}

/**
 * address_of_symbol() - as /proc/kallsyms has it
 * @name: of a function or variable
 */
u64 address_of_symbol(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long address, found = 0;
	char symbol[512];

	while (file && !found && fscanf(file, "%llx %*c %511s%*[^\n]", &address, symbol) == 2)
		found = strcmp(symbol, name) ? 0 : address;
	if (!found)
		tap_die("/proc/kallsyms has no %s", name);
	fclose(file);
	return found;
}

/**
 * address_in() - look for an address at each byte
 * @bytes: where
 * @size: how many
 * @at: gets the offset of the first one
 * @value: gets the address
 *
 * Return: what it is the address of, or NULL if there is none.
 */
const char *address_in(const void *bytes, size_t size, size_t *at, u64 *value)
{
	const char *what;

	for (*at = 0; *at + sizeof(*value) <= size; ++*at) {
		memcpy(value, (const u8 *)bytes + *at, sizeof(*value));
		what = address_of(*value);
		if (what)
			return what;
	}
	return NULL;
}
