// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of hypercalls of all ABIs: from the probe in which KVM takes a call up
 * to the entry at which the guest gets its result.
 */
#include <linux/preempt.h>

#include <kvm_trace/hypercalls.h>
#include <kvm_trace/hypercalls_hyperv.h>
#include <kvm_trace/hypercalls_xen.h>

#include "batch.h"
#include "detail.h"
#include "events.h"
#include "events_batch.h"
#include "events_detail.h"
#include "hypercall.h"

#define ALL_ARGS(count)		(BIT(count) - 1)

/* Hyper-V TLFS, "Hypercall Inputs": what stands beside the call code. */
#define HV_CONTROL_SHIFT	16
#define HV_REPS_SHIFT		32

u32 kvm_trace_hypercall_words __read_mostly = KVM_TRACE_HC_WORDS_DEFAULT;
bool kvm_trace_hypercall_all_args __read_mostly;

/*
 * The vCPU whose exit is being handled, or NULL. Until kvm_trace_probe_end()
 * preemption is off: for the VMCS, and to be an RCU reader. Of a VMCS that cannot be
 * read (an enlightened one) nobody knows the width of the caller.
 */
static __always_inline struct kvm_trace_vcpu *enter(void)
{
	struct kvm_trace_vcpu *v;

	kvm_trace_probe_begin();
	v = kvm_trace_vcpu_loaded();
	if (!v || v->where < KVM_TRACE_IN_HOST)
		return NULL;
	if (unlikely(v->exit.flags & KVM_TRACE_F_PROTECTED) &&
	    !v->vcpu->arch.guest_state_protected)
		return NULL;
	return v;
}

static __always_inline bool in_batches(void)
{
	return trace_vmexits_enabled() &&
	       READ_ONCE(kvm_trace_batch_hypercalls);
}

static __always_inline u8 caller_of(struct kvm_trace_vcpu *v)
{
	return v->record.isa == KVM_TRACE_ISA_SVM ?
	       kvm_trace_caller_svm(v->vcpu) : kvm_trace_caller_vmx(v->vcpu);
}

/* All of the record that does not depend on the ABI. */
static __always_inline void begin_call(struct kvm_trace_vcpu *v, u8 abi,
				       u8 caller, u64 nr)
{
	struct kvm_trace_hypercall *call = &v->hypercall;
	struct kvm_trace_hypercall_record *record = &call->record;

	call->words = READ_ONCE(kvm_trace_hypercall_words);
	kvm_trace_vcpu_go_long_way(v);
	record->vm = v->record.vm;
	record->seq = v->record.seq;
	record->nr = nr;
	record->present = 0;
	record->vcpu = v->record.vcpu;
	record->abi = abi;
	record->caller = caller;
	record->tail_len = 0;
	if (nr >> 32) {
		call->nr_hi = nr >> 32;
		record->present |= KVM_TRACE_HC_W_NR_HI;
	}
	if ((call->words & KVM_TRACE_HC_W_RIP) &&
	    !v->vcpu->arch.guest_state_protected) {
		call->rip = v->record.isa == KVM_TRACE_ISA_SVM ?
			    kvm_trace_old_rip_svm(v->vcpu) :
			    kvm_trace_old_rip_vmx();
		record->present |= KVM_TRACE_HC_W_RIP;
	}
}

static __always_inline void end_call(struct kvm_trace_vcpu *v, u8 which,
				     const u64 *args)
{
	struct kvm_trace_hypercall_record *record = &v->hypercall.record;

	record->tail_len = kvm_trace_put_args(record->tail, &record->present,
					      which, args) - record->tail;
	v->hypercall.state = KVM_TRACE_CALL_MADE;
}

static __always_inline bool reads_memory(const struct kvm_trace_vcpu *v)
{
	return trace_hypercall_sub_enabled() ||
	       unlikely(v->hypercall.words & KVM_TRACE_HC_W_RETURN);
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
	struct kvm_trace_vcpu *v = enter();
	const struct kvm_trace_call *known;
	u64 mask, args[KVM_TRACE_KVM_ARGS];
	u8 caller;

	if (!v)
		goto out;
	caller = caller_of(v);
	mask = caller & KVM_TRACE_CALLER_LONG_MODE ? U64_MAX : U32_MAX;
	args[0] = a0 & mask;
	args[1] = a1 & mask;
	args[2] = a2 & mask;
	args[3] = a3 & mask;
	begin_call(v, KVM_TRACE_ABI_KVM, caller, nr & mask);
	known = kvm_trace_find_call(KVM_TRACE_ABI_KVM, true, nr & mask);
	end_call(v, kvm_trace_args_wanted(known, ALL_ARGS(KVM_TRACE_KVM_ARGS)),
		 args);
out:
	kvm_trace_probe_end();
}

/* What KVM has taken the tracepoint's code, fast and counts from. */
static u64 hyperv_input(const struct kvm_vcpu *vcpu, u8 caller)
{
	const unsigned long *regs = vcpu->arch.regs;

	if (caller & KVM_TRACE_CALLER_LONG_MODE)
		return regs[VCPU_REGS_RCX];
	return (u64)regs[VCPU_REGS_RDX] << 32 | (u32)regs[VCPU_REGS_RAX];
}

