/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records on their way from the collectors to the tracepoints. That of vmexit
 * has the layout of the event, so that perf gets it without another copy.
 */
#ifndef _KVM_TRACE_RECORD_H
#define _KVM_TRACE_RECORD_H

#include <linux/bitops.h>
#include <linux/kvm_trace.h>
#include <linux/trace_events.h>
#include <linux/types.h>

/* Keeps events free of padding at their end: 4 bytes of alignment suffice. */
typedef u64 __aligned(4) kvm_trace_u64;
/* libtraceevent takes arrays of a type with u8 or char in its name for strings. */
typedef u8 kvm_trace_byte;

/* A pair of __print_symbolic() and __print_flags(), and the last one. */
#define KVM_TRACE_SHOW_NAME(value, name) { value, name },
/* Matches nothing; old libtraceevent wants no comma behind the last pair. */
#define KVM_TRACE_SHOW_END { 0x10000, "" }

#define KVM_TRACE_OR_WORD(word, name)	| (word)
#define KVM_TRACE_OR_WORD_64(word, word_64) | (word_64)
#define KVM_TRACE_WORDS_ALL						\
	(KVM_TRACE_W_REASON_HI | KVM_TRACE_W_UNTRACED			\
	 KVM_TRACE_WORDS(KVM_TRACE_OR_WORD)				\
	 KVM_TRACE_WORDS_OF_TIME(KVM_TRACE_OR_WORD_64))
/* Two masks and every word there is. */
#define KVM_TRACE_VMEXIT_TAIL_MAX					\
	(2 * 4 + HWEIGHT64(KVM_TRACE_WORDS_ALL & KVM_TRACE_W_MASK_8) * 8 + \
	 HWEIGHT64(KVM_TRACE_WORDS_ALL & KVM_TRACE_W_MASK_4) * 4)
/* Words of 4 bytes are written as 8, the last one too. */
#define KVM_TRACE_VMEXIT_TAIL_SLACK	8
/* Every argument and a word of every bit. */
#define KVM_TRACE_HYPERCALL_TAIL_MAX					\
	(KVM_TRACE_HC_ARGS * 8 + HWEIGHT32(KVM_TRACE_HC_W_MASK_8) * 8 +	\
	 HWEIGHT32(KVM_TRACE_HC_W_MASK_4) * 4)
/* Arguments from registers, or what stands for them, and NR_HI. */
#define KVM_TRACE_HYPERCALL_SUB_TAIL_MAX	(KVM_TRACE_HC_REGS * 8 + 4)

/**
 * struct kvm_trace_vmexit - a round trip, laid out as kvm_trace:vmexit
 * @ent:	head that all trace events have
 * @host_ns:	see uapi linux/kvm_trace.h, as all others
 * @vm:		-
 * @seq:	-
 * @tail_loc:	- (__data_loc)
 * @vcpu:	-
 * @reason:	-
 * @flags:	-
 * @isa:	-
 * @class:	-
 * @kind:	the last three in one
 * @tail:	presence bits and words, and what may be written behind them
 */
struct kvm_trace_vmexit {
	struct trace_entry ent;
	kvm_trace_u64 host_ns;
	u32 vm;
	u32 seq;
	u32 tail_loc;
	u16 vcpu;
	u16 reason;
	union {
		struct {
			u16 flags;
			u8 isa;
			u8 class;
		};
		u32 kind;
	};
	u8 tail[KVM_TRACE_VMEXIT_TAIL_MAX + KVM_TRACE_VMEXIT_TAIL_SLACK];
};

static_assert(offsetof(struct kvm_trace_vmexit, tail) == KVM_TRACE_VMEXIT_SIZE);

static __always_inline u32 kvm_trace_vmexit_tail_len(const struct kvm_trace_vmexit *r)
{
	return r->tail_loc >> 16;
}

/**
 * struct kvm_trace_hypercall_record - a hypercall, see kvm_trace:hypercall
 * @vm:		see there, as all others
 * @seq:	-
 * @nr:		-
 * @present:	-
 * @vcpu:	-
 * @abi:	-
 * @caller:	-
 * @tail_len:	bytes used in @tail
 * @tail:	arguments and words
 */
struct kvm_trace_hypercall_record {
	u32 vm;
	u32 seq;
	u32 nr;
	u32 present;
	u16 vcpu;
	u8 abi;
	u8 caller;
	u16 tail_len;
	u8 tail[KVM_TRACE_HYPERCALL_TAIL_MAX];
};

/**
 * struct kvm_trace_hypercall_sub_record - a part of a hypercall, see
 * kvm_trace_detail:hypercall_sub
 * @vm:		see there, as all others
 * @seq:	-
 * @index:	-
 * @nr:		-
 * @present:	-
 * @vcpu:	-
 * @abi:	-
 * @kind:	-
 * @tail_len:	bytes used in @tail
 * @tail:	arguments and words
 */
struct kvm_trace_hypercall_sub_record {
	u32 vm;
	u32 seq;
	u32 index;
	u32 nr;
	u32 present;
	u16 vcpu;
	u8 abi;
	u8 kind;
	u16 tail_len;
	u8 tail[KVM_TRACE_HYPERCALL_SUB_TAIL_MAX];
};

/**
 * struct kvm_trace_vcpu_record - who a vCPU is, see kvm_trace:vcpu
 * @tsc_offset:	see there, as all others
 * @tsc_ratio:	-
 * @vm:		-
 * @seq:	-
 * @vmm_pid:	-
 * @vmm_tid:	-
 * @generation:	-
 * @vcpu:	-
 * @isa:	-
 * @name:	zero-filled
 * @vmm:	zero-filled
 */
struct kvm_trace_vcpu_record {
	u64 tsc_offset;
	u64 tsc_ratio;
	u32 vm;
	u32 seq;
	u32 vmm_pid;
	u32 vmm_tid;
	u32 generation;
	u16 vcpu;
	u8 isa;
	char name[KVM_TRACE_VCPU_NAME_LEN];
	char vmm[KVM_TRACE_VCPU_VMM_LEN];
};

/**
 * struct kvm_trace_pt_record - see kvm_trace_detail:pt
 * @bytes:	see there, as all others
 * @entries:	-
 * @tid:	-
 * @on_cpu:	-
 * @losses:	-
 * @what:	-
 * @why:	-
 * @config:	-
 */
struct kvm_trace_pt_record {
	u64 bytes;
	u64 entries;
	u32 tid;
	u32 on_cpu;
	u32 losses;
	u8 what;
	u8 why;
	u16 config;
};

static __always_inline u8 *kvm_trace_put_64(u8 *tail, u64 value)
{
	memcpy(tail, &value, sizeof(value));
	return tail + sizeof(value);
}

static __always_inline u8 *kvm_trace_put_32(u8 *tail, u32 value)
{
	memcpy(tail, &value, sizeof(value));
	return tail + sizeof(value);
}

#endif /* _KVM_TRACE_RECORD_H */
