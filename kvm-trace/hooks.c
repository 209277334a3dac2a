// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches probes to KVM's tracepoints while somebody has one of our events
 * enabled, and only then. KVM exports few of its tracepoints: they are found by
 * name when kvm.ko comes, in whatever order modules are loaded.
 *
 * Locks nest: event_mutex, tracepoint_module_list_mutex or the lock of module
 * parameters, hooks_lock, tracepoints_mutex or kprobe_mutex.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "batch.h"
#include "btf.h"
#include "hooks.h"
#include "hypercall.h"
#include "path.h"
#include "roundtrip.h"
#include "stamp.h"
#include "vcpu.h"
#include "pt/stream.h"

/* Tries, and ms between them, to find the BTF of a kvm.ko that just comes. */
#define BTF_TRIES	50
#define BTF_WAIT_MS	20

/* Those that are made of records of round trips. */
#define ALL_EVENTS	(BIT(KVM_TRACE_EVENT_PT) - 1)
#define HYPERCALL_EVENTS	(BIT(KVM_TRACE_EVENT_HYPERCALL) |	\
				 BIT(KVM_TRACE_EVENT_HYPERCALL_SUB) |	\
				 BIT(KVM_TRACE_EVENT_BATCH_HYPERCALL))
#define BATCH_EVENTS		(BIT(KVM_TRACE_EVENT_BATCH) |		\
				 BIT(KVM_TRACE_EVENT_BATCH_HYPERCALL))

bool kvm_trace_allow_no_btf;

/**
 * struct hook - a probe on a tracepoint of KVM
 * @proto:	name and prototype of the tracepoint
 * @probe:	the probe
 * @probe_vmx:	the probe where the CPU does not have SVM, or NULL for the same
 * @prio:	other tracers' probes have 10; more is earlier
 * @events:	our events that need it
 * @words:	KVM_TRACE_W_* of which one must be wanted too; 0: always needed
 * @anyway:	our events that need it whatever words are wanted
 * @optional:	what it tells of may not be in this kvm, and the events do without
 * @of_kernel:	not KVM's tracepoint but the kernel's own
 * @tp:		the tracepoint, while kvm is there
 * @error:	why it must not be attached, once checked
 * @attached:	the probe is on
 */
struct hook {
	struct kvm_trace_proto proto;
	void *probe;
	void *probe_vmx;
	int prio;
	unsigned long events;
	u64 words;
	unsigned long anyway;
	bool optional;
	bool of_kernel;
	struct tracepoint *tp;
	int error;
	bool attached;
};

/*
 * In the order of attaching: what is on the path comes before kvm_exit, so that
 * nothing of a round trip is missed; kvm_entry comes last and goes first, so
 * that an entry is never seen whose exit would be missed. Ours is the first
 * probe of an exit and the last of an entry: what other tracers take is host
 * time, as it is, and never the guest's. Without a hook that has words, these
 * words stay absent, without an optional one the calls that it tells of; without
 * one of the others, its events are refused.
 *
 * Of ours, those of Intel PT are nearest to the guest: what runs between them is in the
 * guest's trace, if method window makes it, and missing in the host's, and a record takes
 * hundreds of instructions. In return, records count the switching as the guest's time.
 */
