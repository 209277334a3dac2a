// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plugin for QEMU 11.1: its options and files, one Intel PT for each virtual CPU,
 * and what is to be told of code when QEMU translates it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cpu.h"

#define EXPORT	__attribute__((visibility("default")))

EXPORT int qemu_plugin_version = API_VERSION;
EXPORT int qemu_plugin_install(__u64 id, const struct qemu_info *info, int argc, char **argv);

struct pt_options options;
struct cpu cpus[MAX_CPUS];
/*
 * The time stamp counter runs while little is executed: with the ratio of a real
 * processor there would be more MTC packets than others.
 */
#define CRYSTAL_RATIO	500

/* Width of physical addresses that CPUID tells of QEMU's CPUs, unless told otherwise. */
#define PHYS_BITS	40

static const char *directory;

/*
 * What translated code looks at before it tells of blocks and branches. With one thread
 * for all virtual CPUs, QEMU compiles the index of the one at hand into code that all
 * share, and multiplies it in place by the size of an element, where else it is used. So
 * the size is 1, all elements are equal, and the index is not relied upon.
 */
static struct qemu_plugin_u64 follow_score;
#define SCORE_BYTES	(MAX_CPUS + sizeof(__u64))

void fatal(const char *fmt, ...)
{
	va_list args;

	fputs("pt: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void follow_blocks(bool on)
{
	memset(qemu_plugin_scoreboard_find(follow_score.score, 0), on ? 0xff : 0, SCORE_BYTES);
}

/* The virtual CPU that executes a callback of translated code. */
struct cpu *cpu_current(void)
{
	static void *states[MAX_CPUS];
	unsigned int i;

	for (i = 0; i < MAX_CPUS; i++) {
		if (!states[i])
			states[i] = qemu_get_cpu(i);
		if (states[i] == current_cpu)
			return &cpus[i];
	}
	fatal("QEMU executes on none of its virtual CPUs");
}

static bool machine_read(void *machine, __u64 address, bool guest, void *data, size_t size)
{
	return !guest && memory_read(machine, address, data, size);
}

static bool machine_write(void *machine, __u64 address, bool guest, const void *data,
			  size_t size)
{
	struct cpu *c = machine;

	if (guest || !memory_write(c, address, data, size))
		return false;
	if (c->raw && fwrite(data, 1, size, c->raw) != size)
		fatal("cannot write pt-raw.%u in %s: %s", c->index, directory, strerror(errno));
	return true;
}

static __u64 machine_clock(void *machine)
{
	const struct cpu *c = machine;

	return c->time;
}

static __u64 machine_tsc(void *machine)
{
	return guest_time(machine);
}

static void machine_pmi(void *machine)
{
	pmu_interrupt(machine);
}

static const struct pt_emu_ops ops = {
	.read = machine_read,
	.write = machine_write,
	.tsc = machine_tsc,
	.clock = machine_clock,
	.pmi = machine_pmi,
};

static const char *file_name(char *name, size_t size, const char *what, unsigned int index)
{
	snprintf(name, size, "%s/pt-%s.%u", directory, what, index);
	return name;
}

/* The handles of registers are the same for all virtual CPUs. */
static void cpu_starts(unsigned int index, void *data)
{
	(void)data;
	if (!index)
		registers_find();
}

/* Not as a virtual CPU starts: with several on one thread, QEMU tells of that too late. */
static void cpu_new(unsigned int index)
{
	struct cpu *c = &cpus[index];
	char name[4096];

	c->index = index;
	c->scratch = g_byte_array_new();
	c->pt = pt_emu_new(&options.caps, &ops, c);
	if (!c->pt)
		fatal("no memory");
	if (options.log) {
		c->log = pt_log_open(file_name(name, sizeof(name), "log", index), index);
		c->seen = calloc(SEEN_BLOCKS, sizeof(*c->seen));
		if (!c->log || !c->seen)
			fatal("cannot make %s: %s", name, strerror(errno));
	}
	if (options.raw) {
		c->raw = fopen(file_name(name, sizeof(name), "raw", index), "wb");
		if (!c->raw)
			fatal("cannot make %s: %s", name, strerror(errno));
	}
	if (options.msrs) {
		c->msrs = fopen(file_name(name, sizeof(name), "msrs", index), "w");
		if (!c->msrs)
			fatal("cannot make %s: %s", name, strerror(errno));
		/* For who looks at it in L1. */
		setvbuf(c->msrs, NULL, _IOLBF, 0);
	}
}

static void ends(void *data)
{
	unsigned int i;

	(void)data;
	for (i = 0; i < MAX_CPUS; i++) {
		struct cpu *c = &cpus[i];

		if (c->log && !pt_log_close(c->log))
			fatal("the log pt-log.%u in %s is not whole: no space, or no memory", i,
			      directory);
		if (c->raw && fclose(c->raw))
			fatal("cannot write pt-raw.%u in %s: %s", i, directory, strerror(errno));
		if (c->msrs && (ferror(c->msrs) | fclose(c->msrs)))
			fatal("cannot write pt-msrs.%u in %s: %s", i, directory, strerror(errno));
	}
}

/* Prefixes, and REX in 64-bit mode; without it, an instruction of one byte is no branch. */
static size_t skip_prefixes(const __u8 *code, size_t size)
{
	static const __u8 prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3,
	};
	size_t i = 0;

	while (i + 1 < size && (memchr(prefixes, code[i], sizeof(prefixes)) ||
				(code[i] & 0xf0) == 0x40))
		i++;
	return i;
}

static enum pt_log_kind kind_of_group_5(__u8 modrm)
{
	switch (modrm >> 3 & 7) {
	case 2:
		return PT_LOG_CALL_INDIRECT;
	case 4:
		return PT_LOG_JUMP_INDIRECT;
	case 3:
	case 5:
		return PT_LOG_FAR;
	default:
		return 0;
	}
}

static enum pt_log_kind kind_of_0f(const __u8 *code, size_t size)
{
	switch (code[0]) {
	case 0x05:
	case 0x07:
	case 0x34:
	case 0x35:
		return PT_LOG_FAR;
	case 0x22:
		return size > 1 && (code[1] >> 3 & 7) == 3 ? PT_LOG_CR3 : 0;
	default:
		return (code[0] & 0xf0) == 0x80 ? PT_LOG_TAKEN : 0;
	}
}

/* 0 for what is no branch; software interrupts are told as discontinuities. */
static enum pt_log_kind kind_of(const __u8 *code, size_t size)
{
	const size_t skip = skip_prefixes(code, size);

	code += skip;
	size -= skip;
	switch (code[0]) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		return PT_LOG_TAKEN;
	case 0xe9:
	case 0xeb:
		return PT_LOG_JUMP;
	case 0xe8:
		return PT_LOG_CALL;
	case 0xc2:
	case 0xc3:
		return PT_LOG_RET;
	case 0x9a:
	case 0xea:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return PT_LOG_FAR;
	case 0xff:
		return size > 1 ? kind_of_group_5(code[1]) : 0;
	case 0x0f:
		return size > 1 ? kind_of_0f(code + 1, size - 1) : 0;
	default:
		return 0;
	}
}

