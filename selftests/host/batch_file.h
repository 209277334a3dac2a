/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the golden batches of golden-batches/: one file a scenario, with the
 * bytes of an event and the lines that it must give. What is done with them is
 * the tests' own.
 *
 *	text TIME SEQ LINE	of each record in its order, time in ns
 *	bytes			hex bytes follow to the end; # starts a comment
 */
#ifndef _BATCH_FILE_H
#define _BATCH_FILE_H

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../perf-plugins/batch.h"
#include "tap.h"

#define BATCH_TEXT_MAX	16384

struct batch_file {
	char name[256];
	char text[BATCH_TEXT_MAX];
	size_t size;
	__u8 bytes[KVM_TRACE_BATCH_MAX];
};

static inline void batch_file_bytes(struct batch_file *f, char *line)
{
	char *word, *end;

	for (word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n")) {
		if (strlen(word) != 2 || f->size == sizeof(f->bytes))
			tap_die("%s: \"%s\" is not a byte, or one too many", f->name, word);
		f->bytes[f->size++] = strtoul(word, &end, 16);
		if (*end)
			tap_die("%s: \"%s\" is not a byte", f->name, word);
	}
}

static inline void batch_file_read(struct batch_file *f, const char *dir, const char *name)
{
	char path[4500], line[2 * KVM_TRACE_TEXT_SIZE];
	bool bytes = false;
	FILE *file;

	memset(f, 0, sizeof(*f));
	snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	if (!file)
		tap_die("%s: cannot be opened", path);
	while (fgets(line, sizeof(line), file)) {
		if (bytes) {
			line[strcspn(line, "#")] = '\0';
			batch_file_bytes(f, line);
		} else if (!strncmp(line, "text ", 5)) {
			if (strlen(f->text) + strlen(line) > sizeof(f->text))
				tap_die("%s: more text than %zu bytes", path, sizeof(f->text));
			strcat(f->text, line + 5);
		} else if (!strcmp(line, "bytes\n")) {
			bytes = true;
		} else if (*line != '#') {
			tap_die("%s: not a line of a golden batch: %s", path, line);
		}
	}
	fclose(file);
	if (!f->size)
		tap_die("%s: no bytes", path);
}

/* Calls @fn with each golden batch; @argv0 tells where they are. */
static inline unsigned int batch_file_each(const char *argv0,
					   void (*fn)(const struct batch_file *f))
{
	char here[4096], dir[4200];
	struct dirent **entries;
	struct batch_file f;
	int i, n;

	snprintf(here, sizeof(here), "%s", argv0);
	snprintf(dir, sizeof(dir), "%s/golden-batches", dirname(here));
	n = scandir(dir, &entries, NULL, alphasort);
	if (n < 0)
		tap_die("%s: cannot be read", dir);
	for (i = 0; i < n; i++) {
		if (*entries[i]->d_name != '.') {
			batch_file_read(&f, dir, entries[i]->d_name);
			fn(&f);
		}
		free(entries[i]);
	}
	free(entries);
	return n < 2 ? 0 : n - 2;
}

/* The line of the record that the reader has just given, and its time. */
static inline size_t batch_line(const struct kvm_trace_batch_reader *r,
				enum kvm_trace_batch_item item, char *buf, size_t size)
{
	char text[KVM_TRACE_TEXT_SIZE] = "";
	__u32 seq = r->vmexit.seq;

	switch (item) {
	case KVM_TRACE_BATCH_IS_VMEXIT:
		kvm_trace_vmexit_text(&r->vmexit, 0, text, sizeof(text));
		break;
	case KVM_TRACE_BATCH_IS_HYPERCALL:
		kvm_trace_hypercall_text(&r->hypercall, 0, text, sizeof(text));
		seq = r->hypercall.seq;
		break;
	case KVM_TRACE_BATCH_IS_VCPU:
		kvm_trace_vcpu_text(&r->vcpu, text, sizeof(text));
		seq = r->vcpu.seq;
		break;
	default:
		break;
	}
	return snprintf(buf, size, "%llu %u %s\n", (unsigned long long)r->ns, seq, text);
}

#endif /* _BATCH_FILE_H */
