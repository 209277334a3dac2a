# SPDX-License-Identifier: GPL-2.0-only
# clear-RTIT_CTL stays in the VMCS.
# Breaks: no_vmcs_holds_our_bits
s/exit & ~KVM_TRACE_PT_EXIT_CLEAR_CTL/exit/
