/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table of instructions: bytes by CR3 and address. For the writer of a log, which
 * writes each once, and for its reader, which decodes with them.
 */
#ifndef _PT_LOG_CODE_H
#define _PT_LOG_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include "log.h"

/**
 * struct pt_code - an instruction
 * @cr3: CR3 with which it is executed
 * @address: its linear address
 * @size: of its bytes; 0: none is known here
 * @bytes: they
 */
struct pt_code {
	__u64 cr3;
	__u64 address;
	__u8 size;
	__u8 bytes[PT_LOG_CODE_MAX];
};

/**
 * struct pt_codes - a table of them
 * @slots: hashed by CR3 and address
 * @mask: how many slots there are, minus 1
 * @used: how many of them are used
 */
struct pt_codes {
	struct pt_code *slots;
	size_t mask;
	size_t used;
};

bool pt_codes_init(struct pt_codes *codes);
void pt_codes_free(struct pt_codes *codes);
struct pt_code *pt_codes_find(const struct pt_codes *codes, __u64 cr3, __u64 address);
bool pt_codes_put(struct pt_codes *codes, const struct pt_code *code);

#endif /* _PT_LOG_CODE_H */
