// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer of an output, and how numbers and strings look in it. Of what a timeline
 * costs, most is spent here, so digits are made by twos and strings looked at by eights.
 */
#include "out.h"

#define BYTES(byte)	(~0ull / 0xff * (byte))	/* eight of them */

void kvm_trace_out_write(struct kvm_trace_out *out)
{
	if (fwrite(out->bytes, 1, out->len, out->file) != out->len)
		out->failed = true;
	out->len = 0;
}

static unsigned int digits_of(__u64 number)
{
	static const __u64 powers[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000ull, 100000000000ull, 1000000000000ull, 10000000000000ull,
		100000000000000ull, 1000000000000000ull, 10000000000000000ull,
		100000000000000000ull, 1000000000000000000ull, 10000000000000000000ull,
	};
	/* The logarithm to base 10 is 1233 / 4096 of that to base 2, or one more. */
	unsigned int digits = (64 - __builtin_clzll(number | 1)) * 1233 >> 12;

	return digits + (number >= powers[digits]);
}

static void put_digits(char *at, __u64 number, unsigned int digits)
{
	unsigned int two;

	for (at += digits; digits >= 2; digits -= 2, number /= 100) {
		two = number % 100;
		*--at = '0' + two % 10;
		*--at = '0' + two / 10;
	}
	if (digits)
		*--at = '0' + number % 10;
}

void kvm_trace_out_number(struct kvm_trace_out *out, __u64 number, unsigned int digits)
{
	char *room = kvm_trace_out_room(out);
	unsigned int least = digits_of(number);

	if (digits < least)
		digits = least;
	put_digits(room, number, digits);
	out->len += digits;
}

void kvm_trace_out_fixed(struct kvm_trace_out *out, __u64 number)
{
	char *room = kvm_trace_out_room(out);
	unsigned int digits = digits_of(number / 1000);

	put_digits(room, number / 1000, digits);
	room[digits] = '.';
	put_digits(room + digits + 1, number % 1000, 3);
	out->len += digits + 4;
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

/* The highest bit of the first that is @byte is set, and none if none is. */
static __u64 which_are(__u64 eight, __u64 byte)
{
	const __u64 differ = eight ^ BYTES(byte);

	return (differ - BYTES(1)) & ~differ;
}

/* Whether none of eight bytes needs an escape, or cannot be in a string. */
static bool are_plain(__u64 eight)
{
	const __u64 below = (eight - BYTES(' ')) & ~eight, above = eight | (eight + BYTES(1));

	return !((below | above | which_are(eight, '"') | which_are(eight, '\\')) & BYTES(0x80));
}

void kvm_trace_out_json(struct kvm_trace_out *out, const char *text, size_t len)
{
	char *at = kvm_trace_out_room(out), *start = at;
	__u64 eight;

	if (len > KVM_TRACE_OUT_ROOM / 2 - 2)
		len = KVM_TRACE_OUT_ROOM / 2 - 2;
	*at++ = '"';
	while (len) {
		if (len >= sizeof(eight)) {
			memcpy(&eight, text, sizeof(eight));
			if (are_plain(eight)) {
				memcpy(at, &eight, sizeof(eight));
				at += sizeof(eight);
				text += sizeof(eight);
				len -= sizeof(eight);
				continue;
			}
		}
		if (*text == '"' || *text == '\\')
			*at++ = '\\';
		*at++ = *text >= ' ' && *text < 0x7f ? *text : '?';
		text++;
		len--;
	}
	*at++ = '"';
	out->len += at - start;
}

void kvm_trace_out_flush(struct kvm_trace_out *out)
{
	kvm_trace_out_write(out);
	if (fflush(out->file))
		out->failed = true;
}
