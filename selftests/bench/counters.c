// SPDX-License-Identifier: GPL-2.0-only
/*
 * A TCG plugin for L1's QEMU: counts the instructions that cost more on silicon
 * than others and that a count of instructions hides. At each mark (mark.h) it
 * appends a line to the file that its argument out=FILE names: RDTSC and RDTSCP,
 * RDMSR, WRMSR, as executed by L1 and its guests so far.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "mark.h"
#include "types.h"

/*
 * What is used of QEMU's plugin interface (qemu-plugin.h, in no package of
 * Debian's).
 */
#define QEMU_PLUGIN_CB_NO_REGS 0

struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t size);
void qemu_plugin_register_vcpu_tb_trans_cb(u64 id,
					   void (*call)(struct qemu_plugin_tb *tb, void *data),
					   void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*call)(unsigned int cpu, void *data),
					    int flags, void *data);

#define EXPORT __attribute__((visibility("default")))

/* The version of QEMU 11. */
EXPORT int qemu_plugin_version = 7;

enum { TSC, RDMSR, WRMSR, COUNTERS };

/* All virtual CPUs run on one thread. */
static u64 counts[COUNTERS];
static FILE *out;

static void count(unsigned int cpu, void *counter)
{
	(void)cpu;
	++*(u64 *)counter;
}

static void mark(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	fprintf(out, "%llu\t%llu\t%llu\n", counts[TSC], counts[RDMSR], counts[WRMSR]);
	fflush(out);
}

static void translate(struct qemu_plugin_tb *tb, void *data)
{
	static const u8 marker[] = { MARK_BYTES };
	size_t i;

	(void)data;
	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		u8 code[16] = { 0 };
		u64 *counter = NULL;

		qemu_plugin_insn_data(insn, code, sizeof(code));
		if (code[0] != 0x0f)
			continue;
		if (!memcmp(code, marker, sizeof(marker)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, mark,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		switch (code[1]) {
		case 0x01:
			if (code[2] == 0xf9)
				counter = &counts[TSC];
			break;
		case 0x30:
			counter = &counts[WRMSR];
			break;
		case 0x31:
			counter = &counts[TSC];
			break;
		case 0x32:
			counter = &counts[RDMSR];
			break;
		}
		if (counter)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, count,
							       QEMU_PLUGIN_CB_NO_REGS, counter);
	}
}

EXPORT int qemu_plugin_install(u64 id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fputs("counters: give the plugin a file: out=FILE\n", stderr);
		return -1;
	}
	out = fopen(argv[0] + 4, "w");
	if (!out) {
		perror(argv[0] + 4);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate, NULL);
	return 0;
}
