# SPDX-License-Identifier: GPL-2.0-only
# Fields of the kernel's structures that compat.h cannot ask for itself.

kvm-host-h := $(srctree)/arch/x86/include/asm/kvm_host.h
kvm-host-has = $(shell grep -q -w $(1) $(kvm-host-h) && echo y)

# How a tracepoint calls its probes.
ifneq ($(shell grep -q -E 'preempt_disable_notrace|guard\(preempt_notrace\)' $(srctree)/include/linux/tracepoint.h && echo y),)
ccflags-y += -DKVM_TRACE_PROBES_PREEMPT_OFF
endif
# Without the option in the header, the fields of Hyper-V are always there.
ifneq ($(call kvm-host-has,CONFIG_KVM_HYPERV),y)
ccflags-y += -DKVM_TRACE_HYPERV_ALWAYS
endif
ifeq ($(call kvm-host-has,xen_hvm_config),y)
ccflags-y += -DKVM_TRACE_XEN_CONFIG_IN_ARCH
endif
ifeq ($(call kvm-host-has,VCPU_REGS_RIP),y)
ccflags-y += -DKVM_TRACE_RIP_IN_REGS
endif

ifeq ($(shell grep -q -w pending_disable_irq $(srctree)/include/linux/perf_event.h && echo y),y)
ccflags-y += -DKVM_TRACE_PENDING_DISABLE_IRQ
endif
ifeq ($(shell grep -q 'struct syscore {' $(srctree)/include/linux/syscore_ops.h && echo y),y)
ccflags-y += -DKVM_TRACE_SYSCORE_DATA
endif
