# SPDX-License-Identifier: GPL-2.0-only
# perf may be tracing when a stream is started.
# Breaks: position_read_when_tracing_is_off no_configuration_while_tracing msrs_are_restored host_is_traced no_wrmsr_faults
s/^\t\tif (pt->ctl & KVM_TRACE_PT_CTL_TRACEEN)$/\t\tif (false)/
