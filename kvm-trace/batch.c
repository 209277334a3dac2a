// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers of batches: where they come from, when a batch is begun, and when it
 * becomes an event.
 *
 * A buffer is touched only on one CPU, that of its vCPU's last entry, and there
 * only with interrupts off. So the vCPU's own thread needs no lock to add to it,
 * and an interrupt of that CPU may emit it: a sweep, of vCPUs that do not enter
 * for long, and a consumer that leaves. A vCPU that has another CPU or thread
 * takes its buffer along, under the buffer's lock; so its own thread may emit it
 * elsewhere too, when it does not run the vCPU.
 */
#include <linux/cpu.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <kvm_trace/batch_scale.h>

#include "batch.h"
#include "compat/compat.h"
#include "events.h"
#include "events_batch.h"

static_assert(sizeof(struct kvm_trace_batch_event) == KVM_TRACE_BATCH_MAX);
static_assert(offsetof(struct kvm_trace_batch_event, data) ==
	      KVM_TRACE_BATCH_SIZE);
static_assert(KVM_TRACE_BATCH_HYPERCALL_MAX - KVM_TRACE_ITEM_HEAD <= U8_MAX);
static_assert(!(KVM_TRACE_BATCH_SHAPES & (KVM_TRACE_BATCH_SHAPES - 1)));

u64 kvm_trace_batch_words __read_mostly = KVM_TRACE_WORDS_LEAN;
bool kvm_trace_batch_hypercalls __read_mostly;

struct kvm_trace_buffer kvm_trace_no_buffer = {
	.cpu = KVM_TRACE_NO_CPU,
};

static struct kmem_cache *buffer_cache;

/* Guards the pool. */
static DEFINE_RAW_SPINLOCK(pool_lock);
static LIST_HEAD(free_buffers);
static unsigned int free_count;
static bool started;	/* nobody takes from the pool if not; under hooks.c's lock too */

/* Consumers of all that happens on a CPU, whoever runs. */
static atomic_t wide_consumers = ATOMIC_INIT(0);
/* Those of perf on each CPU alone. */
static DEFINE_PER_CPU(unsigned int, cpu_consumers);
/* Buffers that vCPUs have left there for them, and how many there are on all. */
static DEFINE_PER_CPU(struct llist_head, left_behind);
static atomic_t left_count = ATOMIC_INIT(0);
/* Events of perf for threads, whether these run or not. */
static atomic_t thread_events = ATOMIC_INIT(0);

static void refill(struct work_struct *work);
static DECLARE_WORK(refill_work, refill);
static void sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweep_work, sweep);

static unsigned int pool_target(void)
{
	return max_t(unsigned int, KVM_TRACE_POOL_MIN, 2 * num_online_cpus());
}

static int pool_fill(void)
{
	struct kvm_trace_buffer *buffer;

	while (READ_ONCE(free_count) < pool_target()) {
		buffer = kmem_cache_zalloc(buffer_cache, GFP_KERNEL);
		if (!buffer)
			return -ENOMEM;
		raw_spin_lock_init(&buffer->lock);
		buffer->cpu = KVM_TRACE_NO_CPU;
		raw_spin_lock_irq(&pool_lock);
		list_add(&buffer->free, &free_buffers);
		free_count++;
		raw_spin_unlock_irq(&pool_lock);
	}
	return 0;
}

static void refill(struct work_struct *work)
{
	/* Without memory, records are lost until the sweep tries again. */
	pool_fill();
}

static void pool_drain(void)
{
	struct kvm_trace_buffer *buffer, *next;

	list_for_each_entry_safe(buffer, next, &free_buffers, free)
		kmem_cache_free(buffer_cache, buffer);
	INIT_LIST_HEAD(&free_buffers);
	free_count = 0;
}

static void note_lost(struct kvm_trace_vcpu *v)
{
	if (!v->no_buffer++)
		v->no_buffer_since = local_clock();
}

static void tell_lost(struct kvm_trace_vcpu *v)
{
	if (v->no_buffer)
		trace_lost(v->no_buffer, v->no_buffer_since, v->record.vm,
			   v->record.vcpu, KVM_TRACE_LOST_NO_BUFFER);
	v->no_buffer = 0;
}

