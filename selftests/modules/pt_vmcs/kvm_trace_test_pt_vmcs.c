// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests only: traces guests of kvm_intel with the VMCS controls of Intel PT,
 * which kvm_intel leaves alone, or makes VM entries fail with them. It writes the
 * controls right before an entry and looks at the MSRs right after the exit.
 *
 * One CPU, and no other module that does so. A host's session goes on around it.
 */
#include <linux/debugfs.h>
#include <linux/kvm_host.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <asm/msr-index.h>
#include <asm/vmx.h>

#include "../probes.h"

#define ENTRY_LOAD_RTIT_CTL	(1UL << 18)
#define EXIT_CLEAR_RTIT_CTL	(1UL << 25)
#define EXEC2_PT_USE_GPA		(1UL << 24)
#define FIELD_GUEST_RTIT_CTL	0x2814

#define CTL_HOST		(RTIT_CTL_TRACEEN | RTIT_CTL_OS | RTIT_CTL_BRANCH_EN | \
				 RTIT_CTL_TOPA)
#define CTL_GUEST		(CTL_HOST | RTIT_CTL_USR | RTIT_CTL_TSC_EN | RTIT_CTL_DISRETC)

#define REGION_ORDER		10
#define REGION_BYTES		(PAGE_SIZE << REGION_ORDER)
#define REGION_TOPA_SIZE	(REGION_ORDER << 6)
#define TOPA_END		(1ULL << 0)
#define TOPA_STOP		(1ULL << 4)
#define MAX_REGIONS		16
#define REASONS			80

enum mode {
	MODE_OFF,
	MODE_GUEST,		/* guests are traced */
	MODE_TRACEEN,		/* entries with TraceEn=1 */
	MODE_HOST,		/* entries with whatever the host's session has set */
};

#define CONTROL_LOAD		(1U << 0)
#define CONTROL_CLEAR		(1U << 1)
#define CONTROL_GUEST_PHYSICAL	(1U << 2)

struct msrs {
	u64 ctl, status, base, mask;
};

static unsigned int mode;
static unsigned int controls = CONTROL_LOAD | CONTROL_CLEAR;
static unsigned long ctl = CTL_GUEST;
static unsigned int regions = 4;
static void *region[MAX_REGIONS];
static u64 *table;

static unsigned long gpa;

static struct msrs host, guest, guest_physical;
static bool entered;

/* What was found. */
static unsigned long entries, exits, host_traced, traceen_after_exit, ctl_not_saved;
static unsigned long bytes;
static unsigned long reasons[REASONS];

module_param(mode, uint, 0600);
MODULE_PARM_DESC(mode, "0 off, 1 trace guests, 2 enter with TraceEn, 3 leave the MSRs alone");
module_param(controls, uint, 0600);
MODULE_PARM_DESC(controls, "VMCS controls that entries set: 1 load, 2 clear, 4 guest-physical");
module_param(ctl, ulong, 0600);
MODULE_PARM_DESC(ctl, "the guest's IA32_RTIT_CTL at each entry");
module_param(regions, uint, 0400);
MODULE_PARM_DESC(regions, "output in units of 4 MB, 16 at most");
module_param(gpa, ulong, 0600);
MODULE_PARM_DESC(gpa, "guest-physical page that is the only output; 0: the module's memory is");
module_param_array(reasons, ulong, NULL, 0600);
MODULE_PARM_DESC(reasons, "how often each basic exit reason was seen, in all modes");
module_param(entries, ulong, 0400);
MODULE_PARM_DESC(entries, "VM entries with the control");
module_param(exits, ulong, 0400);
MODULE_PARM_DESC(exits, "VM exits after them");
module_param(host_traced, ulong, 0400);
MODULE_PARM_DESC(host_traced, "entries for which a host's session was put aside");
module_param(traceen_after_exit, ulong, 0400);
MODULE_PARM_DESC(traceen_after_exit, "exits that left TraceEn set");
module_param(ctl_not_saved, ulong, 0400);
MODULE_PARM_DESC(ctl_not_saved, "exits that did not save the guest's IA32_RTIT_CTL");
module_param(bytes, ulong, 0400);
MODULE_PARM_DESC(bytes, "what the guests' trace has by now");

static u64 get_msr(u32 msr)
{
	u32 low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (u64)high << 32 | low;
}

