# SPDX-License-Identifier: GPL-2.0-only
# IA32_RTIT_CTL is taken for cleared by every VM exit.
# Breaks: position_read_when_tracing_is_off reports_are_true no_configuration_while_tracing
s/if (pt->armed || pt->unsure) {/if (pt->unsure) {/
