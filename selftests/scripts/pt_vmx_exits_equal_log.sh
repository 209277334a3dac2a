#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Guests of kvm_intel that make so many exits of each kind, first traced by the VMCS
# controls, then with all else by perf record -a: what Bochs' emulated Intel PT wrote to
# memory is what was executed, step by step. Of the host's steps there are a thousand
# for an exit: boots that share the exits keep the log small.
#
#	pt_vmx_exits_equal_log.sh [BY-CONTROLS [BY-SYSTEM [BOOTS]]]
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

least=${1:-3000} rounds=${2:-200} boots=${3:-1}
kinds=55

# by_controls: each kind had its exits, all boots together.
by_controls() {
	awk -v least="$least" -v kinds="$kinds" '
		$1 == "exits" { count[$2] += $3 }
		END {
			for (kind in count) {
				n++
				sum += count[kind]
				if (count[kind] < least && ++bad)
					print "# " kind " has " count[kind] " exits"
			}
			print "# " sum " exits of " n " kinds"
			exit bad || n != kinds
		}' "$tap_work/record"
}

# by_system: each guest of several kinds had an exit of each kind in each round.
by_system() {
	awk -v kinds="$kinds" '
		$1 == "system" {
			here = split($3, names, ",")
			n += here
			sum += $4
			if ($4 < $2 * here && ++bad)
				print "# " $3 " have " $4 " exits in " $2 " rounds"
		}
		END { print "# " sum " exits"; exit bad || n % kinds || !n }' "$tap_work/record"
}

: >"$tap_work/record"
boot=0
while [ $boot -lt "$boots" ]; do
	mkdir "$tap_work/$boot"
	run scripts/lab run --cpu vmx --kernel 6.1 --pt=log,raw --timeout 3600 --out "$tap_work/$boot" -- \
		selftests/lab/pt_vmx_record.sh exits $(((least + boots - 1) / boots)) $(((rounds + boots - 1) / boots))
	ok "exits_are_traced: boot $boot" status_is 0
	cat "$tap_work/out" >>"$tap_work/record"
	run scripts/lab chroot --no-build --kernel 6.1 --out "$tap_work/$boot" -- \
		selftests/pt-emu/log/pt_compare /out/pt-log.0 /out/pt-raw.0
	sed 's/^/# /' "$tap_work/out"
	ok "guests_and_host_equal_the_log: boot $boot" status_is 0
	rm -rf "${tap_work:?}/$boot"
	boot=$((boot + 1))
done
grep ^reasons "$tap_work/record" | sed 's/^/# /'
ok "each_kind_has_exits_by_the_vmcs_controls: $least" by_controls
ok "each_kind_has_exits_under_system_wide_tracing: $rounds, but for pio_kernel" by_system
done_testing
