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

#include "batch.h"
#include "hooks.h"
#include "hypercall.h"
#include "pending.h"
#include "roundtrip.h"
#include "vcpu.h"
#include "pt/pmu.h"

struct workqueue_struct *kvm_trace_wq;

/* Longest value of a parameter that lists words, with its NUL. */
#define WORDS_LEN	512

struct word_name {
	u64 bit;
	const char *name;
};

/**
 * struct word_set - the words that a parameter chooses from
 * @param:	name of the parameter
 * @names:	each word
 * @list:	their names for an error, each behind a space
 * @count:	of @names
 * @lean:	what "lean" stands for
 * @normal:	what "default" stands for
 */
struct word_set {
	const char *param;
	const struct word_name *names;
	const char *list;
	int count;
	u64 lean;
	u64 normal;
};

#define WORD_NAME(bit, name) { bit, name },
#define LIST_WORD(bit, name) " " name

static const struct word_name vmexit_names[] = {
	KVM_TRACE_WORDS(WORD_NAME)
};

static const struct word_name hypercall_names[] = {
	KVM_TRACE_HC_WORDS(WORD_NAME)
};

static const struct word_set vmexit_words = {
	.param = "words",
	.names = vmexit_names,
	.list = KVM_TRACE_WORDS(LIST_WORD),
	.count = ARRAY_SIZE(vmexit_names),
	.lean = KVM_TRACE_WORDS_LEAN,
	.normal = KVM_TRACE_WORDS_DEFAULT,
};

static const struct word_set batch_words = {
	.param = "batch_words",
	.names = vmexit_names,
	.list = KVM_TRACE_WORDS(LIST_WORD),
	.count = ARRAY_SIZE(vmexit_names),
	.lean = KVM_TRACE_WORDS_LEAN,
	.normal = KVM_TRACE_WORDS_DEFAULT,
};

static const struct word_set hypercall_words = {
	.param = "hypercall_words",
	.names = hypercall_names,
	.list = KVM_TRACE_HC_WORDS(LIST_WORD),
	.count = ARRAY_SIZE(hypercall_names),
	.lean = KVM_TRACE_HC_WORDS_LEAN,
	.normal = KVM_TRACE_HC_WORDS_DEFAULT,
};

static int word_of(const struct word_set *set, const char *name, u64 *words)
{
	u64 all = 0;
	int i;

	for (i = 0; i < set->count; i++) {
		all |= set->names[i].bit;
		if (!strcmp(name, set->names[i].name)) {
			*words |= set->names[i].bit;
			return 0;
		}
	}
	if (!strcmp(name, "lean"))
		*words |= set->lean;
	else if (!strcmp(name, "default"))
		*words |= set->normal;
	else if (!strcmp(name, "all"))
		*words |= all;
	else
		return -EINVAL;
	return 0;
}

static int parse_words(const struct word_set *set, const char *value, u64 *words)
{
	char buffer[WORDS_LEN], *rest, *name;

	if (strscpy(buffer, value, sizeof(buffer)) < 0) {
		pr_err("%s: value is longer than %d characters\n", set->param,
		       WORDS_LEN - 1);
		return -EINVAL;
	}
	rest = strim(buffer);
	*words = 0;
	while ((name = strsep(&rest, ","))) {
		if (word_of(set, name, words)) {
			pr_err("%s: \"%s\" is not a word; use lean, default, all, or names separated by commas without spaces:%s\n",
			       set->param, name, set->list);
			return -EINVAL;
		}
	}
	return 0;
}

static int print_words(const struct word_set *set, u64 words, char *buffer)
{
	int i, len = 0;

	if (words == set->lean)
		return sysfs_emit(buffer, "lean\n");
	for (i = 0; i < set->count; i++) {
		if (words & set->names[i].bit)
			len += sysfs_emit_at(buffer, len, "%s%s",
					     len ? "," : "",
					     set->names[i].name);
	}
	return len + sysfs_emit_at(buffer, len, "\n");
}

static int words_set(const char *value, const struct kernel_param *kp)
{
	u64 words;
	int ret = parse_words(&vmexit_words, value, &words);

	return ret ?: kvm_trace_hooks_set_words(words);
}

static int words_get(char *buffer, const struct kernel_param *kp)
{
	return print_words(&vmexit_words, READ_ONCE(kvm_trace_vmexit_words),
			   buffer);
}

static const struct kernel_param_ops words_ops = {
	.set = words_set,
	.get = words_get,
};

static int batch_words_set(const char *value, const struct kernel_param *kp)
{
	u64 words;
	int ret = parse_words(&batch_words, value, &words);

	return ret ?: kvm_trace_hooks_set_batch_words(words);
}