/* Losses so far are nobody's: who comes now did not see them. */
static void forget_lost(struct kvm_trace_vcpu *v, void *unused)
{
	v->no_buffer = 0;
}

/*
 * As many as there may be vCPUs with state, and those that were left behind: it needs
 * no limit of its own.
 */
static struct kvm_trace_buffer *take_buffer(struct kvm_trace_vcpu *v)
{
	struct kvm_trace_buffer *buffer;
	unsigned long irq;

	/* All that find none come at each entry: no lock that they share. */
	if (!READ_ONCE(free_count))
		return NULL;
	raw_spin_lock_irqsave(&pool_lock, irq);
	buffer = started ? list_first_entry_or_null(&free_buffers,
						    struct kvm_trace_buffer,
						    free) : NULL;
	if (buffer) {
		list_del(&buffer->free);
		free_count--;
		if (free_count < pool_target() / 2)
			queue_work(kvm_trace_wq, &refill_work);
	}
	raw_spin_unlock_irqrestore(&pool_lock, irq);
	if (!buffer)
		return NULL;
	tell_lost(v);
	buffer->batch.event.vm = v->record.vm;
	buffer->batch.event.vcpu = v->record.vcpu;
	buffer->batch.event.isa = v->record.isa;
	buffer->cpu = raw_smp_processor_id();
	/* Pairs with buffer_of(): who finds it finds it filled in. */
	smp_store_release(&v->buffer, buffer);
	return buffer;
}

static void free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(buffer_cache,
			container_of(rcu, struct kvm_trace_buffer, rcu));
}

/**
 * kvm_trace_batch_free() - free a buffer
 * @buffer: nobody can find it any more; may be kvm_trace_no_buffer
 *
 * Context: any but NMI.
 */
void kvm_trace_batch_free(struct kvm_trace_buffer *buffer)
{
	if (buffer != &kvm_trace_no_buffer)
		call_rcu(&buffer->rcu, free_rcu);
}

/*
 * In an interrupt that came while the guest ran, perf takes all for the guest's, and
 * its tools leave out what is. It asks KVM, by this field; interrupts are off.
 */
static void emit_in_interrupt(struct kvm_trace_buffer *buffer)
{
	struct kvm_trace_vcpu *v = kvm_trace_vcpu_loaded();
	u8 from_guest;

	if (!v) {
		trace_vmexits(&buffer->batch.event);
		return;
	}
	from_guest = v->vcpu->arch.handling_intr_from_guest;
	WRITE_ONCE(v->vcpu->arch.handling_intr_from_guest, 0);
	trace_vmexits(&buffer->batch.event);
	WRITE_ONCE(v->vcpu->arch.handling_intr_from_guest, from_guest);
}

static void emit(struct kvm_trace_buffer *buffer)
{
	if (!buffer->batch.event.count)
		return;
	kvm_trace_batch_finish(&buffer->batch);
	if (in_hardirq())
		emit_in_interrupt(buffer);
	else
		trace_vmexits(&buffer->batch.event);
	buffer->batch.event.count = 0;
}

/**
 * kvm_trace_batch_emit() - make what is in a buffer an event
 * @buffer: the buffer
 *
 * Context: the thread of its vCPU, on the CPU of its last entry, interrupts off.
 */
void kvm_trace_batch_emit(struct kvm_trace_buffer *buffer)
{
	emit(buffer);
}

static u64 age(u64 clock)
{
	return KVM_TRACE_BATCH_AGE_MS *
	       (clock & KVM_TRACE_CLOCK_TSC ? tsc_khz : NSEC_PER_MSEC);
}

static void begin(struct kvm_trace_buffer *buffer, u64 clock, bool entry_seen,
		  const struct kvm_trace_batch_trip *trip)
{
	u64 start = entry_seen ? trip->from : trip->exit;
	u64 now = kvm_trace_stamp(clock);
	u64 ns = local_clock();
	u32 mult = clock >> 32;
	u8 shift = clock & 63;
	u8 flags = 0;

	if (clock & KVM_TRACE_CLOCK_TSC)
		flags |= KVM_TRACE_BATCH_F_TSC;
	if (!entry_seen)
		flags |= KVM_TRACE_BATCH_F_NO_ENTRY;
	if ((s64)(now - start) > 0)
		ns -= kvm_trace_batch_scale(now - start, mult, shift);
	buffer->clock = clock;
	WRITE_ONCE(buffer->held, false);
	WRITE_ONCE(buffer->old, trip->entry + age(clock));
	kvm_trace_batch_begin(&buffer->batch, mult, shift, flags, trip->seq,
			      start, ns);
}

