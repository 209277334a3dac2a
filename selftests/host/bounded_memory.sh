#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The filter of perf script on a recording of 10 million exits, with the real perf and
# within a limit of memory of its own. The file is mapped, which does not count.
set -u

here=$(cd "$(dirname -- "$0")" && pwd)
# shellcheck source=selftests/lib/tap.sh
. "$here/../lib/tap.sh"
EXITS=10000000
LIMIT_KB=32768

perf version >/dev/null 2>&1 || {
	echo '1..0 # SKIP no perf'
	exit 0
}
"$here/recording" batches $EXITS 4 "$tap_work/recording"

# within_limit WHAT: of the filter, on stdout.
within_limit() {
	prlimit --data=$((LIMIT_KB << 10)) perf script -i "$tap_work/recording" --dlfilter "$here/plugins/built/dlfilters/kvm-trace.so" --dlarg "$1" \
		2>"$tap_work/err"
}

# Two slices an exit, a line each, and the end is there.
timeline_is_whole() {
	read -r lines end <"$tap_work/out"
	[ "$lines" -gt $((2 * EXITS)) ] && [ "$end" = ']}' ]
}

within_limit timeline | awk 'END { print NR, $0 }' >"$tap_work/out"
ok ten_million_exits_have_a_timeline_within_32_MiB timeline_is_whole
ok the_timeline_lacks_nothing test ! -s "$tap_work/err"
within_limit report >"$tap_work/out"
ok ten_million_exits_have_a_report_within_32_MiB grep -q "^ *all  *$EXITS " "$tap_work/out"
done_testing
[ "$tap_failed" -eq 0 ]
