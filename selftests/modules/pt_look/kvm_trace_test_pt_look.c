// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests only: looks into kvm_intel's VMCSs for what kvm_pt puts there, where it must
 * not be: before kvm_pt's probe at a VM entry, and behind its probes at a VM exit and at
 * kvm_fpu. It has to be loaded before there is an event. It changes nothing.
 */
#include <linux/kernel.h>
#include <linux/kvm_host.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <asm/msr-index.h>
#include <asm/vmx.h>

#include "../probes.h"

#define ENTRY_LOAD_RTIT_CTL	(1UL << 18)
#define EXIT_CLEAR_RTIT_CTL	(1UL << 25)
#define FIELD_GUEST_RTIT_CTL	0x2814
#define MAX_VMCSS		8

/* A VMCS, and what it had when it was seen first. */
struct seen_vmcs {
	u64 address;		/* 0: free */
	unsigned long entry, exit;
};

static struct seen_vmcs vmcss[MAX_VMCSS];
static DEFINE_RAW_SPINLOCK(lock);

/* What was found. */
static unsigned long seen, freed, looks, armed, left, traceen, changed;

module_param(seen, ulong, 0400);
MODULE_PARM_DESC(seen, "VMCSs that were entered with");
module_param(freed, ulong, 0400);
MODULE_PARM_DESC(freed, "those whose memory was freed");
module_param(looks, ulong, 0400);
MODULE_PARM_DESC(looks, "looks where nothing of kvm_pt must be");
module_param(armed, ulong, 0400);
MODULE_PARM_DESC(armed, "VM exits with both controls, before kvm_pt's probe");
module_param(left, ulong, 0400);
MODULE_PARM_DESC(left, "looks that found one of the controls");
module_param(traceen, ulong, 0400);
MODULE_PARM_DESC(traceen, "looks that found TraceEn in the guest's IA32_RTIT_CTL");
module_param(changed, ulong, 0400);
MODULE_PARM_DESC(changed, "looks that found other controls than the first one of that VMCS");

static int set_reset(const char *text, const struct kernel_param *param)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	memset(vmcss, 0, sizeof(vmcss));
	seen = 0;
	freed = 0;
	looks = 0;
	armed = 0;
	left = 0;
	traceen = 0;
	changed = 0;
	raw_spin_unlock_irqrestore(&lock, flags);
	return 0;
}

static const struct kernel_param_ops reset_ops = {
	.set = set_reset,
};

module_param_cb(reset, &reset_ops, NULL, 0200);
MODULE_PARM_DESC(reset, "forget all");

static unsigned long get_field(unsigned long field)
{
	unsigned long value;

	asm volatile("vmread %1, %0" : "=r"(value) : "r"(field) : "cc");
	return value;
}

static u64 current_vmcs(void)
{
	u64 address;

	asm volatile("vmptrst %0" : "=m"(address) : : "cc");
	return address;
}

static struct seen_vmcs *find_vmcs(u64 address)
{
	unsigned int i;

	for (i = 0; i < MAX_VMCSS; i++)
		if (vmcss[i].address == address)
			return &vmcss[i];
	return NULL;
}

static struct seen_vmcs *note_vmcs(u64 address)
{
	struct seen_vmcs *vmcs = find_vmcs(0);

	if (vmcs) {
		vmcs->address = address;
		vmcs->entry = get_field(VM_ENTRY_CONTROLS);
		vmcs->exit = get_field(VM_EXIT_CONTROLS);
		seen++;
	}
	return vmcs;
}

static void look(void)
{
	const u64 address = current_vmcs();
	unsigned long entry, exit, flags;
	struct seen_vmcs *vmcs;

	raw_spin_lock_irqsave(&lock, flags);
	vmcs = find_vmcs(address) ?: note_vmcs(address);
	if (vmcs) {
		entry = get_field(VM_ENTRY_CONTROLS);
		exit = get_field(VM_EXIT_CONTROLS);
		looks++;
		left += entry & ENTRY_LOAD_RTIT_CTL || exit & EXIT_CLEAR_RTIT_CTL;
		traceen += get_field(FIELD_GUEST_RTIT_CTL) & RTIT_CTL_TRACEEN;
		changed += entry != vmcs->entry || exit != vmcs->exit;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

static void at_entry(void *data, struct kvm_vcpu *vcpu, bool immediate_exit)
{
	look();
}

static void at_exit(void *data, struct kvm_vcpu *vcpu, u32 isa)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	armed += get_field(VM_ENTRY_CONTROLS) & ENTRY_LOAD_RTIT_CTL &&
		 get_field(VM_EXIT_CONTROLS) & EXIT_CLEAR_RTIT_CTL;
	raw_spin_unlock_irqrestore(&lock, flags);
}

static void behind_exit(void *data, struct kvm_vcpu *vcpu, u32 isa)
{
	look();
}

static void behind_fpu(void *data, int load)
{
	if (!load)
		look();
}

static void at_free(void *data, struct page *page, unsigned int order)
{
	struct seen_vmcs *vmcs;
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	vmcs = find_vmcs(page_to_phys(page));
	if (vmcs) {
		vmcs->address = 0;
		freed++;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

/* Of those with one number the one that was there first runs first. */
static struct test_probe probes[] = {
	{ "kvm_entry", at_entry, INT_MAX },
	{ "kvm_exit", at_exit, INT_MAX },
	{ "kvm_exit", behind_exit, INT_MIN },
	{ "kvm_fpu", behind_fpu, INT_MIN },
	{ "mm_page_free", at_free },
};

static int __init pt_look_init(void)
{
	int ret = probes_find(probes, ARRAY_SIZE(probes));

	if (!ret)
		ret = probes_add(probes, ARRAY_SIZE(probes));
	if (ret)
		probes_end(probes, ARRAY_SIZE(probes));
	return ret;
}

static void __exit pt_look_exit(void)
{
	probes_end(probes, ARRAY_SIZE(probes));
}

module_init(pt_look_init);
module_exit(pt_look_exit);
MODULE_DESCRIPTION("Looks for what kvm_pt leaves in a VMCS, for tests");
MODULE_LICENSE("GPL");
