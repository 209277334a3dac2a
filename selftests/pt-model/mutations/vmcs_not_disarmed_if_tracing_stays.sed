# SPDX-License-Identifier: GPL-2.0-only
# TraceEn could not be cleared, so the VMCS is not looked at.
# Breaks: no_vm_entry_fails_by_us
/Even if TraceEn stays/,/disarm_vmcs/s/if (pt->armed)/if (pt->armed \&\& stopped)/
