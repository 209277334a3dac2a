# SPDX-License-Identifier: GPL-2.0-only
# The VM entry is not asked to load IA32_RTIT_CTL.
# Breaks: guest_is_traced
s/entry | KVM_TRACE_PT_ENTRY_LOAD_CTL/entry/
