/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the golden records of golden/: one file a scenario, with the bytes of
 * a record and the line that it must give. What is done with them is the
 * tests' own.
 *
 *	event NAME	vmexit, hypercall, hypercall_sub, vcpu or lost
 *	pid NUMBER	the VMM's, where the line shows it; not for vcpu
 *	text LINE
 *	bytes		hex bytes follow to the end; # starts a comment
 */
#ifndef _DECODE_GOLDEN_H
#define _DECODE_GOLDEN_H

#include <dirent.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../perf-plugins/decode.h"

struct golden {
	char name[256];
	char event[16];
	char text[KVM_TRACE_TEXT_SIZE];
	__u32 pid;
	size_t size;
	__u8 bytes[512];
};

static inline void golden_die(const char *path, unsigned int line, const char *why)
{
	printf("Bail out! %s:%u: %s\n", path, line, why);
	exit(1);
}

static inline void golden_bytes(struct golden *g, char *line, const char *path, unsigned int n)
{
	char *word, *end;

	for (word = strtok(line, " \t"); word; word = strtok(NULL, " \t")) {
		if (strlen(word) != 2 || g->size == sizeof(g->bytes))
			golden_die(path, n, "not a byte, or too many");
		g->bytes[g->size++] = strtoul(word, &end, 16);
		if (*end)
			golden_die(path, n, "not a byte");
	}
}

static inline void golden_read(struct golden *g, const char *dir, const char *name)
{
	char path[4096], line[2 * KVM_TRACE_TEXT_SIZE];
	unsigned int n = 0;
	bool bytes = false;
	FILE *f;

	memset(g, 0, sizeof(*g));
	snprintf(g->name, sizeof(g->name), "%s", name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f)
		golden_die(path, 0, "cannot be read");
	while (fgets(line, sizeof(line), f)) {
		n++;
		line[strcspn(line, "\n")] = 0;
		if (bytes)
			line[strcspn(line, "#")] = 0;
		if (!*line || *line == '#')
			continue;
		if (bytes)
			golden_bytes(g, line, path, n);
		else if (!strcmp(line, "bytes"))
			bytes = true;
		else if (!strncmp(line, "text ", 5))
			strcpy(g->text, line + 5);
		else if (sscanf(line, "pid %u", &g->pid) != 1 &&
			 sscanf(line, "event %15s", g->event) != 1)
			golden_die(path, n, "not a line of a golden record");
	}
	fclose(f);
	if (!g->size || !*g->text || !*g->event)
		golden_die(path, n, "event, text or bytes are missing");
}

static inline int golden_is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/*
 * Calls test, if there is one, with every golden record, by name; in golden/
 * beside the program. Returns how many there are.
 */
static inline unsigned int golden_each(char *program, void (*test)(const struct golden *g))
{
	static struct golden g;
	struct dirent **entry;
	char dir[2048];
	int i, n;

	snprintf(dir, sizeof(dir), "%s", program);
	snprintf(dir, sizeof(dir), "%s/golden", dirname(strdupa(dir)));
	n = scandir(dir, &entry, golden_is_file, alphasort);
	if (n <= 0)
		golden_die(dir, 0, "no golden records");
	for (i = 0; i < n; i++) {
		if (test) {
			golden_read(&g, dir, entry[i]->d_name);
			test(&g);
		}
		free(entry[i]);
	}
	free(entry);
	return n;
}

/*
 * The line of a raw record; false if it is too short to be one. The bytes are
 * not changed or kept.
 */
static inline bool golden_decode(const char *event, const void *bytes, size_t size, __u32 pid,
				 char *text, size_t room)
{
	union {
		struct kvm_trace_vmexit vmexit;
		struct kvm_trace_hypercall hypercall;
		struct kvm_trace_hypercall_sub hypercall_sub;
		struct kvm_trace_vcpu vcpu;
		struct kvm_trace_lost lost;
	} r;

	if (!strcmp(event, "vmexit")) {
		if (!kvm_trace_vmexit_record(&r.vmexit, bytes, size))
			return false;
		kvm_trace_vmexit_text(&r.vmexit, pid, text, room);
	} else if (!strcmp(event, "hypercall")) {
		if (!kvm_trace_hypercall_record(&r.hypercall, bytes, size))
			return false;
		kvm_trace_hypercall_text(&r.hypercall, pid, text, room);
	} else if (!strcmp(event, "hypercall_sub")) {
		if (!kvm_trace_hypercall_sub_record(&r.hypercall_sub, bytes, size))
			return false;
		kvm_trace_hypercall_sub_text(&r.hypercall_sub, pid, text, room);
	} else if (!strcmp(event, "vcpu")) {
		if (!kvm_trace_vcpu_record(&r.vcpu, bytes, size))
			return false;
		kvm_trace_vcpu_text(&r.vcpu, text, room);
	} else if (!strcmp(event, "lost")) {
		if (!kvm_trace_lost_record(&r.lost, bytes, size))
			return false;
		kvm_trace_lost_text(&r.lost, pid, text, room);
	} else {
		golden_die(event, 0, "no such event");
	}
	return true;
}

#endif /* _DECODE_GOLDEN_H */
