// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the record of a hypercall must say, by the tables, by the guest's
 * registers and by KVM's own events. The calls are made by calls.c.
 */
#include <kvm_trace/hypercalls_hyperv.h>
#include <kvm_trace/hypercalls_xen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"
#include "tap.h"

#define ARG(kind, name) KVM_TRACE_ARG_##kind
#define ROW(nr, name, how, ...) { nr, how, { __VA_ARGS__ } },
static const struct call_row kvm_rows[] = { KVM_TRACE_KVM_CALLS(ROW, ARG) };
static const struct call_row hyperv_rows[] = { KVM_TRACE_HYPERV_CALLS(ROW, ARG) };
static const struct call_row xen_rows[] = { KVM_TRACE_XEN_CALLS(ROW, ARG) };
#undef ROW
#undef ARG

/**
 * call_rows() - table of an ABI
 * @abi: KVM_TRACE_ABI_*, not that of a nested guest
 * @count: set to the number of rows
 */
const struct call_row *call_rows(u8 abi, size_t *count)
{
	switch (abi) {
	case KVM_TRACE_ABI_KVM:
		*count = ARRAY_SIZE(kvm_rows);
		return kvm_rows;
	case KVM_TRACE_ABI_HYPERV:
		*count = ARRAY_SIZE(hyperv_rows);
		return hyperv_rows;
	default:
		*count = ARRAY_SIZE(xen_rows);
		return xen_rows;
	}
}

/**
 * call_args() - how many arguments an ABI passes in registers
 * @abi: as for call_rows()
 */
unsigned int call_args(u8 abi)
{
	return abi == KVM_TRACE_ABI_KVM ? KVM_TRACE_KVM_ARGS :
	       abi == KVM_TRACE_ABI_HYPERV ? KVM_TRACE_HYPERV_ARGS : KVM_TRACE_XEN_ARGS;
}

/**
 * call_row_fits() - whether a row is about callers of a mode
 * @row: row
 * @abi: its table
 * @mode: MODE_*
 */
bool call_row_fits(const struct call_row *row, u8 abi, enum vcpu_mode mode)
{
	return abi == KVM_TRACE_ABI_HYPERV || !row->how ||
	       row->how == (mode == MODE_LONG ? 64 : 32);
}

static u64 number(const struct guest_call *call)
{
	if (call->abi == KVM_TRACE_ABI_HYPERV)
		return call->nr & 0xffff;
	return call->mode == MODE_LONG ? call->nr : (u32)call->nr;
}

static const struct call_row *find_row(const struct guest_call *call)
{
	const struct call_row *rows;
	size_t count, i;

	rows = call_rows(call->abi, &count);
	for (i = 0; i < count; i++) {
		if (rows[i].nr == number(call) && call_row_fits(&rows[i], call->abi, call->mode))
			return &rows[i];
	}
	return NULL;
}

