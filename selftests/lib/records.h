/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of kvm_trace's events and of KVM's own, as the tests compare
 * them. Bytes are decoded by perf-plugins/decode.c.
 */
#ifndef _SELFTESTS_RECORDS_H
#define _SELFTESTS_RECORDS_H

#include <decode.h>

#include "guest.h"
#include "trace.h"
#include "vm.h"

/* What a recorder records. */
#define REC_VMEXIT	0x01
#define REC_VCPU	0x02
#define REC_HYPERCALL	0x04
#define REC_LOST	0x08
#define REC_OURS	(REC_VMEXIT | REC_VCPU | REC_HYPERCALL | REC_LOST)
#define REC_KVM_EXIT	0x10
#define REC_KVM_ENTRY	0x20
#define REC_KVM_HYPERCALL 0x40
#define REC_KVM_HV_HYPERCALL 0x80
#define REC_KVM_XEN_HYPERCALL 0x100
/* All of KVM's events that tell what a word or a flag of ours tells. */
#define REC_KVM_PATH	0xfffff0
#define REC_HANDLE_EXIT	0x800000
#define REC_PATH	(REC_OURS | REC_KVM_PATH)
/* While it is recorded, the module reads guest memory. */
#define REC_HYPERCALL_SUB 0x1000000
#define REC_BATCH	0x2000000
/* Each read of memory that must not fault, as the module reads a guest's. */
#define REC_GUEST_READ	0x4000000

#define REC_EVENTS	27

struct recorder {
	unsigned int what;
	struct trace_session session;
	struct trace_event events[REC_EVENTS];
};

struct vmexit {
	const struct trace_sample *sample;
	struct kvm_trace_vmexit r;
};

struct hypercall {
	const struct trace_sample *sample;
	struct kvm_trace_hypercall r;
};

struct hypercall_sub {
	const struct trace_sample *sample;
	struct kvm_trace_hypercall_sub r;
};

void recorder_start(struct recorder *recorder, unsigned int what, size_t ring_mib);
void recorder_stop(struct recorder *recorder);
void recorder_close(struct recorder *recorder);
size_t recorder_vmexits(struct recorder *recorder, struct vmexit **list);
size_t recorder_hypercalls(struct recorder *recorder, u32 vm, u32 vcpu, struct hypercall **list);
size_t recorder_hypercall_subs(struct recorder *recorder, u32 vm, u32 vcpu,
			       struct hypercall_sub **list);
size_t hypercall_subs_of(const struct hypercall_sub *list, size_t count, u32 seq,
			 const struct hypercall_sub **first);
bool sample_is(const struct trace_sample *sample, const char *event);
u32 recorder_vm(struct recorder *recorder, const struct vm *vm);
u32 recorder_vm_of(struct recorder *recorder, int pid);
u64 recorder_lost(const struct recorder *recorder);
size_t vmexits_of(const struct vmexit *list, size_t count, u32 vm, u32 vcpu, struct vmexit **some);
void expect_whole(const struct vmexit *list, size_t count, const char *what);

#endif /* _SELFTESTS_RECORDS_H */
