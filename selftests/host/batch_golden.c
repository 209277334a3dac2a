// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader of batches on golden batches: what they say, and that none that is
 * cut or changed is believed, in buffers of exactly their size under
 * AddressSanitizer. Batches that the module's encoder makes are in
 * batch_round_trips.c.
 */
#include "types.h"
#include "batch_check.h"
#include "batch_file.h"

static unsigned int files, changes;

static void lines(const struct batch_file *f)
{
	static struct kvm_trace_batch_reader r;
	static char text[BATCH_TEXT_MAX];
	enum kvm_trace_batch_error error;
	enum kvm_trace_batch_item item;
	size_t len = 0;

	files++;
	text[0] = '\0';
	error = kvm_trace_batch_open(&r, f->bytes, f->size);
	if (!tap_expect(!error, "%s: %s", f->name, kvm_trace_batch_error_text(error)))
		return;
	while ((item = kvm_trace_batch_next(&r)) > KVM_TRACE_BATCH_DAMAGED)
		len += batch_line(&r, item, text + len, sizeof(text) - len);
	tap_expect(item == KVM_TRACE_BATCH_END, "%s is damaged", f->name);
	tap_expect(!strcmp(text, f->text), "%s:\n%sexpected:\n%s", f->name, text, f->text);
	tap_expect(kvm_trace_batch_next(&r) == item, "%s: something behind its end", f->name);
}

/* A copy whose every neighbour byte is poisoned. */
static __u8 *exact(const void *bytes, size_t size)
{
	__u8 *copy = malloc(size);

	if (!copy)
		tap_die("no memory");
	memcpy(copy, bytes, size);
	return copy;
}

static void cut_everywhere(const struct batch_file *f)
{
	static struct kvm_trace_batch_reader r;
	__u8 *copy;
	size_t size;

	for (size = 0; size < f->size; size++) {
		copy = exact(f->bytes, size);
		tap_expect(kvm_trace_batch_open(&r, copy, size) == KVM_TRACE_BATCH_TRUNCATED,
			   "%s cut at %zu is believed", f->name, size);
		free(copy);
		changes++;
	}
}

static void flip_everywhere(const struct batch_file *f)
{
	static struct kvm_trace_batch_reader r;
	__u8 *copy = exact(f->bytes, f->size);
	size_t bit;

	/* The common fields are the kernel's, and not looked at. */
	for (bit = 8 * 8; bit < 8 * f->size; bit++) {
		copy[bit / 8] ^= 1 << bit % 8;
		tap_expect(kvm_trace_batch_open(&r, copy, f->size) != KVM_TRACE_BATCH_OK,
			   "%s with bit %zu flipped is believed", f->name, bit);
		copy[bit / 8] ^= 1 << bit % 8;
		changes++;
	}
	tap_expect(kvm_trace_batch_open(&r, copy, f->size) == KVM_TRACE_BATCH_OK,
		   "%s is not read behind damaged ones", f->name);
	free(copy);
}

/* Whether each line of @text is one of @all, in the same order. */
static bool some_of(char *text, const char *all)
{
	char *line, *end;

	for (line = text; *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		all = strstr(all, line);
		if (!all)
			return false;
		all += end - line;
	}
	return true;
}

/*
 * Less data than there were, with length and check put right: as an encoder with a
 * bug would write it. What is given are records before the cut.
 */
static void shorten_everywhere(const struct batch_file *f)
{
	static struct kvm_trace_batch_reader r;
	static char text[BATCH_TEXT_MAX];
	enum kvm_trace_batch_item item;
	size_t size, len;
	__u8 *copy;

	for (size = KVM_TRACE_BATCH_SIZE; size < f->size; size++) {
		copy = exact(f->bytes, size);
		batch_put_right(copy, size);
		text[0] = '\0';
		len = 0;
		if (tap_expect(!kvm_trace_batch_open(&r, copy, size), "%s", f->name))
			while ((item = kvm_trace_batch_next(&r)) > KVM_TRACE_BATCH_DAMAGED)
				len += batch_line(&r, item, text + len, sizeof(text) - len);
		tap_expect(some_of(text, f->text), "%s shortened to %zu: %s", f->name, size, text);
		free(copy);
		changes++;
	}
}