static struct hook hooks[] = {
	{
		.proto = {
			.name = "kvm_fpu",
			.args = {
				KVM_TRACE_ARG_INT(int),
			},
			.nargs = 1,
		},
		.probe = kvm_trace_on_fpu,
		.events = ALL_EVENTS,
		.words = KVM_TRACE_WORDS_OF_FPU,
	},
	{
		.proto = {
			.name = "kvm_mmio",
			.args = {
				KVM_TRACE_ARG_INT(int),
				KVM_TRACE_ARG_INT(int),
				KVM_TRACE_ARG_INT(u64),
				KVM_TRACE_ARG_VOID_PTR,
			},
			.nargs = 4,
		},
		.probe = kvm_trace_on_mmio,
		.events = ALL_EVENTS,
		.words = KVM_TRACE_WORDS_OF_MMIO,
	},
	{
		.proto = {
			.name = "kvm_pio",
			.args = {
				KVM_TRACE_ARG_INT(unsigned int),
				KVM_TRACE_ARG_INT(unsigned int),
				KVM_TRACE_ARG_INT(unsigned int),
				KVM_TRACE_ARG_INT(unsigned int),
				KVM_TRACE_ARG_VOID_PTR,
			},
			.nargs = 5,
		},
		.probe = kvm_trace_on_pio,
		.events = ALL_EVENTS,
		.words = KVM_TRACE_WORDS_OF_PIO,
	},
	{
		.proto = {
			.name = "kvm_fast_mmio",
			.args = {
				KVM_TRACE_ARG_INT(u64),
			},
			.nargs = 1,
		},
		.probe = kvm_trace_on_fast_mmio,
		.events = ALL_EVENTS,
		.words = KVM_TRACE_W_FLAGS_HI,
	},
	{
		.proto = {
			.name = "kvm_async_pf_not_present",
			.args = {
				KVM_TRACE_ARG_INT(u64),
				KVM_TRACE_ARG_INT(u64),
			},
			.nargs = 2,
		},
		.probe = kvm_trace_on_async_pf,
		.events = ALL_EVENTS,
		.words = KVM_TRACE_W_FLAGS_HI,
	},
	{
		.proto = {
			.name = "kvm_nested_vmexit_inject",
			.args = {
				KVM_TRACE_ARG_INT(KVM_TRACE_EXIT_CODE),
				KVM_TRACE_ARG_INT(u64),
				KVM_TRACE_ARG_INT(u64),
				KVM_TRACE_ARG_INT(u32),
				KVM_TRACE_ARG_INT(u32),
				KVM_TRACE_ARG_INT(u32),
			},
			.nargs = 6,
		},
		.probe = kvm_trace_on_reflect,
		.events = ALL_EVENTS,
		.words = KVM_TRACE_W_FLAGS_HI,
		.anyway = BIT(KVM_TRACE_EVENT_HYPERCALL) |
			  BIT(KVM_TRACE_EVENT_BATCH_HYPERCALL),
	},
	{
		.proto = {
			.name = "kvm_userspace_exit",
			.args = {
				KVM_TRACE_ARG_INT(u32),
				KVM_TRACE_ARG_INT(int),
			},
			.nargs = 2,
		},
		.probe = kvm_trace_on_userspace_exit,
		.events = ALL_EVENTS,
	},
	{
		.proto = {
			.name = "kvm_hypercall",
			.args = {
				KVM_TRACE_ARG_INT(unsigned long),
				KVM_TRACE_ARG_INT(unsigned long),
				KVM_TRACE_ARG_INT(unsigned long),
				KVM_TRACE_ARG_INT(unsigned long),
				KVM_TRACE_ARG_INT(unsigned long),
			},
			.nargs = 5,
		},
		.probe = kvm_trace_on_hypercall,
		.events = HYPERCALL_EVENTS,
	},
	{
		.proto = {
			.name = "kvm_hv_hypercall",
			.args = {
				KVM_TRACE_ARG_INT(u16),
				KVM_TRACE_ARG_INT(bool),
				KVM_TRACE_ARG_INT(u16),
				KVM_TRACE_ARG_INT(u16),
				KVM_TRACE_ARG_INT(u16),
				KVM_TRACE_ARG_INT(u64),
				KVM_TRACE_ARG_INT(u64),
			},
			.nargs = 7,
		},
		.probe = kvm_trace_on_hv_hypercall,
		.events = HYPERCALL_EVENTS,
		.optional = true,
	},
	{
		.proto = {
			.name = "kvm_xen_hypercall",
			.args = {
#if KVM_TRACE_XEN_HYPERCALL_CPL
				KVM_TRACE_ARG_INT(u8),
#endif
				KVM_TRACE_ARG_INT(unsigned long),
				KVM_TRACE_ARG_INT(unsigned long),
				KVM_TRACE_ARG_INT(unsigned long),
				KVM_TRACE_ARG_INT(unsigned long),
				KVM_TRACE_ARG_INT(unsigned long),
				KVM_TRACE_ARG_INT(unsigned long),
				KVM_TRACE_ARG_INT(unsigned long),
			},
			.nargs = 7 + KVM_TRACE_XEN_HYPERCALL_CPL,
		},
		.probe = kvm_trace_on_xen_hypercall,
		.events = HYPERCALL_EVENTS,
		.optional = true,
	},
	{
		.proto = {
			.name = "kvm_exit",
			.args = {
				KVM_TRACE_ARG_PTR(kvm_vcpu),
				KVM_TRACE_ARG_INT(u32),
			},
			.nargs = 2,
		},
		.probe = kvm_trace_on_exit_svm,
		.probe_vmx = kvm_trace_on_exit_vmx,
		.prio = INT_MAX - 1,
		.events = ALL_EVENTS,
	},
	{
		.proto = {
			.name = "kvm_entry",
			.args = {
				KVM_TRACE_ARG_PTR(kvm_vcpu),
				KVM_TRACE_ARG_INT(bool),
			},
			.nargs = 2,
		},
		.probe = kvm_trace_on_entry,
		.prio = INT_MIN + 1,
		.events = ALL_EVENTS,
	},
	{
		.proto = {
			.name = "kvm_fpu",
			.args = {
				KVM_TRACE_ARG_INT(int),
			},
			.nargs = 1,
		},
		.probe = kvm_trace_pt_on_fpu,
		.events = BIT(KVM_TRACE_EVENT_PT),
	},
	{
		.proto = {
			.name = "kvm_userspace_exit",
			.args = {
				KVM_TRACE_ARG_INT(u32),
				KVM_TRACE_ARG_INT(int),
			},
			.nargs = 2,
		},
		.probe = kvm_trace_pt_on_userspace_exit,
		.events = BIT(KVM_TRACE_EVENT_PT),
	},
	{
		.proto = {
			.name = "kvm_nested_vmenter_failed",
			.args = {
				KVM_TRACE_ARG_CHAR_PTR,
				KVM_TRACE_ARG_INT(u32),
			},
			.nargs = 2,
		},
		.probe = kvm_trace_pt_on_nested_failed,
		.events = BIT(KVM_TRACE_EVENT_PT),
	},
	{
		.proto = {
			.name = "sched_switch",
			.args = {
				KVM_TRACE_ARG_INT(bool),
				KVM_TRACE_ARG_PTR(task_struct),
				KVM_TRACE_ARG_PTR(task_struct),
				KVM_TRACE_ARG_INT(unsigned int),
			},
			.nargs = 4,
		},
		.probe = kvm_trace_pt_on_switch,
		.events = BIT(KVM_TRACE_EVENT_PT_CPU),
		.of_kernel = true,
	},
	{
		.proto = {
			.name = "kvm_exit",
			.args = {
				KVM_TRACE_ARG_PTR(kvm_vcpu),
				KVM_TRACE_ARG_INT(u32),
			},
			.nargs = 2,
		},
		.probe = kvm_trace_pt_on_exit,
		.prio = INT_MAX,
		.events = BIT(KVM_TRACE_EVENT_PT),
	},
	{
		.proto = {
			.name = "kvm_entry",
			.args = {
				KVM_TRACE_ARG_PTR(kvm_vcpu),
				KVM_TRACE_ARG_INT(bool),
			},
			.nargs = 2,
		},
		.probe = kvm_trace_pt_on_entry,
		.prio = INT_MIN,
		.events = BIT(KVM_TRACE_EVENT_PT),
	},
};

