/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens between an exit and the entry: probes on KVM's path, each of
 * which is attached only if a word needs it, and what has to be compared with
 * the entry before.
 */
#ifndef _KVM_TRACE_PATH_H
#define _KVM_TRACE_PATH_H

#include "compat/compat.h"
#include "vcpu.h"

/* Words that need each probe. */
#define KVM_TRACE_WORDS_OF_FPU						\
	(KVM_TRACE_W_USER_NS | KVM_TRACE_W_USER_REASON | KVM_TRACE_W_RUNNABLE_NS)
#define KVM_TRACE_WORDS_OF_MMIO						\
	(KVM_TRACE_W_MMIO | KVM_TRACE_W_MMIO_GPA | KVM_TRACE_W_MMIO_VALUE)
#define KVM_TRACE_WORDS_OF_PIO						\
	(KVM_TRACE_W_IO_VALUE | KVM_TRACE_W_IO_COUNT)

/* Words that need kvm_trace_path_restart(). */
#define KVM_TRACE_WORDS_OF_PATH						\
	(KVM_TRACE_W_FLAGS_HI | KVM_TRACE_WORDS_OF_FPU |		\
	 KVM_TRACE_W_HALT_NS | KVM_TRACE_W_POLL_NS |			\
	 KVM_TRACE_W_INJECTED | KVM_TRACE_W_INJECTED_EXCEPTION |	\
	 KVM_TRACE_WORDS_OF_MMIO | KVM_TRACE_WORDS_OF_PIO)

void kvm_trace_on_fpu(void *data, int load);
void kvm_trace_on_mmio(void *data, int type, int len, u64 gpa, void *val);
void kvm_trace_on_pio(void *data, unsigned int rw, unsigned int port,
		      unsigned int size, unsigned int count, const void *val);
void kvm_trace_on_fast_mmio(void *data, u64 gpa);
void kvm_trace_on_async_pf(void *data, u64 token, u64 gva);
void kvm_trace_on_reflect(void *data, KVM_TRACE_EXIT_CODE code, u64 info1,
			  u64 info2, u32 int_info, u32 int_info_err, u32 isa);

/* Grows when words, and so probes, are changed; see hooks.c. */
extern u32 kvm_trace_words_generation;

void kvm_trace_path_restart(struct kvm_trace_vcpu *v);
void kvm_trace_path_entry(struct kvm_trace_vcpu *v, u64 want, u64 host_ns,
			  bool immediate_exit);

#endif /* _KVM_TRACE_PATH_H */
