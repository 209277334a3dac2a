// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: of a multicall of Xen's each call inside has a record that is what is
 * in guest memory, whatever the caller's mode of paging is; what cannot be read,
 * or is beyond a limit, is counted and said; and guest memory is read only while
 * those records are asked for. The test plays Xen. With the argument "shadow" KVM
 * has no nested paging, so that the processor's CR0 and CR3 are not the guest's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "module.h"
#include "subcalls.h"
#include "tap.h"

#define MULTICALL	13
#define SCHED_OP	29
#define SCHED_POLL	3
#define ANSWER		0x5eed
#define RETURN		0x123456789abcdef0ull
#define GARBAGE		0xdeadbeef00000000ull	/* that a 32-bit caller does not know of */
#define ARGS		6
#define RING_MIB	4

/* Guest memory: those of the test begin above the vCPUs' areas. */
#define MAX_VCPUS	15
#define TABLES		0x400000u
#define TABLES_END	0x500000u
#define LOST_TABLE	0x5ff000u	/* a table that is not in the host's memory */
#define LISTS		0x800000u
#define LIST_PAGES	8u
#define TOP		0xfffff000u	/* a slot of two pages around 4 GiB */
#define TOP_BYTES	(2 * PAGE_BYTES)

/* Guest-virtual, where there is paging. */
#define LIST_GVA	0x51234000u
#define MMIO_GVA	0x52000000u
#define NO_TABLE_GVA	0x53000000u	/* the table that would say is in MMIO space */
#define LOST_TABLE_GVA	0x54000000u	/* ... is not in the host's memory */
#define LARGE_GVA	0x60000000u	/* a page of 2 or 4 MiB, onto LISTS */
#define HUGE_GVA	0x80000000u	/* a page of 1 GiB, onto 0 */
#define IN_LARGE	0x1fe7f0u	/* a list's offset in them */

#define PRESENT		0x1ull
#define TABLE_BITS	0x7ull
#define LARGE_BITS	0x87ull

#define CR0_PG		0x80000000ull
#define CR4_PSE		0x10ull
#define CR4_PAE		0x20ull
#define CR4_LA57	0x1000ull
#define CPUID_LA57	(1u << 16)	/* ECX of leaf 7 */

struct mode {
	const char *name;
	unsigned int levels;	/* of page tables; 0: no paging */
	bool wide;		/* 64-bit code */
};

static const struct mode modes[] = {
	{ "32-bit caller, no paging", 0, false },
	{ "32-bit caller, 32-bit tables", 2, false },
	{ "32-bit caller, PAE tables", 3, false },
	{ "32-bit caller, 4-level tables", 4, false },
	{ "64-bit caller, 4-level tables", 4, true },
	{ "64-bit caller, 5-level tables", 5, true },
};

static const char *title = "multicall";

struct setup {
	const struct mode *mode;
	struct vm vm;
	struct vcpu vcpu;
	u8 *top;		/* memory at TOP */
	u64 root, next_table;
	u64 list;		/* guest address of the LIST_PAGES pages */
	u64 edge;		/* guest address behind them, or of no memory */
	struct subcalls subcalls;
	struct told told;
	u64 rsp;		/* of the caller, if not 0 */
	bool all_args;
};

/* Calls that lists are made of: number, and arguments that a record must have. */
static const struct {
	u64 op;
	u8 uses, uses_32;
} inner[] = {
	{ SCHED_OP, 0x01, 0x01 },
	{ 0x1337, 0x3f, 0x3f },
	{ 24, 0x03, 0x03 },			/* vcpu_op */
	{ MULTICALL, 0x02, 0x02 },
	{ 15, 0x01, 0x03 },			/* set_timer_op */
	{ 0x1234567800001338ull, 0x3f, 0x3f },
	{ 17, 0x01, 0x01 },			/* xen_version */
};

static u64 entry_bytes(const struct setup *s)
{
	return s->mode->wide ? 64 : 32;
}

static unsigned int word_bytes(const struct setup *s)
{
	return s->mode->wide ? 8 : 4;
}

/* Last page of the address space, as the caller sees it. */
static u64 top_page(const struct setup *s)
{
	return s->mode->wide ? -(u64)PAGE_BYTES : TOP;
}

/* Pages of lists stand in memory the other way round. */
static u64 list_gpa(u64 page)
{
	return LISTS + (LIST_PAGES - 1 - page) * PAGE_BYTES;
}