/**
 * kvm_trace_batch_add() - add a round trip of any kind
 * @v:          the vCPU
 * @clock:      kvm_trace_clock of its stamps
 * @entry_seen: the entry before it was seen
 * @trip:       the round trip
 * @call:       its hypercall, or NULL
 *
 * Without a buffer it is lost, and the record counter tells.
 *
 * Context: kvm_entry tracepoint of @v's own thread.
 */
void kvm_trace_batch_add(struct kvm_trace_vcpu *v, u64 clock, bool entry_seen,
			 const struct kvm_trace_batch_trip *trip,
			 const struct kvm_trace_hypercall_record *call)
{
	struct kvm_trace_buffer *buffer = v->buffer;

	if (unlikely(buffer == &kvm_trace_no_buffer)) {
		buffer = take_buffer(v);
		if (!buffer) {
			note_lost(v);
			return;
		}
	}
	if (unlikely(buffer->clock != clock))
		emit(buffer);
	if (!buffer->batch.event.count)
		begin(buffer, clock, entry_seen, trip);
	kvm_trace_batch_put(&buffer->batch, trip);
	if (unlikely(buffer->vcpu_due))
		kvm_trace_batch_put_vcpu(&buffer->batch, buffer->vcpu);
	buffer->vcpu_due = false;
	if (call)
		kvm_trace_batch_put_hypercall(&buffer->batch, call->abi,
					      call->caller, call->nr,
					      call->present, call->tail);
	buffer->about = v->vcpu_owed;
	if (kvm_trace_batch_ripe(buffer, trip->entry))
		emit(buffer);
}

/**
 * kvm_trace_batch_vcpu() - a vcpu record is due
 * @v:      the vCPU
 * @record: the record, added to the next round trip
 *
 * Context: kvm_entry tracepoint of @v's own thread.
 * Return: false if there is no buffer, and the record is still due
 */
bool kvm_trace_batch_vcpu(struct kvm_trace_vcpu *v,
			  const struct kvm_trace_vcpu_record *record)
{
	struct kvm_trace_buffer *buffer = v->buffer;
	u8 *p;

	if (buffer == &kvm_trace_no_buffer) {
		buffer = take_buffer(v);
		if (!buffer)
			return false;
	}
	p = buffer->vcpu;
	p = kvm_trace_put_64(p, record->tsc_offset);
	p = kvm_trace_put_64(p, record->tsc_ratio);
	p = kvm_trace_put_32(p, record->vm);
	p = kvm_trace_put_32(p, record->seq);
	p = kvm_trace_put_32(p, record->vmm_pid);
	p = kvm_trace_put_32(p, record->vmm_tid);
	p = kvm_trace_put_32(p, record->generation);
	memcpy(p, record->name, sizeof(record->name));
	p += sizeof(record->name);
	memcpy(p, record->vmm, sizeof(record->vmm));
	p += sizeof(record->vmm);
	kvm_trace_put_32(p, record->vcpu | record->isa << 16 |
			    KVM_TRACE_ABI_VERSION << 24);
	buffer->vcpu_due = true;
	buffer->about = true;
	return true;
}

/*
 * Whether more of perf's events get a sample on the CPU that a vCPU leaves: they are
 * not on all CPUs, or they stop, one CPU after the other.
 */
static bool more_listen_on(int left, int cpu)
{
	return READ_ONCE(per_cpu(cpu_consumers, left)) >
	       READ_ONCE(per_cpu(cpu_consumers, cpu));
}

/* Not more than the pool has, so that they are bounded wherever vCPUs move often. */
static void leave_behind(struct kvm_trace_vcpu *v,
			 struct kvm_trace_buffer *buffer)
{
	if (atomic_read(&left_count) >= pool_target())
		return;
	/* When nobody wants batches any more, it is taken away. */
	if (cmpxchg(&v->buffer, buffer, &kvm_trace_no_buffer) != buffer)
		return;
	if (buffer->vcpu_due)
		v->vcpu_owed = true;
	atomic_inc(&left_count);
	llist_add(&buffer->left, per_cpu_ptr(&left_behind, buffer->cpu));
}

