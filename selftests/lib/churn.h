/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VMs that come and go.
 */
#ifndef _SELFTESTS_CHURN_H
#define _SELFTESTS_CHURN_H

#include "types.h"

void churn_vms(unsigned int count, u64 rounds, u64 *exits);

#endif /* _SELFTESTS_CHURN_H */
