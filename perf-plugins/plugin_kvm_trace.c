// SPDX-License-Identifier: GPL-2.0-only
/*
 * libtraceevent plugin for the events of kvm_trace: finds their fields by name
 * and hands them to the decoder. Only functions of libtraceevent that perf 6.1
 * exports are used. What the records say and how they print is in decode.c.
 */
#include <stdlib.h>
#include <string.h>
#include <event-parse.h>
#include "decode.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define EXPORT		__attribute__((visibility("default")))
#define SYSTEM		"kvm_trace"
#define DETAIL		"kvm_trace_detail"
#define FIRST_SLOTS	64	/* a power of two */

/* vm numbers start at 1: 0 is a free slot. */
struct vmm {
	__u32 vm;
	__u32 pid;
};

/*
 * What the vcpu records of one trace said: a hash of the VMs, at most half
 * full, and whether the records are of an ABI that the decoder cannot read.
 */
struct plugin {
	struct tep_handle *tep;
	struct plugin *next;
	struct vmm *vmms;
	size_t slots;
	size_t used;
	bool other_abi;
};

static struct plugin *plugins;

static struct vmm *slot_of(struct vmm *vmms, size_t slots, __u32 vm)
{
	size_t i = vm * 2654435761u & (slots - 1);

	while (vmms[i].vm && vmms[i].vm != vm)
		i = (i + 1) & (slots - 1);
	return &vmms[i];
}

static bool grow(struct plugin *plugin)
{
	size_t i, slots = plugin->slots ? plugin->slots * 2 : FIRST_SLOTS;
	struct vmm *vmms = calloc(slots, sizeof(*vmms));

	if (!vmms)
		return false;
	for (i = 0; i < plugin->slots; i++)
		if (plugin->vmms[i].vm)
			*slot_of(vmms, slots, plugin->vmms[i].vm) = plugin->vmms[i];
	free(plugin->vmms);
	plugin->vmms = vmms;
	plugin->slots = slots;
	return true;
}

/* Without memory for it the pid is just not shown. */
static void remember(struct plugin *plugin, __u32 vm, __u32 pid)
{
	struct vmm *slot;

	if (!vm || !pid)
		return;
	if (plugin->used >= plugin->slots / 2 && !grow(plugin))
		return;
	slot = slot_of(plugin->vmms, plugin->slots, vm);
	plugin->used += !slot->vm;
	*slot = (struct vmm){ vm, pid };
}

static __u32 pid_of(struct plugin *plugin, __u32 vm)
{
	return plugin->slots ? slot_of(plugin->vmms, plugin->slots, vm)->pid : 0;
}

static bool inside(struct tep_record *record, size_t offset, size_t size)
{
	return record->size > 0 && offset <= (size_t)record->size &&
	       size <= (size_t)record->size - offset;
}

/* False if the event has no such field, or the record ends before it. */
static bool number(struct tep_event *event, struct tep_record *record, const char *name,
		   unsigned long long *value)
{
	struct tep_format_field *field = tep_find_field(event, name);

	*value = 0;
	return field && inside(record, field->offset, field->size) &&
	       !tep_read_number_field(field, record->data, value);
}

/* The value of a field whose 0 means "not known". */
static unsigned long long value_of(struct tep_event *event, struct tep_record *record,
				   const char *name)
{
	unsigned long long value;

	number(event, record, name, &value);
	return value;
}

/* The value of a field without such a 0: its absence is noted in lacks. */
static unsigned long long value_or(struct tep_event *event, struct tep_record *record,
				   const char *name, __u32 *lacks, __u32 bit)
{
	unsigned long long value;

	if (!number(event, record, name, &value))
		*lacks |= bit;
	return value;
}

/*
 * Bytes of a __data_loc field, NULL if the event has no such field; cut is set
 * if they reach beyond the record.
 */
