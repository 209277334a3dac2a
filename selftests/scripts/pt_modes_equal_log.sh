#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: what each mode of kvm_pt traces, libipt decodes as the emulator's log says what
# was executed, under kvm_amd in QEMU and kvm_intel in Bochs; and perf, too, what perf
# kvm-trace records of a guest, whose exits are where the guest was left, in lines and in a
# timeline, and whose functions have the names of a kallsyms. And the module
# accesses the MSRs of Intel PT as often as Documentation/pt-modes.rst says, and not otherwise.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# IA32_RTIT_CTL of the streams, as pt_modes opens them, and perf kvm-trace: PSBFreq tells them
# apart. Logs of two CPUs are merged by a guest's time, which begins anew with each VM.
GUEST=1002d0d OTHER=2002d0d HOST=3002d0d RECORD=2d0d

# lab DIRECTORY OPTIONS... -- COMMAND
lab() {
	out=$tap_work/$1
	mkdir -p "$out"
	shift
	run scripts/lab run --timeout 900 --out "$out" "$@"
	grep '^#' "$tap_work/out"
}

passed() {
	status_is 0 && ! grep -q '^not ok' "$tap_work/out"
}

# equal NAME CTL LEAST [--cut]: a trace, with the logs of all CPUs.
equal() {
	name=$1 ctl=$2 least=$3
	shift 3
	logs=
	for log in "$out"/pt-log.*; do
		logs="$logs /out/${log##*/}"
	done
	# shellcheck disable=SC2086
	run scripts/lab chroot --no-build --kernel "$kernel" --out "$out" -- \
		selftests/pt-emu/log/pt_compare --ctl $ctl "$@" $logs "/out/$name.pt"
	cp "$tap_work/out" "$out/equal"
	sed "s/^/# $name: /" "$out/equal"
	status_is 0 && [ "$(figure 'steps equal')" -ge "$least" ]
}

# chroot COMMAND...: outside of L1, with its programs and files
chroot() {
	run scripts/lab chroot --no-build --kernel "$kernel" --out "$out" -- "$@"
}

# decoded: perf script takes the recording without an option, and has no error.
decoded() {
	chroot perf script -i /out/record.pt
	status_is 0 && grep -q ' branches:.* => ' "$tap_work/out" &&
		! grep -q 'instruction trace error' "$tap_work/out"
}

# left_where_recorded LEAST: so many exits at least have the RIP at which the guest is left
# in the line before, but for a hypercall's own or who the vCPU is. Their number is left in left.
left_where_recorded() {
	chroot perf-kvm-trace pt -i /out/record.pt --flow instructions
	cp "$tap_work/out" "$out/flow"
	awk -v least="$1" -v left_in="$out/left" '
	/ leaves at 0x/ { sub(/.* leaves at /, ""); left = $1; next }
	/ kvm_trace:(hypercall|vcpu): / { next }
	/ kvm_trace:vmexit: / && left != "" {
		sub(/.* rip /, "")
		$1 == left ? same++ : other++
	}
	{ left = "" }
	END {
		printf "# %d exits where they were recorded, %d elsewhere\n", same, other
		print same + 0 >left_in
		exit other || same < least
	}' "$tap_work/out"
}

# For awk: a number in hex, near enough.
HEX='function hex(text,    i, n) {
	for (i = 1; i <= length(text); i++)
		n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}'

# named: with a kallsyms that has a function at each RIP of an exit, as records tell it, each
# address is named by the last one that is not behind it; at_ and its address is its name.
named() {
	sed -n 's/.* kvm_trace:vmexit: .* rip 0x\([0-9a-f]*\) .*/\1 T at_\1/p' "$out/flow" |
		sort -u >"$out/kallsyms"
	chroot perf-kvm-trace pt -i /out/record.pt --kallsyms /out/kallsyms
	awk -v exits="$(cat "$out/left")" "$HEX"'
	NR == FNR { at[++n] = hex($1); next }
	!/: *(enters at|leaves at|call|interrupt|return|jump) 0x/ { next }
	{
		sub(/.* 0x/, "0x")
		ip = hex(substr($1, 3))
		last = 0
		for (i = 1; i <= n; i++)
			if (at[i] <= ip && at[i] > last)
				last = at[i]
		split($2, part, /\+0x/)
		if (!last && NF == 1)
			next
		of = hex(substr(part[1], 4))
		if (of == last && ip == of + hex(part[2]))
			good++
		else if (bad++ < 5)
			print "# " $0
	}
	END {
		printf "# %d addresses named by %d functions, %d wrong\n", good, n, bad
		exit bad || !exits || good < exits
	}' "$out/kallsyms" "$tap_work/out"
}

