#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs tests one after the other: runner.sh 'COMMAND [ARGUMENTS]'... A test that
# hangs is ended, and is the last one; what the lines mean is judged by scripts/lib/tap.awk.
#
# 'timeout=S COMMAND' gives a test S seconds instead of 300.

PATH=$PATH:$PWD/selftests/lab
for command; do
	limit=300
	case $command in
	timeout=*)
		limit=${command%% *}
		limit=${limit#timeout=}
		command=${command#* }
		;;
	esac
	echo "# test: $command"
	# The mark tells a complaint in the kernel's log which test it belongs to.
	[ -z "${KVM_TRACE_LAB-}" ] || echo "test: $command" >/dev/kmsg
	start=$(date +%s.%N)
	timeout -k 10 "$limit" sh -c "$command" </dev/null 2>&1
	status=$?
	echo "# end: $status $(date +%s.%N) $start"
	# What it has left behind would be the next one's.
	case $status in
	124 | 137) break ;;
	esac
done
