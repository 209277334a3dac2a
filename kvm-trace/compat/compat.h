/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that the module is built for, and nothing
 * else. Asked for by symbol or field, not by version.
 */
#ifndef _KVM_TRACE_COMPAT_H
#define _KVM_TRACE_COMPAT_H

#include <linux/slab.h>

/*
 * "mm/slab: introduce kmem_cache flag SLAB_NO_MERGE" (Linux 6.5). Without it
 * our caches may be merged with others, which only makes /proc/slabinfo less
 * telling.
 */
#ifndef SLAB_NO_MERGE
#define SLAB_NO_MERGE 0
#endif

#endif /* _KVM_TRACE_COMPAT_H */
