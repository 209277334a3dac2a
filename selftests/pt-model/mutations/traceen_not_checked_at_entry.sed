# SPDX-License-Identifier: GPL-2.0-only
# perf may be tracing at kvm_entry.
# Breaks: no_configuration_while_tracing
s/else if (ctl != pt->ctl)/else if (false)/
