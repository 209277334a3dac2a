// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joins records with KVM's own events, one to one for each round trip, and
 * computes from the events what words and flags a record must have.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "path.h"
#include "tap.h"

/* Of KVM's events: kvm_mmio's type, kvm_pio's rw. */
#define MMIO_UNSATISFIED	0
#define MMIO_WRITE		2
#define PIO_IN			0

/* APM vol. 2, 15.10.2 and 15.9, appendix C. */
#define SVM_IO_IN		0x1
#define SVM_IO_STRING		0x4
#define SVM_IO_REP		0x8
#define SVM_NPF_WRITE		0x2
#define SVM_NPF_FETCH		0x10
#define SVM_CR_WRITE		0x10
#define SVM_CR0_SEL_WRITE	0x65
#define SVM_EXCEPTION		0x40
/* SDM vol. 3C, tables 28-3, 28-5 and 28-7, section 25.9.2. */
#define VMX_IO_IN		0x8
#define VMX_IO_STRING		0x10
#define VMX_IO_REP		0x20
#define VMX_EPT_WRITE		0x2
#define VMX_EPT_FETCH		0x4
#define VMX_INTR_VALID		0x80000000
#define VMX_INTR_ERROR_CODE	0x800
/* Exceptions that push an error code: #DF, #TS to #PF, #AC, #CP, #VC, #SX. */
#define WITH_ERROR_CODE		(1u << 8 | 0x1fu << 10 | 1u << 17 | 1u << 21 | 3u << 29)

static bool apicv_allowed(void)
{
	char *text = file_read(cpu_is_intel() ? "/sys/module/kvm_intel/parameters/enable_apicv" :
						"/sys/module/kvm_amd/parameters/avic");
	bool allowed = text && *text == 'Y';

	free(text);
	return allowed;
}

/**
 * path_join() - the round trips of a vCPU
 * @path: filled in
 * @recorder: after recorder_stop(), with REC_PATH
 * @vm: its VM
 * @vcpu: vCPU whose thread ran on one CPU
 *
 * Each record must have a kvm_exit of its own, and each kvm_exit but one that
 * is still open a record.
 */
void path_join(struct path *path, struct recorder *recorder, const struct vm *vm,
	       const struct vcpu *vcpu)
{
	struct trace_session *session = &recorder->session;
	const struct trace_sample *sample;
	size_t i, n = 0, count, begin = 0, exits = 0;
	struct vmexit *all;
	struct trip trip = {};

	memset(path, 0, sizeof(*path));
	path->apicv = apicv_allowed();
	count = recorder_vmexits(recorder, &all);
	count = vmexits_of(all, count, recorder_vm(recorder, vm), vcpu->id, &path->records);
	free(all);
	path->trips = calloc(count + 1, sizeof(*path->trips));
	path->samples = calloc(session->nr_samples + 1, sizeof(*path->samples));
	if (!path->trips || !path->samples)
		tap_die("memory");

	for (i = 0; i < session->nr_samples; i++) {
		sample = &session->samples[i];
		if (sample->tid != (u32)vcpu->tid)
			continue;
		if (sample_is(sample, "kvm_entry")) {
			/* The first entry begins the first round trip. */
			if (!path->nr_trips && !trip.exit)
				begin = n;
			trip.entry = sample;
		} else if (sample_is(sample, "kvm_exit")) {
			trip.exit = sample;
			exits++;
		} else if (sample_is(sample, "vmexit")) {
			if (path->nr_trips == count ||
			    path->records[path->nr_trips].sample != sample) {
				tap_expect(false, "record %zu is not next in the order of seq",
					   path->nr_trips);
				break;
			}
			trip.v = &path->records[path->nr_trips];
			trip.events = path->samples + begin;
			trip.nr_events = n - begin;
			tap_expect(exits == 1 && trip.entry, "seq %u: %zu kvm_exit, %s kvm_entry",
				   trip.v->r.seq, exits, trip.entry ? "a" : "no");
			if (exits && trip.entry)
				path->trips[path->nr_trips++] = trip;
			memset(&trip, 0, sizeof(trip));
			begin = n;
			exits = 0;
		} else {
			path->samples[n++] = sample;
		}
	}
	tap_expect(path->nr_trips == count, "%zu records of %zu were joined", path->nr_trips,
		   count);
	tap_expect(exits <= 1, "%zu kvm_exit after the last record", exits);
	tap_expect(!session->lost, "perf lost %llu samples", session->lost);
}

