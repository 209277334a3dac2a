# SPDX-License-Identifier: GPL-2.0-only
# The guest's IA32_RTIT_CTL stays in the VMCS.
# Breaks: no_vmcs_holds_our_bits
s/ops->vmwrite(KVM_TRACE_PT_GUEST_CTL, 0)/ops->vmwrite(KVM_TRACE_PT_GUEST_CTL, pt->stream[KVM_TRACE_PT_GUEST]->ctl)/
