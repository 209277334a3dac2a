/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints that need guest memory read, and that of Intel PT: a trace system
 * of its own, so that who enables all of kvm_trace does not enable them. As events.h
 * otherwise.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kvm_trace_detail

#if !defined(_KVM_TRACE_EVENTS_DETAIL_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KVM_TRACE_EVENTS_DETAIL_H

#include <linux/kvm_trace.h>
#include <linux/tracepoint.h>

#include "record.h"

int kvm_trace_hypercall_sub_reg(void);
void kvm_trace_hypercall_sub_unreg(void);

TRACE_EVENT_FN(hypercall_sub,
	TP_PROTO(const struct kvm_trace_hypercall_sub_record *record),
	TP_ARGS(record),

	TP_STRUCT__entry(
		__field(u32, vm)
		__field(u32, seq)
		__field(u32, index)
		__field(u32, nr)
		__field(u32, present)
		__dynamic_array(kvm_trace_byte, tail, record->tail_len)
		__field(u16, vcpu)
		__field(u8, abi)
		__field(u8, kind)
	),

	TP_fast_assign(
		__entry->vm = record->vm;
		__entry->seq = record->seq;
		__entry->index = record->index;
		__entry->nr = record->nr;
		__entry->present = record->present;
		memcpy(__get_dynamic_array(tail), record->tail,
		       record->tail_len);
		__entry->vcpu = record->vcpu;
		__entry->abi = record->abi;
		__entry->kind = record->kind;
	),

	TP_printk("vm %u vcpu %u %s nr %u kind %u index %u seq %u present 0x%x tail %s",
		  __entry->vm, __entry->vcpu,
		  __print_symbolic(__entry->abi,
				   KVM_TRACE_ABIS(KVM_TRACE_SHOW_NAME)
				   KVM_TRACE_SHOW_END),
		  __entry->nr, __entry->kind, __entry->index,
		  __entry->seq, __entry->present,
		  __print_hex(__get_dynamic_array(tail),
			      __get_dynamic_array_len(tail))),

	kvm_trace_hypercall_sub_reg, kvm_trace_hypercall_sub_unreg
);

#define KVM_TRACE_SHOW_WHY(number, id, name) { number, name },

TRACE_EVENT(pt,
	TP_PROTO(const struct kvm_trace_pt_record *record),
	TP_ARGS(record),

	TP_STRUCT__entry(
		__field(kvm_trace_u64, bytes)
		__field(kvm_trace_u64, entries)
		__field(u32, tid)
		__field(u32, on_cpu)
		__field(u32, losses)
		__field(u8, what)
		__field(u8, why)
		__field(u16, config)
	),

	TP_fast_assign(
		__entry->bytes = record->bytes;
		__entry->entries = record->entries;
		__entry->tid = record->tid;
		__entry->on_cpu = record->on_cpu;
		__entry->losses = record->losses;
		__entry->what = record->what;
		__entry->why = record->why;
		__entry->config = record->config;
	),

	TP_printk("%s why %s mode %s stream %s method %s tid %u on_cpu %d bytes %llu entries %llu losses %u",
		  __print_symbolic(__entry->what,
				   KVM_TRACE_PT_WHATS(KVM_TRACE_SHOW_NAME)
				   KVM_TRACE_SHOW_END),
		  __print_symbolic(__entry->why,
				   KVM_TRACE_PT_WHYS(KVM_TRACE_SHOW_WHY)
				   KVM_TRACE_SHOW_END),
		  __print_symbolic(__entry->config & 3,
				   KVM_TRACE_PT_MODES(KVM_TRACE_SHOW_NAME)
				   KVM_TRACE_SHOW_END),
		  __print_symbolic((__entry->config >> 2) & 3,
				   KVM_TRACE_PT_MODES(KVM_TRACE_SHOW_NAME)
				   KVM_TRACE_SHOW_END),
		  __print_symbolic((__entry->config >> 4) & 3,
				   KVM_TRACE_PT_METHODS(KVM_TRACE_SHOW_NAME)
				   KVM_TRACE_SHOW_END),
		  __entry->tid, (int)__entry->on_cpu,
		  __entry->bytes, __entry->entries, __entry->losses)
);

#endif /* _KVM_TRACE_EVENTS_DETAIL_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events_detail
#include <trace/define_trace.h>
