// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: of Hyper-V's calls with lists of addresses or sets of virtual
 * processors each element has a record that is what is in guest memory; those of
 * a list in XMM registers are said to be there; what cannot be read, or is beyond
 * the limit, is counted and said; and guest memory is read only while those
 * records are asked for.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "guest.h"
#include "module.h"
#include "subcalls.h"
#include "tap.h"

#define GUEST_OS_ID	0x40000000u	/* MSR; hypercalls are Hyper-V's once it is set */
#define CLUSTER_IPI	0x000bu
#define FLUSH_LIST	0x0003u
#define FLUSH_SPACE_EX	0x0013u
#define FLUSH_LIST_EX	0x0014u
#define IPI_EX		0x0015u

/* Input value. */
#define FAST		(1ull << 16)
#define VAR_SHIFT	17
#define COUNT_SHIFT	32
#define START_SHIFT	48

#define SET_SPARSE	0
#define SET_ALL		1

#define MAX_VCPUS	3
#define INPUT		0x200000u	/* behind the area of the only vCPU */
#define RING_MIB	4

struct call {
	const char *name;
	u32 code;
	unsigned int start, count;	/* of a rep call */
	u64 banks;			/* mask of valid ones */
	unsigned int format;		/* of the set */
	u32 flags;			/* of the word SUB */
	bool fast, narrow;
	unsigned int offset;		/* of the input in its page */
};

static const struct call calls[] = {
	{ .name = "addresses to flush", .code = FLUSH_LIST, .count = 5 },
	{ .name = "addresses to flush, of a 32-bit caller", .code = FLUSH_LIST, .count = 5,
	  .narrow = true },
	{ .name = "addresses to flush from an element on", .code = FLUSH_LIST, .start = 3,
	  .count = 5 },
	{ .name = "no addresses", .code = FLUSH_LIST, .start = 5, .count = 5 },
	{ .name = "addresses on two pages, not aligned", .code = FLUSH_LIST, .count = 60,
	  .offset = 4096 - 107 },
	{ .name = "addresses and processors", .code = FLUSH_LIST_EX, .count = 4,
	  .banks = 0x8000000000000045 },
	{ .name = "addresses from an element on, and processors", .code = FLUSH_LIST_EX,
	  .start = 2, .count = 6, .banks = 0x12 },
	{ .name = "addresses of all processors", .code = FLUSH_LIST_EX, .count = 3,
	  .format = SET_ALL },
	{ .name = "processors to flush", .code = FLUSH_SPACE_EX, .banks = 0x41 },
	{ .name = "processors to interrupt", .code = IPI_EX, .banks = 0xf000000000000001 },
	{ .name = "processors of all banks", .code = IPI_EX, .banks = -1ull },
	{ .name = "no processors", .code = IPI_EX },
	{ .name = "as many addresses as may have records", .code = FLUSH_LIST,
	  .count = KVM_TRACE_SUB_CALLS },
	{ .name = "more addresses than may have records", .code = FLUSH_LIST,
	  .count = KVM_TRACE_SUB_CALLS + 1, .flags = KVM_TRACE_SUB_MAX_CALLS },
	{ .name = "the most addresses that can be told", .code = FLUSH_LIST_EX, .count = 4095,
	  .banks = 0x3, .flags = KVM_TRACE_SUB_MAX_CALLS },
	{ .name = "addresses in XMM registers", .code = FLUSH_LIST, .count = 5, .fast = true,
	  .flags = KVM_TRACE_SUB_XMM },
	{ .name = "addresses and processors in XMM registers", .code = FLUSH_LIST_EX, .count = 2,
	  .banks = 0x3, .fast = true, .flags = KVM_TRACE_SUB_XMM },
	{ .name = "processors in XMM registers", .code = IPI_EX, .banks = 0x3, .fast = true,
	  .flags = KVM_TRACE_SUB_XMM },
};

static struct vm vm;
static struct vcpu vcpu;
static struct subcalls subcalls;
static struct told told;

/* Bytes of the input in front of the set. */
static unsigned int set_at(u32 code)
{
	return code == IPI_EX ? 8 : 16;
}

static bool has_addresses(u32 code)
{
	return code == FLUSH_LIST || code == FLUSH_LIST_EX;
}

static u64 bank_mask(unsigned int i)
{
	return 0xba2c000000000000 | (0x101ull << i % 32);
}

static u64 address_range(unsigned int i)
{
	return 0xffff880012345000ull + i * 0x1000000ull + (i * 7) % 0x1000;
}

