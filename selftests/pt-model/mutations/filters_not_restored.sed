# SPDX-License-Identifier: GPL-2.0-only
# Only the output is given back.
# Breaks: stream_goes_on_where_it_stopped msrs_are_restored
/^static bool load_outside/,/^}/s/u16 regs = pt->found_uses;/u16 regs = REGS_ALWAYS;/
