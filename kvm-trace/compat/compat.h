/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that the module is built for, and nothing
 * else. Asked for by symbol or field, not by version; what a preprocessor
 * cannot ask for, fields.mk asks.
 */
#ifndef _KVM_TRACE_COMPAT_H
#define _KVM_TRACE_COMPAT_H

#include <linux/bitops.h>
#include <linux/irq_work.h>
#include <linux/kvm_host.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/syscore_ops.h>

#include <asm/svm.h>

/*
 * "mm/slab: introduce kmem_cache flag SLAB_NO_MERGE" (Linux 6.5). Without it
 * our caches may be merged with others, which only makes /proc/slabinfo less
 * telling.
 */
#ifndef SLAB_NO_MERGE
#define SLAB_NO_MERGE 0
#endif

/*
 * "KVM: SVM: Treat exit_code as an unsigned 64-bit value through all of KVM",
 * between 6.12 and 7.3, made it so in kvm_nested_vmexit_inject too.
 */
#define KVM_TRACE_EXIT_CODE \
	typeof(((struct vmcb_control_area *)0)->exit_code)

/*
 * "KVM: x86/xen: Add CPL to Xen hypercall tracepoint" put a u8 before the other
 * arguments of kvm_xen_hypercall. It came together with this flag, between 6.1
 * and 6.12.
 */
#ifdef KVM_XEN_HVM_CONFIG_RUNSTATE_UPDATE_FLAG
#define KVM_TRACE_XEN_HYPERCALL_CPL 1
#else
#define KVM_TRACE_XEN_HYPERCALL_CPL 0
#endif

/*
 * RIP is one of arch.regs, and arch.regs_avail a word, up to 6.12; in 7.3 RIP is
 * apart, in arch.rip, regs_avail a bitmap, and its bits have other names.
 */
#ifdef KVM_TRACE_RIP_IN_REGS
#define kvm_trace_rip(vcpu)	((vcpu)->arch.regs[VCPU_REGS_RIP])
#define kvm_trace_rip_known(vcpu) \
	((vcpu)->arch.regs_avail & BIT(VCPU_REGS_RIP))
#define kvm_trace_cr3_known(vcpu) \
	((vcpu)->arch.regs_avail & BIT(VCPU_EXREG_CR3))
#else
#define kvm_trace_rip(vcpu)	((vcpu)->arch.rip)
#define kvm_trace_rip_known(vcpu) \
	test_bit(VCPU_REG_RIP, (vcpu)->arch.regs_avail)
#define kvm_trace_cr3_known(vcpu) \
	test_bit(VCPU_REG_CR3, (vcpu)->arch.regs_avail)
#endif

/* In 7.3, nested_ctl of the VMCB and its bits have other names than in 6.12. */
#ifdef SVM_MISC_ENABLE_SEV
#define kvm_trace_sev(vmcb)	((vmcb)->control.misc_ctl & SVM_MISC_ENABLE_SEV)
#else
#define kvm_trace_sev(vmcb) \
	((vmcb)->control.nested_ctl & SVM_NESTED_CTL_SEV_ENABLE)
#endif

/**
 * kvm_trace_probe_begin() - stay on this CPU, as an RCU reader, in a probe
 *
 * "tracing: Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast", between
 * 6.12 and 7.3, calls probes with preemption as it is; before, it was off in them.
 *
 * Context: probe of a tracepoint, until kvm_trace_probe_end().
 */
static __always_inline void kvm_trace_probe_begin(void)
{
#ifndef KVM_TRACE_PROBES_PREEMPT_OFF
	preempt_disable_notrace();
#endif
}

/**
 * kvm_trace_probe_end() - ends what kvm_trace_probe_begin() began
 */
static __always_inline void kvm_trace_probe_end(void)
{
#ifndef KVM_TRACE_PROBES_PREEMPT_OFF
	preempt_enable_notrace();
#endif
}

/**
 * kvm_trace_private_mem() - whether a VM can have private memory
 * @vcpu: a vCPU of it
 *
 * "KVM: Introduce per-page memory attributes" (Linux 6.8) brought such memory;
 * it is not in the VMM's mappings.
 *
 * Return: true if it can
 */
static inline bool kvm_trace_private_mem(const struct kvm_vcpu *vcpu)
{
#ifdef kvm_arch_has_private_mem
	return kvm_arch_has_private_mem(vcpu->kvm);
#else
	return false;
#endif
}

