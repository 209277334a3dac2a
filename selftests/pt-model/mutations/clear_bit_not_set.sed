# SPDX-License-Identifier: GPL-2.0-only
# The VM exit is not asked to clear IA32_RTIT_CTL.
# Breaks: no_host_code_in_the_guests_stream reports_are_true
s/exit | KVM_TRACE_PT_EXIT_CLEAR_CTL/exit/
