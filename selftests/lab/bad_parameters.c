// SPDX-License-Identifier: GPL-2.0-only
/*
 * Promise: the module does not load with a parameter that makes no sense, and
 * leaves nothing behind when it refuses.
 */
#include <errno.h>
#include <unistd.h>

#include "module.h"
#include "tap.h"
#include "trace.h"

static const char * const wrong[] = {
	"words=speed", "words=", "min_host_ns=soon", "max_vcpus=many", "max_vcpus=0",
};

int main(void)
{
	unsigned int i;

	need_kvm_trace();
	tap_plan(ARRAY_SIZE(wrong) + 1);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		tap_begin("bad_parameters: %s", wrong[i]);
		errno = 0;
		if (module_loaded("kvm_trace") && run("modprobe -r kvm_trace"))
			tap_die("kvm_trace cannot be unloaded");
		klog_mark();
		tap_expect(run("modprobe kvm_trace %s 2>/dev/null", wrong[i]), "it is taken");
		tap_expect(!module_loaded("kvm_trace"), "the module is loaded");
		tap_expect(access(TRACEFS "/events/kvm_trace", F_OK), "its events are there");
		tap_expect(access("/sys/kernel/debug/kvm_trace", F_OK),
			   "its debugfs files are there");
		tap_expect(klog_has("kvm_trace"), "the kernel log says nothing");
		tap_end();
	}
	tap_begin("bad_parameters: loads without them");
	tap_expect(!run("modprobe kvm_trace"), "kvm_trace does not load");
	tap_end();
	return tap_exit();
}
