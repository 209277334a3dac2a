// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer of an output, and how numbers and strings look in it.
 */
#include <string.h>
#include "out.h"

static void write_out(struct kvm_trace_out *out)
{
	if (fwrite(out->bytes, 1, out->len, out->file) != out->len)
		out->failed = true;
	out->len = 0;
}

char *kvm_trace_out_room(struct kvm_trace_out *out)
{
	if (out->len > sizeof(out->bytes) - KVM_TRACE_OUT_ROOM)
		write_out(out);
	return out->bytes + out->len;
}

void kvm_trace_out_char(struct kvm_trace_out *out, char c)
{
	*kvm_trace_out_room(out) = c;
	out->len++;
}

void kvm_trace_out_string(struct kvm_trace_out *out, const char *text)
{
	size_t len = strlen(text);

	memcpy(kvm_trace_out_room(out), text, len);
	out->len += len;
}

/* The digits of a number, behind which is @end; returns the first. */
static char *put_digits(char *end, __u64 number, unsigned int digits)
{
	char *at = end;

	while (number || end - at < digits) {
		*--at = '0' + number % 10;
		number /= 10;
	}
	return at;
}

void kvm_trace_out_number(struct kvm_trace_out *out, __u64 number, unsigned int digits)
{
	char text[20];
	char *at = put_digits(text + sizeof(text), number, digits ? digits : 1);
	size_t len = text + sizeof(text) - at;

	memcpy(kvm_trace_out_room(out), at, len);
	out->len += len;
}

void kvm_trace_out_fixed(struct kvm_trace_out *out, __u64 number)
{
	kvm_trace_out_number(out, number / 1000, 1);
	kvm_trace_out_char(out, '.');
	kvm_trace_out_number(out, number % 1000, 3);
}

void kvm_trace_out_hex(struct kvm_trace_out *out, __u64 number)
{
	char *room = kvm_trace_out_room(out);
	unsigned int shift = 60;

	while (shift && !(number >> shift))
		shift -= 4;
	room[0] = '0';
	room[1] = 'x';
	out->len += 2 + shift / 4 + 1;
	for (room += 2;; shift -= 4) {
		*room++ = "0123456789abcdef"[number >> shift & 15];
		if (!shift)
			break;
	}
}

void kvm_trace_out_json(struct kvm_trace_out *out, const char *text, size_t len)
{
	char *at = kvm_trace_out_room(out), *start = at;

	if (len > KVM_TRACE_OUT_ROOM / 2 - 2)
		len = KVM_TRACE_OUT_ROOM / 2 - 2;
	*at++ = '"';
	for (; len; len--, text++) {
		if (*text == '"' || *text == '\\')
			*at++ = '\\';
		*at++ = *text >= ' ' && *text < 0x7f ? *text : '?';
	}
	*at++ = '"';
	out->len += at - start;
}

void kvm_trace_out_flush(struct kvm_trace_out *out)
{
	write_out(out);
	if (fflush(out->file))
		out->failed = true;
}
