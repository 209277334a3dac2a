/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The number of elements of an array.
 */
#ifndef _KVM_TRACE_ARRAY_SIZE_H
#define _KVM_TRACE_ARRAY_SIZE_H

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif /* _KVM_TRACE_ARRAY_SIZE_H */
