// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collects what happens between an exit and the entry and is not in the
 * registers: parts of the host time, injections, accesses of devices, flags.
 * All of it runs in the vCPU's own thread, while the vCPU is loaded.
 */
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "hypercall.h"
#include "path.h"
#include "stamp.h"

/* Of kvm_mmio's argument "type", include/trace/events/kvm.h: no data yet. */
#define MMIO_READ_UNSATISFIED	0
#define MMIO_WRITE		2

u32 kvm_trace_words_generation;

/*
 * The round trip that a probe without a vCPU argument belongs to, or NULL.
 * Preemption is off until kvm_trace_probe_end().
 */
static struct kvm_trace_vcpu *enter(void)
{
	struct kvm_trace_vcpu *v;

	kvm_trace_probe_begin();
	v = kvm_trace_vcpu_loaded();
	return v && v->where != KVM_TRACE_UNSEEN ? v : NULL;
}

/* Growth of a count; a statistic may be reset, a thread's id used again. */
static u64 growth(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

static u64 run_delay(void)
{
#ifdef CONFIG_SCHED_INFO
	return current->sched_info.run_delay;
#else
	return 0;
#endif
}

/* Adds what the current thread has waited since it was last asked here. */
static void count_run_delay(struct kvm_trace_vcpu *v)
{
	u64 now = run_delay();

	if (v->path.run_tid == current->pid)
		v->path.runnable_ns += growth(v->path.run_delay, now);
	v->path.run_tid = current->pid;
	v->path.run_delay = now;
}

/**
 * kvm_trace_on_fpu() - probe of kvm_fpu
 * @data: not used
 * @load: 1 when KVM_RUN begins, 0 when it is about to return
 *
 * Context: the vCPU's thread; may be preemptible.
 */
void kvm_trace_on_fpu(void *data, int load)
{
	u64 clock = READ_ONCE(kvm_trace_clock);
	u64 stamp = kvm_trace_stamp(clock);
	struct kvm_trace_vcpu *v;

	kvm_trace_probe_begin();
	v = kvm_trace_vcpu_loaded();
	/* KVM_RUN may return without an entry: whose kvm_userspace_exit is next? */
	if (!v) {
		kvm_trace_vcpu_unbind_thread();
		goto out;
	}
	if (READ_ONCE(v->tid) != current->pid)
		kvm_trace_vcpu_moved(v);
	count_run_delay(v);
	if (!load) {
		v->path.user_stamp = stamp;
	} else if (v->path.user_stamp) {
		/* If the clock was changed, the record says so. */
		if (v->clock == clock)
			v->path.user_ns += max_t(s64, 0,
				kvm_trace_ns(clock, v->path.user_stamp, stamp));
		v->path.user_stamp = 0;
	}
out:
	kvm_trace_probe_end();
}

/**
 * kvm_trace_on_mmio() - probe of kvm_mmio
 * @data: not used
 * @type: 0 read that waits for its data, 1 read, 2 write
 * @len:  bytes
 * @gpa:  guest-physical address
 * @val:  what was read or written, or NULL
 *
 * Context: the vCPU's thread, handling the exit; may be preemptible.
 */
void kvm_trace_on_mmio(void *data, int type, int len, u64 gpa, void *val)
{
	struct kvm_trace_exit *exit;
	struct kvm_trace_vcpu *v;
	u32 mmio, count = 0;
	u64 want, value = 0;

	if (type == MMIO_READ_UNSATISFIED)
		return;
	v = enter();
	if (!v)
		goto out;
	want = v->want;
	exit = &v->exit;

	if (exit->words & KVM_TRACE_W_MMIO)
		count = exit->word[KVM_TRACE_BIT(KVM_TRACE_W_MMIO)] >>
			KVM_TRACE_MMIO_COUNT_SHIFT;
	mmio = (len & KVM_TRACE_MMIO_SIZE) |
	       min_t(u32, count + 1, U16_MAX) << KVM_TRACE_MMIO_COUNT_SHIFT;
	if (type == MMIO_WRITE)
		mmio |= KVM_TRACE_MMIO_WRITE;
	if (want & KVM_TRACE_W_MMIO)
		kvm_trace_set_word(exit, KVM_TRACE_W_MMIO, mmio);

	exit->words &= ~(KVM_TRACE_W_MMIO_GPA | KVM_TRACE_W_MMIO_VALUE);
	if ((want & KVM_TRACE_W_MMIO_GPA) &&
	    !((exit->words & KVM_TRACE_W_GPA) &&
	      exit->word[KVM_TRACE_BIT(KVM_TRACE_W_GPA)] == gpa))
		kvm_trace_set_word(exit, KVM_TRACE_W_MMIO_GPA, gpa);
	if ((want & KVM_TRACE_W_MMIO_VALUE) && val && len > 0) {
		memcpy(&value, val, min_t(size_t, len, sizeof(value)));
		kvm_trace_set_word(exit, KVM_TRACE_W_MMIO_VALUE, value);
	}
out:
	kvm_trace_probe_end();
}

/**
 * kvm_trace_on_pio() - probe of kvm_pio
 * @data:  not used
 * @rw:    0 for IN, 1 for OUT
 * @port:  first port
 * @size:  bytes of each element
 * @count: elements
 * @val:   what was read or written
 *
 * Only for what the registers do not tell: INS and OUTS, and I/O instructions
 * that KVM emulates after an exit for another reason.
 *
 * Context: the vCPU's thread, handling the exit; may be preemptible.
 */
void kvm_trace_on_pio(void *data, unsigned int rw, unsigned int port,
		      unsigned int size, unsigned int count, const void *val)
{
	struct kvm_trace_vcpu *v = enter();
	struct kvm_trace_exit *exit;
	u64 want, value = 0;
	u32 io;

	if (!v)
		goto out;
	want = v->want;
	exit = &v->exit;
	if (exit->class == KVM_TRACE_CLASS_io) {
		if (!(exit->io & KVM_TRACE_IO_STRING))
			goto out;
	} else if (want & KVM_TRACE_W_IO) {
		io = (port & U16_MAX) << KVM_TRACE_IO_PORT_SHIFT |
		     (size & KVM_TRACE_IO_SIZE);
		if (!rw)
			io |= KVM_TRACE_IO_IN;
		if (count > 1)
			io |= KVM_TRACE_IO_STRING | KVM_TRACE_IO_REP;
		kvm_trace_set_word(exit, KVM_TRACE_W_IO, io);
	}

	if (want & KVM_TRACE_W_IO_VALUE) {
		memcpy(&value, val, min_t(size_t, size, sizeof(u32)));
		kvm_trace_set_word(exit, KVM_TRACE_W_IO_VALUE, value);
	}
	v->path.io_count += count;
out:
	kvm_trace_probe_end();
}

static void set_flag(u32 flag)
{
	struct kvm_trace_vcpu *v = enter();

	if (v)
		v->path.flags_hi |= flag;
	kvm_trace_probe_end();
}

/**
 * kvm_trace_on_fast_mmio() - probe of kvm_fast_mmio
 * @data: not used
 * @gpa:  address that was written to
 *
 * Context: the vCPU's thread, handling the exit; may be preemptible.
 */
void kvm_trace_on_fast_mmio(void *data, u64 gpa)
{
	set_flag(KVM_TRACE_F2_FAST_MMIO);
}

/**
 * kvm_trace_on_async_pf() - probe of kvm_async_pf_not_present
 * @data:  not used
 * @token: not used
 * @gva:   not used
 *
 * Context: the vCPU's thread, handling the exit; may be preemptible.
 */
void kvm_trace_on_async_pf(void *data, u64 token, u64 gva)
{
	set_flag(KVM_TRACE_F2_ASYNC_PF);
}

/**
 * kvm_trace_on_reflect() - probe of kvm_nested_vmexit_inject
 * @data:         not used
 * @code:         bits 31:0 of the exit reason that the guest hypervisor gets
 * @info1:        not used
 * @info2:        not used
 * @int_info:     not used
 * @int_info_err: not used
 * @isa:          not used
 *
 * KVM tells so of exits of its own making too. The host's interrupts, NMIs and
 * timer are never handed on: such a code then means one of the guest's. VMX has
 * one code for all exceptions.
 *
 * Context: the vCPU's thread, handling the exit or injecting events; may be
 * preemptible.
 */
void kvm_trace_on_reflect(void *data, KVM_TRACE_EXIT_CODE code, u64 info1,
			  u64 info2, u32 int_info, u32 int_info_err, u32 isa)
{
	struct kvm_trace_vcpu *v = enter();
	const struct kvm_trace_exit *exit;

	if (!v)
		goto out;
	exit = &v->exit;
	if (!(exit->flags & KVM_TRACE_F_NESTED) ||
	    (u32)code != (u32)exit->reason)
		goto out;
	switch (exit->class) {
	case KVM_TRACE_CLASS_interrupt:
	case KVM_TRACE_CLASS_nmi:
	case KVM_TRACE_CLASS_preemption_timer:
		goto out;
	case KVM_TRACE_CLASS_exception:
		if (isa == KVM_TRACE_ISA_VMX && int_info != exit->event)
			goto out;
		break;
	}
	v->path.flags_hi |= KVM_TRACE_F2_REFLECTED;
	if (exit->class == KVM_TRACE_CLASS_hypercall)
		kvm_trace_hypercall_reflected(v);
out:
	kvm_trace_probe_end();
}

static u64 polled_ns(const struct kvm_vcpu *vcpu)
{
	return vcpu->stat.generic.halt_poll_success_ns +
	       vcpu->stat.generic.halt_poll_fail_ns;
}

/**
 * kvm_trace_path_restart() - a round trip begins, as far as the path goes
 * @v: the vCPU
 *
 * Context: @v's own thread, interrupts or preemption off.
 */
void kvm_trace_path_restart(struct kvm_trace_vcpu *v)
{
	const struct kvm_vcpu *vcpu = v->vcpu;

	v->path = (struct kvm_trace_path) {
		.run_delay = run_delay(),
		.run_tid = current->pid,
		.halt_wait_ns = vcpu->stat.generic.halt_wait_ns,
		.polled_ns = polled_ns(vcpu),
		.halt_successful_poll = vcpu->stat.generic.halt_successful_poll,
		.irq_injections = vcpu->stat.irq_injections,
		.nmi_injections = vcpu->stat.nmi_injections,
		.last_guest_tsc = vcpu->arch.last_guest_tsc,
		.generation = READ_ONCE(kvm_trace_words_generation),
	};
}

static void put_time(struct kvm_trace_exit *exit, u64 want, u64 word,
		     u64 word_64, u64 ns)
{
	if (!(want & word) || !ns)
		return;
	kvm_trace_set_word(exit, ns >> 32 ? word_64 : word, ns);
}

static void put_times(struct kvm_trace_vcpu *v, u64 want, u64 host_ns)
{
	u64 poll_ns = growth(v->path.polled_ns, polled_ns(v->vcpu));
	u64 halt_ns = growth(v->path.halt_wait_ns,
			     v->vcpu->stat.generic.halt_wait_ns) + poll_ns;
	u64 user_ns = 0;

	count_run_delay(v);
	/* KVM takes its statistics with another clock than ours. */
	if (v->path_flags & KVM_TRACE_F_USERSPACE)
		user_ns = min(v->path.user_ns, host_ns);
	halt_ns = min(halt_ns, host_ns - user_ns);

#define PUT_TIME(word, ns) \
	put_time(&v->exit, want, KVM_TRACE_W_##word, KVM_TRACE_W_##word##_64, ns)
	PUT_TIME(USER_NS, user_ns);
	PUT_TIME(HALT_NS, halt_ns);
	PUT_TIME(POLL_NS, min(poll_ns, halt_ns));
	PUT_TIME(RUNNABLE_NS, min(v->path.runnable_ns, host_ns));
#undef PUT_TIME
}

static void put_injections(struct kvm_trace_vcpu *v, u64 want)
{
	const struct kvm_vcpu_arch *arch = &v->vcpu->arch;
	u64 irqs = growth(v->path.irq_injections, v->vcpu->stat.irq_injections);
	u64 nmis = growth(v->path.nmi_injections, v->vcpu->stat.nmi_injections);
	u64 value;

	if (nmis)
		v->path.flags_hi |= KVM_TRACE_F2_INJECTED_NMI;
	if (!(want & KVM_TRACE_W_INJECTED) || !(irqs | nmis))
		return;
	value = min_t(u64, irqs, KVM_TRACE_INJECTED_IRQS) <<
			KVM_TRACE_INJECTED_IRQS_SHIFT |
		min_t(u64, nmis, KVM_TRACE_INJECTED_NMIS) <<
			KVM_TRACE_INJECTED_NMIS_SHIFT;
	/* An exception goes first, and the interrupt waits. */
	if (irqs && arch->interrupt.injected && !arch->exception.injected &&
	    !arch->nmi_injected)
		value |= KVM_TRACE_INJECTED_VEC | arch->interrupt.nr;
	kvm_trace_set_word(&v->exit, KVM_TRACE_W_INJECTED, value);
}

static void put_exception(struct kvm_trace_vcpu *v, u64 want)
{
	const struct kvm_queued_exception *exception =
		&v->vcpu->arch.exception;
	u64 value;

	if (!exception->injected)
		return;
	v->path.flags_hi |= KVM_TRACE_F2_INJECTED_EXCEPTION;
	if (!(want & KVM_TRACE_W_INJECTED_EXCEPTION))
		return;
	value = exception->vector;
	if (exception->has_error_code)
		value |= KVM_TRACE_EXCEPTION_ERR |
			 (u64)exception->error_code <<
			 KVM_TRACE_EXCEPTION_CODE_SHIFT;
	kvm_trace_set_word(&v->exit, KVM_TRACE_W_INJECTED_EXCEPTION, value);
}

static void put_io_count(struct kvm_trace_vcpu *v, u64 want)
{
	struct kvm_trace_exit *exit = &v->exit;
	u64 count = v->path.io_count;

	if (!(want & KVM_TRACE_W_IO_COUNT) || count == 1)
		return;
	if (count || (exit->class == KVM_TRACE_CLASS_io &&
		      (exit->io & KVM_TRACE_IO_STRING)))
		kvm_trace_set_word(exit, KVM_TRACE_W_IO_COUNT,
				   min_t(u64, count, U32_MAX));
}

/**
 * kvm_trace_path_entry() - the words of the path, now that it ends
 * @v:              the vCPU; kvm_trace_path_restart() was when it began
 * @want:           KVM_TRACE_W_* words that the record may need
 * @host_ns:        host time, which its parts add up to
 * @immediate_exit: KVM asked for an exit at once
 *
 * Context: kvm_entry tracepoint of @v's own thread.
 */
void kvm_trace_path_entry(struct kvm_trace_vcpu *v, u64 want, u64 host_ns,
			  bool immediate_exit)
{
	const struct kvm_vcpu *vcpu = v->vcpu;

	put_times(v, want, host_ns);
	put_injections(v, want);
	put_exception(v, want);
	put_io_count(v, want);
	if (v->path.generation != READ_ONCE(kvm_trace_words_generation))
		v->path.flags_hi |= KVM_TRACE_F2_PARTIAL;
	else if (!(want & KVM_TRACE_W_FLAGS_HI))
		return;

	v->path.flags_hi |= v->exit.flags_hi;
	if (growth(v->path.halt_successful_poll,
		   vcpu->stat.generic.halt_successful_poll))
		v->path.flags_hi |= KVM_TRACE_F2_HALT_POLL;
	/* KVM notes the guest's TSC when it leaves its inner loop. */
	if (v->where == KVM_TRACE_IN_HOST &&
	    !(v->path_flags & KVM_TRACE_F_USERSPACE) &&
	    v->path.last_guest_tsc == vcpu->arch.last_guest_tsc)
		v->path.flags_hi |= KVM_TRACE_F2_FASTPATH;
	/* A nested guest's is that of its own hypervisor. */
	if (!(vcpu->arch.hflags & HF_GUEST_MASK) &&
	    (v->record.isa == KVM_TRACE_ISA_SVM ?
	     kvm_trace_apicv_svm(v->vcpu) : kvm_trace_apicv_vmx()))
		v->path.flags_hi |= KVM_TRACE_F2_APICV;
	if (immediate_exit)
		v->path.flags_hi |= KVM_TRACE_F2_IMMEDIATE_EXIT;
	if (v->path.flags_hi)
		kvm_trace_set_word(&v->exit, KVM_TRACE_W_FLAGS_HI,
				   v->path.flags_hi);
}
