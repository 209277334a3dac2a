# SPDX-License-Identifier: GPL-2.0-only
# IA32_VMX_MISC[14] is not looked at.
# Breaks: refused_where_vmx_does_not_allow_it
s/if (!pt->caps.in_vmx)/if (false)/
