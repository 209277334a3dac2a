#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: what perf record -e intel_pt traces on an emulated Intel PT, libipt and perf
# decode without an error, and branch by branch as the emulator's log says. Runs in a lab
# with --pt=log. Arguments: which recordings, of those at the end.

cd "$(dirname -- "$0")/../.." || exit 1
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

compare=selftests/pt-emu/log/pt_compare
data=$tap_work/perf.data

libc=/usr/lib/x86_64-linux-gnu/libc.so.6
# What is traced: a program with signals and faults; and a compressor and an assembler, too.
cat >"$tap_work/faults" <<'END'
perl -e '$SIG{USR1} = sub { $n++ }; kill USR1, $$ for 1 .. 50; kill SEGV, $$'
true
END
cat - "$tap_work/faults" >"$tap_work/programs" <<'END'
head -c 6000 /usr/bin/ls | gzip -c >/dev/null
echo 'f: movl $1, %eax; ret' | as -o /dev/null -
END

# record EVENT OPTIONS...
record() {
	event=$1
	shift
	rm -rf "$data"
	run perf record -q -o "$data" -m ,16M -e "$event" "$@"
	# With a copy of the kernel's code it is a directory.
	stream=$data
	[ -f "$stream" ] || stream=$data/data
}

recorded() {
	status_is 0 && ! stderr_has 'lost|error'
}

# equal CPU OPTIONS...: adds to $steps; 3 is a CPU that has executed nothing of it.
equal() {
	log=/out/pt-log.$1
	shift
	run "$compare" "$@" "$log" "$stream"
	[ "$tap_status" -ne 3 ] || return 0
	status_is 0 || return
	echo "# $log: $(cat "$tap_work/out")"
	steps=$((steps + $(cut -d' ' -f1 "$tap_work/out")))
}

# by_libipt LEAST [--cut]
by_libipt() {
	least=$1
	shift
	steps=0
	# The emulator writes behind the back of L1's 9p.
	echo 3 >/proc/sys/vm/drop_caches
	for cpu in $cpus; do
		equal "$cpu" "$@" || return
	done
	[ $steps -ge "$least" ]
}

# by_perf LEAST [--cut]
by_perf() {
	least=$1
	shift
	steps=0
	for cpu in $cpus; do
		run perf script -i "$data" -C "$cpu" --itrace=be -F ip,addr
		if ! status_is 0 || [ -s "$tap_work/err" ]; then
			grep -m 3 'instruction trace error' "$tap_work/out" | sed 's/^/# /'
			return 1
		fi
		mv "$tap_work/out" "$tap_work/text"
		equal "$cpu" "$@" --perf "$tap_work/text" || return
	done
	[ $steps -ge "$least" ]
}

# judge NAME LEAST [--cut]: LEAST is how many branches there must be.
judge() {
	name=$1
	shift
	ok "recorded: $name" recorded
	ok "decoded_by_libipt_as_logged: $name" by_libipt "$@"
	# perf does not tell of branches that are not taken.
	least=$(($1 / 3))
	shift
	ok "decoded_by_perf_as_logged: $name" by_perf $least "$@"
}

# pmis: interrupts of performance monitoring so far
pmis() {
	awk '$1 == "PMI:" { for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i } END { print sum }' /proc/interrupts
}

cpus=$(sed -n 's/^processor.*: //p' /proc/cpuinfo)
for what; do
	case $what in
	user)
		record intel_pt//u sh "$tap_work/programs"
		judge user 1000000
		;;
	faults)
		record intel_pt//u sh "$tap_work/faults"
		judge faults 50000
		;;
	kernel)
		record intel_pt//k --kcore true
		judge kernel 50000
		;;
	system)
		record intel_pt// --kcore -a true
		judge system 100000
		;;
	filter)
		# What calls and returns leave, and no conditional branch: libipt cannot
		# place where that ends.
		record intel_pt//u --filter "filter 0x0/0x100000 @ /usr/bin/gzip" sh "$tap_work/programs"
		judge filter 100000
		record intel_pt//u \
			--filter "filter 0x0/0x100000 @ /usr/bin/gzip, filter 0x0/0x400000 @ $libc" \
			gzip -c /etc/passwd
		judge two_filters 10000
		record intel_pt//k --kcore --filter 'filter handle_mm_fault' true
		judge kernel_filter 1000
		record intel_pt//u --filter "tracestop 0x0/0x100000 @ /usr/bin/gzip" gzip -c /etc/passwd
		judge tracestop 1000
		;;
	interrupts)
		# Data may be lost in so small a buffer; an NMI that Linux does not know would
		# be a panic.
		before=$(pmis)
		record intel_pt//u -m ,64K sh "$tap_work/programs"
		ok "recorded: interrupts" status_is 0
		ok full_topa_regions_interrupt_linux test "$(pmis)" -gt "$before"
		;;
	snapshot)
		record intel_pt// --kcore -a --snapshot=e262144 true
		judge snapshot 100000 --cut
		;;
	esac
done
done_testing
