// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder never reads past the end: golden records cut at every length and
 * random bytes, in buffers of exactly their size, under AddressSanitizer; and
 * never writes past the end of the text. What the text says is tested elsewhere.
 */
#include <kvm_trace/exception_names.h>
#include <kvm_trace/msr_names.h>
#include <kvm_trace/user_exits.h>
#include "decode_encode.h"
#include "decode_golden.h"
#include "decode_hypercalls.h"
#include "tap.h"

#define RANDOM_TAILS	100000

static const char *const events[] = {
	"vmexit", "hypercall", "hypercall_sub", "vcpu", "lost",
};

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

/* Numbers of calls of which names of arguments are looked up, and others. */
static __u64 random_number(__u8 *abi)
{
	const struct tabled_call *call;

	call = &tabled_calls[random_64() % ARRAY_SIZE(tabled_calls)];
	*abi = random_64() & 7 ? call->abi : random_64();
	return random_64() & 7 ? call->number : random_64() & 0xffffffff;
}

/* Presence bits; one in two without a reserved size, so that words are reached. */
static __u32 random_present(void)
{
	return random_64() & (random_64() & 1 ? 0xffff5555 : 0xffffffff);
}

static unsigned int hypercalls_cut, subs_cut;

static void random_hypercall(const void *tail, size_t size)
{
	struct kvm_trace_hypercall h = { .present = random_present(), .caller = random_64() };
	char text[KVM_TRACE_TEXT_SIZE];

	h.nr = random_number(&h.abi);
	kvm_trace_hypercall_tail(&h, tail, size);
	kvm_trace_hypercall_text(&h, 0, text, sizeof(text));
	hypercalls_cut += h.truncated;
}

static void random_hypercall_sub(const void *tail, size_t size)
{
	struct kvm_trace_hypercall_sub s = { .present = random_present() };
	char text[KVM_TRACE_TEXT_SIZE];

	s.nr = random_number(&s.abi);
	s.kind = random_64() & 7 ? random_64() & 7 : random_64();
	kvm_trace_hypercall_sub_tail(&s, tail, size);
	kvm_trace_hypercall_sub_text(&s, 0, text, sizeof(text));
	subs_cut += s.truncated;
}

/* Tails alone, as the plugin hands them over; the masks are not sparse. */
static void random_tails(void)
{
	unsigned int i, whole = 0;
	char text[KVM_TRACE_TEXT_SIZE];
	struct kvm_trace_vmexit v;
	__u8 bytes[512];
	size_t size, n;
	void *copy;

	tap_begin("random_tails_are_never_read_past_their_end");
	for (i = 0; i < RANDOM_TAILS; i++) {
		size = random_64() % sizeof(bytes);
		/* One in two as short as those of hypercalls are. */
		if (random_64() & 1)
			size &= 127;
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
		random_hypercall(copy, size);
		random_hypercall_sub(copy, size);
		free(copy);
	}
	tap_note("%u tails, %u of vmexit whole, %u of hypercall and %u of hypercall_sub truncated",
		 i, whole, hypercalls_cut, subs_cut);
	/* Both kinds were there, or the tails were not what they should be. */
	tap_expect(whole && whole < i, "whole: %u", whole);
	tap_expect(hypercalls_cut && hypercalls_cut < i, "truncated: %u", hypercalls_cut);
	tap_expect(subs_cut && subs_cut < i, "truncated: %u", subs_cut);
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
		/* Half of the offsets and lengths, at 24 or 28, are near the record's size. */
		if (random_64() & 1)
			for (n = 24; n < size && n < 32; n++)
				bytes[n] &= n & 1 ? 0 : 0x7f;
		copy = exact(bytes, size);
		for (n = 0; n < ARRAY_SIZE(events); n++)
			records += golden_decode(events[n], copy, size, 0, text, sizeof(text));
		free(copy);
	}
	tap_note("%u records", records);
	tap_expect(records, "none was long enough to be one");
	tap_end();
}

#define NO_ARG(kind, name)
#define NAME_OF_CODE(code, name, class) #name,
#define NAME_OF_NUMBER(number, name) #name,
#define NAME_OF_CALL(number, name, ...) #name,

