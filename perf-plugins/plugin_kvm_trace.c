// SPDX-License-Identifier: GPL-2.0-only
/*
 * libtraceevent plugin for the events of kvm_trace: finds their fields by name
 * and hands them to the decoder. Only functions of libtraceevent that perf 6.1
 * exports are used. What the records say and how they print is in decode.c.
 */
#include <stdlib.h>
#include <string.h>
#include <event-parse.h>
#include "array_size.h"
#include "batch.h"
#include "vmms.h"

#define EXPORT		__attribute__((visibility("default")))

/* A record of an event; what it does not have is noted in @lacks. */
struct source {
	struct tep_event *event;
	struct tep_record *record;
	__u32 lacks;
};

/*
 * What the vcpu records of one trace said: of the VMs, and whether the records are
 * of an ABI that the decoder cannot read. Batches are read with @reader.
 */
struct plugin {
	struct tep_handle *tep;
	struct plugin *next;
	struct kvm_trace_vmms vmms;
	struct kvm_trace_batch_reader reader;
	bool other_abi;
};

static struct plugin *plugins;

static __u32 pid_of(const struct plugin *plugin, __u32 vm)
{
	return kvm_trace_vmms_pid(&plugin->vmms, vm);
}

/* What a vcpu record says of the records that follow it. */
static void learn(struct plugin *plugin, const struct kvm_trace_vcpu *c)
{
	plugin->other_abi = c->abi_version && c->abi_version != KVM_TRACE_ABI_VERSION;
	kvm_trace_vmms_add(&plugin->vmms, c->vm, c->vmm_pid);
}

static bool inside(const struct source *from, size_t offset, size_t size)
{
	return from->record->size > 0 && offset <= (size_t)from->record->size &&
	       size <= (size_t)from->record->size - offset;
}

/* False if the event has no such field, or the record ends before it. */
static bool number(const struct source *from, const char *name, unsigned long long *value)
{
	struct tep_format_field *field = tep_find_field(from->event, name);

	*value = 0;
	return field && inside(from, field->offset, field->size) &&
	       !tep_read_number_field(field, from->record->data, value);
}

/* The value of a field whose 0 means "not known". */
static unsigned long long value_of(const struct source *from, const char *name)
{
	unsigned long long value;

	number(from, name, &value);
	return value;
}

/* The value of a field without such a 0: its absence is noted. */
static unsigned long long value_or(struct source *from, const char *name, __u32 lacks)
{
	unsigned long long value;

	if (!number(from, name, &value))
		from->lacks |= lacks;
	return value;
}

/*
 * Bytes of the tail, NULL if the event has none; cut is set if they reach beyond the
 * record.
 */
static const void *tail_of(const struct source *from, size_t *len, bool *cut)
{
	struct tep_format_field *field = tep_find_field(from->event, "tail");
	char *data = from->record->data;
	unsigned long long loc;
	size_t start;

	*len = 0;
	if (!field || !(field->flags & TEP_FIELD_IS_DYNAMIC) ||
	    (field->flags & TEP_FIELD_IS_RELATIVE))
		return NULL;
	if (!inside(from, field->offset, field->size)) {
		*cut = true;
		return NULL;
	}
	loc = tep_read_number(from->event->tep, data + field->offset, field->size);
	start = loc & 0xffff;
	*len = loc >> 16 & 0xffff;
	if (!inside(from, start, *len)) {
		*cut = true;
		if (!inside(from, start, 0))
			start = from->record->size;
		*len = from->record->size - start;
	}
	return data + start;
}

/* A string in an array of fixed size. */
static struct kvm_trace_string string(const struct source *from, const char *name)
{
	struct tep_format_field *field = tep_find_field(from->event, name);
	const char *at;

	if (!field || !(field->flags & TEP_FIELD_IS_ARRAY) ||
	    field->flags & TEP_FIELD_IS_DYNAMIC || !inside(from, field->offset, field->size))
		return (struct kvm_trace_string){};
	at = (const char *)from->record->data + field->offset;
	return (struct kvm_trace_string){ at, strnlen(at, field->size) };
}

/* Lines of records, each into KVM_TRACE_TEXT_SIZE bytes. */

