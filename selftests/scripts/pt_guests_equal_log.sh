#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: the flow of KVM guests and of their host under kvm_amd, traced by an emulated
# Intel PT, is decoded by libipt branch by branch as the emulator's log says, with each of
# 10,000 exits that KVM counted.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

out=$tap_work/share
mkdir "$out"
# Of many kinds, a few; the host's flow is short for those that KVM handles itself. An
# entry that fails is an exit for KVM, but no guest is entered.
KINDS=pio_out,pio_in,mmio_read,mmio_write,cpuid,rdmsr,wrmsr,hypercall,hypercall_unknown,hlt,npf,exception
guests() {
	scripts/lab run --pt=log --timeout 1200 --out "$out" -- selftests/vmm/pt_record /out/trace sh -c \
		"taskset -c 0 selftests/vmm/microvm --kinds $KINDS --count 20 &&
		taskset -c 0 selftests/vmm/microvm --kinds cpuid,hypercall --count 5000"
}

# figure NAME: of what pt_compare printed
figure() {
	sed -n "s/.*[ ,]\([0-9]*\) $1.*/\1/p" "$out/equal"
}

run guests
ok guests_are_traced status_is 0
exits=$(sed -n 's/^total exits=\([0-9]*\) .*/\1/p' "$tap_work/out" | awk '{ sum += $1 } END { print sum }')
# It runs here, where it is fast.
# shellcheck disable=SC2016
run scripts/lab chroot --no-build --out "$out" -- \
	sh -c 'selftests/pt-emu/log/pt_compare /out/pt-log.0 /out/trace >/out/equal'
ok guests_and_host_decoded_by_libipt_as_logged status_is 0
sed 's/^/# /' "$out/equal"
ok all_exits_of_kvm_are_in_the_trace test "$(figure exits)" -eq "$exits"
ok there_are_10000_exits test "$exits" -ge 10000
ok each_exit_has_its_entry test "$(figure entries)" -eq "$exits"
done_testing
