// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel modules, their parameters and the kernel log, through sysfs,
 * modprobe(8) and /dev/kmsg.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"
#include "tap.h"
#include "trace.h"

#define UNLOAD_TRIES	50	/* of 100 ms */

static struct {
	int fd;
	char *text;
	size_t bytes;
} klog;

/**
 * run() - a command of the shell
 * @fmt: command
 *
 * Return: its exit status, 128 and more if a signal ended it.
 */
int run(const char *fmt, ...)
{
	char command[1024];
	va_list ap;
	int status;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/**
 * need_kvm_trace() - load KVM and kvm_trace, and start from the defaults
 */
void need_kvm_trace(void)
{
	errno = 0;
	if (run("modprobe -q kvm_amd || modprobe -q kvm_intel"))
		tap_die("neither kvm_amd nor kvm_intel can be loaded");
	if (run("modprobe kvm_trace"))
		tap_die("kvm_trace cannot be loaded");
	words_set("default");
	if (parameter_set("min_host_ns", "0"))
		tap_die("parameter min_host_ns of kvm_trace");
}

/**
 * module_loaded() - whether a module is in the kernel
 * @name: with underscores
 */
bool module_loaded(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return !access(path, F_OK);
}

/**
 * expect_kvm_trace_goes() - unload it, and expect no complaint since klog_mark(); load it again
 *
 * What held it may be given back a little later: it has 5 s.
 */
void expect_kvm_trace_goes(void)
{
	unsigned int i;

	for (i = 0; i < UNLOAD_TRIES && run("modprobe -r kvm_trace 2>/dev/null"); i++)
		usleep(100000);
	tap_expect(i < UNLOAD_TRIES, "the module cannot be unloaded");
	tap_expect(!klog_has("WARNING") && !klog_has("BUG") && !klog_has("Objects remaining"),
		   "the kernel complains");
	need_kvm_trace();
}

/**
 * module_users() - its reference count
 * @name: with underscores
 */
int module_users(const char *name)
{
	char path[128], *text;
	int users;

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", name);
	text = file_read(path);
	if (!text)
		tap_die("%s", path);
	users = atoi(text);
	free(text);
	return users;
}

/**
 * parameter_set() - set a parameter of kvm_trace
 * @name: parameter
 * @value: text
 *
 * Return: 0 or a negative errno.
 */
int parameter_set(const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), KVM_TRACE_PARAMETERS "%s", name);
	return file_write(path, value);
}

/**
 * parameter_get() - a parameter of kvm_trace
 * @name: parameter
 *
 * Return: text without the line's end, for free().
 */
char *parameter_get(const char *name)
{
	char path[128], *text;

	snprintf(path, sizeof(path), KVM_TRACE_PARAMETERS "%s", name);
	text = file_read(path);
	if (!text)
		tap_die("%s", path);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/**
 * words_set() - choose the optional words of vmexit records
 * @words: as the parameter takes them
 */
void words_set(const char *words)
{
	errno = -parameter_set("words", words);
	if (errno)
		tap_die("parameter words of kvm_trace");
}

static void klog_read(void)
{
	char line[8192];
	ssize_t got;

	for (;;) {
		got = read(klog.fd, line, sizeof(line));
		if (got < 0 && errno == EPIPE)	/* lines were overwritten */
			continue;
		if (got <= 0)
			return;
		klog.text = realloc(klog.text, klog.bytes + got + 1);
		if (!klog.text)
			tap_die("memory");
		memcpy(klog.text + klog.bytes, line, got);
		klog.bytes += got;
		klog.text[klog.bytes] = '\0';
	}
}

/**
 * klog_mark() - the kernel log counts from here on
 */
void klog_mark(void)
{
	if (klog.fd <= 0)
		klog.fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (klog.fd < 0 || lseek(klog.fd, 0, SEEK_END) < 0)
		tap_die("/dev/kmsg");
	klog.bytes = 0;
}

/**
 * klog_has() - whether the kernel log since klog_mark() contains a text
 * @text: part of a line
 */
bool klog_has(const char *text)
{
	klog_read();
	return klog.bytes && strstr(klog.text, text);
}

/**
 * klog_line() - a line of the kernel log since klog_mark()
 * @text: part of it
 *
 * Return: the last such line without its prefix, for free(), or NULL.
 */
char *klog_line(const char *text)
{
	const char *found = NULL, *next, *start;

	for (next = klog_has(text) ? klog.text : NULL; next && (next = strstr(next, text)); next++)
		found = next;
	if (!found)
		return NULL;
	for (start = found; start > klog.text && start[-1] != '\n' && start[-1] != ';'; start--)
		;
	return strndup(start, strcspn(start, "\n"));
}