/* Of one call, so that a failure says which. */
#define EXPECT(ok, call, format, ...)							\
	tap_expect(ok, "ABI %u, nr 0x%llx, mode %u: " format, (call)->abi, (call)->nr,	\
		   (call)->mode, ##__VA_ARGS__)

/* Registers have 32 bits; of Hyper-V, two of them are one argument. */
static bool is_narrow(const struct guest_call *call)
{
	return call->mode != MODE_LONG && call->abi != KVM_TRACE_ABI_HYPERV;
}

/**
 * call_arg_wanted() - whether a call's record is to have an argument
 * @calls: after calls_start()
 * @call: call
 * @i: number of the argument, 6 and 7 for fields
 */
bool call_arg_wanted(const struct calls *calls, const struct guest_call *call, unsigned int i)
{
	const struct call_row *row = find_row(call);

	if (i >= KVM_TRACE_HC_REGS)
		return calls->flags & CALLS_SUB && call->fields & 1 << (i - KVM_TRACE_HC_REGS);
	if (i >= call_args(call->abi))
		return false;
	if (calls->flags & CALLS_ALL_ARGS)
		return true;
	/* Else they are addresses. */
	if (call->abi == KVM_TRACE_ABI_HYPERV && !(call->nr & HV_FAST))
		return false;
	return !row || (row->kinds[i] != KVM_TRACE_ARG_NONE && row->kinds[i] != KVM_TRACE_ARG_PTR);
}

static void expect_args(const struct calls *calls, const struct guest_call *call,
			const struct kvm_trace_hypercall *r)
{
	unsigned int i, size;
	u64 value;

	for (i = 0; i < KVM_TRACE_HC_ARGS; i++) {
		value = i >= KVM_TRACE_HC_REGS ? call->field[i - KVM_TRACE_HC_REGS] :
			is_narrow(call) ? (u32)call->arg[i] : call->arg[i];
		size = !call_arg_wanted(calls, call, i) ? KVM_TRACE_HC_ARG_ABSENT :
		       value >> 32 ? KVM_TRACE_HC_ARG_64 : KVM_TRACE_HC_ARG_32;
		EXPECT(KVM_TRACE_HC_ARG(r->have, i) == size, call,
		       "a%u has presence bits %u, not %u", i, KVM_TRACE_HC_ARG(r->have, i), size);
		if (size)
			EXPECT(r->arg[i] == value, call, "a%u is 0x%llx, not 0x%llx", i,
			       r->arg[i], value);
	}
}

/* What the caller takes for its result. */
static u64 result_of(const struct guest_call *call)
{
	return is_narrow(call) ? (u32)call->result : call->result;
}

static u8 caller_of(const struct guest_call *call)
{
	const struct call_row *row = find_row(call);
	u8 caller = call->cpl | (call->mode == MODE_LONG ? KVM_TRACE_CALLER_LONG_MODE : 0);

	if (call->abi == KVM_TRACE_ABI_HYPERV && call->nr & HV_FAST)
		caller |= KVM_TRACE_CALLER_FAST | (row && row->how ? KVM_TRACE_CALLER_XMM : 0);
	if (!call->moved && !result_of(call))
		caller |= KVM_TRACE_CALLER_ZERO;
	return caller;
}

/* A result of 0 has no word, but is decoded as if it had one. */
static u32 result_word(const struct guest_call *call)
{
	if (call->moved)
		return 0;
	if (is_narrow(call) || call->result == (u64)(s64)(s32)call->result)
		return KVM_TRACE_HC_W_RESULT;
	return KVM_TRACE_HC_W_RESULT_64;
}

static void expect_words(const struct calls *calls, const struct guest_call *call,
			 const struct kvm_trace_hypercall *r, u64 host_ns)
{
	const bool hyperv = call->abi == KVM_TRACE_ABI_HYPERV;
	const u32 input = hyperv ? call->nr >> 16 & 0xffff : 0;
	/* That it is fast, caller says. */
	const u32 control = input & ~KVM_TRACE_HV_FAST ? input : 0;
	const u32 reps = hyperv ? call->nr >> 32 : 0;
	u32 want = calls->words & KVM_TRACE_HC_W_RIP;

	want |= result_word(call);
	if (calls->words & KVM_TRACE_HC_W_NS)
		want |= host_ns >> 32 ? KVM_TRACE_HC_W_NS_64 : KVM_TRACE_HC_W_NS;
	if (call->ret)
		want |= calls->words & KVM_TRACE_HC_W_RETURN;
	if (number(call) >> 32)
		want |= KVM_TRACE_HC_W_NR_HI;
	if (control)
		want |= KVM_TRACE_HC_W_HV_CONTROL;
	if (reps)
		want |= KVM_TRACE_HC_W_HV_REPS;
	if (calls->flags & CALLS_SUB && (call->fields || call->unreadable))
		want |= KVM_TRACE_HC_W_SUB;
	EXPECT((r->have & 0xffff0000) == want, call, "words are 0x%x, not 0x%x",
	       r->have & 0xffff0000, want);
	want &= r->have;
	if (want & KVM_TRACE_HC_W_RIP)
		EXPECT(r->rip == call->rip, call, "rip is 0x%llx, not 0x%llx", r->rip, call->rip);
	if (want & KVM_TRACE_HC_W_RETURN)
		EXPECT(r->ret == call->ret, call, "return is 0x%llx, not 0x%llx", r->ret,
		       call->ret);
	if (want & (KVM_TRACE_HC_W_NS | KVM_TRACE_HC_W_NS_64))
		EXPECT(r->ns == host_ns, call, "it took %lluns, its round trip %lluns", r->ns,
		       host_ns);
	if (want & KVM_TRACE_HC_W_RESULT)
		EXPECT((s32)r->result == (s32)call->result, call,
		       "result is 0x%llx, the guest has 0x%llx", r->result, call->result);
	if (want & KVM_TRACE_HC_W_RESULT_64)
		EXPECT((u64)r->result == call->result, call,
		       "result is 0x%llx, the guest has 0x%llx", r->result, call->result);
	EXPECT(r->ns >= call->at_least_ns, call, "it took %lluns, not %lluns or more", r->ns,
	       call->at_least_ns);
	if (want & KVM_TRACE_HC_W_SUB)
		EXPECT(r->sub == (call->unreadable ? KVM_TRACE_SUB_UNREADABLE : 0), call,
		       "sub is 0x%x", r->sub);
	EXPECT(r->hv_control == control && r->hv_reps == reps, call,
	       "control is 0x%x, reps 0x%x", r->hv_control, r->hv_reps);
}

/* What KVM's own event of the call tells must be what the record tells. */
static void expect_event(const struct guest_call *call, const struct kvm_trace_hypercall *r,
			 const struct trace_sample *event)
{
	static const char * const args[] = { "a0", "a1", "a2", "a3", "a4", "a5" };
	static const char * const hyperv_args[] = { "ingpa", "outgpa" };
	const u64 mask = r->caller & KVM_TRACE_CALLER_LONG_MODE ? ~0ull : 0xffffffff;
	unsigned int i;
	u64 value;

	if (r->abi == KVM_TRACE_ABI_HYPERV) {
		EXPECT(sample_is(event, "kvm_hv_hypercall"), call, "KVM told %s",
		       event->event->name);
		EXPECT(trace_get(event, "code") == r->nr &&
		       trace_get(event, "fast") == !!(r->caller & KVM_TRACE_CALLER_FAST) &&
		       trace_get(event, "var_cnt") ==
		       (r->hv_control >> KVM_TRACE_HV_VAR_SHIFT & KVM_TRACE_HV_VAR) &&
		       trace_get(event, "rep_cnt") == (r->hv_reps & KVM_TRACE_HV_REPS_COUNT) &&
		       trace_get(event, "rep_idx") ==
		       (r->hv_reps >> KVM_TRACE_HV_REPS_START_SHIFT & KVM_TRACE_HV_REPS_COUNT),
		       call, "KVM told another input value");
	} else {
		EXPECT(sample_is(event, r->abi == KVM_TRACE_ABI_XEN ? "kvm_xen_hypercall" :
								      "kvm_hypercall"),
		       call, "KVM told %s", event->event->name);
		EXPECT((trace_get(event, "nr") & mask) == r->nr, call, "KVM told number 0x%llx",
		       trace_get(event, "nr"));
	}
	for (i = 0; i < call_args(r->abi); i++) {
		if (!KVM_TRACE_HC_ARG(r->have, i))
			continue;
		value = r->abi == KVM_TRACE_ABI_HYPERV ? trace_get(event, hyperv_args[i]) :
							 trace_get(event, args[i]) & mask;
		EXPECT(value == r->arg[i], call, "a%u is 0x%llx, KVM told 0x%llx", i, r->arg[i],
		       value);
	}
}

static size_t kvm_events(struct trace_session *session, const struct trace_sample ***list)
{
	const u32 tid = syscall(SYS_gettid);
	const struct trace_sample *sample;
	size_t i, n = 0;

	*list = calloc(session->nr_samples + 1, sizeof(**list));
	if (!*list)
		tap_die("memory");
	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (sample->tid == tid && !strcmp(sample->event->system, "kvm"))
			(*list)[n++] = sample;
	}
	return n;
}

