// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the words of --dlarg, and refuses what they do not mean.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "array_size.h"
#include "keys.h"
#include "options.h"

/* X(bit, word, name): the words, with '=' if a value follows. */
#define WORDS(X)		\
	X(0, REPORT, "report")	\
	X(1, TIMELINE, "timeline")	\
	X(2, BY, "by=")		\
	X(3, SORT, "sort=")	\
	X(4, ROWS, "rows=")	\
	X(5, JSON, "json")	\
	X(6, EVERY, "every=")	\
	X(7, VM, "vm=")		\
	X(8, PID, "pid=")	\
	X(9, NAMES, "names=")	\
	X(10, SINGLE, "single")	\
	X(11, BATCH, "batch")	\
	X(12, FLOW, "flow=")	\
	X(13, KALLSYMS, "kallsyms=")	\
	X(14, PROGRESS, "progress=")	\
	X(15, ITRACE, "itrace")

/* As bits, to see what was given twice, or without what it belongs to. */
#define WORD_ENUM(bit, word, name)	WORD_##word = 1 << (bit),
enum word {
	WORDS(WORD_ENUM)
};

#define OF_REPORTS	(WORD_BY | WORD_SORT | WORD_ROWS | WORD_JSON | WORD_EVERY)

#define WORD_NAME(bit, word, name)	{ name, WORD_##word },
static const struct {
	const char *name;
	enum word word;
} words[] = { WORDS(WORD_NAME) };

/* Lists of what there is, for messages. */
#define LIST_WORD(bit, word, name)	" " name
#define LIST_KEY(key, width)		" " #key
#define LIST_COLUMN(column)		" " #column

#define COLUMN_NAME(column)	[KVM_TRACE_COLUMN_##column] = #column,
static const char * const columns[] = { KVM_TRACE_COLUMNS(COLUMN_NAME) };

/* The number that ends at @end, or at a comma if @more; false if it is none. */
static bool take_number(const char **at, bool more, __u32 *number)
{
	unsigned long value;
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	value = strtoul(*at, &end, 10);
	if (errno || !value || value > 0xffffffff)
		return false;
	if (*end && (!more || *end != ',' || !end[1]))
		return false;
	*at = *end ? end + 1 : end;
	*number = value;
	return true;
}

static const char *take_chosen(struct kvm_trace_chosen *chosen, const char *value)
{
	do {
		if (chosen->n == KVM_TRACE_CHOSEN_MAX)
			return "choose fewer";
		if (!take_number(&value, true, &chosen->numbers[chosen->n++]))
			return "give numbers from 1 on, with commas between them";
	} while (*value);
	return NULL;
}

static const char *take_keys(unsigned int *by, const char *value)
{
	enum kvm_trace_key_kind kind;
	size_t len;

	*by = 0;
	for (;; value += len + 1) {
		len = strcspn(value, ",");
		kind = kvm_trace_key_find(value, len);
		if (kind == KVM_TRACE_KEY_COUNT)
			return "give some, with commas between them, of" KVM_TRACE_KEYS(LIST_KEY);
		*by |= 1u << kind;
		if (!value[len])
			return NULL;
	}
}

static const char *take_column(enum kvm_trace_column *sort, const char *value)
{
	enum kvm_trace_column column;

	for (column = KVM_TRACE_COLUMN_NONE + 1; column < ARRAY_SIZE(columns); column++) {
		if (strcmp(columns[column], value))
			continue;
		*sort = column;
		return NULL;
	}
	return "give one of" KVM_TRACE_COLUMNS(LIST_COLUMN);
}

static const char *take_flow(struct kvm_trace_options *options, const char *value)
{
	options->what = KVM_TRACE_FLOW;
	if (!strcmp(value, "functions"))
		options->flow = KVM_TRACE_FLOW_FUNCTIONS;
	else if (!strcmp(value, "instructions"))
		options->flow = KVM_TRACE_FLOW_INSTRUCTIONS;
	else
		return "give functions or instructions";
	return NULL;
}

