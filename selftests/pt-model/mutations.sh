#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Does the model see what it is there for? Each file in mutations/ breaks the switch
# in one way, and each hook of the module is left out once: the model has to name a
# rule that is broken then, hooks in mode guest.
#
# A mutation names the rules ("Breaks:"), of which one must be the first to break.
set -eu

cd "$(dirname -- "$0")"
CC=${CC:-gcc}
SWITCH=../../kvm-trace/pt/switch.c
WORK=build/mutation
case=0 failed=0

# result OK NAME: one case of the test.
result() {
	case=$((case + 1))
	if [ "$1" = yes ]; then
		echo "ok $case $2"
	else
		echo "not ok $case $2"
		failed=$((failed + 1))
	fi
}

# The rule that a run of the model names first.
broken_rule() {
	sed -n 's/^# \([a-z_]*\) (.*/\1/p' "$1" | head -n 1
}

# judge NAME "RULES": whether $WORK/log names one of the rules.
judge() {
	rule=$(broken_rule "$WORK/log")
	case " $2 " in
	*" ${rule:-none} "*) result yes "$1, $rule" ;;
	*)
		echo "# expected one of: $2; found: ${rule:-nothing broken}"
		result no "$1"
		;;
	esac
}

set -- mutations/*.sed
hooks='sched_out:1 kvm_fpu:2 kvm_nested_vmenter_failed:4 cpu_offline:8 suspend:16'
echo 'TAP version 13'
# shellcheck disable=SC2086
echo "1..$(($# + $(printf '%s\n' $hooks | wc -l)))"
mkdir -p "$WORK"
objects=$(find build -maxdepth 1 -name '*.o' ! -name switch.o)
for mutation; do
	name=mutation_is_caught:\ $(basename "$mutation" .sed)
	sed -f "$mutation" "$SWITCH" >"$WORK/switch.c"
	if cmp -s "$WORK/switch.c" "$SWITCH"; then
		echo "# $mutation changes nothing"
		result no "$name"
		continue
	fi
	# The mutated code may have variables that it does not use any more.
	# shellcheck disable=SC2086
	"$CC" -std=gnu11 -O2 -w -include stdbool.h -include stddef.h -include ../lib/types.h \
		-I../../kvm-trace/pt -o "$WORK/model" "$WORK/switch.c" $objects
	timeout 600 "$WORK/model" 0 >"$WORK/log" 2>&1 || :
	judge "$name" "$(sed -n 's/^# Breaks: //p' "$mutation")"
done
for hook in $hooks; do
	timeout 600 ./model "${hook#*:}" 2 >"$WORK/log" 2>&1 || :
	judge "hook_is_needed: ${hook%:*}" 'msrs_are_restored no_vmcs_holds_our_bits'
done
rm -r "$WORK"
echo "# Totals: pass:$((case - failed)) fail:$failed skip:0"
[ $failed -eq 0 ]
