// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collects a round trip from VM exit to VM entry and makes its record. All of
 * it runs in the vCPU's own thread; nothing here is shared between vCPUs but
 * what users set.
 */
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "batch.h"
#include "detail.h"
#include "events.h"
#include "events_batch.h"
#include "hypercall.h"
#include "path.h"
#include "perf.h"
#include "roundtrip.h"
#include "stamp.h"
#include "vcpu.h"

/* Words that need local_clock() at the entry. */
#define TIME_WORDS	(KVM_TRACE_W_GUEST_NS | KVM_TRACE_W_ENTRY_NS)

/* Least time between vcpu records that tell of a change of the TSC. */
#define TSC_CHANGE_JIFFIES	(HZ / 10)

u64 kvm_trace_words __read_mostly;
u64 kvm_trace_vmexit_words __read_mostly = KVM_TRACE_WORDS_DEFAULT;
unsigned long long kvm_trace_min_host_ns __read_mostly;

/* On if what the key says is asked for, and nothing else. */
static DEFINE_STATIC_KEY_FALSE(only_perf);
static DEFINE_STATIC_KEY_FALSE(only_batches);
static DEFINE_MUTEX(asked_lock);
static unsigned long asked;	/* BIT(KVM_TRACE_ASK_*) */

/* Grows with every consumer, who then gets the vcpu records again. */
static atomic_t consumers = ATOMIC_INIT(0);

/* Round trips without state on this CPU, not yet told. */
struct lost {
	u64 count;
	u64 since;
};

static DEFINE_PER_CPU(struct lost, lost_no_state);

