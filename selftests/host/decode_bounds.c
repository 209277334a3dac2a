// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder never reads past the end: golden records cut at every length and
 * random bytes, in buffers of exactly their size, under AddressSanitizer; and
 * never writes past the end of the text. What the text says is tested elsewhere.
 */
#include <kvm_trace/exception_names.h>
#include <kvm_trace/hypercalls.h>
#include <kvm_trace/msr_names.h>
#include <kvm_trace/user_exits.h>
#include "decode_encode.h"
#include "decode_golden.h"
#include "tap.h"

#define RANDOM_TAILS	100000

static const char *const events[] = { "vmexit", "hypercall", "vcpu", "lost" };

static unsigned int cuts;

/* A copy whose every neighbour byte is poisoned. */
static void *exact(const void *bytes, size_t size)
{
	void *copy = malloc(size);

	if (!copy)
		golden_die("malloc", 0, "no memory");
	memcpy(copy, bytes, size);
	return copy;
}

/*
 * __data_loc of a cut record still tells the whole length: that is a record
 * whose end did not arrive, and the text must say so.
 */
static void cut_everywhere(const struct golden *g)
{
	char text[KVM_TRACE_TEXT_SIZE];
	size_t size;
	void *copy;
	bool record;

	for (size = 0; size < g->size; size++) {
		copy = exact(g->bytes, size);
		record = golden_decode(g->event, copy, size, g->pid, text, sizeof(text));
		free(copy);
		cuts++;
		if (!record)
			continue;
		/* Behind a reserved argument the cut is not seen. */
		tap_expect(strstr(text, "(truncated)") || strstr(text, "unknown size"),
			   "%s cut at %zu: %s", g->name, size, text);
	}
}

/* Any room for the text: what fits is the start of the whole, and terminated. */
static void small_room(const struct golden *g)
{
	char *text;
	size_t room;

	for (room = 1; room <= strlen(g->text) + 1; room++) {
		text = malloc(room);
		if (!text)
			golden_die("malloc", 0, "no memory");
		golden_decode(g->event, g->bytes, g->size, g->pid, text, room);
		tap_expect(strnlen(text, room) == room - 1 && !strncmp(text, g->text, room - 1),
			   "%s in %zu bytes", g->name, room);
		free(text);
	}
	golden_decode(g->event, g->bytes, g->size, g->pid, NULL, 0);
}

/* Tails alone, as the plugin hands them over; the masks are not sparse. */
static void random_tails(void)
{
	struct kvm_trace_hypercall h;
	char text[KVM_TRACE_TEXT_SIZE];
	unsigned int i, whole = 0, truncated = 0;
	struct kvm_trace_vmexit v;
	__u8 bytes[512];
	size_t size, n;
	void *copy;

	tap_begin("random_tails_are_never_read_past_their_end");
	for (i = 0; i < RANDOM_TAILS; i++) {
		size = random_64() % sizeof(bytes);
		for (n = 0; n < size; n++)
			bytes[n] = random_64();
		copy = exact(bytes, size);
		memset(&v, 0, sizeof(v));
		v.isa = random_64() & 3;
		v.reason = random_64();
		v.flags = random_64();
		v.class = random_64() % KVM_TRACE_CLASS_COUNT;
		kvm_trace_vmexit_tail(&v, copy, size);
		kvm_trace_vmexit_text(&v, 0, text, sizeof(text));
		whole += !v.truncated;
		memset(&h, 0, sizeof(h));
		/* One in two without a reserved size, so that words are reached. */
		h.present = random_64() & (random_64() & 1 ? 0xffff5555 : 0xffffffff);
		h.abi = random_64() & 3;
		kvm_trace_hypercall_tail(&h, copy, size);
		kvm_trace_hypercall_text(&h, 0, text, sizeof(text));
		truncated += h.truncated;
		free(copy);
	}
	tap_note("%u tails, %u of vmexit whole, %u of hypercall truncated", i, whole, truncated);
	/* Both kinds were there, or the tails were not what they should be. */
	tap_expect(whole && whole < i, "whole: %u", whole);
	tap_expect(truncated && truncated < i, "truncated: %u", truncated);
	tap_end();
}

