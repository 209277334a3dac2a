# SPDX-License-Identifier: GPL-2.0-only
# IA32_RTIT_STATUS is taken for constant.
# Breaks: stream_goes_on_where_it_stopped
s/^#define REGS_MOVING\t.*/#define REGS_MOVING (REG(KVM_TRACE_PT_OUTPUT_BASE) | REG(KVM_TRACE_PT_OUTPUT_MASK))/
