// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of --pt: NAME sets, no-NAME clears, NAME:NUMBER gives a number. What
 * they mean is in core/pt_emu.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"

#define FLAG(name, member)	{ name, offsetof(struct pt_options, member), 0, 0, 0 }
#define FROM(name, member, min, max) \
	{ name, offsetof(struct pt_options, member), sizeof(((struct pt_options *)0)->member), \
	  min, max }
#define NUMBER(name, member, max)	FROM(name, member, 0, max)

static const struct word {
	const char *name;
	size_t offset;
	size_t size;	/* 0: a flag */
	unsigned long min;
	unsigned long max;
} words[] = {
	FLAG("cr3-filter", caps.cr3_filter),
	FLAG("psb-cyc", caps.psb_cyc),
	FLAG("mtc", caps.mtc),
	FLAG("ptwrite", caps.ptwrite),
	FLAG("topa", caps.topa),
	FLAG("topa-multi", caps.topa_multi),
	FLAG("single-range", caps.single_range),
	FLAG("lip", caps.lip),
	FLAG("vmx", caps.vmx),
	FLAG("gpa", caps.gpa),
	FLAG("ret-compression", caps.ret_compression),
	NUMBER("ranges", caps.ranges, PT_EMU_MAX_RANGES),
	NUMBER("maxphyaddr", caps.maxphyaddr, 52),
	NUMBER("core-bus-ratio", caps.core_bus_ratio, 255),
	FROM("crystal-ratio", caps.crystal_ratio, 1, 511),
	NUMBER("mtc-freqs", caps.mtc_freqs, 0xffff),
	NUMBER("psb-freqs", caps.psb_freqs, 0x3f),
	NUMBER("cyc-thresholds", caps.cyc_thresholds, 0xffff),
	FLAG("log", log),
	FLAG("raw", raw),
	FLAG("msrs", msrs),
};

/**
 * pt_options_default() - all that is emulated, and no files
 * @options: filled in
 */
void pt_options_default(struct pt_options *options)
{
	memset(options, 0, sizeof(*options));
	pt_emu_default_caps(&options->caps);
}

#define WORDS	(sizeof(words) / sizeof(*words))

static const struct word *find_word(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < WORDS; i++) {
		if (strlen(words[i].name) == length && !strncmp(words[i].name, name, length))
			return &words[i];
	}
	return NULL;
}

/* Tells of all words there are. */
static const char *no_such_word(void)
{
	static char text[512];
	size_t i, at;

	at = snprintf(text, sizeof(text), "there is no such word: there are");
	for (i = 0; i < WORDS; i++)
		at += snprintf(text + at, sizeof(text) - at, " %s%s", words[i].name,
			       words[i].size ? ":NUMBER" : "");
	snprintf(text + at, sizeof(text) - at, ", and those without a number with no- before them");
	return text;
}

static const char *set_number(struct pt_options *options, const struct word *word,
			      const char *text)
{
	unsigned char *at = (unsigned char *)options + word->offset;
	unsigned long value;
	char *end;

	value = strtoul(text, &end, 0);
	if (end == text || *end || *text == '-')
		return "that is not a number";
	if (value > word->max)
		return "that number is too large";
	if (value < word->min)
		return "that number is too small";
	if (word->size == 1)
		*(__u8 *)at = value;
	else
		*(__u16 *)at = value;
	return NULL;
}

/**
 * pt_options_parse() - take one word
 * @options: changed as the word says
 * @word: without commas
 *
 * Return: NULL, or what is wrong with the word.
 */
const char *pt_options_parse(struct pt_options *options, const char *word)
{
	const bool off = !strncmp(word, "no-", 3);
	const char *name = off ? word + 3 : word;
	const size_t length = strcspn(name, ":");
	const struct word *w = find_word(name, length);

	if (!w)
		return no_such_word();
	if (name[length]) {
		if (off || !w->size)
			return "it takes no number";
		return set_number(options, w, name + length + 1);
	}
	if (w->size)
		return "it needs a number, as in ranges:2";
	*((bool *)((char *)options + w->offset)) = !off;
	return NULL;
}
