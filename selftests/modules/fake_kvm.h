/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of a module that pretends to be another kernel's kvm. Each
 * variant defines the prototype of kvm_exit, or does without it; the others
 * are those of x86 Linux 6.1 to 7.3.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kvm

#if !defined(_FAKE_KVM_H) || defined(TRACE_HEADER_MULTI_READ)
#define _FAKE_KVM_H

#include <linux/tracepoint.h>

struct kvm_vcpu;

TRACE_EVENT(kvm_entry,
	TP_PROTO(struct kvm_vcpu *vcpu, bool force_immediate_exit),
	TP_ARGS(vcpu, force_immediate_exit),
	TP_STRUCT__entry(__field(bool, immediate_exit)),
	TP_fast_assign(__entry->immediate_exit = force_immediate_exit;),
	TP_printk("%d", __entry->immediate_exit)
);

#ifdef FAKE_EXIT_PROTO
TRACE_EVENT(kvm_exit,
	TP_PROTO(FAKE_EXIT_PROTO),
	TP_ARGS(FAKE_EXIT_ARGS),
	TP_STRUCT__entry(__field(u64, isa)),
	TP_fast_assign(__entry->isa = isa;),
	TP_printk("%llu", __entry->isa)
);
#endif

TRACE_EVENT(kvm_hypercall,
	TP_PROTO(unsigned long nr, unsigned long a0, unsigned long a1, unsigned long a2,
		 unsigned long a3),
	TP_ARGS(nr, a0, a1, a2, a3),
	TP_STRUCT__entry(__field(unsigned long, nr)),
	TP_fast_assign(__entry->nr = nr;),
	TP_printk("%lu", __entry->nr)
);

TRACE_EVENT(kvm_userspace_exit,
	TP_PROTO(u32 reason, int error),
	TP_ARGS(reason, error),
	TP_STRUCT__entry(__field(u32, reason)),
	TP_fast_assign(__entry->reason = reason;),
	TP_printk("%u", __entry->reason)
);

TRACE_EVENT(kvm_fpu,
	TP_PROTO(int load),
	TP_ARGS(load),
	TP_STRUCT__entry(__field(int, load)),
	TP_fast_assign(__entry->load = load;),
	TP_printk("%d", __entry->load)
);

TRACE_EVENT(kvm_nested_vmenter_failed,
	TP_PROTO(const char *msg, u32 err),
	TP_ARGS(msg, err),
	TP_STRUCT__entry(__field(u32, err)),
	TP_fast_assign(__entry->err = err;),
	TP_printk("%u", __entry->err)
);

#endif /* _FAKE_KVM_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE fake_kvm
#include <trace/define_trace.h>
