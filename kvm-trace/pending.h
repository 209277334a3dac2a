/* SPDX-License-Identifier: GPL-2.0-only */
/* The debugfs directory and its file "pending". */
#ifndef _KVM_TRACE_PENDING_H
#define _KVM_TRACE_PENDING_H

void kvm_trace_pending_init(void);
void kvm_trace_pending_exit(void);

#endif /* _KVM_TRACE_PENDING_H */
