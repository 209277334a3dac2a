/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words of scripts/lab run --pt=WORD,...: capabilities of the core, and what a
 * front end writes to files. One grammar for all front ends.
 */
#ifndef _PT_EMU_OPTIONS_H
#define _PT_EMU_OPTIONS_H

#include "core/pt_emu.h"

/**
 * struct pt_options - what a front end is asked for
 * @caps: what the processor has
 * @log: write the log of what is executed, log/log.h
 * @raw: write a copy of all that the core writes to memory
 * @msrs: write each access of an MSR, log/write.h
 */
struct pt_options {
	struct pt_emu_caps caps;
	bool log;
	bool raw;
	bool msrs;
};

#ifdef __cplusplus
extern "C" {
#endif

void pt_options_default(struct pt_options *options);
const char *pt_options_parse(struct pt_options *options, const char *word);

#ifdef __cplusplus
}
#endif

#endif /* _PT_EMU_OPTIONS_H */