static const char *take_word(struct kvm_trace_options *options, enum word word, const char *value)
{
	switch (word) {
	case WORD_REPORT:
		options->what = KVM_TRACE_REPORT;
		return NULL;
	case WORD_TIMELINE:
		options->what = KVM_TRACE_TIMELINE;
		return NULL;
	case WORD_SINGLE:
		options->only_single = true;
		return NULL;
	case WORD_BATCH:
		options->only_batch = true;
		return NULL;
	case WORD_JSON:
		options->json = true;
		return NULL;
	case WORD_BY:
		return take_keys(&options->by, value);
	case WORD_SORT:
		return take_column(&options->sort, value);
	case WORD_EVERY:
		return take_number(&value, false, &options->every) ? NULL :
								     "give seconds, 1 or more";
	case WORD_ROWS:
		return take_number(&value, false, &options->rows) ? NULL :
								    "give a number, 1 or more";
	case WORD_VM:
		return take_chosen(&options->vms, value);
	case WORD_PID:
		return take_chosen(&options->pids, value);
	case WORD_NAMES:
		options->names = value;
		return *value ? NULL : "give a file of lines PID NAME";
	case WORD_FLOW:
		return take_flow(options, value);
	case WORD_KALLSYMS:
		options->kallsyms = value;
		return *value ? NULL : "give a copy of a guest's /proc/kallsyms";
	case WORD_ITRACE:
		options->itrace = true;
		return NULL;
	case WORD_PROGRESS:
		options->progress = value;
		return *value ? NULL : "give a terminal";
	}
	return NULL;
}

/* 0 if it is none. */
static enum word find_word(const char *arg, const char **value)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		len = strlen(words[i].name);
		if (strncmp(arg, words[i].name, len) || (words[i].name[len - 1] != '=' && arg[len]))
			continue;
		*value = arg + len;
		return words[i].word;
	}
	return 0;
}

const char *kvm_trace_options_parse(struct kvm_trace_options *options, int argc, char **argv,
				    char *what, size_t size)
{
	const char *value, *remedy;
	unsigned int given = 0;
	enum word word;

	*options = (struct kvm_trace_options){ .by = KVM_TRACE_KEYS_DEFAULT };
	for (; argc > 0; argc--, argv++) {
		snprintf(what, size, "--dlarg %.80s", *argv);
		word = find_word(*argv, &value);
		if (!word)
			return "give some of" WORDS(LIST_WORD);
		if (given & word)
			return "give it once";
		given |= word;
		remedy = take_word(options, word, value);
		if (remedy)
			return remedy;
	}
	snprintf(what, size, "single and batch leave nothing");
	if (options->only_single && options->only_batch)
		return "give one of them, or none";
	snprintf(what, size, "report, timeline and flow= are different outputs");
	if (__builtin_popcount(given & (WORD_REPORT | WORD_TIMELINE | WORD_FLOW)) > 1)
		return "give one of them, or none";
	snprintf(what, size, "itrace is about timelines");
	if (given & WORD_ITRACE && !(given & WORD_TIMELINE))
		return "give timeline, too";
	snprintf(what, size, "flow= and itrace have no place for round trips of batches");
	if (given & (WORD_FLOW | WORD_ITRACE) && given & WORD_BATCH)
		return "leave out batch";
	snprintf(what, size, "kallsyms= is about flows and itrace");
	if (given & WORD_KALLSYMS && !(given & (WORD_FLOW | WORD_ITRACE)))
		return "give flow= or itrace, too";
	snprintf(what, size, "by=, sort=, json, every= and rows= are about reports");
	if (given & OF_REPORTS && !(given & WORD_REPORT))
		return "give report, too";
	return NULL;
}

static bool is_chosen(const struct kvm_trace_chosen *chosen, __u32 number)
{
	size_t i;

	for (i = 0; i < chosen->n; i++)
		if (chosen->numbers[i] == number)
			return true;
	return false;
}

bool kvm_trace_options_want(const struct kvm_trace_options *options, __u32 vm, __u32 pid)
{
	if (!options->vms.n && !options->pids.n)
		return true;
	return is_chosen(&options->vms, vm) || is_chosen(&options->pids, pid);
}
