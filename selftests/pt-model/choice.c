// SPDX-License-Identifier: GPL-2.0-only
/*
 * All runs of a piece of code that makes choices: the first takes the first
 * alternative everywhere, each further one the next that was not taken yet.
 */
#include "tap.h"
#include "world.h"

#define MOST	256

static struct {
	u8 taken[MOST];
	u8 alternatives[MOST];
	unsigned int known;
	unsigned int at;
} choices;

/**
 * choose() - one of several alternatives
 * @alternatives: how many; at least 1
 *
 * Return: a number below it.
 */
unsigned int choose(unsigned int alternatives)
{
	if (choices.at == choices.known) {
		if (choices.known == MOST)
			tap_die("more than %u choices in one action", MOST);
		choices.taken[choices.known] = 0;
		choices.alternatives[choices.known++] = alternatives;
	}
	return choices.taken[choices.at++];
}

/**
 * choices_start() - before the first run
 */
void choices_start(void)
{
	choices.known = 0;
	choices.at = 0;
}

/**
 * choices_next() - before any further run
 *
 * Return: false if there is none.
 */
bool choices_next(void)
{
	choices.at = 0;
	while (choices.known) {
		if (++choices.taken[choices.known - 1] < choices.alternatives[choices.known - 1])
			return true;
		choices.known--;
	}
	return false;
}
