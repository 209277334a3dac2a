/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _BROKEN_UNSEEN_H
#define _BROKEN_UNSEEN_H

#include <linux/types.h>

/* Writes a byte that KASAN does not check. */
void unseen_write(u8 *at, u8 value);

#endif /* _BROKEN_UNSEEN_H */