static DEFINE_MUTEX(hooks_lock);

/* All under hooks_lock. */
static unsigned int users[KVM_TRACE_EVENT_COUNT];	/* perf, ftrace */
static struct module *kvm_module;	/* NULL if KVM is built in */
static bool kvm_present;
static bool checked;
static bool started;	/* state and clock are there, probes may be on */
static bool attached;	/* all wanted probes are on */
static bool deaths_hooked;
static u64 hooked_words;	/* whose hooks are needed, now or soon no more */
static u64 missing_words;	/* whose hooks this kvm does not have */

/* Events whose tracepoint has a probe, whoever put it there. */
static unsigned long probed;

static void update_work(struct work_struct *work);
static DECLARE_WORK(update_worker, update_work);
/* Keeps update_worker from being queued once the module goes. */
static DEFINE_SPINLOCK(going_lock);
static bool going = true;	/* or has not come yet */

static int on_destroy_vm(struct kprobe *kprobe, struct pt_regs *regs)
{
	kvm_trace_vm_destroyed((struct kvm *)regs_get_kernel_argument(regs, 0));
	return 0;
}

static struct kprobe destroy_kprobe;

static int hook_deaths(void)
{
	int ret;

	if (deaths_hooked)
		return 0;
	destroy_kprobe = (struct kprobe) {
		.symbol_name = "kvm_arch_destroy_vm",
		.pre_handler = on_destroy_vm,
	};
	ret = register_kprobe(&destroy_kprobe);
	if (ret)
		pr_err("cannot probe kvm_arch_destroy_vm (error %d), so the end of a VM would be missed; kvm_trace needs CONFIG_KPROBES\n",
		       ret);
	deaths_hooked = !ret;
	return ret;
}

