// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU kvm_pt: which events there may be, with what configuration, and what goes
 * with the first and the last of them. What an event does on a CPU is stream.c's.
 *
 * Locks nest: CPU hotplug, events_lock. KVM's hooks are attached under neither.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/reboot.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>

#include <asm/msr-index.h>

#include "compat/compat.h"
#include "hooks.h"
#include "caps.h"
#include "pmu.h"
#include "reserve.h"
#include "stream.h"
#include "topa.h"

/* In attr.config, IA32_RTIT_CTL's TraceEn says that BranchEn is given, as intel_pt's. */
#define CONFIG_BRANCH_GIVEN	RTIT_CTL_TRACEEN
#define CONFIG_CYC_PSB		(RTIT_CTL_CYCLEACC | RTIT_CTL_CYC_THRESH | RTIT_CTL_PSB_FREQ)
#define CONFIG_MTC		(RTIT_CTL_MTC_EN | RTIT_CTL_MTC_RANGE)
#define CONFIG_PTW		(RTIT_CTL_PTW_EN | RTIT_CTL_FUP_ON_PTW)
#define CONFIG_ALL		(CONFIG_BRANCH_GIVEN | CONFIG_CYC_PSB | CONFIG_MTC |	\
				 CONFIG_PTW | RTIT_CTL_PWR_EVT_EN | RTIT_CTL_TSC_EN |	\
				 RTIT_CTL_DISRETC | RTIT_CTL_BRANCH_EN)

/* In attr.config1, as in kvm_trace_detail:pt; 0 of each is a default. */
#define CONFIG1_ALL	(KVM_TRACE_PT_CONFIG_MODE | KVM_TRACE_PT_CONFIG_STREAM |	\
			 KVM_TRACE_PT_CONFIG_METHOD)
#define MODE_HOST	1
#define MODE_GUEST	2
#define MODE_HOST_GUEST	3
#define STREAM_HOST	1
#define STREAM_GUEST	2
#define METHOD_AUTO	0
#define METHOD_VMCS	1
#define METHOD_WINDOW	2

/* IA32_RTIT_CTL.ADDRn_CFG. */
#define RANGE_FILTER	1ull
#define RANGE_STOP	2ull
#define RANGE_BITS	4

static const char * const methods[] = {
	[METHOD_AUTO] = "auto", [METHOD_VMCS] = "vmcs", [METHOD_WINDOW] = "window",
};

static int default_method;	/* parameter pt_method */

static struct pmu pmu;
static DEFINE_MUTEX(events_lock);
static LIST_HEAD(events);
static bool reserved;	/* intel_pt is; changed with hotplug held off, too */
/* Hooks of gone events, of which a CPU's Intel PT still has something. */
static unsigned int lingering[2];
static enum cpuhp_state hotplug_state;

static int error_of(enum kvm_trace_pt_why why)
{
	switch (why) {
	case KVM_TRACE_PT_WHY_NO_PT:
	case KVM_TRACE_PT_WHY_NO_TOPA:
	case KVM_TRACE_PT_WHY_NO_VMX:
		return -ENODEV;
	case KVM_TRACE_PT_WHY_TARGET:
	case KVM_TRACE_PT_WHY_MIXED:
		return -EBUSY;
	case KVM_TRACE_PT_WHY_LOCKDOWN:
		return -EPERM;
	case KVM_TRACE_PT_WHY_NO_RIGHT:
		return -EACCES;
	case KVM_TRACE_PT_WHY_CONFIG:
		return -EINVAL;
	default:
		return -EOPNOTSUPP;
	}
}

static int refuse(const struct kvm_trace_pt_event *event, enum kvm_trace_pt_why why, int error)
{
	pr_notice_ratelimited("kvm_pt: refused: %s\n", kvm_trace_pt_words(why));
	kvm_trace_pt_tell(event, KVM_TRACE_PT_REFUSED, why, 0, 0);
	return error;
}

