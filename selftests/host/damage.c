// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies a file and damages the copy: changes bits, cuts it off, or both. The same number
 * gives the same damage.
 *
 *	damage NUMBER FILE COPY
 */
#include <stdio.h>
#include <stdlib.h>
#include "types.h"
#include "decode_encode.h"
#include "tap.h"

#define FILE_MAX	(1 << 20)
#define FLIPS_MAX	8
/* From this number on, as many as that, everywhere. */
#define WILD		1000
#define WILD_FLIPS	500
/* Where a perf.data has its head, and what is behind its records. */
#define HEAD		1200
#define REST		5000

static u8 bytes[FILE_MAX];

static size_t somewhere(size_t size, bool evenly)
{
	switch (evenly ? 2 : random_64() % 4) {
	case 0:
		return random_64() % (size < HEAD ? size : HEAD);
	case 1:
		return size - 1 - random_64() % (size < REST ? size : REST);
	default:
		return random_64() % size;
	}
}

int main(int argc, char **argv)
{
	size_t size, flips, number, i;
	FILE *file;

	if (argc != 4)
		tap_die("usage: damage NUMBER FILE COPY");
	number = strtoul(argv[1], NULL, 10);
	file = fopen(argv[2], "r");
	size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (!size || size == sizeof(bytes))
		tap_die("%s: is not there, is empty or too large", argv[2]);
	fclose(file);
	for (i = 0; i < 16 * number; i++)
		random_64();
	flips = number % 3 ? 1 + random_64() % (number < WILD ? FLIPS_MAX : WILD_FLIPS) : 0;
	for (i = 0; i < flips; i++)
		bytes[somewhere(size, number >= WILD)] ^= 1 << random_64() % 8;
	if (number % 3 != 1)
		size = somewhere(size, number >= WILD);
	file = fopen(argv[3], "w");
	if (!file || (size && fwrite(bytes, size, 1, file) != 1) || fclose(file))
		tap_die("%s: cannot be written", argv[3]);
	return 0;
}
