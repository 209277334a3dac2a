/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoint of batches: a trace system of its own, so that who enables all of
 * kvm_trace does not get everything twice. As events.h otherwise.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kvm_trace_batch

#if !defined(_KVM_TRACE_EVENTS_BATCH_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KVM_TRACE_EVENTS_BATCH_H

#include <linux/tracepoint.h>

#include "batch_encode.h"
#include "record.h"

int kvm_trace_vmexits_reg(void);
void kvm_trace_vmexits_unreg(void);

TRACE_EVENT_FN(vmexits,
	TP_PROTO(const struct kvm_trace_batch_event *event),
	TP_ARGS(event),

	TP_STRUCT__entry(
		__field(kvm_trace_u64, check)
		__field(kvm_trace_u64, ns)
		__field(kvm_trace_u64, stamp)
		__field(u32, vm)
		__field(u32, seq)
		__field(u32, mult)
		__dynamic_array(kvm_trace_byte, data, event->data_loc >> 16)
		__field(u16, vcpu)
		__field(u16, count)
		__field(u8, isa)
		__field(u8, version)
		__field(u8, shift)
		__field(u8, flags)
	),

	TP_fast_assign(
		__entry->check = event->check;
		__entry->ns = event->ns;
		__entry->stamp = event->stamp;
		__entry->vm = event->vm;
		__entry->seq = event->seq;
		__entry->mult = event->mult;
		memcpy(__get_dynamic_array(data), event->data,
		       event->data_loc >> 16);
		__entry->vcpu = event->vcpu;
		__entry->count = event->count;
		__entry->isa = event->isa;
		__entry->version = event->version;
		__entry->shift = event->shift;
		__entry->flags = event->flags;
	),

	/* Without data, which would be more than a line of ftrace's can hold. */
	TP_printk("vm %u vcpu %u %s count %u from seq %u ns %llu check 0x%llx stamp 0x%llx mult %u shift %u flags 0x%x version %u",
		  __entry->vm, __entry->vcpu,
		  __print_symbolic(__entry->isa, { 1, "VMX" }, { 2, "SVM" }),
		  __entry->count, __entry->seq, __entry->ns, __entry->check,
		  __entry->stamp, __entry->mult, __entry->shift,
		  __entry->flags, __entry->version),

	kvm_trace_vmexits_reg, kvm_trace_vmexits_unreg
);

#endif /* _KVM_TRACE_EVENTS_BATCH_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events_batch
#include <trace/define_trace.h>
