#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: kmemleak, which looks twice, finds nothing that was leaked since the boot, with the
# module loaded and without it.
set -u

kmemleak=/sys/kernel/debug/kmemleak

# An object that is younger than 5 s is none that was leaked.
look() {
	sleep 6
	echo scan >$kmemleak
	sleep 6
	echo scan >$kmemleak
	sed 's/^/# /' $kmemleak
	[ -z "$(cat $kmemleak)" ] || printf 'not '
	echo "ok $1 nothing_leaked_$2"
}

if [ ! -e $kmemleak ]; then
	echo '1..0 # SKIP this kernel has no kmemleak'
	exit 4
fi
echo 1..2
modprobe kvm_trace
look 1 while_loaded
modprobe -r kvm_trace
look 2 once_unloaded
