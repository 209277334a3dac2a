// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a guest look protected while other probes of KVM's tracepoints run,
 * and only then: the flag is set, and all registers hold a pattern. For a test
 * in the lab, which has no protected guests. One vCPU at a time.
 *
 * Probes of equal priority run in the order in which they came. So the
 * parameter "armed" is set when the probes to be watched are there: the last
 * ones of each tracepoint are then these.
 */
#include <linux/kvm_host.h>
#include <linux/module.h>
#include <linux/string.h>

#include "../probes.h"
#include "compat.h"

#define POISON		0x5bad5bad5bad5bad
#define ADVANCE		2	/* KVM has moved RIP on, as behind CPUID */
#define POISON_CPL	3
#define GPRS		16	/* RAX to R15 */

/* What was in the place of the pattern. */
static struct {
	struct kvm_vcpu *vcpu;	/* its registers are hidden; NULL: none's */
	unsigned long regs[GPRS], rip;
	struct vmcb_save_area save;
} saved;

/* The vCPU that left its guest last: kvm_hypercall is not told it. */
static struct kvm_vcpu *subject;
static bool armed;
static unsigned int hidden;

/* Both vendors' vCPUs begin with the common part; in kvm_amd's this follows. */
static struct vmcb *vmcb_of(struct kvm_vcpu *vcpu)
{
	if (!boot_cpu_has(X86_FEATURE_SVM))
		return NULL;
	return *(struct vmcb **)((char *)vcpu + sizeof(struct kvm_vcpu));
}

static void hide(struct kvm_vcpu *vcpu, u64 rip)
{
	struct vmcb *vmcb = vmcb_of(vcpu);

	if (!READ_ONCE(armed) || WARN_ON(saved.vcpu))
		return;
	saved.vcpu = vcpu;
	memcpy(saved.regs, vcpu->arch.regs, sizeof(saved.regs));
	saved.rip = kvm_trace_rip(vcpu);
	memset64((u64 *)vcpu->arch.regs, POISON, GPRS);
	kvm_trace_rip(vcpu) = rip;
	if (vmcb) {
		saved.save = vmcb->save;
		vmcb->save.rip = POISON;
		vmcb->save.rax = POISON;
		vmcb->save.rsp = POISON;
		vmcb->save.cr0 = POISON;
		vmcb->save.cr2 = POISON;
		vmcb->save.cr3 = POISON;
		vmcb->save.cr4 = POISON;
		vmcb->save.rflags = POISON;
		vmcb->save.cpl = POISON_CPL;
	}
	vcpu->arch.guest_state_protected = true;
	hidden++;
}

static void show(void)
{
	struct kvm_vcpu *vcpu = saved.vcpu;
	struct vmcb *vmcb;

	if (!vcpu)
		return;
	vmcb = vmcb_of(vcpu);
	vcpu->arch.guest_state_protected = false;
	memcpy(vcpu->arch.regs, saved.regs, sizeof(saved.regs));
	kvm_trace_rip(vcpu) = saved.rip;
	if (vmcb)
		vmcb->save = saved.save;
	saved.vcpu = NULL;
}

static void first_of_exit(void *data, struct kvm_vcpu *vcpu, u32 isa)
{
	subject = vcpu;
	hide(vcpu, POISON);
}

static void last_of_exit(void *data, struct kvm_vcpu *vcpu, u32 isa)
{
	show();
}

static void first_of_entry(void *data, struct kvm_vcpu *vcpu,
			   bool immediate_exit)
{
	hide(vcpu, POISON + ADVANCE);
}

static void last_of_entry(void *data, struct kvm_vcpu *vcpu,
			  bool immediate_exit)
{
	show();
}

static void first_of_hypercall(void *data, unsigned long nr, unsigned long a0,
			       unsigned long a1, unsigned long a2,
			       unsigned long a3)
{
	hide(subject, POISON);
}

static void last_of_hypercall(void *data, unsigned long nr, unsigned long a0,
			      unsigned long a1, unsigned long a2,
			      unsigned long a3)
{
	show();
}

/* In the order of registration; the last one waits for "armed". */
static struct test_probe probes[] = {
	{ "kvm_exit", first_of_exit, INT_MAX },
	{ "kvm_exit", last_of_exit, INT_MIN },
	{ "kvm_hypercall", first_of_hypercall, INT_MAX },
	{ "kvm_hypercall", last_of_hypercall, INT_MIN },
	{ "kvm_entry", first_of_entry, INT_MAX },
	{ "kvm_entry", last_of_entry, INT_MIN },
};

#define LAST	(ARRAY_SIZE(probes) - 1)

static void disarm(void)
{
	WRITE_ONCE(armed, false);
	tracepoint_synchronize_unregister();
}

static int set_armed(const char *text, const struct kernel_param *param)
{
	bool on;
	int ret = kstrtobool(text, &on);

	if (ret || on == armed)
		return ret;
	if (!on) {
		disarm();
		probes_drop(&probes[LAST], 1);
		return 0;
	}
	ret = probe_add(&probes[LAST]);
	WRITE_ONCE(armed, !ret);
	return ret;
}

static const struct kernel_param_ops armed_ops = {
	.set = set_armed,
	.get = param_get_bool,
};

module_param_cb(armed, &armed_ops, &armed, 0600);
MODULE_PARM_DESC(armed, "hide registers from probes that are there by now");
module_param(hidden, uint, 0400);
MODULE_PARM_DESC(hidden, "how often registers were hidden");

static int __init protected_init(void)
{
	int ret = probes_find(probes, ARRAY_SIZE(probes));

	if (!ret)
		ret = probes_add(probes, LAST);
	if (ret)
		probes_end(probes, ARRAY_SIZE(probes));
	return ret;
}

static void __exit protected_exit(void)
{
	disarm();
	probes_end(probes, ARRAY_SIZE(probes));
}

module_init(protected_init);
module_exit(protected_exit);
MODULE_DESCRIPTION("Guests that look protected to the probes of KVM's tracepoints");
MODULE_LICENSE("GPL");
