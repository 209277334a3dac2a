// SPDX-License-Identifier: GPL-2.0-only
/*
 * Birth, life and death of the state of VMs and vCPUs. Lookups are RCU walks;
 * locks are taken only when a vCPU, or a thread that runs it, is seen for the
 * first time, and when a VM dies. Nothing is allocated in a probe: births take
 * from a pool that a work item refills.
 */
#include <linux/hash.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/rculist_nulls.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <asm/cpufeature.h>

#include "batch.h"
#include "compat/compat.h"
#include "roundtrip.h"
#include "vcpu.h"

#define TABLE_BITS	10
#define TABLE_SIZE	BIT(TABLE_BITS)
#define THREAD_LOCKS	64

unsigned int kvm_trace_max_vcpus = KVM_TRACE_MAX_VCPUS;

static struct kmem_cache *vcpu_cache;
static struct kmem_cache *vm_cache;

static struct hlist_head vcpu_table[TABLE_SIZE];
static struct hlist_head vm_table[TABLE_SIZE];
static struct hlist_nulls_head thread_table[TABLE_SIZE];

/* Stands for no vCPU, so that kvm_trace_vcpu_last is never NULL. */
static struct kvm_trace_vcpu nobody = {
	.buffer = &kvm_trace_no_buffer,
};

/* The vCPU that was last looked for on each CPU. */
DEFINE_PER_CPU(struct kvm_trace_vcpu *, kvm_trace_vcpu_last);

/* Guards vcpu_table, vm_table and the pools, against other writers. */
static DEFINE_RAW_SPINLOCK(state_lock);
/* Guard the chains of thread_table against other writers. */
static raw_spinlock_t thread_locks[THREAD_LOCKS];

static LIST_HEAD(free_vcpus);
static LIST_HEAD(free_vms);
static unsigned int free_vcpu_count;
static unsigned int free_vm_count;
static unsigned int live_count;	 /* vCPUs in vcpu_table */
static u32 last_vm_id;
static bool started;

static void refill(struct work_struct *work);
static DECLARE_WORK(refill_work, refill);

static unsigned int pool_target(void)
{
	return max_t(unsigned int, KVM_TRACE_POOL_MIN, 2 * num_online_cpus());
}

static void free_vcpu_rcu(struct rcu_head *rcu)
{
	struct kvm_trace_vcpu *v = container_of(rcu, struct kvm_trace_vcpu, rcu);

	kvm_trace_batch_free(v->buffer);
	kmem_cache_free(vcpu_cache, v);
}

static void free_vm_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(vm_cache, container_of(rcu, struct kvm_trace_vm, rcu));
}

static int pool_add_vcpu(void)
{
	struct kvm_trace_vcpu *v = kmem_cache_zalloc(vcpu_cache, GFP_KERNEL);

	if (!v)
		return -ENOMEM;
	raw_spin_lock_irq(&state_lock);
	list_add(&v->free, &free_vcpus);
	free_vcpu_count++;
	raw_spin_unlock_irq(&state_lock);
	return 0;
}

static int pool_add_vm(void)
{
	struct kvm_trace_vm *vm = kmem_cache_zalloc(vm_cache, GFP_KERNEL);

	if (!vm)
		return -ENOMEM;
	raw_spin_lock_irq(&state_lock);
	list_add(&vm->free, &free_vms);
	free_vm_count++;
	raw_spin_unlock_irq(&state_lock);
	return 0;
}

static int pool_fill(void)
{
	int ret = 0;

	while (!ret && READ_ONCE(free_vcpu_count) < pool_target())
		ret = pool_add_vcpu();
	while (!ret && READ_ONCE(free_vm_count) < pool_target())
		ret = pool_add_vm();
	return ret;
}

static void refill(struct work_struct *work)
{
	/* Without memory births are counted as lost until the next try. */
	pool_fill();
}

static void pool_drain(void)
{
	struct kvm_trace_vcpu *v, *next_v;
	struct kvm_trace_vm *vm, *next_vm;

	list_for_each_entry_safe(v, next_v, &free_vcpus, free)
		kmem_cache_free(vcpu_cache, v);
	list_for_each_entry_safe(vm, next_vm, &free_vms, free)
		kmem_cache_free(vm_cache, vm);
	INIT_LIST_HEAD(&free_vcpus);
	INIT_LIST_HEAD(&free_vms);
	free_vcpu_count = 0;
	free_vm_count = 0;
}

static unsigned int thread_bucket(pid_t tid)
{
	return hash_32(tid, TABLE_BITS);
}

static raw_spinlock_t *thread_lock(unsigned int bucket)
{
	return &thread_locks[bucket % THREAD_LOCKS];
}

