/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes of tracepoints of kvm, and of the kernel, by name. A module has one table of them.
 */
#ifndef _PROBES_H
#define _PROBES_H

#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

struct test_probe {
	const char *name;
	void *probe;
	int prio;
	struct tracepoint *tp;
	bool registered;
};

/* The table, while it is looked through. */
static struct test_probe *probes_wanted;
static size_t probes_count;
static struct module *probes_kvm;

static void probes_found(struct tracepoint *tp, void *unused)
{
	size_t i;

	for (i = 0; i < probes_count; i++)
		if (!strcmp(tp->name, probes_wanted[i].name))
			probes_wanted[i].tp = tp;
}

static int probes_module(struct notifier_block *nb, unsigned long what, void *data)
{
	struct tp_module *tp_mod = data;
	struct module *mod = tp_mod->mod;
	unsigned int i;

	if (what != MODULE_STATE_COMING || strcmp(mod->name, "kvm") || probes_kvm ||
	    !try_module_get(mod))
		return NOTIFY_DONE;
	probes_kvm = mod;
	for (i = 0; i < mod->num_tracepoints; i++)
		probes_found(tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]), NULL);
	return NOTIFY_OK;
}

/* Finds the tracepoints; until probes_end() kvm stays. */
static int probes_find(struct test_probe *probes, size_t count)
{
	static struct notifier_block finder = {
		.notifier_call = probes_module,
	};
	int ret;

	probes_wanted = probes;
	probes_count = count;
	for_each_kernel_tracepoint(probes_found, NULL);
	/* Tells of kvm, which is there already. */
	ret = register_tracepoint_module_notifier(&finder);
	if (!ret)
		unregister_tracepoint_module_notifier(&finder);
	return ret;
}

static int probe_add(struct test_probe *probe)
{
	int ret;

	if (!probe->tp)
		return -ENOENT;
	ret = tracepoint_probe_register_prio(probe->tp, probe->probe, NULL, probe->prio);
	probe->registered = !ret;
	return ret;
}

/* In the order of the table. */
static int probes_add(struct test_probe *probes, size_t count)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++)
		ret = probe_add(&probes[i]);
	return ret;
}

static void probes_drop(struct test_probe *probes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (probes[i].registered)
			tracepoint_probe_unregister(probes[i].tp, probes[i].probe, NULL);
		probes[i].registered = false;
	}
	tracepoint_synchronize_unregister();
}

static void probes_end(struct test_probe *probes, size_t count)
{
	probes_drop(probes, count);
	module_put(probes_kvm);
}

#endif /* _PROBES_H */
