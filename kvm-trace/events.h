/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints but for those in events_detail.h. Layouts are those of uapi
 * linux/kvm_trace.h and are checked against it in events.c. TP_printk keeps to
 * what old libtraceevent parses; the plugin in perf-plugins/ prints better.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kvm_trace

#if !defined(_KVM_TRACE_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KVM_TRACE_EVENTS_H

#include <linux/kvm_trace.h>
#include <linux/tracepoint.h>

#include <kvm_trace/exit_reasons.h>

#include "record.h"

int kvm_trace_vmexit_reg(void);
void kvm_trace_vmexit_unreg(void);
int kvm_trace_hypercall_reg(void);
void kvm_trace_hypercall_unreg(void);
int kvm_trace_vcpu_reg(void);
void kvm_trace_vcpu_unreg(void);
int kvm_trace_lost_reg(void);
void kvm_trace_lost_unreg(void);

#define KVM_TRACE_SHOW_REASON(code, name, class) { code, #name },
#define KVM_TRACE_SHOW_CLASS(number, name) { number, #name },

TRACE_EVENT_FN(vmexit,
	TP_PROTO(const struct kvm_trace_vmexit *record),
	TP_ARGS(record),

	TP_STRUCT__entry(
		__field(kvm_trace_u64, host_ns)
		__field(u32, vm)
		__field(u32, seq)
		__dynamic_array(kvm_trace_byte, tail, kvm_trace_vmexit_tail_len(record))
		__field(u16, vcpu)
		__field(u16, reason)
		__field(u16, flags)
		__field(u8, isa)
		__field(u8, class)
	),

	TP_fast_assign(
		__entry->host_ns = record->host_ns;
		__entry->vm = record->vm;
		__entry->seq = record->seq;
		memcpy(__get_dynamic_array(tail), record->tail,
		       kvm_trace_vmexit_tail_len(record));
		__entry->vcpu = record->vcpu;
		__entry->reason = record->reason;
		__entry->flags = record->flags;
		__entry->isa = record->isa;
		__entry->class = record->class;
	),

	TP_printk("vm %u vcpu %u %s %s class %s host_ns %llu flags %s seq %u tail %s",
		  __entry->vm, __entry->vcpu,
		  __print_symbolic(__entry->isa, { 1, "VMX" }, { 2, "SVM" }),
		  __entry->isa == 1 ?
		  __print_symbolic(__entry->reason,
				   KVM_TRACE_VMX_REASONS(KVM_TRACE_SHOW_REASON)
				   KVM_TRACE_SHOW_END) :
		  __print_symbolic(__entry->reason,
				   KVM_TRACE_SVM_REASONS(KVM_TRACE_SHOW_REASON)
				   KVM_TRACE_SHOW_END),
		  __print_symbolic(__entry->class,
				   KVM_TRACE_CLASSES(KVM_TRACE_SHOW_CLASS)
				   KVM_TRACE_SHOW_END),
		  __entry->host_ns,
		  __print_flags(__entry->flags, "|",
				KVM_TRACE_FLAGS(KVM_TRACE_SHOW_NAME)
				KVM_TRACE_SHOW_END),
		  __entry->seq,
		  __print_hex(__get_dynamic_array(tail),
			      __get_dynamic_array_len(tail))),

	kvm_trace_vmexit_reg, kvm_trace_vmexit_unreg
);