static struct kvm_trace_vcpu *find_vcpu(const struct kvm_vcpu *vcpu)
{
	struct kvm_trace_vcpu *v;

	hlist_for_each_entry_rcu_notrace(v,
					 &vcpu_table[hash_ptr(vcpu, TABLE_BITS)],
					 hash) {
		if (v->vcpu == vcpu)
			return v;
	}
	return NULL;
}

/**
 * kvm_trace_vcpu_loaded() - the vCPU that the current thread has loaded
 *
 * For hooks that are not told a vCPU. A thread that has loaded one has KVM's
 * preemption notifier of it; of other notifiers only the address is looked at.
 *
 * Context: between KVM's vcpu_load() and vcpu_put(), preemption off.
 * Return: the state, or NULL if the vCPU has not been seen
 */
struct kvm_trace_vcpu *kvm_trace_vcpu_loaded(void)
{
	struct preempt_notifier *notifier;
	struct kvm_trace_vcpu *v;

	hlist_for_each_entry(notifier, &current->preempt_notifiers, link) {
		struct kvm_vcpu *vcpu = container_of(notifier, struct kvm_vcpu,
						     preempt_notifier);

		v = this_cpu_read(kvm_trace_vcpu_last);
		if (v->vcpu != vcpu)
			v = find_vcpu(vcpu);
		if (v)
			return v;
	}
	return NULL;
}

/**
 * kvm_trace_vcpu_of_current() - the vCPU that the current thread ran last
 *
 * For hooks that are not told a vCPU and come when it is no longer loaded. A
 * new thread with the id of one that has ended may get the vCPU of that, until
 * it enters one of its own.
 *
 * Context: in a vCPU thread, inside KVM_RUN, preemption off.
 * Return: the state, or NULL if no vCPU of this thread has been seen
 */
struct kvm_trace_vcpu *kvm_trace_vcpu_of_current(void)
{
	unsigned int bucket = thread_bucket(current->pid);
	struct hlist_nulls_node *node;
	struct kvm_trace_vcpu *v;

	v = this_cpu_read(kvm_trace_vcpu_last);
	if (likely(READ_ONCE(v->tid) == current->pid))
		return v;
	do {
		hlist_nulls_for_each_entry_rcu(v, node, &thread_table[bucket],
					       thread) {
			if (READ_ONCE(v->tid) == current->pid)
				return v;
		}
		/* The walk may have followed a node to another chain. */
	} while (get_nulls_value(node) != bucket);
	return NULL;
}

static void unlink_thread(struct kvm_trace_vcpu *v)
{
	pid_t tid = READ_ONCE(v->tid);
	unsigned int bucket = thread_bucket(tid);
	unsigned long irq;

	if (!tid)
		return;
	raw_spin_lock_irqsave(thread_lock(bucket), irq);
	if (v->tid == tid) {
		hlist_nulls_del_init_rcu(&v->thread);
		WRITE_ONCE(v->tid, 0);
	}
	raw_spin_unlock_irqrestore(thread_lock(bucket), irq);
}

/**
 * kvm_trace_vcpu_set_thread() - bind a vCPU to the current thread
 * @v: the vCPU; it is unbound from its former thread, and the current thread
 *     from its former vCPU
 *
 * Context: @v's own thread, interrupts or preemption off.
 */
void kvm_trace_vcpu_set_thread(struct kvm_trace_vcpu *v)
{
	unsigned int bucket = thread_bucket(current->pid);
	struct hlist_nulls_node *node;
	struct kvm_trace_vcpu *other;
	unsigned long irq;

	unlink_thread(v);
	raw_spin_lock_irqsave(thread_lock(bucket), irq);
	hlist_nulls_for_each_entry(other, node, &thread_table[bucket], thread) {
		if (other->tid == current->pid) {
			hlist_nulls_del_init_rcu(&other->thread);
			WRITE_ONCE(other->tid, 0);
			break;
		}
	}
	v->switches = current->nvcsw + current->nivcsw;
	WRITE_ONCE(v->tid, current->pid);
	hlist_nulls_add_head_rcu(&v->thread, &thread_table[bucket]);
	raw_spin_unlock_irqrestore(thread_lock(bucket), irq);
}

/**
 * kvm_trace_vcpu_moved() - bind a vCPU to the current thread before its entry
 * @v: the vCPU; its next entry is told as one after a switch
 *
 * Context: @v's own thread, preemption off.
 */
void kvm_trace_vcpu_moved(struct kvm_trace_vcpu *v)
{
	kvm_trace_vcpu_set_thread(v);
	v->switches = ULONG_MAX;
}