/**
 * kvm_trace_on_hv_hypercall() - probe of kvm_hv_hypercall
 * @data:    not used
 * @code:    call code
 * @fast:    input is in registers
 * @var_cnt: not used
 * @rep_cnt: not used
 * @rep_idx: not used
 * @ingpa:   address of the input, or input
 * @outgpa:  address of the output, or more input
 *
 * Context: the vCPU's thread, handling the exit; may be preemptible.
 */
void kvm_trace_on_hv_hypercall(void *data, u16 code, bool fast, u16 var_cnt,
			       u16 rep_cnt, u16 rep_idx, u64 ingpa, u64 outgpa)
{
	u64 input, args[KVM_TRACE_HC_ARGS] = { ingpa, outgpa };
	struct kvm_trace_vcpu *v = enter();
	const struct kvm_trace_call *known;
	struct kvm_trace_hypercall *call;
	u8 caller, which;

	if (!v)
		goto out;
	call = &v->hypercall;
	caller = caller_of(v);
	input = hyperv_input(v->vcpu, caller);
	known = kvm_trace_find_call(KVM_TRACE_ABI_HYPERV, true, code);
	if (fast)
		caller |= KVM_TRACE_CALLER_FAST;
	if (fast && known && known->xmm)
		caller |= KVM_TRACE_CALLER_XMM;

	begin_call(v, KVM_TRACE_ABI_HYPERV, caller, code);
	call->hv_control = (u32)input >> HV_CONTROL_SHIFT;
	if (call->hv_control & ~KVM_TRACE_HV_FAST)
		call->record.present |= KVM_TRACE_HC_W_HV_CONTROL;
	call->hv_reps = input >> HV_REPS_SHIFT;
	if (call->hv_reps)
		call->record.present |= KVM_TRACE_HC_W_HV_REPS;

	which = kvm_trace_args_wanted(known, ALL_ARGS(KVM_TRACE_HYPERV_ARGS));
	/* Else they are addresses. */
	if (!fast && !READ_ONCE(kvm_trace_hypercall_all_args))
		which = 0;
	if (reads_memory(v))
		which |= kvm_trace_hypercall_memory(v, known, args);
	end_call(v, which, args);
out:
	kvm_trace_probe_end();
}

static void xen_hypercall(u64 nr, u64 *args)
{
	struct kvm_trace_vcpu *v = enter();
	const struct kvm_trace_call *known;
	u8 caller, which;
	bool wide;

	if (!v)
		goto out;
	caller = caller_of(v);
	wide = caller & KVM_TRACE_CALLER_LONG_MODE;
	known = kvm_trace_find_call(KVM_TRACE_ABI_XEN, wide, nr);
	begin_call(v, KVM_TRACE_ABI_XEN, caller, nr);
	which = kvm_trace_args_wanted(known, ALL_ARGS(KVM_TRACE_XEN_ARGS));
	if (reads_memory(v))
		which |= kvm_trace_hypercall_memory(v, known, args);
	end_call(v, which, args);
out:
	kvm_trace_probe_end();
}

#if KVM_TRACE_XEN_HYPERCALL_CPL
/**
 * kvm_trace_on_xen_hypercall() - probe of kvm_xen_hypercall
 * @data: not used
 * @cpl:  not used
 * @nr:   number; it and arguments are cut to the width of the caller
 * @a0:   first argument
 * @a1:   second argument
 * @a2:   third argument
 * @a3:   fourth argument
 * @a4:   fifth argument
 * @a5:   sixth argument
 *
 * Context: the vCPU's thread, handling the exit; may be preemptible.
 */
void kvm_trace_on_xen_hypercall(void *data, u8 cpl, unsigned long nr,
				unsigned long a0, unsigned long a1,
				unsigned long a2, unsigned long a3,
				unsigned long a4, unsigned long a5)
{
	u64 args[KVM_TRACE_HC_ARGS] = { a0, a1, a2, a3, a4, a5 };

	xen_hypercall(nr, args);
}
#else
/**
 * kvm_trace_on_xen_hypercall() - probe of kvm_xen_hypercall
 * @data: not used
 * @nr:   number; it and arguments are cut to the width of the caller
 * @a0:   first argument
 * @a1:   second argument
 * @a2:   third argument
 * @a3:   fourth argument
 * @a4:   fifth argument
 * @a5:   sixth argument
 *
 * Context: the vCPU's thread, handling the exit; may be preemptible.
 */
void kvm_trace_on_xen_hypercall(void *data, unsigned long nr,
				unsigned long a0, unsigned long a1,
				unsigned long a2, unsigned long a3,
				unsigned long a4, unsigned long a5)
{
	u64 args[KVM_TRACE_HC_ARGS] = { a0, a1, a2, a3, a4, a5 };

	xen_hypercall(nr, args);
}
#endif