static u64 gpa_of(const struct setup *s, u64 gva)
{
	u64 offset = gva % PAGE_BYTES;

	if (!s->mode->levels)
		return gva;
	if (gva >= top_page(s))
		return TOP + gva - top_page(s);
	if (gva >= LIST_GVA && gva < LIST_GVA + LIST_PAGES * PAGE_BYTES)
		return list_gpa((gva - LIST_GVA) / PAGE_BYTES) + offset;
	if (gva >= LARGE_GVA && gva < LARGE_GVA + 0x400000)
		return LISTS + gva - LARGE_GVA;
	if (gva >= HUGE_GVA && gva < HUGE_GVA + 0x40000000u)
		return gva - HUGE_GVA;
	return gva;
}

static u8 *byte_at(struct setup *s, u64 gpa)
{
	return gpa >= TOP ? s->top + (gpa - TOP) : (u8 *)vm_at(&s->vm, gpa);
}

static u64 read_word(struct setup *s, u64 gva)
{
	u64 value = 0;
	unsigned int i;

	for (i = 0; i < word_bytes(s); i++)
		value |= (u64)*byte_at(s, gpa_of(s, gva + i)) << (8 * i);
	return value;
}

static void write_bytes(struct setup *s, u64 gva, u64 value, unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < bytes; i++)
		*byte_at(s, gpa_of(s, gva + i)) = value >> (8 * i);
}

/* Where in a table of a level the entry for an address is. */
static void *entry_at(struct setup *s, u64 table, u64 gva, unsigned int level)
{
	if (s->mode->levels == 2)
		return (u32 *)vm_at(&s->vm, table) + ((gva >> (12 + 10 * (level - 1))) & 0x3ff);
	return (u64 *)vm_at(&s->vm, table) + ((gva >> (12 + 9 * (level - 1))) & 0x1ff);
}

static u64 entry_get(struct setup *s, u64 table, u64 gva, unsigned int level)
{
	void *at = entry_at(s, table, gva, level);

	return s->mode->levels == 2 ? *(u32 *)at : *(u64 *)at;
}

static void entry_set(struct setup *s, u64 table, u64 gva, unsigned int level, u64 entry)
{
	memcpy(entry_at(s, table, gva, level), &entry, s->mode->levels == 2 ? 4 : 8);
}

static u64 new_table(struct setup *s)
{
	if (s->next_table == TABLES_END)
		tap_die("page tables of the guest do not fit");
	s->next_table += PAGE_BYTES;
	return s->next_table - PAGE_BYTES;
}

/* The table of a level for an address; made with those above it. */
static u64 table_of(struct setup *s, u64 gva, unsigned int level)
{
	u64 table = s->root, entry;
	unsigned int at;

	for (at = s->mode->levels; at > level; at--) {
		entry = entry_get(s, table, gva, at);
		if (!(entry & PRESENT)) {
			/* An entry of PAE's first table has no further bits. */
			entry = new_table(s) | (s->mode->levels == 3 && at == 3 ? PRESENT :
						TABLE_BITS);
			entry_set(s, table, gva, at, entry);
		}
		table = entry & ~(u64)(PAGE_BYTES - 1);
	}
	return table;
}

static void map(struct setup *s, u64 gva, unsigned int level, u64 entry)
{
	entry_set(s, table_of(s, gva, level), gva, level, entry);
}

static void make_tables(struct setup *s)
{
	const u64 large = s->mode->levels == 2 ? 0x400000 : 0x200000;
	u64 gva;
	unsigned int i;

	s->next_table = TABLES;
	s->root = new_table(s);
	for (gva = 0; gva < s->vm.mem_bytes; gva += large)
		map(s, gva, 2, gva | LARGE_BITS);
	for (i = 0; i < LIST_PAGES; i++)
		map(s, LIST_GVA + i * PAGE_BYTES, 1, list_gpa(i) | TABLE_BITS);
	map(s, MMIO_GVA, 1, VM_MMIO | TABLE_BITS);
	map(s, NO_TABLE_GVA, 2, VM_MMIO | TABLE_BITS);
	map(s, LOST_TABLE_GVA, 2, LOST_TABLE | TABLE_BITS);
	map(s, LARGE_GVA, 2, LISTS | LARGE_BITS);
	map(s, top_page(s), 1, TOP | TABLE_BITS);
	if (s->mode->levels >= 4) {
		map(s, HUGE_GVA, 3, LARGE_BITS);
		/* A 32-bit caller's address must not go on here. */
		map(s, 0x100000000ull, 1, (TOP + PAGE_BYTES) | TABLE_BITS);
	}
}

