/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The format of kvm_trace_batch:vmexits, bit by bit: many round trips of one
 * vCPU in one event. What the records mean is in linux/kvm_trace.h; this header
 * says how they are packed. Compiled by the module and by every decoder.
 *
 * All numbers are little-endian. A number of "varint" is LEB128: seven bits a
 * byte, lowest first, bit 7 set in all bytes but the last, at most 10 bytes. A
 * "signed varint" is one of (n << 1) ^ (n >> 63), so that small numbers of
 * either sign are short.
 */
#ifndef _UAPI_LINUX_KVM_TRACE_BATCH_H
#define _UAPI_LINUX_KVM_TRACE_BATCH_H

#include <linux/types.h>
#include <linux/kvm_trace.h>

/* Version of the format; changes only when an old decoder would misread. */
#define KVM_TRACE_BATCH_VERSION	1

/*
 * The event. It needs nothing of any other event to be decoded.
 *
 *	 offset  size  field
 *	      8     8  check     of what follows, see below
 *	     16     8  ns        local_clock() at stamp
 *	     24     8  stamp     where time starts: the VM entry before the first
 *	                         round trip, or the exit that begins it if
 *	                         NO_ENTRY is set
 *	     32     4  vm        as in kvm_trace:vmexit
 *	     36     4  seq       record counter of the first round trip
 *	     40     4  mult      scale of stamps
 *	     44     4  __data_loc of data: length << 16 | offset
 *	     48     2  vcpu      as in kvm_trace:vmexit
 *	     50     2  count     round trips in data
 *	     52     1  isa       KVM_TRACE_ISA_*
 *	     53     1  version   KVM_TRACE_BATCH_VERSION
 *	     54     1  shift     scale of stamps, at most 32
 *	     55     1  flags     KVM_TRACE_BATCH_F_*
 *	     56        data      items
 *
 * There is no padding. Stamps are ticks of the host's TSC if flag TSC is set,
 * else ns of local_clock(). n stamps are (n * mult) >> shift ns, computed with
 * 96 bits. That is how host_ns comes from a round trip's stamps. A point in time
 * is ns + scaled(point - stamp), or ns - scaled(stamp - point) if it lies before:
 * each is scaled from the start, and rounding does not add up.
 *
 *	flags:	 7                   2       1        0
 *		+---------------------+----------+-----+
 *		|          0          | NO_ENTRY | TSC |
 *		+---------------------+----------+-----+
 */
#define KVM_TRACE_BATCH_SIZE		56	/* without data */
#define KVM_TRACE_BATCH_F_TSC		0x01	/* stamps are of the TSC */
#define KVM_TRACE_BATCH_F_NO_ENTRY	0x02	/* guest time of the first is not known */

/*
 * Most bytes of a whole event: ftrace's ring takes 4,072 at most, and one page of
 * perf's a little less.
 */
#define KVM_TRACE_BATCH_MAX		3968
#define KVM_TRACE_BATCH_DATA_MAX	(KVM_TRACE_BATCH_MAX - KVM_TRACE_BATCH_SIZE)

/*
 * When a batch becomes an event: at a VM entry, if there is no room for what the
 * next one may add, or the batch is older than AGE; of a vCPU that does not enter,
 * within AGE more, by a sweep; when the consumer leaves; and when the VM dies. So a
 * reader that holds what it has read back for LAG has it in order of time. Where
 * only threads are recorded, what a thread has of its last SLEEP before it sleeps
 * comes when it has run again.
 */
#define KVM_TRACE_BATCH_AGE_MS		500
#define KVM_TRACE_BATCH_LAG_MS		2000
#define KVM_TRACE_BATCH_SLEEP_MS	10

/*
 * check: of bytes 16 to the end of data, as words of 8 bytes, the last one filled
 * up with 0:
 *
 *	check = SEED
 *	for each word:	check = rotate_left((check ^ word) * PRIME, ROTATE)
 *
 * All of it modulo 2^64. Each step is one to one, so no change inside one word
 * goes unseen. A batch with another check is damaged: nothing in it counts.
 */
