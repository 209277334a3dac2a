// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvm-trace.so shows what guests executed, with the records of their exits between the
 * stay that they end and the next one, wherever in perf's order they come. The samples are
 * such as perf makes of Intel PT.
 *
 *	dlfilter_flow FILTER
 */
#include "types.h"
#include "decode_encode.h"
#include "perf_host.h"

#define TID		100
#define OTHER_TID	200
#define VM		3
#define OTHER_VM	4
#define SVM_CPUID	0x72
#define SVM_HLT		0x78
#define KERNEL		0xffffffff81000000ull

#define BEGIN		(PERF_DLFILTER_FLAG_BRANCH | PERF_DLFILTER_FLAG_TRACE_BEGIN)
#define END		(PERF_DLFILTER_FLAG_BRANCH | PERF_DLFILTER_FLAG_TRACE_END)
#define CALL		(PERF_DLFILTER_FLAG_BRANCH | PERF_DLFILTER_FLAG_CALL)
#define RETURN		(PERF_DLFILTER_FLAG_BRANCH | PERF_DLFILTER_FLAG_RETURN)
#define JUMP		PERF_DLFILTER_FLAG_BRANCH

static struct perf_host perf;

static const __u8 *give_insn(void *ctx, __u32 *length)
{
	static const __u8 bytes[] = { 0x0f, 0xa2 };

	(void)ctx;
	*length = sizeof(bytes);
	return bytes;
}

static const struct perf_dlfilter_al *give_name(void *ctx)
{
	(void)ctx;
	return NULL;
}

static void branch(u32 tid, u64 time, u32 flags, u64 from, u64 to)
{
	const struct perf_dlfilter_sample sample = {
		.size = sizeof(sample), .event = "branches:", .tid = tid, .time = time,
		.flags = flags, .ip = from, .addr = to, .addr_correlates_sym = 1,
	};

	tap_expect(perf.event(perf.data, &sample, &perf) == 1, "a branch is not taken");
}

static void instruction(u32 tid, u64 time, u64 ip)
{
	const struct perf_dlfilter_sample sample = {
		.size = sizeof(sample), .event = "instructions", .tid = tid, .time = time, .ip = ip,
	};

	tap_expect(perf.event(perf.data, &sample, &perf) == 1, "an instruction is not taken");
}

static int exits(u32 tid, u64 time, u32 vm, u32 reason)
{
	const struct kvm_trace_vmexit v = {
		.vm = vm, .reason = reason, .isa = KVM_TRACE_ISA_SVM, .host_ns = 10,
	};
	struct perf_dlfilter_sample sample = {
		.size = sizeof(sample), .event = "kvm_trace:vmexit", .tid = tid, .time = time,
	};
	struct record r = { 0 };

	encode_vmexit(&r, &v);
	sample.raw_data = r.bytes;
	sample.raw_size = r.size;
	return perf.event(perf.data, &sample, &perf);
}

static void begin(const char *args)
{
	tap_expect(!perf_begin(&perf, args, NULL), "refused: %s", args);
}

/* Each line of the output has its word. */
static void expect_lines(const char *const *words, size_t n)
{
	char *line = perf.out, *end;
	size_t i;

	for (i = 0; i < n; i++) {
		end = strchr(line, '\n');
		if (!tap_expect(end, "%zu lines of %zu:\n%s", i, n, perf.out))
			return;
		*end = '\0';
		tap_expect(strstr(line, words[i]), "line %zu has no \"%s\": %s", i, words[i], line);
		line = end + 1;
	}
	tap_expect(!*line, "more than %zu lines: %s", n, line);
}

#define EXPECT_LINES(...)						\
	do {								\
		static const char *const words_[] = { __VA_ARGS__ };	\
		expect_lines(words_, sizeof(words_) / sizeof(*words_));	\
	} while (0)

/* perf's estimate of a time runs ahead of the record of the exit, or it does not. */
static void in_place(void)
{
	tap_begin("exits_are_between_the_stays_that_they_part");
	begin("flow=functions");
	branch(TID, 1000, BEGIN, 0, 0x1000);
	branch(TID, 1010, END, 0x1002, 0);
	exits(TID, 1020, VM, SVM_CPUID);
	branch(TID, 1030, BEGIN, 0, 0x1004);
	exits(TID, 1050, VM, SVM_HLT);
	branch(TID, 1070, END, 0x1008, 0);
	branch(TID, 1060, BEGIN, 0, 0x100a);
	branch(TID, 1080, END, 0x100c, 0);
	perf_end(&perf);
	EXPECT_LINES("enters at 0x1000", "leaves at 0x1002", "CPUID", "enters at 0x1004",
		     "leaves at 0x1008", "HLT", "enters at 0x100a", "leaves at 0x100c");
	tap_end();
}

static void without_end(void)
{
	tap_begin("an_exit_whose_end_is_lost_is_before_the_next_stay");
	begin("flow=functions");
	branch(TID, 1000, BEGIN, 0, 0x1000);
	exits(TID, 1020, VM, SVM_CPUID);
	branch(TID, 1030, BEGIN, 0, 0x1004);
	exits(TID, 1050, VM, SVM_HLT);
	perf_end(&perf);
	EXPECT_LINES("enters at 0x1000", "CPUID", "enters at 0x1004", "HLT");
	tap_end();
}

