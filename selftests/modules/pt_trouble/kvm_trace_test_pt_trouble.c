// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests only: makes happen what kvm_pt meets seldom or never, when a parameter asks for
 * it. Functions are made to fail by probes at their start; and there is a PMU with an AUX
 * area that is not kvm_pt's.
 */
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unistd.h>

static unsigned long fail_msr, fail_value;
static unsigned int done;

module_param(fail_msr, ulong, 0600);
MODULE_PARM_DESC(fail_msr, "for fail_wrmsr: writes of this MSR");
module_param(fail_value, ulong, 0600);
MODULE_PARM_DESC(fail_value, "for fail_wrmsr: writes of this value");
module_param(done, uint, 0600);
MODULE_PARM_DESC(done, "how often what was asked for has happened");

/**
 * struct trouble - what a parameter asks for
 * @probe: at the start of the function
 * @value: of the parameter; 0: no probe
 */
struct trouble {
	struct kprobe probe;
	unsigned long value;
};

static unsigned long asked(struct kprobe *probe)
{
	return READ_ONCE(container_of(probe, struct trouble, probe)->value);
}

static bool fail_by_false(void)
{
	return false;
}

static void *fail_by_pointer(void)
{
	return ERR_PTR(-ENOMEM);
}

static int fail_by_errno(void)
{
	return -ENOMEM;
}

/* The caller gets what @instead returns. */
static int replace(struct pt_regs *regs, void *instead)
{
	done++;
	instruction_pointer_set(regs, (unsigned long)instead);
	return 1;
}

static int at_create(struct kprobe *probe, struct pt_regs *regs)
{
	const struct perf_event_attr *attr = (void *)regs_get_kernel_argument(regs, 0);

	return attr->type == asked(probe) ? replace(regs, fail_by_pointer) : 0;
}

static int at_register_kprobe(struct kprobe *probe, struct pt_regs *regs)
{
	const struct kprobe *other = (void *)regs_get_kernel_argument(regs, 0);

	if (!other->symbol_name || strcmp(other->symbol_name, "kvm_arch_destroy_vm"))
		return 0;
	return replace(regs, fail_by_errno);
}

static int at_wrmsr(struct kprobe *probe, struct pt_regs *regs)
{
	struct trouble *trouble = container_of(probe, struct trouble, probe);

	if (!trouble->value || regs_get_kernel_argument(regs, 0) != fail_msr ||
	    regs_get_kernel_argument(regs, 1) != fail_value)
		return 0;
	trouble->value--;
	return replace(regs, fail_by_false);
}

static struct file *event_file;	/* of stop_in_nmi or slow_unmap */
static struct task_struct *asker;

/* As perf does in the NMI of an event that is throttled, which may come at any access. */
static int at_any_wrmsr(struct kprobe *probe, struct pt_regs *regs)
{
	struct perf_event *event = event_file->private_data;

	if (READ_ONCE(event->oncpu) != smp_processor_id())
		return 0;
	preempt_count_add(NMI_OFFSET);
	event->pmu->stop(event, 0);
	preempt_count_sub(NMI_OFFSET);
	done++;
	return 0;
}

/*
 * munmap() calls it to stop events, when nobody has the AUX area mapped any more: it has to
 * wait until the event has stopped by itself.
 */
static int at_call(struct kprobe *probe, struct pt_regs *regs)
{
	struct perf_event *event = event_file->private_data;
	const u64 end = ktime_get_ns() + 10ull * NSEC_PER_SEC;

	if (current != asker || task_pt_regs(current)->orig_ax != __NR_munmap)
		return 0;
	while (!done && ktime_get_ns() < end) {
		cpu_relax();
		done = !!(READ_ONCE(event->hw.state) & PERF_HES_STOPPED);
	}
	return 0;
}

static struct trouble fail_create = {
	.probe = { .symbol_name = "perf_event_create_kernel_counter", .pre_handler = at_create },
};

static struct trouble fail_deaths = {
	.probe = { .symbol_name = "register_kprobe", .pre_handler = at_register_kprobe },
};

static struct trouble fail_wrmsr = {
	.probe = { .symbol_name = "kvm_trace:write_msr", .pre_handler = at_wrmsr },
};

static struct trouble stop_in_nmi = {
	.probe = { .symbol_name = "kvm_trace:write_msr", .pre_handler = at_any_wrmsr },
};

static struct trouble slow_unmap = {
	.probe = { .symbol_name = "smp_call_function_single", .pre_handler = at_call },
};

static struct trouble *const troubles[] = {
	&fail_create, &fail_deaths, &fail_wrmsr, &stop_in_nmi, &slow_unmap,
};

static void end_trouble(struct trouble *trouble)
{
	if (!trouble->probe.addr)
		return;
	unregister_kprobe(&trouble->probe);
	trouble->probe.addr = NULL;
	trouble->probe.flags = 0;
	if (trouble == &stop_in_nmi || trouble == &slow_unmap)
		fput(event_file);
}

