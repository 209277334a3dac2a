// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvm_trace: one trace record per round trip between a KVM guest and its host.
 * Loading and parameters; the work is done elsewhere.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <linux/kvm_trace.h>

#include "hooks.h"
#include "pending.h"
#include "roundtrip.h"
#include "vcpu.h"

struct workqueue_struct *kvm_trace_wq;

/* Longest value of the parameter "words", with its NUL. */
#define WORDS_LEN	512

static const struct {
	u64 bit;
	const char *name;
} word_names[] = {
#define WORD_NAME(bit, name) { bit, name },
	KVM_TRACE_WORDS(WORD_NAME)
};

#define LIST_WORD(bit, name) " " name
static const char word_list[] = KVM_TRACE_WORDS(LIST_WORD);

static int word_of(const char *name, u64 *words)
{
	u64 all = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(word_names); i++) {
		all |= word_names[i].bit;
		if (!strcmp(name, word_names[i].name)) {
			*words |= word_names[i].bit;
			return 0;
		}
	}
	if (!strcmp(name, "lean"))
		*words |= KVM_TRACE_WORDS_LEAN;
	else if (!strcmp(name, "default"))
		*words |= KVM_TRACE_WORDS_DEFAULT;
	else if (!strcmp(name, "all"))
		*words |= all;
	else
		return -EINVAL;
	return 0;
}

static int words_set(const char *value, const struct kernel_param *kp)
{
	char buffer[WORDS_LEN], *rest, *name;
	u64 words = 0;

	if (strscpy(buffer, value, sizeof(buffer)) < 0) {
		pr_err("words: value is longer than %d characters\n",
		       WORDS_LEN - 1);
		return -EINVAL;
	}
	rest = strim(buffer);
	while ((name = strsep(&rest, ","))) {
		if (word_of(name, &words)) {
			pr_err("words: \"%s\" is not a word; use lean, default, all, or names separated by commas without spaces:%s\n",
			       name, word_list);
			return -EINVAL;
		}
	}
	return kvm_trace_hooks_set_words(words);
}

static int words_get(char *buffer, const struct kernel_param *kp)
{
	u64 words = kvm_trace_hooks_get_words();
	int i, len = 0;

	if (words == KVM_TRACE_WORDS_LEAN)
		return sysfs_emit(buffer, "lean\n");
	for (i = 0; i < ARRAY_SIZE(word_names); i++) {
		if (words & word_names[i].bit)
			len += sysfs_emit_at(buffer, len, "%s%s",
					     len ? "," : "",
					     word_names[i].name);
	}
	return len + sysfs_emit_at(buffer, len, "\n");
}

static const struct kernel_param_ops words_ops = {
	.set = words_set,
	.get = words_get,
};

static int max_vcpus_set(const char *value, const struct kernel_param *kp)
{
	int ret = param_set_uint_minmax(value, kp, 1, UINT_MAX);

	if (ret)
		pr_err("max_vcpus: must be a number from 1 to %u\n", UINT_MAX);
	return ret;
}

static const struct kernel_param_ops max_vcpus_ops = {
	.set = max_vcpus_set,
	.get = param_get_uint,
};

module_param_cb(words, &words_ops, NULL, 0644);
MODULE_PARM_DESC(words, "optional words of vmexit records: lean, default, all, or a list of names");
module_param_named(min_host_ns, kvm_trace_min_host_ns, ullong, 0644);
MODULE_PARM_DESC(min_host_ns, "drop round trips whose host time is shorter than this, in ns");
module_param_cb(max_vcpus, &max_vcpus_ops, &kvm_trace_max_vcpus, 0644);
MODULE_PARM_DESC(max_vcpus, "most vCPUs traced at once; exits of others are counted as lost");
module_param_named(allow_no_btf, kvm_trace_allow_no_btf, bool, 0444);
MODULE_PARM_DESC(allow_no_btf, "attach even if kvm's prototypes cannot be checked");

static int __init kvm_trace_init(void)
{
	int ret;

	kvm_trace_wq = alloc_workqueue("kvm_trace", WQ_UNBOUND, 0);
	if (!kvm_trace_wq)
		return -ENOMEM;
	ret = kvm_trace_state_init();
	if (ret)
		goto free_wq;
	ret = kvm_trace_hooks_init();
	if (ret)
		goto free_state;
	kvm_trace_pending_init();
	return 0;

free_state:
	kvm_trace_state_exit();
free_wq:
	destroy_workqueue(kvm_trace_wq);
	return ret;
}

static void __exit kvm_trace_exit(void)
{
	kvm_trace_pending_exit();
	kvm_trace_hooks_exit();
	kvm_trace_state_exit();
	destroy_workqueue(kvm_trace_wq);
}

module_init(kvm_trace_init);
module_exit(kvm_trace_exit);

MODULE_DESCRIPTION("Compact trace records of KVM's VM exits");
MODULE_LICENSE("GPL");
