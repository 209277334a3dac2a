/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns the lines of golden batches into those of tools, which name the event, show
 * the entry as the line's time, and know the pid. The files are read in
 * batch_file.h.
 */
#ifndef _BATCH_LINES_H
#define _BATCH_LINES_H

#include "batch_file.h"

/* A line of a golden batch, taken apart. */
struct batch_line {
	unsigned long long ns;	/* at the entry, as the record tells it if it does */
	unsigned int seq;
	const char *event;
	char text[KVM_TRACE_TEXT_SIZE];
};

/* Takes what tells the entry out of @text, and sets @ns to it. */
static inline void batch_line_take_entry(char *text, unsigned long long *ns)
{
	char *entry = strstr(text, " entry ");
	unsigned long long s, fraction;
	int len;

	if (!entry || sscanf(entry, " entry %llu.%llu%n", &s, &fraction, &len) != 2)
		return;
	*ns = s * 1000000000 + fraction;
	memmove(entry, entry + len, strlen(entry + len) + 1);
}

/* Of the three, only the line of a vcpu record has a pid, which it brings itself. */
static inline const char *batch_line_event(const char *text)
{
	unsigned int vm, vcpu;
	int at;

	if (sscanf(text, "vm %u vcpu %u %n", &vm, &vcpu, &at) != 2)
		return "vcpu";
	if (!strncmp(text + at, "hypercall ", strlen("hypercall ")))
		return "hypercall";
	return "vmexit";
}

/* @keep_entry: the text still has it */
static inline void batch_line_parse(const char *line, bool keep_entry, struct batch_line *l)
{
	char copy[KVM_TRACE_TEXT_SIZE];
	int at;

	if (sscanf(line, "%llu %u %n", &l->ns, &l->seq, &at) != 2)
		tap_die("not a line of a golden batch: %s", line);
	snprintf(l->text, sizeof(l->text), "%.*s", (int)strcspn(line + at, "\n"), line + at);
	l->event = batch_line_event(l->text);
	strcpy(copy, l->text);
	batch_line_take_entry(keep_entry ? copy : l->text, &l->ns);
}

/* Golden batches are read by themselves, and a pid is known from vcpu records only. */
static inline void batch_line_drop_pids(char *text)
{
	char *from = text, *to = text;
	size_t digits;

	while (*from) {
		digits = from[0] == ' ' && from[1] == '(' ? strspn(from + 2, "0123456789") : 0;
		if (digits && from[2 + digits] == ')')
			from += 3 + digits;
		else
			*to++ = *from++;
	}
	*to = '\0';
}

#endif /* _BATCH_LINES_H */
