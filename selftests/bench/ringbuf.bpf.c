// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kvm_trace's lean record says, told by BPF: one record for each round trip,
 * put together in the vCPU's thread and sent through a ring buffer. For AMD SVM;
 * no program of BPF can execute VMREAD.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "ringbuf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* The fields that are read; libbpf finds out where the running kernel has them. */
struct task_struct {
	int pid;
	int tgid;
	unsigned long nvcsw;
	unsigned long nivcsw;
};

struct kvm_vcpu_stat {
	__u64 pf_fixed;
	__u64 mmio_exits;
	__u64 halt_exits;
	__u64 insn_emulation;
	__u64 irq_injections;
	__u64 nmi_injections;
};

struct kvm_vcpu {
	int vcpu_id;
	struct kvm_vcpu_stat stat;
};

struct vmcb_control_area {
	__u32 exit_code;
};

struct vmcb {
	struct vmcb_control_area control;
};

struct vcpu_svm {
	struct vmcb *vmcb;
};

#pragma clang attribute pop

char LICENSE[] SEC("license") = "GPL";

struct state {
	__u64 exit_ns;
	__u64 mmio_exits;
	__u64 halt_exits;
	__u64 pf_fixed;
	__u64 insn_emulation;
	__u64 injections;
	__u64 switches;
	__u32 seq;
	__u32 reason;
	__u32 userspace;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct state);
} states SEC(".maps");

/* The loader sets its size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

/* Bytes in the ring that wake the reader; the loader sets it. */
const volatile __u64 wakeup;

__u64 lost;

static bool grew(__u64 *old, __u64 now)
{
	bool ret = *old != now;

	*old = now;
	return ret;
}

SEC("tp_btf/kvm_exit")
int BPF_PROG(on_exit, struct kvm_vcpu *vcpu, __u32 isa)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct vcpu_svm *svm = (void *)vcpu;
	struct state *state;

	/* For the verifier: arguments of tracepoints may be NULL. */
	if (!vcpu)
		return 0;
	state = bpf_task_storage_get(&states, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state)
		return 0;
	state->exit_ns = bpf_ktime_get_ns();
	state->reason = BPF_CORE_READ(svm, vmcb, control.exit_code);
	return 0;
}

SEC("tp_btf/kvm_userspace_exit")
int BPF_PROG(on_userspace_exit, __u32 reason, int error)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct state *state = bpf_task_storage_get(&states, task, 0, 0);

	if (state)
		state->userspace = 1;
	return 0;
}

SEC("tp_btf/kvm_entry")
int BPF_PROG(on_entry, struct kvm_vcpu *vcpu, bool force_immediate_exit)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct ringbuf_record *record;
	__u16 flags = 0;
	struct state *state;
	__u64 now;

	state = bpf_task_storage_get(&states, task, 0, 0);
	if (!vcpu || !state || !state->exit_ns)
		return 0;
	if (grew(&state->mmio_exits, vcpu->stat.mmio_exits))
		flags |= RINGBUF_MMIO;
	if (grew(&state->halt_exits, vcpu->stat.halt_exits))
		flags |= RINGBUF_HALTED;
	if (grew(&state->pf_fixed, vcpu->stat.pf_fixed))
		flags |= RINGBUF_PAGE_FAULT;
	if (grew(&state->insn_emulation, vcpu->stat.insn_emulation))
		flags |= RINGBUF_EMULATED;
	if (grew(&state->injections, vcpu->stat.irq_injections + vcpu->stat.nmi_injections))
		flags |= RINGBUF_INJECTED;
	if (grew(&state->switches, task->nvcsw + task->nivcsw))
		flags |= RINGBUF_SCHED_OUT;
	if (state->userspace)
		flags |= RINGBUF_USERSPACE;
	state->userspace = 0;
	state->seq++;

	now = bpf_ktime_get_ns();
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&lost, 1);
		goto done;
	}
	record->entry_ns = now;
	record->host_ns = now - state->exit_ns;
	record->vm = task->tgid;
	record->seq = state->seq;
	record->tid = task->pid;
	record->vcpu = vcpu->vcpu_id;
	record->reason = state->reason;
	record->flags = flags;
	record->isa = 2;
	/* A reader woken for each record would cost more than all the rest. */
	bpf_ringbuf_submit(record, bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) < wakeup ?
			   BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP);
done:
	state->exit_ns = 0;
	return 0;
}
