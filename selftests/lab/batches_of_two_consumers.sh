#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promises: ftrace gets every round trip in batches, to the last when it leaves, also
# while perf records them too, of all CPUs and of a process, and is killed at work;
# and then, perf having been killed alone as well, nothing holds the module.

cd "$(dirname -- "$0")/.." || exit 1
TRACING=/sys/kernel/tracing
EVENTS=$TRACING/events/kvm_trace_batch
DATA=$(mktemp -d) || exit 1
trap 'rm -rf "$DATA"' EXIT
# Guests one behind the other, until there is the file $0.
# shellcheck disable=SC2016
GUESTS='while ! [ -e "$0" ]; do vmm/microvm --kinds cpuid,pio_out,hlt --count 1000; done; echo end'
number=0
failed=0

# result NAME EXPECTED FOUND
result() {
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $number $1"
	else
		echo "not ok $number $1"
		failed=$((failed + 1))
	fi
	echo "# expected $2, found $3"
}

# counted: round trips that microvms tell of; the last one of a VM stays open.
counted() {
	sed -n 's/^total exits=\([0-9]*\) .*/\1/p' | awk '{ sum += $1 - 1 } END { print sum + 0 }'
}

run() {
	vmm/microvm --kinds cpuid,pio_out,hlt --count 500 | counted
}

# give_up REASON FILE: what FILE says, and no more cases
give_up() {
	echo "# $1"
	sed 's/^/# /' "$2"
	touch "$DATA/enough"
	echo 0 >$EVENTS/enable
	exit 1
}

# guests_end: after all that they have begun.
guests_end() {
	touch "$DATA/enough"
	while ! grep -q end "$DATA/out"; do sleep 0.1; done
	rm "$DATA/enough"
}

# await FILE: until there is something in it.
await() {
	while ! [ -s "$1" ]; do
		kill -0 $perf || give_up "perf record has ended" "$DATA/messages"
		sleep 0.1
	done
}

# killed SECONDS PERF-RECORD-ARGUMENTS...: perf, that long after exits began, which are added
# to $exits. Guests begin when it records: it takes a minute to start beside some. A command
# of its own outlives it.
killed() {
	seconds=$1
	shift
	rm -f "$DATA/perf.data"
	: >"$DATA/out"
	perf record -q -e kvm_trace_batch:vmexits -o "$DATA/perf.data" "$@" >>"$DATA/out" 2>"$DATA/messages" &
	perf=$!
	await "$DATA/perf.data"
	case " $* " in
	*' -- '*) ;;
	*) sh -c "$GUESTS" "$DATA/enough" >>"$DATA/out" & ;;
	esac
	await "$DATA/out"
	sleep "$seconds"
	kill -KILL $perf
	wait $perf 2>/dev/null
	guests_end
	exits=$((exits + $(counted <"$DATA/out")))
}

# in_ftrace: round trips in all batches of the buffer, which is emptied.
in_ftrace() {
	sed -n 's/.* vmexits: .* count \([0-9]*\) from seq .*/\1/p' $TRACING/trace |
		awk '{ sum += $1 } END { print sum + 0 }'
	echo >$TRACING/trace
}

modprobe kvm_trace
echo TAP version 13
echo 1..3
echo 16384 >$TRACING/buffer_size_kb

echo 1 >$EVENTS/enable
exits=$(($(run) + $(run)))
echo 0 >$EVENTS/enable
result ftrace_gets_all_round_trips $exits "$(in_ftrace)"

echo 1 >$EVENTS/enable
exits=0
for seconds in 0.3 0.5 0.7 0.9; do
	killed $seconds -a
done
killed 0.6 -- sh -c "$GUESTS" "$DATA/enough"
exits=$((exits + $(run)))
echo 0 >$EVENTS/enable
result ftrace_gets_all_when_perf_is_killed $exits "$(in_ftrace)"

killed 0.6 -a -- sh -c "$GUESTS" "$DATA/enough"
# What a killed perf had open goes after it.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	modprobe -r kvm_trace 2>/dev/null && break
	sleep 1
done
left=$(grep -c '^kvm_trace_buffer ' /proc/slabinfo)
[ ! -d /sys/module/kvm_trace ] || left="the module"
result nothing_is_left 0 "$left"
modprobe kvm_trace
[ $failed -eq 0 ]
