# SPDX-License-Identifier: GPL-2.0-only
# KVM's entry controls are put back as some constant.
# Breaks: bits_of_kvm_are_kept
s/entry & ~KVM_TRACE_PT_ENTRY_LOAD_CTL/0x11ff/
