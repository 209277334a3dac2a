#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What Linux's driver and a guest's VMCS controls trace with Bochs' emulated Intel PT is
# what the processor has executed: libipt's and perf's flow equals the log, step by step.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# in_root COMMAND...: in the lab's root, with the files of a run as /out
in_root() {
	run scripts/lab chroot --no-build --kernel 6.1 --out "$tap_work/$part" -- "$@"
}

# compare FILE [OPTION...]: a trace of one CPU with the log of its run
compare() {
	in_root selftests/pt-emu/log/pt_compare "$@"
	sed "s,^,# $(echo "$*" | sed 's|/out/||g'): ," "$tap_work/out"
}

# compare_perf FILE: with what perf script prints of a trace of user code
compare_perf() {
	# shellcheck disable=SC2016
	in_root sh -euc '
		perf --buildid-dir /out/debug script -i "/out/$1" -C 0 --itrace=be -F ip,addr >/out/text 2>/out/errors
		! grep . /out/errors
		selftests/pt-emu/log/pt_compare --perf /out/text /out/pt-log.0 "/out/$1"' sh "$1"
	sed "s/^/# $1, perf: /" "$tap_work/out"
}

# steps LEAST: at least so many steps were equal, and nothing else.
steps() {
	[ "$tap_status" -eq 0 ] && [ "$(sed -n 's/ steps equal.*//p' "$tap_work/out")" -ge "$1" ]
}

# both NAME FILE CPU LEAST [--cut]: as libipt decodes a trace, and as perf did where it
# was recorded. perf does not tell of branches that are not taken.
both() {
	name=$1 file=$2 cpu=$3 least=$4
	shift 4
	compare "$@" "/out/pt-log.$cpu" "/out/$file"
	ok "${name}_equals_the_log" steps "$least"
	ok "${name}_is_decoded_by_perf_without_error" test ! -s "$tap_work/$part/$file.errors"
	compare "$@" --perf "/out/$file.$cpu" "/out/pt-log.$cpu" "/out/$file"
	ok "${name}_by_perf_equals_the_log" steps $((least / 3))
}

# exits_of_each_kind LEAST KINDS
exits_of_each_kind() {
	awk -v least="$1" -v kinds="$2" '/^exits / { n++; sum += $3; if ($3 < least) bad = 1 }
		END { print "# " sum " exits of " n " kinds"; exit bad || n < kinds }' "$tap_work/record"
}

# record PART OPTIONS...
record() {
	part=$1
	shift
	mkdir "$tap_work/$part"
	run scripts/lab run --cpu vmx --kernel 6.1 --out "$tap_work/$part" "$@" -- \
		selftests/lab/pt_vmx_record.sh "$part" /out
	cp "$tap_work/out" "$tap_work/record"
}

record one --pt=log,ret-compression
ok traces_are_recorded_under_kvm_intel status_is 0
ok output_interrupts_come grep -q 'PMI: *[1-9]' "$tap_work/record"
ok guests_make_exits_of_each_kind exits_of_each_kind 40 55
compare /out/pt-log.0 /out/user.data
ok user_code_equals_the_log steps 1000000
compare_perf user.data
ok user_code_by_perf_equals_the_log steps 500000
compare /out/pt-log.0 /out/kernel.data
ok kernel_code_equals_the_log steps 100000
both kernel_code_of_a_program kcore.data 0 50000
both all_code_of_a_program system.data 0 100000
both snapshot snapshot.data 0 30000 --cut
compare /out/pt-log.0 /out/noretcomp.data
ok user_code_with_cycle_packets_equals_the_log steps 10000
compare /out/pt-log.0 /out/filter.data
ok user_code_of_an_address_range_equals_the_log steps 10000
compare /out/pt-log.0 /out/tracestop.data
ok user_code_until_tracestop_equals_the_log steps 1000
compare /out/pt-log.0 /out/all.data
ok all_code_with_a_guest_equals_the_log steps 500000
compare /out/pt-log.0 /out/failures.data
ok early_failures_of_entries_equal_the_log steps 10000
compare /out/pt-log.0 /out/guests.pt
ok guests_by_vmcs_controls_equal_the_log steps 10000
rm -rf "$tap_work/one"

record two --pt=log --smp 2
ok two_cpus_are_recorded status_is 0
for cpu in 0 1; do
	compare /out/pt-log.$cpu /out/two.data
	ok "all_code_of_cpu_${cpu}_equals_the_log" steps 10000
	both "all_code_of_a_program_on_cpu_$cpu" system.data $cpu 1000
done

done_testing
