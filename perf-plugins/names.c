// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads names of VMs from a file, and finds them by process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "names.h"

struct kvm_trace_name {
	__u32 pid;
	char name[KVM_TRACE_NAME_SIZE];
};

static int by_pid(const void *a, const void *b)
{
	const struct kvm_trace_name *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The number, one blank or more, and what is behind them. */
static bool read_line(struct kvm_trace_name *name, const char *line)
{
	unsigned long pid;
	char *end;

	pid = strtoul(line, &end, 10);
	if (*line < '0' || *line > '9' || !pid || pid > 0xffffffff || *end != ' ')
		return false;
	end += strspn(end, " ");
	if (!*end)
		return false;
	name->pid = pid;
	snprintf(name->name, sizeof(name->name), "%s", end);
	return true;
}

static const char *read_lines(struct kvm_trace_names *names, FILE *file)
{
	char line[256];
	size_t room = 0;
	void *list;

	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line)
			continue;
		if (names->n == KVM_TRACE_NAMES_MAX)
			return "there are more than 65536 lines: give fewer";
		if (names->n == room) {
			room = room ? 2 * room : 64;
			list = realloc(names->list, room * sizeof(*names->list));
			if (!list)
				return "no memory: end other programs";
			names->list = list;
		}
		if (!read_line(&names->list[names->n], line))
			return "not all lines are PID NAME: make them so";
		names->n++;
	}
	return ferror(file) ? "it cannot be read: give a file" : NULL;
}

const char *kvm_trace_names_read(struct kvm_trace_names *names, const char *path)
{
	FILE *file = fopen(path, "r");
	const char *wrong;

	if (!file)
		return "it cannot be opened: give a file of lines PID NAME";
	wrong = read_lines(names, file);
	fclose(file);
	if (wrong)
		kvm_trace_names_free(names);
	else if (names->n)
		qsort(names->list, names->n, sizeof(*names->list), by_pid);
	return wrong;
}

const char *kvm_trace_names_of(const struct kvm_trace_names *names, __u32 pid)
{
	const struct kvm_trace_name key = { .pid = pid }, *found = NULL;

	if (names->n)
		found = bsearch(&key, names->list, names->n, sizeof(*names->list), by_pid);
	return found ? found->name : NULL;
}

void kvm_trace_names_free(struct kvm_trace_names *names)
{
	free(names->list);
	*names = (struct kvm_trace_names){};
}