# in_timeline: so many exits as left_where_recorded counted end function slices of the timeline
# of the same recording. Slices are inside each other, none goes on behind an exit, and their
# names are those of the kallsyms, or addresses before it.
in_timeline() {
	chroot perf-kvm-trace timeline --itrace --kallsyms /out/kallsyms -i /out/record.pt -o /out/timeline.json
	status_is 0 || return
	awk -v exits="$(cat "$out/left")" '
	/"ph":"X","cat":"host"/ { split($0, part, /"ts":|,"dur"/); host[part[2]] = 1 }
	/"ph":"B","cat":"function"/ {
		begins++
		depth++
		bad += !/"name":"(at_[0-9a-f]+|0x[0-9a-f]+)"/
		named += /"name":"at_/
	}
	/"ph":"E"/ {
		split($0, part, /"ts":|}/)
		ends[part[2]] = 1
		bad += --depth < 0
	}
	/"name":"trace lost"/ { lost++ }
	END {
		for (ts in ends)
			together += ts in host
		printf "# %d function slices, %d of them with names, end at %d exits; %d times lost, %d wrong\n",
			begins, named, together, lost, bad
		exit depth || bad || lost || together != exits || named < exits
	}' "$out/timeline.json"
}

# of_record LEAST OFFSET: perf kvm-trace record --pt=guest; so many exits at least.
of_record() {
	ok "recording_is_decoded_by_perf: $of" decoded
	ok "recording_equals_the_log_by_libipt: $of" equal record $RECORD "$1" --guest "$2"
	chroot perf script -i /out/record.pt --itrace=be -F hw:ip,addr
	grep '=>' "$tap_work/out" >"$out/record.txt"
	ok "recording_equals_the_log_by_perf: $of" equal record $RECORD "$1" --guest "$2" --perf /out/record.txt
	ok "exits_are_where_the_guest_is_left: $of" left_where_recorded "$1"
	ok "functions_have_the_names_of_kallsyms: $of" named
	ok "exits_end_functions_in_the_timeline: $of" in_timeline
}

# figure NAME: of what pt_compare printed
figure() {
	sed -n "s/^\(.*[ ,]\|\)\([0-9][0-9]*\) $1.*/\2/p" "$out/equal"
}

# no_host: not one step of the host was traced.
no_host() {
	[ "$(figure 'steps in the host')" -eq 0 ]
}

no_guest() {
	[ "$(figure 'in guests')" -eq 0 ]
}

# all_exits NAME LEAST: those that KVM counted are in the trace, and at least so many.
all_exits() {
	exits=$(cat "$out/$1.exits")
	echo "# $1: $exits exits"
	[ "$exits" -ge "$2" ] && [ "$(figure starts)" -eq "$exits" ]
}

# of_terms METHOD PSBFREQ: traces of pt_mode_terms, which PSBFreq and the other bits of
# IA32_RTIT_CTL tell apart. Its guest makes 300 rounds.
of_terms() {
	ok "kernel_and_user_equal_the_log: $of, $1" equal "all-$1" "${2}002d0d" 2400
	ok "user_alone_equals_the_log: $of, $1" equal "user-$1" "${2}002d09" 1500
	ok "kernel_alone_equals_the_log: $of, $1" equal "kernel-$1" "${2}002d05" 1200
	ok "filter_equals_the_log: $of, $1" equal "filter_user-$1" "10${2}002d0d" 600
	ok "filter_has_that_range_alone: $of, $1" test "$(figure calls)" -eq 300
	ok "filter_of_the_kernel_equals_the_log: $of, $1" equal "filter_kernel-$1" "10${2}002d0d" 600
	ok "stopped_trace_equals_the_log: $of, $1" equal "stop-$1" "20${2}002d0d" 2400
	ok "cyc_and_mtc_equal_the_log: $of, $1" equal "times-$1" "${2}00ef0f" 2400
}

# accesses PHASE LEAST-R MOST-R LEAST-W MOST-W: RDMSR and WRMSR a round trip; what
# starts and ends a stream is outside of a phase. A host's stream is looked at once a tick.
accesses() {
	awk -v name="$1" -v rl="$2" -v rm="$3" -v wl="$4" -v wm="$5" "$HEX"'
	NR == FNR { if ($1 == name) { from = hex($2); to = hex($3); exits = $4 } next }
	{ at = hex($1); if (at >= from && at <= to) tolower($2) == "r" ? r++ : w++ }
	END {
		printf "# %s: %d RDMSR, %d WRMSR, %d exits\n", name, r, w, exits
		exit !(exits && r >= rl * exits && r <= rm * exits && w >= wl * exits && w <= wm * exits)
	}' "$out/phases" "$out/pt-msrs.0"
}