/**
 * kvm_trace_hyperv_guest() - whether the guest's hypercalls are Hyper-V's
 * @vcpu: the vCPU
 *
 * "KVM: x86: Make Hyper-V emulation optional" (Linux 6.8) made the fields
 * depend on CONFIG_KVM_HYPERV.
 *
 * Return: true if they are; then KVM does not take them for its own
 */
static inline bool kvm_trace_hyperv_guest(const struct kvm_vcpu *vcpu)
{
#if IS_ENABLED(CONFIG_KVM_HYPERV) || defined(KVM_TRACE_HYPERV_ALWAYS)
	return vcpu->arch.hyperv_enabled &&
	       vcpu->kvm->arch.hyperv.hv_guest_os_id;
#else
	return false;
#endif
}

/**
 * kvm_trace_xen_guest() - whether the guest's hypercalls are Xen's
 * @vcpu: the vCPU
 *
 * "KVM: x86/xen: Move kvm_xen_hvm_config field into kvm_xen", between 6.12 and
 * 7.3, moved the field.
 *
 * Return: true if they are
 */
static inline bool kvm_trace_xen_guest(const struct kvm_vcpu *vcpu)
{
#if !IS_ENABLED(CONFIG_KVM_XEN)
	return false;
#elif defined(KVM_TRACE_XEN_CONFIG_IN_ARCH)
	return vcpu->kvm->arch.xen_hvm_config.flags &
	       KVM_XEN_HVM_CONFIG_INTERCEPT_HCALL;
#else
	return vcpu->kvm->arch.xen.hvm_config.flags &
	       KVM_XEN_HVM_CONFIG_INTERCEPT_HCALL;
#endif
}

/*
 * "perf/aux: Allocate non-contiguous AUX pages by default" (Linux 6.16, and in stable
 * kernels) made large ones a capability; before, they are always tried first.
 */
#ifdef PERF_PMU_CAP_AUX_PREFER_LARGE
#define KVM_TRACE_PMU_CAP_LARGE	PERF_PMU_CAP_AUX_PREFER_LARGE
#else
#define KVM_TRACE_PMU_CAP_LARGE	0
#endif

/**
 * kvm_trace_perf_disable_soon() - have perf disable an event
 * @event: an event that runs on this CPU
 *
 * Only in 7.3 perf does so by itself when an AUX area is full. In 6.12 it asks for it and
 * leaves out the interrupt that "perf: Split __perf_pending_irq() out of
 * perf_pending_irq()" (Linux 6.11) made one of its own.
 *
 * Context: interrupts off.
 */
static inline void kvm_trace_perf_disable_soon(struct perf_event *event)
{
	event->pending_disable = 1;
#ifdef KVM_TRACE_PENDING_DISABLE_IRQ
	irq_work_queue(&event->pending_disable_irq);
#else
	irq_work_queue(&event->pending_irq);
#endif
}

/**
 * kvm_trace_perf_more_config() - what an event is configured with beyond attr.config2
 * @attr: its attributes
 *
 * "perf: Add perf_event_attr::config3" (Linux 6.3), and config4 later.
 *
 * Return: 0 if there is nothing
 */
static inline u64 kvm_trace_perf_more_config(const struct perf_event_attr *attr)
{
	u64 config = 0;

#ifdef PERF_ATTR_SIZE_VER8
	config |= attr->config3;
#endif
#ifdef PERF_ATTR_SIZE_VER9
	config |= attr->config4;
#endif
	return config;
}

/* "syscore: Pass context data to callbacks" (Linux 6.19, and in stable kernels). */
#ifdef KVM_TRACE_SYSCORE_DATA
#define KVM_TRACE_SYSCORE_ARG		void *data
#define KVM_TRACE_DEFINE_SYSCORE(name, suspend_fn, resume_fn)		\
	static const struct syscore_ops name##_ops = {			\
		.suspend = suspend_fn, .resume = resume_fn,		\
	};								\
	static struct syscore name = { .ops = &name##_ops }
#define kvm_trace_register_syscore	register_syscore
#define kvm_trace_unregister_syscore	unregister_syscore
#else
#define KVM_TRACE_SYSCORE_ARG		void
#define KVM_TRACE_DEFINE_SYSCORE(name, suspend_fn, resume_fn)		\
	static struct syscore_ops name = {				\
		.suspend = suspend_fn, .resume = resume_fn,		\
	}
#define kvm_trace_register_syscore	register_syscore_ops
#define kvm_trace_unregister_syscore	unregister_syscore_ops
#endif

#endif /* _KVM_TRACE_COMPAT_H */
