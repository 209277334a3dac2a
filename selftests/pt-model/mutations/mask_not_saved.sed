# SPDX-License-Identifier: GPL-2.0-only
# IA32_RTIT_OUTPUT_MASK_PTRS is taken for constant.
# Breaks: msrs_are_restored stream_goes_on_where_it_stopped
s/^#define REGS_MOVING\t.*/#define REGS_MOVING (REG(KVM_TRACE_PT_OUTPUT_BASE) | REG(KVM_TRACE_PT_STATUS))/
