// SPDX-License-Identifier: GPL-2.0-only
/*
 * The corpus: for each case the core makes the bytes that are stored, and libipt and
 * perf read the packets and the flow that are stored out of these. With -p FILE, prints
 * instead what the core and libipt make of one.
 */
#include <dirent.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "corpus.h"
#include "perf_data.h"
#include "tap.h"

/**
 * line_add() - append a line
 * @lines: to what
 * @fmt: the line
 */
void line_add(struct lines *lines, const char *fmt, ...)
{
	va_list ap;

	if (lines->n == MAX_LINES)
		tap_die("more than %d lines", MAX_LINES);
	va_start(ap, fmt);
	vsnprintf(lines->text[lines->n++], LINE_SIZE, fmt, ap);
	va_end(ap);
}

static void die(const char *path, unsigned int line, const char *why)
{
	printf("Bail out! %s:%u: %s\n", path, line, why);
	exit(EXIT_FAILURE);
}

/* Hex bytes with blanks between them; returns how many. */
static size_t read_bytes(char *text, u8 *data, size_t room, const char *path, unsigned int n)
{
	char *word, *end, *rest;
	size_t size = 0;

	for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (strlen(word) != 2 || size == room)
			die(path, n, "not a byte, or too many");
		data[size++] = strtoul(word, &end, 16);
		if (*end)
			die(path, n, "not a byte");
	}
	return size;
}

static void read_code(struct corpus_case *c, char *text, unsigned int n)
{
	struct code *code = &c->code[c->codes++];

	if (c->codes > MAX_CODE)
		die(c->path, n, "too many lines of code");
	code->address = strtoull(text, &text, 16);
	code->size = read_bytes(text, code->data, sizeof(code->data), c->path, n);
}

static void read_line(struct corpus_case *c, char *line, unsigned int n)
{
	char *text = strchr(line, ' ');

	if (!text)
		die(c->path, n, "a line is a word and what it is about");
	*text++ = 0;
	if (!strcmp(line, "option"))
		line_add(&c->caps, "%s", text);
	else if (!strcmp(line, "code"))
		read_code(c, text, n);
	else if (!strcmp(line, "event"))
		line_add(&c->events, "%s ", text);
	else if (!strcmp(line, "bytes"))
		c->bytes.size += read_bytes(text, c->bytes.data + c->bytes.size,
					    sizeof(c->bytes.data) - c->bytes.size, c->path, n);
	else if (!strcmp(line, "packet"))
		line_add(&c->packets, "%s", text);
	else if (!strcmp(line, "flow"))
		line_add(&c->flow, "%s", text);
	else if (!strcmp(line, "perf"))
		line_add(&c->perf_flow, "%s", text);
	else
		die(c->path, n, "not a word of the corpus");
}

static void read_case(struct corpus_case *c, const char *path)
{
	unsigned int n = 0;
	char line[1024];
	size_t length;
	FILE *f;

	memset(c, 0, sizeof(*c));
	snprintf(c->path, sizeof(c->path), "%s", path);
	f = fopen(path, "r");
	if (!f)
		die(path, 0, "cannot be read");
	while (fgets(line, sizeof(line), f)) {
		n++;
		length = strcspn(line, "#\n");
		while (length && strchr(" \t", line[length - 1]))
			length--;
		line[length] = 0;
		if (length)
			read_line(c, line, n);
	}
	fclose(f);
}

static void expect_lines(const char *what, const struct lines *got, const struct lines *stored)
{
	unsigned int i;

	for (i = 0; i < got->n && i < stored->n; i++)
		if (!tap_expect(!strcmp(got->text[i], stored->text[i]),
				"%s %u is \"%s\" and not \"%s\"", what, i + 1, got->text[i],
				stored->text[i]))
			return;
	tap_expect(got->n == stored->n, "%u and not %u of %s", got->n, stored->n, what);
}

static void expect_bytes(const struct bytes *got, const struct bytes *stored)
{
	size_t i;

	for (i = 0; i < got->size && i < stored->size; i++)
		if (!tap_expect(got->data[i] == stored->data[i],
				"byte %zu is %02x and not %02x", i, got->data[i], stored->data[i]))
			return;
	tap_expect(got->size == stored->size, "%zu and not %zu bytes", got->size, stored->size);
}

static struct corpus_case c;
static struct bytes bytes;
static struct lines packets, flow;
static u8 sizes[MAX_LINES];

static bool has_perf;