static void unhook_deaths(void)
{
	if (!deaths_hooked)
		return;
	unregister_kprobe(&destroy_kprobe);
	deaths_hooked = false;
}

static int attach(struct hook *hook)
{
	int ret;

	if (hook->attached)
		return 0;
	if (hook->probe_vmx && !boot_cpu_has(X86_FEATURE_SVM))
		hook->probe = hook->probe_vmx;
	ret = tracepoint_probe_register_prio(hook->tp, hook->probe, NULL,
					     hook->prio);
	hook->attached = !ret;
	return ret;
}

static void detach(struct hook *hook)
{
	if (!hook->attached)
		return;
	tracepoint_probe_unregister(hook->tp, hook->probe, NULL);
	hook->attached = false;
}

/* Without probes of round trips nobody uses what they need. */
static void stop_records(void)
{
	if (!started)
		return;
	tracepoint_synchronize_unregister();
	unhook_deaths();
	kvm_trace_clock_stop();
	kvm_trace_batch_stop();
	kvm_trace_state_stop();
	started = false;
}

static int check_hook(const struct hook *hook, const struct kvm_trace_btf *btf,
		      char *why, size_t why_len)
{
	if (!hook->tp) {
		snprintf(why, why_len, "this kvm has no such tracepoint");
		return -ENOENT;
	}
	if (IS_ERR(btf)) {
		snprintf(why, why_len, "its prototype cannot be checked");
		return kvm_trace_allow_no_btf ? 0 : -ENODATA;
	}
	return kvm_trace_btf_check(btf, &hook->proto, why, why_len);
}

/* A hook that events can do without is not there: nor are its words. */
static void miss_words(const struct hook *hook, const char *why)
{
	pr_warn("going on without %s, and the words that need it: %s\n",
		hook->proto.name, why);
	missing_words |= hook->words;
	/* Of parts that add up, all or none. */
	if (hook->words & KVM_TRACE_W_USER_NS)
		missing_words |= KVM_TRACE_W_HALT_NS | KVM_TRACE_W_POLL_NS;
}