static void set_msr(u32 msr, u64 value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

static unsigned long get_field(unsigned long field)
{
	unsigned long value;

	asm volatile("vmread %1, %0" : "=r"(value) : "r"(field) : "cc");
	return value;
}

static void set_field(unsigned long field, unsigned long value)
{
	asm volatile("vmwrite %1, %0" : : "r"(field), "r"(value) : "cc");
}

static void save_msrs(struct msrs *to)
{
	to->ctl = get_msr(MSR_IA32_RTIT_CTL);
	if (to->ctl & RTIT_CTL_TRACEEN)
		set_msr(MSR_IA32_RTIT_CTL, to->ctl & ~RTIT_CTL_TRACEEN);
	to->status = get_msr(MSR_IA32_RTIT_STATUS);
	to->base = get_msr(MSR_IA32_RTIT_OUTPUT_BASE);
	to->mask = get_msr(MSR_IA32_RTIT_OUTPUT_MASK);
}

/* All but IA32_RTIT_CTL. */
static void load_msrs(const struct msrs *from)
{
	set_msr(MSR_IA32_RTIT_STATUS, from->status);
	set_msr(MSR_IA32_RTIT_OUTPUT_BASE, from->base);
	set_msr(MSR_IA32_RTIT_OUTPUT_MASK, from->mask);
}

static void leave(void)
{
	if (!entered)
		return;
	entered = false;
	set_msr(MSR_IA32_RTIT_CTL, 0);
	load_msrs(&host);
	set_msr(MSR_IA32_RTIT_CTL, host.ctl);
}

static u64 guest_bytes(void)
{
	return (guest.mask >> 7 & 0x1ffffff) * REGION_BYTES + (guest.mask >> 32);
}

static void set_control(unsigned long field, unsigned long control, bool on)
{
	const unsigned long now = get_field(field);

	if (!(now & control) == on)
		set_field(field, now ^ control);
}

static void set_controls(unsigned int set)
{
	set_control(VM_ENTRY_CONTROLS, ENTRY_LOAD_RTIT_CTL, set & CONTROL_LOAD);
	set_control(VM_EXIT_CONTROLS, EXIT_CLEAR_RTIT_CTL, set & CONTROL_CLEAR);
	set_control(SECONDARY_VM_EXEC_CONTROL, EXEC2_PT_USE_GPA, set & CONTROL_GUEST_PHYSICAL);
}

static struct msrs *msrs_of_guest(void)
{
	if (!gpa)
		return &guest;
	if (guest_physical.base != gpa)
		guest_physical = (struct msrs){ .base = gpa, .mask = PAGE_SIZE - 1 };
	return &guest_physical;
}

static void at_entry(void *data, struct kvm_vcpu *vcpu, bool immediate_exit)
{
	/* The last entry has failed without an exit. */
	leave();
	if (!READ_ONCE(mode)) {
		set_controls(0);
		return;
	}
	entries++;
	set_controls(gpa ? controls | CONTROL_GUEST_PHYSICAL : controls);
	set_field(FIELD_GUEST_RTIT_CTL, ctl);
	if (mode == MODE_HOST)
		return;
	save_msrs(&host);
	if (host.ctl & RTIT_CTL_TRACEEN)
		host_traced++;
	load_msrs(msrs_of_guest());
	entered = true;
	if (mode == MODE_TRACEEN)
		set_msr(MSR_IA32_RTIT_CTL, CTL_HOST);
}

static void at_exit(void *data, struct kvm_vcpu *vcpu, u32 isa)
{
	const unsigned long reason = get_field(VM_EXIT_REASON);
	const bool failed = reason & VMX_EXIT_REASONS_FAILED_VMENTRY;

	if ((u16)reason < REASONS)
		reasons[(u16)reason]++;
	if (!entered)
		return;
	exits++;
	if (get_msr(MSR_IA32_RTIT_CTL) & RTIT_CTL_TRACEEN)
		traceen_after_exit++;
	if (!failed && get_field(FIELD_GUEST_RTIT_CTL) != ctl)
		ctl_not_saved++;
	save_msrs(msrs_of_guest());
	bytes = guest_bytes();
	leave();
}

/* The first after an exit, and the last before an entry. */
static struct test_probe probes[] = {
	{ "kvm_exit", at_exit, INT_MAX },
	{ "kvm_entry", at_entry, INT_MIN },
};

static ssize_t read_trace(struct file *file, char __user *to, size_t size, loff_t *at)
{
	const size_t offset = *at % REGION_BYTES;
	ssize_t done;

	if (*at >= bytes)
		return 0;
	size = min3(size, (size_t)(bytes - *at), REGION_BYTES - offset);
	done = size - copy_to_user(to, region[*at / REGION_BYTES] + offset, size);
	*at += done;
	return done ?: -EFAULT;
}

static const struct file_operations trace_ops = {
	.owner = THIS_MODULE,
	.read = read_trace,
};

static struct dentry *trace;

static void give_back(void)
{
	unsigned int i;

	debugfs_remove(trace);
	probes_end(probes, ARRAY_SIZE(probes));
	for (i = 0; i < MAX_REGIONS; i++)
		free_pages((unsigned long)region[i], REGION_ORDER);
	free_page((unsigned long)table);
}

static int make_output(void)
{
	unsigned int i;

	if (!regions || regions > MAX_REGIONS)
		return -EINVAL;
	table = (u64 *)get_zeroed_page(GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < regions; i++) {
		region[i] = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, REGION_ORDER);
		if (!region[i])
			return -ENOMEM;
		table[i] = virt_to_phys(region[i]) | REGION_TOPA_SIZE;
	}
	table[regions - 1] |= TOPA_STOP;
	table[regions] = virt_to_phys(table) | TOPA_END;
	guest.base = virt_to_phys(table);
	guest.mask = 0x7f;
	return 0;
}

static int __init pt_vmcs_init(void)
{
	int ret = probes_find(probes, ARRAY_SIZE(probes));

	if (!ret)
		ret = make_output();
	if (!ret)
		ret = probes_add(probes, ARRAY_SIZE(probes));
	if (ret)
		give_back();
	else
		trace = debugfs_create_file("kvm_trace_test_pt_vmcs", 0400, NULL, NULL, &trace_ops);
	return ret;
}

static void __exit pt_vmcs_exit(void)
{
	give_back();
	leave();
}

module_init(pt_vmcs_init);
module_exit(pt_vmcs_exit);
MODULE_DESCRIPTION("Intel PT's VMCS controls under kvm_intel, for tests");
MODULE_LICENSE("GPL");
