/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Encodes records for the tests, from the layout of uapi linux/kvm_trace.h and
 * on its own: it shares no code with the decoder that it tests. Also random
 * numbers that are the same in every run.
 */
#ifndef _DECODE_ENCODE_H
#define _DECODE_ENCODE_H

#include <string.h>
#include "../../perf-plugins/decode.h"

#define RECORD_MAX	512

struct record {
	__u8 bytes[RECORD_MAX];
	size_t size;
};

/* xorshift64* of Marsaglia and Vigna */
static inline __u64 random_64(void)
{
	static __u64 state = 0x6b766d5f74726163ull;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

static inline void add(struct record *r, __u64 value, unsigned int size)
{
	/* Tests run where records are made: on a little-endian machine. */
	memcpy(r->bytes + r->size, &value, size);
	r->size += size;
}

static inline void add_common(struct record *r)
{
	r->size = 0;
	add(r, 0, 8);
}

static inline void encode_vmexit(struct record *r, const struct kvm_trace_vmexit *v)
{
	const __u64 words[64] = {
		[0] = v->rip, v->gpa, v->guest_ns, v->info1, v->info2, v->reason_hi, v->entry_ns,
		v->user_ns, v->halt_ns, v->poll_ns, v->runnable_ns, v->msr_value, v->mmio_gpa,
		v->mmio_value, v->cr_value, v->exception,
		[16] = v->guest_ns, v->intr_info, v->error_code, v->untraced, v->flags_hi,
		v->user_ns, v->halt_ns, v->poll_ns, v->runnable_ns, v->msr, v->io,
		v->cpuid_leaf, 0, v->injected, v->user_reason,
		[32] = v->cpuid_ax_bx, v->cpuid_cx_dx, v->injected_exception, v->hypercall,
		[48] = v->cpuid_index, v->io_value, v->io_count, v->mmio, v->cr, v->host_vector,
	};
	const __u32 second = v->have >> 32;
	const __u32 first = (__u32)v->have | (second ? 1u << 31 : 0);
	unsigned int bit, tail = 0;

	if (first)
		tail += 4;
	if (second)
		tail += 4;
	for (bit = 0; bit < 64; bit++)
		if (v->have & 1ull << bit)
			tail += KVM_TRACE_W_SIZE(bit);
	add_common(r);
	add(r, v->host_ns, 8);
	add(r, v->vm, 4);
	add(r, v->seq, 4);
	add(r, tail << 16 | KVM_TRACE_VMEXIT_SIZE, 4);
	add(r, v->vcpu, 2);
	add(r, v->reason, 2);
	add(r, v->flags, 2);
	add(r, v->isa, 1);
	add(r, v->class, 1);
	if (first)
		add(r, first, 4);
	if (second)
		add(r, second, 4);
	for (bit = 0; bit < 64; bit++)
		if (v->have & 1ull << bit)
			add(r, words[bit], KVM_TRACE_W_SIZE(bit));
}

static inline void add_tail(struct record *r, __u32 present, const __u64 *arg,
			    const __u64 *words)
{
	unsigned int i;

	for (i = 0; i < KVM_TRACE_HC_ARGS; i++)
		add(r, arg[i], 4 * KVM_TRACE_HC_ARG(present, i));
	for (i = 0; i < 16; i++)
		if (present & 1u << (16 + i))
			add(r, words[i], i < 8 ? 8 : 4);
}

static inline void set_data_loc(struct record *r, unsigned int at, unsigned int start)
{
	__u32 loc = (r->size - start) << 16 | start;

	memcpy(r->bytes + at, &loc, sizeof(loc));
}

static inline void encode_hypercall(struct record *r, const struct kvm_trace_hypercall *h)
{
	const __u64 words[16] = {
		[0] = h->result, h->rip, h->ret, h->ns,
		[8] = h->nr >> 32, h->result, h->ns, h->hv_control, h->hv_reps, h->sub,
	};

	add_common(r);
	add(r, h->vm, 4);
	add(r, h->seq, 4);
	add(r, h->nr, 4);
	add(r, h->present, 4);
	add(r, 0, 4);
	add(r, h->vcpu, 2);
	add(r, h->abi, 1);
	add(r, h->caller, 1);
	add_tail(r, h->present, h->arg, words);
	set_data_loc(r, 24, KVM_TRACE_HYPERCALL_SIZE);
}

static inline void encode_hypercall_sub(struct record *r, const struct kvm_trace_hypercall_sub *s)
{
	const __u64 words[16] = { [8] = s->nr >> 32 };

	add_common(r);
	add(r, s->vm, 4);
	add(r, s->seq, 4);
	add(r, s->index, 4);
	add(r, s->nr, 4);
	add(r, s->present, 4);
	add(r, 0, 4);
	add(r, s->vcpu, 2);
	add(r, s->abi, 1);
	add(r, s->kind, 1);
	add_tail(r, s->present, s->arg, words);
	set_data_loc(r, 28, KVM_TRACE_HYPERCALL_SUB_SIZE);
}

static inline void encode_vcpu(struct record *r, const struct kvm_trace_vcpu *c)
{
	add_common(r);
	add(r, c->tsc_offset, 8);
	add(r, c->tsc_ratio, 8);
	add(r, c->vm, 4);
	add(r, c->seq, 4);
	add(r, c->vmm_pid, 4);
	add(r, c->vmm_tid, 4);
	add(r, c->generation, 4);
	memset(r->bytes + r->size, 0, KVM_TRACE_VCPU_NAME_LEN + KVM_TRACE_VCPU_VMM_LEN);
	memcpy(r->bytes + r->size, c->name.at, c->name.len);
	r->size += KVM_TRACE_VCPU_NAME_LEN;
	memcpy(r->bytes + r->size, c->vmm.at, c->vmm.len);
	r->size += KVM_TRACE_VCPU_VMM_LEN;
	add(r, c->vcpu, 2);
	add(r, c->isa, 1);
	add(r, c->abi_version, 1);
}

static inline void encode_lost(struct record *r, const struct kvm_trace_lost *l)
{
	add_common(r);
	add(r, l->count, 8);
	add(r, l->since, 8);
	add(r, l->vm, 4);
	add(r, l->vcpu, 2);
	add(r, l->why, 1);
	add(r, 0, 1);
}

#endif /* _DECODE_ENCODE_H */
