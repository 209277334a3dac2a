# SPDX-License-Identifier: GPL-2.0-only
# TraceEn stays on at kvm_exit and at every undo.
# Breaks: position_read_when_tracing_is_off no_configuration_while_tracing
s/^\t\tstopped = write_ctl(pt, ctl);/\t\tstopped = true;/
