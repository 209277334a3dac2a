// SPDX-License-Identifier: GPL-2.0-only
/*
 * Becomes an ordinary user, and sets what the kernel lets such users do with perf.
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "trace.h"
#include "user.h"

#define NOBODY		65534
#define CAP_OF_PERF	38	/* CAP_PERFMON */

static bool become_nobody(bool perfmon, rlim_t locked)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const u32 capabilities = perfmon ? 1u << CAP_OF_PERF % 32 : 0;
	const struct rlimit limit = { locked, locked };
	struct __user_cap_data_struct data[2] = {};

	data[CAP_OF_PERF / 32].effective = capabilities;
	data[CAP_OF_PERF / 32].permitted = capabilities;
	return !setrlimit(RLIMIT_MEMLOCK, &limit) && !prctl(PR_SET_KEEPCAPS, 1) &&
	       !setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	       !setresuid(NOBODY, NOBODY, NOBODY) && !syscall(SYS_capset, &header, data);
}

/**
 * as_user() - do something as an ordinary user
 * @perfmon: with CAP_PERFMON, which is the only capability then
 * @locked: bytes that the user may lock
 * @fn: what; in a child of this process, which ends behind it
 * @arg: for @fn
 *
 * Return: what @fn gives, 0 or a negative errno.
 */
int as_user(bool perfmon, rlim_t locked, int (*fn)(void *arg), void *arg)
{
	pid_t child;
	int status;

	/* Or the child would say once more what is still in the buffer. */
	fflush(stdout);
	child = fork();
	if (child < 0)
		tap_die("fork");
	if (!child)
		_exit(become_nobody(perfmon, locked) ? -fn(arg) : 255);
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 255)
		tap_die("a child that is an ordinary user");
	return -WEXITSTATUS(status);
}

/**
 * set_paranoid() - what the kernel lets ordinary users do with perf
 * @level: perf_event_paranoid
 */
void set_paranoid(int level)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", level);
	errno = -file_write("/proc/sys/kernel/perf_event_paranoid", text);
	if (errno)
		tap_die("perf_event_paranoid");
}