static bool is_choice(u64 config, u64 bits, enum kvm_trace_pt_cap choices)
{
	u64 choice = (config & bits) >> __builtin_ctzll(bits);

	return !choice || kvm_trace_pt_cap(choices) & BIT(choice);
}

static bool has_config(u64 config)
{
	if (config & ~CONFIG_ALL)
		return false;
	if (config & CONFIG_CYC_PSB &&
	    (!kvm_trace_pt_cap(KVM_TRACE_PT_CAP_psb_cyc) ||
	     !is_choice(config, RTIT_CTL_CYC_THRESH, KVM_TRACE_PT_CAP_cycle_thresholds) ||
	     !is_choice(config, RTIT_CTL_PSB_FREQ, KVM_TRACE_PT_CAP_psb_periods)))
		return false;
	/* A period of 0 is a choice, too. */
	if (config & CONFIG_MTC &&
	    (!kvm_trace_pt_cap(KVM_TRACE_PT_CAP_mtc) ||
	     !(kvm_trace_pt_cap(KVM_TRACE_PT_CAP_mtc_periods) &
	       BIT((config & RTIT_CTL_MTC_RANGE) >> RTIT_CTL_MTC_RANGE_OFFSET))))
		return false;
	if (config & RTIT_CTL_PWR_EVT_EN &&
	    !kvm_trace_pt_cap(KVM_TRACE_PT_CAP_power_event_trace))
		return false;
	if (config & CONFIG_PTW &&
	    (!kvm_trace_pt_cap(KVM_TRACE_PT_CAP_ptwrite) || !(config & RTIT_CTL_PTW_EN)))
		return false;
	return config & CONFIG_BRANCH_GIVEN || !(config & RTIT_CTL_BRANCH_EN);
}

/* Fills in side and config but for the method. */
static bool choose_stream(struct kvm_trace_pt_event *event, u64 config1)
{
	u64 mode = config1 & KVM_TRACE_PT_CONFIG_MODE ?: MODE_GUEST;
	u64 stream = (config1 & KVM_TRACE_PT_CONFIG_STREAM) >> KVM_TRACE_PT_CONFIG_STREAM_SHIFT;

	if (!stream)
		stream = mode == MODE_HOST ? STREAM_HOST : STREAM_GUEST;
	if (stream > STREAM_GUEST || (mode != MODE_HOST_GUEST && stream != mode))
		return false;
	event->side = stream == STREAM_HOST ? KVM_TRACE_PT_HOST : KVM_TRACE_PT_GUEST;
	event->config = mode | stream << KVM_TRACE_PT_CONFIG_STREAM_SHIFT;
	return true;
}

static enum kvm_trace_pt_why choose_method(struct kvm_trace_pt_event *event, u64 config1)
{
	u64 method = (config1 & KVM_TRACE_PT_CONFIG_METHOD) >> KVM_TRACE_PT_CONFIG_METHOD_SHIFT;

	if (event->side == KVM_TRACE_PT_HOST)
		return method ? KVM_TRACE_PT_WHY_CONFIG : KVM_TRACE_PT_WHY_NONE;
	if (method >= ARRAY_SIZE(methods))
		return KVM_TRACE_PT_WHY_CONFIG;
	if (method == METHOD_AUTO)
		method = READ_ONCE(default_method);
	if (method == METHOD_VMCS && kvm_trace_pt_host.why_not_vmcs)
		return kvm_trace_pt_host.why_not_vmcs;
	if (method == METHOD_AUTO)
		method = kvm_trace_pt_host.why_not_vmcs ? METHOD_WINDOW : METHOD_VMCS;
	event->method = method == METHOD_VMCS ? KVM_TRACE_PT_VMCS : KVM_TRACE_PT_WINDOW;
	event->config |= method << KVM_TRACE_PT_CONFIG_METHOD_SHIFT;
	return KVM_TRACE_PT_WHY_NONE;
}

static enum kvm_trace_pt_why configure(struct kvm_trace_pt_event *event)
{
	const struct perf_event_attr *attr = &event->perf->attr;

