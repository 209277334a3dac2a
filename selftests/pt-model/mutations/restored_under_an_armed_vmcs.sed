# SPDX-License-Identifier: GPL-2.0-only
# MSRs are given back though the VMCS is still armed.
# Breaks: stream_goes_on_where_it_stopped trace_goes_to_its_own_output settings_are_one_streams no_vmcs_holds_our_bits
/An armed VMCS must find/,/LEFT;/s/if (pt->armed)/if (false)/