static void set_key(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

/**
 * kvm_trace_ask() - something is asked of round trips, or no longer
 * @what: it
 * @on:   it is
 *
 * Usual round trips go a short way where that gives all that is asked for.
 *
 * Context: process context. When it returns, no round trip ends otherwise.
 */
void kvm_trace_ask(enum kvm_trace_ask what, bool on)
{
	mutex_lock(&asked_lock);
	if (on)
		asked |= BIT(what);
	else
		asked &= ~BIT(what);
	set_key(&only_perf, asked == BIT(KVM_TRACE_ASK_PERF));
	set_key(&only_batches, asked == BIT(KVM_TRACE_ASK_BATCHES));
	mutex_unlock(&asked_lock);
}

/**
 * kvm_trace_new_consumer() - give every vCPU a reason for a vcpu record
 *
 * Context: any.
 */
void kvm_trace_new_consumer(void)
{
	atomic_inc(&consumers);
}

/**
 * kvm_trace_forget_lost() - losses so far are nobody's
 *
 * Context: before the first probe is attached: who comes now did not see them.
 */
void kvm_trace_forget_lost(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(lost_no_state, cpu).count = 0;
}

static void note_lost(void)
{
	struct lost *lost = this_cpu_ptr(&lost_no_state);

	if (!lost->count++)
		lost->since = local_clock();
}

static void tell_lost(u32 vm, u16 vcpu)
{
	struct lost *lost = this_cpu_ptr(&lost_no_state);

	if (!lost->count)
		return;
	if (trace_lost_enabled())
		trace_lost(lost->count, lost->since, vm, vcpu,
			   KVM_TRACE_LOST_NO_STATE);
	lost->count = 0;
}

static __always_inline void begin_round_trip(struct kvm_trace_vcpu *v,
					     struct kvm_vcpu *vcpu,
					     enum kvm_trace_where where)
{
	struct kvm_trace_exit *exit = &v->exit;

	if (v->record.isa == KVM_TRACE_ISA_SVM)
		kvm_trace_read_svm(vcpu, v->want, exit);
	else
		kvm_trace_read_vmx(vcpu, v->want, exit);
	/* KVM fires the event with interrupts off, unless it does so late. */
	if (unlikely(!irqs_disabled()))
		exit->flags |= KVM_TRACE_F_LATE_STAMP;
	if (unlikely(vcpu->arch.hflags & HF_GUEST_MASK)) {
		exit->flags |= KVM_TRACE_F_NESTED;
		if (exit->class == KVM_TRACE_CLASS_hypercall)
			kvm_trace_hypercall_nested(v);
	}

	if (where == KVM_TRACE_IN_HOST_FIRST) {
		/* Recording began in the guest: what KVM counted is not ours. */
		kvm_trace_vcpu_sync_counts(v);
		/* A late kvm_exit comes when KVM has counted it. */
		if (exit->flags & KVM_TRACE_F_LATE_STAMP)
			v->exits_before--;
		kvm_trace_path_restart(v);
	}
	/* What "pending" shows is there before it looks. */
	smp_store_release(&v->where, where);
}

static noinline void begin_first_round_trip(struct kvm_trace_vcpu *v,
					    struct kvm_vcpu *vcpu)
{
	v->want = READ_ONCE(kvm_trace_words);
	begin_round_trip(v, vcpu, KVM_TRACE_IN_HOST_FIRST);
}

/* Whether the last stamp is of another clock, not only of another rate. */
static __always_inline bool other_clock(const struct kvm_trace_vcpu *v, u64 clock)
{
	return (v->clock ^ clock) & KVM_TRACE_CLOCK_TSC;
}

/*
 * An exit of any kind; @stamp counts if the clock is the TSC. Arguments are where the
 * probe has them, which moves none then; __used keeps the compiler from moving them.
 */
static noinline __used void exit_any(void *data, struct kvm_vcpu *vcpu, u64 stamp)
{
	struct kvm_trace_vcpu *v = this_cpu_read(kvm_trace_vcpu_last);
	u64 clock = READ_ONCE(kvm_trace_clock);

	if (unlikely(!(clock & KVM_TRACE_CLOCK_TSC)))
		stamp = local_clock();
	if (unlikely(v->vcpu != vcpu)) {
		v = kvm_trace_vcpu_get(vcpu);
		if (!v) {
			note_lost();
			return;
		}
	}
	/* Batches begin at the entry, whose stamp would be of the former clock. */
	if (unlikely(other_clock(v, clock)))
		v->entry_stamp = stamp;
	/* Nobody looks at them before where says that the vCPU is in the host. */
	v->clock = clock;
	v->exit_stamp = stamp;
	if (likely(v->where == KVM_TRACE_IN_GUEST ||
		   v->where == KVM_TRACE_IN_GUEST_USUAL))
		begin_round_trip(v, vcpu, KVM_TRACE_IN_HOST);
	else
		begin_first_round_trip(v, vcpu);
}

/* An exit that @read_usual reads, unless it is a rare one. */
static __always_inline void
on_exit(void *data, struct kvm_vcpu *vcpu,
	bool (*read_usual)(struct kvm_vcpu *vcpu, struct kvm_trace_vmexit *record))
{
	u64 stamp = rdtsc();
	struct kvm_trace_vcpu *v = this_cpu_read(kvm_trace_vcpu_last);

	if (unlikely(v->vcpu != vcpu || v->where != KVM_TRACE_IN_GUEST_USUAL ||
		     !read_usual(vcpu, &v->record))) {
		exit_any(data, vcpu, stamp);
		return;
	}
	v->exit_stamp = stamp;
	/* As in begin_round_trip(). */
	smp_store_release(&v->where, KVM_TRACE_IN_HOST_USUAL);
}

/**
 * kvm_trace_on_exit_svm() - probe of kvm_exit where the CPU has SVM
 * @data: not used
 * @vcpu: the vCPU that left its guest
 * @isa:  not used
 *
 * Calls are the last thing that it does, so that it saves no registers.
 *
 * Context: @vcpu's thread, interrupts off; before 6.12 only preemption.
 */
notrace void kvm_trace_on_exit_svm(void *data, struct kvm_vcpu *vcpu, u32 isa)
{
	on_exit(data, vcpu, kvm_trace_read_svm_usual);
}

/**
 * kvm_trace_on_exit_vmx() - probe of kvm_exit where the CPU has VMX
 * @data: not used
 * @vcpu: the vCPU that left its guest
 * @isa:  not used
 *
 * Context: @vcpu's thread, interrupts off.
 */
notrace void kvm_trace_on_exit_vmx(void *data, struct kvm_vcpu *vcpu, u32 isa)
{
	on_exit(data, vcpu, kvm_trace_read_vmx_usual);
}

/* Whether a statistic of KVM grew since it was last asked; it may be reset. */
static __always_inline bool grew(u64 *last, u64 now)
{
	if (likely(now == *last))
		return false;
	if (unlikely(now < *last)) {
		*last = now;
		return false;
	}
	*last = now;
	return true;
}

/* Whether the vCPU's thread was switched out, or another one runs it now. */
static __always_inline u16 flags_of_scheduling(struct kvm_trace_vcpu *v)
{
	unsigned long switches = current->nvcsw + current->nivcsw;
	u16 flags = KVM_TRACE_F_SCHED_OUT;
	bool moved;
	int cpu;

	if (likely(READ_ONCE(v->tid) == current->pid && v->switches == switches))
		return 0;
	/* As kvm_trace_vcpu_moved() leaves it. */
	moved = v->switches == ULONG_MAX;
	if (v->tid != current->pid) {
		kvm_trace_vcpu_set_thread(v);
		moved = true;
	}
	v->switches = switches;
	cpu = raw_smp_processor_id();
	if (v->cpu != cpu) {
		flags |= KVM_TRACE_F_MOVED_CPU;
		moved = true;
	}
	if (moved)
		kvm_trace_batch_moved(v, cpu);
	v->cpu = cpu;
	return flags;
}

/* Whether somebody wants vmexit records. */
static __always_inline bool vmexit_wanted(void)
{
	return trace_vmexit_enabled() || kvm_trace_perf_wants_vmexit();
}

/* @flags and what KVM's statistics say happened since the last entry. */
static __always_inline u32 add_counts(struct kvm_trace_vcpu *v,
				      const struct kvm_vcpu_stat *stat, u32 flags)
{
	if (grew(&v->mmio_exits, stat->mmio_exits))
		flags |= KVM_TRACE_F_MMIO;
	if (grew(&v->halt_exits, stat->halt_exits))
		flags |= KVM_TRACE_F_HALTED;
	if (grew(&v->pf_fixed, stat->pf_fixed))
		flags |= KVM_TRACE_F_PAGE_FAULT;
	if (grew(&v->insn_emulation, stat->insn_emulation))
		flags |= KVM_TRACE_F_EMULATED;
	if (grew(&v->injections, stat->irq_injections + stat->nmi_injections))
		flags |= KVM_TRACE_F_INJECTED;
	return flags;
}

/*
 * Of the words that were collected for vmexit records and batches, those that the
 * one or the other may hold.
 */
static u64 words_of(const struct kvm_trace_exit *exit, u64 chosen)
{
	u64 words = chosen | KVM_TRACE_W_REASON_HI | KVM_TRACE_W_UNTRACED;

#define WIDE_TIME(narrow, wide)	| (chosen & (narrow) ? (wide) : 0)
	words |= 0 KVM_TRACE_WORDS_OF_TIME(WIDE_TIME);
#undef WIDE_TIME
	if (exit->word[KVM_TRACE_BIT(KVM_TRACE_W_FLAGS_HI)] &
	    KVM_TRACE_F2_PARTIAL)
		words |= KVM_TRACE_W_FLAGS_HI;
	return exit->words & words;
}

static noinline void put_words(struct kvm_trace_vcpu *v)
{
	struct kvm_trace_vmexit *record = &v->record;
	u64 words = trace_vmexits_enabled() ?
		words_of(&v->exit, READ_ONCE(kvm_trace_vmexit_words)) :
		v->exit.words;
	bool more = words & KVM_TRACE_W_FLAGS_HI;
	u8 *p = record->tail;

	if (!words)
		return;

	if (words >> 32) {
		p = kvm_trace_put_32(p, words | KVM_TRACE_W_NEXT_MASK);
		p = kvm_trace_put_32(p, words >> 32);
	} else {
		p = kvm_trace_put_32(p, words);
	}
	while (words) {
		unsigned int bit = __ffs64(words);

		words &= words - 1;
		kvm_trace_put_64(p, v->exit.word[bit]);
		p += KVM_TRACE_W_SIZE(bit);
	}
	record->tail_loc = (p - record->tail) << 16 | KVM_TRACE_VMEXIT_SIZE;
	if (more)
		record->flags |= KVM_TRACE_F_MORE;
	/* A perf sample is a multiple of eight bytes: nothing stale at its end. */
	kvm_trace_put_64(p, 0);
}

/* The words that are known only now. */
static noinline void put_entry_words(struct kvm_trace_vcpu *v, u64 host_ns,
				     u64 guest_ns, u64 entry_ns,
				     bool immediate_exit)
{
	struct kvm_trace_exit *exit = &v->exit;
	struct kvm_vcpu *vcpu = v->vcpu;
	bool same_level = !(vcpu->arch.hflags & HF_GUEST_MASK) ==
			  !(exit->flags & KVM_TRACE_F_NESTED);
	u64 want = v->want;

	if (want & KVM_TRACE_W_ENTRY_NS)
		kvm_trace_set_word(exit, KVM_TRACE_W_ENTRY_NS, entry_ns);
	if ((want & KVM_TRACE_W_GUEST_NS) && v->where == KVM_TRACE_IN_HOST)
		kvm_trace_set_word(exit, guest_ns >> 32 ?
				   KVM_TRACE_W_GUEST_NS_64 :
				   KVM_TRACE_W_GUEST_NS, guest_ns);
	if (!same_level)
		exit->words &= ~KVM_TRACE_W_HYPERCALL;
	else if ((want & KVM_TRACE_WORDS_RESULTS) &&
		 !(exit->flags & KVM_TRACE_F_PROTECTED))
		kvm_trace_detail_entry(vcpu, want, v->record.isa, exit);
	if (want & KVM_TRACE_WORDS_OF_PATH)
		kvm_trace_path_entry(v, want, host_ns, immediate_exit);
}

/* What any kind of record needs: the rest of the words, and all flags but MORE. */
static __always_inline u16 all_flags(struct kvm_trace_vcpu *v,
				     const struct kvm_vcpu *vcpu, u16 flags)
{
	/* It falls if somebody has reset KVM's statistics. */
	s64 untraced = vcpu->stat.exits - v->exits_before - v->record.seq;

	if (unlikely(vcpu->arch.hflags & HF_GUEST_MASK))
		flags |= KVM_TRACE_F_NESTED_ENTRY;
	if (unlikely(untraced) && untraced >= -1)
		kvm_trace_set_word(&v->exit, KVM_TRACE_W_UNTRACED,
				   min_t(s64, untraced, S32_MAX));
	return flags | v->exit.flags | v->path_flags;
}

static __always_inline void emit_vmexit(struct kvm_trace_vcpu *v, u64 host_ns,
					u16 flags)
{
	struct kvm_trace_vmexit *record = &v->record;

	record->host_ns = host_ns;
	record->reason = v->exit.reason;
	record->flags = flags;
	record->class = v->exit.class;
	if (v->exit.words)
		put_words(v);
	trace_vmexit(record);
	if (kvm_trace_perf_wants_vmexit())
		kvm_trace_perf_vmexit(v, kvm_trace_vmexit_tail_len(record));
}

static noinline void batch(struct kvm_trace_vcpu *v, u64 clock, u64 from,
			   u64 stamp, u64 host_ns, u16 flags, bool odd,
			   const struct kvm_trace_hypercall_record *call)
{
	struct kvm_trace_batch_trip trip = {
		.words = v->exit.words,
		.word = v->exit.word,
		.from = from,
		.exit = v->exit_stamp,
		.entry = stamp,
		.host_ns = host_ns,
		.seq = v->record.seq,
		.odd = odd,
	};

	if (unlikely(other_clock(v, clock))) {
		trip.from = stamp;
		trip.exit = stamp;
	}
	if (trip.words && vmexit_wanted())
		trip.words = words_of(&v->exit, READ_ONCE(kvm_trace_batch_words));
	if (trip.words & KVM_TRACE_W_FLAGS_HI)
		flags |= KVM_TRACE_F_MORE;
	trip.key = kvm_trace_batch_key(v->exit.reason, flags, v->exit.class);
	kvm_trace_batch_add(v, clock, v->where != KVM_TRACE_IN_HOST_FIRST,
			    &trip, call);
}

/*
 * KVM entered and never fired kvm_exit: the entry failed. All that is known is
 * that it did, and when it was tried again: the whole time since counts as
 * host time.
 */
static noinline void note_failed_entry(struct kvm_trace_vcpu *v)
{
	v->exit.reason = KVM_TRACE_REASON_NONE;
	v->exit.class = KVM_TRACE_CLASS_entry_failure;
	v->exit.flags = KVM_TRACE_F_ENTRY_FAILED;
	v->exit.flags_hi = 0;
	v->exit_stamp = v->entry_stamp;
}

static noinline void emit_vcpu(struct kvm_trace_vcpu *v, u32 generation)
{
	const struct kvm_vcpu_arch *arch = &v->vcpu->arch;
	struct kvm_trace_vcpu_record record = {
		.tsc_offset = arch->l1_tsc_offset,
		.tsc_ratio = arch->l1_tsc_scaling_ratio,
		.vm = v->vm->id,
		.seq = v->record.seq,
		.vmm_pid = v->vm->pid,
		.vmm_tid = current->pid,
		.generation = generation,
		.vcpu = v->vcpu->vcpu_id,
		.isa = v->record.isa,
	};

	v->generation = generation;
	v->vcpu_jiffies = jiffies;
	v->vcpu_tid = current->pid;
	v->tsc_offset = arch->l1_tsc_offset;
	v->tsc_ratio = arch->l1_tsc_scaling_ratio;
	strscpy(record.name, v->vm->name, sizeof(record.name));
	strscpy(record.vmm, current->group_leader->comm, sizeof(record.vmm));
	trace_vcpu(&record);
	v->vcpu_owed = trace_vmexits_enabled() &&
		       !kvm_trace_batch_vcpu(v, &record);
}

/*
 * Emits a vcpu record if one is due. Not at every change of the TSC offset: on
 * a host with an unstable TSC, KVM changes it each time it loads the vCPU.
 */
static void check_vcpu_record(struct kvm_trace_vcpu *v)
{
	const struct kvm_vcpu_arch *arch = &v->vcpu->arch;
	u32 generation = atomic_read(&consumers);
	unsigned long age = jiffies - v->vcpu_jiffies;

	if (likely(v->generation == generation &&
		   (!v->vcpu_owed || v->buffer == &kvm_trace_no_buffer) &&
		   v->vcpu_tid == current->pid &&
		   ((v->tsc_offset == arch->l1_tsc_offset &&
		     v->tsc_ratio == arch->l1_tsc_scaling_ratio) ||
		    age < TSC_CHANGE_JIFFIES) &&
		   age < KVM_TRACE_VCPU_PERIOD_S * HZ))
		return;
	emit_vcpu(v, generation);
}

/* Whether the next exit may go the short way: it can be nothing but usual. */
static __always_inline bool exit_will_be_usual(const struct kvm_trace_vcpu *v,
					       const struct kvm_vcpu *vcpu,
					       u64 clock)
{
	return (v->where == KVM_TRACE_IN_HOST ||
		v->where == KVM_TRACE_IN_HOST_FIRST) &&
	       !v->want && (clock & KVM_TRACE_CLOCK_TSC) &&
	       !(v->exit.flags & (KVM_TRACE_F_LATE_STAMP |
				  KVM_TRACE_F_PROTECTED)) &&
	       !(vcpu->arch.hflags & HF_GUEST_MASK);
}

/* Compiled twice: without words @next and v->want are known to be 0. */
static __always_inline void end_round_trip(struct kvm_trace_vcpu *v,
					   const struct kvm_vcpu *vcpu,
					   u64 clock, u64 stamp, u64 want,
					   u64 next, bool immediate_exit)
{
	const struct kvm_trace_hypercall_record *call = NULL;
	s64 host_ns, guest_ns = 0;
	u64 from, now = 0;
	bool odd = false;
	u16 flags;

	if ((next | want) & TIME_WORDS)
		now = local_clock();
	if (unlikely(v->where == KVM_TRACE_IN_GUEST))
		note_failed_entry(v);
	host_ns = kvm_trace_ns(clock, v->exit_stamp, stamp);
	from = v->entry_stamp;
	v->entry_stamp = stamp;
	flags = flags_of_scheduling(v);
	if (unlikely(host_ns < 0 || other_clock(v, clock))) {
		flags |= KVM_TRACE_F_CLAMPED;
		host_ns = 0;
		odd = true;
	}
	if (trace_vcpu_enabled() || trace_vmexits_enabled())
		check_vcpu_record(v);
	flags = add_counts(v, &vcpu->stat, flags);
	if (unlikely(v->where == KVM_TRACE_UNSEEN)) {
		tell_lost(v->vm->id, vcpu->vcpu_id);
		goto entered;
	}

	if (now && v->entry_ns) {
		guest_ns = now - v->entry_ns - host_ns;
		if (unlikely(guest_ns < 0 || v->where == KVM_TRACE_IN_GUEST)) {
			/* The sum stays right, only the division may not be. */
			if (v->where != KVM_TRACE_IN_GUEST)
				flags |= KVM_TRACE_F_CLAMPED;
			now = max(now, v->entry_ns);
			host_ns = now - v->entry_ns;
			guest_ns = 0;
			odd = true;
		}
	}
	if (host_ns >= READ_ONCE(kvm_trace_min_host_ns)) {
		if (v->hypercall.state != KVM_TRACE_CALL_NONE)
			call = kvm_trace_hypercall_done(v, host_ns);
		if (vmexit_wanted() || trace_vmexits_enabled()) {
			if (want)
				put_entry_words(v, host_ns, guest_ns, now,
						immediate_exit);
			flags = all_flags(v, vcpu, flags);
			if (vmexit_wanted())
				emit_vmexit(v, host_ns, flags);
			if (trace_vmexits_enabled())
				batch(v, clock, from, stamp, host_ns, flags,
				      odd, call);
		}
	} else {
		v->hypercall.state = KVM_TRACE_CALL_NONE;
	}
	v->record.seq++;
entered:
	v->exits_before = vcpu->stat.exits + 1 - v->record.seq;
	v->path_flags = 0;
	v->exit.words = 0;
	if (next != want)
		v->want = next;
	if (next & KVM_TRACE_WORDS_OF_PATH)
		kvm_trace_path_restart(v);
	/* Of no use to a round trip that does not want it. */
	v->entry_ns = next ? now : 0;
	v->clock = clock;
	v->mult = clock >> 32;
	v->shift = clock & KVM_TRACE_CLOCK_SHIFT;
	/* The short way does not touch it. */
	v->record.tail_loc = KVM_TRACE_VMEXIT_SIZE;
	/* And is not changed while it looks without that it can tell. */
	smp_store_release(&v->where, exit_will_be_usual(v, vcpu, clock) ?
			  KVM_TRACE_IN_GUEST_USUAL : KVM_TRACE_IN_GUEST);
}

static noinline void end_round_trip_with_words(struct kvm_trace_vcpu *v,
					       const struct kvm_vcpu *vcpu,
					       u64 clock, u64 stamp, u64 next,
					       bool immediate_exit)
{
	end_round_trip(v, vcpu, clock, stamp, v->want, next, immediate_exit);
}

/* An entry of any kind; @stamp counts if the clock is the TSC. */
static noinline void entry_any(bool immediate_exit, struct kvm_vcpu *vcpu,
			       u64 stamp)
{
	struct kvm_trace_vcpu *v = this_cpu_read(kvm_trace_vcpu_last);
	u64 clock = READ_ONCE(kvm_trace_clock);
	u64 next = READ_ONCE(kvm_trace_words);

	if (unlikely(!(clock & KVM_TRACE_CLOCK_TSC)))
		stamp = local_clock();
	if (unlikely(v->vcpu != vcpu)) {
		v = kvm_trace_vcpu_get(vcpu);
		if (!v) {
			tell_lost(0, vcpu->vcpu_id);
			return;
		}
	}
	kvm_trace_vcpu_go_long_way(v);
	if (unlikely(v->where == KVM_TRACE_IN_GUEST_USUAL))
		WRITE_ONCE(v->where, KVM_TRACE_IN_GUEST);
	if (unlikely(next | v->want))
		end_round_trip_with_words(v, vcpu, clock, stamp, next,
					  immediate_exit);
	else
		end_round_trip(v, vcpu, clock, stamp, 0, 0, false);
}

/* Whether a round trip, whose exit went the short way, may end on it as well. */
static __always_inline bool ends_usual(const struct kvm_trace_vcpu *v,
				       const struct kvm_vcpu *vcpu, u64 stamp)
{
	return likely(v->vcpu == vcpu && v->where == KVM_TRACE_IN_HOST_USUAL &&
		      stamp - v->exit_stamp <= S32_MAX &&
		      (u32)(vcpu->stat.exits - v->exits_before) ==
		      v->record.seq &&
		      READ_ONCE(v->tid) == current->pid &&
		      v->switches == current->nvcsw + current->nivcsw &&
		      !(vcpu->arch.hflags & HF_GUEST_MASK));
}

/* As the end of end_round_trip(). */
static __always_inline void entered_usual(struct kvm_trace_vcpu *v, u64 stamp)
{
	v->path_flags = 0;
	v->entry_stamp = stamp;
	/* As there. */
	smp_store_release(&v->where, KVM_TRACE_IN_GUEST_USUAL);
}

static noinline void entry_for_batches(bool immediate_exit,
				       struct kvm_vcpu *vcpu, u64 stamp)
{
	struct kvm_trace_vcpu *v = this_cpu_read(kvm_trace_vcpu_last);
	struct kvm_trace_buffer *buffer = v->buffer;
	u16 flags;

	if (!ends_usual(v, vcpu, stamp) ||
	    unlikely(buffer->about || buffer->clock != v->clock))
		goto any;
	flags = add_counts(v, &vcpu->stat, v->record.flags | v->path_flags);
	if (unlikely(!kvm_trace_batch_put_fast(&buffer->batch,
					       kvm_trace_batch_key(v->record.reason,
								   flags,
								   v->record.class),
					       v->exit_stamp, stamp,
					       v->record.seq))) {
		v->path_flags = flags;
		goto any;
	}
	entered_usual(v, stamp);
	v->record.seq++;
	if (unlikely(kvm_trace_batch_ripe(buffer, stamp)))
		kvm_trace_batch_emit(buffer);
	return;
any:
	entry_any(immediate_exit, vcpu, stamp);
}

/**
 * kvm_trace_on_entry() - probe of kvm_entry
 * @data:                 not used
 * @vcpu:                 the vCPU that is about to enter its guest
 * @force_immediate_exit: whether KVM asks for an exit at once
 *
 * A round trip of the kind that most are of goes the short way: end_round_trip()
 * of it is the same, for twice as much. Here too calls are the last thing.
 *
 * Context: @vcpu's thread, interrupts off.
 */
notrace void kvm_trace_on_entry(void *data, struct kvm_vcpu *vcpu,
				bool force_immediate_exit)
{
	u64 stamp = rdtsc();
	struct kvm_trace_vcpu *v = this_cpu_read(kvm_trace_vcpu_last);

	if (!static_branch_unlikely(&only_perf))
		goto not_perf;
	if (!ends_usual(v, vcpu, stamp))
		goto any;
	v->record.host_ns = ((stamp - v->exit_stamp) * v->mult) >> v->shift;
	v->record.flags = add_counts(v, &vcpu->stat,
				     v->record.flags | v->path_flags);
	entered_usual(v, stamp);
	kvm_trace_perf_vmexit(v, 0);
	v->record.seq++;
	return;
not_perf:
	if (static_branch_unlikely(&only_batches)) {
		entry_for_batches(force_immediate_exit, vcpu, stamp);
		return;
	}
any:
	entry_any(force_immediate_exit, vcpu, stamp);
}

static u32 user_reason(u32 reason, int error)
{
	u32 value = reason & KVM_TRACE_USER_REASON_EXIT;

	if (error < 0)
		value |= (u32)-error << KVM_TRACE_USER_REASON_ERRNO_SHIFT;
	return value;
}

/* Ends the probe, too. Arguments as of exit_any(). */
static noinline __used void note_user_exit(void *data, u32 reason, int error)
{
	struct kvm_trace_vcpu *v = kvm_trace_vcpu_of_current();

	if (v) {
		v->path_flags |= KVM_TRACE_F_USERSPACE;
		if (v->want & KVM_TRACE_W_USER_REASON)
			kvm_trace_set_word(&v->exit, KVM_TRACE_W_USER_REASON,
					   user_reason(reason, error));
	}
	kvm_trace_probe_end();
}

/**
 * kvm_trace_on_userspace_exit() - probe of kvm_userspace_exit
 * @data:   not used
 * @reason: KVM_EXIT_*
 * @error:  0, or the error that KVM_RUN returns
 *
 * Context: the vCPU's thread, about to leave KVM_RUN; may sleep.
 */
notrace void kvm_trace_on_userspace_exit(void *data, u32 reason, int error)
{
	struct kvm_trace_vcpu *v;

	kvm_trace_probe_begin();
	v = this_cpu_read(kvm_trace_vcpu_last);
	if (unlikely(READ_ONCE(v->tid) != current->pid || v->want)) {
		note_user_exit(data, reason, error);
		return;
	}
	v->path_flags |= KVM_TRACE_F_USERSPACE;
	kvm_trace_probe_end();
}
