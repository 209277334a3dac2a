#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: the flow of KVM guests and of their host under kvm_amd, traced by an emulated
# Intel PT, is decoded by libipt branch by branch as the emulator's log says, with each of
# 10,000 exits that KVM counted; and so is a guest that boots.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

out=$tap_work/share
mkdir "$out"
# Of many kinds, a few; the host's flow is short for those that KVM handles itself.
KINDS=pio_out,pio_in,mmio_read,mmio_write,cpuid,rdmsr,wrmsr,hypercall,hypercall_unknown,hlt,npf,exception
FAILED=20
guests() {
	scripts/lab run --pt=log --timeout 1200 --out "$out" -- sh -c \
		"selftests/vmm/pt_record /out/trace sh -c '
			taskset -c 0 selftests/vmm/microvm --kinds $KINDS,entry_failure --count $FAILED &&
			taskset -c 0 selftests/vmm/microvm --kinds cpuid,hypercall --count 5000' &&
		modprobe msr && selftests/vmm/pt_record --fragments /out/boot scripts/guest"
}

# compare OPTIONS... TRACE: runs here, where it is fast; prints into /out/equal.
compare() {
	# shellcheck disable=SC2016
	run scripts/lab chroot --no-build --out "$out" -- \
		sh -c 'exec selftests/pt-emu/log/pt_compare "$@" >/out/equal' sh "$@"
}

# figure NAME: of what pt_compare printed
figure() {
	sed -n "s/.*[ ,]\([0-9]*\) $1.*/\1/p" "$out/equal"
}

run guests
ok guests_are_traced status_is 0
exits=$(sed -n 's/^total exits=\([0-9]*\) .*/\1/p' "$tap_work/out" | awk '{ sum += $1 } END { print sum }')
compare /out/pt-log.0 /out/trace
ok guests_and_host_decoded_by_libipt_as_logged status_is 0
sed 's/^/# /' "$out/equal"
ok all_exits_of_kvm_are_in_the_trace test "$(figure exits)" -eq "$exits"
ok there_are_10000_exits test "$exits" -ge 10000
# KVM counts an exit, but no guest was entered.
ok each_exit_has_its_entry_unless_that_failed test "$(figure entries)" -eq $((exits - FAILED))
# Fragments, from the firmware's real mode on.
fragments() {
	steps=0 count=0
	for trace in "$out"/boot.*; do
		compare --cut /out/pt-log.0 "/out/${trace##*/}"
		status_is 0 || return
		sed 's/^/# /' "$out/equal"
		steps=$((steps + $(sed 's/ .*//' "$out/equal"))) count=$((count + 1))
	done
}
ok guest_that_boots_decoded_by_libipt_as_logged fragments
ok there_are_fragments_of_a_boot test "$count" -ge 4
ok there_are_a_million_steps_of_a_boot test "$steps" -ge 1000000
done_testing