/* Versions of the format, and of the head, that this decoder does not know. */
static void other_versions(const struct batch_file *f)
{
	static struct kvm_trace_batch_reader r;
	__u8 *copy = exact(f->bytes, f->size);

	copy[53]++;
	batch_put_right(copy, f->size);
	tap_expect(kvm_trace_batch_open(&r, copy, f->size) == KVM_TRACE_BATCH_UNKNOWN,
		   "%s of another version is believed", f->name);
	copy[53]--;
	copy[54] = 33;
	batch_put_right(copy, f->size);
	tap_expect(kvm_trace_batch_open(&r, copy, f->size) == KVM_TRACE_BATCH_UNKNOWN,
		   "%s with a shift of 33 is believed", f->name);
	free(copy);
}

/* What no encoder writes, with length and check right. */
static void damaged_data(void)
{
	static const struct {
		const char *what;
		u8 count;
		u8 size;
		u8 data[16];
	} cases[] = {
		{ "a shape that is not defined", 1, 3, { 0, 1, 1 } },
		{ "fewer round trips than it counts", 2, 10, { 0x40, 5, 0, 1, 2, 0, 0, 0, 1, 1 } },
		{ "more round trips than it counts", 0, 10, { 0x40, 5, 0, 1, 2, 0, 0, 0, 1, 1 } },
		{ "a shape beyond the last", 0, 7, { 0x40, 5, 64, 1, 2, 0, 0 } },
		{ "a shape with the bit of a mask", 0, 11,
		  { 0x40, 9, 0, 1, 2, 0, 0x80, 0x80, 0x80, 0x80, 0x08 } },
		{ "a reason of 17 bits", 0, 9, { 0x40, 7, 0, 1, 0x80, 0x80, 4, 0, 0 } },
		{ "a varint of 65 bits", 0, 12,
		  { 0x43, 10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 } },
		{ "a varint of 11 bytes", 0, 13,
		  { 0x43, 11, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 } },
		{ "an item that is longer than the rest", 0, 3, { 0x41, 2, 1 } },
		{ "an item without a length", 0, 1, { 0x41 } },
		{ "an empty item that must not be", 0, 2, { 0x42, 0 } },
		{ "something about a round trip before the first", 0, 2, { 0x90, 0 } },
		{ "a vcpu record that is too short", 1, 14,
		  { 0x40, 5, 0, 1, 2, 0, 0, 0, 1, 1, 0x80, 2, 1, 1 } },
		{ "an argument of the reserved size", 1, 16,
		  { 0x40, 5, 0, 1, 2, 0, 0, 0, 1, 1, 0x81, 4, 1, 0, 3, 0 } },
	};
	static struct kvm_trace_batch_reader r;
	u8 head[KVM_TRACE_BATCH_SIZE] = { [52] = 2, [53] = KVM_TRACE_BATCH_VERSION }, *event;
	enum kvm_trace_batch_item item;
	size_t i, size;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		size = sizeof(head) + cases[i].size;
		event = exact(head, sizeof(head));
		event = realloc(event, size);
		if (!event)
			tap_die("no memory");
		event[50] = cases[i].count;
		memcpy(event + sizeof(head), cases[i].data, cases[i].size);
		batch_put_right(event, size);
		tap_expect(!kvm_trace_batch_open(&r, event, size), "%s", cases[i].what);
		do {
			item = kvm_trace_batch_next(&r);
		} while (item > KVM_TRACE_BATCH_DAMAGED);
		tap_expect(item == KVM_TRACE_BATCH_DAMAGED, "%s is not noticed", cases[i].what);
		free(event);
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_plan(6);
	tap_begin("golden_batches_give_their_lines");
	batch_file_each(argv[0], lines);
	tap_note("%u batches", files);
	tap_expect(files, "no golden batches");
	tap_end();
	tap_begin("batches_cut_at_every_length_are_refused");
	batch_file_each(argv[0], cut_everywhere);
	tap_note("%u lengths", changes);
	tap_end();
	changes = 0;
	tap_begin("batches_with_any_bit_flipped_are_refused_and_the_next_is_read");
	batch_file_each(argv[0], flip_everywhere);
	tap_note("%u bits", changes);
	tap_end();
	changes = 0;
	tap_begin("batches_that_end_inside_an_item_give_what_is_before_it");
	batch_file_each(argv[0], shorten_everywhere);
	tap_note("%u lengths", changes);
	tap_end();
	tap_begin("data_that_no_encoder_writes_are_damaged");
	damaged_data();
	tap_end();
	tap_begin("other_versions_are_refused");
	batch_file_each(argv[0], other_versions);
	tap_end();
	return tap_exit();
}