/**
 * kvm_trace_batch_moved() - a vCPU takes its buffer to another CPU or thread
 * @v:   the vCPU, bound to its thread
 * @cpu: the CPU that it runs on now
 *
 * Context: kvm_entry tracepoint of @v's own thread, before anything is added.
 */
void kvm_trace_batch_moved(struct kvm_trace_vcpu *v, int cpu)
{
	struct kvm_trace_buffer *buffer = v->buffer;

	if (buffer == &kvm_trace_no_buffer)
		return;
	raw_spin_lock(&buffer->lock);
	if (buffer->batch.event.count && more_listen_on(buffer->cpu, cpu))
		leave_behind(v, buffer);
	if (v->buffer == buffer)
		buffer->cpu = cpu;
	raw_spin_unlock(&buffer->lock);
}

static void free_left_behind(struct kvm_trace_buffer *buffer)
{
	atomic_dec(&left_count);
	kvm_trace_batch_free(buffer);
}

/* Emits and frees what was left behind on a CPU, this one or one that is off. */
static void emit_left_behind(int cpu)
{
	struct llist_head *list = per_cpu_ptr(&left_behind, cpu);
	struct kvm_trace_buffer *buffer, *next;
	struct llist_node *first;

	if (llist_empty(list))
		return;
	first = llist_reverse_order(llist_del_all(list));
	llist_for_each_entry_safe(buffer, next, first, left) {
		raw_spin_lock(&buffer->lock);
		emit(buffer);
		raw_spin_unlock(&buffer->lock);
		free_left_behind(buffer);
	}
}

/* For others than the vCPU's own thread. */
static struct kvm_trace_buffer *buffer_of(const struct kvm_trace_vcpu *v)
{
	/* Pairs with take_buffer(). */
	return smp_load_acquire(&v->buffer);
}

/*
 * Emits what a vCPU's buffer holds, if it is on @cpu, which is this one or off;
 * interrupts are off. None comes to this CPU meanwhile, so only those that are
 * there are locked.
 */
static void emit_at(struct kvm_trace_vcpu *v, int cpu)
{
	struct kvm_trace_buffer *buffer = buffer_of(v);

	if (READ_ONCE(buffer->cpu) != cpu)
		return;
	raw_spin_lock(&buffer->lock);
	if (buffer->cpu == cpu)
		emit(buffer);
	raw_spin_unlock(&buffer->lock);
}

/* Emits what the vCPU of the current thread holds, wherever; interrupts are off. */
static void emit_own(struct kvm_trace_vcpu *v)
{
	struct kvm_trace_buffer *buffer = buffer_of(v);

	if (buffer == &kvm_trace_no_buffer)
		return;
	raw_spin_lock(&buffer->lock);
	/* Another thread that has the vCPU now has said so before it locked. */
	if (READ_ONCE(v->tid) == current->pid)
		emit(buffer);
	raw_spin_unlock(&buffer->lock);
}

/* Emits what is on a CPU that is off, and stays off. */
static void emit_if_off(struct kvm_trace_vcpu *v, void *unused)
{
	int cpu = READ_ONCE(buffer_of(v)->cpu);
	unsigned long irq;

	if (cpu == KVM_TRACE_NO_CPU || cpu_online(cpu))
		return;
	local_irq_save(irq);
	emit_at(v, cpu);
	local_irq_restore(irq);
}

/**
 * kvm_trace_batch_died() - emit what is in the buffer of a vCPU that has died
 * @v: the vCPU; it does not run, and never will
 *
 * Context: any but NMI.
 */
void kvm_trace_batch_died(struct kvm_trace_vcpu *v)
{
	struct kvm_trace_buffer *buffer = v->buffer;
	unsigned long irq;

	if (buffer == &kvm_trace_no_buffer) {
		tell_lost(v);
		return;
	}
	raw_spin_lock_irqsave(&buffer->lock, irq);
	emit(buffer);
	buffer->cpu = KVM_TRACE_NO_CPU;
	raw_spin_unlock_irqrestore(&buffer->lock, irq);
}

static void emit_here(struct kvm_trace_vcpu *v, void *unused)
{
	emit_at(v, smp_processor_id());
}

