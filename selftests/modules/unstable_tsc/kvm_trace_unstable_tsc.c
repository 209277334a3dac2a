// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives the TSC up when it is loaded, as the kernel does when it finds it bad: for
 * good, or until the next boot.
 */
#include <linux/module.h>

#include <asm/tsc.h>

static int __init unstable_tsc_init(void)
{
	mark_tsc_unstable("a test of kvm_trace asks for it");
	return 0;
}

static void __exit unstable_tsc_exit(void)
{
}

module_init(unstable_tsc_init);
module_exit(unstable_tsc_exit);

MODULE_DESCRIPTION("Marks the TSC unstable, for a test of kvm_trace");
MODULE_LICENSE("GPL");
