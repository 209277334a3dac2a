// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: whatever is in the registers and in the memory of a caller, its
 * hypercall has a record that is what was in the registers, all records decode
 * whole, and none is missing. (That the kernel does not complain, is for the lab
 * to see.) How many hypercalls are made in all is the first argument.
 *
 * With "hostile" behind it, what the caller passes is chosen to do harm: lists at and
 * across ends of memory slots and pages, in no slot, in one whose memory is gone, addresses
 * that wrap or are not canonical, and counts far beyond what is there. Then each exit has a
 * record, too, and no call makes the kernel read more of the guest than is documented.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "module.h"
#include "records.h"
#include "tap.h"

#define SEED		20140
#define DEFAULT_CALLS	60000
#define RING_MIB	32
#define GUEST_OS_ID	0x40000000u	/* MSR; hypercalls are Hyper-V's once it is set */
#define KVM_CALLS	13
#define WRITES_TO_RBX	9		/* KVM_HC_CLOCK_PAIRING: not into the loop */
#define XEN_CALLS	42

/* Guest memory behind the area of the only vCPU. */
#define MAX_VCPUS	7
#define STATE		0x1f0000u	/* of the guest's loop */
#define REGISTERS	0x200000u	/* sets of registers, one for each call */
#define LISTS		0x400000u	/* what they point to */
#define LISTS_BYTES	0x200000u
#define SLICE		2048u		/* calls before the records are read */
#define SLICE_WITH_SUBS	512u

/* Slots behind that memory: one that is elsewhere for the host, and one that is gone. */
#define MORE_SLOTS	2u
#define MORE_BYTES	(2 * PAGE_BYTES)

/*
 * Most reads for one hypercall: two for each part, since it may lie in two pages, and one
 * for each level of the tables and the page itself, of each page that is looked up: those
 * of lists and that of the word RETURN.
 */
#define LEVELS		4
#define MOST_READS	(2 * KVM_TRACE_SUB_CALLS + (KVM_TRACE_SUB_WALKS + 2) * (LEVELS + 1))

enum abi {
	ABI_KVM,
	ABI_HYPERV,
	ABI_XEN,
	ABIS,
};

static const struct {
	const char *name;
	unsigned int vm_flags;
	u8 number;
} abis[ABIS] = {
	{ "KVM", 0, KVM_TRACE_ABI_KVM },
	{ "Hyper-V", VM_HYPERV, KVM_TRACE_ABI_HYPERV },
	{ "Xen", VM_XEN, KVM_TRACE_ABI_XEN },
};

/* In the order in which the guest's loops pop them. */
struct regs_64 {
	u64 rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15, rsp;
};

struct regs_32 {
	u32 edi, esi, ebp, unused, ebx, edx, ecx, eax, esp;
	u32 pad[7];
};

/* At STATE. */
struct state {
	u64 next, left;	/* set of registers, calls */
};

#define LOOP(name, code)					\
	extern const char loop_##name[], loop_##name##_end[];	\
	asm(".pushsection .rodata\n"				\
	    "loop_" #name ":\n" code "\n"			\
	    "loop_" #name "_end:\n"				\
	    ".popsection\n")

/* r15 and eax are free once the call was made; so is the stack, which nobody needs. */
LOOP(64, "1: mov " XSTR(STATE) ", %rsp; pop %rax; pop %rbx; pop %rcx; pop %rdx; pop %rsi;"
	 "pop %rdi; pop %rbp; pop %r8; pop %r9; pop %r10; pop %r11; pop %r12; pop %r13;"
	 "pop %r14; pop %r15; pop %rsp; vmmcall; addq $128, " XSTR(STATE) ";"
	 "decq " XSTR(STATE) " + 8; jnz 1b; outb %al, $" XSTR(PORT_DONE));
LOOP(32, ".code32; 1: mov " XSTR(STATE) ", %esp; popal; pop %esp; vmmcall;"
	 "addl $64, " XSTR(STATE) "; decl " XSTR(STATE) " + 8; jnz 1b;"
	 "outb %al, $" XSTR(PORT_DONE) "; .code64");

struct run {
	enum abi abi;
	bool wide, subs, hostile;
	struct vm vm;
	u8 *more[MORE_SLOTS];
	struct vcpu vcpu;
	struct recorder recorder;
	struct trace_session *session;
	u64 calls, records, sub_records, exits, reads;
	unsigned int most_reads, most_subs;
	u32 seq, exit_seq;	/* of the last record */
};