/**
 * path_free() - free what path_join() allocated
 * @path: path
 */
void path_free(struct path *path)
{
	free(path->records);
	free(path->trips);
	free(path->samples);
}

/**
 * trip_last() - the last event of a name
 * @trip: round trip
 * @event: name without the system
 *
 * Return: the event, or NULL.
 */
const struct trace_sample *trip_last(const struct trip *trip, const char *event)
{
	size_t i;

	for (i = trip->nr_events; i; i--) {
		if (sample_is(trip->events[i - 1], event))
			return trip->events[i - 1];
	}
	return NULL;
}

/**
 * trip_count() - how many events of a name there are
 * @trip: round trip
 * @event: name without the system
 */
size_t trip_count(const struct trip *trip, const char *event)
{
	size_t i, n = 0;

	for (i = 0; i < trip->nr_events; i++)
		n += sample_is(trip->events[i], event);
	return n;
}

static bool is_svm(const struct trip *trip)
{
	return trip->v->r.isa == KVM_TRACE_ISA_SVM;
}

#define SET(WORD, field, value) do {		\
	want->have |= KVM_TRACE_W_##WORD;	\
	(field) = (value);			\
} while (0)

static u64 gpa_of_mmio(const struct trip *trip)
{
	size_t i;

	for (i = 0; i < trip->nr_events; i++) {
		if (sample_is(trip->events[i], "kvm_mmio") ||
		    sample_is(trip->events[i], "kvm_fast_mmio"))
			return trace_get(trip->events[i], "gpa");
	}
	return 0;
}

static void want_page_fault(const struct trip *trip, struct kvm_trace_vmexit *want)
{
	const struct trace_sample *event = trip_last(trip, "kvm_page_fault");
	bool svm = is_svm(trip);
	u64 code;

	if (trip->v->r.class != KVM_TRACE_CLASS_page_fault &&
	    trip->v->r.class != KVM_TRACE_CLASS_mmio)
		return;
	/* There is none where a VMX processor says at once that it is MMIO. */
	SET(GPA, want->gpa, event ? trace_get(event, "fault_address") :
		svm ? trace_get(trip->exit, "info2") : gpa_of_mmio(trip));
	if (event)
		code = trace_get(event, "error_code");
	else
		code = svm ? trace_get(trip->exit, "info1") : 0;
	if (code & (svm ? SVM_NPF_FETCH : VMX_EPT_FETCH))
		want->flags_hi |= KVM_TRACE_F2_FETCH;
	tap_expect(!event || !(trip->v->r.flags & KVM_TRACE_F_WRITE) ==
		   !(code & (svm ? SVM_NPF_WRITE : VMX_EPT_WRITE)),
		   "seq %u: flags 0x%x, error code 0x%llx", trip->v->r.seq, trip->v->r.flags, code);
}

static void want_cpuid(const struct trip *trip, struct kvm_trace_vmexit *want)
{
	const struct trace_sample *event = trip_last(trip, "kvm_cpuid");

	if (trip->v->r.class != KVM_TRACE_CLASS_cpuid)
		return;
	if (!tap_expect(trip_count(trip, "kvm_cpuid") == 1, "seq %u: %zu kvm_cpuid",
			trip->v->r.seq, trip_count(trip, "kvm_cpuid")))
		return;
	SET(CPUID_LEAF, want->cpuid_leaf, trace_get(event, "function"));
	SET(CPUID_INDEX, want->cpuid_index, trace_get(event, "index"));
	SET(CPUID_AX_BX, want->cpuid_ax_bx,
	    trace_get(event, "rbx") << 32 | (u32)trace_get(event, "rax"));
	SET(CPUID_CX_DX, want->cpuid_cx_dx,
	    trace_get(event, "rdx") << 32 | (u32)trace_get(event, "rcx"));
}

/* Values that the guests have in common with user space, where KVM tells none. */
static void want_msr_of_user(const struct trip *trip, struct kvm_trace_vmexit *want, bool write)
{
	u32 index = trip->v->r.msr;

	tap_expect(trip_last(trip, "kvm_userspace_exit") && index - MSR_USER <= 2,
		   "seq %u: no kvm_msr of index 0x%x", trip->v->r.seq, index);
	SET(MSR, want->msr, index);
	if (write)
		SET(MSR_VALUE, want->msr_value, (u64)MARK_MSR_HIGH << 32 | MARK_MSR_LOW);
	else if (index == MSR_USER)
		SET(MSR_VALUE, want->msr_value, MARK_MSR_READ);
	tap_expect((index != MSR_USER) == !!trip_last(trip, "kvm_inj_exception"),
		   "seq %u: user space's error for MSR 0x%x", trip->v->r.seq, index);
}