TRACE_EVENT_FN(hypercall,
	TP_PROTO(const struct kvm_trace_hypercall_record *record),
	TP_ARGS(record),

	TP_STRUCT__entry(
		__field(u32, vm)
		__field(u32, seq)
		__field(u32, nr)
		__field(u32, present)
		__dynamic_array(kvm_trace_byte, tail, record->tail_len)
		__field(u16, vcpu)
		__field(u8, abi)
		__field(u8, caller)
	),

	TP_fast_assign(
		__entry->vm = record->vm;
		__entry->seq = record->seq;
		__entry->nr = record->nr;
		__entry->present = record->present;
		memcpy(__get_dynamic_array(tail), record->tail,
		       record->tail_len);
		__entry->vcpu = record->vcpu;
		__entry->abi = record->abi;
		__entry->caller = record->caller;
	),

	TP_printk("vm %u vcpu %u %s nr %u cpl %u caller 0x%x seq %u present 0x%x tail %s",
		  __entry->vm, __entry->vcpu,
		  __print_symbolic(__entry->abi,
				   KVM_TRACE_ABIS(KVM_TRACE_SHOW_NAME)
				   KVM_TRACE_SHOW_END),
		  __entry->nr, __entry->caller & 3, __entry->caller,
		  __entry->seq, __entry->present,
		  __print_hex(__get_dynamic_array(tail),
			      __get_dynamic_array_len(tail))),

	kvm_trace_hypercall_reg, kvm_trace_hypercall_unreg
);

TRACE_EVENT_FN(vcpu,
	TP_PROTO(const struct kvm_trace_vcpu_record *record),
	TP_ARGS(record),

	TP_STRUCT__entry(
		__field(kvm_trace_u64, tsc_offset)
		__field(kvm_trace_u64, tsc_ratio)
		__field(u32, vm)
		__field(u32, seq)
		__field(u32, vmm_pid)
		__field(u32, vmm_tid)
		__field(u32, generation)
		__array(char, name, KVM_TRACE_VCPU_NAME_LEN)
		__array(char, vmm, KVM_TRACE_VCPU_VMM_LEN)
		__field(u16, vcpu)
		__field(u8, isa)
		__field(u8, abi_version)
	),

	TP_fast_assign(
		__entry->tsc_offset = record->tsc_offset;
		__entry->tsc_ratio = record->tsc_ratio;
		__entry->vm = record->vm;
		__entry->seq = record->seq;
		__entry->vmm_pid = record->vmm_pid;
		__entry->vmm_tid = record->vmm_tid;
		__entry->generation = record->generation;
		memcpy(__entry->name, record->name, KVM_TRACE_VCPU_NAME_LEN);
		memcpy(__entry->vmm, record->vmm, KVM_TRACE_VCPU_VMM_LEN);
		__entry->vcpu = record->vcpu;
		__entry->isa = record->isa;
		__entry->abi_version = KVM_TRACE_ABI_VERSION;
	),

	TP_printk("vm %u vcpu %u %s pid %u tid %u name %s vmm %s tsc_offset 0x%llx tsc_ratio 0x%llx seq %u generation %u abi %u",
		  __entry->vm, __entry->vcpu,
		  __print_symbolic(__entry->isa, { 1, "VMX" }, { 2, "SVM" }),
		  __entry->vmm_pid, __entry->vmm_tid, __entry->name,
		  __entry->vmm, __entry->tsc_offset, __entry->tsc_ratio,
		  __entry->seq, __entry->generation, __entry->abi_version),

	kvm_trace_vcpu_reg, kvm_trace_vcpu_unreg
);

TRACE_EVENT_FN(lost,
	TP_PROTO(u64 count, u64 since, u32 vm, u16 vcpu, u8 why),
	TP_ARGS(count, since, vm, vcpu, why),

	TP_STRUCT__entry(
		__field(kvm_trace_u64, count)
		__field(kvm_trace_u64, since)
		__field(u32, vm)
		__field(u16, vcpu)
		__field(u8, why)
		__field(u8, zero)
	),

	TP_fast_assign(
		__entry->count = count;
		__entry->since = since;
		__entry->vm = vm;
		__entry->vcpu = vcpu;
		__entry->why = why;
		__entry->zero = 0;
	),

	TP_printk("count %llu since %llu vm %u vcpu %u why %s",
		  __entry->count, __entry->since, __entry->vm, __entry->vcpu,
		  __print_symbolic(__entry->why,
				   KVM_TRACE_LOST_WHY(KVM_TRACE_SHOW_NAME)
				   KVM_TRACE_SHOW_END)),

	kvm_trace_lost_reg, kvm_trace_lost_unreg
);

#endif /* _KVM_TRACE_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events
#include <trace/define_trace.h>