/**
 * kvm_trace_vcpu_unbind_thread() - the current thread runs a vCPU without state
 *
 * Context: in a vCPU thread, inside KVM_RUN, preemption off.
 */
void kvm_trace_vcpu_unbind_thread(void)
{
	struct kvm_trace_vcpu *v = kvm_trace_vcpu_of_current();

	if (v)
		unlink_thread(v);
}

static struct kvm_trace_vm *find_vm(const struct kvm *kvm)
{
	struct kvm_trace_vm *vm;

	hlist_for_each_entry(vm, &vm_table[hash_ptr(kvm, TABLE_BITS)], hash) {
		if (vm->kvm == kvm)
			return vm;
	}
	return NULL;
}

static struct kvm_trace_vm *new_vm(struct kvm *kvm)
{
	struct kvm_trace_vm *vm = list_first_entry(&free_vms,
						   struct kvm_trace_vm, free);

	list_del(&vm->free);
	free_vm_count--;
	vm->kvm = kvm;
	vm->id = ++last_vm_id;
	vm->pid = kvm->userspace_pid;
	INIT_LIST_HEAD(&vm->vcpus);
	/* The name stays put while the VM lives: nobody renames it. */
	if (!IS_ERR_OR_NULL(kvm->debugfs_dentry))
		strscpy(vm->name, (const char *)kvm->debugfs_dentry->d_name.name,
			sizeof(vm->name));
	hlist_add_head(&vm->hash, &vm_table[hash_ptr(kvm, TABLE_BITS)]);
	return vm;
}

static void fill_record(struct kvm_trace_vcpu *v)
{
	v->record.vm = v->vm->id;
	v->record.vcpu = v->vcpu->vcpu_id;
	v->record.isa = boot_cpu_has(X86_FEATURE_SVM) ? KVM_TRACE_ISA_SVM :
							KVM_TRACE_ISA_VMX;
	v->record.tail_loc = KVM_TRACE_VMEXIT_SIZE;
	v->regs.cs = __KERNEL_CS;
	v->regs.ip = (unsigned long)kvm_trace_on_entry;
}

static struct kvm_trace_vcpu *make_vcpu(struct kvm_vcpu *vcpu)
{
	struct kvm_trace_vcpu *v = NULL;
	struct kvm_trace_vm *vm;
	unsigned long irq;

	/* vCPUs beyond the limit come here at every exit: no lock for them. */
	if (READ_ONCE(live_count) >= READ_ONCE(kvm_trace_max_vcpus))
		return NULL;
	raw_spin_lock_irqsave(&state_lock, irq);
	if (list_empty(&free_vcpus) || live_count >= kvm_trace_max_vcpus)
		goto out;
	vm = find_vm(vcpu->kvm);
	if (!vm) {
		if (list_empty(&free_vms))
			goto out;
		vm = new_vm(vcpu->kvm);
	}
	v = list_first_entry(&free_vcpus, struct kvm_trace_vcpu, free);
	list_del(&v->free);
	free_vcpu_count--;
	live_count++;
	v->vcpu = vcpu;
	v->vm = vm;
	v->cpu = raw_smp_processor_id();
	v->buffer = &kvm_trace_no_buffer;
	fill_record(v);
	kvm_trace_vcpu_sync_counts(v);
	list_add(&v->sibling, &vm->vcpus);
	hlist_add_head_rcu(&v->hash,
			   &vcpu_table[hash_ptr(vcpu, TABLE_BITS)]);
out:
	if (min(free_vcpu_count, free_vm_count) < pool_target() / 2)
		queue_work(kvm_trace_wq, &refill_work);
	raw_spin_unlock_irqrestore(&state_lock, irq);
	if (v)
		kvm_trace_vcpu_set_thread(v);
	return v;
}

/**
 * kvm_trace_vcpu_get() - state of a vCPU, made if it is not yet known
 * @vcpu: the vCPU that the current thread runs; kvm_trace_vcpu_last is not its
 *
 * Context: @vcpu's own thread, interrupts or preemption off. Takes a lock only
 * when the vCPU is seen for the first time.
 * Return: the state, or NULL if the pool is empty
 */
struct kvm_trace_vcpu *kvm_trace_vcpu_get(struct kvm_vcpu *vcpu)
{
	struct kvm_trace_vcpu *v = find_vcpu(vcpu);

	if (!v)
		v = make_vcpu(vcpu);
	if (v)
		this_cpu_write(kvm_trace_vcpu_last, v);
	return v;
}