static void want_msr(const struct trip *trip, struct kvm_trace_vmexit *want)
{
	const struct trace_sample *event = trip_last(trip, "kvm_msr");
	bool write = trip->v->r.class == KVM_TRACE_CLASS_msr_write, faulted;

	if (!write && trip->v->r.class != KVM_TRACE_CLASS_msr_read)
		return;
	if (!event) {
		want_msr_of_user(trip, want, write);
		return;
	}
	faulted = trace_get(event, "exception");
	tap_expect(trip_count(trip, "kvm_msr") == 1 && !trace_get(event, "write") == !write,
		   "seq %u: %zu kvm_msr, the last %s", trip->v->r.seq, trip_count(trip, "kvm_msr"),
		   trace_get(event, "write") ? "writes" : "reads");
	tap_expect(faulted == kvm_trace_vmexit_msr_faulted(&trip->v->r),
		   "seq %u: the access of MSR 0x%llx %s", trip->v->r.seq, trace_get(event, "ecx"),
		   faulted ? "faulted" : "did not fault");
	SET(MSR, want->msr, trace_get(event, "ecx"));
	if (write || !faulted)
		SET(MSR_VALUE, want->msr_value, trace_get(event, "data"));
}

static u32 io_of_exit(const struct trip *trip)
{
	u64 info = trace_get(trip->exit, "info1");
	u32 io = info & 0xffff0000u;

	if (is_svm(trip)) {
		io |= info >> 4 & 7;
		io |= info & SVM_IO_IN ? KVM_TRACE_IO_IN : 0;
		io |= info & SVM_IO_STRING ? KVM_TRACE_IO_STRING : 0;
		io |= info & SVM_IO_REP ? KVM_TRACE_IO_REP : 0;
	} else {
		io |= (info & 7) + 1;
		io |= info & VMX_IO_IN ? KVM_TRACE_IO_IN : 0;
		io |= info & VMX_IO_STRING ? KVM_TRACE_IO_STRING : 0;
		io |= info & VMX_IO_REP ? KVM_TRACE_IO_REP : 0;
	}
	return io;
}

static void want_io(const struct trip *trip, struct kvm_trace_vmexit *want)
{
	const struct trace_sample *event = trip_last(trip, "kvm_pio");
	u32 io, elements = 0;
	size_t i;

	if (trip->v->r.class == KVM_TRACE_CLASS_io) {
		io = io_of_exit(trip);
	} else if (event) {
		io = trace_get(event, "port") << KVM_TRACE_IO_PORT_SHIFT | trace_get(event, "size");
		if (trace_get(event, "rw") == PIO_IN)
			io |= KVM_TRACE_IO_IN;
	} else {
		return;
	}
	SET(IO, want->io, io);
	for (i = 0; i < trip->nr_events; i++) {
		if (sample_is(trip->events[i], "kvm_pio"))
			elements += trace_get(trip->events[i], "count");
	}
	if (elements != 1 && (elements || io & KVM_TRACE_IO_STRING))
		SET(IO_COUNT, want->io_count, elements);
	/* The end of a REP whose last element went to user space moves nothing. */
	if (!tap_expect(event || io & KVM_TRACE_IO_REP, "seq %u: no kvm_pio", trip->v->r.seq) ||
	    !event)
		return;
	tap_expect(trace_get(event, "port") == io >> KVM_TRACE_IO_PORT_SHIFT &&
		   trace_get(event, "size") == (io & KVM_TRACE_IO_SIZE) &&
		   (trace_get(event, "rw") == PIO_IN) == !!(io & KVM_TRACE_IO_IN),
		   "seq %u: io 0x%x, kvm_pio's port 0x%llx size %llu", trip->v->r.seq, io,
		   trace_get(event, "port"), trace_get(event, "size"));
	SET(IO_VALUE, want->io_value, trace_get(event, "val"));
}

