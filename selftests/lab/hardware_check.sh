#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: scripts/hardware-check reports each mode of kvm_pt, leaves nothing loaded that was
# not, and says in a line why a machine cannot run it. Argument: how many modes must be good,
# or none if this CPU has no Intel PT.

cd "$(dirname -- "$0")/../.." || exit 1
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

rmmod kvm_trace 2>/dev/null

if [ $# -eq 0 ]; then
	run scripts/hardware-check
	ok refused_without_intel_pt refused 'Intel PT' 'another machine'
	done_testing
	exit
fi

cut -d' ' -f1 /proc/modules | sort >"$tap_work/before"
run scripts/hardware-check
ok all_that_is_not_refused_is_good status_is 0
grep -E -e '^  ' -e '^[a-z_]*, ' -e ^result "$tap_work/out" | sed 's/^/# /'
ok each_mode_is_reported grep -q "^result: $1 ok, 0 failed" "$tap_work/out"
ok caps_are_reported grep -q kvm_pt/caps/methods "$tap_work/out"
# shellcheck disable=SC2016
ok modules_are_what_they_were sh -c 'cut -d" " -f1 /proc/modules | sort | cmp -s - "$1"' sh "$tap_work/before"
run scripts/hardware-check nonsense
ok an_argument_is_refused refused nonsense --help
run setpriv --reuid 65534 scripts/hardware-check
ok refused_without_root refused root
done_testing
