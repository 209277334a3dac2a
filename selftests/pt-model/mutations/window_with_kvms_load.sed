# SPDX-License-Identifier: GPL-2.0-only
# Method window does not look whether KVM loads IA32_RTIT_CTL by itself.
# Breaks: no_vm_entry_fails_by_us
s/kvm_loads_ctl(pt)))/false))/