static void vmexit(struct plugin *plugin, struct source *from, char *text)
{
	struct kvm_trace_vmexit v = {
		.vm = value_of(from, "vm"),
		.seq = value_of(from, "seq"),
		.flags = value_of(from, "flags"),
		.isa = value_of(from, "isa"),
		.class = value_of(from, "class"),
		.vcpu = value_or(from, "vcpu", KVM_TRACE_LACKS_VCPU),
		.reason = value_or(from, "reason", KVM_TRACE_LACKS_REASON),
		.host_ns = value_or(from, "host_ns", KVM_TRACE_LACKS_HOST_NS),
	};
	size_t len;
	const void *tail = tail_of(from, &len, &v.truncated);

	v.lacks = from->lacks;
	if (tail)
		kvm_trace_vmexit_tail(&v, tail, len);
	kvm_trace_vmexit_text(&v, pid_of(plugin, v.vm), text, KVM_TRACE_TEXT_SIZE);
}

static void hypercall(struct plugin *plugin, struct source *from, char *text)
{
	struct kvm_trace_hypercall h = {
		.vm = value_of(from, "vm"),
		.seq = value_of(from, "seq"),
		.present = value_of(from, "present"),
		.abi = value_of(from, "abi"),
		.caller = value_or(from, "caller", KVM_TRACE_LACKS_CALLER),
		.vcpu = value_or(from, "vcpu", KVM_TRACE_LACKS_VCPU),
		.nr = value_or(from, "nr", KVM_TRACE_LACKS_NR),
	};
	size_t len;
	const void *tail = tail_of(from, &len, &h.truncated);

	h.lacks = from->lacks;
	if (tail)
		kvm_trace_hypercall_tail(&h, tail, len);
	kvm_trace_hypercall_text(&h, pid_of(plugin, h.vm), text, KVM_TRACE_TEXT_SIZE);
}

static void hypercall_sub(struct plugin *plugin, struct source *from, char *text)
{
	struct kvm_trace_hypercall_sub sub = {
		.vm = value_of(from, "vm"),
		.seq = value_of(from, "seq"),
		.present = value_of(from, "present"),
		.abi = value_of(from, "abi"),
		.kind = value_of(from, "kind"),
		.index = value_or(from, "index", KVM_TRACE_LACKS_INDEX),
		.vcpu = value_or(from, "vcpu", KVM_TRACE_LACKS_VCPU),
		.nr = value_or(from, "nr", KVM_TRACE_LACKS_NR),
	};
	size_t len;
	const void *tail = tail_of(from, &len, &sub.truncated);

	sub.lacks = from->lacks;
	if (tail)
		kvm_trace_hypercall_sub_tail(&sub, tail, len);
	kvm_trace_hypercall_sub_text(&sub, pid_of(plugin, sub.vm), text, KVM_TRACE_TEXT_SIZE);
}

static void vcpu(struct plugin *plugin, struct source *from, char *text)
{
	struct kvm_trace_vcpu c = {
		.vm = value_of(from, "vm"),
		.vmm_pid = value_of(from, "vmm_pid"),
		.vmm_tid = value_of(from, "vmm_tid"),
		.isa = value_of(from, "isa"),
		.abi_version = value_of(from, "abi_version"),
		.vcpu = value_or(from, "vcpu", KVM_TRACE_LACKS_VCPU),
		.seq = value_or(from, "seq", KVM_TRACE_LACKS_SEQ),
		.generation = value_or(from, "generation", KVM_TRACE_LACKS_GENERATION),
		.tsc_offset = value_or(from, "tsc_offset", KVM_TRACE_LACKS_TSC_OFFSET),
		.tsc_ratio = value_or(from, "tsc_ratio", KVM_TRACE_LACKS_TSC_RATIO),
		.name = string(from, "name"),
		.vmm = string(from, "vmm"),
	};

	c.lacks = from->lacks;
	learn(plugin, &c);
	kvm_trace_vcpu_text(&c, text, KVM_TRACE_TEXT_SIZE);
}

static void lost(struct plugin *plugin, struct source *from, char *text)
{
	struct kvm_trace_lost l = {
		.vm = value_of(from, "vm"),
		.why = value_of(from, "why"),
		.vcpu = value_or(from, "vcpu", KVM_TRACE_LACKS_VCPU),
		.count = value_or(from, "count", KVM_TRACE_LACKS_COUNT),
		.since = value_or(from, "since", KVM_TRACE_LACKS_SINCE),
	};

	l.lacks = from->lacks;
	kvm_trace_lost_text(&l, pid_of(plugin, l.vm), text, KVM_TRACE_TEXT_SIZE);
}

