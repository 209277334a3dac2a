// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs guests while kvm_trace has nothing to do with Intel PT, and in each mode, and writes
 * a line for each such phase: its name, the time stamp counter at its start and end, and
 * KVM's count of exits. scripts/pt_modes_equal_log.sh counts accesses of MSRs in between.
 *
 *	pt_mode_phases FILE
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "module.h"
#include "pt_mode.h"
#include "records.h"
#include "tap.h"

#define AUX_BYTES	(16ul << 20)
#define ROUNDS		30
#define KINDS		"pio_out,pio_in,mmio_read,mmio_write,cpuid,rdmsr,wrmsr,hypercall,hlt,npf"

static FILE *file;

static void phase(const char *name)
{
	const u64 start = __rdtsc(), exits = pt_run_kinds(KINDS, ROUNDS, 0), end = __rdtsc();

	fprintf(file, "%s %llx %llx %llu\n", name, start, end, exits);
}

static void without(void)
{
	struct recorder recorder = {};
	struct pt_event event;
	char terms[PT_TERMS_BYTES];

	phase("off");
	recorder_start(&recorder, REC_OURS, 4);
	phase("off_recorded");
	recorder_stop(&recorder);
	recorder_close(&recorder);

	errno = -pt_open(&event, INTEL_PT, "tsc,noretcomp", -1, 0, AUX_BYTES, 0);
	if (errno)
		tap_die("intel_pt");
	phase("system");
	pt_stop(&event);
	tap_expect(event.size && !event.truncated, "intel_pt has %zu bytes, %llu losses",
		   event.size, event.truncated);
	pt_close(&event);

	pt_must_open(&event, pt_terms(terms, PT_MODE_GUEST, 0, 0, 1), -1, 0, AUX_BYTES,
		     PT_DISABLED);
	phase("idle");
	pt_close(&event);
	phase("off_again");
}

static void with(enum pt_mode mode, enum pt_method method, const char *name)
{
	char terms[PT_TERMS_BYTES], title[64];
	struct pt_event host, guest;

	if (mode != PT_MODE_GUEST) {
		pt_terms(terms, mode, PT_STREAM_HOST, method, 1);
		pt_must_open(&host, terms, -1, 0, AUX_BYTES, 0);
	}
	if (mode != PT_MODE_HOST) {
		pt_terms(terms, mode, PT_STREAM_GUEST, method, 2);
		pt_must_open(&guest, terms, -1, 0, AUX_BYTES, 0);
	}
	snprintf(title, sizeof(title), "%s_%s", name, pt_method_name(method));
	phase(title);
	if (mode != PT_MODE_HOST) {
		pt_stop(&guest);
		tap_expect(guest.size && !guest.truncated, "%zu bytes, %llu losses", guest.size,
			   guest.truncated);
		pt_close(&guest);
	}
	if (mode != PT_MODE_GUEST) {
		pt_stop(&host);
		tap_expect(host.size && !host.truncated, "%zu bytes, %llu losses", host.size,
			   host.truncated);
		pt_close(&host);
	}
}

int main(int argc, char **argv)
{
	enum pt_method method;

	need_kvm_pt();
	run_on_cpu(0);
	file = argc == 2 ? fopen(argv[1], "w") : NULL;
	if (!file)
		tap_die("a file as argument");
	tap_plan(1);
	tap_begin("phases_are_run");
	without();
	for (method = PT_METHOD_VMCS; method < PT_METHODS; method++) {
		if (!pt_has_method(method))
			continue;
		with(PT_MODE_GUEST, method, "guest");
		with(PT_MODE_HOST, method, "host");
		with(PT_MODE_HOST_GUEST, method, "host_guest");
	}
	tap_expect(!fclose(file), "%s cannot be written", argv[1]);
	tap_end();
	return tap_exit();
}