static u64 random_64(void)
{
	return (u64)random() << 42 ^ (u64)random() << 21 ^ random();
}

/* A pointer into or around the lists, a small number, a mask, any address, or anything. */
static u64 random_value(void)
{
	switch (random() % 10) {
	case 0:
		return random() % 8;
	case 1:
		return random() % 300;
	case 2:
		return 1ull << random() % 64;
	case 3:
		return -(u64)(random() % 4096);
	case 4:
		return random_64();
	case 5:
		return random_64() >> random() % 64;
	case 6:
		return (s64)(random_64() << 16) >> 16;
	default:
		return LISTS + random() % LISTS_BYTES;
	}
}

/* Where a list begins, a few bytes before or behind. */
static u64 hostile_address(const struct run *run)
{
	const u64 end = run->vm.mem_bytes;
	const u64 edges[] = {
		end, end + MORE_BYTES, end + MORE_SLOTS * MORE_BYTES, LISTS, LISTS + LISTS_BYTES,
		LISTS + PAGE_BYTES * (random() % 16), VM_MMIO, VM_UNMAPPED, 0, 1ull << 32,
		1ull << 47, -(1ull << 47), 1ull << 52, 1ull << 63, VM_PML4,
	};

	return edges[random() % ARRAY_SIZE(edges)] + (s64)(random() % 160 - 80);
}

static u64 hostile_count(void)
{
	static const u64 counts[] = {
		1, 2, 100, KVM_TRACE_SUB_CALLS, KVM_TRACE_SUB_CALLS + 1, 0xfff, 0x1000, 0xffff,
		0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 58, -1ull,
	};

	return counts[random() % ARRAY_SIZE(counts)];
}

/* All of them are addresses and counts; which the call takes is where it looks for them. */
static u64 hostile_value(const struct run *run, unsigned int reg)
{
	return reg % 2 ? hostile_count() : hostile_address(run);
}

static u64 register_value(const struct run *run, unsigned int reg)
{
	return run->hostile ? hostile_value(run, reg + random() % 2) : random_value();
}

/* Lists, with as many elements, and headers of as many words, as there can be. */
static u64 hostile_number(enum abi abi)
{
	static const u16 with_lists[] = { 0x3, 0x13, 0x14, 0x15, 0xb };

	if (abi == ABI_XEN)
		return 13;
	if (abi == ABI_KVM)
		return random() % KVM_CALLS;
	return with_lists[random() % ARRAY_SIZE(with_lists)] | (u64)(random() % 0x400) << 17 |
	       (u64)(random() % 2 ? 0xfff : random() % 0x1000) << 32 |
	       (u64)(random() % 2 ? 0 : random() % 0x1000) << 48;
}

static u64 random_number(enum abi abi)
{
	static const u16 with_lists[] = { 0x3, 0x13, 0x14, 0x15 };
	u64 code;

	if (random() % 8 == 0)
		return random_64() >> random() % 64;
	switch (abi) {
	case ABI_KVM:
		return random() % KVM_CALLS;
	case ABI_XEN:
		return random() % 4 ? random() % XEN_CALLS : 13;
	default:
		code = random() % 2 ? with_lists[random() % ARRAY_SIZE(with_lists)] :
		       random() % 2 ? random() % 0x20 : 0x8000 + random() % 8;
		return code | (u64)(random() % 4 == 0) << 16 | (u64)(random() % 4) << 17 |
		       (u64)(random() % 160) << 32 | (u64)(random() % 3) << 48;
	}
}

static void random_registers(struct run *run, u32 n)
{
	struct regs_64 *wide = vm_at(&run->vm, REGISTERS);
	struct regs_32 *narrow = vm_at(&run->vm, REGISTERS);
	u64 number;
	u32 i, k;

	for (i = 0; i < n; i++) {
		number = run->hostile && random() % 8 ? hostile_number(run->abi) :
			 random_number(run->abi);
		if (run->wide) {
			for (k = 0; k < sizeof(*wide) / 8; k++)
				((u64 *)&wide[i])[k] = register_value(run, k);
			*(run->abi == ABI_HYPERV ? &wide[i].rcx : &wide[i].rax) = number;
			if (number == WRITES_TO_RBX)
				wide[i].rbx = LISTS + random() % LISTS_BYTES;
		} else {
			for (k = 0; k < sizeof(*narrow) / 4; k++)
				((u32 *)&narrow[i])[k] = register_value(run, k);
			narrow[i].eax = number;
			if (narrow[i].eax == WRITES_TO_RBX)
				narrow[i].ebx = LISTS + random() % LISTS_BYTES;
			if (run->abi == ABI_HYPERV) {
				narrow[i].edx = number >> 32;
				/* Upper half of the input's address. */
				narrow[i].ebx *= random() % 4 == 0;
			}
		}
	}
}