/* Names of a vmexit line of which all bits set choose the number, or a short name. */
static size_t longest_names(void)
{
	static const char *const names[][256] = {
		{ KVM_TRACE_SVM_REASONS(NAME_OF_CODE) },
		{ KVM_TRACE_SVM_REASONS_WIDE(NAME_OF_CODE) },
		{ KVM_TRACE_MSRS(NAME_OF_NUMBER) },
		{ KVM_TRACE_KVM_CALLS(NAME_OF_CALL, NO_ARG) },
		{ KVM_TRACE_HYPERV_CALLS(NAME_OF_CALL, NO_ARG) },
		{ KVM_TRACE_XEN_CALLS(NAME_OF_CALL, NO_ARG) },
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

static size_t longest(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Every call of either event, whose every argument and word is as long as it can be. */
static size_t longest_hypercall(void)
{
	struct kvm_trace_hypercall_sub s;
	struct kvm_trace_hypercall h;
	size_t call, i, len = 0;
	char text[1];

	memset(&h, 0xff, sizeof(h));
	h.truncated = true;
	h.reserved = true;
	h.lacks = 0;
	h.present = 0xffffaaaa;
	h.have = h.present;
	memset(&s, 0xff, sizeof(s));
	s.truncated = true;
	s.reserved = true;
	s.lacks = 0;
	s.present = h.present;
	s.have = h.have;
	len = longest(kvm_trace_hypercall_text(&h, ~0u, text, sizeof(text)),
		      kvm_trace_hypercall_sub_text(&s, ~0u, text, sizeof(text)));
	for (call = 0; call < ARRAY_SIZE(tabled_calls); call++) {
		h.abi = tabled_calls[call].abi;
		h.nr = tabled_calls[call].number;
		h.caller = ~KVM_TRACE_CALLER_LONG_MODE;
		if (tabled_calls[call].how != 32)
			h.caller = 0xff;
		s.abi = h.abi;
		s.nr = h.nr;
		s.kind = tabled_calls[call].how == 32 ? KVM_TRACE_SUB_KIND_CALL_32 :
							KVM_TRACE_SUB_KIND_CALL;
		for (i = 0; i <= ARRAY_SIZE(tabled_subs); i++) {
			memset(h.arg, 0xff, sizeof(h.arg));
			/* Wherever the sub-operation stands. */
			if (i < ARRAY_SIZE(tabled_subs)) {
				if (tabled_subs[i].abi != h.abi || tabled_subs[i].number != h.nr)
					continue;
				h.arg[0] = tabled_subs[i].sub;
				h.arg[KVM_TRACE_HC_REGS] = tabled_subs[i].sub;
			}
			memcpy(s.arg, h.arg, sizeof(s.arg));
			len = longest(len, kvm_trace_hypercall_text(&h, ~0u, text, sizeof(text)));
			len = longest(len, kvm_trace_hypercall_sub_text(&s, ~0u, text,
									sizeof(text)));
		}
	}
	return len;
}

/* No bit pattern gives a line that KVM_TRACE_TEXT_SIZE cuts. */
static void longest_line(void)
{
	struct kvm_trace_vmexit v;
	struct kvm_trace_vcpu c;
	char text[1], name[KVM_TRACE_VCPU_NAME_LEN];
	size_t len, n;

	tap_begin("the_longest_lines_fit_a_buffer_of_KVM_TRACE_TEXT_SIZE");
	len = longest_hypercall();
	memset(&v, 0xff, sizeof(v));
	v.isa = KVM_TRACE_ISA_SVM;
	v.lacks = 0;
	v.truncated = true;
	for (v.class = 0; v.class < KVM_TRACE_CLASS_COUNT; v.class++) {
		n = kvm_trace_vmexit_text(&v, ~0u, text, sizeof(text)) + longest_names();
		len = longest(len, n);
	}
	memset(name, 'n', sizeof(name));
	memset(&c, 0xff, sizeof(c));
	c.lacks = 0;
	c.name = (struct kvm_trace_string){ name, sizeof(name) };
	c.vmm = c.name;
	len = longest(len, kvm_trace_vcpu_text(&c, text, sizeof(text)));
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