/* All of this CPU; interrupts are off. */
static void flush_cpu(void *unused)
{
	emit_left_behind(smp_processor_id());
	kvm_trace_vcpu_for_each(emit_here, NULL);
}

/**
 * kvm_trace_batch_ftrace() - ftrace comes, or is about to leave
 * @comes: what was before is not for it; or it gets what there is
 *
 * Context: process context.
 */
void kvm_trace_batch_ftrace(bool comes)
{
	if (comes)
		atomic_inc(&wide_consumers);
	else
		atomic_dec(&wide_consumers);
	cpus_read_lock();
	on_each_cpu(flush_cpu, NULL, 1);
	kvm_trace_vcpu_for_each(emit_if_off, NULL);
	cpus_read_unlock();
}

/**
 * kvm_trace_batch_perf_open() - an event of perf is made, or is gone
 * @event: the event
 * @on:    it is made
 *
 * Context: process context.
 */
void kvm_trace_batch_perf_open(const struct perf_event *event, bool on)
{
	if (event->hw.target)
		atomic_add(on ? 1 : -1, &thread_events);
}

/**
 * kvm_trace_batch_perf_add() - a consumer comes, or its thread is switched in
 * @event: an event of perf that is not yet where samples go; what was before it
 *         came is not for it
 *
 * Context: @event's CPU, interrupts off.
 */
void kvm_trace_batch_perf_add(const struct perf_event *event)
{
	struct kvm_trace_vcpu *v;

	if (!(event->attach_state & PERF_ATTACH_TASK)) {
		atomic_inc(&wide_consumers);
		this_cpu_inc(cpu_consumers);
		flush_cpu(NULL);
		return;
	}
	/* It may be there again with its thread. A child's is its parent's. */
	if (event->total_time_running || event->parent)
		return;
	v = kvm_trace_vcpu_of_current();
	if (v)
		emit_own(v);
}

/*
 * Whether a batch is not to wait while its thread is switched out: that may be for
 * long. All would be very short batches of a vCPU that halts often.
 */
static bool old_for_sleep(const struct kvm_trace_buffer *buffer)
{
	u64 max_age = age(buffer->clock);
	u64 begun = buffer->old - max_age;

	return kvm_trace_stamp(buffer->clock) - begun >=
	       max_age / KVM_TRACE_BATCH_AGE_MS * KVM_TRACE_BATCH_SLEEP_MS;
}

/**
 * kvm_trace_batch_perf_del() - a consumer leaves, or its thread is switched out
 * @event: an event of perf that samples still go to
 *
 * Context: @event's CPU, interrupts off.
 */
void kvm_trace_batch_perf_del(const struct perf_event *event)
{
	struct kvm_trace_vcpu *v;

	if (!(event->attach_state & PERF_ATTACH_TASK)) {
		atomic_dec(&wide_consumers);
		this_cpu_dec(cpu_consumers);
		flush_cpu(NULL);
		return;
	}
	v = kvm_trace_vcpu_of_current();
	if (!v)
		return;
	/* perf takes the event of a thread that runs away by an interrupt. */
	if (in_hardirq() || (current->flags & PF_EXITING) ||
	    old_for_sleep(v->buffer))
		emit_own(v);
	else if (v->buffer != &kvm_trace_no_buffer)
		WRITE_ONCE(v->buffer->held, true);
}

/* Whether only the vCPU's own thread can make a sample that somebody gets. */
static bool only_threads_listen(void)
{
	return atomic_read(&thread_events) && !atomic_read(&wide_consumers);
}

/*
 * From one thread to another that has inherited the same events, perf hands these
 * on without a word: so held may not have been set when the thread was switched out.
 */
static void sweep_on_cpu(void *data)
{
	struct kvm_trace_vcpu *v = data;

	if (READ_ONCE(v->tid) != current->pid && only_threads_listen())
		WRITE_ONCE(buffer_of(v)->held, true);
	else
		emit_here(v, NULL);
}

/*
 * The vCPU may run, and even move, meanwhile; then it looks after itself. perf tells
 * the events of a thread nothing while it sleeps: they get it when it has run again.
 */
