/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of QEMU's plugin API, version 7, that is used here, of GLib, and of
 * what else QEMU's binary exports. No package of Debian has a header of these.
 */
#ifndef _PT_QEMU_API_H
#define _PT_QEMU_API_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define API_VERSION	7

struct byte_array {
	__u8 *data;
	unsigned int len;
};

struct array {
	char *data;
	unsigned int len;
};

struct byte_array *g_byte_array_new(void);
struct byte_array *g_byte_array_set_size(struct byte_array *array, unsigned int length);
struct byte_array *g_byte_array_append(struct byte_array *array, const __u8 *data,
				       unsigned int length);
char *g_array_free(struct array *array, int free_segment);

struct qemu_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
};

enum qemu_plugin_discon_type {
	QEMU_PLUGIN_DISCON_INTERRUPT = 1 << 0,
	QEMU_PLUGIN_DISCON_EXCEPTION = 1 << 1,
	QEMU_PLUGIN_DISCON_ALL = -1,
};

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
	QEMU_PLUGIN_CB_R_REGS,
	QEMU_PLUGIN_CB_RW_REGS,
	QEMU_PLUGIN_CB_RW_REGS_PC,
};

enum qemu_plugin_cond {
	QEMU_PLUGIN_COND_NEVER,
	QEMU_PLUGIN_COND_ALWAYS,
	QEMU_PLUGIN_COND_EQ,
	QEMU_PLUGIN_COND_NE,
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;
struct qemu_plugin_register;

struct qemu_plugin_u64 {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
};

struct qemu_plugin_reg_descriptor {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
	bool is_readonly;
};

typedef void (*qemu_plugin_udata_cb_t)(void *data);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int cpu, void *data);
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(struct qemu_plugin_tb *tb, void *data);
typedef void (*qemu_plugin_vcpu_discon_cb_t)(unsigned int cpu, enum qemu_plugin_discon_type type,
					     __u64 from, __u64 to, void *data);

void qemu_plugin_register_vcpu_init_cb(__u64 id, qemu_plugin_vcpu_udata_cb_t cb,
				       void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(__u64 id,
					   qemu_plugin_vcpu_tb_trans_cb_t cb, void *data);
void qemu_plugin_register_vcpu_discon_cb(__u64 id, enum qemu_plugin_discon_type type,
					 qemu_plugin_vcpu_discon_cb_t cb, void *data);
void qemu_plugin_register_atexit_cb(__u64 id, qemu_plugin_udata_cb_t cb, void *data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  qemu_plugin_vcpu_udata_cb_t cb,
					  enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb,
					       qemu_plugin_vcpu_udata_cb_t cb,
					       enum qemu_plugin_cb_flags flags,
					       enum qemu_plugin_cond cond,
					       struct qemu_plugin_u64 entry, __u64 imm,
					       void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_vcpu_udata_cb_t cb,
					    enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *insn,
						 qemu_plugin_vcpu_udata_cb_t cb,
						 enum qemu_plugin_cb_flags flags,
						 enum qemu_plugin_cond cond,
						 struct qemu_plugin_u64 entry, __u64 imm,
						 void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
__u64 qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *data, size_t size);
__u64 qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
struct array *qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_plugin_register *handle, struct byte_array *value);
bool qemu_plugin_write_register(struct qemu_plugin_register *handle, struct byte_array *value);
void qemu_plugin_set_pc(__u64 pc) __attribute__((noreturn));
bool qemu_plugin_read_memory_vaddr(__u64 address, struct byte_array *data, size_t size);
/* 0 is success. */
int qemu_plugin_read_memory_hwaddr(__u64 address, struct byte_array *data, size_t size);
int qemu_plugin_write_memory_hwaddr(__u64 address, struct byte_array *data);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int cpu);

/*
 * Not of the plugin API: the time stamp counter, registers as text, an NMI,
 * which virtual CPU a thread executes, and what translated code keeps to itself.
 */
extern __thread void *current_cpu;

__s64 cpus_get_elapsed_ticks(void);
void *qemu_get_cpu(int index);
void cpu_dump_state(void *cpu, FILE *file, int flags);
void cpu_set_interrupt(void *cpu, int mask);
void cpu_exit(void *cpu);
bool cpu_restore_state(void *cpu, uintptr_t code);

/*
 * Weak: a QEMU that lacks one tells of its version, or the plugin of the name, and not
 * the dynamic linker of a symbol.
 */
#pragma weak qemu_plugin_register_vcpu_init_cb
#pragma weak qemu_plugin_register_vcpu_tb_trans_cb
#pragma weak qemu_plugin_register_vcpu_discon_cb
#pragma weak qemu_plugin_register_atexit_cb
#pragma weak qemu_plugin_register_vcpu_tb_exec_cb
#pragma weak qemu_plugin_register_vcpu_tb_exec_cond_cb
#pragma weak qemu_plugin_register_vcpu_insn_exec_cb
#pragma weak qemu_plugin_register_vcpu_insn_exec_cond_cb
#pragma weak qemu_plugin_tb_n_insns
#pragma weak qemu_plugin_tb_vaddr
#pragma weak qemu_plugin_tb_get_insn
#pragma weak qemu_plugin_insn_data
#pragma weak qemu_plugin_insn_vaddr
#pragma weak qemu_plugin_get_registers
#pragma weak qemu_plugin_read_register
#pragma weak qemu_plugin_write_register
#pragma weak qemu_plugin_set_pc
#pragma weak qemu_plugin_read_memory_vaddr
#pragma weak qemu_plugin_read_memory_hwaddr
#pragma weak qemu_plugin_write_memory_hwaddr
#pragma weak qemu_plugin_scoreboard_new
#pragma weak qemu_plugin_scoreboard_find
#pragma weak cpus_get_elapsed_ticks
#pragma weak qemu_get_cpu
#pragma weak cpu_dump_state
#pragma weak cpu_set_interrupt
#pragma weak cpu_exit
#pragma weak cpu_restore_state

#endif /* _PT_QEMU_API_H */
