// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of functions in guests. See symbols.h.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbols.h"

#define FIRST_SLOTS	256	/* a power of two */

struct kvm_trace_symbol {
	__u64 address;
	const char *name;
};

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t size = 0, room = 1 << 20, n = 1;
	char *text = malloc(room), *more;

	while (file && text && n) {
		if (room - size < 2) {
			room *= 2;
			more = realloc(text, room);
			if (!more)
				break;
			text = more;
		}
		n = fread(text + size, 1, room - size - 1, file);
		size += n;
	}
	if (!file || !text || n || ferror(file)) {
		free(text);
		text = NULL;
	} else {
		text[size] = '\0';
	}
	if (file)
		fclose(file);
	return text;
}

static int by_address(const void *a, const void *b)
{
	const struct kvm_trace_symbol *one = a, *two = b;

	return one->address < two->address ? -1 : one->address > two->address;
}

/* "ADDRESS TYPE NAME"; a module's have its name behind that. */
static bool add_symbol(struct kvm_trace_symbols *symbols, char *line)
{
	struct kvm_trace_symbol *more;
	char *end, *name;
	__u64 address = strtoull(line, &end, 16);

	if (end == line || *end != ' ' || !end[1] || end[2] != ' ')
		return true;
	if (!strchr("tTwW", end[1]) || !address)
		return true;
	name = end + 3;
	name[strcspn(name, " \t")] = '\0';
	if (!(symbols->n & (symbols->n - 1))) {
		more = realloc(symbols->list, (2 * symbols->n + 1) * sizeof(*more));
		if (!more)
			return false;
		symbols->list = more;
	}
	symbols->list[symbols->n++] = (struct kvm_trace_symbol){ address, name };
	return true;
}

const char *kvm_trace_symbols_read(struct kvm_trace_symbols *symbols, const char *path)
{
	char *line, *next;

	symbols->text = read_all(path);
	if (!symbols->text)
		return "it cannot be read: give a copy of the guest's /proc/kallsyms";
	for (line = symbols->text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (!add_symbol(symbols, line))
			return "no memory: end other programs";
	}
	if (!symbols->n)
		return "no functions in it: copy the guest's /proc/kallsyms as root";
	qsort(symbols->list, symbols->n, sizeof(*symbols->list), by_address);
	return NULL;
}

struct kvm_trace_place kvm_trace_symbols_name(const struct kvm_trace_symbols *symbols,
					      struct kvm_trace_place place)
{
	size_t low = 0, high = symbols->n, middle;

	if (place.name)
		return place;
	while (low < high) {
		middle = (low + high) / 2;
		if (symbols->list[middle].address <= place.ip)
			low = middle + 1;
		else
			high = middle;
	}
	if (low) {
		place.name = symbols->list[low - 1].name;
		place.offset = place.ip - symbols->list[low - 1].address;
	}
	return place;
}

static char **slot_of(char **kept, size_t slots, const char *name)
{
	__u64 hash = 0;
	const char *at;
	size_t i;

	for (at = name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x9e3779b97f4a7c15ull;
	i = hash >> 32 & (slots - 1);
	while (kept[i] && strcmp(kept[i], name))
		i = (i + 1) & (slots - 1);
	return &kept[i];
}

static bool grow(struct kvm_trace_symbols *symbols)
{
	size_t i, slots = symbols->slots ? 2 * symbols->slots : FIRST_SLOTS;
	char **kept;

	if (symbols->used < symbols->slots / 2)
		return true;
	kept = calloc(slots, sizeof(*kept));
	if (!kept)
		return false;
	for (i = 0; i < symbols->slots; i++)
		if (symbols->kept[i])
			*slot_of(kept, slots, symbols->kept[i]) = symbols->kept[i];
	free(symbols->kept);
	symbols->kept = kept;
	symbols->slots = slots;
	return true;
}

const char *kvm_trace_symbols_keep(struct kvm_trace_symbols *symbols, const char *name)
{
	char **slot;

	if (!grow(symbols))
		return NULL;
	slot = slot_of(symbols->kept, symbols->slots, name);
	if (!*slot) {
		*slot = strdup(name);
		symbols->used += !!*slot;
	}
	return *slot;
}

void kvm_trace_symbols_free(struct kvm_trace_symbols *symbols)
{
	size_t i;

	for (i = 0; i < symbols->slots; i++)
		free(symbols->kept[i]);
	free(symbols->kept);
	free(symbols->list);
	free(symbols->text);
	*symbols = (struct kvm_trace_symbols){};
}
