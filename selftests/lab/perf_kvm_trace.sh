#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: perf kvm-trace, run by perf as one of its commands, records and reports
# every exit that KVM counted, of all VMs or of the one that is named, also live; shows
# a vCPU that is not entered again; and leaves the module's parameters as they were.

cd "$(dirname -- "$0")/.." || exit 1
DATA=$(mktemp -d) || exit 1
PARAMETERS=/sys/module/kvm_trace/parameters
export TMPDIR="$DATA"
number=0
failed=0
running=

bail() {
	echo "Bail out! $*"
	exit 1
}

# result NAME EXPECTED FOUND
result() {
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $number $1"
	else
		echo "not ok $number $1"
		echo "# expected $2, found $3"
		failed=$((failed + 1))
		sed 's/^/# /' "$DATA/err" | tail -n 20
	fi
}

finish() {
	for pid in $running; do
		kill -KILL "$pid" 2>/dev/null
	done
	rm -rf "$DATA"
}

kvm_trace() {
	perf kvm-trace "$@" 2>"$DATA/err"
}

# vms_in FILE: the processes whose VMs a report by VM has.
vms_in() {
	awk '$1 ~ /^[0-9]/ { print $2 }' "$1" | paste -s -d ' '
}

# until_is COMMAND...: waits, 200 seconds at most, until it succeeds.
until_is() {
	for _ in $(seq 2000); do
		"$@" && return
		sleep 0.1
	done
	bail "waited in vain: $*"
}

# exits_of VCPUS: round trips that microvm told of; the last one of a vCPU stays open.
exits_of() {
	sed -n 's/^total exits=\([0-9]*\) .*/\1/p' "$DATA/out" | awk -v vcpus="$1" '{ print $1 - vcpus }'
}

# reported FILE: round trips in all its reports.
reported() {
	awk '$1 == "all" { sum += $2 } END { print sum + 0 }' "$1"
}

state() {
	cat $PARAMETERS/words $PARAMETERS/batch_words $PARAMETERS/batch_hypercalls | paste -s -d ' '
}

has_ended() {
	! kill -0 "$1" 2>/dev/null
}

modprobe -q kvm_amd || modprobe -q kvm_intel || bail "neither kvm_amd nor kvm_intel can be loaded"
modprobe kvm_trace || bail "kvm_trace cannot be loaded"
trap finish EXIT
: >"$DATA/err"
echo "TAP version 13"
echo 1..14
state=$(state)

for how in '' --batch; do
	kvm_trace record $how --words all -o "$DATA/$how.data" -- \
		vmm/microvm --vms 2 --kinds cpuid,pio_out,mmio_read,hlt --count 200 >"$DATA/out"
	result "record_${how#--}_ends_with_the_command" 0 $?
	kvm_trace report -i "$DATA/$how.data" >"$DATA/report"
	result "report_${how#--}_counts_what_KVM_counted" "$(exits_of 2)" "$(reported "$DATA/report")"
	kvm_trace script -i "$DATA/$how.data" >"$DATA/lines"
	result "script_${how#--}_prints_each_of_them" "$(exits_of 2)" "$(grep -c ' kvm_trace:vmexit: vm ' "$DATA/lines")"
done
sed 's/^/# /' "$DATA/report" | head -n 4
result words_are_as_they_were "$state" "$(state)"

# A guest with a name, which runs its firmware again and again; and one without.
qemu-system-x86_64 -name guest=lab,debug-threads=on -M pc -accel kvm -m 32 -nodefaults \
	-no-user-config -display none -boot reboot-timeout=0 </dev/null >"$DATA/qemu" 2>&1 &
lab=$!
vmm/microvm --kinds cpuid,pio_out --count 100000000 >/dev/null &
other=$!
running="$lab $other"
named() {
	perf kvm-trace record --list-vms | grep -q -x lab
}
until_is named
kvm_trace record --vm lab -o "$DATA/lab.data" -- sleep 2
kvm_trace report --by vm -i "$DATA/lab.data" >"$DATA/report"
result record_of_a_name_has_only_that_VM "$lab" "$(vms_in "$DATA/report")"

# perf itself does not pass signals on to the command.
perf-kvm-trace record --batch -o "$DATA/all.data" >/dev/null 2>"$DATA/err" &
recording=$!
running="$running $recording"
until_is test -s "$DATA/all.data"
sleep 1
kill -STOP $other
sleep 1
kvm_trace pending --older 500ms --vm $other >"$DATA/pending"
result a_vCPU_that_is_not_entered_again_is_pending "$other" "$(awk 'NR == 2 { print $2 }' "$DATA/pending")"
sed 's/^/# /' "$DATA/pending"
kill -CONT $other
kill -TERM $recording
wait $recording
result a_signal_ends_record_without_an_error 0 $?
kill -KILL $other
kill -KILL $lab
until_is has_ended $other
kvm_trace report --vm lab -i "$DATA/all.data" --by vm >"$DATA/report"
result report_knows_the_name_of_a_VM_that_is_gone "$lab" "$(vms_in "$DATA/report")"

kvm_trace timeline -i "$DATA/.data" -o "$DATA/t.json"
result timeline_is_made 0 $?

perf-kvm-trace top -d 1 --by vm >"$DATA/top" 2>"$DATA/err" &
top=$!
running=$top
# perf opens its events long before it enables them: a first report must come.
shows_a_report() {
	vmm/microvm --kinds cpuid --count 100 >/dev/null
	grep -q '^ *all ' "$DATA/top"
}
until_is shows_a_report
vmm/microvm --kinds cpuid,hlt --count 2000 >"$DATA/out" &
vmm=$!
wait $vmm
kill -TERM $top
wait $top
result top_ends_without_an_error 0 $?
result the_reports_of_top_have_every_exit "$(exits_of 1)" \
	"$(awk -v pid=$vmm '$2 == pid { sum += $3 } END { print sum + 0 }' "$DATA/top")"
echo "# Totals: pass:$((number - failed)) fail:$failed skip:0"
[ $failed -eq 0 ]
