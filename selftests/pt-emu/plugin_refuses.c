// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the plugin for QEMU says where it cannot work, in one line, before it makes
 * anything. This program is the QEMU: one that has nothing of the plugin API.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "qemu/api.h"
#include "tap.h"
#include "types.h"

#define PLUGIN		"qemu/pt.so"
#define TEXT		1024
#define WORDS		3

__thread void *current_cpu;

/* GLib's functions, which the dynamic linker wants. */
struct byte_array *g_byte_array_new(void)
{
	abort();
}

struct byte_array *g_byte_array_set_size(struct byte_array *array, unsigned int length)
{
	(void)array;
	(void)length;
	abort();
}

struct byte_array *g_byte_array_append(struct byte_array *array, const __u8 *data,
				       unsigned int length)
{
	(void)array;
	(void)data;
	(void)length;
	abort();
}

char *g_array_free(struct array *array, int free_segment)
{
	(void)array;
	(void)free_segment;
	abort();
}

static const struct {
	const char *promise;
	struct qemu_info info;
	const char *words[WORDS];
} refusals[] = {
	{ "an_older_plugin_api_is_refused_with_the_version_needed",
	  { "x86_64", { 0, 6 }, true, { 1, 1 } },
	  { "plugin API is version 6", "7 is needed", "QEMU 11.1" } },
	{ "a_newer_plugin_api_is_refused_with_the_version_needed",
	  { "x86_64", { 5, 8 }, true, { 1, 1 } },
	  { "plugin API is version 8", "7 is needed", "QEMU 11.1" } },
	{ "another_processor_is_refused", { "aarch64", { 5, 7 }, true, { 1, 1 } },
	  { "aarch64", "qemu-system-x86_64" } },
	{ "a_qemu_for_programs_is_refused", { "x86_64", { 5, 7 }, false, { 1, 1 } },
	  { "qemu-system-x86_64" } },
	{ "too_many_virtual_cpus_are_refused", { "x86_64", { 5, 7 }, true, { 1, 9 } },
	  { "9 virtual CPUs", "8 at most" } },
	{ "a_qemu_that_does_not_export_what_else_is_needed_is_refused_by_name",
	  { "x86_64", { 5, 7 }, true, { 1, 1 } },
	  { "does not export cpus_get_elapsed_ticks", "Debian" } },
};

typedef int (*install_fn)(__u64 id, const struct qemu_info *info, int argc, char **argv);

/* In a child, which a refusal ends. What it says goes to text. */
static int install(install_fn plugin, const struct qemu_info *info, const char *directory,
		   char *text)
{
	char where[64], log[] = "option=log", *argv[] = { where, log };
	int out[2], status = -1;
	size_t size = 0;
	ssize_t n;
	pid_t child;

	snprintf(where, sizeof(where), "dir=%s", directory);
	if (pipe(out))
		tap_die("pipe");
	child = fork();
	if (child < 0)
		tap_die("fork");
	if (!child) {
		dup2(out[1], STDERR_FILENO);
		_exit(plugin(0, info, ARRAY_SIZE(argv), argv));
	}
	close(out[1]);
	while ((n = read(out[0], text + size, TEXT - 1 - size)) > 0)
		size += n;
	text[size] = 0;
	close(out[0]);
	if (waitpid(child, &status, 0) != child)
		tap_die("waitpid");
	return status;
}

static void test_refusals(install_fn plugin)
{
	char directory[] = "/tmp/plugin_refuses.XXXXXX", text[TEXT];
	size_t i, word;
	int status;

	if (!mkdtemp(directory))
		tap_die("%s", directory);
	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		tap_begin("%s", refusals[i].promise);
		status = install(plugin, &refusals[i].info, directory, text);
		tap_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status 0x%x", status);
		tap_expect(!strncmp(text, "pt: ", 4) && strchr(text, '\n') == strrchr(text, '\n'),
			   "it says '%s'", text);
		for (word = 0; word < WORDS && refusals[i].words[word]; word++)
			tap_expect(strstr(text, refusals[i].words[word]), "no '%s' in '%s'",
				   refusals[i].words[word], text);
		tap_end();
	}
	tap_begin("a_refusal_leaves_no_file");
	tap_expect(!rmdir(directory), "there are files in %s", directory);
	tap_end();
}

int main(void)
{
	install_fn plugin;
	const int *version;
	void *handle;

	tap_plan(2 + ARRAY_SIZE(refusals) + 1);
	/* As QEMU loads it: an older one then compares the versions itself. */
	tap_begin("a_qemu_without_its_functions_can_load_it");
	handle = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
	if (!tap_expect(handle, "%s", handle ? "" : dlerror()))
		tap_die("%s cannot be loaded", PLUGIN);
	tap_end();

	tap_begin("it_tells_the_version_that_it_needs");
	version = dlsym(handle, "qemu_plugin_version");
	tap_expect(version && *version == API_VERSION, "it does not");
	tap_end();

	plugin = (install_fn)dlsym(handle, "qemu_plugin_install");
	if (!plugin)
		tap_die("%s has no qemu_plugin_install", PLUGIN);
	test_refusals(plugin);
	return tap_exit();
}
