// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the running module's format files describe the layout of uapi
 * linux/kvm_trace.h, which readers without a format file rely on, and no
 * field has a name that filters take for something else.
 */
#include <string.h>

#include "module.h"
#include "records.h"
#include "tap.h"

struct place {
	const char *name;
	unsigned int offset, size;
};

static const struct place vmexit[] = {
	{ "host_ns", 8, 8 }, { "vm", 16, 4 }, { "seq", 20, 4 }, { "tail", 24, 4 },
	{ "vcpu", 28, 2 }, { "reason", 30, 2 }, { "flags", 32, 2 }, { "isa", 34, 1 },
	{ "class", 35, 1 }, { }
};

static const struct place hypercall[] = {
	{ "vm", 8, 4 }, { "seq", 12, 4 }, { "nr", 16, 4 }, { "present", 20, 4 }, { "tail", 24, 4 },
	{ "vcpu", 28, 2 }, { "abi", 30, 1 }, { "caller", 31, 1 }, { }
};

static const struct place vcpu[] = {
	{ "tsc_offset", 8, 8 }, { "tsc_ratio", 16, 8 }, { "vm", 24, 4 }, { "seq", 28, 4 },
	{ "vmm_pid", 32, 4 }, { "vmm_tid", 36, 4 }, { "generation", 40, 4 },
	{ "name", 44, KVM_TRACE_VCPU_NAME_LEN }, { "vmm", 68, KVM_TRACE_VCPU_VMM_LEN },
	{ "vcpu", 84, 2 }, { "isa", 86, 1 }, { "abi_version", 87, 1 }, { }
};

static const struct place lost[] = {
	{ "count", 8, 8 }, { "since", 16, 8 }, { "vm", 24, 4 }, { "vcpu", 28, 2 }, { "why", 30, 1 },
	{ "zero", 31, 1 }, { }
};

static void check_event(const char *name, const struct place *places, unsigned int end)
{
	static const char * const keywords[] = { "cpu", "comm", "stacktrace" };
	unsigned int i, k, own = 0;
	struct trace_event event;
	const struct trace_field *field;

	tap_begin("fields_are_where_the_header_says: %s", name);
	trace_event_need(&event, "kvm_trace", name);
	for (i = 0; places[i].name; i++) {
		field = trace_field(&event, places[i].name);
		tap_expect(field->offset == places[i].offset && field->size == places[i].size,
			   "%s is at %u with %u bytes, not at %u with %u", field->name,
			   field->offset, field->size, places[i].offset, places[i].size);
		tap_expect(places[i].offset == (i ? places[i - 1].offset + places[i - 1].size : 8),
			   "there is padding before %s", places[i].name);
	}
	tap_expect(places[i - 1].offset + places[i - 1].size == end, "%s does not end at %u", name,
		   end);
	for (k = 0; k < event.nr_fields; k++) {
		own += strncmp(event.fields[k].name, "common_", 7) != 0;
		for (i = 0; i < ARRAY_SIZE(keywords); i++)
			tap_expect(strcmp(event.fields[k].name, keywords[i]),
				   "field %s is a keyword of filters", event.fields[k].name);
	}
	for (i = 0; places[i].name; i++)
		;
	tap_expect(own == i, "%u fields, the header has %u", own, i);
	tap_end();
}

int main(void)
{
	need_kvm_trace();
	tap_plan(4);
	check_event("vmexit", vmexit, KVM_TRACE_VMEXIT_SIZE);
	check_event("hypercall", hypercall, KVM_TRACE_HYPERCALL_SIZE);
	check_event("vcpu", vcpu, KVM_TRACE_VCPU_SIZE);
	check_event("lost", lost, KVM_TRACE_LOST_SIZE);
	return tap_exit();
}
