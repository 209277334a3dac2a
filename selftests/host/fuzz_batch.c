// SPDX-License-Identifier: GPL-2.0-only
/*
 * Target of a fuzzer: the reader of batches on any bytes, record by record and summed
 * up. With libFuzzer (make fuzz) it looks for inputs that do harm; alone, with a
 * main() of its own, it reads those of corpus-batch/ once, under AddressSanitizer
 * and UBSan.
 *
 *	byte 0		bit 0: make length and check right, or hardly any input
 *			would get behind them
 *	bytes 1 ...	the event
 */
#include "batch_check.h"
#include "batch_file.h"
#include "corpus.h"

struct sums {
	struct kvm_trace_times times;
	__u64 vcpus;
	__u64 unknown;
};

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size);

static enum kvm_trace_batch_item read_records(struct kvm_trace_batch_reader *r, size_t size,
					      struct sums *sums)
{
	enum kvm_trace_batch_item item;
	char line[KVM_TRACE_TEXT_SIZE + 64];
	size_t records = 0;

	while ((item = kvm_trace_batch_next(r)) > KVM_TRACE_BATCH_DAMAGED) {
		corpus_require(batch_line(r, item, line, sizeof(line)) < sizeof(line));
		if (item == KVM_TRACE_BATCH_IS_VMEXIT)
			kvm_trace_times_add(&sums->times, r->vmexit.host_ns);
		sums->vcpus += item == KVM_TRACE_BATCH_IS_VCPU;
		/* Each has a byte of its own, or it would never end. */
		corpus_require(++records <= size);
	}
	corpus_require(kvm_trace_batch_next(r) == item);
	sums->unknown = r->unknown;
	return item;
}

static struct kvm_trace_times *find_place(void *data, const struct kvm_trace_vmexit *v)
{
	struct sums *sums = data;

	(void)v;
	return &sums->times;
}

static void add_vcpu(void *data, const struct kvm_trace_vcpu *vcpu)
{
	struct sums *sums = data;

	(void)vcpu;
	sums->vcpus++;
}

static void read_batch(const void *event, size_t size)
{
	static struct kvm_trace_batch_reader r;
	struct sums records = {}, summed = {};
	const struct kvm_trace_batch_summer summer = { find_place, add_vcpu, &summed };
	enum kvm_trace_batch_item item;

	if (kvm_trace_batch_open(&r, event, size))
		return;
	item = read_records(&r, size, &records);
	kvm_trace_batch_reopen(&r, event);
	/* It does not look at all that it steps over, so it may see less damage. */
	if (kvm_trace_batch_sum_up(&r, &summer) == KVM_TRACE_BATCH_DAMAGED)
		corpus_require(item == KVM_TRACE_BATCH_DAMAGED);
	summed.unknown = r.unknown;
	corpus_require(summed.times.count >= records.times.count &&
		       summed.vcpus >= records.vcpus);
	if (item != KVM_TRACE_BATCH_END)
		return;
	corpus_require(summed.vcpus == records.vcpus && summed.unknown == records.unknown &&
		       summed.times.count == records.times.count &&
		       summed.times.host == records.times.host &&
		       !memcmp(summed.times.buckets, records.times.buckets,
			       sizeof(summed.times.buckets)));
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	__u8 *event;

	if (!size)
		return 0;
	/* Of exactly its size, so that its every neighbour byte is poisoned. */
	event = malloc(size - 1);
	corpus_require(event || size == 1);
	if (size > 1)
		memcpy(event, data + 1, size - 1);
	if (data[0] & 1 && size - 1 >= KVM_TRACE_BATCH_SIZE && size - 1 <= KVM_TRACE_BATCH_MAX)
		batch_put_right(event, size - 1);
	read_batch(event, size - 1);
	free(event);
	return 0;
}

#ifndef FUZZER
int main(int argc, char **argv)
{
	(void)argc;
	return corpus_test(argv[0], "corpus-batch", LLVMFuzzerTestOneInput);
}
#endif