static void sweep_vcpu(struct kvm_trace_vcpu *v, void *unused)
{
	struct kvm_trace_buffer *buffer = buffer_of(v);
	u64 clock = READ_ONCE(kvm_trace_clock);
	int cpu = READ_ONCE(buffer->cpu);

	if (cpu == KVM_TRACE_NO_CPU || !READ_ONCE(buffer->batch.event.count))
		return;
	if (clock == READ_ONCE(buffer->clock) &&
	    (s64)(kvm_trace_stamp(clock) - READ_ONCE(buffer->old)) < 0)
		return;
	if (READ_ONCE(buffer->held) && !atomic_read(&wide_consumers))
		return;
	if (!smp_call_function_single(cpu, sweep_on_cpu, v, true))
		return;
	/* That CPU is off. If it is just coming, then by the next sweep. */
	if (only_threads_listen() || !cpus_read_trylock())
		return;
	emit_if_off(v, NULL);
	cpus_read_unlock();
}

static void sweep_left_behind(void *unused)
{
	emit_left_behind(smp_processor_id());
}

/* Of a CPU that is off, by anyone: one takes them all. */
static void sweep_all_left_behind(void)
{
	unsigned long irq;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (llist_empty(per_cpu_ptr(&left_behind, cpu)) ||
		    !smp_call_function_single(cpu, sweep_left_behind, NULL, true))
			continue;
		local_irq_save(irq);
		emit_left_behind(cpu);
		local_irq_restore(irq);
	}
}

static void sweep(struct work_struct *work)
{
	pool_fill();
	sweep_all_left_behind();
	kvm_trace_vcpu_for_each(sweep_vcpu, NULL);
	queue_delayed_work(kvm_trace_wq, &sweep_work,
			   msecs_to_jiffies(KVM_TRACE_BATCH_AGE_MS));
}

static void set_started(bool on)
{
	raw_spin_lock_irq(&pool_lock);
	started = on;
	raw_spin_unlock_irq(&pool_lock);
}

/**
 * kvm_trace_batch_start() - somebody wants batches
 *
 * Context: process context, hooks.c's lock held.
 * Return: 0, or -ENOMEM
 */
int kvm_trace_batch_start(void)
{
	int ret;

	if (started)
		return 0;
	ret = pool_fill();
	if (ret) {
		pool_drain();
		return ret;
	}
	kvm_trace_vcpu_for_each(forget_lost, NULL);
	set_started(true);
	queue_delayed_work(kvm_trace_wq, &sweep_work,
			   msecs_to_jiffies(KVM_TRACE_BATCH_AGE_MS));
	return 0;
}

static void drop_left_behind(void)
{
	struct kvm_trace_buffer *buffer, *next;
	int cpu;

	for_each_possible_cpu(cpu) {
		llist_for_each_entry_safe(buffer, next,
					  llist_del_all(per_cpu_ptr(&left_behind,
								    cpu)),
					  left)
			free_left_behind(buffer);
	}
}

static void drop_buffer(struct kvm_trace_vcpu *v, void *unused)
{
	kvm_trace_batch_free(xchg(&v->buffer, &kvm_trace_no_buffer));
}

/**
 * kvm_trace_batch_stop() - nobody wants batches any more
 *
 * Context: process context, hooks.c's lock held. Probes may still run, and a raw
 * tracepoint of BPF's may want batches again: kvm_trace_batch_start() follows.
 */
void kvm_trace_batch_stop(void)
{
	if (!started)
		return;
	set_started(false);
	cancel_delayed_work_sync(&sweep_work);
	cancel_work_sync(&refill_work);
	/* Who has just taken a buffer has put it where it is found. */
	tracepoint_synchronize_unregister();
	kvm_trace_vcpu_for_each(drop_buffer, NULL);
	drop_left_behind();
	pool_drain();
}

/**
 * kvm_trace_batch_init() - once, at module load
 *
 * Return: 0, or -ENOMEM
 */
int kvm_trace_batch_init(void)
{
	buffer_cache = kmem_cache_create("kvm_trace_buffer",
					 sizeof(struct kvm_trace_buffer), 0,
					 SLAB_HWCACHE_ALIGN | SLAB_NO_MERGE,
					 NULL);
	return buffer_cache ? 0 : -ENOMEM;
}

/**
 * kvm_trace_batch_exit() - once, at module unload; no state is left
 */
void kvm_trace_batch_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(buffer_cache);
}