	if (attr->config1 & ~(u64)CONFIG1_ALL || attr->config2 ||
	    kvm_trace_perf_more_config(attr) || !choose_stream(event, attr->config1))
		return KVM_TRACE_PT_WHY_CONFIG;
	if (kvm_trace_pt_host.why)
		return kvm_trace_pt_host.why;
#ifdef KVM_TRACE_PT_SVM
	if (kvm_trace_pt_late_exit)
		return KVM_TRACE_PT_WHY_LATE_EXIT;
#endif
	if (security_locked_down(LOCKDOWN_PERF))
		return KVM_TRACE_PT_WHY_LOCKDOWN;
	if (!perfmon_capable())
		return KVM_TRACE_PT_WHY_NO_RIGHT;
	/* The AUX area of an inherited event could not be mapped. */
	if (!has_config(attr->config) || is_sampling_event(event->perf) || attr->inherit ||
	    (attr->exclude_kernel && attr->exclude_user))
		return KVM_TRACE_PT_WHY_CONFIG;

	event->ctl = (attr->config & ~CONFIG_BRANCH_GIVEN) | RTIT_CTL_TRACEEN | RTIT_CTL_TOPA;
	if (!(attr->config & CONFIG_BRANCH_GIVEN))
		event->ctl |= RTIT_CTL_BRANCH_EN;
	if (!attr->exclude_kernel)
		event->ctl |= RTIT_CTL_OS;
	if (!attr->exclude_user)
		event->ctl |= RTIT_CTL_USR;
	return choose_method(event, attr->config1);
}

static bool is_of_cpu(const struct kvm_trace_pt_event *event)
{
	return !event->perf->hw.target;
}

static enum kvm_trace_pt_why find_conflict(const struct kvm_trace_pt_event *event)
{
	const struct perf_event *perf = event->perf;
	const struct kvm_trace_pt_event *other;

	list_for_each_entry(other, &events, list) {
		if (is_of_cpu(other) != is_of_cpu(event))
			return KVM_TRACE_PT_WHY_MIXED;
		if (other->side == event->side && other->perf->hw.target == perf->hw.target &&
		    (other->perf->cpu == perf->cpu || other->perf->cpu < 0 || perf->cpu < 0))
			return KVM_TRACE_PT_WHY_TARGET;
	}
	return KVM_TRACE_PT_WHY_NONE;
}

static enum kvm_trace_pt_why add_to_events(struct kvm_trace_pt_event *event, int *error)
{
	enum kvm_trace_pt_why why;

	cpus_read_lock();
	mutex_lock(&events_lock);
	why = find_conflict(event);
	if (why) {
		*error = error_of(why);
	} else {
		/* Not only of the first event: a CPU may have come that intel_pt had. */
		why = kvm_trace_pt_reserve(pmu.dev, error);
		if (!why) {
			reserved = true;
			list_add(&event->list, &events);
		} else if (!reserved) {
			kvm_trace_pt_release();
		}
	}
	mutex_unlock(&events_lock);
	cpus_read_unlock();
	return why;
}

static int get_hooks(bool of_cpu)
{
	int ret = kvm_trace_hooks_get(KVM_TRACE_EVENT_PT);

	if (ret || !of_cpu)
		return ret;
	ret = kvm_trace_hooks_get(KVM_TRACE_EVENT_PT_CPU);
	if (ret)
		kvm_trace_hooks_put(KVM_TRACE_EVENT_PT);
	return ret;
}

static void put_hooks(bool of_cpu)
{
	if (of_cpu)
		kvm_trace_hooks_put(KVM_TRACE_EVENT_PT_CPU);
	kvm_trace_hooks_put(KVM_TRACE_EVENT_PT);
}

