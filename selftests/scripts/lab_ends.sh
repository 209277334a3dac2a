#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How a run in the lab ends: with the command's status and output, or with the
# console where the command could not end.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

lab() {
	run scripts/lab run "$@"
}

# shellcheck disable=SC2016
lab -- sh -c 'printf "one\ntwo  three\n"; echo "<4>for the log" >/dev/kmsg; printf "%s|" "$@"' sh 'a b' "it's" '$HOME' ''
ok output_is_the_command_s_alone stdout_is "one\ntwo  three\na b|it's|\$HOME||"
ok success_is_status_0 status_is 0
ok nothing_else_is_said test ! -s "$tap_work/err"

mkdir "$tap_work/share"
echo to >"$tap_work/share/to"
# A process that stays behind must not keep the run from ending.
# shellcheck disable=SC2016
lab --out "$tap_work/share" --smp 2 -- sh -c 'cat /out/to >/out/from; sleep 1000 & [ "$(nproc)" -eq 2 ] && exit 43'
ok status_is_the_command_s status_is 43
ok out_is_shared_both_ways cmp -s "$tap_work/share/to" "$tap_work/share/from"

lab -- no_such_command
ok a_missing_command_is_status_127 status_is 127

lab --timeout 60 -- sh -c 'echo before; sleep 1234'
ok a_hang_is_status_124 status_is 124
ok a_hang_shows_the_output_so_far stdout_is 'before\n'
ok a_hang_shows_the_console stderr_has '^\[ .*Linux version'
ok a_hang_shows_the_processes stderr_has 'sleep 1234'
ok a_hang_says_that_it_is_one stderr_has 'ended after 60 s'

# shellcheck disable=SC2016 # for L1's shell
lab -- sh -c 'echo before; sleep 1
	echo on >/proc/sys/kernel/printk_devkmsg
	echo "<0>BUG: told first" >/dev/kmsg
	for i in $(seq 100); do echo "<0>line $i" >/dev/kmsg; done
	echo c >/proc/sysrq-trigger; sleep 1000'
ok a_panic_is_status_125 status_is 125
ok a_panic_shows_the_output_so_far stdout_is 'before\n'
ok a_panic_shows_the_console stderr_has 'Kernel panic'
ok a_panic_shows_the_first_complaint stderr_has 'BUG: told first'

lab -- sh -c 'echo "<4>WARNING: CPU: 0 PID: 1 at nowhere" >/dev/kmsg; dmesg -C; exit 3'
ok a_complaint_of_the_kernel_is_status_126 status_is 126
ok a_complaint_is_shown stderr_has '^WARNING: CPU: 0 PID: 1 at nowhere'

lab -- sh -c 'echo 512 >/proc/sys/kernel/tainted'
ok a_taint_by_a_warning_is_status_126 status_is 126

# With Bochs, output, files and status take other ways.
lab_vmx() {
	run scripts/lab run --cpu vmx --kernel 6.1 "$@"
}

rm "$tap_work/share/from"
# shellcheck disable=SC2016
lab_vmx --out "$tap_work/share" --smp 2 -- sh -c 'cat /out/to >/out/from; mkdir /out/d; head -c 300000 /dev/urandom >/out/d/r
	printf "one\ntwo  three\n"; printf "%s|" "$@" | tee /dev/stderr; cksum </out/d/r >/out/sum; sleep 1000 &
	[ "$(nproc)" -eq 2 ] && exit 43' sh 'a b' "it's" '$HOME' ''
ok vmx_status_is_the_command_s status_is 43
ok vmx_output_is_the_command_s_alone stdout_is "one\ntwo  three\na b|it's|\$HOME||a b|it's|\$HOME||"
ok vmx_out_is_shared_both_ways cmp -s "$tap_work/share/to" "$tap_work/share/from"
cksum <"$tap_work/share/d/r" >"$tap_work/sum"
ok vmx_a_file_of_out_is_whole cmp -s "$tap_work/sum" "$tap_work/share/sum"

lab_vmx --timeout 60 -- sh -c 'echo before; while :; do :; done'
ok vmx_a_hang_is_status_124 status_is 124
ok vmx_a_hang_shows_the_output_so_far stdout_is 'before\n'
ok vmx_a_hang_shows_the_console stderr_has '^\[ .*Linux version'
ok vmx_a_hang_shows_the_processes stderr_has 'while :'
ok vmx_a_hang_says_that_it_is_one stderr_has 'ended after 60 s'

lab_vmx -- sh -c 'echo before; sleep 1; echo c >/proc/sysrq-trigger; sleep 1000'
ok vmx_a_panic_is_status_125 status_is 125
ok vmx_a_panic_shows_the_output_so_far stdout_is 'before\n'
ok vmx_a_panic_shows_the_console stderr_has 'Kernel panic'

lab_vmx -- sh -c 'echo "<4>WARNING: CPU: 0 PID: 1 at nowhere" >/dev/kmsg; dmesg -C; exit 3'
ok vmx_a_complaint_of_the_kernel_is_status_126 status_is 126
ok vmx_a_complaint_is_shown stderr_has '^WARNING: CPU: 0 PID: 1 at nowhere'

lab_vmx --mem 256 -- true
ok vmx_little_memory_is_refused refused --mem 256 Bochs MB

done_testing
