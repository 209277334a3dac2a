// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes recordings of exits that never were, as many as wanted, for tests of what reads
 * them. The file is data_records.c's, records are encoded by the module's encoder of batches
 * and by decode_encode.h.
 *
 *	recording batches|singles EXITS VCPUS FILE
 *
 * Exits of a class each in turn, of VM 1, on vCPUs in turn; each call gives the same bytes.
 */
#include <stdlib.h>
#include "types.h"
#include "decode_encode.h"
#include "tap.h"
#include "../../perf-plugins/data_records.h"

#include "../../kvm-trace/batch_encode.c"

#define VCPUS_MAX	256
#define PID		1000
#define SECOND		1000000000ull
#define SHORTEST_NS	500	/* from an exit to the next one, of any vCPU */
#define HYPERCALL_EACH	16

/* A class as kvm_amd's exits have it. */
static const struct {
	u8 class;
	u16 reason;
} kinds[] = {
	{ KVM_TRACE_CLASS_io, 0x7b }, { KVM_TRACE_CLASS_mmio, 0x400 },
	{ KVM_TRACE_CLASS_cpuid, 0x72 }, { KVM_TRACE_CLASS_msr_read, 0x7c },
	{ KVM_TRACE_CLASS_hypercall, 0x81 }, { KVM_TRACE_CLASS_hlt, 0x78 },
	{ KVM_TRACE_CLASS_page_fault, 0x400 },
};

static struct vcpu {
	struct kvm_trace_batch batch;
	bool begun;
	u64 entry;
	u32 seq;
} vcpus[VCPUS_MAX];

static struct data_records data;
static u64 now = 10 * SECOND;
static bool batches;

static void put_event(enum kvm_trace_kind kind, unsigned int vcpu, const void *event, size_t size)
{
	const struct data_records_place place = {
		.time = now, .pid = PID, .tid = PID + 1 + vcpu, .cpu = vcpu,
	};

	data_records_add(&data, kind, &place, event, size);
}

static void put_record(enum kvm_trace_kind kind, unsigned int vcpu, const struct record *r)
{
	put_event(kind, vcpu, r->bytes, r->size);
}

static void end_batch(unsigned int i)
{
	struct vcpu *vcpu = &vcpus[i];

	if (!vcpu->begun)
		return;
	put_event(KVM_TRACE_KIND_BATCH, i, &vcpu->batch.event,
		  kvm_trace_batch_finish(&vcpu->batch));
	vcpu->begun = false;
}

static void add_to_batch(unsigned int i, u16 reason, u8 class, u64 exit)
{
	struct vcpu *vcpu = &vcpus[i];
	const struct kvm_trace_batch_trip trip = {
		.key = kvm_trace_batch_key(reason, 0, class), .from = vcpu->entry, .exit = exit,
		.entry = now, .host_ns = now - exit, .seq = vcpu->seq,
	};

	if (vcpu->begun && (vcpu->batch.len > KVM_TRACE_BATCH_FULL ||
			    now - vcpu->batch.event.ns > SECOND))
		end_batch(i);
	if (!vcpu->begun) {
		vcpu->batch.event.vm = 1;
		vcpu->batch.event.vcpu = i;
		vcpu->batch.event.isa = KVM_TRACE_ISA_SVM;
		kvm_trace_batch_begin(&vcpu->batch, 1, 0, 0, vcpu->seq, vcpu->entry, vcpu->entry);
		vcpu->begun = true;
	}
	kvm_trace_batch_put(&vcpu->batch, &trip);
}

static void put_single(unsigned int i, u16 reason, u8 class, u64 exit)
{
	const struct kvm_trace_vmexit v = {
		.vm = 1, .vcpu = i, .seq = vcpus[i].seq, .isa = KVM_TRACE_ISA_SVM,
		.reason = reason, .class = class, .host_ns = now - exit,
		.have = KVM_TRACE_W_RIP | KVM_TRACE_W_GUEST_NS,
		.rip = 0xffffffff81000000ull + 16 * vcpus[i].seq % 4096,
		.guest_ns = exit - vcpus[i].entry,
	};
	const struct kvm_trace_hypercall h = {
		.vm = 1, .vcpu = i, .seq = v.seq, .abi = KVM_TRACE_ABI_KVM, .nr = 5,
		.arg = { 0, 3 }, .present = 2 | 2 << 2 | KVM_TRACE_HC_W_RESULT,
	};
	struct record r;

	if (v.seq % HYPERCALL_EACH == 0) {
		encode_hypercall(&r, &h);
		put_record(KVM_TRACE_KIND_HYPERCALL, i, &r);
	}
	encode_vmexit(&r, &v);
	put_record(KVM_TRACE_KIND_VMEXIT, i, &r);
}

static void put_vcpu(unsigned int i)
{
	const struct kvm_trace_vcpu c = {
		.vm = 1, .vcpu = i, .vmm_pid = PID, .vmm_tid = PID + 1 + i,
		.tsc_ratio = 1ull << 32, .isa = KVM_TRACE_ISA_SVM,
		.abi_version = KVM_TRACE_ABI_VERSION,
		.name = { "1000-1", 6 }, .vmm = { "qemu", 4 },
	};
	struct record r;

	encode_vcpu(&r, &c);
	put_record(KVM_TRACE_KIND_VCPU, i, &r);
	vcpus[i].entry = now;
}

/* An exit somewhere in the time since the one before, of another vCPU. */
static void put_exit(u64 number, unsigned int nr_vcpus)
{
	const unsigned int i = number % nr_vcpus;
	const u16 reason = kinds[number % ARRAY_SIZE(kinds)].reason;
	const u8 class = kinds[number % ARRAY_SIZE(kinds)].class;
	const u64 ns = SHORTEST_NS + random_64() % 4096;
	u64 exit;

	now += ns;
	exit = now - ns / 2;
	if (batches)
		add_to_batch(i, reason, class, exit);
	else
		put_single(i, reason, class, exit);
	vcpus[i].entry = now;
	vcpus[i].seq++;
}

static void write_recording(u64 exits, unsigned int nr_vcpus)
{
	u64 i;

	for (i = 0; i < nr_vcpus; i++)
		put_vcpu(i);
	for (i = 0; i < exits; i++)
		put_exit(i, nr_vcpus);
	for (i = 0; i < nr_vcpus; i++)
		end_batch(i);
}

int main(int argc, char **argv)
{
	u64 exits, nr_vcpus;

	if (argc != 5)
		tap_die("usage: recording batches|singles EXITS VCPUS FILE");
	batches = !strcmp(argv[1], "batches");
	exits = strtoull(argv[2], NULL, 10);
	nr_vcpus = strtoull(argv[3], NULL, 10);
	if (!nr_vcpus || nr_vcpus > VCPUS_MAX)
		tap_die("%s vCPUs: 1 to %d", argv[3], VCPUS_MAX);
	if (!data_records_begin(&data, argv[4]))
		tap_die("%s cannot be opened", argv[4]);
	write_recording(exits, nr_vcpus);
	if (!data_records_end(&data))
		tap_die("%s cannot be written", argv[4]);
	return 0;
}
