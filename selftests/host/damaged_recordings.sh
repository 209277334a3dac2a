#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# perf kvm-trace report on recordings that were cut off or changed, with the real perf, and
# the filter and the salvager under AddressSanitizer: a result of what can be read, a
# message, and no crash of ours. perf itself may crash on such files.
set -u

here=$(cd "$(dirname -- "$0")" && pwd)
# shellcheck source=selftests/lib/tap.sh
. "$here/../lib/tap.sh"
DAMAGED=100
# From this number on, much is damaged; so many for all, and for the salvager alone.
WILD=1000
WILD_REPORTS=20
WILD_SALVAGES=200
EXITS=2000

perf version >/dev/null 2>&1 || {
	echo '1..0 # SKIP no perf'
	exit 0
}

# The front has them beside it, and where perf looks for filters.
mkdir -p "$tap_work/bin" "$tap_work/exec/dlfilters" "$tap_work/asan" "$tap_work/home"
export HOME="$tap_work/home" TMPDIR="$tap_work"
cp "$here/../../perf-plugins/perf-kvm-trace" "$here/plugins/sanitized/perf-kvm-trace-salvage" "$tap_work/bin"
cp "$here/plugins/sanitized/dlfilters/kvm-trace.so" "$tap_work/exec/dlfilters"
export ASAN_OPTIONS="log_path=$tap_work/asan/log" UBSAN_OPTIONS="log_path=$tap_work/asan/log"
# perf has leaks of its own. The filter's sanitizer must be there before perf's libraries.
cat >"$tap_work/bin/perf" <<-END
	#!/bin/sh
	[ "\$1" != --exec-path ] || exec echo "$tap_work/exec"
	export LD_PRELOAD="$(${CC:-gcc} -print-file-name=libasan.so) $(${CC:-gcc} -print-file-name=libubsan.so)"
	export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
	exec "$(command -v perf)" "\$@"
END
chmod +x "$tap_work/bin/perf"
PATH=$tap_work/bin:$PATH
cd "$tap_work" || exit 1
for kind in singles batches; do
	"$here/recording" $kind $EXITS 2 "$tap_work/$kind"
done

# reported: exits of the report, in the last line of its table.
reported() {
	sed -n 's/^ *all *\([0-9]*\) .*/\1/p' "$tap_work/out"
}

reports() {
	[ "$(reported)" = "$1" ]
}

# lines FILE: its records, one a line.
lines() {
	perf script -i "$1" --dlfilter "$tap_work/exec/dlfilters/kvm-trace.so" 2>/dev/null
}

# begins_with FILE OTHER: FILE is of OTHER's records the first ones, more than a third.
begins_with() {
	lines "$1" >part
	lines "$2" >whole
	part=$(wc -l <part) whole=$(wc -l <whole)
	[ "$part" -gt $((whole / 3)) ] && [ "$part" -lt "$whole" ] && head -n "$part" whole | cmp -s - part
}

for kind in singles batches; do
	run perf-kvm-trace report -i $kind
	ok "${kind}_that_are_whole_are_read_without_a_word" test ! -s "$tap_work/err"
	ok "${kind}_that_are_whole_are_reported_whole" reports $EXITS
done
head -c $(($(wc -c <singles) / 2)) singles >half
run perf-kvm-trace report -i half
ok a_recording_cut_in_half_has_a_report test "$(reported)" -gt $((EXITS / 3))
ok a_recording_cut_in_half_is_called_damaged stderr_has 'half is damaged: .* could be saved'
perf-kvm-trace-salvage half saved 2>/dev/null
ok a_recording_cut_in_half_has_all_that_was_before begins_with saved singles
# As a perf leaves it that was killed: it has not said how long its records are.
{
	head -c 48 singles
	head -c 8 /dev/zero
	tail -c +57 singles | head -c $(($(wc -c <singles) / 2))
} >killed
run perf-kvm-trace report -i killed
ok a_recording_that_was_killed_has_a_report test "$(reported)" -gt $((EXITS / 3))
run perf-kvm-trace timeline -i half -o half.json
ok a_recording_cut_in_half_has_a_timeline grep -q '^]}$' half.json
ok temporary_files_are_gone test -z "$(find "$tap_work" -mindepth 1 -name 'tmp.*' -o -name 'half.json.*')"
head -c 50 singles >start
run perf-kvm-trace report -i start
ok a_recording_without_records_is_an_error status_is 1
ok a_recording_without_records_says_why stderr_has 'start: is cut within its head'

# judge NUMBER: of damage NUMBER, an answer: a report, or why there is none.
judge() {
	{ [ "$tap_status" -lt 128 ] && [ -s "$tap_work/err" ]; } ||
		{ [ "$tap_status" -eq 0 ] && [ "$(reported)" -gt 0 ]; } || {
		echo "# damage $1 of $kind: status $tap_status"
		sed 's/^/# /' "$tap_work/err"
		return 1
	}
}

wrong=0 read=0
for number in $(seq $DAMAGED) $(seq $WILD $((WILD + WILD_REPORTS - 1))); do
	kind=singles
	[ $((number % 2)) -eq 0 ] || kind=batches
	"$here/damage" "$number" $kind damaged
	run perf-kvm-trace report -i damaged
	judge "$number" || wrong=$((wrong + 1))
	[ -z "$(reported)" ] || read=$((read + 1))
done
echo "# $read of $((DAMAGED + WILD_REPORTS)) damaged recordings have a report"
ok every_damaged_recording_has_a_report_or_an_error test $wrong -eq 0
ok most_damaged_recordings_have_a_report test $read -gt $((DAMAGED * 2 / 3))
wrong=0
for number in $(seq $WILD $((WILD + WILD_SALVAGES - 1))); do
	"$here/damage" "$number" singles damaged
	perf-kvm-trace-salvage damaged saved 2>/dev/null
	[ $? -le 2 ] || wrong=$((wrong + 1))
done
ok the_salvager_ends_whatever_is_damaged test $wrong -eq 0
# Of perf's own crashes, there are reports, too.
cat asan/log* >"$tap_work/out" 2>/dev/null
grep -l -E 'kvm-trace|perf-plugins' asan/log* >"$tap_work/err" 2>/dev/null
ok no_damage_is_met_outside_of_what_is_there test ! -s "$tap_work/err"
done_testing
[ "$tap_failed" -eq 0 ]
