// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of a hypercall is in guest memory: the calls in a multicall, the elements
 * of a list, fields of structures, the caller's return address. How guest memory
 * is read is in guestmem.c. Everything is read once, and used as it was then.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>

#include <kvm_trace/hypercalls_hyperv.h>
#include <kvm_trace/hypercalls_xen.h>

#include "events_detail.h"
#include "guestmem.h"
#include "hypercall.h"

/* Bytes that are read at a time: no more, as they are on the stack. */
#define CHUNK			256
/* Hyper-V TLFS, "Sparse Virtual Processor Set": the format that has banks. */
#define HV_SET_SPARSE_4K	0
/* TLFS, HvCallFlushVirtualAddressList: pages behind the first of a range. */
#define HV_RANGE_PAGES		0xfffull

/* Xen's struct multicall_entry, xen/include/public/xen.h. */
struct multicall_entry_32 {
	u32 op;
	u32 result;
	u32 args[KVM_TRACE_XEN_ARGS];
};

struct multicall_entry_64 {
	u64 op;
	u64 result;
	u64 args[KVM_TRACE_XEN_ARGS];
};

union chunk {
	u8 bytes[CHUNK];
	u64 values[CHUNK / sizeof(u64)];
	struct multicall_entry_32 calls_32[CHUNK / sizeof(struct multicall_entry_32)];
	struct multicall_entry_64 calls_64[CHUNK / sizeof(struct multicall_entry_64)];
};

/**
 * struct reader - reads what one hypercall has in memory
 * @guest:	the memory
 * @record:	a record of a part; of its tail only what is used leaves
 * @wide:	the layout is that of a 64-bit caller
 * @virtual:	addresses are guest-virtual, else guest-physical
 * @made:	records so far
 */
struct reader {
	struct kvm_trace_guest guest;
	struct kvm_trace_hypercall_sub_record record;
	bool wide;
	bool virtual;
	u32 made;
};

static bool read_at(struct reader *r, u64 base, u64 offset, void *to,
		    unsigned int len)
{
	u64 address;

	if (check_add_overflow(base, offset, &address)) {
		r->guest.flags |= KVM_TRACE_SUB_UNREADABLE;
		return false;
	}
	return r->virtual ?
	       kvm_trace_guest_read_gva(&r->guest, address, to, len) :
	       kvm_trace_guest_read_gpa(&r->guest, address, to, len);
}

/*
 * Reads as many of @count elements as fit the chunk and the page, but at least
 * one. Returns how many; 0 if they cannot be read.
 */
static unsigned int read_some(struct reader *r, u64 base, u64 offset,
			      union chunk *chunk, unsigned int size,
			      unsigned int count)
{
	unsigned int in_page = PAGE_SIZE - offset_in_page(base + offset);
	unsigned int fit = min_t(unsigned int, in_page, CHUNK) / size;

	count = min(count, max(fit, 1u));
	return read_at(r, base, offset, chunk, count * size) ? count : 0;
}

static void emit(struct reader *r, u8 kind, u32 index, u64 nr, u8 which,
		 const u64 *args)
{
	struct kvm_trace_hypercall_sub_record *record = &r->record;
	u8 *p;

	record->kind = kind;
	record->index = index;
	record->nr = nr;
	record->present = 0;
	p = kvm_trace_put_args(record->tail, &record->present, which, args);
	if (nr >> 32) {
		record->present |= KVM_TRACE_HC_W_NR_HI;
		p = kvm_trace_put_32(p, nr >> 32);
	}
	record->tail_len = p - record->tail;
	trace_hypercall_sub(record);
	r->made++;
}

static void emit_pair(struct reader *r, u8 kind, u32 index, u64 nr, u64 a0,
		      u64 a1)
{
	const u64 args[] = { a0, a1 };

	emit(r, kind, index, nr, BIT(0) | BIT(1), args);
}

/* How many of @count more records may be made. */
static unsigned int allowed(struct reader *r, unsigned int count)
{
	if (count <= KVM_TRACE_SUB_CALLS - r->made)
		return count;
	r->guest.flags |= KVM_TRACE_SUB_MAX_CALLS;
	return KVM_TRACE_SUB_CALLS - r->made;
}