static void set_mode(struct setup *s)
{
	const struct mode *mode = s->mode;
	struct kvm_sregs sregs;

	vcpu_set_mode(&s->vcpu, mode->levels >= 4 ? MODE_LONG : MODE_PROTECTED);
	if (ioctl(s->vcpu.fd, KVM_GET_SREGS, &sregs))
		tap_die("KVM_GET_SREGS");
	if (mode->levels) {
		sregs.cr0 |= CR0_PG;
		sregs.cr3 = s->root;
		sregs.cr4 |= mode->levels == 2 ? CR4_PSE : CR4_PAE;
	}
	if (mode->levels == 5)
		sregs.cr4 |= CR4_LA57;
	if (mode->levels >= 4 && !mode->wide) {
		sregs.cs.l = 0;
		sregs.cs.db = 1;
	}
	if (ioctl(s->vcpu.fd, KVM_SET_SREGS, &sregs))
		tap_die("KVM_SET_SREGS: %s", mode->name);
}

static void setup(struct setup *s, const struct mode *mode)
{
	struct kvm_userspace_memory_region region = {
		.slot = 1, .guest_phys_addr = TOP, .memory_size = TOP_BYTES,
	};

	memset(s, 0, sizeof(*s));
	s->mode = mode;
	vm_create(&s->vm, MAX_VCPUS, VM_XEN);
	s->top = mmap(NULL, TOP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->top == MAP_FAILED)
		tap_die("memory");
	region.userspace_addr = (unsigned long)s->top;
	if (ioctl(s->vm.fd, KVM_SET_USER_MEMORY_REGION, &region))
		tap_die("KVM_SET_USER_MEMORY_REGION");
	vcpu_create(&s->vm, &s->vcpu, 3);
	if (mode->levels)
		make_tables(s);
	set_mode(s);
	s->list = mode->levels ? LIST_GVA : LISTS;
	s->edge = mode->levels ? LIST_GVA + LIST_PAGES * PAGE_BYTES : s->vm.mem_bytes;
}

static void teardown(struct setup *s)
{
	vcpu_destroy(&s->vcpu);
	vm_destroy(&s->vm);
	munmap(s->top, TOP_BYTES);
}

/* Call i of a list: each argument says whose it is, every other one is narrow. */
static void fill(struct setup *s, u64 list, unsigned int n)
{
	unsigned int i, a, word = word_bytes(s);
	u64 at, value;

	for (i = 0; i < n; i++) {
		at = list + i * entry_bytes(s);
		write_bytes(s, at, inner[i % ARRAY_SIZE(inner)].op, word);
		write_bytes(s, at + word, 0x4e5e4e5e4e5e4e5eull, word);
		for (a = 0; a < ARGS; a++) {
			value = 0xf0000000 | i << 8 | a;
			if (s->mode->wide && (i + a) % 2)
				value |= 0xa1b2c3d400000000ull;
			write_bytes(s, at + (2 + a) * word, value, word);
		}
	}
}

/* One hypercall, which the test answers. */
static void call(struct setup *s, u64 nr, u64 a0, u64 a1)
{
	static const u8 code[] = { 0x0f, 0x01, 0xd9, 0xe6, PORT_DONE };	/* vmmcall; out */
	struct kvm_run *run = s->vcpu.run;
	struct kvm_regs regs;
	/* Of the calls of this test KVM itself handles sched_op(poll), as a yield. */
	const bool handled = nr == SCHED_OP;
	unsigned int asked = 0;
	int reason;

	guest_load_code(&s->vcpu, code, sizeof(code));
	vcpu_get_regs(&s->vcpu, &regs);
	if (s->mode->wide) {
		regs.rax = nr;
		regs.rdi = a0;
		regs.rsi = a1;
	} else {
		regs.rax = nr | GARBAGE;
		regs.rbx = a0 | GARBAGE;
		regs.rcx = a1 | GARBAGE;
	}
	if (s->rsp)
		regs.rsp = s->rsp;
	vcpu_set_regs(&s->vcpu, &regs);
	for (;;) {
		reason = vcpu_run(&s->vcpu);
		if (reason == KVM_EXIT_XEN) {
			asked++;
			run->xen.u.hcall.result = ANSWER;
		} else if (!guest_handle(&s->vcpu, reason)) {
			break;
		}
	}
	tap_expect(asked == !handled, "user space was asked %u times", asked);
	subcalls_take(&s->subcalls, &s->told);
	tap_expect(s->told.nr_calls == 1 && s->told.call.nr == nr &&
		   s->told.call.abi == KVM_TRACE_ABI_XEN && s->told.call.vcpu == 3,
		   "%u records of 1 hypercall, the last of ABI %u, number 0x%llx",
		   s->told.nr_calls, s->told.call.abi, s->told.call.nr);
	tap_expect(s->told.call.have & KVM_TRACE_HC_W_RESULT &&
		   s->told.call.result == (handled ? 0 : ANSWER), "result 0x%llx",
		   s->told.call.result);
}

