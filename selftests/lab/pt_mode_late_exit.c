// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: where KVM fires kvm_exit with interrupts on (kvm_amd before Linux 6.12), the first
 * such exit ends the stream, the guest runs on, and later events are refused with that reason.
 */
#include <errno.h>

#include "module.h"
#include "pt_mode.h"
#include "tap.h"

#define AUX_BYTES	(1ul << 20)
#define GUEST		"tsc,noretcomp,mode=2"

int main(void)
{
	struct pt_packets packets;
	struct pt_event event;
	u64 exits;
	int err;

	need_kvm_pt();
	run_on_cpu(0);
	tap_plan(2);
	tap_begin("the_first_late_exit_ends_the_stream");
	pt_must_open(&event, GUEST, 0, -1, AUX_BYTES, 0);
	exits = pt_run_kinds("cpuid,pio_out", 100, 0);
	pt_stop(&event);
	pt_count(&event, &packets);
	tap_expect(exits >= 200, "the guest made %llu exits", exits);
	tap_expect(event.truncated == 1, "%llu losses told", event.truncated);
	tap_expect(!packets.bad && packets.pge[PT_OF_HOST] <= 1, "%llu windows, bad byte %zu",
		   packets.pge[PT_OF_HOST], packets.bad);
	pt_close(&event);
	tap_end();

	tap_begin("later_events_are_refused_with_that_reason");
	klog_mark();
	err = pt_open(&event, KVM_PT, GUEST, 0, -1, AUX_BYTES, 0);
	tap_expect(err == -EOPNOTSUPP, "it gives %d", err);
	tap_expect(klog_has("kvm_exit with interrupts on"), "the kernel log does not say so");
	tap_end();
	return tap_exit();
}
