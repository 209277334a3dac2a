#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Records a guest with perf kvm-trace record --pt=guest, for scripts/pt_modes_equal_log.sh,
# which compares outside: record.pt, a perf.data, and the guest's code.
#
#	pt_record.sh DIRECTORY ROUNDS
set -eu

kinds=cpuid,pio_out,mmio_read,mmio_write,rdmsr,wrmsr,hypercall,hlt

# A guest with the same kinds has the same code.
selftests/vmm/microvm --kinds $kinds --count 1 --memory "$1/code" >/dev/null
perf-kvm-trace record --pt=guest --guest-code "$1/code@0" -o "$1/record.pt" -- \
	selftests/vmm/microvm --kinds $kinds --count "$2" 2>&1 | sed 's/^/# /'