/* With the last event intel_pt is free again, unless not all is undone. */
static void drop_events(struct kvm_trace_pt_event *event)
{
	bool of_cpu = is_of_cpu(event), put = true;

	cpus_read_lock();
	mutex_lock(&events_lock);
	list_del(&event->list);
	if (kvm_trace_pt_streams_left()) {
		lingering[of_cpu]++;
		put = false;
	} else if (list_empty(&events)) {
		kvm_trace_pt_release();
		reserved = false;
	}
	mutex_unlock(&events_lock);
	cpus_read_unlock();
	if (put)
		put_hooks(of_cpu);
}

/**
 * kvm_trace_pt_all_undone() - no switch has anything of a gone event any more
 *
 * Context: process context.
 */
void kvm_trace_pt_all_undone(void)
{
	unsigned int threads, cpus;

	cpus_read_lock();
	mutex_lock(&events_lock);
	threads = lingering[false];
	cpus = lingering[true];
	lingering[false] = 0;
	lingering[true] = 0;
	if (reserved && list_empty(&events)) {
		kvm_trace_pt_release();
		reserved = false;
	}
	mutex_unlock(&events_lock);
	cpus_read_unlock();
	while (threads--)
		put_hooks(false);
	while (cpus--)
		put_hooks(true);
}

static void event_destroy(struct perf_event *perf)
{
	struct kvm_trace_pt_event *event = perf->pmu_private;

	drop_events(event);
	kfree(event);
}

static int event_init(struct perf_event *perf)
{
	struct kvm_trace_pt_event *event;
	enum kvm_trace_pt_why why;
	int ret;

	if (perf->attr.type != pmu.type)
		return -ENOENT;
	event = kzalloc(sizeof(*event), GFP_KERNEL);
	if (!event)
		return -ENOMEM;
	event->perf = perf;
	if (perf->hw.target)
		event->tid = task_pid_nr(perf->hw.target);
	why = configure(event);
	if (why) {
		ret = refuse(event, why, error_of(why));
		goto free;
	}
	ret = get_hooks(is_of_cpu(event));
	if (ret) {
		refuse(event, KVM_TRACE_PT_WHY_NO_HOOK, ret);
		goto free;
	}
	why = add_to_events(event, &ret);
	if (why) {
		put_hooks(is_of_cpu(event));
		refuse(event, why, ret);
		goto free;
	}
	perf->pmu_private = event;
	perf->destroy = event_destroy;
	return 0;

free:
	kfree(event);
	return ret;
}

static void event_start(struct perf_event *perf, int flags)
{
	kvm_trace_pt_stream_start(perf->pmu_private);
}

/*
 * In 7.3, unlike 6.12, an event that is throttled stops all of its group, from its NMI,
 * which may have come in the middle of the switch: ours goes on.
 */
static void event_stop(struct perf_event *perf, int flags)
{
	if (in_nmi())
		return;
	kvm_trace_pt_stream_stop(perf->pmu_private);
}

static int event_add(struct perf_event *perf, int flags)
{
	perf->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	return flags & PERF_EF_START ? kvm_trace_pt_stream_start(perf->pmu_private) : 0;
}

static void event_del(struct perf_event *perf, int flags)
{
	kvm_trace_pt_stream_stop(perf->pmu_private);
}

/* It counts nothing. */
static void event_read(struct perf_event *perf)
{
}

/*
 * A ring buffer, and so its AUX area, outlives the event that made it if another event
 * has its output there. Without the module perf could not free it.
 */
static void *event_setup_aux(struct perf_event *perf, void **pages, int nr_pages, bool snapshot)
{
	int node = perf->cpu < 0 ? NUMA_NO_NODE : cpu_to_node(perf->cpu);
	struct kvm_trace_pt_buffer *buffer;

	buffer = kvm_trace_pt_buffer_alloc(pages, nr_pages, snapshot, node);
	if (buffer)
		__module_get(THIS_MODULE);
	return buffer;
}

static void event_free_aux(void *aux)
{
	kvm_trace_pt_buffer_put(aux);
	module_put(THIS_MODULE);
}

static bool is_canonical(unsigned long address)
{
	unsigned int unused = BITS_PER_LONG - boot_cpu_data.x86_virt_bits;

	return (unsigned long)((long)(address << unused) >> unused) == address;
}

