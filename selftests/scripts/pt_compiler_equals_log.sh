#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: gcc that looks through a C program, recorded by perf on an emulated Intel PT, is
# decoded by libipt and by perf without an error, and branch by branch as the emulator's
# log says. Decoded on this machine: in L1 it would take minutes. The compiler makes no code
# of the program: that is more than three times the instructions.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

out=$tap_work/share
mkdir "$out"
cat >"$out/source.c" <<'END'
#include <stdio.h>
#include <stdlib.h>

int chosen(const int *a, int n)
{
	int sum = 0;

	while (n--)
		sum += a[n] > 3 ? a[n] : sum;
	return sum;
}
END

# perf here finds all programs, but not the vDSO of L1's kernel.
run scripts/lab run --pt=log --cpu intel --timeout 1200 --out "$out" -- sh -euc '
	perf record -q -o /out/perf.data -m,64M -e intel_pt//u gcc -fsyntax-only /out/source.c
	mkdir /out/debug
	cp -a /root/.debug/.build-id "/root/.debug/[vdso]" /out/debug'
recorded() {
	status_is 0 && ! stderr_has 'lost|error'
}
ok a_compiler_is_recorded recorded

in_root() {
	run scripts/lab chroot --no-build --out "$out" -- "$@"
}

# equal LEAST: that many steps, and nothing else
equal() {
	sed 's/^/# /' "$tap_work/out"
	status_is 0 && [ "$(sed -n 's/ steps equal.*//p' "$tap_work/out")" -ge "$1" ]
}

# What starts the compiler is less than a tenth of it.
in_root selftests/pt-emu/log/pt_compare /out/pt-log.0 /out/perf.data
ok a_compiler_decoded_by_libipt_as_logged equal 2000000

# perf does not tell of branches that are not taken.
# shellcheck disable=SC2016
in_root sh -euc '
	perf --buildid-dir /out/debug script -i /out/perf.data -C 0 --itrace=be -F ip,addr >/out/text 2>/out/errors
	! grep . /out/errors
	selftests/pt-emu/log/pt_compare --perf /out/text /out/pt-log.0 /out/perf.data'
ok a_compiler_decoded_by_perf_as_logged equal 1000000
done_testing
