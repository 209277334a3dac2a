// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module named kvm whose tracepoint kvm_exit is not there.
 */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "fake_kvm.h"

MODULE_DESCRIPTION("A kvm that kvm_trace must refuse");
MODULE_LICENSE("GPL");
