# SPDX-License-Identifier: GPL-2.0-only
# On the way out, IA32_RTIT_CTL is taken for what it was at kvm_entry.
# Breaks: no_configuration_while_tracing
/^static u32 drop/,/^}/s/pt->unsure = true;//