static void threads(void)
{
	tap_begin("vcpus_do_not_wait_for_each_other");
	begin("flow=functions");
	branch(TID, 1000, BEGIN, 0, 0x1000);
	exits(OTHER_TID, 1010, OTHER_VM, SVM_HLT);
	exits(TID, 1020, VM, SVM_CPUID);
	branch(OTHER_TID, 1030, BEGIN, 0, 0x2000);
	branch(TID, 1040, END, 0x1002, 0);
	perf_end(&perf);
	EXPECT_LINES("tid 100: enters at 0x1000", "HLT", "vm 4 vcpu 0: enters at 0x2000",
		     "vm 3 vcpu 0: leaves at 0x1002", "CPUID");
	tap_end();
}

static void chosen(void)
{
	tap_begin("only_the_chosen_vm_is_shown");
	begin("flow=functions vm=3");
	exits(TID, 1000, VM, SVM_CPUID);
	exits(OTHER_TID, 1000, OTHER_VM, SVM_HLT);
	branch(OTHER_TID, 1030, BEGIN, 0, 0x2000);
	branch(TID, 1040, BEGIN, 0, 0x1000);
	perf_end(&perf);
	EXPECT_LINES("CPUID", "enters at 0x1000");
	tap_end();
}

static void instructions(void)
{
	tap_begin("instructions_have_their_bytes");
	begin("flow=instructions");
	branch(TID, 1000, BEGIN, 0, 0x1000);
	instruction(TID, 1000, 0x1000);
	branch(TID, 1001, JUMP, 0x1000, 0x1002);
	instruction(TID, 1001, 0x1002);
	branch(TID, 1002, END, 0x1002, 0);
	perf_end(&perf);
	EXPECT_LINES("enters at 0x1000", ": 0x1000   0f a2", ": 0x1002   0f a2",
		     "leaves at 0x1002");
	tap_end();
}

static void functions(void)
{
	char path[] = "/tmp/kallsyms.XXXXXX", args[64];
	int fd = mkstemp(path);

	tap_begin("functions_have_the_names_of_kallsyms");
	dprintf(fd, "0000000000000000 A fixed\n1000 T low\n%llx T b_function\n", KERNEL + 0x100);
	dprintf(fd, "%llx t a_function\t[module]\n%llx D data\n", KERNEL, KERNEL + 0x110);
	close(fd);
	snprintf(args, sizeof(args), "flow=functions kallsyms=%s", path);
	begin(args);
	branch(TID, 1000, BEGIN, 0, KERNEL + 4);
	branch(TID, 1001, CALL, KERNEL + 8, KERNEL + 0x100);
	branch(TID, 1002, JUMP, KERNEL + 0x104, KERNEL + 0x120);
	branch(TID, 1003, RETURN, KERNEL + 0x124, KERNEL + 0xd);
	branch(TID, 1004, JUMP, KERNEL + 0x20, KERNEL + 0x130);
	branch(TID, 1005, END, KERNEL + 0x130, 0);
	branch(TID, 1006, BEGIN, 0, 0xfff);
	branch(TID, 1007, END, 0x1002, 0);
	perf_end(&perf);
	EXPECT_LINES(": enters at 0xffffffff81000004 a_function+0x4",
		     ": call 0xffffffff81000100 b_function+0x0",
		     ": return 0xffffffff8100000d a_function+0xd",
		     ": jump 0xffffffff81000130 b_function+0x30",
		     ": leaves at 0xffffffff81000130 b_function+0x30",
		     ": enters at 0xfff", ": leaves at 0x1002 low+0x2");
	unlink(path);
	tap_end();
}

static void refused(const char *args, const char *message)
{
	tap_expect(perf_begin(&perf, args, NULL) < 0, "not refused: %s", args);
	perf_end(&perf);
	tap_expect(!strcmp(perf.err, message), "%s: said \"%s\", not \"%s\"", args, perf.err,
		   message);
}

static void refusals(void)
{
	tap_begin("what_cannot_be_shown_is_refused");
	refused("flow=all", "kvm-trace: --dlarg flow=all: give functions or instructions\n");
	refused("flow=functions batch",
		"kvm-trace: flow= and itrace have no place for round trips of batches: leave out batch\n");
	refused("kallsyms=x",
		"kvm-trace: kallsyms= is about flows and itrace: give flow= or itrace, too\n");
	refused("flow=functions kallsyms=/nonexistent",
		"kvm-trace: --dlarg kallsyms=/nonexistent: it cannot be read: give a copy of the guest's /proc/kallsyms\n");
	refused("flow=functions kallsyms=/dev/null",
		"kvm-trace: --dlarg kallsyms=/dev/null: no functions in it: copy the guest's /proc/kallsyms as root\n");
	begin("flow=functions");
	exits(TID, 1000, VM, SVM_CPUID);
	tap_expect(perf_end(&perf) < 0 && strstr(perf.err, "nothing of Intel PT is decoded"),
		   "a recording without a trace: %s", perf.err);
	tap_end();
}

int main(int argc, char **argv)
{
	struct perf_dlfilter_fns *fns;

	if (argc != 2)
		tap_die("usage: dlfilter_flow FILTER");
	perf_load(&perf, argv[1]);
	fns = perf_host_symbol(&perf, "perf_dlfilter_fns");
	fns->resolve_ip = give_name;
	fns->resolve_addr = give_name;
	fns->insn = give_insn;
	tap_plan(7);
	in_place();
	without_end();
	threads();
	chosen();
	instructions();
	functions();
	refusals();
	perf_unload(&perf);
	return tap_exit();
}