static void want_mmio(const struct trip *trip, struct kvm_trace_vmexit *want)
{
	const struct trace_sample *event, *last = NULL;
	u32 count = 0;
	size_t i;

	for (i = 0; i < trip->nr_events; i++) {
		event = trip->events[i];
		if (!sample_is(event, "kvm_mmio") || trace_get(event, "type") == MMIO_UNSATISFIED)
			continue;
		last = event;
		count++;
	}
	if (!last)
		return;
	SET(MMIO, want->mmio, trace_get(last, "len") | count << KVM_TRACE_MMIO_COUNT_SHIFT);
	if (trace_get(last, "type") == MMIO_WRITE)
		want->mmio |= KVM_TRACE_MMIO_WRITE;
	if (!(want->have & KVM_TRACE_W_GPA) || want->gpa != trace_get(last, "gpa"))
		SET(MMIO_GPA, want->mmio_gpa, trace_get(last, "gpa"));
	SET(MMIO_VALUE, want->mmio_value, trace_get(last, "val"));
}

/* Number and kind from the exit, the value from kvm_cr, which few CPUs have. */
static void want_cr(const struct trip *trip, struct kvm_trace_vmexit *want)
{
	const struct trace_sample *event = trip_last(trip, "kvm_cr");
	u64 info = trace_get(trip->exit, "info1"), reason = trace_get(trip->exit, "exit_reason");
	u32 number, kind;

	if (trip->v->r.class != KVM_TRACE_CLASS_cr)
		return;
	if (is_svm(trip)) {
		number = reason == SVM_CR0_SEL_WRITE ? 0 : reason & 0xf;
		kind = reason == SVM_CR0_SEL_WRITE || reason & SVM_CR_WRITE ?
		       KVM_TRACE_CR_MOV_TO : KVM_TRACE_CR_MOV_FROM;
	} else {
		number = info & 0xf;
		kind = info >> 4 & 3;
	}
	SET(CR, want->cr, number | kind << KVM_TRACE_CR_KIND_SHIFT);
	if (kind == KVM_TRACE_CR_CLTS)
		return;
	if (kind == KVM_TRACE_CR_LMSW) {
		SET(CR_VALUE, want->cr_value, info >> 16 & 0xffff);
	} else if (event) {
		tap_expect(trace_get(event, "cr") == number &&
			   trace_get(event, "rw") == (kind == KVM_TRACE_CR_MOV_TO),
			   "seq %u: CR%u kind %u, kvm_cr has CR%llu", trip->v->r.seq, number, kind,
			   trace_get(event, "cr"));
		SET(CR_VALUE, want->cr_value, trace_get(event, "val"));
	} else if (number != 8) {
		/* Nothing of KVM's tells it; the caller compares it with the guest's. */
		SET(CR_VALUE, want->cr_value, trip->v->r.cr_value);
	}
}

static void want_exception(const struct trip *trip, struct kvm_trace_vmexit *want)
{
	u64 info = trace_get(trip->exit, "intr_info"), vector;

	if (trip->v->r.class == KVM_TRACE_CLASS_interrupt && info & VMX_INTR_VALID &&
	    !is_svm(trip))
		SET(HOST_VECTOR, want->host_vector, info & 0xff);
	if (trip->v->r.class != KVM_TRACE_CLASS_exception)
		return;
	if (is_svm(trip)) {
		vector = trace_get(trip->exit, "exit_reason") - SVM_EXCEPTION;
		SET(EXCEPTION, want->exception, vector);
		if (WITH_ERROR_CODE >> vector & 1)
			want->exception |= KVM_TRACE_EXCEPTION_ERR |
					   trace_get(trip->exit, "info1") << 32;
	} else {
		SET(EXCEPTION, want->exception, info & 0xff);
		if (info & VMX_INTR_ERROR_CODE)
			want->exception |= KVM_TRACE_EXCEPTION_ERR |
					   trace_get(trip->exit, "error_code") << 32;
	}
}

static void want_injections(const struct trip *trip, struct kvm_trace_vmexit *want)
{
	const struct trace_sample *irq = trip_last(trip, "kvm_inj_virq");
	const struct trace_sample *exception = trip_last(trip, "kvm_inj_exception");
	u32 irqs = trip_count(trip, "kvm_inj_virq"), nmis;

	/* No event tells of an NMI: sums are compared with nmi_injections. */
	nmis = trip->v->r.injected >> KVM_TRACE_INJECTED_NMIS_SHIFT & KVM_TRACE_INJECTED_NMIS;
	if (irqs || nmis) {
		SET(INJECTED, want->injected, irqs << KVM_TRACE_INJECTED_IRQS_SHIFT |
					      nmis << KVM_TRACE_INJECTED_NMIS_SHIFT);
		if (irqs)
			want->injected |= KVM_TRACE_INJECTED_VEC | trace_get(irq, "vector");
	}
	if (nmis)
		want->flags_hi |= KVM_TRACE_F2_INJECTED_NMI;
	tap_expect(!(trip->v->r.flags & KVM_TRACE_F_INJECTED) == !(irqs || nmis),
		   "seq %u: flags 0x%x, %u irqs and %u nmis", trip->v->r.seq, trip->v->r.flags,
		   irqs, nmis);
	if (!exception)
		return;
	want->flags_hi |= KVM_TRACE_F2_INJECTED_EXCEPTION;
	SET(INJECTED_EXCEPTION, want->injected_exception, trace_get(exception, "exception"));
	if (trace_get(exception, "has_error"))
		want->injected_exception |= KVM_TRACE_EXCEPTION_ERR |
					    trace_get(exception, "error_code") << 32;
}

