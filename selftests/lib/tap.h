/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output of the tests in TAP, as kselftest reads it. A case is named by the
 * promise that it keeps; nothing here knows KVM or tracing.
 */
#ifndef _SELFTESTS_TAP_H
#define _SELFTESTS_TAP_H

#include <stdbool.h>
#include <stdnoreturn.h>

#include "types.h"

void tap_plan(unsigned int cases);
void tap_begin(const char *fmt, ...) __printf(1, 2);
bool tap_expect(bool ok, const char *fmt, ...) __printf(2, 3);
void tap_note(const char *fmt, ...) __printf(1, 2);
void tap_skip(const char *fmt, ...) __printf(1, 2);
void tap_end(void);
int tap_exit(void);
noreturn void tap_die(const char *fmt, ...) __printf(1, 2);

#endif /* _SELFTESTS_TAP_H */
