// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a Linux guest boots while it is traced, and goes on whenever its trace's area is
 * full, as it is most of the time: a boot has too many branches for all to be kept. The trace
 * is left in a file, for scripts/pt_modes_equal_log.sh to compare.
 *
 *	pt_mode_boot FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pt_mode.h"
#include "tap.h"

#define AUX_BYTES	(32ul << 10)
#define LEAST		100
#define FIRST_WAIT_US	200000
/* Reads the area ever more rarely, so that their number does not grow with the boot's time. */
#define WAITS		8

static u64 now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ull + now.tv_nsec / 1000;
}

/* Returns the guest's status. */
static int read_while_it_boots(struct pt_event *event, pid_t guest)
{
	const u64 start = now_us();
	int status;

	while (!waitpid(guest, &status, WNOHANG)) {
		usleep(FIRST_WAIT_US + (now_us() - start) / WAITS);
		pt_drain(event);
	}
	return status;
}

int main(int argc, char **argv)
{
	char terms[PT_TERMS_BYTES];
	struct pt_packets packets;
	struct pt_event event;
	int status;
	pid_t child;

	need_kvm_pt();
	run_on_cpu(0);
	tap_plan(1);
	tap_begin("a_linux_guest_boots_while_it_is_traced");
	pt_must_open(&event, pt_terms(terms, PT_MODE_GUEST, 0, 0, 1), -1, 0, AUX_BYTES,
		     0);
	child = fork();
	if (child < 0)
		tap_die("fork");
	if (!child) {
		execl("scripts/guest", "guest", NULL);
		_exit(EXIT_FAILURE);
	}
	status = read_while_it_boots(&event, child);
	tap_expect(WIFEXITED(status) && !WEXITSTATUS(status), "the guest ended with 0x%x", status);
	pt_stop(&event);
	pt_count(&event, &packets);
	tap_expect(!packets.bad && packets.kernel[PT_OF_GUEST] > LEAST && event.truncated,
		   "%zu bytes, the first that begins no packet is at %zu, %llu of a guest's kernel",
		   event.size, packets.bad, packets.kernel[PT_OF_GUEST]);
	tap_note("%zu bytes, %llu addresses of the guest's kernel, %llu losses", event.size,
		 packets.kernel[PT_OF_GUEST], event.truncated);
	if (argc > 1 && !pt_save(&event, argv[1]))
		tap_die("%s", argv[1]);
	pt_close(&event);
	tap_end();
	return tap_exit();
}
