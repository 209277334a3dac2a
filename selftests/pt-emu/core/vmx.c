// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel PT and VMX: checks of a VM entry, what entry and exit do to
 * IA32_RTIT_CTL, and their packets (tables 36-47 to 36-49).
 */
#include "internal.h"

/**
 * pt_emu_vmx_operation() - VMXON or VMXOFF was executed
 * @pt: of which processor
 * @on: it was VMXON
 * @ip: of the instruction
 *
 * Without &struct pt_emu_caps.vmx, VMXON clears TraceEn (36.2.8.2).
 */
void pt_emu_vmx_operation(struct pt_emu *pt, bool on, __u64 ip)
{
	pt->vmx_operation = on;
	pt->vmcs = NO_VMCS;
	if (!on || pt->caps.vmx || !(pt->ctl & PT_EMU_CTL_TRACEEN))
		return;
	if (pt_emu_packet_enabled(pt)) {
		pt_emu_put_fup(pt, ip);
		pt_emu_put_pgd(pt, NULL);
	}
	pt_emu_disable(pt, pt->ctl & ~PT_EMU_CTL_TRACEEN);
}

/**
 * pt_emu_vmptrld() - VMPTRLD has succeeded
 * @pt: of which processor
 * @vmcs: physical address of the VMCS
 * @next: the instruction that comes next
 */
void pt_emu_vmptrld(struct pt_emu *pt, __u64 vmcs, __u64 next)
{
	pt->vmcs = vmcs;
	pt->now.ip = next;
	if (pt_emu_trigger_enabled(pt))
		pt_emu_put_vmcs(pt);
}

/**
 * pt_emu_vmclear() - VMCLEAR has succeeded
 * @pt: of which processor
 * @vmcs: physical address of the VMCS
 */
void pt_emu_vmclear(struct pt_emu *pt, __u64 vmcs)
{
	if (pt->vmcs == vmcs)
		pt->vmcs = NO_VMCS;
}

/**
 * pt_emu_vmentry_check() - checks that a VM entry makes for Intel PT
 * @pt: of which processor
 * @vmcs: what the VMCS says
 *
 * The checks of controls (26.2.1.1) come before those of the guest's MSRs (26.3.1.1).
 *
 * Return: the first check that fails.
 */
enum pt_emu_entry pt_emu_vmentry_check(const struct pt_emu *pt, const struct pt_emu_vmcs *vmcs)
{
	if (!pt->caps.vmx &&
	    (vmcs->load_rtit_ctl || vmcs->clear_rtit_ctl || vmcs->guest_physical))
		return PT_EMU_ENTRY_BAD_CONTROLS;
	if (vmcs->load_rtit_ctl && pt->ctl & PT_EMU_CTL_TRACEEN)
		return PT_EMU_ENTRY_BAD_CONTROLS;
	if (vmcs->guest_physical &&
	    !(pt->caps.gpa && vmcs->ept && vmcs->load_rtit_ctl && vmcs->clear_rtit_ctl))
		return PT_EMU_ENTRY_BAD_CONTROLS;
	if (vmcs->load_rtit_ctl && !pt_emu_ctl_valid(&pt->caps, vmcs->guest_rtit_ctl))
		return PT_EMU_ENTRY_BAD_GUEST;
	return PT_EMU_ENTRY_OK;
}

/**
 * pt_emu_vmentry() - a VM entry has loaded the guest's state
 * @pt: of which processor
 * @vmcs: what the VMCS says; pt_emu_vmentry_check() has passed it
 * @guest: the guest's first instruction, before an event that the entry injects
 */
void pt_emu_vmentry(struct pt_emu *pt, const struct pt_emu_vmcs *vmcs,
		    const struct pt_emu_state *guest)
{
	pt_emu_pass_time(pt);
	pt->guest_physical = vmcs->guest_physical;
	if (!vmcs->load_rtit_ctl)
		pt_emu_arrive(pt, guest, true);
	else if (vmcs->guest_rtit_ctl & PT_EMU_CTL_TRACEEN)
		pt_emu_enable(pt, vmcs->guest_rtit_ctl, guest);
	else
		pt->ctl = vmcs->guest_rtit_ctl;
}

/**
 * pt_emu_vmentry_failed() - a VM entry has failed (table 36-49)
 * @pt: of which processor
 * @late: after the checks of controls: a VM exit with "VM-entry failure"; else the
 *	instruction behind VMLAUNCH or VMRESUME comes next
 * @to: where the processor goes on
 *
 * Nothing of the guest's state has been used for tracing.
 */
void pt_emu_vmentry_failed(struct pt_emu *pt, bool late, const struct pt_emu_state *to)
{
	pt_emu_pass_time(pt);
	pt_emu_arrive(pt, to, late);
}

/**
 * pt_emu_vmexit() - a VM exit begins; the guest's memory can still be written
 * @pt: of which processor
 * @vmcs: what the VMCS says
 * @from: the guest's instruction pointer as the exit stores it in the VMCS
 *
 * Return: IA32_RTIT_CTL for the field of the guest's, if the processor has that.
 */
__u64 pt_emu_vmexit(struct pt_emu *pt, const struct pt_emu_vmcs *vmcs, __u64 from)
{
	const __u64 ctl = pt->ctl;

	pt_emu_pass_time(pt);
	if (pt_emu_packet_enabled(pt)) {
		pt_emu_put_fup(pt, from);
		if (vmcs->clear_rtit_ctl)
			pt_emu_put_pgd(pt, NULL);
	}
	if (vmcs->clear_rtit_ctl)
		pt_emu_disable(pt, 0);
	return ctl;
}

/**
 * pt_emu_vmexit_done() - the VM exit has loaded the host's state
 * @pt: of which processor
 * @host: the host's first instruction
 */
void pt_emu_vmexit_done(struct pt_emu *pt, const struct pt_emu_state *host)
{
	pt->guest_physical = false;
	pt_emu_arrive(pt, host, true);
}
