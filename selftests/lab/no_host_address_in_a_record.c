// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: no record has an address of the host's kernel in it, at any byte, in no word, with
 * all words on; and what a record does not use of its bytes is 0. Guests have no register and
 * no memory with such a value.
 */
#include <linux/kvm_trace_batch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addresses.h"
#include "batches.h"
#include "calls.h"
#include "module.h"
#include "records.h"
#include "tap.h"

#define RING_MIB	16
#define ROUNDS		5
#define ORDERS		6
#define SEED		20261
#define WHAT		(REC_OURS | REC_HYPERCALL_SUB | REC_BATCH)
#define MULTICALL	13
#define PARTS		5
#define ENTRY_BYTES	64	/* of Xen's struct multicall_entry */

/* Events with a tail, and where its place is. */
static const struct {
	const char *name;
	size_t loc, size;
} events[] = {
	{ "vmexit", 24, KVM_TRACE_VMEXIT_SIZE },
	{ "hypercall", 24, KVM_TRACE_HYPERCALL_SIZE },
	{ "hypercall_sub", 28, KVM_TRACE_HYPERCALL_SUB_SIZE },
	{ "vmexits", 44, KVM_TRACE_BATCH_SIZE },
	{ "vcpu", 0, KVM_TRACE_VCPU_SIZE },
	{ "lost", 0, KVM_TRACE_LOST_SIZE },
};

static u64 scanned[ARRAY_SIZE(events)], scanned_decoded;

static void expect_none(const void *bytes, size_t size, const char *where, u64 seq)
{
	const char *what;
	size_t at;
	u64 value;

	what = address_in(bytes, size, &at, &value);
	tap_expect(!what, "%s, seq %llu: at byte %zu is 0x%llx, of %s", where, seq, at, value,
		   what);
}

static void expect_zero(const u8 *bytes, size_t from, size_t to, const char *where, u64 seq)
{
	for (; from < to; from++)
		tap_expect(!bytes[from], "%s, seq %llu: byte %zu is 0x%x and not used", where, seq,
			   from, bytes[from]);
}

/* Behind its end, in a name or behind the record. */
static void expect_rest_is_zero(const struct trace_sample *sample, size_t event, u64 seq)
{
	const u8 *raw = sample->raw;
	u16 tail[2] = { events[event].size, 0 };
	struct kvm_trace_vcpu vcpu;

	if (events[event].loc)
		memcpy(tail, raw + events[event].loc, sizeof(tail));
	tap_expect(tail[0] == events[event].size && tail[0] + tail[1] <= sample->size &&
		   sample->size - tail[0] - tail[1] < sizeof(u64),
		   "%s, seq %llu: %u bytes at %u in a sample of %u", events[event].name, seq,
		   tail[1], tail[0], sample->size);
	expect_zero(raw, tail[0] + tail[1], sample->size, events[event].name, seq);
	if (strcmp(events[event].name, "vcpu"))
		return;
	memset(&vcpu, 0, sizeof(vcpu));
	kvm_trace_vcpu_record(&vcpu, raw, sample->size);
	expect_zero((const u8 *)vcpu.name.at, vcpu.name.len, KVM_TRACE_VCPU_NAME_LEN, "name", seq);
	expect_zero((const u8 *)vcpu.vmm.at, vcpu.vmm.len, KVM_TRACE_VCPU_VMM_LEN, "vmm", seq);
}

static void scan(const struct trace_sample *sample)
{
	const bool lost = sample_is(sample, "lost");
	u64 seq = lost ? 0 : trace_get(sample, "seq");
	size_t i;

	for (i = 0; !sample_is(sample, events[i].name); i++)
		;
	scanned[i]++;
	expect_none(sample->raw, sample->size, events[i].name, seq);
	expect_rest_is_zero(sample, i, seq);
}

/* Words of batches are differences to what was expected, and all are decoded. */
static void scan_decoded(const struct trace_sample *sample,
			 const struct kvm_trace_batch_reader *reader,
			 enum kvm_trace_batch_item item, void *arg)
{
	const u64 seq = trace_get(sample, "seq");