static int addr_filters_validate(struct list_head *filters)
{
	const struct perf_addr_filter *filter;
	unsigned int ranges = 0;

	list_for_each_entry(filter, filters, entry) {
		/* Of a guest's files nothing is known here, of a host's perf's intel_pt knows. */
		if (filter->path.dentry || filter->action == PERF_ADDR_FILTER_ACTION_START ||
		    !filter->size || ++ranges > kvm_trace_pt_host.caps.ranges) {
			pr_notice_ratelimited("kvm_pt: refused: at most %u address filters \"filter\" or \"stop\", START/SIZE without a file\n",
					      kvm_trace_pt_host.caps.ranges);
			return -EOPNOTSUPP;
		}
		if (filter->size - 1 > ULONG_MAX - filter->offset ||
		    !is_canonical(filter->offset) ||
		    !is_canonical(filter->offset + filter->size - 1)) {
			pr_notice_ratelimited("kvm_pt: refused: an address filter ends beyond what this CPU can address\n");
			return -EINVAL;
		}
	}
	return 0;
}

static void addr_filters_sync(struct perf_event *perf)
{
	struct kvm_trace_pt_event *event = perf->pmu_private;
	const struct perf_addr_filter *filter;
	unsigned int range = 0;

	event->range_ctl = 0;
	list_for_each_entry(filter, &perf_event_addr_filters(perf)->list, entry) {
		event->range[2 * range] = filter->offset;
		event->range[2 * range + 1] = filter->offset + filter->size - 1;
		event->range_ctl |= (filter->action == PERF_ADDR_FILTER_ACTION_FILTER ?
				     RANGE_FILTER : RANGE_STOP) <<
				    (RTIT_CTL_ADDR0_OFFSET + RANGE_BITS * range);
		range++;
	}
}

PMU_FORMAT_ATTR(pt, "config:0");
PMU_FORMAT_ATTR(cyc, "config:1");
PMU_FORMAT_ATTR(pwr_evt, "config:4");
PMU_FORMAT_ATTR(fup_on_ptw, "config:5");
PMU_FORMAT_ATTR(mtc, "config:9");
PMU_FORMAT_ATTR(tsc, "config:10");
PMU_FORMAT_ATTR(noretcomp, "config:11");
PMU_FORMAT_ATTR(ptw, "config:12");
PMU_FORMAT_ATTR(branch, "config:13");
PMU_FORMAT_ATTR(mtc_period, "config:14-17");
PMU_FORMAT_ATTR(cyc_thresh, "config:19-22");
PMU_FORMAT_ATTR(psb_period, "config:24-27");
PMU_FORMAT_ATTR(mode, "config1:0-1");
PMU_FORMAT_ATTR(stream, "config1:2-3");
PMU_FORMAT_ATTR(method, "config1:4-5");

static struct attribute *format_attrs[] = {
	&format_attr_pt.attr,
	&format_attr_cyc.attr,
	&format_attr_pwr_evt.attr,
	&format_attr_fup_on_ptw.attr,
	&format_attr_mtc.attr,
	&format_attr_tsc.attr,
	&format_attr_noretcomp.attr,
	&format_attr_ptw.attr,
	&format_attr_branch.attr,
	&format_attr_mtc_period.attr,
	&format_attr_cyc_thresh.attr,
	&format_attr_psb_period.attr,
	&format_attr_mode.attr,
	&format_attr_stream.attr,
	&format_attr_method.attr,
	NULL,
};

static umode_t format_is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	if (attr == &format_attr_pwr_evt.attr &&
	    !kvm_trace_pt_cap(KVM_TRACE_PT_CAP_power_event_trace))
		return 0;
	if ((attr == &format_attr_ptw.attr || attr == &format_attr_fup_on_ptw.attr) &&
	    !kvm_trace_pt_cap(KVM_TRACE_PT_CAP_ptwrite))
		return 0;
	return attr->mode;
}

