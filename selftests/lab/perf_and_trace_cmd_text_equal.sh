#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: perf script and trace-cmd report print the same decoded text for the
# same record. Both record one run, each with the plugin that is installed.

cd "$(dirname -- "$0")/../.." || exit 1
DATA=$(mktemp -d) || exit 1
trap 'rm -rf "$DATA"' EXIT
EVENTS='vmexit hypercall vcpu'
number=0
failed=0

bail() {
	echo "Bail out! $*"
	exit 1
}

# result NAME STATUS
result() {
	number=$((number + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $number $1"
	else
		echo "not ok $number $1"
		failed=$((failed + 1))
	fi
}

# text EVENT FILE: what stands behind the event's name, sorted.
text() {
	sed -n "s/.*[ :]$1: *//p" "$2" | sed 's/ *$//' | sort
}

modprobe -q kvm_amd || modprobe -q kvm_intel || bail "neither kvm_amd nor kvm_intel can be loaded"
modprobe kvm_trace || bail "kvm_trace cannot be loaded"
echo all >/sys/module/kvm_trace/parameters/words
echo "TAP version 13"
echo 1..5
trace-cmd record -q -o "$DATA/trace.dat" -e kvm_trace -- \
	perf record -q -B -N --synth no -a -e 'kvm_trace:*' -o "$DATA/perf.data" -- \
	selftests/vmm/microvm --count 20 >"$DATA/out" 2>&1 || bail "recording: $(cat "$DATA/out")"
echo default >/sys/module/kvm_trace/parameters/words
perf script -i "$DATA/perf.data" >"$DATA/perf" 2>"$DATA/err" || bail "perf script: $(cat "$DATA/err")"
trace-cmd report -q -i "$DATA/trace.dat" >"$DATA/trace" 2>"$DATA/err" ||
	bail "trace-cmd report: $(cat "$DATA/err")"

for event in $EVENTS; do
	text "kvm_trace:$event" "$DATA/perf" >"$DATA/perf.$event"
	text "$event" "$DATA/trace" >"$DATA/trace.$event"
	[ -s "$DATA/perf.$event" ] && diff "$DATA/perf.$event" "$DATA/trace.$event" >"$DATA/diff"
	result "perf_and_trace_cmd_text_equal: $event" $?
	sed 's/^/# /' "$DATA/diff" | head -n 5
	echo "# $(wc -l <"$DATA/perf.$event") lines, the last: $(tail -n 1 "$DATA/perf.$event")"
done

# Times in units are the plugin's; the kernel's own text has host_ns.
grep -E -q ' host [0-9.]+(ns|us|ms|s)( |$)' "$DATA/perf.vmexit" && ! grep -q host_ns "$DATA/perf.vmexit"
result "perf_prints_the_plugin's_text" $?

exits=$(sed -n 's/^total exits=\([0-9]*\) .*/\1/p' "$DATA/out")
[ "$(wc -l <"$DATA/perf.vmexit")" -eq $((exits - 1)) ]
result "one_line_an_exit" $?
echo "# KVM counted $exits exits"
echo "# Totals: pass:$((number - failed)) fail:$failed skip:0"
[ $failed -eq 0 ]
