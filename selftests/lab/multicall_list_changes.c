// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: while another vCPU changes a multicall's list, and takes one of its
 * pages away, each record is of what was there at one moment: the arguments are
 * those of the number that it tells, and what could not be read is counted.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "module.h"
#include "subcalls.h"
#include "tap.h"

#define MULTICALL	13
#define ROUNDS		400
#define CALLS		128
#define CALLS_OF_PAGE	40	/* that are on the first page as a whole */
#define ENTRY_BYTES	64
#define RING_MIB	4
#define MAX_VCPUS	15

/* Without suffixes: the assembler reads them too. */
#define TABLE		0x403000	/* page table of the list */
#define PAGES		0x500000	/* pages of the list, one behind the other */
#define LIST_OFFSET	(4096 - 24 - 40 * 64)
#define LIST_GVA	(1ull << 39)
#define SECOND_PAGE	(TABLE + 8)

/* What changes is one byte of each word, so that no word is torn. */
#define OP		29		/* sched_op: uses a0 */
#define OTHER_OP	24		/* vcpu_op: uses a0 and a1 */
#define OP_CHANGE	5
#define A0		0xa0a0a0a000000042
#define A0_CHANGE	0x11
#define A1		0x00000000b1b1b143
#define A1_CHANGE	0x22

#define TABLE_BITS	0x7

#define CODE(name, code)				\
	extern const char name[], name##_end[];		\
	asm(".pushsection .rodata\n"			\
	    #name ":\n" code "\n"			\
	    #name "_end:\n"				\
	    ".popsection\n")

CODE(changer, "1: mov $" XSTR(PAGES) " + " XSTR(LIST_OFFSET) ", %ebx; mov $" XSTR(CALLS) ", %ecx;"
	      "2: xorb $" XSTR(OP_CHANGE) ", (%rbx); xorb $" XSTR(A0_CHANGE) ", 16(%rbx);"
	      "xorb $" XSTR(A1_CHANGE) ", 24(%rbx); add $" XSTR(ENTRY_BYTES) ", %rbx;"
	      "dec %ecx; jnz 2b; xorb $1, " XSTR(SECOND_PAGE) "; jmp 1b");

static struct vm vm;
static struct vcpu caller, other;
static struct subcalls subcalls;
static struct told told;
static u64 whole, partly, seen[2];

static void make_list(void)
{
	u64 *table = vm_at(&vm, TABLE), *entry;
	unsigned int i;

	/* Below the fourth level: tables of one entry each. */
	*(u64 *)vm_at(&vm, VM_PML4 + 8) = (TABLE - 2 * PAGE_BYTES) | TABLE_BITS;
	*(u64 *)vm_at(&vm, TABLE - 2 * PAGE_BYTES) = (TABLE - PAGE_BYTES) | TABLE_BITS;
	*(u64 *)vm_at(&vm, TABLE - PAGE_BYTES) = TABLE | TABLE_BITS;
	for (i = 0; i < 3; i++)
		table[i] = (PAGES + i * PAGE_BYTES) | TABLE_BITS;
	for (i = 0; i < CALLS; i++) {
		entry = vm_at(&vm, PAGES + LIST_OFFSET + i * ENTRY_BYTES);
		entry[0] = OP;
		entry[2] = A0;
		entry[3] = A1;
	}
}

static void make_call(void)
{
	static const u8 code[] = { 0x0f, 0x01, 0xd9, 0xe6, PORT_DONE };	/* vmmcall; out */
	struct kvm_regs regs;

	guest_load_code(&caller, code, sizeof(code));
	vcpu_get_regs(&caller, &regs);
	regs.rax = MULTICALL;
	regs.rdi = LIST_GVA + LIST_OFFSET;
	regs.rsi = CALLS;
	vcpu_set_regs(&caller, &regs);
	guest_run(&caller);
	subcalls_take(&subcalls, &told);
}

static void expect_sub(unsigned int i)
{
	const struct kvm_trace_hypercall_sub *sub = &told.subs[i];
	bool two = sub->nr == OTHER_OP;
	u32 present = KVM_TRACE_HC_ARG_64 | (two ? KVM_TRACE_HC_ARG_32 << 2 : 0);

	tap_expect(sub->nr == OP || two, "call %u: number 0x%llx", i, sub->nr);
	tap_expect(sub->present == present, "call %u (0x%llx): present 0x%x, not 0x%x", i, sub->nr,
		   sub->present, present);
	tap_expect(sub->arg[0] == A0 || sub->arg[0] == (A0 ^ A0_CHANGE), "call %u: a0 0x%llx", i,
		   sub->arg[0]);
	tap_expect(!two || sub->arg[1] == A1 || sub->arg[1] == (A1 ^ A1_CHANGE),
		   "call %u: a1 0x%llx", i, sub->arg[1]);
	tap_expect(sub->index == i, "call %u: index %u", i, sub->index);
	seen[two]++;
}

static void expect_calls(void)
{
	bool all = told.nr_subs == CALLS;
	unsigned int i;

	tap_expect(told.nr_calls == 1 && told.call.have & KVM_TRACE_HC_W_SUB,
		   "%u hypercalls, present 0x%x", told.nr_calls, told.call.present);
	tap_expect(all || told.nr_subs == CALLS_OF_PAGE, "%u records", told.nr_subs);
	tap_expect(told.call.sub == (told.nr_subs | (all ? 0 : KVM_TRACE_SUB_UNREADABLE)),
		   "word SUB 0x%x of %u records", told.call.sub, told.nr_subs);
	for (i = 0; i < told.nr_subs && i < SUBCALLS_MAX; i++)
		expect_sub(i);
	whole += all;
	partly += !all;
}

int main(void)
{
	unsigned int round;

	need_kvm_trace();
	tap_plan(1);
	tap_begin("multicall_list_changes");
	if (!vm_has_xen()) {
		tap_skip("KVM of this kernel has no Xen hypercalls");
		return tap_exit();
	}
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		tap_skip("the list cannot change while it is read: there is one CPU only");
		return tap_exit();
	}
	vm_create(&vm, MAX_VCPUS, VM_XEN);
	vcpu_create(&vm, &caller, 0);
	vcpu_create(&vm, &other, 1);
	make_list();
	other.on_cpu = 1;
	run_on_cpu(1);
	subcalls_start(&subcalls, true, RING_MIB);
	guest_start_code(&other, changer, changer_end - changer);
	for (round = 0; round < ROUNDS; round++) {
		make_call();
		expect_calls();
	}
	guest_stop(&other);
	subcalls_close(&subcalls);
	tap_expect(whole && partly, "%llu lists read whole, %llu in part", whole, partly);
	tap_expect(seen[0] && seen[1], "%llu of one call, %llu of the other", seen[0], seen[1]);
	tap_note("%llu lists read whole, %llu in part; %llu and %llu calls of each kind", whole,
		 partly, seen[0], seen[1]);
	vcpu_destroy(&other);
	vcpu_destroy(&caller);
	vm_destroy(&vm);
	tap_end();
	return tap_exit();
}
