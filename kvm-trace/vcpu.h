/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of the VMs and vCPUs that are being traced: found by vCPU or by
 * thread, born when first seen, dead with its VM. What is collected in a round
 * trip is filled in by roundtrip.c and hypercall.c.
 */
#ifndef _KVM_TRACE_VCPU_H
#define _KVM_TRACE_VCPU_H

#include <linux/kvm_host.h>
#include <linux/kvm_trace.h>
#include <linux/list_nulls.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "isa.h"
#include "record.h"

/* Entries of the pool of free states; refilled when half of it is gone. */
#define KVM_TRACE_POOL_MIN	64
#define KVM_TRACE_MAX_VCPUS	8192

struct kvm_trace_buffer;

enum kvm_trace_where {
	KVM_TRACE_UNSEEN,	/* neither entry nor exit seen yet */
	KVM_TRACE_IN_GUEST,	/* between entry and exit */
	KVM_TRACE_IN_GUEST_USUAL,	/* the same, its exit may go the short way */
	KVM_TRACE_IN_HOST,	/* between exit and entry: a record is open */
	KVM_TRACE_IN_HOST_FIRST,	/* the same, but no entry before it was seen */
	KVM_TRACE_IN_HOST_USUAL,	/* the same, its exit went the short way */
};

/**
 * struct kvm_trace_vm - a VM that has been seen
 * @kvm:	key; not a reference, never followed
 * @hash:	entry of the table of VMs
 * @vcpus:	its vCPUs' kvm_trace_vcpu.sibling
 * @free:	entry of the pool
 * @rcu:	frees it
 * @id:		number of the VM in all records
 * @pid:	process that created it
 * @name:	KVM's debugfs directory, "PID-FD"
 */
struct kvm_trace_vm {
	struct kvm *kvm;
	struct hlist_node hash;
	struct list_head vcpus;
	struct list_head free;
	struct rcu_head rcu;
	u32 id;
	pid_t pid;
	char name[KVM_TRACE_VCPU_NAME_LEN];
};

enum kvm_trace_call_state {
	KVM_TRACE_CALL_NONE,
	KVM_TRACE_CALL_NESTED,	/* made by a nested guest: whose it is comes out */
	KVM_TRACE_CALL_MADE,	/* to be recorded when its result is known */
};

/**
 * struct kvm_trace_hypercall - the hypercall of the open round trip
 * @record:	the record to be: arguments are in its tail, and present also has
 *		the words that are known already and stand below
 * @rip:	word RIP
 * @ret:	word RETURN
 * @nr_hi:	word NR_HI
 * @hv_control:	word HV_CONTROL
 * @hv_reps:	word HV_REPS
 * @sub:	word SUB
 * @words:	KVM_TRACE_HC_W_* that the user wanted when it was made
 * @state:	KVM_TRACE_CALL_*; not NONE if there is one
 */
struct kvm_trace_hypercall {
	struct kvm_trace_hypercall_record record;
	u64 rip;
	u64 ret;
	u32 nr_hi;
	u32 hv_control;
	u32 hv_reps;
	u32 sub;
	u32 words;
	u8 state;
};

/**
 * struct kvm_trace_path - what happens on the path of a round trip
 * @user_stamp:	kvm_trace_stamp() when KVM_RUN returned; 0 inside KVM_RUN
 * @user_ns:	time in user space
 * @run_delay:	run delay of thread @run_tid when last looked at
 * @runnable_ns: sum of its growth
 * @halt_wait_ns: KVM's statistics at the entry before, as all to
 *		@nmi_injections
 * @polled_ns:	halt_poll_success_ns and halt_poll_fail_ns
 * @halt_successful_poll: -
 * @irq_injections: -
 * @nmi_injections: -
 * @last_guest_tsc: TSC of the guest that KVM noted last before that entry
 * @io_count:	elements that INS or OUTS moved
 * @flags_hi:	KVM_TRACE_F2_*
 * @generation:	kvm_trace_words_generation when it began
 * @run_tid:	thread of @run_delay
 */
struct kvm_trace_path {
	u64 user_stamp;
	u64 user_ns;
	u64 run_delay;
	u64 runnable_ns;
	u64 halt_wait_ns;
	u64 polled_ns;
	u64 halt_successful_poll;
	u64 irq_injections;
	u64 nmi_injections;
	u64 last_guest_tsc;
	u64 io_count;
	u32 flags_hi;
	u32 generation;
	pid_t run_tid;
};

