# SPDX-License-Identifier: GPL-2.0-only
# Fields of the kernel's structures that compat.h cannot ask for itself.

kvm-host-h := $(srctree)/arch/x86/include/asm/kvm_host.h
kvm-host-has = $(shell grep -q -w $(1) $(kvm-host-h) && echo y)

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
