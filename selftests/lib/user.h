/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a user without root's rights can do, tried in a process of its own.
 */
#ifndef _SELFTESTS_USER_H
#define _SELFTESTS_USER_H

#include <stdbool.h>
#include <sys/resource.h>

int as_user(bool perfmon, rlim_t locked, int (*fn)(void *arg), void *arg);
void set_paranoid(int level);

#endif /* _SELFTESTS_USER_H */
