// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the frequency of this machine's time stamp counter, which is that of the
 * virtual CPUs. On a busy machine Linux in them measures it wrong, by up to ten times.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES	20
#define WAIT_NS	50000000

/* Of some tries, the one that was disturbed least. */
static long long read_both(unsigned long long *ticks)
{
	unsigned long long least = ~0ULL;
	long long ns = 0;
	int i;

	for (i = 0; i < TRIES; i++) {
		struct timespec time;
		unsigned long long before = __rdtsc(), after;

		clock_gettime(CLOCK_MONOTONIC, &time);
		after = __rdtsc();
		if (after - before >= least)
			continue;
		least = after - before;
		*ticks = before + least / 2;
		ns = time.tv_sec * 1000000000LL + time.tv_nsec;
	}
	return ns;
}

int main(void)
{
	const struct timespec wait = { .tv_nsec = WAIT_NS };
	unsigned long long first, last;
	const long long start = read_both(&first);
	long long ns;

	nanosleep(&wait, NULL);
	ns = read_both(&last) - start;
	printf("%.0f\n", (last - first) * 1e6 / ns);
	return 0;
}
