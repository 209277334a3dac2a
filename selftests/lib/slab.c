// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that the kernel has allocated from its kmalloc caches and from the
 * module's own. Other users of kmalloc make noise, and the module keeps a pool:
 * a test repeats what it does so often that a leak of one object each time is
 * more.
 */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "slab.h"
#include "tap.h"
#include "trace.h"

#define LOOKS	20
#define TIMES	8

/*
 * The slabs that a CPU keeps for itself count as allocated, free objects and all:
 * five of them look like a leak of 210 objects of 96 bytes, one like 511 of 8 bytes.
 * sysfs takes an object for what is written: a long one, of which a slab has few.
 */
static void shrink_caches(void)
{
	static const char files[] = "/sys/kernel/slab/{kmalloc-,kvm_trace_}*/shrink";
	static char one[4000];
	glob_t found;
	size_t i;

	memset(one, '\n', sizeof(one) - 1);
	one[0] = '1';
	if (glob(files, GLOB_BRACE, NULL, &found))
		tap_die("%s: none", files);
	for (i = 0; i < found.gl_pathc; i++) {
		if (file_write(found.gl_pathv[i], one))
			tap_die("%s", found.gl_pathv[i]);
	}
	globfree(&found);
}

static void look_once(struct slab_count *count)
{
	char line[512], name[32];
	FILE *file;
	long objects;

	shrink_caches();
	file = fopen("/proc/slabinfo", "re");
	if (!file)
		tap_die("/proc/slabinfo");
	count->nr = 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31s %ld", name, &objects) != 2 ||
		    (strncmp(name, "kmalloc-", 8) && strncmp(name, "kvm_trace_", 10)) ||
		    strstr(name, "rcl") || count->nr == SLAB_CACHES)
			continue;
		strcpy(count->caches[count->nr].name, name);
		count->caches[count->nr++].objects = objects;
	}
	fclose(file);
	if (!count->nr)
		tap_die("/proc/slabinfo has no kmalloc caches");
}

/* Objects of a cache, 0 if there is none: it comes and goes with the module. */
static long objects_of(const struct slab_count *count, const char *name)
{
	unsigned int i;

	for (i = 0; i < count->nr; i++) {
		if (!strcmp(count->caches[i].name, name))
			return count->caches[i].objects;
	}
	return 0;
}

/* A CPU may take a slab between: the fewest objects of several times. */
static void look(struct slab_count *count)
{
	struct slab_count again;
	unsigned int i, times;
	long objects;

	look_once(count);
	for (times = 1; times < TIMES; times++) {
		look_once(&again);
		for (i = 0; i < count->nr; i++) {
			objects = objects_of(&again, count->caches[i].name);
			if (objects < count->caches[i].objects)
				count->caches[i].objects = objects;
		}
	}
}

/**
 * slab_count() - objects in each of the caches, after what is freed late is
 * @count: filled in
 *
 * RCU and KVM's workers free with a delay, on a busy machine of seconds.
 */
void slab_count(struct slab_count *count)
{
	struct slab_count before;
	unsigned int i, looks = 0;
	bool shrinks;

	look(count);
	do {
		before = *count;
		sleep(1);
		look(count);
		shrinks = false;
		for (i = 0; i < count->nr; i++)
			shrinks |= count->caches[i].objects <
				   objects_of(&before, count->caches[i].name);
	} while (shrinks && ++looks < LOOKS);
}

static long grown(const struct slab_count *before, const struct slab_count *after, unsigned int i)
{
	return after->caches[i].objects - objects_of(before, after->caches[i].name);
}

static long most_grown(const struct slab_count *before, const struct slab_count *after)
{
	unsigned int i;
	long most = 0;

	for (i = 0; i < after->nr; i++) {
		if (grown(before, after, i) > most)
			most = grown(before, after, i);
	}
	return most;
}

/**
 * slab_count_after() - as slab_count(), but what is freed late has more time
 * @count: filled in
 * @before: from slab_count()
 * @limit: as of slab_expect()
 *
 * What has leaked never goes; the rest has a minute.
 */
void slab_count_after(struct slab_count *count, const struct slab_count *before, long limit)
{
	unsigned int looks;

	slab_count(count);
	for (looks = 0; most_grown(before, count) >= limit && looks < 3 * LOOKS; looks++) {
		sleep(1);
		look(count);
	}
}

/**
 * slab_expect() - expect that no cache grew by a leak's worth
 * @before: from slab_count()
 * @after: from slab_count_after()
 * @limit: objects; less than a leak of one for each time
 * @what: what was done so often
 */
void slab_expect(const struct slab_count *before, const struct slab_count *after, long limit,
		 const char *what)
{
	unsigned int i;

	for (i = 0; i < after->nr; i++)
		tap_expect(grown(before, after, i) < limit, "%s grew by %ld objects over %s",
			   after->caches[i].name, grown(before, after, i), what);
	tap_note("%s: no cache grew by more than %ld objects", what, most_grown(before, after));
}
