// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stands in for kvm_trace on a kernel that it cannot be built for. Refuses to load,
 * and says why; "build" beside it writes the reason. Needs nothing of the kernel that
 * could change.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/module.h>

#include "refusal.h"

static int __init kvm_trace_stub_init(void)
{
	pr_err(KVM_TRACE_REFUSAL "\n");
	return -EOPNOTSUPP;
}

module_init(kvm_trace_stub_init);

MODULE_INFO(refusal, KVM_TRACE_REFUSAL);
MODULE_DESCRIPTION("Stands in for kvm_trace, and refuses to load");
MODULE_LICENSE("GPL");
