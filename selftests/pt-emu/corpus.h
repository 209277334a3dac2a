/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A case of the corpus: what a processor did, the bytes of its trace, and what
 * libipt makes of these. The format of the files is in corpus/README.md.
 */
#ifndef _PT_EMU_CORPUS_H
#define _PT_EMU_CORPUS_H

#include "types.h"

#define MAX_LINES	256
#define LINE_SIZE	160
#define MAX_BYTES	4096
#define MAX_CODE	16
#define CODE_SIZE	64

struct lines {
	unsigned int n;
	char text[MAX_LINES][LINE_SIZE];
};

struct bytes {
	size_t size;
	u8 data[MAX_BYTES];
};

struct code {
	u64 address;
	size_t size;
	u8 data[CODE_SIZE];
};

struct corpus_case {
	char path[256];
	struct lines caps;
	struct lines events;
	struct bytes bytes;
	struct lines packets;
	struct lines flow;
	struct lines perf_flow;	/* if it differs */
	unsigned int codes;
	struct code code[MAX_CODE];
};

void line_add(struct lines *lines, const char *fmt, ...) __printf(2, 3);

/* corpus_events.c */
void corpus_trace(const struct corpus_case *c, struct bytes *bytes);

/* corpus_ipt.c */
void corpus_packets(const struct bytes *bytes, struct lines *packets, u8 sizes[MAX_LINES]);
void corpus_flow(const struct corpus_case *c, const struct bytes *bytes, struct lines *flow);

/* corpus_perf.c */
void corpus_perf_packets(const struct corpus_case *c, struct bytes *bytes, struct lines *packets);
void corpus_perf_flow(const struct corpus_case *c, struct lines *flow);
void corpus_perf_text(const char *packet, char text[LINE_SIZE]);

#endif /* _PT_EMU_CORPUS_H */