/* Returns the end of the input. */
static u64 fill(const struct call *call, u64 gpa)
{
	u8 *at = vm_at(&vm, gpa);
	const u64 head[] = { 0x5bace, 0x4 /* non-global */, 0x3 };
	const u64 set[] = { call->format, call->banks };
	unsigned int i;
	u64 value;

	memcpy(at, head, sizeof(head));
	at += 24;
	if (call->code != FLUSH_LIST) {
		at = (u8 *)vm_at(&vm, gpa) + set_at(call->code);
		memcpy(at, set, sizeof(set));
		at += sizeof(set);
		for (i = 0; i < (unsigned int)__builtin_popcountll(call->banks); i++, at += 8) {
			value = bank_mask(i);
			memcpy(at, &value, 8);
		}
	}
	for (i = 0; has_addresses(call->code) && i < call->count; i++, at += 8) {
		value = address_range(i);
		memcpy(at, &value, 8);
	}
	return at - (u8 *)vm_at(&vm, 0);
}

static void make_call(const struct call *call, u64 input)
{
	static const u8 code[] = { 0x0f, 0x01, 0xd9, 0xe6, PORT_DONE };	/* vmmcall; out */
	u64 control = call->code | (call->fast ? FAST : 0) |
		      (u64)__builtin_popcountll(call->banks) << VAR_SHIFT |
		      (u64)call->count << COUNT_SHIFT | (u64)call->start << START_SHIFT;
	struct kvm_regs regs;

	vcpu_set_mode(&vcpu, call->narrow ? MODE_PROTECTED : MODE_LONG);
	guest_load_code(&vcpu, code, sizeof(code));
	vcpu_get_regs(&vcpu, &regs);
	if (call->narrow) {
		regs.rdx = control >> 32;
		regs.rax = (u32)control;
		regs.rbx = 0;
		regs.rcx = input;
	} else {
		regs.rcx = control;
		regs.rdx = input;
		regs.r8 = 0;
	}
	vcpu_set_regs(&vcpu, &regs);
	guest_run(&vcpu);
	subcalls_take(&subcalls, &told);
	tap_expect(told.nr_calls == 1 && told.call.nr == call->code &&
		   told.call.abi == KVM_TRACE_ABI_HYPERV,
		   "%u records of 1 hypercall, the last of ABI %u, number 0x%llx", told.nr_calls,
		   told.call.abi, told.call.nr);
}

static void expect_word(unsigned int records, u32 flags)
{
	tap_expect(told.call.have & KVM_TRACE_HC_W_SUB && told.call.sub == (flags | records),
		   "present 0x%x, word SUB 0x%x, not 0x%x", told.call.present, told.call.sub,
		   flags | records);
	tap_expect(told.nr_subs == records, "%u records of hypercall_sub, not %u", told.nr_subs,
		   records);
	tap_expect(told.nr_reads <= 2 * KVM_TRACE_SUB_BYTES / 64, "%u reads", told.nr_reads);
}

static void expect_sub(unsigned int n, u8 kind, u32 index, u64 a0, u64 a1)
{
	const struct kvm_trace_hypercall_sub *sub = &told.subs[n];
	u32 present = (a0 >> 32 ? KVM_TRACE_HC_ARG_64 : KVM_TRACE_HC_ARG_32) |
		      (a1 >> 32 ? KVM_TRACE_HC_ARG_64 : KVM_TRACE_HC_ARG_32) << 2;

	tap_expect(sub->kind == kind && sub->index == index,
		   "record %u: kind %u index %u, not %u %u", n, sub->kind, sub->index, kind, index);
	tap_expect(sub->present == present && sub->arg[0] == a0 && sub->arg[1] == a1,
		   "record %u: present 0x%x 0x%llx 0x%llx, not 0x%x 0x%llx 0x%llx", n,
		   sub->present, sub->arg[0], sub->arg[1], present, a0, a1);
	tap_expect(sub->nr == told.call.nr && sub->abi == KVM_TRACE_ABI_HYPERV &&
		   sub->seq == told.call.seq && sub->vm == told.call.vm &&
		   sub->vcpu == told.call.vcpu, "record %u: number 0x%llx abi %u seq %u", n,
		   sub->nr, sub->abi, sub->seq);
}

static void expect_elements(const struct call *call, unsigned int records)
{
	unsigned int n = 0, bank, i;

	for (bank = 0, i = 0; bank < 64 && n < records; bank++) {
		if (!(call->banks & (1ull << bank)))
			continue;
		expect_sub(n++, KVM_TRACE_SUB_KIND_VP_BANK, i, bank, bank_mask(i));
		i++;
	}
	for (i = call->start; has_addresses(call->code) && i < call->count && n < records; i++)
		expect_sub(n++, KVM_TRACE_SUB_KIND_GVA_RANGE, i, address_range(i) & ~0xfffull,
			   (address_range(i) & 0xfff) + 1);
}

static unsigned int elements(const struct call *call)
{
	unsigned int n = __builtin_popcountll(call->banks);

	if (call->fast)
		return 0;
	if (has_addresses(call->code))
		n += call->count - call->start;
	return n < KVM_TRACE_SUB_CALLS ? n : KVM_TRACE_SUB_CALLS;
}

