#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What scripts/coverage makes of gcov's words: programs that have a file in common, files of
# others, functions that no program calls. Nothing is compiled here.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

text=$tap_work/gcov

add_up() {
	run awk -v LEAST="$1" -f scripts/lib/coverage.awk "$text"
}

has() {
	grep -q -x -E -e "$1" "$tap_work/out"
}

lacks() {
	! grep -q -e "$1" "$tap_work/out"
}

# As two programs of different directories have it: each line of first() is executed by one
# of them or by both, but for line 4; nobody calls second().
cat >"$text" <<'END'
dir selftests/host
        -:    0:Source:../../perf-plugins/batch.c
        -:    0:Graph:fuzz-batch.gcno
        -:    1:static int first(int n)
function first called 3 returned 100% blocks executed 50%
        3:    2:static int first(int n)
branch  0 taken 100% (fallthrough)
       2*:    3:	if (n)
    #####:    4:		return 1;
    #####:    5:	return 0;
        -:    6:}
function second called 0 returned 0% blocks executed 0%
    #####:    7:int second(void) { a: 8:
    =====:    8:	return 1;
        -:    0:Source:../lib/tap.c
function tap_plan called 0 returned 0% blocks executed 0%
    #####:    1:void tap_plan(void)
dir perf-plugins
        -:    0:Source:batch.c
function first called 1 returned 100% blocks executed 50%
        1:    2:static int first(int n)
        1:    3:	if (n)
    #####:    4:		return 1;
        1:    5:	return 0;
function second called 0 returned 0% blocks executed 0%
    #####:    7:int second(void) { a: 8:
    =====:    8:	return 1;
        -:    0:Source:/usr/include/stdio.h
        9:    1:int getc(void)
dir selftests/pt-model
        -:    0:Source:../../kvm-trace/pt/switch.c
function all called 9 returned 100% blocks executed 100%
        9:    1:void all(void)
END
add_up 90
ok a_line_is_executed_if_one_program_does has ' +6 +3 +50  perf-plugins/batch\.c'
ok each_file_has_its_own has ' +1 +1 +100  kvm-trace/pt/switch\.c'
ok files_of_others_are_left_out lacks 'tap\|stdio\|getc'
ok all_are_summed_up has ' +7 +4 +57  all'
ok functions_below_are_listed has ' +4 +3 +75  perf-plugins/batch\.c first'
ok functions_that_nobody_calls_are_listed has ' +2 +0 +0  perf-plugins/batch\.c second'
ok functions_above_are_not lacks 'switch\.c all'
add_up 75
ok the_limit_is_the_first_that_is_enough lacks 'batch\.c first'
done_testing
[ "$tap_failed" -eq 0 ]
