# SPDX-License-Identifier: GPL-2.0-only
# A write has faulted because perf's NMI set TraceEn; it is not looked for.
# Breaks: no_configuration_while_tracing
s/pt->unsure = true;/pt->unsure = false;/