static const struct attribute_group format_group = {
	.name = "format",
	.attrs = format_attrs,
	.is_visible = format_is_visible,
};

static ssize_t show_cap(struct device *device, struct device_attribute *attr, char *buffer)
{
	struct dev_ext_attribute *cap = container_of(attr, struct dev_ext_attribute, attr);

	return sysfs_emit(buffer, "%x\n", kvm_trace_pt_cap((long)cap->var));
}

static ssize_t in_vmx_show(struct device *device, struct device_attribute *attr, char *buffer)
{
	return sysfs_emit(buffer, "%d\n", kvm_trace_pt_host.caps.in_vmx);
}

static ssize_t methods_show(struct device *device, struct device_attribute *attr, char *buffer)
{
	if (kvm_trace_pt_host.why)
		return sysfs_emit(buffer, "\n");
	return sysfs_emit(buffer, "%s%s\n", kvm_trace_pt_host.why_not_vmcs ? "" : "vmcs ",
			  methods[METHOD_WINDOW]);
}

/* Why nothing, or not method vmcs, can be had; empty if all can. */
static ssize_t refusal_show(struct device *device, struct device_attribute *attr, char *buffer)
{
	enum kvm_trace_pt_why why = kvm_trace_pt_host.why_not_vmcs;

	return sysfs_emit(buffer, "%s\n", why ? kvm_trace_pt_words(why) : "");
}

#define CAP_ATTR(name, leaf, reg, mask)					\
static struct dev_ext_attribute cap_attr_##name = {			\
	.attr = __ATTR(name, 0444, show_cap, NULL),			\
	.var = (void *)KVM_TRACE_PT_CAP_##name,				\
};

KVM_TRACE_PT_CPUID(CAP_ATTR)

static DEVICE_ATTR_RO(in_vmx);
static DEVICE_ATTR_RO(methods);
static DEVICE_ATTR_RO(refusal);

#define CAP_ATTR_OF(name, leaf, reg, mask) &cap_attr_##name.attr.attr,
static struct attribute *caps_attrs[] = {
	&dev_attr_in_vmx.attr,
	&dev_attr_methods.attr,
	&dev_attr_refusal.attr,
	KVM_TRACE_PT_CPUID(CAP_ATTR_OF)
	NULL,
};

static const struct attribute_group caps_group = {
	.name = "caps",
	.attrs = caps_attrs,
};

static ssize_t max_nonturbo_ratio_show(struct device *device, struct device_attribute *attr,
				       char *buffer)
{
	return sysfs_emit(buffer, "%u\n", kvm_trace_pt_host.max_nonturbo_ratio);
}

static ssize_t tsc_art_ratio_show(struct device *device, struct device_attribute *attr,
				  char *buffer)
{
	return sysfs_emit(buffer, "%u:%u\n", kvm_trace_pt_host.tsc_art_num,
			  kvm_trace_pt_host.tsc_art_den);
}

static DEVICE_ATTR_RO(max_nonturbo_ratio);
static DEVICE_ATTR_RO(tsc_art_ratio);

static struct attribute *timing_attrs[] = {
	&dev_attr_max_nonturbo_ratio.attr,
	&dev_attr_tsc_art_ratio.attr,
	NULL,
};

static const struct attribute_group timing_group = {
	.attrs = timing_attrs,
};

static const struct attribute_group *attr_groups[] = {
	&format_group,
	&caps_group,
	&timing_group,
	NULL,
};

/* Two streams of a target are two events: no PERF_PMU_CAP_EXCLUSIVE, see find_conflict(). */
static struct pmu pmu = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_sw_context,
	.capabilities = PERF_PMU_CAP_ITRACE | KVM_TRACE_PMU_CAP_LARGE,
	.attr_groups = attr_groups,
	.event_init = event_init,
	.add = event_add,
	.del = event_del,
	.start = event_start,
	.stop = event_stop,
	.read = event_read,
	.setup_aux = event_setup_aux,
	.free_aux = event_free_aux,
	.addr_filters_validate = addr_filters_validate,
	.addr_filters_sync = addr_filters_sync,
};

