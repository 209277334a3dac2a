// SPDX-License-Identifier: GPL-2.0-only
/*
 * Built without KASAN.
 */
#include "unseen.h"

void unseen_write(u8 *at, u8 value)
{
	*(volatile u8 *)at = value;
}
