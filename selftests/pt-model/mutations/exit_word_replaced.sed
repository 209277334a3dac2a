# SPDX-License-Identifier: GPL-2.0-only
# KVM's exit controls are put back as some constant.
# Breaks: bits_of_kvm_are_kept
s/exit & ~KVM_TRACE_PT_EXIT_CLEAR_CTL/0x36eff/