static void emit_call(struct reader *r, u32 index, u64 nr, const u64 *args)
{
	const struct kvm_trace_call *known =
		kvm_trace_find_call(KVM_TRACE_ABI_XEN, r->wide, nr);

	emit(r, r->wide ? KVM_TRACE_SUB_KIND_CALL : KVM_TRACE_SUB_KIND_CALL_32,
	     index, nr,
	     kvm_trace_args_wanted(known, BIT(KVM_TRACE_XEN_ARGS) - 1), args);
}

static void emit_call_32(struct reader *r, u32 index,
			 const struct multicall_entry_32 *call)
{
	u64 args[KVM_TRACE_XEN_ARGS];
	int i;

	for (i = 0; i < KVM_TRACE_XEN_ARGS; i++)
		args[i] = call->args[i];
	emit_call(r, index, call->op, args);
}

static void read_multicall(struct reader *r, u64 list, u32 calls)
{
	unsigned int size = r->wide ? sizeof(struct multicall_entry_64) :
				      sizeof(struct multicall_entry_32);
	unsigned int count = allowed(r, calls), done, some, i;
	union chunk chunk;

	for (done = 0; done < count; done += some) {
		some = read_some(r, list, (u64)done * size, &chunk, size,
				 count - done);
		if (!some)
			return;
		for (i = 0; i < some; i++) {
			if (r->wide)
				emit_call(r, done + i, chunk.calls_64[i].op,
					  chunk.calls_64[i].args);
			else
				emit_call_32(r, done + i, &chunk.calls_32[i]);
		}
	}
}

/* A sparse set of virtual processors: format, mask of valid banks, banks. */
static void read_set(struct reader *r, u64 input, u64 set, unsigned int banks)
{
	unsigned int count, done, some, i;
	union chunk chunk;
	u64 valid;

	if (!read_at(r, input, set, &chunk, 2 * sizeof(u64)) ||
	    chunk.values[0] != HV_SET_SPARSE_4K)
		return;
	valid = chunk.values[1];
	count = allowed(r, min_t(unsigned int, banks, hweight64(valid)));
	for (done = 0; done < count; done += some) {
		some = read_some(r, input, set + (2 + done) * sizeof(u64),
				 &chunk, sizeof(u64), count - done);
		if (!some)
			return;
		for (i = 0; i < some; i++) {
			emit_pair(r, KVM_TRACE_SUB_KIND_VP_BANK, done + i,
				  r->record.nr, __ffs64(valid),
				  chunk.values[i]);
			valid &= valid - 1;
		}
	}
}

/* Addresses, each with the number of pages that follow in its lowest bits. */
static void read_addresses(struct reader *r, u64 input, u64 list,
			   unsigned int start, unsigned int end)
{
	unsigned int count = end > start ? allowed(r, end - start) : 0;
	unsigned int done, some, i;
	union chunk chunk;
	u64 range;

	for (done = 0; done < count; done += some) {
		some = read_some(r, input, list + (start + done) * sizeof(u64),
				 &chunk, sizeof(u64), count - done);
		if (!some)
			return;
		for (i = 0; i < some; i++) {
			range = chunk.values[i];
			emit_pair(r, KVM_TRACE_SUB_KIND_GVA_RANGE,
				  start + done + i, r->record.nr,
				  range & ~HV_RANGE_PAGES,
				  (range & HV_RANGE_PAGES) + 1);
		}
	}
}

static void read_lists(struct reader *r, const struct kvm_trace_list *list,
		       const struct kvm_trace_hypercall *call, u64 input)
{
	unsigned int banks = (call->hv_control >> KVM_TRACE_HV_VAR_SHIFT) &
			     KVM_TRACE_HV_VAR;
	unsigned int start = (call->hv_reps >> KVM_TRACE_HV_REPS_START_SHIFT) &
			     KVM_TRACE_HV_REPS_COUNT;
	unsigned int end = call->hv_reps & KVM_TRACE_HV_REPS_COUNT;
	u64 addresses = list->addresses;

	if (list->set) {
		read_set(r, input, list->set, banks);
		addresses += banks * sizeof(u64);
	}
	if (list->addresses)
		read_addresses(r, input, addresses, start, end);
}