/**
 * kvm_trace_hypercall_nested() - a nested guest has left for a hypercall
 * @v: the vCPU
 *
 * If KVM hands it to the guest's own hypervisor, no hypercall tracepoint fires,
 * and the nested guest's registers are gone then.
 *
 * Context: kvm_exit tracepoint of @v's own thread, not preemptible.
 */
void kvm_trace_hypercall_nested(struct kvm_trace_vcpu *v)
{
	u8 caller;

	if (!trace_hypercall_enabled() && !in_batches())
		return;
	caller = caller_of(v);
	begin_call(v, KVM_TRACE_ABI_L1, caller,
		   kvm_trace_gpr(v->vcpu, VCPU_REGS_RAX, caller));
	v->hypercall.state = KVM_TRACE_CALL_NESTED;
}

/**
 * kvm_trace_hypercall_reflected() - it goes to the guest's own hypervisor
 * @v: the vCPU, which has left a nested guest for a hypercall
 *
 * Context: @v's own thread, not preemptible.
 */
void kvm_trace_hypercall_reflected(struct kvm_trace_vcpu *v)
{
	if (v->hypercall.state == KVM_TRACE_CALL_NESTED)
		v->hypercall.state = KVM_TRACE_CALL_MADE;
}

/* The result, if it is in the registers; the record then says how it is put. */
static __always_inline u64 find_result(struct kvm_trace_vcpu *v)
{
	struct kvm_trace_hypercall_record *record = &v->hypercall.record;
	const struct kvm_vcpu_arch *arch = &v->vcpu->arch;
	bool same_level = !(arch->hflags & HF_GUEST_MASK) ==
			  !(record->caller & KVM_TRACE_CALLER_NESTED);
	u64 result;

	if (record->abi == KVM_TRACE_ABI_L1 || arch->guest_state_protected ||
	    !same_level || !kvm_trace_completed(v->vcpu, v->record.isa))
		return 0;

	result = arch->regs[VCPU_REGS_RAX];
	if (!(record->caller & KVM_TRACE_CALLER_LONG_MODE)) {
		result = (u32)result;
		if (record->abi == KVM_TRACE_ABI_HYPERV)
			result |= (u64)arch->regs[VCPU_REGS_RDX] << 32;
		else
			result = (s32)result;
	}
	if (!result)
		record->caller |= KVM_TRACE_CALLER_ZERO;
	else if (result == (u64)(s32)result)
		record->present |= KVM_TRACE_HC_W_RESULT;
	else
		record->present |= KVM_TRACE_HC_W_RESULT_64;
	return result;
}

/**
 * kvm_trace_hypercall_done() - record the open hypercall with its result
 * @v:       a vCPU that is about to enter its guest
 * @host_ns: host time of the round trip
 *
 * Context: @v's thread, interrupts off.
 * Return: the record if it belongs into the batch too, else NULL
 */
const struct kvm_trace_hypercall_record *
kvm_trace_hypercall_done(struct kvm_trace_vcpu *v, u64 host_ns)
{
	struct kvm_trace_hypercall *call = &v->hypercall;
	struct kvm_trace_hypercall_record *record = &call->record;
	bool made = call->state == KVM_TRACE_CALL_MADE;
	u8 *p = record->tail + record->tail_len;
	u32 present;
	u64 result;

	call->state = KVM_TRACE_CALL_NONE;
	if (!made || (!trace_hypercall_enabled() && !in_batches()))
		return NULL;

	result = find_result(v);
	if (call->words & KVM_TRACE_HC_W_NS)
		record->present |= host_ns >> 32 ? KVM_TRACE_HC_W_NS_64 :
						   KVM_TRACE_HC_W_NS;
	present = record->present;

	if (present & KVM_TRACE_HC_W_RESULT_64)
		p = kvm_trace_put_64(p, result);
	if (present & KVM_TRACE_HC_W_RIP)
		p = kvm_trace_put_64(p, call->rip);
	if (present & KVM_TRACE_HC_W_RETURN)
		p = kvm_trace_put_64(p, call->ret);
	if (present & KVM_TRACE_HC_W_NS_64)
		p = kvm_trace_put_64(p, host_ns);
	if (present & KVM_TRACE_HC_W_NR_HI)
		p = kvm_trace_put_32(p, call->nr_hi);
	if (present & KVM_TRACE_HC_W_RESULT)
		p = kvm_trace_put_32(p, result);
	if (present & KVM_TRACE_HC_W_NS)
		p = kvm_trace_put_32(p, host_ns);
	if (present & KVM_TRACE_HC_W_HV_CONTROL)
		p = kvm_trace_put_32(p, call->hv_control);
	if (present & KVM_TRACE_HC_W_HV_REPS)
		p = kvm_trace_put_32(p, call->hv_reps);
	if (present & KVM_TRACE_HC_W_SUB)
		p = kvm_trace_put_32(p, call->sub);

	record->tail_len = p - record->tail;
	trace_hypercall(record);
	return in_batches() ? record : NULL;
}
