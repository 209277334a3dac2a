#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the benchmark makes of what was measured: figures from sessions, and
# promises judged by them. Nothing is measured here.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

raw=$tap_work/raw

# session GROUP ROW LOOP SIZE EXITS TICKS EXITS TICKS BYTES
session() {
	printf 'session\t%s\t%s\t%s\t%s\t1\t%s\t%s\t%s\t%s\t%s\n' "$@" >>"$raw"
}

# row GROUP ROW ADDED BYTES [LOOP]: for each exit; a session begins with 7000 ticks
# and 5000 bytes.
row() {
	each=$((1000 + $3)) loop=${5-mix}
	session "$1" "$2" "$loop" large 100 $((7000 + 100 * each)) 1100 $((7000 + 1100 * each)) $((5000 + 1200 * $4))
	session "$1" "$2" "$loop" usual 100 $((7000 + 100 * each)) 600 $((7000 + 600 * each)) $((5000 + 700 * $4))
}

# reader WHAT INSTRUCTIONS: for each exit beside 7,000 for all.
reader() {
	printf 'decode\t%s\t%s\t%s\n' "$1" 100 $((7000 + 100 * $2)) "$1" 1100 $((7000 + 1100 * $2)) >>"$raw"
}

# measured BATCH-ADDED BATCH-BYTES TEXT-INSTRUCTIONS IDLE-ADDED [TIMELINE-OF-BATCHES
# TIMELINE-OF-SINGLE-EVENTS]: what keeps all promises of the loop mix, but for these.
measured() {
	: >"$raw"
	session idle 'nothing, again' mix none 100 107000 1100 1107000 0
	session idle 'kvm_trace loaded, idle' mix none 100 107000 1100 $((1107000 + 1000 * $4)) 0
	for group in idle perf trace_cmd kvm_trace batch; do
		session $group nothing mix none 100 107000 1100 1107000 0
	done
	row perf 'perf, kvm_exit + kvm_entry' 2000 200
	row trace_cmd 'trace-cmd, kvm_exit + kvm_entry' 1000 100
	row kvm_trace 'perf, kvm_trace:vmexit, lean' 1000 96
	row kvm_trace 'trace-cmd, kvm_trace:vmexit, lean' 750 40
	row batch 'perf, kvm_trace_batch, lean' "$1" "$2"
	reader 'perf script, kvm_exit + kvm_entry' 500
	reader 'dlfilter, batches to text' "$3"
	reader 'perf kvm stat report' 200
	reader 'dlfilter, report of batches' 10
	reader 'dlfilter, timeline of batches' "${5-150}"
	reader 'dlfilter, timeline of single events' "${6-160}"
}

judge() {
	run awk -v RESULTS="$tap_work/results" -f scripts/lib/bench.awk "$raw"
}

has() {
	grep -q -x -e "$2" "$tap_work/$1"
}

measured 300 12 100 3
judge
ok kept_promises_are_status_0 status_is 0
ok a_figure_at_its_limit_passes has out 'pass      batch, lean, added instructions, mix: 300 (<= 300)'
ok a_ratio_at_its_limit_passes has out \
	"pass      single events, lean, perf, share of the pair's instructions, mix: 0.5 (<= 0.5)"
ok what_was_not_measured_is_left_out has out 'left out  batch, lean, added instructions, cpuid: not measured'
ok promises_are_counted has out '11 reached, 0 not reached, 21 not measured'
ok instructions_are_a_slope_less_that_of_nothing has results \
	'batch	perf, kvm_trace_batch, lean	mix	1	added_instructions	300.000'
ok bytes_are_a_slope has results 'batch	perf, kvm_trace_batch, lean	mix	1	bytes_per_exit	12.000'
ok reading_is_a_slope has results 'decode	dlfilter, batches to text	mix	1	reading_instructions	100.000'

measured 301 12 100 3
judge
ok one_more_instruction_fails has out 'FAIL      batch, lean, added instructions, mix: 301 (<= 300)'
ok a_promise_not_kept_is_status_1 status_is 1
ok a_promise_not_kept_is_in_the_results has results 'promise	batch, lean, added instructions, mix			fail	301.000'

measured 300 13 100 3
judge
ok one_more_byte_fails has out 'FAIL      batch, lean, bytes an exit, mix: 13 (<= 12)'

measured 300 12 101 3
judge
ok a_slow_reader_fails has out 'FAIL      .* batches to text: 4.95 (>= 5)'

measured 300 12 100 3 167 160
judge
ok a_slow_timeline_of_batches_fails has out 'FAIL      perf script .* timeline of batches: 2.99[0-9]* (>= 3)'

measured 300 12 100 3 150 167
judge
ok a_slow_timeline_of_single_events_fails has out 'FAIL      perf script .* timeline of single events: 2.99[0-9]* (>= 3)'

measured 300 12 100 4
judge
ok a_module_that_costs_something_idle_fails has out 'FAIL      idle module, .* mix, .*: 4 (<= 3)'

# Of several runs of nothing, that with the fewest ticks counts.
measured 300 12 100 3
session batch nothing mix none 100 120000 1100 1207000 0
judge
ok a_disturbed_run_of_nothing_does_not_count has out 'pass      batch, lean, added instructions, mix: 300 .*'

printf 'skip\tlttng\tLTTng\tdoes not build\n' >"$raw"
session counted nothing mix none 100 0 1100 0 0
session counted perf mix large 100 0 1100 0 0
printf '%s\t0\t0\n' 10 110 2110 3000 3200 7300 >>"$raw"
session vmx nothing mix none 100 7000 1100 107000 0
session vmx perf mix large 100 7000 1100 207000 0
printf '0\t0\t0\t%s\t0\n' 10 110 2110 3000 3200 8200 >>"$raw"
row hooks 'without the hook' 500 96 pio_out
row hooks 'without the hook' 600 96 cpuid
row hooks kvm_pio 520 104 pio_out
judge
ok what_was_left_out_says_why has out 'LTTng  *left out: does not build'
ok counted_instructions_are_slopes_less_that_of_nothing has results 'counted	perf	mix	1	tsc_reads	2.000'
ok vmreads_are_counted_as_well has results 'vmx	perf	mix	1	vmread	2.900'
ok what_is_counted_apart_stands_by_the_instructions has out 'perf  *+100  *+0.00  *+0.00  *+0.00  *+2.90  *+0.00'
ok a_hook_is_told_beside_its_loop_without has out 'kvm_pio  *pio_out  *+20  *+8.0'
ok no_promise_judged_is_status_0 status_is 0

done_testing