static void want_user(const struct trip *trip, struct kvm_trace_vmexit *want)
{
	const struct trace_sample *event = trip_last(trip, "kvm_userspace_exit");
	s64 error;

	tap_expect(!event == !(trip->v->r.flags & KVM_TRACE_F_USERSPACE), "seq %u: flags 0x%x, %s",
		   trip->v->r.seq, trip->v->r.flags,
		   event ? "KVM_RUN returned" : "KVM_RUN did not return");
	if (!event)
		return;
	error = trace_get(event, "errno");
	SET(USER_REASON, want->user_reason, trace_get(event, "reason") & 0xffff);
	if (error < 0)
		want->user_reason |= (u32)-error << KVM_TRACE_USER_REASON_ERRNO_SHIFT;
}

/*
 * A wake-up without waiting is a poll's success if KVM polls at all; how long
 * it does, it tells when it changes. What passes between such a poll and the
 * wake-up is in no statistic: HALT_NS is compared with bounds.
 */
static void want_halt(struct path *path, const struct trip *trip, struct kvm_trace_vmexit *want)
{
	const struct trace_sample *event;
	u64 next = path->halt_poll_ns, low = 0, high = 0;
	size_t i;

	for (i = 0; i < trip->nr_events; i++) {
		event = trip->events[i];
		if (sample_is(event, "kvm_halt_poll_ns"))
			next = trace_get(event, "new");
		if (!sample_is(event, "kvm_vcpu_wakeup"))
			continue;
		if (trace_get(event, "waited"))
			low += trace_get(event, "ns");
		else if (path->halt_poll_ns)
			want->flags_hi |= KVM_TRACE_F2_HALT_POLL;
		if (trace_get(event, "waited") || path->halt_poll_ns)
			high += trace_get(event, "ns");
		path->halt_poll_ns = next;
	}
	tap_expect(trip->v->r.halt_ns >= low && trip->v->r.halt_ns <= high,
		   "seq %u: halted for %llu ns, KVM's events say %llu to %llu", trip->v->r.seq,
		   trip->v->r.halt_ns, low, high);
}

static void want_hypercall(const struct trip *trip, struct kvm_trace_vmexit *want)
{
	static const struct {
		const char *event, *number;
		u64 abi;
	} calls[] = {
		{ "kvm_hypercall", "nr", KVM_TRACE_ABI_KVM },
		{ "kvm_hv_hypercall", "code", KVM_TRACE_ABI_HYPERV },
		{ "kvm_xen_hypercall", "nr", KVM_TRACE_ABI_XEN },
	};
	const struct trace_sample *event;
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		event = trip_last(trip, calls[i].event);
		if (!event)
			continue;
		n += trip_count(trip, calls[i].event);
		SET(HYPERCALL, want->hypercall, (u32)trace_get(event, calls[i].number) |
		    calls[i].abi << KVM_TRACE_HYPERCALL_ABI_SHIFT);
	}
	tap_expect(n == (trip->v->r.class == KVM_TRACE_CLASS_hypercall),
		   "seq %u class %u: %zu events of hypercalls", trip->v->r.seq,
		   trip->v->r.class, n);
}