static unsigned int uses(const struct setup *s, u64 op)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inner) && !s->all_args; i++) {
		if (inner[i].op == op)
			return s->mode->wide ? inner[i].uses : inner[i].uses_32;
	}
	return (1u << ARGS) - 1;
}

static void expect_sub(struct setup *s, u64 list, unsigned int i)
{
	const struct kvm_trace_hypercall_sub *sub = &s->told.subs[i];
	const struct kvm_trace_hypercall *h = &s->told.call;
	unsigned int a, word = word_bytes(s);
	u64 at = list + i * entry_bytes(s);
	u64 op = read_word(s, at), value;
	u32 present = op >> 32 ? KVM_TRACE_HC_W_NR_HI : 0;

	for (a = 0; a < ARGS; a++) {
		value = read_word(s, at + (2 + a) * word);
		if (!(uses(s, op) & (1u << a)))
			continue;
		present |= (value >> 32 ? KVM_TRACE_HC_ARG_64 : KVM_TRACE_HC_ARG_32) << (2 * a);
		tap_expect(sub->arg[a] == value, "call %u: a%u is 0x%llx, in memory 0x%llx", i, a,
			   sub->arg[a], value);
	}
	tap_expect(sub->nr == op, "call %u: number 0x%llx, in memory 0x%llx", i, sub->nr, op);
	tap_expect(sub->present == present, "call %u (0x%llx): present 0x%x, not 0x%x", i, op,
		   sub->present, present);
	tap_expect(sub->kind == (s->mode->wide ? KVM_TRACE_SUB_KIND_CALL :
				 KVM_TRACE_SUB_KIND_CALL_32), "call %u: kind %u", i, sub->kind);
	tap_expect(sub->index == i && sub->abi == KVM_TRACE_ABI_XEN, "call %u: index %u abi %u", i,
		   sub->index, sub->abi);
	tap_expect(sub->vm == h->vm && sub->vcpu == h->vcpu && sub->seq == h->seq,
		   "call %u: vm %u vcpu %u seq %u, of its hypercall %u %u %u", i, sub->vm,
		   sub->vcpu, sub->seq, h->vm, h->vcpu, h->seq);
}

static void expect_word(struct setup *s, unsigned int records, u32 flags)
{
	const struct kvm_trace_hypercall *h = &s->told.call;
	/* Each entry may need two reads, each page a read of each table. */
	const unsigned int most = 2 * KVM_TRACE_SUB_CALLS +
				  KVM_TRACE_SUB_WALKS * (s->mode->levels + 1);

	tap_expect(h->have & KVM_TRACE_HC_W_SUB, "no word SUB");
	tap_expect(h->sub == (flags | records), "word SUB 0x%x, not 0x%x", h->sub, flags | records);
	tap_expect(s->told.nr_subs == records, "%u records of hypercall_sub, not %u",
		   s->told.nr_subs, records);
	tap_expect(s->told.nr_reads <= most, "%u reads, more than %u", s->told.nr_reads, most);
}