enum special {
	SPECIAL_NONE, SPECIAL_WRMSR, SPECIAL_RDMSR, SPECIAL_RDPMC, SPECIAL_CPUID, SPECIAL_VMRUN,
};

static enum special special_of(const __u8 *code, size_t size)
{
	const size_t skip = skip_prefixes(code, size);

	code += skip;
	size -= skip;
	if (size < 2 || code[0] != 0x0f)
		return SPECIAL_NONE;
	switch (code[1]) {
	case 0x30:
		return SPECIAL_WRMSR;
	case 0x32:
		return SPECIAL_RDMSR;
	case 0x33:
		return SPECIAL_RDPMC;
	case 0xa2:
		return SPECIAL_CPUID;
	case 0x01:
		return size > 2 && code[2] == 0xd8 ? SPECIAL_VMRUN : SPECIAL_NONE;
	default:
		return SPECIAL_NONE;
	}
}

static void tell_special(struct qemu_plugin_insn *insn, enum special special, size_t offset)
{
	static const qemu_plugin_vcpu_udata_cb_t starts[] = {
		[SPECIAL_WRMSR] = wrmsr_starts, [SPECIAL_RDMSR] = rdmsr_starts,
		[SPECIAL_RDPMC] = rdpmc_starts, [SPECIAL_CPUID] = cpuid_starts,
		[SPECIAL_VMRUN] = vmrun_starts,
	};

	if (special != SPECIAL_NONE)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, starts[special],
						       QEMU_PLUGIN_CB_RW_REGS_PC, (void *)offset);
}

static void tell_branch(struct qemu_plugin_insn *insn, enum pt_log_kind kind, size_t offset,
			size_t size)
{
	const union transfer branch = { .offset = offset, .size = size, .kind = kind };
	const bool far = changes_state(branch);

	if (kind)
		qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, far ? far_starts : branch_starts,
							    far ? QEMU_PLUGIN_CB_R_REGS :
								  QEMU_PLUGIN_CB_NO_REGS,
							    QEMU_PLUGIN_COND_NE, follow_score, 0,
							    (void *)branch.word);
}

/* Addresses behind each VMRUN that has been translated, so that what is there is watched. */
#define MAX_VMRUNS	16

static __u64 vmruns[MAX_VMRUNS];
static size_t known_vmruns;

static bool follows_vmrun(__u64 address)
{
	size_t i;

	for (i = 0; i < known_vmruns; i++) {
		if (vmruns[i] == address)
			return true;
	}
	return false;
}

static void add_vmrun(__u64 after)
{
	if (follows_vmrun(after))
		return;
	if (known_vmruns == MAX_VMRUNS)
		fatal("more than %u VMRUN instructions in the guest's code", MAX_VMRUNS);
	vmruns[known_vmruns++] = after;
}

/* For the log; kept to the end, since translated code refers to it. */
static struct block *new_block(size_t insns)
{
	struct block *block = malloc(sizeof(*block) + insns * sizeof(block->insn[0]));
	static __u64 number;

