// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers and strings of outputs are those of printf() and of JSON, of every length and
 * with every byte at every place.
 */
#include <stdlib.h>
#include <string.h>

#include "types.h"
#include "decode_encode.h"
#include "json_check.h"
#include "tap.h"
#include "../../perf-plugins/out.h"

#define STRING_MAX	24
#define RANDOMS		100000

static struct kvm_trace_out out;

static void expect(const char *wanted)
{
	out.bytes[out.len] = '\0';
	tap_expect(!strcmp(out.bytes, wanted), "%s, not %s", out.bytes, wanted);
	out.len = 0;
}

static void number(u64 n)
{
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "%llu", n);
	kvm_trace_out_number(&out, n, 1);
	expect(wanted);
	snprintf(wanted, sizeof(wanted), "%09llu", n);
	kvm_trace_out_number(&out, n, 9);
	expect(wanted);
	snprintf(wanted, sizeof(wanted), "%llu.%03llu", n / 1000, n % 1000);
	kvm_trace_out_fixed(&out, n);
	expect(wanted);
	snprintf(wanted, sizeof(wanted), "0x%llx", n);
	kvm_trace_out_hex(&out, n);
	expect(wanted);
}

static void numbers(void)
{
	u64 power;
	size_t i;

	tap_begin("numbers_are_those_of_printf");
	for (power = 1, i = 0; i < 20; i++, power *= 10) {
		number(power - 1);
		number(power);
		number(power + 1);
	}
	for (i = 0; i < 64; i++) {
		number(1ull << i);
		number((1ull << i) - 1);
	}
	number(~0ull);
	for (i = 0; i < RANDOMS; i++)
		number(random_64() >> random_64() % 64);
	tap_end();
}

/* Byte by byte. */
static void escape(char *wanted, const char *text, size_t len)
{
	*wanted++ = '"';
	for (; len; len--, text++) {
		if (*text == '"' || *text == '\\')
			*wanted++ = '\\';
		*wanted++ = *text < ' ' || *text > '~' ? '?' : *text;
	}
	strcpy(wanted, "\"");
}

static void string(const char *text, size_t len)
{
	char wanted[2 * STRING_MAX + 3];

	escape(wanted, text, len);
	kvm_trace_out_json(&out, text, len);
	expect(wanted);
	tap_expect(is_json(wanted), "no JSON: %s", wanted);
}

static void strings(void)
{
	char text[STRING_MAX];
	size_t len, at, i;
	int byte;

	tap_begin("strings_are_json_with_every_byte_at_every_place");
	for (len = 0; len <= STRING_MAX; len++) {
		for (at = 0; at < len; at++) {
			for (byte = 0; byte < 256; byte++) {
				memset(text, 'x', len);
				text[at] = byte;
				string(text, len);
			}
		}
		string(text, len);
	}
	for (i = 0; i < RANDOMS; i++) {
		for (at = 0; at < STRING_MAX; at++)
			text[at] = random_64();
		string(text, STRING_MAX);
	}
	tap_end();
}

int main(void)
{
	tap_plan(2);
	numbers();
	strings();
	return tap_exit();
}
