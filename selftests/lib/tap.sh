# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Output of test scripts in TAP, and runs of commands whose end is judged.

tap_cases=0
tap_failed=0

# ok NAME COMMAND...: a case that holds if COMMAND succeeds.
ok() {
	tap_name=$1
	shift
	tap_cases=$((tap_cases + 1))
	if "$@"; then
		echo "ok $tap_cases $tap_name"
	else
		tap_failed=$((tap_failed + 1))
		echo "# failed: $*"
		sed 's/^/# /' "$tap_work/out" "$tap_work/err" | tail -n 40
		echo "not ok $tap_cases $tap_name"
	fi
}

# run COMMAND...: for the checks below.
run() {
	tap_status=0
	"$@" >"$tap_work/out" 2>"$tap_work/err" </dev/null || tap_status=$?
}

# Checks of what run() ran.
status_is() {
	[ "$tap_status" -eq "$1" ]
}

stdout_is() {
	printf '%b' "$1" | cmp -s - "$tap_work/out"
}

stderr_has() {
	grep -E -q -e "$1" "$tap_work/err"
}

# refused WORDS...: failed with one line that holds each of WORDS.
refused() {
	[ "$tap_status" -ne 0 ] && [ ! -s "$tap_work/out" ] && [ "$(wc -l <"$tap_work/err")" -eq 1 ] || return
	for word; do
		grep -F -q -e "$word" "$tap_work/err" || return
	done
}

done_testing() {
	echo "1..$tap_cases"
}

tap_work=$(mktemp -d)
trap 'rm -rf "$tap_work"' EXIT
echo 'TAP version 13'
