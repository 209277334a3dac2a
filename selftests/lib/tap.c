// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of the tests in TAP. A case that fails says what was expected and
 * what was found in lines that start with '#', a limited number of them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define MAX_NOTES	8	/* per case: a broken promise breaks in thousands of records */
#define EXIT_SKIPPED	4	/* KSFT_SKIP */

static struct {
	unsigned int planned, done, failed, skipped;
	unsigned int failures;	/* of the case that is open */
	char name[256];
	bool open;
} tap;

/**
 * tap_plan() - start the output
 * @cases: number of cases that follow
 */
void tap_plan(unsigned int cases)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	tap.planned = cases;
	printf("TAP version 13\n1..%u\n", cases);
}

/**
 * tap_begin() - open a case
 * @fmt: the promise, as one identifier with its parameters behind it
 */
void tap_begin(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(tap.name, sizeof(tap.name), fmt, ap);
	va_end(ap);
	tap.failures = 0;
	tap.open = true;
}

static void note(const char *fmt, va_list ap)
{
	printf("# ");
	vprintf(fmt, ap);
	printf("\n");
}

/**
 * tap_expect() - something that the open case promises
 * @ok: whether it holds
 * @fmt: what was expected and what was found, printed if it does not hold
 *
 * Return: @ok.
 */
bool tap_expect(bool ok, const char *fmt, ...)
{
	va_list ap;

	if (ok)
		return true;
	if (tap.failures++ < MAX_NOTES) {
		va_start(ap, fmt);
		note(fmt, ap);
		va_end(ap);
	}
	return false;
}

/**
 * tap_note() - a figure or a reason, whatever the result
 * @fmt: one line
 */
void tap_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(fmt, ap);
	va_end(ap);
}

/**
 * tap_end() - close the open case
 */
void tap_end(void)
{
	if (tap.failures > MAX_NOTES)
		printf("# and %u more\n", tap.failures - MAX_NOTES);
	printf("%s %u %s\n", tap.failures ? "not ok" : "ok", ++tap.done, tap.name);
	tap.failed += !!tap.failures;
	tap.open = false;
}

/**
 * tap_skip() - close the open case as skipped
 * @fmt: why it cannot be run here
 */
void tap_skip(const char *fmt, ...)
{
	va_list ap;

	printf("ok %u %s # SKIP ", ++tap.done, tap.name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	tap.skipped++;
	tap.open = false;
}

/**
 * tap_exit() - end the output
 *
 * Return: the exit status for main().
 */
int tap_exit(void)
{
	unsigned int passed = tap.done - tap.failed - tap.skipped;

	if (tap.done != tap.planned) {
		printf("# planned %u cases, ran %u\n", tap.planned, tap.done);
		tap.failed++;
	}
	printf("# Totals: pass:%u fail:%u skip:%u\n", passed, tap.failed, tap.skipped);
	if (tap.failed)
		return EXIT_FAILURE;
	return tap.done == tap.skipped ? EXIT_SKIPPED : EXIT_SUCCESS;
}

/**
 * tap_die() - give up: what the test itself needs is not there
 * @fmt: what failed; the text of errno is added
 */
void tap_die(const char *fmt, ...)
{
	char why[512];
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (tap.open)
		printf("not ok %u %s\n", tap.done + 1, tap.name);
	printf("Bail out! %s: %s\n", why, strerror(err));
	exit(EXIT_FAILURE);
}