/* The page tables of what the guest itself does not use are in it, too. */
static void random_memory(struct run *run)
{
	u64 *at = vm_at(&run->vm, LISTS);
	u64 *top = vm_at(&run->vm, VM_PML4);
	u32 i;

	for (i = 0; i < LISTS_BYTES / 8; i++)
		at[i] = random_value();
	for (i = 1; i < PAGE_BYTES / 8; i++)
		top[i] = random_value();
}

/* The registers that a record must show: the number, then the arguments. */
static unsigned int expected(const struct run *run, u32 i, u64 *regs)
{
	const struct regs_64 *w = (struct regs_64 *)(run->vm.mem + REGISTERS) + i;
	const struct regs_32 *n = (struct regs_32 *)(run->vm.mem + REGISTERS) + i;
	const u64 kvm[] = { w->rax, w->rbx, w->rcx, w->rdx, w->rsi };
	const u64 kvm_32[] = { n->eax, n->ebx, n->ecx, n->edx, n->esi };
	const u64 hyperv[] = { w->rcx & 0xffff, w->rdx, w->r8 };
	const u64 hyperv_32[] = { n->eax & 0xffff, (u64)n->ebx << 32 | n->ecx,
				  (u64)n->edi << 32 | n->esi };
	const u64 xen[] = { w->rax, w->rdi, w->rsi, w->rdx, w->r10, w->r8, w->r9 };
	const u64 xen_32[] = { n->eax, n->ebx, n->ecx, n->edx, n->esi, n->edi, n->ebp };

	switch (run->abi) {
	case ABI_KVM:
		memcpy(regs, run->wide ? kvm : kvm_32, sizeof(kvm));
		return 4;
	case ABI_HYPERV:
		memcpy(regs, run->wide ? hyperv : hyperv_32, sizeof(hyperv));
		return 2;
	default:
		memcpy(regs, run->wide ? xen : xen_32, sizeof(xen));
		return 6;
	}
}

/* Each exit has the next number. */
static void expect_exit(struct run *run, const struct trace_sample *sample)
{
	const u32 seq = trace_get(sample, "seq");

	tap_expect(!run->exits || seq == run->exit_seq + 1, "exit of seq %u follows %u", seq,
		   run->exit_seq);
	run->exit_seq = seq;
	run->exits++;
}

static void expect_call(struct run *run, const struct kvm_trace_hypercall *h, u32 i)
{
	unsigned int args, a;
	u64 regs[1 + KVM_TRACE_HC_REGS];

	args = expected(run, i, regs);
	tap_expect(h->abi == abis[run->abi].number && h->nr == regs[0],
		   "call %u: ABI %u number 0x%llx, not 0x%llx", i, h->abi, h->nr, regs[0]);
	for (a = 0; a < KVM_TRACE_HC_REGS; a++) {
		if (KVM_TRACE_HC_ARG(h->present, a) == KVM_TRACE_HC_ARG_ABSENT)
			tap_expect(a >= args, "call %u: no a%u", i, a);
		else
			tap_expect(a < args && h->arg[a] == regs[1 + a],
				   "call %u: a%u 0x%llx, not 0x%llx", i, a, h->arg[a],
				   regs[1 + a]);
	}
	tap_expect(!run->records || h->seq > run->seq, "seq %u follows %u", h->seq, run->seq);
	run->seq = h->seq;
}

