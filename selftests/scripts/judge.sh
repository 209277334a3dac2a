#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A test that fails in any way is counted as failed: what selftests/runner.sh
# prints of it, as scripts/lib/tap.awk judges it.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# judges NAME TOTALS LINE SCRIPT: runs SCRIPT as a test.
judges() {
	printf '%s\n' "$4" >"$tap_work/test"
	sh selftests/runner.sh "timeout=2 sh $tap_work/test" >"$tap_work/log"
	judges_log "$1" "$2" "$3"
}

judges_log() {
	run awk -v PREFIX=a/ -v TOTALS="$tap_work/totals" -v LOOSE="${4-}" -f scripts/lib/tap.awk "$tap_work/log"
	# shellcheck disable=SC2317
	holds() {
		[ "$(cat "$tap_work/totals")" = "$1" ] && grep -E -q -e "$2" "$tap_work/out"
	}
	ok "$1" holds "$2" "$3"
}

judges good_cases_pass '2 0 0' '^ok a/sh .*\(2 cases, 0\.[0-9] s\)$' \
	'echo 1..2; echo ok 1 a; echo ok 2 b'
judges a_bad_case_fails_and_is_shown '1 1 0' '^    not ok 2 b$' \
	'echo 1..2; echo ok 1 a; echo not ok 2 b'
judges its_notes_are_shown '0 1 0' '^    # expected 1, found 2$' \
	'echo 1..1; echo "# expected 1, found 2"; echo not ok 1 b; exit 1'
judges a_skip_is_counted_and_says_why '1 0 1' '^    ok 2 b # SKIP no Intel CPU$' \
	'echo 1..2; echo ok 1 a; echo "ok 2 b # SKIP no Intel CPU"'
judges a_whole_skip_is_counted_and_says_why '0 0 1' '^    # SKIP no Intel CPU$' \
	'echo "1..0 # SKIP no Intel CPU"; exit 4'
judges a_missing_case_fails '1 1 0' '^not ok .*: 1 cases of 2, exit status 0$' \
	'echo 1..2; echo ok 1 a'
judges a_missing_plan_fails '1 1 0' '^not ok .*: 1 cases of 0' \
	'echo ok 1 a'
judges no_case_fails '0 1 0' '^not ok .*: no result, exit status 0$' \
	':'
judges a_skip_status_without_a_reason_fails '0 1 0' '^not ok .*: no result, exit status 4$' \
	'exit 4'
judges a_bad_status_after_good_cases_fails '1 1 0' '^not ok .*: exit status 3$' \
	'echo 1..1; echo ok 1 a; exit 3'
judges a_crash_fails '1 1 0' '^not ok .*: exit status 139$' \
	'echo 1..1; echo ok 1 a; kill -SEGV $$'
judges a_hang_fails '1 1 0' '^not ok .*: did not end in time$' \
	'echo 1..1; echo ok 1 a; sleep 100'
judges two_plans_are_added '2 0 0' '^ok .*\(2 cases' \
	'echo 1..1; echo ok 1 a; echo 1..1; echo ok 1 b'

printf '# test: one\n1..1\nok 1 a\n# end: 0 2.5 1.0\n# test: two\n1..2\nok 1 b\n' >"$tap_work/log"
judges_log a_test_that_took_L1_with_it_fails '2 1 0' '^not ok a/two \(2 cases\): L1 ended with it$'
ok the_test_before_it_does_not grep -q '^ok a/one (1 cases, 1.5 s)$' "$tap_work/out"

printf '# test: one\n1..2\nok 1 a\n# test: two\n1..1\nok 1 b\n' >"$tap_work/log"
judges_log a_missing_case_fails_without_an_exit_status '2 1 0' '^not ok a/one .*: 1 cases of 2' loose

printf '%s\n' 'ok a (1 cases)' '    ok 1 x # SKIP no' 'not ok b (3 cases)' '    not ok 2 y' '    # 1' '    # 2' '    # 3' \
	'    not ok 3 z' 'ok c (1 cases)' '    # of c' >"$tap_work/results"
run awk -v LINES=2 -f scripts/lib/failures.awk "$tap_work/results"
ok failures_are_told_once_more stdout_is \
	'\nfailed:\nnot ok b (3 cases)\n    not ok 2 y\n    not ok 3 z\n    # 2\n    # 3\n'
run awk -v LINES=2 -f scripts/lib/failures.awk "$tap_work/log"
ok nothing_is_told_if_nothing_failed stdout_is ''

done_testing
