/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A BPF program on a raw tracepoint that counts how often it is hit.
 */
#ifndef _SELFTESTS_BPF_H
#define _SELFTESTS_BPF_H

#include "types.h"

struct bpf_counter {
	int map_fd, prog_fd, link_fd;
};

int bpf_counter_attach(struct bpf_counter *counter, const char *tracepoint);
u64 bpf_counter_read(const struct bpf_counter *counter);
void bpf_counter_detach(struct bpf_counter *counter);

#endif /* _SELFTESTS_BPF_H */
