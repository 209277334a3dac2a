# SPDX-License-Identifier: GPL-2.0-only
# Only the host's stream is given back.
# Breaks: msrs_are_restored no_msr_holds_our_address no_vmcs_holds_our_bits no_configuration_while_tracing nothing_is_accessed_without_a_stream reports_are_true
s/drop(pt, SIDE(KVM_TRACE_PT_HOST) | SIDE(KVM_TRACE_PT_GUEST))/drop(pt, SIDE(KVM_TRACE_PT_HOST))/
