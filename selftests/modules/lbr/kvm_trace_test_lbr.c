// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes LBR while it is loaded, as an event with a branch stack does, for intel_pt: of no
 * emulated CPU does perf know any LBR. What it takes is not exported.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

/* The first of arch/x86/events/perf_event.h. */
#define LBR_EXCLUSIVE_LBR	0

static int (*add_exclusive)(unsigned int what);
static void (*del_exclusive)(unsigned int what);

static void *find(const char *name)
{
	struct kprobe probe = { .symbol_name = name };

	if (register_kprobe(&probe))
		return NULL;
	unregister_kprobe(&probe);
	return probe.addr;
}

static int __init lbr_init(void)
{
	add_exclusive = find("x86_add_exclusive");
	del_exclusive = find("x86_del_exclusive");
	if (!add_exclusive || !del_exclusive)
		return -ENOENT;
	return add_exclusive(LBR_EXCLUSIVE_LBR);
}

static void __exit lbr_exit(void)
{
	del_exclusive(LBR_EXCLUSIVE_LBR);
}

module_init(lbr_init);
module_exit(lbr_exit);

MODULE_DESCRIPTION("Keeps LBR busy, for a test of kvm_trace");
MODULE_LICENSE("GPL");
