/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record of the BPF program that scripts/bench compares kvm_trace with: the
 * same fields as the lean record of kvm_trace:vmexit, and its own time. What perf
 * adds to our records, the thread and its time, is in it.
 */
#ifndef _SELFTESTS_BENCH_RINGBUF_H
#define _SELFTESTS_BENCH_RINGBUF_H

struct ringbuf_record {
	unsigned long long entry_ns;
	unsigned long long host_ns;
	unsigned int vm;
	unsigned int seq;
	unsigned int tid;
	unsigned short vcpu;
	unsigned short reason;
	unsigned short flags;
	unsigned short isa;
};

/* Bits of flags. */
#define RINGBUF_MMIO		0x01
#define RINGBUF_HALTED		0x02
#define RINGBUF_PAGE_FAULT	0x04
#define RINGBUF_EMULATED	0x08
#define RINGBUF_INJECTED	0x10
#define RINGBUF_SCHED_OUT	0x20
#define RINGBUF_USERSPACE	0x40

#endif /* _SELFTESTS_BENCH_RINGBUF_H */
