# SPDX-License-Identifier: GPL-2.0-only
# That KVM took load-RTIT_CTL is not told.
# Breaks: reports_are_true
s/exited ? KVM_TRACE_PT_UNTRACED : 0/0/