/* Fills in hook->error. */
static int check_hooks(void)
{
	struct kvm_trace_btf *btf;
	char why[96];
	int i;

	if (checked)
		return 0;

	btf = kvm_trace_btf_open(kvm_module ? kvm_module->name : NULL);
	if (PTR_ERR(btf) == -ENOENT && kvm_module &&
	    kvm_module->state == MODULE_STATE_COMING)
		return -EAGAIN;
	/* What may go better the next time is not kept. */
	if (IS_ERR(btf) && !kvm_trace_allow_no_btf &&
	    PTR_ERR(btf) != -ENOENT && PTR_ERR(btf) != -EINVAL) {
		pr_err("cannot read the BTF of kvm: error %ld\n", PTR_ERR(btf));
		return PTR_ERR(btf);
	}
	if (IS_ERR(btf)) {
		pr_warn("no BTF of kvm (error %ld), so its prototypes cannot be checked: %s\n",
			PTR_ERR(btf), kvm_trace_allow_no_btf ?
			"going on, as allow_no_btf=1 says" :
			"use a kernel with CONFIG_DEBUG_INFO_BTF_MODULES, or load with allow_no_btf=1");
	}

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		struct hook *hook = &hooks[i];

		hook->error = check_hook(hook, btf, why, sizeof(why));
		if (hook->error && hook->words)
			miss_words(hook, why);
		else if (!(hook->events & ALL_EVENTS))
			continue;	/* Told when it is wanted. */
		else if (hook->error == -ENOENT && hook->optional)
			pr_debug("no records of calls that %s would tell: %s\n",
				 hook->proto.name, why);
		else if (hook->error == -EPROTOTYPE && hook->optional)
			pr_warn("going on without %s, and the records that need it: %s; build kvm_trace for the running kernel\n",
				hook->proto.name, why);
		else if (hook->error == -ENOENT)
			pr_err("refusing %s: %s\n", hook->proto.name, why);
		else if (hook->error == -EPROTOTYPE)
			pr_err("refusing %s: %s; build kvm_trace for the running kernel\n",
			       hook->proto.name, why);
	}
	if (!IS_ERR(btf))
		kvm_trace_btf_close(btf);
	checked = true;
	return 0;
}

static unsigned long wanted_events(void)
{
	unsigned long wanted;
	int i;

	/* Pairs with kvm_trace_hooks_note(): either it or we see the other. */
	smp_mb();
	wanted = READ_ONCE(probed);
	for (i = 0; i < KVM_TRACE_EVENT_COUNT; i++) {
		if (users[i])
			wanted |= BIT(i);
	}
	if ((wanted & BIT(KVM_TRACE_EVENT_BATCH)) && kvm_trace_batch_hypercalls)
		wanted |= BIT(KVM_TRACE_EVENT_BATCH_HYPERCALL);
	return wanted;
}

/* The hook for which an event cannot be had of this kvm, or NULL; once checked. */
static const struct hook *broken_hook(int id)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if ((hooks[i].events & BIT(id)) && !hooks[i].words &&
		    !hooks[i].optional && hooks[i].error)
			return &hooks[i];
	}
	return NULL;
}

/* Why, or 0; says so if check_hooks() has not. */
static int event_error(int id)
{
	const struct hook *hook = broken_hook(id);

	if (hook && id >= KVM_TRACE_EVENT_PT)
		pr_err("refusing kvm_pt: the tracepoint %s is missing or has another prototype; build kvm_trace for the running kernel\n",
		       hook->proto.name);
	return hook ? hook->error : 0;
}

static bool needed(const struct hook *hook, unsigned long wanted)
{
	if (hook->error)
		return false;
	if (hook->anyway & wanted)
		return true;
	return (hook->events & wanted) &&
	       (!hook->words || (hook->words & hooked_words));
}

/* Words that somebody asks for and that this kvm has. */
static u64 wanted_words(unsigned long wanted)
{
	u64 words = 0;

	if (wanted & BIT(KVM_TRACE_EVENT_VMEXIT))
		words |= kvm_trace_vmexit_words;
	if (wanted & BIT(KVM_TRACE_EVENT_BATCH))
		words |= kvm_trace_batch_words;
	return words & ~missing_words;
}