static void forget_vm(struct kvm_trace_vm *vm)
{
	struct kvm_trace_vcpu *v;
	int cpu;

	lockdep_assert_held(&state_lock);
	list_for_each_entry(v, &vm->vcpus, sibling) {
		unlink_thread(v);
		hlist_del_rcu(&v->hash);
		live_count--;
	}
	/* None of its vCPUs runs, so none is put there again. */
	for_each_possible_cpu(cpu) {
		if (READ_ONCE(per_cpu(kvm_trace_vcpu_last, cpu))->vm == vm)
			WRITE_ONCE(per_cpu(kvm_trace_vcpu_last, cpu), &nobody);
	}
	list_for_each_entry(v, &vm->vcpus, sibling)
		call_rcu(&v->rcu, free_vcpu_rcu);
	hlist_del(&vm->hash);
	call_rcu(&vm->rcu, free_vm_rcu);
}

/**
 * kvm_trace_vm_destroyed() - forget a VM and its vCPUs
 * @kvm: the VM; none of its vCPUs runs any more
 *
 * Context: any but NMI.
 */
void kvm_trace_vm_destroyed(struct kvm *kvm)
{
	struct kvm_trace_vcpu *v;
	struct kvm_trace_vm *vm;
	unsigned long irq;

	raw_spin_lock_irqsave(&state_lock, irq);
	vm = find_vm(kvm);
	raw_spin_unlock_irqrestore(&state_lock, irq);
	if (!vm)
		return;
	/* It stays until we forget it. Births need not wait for its batches. */
	list_for_each_entry(v, &vm->vcpus, sibling)
		kvm_trace_batch_died(v);
	raw_spin_lock_irqsave(&state_lock, irq);
	forget_vm(vm);
	raw_spin_unlock_irqrestore(&state_lock, irq);
}

/**
 * kvm_trace_vcpu_for_each() - visit every vCPU that is known
 * @fn:  called with each; the vCPU may run meanwhile
 * @arg: passed on
 *
 * Context: process context; @fn runs as an RCU reader.
 */
void kvm_trace_vcpu_for_each(void (*fn)(struct kvm_trace_vcpu *v, void *arg),
			     void *arg)
{
	struct kvm_trace_vcpu *v;
	int i;

	rcu_read_lock();
	for (i = 0; i < TABLE_SIZE; i++) {
		hlist_for_each_entry_rcu(v, &vcpu_table[i], hash)
			fn(v, arg);
	}
	rcu_read_unlock();
}

/**
 * kvm_trace_state_start() - get ready for births
 *
 * Context: process context, before the first probe is attached.
 * Return: 0, or -ENOMEM
 */
int kvm_trace_state_start(void)
{
	int ret;

	if (started)
		return 0;
	ret = pool_fill();
	if (ret) {
		pool_drain();
		return ret;
	}
	started = true;
	return 0;
}

/**
 * kvm_trace_state_stop() - forget all VMs and free the pool
 *
 * Context: process context; no probe runs any more.
 */
void kvm_trace_state_stop(void)
{
	struct kvm_trace_vm *vm;
	struct hlist_node *next;
	int i;

	if (!started)
		return;
	started = false;
	cancel_work_sync(&refill_work);
	raw_spin_lock_irq(&state_lock);
	for (i = 0; i < TABLE_SIZE; i++) {
		hlist_for_each_entry_safe(vm, next, &vm_table[i], hash)
			forget_vm(vm);
	}
	raw_spin_unlock_irq(&state_lock);
	pool_drain();
}

/**
 * kvm_trace_state_init() - once, at module load
 *
 * Return: 0, or -ENOMEM
 */
int kvm_trace_state_init(void)
{
	int i, cpu;

	/* Not by an initialiser: modules' per-CPU data are not relocated. */
	for_each_possible_cpu(cpu)
		per_cpu(kvm_trace_vcpu_last, cpu) = &nobody;
	for (i = 0; i < TABLE_SIZE; i++)
		INIT_HLIST_NULLS_HEAD(&thread_table[i], i);
	for (i = 0; i < THREAD_LOCKS; i++)
		raw_spin_lock_init(&thread_locks[i]);
	vcpu_cache = kmem_cache_create("kvm_trace_vcpu",
				       sizeof(struct kvm_trace_vcpu), 0,
				       SLAB_HWCACHE_ALIGN | SLAB_NO_MERGE, NULL);
	vm_cache = kmem_cache_create("kvm_trace_vm",
				     sizeof(struct kvm_trace_vm), 0,
				     SLAB_NO_MERGE, NULL);
	if (vcpu_cache && vm_cache)
		return 0;
	kmem_cache_destroy(vm_cache);
	kmem_cache_destroy(vcpu_cache);
	return -ENOMEM;
}

/**
 * kvm_trace_state_exit() - once, at module unload
 */
void kvm_trace_state_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(vm_cache);
	kmem_cache_destroy(vcpu_cache);
}