/* What was recorded of a slice; the text of each record is made, too. */
static void check_slice(struct run *run, u32 n)
{
	static char text[KVM_TRACE_TEXT_SIZE];
	const struct trace_sample *sample;
	struct kvm_trace_hypercall_sub sub;
	struct kvm_trace_hypercall h;
	u32 seen = 0, subs = 0, sub_seq = 0, reads = 0;
	size_t i;

	trace_read(run->session);
	tap_expect(!run->session->lost, "perf lost %llu samples", run->session->lost);
	for (i = 0; i < run->session->nr_samples; i++) {
		sample = &run->session->samples[i];
		if (sample_is(sample, "vmexit")) {
			expect_exit(run, sample);
		} else if (sample_is(sample, "guest_read")) {
			reads += sample->tid == (u32)syscall(SYS_gettid);
		} else if (sample_is(sample, "hypercall_sub")) {
			memset(&sub, 0, sizeof(sub));
			tap_expect(kvm_trace_hypercall_sub_record(&sub, sample->raw,
								  sample->size) &&
				   !sub.truncated && !sub.reserved && !sub.unknown,
				   "hypercall_sub record %u of call %u is not whole", subs, seen);
			tap_expect(!subs || sub.seq == sub_seq, "seq %u among those of %u",
				   sub.seq, sub_seq);
			sub_seq = sub.seq;
			subs++;
			kvm_trace_hypercall_sub_text(&sub, 1, text, sizeof(text));
		} else if (sample_is(sample, "hypercall")) {
			memset(&h, 0, sizeof(h));
			tap_expect(kvm_trace_hypercall_record(&h, sample->raw, sample->size) &&
				   !h.truncated && !h.reserved && !h.unknown,
				   "hypercall record %u is not whole", seen);
			if (seen < n)
				expect_call(run, &h, seen);
			tap_expect((h.have & KVM_TRACE_HC_W_SUB ?
				    h.sub & KVM_TRACE_SUB_COUNT : 0) == subs &&
				   (!subs || sub_seq == h.seq) && subs <= KVM_TRACE_SUB_CALLS,
				   "call %u seq %u: %u records of hypercall_sub, of seq %u, word 0x%x",
				   seen, h.seq, subs, sub_seq, h.sub);
			kvm_trace_hypercall_text(&h, 1, text, sizeof(text));
			tap_expect(reads <= MOST_READS, "call %u seq %u: %u reads, more than %u",
				   seen, h.seq, reads, MOST_READS);
			run->most_reads = reads > run->most_reads ? reads : run->most_reads;
			run->most_subs = subs > run->most_subs ? subs : run->most_subs;
			run->reads += reads;
			run->sub_records += subs;
			reads = 0;
			subs = 0;
			seen++;
			run->records++;
		}
	}
	tap_expect(seen == n, "%u records of %u hypercalls", seen, n);
	tap_expect(!subs, "%u records of hypercall_sub without a hypercall", subs);
	trace_forget(run->session);
}

static void start_loop(struct run *run, u32 n)
{
	struct state *state = vm_at(&run->vm, STATE);

	state->next = REGISTERS;
	state->left = n;
	vcpu_set_mode(&run->vcpu, run->wide ? MODE_LONG : MODE_PROTECTED);
	if (run->wide)
		guest_load_code(&run->vcpu, loop_64, loop_64_end - loop_64);
	else
		guest_load_code(&run->vcpu, loop_32, loop_32_end - loop_32);
}

static void run_loop(struct run *run)
{
	int reason;

	for (;;) {
		reason = vcpu_run(&run->vcpu);
		/* The caller is told that its call failed. */
		if (reason == KVM_EXIT_HYPERV)
			run->vcpu.run->hyperv.u.hcall.result = 2;
		else if (!guest_handle(&run->vcpu, reason))
			break;
	}
}

static void use_hyperv(struct vcpu *vcpu)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msrs = { .head.nmsrs = 1, .entry = { .index = GUEST_OS_ID, .data = 1 } };

	if (ioctl(vcpu->fd, KVM_SET_MSRS, &msrs) != 1)
		tap_die("MSR 0x%x", GUEST_OS_ID);
}