static const void *dynamic(struct tep_event *event, struct tep_record *record,
			   const char *name, size_t *len, bool *cut)
{
	struct tep_format_field *field = tep_find_field(event, name);
	unsigned long long loc;
	size_t start;

	*len = 0;
	if (!field || !(field->flags & TEP_FIELD_IS_DYNAMIC) ||
	    (field->flags & TEP_FIELD_IS_RELATIVE))
		return NULL;
	if (!inside(record, field->offset, field->size)) {
		*cut = true;
		return NULL;
	}
	loc = tep_read_number(event->tep, (char *)record->data + field->offset, field->size);
	start = loc & 0xffff;
	*len = loc >> 16 & 0xffff;
	if (!inside(record, start, *len)) {
		*cut = true;
		if (!inside(record, start, 0))
			start = record->size;
		*len = record->size - start;
	}
	return (char *)record->data + start;
}

static int vmexit(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		  void *context)
{
	char text[KVM_TRACE_TEXT_SIZE];
	struct kvm_trace_vmexit v = {};
	struct plugin *plugin = context;
	const void *tail;
	size_t len;

	if (plugin->other_abi)
		return -1;
	v.vm = value_of(event, record, "vm");
	v.seq = value_of(event, record, "seq");
	v.flags = value_of(event, record, "flags");
	v.isa = value_of(event, record, "isa");
	v.class = value_of(event, record, "class");
	v.vcpu = value_or(event, record, "vcpu", &v.lacks, KVM_TRACE_LACKS_VCPU);
	v.reason = value_or(event, record, "reason", &v.lacks, KVM_TRACE_LACKS_REASON);
	v.host_ns = value_or(event, record, "host_ns", &v.lacks, KVM_TRACE_LACKS_HOST_NS);
	tail = dynamic(event, record, "tail", &len, &v.truncated);
	if (tail)
		kvm_trace_vmexit_tail(&v, tail, len);
	kvm_trace_vmexit_text(&v, pid_of(plugin, v.vm), text, sizeof(text));
	trace_seq_puts(s, text);
	return 0;
}

static int hypercall(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		     void *context)
{
	struct kvm_trace_hypercall h = {};
	char text[KVM_TRACE_TEXT_SIZE];
	struct plugin *plugin = context;
	const void *tail;
	size_t len;

	if (plugin->other_abi)
		return -1;
	h.vm = value_of(event, record, "vm");
	h.seq = value_of(event, record, "seq");
	h.present = value_of(event, record, "present");
	h.abi = value_of(event, record, "abi");
	h.caller = value_or(event, record, "caller", &h.lacks, KVM_TRACE_LACKS_CALLER);
	h.vcpu = value_or(event, record, "vcpu", &h.lacks, KVM_TRACE_LACKS_VCPU);
	h.nr = value_or(event, record, "nr", &h.lacks, KVM_TRACE_LACKS_NR);
	tail = dynamic(event, record, "tail", &len, &h.truncated);
	if (tail)
		kvm_trace_hypercall_tail(&h, tail, len);
	kvm_trace_hypercall_text(&h, pid_of(plugin, h.vm), text, sizeof(text));
	trace_seq_puts(s, text);
	return 0;
}

static int hypercall_sub(struct trace_seq *s, struct tep_record *record,
			 struct tep_event *event, void *context)
{
	struct kvm_trace_hypercall_sub sub = {};
	char text[KVM_TRACE_TEXT_SIZE];
	struct plugin *plugin = context;
	const void *tail;
	size_t len;

	if (plugin->other_abi)
		return -1;
	sub.vm = value_of(event, record, "vm");
	sub.seq = value_of(event, record, "seq");
	sub.present = value_of(event, record, "present");
	sub.abi = value_of(event, record, "abi");
	sub.kind = value_of(event, record, "kind");
	sub.index = value_or(event, record, "index", &sub.lacks, KVM_TRACE_LACKS_INDEX);
	sub.vcpu = value_or(event, record, "vcpu", &sub.lacks, KVM_TRACE_LACKS_VCPU);
	sub.nr = value_or(event, record, "nr", &sub.lacks, KVM_TRACE_LACKS_NR);
	tail = dynamic(event, record, "tail", &len, &sub.truncated);
	if (tail)
		kvm_trace_hypercall_sub_tail(&sub, tail, len);
	kvm_trace_hypercall_sub_text(&sub, pid_of(plugin, sub.vm), text, sizeof(text));
	trace_seq_puts(s, text);
	return 0;
}