static void check_call(const struct call *call)
{
	u64 input = INPUT + call->offset;

	tap_begin("rep_call_elements: %s", call->name);
	fill(call, input);
	make_call(call, input);
	expect_word(elements(call), call->flags);
	expect_elements(call, told.nr_subs);
	tap_expect(!call->fast || (told.call.caller & KVM_TRACE_CALLER_FAST &&
				   told.call.caller & KVM_TRACE_CALLER_XMM && !told.nr_reads),
		   "caller 0x%x, %u reads", told.call.caller, told.nr_reads);
	tap_end();
}

/* Input whose last three addresses are where nothing can be read. */
static void check_unreadable(const char *name, u64 end, u64 lost)
{
	const struct call call = { .code = FLUSH_LIST_EX, .count = 10, .banks = 0x81 };
	u64 input = end - (32 + 2 * 8 + 7 * 8);

	tap_begin("rep_call_elements: %s", name);
	if (lost)
		fill(&call, input);
	else
		fill(&(struct call){ .code = FLUSH_LIST_EX, .count = 7, .banks = 0x81 }, input);
	if (lost && madvise(vm_at(&vm, lost), PAGE_BYTES, MADV_DONTNEED))
		tap_die("MADV_DONTNEED");
	make_call(&call, input);
	expect_word(2 + 7, KVM_TRACE_SUB_UNREADABLE);
	expect_elements(&call, told.nr_subs);
	tap_end();
}

static void check_mmio(void)
{
	const struct call call = { .code = FLUSH_LIST_EX, .count = 10, .banks = 0x81 };

	tap_begin("rep_call_elements: input in MMIO space, at the end of the address space");
	make_call(&call, VM_MMIO);
	expect_word(0, KVM_TRACE_SUB_UNREADABLE);
	make_call(&call, -(u64)24);
	expect_word(0, KVM_TRACE_SUB_UNREADABLE);
	tap_end();
}

static void check_fields(void)
{
	const struct call call = { .code = CLUSTER_IPI };
	const u64 input[] = { 0xfe, 0x8000000000000005 };

	tap_begin("rep_call_elements: fields of SendSyntheticClusterIpi");
	memcpy(vm_at(&vm, INPUT), input, sizeof(input));
	make_call(&call, INPUT);
	expect_word(0, 0);
	tap_expect((told.call.present & 0xffff) == (KVM_TRACE_HC_ARG_32 << 12 |
						    KVM_TRACE_HC_ARG_64 << 14) &&
		   told.call.arg[6] == 0xfe && told.call.arg[7] == input[1],
		   "present 0x%x: a6 0x%llx a7 0x%llx", told.call.present, told.call.arg[6],
		   told.call.arg[7]);
	tap_end();
}

static void check_off(void)
{
	const struct call call = { .code = FLUSH_LIST_EX, .count = 10, .banks = 0x81 };

	tap_begin("rep_call_elements: nothing is read unless it is asked for");
	fill(&call, INPUT);
	subcalls_start(&subcalls, false, RING_MIB);
	make_call(&call, INPUT);
	tap_expect(!told.nr_subs && !told.nr_reads && !(told.call.have & KVM_TRACE_HC_W_SUB),
		   "%u records, %u reads of guest memory", told.nr_subs, told.nr_reads);
	subcalls_close(&subcalls);
	subcalls_start(&subcalls, true, RING_MIB);
	make_call(&call, INPUT);
	tap_expect(told.nr_subs == 12 && told.nr_reads, "asked for: %u records, %u reads",
		   told.nr_subs, told.nr_reads);
	subcalls_close(&subcalls);
	tap_end();
}

static void use_hyperv(void)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msrs = { .head.nmsrs = 1, .entry = { .index = GUEST_OS_ID, .data = 1 } };

	if (ioctl(vcpu.fd, KVM_SET_MSRS, &msrs) != 1)
		tap_die("MSR 0x%x", GUEST_OS_ID);
}

int main(void)
{
	unsigned int i;

	need_kvm_trace();
	tap_plan(ARRAY_SIZE(calls) + 5);
	vm_create(&vm, MAX_VCPUS, VM_HYPERV);
	vcpu_create(&vm, &vcpu, 2);
	use_hyperv();
	check_off();
	subcalls_start(&subcalls, true, RING_MIB);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		check_call(&calls[i]);
	check_unreadable("input that ends behind the memory", vm.mem_bytes, 0);
	check_unreadable("input whose end is not in the host's memory", INPUT + PAGE_BYTES,
			 INPUT + PAGE_BYTES);
	check_mmio();
	check_fields();
	subcalls_close(&subcalls);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	return tap_exit();
}
