// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs file kvm_trace/pending: which vCPUs are between a VM exit and the
 * next VM entry right now, since when and why. A record tells of a round trip
 * only when it ends; this file tells of those that do not.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include <kvm_trace/exit_reasons.h>

#include "hooks.h"
#include "pending.h"
#include "stamp.h"
#include "vcpu.h"

/* Tries to read a vCPU that goes on running meanwhile. */
#define READ_TRIES	8

static struct dentry *dir;

struct snapshot {
	u64 reason;
	u64 clock;
	u64 exit_stamp;
	u32 seq;
	u16 flags;
};

struct name {
	u64 value;
	const char *name;
};

#define REASON_NAME(code, name, class) { (u64)(code), #name },
#define FLAG_NAME(bit, name) { bit, name },

static const struct name svm_reasons[] = {
	KVM_TRACE_SVM_REASONS(REASON_NAME)
	KVM_TRACE_SVM_REASONS_WIDE(REASON_NAME)
};

static const struct name vmx_reasons[] = {
	KVM_TRACE_VMX_REASONS(REASON_NAME)
};

static const struct name flag_names[] = {
	KVM_TRACE_FLAGS(FLAG_NAME)
};

static const char *name_of(const struct name *names, int count, u64 value)
{
	int i;

	for (i = 0; i < count; i++) {
		if (names[i].value == value)
			return names[i].name;
	}
	return NULL;
}

/* The open round trip of @v; false if there is none. */
static bool read_open(struct kvm_trace_vcpu *v, struct snapshot *s)
{
	int tries;
	u8 where;

	for (tries = 0; tries < READ_TRIES; tries++) {
		/* Pairs with the release in on_exit(). */
		where = smp_load_acquire(&v->where);
		if (where < KVM_TRACE_IN_HOST)
			return false;
		s->seq = READ_ONCE(v->record.seq);
		if (where == KVM_TRACE_IN_HOST_USUAL) {
			s->reason = READ_ONCE(v->record.reason);
			s->flags = READ_ONCE(v->record.flags);
		} else {
			s->reason = READ_ONCE(v->exit.reason);
			s->flags = READ_ONCE(v->exit.flags);
		}
		s->flags |= READ_ONCE(v->path_flags);
		s->clock = READ_ONCE(v->clock);
		s->exit_stamp = READ_ONCE(v->exit_stamp);
		/* The owner moves where and seq at each entry. */
		smp_rmb();
		if (READ_ONCE(v->where) >= KVM_TRACE_IN_HOST &&
		    READ_ONCE(v->record.seq) == s->seq)
			return true;
	}
	return false;
}

static void show_flags(struct seq_file *file, u16 flags)
{
	const char *sep = " [";
	int i;

	for (i = 0; i < ARRAY_SIZE(flag_names); i++) {
		if (flags & flag_names[i].value) {
			seq_printf(file, "%s%s", sep, flag_names[i].name);
			sep = ",";
		}
	}
	seq_puts(file, flags ? "]\n" : "\n");
}

static void show_vcpu(struct kvm_trace_vcpu *v, void *arg)
{
	struct seq_file *file = arg;
	bool svm = v->record.isa == KVM_TRACE_ISA_SVM;
	struct snapshot s;
	const char *name;
	s64 age;

	if (!read_open(v, &s))
		return;
	age = kvm_trace_ns(s.clock, s.exit_stamp, kvm_trace_stamp(s.clock));
	seq_printf(file, "vm %u (%d) vcpu %u %s ", v->vm->id, v->vm->pid,
		   v->record.vcpu, svm ? "SVM" : "VMX");
	if (svm)
		name = name_of(svm_reasons, ARRAY_SIZE(svm_reasons), s.reason);
	else
		name = name_of(vmx_reasons, ARRAY_SIZE(vmx_reasons),
			       s.reason & 0xffff);
	if (name)
		seq_puts(file, name);
	else
		seq_printf(file, "0x%llx", s.reason);
	seq_printf(file, " %lld ns", max_t(s64, age, 0));
	show_flags(file, s.flags);
}

static int pending_show(struct seq_file *file, void *unused)
{
	if (!kvm_trace_hooks_attached())
		seq_puts(file, "# not recording: no event of kvm_trace is enabled, or kvm is not loaded\n");
	kvm_trace_vcpu_for_each(show_vcpu, file);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(pending);

/**
 * kvm_trace_pending_init() - make the file
 *
 * Without debugfs there is none, and nothing else is lacking.
 */
void kvm_trace_pending_init(void)
{
	dir = debugfs_create_dir("kvm_trace", NULL);
	debugfs_create_file("pending", 0400, dir, NULL, &pending_fops);
}

/**
 * kvm_trace_pending_exit() - remove the file; waits for its readers
 */
void kvm_trace_pending_exit(void)
{
	debugfs_remove(dir);
}
