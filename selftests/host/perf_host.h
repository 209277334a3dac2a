/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plays perf script for a dlfilter: loads it, hands it samples as perf does, and
 * keeps what it prints. What is in the samples is the tests' own.
 */
#ifndef _PERF_HOST_H
#define _PERF_HOST_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <perf/perf_dlfilter.h>
#include "tap.h"

#define PERF_ARGS_MAX	8

struct perf_host {
	void *filter;
	void *data;
	int (*start)(void **data, void *ctx);
	int (*stop)(void *data, void *ctx);
	int (*early)(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
	int (*event)(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
	const char *(*description)(const char **long_description);
	__u8 cpumode;		/* of the next samples */
	char *args[PERF_ARGS_MAX];
	char words[512];	/* where they are */
	int nr_args;
	int saved[2];		/* stdout and stderr, while the filter's are kept */
	FILE *kept[2];
	char *out;		/* what it printed to each, after perf_end() */
	char *err;
};

static inline char **perf_host_args(void *ctx, int *argc)
{
	struct perf_host *p = ctx;

	*argc = p->nr_args;
	return p->args;
}

static inline void *perf_host_symbol(struct perf_host *p, const char *name)
{
	void *symbol = dlsym(p->filter, name);

	if (!symbol)
		tap_die("the filter has no %s: %s", name, dlerror());
	return symbol;
}

static inline void perf_load(struct perf_host *p, const char *path)
{
	struct perf_dlfilter_fns *fns;

	memset(p, 0, sizeof(*p));
	p->cpumode = PERF_RECORD_MISC_KERNEL;
	p->filter = dlopen(path, RTLD_NOW);
	if (!p->filter)
		tap_die("%s: build it with make -C selftests/host", dlerror());
	p->start = perf_host_symbol(p, "start");
	p->stop = perf_host_symbol(p, "stop");
	p->early = perf_host_symbol(p, "filter_event_early");
	p->event = perf_host_symbol(p, "filter_event");
	p->description = perf_host_symbol(p, "filter_description");
	fns = perf_host_symbol(p, "perf_dlfilter_fns");
	fns->args = perf_host_args;
}

static inline void perf_keep(struct perf_host *p, int fd)
{
	p->kept[fd - 1] = tmpfile();
	p->saved[fd - 1] = dup(fd);
	if (!p->kept[fd - 1] || p->saved[fd - 1] < 0 || dup2(fileno(p->kept[fd - 1]), fd) < 0)
		tap_die("output of the filter cannot be kept");
}

static inline char *perf_kept(struct perf_host *p, int fd)
{
	FILE *file = p->kept[fd - 1];
	char *text;
	long size;

	dup2(p->saved[fd - 1], fd);
	close(p->saved[fd - 1]);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = calloc(1, size + 1);
	if (!text || fread(text, 1, size, file) != (size_t)size)
		tap_die("output of the filter cannot be read");
	fclose(file);
	return text;
}

/* Each word of @arg is one of --dlarg. */
static inline void perf_host_add_args(struct perf_host *p, const char *arg)
{
	size_t used = p->nr_args ? p->args[p->nr_args - 1] - p->words : 0;
	char *word, *state;

	used += p->nr_args ? strlen(p->args[p->nr_args - 1]) + 1 : 0;
	snprintf(p->words + used, sizeof(p->words) - used, "%s", arg);
	word = strtok_r(p->words + used, " ", &state);
	for (; word && p->nr_args < PERF_ARGS_MAX; word = strtok_r(NULL, " ", &state))
		p->args[p->nr_args++] = word;
}

/* Begins perf script --dlfilter with --dlarg @arg and @arg2, as far as not NULL. */
static inline int perf_begin(struct perf_host *p, const char *arg, const char *arg2)
{
	free(p->out);
	free(p->err);
	p->out = NULL;
	p->err = NULL;
	p->nr_args = 0;
	if (arg)
		perf_host_add_args(p, arg);
	if (arg2)
		perf_host_add_args(p, arg2);
	fflush(stdout);
	fflush(stderr);
	perf_keep(p, STDOUT_FILENO);
	perf_keep(p, STDERR_FILENO);
	return p->start(&p->data, p);
}

static inline int perf_sample(struct perf_host *p, const char *event, __u64 time,
			      const void *raw, size_t size)
{
	const struct perf_dlfilter_sample sample = {
		.size = sizeof(sample),
		.time = time,
		.event = event,
		.raw_data = raw,
		.raw_size = size,
		.cpumode = p->cpumode,
	};
	int status = p->early(p->data, &sample, p);

	/* perf leaves out samples of guests, if it is not told of the guests. */
	if (status || p->cpumode == PERF_RECORD_MISC_GUEST_KERNEL)
		return status;
	return p->event(p->data, &sample, p);
}

static inline int perf_end(struct perf_host *p)
{
	int status = p->stop(p->data, p);

	fflush(stdout);
	fflush(stderr);
	p->out = perf_kept(p, STDOUT_FILENO);
	p->err = perf_kept(p, STDERR_FILENO);
	return status;
}

static inline void perf_unload(struct perf_host *p)
{
	free(p->out);
	free(p->err);
	dlclose(p->filter);
}

#endif /* _PERF_HOST_H */
