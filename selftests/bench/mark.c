// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executes the instruction at which counters.c writes down what it has counted.
 */
#include "mark.h"

int main(void)
{
	asm volatile(MARK_ASM);
	return 0;
}
