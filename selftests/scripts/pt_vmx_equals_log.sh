#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What Linux's driver and a guest's VMCS controls trace with Bochs' emulated Intel PT is
# what the processor has executed: libipt's flow equals the log, step by step.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# compare FILE [CPU]: a trace with the log of a run, in the lab's root.
compare() {
	run scripts/lab chroot --no-build --kernel 6.1 --out "$tap_work/$part" -- \
		selftests/pt-emu/log/pt_compare "/out/pt-log.${2:-0}" "/out/$1"
	sed "s/^/# $1 ${2-}: /" "$tap_work/out"
}

# compare_perf FILE: what perf script prints of a trace, the same way.
compare_perf() {
	# shellcheck disable=SC2016
	run scripts/lab chroot --no-build --kernel 6.1 --out "$tap_work/$part" -- sh -euc '
		perf --buildid-dir /out/debug script -i "/out/$1" -C 0 --itrace=be -F ip,addr >/out/text 2>/out/errors
		! grep . /out/errors
		selftests/pt-emu/log/pt_compare --perf /out/text /out/pt-log.0 "/out/$1"' sh "$1"
	sed "s/^/# $1, perf: /" "$tap_work/out"
}

# steps LEAST: at least so many steps were equal, and nothing else.
steps() {
	[ "$tap_status" -eq 0 ] && [ "$(sed -n 's/ steps equal.*//p' "$tap_work/out")" -ge "$1" ]
}

# exits_of_each_kind LEAST KINDS
exits_of_each_kind() {
	awk -v least="$1" -v kinds="$2" '/^exits / { n++; sum += $3; if ($3 < least) bad = 1 }
		END { print "# " sum " exits"; exit bad || n < kinds }' "$tap_work/record"
}

record() {
	part=$1
	shift
	mkdir "$tap_work/$part"
	run scripts/lab run --cpu vmx --kernel 6.1 --pt=log --out "$tap_work/$part" "$@" -- \
		selftests/lab/pt_vmx_record.sh "$part" /out
	cp "$tap_work/out" "$tap_work/record"
}

record one
ok traces_are_recorded_under_kvm_intel status_is 0
ok output_interrupts_come grep -q 'PMI: *[1-9]' "$tap_work/record"
ok guests_make_exits_of_each_kind exits_of_each_kind 40 43
compare user.data
ok user_code_equals_the_log steps 1000000
compare_perf user.data
ok user_code_by_perf_equals_the_log steps 500000
compare kernel.data
ok kernel_code_equals_the_log steps 100000
compare noretcomp.data
ok user_code_with_cycle_packets_equals_the_log steps 10000
compare all.data
ok all_code_with_a_guest_equals_the_log steps 500000
compare guests.pt
ok guests_by_vmcs_controls_equal_the_log steps 10000
rm -rf "$tap_work/one"

record two --smp 2
ok two_cpus_are_recorded status_is 0
for cpu in 0 1; do
	compare two.data $cpu
	ok "all_code_of_cpu_${cpu}_equals_the_log" steps 10000
done

done_testing
