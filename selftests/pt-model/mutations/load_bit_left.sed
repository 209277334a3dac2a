# SPDX-License-Identifier: GPL-2.0-only
# load-RTIT_CTL stays in the VMCS.
# Breaks: no_vmcs_holds_our_bits
s/entry & ~KVM_TRACE_PT_ENTRY_LOAD_CTL/entry/
