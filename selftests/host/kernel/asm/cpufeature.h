/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stands for the kernel's, where a test compiles code of the module: all of its headers
 * lead to kernel.h.
 */
#include "../kernel.h"
