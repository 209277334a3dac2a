# SPDX-License-Identifier: GPL-2.0-only
# The VM exit's 0 is left in IA32_RTIT_CTL.
# Breaks: msrs_are_restored
s/pt->ctl != ctl && !write_ctl(pt, ctl)/ctl \& KVM_TRACE_PT_CTL_TRACEEN \&\& pt->ctl != ctl \&\& !write_ctl(pt, ctl)/
