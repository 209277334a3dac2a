// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line that is written again and again. See progress.h.
 */
#include "progress.h"

#define SECOND	1000000000ull

void kvm_trace_progress_add(struct kvm_trace_progress *progress, __u64 ns, __u64 bytes)
{
	if (!progress->file)
		return;
	if (!progress->next) {
		progress->since = ns;
		progress->next = KVM_TRACE_PROGRESS_STEP;
	}
	progress->bytes += bytes;
	if (progress->bytes < progress->next)
		return;
	progress->next = progress->bytes + KVM_TRACE_PROGRESS_STEP;
	fprintf(progress->file, "\rkvm-trace: %llu MiB of records read, of %llu s ",
		progress->bytes >> 20, ns > progress->since ? (ns - progress->since) / SECOND : 0);
	fflush(progress->file);
	progress->told = true;
}

void kvm_trace_progress_end(struct kvm_trace_progress *progress)
{
	if (!progress->file)
		return;
	if (progress->told)
		fputs("\r\033[K", progress->file);
	fclose(progress->file);
	progress->file = NULL;
}