static void collect_words(u64 words)
{
	if (kvm_trace_words == words)
		return;
	WRITE_ONCE(kvm_trace_words, words);
	kvm_trace_ask(KVM_TRACE_ASK_WORDS, words);
	/* Who has the old words has the old generation. */
	smp_wmb();
	WRITE_ONCE(kvm_trace_words_generation, kvm_trace_words_generation + 1);
}

static void detach_unneeded(unsigned long wanted)
{
	int i;

	if (!(wanted & ALL_EVENTS))
		WRITE_ONCE(attached, false);
	for (i = ARRAY_SIZE(hooks) - 1; i >= 0; i--) {
		if (!needed(&hooks[i], wanted))
			detach(&hooks[i]);
	}
	if (!(wanted & ALL_EVENTS))
		stop_records();
}

static void detach_all(void)
{
	detach_unneeded(0);
}

static int attach_needed(unsigned long wanted)
{
	int i, ret;

	detach_unneeded(wanted);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!needed(&hooks[i], wanted))
			continue;
		ret = attach(&hooks[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Attaches what is needed by those who want it, and detaches the rest. Probes are
 * there before records ask for their words. They may go before the last record
 * that still asks: it notices by the generation.
 */
static int update(void)
{
	unsigned long wanted = wanted_events();
	u64 words;
	int i, ret;

	lockdep_assert_held(&hooks_lock);
	if (!wanted || !kvm_present || READ_ONCE(going)) {
		detach_all();
		return 0;
	}
	ret = check_hooks();
	if (ret)
		return ret;
	/* One event that cannot be had is no reason to stop the others. */
	for (i = 0; i < KVM_TRACE_EVENT_COUNT; i++) {
		if ((wanted & BIT(i)) && event_error(i))
			wanted &= ~BIT(i);
	}
	if (!wanted) {
		detach_all();
		return 0;
	}

	if (!(wanted & ALL_EVENTS))
		return attach_needed(wanted);

	ret = kvm_trace_state_start();
	if (ret)
		return ret;
	if (wanted & BATCH_EVENTS) {
		ret = kvm_trace_batch_start();
		if (ret && !started)
			kvm_trace_state_stop();
		if (ret)
			return ret;
	} else {
		kvm_trace_batch_stop();
	}
	words = wanted_words(wanted);
	if (!started) {
		collect_words(words);
		kvm_trace_clock_start();
		kvm_trace_forget_lost();
	}
	started = true;
	ret = hook_deaths();
	if (ret) {
		/* Those of Intel PT may be between a VM entry and its exit. */
		detach_unneeded(wanted & ~ALL_EVENTS);
		return ret;
	}
	hooked_words = kvm_trace_words | words;
	ret = attach_needed(wanted);
	if (ret)
		return ret;
	collect_words(words);
	hooked_words = words;
	ret = attach_needed(wanted);
	if (ret)
		return ret;
	WRITE_ONCE(attached, true);
	return 0;
}

static void queue_update(void)
{
	spin_lock(&going_lock);
	if (!going)
		queue_work(kvm_trace_wq, &update_worker);
	spin_unlock(&going_lock);
}

static void update_work(struct work_struct *work)
{
	int tries, ret;

	for (tries = 0; tries < BTF_TRIES; tries++) {
		mutex_lock(&hooks_lock);
		ret = update();
		mutex_unlock(&hooks_lock);
		if (ret != -EAGAIN)
			break;
		msleep(BTF_WAIT_MS);
	}
	if (ret)
		pr_err("cannot attach to kvm: error %d\n", ret);
}

/*
 * Without probes, guests would be in a host's stream. So kvm_pt does not wait for kvm, and
 * while there are events of it, kvm stays.
 */
static int hold_kvm(void)
{
	if (!kvm_present) {
		pr_err("refusing kvm_pt: kvm is not loaded: load kvm_intel first\n");
		return -ENODEV;
	}
	if (kvm_module && (kvm_module->state != MODULE_STATE_LIVE || !try_module_get(kvm_module))) {
		pr_err("refusing kvm_pt: kvm is just being loaded or unloaded: try again\n");
		return -EAGAIN;
	}
	return 0;
}

static int get_event(enum kvm_trace_event_id id)
{
	const struct hook *broken;
	int ret;

	lockdep_assert_held(&hooks_lock);
	users[id]++;
	ret = update();
	if (ret == -EAGAIN) {
		queue_update();
		ret = 0;
	} else if (!ret && kvm_present && checked) {
		broken = broken_hook(id);
		ret = broken ? broken->error : 0;
	}
	if (ret) {
		users[id]--;
		update();
	}
	return ret;
}

/**
 * kvm_trace_hooks_get() - perf or ftrace wants an event
 * @id: the event
 *
 * Context: process context, event_mutex held if the event has a tracepoint.
 * Return: 0, also if kvm is not there yet, but for those of Intel PT; -EPROTOTYPE,
 *         -ENOENT or -ENODATA if a tracepoint of this kvm is not the one compiled
 *         for or cannot be checked; -ENOMEM; of Intel PT -ENODEV or -EAGAIN without kvm
 */
int kvm_trace_hooks_get(enum kvm_trace_event_id id)
{
	const bool holds = id >= KVM_TRACE_EVENT_PT;
	int ret;

	mutex_lock(&hooks_lock);
	ret = holds ? hold_kvm() : 0;
	if (!ret) {
		ret = get_event(id);
		if (ret && holds)
			module_put(kvm_module);
	}
	mutex_unlock(&hooks_lock);
	return ret;
}

/**
 * kvm_trace_hooks_put() - perf or ftrace no longer wants an event
 * @id: the event
 *
 * Context: process context; may come after kvm_trace_hooks_exit().
 */
void kvm_trace_hooks_put(enum kvm_trace_event_id id)
{
	mutex_lock(&hooks_lock);
	users[id]--;
	update();
	if (id >= KVM_TRACE_EVENT_PT)
		module_put(kvm_module);
	mutex_unlock(&hooks_lock);
}

static int choose_words(u64 *chosen, u64 words)
{
	u64 before;
	int ret;

	mutex_lock(&hooks_lock);
	before = *chosen;
	WRITE_ONCE(*chosen, words);
	ret = update();
	/* A worker goes on with a kvm that just comes. */
	if (ret == -EAGAIN)
		ret = 0;
	if (ret) {
		WRITE_ONCE(*chosen, before);
		update();
	}
	/* Also if they are the same: probes may have been away meanwhile. */
	WRITE_ONCE(kvm_trace_words_generation, kvm_trace_words_generation + 1);
	mutex_unlock(&hooks_lock);
	return ret;
}

/**
 * kvm_trace_hooks_set_words() - change the words that vmexit records may hold
 * @words: KVM_TRACE_W_*
 *
 * Context: process context.
 * Return: 0; or an error, and nothing has changed
 */
int kvm_trace_hooks_set_words(u64 words)
{
	return choose_words(&kvm_trace_vmexit_words, words);
}

/**
 * kvm_trace_hooks_set_batch_words() - change the words that batches may hold
 * @words: KVM_TRACE_W_*
 *
 * Context: process context.
 * Return: 0; or an error, and nothing has changed
 */
int kvm_trace_hooks_set_batch_words(u64 words)
{
	return choose_words(&kvm_trace_batch_words, words);
}

/**
 * kvm_trace_hooks_set_batch_hypercalls() - have hypercalls in batches or not
 * @on: have them
 *
 * Context: process context.
 * Return: 0; or an error, and nothing has changed
 */
int kvm_trace_hooks_set_batch_hypercalls(bool on)
{
	bool before;
	int ret;

	mutex_lock(&hooks_lock);
	before = kvm_trace_batch_hypercalls;
	WRITE_ONCE(kvm_trace_batch_hypercalls, on);
	ret = update();
	if (ret == -EAGAIN)
		ret = 0;
	if (ret) {
		WRITE_ONCE(kvm_trace_batch_hypercalls, before);
		update();
	}
	mutex_unlock(&hooks_lock);
	return ret;
}

/**
 * kvm_trace_hooks_note() - the tracepoint of an event got, or lost, its probes
 * @id: the event
 * @on: it has one
 *
 * Tells of those who come without kvm_trace_hooks_get(), as BPF's raw
 * tracepoints do; a worker attaches for them.
 *
 * Context: process context, tracepoints_mutex held.
 */
void kvm_trace_hooks_note(enum kvm_trace_event_id id, bool on)
{
	if (on)
		set_bit(id, &probed);
	else
		clear_bit(id, &probed);
	/* Pairs with wanted_events(). */
	smp_mb__after_atomic();
	if (id == KVM_TRACE_EVENT_VMEXIT)
		kvm_trace_ask(KVM_TRACE_ASK_VMEXIT, on);
	else if (id == KVM_TRACE_EVENT_VCPU)
		kvm_trace_ask(KVM_TRACE_ASK_VCPU, on);
	else if (id == KVM_TRACE_EVENT_BATCH)
		kvm_trace_ask(KVM_TRACE_ASK_BATCHES, on);
	/* With a user, kvm_trace_hooks_get() has attached, or put will detach. */
	if (!READ_ONCE(users[id]))
		queue_update();
}

/**
 * kvm_trace_hooks_attached() - whether probes are on
 *
 * Context: any.
 * Return: true if they are; the answer may be old
 */
bool kvm_trace_hooks_attached(void)
{
	return READ_ONCE(attached);
}

static void found_tracepoint(struct tracepoint *tp, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!strcmp(tp->name, hooks[i].proto.name)) {
			hooks[i].tp = tp;
			kvm_present |= !hooks[i].of_kernel;
		}
	}
}

