/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hands single events to the filter, one after the other, and finds what it prints of
 * them. What they say is the tests' own.
 */
#ifndef _DLFILTER_ROWS_H
#define _DLFILTER_ROWS_H

#include "types.h"
#include "decode_encode.h"
#include "perf_host.h"

#define SECOND	1000000000ull

static struct perf_host perf;
/* Of the next round trip. */
static u64 now;
static u32 seq;

static inline void begin(const char *args)
{
	now = 10 * SECOND;
	seq = 5;
	tap_expect(!perf_begin(&perf, args, NULL), "%s is refused", args);
}

static inline void give(const char *event, const struct record *r)
{
	perf_sample(&perf, event, now, r->bytes, r->size);
}

static inline void give_vcpu(u32 vm, u16 vcpu, u32 pid, const char *vmm)
{
	const struct kvm_trace_vcpu c = {
		.vm = vm, .vcpu = vcpu, .seq = seq, .vmm_pid = pid, .vmm_tid = pid,
		.tsc_ratio = 1ull << 32, .isa = KVM_TRACE_ISA_SVM,
		.abi_version = KVM_TRACE_ABI_VERSION,
		.name = { "1-2", 3 }, .vmm = { vmm, strlen(vmm) },
	};
	struct record r;

	encode_vcpu(&r, &c);
	give("kvm_trace:vcpu", &r);
}

/* A round trip that ends now; of VM 1 and of class cpuid if it does not say. */
static inline void give_round_trip(struct kvm_trace_vmexit v)
{
	struct record r;

	if (!v.vm)
		v.vm = 1;
	if (!v.class) {
		v.class = KVM_TRACE_CLASS_cpuid;
		v.reason = 0x72;
	}
	v.isa = KVM_TRACE_ISA_SVM;
	v.seq = seq++;
	encode_vmexit(&r, &v);
	give("kvm_trace:vmexit", &r);
}

/* The line that begins with @start, with one blank between its columns. */
static inline bool find_line(const char *start, char *buf, size_t size)
{
	const char *line, *at;
	size_t len;

	for (line = perf.out; *line; line += strcspn(line, "\n") + 1) {
		len = 0;
		for (at = line; *at && *at != '\n' && len < size - 1; at++)
			if (*at != ' ' || (len && buf[len - 1] != ' '))
				buf[len++] = *at;
		buf[len] = '\0';
		if (!strncmp(buf, start, strlen(start)))
			return true;
	}
	return false;
}

/* Its column @n; 0 is the one behind what it begins with. */
static inline const char *find_cell(const char *start, unsigned int n)
{
	static char line[1024];
	char *cell, *state;

	if (!find_line(start, line, sizeof(line)))
		return "no such line";
	for (cell = strtok_r(line + strlen(start), " ", &state); cell && n; n--)
		cell = strtok_r(NULL, " ", &state);
	return cell ? cell : "no such column";
}

static inline void expect_cell(const char *start, unsigned int n, const char *wanted)
{
	const char *found = find_cell(start, n);

	tap_expect(!strcmp(found, wanted), "row \"%s\", column %u: %s, not %s, of\n%s", start, n,
		   found, wanted, perf.out);
}

#endif /* _DLFILTER_ROWS_H */
