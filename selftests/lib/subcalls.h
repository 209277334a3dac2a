/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hypercalls one at a time: the record of a call, those of the calls or elements
 * inside it, and how often the kernel read user memory for them in the calling
 * thread. What must be in them is not known here.
 */
#ifndef _SELFTESTS_SUBCALLS_H
#define _SELFTESTS_SUBCALLS_H

#include <decode.h>

#include "trace.h"

#define SUBCALLS_MAX	(KVM_TRACE_SUB_CALLS + 1)	/* one more than there may be */

struct subcalls {
	struct trace_session session;
	struct trace_event hypercall, sub, read;
};

struct told {
	struct kvm_trace_hypercall call;	/* the last one */
	struct kvm_trace_hypercall_sub subs[SUBCALLS_MAX];
	unsigned int nr_calls, nr_subs, nr_reads;
};

void subcalls_start(struct subcalls *subcalls, bool with_subs, size_t ring_mib);
void subcalls_take(struct subcalls *subcalls, struct told *told);
void subcalls_close(struct subcalls *subcalls);

#endif /* _SELFTESTS_SUBCALLS_H */