/* A string in an array of fixed size. */
static struct kvm_trace_string string(struct tep_event *event, struct tep_record *record,
				      const char *name)
{
	struct tep_format_field *field = tep_find_field(event, name);
	const char *at;

	if (!field || !(field->flags & TEP_FIELD_IS_ARRAY) ||
	    field->flags & TEP_FIELD_IS_DYNAMIC || !inside(record, field->offset, field->size))
		return (struct kvm_trace_string){};
	at = (const char *)record->data + field->offset;
	return (struct kvm_trace_string){ at, strnlen(at, field->size) };
}

static int vcpu(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		void *context)
{
	char text[KVM_TRACE_TEXT_SIZE];
	struct plugin *plugin = context;
	struct kvm_trace_vcpu c = {};

	c.vm = value_of(event, record, "vm");
	c.vmm_pid = value_of(event, record, "vmm_pid");
	c.vmm_tid = value_of(event, record, "vmm_tid");
	c.isa = value_of(event, record, "isa");
	c.abi_version = value_of(event, record, "abi_version");
	c.vcpu = value_or(event, record, "vcpu", &c.lacks, KVM_TRACE_LACKS_VCPU);
	c.seq = value_or(event, record, "seq", &c.lacks, KVM_TRACE_LACKS_SEQ);
	c.generation = value_or(event, record, "generation", &c.lacks, KVM_TRACE_LACKS_GENERATION);
	c.tsc_offset = value_or(event, record, "tsc_offset", &c.lacks, KVM_TRACE_LACKS_TSC_OFFSET);
	c.tsc_ratio = value_or(event, record, "tsc_ratio", &c.lacks, KVM_TRACE_LACKS_TSC_RATIO);
	c.name = string(event, record, "name");
	c.vmm = string(event, record, "vmm");
	plugin->other_abi = c.abi_version && c.abi_version != KVM_TRACE_ABI_VERSION;
	remember(plugin, c.vm, c.vmm_pid);
	kvm_trace_vcpu_text(&c, text, sizeof(text));
	trace_seq_puts(s, text);
	return 0;
}

static int lost(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		void *context)
{
	char text[KVM_TRACE_TEXT_SIZE];
	struct plugin *plugin = context;
	struct kvm_trace_lost l = {};

	l.vm = value_of(event, record, "vm");
	l.why = value_of(event, record, "why");
	l.vcpu = value_or(event, record, "vcpu", &l.lacks, KVM_TRACE_LACKS_VCPU);
	l.count = value_or(event, record, "count", &l.lacks, KVM_TRACE_LACKS_COUNT);
	l.since = value_or(event, record, "since", &l.lacks, KVM_TRACE_LACKS_SINCE);
	kvm_trace_lost_text(&l, pid_of(plugin, l.vm), text, sizeof(text));
	trace_seq_puts(s, text);
	return 0;
}

static const struct {
	const char *system;
	const char *event;
	tep_event_handler_func handler;
} handlers[] = {
	{ SYSTEM, "vmexit", vmexit },
	{ SYSTEM, "hypercall", hypercall },
	{ DETAIL, "hypercall_sub", hypercall_sub },
	{ SYSTEM, "vcpu", vcpu },
	{ SYSTEM, "lost", lost },
};

EXPORT int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	struct plugin *plugin = calloc(1, sizeof(*plugin));
	size_t i;

	if (!plugin)
		return -1;
	plugin->tep = tep;
	plugin->next = plugins;
	plugins = plugin;
	for (i = 0; i < ARRAY_SIZE(handlers); i++)
		tep_register_event_handler(tep, -1, handlers[i].system, handlers[i].event,
					   handlers[i].handler, plugin);
	return 0;
}

EXPORT void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	struct plugin **link = &plugins, *plugin;
	size_t i;

	while (*link && (*link)->tep != tep)
		link = &(*link)->next;
	plugin = *link;
	if (!plugin)
		return;
	for (i = 0; i < ARRAY_SIZE(handlers); i++)
		tep_unregister_event_handler(tep, -1, handlers[i].system, handlers[i].event,
					     handlers[i].handler, plugin);
	*link = plugin->next;
	free(plugin->vmms);
	free(plugin);
}
