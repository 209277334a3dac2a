# SPDX-License-Identifier: GPL-2.0-only
# What the host's stream does not use is taken from it, too.
# Breaks: msrs_are_restored
s/host && pt->uses\[KVM_TRACE_PT_HOST\] & REG(reg);/host;/
