// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: a kernel that is locked down for confidentiality refuses kvm_pt, with that reason,
 * and writes no MSR of Intel PT; one that is locked down for integrity does not refuse. It
 * stays locked down, so this is the last test of its boot.
 */
#include <errno.h>
#include <string.h>

#include "module.h"
#include "pt_mode.h"
#include "pt_refusal.h"
#include "tap.h"
#include "trace.h"

#define AUX_BYTES	(1ul << 20)
#define SECURITY	"/sys/kernel/security"
#define LOCKDOWN	SECURITY "/lockdown"
#define ROUNDS		20

static const char * const modes[] = {
	"mode=1", "mode=2", "mode=3,stream=1", "mode=3,stream=2",
};

static void lock_down(const char *level)
{
	errno = -file_write(LOCKDOWN, level);
	if (errno)
		tap_die(LOCKDOWN);
}

int main(void)
{
	struct pt_event event;
	size_t i;
	int err;

	need_kvm_pt();
	run_on_cpu(0);
	errno = 0;
	if (run("mountpoint -q " SECURITY " || mount -t securityfs none " SECURITY))
		tap_die(SECURITY);
	pt_refusals_watch(NULL);
	tap_plan(ARRAY_SIZE(modes) + 1);
	tap_begin("integrity_does_not_refuse");
	lock_down("integrity");
	pt_must_open(&event, "mode=2", 0, -1, AUX_BYTES, 0);
	pt_run_kinds("cpuid", ROUNDS, 0);
	pt_stop(&event);
	tap_expect(event.size, "there is no trace");
	pt_close(&event);
	tap_end();

	lock_down("confidentiality");
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		tap_begin("confidentiality_refuses: %s", modes[i]);
		pt_watch();
		err = pt_open(&event, KVM_PT, modes[i], -1, 0, AUX_BYTES, 0);
		pt_expect_refused(err, -EPERM, KVM_TRACE_PT_WHY_LOCKDOWN,
				  "the kernel is locked down for confidentiality");
		pt_expect_untouched();
		if (!err)
			pt_close(&event);
		tap_end();
	}
	pt_refusals_end();
	return tap_exit();
}