	(void)arg;
	if (item == KVM_TRACE_BATCH_IS_VMEXIT)
		expect_none(&reader->vmexit, sizeof(reader->vmexit), "round trip of a batch", seq);
	else if (item == KVM_TRACE_BATCH_IS_HYPERCALL)
		expect_none(&reader->hypercall, sizeof(reader->hypercall), "hypercall of a batch",
			    seq);
	else if (item == KVM_TRACE_BATCH_IS_VCPU)
		expect_none(&reader->vcpu.tsc_offset, sizeof(reader->vcpu.tsc_offset),
			    "vcpu of a batch", seq);
	scanned_decoded++;
}

/* With what the kernel has allocated for the guest that is still there. */
static void scan_all(struct recorder *recorder)
{
	size_t i;

	addresses_read();
	recorder_stop(recorder);
	tap_expect(!recorder->session.lost, "perf lost %llu samples", recorder->session.lost);
	for (i = 0; i < recorder->session.nr_samples; i++) {
		if (strcmp(recorder->session.samples[i].event->system, "kvm"))
			scan(&recorder->session.samples[i]);
	}
	batches_each(&recorder->session, scan_decoded, NULL);
}

static size_t choose_kinds(enum guest_kind *list, unsigned int unfit)
{
	enum guest_kind kind, swap;
	size_t n = 0, i, k;

	for (kind = 0; kind < KIND_COUNT; kind++) {
		if (!(guest_needs(KIND_BIT(kind)) & unfit))
			list[n++] = kind;
	}
	for (i = n; i > 1; i--) {
		k = random() % i;
		swap = list[k];
		list[k] = list[i - 1];
		list[i - 1] = swap;
	}
	return n;
}

/* All kinds of exits that fit one VM, in another order each time. */
static void test_exits(unsigned int order)
{
	const bool irqchip = order % 2;
	const unsigned int own = irqchip ? VM_IRQCHIP : VM_NO_IRQCHIP;
	/* What changes other kinds is left out but for one order. */
	const unsigned int unfit = (VM_IRQCHIP | VM_NO_IRQCHIP | VM_GUEST_DEBUG | VM_XEN) & ~own;
	enum guest_kind list[KIND_COUNT];
	struct recorder recorder = {};
	struct vcpu vcpu;
	u64 kinds = 0;
	struct vm vm;
	size_t n, i;

	tap_begin("no_host_address: exits, order %u", order);
	n = choose_kinds(list, unfit);
	for (i = 0; i < n; i++)
		kinds |= KIND_BIT(list[i]);
	recorder_start(&recorder, WHAT, RING_MIB);
	vm_create(&vm, 1, guest_needs(kinds) | own);
	vcpu_create(&vm, &vcpu, 0);
	vcpu.on_cpu = 1;
	guest_start_list(&vcpu, list, n, ROUNDS);
	guest_join(&vcpu);
	scan_all(&recorder);
	vcpu_destroy(&vcpu);
	vm_destroy(&vm);
	recorder_close(&recorder);
	tap_end();
}

static void make_row(struct calls *calls, u8 abi, u64 nr)
{
	struct guest_call call = { .abi = abi, .mode = MODE_LONG, .nr = nr };
	unsigned int i;

	for (i = 0; i < KVM_TRACE_HC_REGS; i++)
		call.arg[i] = 0xa0a0a0a011111000ull + i;
	calls_make(calls, &call);
}

/* Xen's multicall: its parts are in guest memory. */
static void make_multicall(struct calls *calls)
{
	const u64 list = calls->vcpu.area + AREA_INPUT;
	struct guest_call call = {
		.abi = KVM_TRACE_ABI_XEN, .mode = MODE_LONG, .nr = MULTICALL,
		.arg = { list, PARTS },
	};
	u64 *entry;
	unsigned int i, k;

	for (i = 0; i < PARTS; i++) {
		entry = vm_at(&calls->vm, list + i * ENTRY_BYTES);
		entry[0] = i + 1;
		for (k = 1; k < ENTRY_BYTES / sizeof(*entry); k++)
			entry[k] = 0xc0c0c0c000000000ull + k;
	}
	calls_make(calls, &call);
}