/* Whole records of random bytes, __data_loc among them. */
static void random_records(void)
{
	char text[KVM_TRACE_TEXT_SIZE];
	unsigned int i, records = 0;
	__u8 bytes[128];
	size_t size, n;
	void *copy;

	tap_begin("random_records_are_never_read_past_their_end");
	for (i = 0; i < RANDOM_TAILS; i++) {
		size = random_64() % sizeof(bytes);
		for (n = 0; n < size; n++)
			bytes[n] = random_64();
		/* Half of the offsets and lengths are near the record's size. */
		if (random_64() & 1)
			for (n = 24; n < size && n < 52; n += 4)
				if (n < 28 || n >= 44)
					for (size_t k = n; k < n + 4 && k < size; k++)
						bytes[k] &= k & 1 ? 0 : 0x7f;
		copy = exact(bytes, size);
		for (n = 0; n < 4; n++)
			records += golden_decode(events[n], copy, size, 0, text, sizeof(text));
		free(copy);
	}
	tap_note("%u records", records);
	tap_expect(records, "none was long enough to be one");
	tap_end();
}

#define NAME_OF_CODE(code, name, class) #name,
#define NAME_OF_NUMBER(number, name) #name,
#define NAME_OF_CALL(number, name, count, a0, a1, a2, a3) #name,

/* Names of a vmexit line of which all bits set choose the number, or a short name. */
static size_t longest_names(void)
{
	static const char *const names[][256] = {
		{ KVM_TRACE_SVM_REASONS(NAME_OF_CODE) },
		{ KVM_TRACE_SVM_REASONS_WIDE(NAME_OF_CODE) },
		{ KVM_TRACE_MSRS(NAME_OF_NUMBER) },
		{ KVM_TRACE_KVM_HYPERCALLS(NAME_OF_CALL) },
		{ KVM_TRACE_EXCEPTIONS(NAME_OF_NUMBER) },
		{ KVM_TRACE_USER_EXITS(NAME_OF_NUMBER) },
		{ "ENOTRECOVERABLE" },
	};
	size_t i, n, longest, sum = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		longest = 0;
		for (n = 0; n < ARRAY_SIZE(names[i]) && names[i][n]; n++)
			if (strlen(names[i][n]) > longest)
				longest = strlen(names[i][n]);
		sum += longest;
	}
	return sum;
}

/* No bit pattern gives a line that KVM_TRACE_TEXT_SIZE cuts. */
static void longest_line(void)
{
	struct kvm_trace_hypercall h;
	struct kvm_trace_vmexit v;
	struct kvm_trace_vcpu c;
	char text[1], name[KVM_TRACE_VCPU_NAME_LEN];
	size_t len = 0, n;

	tap_begin("the_longest_lines_fit_a_buffer_of_KVM_TRACE_TEXT_SIZE");
	memset(&v, 0xff, sizeof(v));
	v.isa = KVM_TRACE_ISA_SVM;
	v.lacks = 0;
	v.truncated = true;
	for (v.class = 0; v.class < KVM_TRACE_CLASS_COUNT; v.class++) {
		n = kvm_trace_vmexit_text(&v, ~0u, text, sizeof(text)) + longest_names();
		len = n > len ? n : len;
	}
	memset(&h, 0xff, sizeof(h));
	h.truncated = true;
	h.reserved = true;
	h.lacks = 0;
	h.present = 0xffffaaaa;
	h.have = h.present;
	n = kvm_trace_hypercall_text(&h, ~0u, text, sizeof(text));
	len = n > len ? n : len;
	memset(name, 'n', sizeof(name));
	memset(&c, 0xff, sizeof(c));
	c.lacks = 0;
	c.name = (struct kvm_trace_string){ name, sizeof(name) };
	c.vmm = c.name;
	n = kvm_trace_vcpu_text(&c, text, sizeof(text));
	len = n > len ? n : len;
	tap_note("no line is longer than %zu bytes", len);
	tap_expect(len < KVM_TRACE_TEXT_SIZE, "%zu bytes", len);
	tap_end();
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_plan(5);
	tap_begin("records_cut_at_every_length_are_not_read_past_their_end_and_say_so");
	golden_each(argv[0], cut_everywhere);
	tap_note("%u lengths", cuts);
	tap_end();
	tap_begin("text_is_cut_to_any_room_and_terminated");
	golden_each(argv[0], small_room);
	tap_end();
	random_tails();
	random_records();
	longest_line();
	return tap_exit();
}
