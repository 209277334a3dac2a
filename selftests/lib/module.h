/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel modules, their parameters and the kernel log.
 */
#ifndef _SELFTESTS_MODULE_H
#define _SELFTESTS_MODULE_H

#include <stdbool.h>

#include "types.h"

#define KVM_TRACE_PARAMETERS "/sys/module/kvm_trace/parameters/"

int run(const char *fmt, ...) __printf(1, 2);
void need_kvm_trace(void);
void expect_kvm_trace_goes(void);
bool module_loaded(const char *name);
int module_users(const char *name);
int parameter_set(const char *name, const char *value);
char *parameter_get(const char *name);
void words_set(const char *words);
void klog_mark(void);
bool klog_has(const char *text);
char *klog_line(const char *text);

#endif /* _SELFTESTS_MODULE_H */
