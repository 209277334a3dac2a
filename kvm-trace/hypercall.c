// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of hypercalls. What they mean is in include/kvm_trace/hypercalls.h.
 */
#include <linux/nospec.h>

#include <kvm_trace/hypercalls.h>

#include "events.h"
#include "hypercall.h"

#define NARGS_OF(nr, name, nargs, ...) \
	[nr] = (nargs) + 1,
/* Arguments that a call uses, plus 1; 0 for a number that is not known. */
static const u8 kvm_nargs[] = {
	KVM_TRACE_KVM_HYPERCALLS(NARGS_OF)
};

static unsigned int nargs_of(u64 nr)
{
	if (nr >= ARRAY_SIZE(kvm_nargs))
		return KVM_TRACE_KVM_HYPERCALL_ARGS;
	/* The guest chooses it. */
	nr = array_index_nospec(nr, ARRAY_SIZE(kvm_nargs));
	return kvm_nargs[nr] ? kvm_nargs[nr] - 1 : KVM_TRACE_KVM_HYPERCALL_ARGS;
}

/**
 * kvm_trace_on_hypercall() - probe of kvm_hypercall
 * @data: not used
 * @nr:   number; here and below, of a 32-bit caller only bits 31:0 count
 * @a0:   first argument
 * @a1:   second argument
 * @a2:   third argument
 * @a3:   fourth argument
 *
 * Context: the vCPU's thread, handling the exit; may be preemptible.
 */
void kvm_trace_on_hypercall(void *data, unsigned long nr, unsigned long a0,
			    unsigned long a1, unsigned long a2,
			    unsigned long a3)
{
	struct kvm_trace_vcpu *v;

	/* For the VMCS, and to be an RCU reader. */
	preempt_disable_notrace();
	v = kvm_trace_vcpu_loaded();
	if (v && v->where >= KVM_TRACE_IN_HOST) {
		v->hypercall.nr = nr;
		v->hypercall.args[0] = a0;
		v->hypercall.args[1] = a1;
		v->hypercall.args[2] = a2;
		v->hypercall.args[3] = a3;
		v->hypercall.caller = v->record.isa == KVM_TRACE_ISA_SVM ?
				      kvm_trace_caller_svm(v->vcpu) :
				      kvm_trace_caller_vmx(v->vcpu);
		v->hypercall.pending = true;
	}
	preempt_enable_notrace();
}

/**
 * kvm_trace_hypercall_done() - record the open hypercall with its result
 * @v: a vCPU that is about to enter its guest
 *
 * Context: @v's thread, interrupts off.
 */
void kvm_trace_hypercall_done(struct kvm_trace_vcpu *v)
{
	const struct kvm_trace_hypercall *call = &v->hypercall;
	const struct kvm_vcpu_arch *arch = &v->vcpu->arch;
	bool wide = call->caller & KVM_TRACE_CALLER_LONG_MODE;
	u64 mask = wide ? U64_MAX : U32_MAX;
	u64 nr = call->nr & mask;
	struct kvm_trace_hypercall_record record;
	unsigned int i, nargs = nargs_of(nr);
	u8 *p = record.tail;
	u32 present = 0;
	u64 result;

	v->hypercall.pending = false;
	if (!trace_hypercall_enabled())
		return;

	for (i = 0; i < nargs; i++) {
		u64 arg = call->args[i] & mask;

		if (arg >> 32) {
			present |= KVM_TRACE_HC_ARG_64 << (2 * i);
			p = kvm_trace_put_64(p, arg);
		} else {
			present |= KVM_TRACE_HC_ARG_32 << (2 * i);
			p = kvm_trace_put_32(p, arg);
		}
	}
	if (!arch->guest_state_protected) {
		result = arch->regs[VCPU_REGS_RAX];
		if (!wide || result == (u64)(s32)result)
			present |= KVM_TRACE_HC_W_RESULT;
		else
			present |= KVM_TRACE_HC_W_RESULT_64;
	}
	if (nr >> 32)
		present |= KVM_TRACE_HC_W_NR_HI;

	if (present & KVM_TRACE_HC_W_RESULT_64)
		p = kvm_trace_put_64(p, result);
	if (present & KVM_TRACE_HC_W_NR_HI)
		p = kvm_trace_put_32(p, nr >> 32);
	if (present & KVM_TRACE_HC_W_RESULT)
		p = kvm_trace_put_32(p, result);

	record.vm = v->vm->id;
	record.seq = v->record.seq;
	record.nr = nr;
	record.present = present;
	record.vcpu = v->vcpu->vcpu_id;
	record.abi = KVM_TRACE_ABI_KVM;
	record.caller = call->caller;
	record.tail_len = p - record.tail;
	trace_hypercall(&record);
}