static void want_flags(const struct path *path, const struct trip *trip,
		       struct kvm_trace_vmexit *want)
{
	if (trip_last(trip, "kvm_fast_mmio"))
		want->flags_hi |= KVM_TRACE_F2_FAST_MMIO;
	if (trip_last(trip, "kvm_async_pf_not_present"))
		want->flags_hi |= KVM_TRACE_F2_ASYNC_PF;
	if (trace_get(trip->entry, "immediate_exit"))
		want->flags_hi |= KVM_TRACE_F2_IMMEDIATE_EXIT;
	if (!trip_last(trip, "handle_exit"))
		want->flags_hi |= KVM_TRACE_F2_FASTPATH;
	/* No event tells of it; KVM's parameters say whether it can be. */
	if (path->apicv)
		want->flags_hi |= trip->v->r.flags_hi & KVM_TRACE_F2_APICV;
	if (want->flags_hi)
		want->have |= KVM_TRACE_W_FLAGS_HI;
	tap_expect(!(trip->v->r.flags & KVM_TRACE_F_EMULATED) ==
		   !trip_last(trip, "kvm_emulate_insn"), "seq %u: flags 0x%x, %zu kvm_emulate_insn",
		   trip->v->r.seq, trip->v->r.flags, trip_count(trip, "kvm_emulate_insn"));
}

#define WORD_FIELD(WORD, field) \
	{ KVM_TRACE_W_##WORD, #WORD, offsetof(struct kvm_trace_vmexit, field), \
	  sizeof(((struct kvm_trace_vmexit *)NULL)->field) }
static const struct {
	u64 bit;
	const char *name;
	size_t offset, size;
} word_fields[] = {
	WORD_FIELD(GPA, gpa),
	WORD_FIELD(FLAGS_HI, flags_hi),
	WORD_FIELD(MSR, msr),
	WORD_FIELD(MSR_VALUE, msr_value),
	WORD_FIELD(IO, io),
	WORD_FIELD(IO_VALUE, io_value),
	WORD_FIELD(IO_COUNT, io_count),
	WORD_FIELD(MMIO, mmio),
	WORD_FIELD(MMIO_GPA, mmio_gpa),
	WORD_FIELD(MMIO_VALUE, mmio_value),
	WORD_FIELD(CPUID_LEAF, cpuid_leaf),
	WORD_FIELD(CPUID_INDEX, cpuid_index),
	WORD_FIELD(CPUID_AX_BX, cpuid_ax_bx),
	WORD_FIELD(CPUID_CX_DX, cpuid_cx_dx),
	WORD_FIELD(CR, cr),
	WORD_FIELD(CR_VALUE, cr_value),
	WORD_FIELD(EXCEPTION, exception),
	WORD_FIELD(INJECTED, injected),
	WORD_FIELD(INJECTED_EXCEPTION, injected_exception),
	WORD_FIELD(USER_REASON, user_reason),
	WORD_FIELD(HYPERCALL, hypercall),
	WORD_FIELD(HOST_VECTOR, host_vector),
};

static u64 field_of(const struct kvm_trace_vmexit *r, size_t i)
{
	u64 value = 0;

	memcpy(&value, (const char *)r + word_fields[i].offset, word_fields[i].size);
	return value;
}

static void compare(const struct kvm_trace_vmexit *ours, const struct kvm_trace_vmexit *want)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(word_fields); i++) {
		bool have = ours->have & word_fields[i].bit;
		bool must = want->have & word_fields[i].bit;

		tap_expect(have == must && (!have || field_of(ours, i) == field_of(want, i)),
			   "seq %u class %s reason 0x%x: %s is 0x%llx%s, KVM's events say 0x%llx%s",
			   ours->seq, kvm_trace_class_name(ours->class), ours->reason,
			   word_fields[i].name, field_of(ours, i), have ? "" : " (absent)",
			   field_of(want, i), must ? "" : " (absent)");
	}
}

/**
 * path_check() - every record has the words that its round trip calls for
 * @path: path, recorded with all words
 *
 * And no others: a word that stuck from an earlier round trip shows.
 */
void path_check(struct path *path)
{
	struct kvm_trace_vmexit want;
	const struct trip *trip;
	size_t i;

	for (i = 0; i < path->nr_trips; i++) {
		trip = &path->trips[i];
		memset(&want, 0, sizeof(want));
		want_page_fault(trip, &want);
		want_cpuid(trip, &want);
		want_msr(trip, &want);
		want_io(trip, &want);
		want_mmio(trip, &want);
		want_cr(trip, &want);
		want_exception(trip, &want);
		want_injections(trip, &want);
		want_user(trip, &want);
		want_halt(path, trip, &want);
		want_hypercall(trip, &want);
		want_flags(path, trip, &want);
		tap_expect(!trip->v->r.truncated && !trip->v->r.unknown,
			   "seq %u cannot be decoded whole", trip->v->r.seq);
		compare(&trip->v->r, &want);
	}
}