/* A multicall of n calls, of which so many must have records. */
static void expect_list(struct setup *s, u64 list, u64 n, unsigned int records, u32 flags)
{
	unsigned int i;

	call(s, MULTICALL, list, n);
	expect_word(s, records, flags);
	tap_expect(KVM_TRACE_HC_ARG(s->told.call.present, 0) ==
		   (s->all_args ? s->told.call.arg[0] >> 32 ? KVM_TRACE_HC_ARG_64 :
		    KVM_TRACE_HC_ARG_32 : KVM_TRACE_HC_ARG_ABSENT) && s->told.call.arg[1] == n,
		   "nr_calls 0x%llx, present 0x%x", s->told.call.arg[1], s->told.call.present);
	for (i = 0; i < records && i < s->told.nr_subs; i++)
		expect_sub(s, list, i);
}

static void n_calls(struct setup *s)
{
	static const unsigned int numbers[] = { 1, 7, 100, KVM_TRACE_SUB_CALLS - 1,
						KVM_TRACE_SUB_CALLS };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		fill(s, s->list, numbers[i]);
		expect_list(s, s->list, numbers[i], numbers[i], 0);
		tap_expect(s->told.nr_reads, "no read of guest memory was counted");
	}
}

static void all_arguments(struct setup *s)
{
	s->all_args = true;
	if (parameter_set("hypercall_args", "all"))
		tap_die("parameter hypercall_args");
	fill(s, s->list, 14);
	expect_list(s, s->list, 14, 14, 0);
}

static void no_calls(struct setup *s)
{
	expect_list(s, s->list, 0, 0, 0);
	expect_list(s, 0, 0, 0, 0);
	tap_expect(!s->told.nr_reads, "%u reads for no calls", s->told.nr_reads);
}

static void too_many(struct setup *s)
{
	fill(s, s->list, KVM_TRACE_SUB_CALLS + 2);
	expect_list(s, s->list, KVM_TRACE_SUB_CALLS + 1, KVM_TRACE_SUB_CALLS,
		    KVM_TRACE_SUB_MAX_CALLS);
	expect_list(s, s->list, 0xffffffff, KVM_TRACE_SUB_CALLS, KVM_TRACE_SUB_MAX_CALLS);
}

/* The caller's stack is read too, and first. */
static void limits(struct setup *s)
{
	const u64 three_pages = s->list + PAGE_BYTES - entry_bytes(s);
	const unsigned int in_two = 1 + PAGE_BYTES / entry_bytes(s);

	if (parameter_set("hypercall_words", "all"))
		tap_die("parameter hypercall_words");
	s->rsp = s->list + 7 * PAGE_BYTES;
	write_bytes(s, s->rsp - 4, RETURN, 8);
	fill(s, s->list, KVM_TRACE_SUB_CALLS);
	/* 256 bytes are read at a time. */
	expect_list(s, s->list, KVM_TRACE_SUB_CALLS, KVM_TRACE_SUB_CALLS - 4,
		    KVM_TRACE_SUB_MAX_BYTES);
	/* Half of the word is in another page. */
	s->rsp -= 4;
	fill(s, three_pages, 100);
	expect_list(s, three_pages, in_two, in_two, 0);
	expect_list(s, three_pages, 100, in_two, KVM_TRACE_SUB_MAX_WALKS);
	tap_expect(s->told.call.ret == RETURN, "return is 0x%llx", s->told.call.ret);
	s->rsp = 0;
	if (parameter_set("hypercall_words", "default"))
		tap_die("parameter hypercall_words");
}

static void nested(struct setup *s)
{
	unsigned int i, word = word_bytes(s);

	fill(s, s->list, 10);
	for (i = 0; i < 10; i++) {
		write_bytes(s, s->list + i * entry_bytes(s), MULTICALL, word);
		write_bytes(s, s->list + i * entry_bytes(s) + 2 * word, s->list, word);
		write_bytes(s, s->list + i * entry_bytes(s) + 3 * word, 1000, word);
	}
	expect_list(s, s->list, 10, 10, 0);
}

static void unaligned(struct setup *s)
{
	unsigned int offset;

	for (offset = 1; offset < 64; offset += 9) {
		fill(s, s->list + offset, 130);
		expect_list(s, s->list + offset, 128, 128, 0);
	}
}

static void into_nothing(struct setup *s)
{
	u64 list = s->edge - 3 * entry_bytes(s);

	fill(s, list, 3);
	expect_list(s, list, 10, 3, KVM_TRACE_SUB_UNREADABLE);
	/* The fourth is there in part. */
	fill(s, list - 8, 3);
	expect_list(s, list - 8, 10, 3, KVM_TRACE_SUB_UNREADABLE);
	expect_list(s, s->edge, 10, 0, KVM_TRACE_SUB_UNREADABLE);
}