#define KVM_TRACE_BATCH_CHECK_AT	16
#define KVM_TRACE_BATCH_SEED		0x6b766d5f62617463ull
#define KVM_TRACE_BATCH_PRIME		0x9e3779b97f4a7c15ull
#define KVM_TRACE_BATCH_ROTATE		29

/*
 * data: items, one behind the other. The first byte of each tells what it is:
 *
 *	0x00 to 0x3f	a round trip of this shape
 *	0x40 to 0x7f	about what follows: the next byte is the length of the rest
 *	0x80 to 0xff	about the round trip before it: the same
 *
 * A decoder steps over those of the last two kinds that it does not know, and
 * over what is longer than it knows.
 *
 * Round trip of shape n:
 *
 *	byte		n
 *	varint		guest: stamps from the VM entry before to the exit
 *	varint		host: stamps from the exit to the entry
 *	signed varints	a word for each bit of the shape's mask, lowest first, as
 *			the difference to what was expected
 *
 * Its record counter is that of the one before plus 1. What is expected of a word
 * is its value in the batch's last round trip that had it, at first 0; but of
 * ENTRY_NS it is the point in time of the entry, and of GUEST_NS and GUEST_NS_64
 * the scaled guest. Differences are modulo 2^64, of words of 4 bytes too, whose
 * values fit in 32 bits. A decoder can step over words that it does not know.
 */
#define KVM_TRACE_BATCH_SHAPES		64
#define KVM_TRACE_BATCH_ABOUT_NEXT	0x40
#define KVM_TRACE_BATCH_ABOUT_LAST	0x80
#define KVM_TRACE_BATCH_VARINT_MAX	10

/*
 * SHAPE: what round trips have in common. A later one takes the place of an
 * earlier one of the same number.
 *
 *	byte	number, less than KVM_TRACE_BATCH_SHAPES
 *	byte	class, KVM_TRACE_CLASS_*
 *	varint	reason, bits 15:0, as in kvm_trace:vmexit
 *	varint	flags, KVM_TRACE_F_*
 *	varint	mask of words, KVM_TRACE_W_*, bits 31 and 63 clear
 */
#define KVM_TRACE_BATCH_SHAPE		0x40
/*
 * SKIP: the record counter jumps; these records were lost, or dropped by
 * min_host_ns.
 *
 *	varint	how many
 */
#define KVM_TRACE_BATCH_SKIP		0x41
/*
 * TIME: the VM entry before the next round trip, where that is not the entry at
 * the end of the last one: records were skipped, or the clock went back.
 *
 *	signed varint	stamps from the latter to the former
 */
#define KVM_TRACE_BATCH_TIME		0x42
/*
 * HOST_NS: host_ns of the next round trip, where that is not host, scaled: the
 * clock went back or was changed, or the VM entry failed.
 *
 *	varint	ns
 */
#define KVM_TRACE_BATCH_HOST_NS		0x43
/*
 * VCPU: the record kvm_trace:vcpu that was due at the entry of the round trip. Its
 * bytes 8 to 87.
 */
#define KVM_TRACE_BATCH_VCPU		0x80
#define KVM_TRACE_BATCH_VCPU_BYTES	(KVM_TRACE_VCPU_SIZE - 8)
/*
 * HYPERCALL: that of the round trip, as kvm_trace:hypercall has it.
 *
 *	byte	abi, KVM_TRACE_ABI_*
 *	byte	caller, KVM_TRACE_CALLER_*
 *	varint	present, KVM_TRACE_HC_*
 *	varint	nr, bits 31:0
 *	varint	each argument and word that present names, in the order of the
 *		record; but RIP and RETURN are signed varints, the difference to
 *		the one before in the batch, at first 0; and NS and NS_64 are not
 *		there, they are host_ns
 */
#define KVM_TRACE_BATCH_HYPERCALL	0x81

#endif /* _UAPI_LINUX_KVM_TRACE_BATCH_H */
