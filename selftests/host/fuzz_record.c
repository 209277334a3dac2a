// SPDX-License-Identifier: GPL-2.0-only
/*
 * Target of a fuzzer: the decoder of single events, and their times. With libFuzzer
 * (make fuzz) it looks for inputs that do harm; alone, with a main() of its own, it reads
 * those of corpus-record/ once, under AddressSanitizer and UBSan.
 *
 *	byte 0		bits 2:0: the event, enum kvm_trace_kind
 *	byte 1		bytes of the buffer that a line is put into once more
 *	bytes 2 ...	the record
 */
#include <string.h>

#include "../../perf-plugins/order.h"
#include "../../perf-plugins/times.h"
#include "corpus.h"

#define PID	77

union record {
	struct kvm_trace_vmexit vmexit;
	struct kvm_trace_hypercall hypercall;
	struct kvm_trace_hypercall_sub sub;
	struct kvm_trace_vcpu vcpu;
	struct kvm_trace_lost lost;
};

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size);

static bool decode(enum kvm_trace_kind kind, union record *r, const __u8 *bytes, size_t size)
{
	memset(r, 0, sizeof(*r));
	switch (kind) {
	case KVM_TRACE_KIND_VMEXIT:
		return kvm_trace_vmexit_record(&r->vmexit, bytes, size);
	case KVM_TRACE_KIND_HYPERCALL:
		return kvm_trace_hypercall_record(&r->hypercall, bytes, size);
	case KVM_TRACE_KIND_HYPERCALL_SUB:
		return kvm_trace_hypercall_sub_record(&r->sub, bytes, size);
	case KVM_TRACE_KIND_VCPU:
		return kvm_trace_vcpu_record(&r->vcpu, bytes, size);
	case KVM_TRACE_KIND_LOST:
		return kvm_trace_lost_record(&r->lost, bytes, size);
	default:
		return false;
	}
}

static size_t put_line(enum kvm_trace_kind kind, const union record *r, char *buf, size_t size)
{
	switch (kind) {
	case KVM_TRACE_KIND_VMEXIT:
		return kvm_trace_vmexit_text(&r->vmexit, PID, buf, size);
	case KVM_TRACE_KIND_HYPERCALL:
		return kvm_trace_hypercall_text(&r->hypercall, PID, buf, size);
	case KVM_TRACE_KIND_HYPERCALL_SUB:
		return kvm_trace_hypercall_sub_text(&r->sub, PID, buf, size);
	case KVM_TRACE_KIND_VCPU:
		return kvm_trace_vcpu_text(&r->vcpu, buf, size);
	default:
		return kvm_trace_lost_text(&r->lost, PID, buf, size);
	}
}

/* What goes to a terminal is one line, the same in any buffer as far as it has room. */
static void check_line(enum kvm_trace_kind kind, const union record *r, size_t room)
{
	char line[KVM_TRACE_TEXT_SIZE];
	size_t len = put_line(kind, r, line, sizeof(line)), i;
	char *less = malloc(room ? room : 1);

	corpus_require(less && len < sizeof(line) && strlen(line) == len);
	for (i = 0; i < len; i++)
		corpus_require((unsigned char)line[i] >= ' ' && line[i] != 0x7f);
	corpus_require(put_line(kind, r, less, room) == len);
	if (room) {
		corpus_require(strlen(less) == (len < room ? len : room - 1));
		corpus_require(!memcmp(less, line, strlen(less)));
	}
	free(less);
}

static void check_times(const struct kvm_trace_vmexit *v)
{
	static const unsigned int percents[] = { 0, 50, 99, 100 };
	static struct kvm_trace_times times, sum;
	size_t i;

	memset(&times, 0, sizeof(times));
	memset(&sum, 0, sizeof(sum));
	kvm_trace_times_add(&times, v->host_ns);
	kvm_trace_times_add_parts(&times, v);
	kvm_trace_times_merge(&sum, &times);
	kvm_trace_times_merge(&sum, &times);
	corpus_require(sum.count == 2 && sum.min == v->host_ns && sum.max == v->host_ns &&
		       sum.have == times.have);
	for (i = 0; i < ARRAY_SIZE(percents); i++)
		corpus_require(kvm_trace_times_quantile(&sum, percents[i]) <= sum.max);
	corpus_require(kvm_trace_vmexit_handling_ns(v) <= v->host_ns &&
		       kvm_trace_times_handling(&sum) <= sum.host);
	kvm_trace_vmexit_msr_faulted(v);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	enum kvm_trace_kind kind;
	union record r;
	__u8 *record;

	if (size < 2)
		return 0;
	kind = data[0] & 7;
	/* Of exactly its size, so that its every neighbour byte is poisoned. */
	record = malloc(size - 2 ? size - 2 : 1);
	corpus_require(record);
	memcpy(record, data + 2, size - 2);
	if (decode(kind, &r, record, size - 2)) {
		check_line(kind, &r, data[1]);
		if (kind == KVM_TRACE_KIND_VMEXIT)
			check_times(&r.vmexit);
	}
	free(record);
	return 0;
}

#ifndef FUZZER
int main(int argc, char **argv)
{
	(void)argc;
	return corpus_test(argv[0], "corpus-record", LLVMFuzzerTestOneInput);
}
#endif
