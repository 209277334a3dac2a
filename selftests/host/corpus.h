/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives a fuzzer's target the inputs of its corpus once, as a test. What the target
 * does with them is its own.
 */
#ifndef _CORPUS_H
#define _CORPUS_H

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/types.h>
#include "tap.h"

#define CORPUS_INPUT_MAX	65536

/* Something that must not happen, whatever the input is. */
static inline void corpus_require(bool ok)
{
	if (!ok)
		abort();
}

static inline void corpus_file(const char *path, int (*target)(const __u8 *data, size_t size))
{
	FILE *file = fopen(path, "r");
	__u8 *data;
	size_t size;

	data = malloc(CORPUS_INPUT_MAX);
	if (!file || !data)
		tap_die("%s: cannot be read", path);
	size = fread(data, 1, CORPUS_INPUT_MAX, file);
	fclose(file);
	target(data, size);
	free(data);
}

/* All of the directory @name beside @argv0; the test's exit status. */
static inline int corpus_test(const char *argv0, const char *name,
			      int (*target)(const __u8 *data, size_t size))
{
	char here[4096], dir[4200], path[4500];
	struct dirent *entry;
	unsigned int n = 0;
	DIR *corpus;

	snprintf(here, sizeof(here), "%s", argv0);
	snprintf(dir, sizeof(dir), "%s/%s", dirname(here), name);
	corpus = opendir(dir);
	if (!corpus)
		tap_die("%s: cannot be read", dir);
	tap_plan(1);
	tap_begin("inputs_that_the_fuzzer_found_are_read_without_harm");
	while ((entry = readdir(corpus))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		corpus_file(path, target);
		n++;
	}
	closedir(corpus);
	tap_note("%u inputs", n);
	tap_expect(n, "no inputs");
	tap_end();
	return tap_exit();
}

#endif /* _CORPUS_H */