static void end_of_addresses(struct setup *s)
{
	u64 list = top_page(s) + PAGE_BYTES - 2 * entry_bytes(s);

	fill(s, list, 2);
	expect_list(s, list, 2, 2, 0);
	expect_list(s, list, 4, 2, KVM_TRACE_SUB_UNREADABLE);
	expect_list(s, list, 0xffffffff, 2, KVM_TRACE_SUB_UNREADABLE | KVM_TRACE_SUB_MAX_CALLS);
	list += entry_bytes(s) + 4;
	fill(s, list - entry_bytes(s), 1);
	expect_list(s, list, 4, 0, KVM_TRACE_SUB_UNREADABLE);
}

/* Whether a page of guest memory is in the host's memory. */
static bool in_memory(struct setup *s, u64 gpa)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	u64 page = (unsigned long)vm_at(&s->vm, gpa) / PAGE_BYTES, entry;

	if (fd < 0 || pread(fd, &entry, 8, page * 8) != 8)
		tap_die("/proc/self/pagemap");
	close(fd);
	return entry >> 63;
}

static void lose(struct setup *s, u64 gpa)
{
	if (madvise(vm_at(&s->vm, gpa), PAGE_BYTES, MADV_DONTNEED))
		tap_die("MADV_DONTNEED");
}

static void not_in_memory(struct setup *s)
{
	u64 list = s->list + 5 * PAGE_BYTES;
	u64 gpa = gpa_of(s, list);

	fill(s, list - 2 * entry_bytes(s), 10);
	tap_expect(in_memory(s, gpa), "the page is not in memory before");
	lose(s, gpa);
	expect_list(s, list, 3, 0, KVM_TRACE_SUB_UNREADABLE);
	tap_expect(!in_memory(s, gpa), "the page was read in");
	expect_list(s, list - 2 * entry_bytes(s), 5, 2, KVM_TRACE_SUB_UNREADABLE);
	tap_expect(!in_memory(s, gpa), "the page was read in");
}

static void in_mmio(struct setup *s)
{
	expect_list(s, s->mode->levels ? MMIO_GVA : VM_MMIO, 3, 0, KVM_TRACE_SUB_UNREADABLE);
}

static void table_in_mmio(struct setup *s)
{
	expect_list(s, NO_TABLE_GVA, 3, 0, KVM_TRACE_SUB_UNREADABLE);
}

static void table_not_in_memory(struct setup *s)
{
	*(u64 *)vm_at(&s->vm, LOST_TABLE) = list_gpa(0) | TABLE_BITS;
	fill(s, s->list, 3);
	lose(s, LOST_TABLE);
	expect_list(s, LOST_TABLE_GVA, 3, 0, KVM_TRACE_SUB_UNREADABLE);
	tap_expect(!in_memory(s, LOST_TABLE), "the table was read in");
}

/* An address at which each step leads to the same table, which is the list. */
static void tables_of_themselves(struct setup *s)
{
	const unsigned int levels = s->mode->levels;
	const unsigned int bits = levels == 2 ? 10 : 9;
	u64 table, gva = 0, index = (1u << bits) - 2;
	unsigned int level;

	if (levels >= 3 && !s->mode->wide) {
		/*
		 * In the first table of PAE there are four entries, and a 32-bit caller
		 * does not reach all of others; those below it can be their own.
		 */
		table = table_of(s, TOP, 2);
		gva = 3u << 30 | index << 21 | index << 12;
	} else {
		table = s->root;
		for (level = 0; level < levels; level++)
			gva |= index << (12 + bits * level);
		if (levels >= 4)
			gva |= -1ull << (12 + bits * levels);
	}
	if (levels == 2)
		((u32 *)vm_at(&s->vm, table))[index] = table | TABLE_BITS;
	else
		((u64 *)vm_at(&s->vm, table))[index] = table | TABLE_BITS;
	set_mode(s);
	/* What is there does not come from fill(). */
	s->all_args = true;
	if (parameter_set("hypercall_args", "all"))
		tap_die("parameter hypercall_args");
	call(s, MULTICALL, gva, 40);
	expect_word(s, 40, 0);
	for (level = 0; level < s->told.nr_subs && level < 40; level++) {
		/* Tables are mapped where they are. */
		expect_sub(s, table, level);
	}
}

