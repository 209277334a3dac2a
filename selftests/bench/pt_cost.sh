#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the emulated Intel PT costs, in CPU time of the whole lab, to which other work of
# this machine does not add: of a boot, and of a program, as the difference to a run
# without it. The status is 0 if being idle costs 1.5 times at most, and tracing 25 times.
#
#	selftests/bench/pt_cost.sh intel|vmx
set -eu

case ${1-} in
intel) set -- --cpu intel ;;
vmx) set -- --cpu vmx --kernel 6.1 ;;
*)
	echo "usage: pt_cost.sh intel|vmx" >&2
	exit 2
	;;
esac
# For a shell in L1.
PROGRAM='for i in 1 2 3 4 5; do head -c 3000000 /usr/bin/perf | gzip -c >/dev/null; done'
# Into a ring of 4 MB that is never read.
TRACE='perf record -q -o /tmp/perf.data -m ,4M --snapshot -e intel_pt//'

times=$(mktemp)
trap 'rm -f "$times"' EXIT

# measure OPTIONS... -- COMMAND: milliseconds, into $time
measure() {
	# shellcheck disable=SC2016
	sh -c 'scripts/lab run --no-build --timeout 3600 "$@" >/dev/null || exit; times' sh "$@" </dev/null >"$times"
	time=$(awk -F '[ms ]+' 'NR == 2 { printf "%d\n", 1000 * (60 * ($1 + $3) + $2 + $4) }' "$times")
}

scripts/lab build ${4:+--kernel "$4"}
# What is made at the first run does not count.
measure "$@" -- true
measure "$@" -- true
boot=$time
measure "$@" -- sh -c "$PROGRAM"
program=$((time - boot))
measure "$@" --pt -- true
boot_idle=$time
measure "$@" --pt -- sh -c "$PROGRAM"
idle=$((time - boot_idle))
measure "$@" --pt -- sh -c "$TRACE true"
boot_traced=$time
measure "$@" --pt -- sh -c "$TRACE sh -c '$PROGRAM'"
traced=$((time - boot_traced))
awk -v boot="$boot" -v boot_idle="$boot_idle" -v program="$program" -v idle="$idle" -v traced="$traced" '
BEGIN {
	printf "boot: %d ms without Intel PT, idle %.2f times\n", boot, boot_idle / boot
	printf "program: %d ms without Intel PT, idle %.2f times, traced %.2f times\n",
		program, idle / program, traced / program
	exit boot_idle > 1.5 * boot || idle > 1.5 * program || traced > 25 * program
}'