static const struct kvm_trace_vmexit *vmexit_of(const struct vmexit *list, size_t count, u32 seq)
{
	if (!count || seq - list[0].r.seq >= count)
		return NULL;
	list += seq - list[0].r.seq;
	return list->r.seq == seq ? &list->r : NULL;
}

static void expect_record(const struct calls *calls, const struct guest_call *call,
			  const struct kvm_trace_hypercall *r, const struct kvm_trace_vmexit *exit)
{
	EXPECT(r->abi == call->abi && r->nr == number(call), call, "it is ABI %u, nr 0x%llx",
	       r->abi, r->nr);
	EXPECT(r->caller == caller_of(call), call, "caller is 0x%x, not 0x%x", r->caller,
	       caller_of(call));
	EXPECT(!(r->caller & KVM_TRACE_CALLER_ZERO) ||
	       !(r->present & (KVM_TRACE_HC_W_RESULT | KVM_TRACE_HC_W_RESULT_64)), call,
	       "a result of 0 has a word");
	expect_args(calls, call, r);
	if (!(calls->flags & CALLS_ALONE))
		EXPECT(exit && exit->class == KVM_TRACE_CLASS_hypercall, call,
		       "seq %u is of no exit by a hypercall", r->seq);
	expect_words(calls, call, r, exit ? exit->host_ns : r->ns);
}