/* perf.data has PAD behind the trace, to a whole word. */
static void test_perf_packets(void)
{
	static struct lines stored;
	unsigned int i;
	char text[LINE_SIZE];

	stored.n = 0;
	for (i = 0; i < c.packets.n; i++) {
		if (!strcmp(c.packets.text[i], "pad"))
			continue;
		corpus_perf_text(c.packets.text[i], text);
		line_add(&stored, "%s", text);
	}
	corpus_perf_packets(&c, &bytes, &packets);
	while (bytes.size > c.bytes.size && !bytes.data[bytes.size - 1])
		bytes.size--;
	expect_bytes(&bytes, &c.bytes);
	expect_lines("packet", &packets, &stored);
}

static bool is_address(const char *text)
{
	return strspn(text, "0123456789abcdef") == strlen(text);
}

/* perf prints instructions and what is lost, and no other events. */
static void test_perf_flow(void)
{
	static struct lines stored;
	unsigned int i;

	stored.n = 0;
	for (i = 0; i < c.flow.n; i++) {
		if (is_address(c.flow.text[i]))
			line_add(&stored, "%s", c.flow.text[i]);
		else if (!strncmp(c.flow.text[i], "overflow", strlen("overflow")))
			line_add(&stored, "overflow");
	}
	corpus_perf_flow(&c, &flow);
	expect_lines("instruction", &flow, c.perf_flow.n ? &c.perf_flow : &stored);
}

static void test_perf(const char *promise, void (*expect)(void))
{
	tap_begin("%s: %s", promise, c.path);
	if (!has_perf) {
		tap_skip("no perf here");
		return;
	}
	expect();
	tap_end();
}

static void test(const char *path)
{
	read_case(&c, path);
	tap_begin("trace_is_made_and_decoded_as_stored: %s", path);
	tap_expect(c.bytes.size && c.packets.n, "no bytes or packets are stored");
	if (c.events.n) {
		corpus_trace(&c, &bytes);
		expect_bytes(&bytes, &c.bytes);
	}
	corpus_packets(&c.bytes, &packets, sizes);
	expect_lines("packet", &packets, &c.packets);
	if (c.codes) {
		corpus_flow(&c, &c.bytes, &flow);
		expect_lines("line of flow", &flow, &c.flow);
	}
	tap_end();
	test_perf("perf_prints_packets_as_stored", test_perf_packets);
	if (c.codes)
		test_perf("perf_follows_flow_as_stored", test_perf_flow);
}

static void print(const char *path)
{
	unsigned int i, n;
	size_t at = 0;

	read_case(&c, path);
	bytes = c.bytes;
	if (c.events.n)
		corpus_trace(&c, &bytes);
	corpus_packets(&bytes, &packets, sizes);
	for (i = 0; i < packets.n; i++) {
		printf("bytes");
		for (n = 0; n < sizes[i] && at < bytes.size; n++)
			printf(" %02x", bytes.data[at++]);
		printf(" # %s\n", packets.text[i]);
	}
	for (i = 0; i < packets.n; i++)
		printf("packet %s\n", packets.text[i]);
	if (!c.codes)
		return;
	corpus_flow(&c, &bytes, &flow);
	for (i = 0; i < flow.n; i++)
		printf("flow %s\n", flow.text[i]);
}

static int is_case(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && !strcmp(end, ".trace");
}

/* Tests all cases of a directory, or, if @count, tells only how many results that gives. */
static unsigned int each(const char *top, const char *kind, bool count)
{
	struct dirent **entry;
	unsigned int results = 0;
	char path[1024];
	int i, n;

	snprintf(path, sizeof(path), "%s/corpus/%s", top, kind);
	n = scandir(path, &entry, is_case, alphasort);
	if (n < 0)
		tap_die("%s", path);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/corpus/%s/%s", top, kind, entry[i]->d_name);
		if (count)
			read_case(&c, path);
		else
			test(path);
		results += c.codes ? 3 : 2;
		free(entry[i]);
	}
	free(entry);
	return results;
}

int main(int argc, char **argv)
{
	const char *top = dirname(strdupa(argv[0]));
	unsigned int emulated, hardware;

	if (argc == 3 && !strcmp(argv[1], "-p")) {
		print(argv[2]);
		return EXIT_SUCCESS;
	}
	has_perf = perf_is_here();
	emulated = each(top, "emulated", true);
	hardware = each(top, "hardware", true);
	if (!emulated)
		tap_die("no cases in %s/corpus/emulated", top);
	tap_plan(emulated + (hardware ?: 1));
	each(top, "emulated", false);
	if (hardware) {
		each(top, "hardware", false);
	} else {
		tap_begin("traces_of_real_processors_are_decoded_as_stored");
		tap_skip("nobody has given one yet, see corpus/README.md");
	}
	return tap_exit();
}