static int set_trouble(const char *text, const struct kernel_param *param)
{
	struct trouble *trouble = param->arg;
	unsigned long value;
	int ret = kstrtoul(text, 0, &value);

	if (ret)
		return ret;
	end_trouble(trouble);
	WRITE_ONCE(trouble->value, value);
	done = 0;
	if (!value)
		return 0;
	if (trouble == &stop_in_nmi || trouble == &slow_unmap) {
		event_file = fget(value);
		if (!event_file)
			return -EBADF;
		asker = current;
	}
	ret = register_kprobe(&trouble->probe);
	if (!ret)
		return 0;
	trouble->probe.addr = NULL;
	trouble->probe.flags = 0;
	if (trouble == &stop_in_nmi || trouble == &slow_unmap)
		fput(event_file);
	return ret;
}

static int get_trouble(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%lu\n", ((struct trouble *)param->arg)->value);
}

static const struct kernel_param_ops trouble_ops = {
	.set = set_trouble,
	.get = get_trouble,
};

module_param_cb(fail_create, &trouble_ops, &fail_create, 0600);
MODULE_PARM_DESC(fail_create, "PMU's type: the kernel can open no event of it for want of memory");
module_param_cb(fail_deaths, &trouble_ops, &fail_deaths, 0600);
MODULE_PARM_DESC(fail_deaths, "the end of a VM cannot be probed");
module_param_cb(fail_wrmsr, &trouble_ops, &fail_wrmsr, 0600);
MODULE_PARM_DESC(fail_wrmsr, "as many WRMSR of kvm_trace fail");
module_param_cb(stop_in_nmi, &trouble_ops, &stop_in_nmi, 0600);
MODULE_PARM_DESC(stop_in_nmi, "an event's file: each WRMSR of kvm_trace meets an NMI that stops it");
module_param_cb(slow_unmap, &trouble_ops, &slow_unmap, 0600);
MODULE_PARM_DESC(slow_unmap, "an event's file: who unmaps its AUX area waits until it has stopped");

/* A CPU that comes has an event of this type before a state that is added later is told. */
static int taken_type;
static DEFINE_PER_CPU(struct perf_event *, taken);
static enum cpuhp_state hotplug_state;

static int take_cpu(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = taken_type,
		.size = sizeof(attr),
		.disabled = 1,
	};
	struct perf_event *event;

	if (!taken_type)
		return 0;
	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	per_cpu(taken, cpu) = event;
	done++;
	return 0;
}

static int give_cpu(unsigned int cpu)
{
	if (per_cpu(taken, cpu))
		perf_event_release_kernel(per_cpu(taken, cpu));
	per_cpu(taken, cpu) = NULL;
	return 0;
}

static int set_taken(const char *text, const struct kernel_param *param)
{
	unsigned int cpu;
	int ret = param_set_int(text, param);

	done = 0;
	for_each_possible_cpu(cpu)
		if (!taken_type)
			give_cpu(cpu);
	return ret;
}

static const struct kernel_param_ops taken_ops = {
	.set = set_taken,
	.get = param_get_int,
};

module_param_cb(taken_type, &taken_ops, &taken_type, 0600);
MODULE_PARM_DESC(taken_type, "a PMU's type: CPUs that come have an event of it at once");

static struct pmu pmu;

static int event_init(struct perf_event *event)
{
	return event->attr.type == pmu.type ? 0 : -ENOENT;
}

static int event_add(struct perf_event *event, int flags)
{
	return 0;
}

static void event_stop(struct perf_event *event, int flags)
{
}

static void event_read(struct perf_event *event)
{
}

static void *event_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool snapshot)
{
	return kzalloc(PAGE_SIZE, GFP_KERNEL);
}

static void event_free_aux(void *aux)
{
	kfree(aux);
}

static struct pmu pmu = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_sw_context,
	.event_init = event_init,
	.add = event_add,
	.del = event_stop,
	.start = event_stop,
	.stop = event_stop,
	.read = event_read,
	.setup_aux = event_setup_aux,
	.free_aux = event_free_aux,
};

static int __init pt_trouble_init(void)
{
	int ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "kvm_trace_test:online", take_cpu,
					    give_cpu);

	if (ret < 0)
		return ret;
	hotplug_state = ret;
	ret = perf_pmu_register(&pmu, "kvm_trace_test_aux", -1);
	if (ret)
		cpuhp_remove_state_nocalls(hotplug_state);
	return ret;
}

static void __exit pt_trouble_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(troubles); i++)
		end_trouble(troubles[i]);
	perf_pmu_unregister(&pmu);
	cpuhp_remove_state(hotplug_state);
}

module_init(pt_trouble_init);
module_exit(pt_trouble_exit);
MODULE_DESCRIPTION("Troubles for kvm_pt, for tests");
MODULE_LICENSE("GPL");
