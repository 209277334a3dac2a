# SPDX-License-Identifier: GPL-2.0-only
# That KVM took clear-RTIT_CTL is not told.
# Breaks: reports_are_true
s/result |= KVM_TRACE_PT_HOST_CODE/result |= 0/
