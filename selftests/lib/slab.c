// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that the kernel has allocated from its kmalloc caches and from the
 * module's own. Other users of kmalloc make noise, and the module keeps a pool:
 * a test repeats what it does so often that a leak of one object each time is
 * more.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "slab.h"
#include "tap.h"

/**
 * slab_count() - objects in each of the caches, after what is freed late is
 * @count: filled in
 */
void slab_count(struct slab_count *count)
{
	char line[512], name[32];
	FILE *file;
	long objects;

	/* RCU and KVM's workers free with a delay. */
	sleep(1);
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

/**
 * slab_expect() - expect that no cache grew by a leak's worth
 * @before: from slab_count()
 * @after: from slab_count()
 * @limit: objects; less than a leak of one for each time
 * @what: what was done so often
 */
void slab_expect(const struct slab_count *before, const struct slab_count *after, long limit,
		 const char *what)
{
	unsigned int i;
	long grown, most = 0;

	for (i = 0; i < after->nr; i++) {
		grown = after->caches[i].objects -
			objects_of(before, after->caches[i].name);
		if (grown > most)
			most = grown;
		tap_expect(grown < limit, "%s grew by %ld objects over %s",
			   after->caches[i].name, grown, what);
	}
	tap_note("%s: no cache grew by more than %ld objects", what, most);
}