# as_found PHASE: of mode guest: at the first access of each round trip all MSRs are what they
# were at the phase's start, after what was written since. 560 tells whose values they are.
as_found() {
	awk -v name="$1" "$HEX"'
	NR == FNR { if ($1 == name) { from = hex($2); to = hex($3); exits = $4 } next }
	{ at = hex($1) }
	at >= from && !started++ { for (m in now) found[m] = now[m] }
	at >= from && at <= to && $3 == "570" && $2 == "r" && now["560"] == found["560"] {
		trips++
		for (m in found) {
			if (now[m] != found[m] && m != "570" && bad++ < 5)
				print "# " name ": at " $1 " MSR " m " is " now[m] " and was " found[m]
		}
		if ($4 != found["570"])
			bad++
	}
	{ now[$3] = $4 }
	END {
		print "# " name ": " trips " round trips begin with what was found"
		exit bad || trips < exits
	}' "$out/phases" "$out/pt-msrs.0"
}

# host_as_found PHASE CTL: of mode host_guest: whenever the host's stream goes on, which has
# that CTL, all MSRs are what they were when it was paused, and its place was read before it
# was written over.
host_as_found() {
	awk -v name="$1" -v ctl="$2" "$HEX"'
	# Of STATUS without the bits that only read.
	function value(msr, text,    n) {
		n = hex(text)
		return msr == "571" ? n - n % 8 : n
	}
	NR == FNR { if ($1 == name) { from = hex($2); to = hex($3); exits = $4 } next }
	{ at = hex($1); inside = at >= from && at <= to; write = tolower($2) == "w" }
	inside && write && $3 == "570" && $4 == ctl && paused {
		trips++
		paused = 0
		for (m in host) {
			if (now[m] != host[m] && bad++ < 5)
				print "# " name ": at " $1 " MSR " m " is " now[m] " and was " host[m]
		}
	}
	paused && $3 != "570" && !($3 in host) {
		host[$3] = write ? now[$3] : value($3, $4)
		if (write && ($3 == "561" || $3 == "571") && bad++ < 5)
			print "# " name ": at " $1 " MSR " $3 " was not read"
	}
	inside && write && $3 == "570" && $4 == 0 && ctl_now == ctl { paused = 1; delete host }
	$3 == "570" { ctl_now = $4 }
	{ now[$3] = value($3, $4) }
	END {
		print "# " name ": the host goes on " trips " times as it was paused"
		exit bad || !exits || trips < exits
	}' "$out/phases" "$out/pt-msrs.0"
}

# untouched TIMES: no MSR was written in any of the times of that file.
untouched() {
	awk "$HEX"'
	NR == FNR { from[NR] = hex($1); to[NR] = hex($2); n = NR; next }
	tolower($2) == "w" {
		at = hex($1)
		for (i = 1; i <= n; i++)
			if (at >= from[i] && at <= to[i] && bad++ < 5)
				print "# at " $1 " MSR " $3 " is written"
	}
	END { print "# " n " refusals"; exit bad || n < 30 }' "$out/$1" "$out/pt-msrs.0"
}

# silent PHASE
silent() {
	accesses "$1" 0 0 0 0
}

# many_exits KERNEL: micro VMM and Linux guest under kvm_amd, method window
many_exits() {
	kernel=$1
	lab "many-$1" --kernel "$1" --pt=log -- sh -euc '
		selftests/lab/pt_modes /out 800 1 counted
		selftests/lab/pt_mode_boot /out/boot.pt
		selftests/lab/pt_record.sh /out 300'
	ok "guests_are_traced: $1" passed
	ok "guest_equals_the_log: $1" equal counted-window $GUEST 1000000
	ok "all_of_10000_exits_are_traced: $1" all_exits counted-window 10000
	ok "linux_guest_equals_the_log: $1" equal boot $GUEST 300000 --cut
	of=$1
	of_record 1000 0
	rm -rf "$out"
}

# of_each_mode METHOD TRIPS: traces of one CPU in the last lab; so many round trips are of
# all kinds.
of_each_mode() {
	ok "kinds_equal_the_log: $of, $1" equal "kinds-$1" $GUEST 1000
	ok "kinds_are_of_$2_round_trips: $of, $1" test "$(figure starts)" -ge "$2"
	case $1 in
	vmcs) ok "no_host_step_is_traced: $of" no_host ;;
	esac
	ok "host_equals_the_log: $of, $1" equal "host-$1" $HOST 10000
	ok "host_has_no_guest: $of, $1" no_guest
	ok "host_of_both_equals_the_log: $of, $1" equal "both_host-$1" $HOST 10000
	ok "host_of_both_has_no_guest: $of, $1" no_guest
	ok "guest_of_both_equals_the_log: $of, $1" equal "both_guest-$1" $GUEST 300
	ok "guest_of_both_has_all_exits: $of, $1" all_exits "both_guest-$1" 50
	ok "snapshot_equals_the_log: $of, $1" equal "snapshot-$1" $GUEST 100 --cut
	ok "full_ring_equals_the_log: $of, $1" equal "full-$1" $GUEST 1000 --cut
	ok "one_vm_equals_the_log: $of, $1" equal "vm_one-$1" $GUEST 100
	ok "the_other_vm_equals_the_log: $of, $1" equal "vm_two-$1" $OTHER 100
	ok "killed_vmm_equals_the_log: $of, $1" equal "killed-$1" $GUEST 100
	ok "last_of_many_events_equals_the_log: $of, $1" equal "closed-$1" $GUEST 30
}

