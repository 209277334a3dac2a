// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module named kvm whose tracepoint kvm_exit has an argument more.
 */
#include <linux/module.h>

#define FAKE_EXIT_PROTO struct kvm_vcpu *vcpu, u32 isa, u32 more
#define FAKE_EXIT_ARGS vcpu, isa, more
#define CREATE_TRACE_POINTS
#include "fake_kvm.h"

MODULE_DESCRIPTION("A kvm that kvm_trace must refuse");
MODULE_LICENSE("GPL");
