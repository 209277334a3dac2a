/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output through a buffer, faster than stdio: strings, numbers, and strings of JSON.
 * What is written is the caller's.
 */
#ifndef _KVM_TRACE_OUT_H
#define _KVM_TRACE_OUT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <linux/types.h>

/* What fits at once, at least. */
#define KVM_TRACE_OUT_ROOM	8192

/**
 * struct kvm_trace_out - an output; all 0 at first, but @file
 * @file: where it goes
 * @failed: something could not be written
 * @len: bytes that are not written yet
 * @bytes: these
 */
struct kvm_trace_out {
	FILE *file;
	bool failed;
	size_t len;
	char bytes[1 << 16];
};

/**
 * kvm_trace_out_write() - hand on what is not written yet
 * @out: the output
 */
void kvm_trace_out_write(struct kvm_trace_out *out);

/**
 * kvm_trace_out_room() - where to put text of up to KVM_TRACE_OUT_ROOM bytes
 * @out: the output; what was put there counts when added to @out->len
 *
 * Return: the place
 */
static __always_inline char *kvm_trace_out_room(struct kvm_trace_out *out)
{
	if (out->len > sizeof(out->bytes) - KVM_TRACE_OUT_ROOM)
		kvm_trace_out_write(out);
	return out->bytes + out->len;
}

/**
 * kvm_trace_out_char() - write a character
 * @out: the output
 * @c: the character
 */
static __always_inline void kvm_trace_out_char(struct kvm_trace_out *out, char c)
{
	*kvm_trace_out_room(out) = c;
	out->len++;
}

/**
 * kvm_trace_out_string() - write a string
 * @out: the output
 * @text: the string, of up to KVM_TRACE_OUT_ROOM bytes; a literal costs no more than its copy
 */
static __always_inline void kvm_trace_out_string(struct kvm_trace_out *out, const char *text)
{
	size_t len = strlen(text);

	memcpy(kvm_trace_out_room(out), text, len);
	out->len += len;
}

/**
 * kvm_trace_out_number() - write a number in decimal
 * @out: the output
 * @number: the number
 * @digits: digits at least, with zeros in front; at most 20
 */
void kvm_trace_out_number(struct kvm_trace_out *out, __u64 number, unsigned int digits);

/**
 * kvm_trace_out_fixed() - write a thousandth of a number, with three decimals
 * @out: the output
 * @number: the number
 */
void kvm_trace_out_fixed(struct kvm_trace_out *out, __u64 number);

/**
 * kvm_trace_out_hex() - write a number in hex, with 0x
 * @out: the output
 * @number: the number
 */
void kvm_trace_out_hex(struct kvm_trace_out *out, __u64 number);

/**
 * kvm_trace_out_json() - write a string of JSON, with its quotes
 * @out: the output
 * @text: the string; what is not printable ASCII becomes '?'
 * @len: its length; what is beyond KVM_TRACE_OUT_ROOM / 2 - 2 is left out
 */
void kvm_trace_out_json(struct kvm_trace_out *out, const char *text, size_t len);

/**
 * kvm_trace_out_flush() - write what is not written yet, and let the file do so
 * @out: the output
 */
void kvm_trace_out_flush(struct kvm_trace_out *out);

#endif /* _KVM_TRACE_OUT_H */