static void not_canonical(struct setup *s)
{
	u64 bit = 1ull << (s->mode->levels == 5 ? 56 : 47);

	expect_list(s, bit, 3, 0, KVM_TRACE_SUB_UNREADABLE);
	/* The last address that is: the walk ends there. */
	expect_list(s, bit - entry_bytes(s), 3, 0, KVM_TRACE_SUB_UNREADABLE);
	fill(s, s->list, 3);
	expect_list(s, s->list | 1ull << 60, 3, 0, KVM_TRACE_SUB_UNREADABLE);
}

static void large_page(struct setup *s)
{
	u64 list = LARGE_GVA + IN_LARGE;

	/* So far that the list ends in it. */
	fill(s, list, 32);
	expect_list(s, list, 32, 32, 0);
}

static void huge_page(struct setup *s)
{
	u64 list = HUGE_GVA + LISTS + IN_LARGE;

	fill(s, list, 32);
	expect_list(s, list, 32, 32, 0);
}

static void fields_of_poll(struct setup *s)
{
	const unsigned int word = word_bytes(s);
	const struct kvm_trace_hypercall *h = &s->told.call;
	u64 at = s->list + PAGE_BYTES - word - 5;	/* in two pages */

	write_bytes(s, at, 0x7ea70f, word);
	write_bytes(s, at + word, 0x70125, 4);
	write_bytes(s, at + 2 * word, 0x123456789abcdull, 8);
	call(s, SCHED_OP, SCHED_POLL, at);
	expect_word(s, 0, 0);
	tap_expect((h->present & 0xffff) == (KVM_TRACE_HC_ARG_32 | KVM_TRACE_HC_ARG_32 << 12 |
					     KVM_TRACE_HC_ARG_64 << 14) &&
		   h->arg[0] == SCHED_POLL && h->arg[6] == 0x70125 &&
		   h->arg[7] == 0x123456789abcdull, "present 0x%x: a0 0x%llx a6 0x%llx a7 0x%llx",
		   h->present, h->arg[0], h->arg[6], h->arg[7]);
	call(s, SCHED_OP, SCHED_POLL, s->mode->levels ? MMIO_GVA : VM_MMIO);
	expect_word(s, 0, KVM_TRACE_SUB_UNREADABLE);
	tap_expect((h->present & 0xffff) == KVM_TRACE_HC_ARG_32, "present 0x%x", h->present);
}

#define ANY	0
#define PAGED	0x01	/* where there is paging */
#define WIDE	0x02	/* of a 64-bit caller */
#define HUGE	0x04	/* where pages of 1 GiB are */

static const struct {
	const char *name;
	void (*check)(struct setup *s);
	unsigned int where;
} checks[] = {
	{ "n calls have n records", n_calls, ANY },
	{ "all arguments if asked for", all_arguments, ANY },
	{ "no calls", no_calls, ANY },
	{ "more than the limit, 2^32 - 1", too_many, ANY },
	{ "more than the limits of bytes and of pages", limits, WIDE },
	{ "a multicall inside is told and not looked into", nested, ANY },
	{ "a list that is not aligned", unaligned, ANY },
	{ "a list that ends where nothing is mapped", into_nothing, ANY },
	{ "a list at the end of the address space", end_of_addresses, ANY },
	{ "a page that is not in the host's memory", not_in_memory, ANY },
	{ "a list in MMIO space", in_mmio, ANY },
	{ "a page table in MMIO space", table_in_mmio, PAGED },
	{ "a page table that is not in the host's memory", table_not_in_memory, PAGED },
	{ "page tables that point to themselves", tables_of_themselves, PAGED },
	{ "an address that is not canonical", not_canonical, WIDE },
	{ "a large page", large_page, PAGED },
	{ "a page of 1 GiB", huge_page, PAGED | HUGE },
	{ "fields of sched_op(poll)", fields_of_poll, ANY },
};

static bool fits(const struct mode *mode, unsigned int where)
{
	return !((where & PAGED) && !mode->levels) && !((where & WIDE) && !mode->wide) &&
	       !((where & HUGE) && mode->levels < 4);
}

