/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Round trips: a record of ours and what KVM's own events told meanwhile, and
 * what the record's words and flags must be for them. Here is the one place
 * that knows what a word means in terms of KVM's events.
 */
#ifndef _SELFTESTS_PATH_H
#define _SELFTESTS_PATH_H

#include "records.h"

/* A round trip: events between two entries. */
struct trip {
	const struct vmexit *v;
	const struct trace_sample **events;	/* of the vCPU's thread, in their order */
	size_t nr_events;
	const struct trace_sample *exit, *entry;	/* KVM's own, the last of each */
};

/* All round trips of one vCPU that has one thread. */
struct path {
	struct vmexit *records;
	struct trip *trips;
	size_t nr_trips;
	const struct trace_sample **samples;
	u64 halt_poll_ns;	/* how long KVM would poll now */
	bool apicv;		/* KVM may let the processor deliver interrupts */
};

void path_join(struct path *path, struct recorder *recorder, const struct vm *vm,
	       const struct vcpu *vcpu);
void path_free(struct path *path);
const struct trace_sample *trip_last(const struct trip *trip, const char *event);
size_t trip_count(const struct trip *trip, const char *event);
void path_check(struct path *path);

#endif /* _SELFTESTS_PATH_H */
