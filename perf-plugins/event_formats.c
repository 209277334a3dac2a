// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fields of the events, and their text. See event_formats.h.
 */
#include <stdio.h>
#include <string.h>
#include "event_formats.h"

/* Field by field what the module's format files say; the offset is the sum. */
const struct kvm_trace_event_format kvm_trace_event_formats[KVM_TRACE_EVENTS] = {
	[KVM_TRACE_KIND_VMEXIT] = { "vmexit", "kvm_trace", {
		{ "kvm_trace_u64", "host_ns", 8 },
		{ "u32", "vm", 4 },
		{ "u32", "seq", 4 },
		{ "__data_loc kvm_trace_byte[]", "tail", 4 },
		{ "u16", "vcpu", 2 },
		{ "u16", "reason", 2 },
		{ "u16", "flags", 2 },
		{ "u8", "isa", 1 },
		{ "u8", "class", 1 },
	} },
	[KVM_TRACE_KIND_HYPERCALL] = { "hypercall", "kvm_trace", {
		{ "u32", "vm", 4 },
		{ "u32", "seq", 4 },
		{ "u32", "nr", 4 },
		{ "u32", "present", 4 },
		{ "__data_loc kvm_trace_byte[]", "tail", 4 },
		{ "u16", "vcpu", 2 },
		{ "u8", "abi", 1 },
		{ "u8", "caller", 1 },
	} },
	[KVM_TRACE_KIND_VCPU] = { "vcpu", "kvm_trace", {
		{ "kvm_trace_u64", "tsc_offset", 8 },
		{ "kvm_trace_u64", "tsc_ratio", 8 },
		{ "u32", "vm", 4 },
		{ "u32", "seq", 4 },
		{ "u32", "vmm_pid", 4 },
		{ "u32", "vmm_tid", 4 },
		{ "u32", "generation", 4 },
		{ "char", "name[24]", 24 },
		{ "char", "vmm[16]", 16 },
		{ "u16", "vcpu", 2 },
		{ "u8", "isa", 1 },
		{ "u8", "abi_version", 1 },
	} },
	[KVM_TRACE_KIND_LOST] = { "lost", "kvm_trace", {
		{ "kvm_trace_u64", "count", 8 },
		{ "kvm_trace_u64", "since", 8 },
		{ "u32", "vm", 4 },
		{ "u16", "vcpu", 2 },
		{ "u8", "why", 1 },
		{ "u8", "zero", 1 },
	} },
	[KVM_TRACE_KIND_HYPERCALL_SUB] = { "hypercall_sub", "kvm_trace_detail", {
		{ "u32", "vm", 4 },
		{ "u32", "seq", 4 },
		{ "u32", "index", 4 },
		{ "u32", "nr", 4 },
		{ "u32", "present", 4 },
		{ "__data_loc kvm_trace_byte[]", "tail", 4 },
		{ "u16", "vcpu", 2 },
		{ "u8", "abi", 1 },
		{ "u8", "kind", 1 },
	} },
	[KVM_TRACE_KIND_BATCH] = { "vmexits", "kvm_trace_batch", {
		{ "kvm_trace_u64", "check", 8 },
		{ "kvm_trace_u64", "ns", 8 },
		{ "kvm_trace_u64", "stamp", 8 },
		{ "u32", "vm", 4 },
		{ "u32", "seq", 4 },
		{ "u32", "mult", 4 },
		{ "__data_loc kvm_trace_byte[]", "data", 4 },
		{ "u16", "vcpu", 2 },
		{ "u16", "count", 2 },
		{ "u8", "isa", 1 },
		{ "u8", "version", 1 },
		{ "u8", "shift", 1 },
		{ "u8", "flags", 1 },
	} },
};

size_t kvm_trace_event_format(enum kvm_trace_kind kind, unsigned int id, char *buf,
			      const char *lacking, unsigned int extra)
{
	unsigned int offset = 8;
	const struct kvm_trace_event_field *f;
	char *end = buf;

	end += sprintf(end, "name: %s\nID: %u\nformat:\n"
		       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		       "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		       "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		       "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
		       kvm_trace_event_formats[kind].name, id);
	for (; extra; extra -= 4, offset += 4)
		end += sprintf(end, "\tfield:u32 extra_%u;\toffset:%u;\tsize:4;\tsigned:0;\n",
			       extra, offset);
	for (f = kvm_trace_event_formats[kind].field; f->name; offset += f++->size) {
		if (lacking && !strcmp(f->name, lacking))
			continue;
		end += sprintf(end, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:0;\n",
			       f->type, f->name, offset, f->size);
	}
	end += sprintf(end, "\nprint fmt: \"" KVM_TRACE_WITHOUT_PLUGIN "\"\n");
	return end - buf;
}
