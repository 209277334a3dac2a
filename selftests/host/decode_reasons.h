/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exit reasons of both vendors as one array, for the tests that go through
 * all of them.
 */
#ifndef _DECODE_REASONS_H
#define _DECODE_REASONS_H

#include <kvm_trace/exit_reasons.h>
#include <linux/kvm_trace.h>

struct reason {
	__u8 isa;
	__u8 class;
	__u64 code;
	const char *name;
};

#define VMX(code, name, class) { KVM_TRACE_ISA_VMX, KVM_TRACE_CLASS_##class, code, #name },
#define SVM(code, name, class) { KVM_TRACE_ISA_SVM, KVM_TRACE_CLASS_##class, code, #name },

static const struct reason reasons[] = {
	KVM_TRACE_VMX_REASONS(VMX)
	KVM_TRACE_SVM_REASONS(SVM)
	KVM_TRACE_SVM_REASONS_WIDE(SVM)
};

#endif /* _DECODE_REASONS_H */
