# SPDX-License-Identifier: GPL-2.0-only
# Output is taken for one table always.
# Breaks: stream_goes_on_where_it_stopped
s/->base_stays ? REGS_MOVING_IN_TABLE : REGS_MOVING/->base_stays ? REGS_MOVING : REGS_MOVING_IN_TABLE/