static const struct {
	const char *system;
	const char *event;
	void (*text)(struct plugin *plugin, struct source *from, char *text);
} lines[] = {
	{ "kvm_trace", "vmexit", vmexit },
	{ "kvm_trace", "hypercall", hypercall },
	{ "kvm_trace", "vcpu", vcpu },
	{ "kvm_trace", "lost", lost },
	{ "kvm_trace_detail", "hypercall_sub", hypercall_sub },
};

static int print_line(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		      void *context)
{
	struct source from = { .event = event, .record = record };
	char text[KVM_TRACE_TEXT_SIZE];
	struct plugin *plugin = context;
	size_t i = 0;

	while (strcmp(event->name, lines[i].event))
		i++;
	/* A vcpu record says of which ABI those behind it are. */
	if (plugin->other_abi && lines[i].text != vcpu)
		return -1;
	lines[i].text(plugin, &from, text);
	trace_seq_puts(s, text);
	return 0;
}

/* The record that the reader has just given, as a line with its own time. */
static void batch_line(struct trace_seq *s, struct plugin *plugin, enum kvm_trace_batch_item item)
{
	const struct kvm_trace_batch_reader *r = &plugin->reader;
	__u64 ns = r->vmexit.have & KVM_TRACE_W_ENTRY_NS ? r->vmexit.entry_ns : r->ns;
	char text[KVM_TRACE_TEXT_SIZE];
	const char *name = "vmexit";

	switch (item) {
	case KVM_TRACE_BATCH_IS_HYPERCALL:
		name = "hypercall";
		kvm_trace_hypercall_text(&r->hypercall, pid_of(plugin, r->hypercall.vm), text,
					 sizeof(text));
		break;
	case KVM_TRACE_BATCH_IS_VCPU:
		name = "vcpu";
		learn(plugin, &r->vcpu);
		kvm_trace_vcpu_text(&r->vcpu, text, sizeof(text));
		break;
	default:
		kvm_trace_vmexit_text(&r->vmexit, pid_of(plugin, r->vmexit.vm), text,
				      sizeof(text));
	}
	trace_seq_printf(s, "\n  %llu.%09llu: %s: ", ns / 1000000000, ns % 1000000000, name);
	trace_seq_puts(s, text);
}

/*
 * A batch is checked and read as a whole, so its fields must be where the uapi
 * header says.
 */
static int print_batch(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		       void *context)
{
	struct tep_format_field *check = tep_find_field(event, "check");
	struct plugin *plugin = context;
	struct kvm_trace_batch_reader *r = &plugin->reader;
	enum kvm_trace_batch_error error;
	enum kvm_trace_batch_item item;

	if (plugin->other_abi || !check || check->offset != 8 || record->size < 0)
		return -1;
	error = kvm_trace_batch_open(r, record->data, record->size);
	if (error) {
		trace_seq_printf(s, "batch not read: %s", kvm_trace_batch_error_text(error));
		return 0;
	}
	trace_seq_printf(s, "vm %u vcpu %u, %u round trips:", r->vm, r->vcpu_id, r->left);
	while ((item = kvm_trace_batch_next(r)) > KVM_TRACE_BATCH_DAMAGED && !plugin->other_abi)
		batch_line(s, plugin, item);
	if (item == KVM_TRACE_BATCH_DAMAGED)
		trace_seq_puts(s, "\n  the rest is damaged");
	return 0;
}

EXPORT int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	struct plugin *plugin = calloc(1, sizeof(*plugin));
	size_t i;

	if (!plugin)
		return -1;
	plugin->tep = tep;
	plugin->next = plugins;
	plugins = plugin;
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		tep_register_event_handler(tep, -1, lines[i].system, lines[i].event,
					   print_line, plugin);
	tep_register_event_handler(tep, -1, "kvm_trace_batch", "vmexits", print_batch, plugin);
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
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		tep_unregister_event_handler(tep, -1, lines[i].system, lines[i].event,
					     print_line, plugin);
	tep_unregister_event_handler(tep, -1, "kvm_trace_batch", "vmexits", print_batch, plugin);
	*link = plugin->next;
	kvm_trace_vmms_free(&plugin->vmms);
	free(plugin);
}
