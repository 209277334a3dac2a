// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breaks one rule of the kernel for each name that is written to its parameter "rule", in a
 * way that the kernel survives, to see that the lab's kernel "sanitize" reports it. Each name
 * is in the log, before what is reported.
 */
#include <linux/bitops.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

#include "unseen.h"

#define SIZE	100

static char global[SIZE];
static int array[4];
static struct kobject object;
static const struct kobj_type object_type;
static int __rcu *pointer;
static LIST_HEAD(rcu_list);
static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);

/* An index that the compiler does not know. */
static int hidden(int value)
{
	OPTIMIZER_HIDE_VAR(value);
	return value;
}

static void heap_out_of_bounds(void)
{
	char *p = kmalloc(SIZE, GFP_KERNEL);

	WRITE_ONCE(p[hidden(SIZE)], 1);
	kfree(p);
}

static void heap_after_free(void)
{
	char *p = kmalloc(SIZE, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(p);
	kfree(p);
	WRITE_ONCE(p[hidden(SIZE / 2)], 1);
}

static void heap_freed_twice(void)
{
	char *p = kmalloc(SIZE, GFP_KERNEL), *again = p;

	OPTIMIZER_HIDE_VAR(again);
	kfree(p);
	kfree(again);
}

static void stack_out_of_bounds(void)
{
	char local[SIZE] = {};

	(void)READ_ONCE(*(local + hidden(SIZE)));
}

static void global_out_of_bounds(void)
{
	(void)READ_ONCE(*(global + hidden(SIZE)));
}

static void vmalloc_out_of_bounds(void)
{
	char *p = vmalloc(SIZE);

	(void)READ_ONCE(p[hidden(SIZE)]);
	vfree(p);
}

static void array_index(void)
{
	WRITE_ONCE(array[hidden(ARRAY_SIZE(array) - 1)], 1);
	(void)READ_ONCE(array[hidden(ARRAY_SIZE(array))]);
}

static void shift(void)
{
	(void)READ_ONCE(array[(1 << hidden(32)) & 1]);
}

static noinline bool load(const bool *value)
{
	return *value;
}

static void bool_value(void)
{
	bool value;

	unseen_write((u8 *)&value, 2);
	array[0] = load(&value);
}

static void rcu_pointer(void)
{
	(void)rcu_dereference(pointer);
}

static void rcu_list_walk(void)
{
	struct broken_entry {
		struct list_head list;
	} *entry;

	list_for_each_entry_rcu(entry, &rcu_list, list)
		;
}

static void sleep_in_atomic(void)
{
	spin_lock(&spin);
	might_sleep();
	spin_unlock(&spin);
}

static void cpu_in_preemptible(void)
{
	(void)smp_processor_id();
}

static void lock_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void leak(void)
{
	char *p = kmalloc(SIZE, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(p);
}

static void red_zone(void)
{
	struct kmem_cache *cache = kmem_cache_create("kvm_trace_test_broken", SIZE, 0, 0, NULL);
	u8 *p = kmem_cache_alloc(cache, GFP_KERNEL);

	unseen_write(p + SIZE, 1);
	kmem_cache_free(cache, p);
	kmem_cache_destroy(cache);
}

static void poison(void)
{
	struct kmem_cache *cache = kmem_cache_create("kvm_trace_test_broken", SIZE, 0, 0, NULL);
	u8 *p = kmem_cache_alloc(cache, GFP_KERNEL);
	u8 *keeps_the_slab = kmem_cache_alloc(cache, GFP_KERNEL);

	kmem_cache_free(cache, p);
	/* From KASAN's quarantine back to SLUB. */
	kmem_cache_shrink(cache);
	unseen_write(p + SIZE / 2, 1);
	kmem_cache_free(cache, keeps_the_slab);
	kmem_cache_destroy(cache);
}

static void reference(void)
{
	refcount_t count = REFCOUNT_INIT(1);

	if (refcount_dec_and_test(&count))
		refcount_inc(&count);
}

static void list_entry_twice(void)
{
	struct list_head list, entry;

	INIT_LIST_HEAD(&list);
	list_add(&entry, &list);
	list_add(&entry, &list);
}

static void kobject_twice(void)
{
	kobject_init(&object, &object_type);
	kobject_init(&object, &object_type);
}

static void expired(struct timer_list *t)
{
}

static void live_timer(void)
{
	struct timer_list *t = kmalloc(sizeof(*t), GFP_KERNEL);

	timer_setup(t, expired, 0);
	mod_timer(t, jiffies + 1000 * HZ);
	/* Which stops it. */
	kfree(t);
}

static const struct rule {
	const char *name;
	void (*breaks)(void);
} rules[] = {
#define RULE(name) { #name, name }
	RULE(heap_out_of_bounds),
	RULE(heap_after_free),
	RULE(heap_freed_twice),
	RULE(stack_out_of_bounds),
	RULE(global_out_of_bounds),
	RULE(vmalloc_out_of_bounds),
	RULE(array_index),
	RULE(shift),
	RULE(bool_value),
	RULE(rcu_pointer),
	RULE(rcu_list_walk),
	RULE(sleep_in_atomic),
	RULE(cpu_in_preemptible),
	RULE(lock_order),
	RULE(leak),
	RULE(red_zone),
	RULE(poison),
	RULE(reference),
	RULE(list_entry_twice),
	RULE(kobject_twice),
	RULE(live_timer),
};

static int rule_set(const char *value, const struct kernel_param *kp)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		if (sysfs_streq(value, rules[i].name)) {
			/* The lab shows what looks like a complaint. */
			pr_info("BUG: on purpose: %s\n", rules[i].name);
			rules[i].breaks();
			return 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops rule_ops = {
	.set = rule_set,
};

module_param_cb(rule, &rule_ops, NULL, 0200);
MODULE_PARM_DESC(rule, "The rule to break");

MODULE_DESCRIPTION("Breaks rules of the kernel, for a test of the lab");
MODULE_LICENSE("GPL");