/**
 * calls_compare() - compare all records with the calls and with what KVM tells of them
 * @calls: calls, recorded to the end
 *
 * Each call has one record and each record is one call's: it has the words that
 * were chosen and the arguments that the tables say, and no others.
 */
void calls_compare(struct calls *calls)
{
	struct recorder *recorder = &calls->recorder;
	size_t nr, nr_all, nr_exits, nr_events, i, k = 0;
	const struct trace_sample **events;
	struct vmexit *all, *exits;
	struct hypercall *list;
	u64 counted = 0;
	u32 vm;

	tap_expect(!recorder->session.lost, "%llu samples were lost", recorder->session.lost);
	vm = recorder_vm(recorder, &calls->vm);
	nr = recorder_hypercalls(recorder, vm, calls->vcpu.id, &list);
	nr_all = recorder_vmexits(recorder, &all);
	nr_exits = vmexits_of(all, nr_all, vm, calls->vcpu.id, &exits);
	nr_events = kvm_events(&recorder->session, &events);
	expect_whole(exits, nr_exits, "the vCPU");
	for (i = 0; i < calls->nr_made; i++) {
		if (calls->made[i].refused)
			continue;
		if (k < nr)
			expect_record(calls, &calls->made[i], &list[k].r,
				      vmexit_of(exits, nr_exits, list[k].r.seq));
		if (k < nr && k < nr_events)
			expect_event(&calls->made[i], &list[k].r, events[k]);
		counted += calls->made[i].abi != KVM_TRACE_ABI_XEN;
		k++;
	}
	tap_expect(nr == k, "%zu records of %zu hypercalls", nr, k);
	tap_expect(nr == nr_events, "%zu records, KVM told of %zu hypercalls", nr, nr_events);
	tap_expect(vcpu_stat(&calls->vcpu, "hypercalls") == counted,
		   "KVM counted %llu, %llu were made", vcpu_stat(&calls->vcpu, "hypercalls"),
		   counted);
	free(events);
	free(list);
	free(exits);
	free(all);
}