/* Memory that goes on elsewhere in the VMM, and then a slot whose memory is gone. */
static void add_slots(struct run *run)
{
	struct kvm_userspace_memory_region region = { .memory_size = MORE_BYTES };
	unsigned int i, k;

	for (i = 0; i < MORE_SLOTS; i++) {
		run->more[i] = mmap(NULL, 2 * MORE_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (run->more[i] == MAP_FAILED)
			tap_die("memory of a slot");
		for (k = 0; k < MORE_BYTES / 8; k++)
			((u64 *)run->more[i])[k] = random_value();
		region.slot = i + 1;
		region.guest_phys_addr = run->vm.mem_bytes + i * MORE_BYTES;
		region.userspace_addr = (unsigned long)run->more[i];
		if (ioctl(run->vm.fd, KVM_SET_USER_MEMORY_REGION, &region))
			tap_die("KVM_SET_USER_MEMORY_REGION");
	}
	if (mprotect(run->more[MORE_SLOTS - 1], MORE_BYTES, PROT_NONE))
		tap_die("mprotect");
}

static void remove_slots(struct run *run)
{
	unsigned int i;

	for (i = 0; i < MORE_SLOTS; i++)
		munmap(run->more[i], 2 * MORE_BYTES);
}

/* That no list is read too far says something only if one is as long as that. */
static void expect_accounted(struct run *run)
{
	const u64 exits = vcpu_stat(&run->vcpu, "exits");

	/* Of the last exit the guest was not entered again. */
	tap_expect(run->exits + 1 == exits, "%llu records of %llu exits", run->exits, exits);
	tap_expect(run->abi == ABI_KVM || (run->reads && run->most_subs == KVM_TRACE_SUB_CALLS),
		   "%llu reads, %u parts of a call at most", run->reads, run->most_subs);
	tap_note("%llu exits, %llu reads; of one call at most %u, and %u parts", exits,
		 run->reads, run->most_reads, run->most_subs);
}

static void check(enum abi abi, bool wide, bool subs, bool hostile, u64 calls)
{
	struct run run = { .abi = abi, .wide = wide, .subs = subs, .hostile = hostile };
	struct timespec from, to;
	u32 n = subs ? SLICE_WITH_SUBS : SLICE;

	tap_begin("hypercall_random: %s, %d-bit caller, %s", abis[abi].name, wide ? 64 : 32,
		  hostile ? "hostile" : subs ? "guest memory is read" : "registers only");
	if (abi == ABI_XEN && !vm_has_xen()) {
		tap_skip("KVM of this kernel has no Xen hypercalls");
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &from);
	vm_create(&run.vm, MAX_VCPUS, abis[abi].vm_flags);
	vcpu_create(&run.vm, &run.vcpu, 0);
	if (abi == ABI_HYPERV)
		use_hyperv(&run.vcpu);
	recorder_start(&run.recorder, REC_HYPERCALL | (subs ? REC_HYPERCALL_SUB : 0) |
		       (hostile ? REC_VMEXIT | REC_GUEST_READ : 0), RING_MIB);
	run.session = &run.recorder.session;
	random_memory(&run);
	if (hostile)
		add_slots(&run);
	for (; run.calls < calls; run.calls += n) {
		if (calls - run.calls < n)
			n = calls - run.calls;
		random_registers(&run, n);
		start_loop(&run, n);
		run_loop(&run);
		check_slice(&run, n);
	}
	tap_expect(run.records == calls, "%llu records of %llu hypercalls", run.records, calls);
	if (abi != ABI_XEN)
		tap_expect(vcpu_stat(&run.vcpu, "hypercalls") == calls,
			   "KVM counted %llu hypercalls of %llu",
			   vcpu_stat(&run.vcpu, "hypercalls"), calls);
	tap_expect(!subs || abi == ABI_KVM || run.sub_records, "no record of hypercall_sub");
	if (hostile)
		expect_accounted(&run);
	clock_gettime(CLOCK_MONOTONIC, &to);
	tap_note("%llu hypercalls, %llu records of parts, %ld s", run.records, run.sub_records,
		 (long)(to.tv_sec - from.tv_sec));
	recorder_close(&run.recorder);
	vcpu_destroy(&run.vcpu);
	vm_destroy(&run.vm);
	if (hostile)
		remove_slots(&run);
	tap_end();
}

int main(int argc, char **argv)
{
	u64 calls = argc > 1 ? strtoull(argv[1], NULL, 0) : DEFAULT_CALLS;
	const bool hostile = argc > 2 && !strcmp(argv[2], "hostile");
	unsigned int abi, wide, subs;

	need_kvm_trace();
	if (parameter_set("hypercall_args", "all") || parameter_set("hypercall_words", "all"))
		tap_die("parameters hypercall_args, hypercall_words");
	run_on_cpu(0);
	tap_plan(ABIS * 2 * (hostile ? 1 : 2));
	srandom(SEED);
	for (abi = 0; abi < ABIS; abi++) {
		for (wide = 0; wide < 2; wide++) {
			if (hostile) {
				check(abi, wide, true, true, calls / ABIS / 2);
				continue;
			}
			/* One in eight with what takes most time. */
			for (subs = 0; subs < 2; subs++)
				check(abi, wide, subs, false,
				      calls / ABIS / 2 * (subs ? 1 : 7) / 8);
		}
	}
	if (parameter_set("hypercall_args", "used") || parameter_set("hypercall_words", "default"))
		tap_die("parameters hypercall_args, hypercall_words");
	return tap_exit();
}