/**
 * struct kvm_trace_vcpu - a vCPU that has been seen
 * @vcpu:	key
 * @vm:		its VM
 * @hash:	entry of the table of vCPUs
 * @sibling:	entry of kvm_trace_vm.vcpus
 * @free:	entry of the pool
 * @rcu:	frees it
 * @thread:	entry of the table of threads, if @tid is not 0
 * @tid:	thread that this vCPU was last seen on
 * @where:	where the vCPU is now
 * @path_flags:	KVM_TRACE_F_* set by hooks on the path since the exit
 * @cpu:	CPU of the last entry, and so of the exit
 * @want:	KVM_TRACE_W_* words of the round trip that @where is in
 * @clock:	kvm_trace_clock at the exit of the open round trip; on the short
 *		way, when it last went the long one
 * @mult:	factor of @clock, for the short way
 * @shift:	the shift of @clock
 * @exit_stamp:	kvm_trace_stamp() then
 * @entry_stamp:	kvm_trace_stamp() at the last entry
 * @entry_ns:	local_clock() at the last entry; 0 if no word wanted it
 * @switches:	context switches of that thread at the last entry
 * @buffer:	its batch; never NULL
 * @exit:	the exit as read, but by the short way
 * @record:	the record to be; what does not change is filled in at birth, and
 *		reason and kind at the exit if that goes the short way; its seq
 *		counts the round trips
 * @regs:	where perf keeps the registers of the sample, zero but for a few
 * @exits_before: what KVM's statistic counted besides the round trips in @record.seq
 *		and the open one
 * @mmio_exits:	KVM's statistics at the last entry, as all to @injections
 * @halt_exits:	-
 * @pf_fixed:	-
 * @insn_emulation: -
 * @injections:	irq_injections and nmi_injections
 * @hypercall:	the open hypercall
 * @path:	what happens in the round trip, if a word in @want needs it
 * @generation:	consumers that have had this vCPU's vcpu record
 * @vcpu_jiffies:	time of the last vcpu record
 * @vcpu_tid:	thread in it
 * @tsc_offset:	L1 TSC offset in it
 * @tsc_ratio:	L1 TSC ratio in it
 * @vcpu_owed:	a vcpu record had no place in a batch for want of a buffer
 * @no_buffer:	round trips that batches lack for want of a buffer, not yet told
 * @no_buffer_since: local_clock() at the first of them
 *
 * All but the links and keys is written by the thread that runs the vCPU, with
 * interrupts or preemption off.
 */
struct kvm_trace_vcpu {
	struct kvm_vcpu *vcpu;
	struct kvm_trace_vm *vm;
	struct hlist_node hash;
	struct list_head sibling;
	struct list_head free;
	struct rcu_head rcu;
	struct hlist_nulls_node thread;
	pid_t tid;

	u8 where ____cacheline_aligned;
	u32 path_flags;
	int cpu;
	u64 want;
	u64 clock;
	u64 mult;
	u32 shift;
	u64 exit_stamp;
	u64 entry_stamp;
	u64 entry_ns;
	unsigned long switches;
	struct kvm_trace_buffer *buffer;
	struct kvm_trace_exit exit;
	struct kvm_trace_vmexit record;

	u64 exits_before;
	u64 mmio_exits;
	u64 halt_exits;
	u64 pf_fixed;
	u64 insn_emulation;
	u64 injections;

	struct kvm_trace_hypercall hypercall;
	struct kvm_trace_path path;

	u32 generation;
	pid_t vcpu_tid;
	unsigned long vcpu_jiffies;
	u64 tsc_offset;
	u64 tsc_ratio;

	bool vcpu_owed;
	u64 no_buffer;
	u64 no_buffer_since;

	struct pt_regs regs;
};

/* Of this module's own, unbound; kernels differ in the names of theirs. */
extern struct workqueue_struct *kvm_trace_wq;
/* Most vCPUs that have state at once; module parameter max_vcpus. */
extern unsigned int kvm_trace_max_vcpus;
/* Where to look before kvm_trace_vcpu_get(); never NULL. */
DECLARE_PER_CPU(struct kvm_trace_vcpu *, kvm_trace_vcpu_last);

int kvm_trace_state_init(void);
void kvm_trace_state_exit(void);
int kvm_trace_state_start(void);
void kvm_trace_state_stop(void);

struct kvm_trace_vcpu *kvm_trace_vcpu_get(struct kvm_vcpu *vcpu);
struct kvm_trace_vcpu *kvm_trace_vcpu_loaded(void);
struct kvm_trace_vcpu *kvm_trace_vcpu_of_current(void);
void kvm_trace_vcpu_set_thread(struct kvm_trace_vcpu *v);
void kvm_trace_vcpu_moved(struct kvm_trace_vcpu *v);
void kvm_trace_vcpu_unbind_thread(void);
void kvm_trace_vm_destroyed(struct kvm *kvm);
void kvm_trace_vcpu_for_each(void (*fn)(struct kvm_trace_vcpu *v, void *arg),
			     void *arg);

/**
 * kvm_trace_vcpu_sync_counts() - take KVM's statistics as they are now
 * @v: the vCPU
 *
 * Context: @v's own thread.
 */
static __always_inline void
kvm_trace_vcpu_sync_counts(struct kvm_trace_vcpu *v)
{
	const struct kvm_vcpu_stat *stat = &v->vcpu->stat;

	v->exits_before = stat->exits + 1 - v->record.seq;
	v->mmio_exits = stat->mmio_exits;
	v->halt_exits = stat->halt_exits;
	v->pf_fixed = stat->pf_fixed;
	v->insn_emulation = stat->insn_emulation;
	v->injections = stat->irq_injections + stat->nmi_injections;
}

/**
 * kvm_trace_vcpu_go_long_way() - an exit went the short way, the rest will not
 * @v: the vCPU
 *
 * Context: @v's own thread.
 */
static inline void kvm_trace_vcpu_go_long_way(struct kvm_trace_vcpu *v)
{
	if (v->where != KVM_TRACE_IN_HOST_USUAL)
		return;
	v->exit.reason = v->record.reason;
	v->exit.flags = v->record.flags;
	v->exit.class = v->record.class;
	/* As where the exit itself is noted. */
	smp_store_release(&v->where, KVM_TRACE_IN_HOST);
}

#endif /* _KVM_TRACE_VCPU_H */