of_two_cpus() {
	ok "moving_vcpu_equals_the_logs: $of, $1" equal "moves-$1" $GUEST 1000
	ok "vcpu_of_an_offline_cpu_equals_the_logs: $of, $1" equal "offline-$1" $OTHER 100
}

of_no_mode() {
	for phase in off off_recorded system idle off_again; do
		ok "no_access_of_an_msr: $of, $phase" silent $phase
	done
}

many_exits 6.12
many_exits 7.3

kernel=6.12 of=svm
lab svm --smp 2 --pt=log,msrs,ret-compression -- sh -euc '
	selftests/lab/pt_modes /out 20 5
	selftests/lab/pt_mode_terms /out
	selftests/lab/pt_mode_phases /out/phases'
ok "modes_are_traced: $of" passed
of_each_mode window 500
of_two_cpus window
of_terms window 5
of_no_mode
ok "accesses_are_the_floor: $of, guest" accesses guest_window 3 4 7 8
ok "accesses_are_the_floor: $of, host" accesses host_window 0 3 2 2.5
ok "msrs_are_as_found_at_each_round_trip: $of" as_found guest_window
ok "accesses_are_the_floor: $of, host_guest" accesses host_guest_window 4 6 9 10
ok "host_goes_on_as_it_was_paused: $of" host_as_found host_guest_window $GUEST

kernel=6.1 of=vmx
lab vmx --cpu vmx --kernel 6.1 --pt=log,msrs,ret-compression -- sh -euc '
	selftests/lab/pt_mode_refusals /out/refused
	selftests/lab/pt_modes /out 20 25
	selftests/lab/pt_mode_terms /out
	selftests/lab/pt_mode_phases /out/phases
	selftests/lab/pt_record.sh /out 150'
ok "modes_are_traced: $of" passed
for method in vmcs window; do
	ok "guest_equals_the_log: $of, $method" equal counted-$method $GUEST 300
	ok "all_exits_are_traced: $of, $method" all_exits counted-$method 200
	of_each_mode $method 3000
	ok "accesses_are_the_floor: $of, host, $method" accesses host_$method 0 1 2 2.1
	ok "msrs_are_as_found_at_each_round_trip: $of, $method" as_found guest_$method
	ok "host_goes_on_as_it_was_paused: $of, $method" host_as_found host_guest_$method $GUEST
done
of_terms vmcs 4
of_terms window 5
ok "refusals_write_no_msr: $of" untouched refused
of_no_mode
# Method vmcs: the first time is the guest's, and the recording has the host's.
chroot perf script -i /out/record.pt
of_record 100 "$(sed -n 's/.* tsc_offset \(-*[0-9]*\) .*/\1/p' "$tap_work/out" | head -n 1)"
ok "accesses_are_the_floor: $of, guest, vmcs" accesses guest_vmcs 4 5 6 7
ok "accesses_are_the_floor: $of, guest, window" accesses guest_window 3 4 7 8
ok "accesses_are_the_floor: $of, host_guest, vmcs" accesses host_guest_vmcs 5 7 8 8
ok "accesses_are_the_floor: $of, host_guest, window" accesses host_guest_window 4 6 9 10
rm -rf "$out"

of=vmx
lab vmx-two --cpu vmx --kernel 6.1 --smp 2 --pt=log -- selftests/lab/pt_modes /out 5 2 moves offline
ok "modes_are_traced: $of, two CPUs" passed
for method in vmcs window; do
	of_two_cpus $method
done
rm -rf "$out"

lab not-in-vmx --cpu vmx --kernel 6.1 --pt=no-vmx,msrs -- selftests/lab/pt_mode_without not_in_vmx
ok "modes_are_refused_where_vmx_does_not_trace" passed
# shellcheck disable=SC2016
ok "and_no_msr_is_written" awk 'tolower($2) != "r" { bad = 1 } END { exit bad || !NR }' "$out/pt-msrs.0"

done_testing
