/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of kvm_pt's modes share: its methods, guests to trace, and what the
 * packets of a mode may and must have.
 */
#ifndef _SELFTESTS_PT_MODE_H
#define _SELFTESTS_PT_MODE_H

#include "guest.h"
#include "pt_event.h"
#include "pt_packets.h"

/* Values of the term mode. */
enum pt_mode {
	PT_MODE_HOST		= 1,
	PT_MODE_GUEST		= 2,
	PT_MODE_HOST_GUEST	= 3,
};

/* Values of the term stream. */
enum pt_stream {
	PT_STREAM_HOST	= 1,
	PT_STREAM_GUEST	= 2,
};

/* Values of the term method. */
enum pt_method {
	PT_METHOD_VMCS		= 1,
	PT_METHOD_WINDOW	= 2,
	PT_METHODS		= 3,
};

#define PT_TERMS_BYTES	128

/**
 * struct pt_guest - a guest that makes exits until it is told to stop
 * @vm: its VM
 * @vcpu: its vCPU, in a thread of its own
 */
struct pt_guest {
	struct vm vm;
	struct vcpu vcpu;
};

/**
 * enum pt_place - code of the guest of pt_run_calls()
 * @PT_OF_USER: a function that user code calls once a round
 * @PT_OF_KERNEL: one that the kernel calls once a round
 * @PT_AT_END: one that user code calls in the end
 */
enum pt_place {
	PT_OF_USER,
	PT_OF_KERNEL,
	PT_AT_END,
};

void need_kvm_pt(void);
const char *pt_method_name(enum pt_method method);
bool pt_has_method(enum pt_method method);
char *pt_terms(char *to, enum pt_mode mode, enum pt_stream stream, enum pt_method method,
	       unsigned int psb_period);
void pt_must_open(struct pt_event *event, const char *terms, int tid, int cpu, size_t aux_bytes,
		  unsigned int flags);
void pt_guest_start(struct pt_guest *guest, unsigned int area);
void pt_guest_end(struct pt_guest *guest);
void pt_move(int tid, unsigned int cpu);
int pt_try_open(const char *pmu, const char *terms, int tid, int cpu);
int pt_fork_guest(void);
u64 pt_run_kinds(const char *kinds, u64 count, unsigned int area);
u64 pt_run_calls(u64 rounds);
char *pt_place(char *to, const char *action, enum pt_place place);
void pt_expect_guest(const struct pt_event *event, enum pt_method method);
void pt_expect_host(const struct pt_event *event);
void pt_count(const struct pt_event *event, struct pt_packets *packets);

#endif /* _SELFTESTS_PT_MODE_H */
