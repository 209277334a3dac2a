/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of kvm_trace_batch:vmexits: every record in them, and for each vCPU
 * how many there are and how many its record counter says are missing. Batches
 * are read by perf-plugins/batch.c.
 */
#ifndef _SELFTESTS_BATCHES_H
#define _SELFTESTS_BATCHES_H

#include <batch.h>

#include "trace.h"
#include "vm.h"

struct batch_tally {
	char name[32];		/* of the VM, "PID-FD"; empty if no vcpu record tells */
	u32 vm, vcpu, pid;
	u32 first_seq, next_seq;
	u64 trips, missing;	/* missing: behind the first */
	size_t batches;
};

struct batch_tallies {
	struct batch_tally *list;
	size_t count;
};

typedef void (*batch_fn)(const struct trace_sample *sample,
			 const struct kvm_trace_batch_reader *reader,
			 enum kvm_trace_batch_item item, void *arg);

void batches_each(struct trace_session *session, batch_fn fn, void *arg);
void batches_tally(struct trace_session *session, struct batch_tallies *tallies);
void batches_free(struct batch_tallies *tallies);
const struct batch_tally *batch_tally_of(const struct batch_tallies *tallies,
					 const struct vcpu *vcpu);
void batch_ftrace_start(void);
void batch_ftrace_read(struct batch_tally *tally);
void batch_ftrace_stop(struct batch_tally *tally);
void batch_ftrace_remove(void);
void expect_every_exit(const struct batch_tallies *tallies, struct vcpu *vcpu, u64 missing);

#endif /* _SELFTESTS_BATCHES_H */