/* Fields that become arguments: bits of those that could be read. */
static u8 read_fields(struct reader *r, const struct kvm_trace_call *known,
		      u64 *args, bool *any)
{
	const struct kvm_trace_field *field;
	unsigned int count, size, i;
	u64 sub = 0, value;
	u8 which = 0;

	if (known->subs)
		sub = args[__ffs(known->subs)];
	field = kvm_trace_fields(r->record.abi, &count);
	for (i = 0; i < count; i++, field++) {
		if (field->nr != r->record.nr ||
		    (field->sub >= 0 && field->sub != (u32)sub))
			continue;
		*any = true;
		size = field->size;
		if (!size)
			size = r->wide ? sizeof(u64) : sizeof(u32);
		value = 0;
		if (!read_at(r, args[field->arg],
			     r->wide ? field->offset64 : field->offset32,
			     &value, size))
			continue;
		args[field->target] = value;
		which |= BIT(field->target);
	}
	return which;
}

static u8 read_xen(struct reader *r, const struct kvm_trace_call *known,
		   u64 *args, bool *any)
{
	r->virtual = true;
	if (r->record.nr == KVM_TRACE_XEN_MULTICALL) {
		*any = true;
		read_multicall(r, args[0], args[1]);
		return 0;
	}
	return read_fields(r, known, args, any);
}

static u8 read_hyperv(struct reader *r, const struct kvm_trace_call *known,
		      const struct kvm_trace_hypercall *call, u64 *args,
		      bool *any)
{
	const struct kvm_trace_list *list = kvm_trace_find_list(r->record.nr);

	r->virtual = false;
	/* Input in memory is the same of all callers. */
	r->wide = true;
	*any = list;
	if (call->record.caller & KVM_TRACE_CALLER_FAST) {
		r->guest.flags = KVM_TRACE_SUB_XMM;
		return 0;
	}
	if (list)
		read_lists(r, list, call, args[0]);
	return read_fields(r, known, args, any);
}

/* The word on top of the stack. */
static void read_return(struct reader *r, struct kvm_trace_vcpu *v)
{
	struct kvm_trace_hypercall *call = &v->hypercall;
	u8 caller = call->record.caller;
	u64 stack = v->record.isa == KVM_TRACE_ISA_SVM ?
		    kvm_trace_stack_svm(v->vcpu, caller) :
		    kvm_trace_stack_vmx(caller);

	call->ret = 0;
	r->virtual = true;
	if (read_at(r, stack, 0, &call->ret,
		    r->wide ? sizeof(u64) : sizeof(u32)))
		call->record.present |= KVM_TRACE_HC_W_RETURN;
}

/**
 * kvm_trace_hypercall_memory() - read what a hypercall has in guest memory
 * @v:     the vCPU; all of its hypercall's record but the arguments is there
 * @known: the call, or NULL
 * @args:  arguments; those that are read are added
 *
 * Context: probe of a hypercall tracepoint in @v's own thread, not preemptible.
 * Return: bits of the arguments that were added
 */
u8 kvm_trace_hypercall_memory(struct kvm_trace_vcpu *v,
			      const struct kvm_trace_call *known, u64 *args)
{
	struct kvm_trace_hypercall *call = &v->hypercall;
	struct reader r = {
		.record = {
			.vm = call->record.vm,
			.seq = call->record.seq,
			.nr = call->record.nr,
			.vcpu = call->record.vcpu,
			.abi = call->record.abi,
		},
		.wide = call->record.caller & KVM_TRACE_CALLER_LONG_MODE,
	};
	bool any = false;
	u8 which;
	u32 flags;

	kvm_trace_guest_begin(&r.guest, v->vcpu, v->record.isa,
			      call->record.caller);
	/* First, so that no list takes what may be read. */
	if (call->words & KVM_TRACE_HC_W_RETURN) {
		flags = r.guest.flags;
		read_return(&r, v);
		r.guest.flags = flags;
	}
	/* Of calls that are not known, nobody knows what is in memory. */
	if (!trace_hypercall_sub_enabled() || !known)
		return 0;

	if (call->record.abi == KVM_TRACE_ABI_XEN)
		which = read_xen(&r, known, args, &any);
	else
		which = read_hyperv(&r, known, call, args, &any);
	if (any) {
		call->sub = r.guest.flags | r.made;
		call->record.present |= KVM_TRACE_HC_W_SUB;
	}
	return which;
}
