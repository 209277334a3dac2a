// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BPF program on a raw tracepoint that counts how often it is hit: bpf(2)
 * without a library, and the few instructions of the program by hand.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "tap.h"

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int make_map(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(u32);
	attr.value_size = sizeof(u64);
	attr.max_entries = 1;
	return bpf(BPF_MAP_CREATE, &attr);
}

static int load_program(int map_fd)
{
	const struct bpf_insn program[] = {
		/* key 0 on the stack */
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4 },
		/* r1 = map, r2 = &key */
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = map_fd },
		{ },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem },
		/* if (r0) *(u64 *)r0 += 1, atomically */
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 2 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = BPF_REG_0,
		  .src_reg = BPF_REG_1, .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (unsigned long)program;
	attr.insn_cnt = ARRAY_SIZE(program);
	attr.license = (unsigned long)"GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

/**
 * bpf_counter_attach() - load the program and attach it
 * @counter: filled in
 * @tracepoint: name of the tracepoint, without its system
 *
 * Return: 0, or a negative errno of attaching.
 */
int bpf_counter_attach(struct bpf_counter *counter, const char *tracepoint)
{
	union bpf_attr attr;
	int err;

	counter->map_fd = make_map();
	if (counter->map_fd < 0)
		tap_die("BPF map");
	counter->prog_fd = load_program(counter->map_fd);
	if (counter->prog_fd < 0)
		tap_die("BPF program");
	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (unsigned long)tracepoint;
	attr.raw_tracepoint.prog_fd = counter->prog_fd;
	counter->link_fd = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	err = counter->link_fd < 0 ? -errno : 0;
	if (err)
		bpf_counter_detach(counter);
	return err;
}

/**
 * bpf_counter_read() - hits so far
 * @counter: attached counter
 */
u64 bpf_counter_read(const struct bpf_counter *counter)
{
	union bpf_attr attr;
	u64 value = 0;
	u32 key = 0;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = counter->map_fd;
	attr.key = (unsigned long)&key;
	attr.value = (unsigned long)&value;
	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		tap_die("BPF map");
	return value;
}

/**
 * bpf_counter_detach() - detach and free
 * @counter: counter
 */
void bpf_counter_detach(struct bpf_counter *counter)
{
	if (counter->link_fd >= 0)
		close(counter->link_fd);
	close(counter->prog_fd);
	close(counter->map_fd);
}