static int batch_words_get(char *buffer, const struct kernel_param *kp)
{
	return print_words(&batch_words, READ_ONCE(kvm_trace_batch_words),
			   buffer);
}

static const struct kernel_param_ops batch_words_ops = {
	.set = batch_words_set,
	.get = batch_words_get,
};

static int batch_hypercalls_set(const char *value, const struct kernel_param *kp)
{
	bool on;
	int ret = kstrtobool(value, &on);

	if (ret) {
		pr_err("batch_hypercalls: \"%.*s\" is neither yes nor no; use 1 or 0\n",
		       (int)strcspn(value, "\n"), value);
		return ret;
	}
	return kvm_trace_hooks_set_batch_hypercalls(on);
}

static const struct kernel_param_ops batch_hypercalls_ops = {
	.set = batch_hypercalls_set,
	.get = param_get_bool,
};

static int hypercall_words_set(const char *value, const struct kernel_param *kp)
{
	u64 words;
	int ret = parse_words(&hypercall_words, value, &words);

	if (!ret)
		WRITE_ONCE(kvm_trace_hypercall_words, words);
	return ret;
}

static int hypercall_words_get(char *buffer, const struct kernel_param *kp)
{
	return print_words(&hypercall_words, kvm_trace_hypercall_words, buffer);
}

static const struct kernel_param_ops hypercall_words_ops = {
	.set = hypercall_words_set,
	.get = hypercall_words_get,
};

static int hypercall_args_set(const char *value, const struct kernel_param *kp)
{
	if (sysfs_streq(value, "used")) {
		WRITE_ONCE(kvm_trace_hypercall_all_args, false);
	} else if (sysfs_streq(value, "all")) {
		WRITE_ONCE(kvm_trace_hypercall_all_args, true);
	} else {
		pr_err("hypercall_args: \"%.*s\" is not known; use used or all\n",
		       (int)strcspn(value, "\n"), value);
		return -EINVAL;
	}
	return 0;
}

static int hypercall_args_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n",
			  kvm_trace_hypercall_all_args ? "all" : "used");
}

static const struct kernel_param_ops hypercall_args_ops = {
	.set = hypercall_args_set,
	.get = hypercall_args_get,
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

static int min_host_ns_set(const char *value, const struct kernel_param *kp)
{
	int ret = param_set_ullong(value, kp);

	kvm_trace_ask(KVM_TRACE_ASK_MIN_HOST_NS, kvm_trace_min_host_ns);
	return ret;
}

static const struct kernel_param_ops min_host_ns_ops = {
	.set = min_host_ns_set,
	.get = param_get_ullong,
};

module_param_cb(words, &words_ops, NULL, 0644);
MODULE_PARM_DESC(words, "optional words of vmexit records: lean, default, all, or a list of names");
module_param_cb(batch_words, &batch_words_ops, NULL, 0644);
MODULE_PARM_DESC(batch_words, "optional words of round trips in batches: lean, default, all, or a list of names");
module_param_cb(batch_hypercalls, &batch_hypercalls_ops,
		&kvm_trace_batch_hypercalls, 0644);
MODULE_PARM_DESC(batch_hypercalls, "have hypercalls in batches");
module_param_cb(hypercall_words, &hypercall_words_ops, NULL, 0644);
MODULE_PARM_DESC(hypercall_words, "optional words of hypercall records: lean, default, all, or a list of names");
module_param_cb(hypercall_args, &hypercall_args_ops, NULL, 0644);
MODULE_PARM_DESC(hypercall_args, "arguments in hypercall records: used (those that say something) or all");
module_param_cb(min_host_ns, &min_host_ns_ops, &kvm_trace_min_host_ns, 0644);
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
	ret = kvm_trace_batch_init();
	if (ret)
		goto free_wq;
	ret = kvm_trace_state_init();
	if (ret)
		goto free_batch;
	ret = kvm_trace_hooks_init();
	if (ret)
		goto free_state;
	ret = kvm_trace_pt_pmu_init();
	if (ret)
		goto exit_hooks;
	kvm_trace_pending_init();
	return 0;

exit_hooks:
	kvm_trace_hooks_exit();
free_state:
	kvm_trace_state_exit();
free_batch:
	kvm_trace_batch_exit();
free_wq:
	destroy_workqueue(kvm_trace_wq);
	return ret;
}

static void __exit kvm_trace_exit(void)
{
	kvm_trace_pending_exit();
	kvm_trace_pt_pmu_exit();
	kvm_trace_hooks_exit();
	kvm_trace_state_exit();
	kvm_trace_batch_exit();
	destroy_workqueue(kvm_trace_wq);
}

module_init(kvm_trace_init);
module_exit(kvm_trace_exit);

MODULE_DESCRIPTION("Compact trace records of KVM's VM exits");
MODULE_LICENSE("GPL");
