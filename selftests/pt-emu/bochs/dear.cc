// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the instructions that cost more on silicon than others, for
 * selftests/bench. At each mark a line goes to the file counters: RDTSC and RDTSCP,
 * RDMSR, WRMSR, VMREAD and VMWRITE, as executed by all processors so far.
 */
#include "processor.h"

#include <stdio.h>

Bit64u dear[DEAR_INSTRUCTIONS];

void dear_mark(void)
{
	static FILE *out;

	if (!out)
		out = fopen("counters", "w");
	if (!out)
		pt_die("counters: cannot write that file");
	fprintf(out, "%llu\t%llu\t%llu\t%llu\t%llu\n", dear[DEAR_TSC], dear[DEAR_RDMSR],
		dear[DEAR_WRMSR], dear[DEAR_VMREAD], dear[DEAR_VMWRITE]);
	fflush(out);
}