static void lose_kvm(void)
{
	int i;

	detach_all();
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!hooks[i].of_kernel)
			hooks[i].tp = NULL;
	}
	kvm_module = NULL;
	kvm_present = false;
	checked = false;
	missing_words = 0;
}

static int on_module(struct notifier_block *nb, unsigned long what, void *data)
{
	struct tp_module *tp_mod = data;
	struct module *mod = tp_mod->mod;
	unsigned int i;

	if (strcmp(mod->name, "kvm"))
		return NOTIFY_DONE;

	mutex_lock(&hooks_lock);
	if (what == MODULE_STATE_COMING) {
		kvm_module = mod;
		for (i = 0; i < mod->num_tracepoints; i++)
			found_tracepoint(tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]),
					 NULL);
		if (wanted_events())
			queue_update();
	} else if (what == MODULE_STATE_GOING) {
		lose_kvm();
	}
	mutex_unlock(&hooks_lock);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = {
	.notifier_call = on_module,
};

/**
 * kvm_trace_hooks_init() - find KVM, or wait for it
 *
 * Events may have been enabled before this: they exist as soon as the kernel
 * sees the module come.
 *
 * Return: 0, or an error of register_tracepoint_module_notifier()
 */
int kvm_trace_hooks_init(void)
{
	int ret;

	spin_lock(&going_lock);
	going = false;
	spin_unlock(&going_lock);
	mutex_lock(&hooks_lock);
	for_each_kernel_tracepoint(found_tracepoint, NULL);
	if (kvm_present && wanted_events())
		queue_update();
	mutex_unlock(&hooks_lock);
	ret = register_tracepoint_module_notifier(&module_notifier);
	if (ret)
		kvm_trace_hooks_exit();
	return ret;
}

/**
 * kvm_trace_hooks_exit() - detach for good
 *
 * Our events' own callbacks still come after this, when the kernel takes the
 * events away.
 */
void kvm_trace_hooks_exit(void)
{
	spin_lock(&going_lock);
	going = true;
	spin_unlock(&going_lock);
	cancel_work_sync(&update_worker);
	unregister_tracepoint_module_notifier(&module_notifier);
	mutex_lock(&hooks_lock);
	lose_kvm();
	mutex_unlock(&hooks_lock);
	tracepoint_synchronize_unregister();
}