static void test_calls(u8 abi, unsigned int vm_flags)
{
	const struct call_row *rows;
	struct recorder recorder = {};
	struct calls calls;
	size_t count, i;

	tap_begin("no_host_address: hypercalls, %s", kvm_trace_abi_name(abi));
	recorder_start(&recorder, REC_BATCH, RING_MIB);
	calls_start(&calls, vm_flags, ~0u, CALLS_ALL_ARGS | CALLS_SUB);
	rows = call_rows(abi, &count);
	for (i = 0; i < count; i++) {
		if (call_row_fits(&rows[i], abi, MODE_LONG))
			make_row(&calls, abi, rows[i].nr);
	}
	if (abi == KVM_TRACE_ABI_XEN)
		make_multicall(&calls);
	scan_all(&recorder);
	scan_all(&calls.recorder);
	vcpu_destroy(&calls.vcpu);
	vm_destroy(&calls.vm);
	recorder_close(&calls.recorder);
	recorder_close(&recorder);
	free(calls.made);
	tap_end();
}

/* What is looked for is found wherever it is. */
static void test_finds(void)
{
	const u64 symbols[] = { address_of_symbol("init_task"), address_of_symbol("_text"),
				address_of_symbol("kvm_trace_on_entry") };
	u8 bytes[32];
	size_t i, from, at;
	u64 value;

	tap_begin("an_address_is_found_at_each_byte");
	addresses_read();
	for (i = 0; i < ARRAY_SIZE(symbols); i++) {
		for (from = 0; from + sizeof(u64) <= sizeof(bytes); from++) {
			memset(bytes, 0, sizeof(bytes));
			memcpy(bytes + from, &symbols[i], sizeof(u64));
			tap_expect(address_in(bytes, sizeof(bytes), &at, &value) && at == from &&
				   value == symbols[i], "0x%llx at byte %zu", symbols[i], from);
		}
	}
	tap_expect(!address_of(0x7fffffffffffull) && !address_of(~0ull), "others are found, too");
	tap_end();
}

static void set_all(const char *value)
{
	if (parameter_set("words", value) || parameter_set("batch_words", value) ||
	    parameter_set("hypercall_words", value) ||
	    parameter_set("hypercall_args", !strcmp(value, "all") ? "all" : "used"))
		tap_die("parameters of kvm_trace: %s", value);
}

int main(void)
{
	unsigned int order;
	size_t i;

	need_kvm_trace();
	tap_plan(ORDERS + 5);
	run_on_cpu(0);
	srandom(SEED);
	test_finds();
	for (order = 0; order < ORDERS; order++) {
		set_all("all");
		test_exits(order);
	}
	test_calls(KVM_TRACE_ABI_KVM, 0);
	set_all("all");
	test_calls(KVM_TRACE_ABI_HYPERV, VM_HYPERV | VM_IRQCHIP);
	set_all("all");
	if (vm_has_xen()) {
		test_calls(KVM_TRACE_ABI_XEN, VM_XEN);
	} else {
		tap_begin("no_host_address: hypercalls, Xen");
		tap_skip("KVM of this kernel has no Xen hypercalls");
	}
	set_all("default");
	tap_begin("there_was_something_to_look_at");
	/* Of lost there is none, or something else is wrong; parts are Xen's. */
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		tap_note("%llu of %s", scanned[i], events[i].name);
		tap_expect(scanned[i] || !strcmp(events[i].name, "lost") ||
			   (!strcmp(events[i].name, "hypercall_sub") && !vm_has_xen()),
			   "no record of %s", events[i].name);
	}
	tap_note("%llu records of batches", scanned_decoded);
	tap_expect(scanned_decoded, "no record of a batch");
	tap_end();
	addresses_free();
	return tap_exit();
}