static int method_set(const char *value, const struct kernel_param *kp)
{
	int method = __sysfs_match_string(methods, ARRAY_SIZE(methods), value);

	if (method < 0) {
		pr_err("pt_method: \"%.*s\" is not known; use auto, vmcs or window\n",
		       (int)strcspn(value, "\n"), value);
		return method;
	}
	WRITE_ONCE(default_method, method);
	return 0;
}

static int method_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", methods[default_method]);
}

static const struct kernel_param_ops method_ops = {
	.set = method_set,
	.get = method_get,
};

module_param_cb(pt_method, &method_ops, NULL, 0644);
MODULE_PARM_DESC(pt_method, "how Intel PT is switched for guests, if an event does not say: auto, vmcs or window");

static int cpu_comes(unsigned int cpu)
{
	enum kvm_trace_pt_why why = KVM_TRACE_PT_WHY_NONE;

	mutex_lock(&events_lock);
	if (reserved)
		why = kvm_trace_pt_reserve_cpu(cpu);
	mutex_unlock(&events_lock);
	if (why)
		pr_notice("kvm_pt: not on CPU %u until the next event: %s\n", cpu,
			  kvm_trace_pt_words(why));
	local_irq_disable();
	kvm_trace_pt_cpu_up();
	local_irq_enable();
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	bool undone;

	local_irq_disable();
	undone = kvm_trace_pt_cpu_down();
	if (!undone)
		kvm_trace_pt_cpu_up();
	local_irq_enable();
	if (!undone) {
		pr_notice("kvm_pt: CPU %u stays online: %s\n", cpu,
			  kvm_trace_pt_words(KVM_TRACE_PT_WHY_LEFT));
		return -EBUSY;
	}
	mutex_lock(&events_lock);
	kvm_trace_pt_release_cpu(cpu);
	mutex_unlock(&events_lock);
	return 0;
}

static void stop_for_good(void *unused)
{
	kvm_trace_pt_cpu_down();
}

/* A kernel that is started next must not find Intel PT writing to its memory. */
static int on_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	on_each_cpu(stop_for_good, NULL, true);
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = {
	.notifier_call = on_reboot,
};

static int suspend(KVM_TRACE_SYSCORE_ARG)
{
	kvm_trace_pt_suspend();
	return 0;
}

static void resume(KVM_TRACE_SYSCORE_ARG)
{
	kvm_trace_pt_resume();
}

KVM_TRACE_DEFINE_SYSCORE(syscore, suspend, resume);

/**
 * kvm_trace_pt_pmu_init() - register kvm_pt
 *
 * On any machine: where it can do nothing it tells why.
 *
 * Return: 0 or an error
 */
int __init kvm_trace_pt_pmu_init(void)
{
	int ret;

	kvm_trace_pt_caps_init();
	kvm_trace_pt_streams_init();
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "kvm_trace:online", cpu_comes,
					cpu_goes);
	if (ret < 0)
		return ret;
	hotplug_state = ret;
	pmu.nr_addr_filters = kvm_trace_pt_host.caps.ranges;
	ret = perf_pmu_register(&pmu, "kvm_pt", -1);
	if (ret) {
		cpuhp_remove_state_nocalls(hotplug_state);
		return ret;
	}
	kvm_trace_register_syscore(&syscore);
	register_reboot_notifier(&reboot_notifier);
	return 0;
}

/**
 * kvm_trace_pt_pmu_exit() - take kvm_pt away
 *
 * An event, and what could not be undone of one, keeps the module: there is none.
 */
void kvm_trace_pt_pmu_exit(void)
{
	unregister_reboot_notifier(&reboot_notifier);
	kvm_trace_unregister_syscore(&syscore);
	perf_pmu_unregister(&pmu);
	kvm_trace_pt_streams_exit();
	cpuhp_remove_state_nocalls(hotplug_state);
}