/* Nothing enabled, nothing read: of each way to read in the tables. */
static void check_off(struct setup *s)
{
	tap_begin("%s: %s: nothing is read unless it is asked for", title, s->mode->name);
	subcalls_start(&s->subcalls, false, RING_MIB);
	fill(s, s->list, 7);
	call(s, MULTICALL, s->list, 7);
	tap_expect(!s->told.nr_subs && !s->told.nr_reads, "%u records, %u reads of guest memory",
		   s->told.nr_subs, s->told.nr_reads);
	tap_expect(!(s->told.call.have & KVM_TRACE_HC_W_SUB), "word SUB 0x%x", s->told.call.sub);
	call(s, SCHED_OP, SCHED_POLL, s->list);
	tap_expect(!s->told.nr_reads && (s->told.call.present & 0xffff) == KVM_TRACE_HC_ARG_32 &&
		   !(s->told.call.have & KVM_TRACE_HC_W_SUB),
		   "%u reads of guest memory, present 0x%x", s->told.nr_reads,
		   s->told.call.present);
	subcalls_close(&s->subcalls);
	/* The same calls, so that what counts the reads is seen to count. */
	subcalls_start(&s->subcalls, true, RING_MIB);
	call(s, MULTICALL, s->list, 7);
	tap_expect(s->told.nr_subs == 7 && s->told.nr_reads, "asked for: %u records, %u reads",
		   s->told.nr_subs, s->told.nr_reads);
	call(s, SCHED_OP, SCHED_POLL, s->list);
	tap_expect(s->told.nr_reads, "asked for: no read");
	subcalls_close(&s->subcalls);
	tap_end();
}

static bool has_la57(void)
{
	struct {
		struct kvm_cpuid2 head;
		struct kvm_cpuid_entry2 entries[256];
	} cpuid = { .head.nent = 256 };
	unsigned int i;

	if (ioctl(vm_kvm_fd(), KVM_GET_SUPPORTED_CPUID, &cpuid))
		tap_die("KVM_GET_SUPPORTED_CPUID");
	for (i = 0; i < cpuid.head.nent; i++) {
		if (cpuid.entries[i].function == 7 && !cpuid.entries[i].index)
			return cpuid.entries[i].ecx & CPUID_LA57;
	}
	return false;
}

static void check_mode(const struct mode *mode)
{
	static struct setup s;
	unsigned int i;

	if (mode->levels == 5 && !has_la57()) {
		tap_begin("%s: %s", title, mode->name);
		tap_skip("this processor has no 5-level paging");
		return;
	}
	setup(&s, mode);
	check_off(&s);
	subcalls_start(&s.subcalls, true, RING_MIB);
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		if (!fits(mode, checks[i].where))
			continue;
		tap_begin("%s: %s: %s", title, mode->name, checks[i].name);
		checks[i].check(&s);
		if (s.all_args && parameter_set("hypercall_args", "used"))
			tap_die("parameter hypercall_args");
		s.all_args = false;
		tap_end();
	}
	subcalls_close(&s.subcalls);
	teardown(&s);
}

static unsigned int cases(const struct mode *mode)
{
	unsigned int i, n = 1;

	if (mode->levels == 5 && !has_la57())
		return 1;
	for (i = 0; i < ARRAY_SIZE(checks); i++)
		n += fits(mode, checks[i].where);
	return n;
}

static void load_kvm(const char *intel, const char *amd)
{
	vm_kvm_close();
	if (cpu_is_intel() ? run("rmmod kvm_intel && modprobe kvm_intel %s", intel) :
			     run("rmmod kvm_amd && modprobe kvm_amd %s", amd))
		tap_die("KVM cannot be loaded again");
}

static void with_nested_paging(void)
{
	load_kvm("", "");
}

int main(int argc, char **argv)
{
	unsigned int i, n = 0;

	need_kvm_trace();
	if (argc > 1 && !strcmp(argv[1], "shadow")) {
		title = "multicall, shadow paging";
		load_kvm("ept=0", "npt=0");
		atexit(with_nested_paging);
	}
	if (!vm_has_xen()) {
		tap_plan(1);
		tap_begin("%s", title);
		tap_skip("KVM of this kernel has no Xen hypercalls");
		return tap_exit();
	}
	for (i = 0; i < ARRAY_SIZE(modes); i++)
		n += cases(&modes[i]);
	tap_plan(n);
	for (i = 0; i < ARRAY_SIZE(modes); i++)
		check_mode(&modes[i]);
	return tap_exit();
}
