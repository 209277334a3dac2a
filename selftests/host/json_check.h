/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a text is JSON (RFC 8259), for tests of what writes it: its syntax, and
 * nothing of what it says.
 */
#ifndef _JSON_CHECK_H
#define _JSON_CHECK_H

#include <stdbool.h>
#include <string.h>

#include "types.h"

static inline const char *json_value(const char *at);

static inline const char *json_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

static inline const char *json_string(const char *at)
{
	for (at++; *at != '"'; at++) {
		if ((unsigned char)*at < ' ')
			return NULL;
		if (*at == '\\' && !strchr("\"\\/bfnrt", *++at))
			return NULL;
	}
	return at + 1;
}

static inline const char *json_digits(const char *at)
{
	size_t n = strspn(at, "0123456789");

	return n ? at + n : NULL;
}

static inline const char *json_number(const char *at)
{
	at += *at == '-';
	if (*at == '0' && at[1] >= '0' && at[1] <= '9')
		return NULL;
	at = json_digits(at);
	return at && *at == '.' ? json_digits(at + 1) : at;
}

/* Members or elements, up to @end. */
static inline const char *json_list(const char *at, char end)
{
	at = json_space(at + 1);
	if (*at == end)
		return at + 1;
	for (;; at++) {
		at = json_space(at);
		if (end == '}') {
			at = *at == '"' ? json_string(at) : NULL;
			if (!at || *json_space(at) != ':')
				return NULL;
			at = json_space(at) + 1;
		}
		at = json_value(at);
		if (!at)
			return NULL;
		at = json_space(at);
		if (*at == end)
			return at + 1;
		if (*at != ',')
			return NULL;
	}
}

/* What is behind the value at @at; NULL if there is none. */
static inline const char *json_value(const char *at)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t i;

	at = json_space(at);
	switch (*at) {
	case '{':
		return json_list(at, '}');
	case '[':
		return json_list(at, ']');
	case '"':
		return json_string(at);
	}
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strncmp(at, words[i], strlen(words[i])))
			return at + strlen(words[i]);
	return json_number(at);
}

static inline bool is_json(const char *text)
{
	const char *end = json_value(text);

	return end && !*json_space(end);
}

#endif /* _JSON_CHECK_H */