	if (!block)
		fatal("no memory");
	block->number = ++number;
	block->insns = insns;
	return block;
}

static void tell_insns(struct qemu_plugin_tb *tb, struct block *block)
{
	const size_t insns = qemu_plugin_tb_n_insns(tb);
	enum special special, before = SPECIAL_NONE;
	bool noted = false;
	size_t offset = 0, i;

	for (i = 0; i < insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct insn own;

		own.size = qemu_plugin_insn_data(insn, own.code, sizeof(own.code));
		special = special_of(own.code, own.size);
		if (special != SPECIAL_NONE && !noted) {
			qemu_plugin_register_vcpu_tb_exec_cb(tb, block_notes, QEMU_PLUGIN_CB_R_REGS,
							     NULL);
			noted = true;
		}
		if (before == SPECIAL_CPUID)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, cpuid_may_end,
							       QEMU_PLUGIN_CB_RW_REGS, NULL);
		before = special;
		tell_special(insn, special, offset);
		tell_branch(insn, kind_of(own.code, own.size), offset, own.size);
		offset += own.size;
		if (special == SPECIAL_VMRUN)
			add_vmrun(qemu_plugin_tb_vaddr(tb) + offset);
		if (block)
			block->insn[i] = own;
	}
}

static void translated(struct qemu_plugin_tb *tb, void *data)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct block *block = NULL;

	(void)data;
	pthread_mutex_lock(&lock);
	if (options.log)
		block = new_block(qemu_plugin_tb_n_insns(tb));
	if (follows_vmrun(qemu_plugin_tb_vaddr(tb)))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, vmrun_may_end, QEMU_PLUGIN_CB_RW_REGS,
						     NULL);
	qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, block_starts, QEMU_PLUGIN_CB_RW_REGS,
						  QEMU_PLUGIN_COND_NE, follow_score, 0, block);
	tell_insns(tb, block);
	pthread_mutex_unlock(&lock);
}

/* A word for what this QEMU has not. */
static const char *missing(void)
{
	if (options.caps.ptwrite)
		return "QEMU has no such instruction";
	if (options.caps.vmx || options.caps.gpa)
		return "QEMU has no VMX";
	return NULL;
}

static void take_options(int argc, char **argv)
{
	const char *wrong;
	int i;

	pt_options_default(&options);
	options.caps.vmx = false;
	options.caps.gpa = false;
	options.caps.ptwrite = false;
	options.caps.crystal_ratio = CRYSTAL_RATIO;
	options.caps.maxphyaddr = PHYS_BITS;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "dir=", 4)) {
			directory = argv[i] + 4;
			continue;
		}
		if (strncmp(argv[i], "option=", 7))
			fatal("unknown argument '%s': it takes option=WORD and dir=DIRECTORY",
			      argv[i]);
		wrong = pt_options_parse(&options, argv[i] + 7) ?: missing();
		if (wrong)
			fatal("option '%s': %s", argv[i] + 7, wrong);
	}
	if ((options.log || options.raw || options.msrs) && !directory)
		fatal("log, raw and msrs need a directory: add dir=DIRECTORY");
}

/* What is no part of the API, by name. */
static const char *not_exported(void)
{
	const struct {
		const char *name;
		const void *address;
	} needed[] = {
		{ "cpus_get_elapsed_ticks", cpus_get_elapsed_ticks },
		{ "qemu_get_cpu", qemu_get_cpu },
		{ "cpu_dump_state", cpu_dump_state },
		{ "cpu_set_interrupt", cpu_set_interrupt },
		{ "cpu_exit", cpu_exit },
		{ "cpu_restore_state", cpu_restore_state },
	};
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (!needed[i].address)
			return needed[i].name;
	}
	return NULL;
}

int qemu_plugin_install(__u64 id, const struct qemu_info *info, int argc, char **argv)
{
	const char *lacking;
	int i;

	if (info->version.cur != API_VERSION)
		fatal("this QEMU's plugin API is version %d: %d is needed, that of QEMU 11.1",
		      info->version.cur, API_VERSION);
	if (strcmp(info->target_name, "x86_64") || !info->system_emulation)
		fatal("Intel PT is not for %s: qemu-system-x86_64 is needed",
		      info->target_name);
	if (info->system.max_vcpus > MAX_CPUS)
		fatal("%d virtual CPUs: %d at most", info->system.max_vcpus, MAX_CPUS);
	lacking = not_exported();
	if (lacking)
		fatal("this QEMU does not export %s: take one that does, as Debian's", lacking);
	take_options(argc, argv);
	for (i = 0; i < info->system.max_vcpus; i++)
		cpu_new(i);
	follow_score.score = qemu_plugin_scoreboard_new(1);
	qemu_plugin_register_vcpu_init_cb(id, cpu_starts, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated, NULL);
	qemu_plugin_register_vcpu_discon_cb(id, QEMU_PLUGIN_DISCON_ALL, discontinuity, NULL);
	qemu_plugin_register_atexit_cb(id, ends, NULL);
	return 0;
}
