/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A made-up program in host and guest, kernel and user space, that a machine
 * without an instruction set "executes": it goes where chance leads it, tells the
 * core, and logs each instruction that should be traced without asking the core.
 */
#ifndef _PT_EMU_RANDOM_STREAMS_H
#define _PT_EMU_RANDOM_STREAMS_H

#include "machine.h"

#define BLOCKS		160	/* a space */
#define MAX_INSNS	5	/* a block */
#define CODE_SIZE	8192	/* a space */
#define MAX_LOG		(1 << 20)
#define MAX_NESTED	16
#define MAX_LOSSES	4096

enum space {
	HOST_KERNEL,
	HOST_USER,
	HOST_USER_32,
	GUEST_KERNEL,
	GUEST_USER,
	SPACES,
};

/* How a block ends. */
enum kind {
	KIND_JCC,
	KIND_JMP,
	KIND_CALL,
	KIND_INDIRECT_JMP,
	KIND_INDIRECT_CALL,
	KIND_RET,
	KIND_INT,
	KIND_SYSCALL,
	KIND_SYSRET,
	KIND_IRET,
	KIND_MOV_CR3,
	KIND_WRMSR,
	KIND_VMRESUME,
	KIND_VMPTRLD,
};

struct block {
	enum kind kind;
	unsigned int insns;		/* the last one ends the block */
	unsigned int target;		/* block in the same space */
	u64 ip[MAX_INSNS + 1];		/* and that of the next block */
};

struct program {
	struct block block[SPACES][BLOCKS];
	u8 code[SPACES][CODE_SIZE];
};

/* An instruction of the program. */
struct place {
	enum space space;
	unsigned int block;
	unsigned int insn;
};

/* What is traced, and how the core is configured. */
struct setting {
	const char *name;
	u64 ctl;
	bool ret_compression;
	bool guest_only;	/* by the VMCS controls */
	bool filtered;		/* ADDR0 is a part of the host's kernel */
	bool losses;		/* internal buffers overflow now and then */
	bool no_guest;		/* each VM entry fails */
};

/* An overflow: entries of the log that cannot be decoded, but for some of the first. */
struct loss {
	size_t from;
	size_t to;
};

struct run {
	const struct program *program;
	const struct setting *setting;
	struct machine *m;
	u64 random;
	struct place at;
	struct place guest;
	struct place interrupted[MAX_NESTED];
	unsigned int nested;
	struct place calls[MAX_NESTED];
	unsigned int depth;
	u64 cr3[2];			/* of host and guest */
	bool on;			/* TraceEn in the host */
	bool in_filter;
	unsigned long branches;		/* traced */
	unsigned int losses;
	bool losing;
	struct loss loss[MAX_LOSSES];
	size_t logged;
	u64 log[MAX_LOG];
};

#define STREAM_CR3	0x100000ULL	/* the one that CR3 filters match */
#define STREAM_FILTER_BLOCKS	(BLOCKS / 2)

void program_make(struct program *p, u64 seed);
bool program_read(const struct program *p, u64 ip, u8 *buffer, size_t *size);
u64 program_base(enum space space);
u64 program_filter_end(const struct program *p);
void run_start(struct run *r, struct program *p, const struct setting *s, u64 seed);
bool run_program(struct run *r, unsigned long branches);

#endif /* _PT_EMU_RANDOM_STREAMS_H */
