#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: of one recording, kvm-trace.so prints the same lines for batches as for
# single events, in the same order, of several VMs and vCPUs side by side; and its
# report counts what KVM counted. The plugin prints the same of each batch. What a
# batch says word by word is tested in batches_equal_single_events.c.

cd "$(dirname -- "$0")/../.." || exit 1
DATA=$(mktemp -d) || exit 1
PARAMETERS=/sys/module/kvm_trace/parameters
number=0
failed=0

bail() {
	echo "Bail out! $*"
	exit 1
}

# result NAME COMMAND...: good if the command is.
result() {
	number=$((number + 1))
	name=$1
	shift
	if "$@"; then
		echo "ok $number $name"
	else
		echo "not ok $number $name"
		failed=$((failed + 1))
	fi
}

choose() {
	echo "$1" >$PARAMETERS/words || bail "words $1"
	echo "$2" >$PARAMETERS/batch_words || bail "batch_words $2"
	echo "$3" >$PARAMETERS/batch_hypercalls || bail "batch_hypercalls $3"
}

finish() {
	choose default lean 0
	rm -rf "$DATA"
}

# record NAME: single events and batches of the same run, of four vCPUs.
record() {
	perf record -q -B -N --synth no -a -m 4096 -e 'kvm_trace:*' -e kvm_trace_batch:vmexits \
		-o "$DATA/$1.data" -- selftests/vmm/microvm --vms 2 --vcpus 2 --count 100 \
		>"$DATA/$1.out" 2>&1 || bail "recording: $(cat "$DATA/$1.out")"
}

# lines NAME WHAT [ARGUMENT]: what the filter prints goes to NAME.WHAT.
lines() {
	perf script -i "$DATA/$1.data" --dlfilter kvm-trace.so ${3:+--dlarg "$3"} \
		>"$DATA/$1.$2" 2>"$DATA/$1.$2.err" || bail "perf script: $(cat "$DATA/$1.$2.err")"
}

# same FILE FILE: shows where they differ.
same() {
	: >"$DATA/diff"
	[ -s "$1" ] && diff "$1" "$2" >"$DATA/diff"
	status=$?
	sed 's/^/# /' "$DATA/diff" | head -n 6
	return $status
}

# whole NAME: nothing is missing or damaged. A clock that goes back is not the filter's.
whole() {
	cat "$DATA/$1".*.err >"$DATA/errors"
	sed 's/^/# /' "$DATA/errors"
	! grep -q -v ' records behind later ones: ' "$DATA/errors"
}

modprobe -q kvm_amd || modprobe -q kvm_intel || bail "neither kvm_amd nor kvm_intel can be loaded"
modprobe kvm_trace || bail "kvm_trace cannot be loaded"
trap finish EXIT
echo "TAP version 13"
echo 1..8

choose all all 1
record all
lines all single single
lines all batch batch
lines all both
result lines_of_batches_are_those_of_single_events_in_the_same_order \
	same "$DATA/all.single" "$DATA/all.batch"
result a_recording_of_both_gives_each_line_once same "$DATA/all.single" "$DATA/all.both"
result nothing_is_missing_or_damaged whole all
echo "# $(wc -l <"$DATA/all.batch") lines, the last: $(tail -n 1 "$DATA/all.batch")"

# Each vCPU's first entry ends no round trip.
exits=$(awk '$1 == "total" { sub("exits=", "", $2); print $2 }' "$DATA/all.out")
round_trips=$(grep -c ' kvm_trace:vmexit: ' "$DATA/all.batch")
result one_line_an_exit [ "$round_trips" -eq $((exits - 4)) ]
echo "# $round_trips lines, KVM counted $exits exits of 4 vCPUs"
lines all report report
reported=$(awk '$1 == "all" { print $2 }' "$DATA/all.report")
result the_report_counts_them [ "$reported" = "$round_trips" ]
sed 's/^/# /' "$DATA/all.report" | head -n 4

# The plugin's lines stand below the head of their batch, without a system's name;
# they have entry_ns in their text.
perf script -i "$DATA/all.data" >"$DATA/plugin" 2>"$DATA/err" ||
	bail "perf script: $(cat "$DATA/err")"
sed -n 's/^  \([0-9][0-9.]*: \)/\1kvm_trace:/p' "$DATA/plugin" |
	sed '/ kvm_trace:vmexit: /s/ entry [0-9.]*//' | sort >"$DATA/plugin.lines"
grep -v ' kvm_trace:lost: ' "$DATA/all.batch" | sort >"$DATA/batch.lines"
result the_plugin_prints_a_line_for_each_record_of_a_batch \
	same "$DATA/batch.lines" "$DATA/plugin.lines"

# Without entry_ns the times of single events are those of their samples.
choose lean lean 1
record lean
lines lean single single
lines lean batch batch
for what in single batch; do
	sed 's/^[0-9.]*: //' "$DATA/lean.$what" | sort >"$DATA/lean.$what.text"
done
result without_words_they_differ_in_time_and_order_only \
	same "$DATA/lean.single.text" "$DATA/lean.batch.text"
result nothing_is_missing_or_damaged_without_words whole lean
echo "# Totals: pass:$((number - failed)) fail:$failed skip:0"
[ $failed -eq 0 ]
