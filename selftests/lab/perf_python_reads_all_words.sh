#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: a Python script of perf gets every record, also with all words: the
# tail is bytes to it and not a string, of which perf makes text or dies.

cd "$(dirname -- "$0")/../.." || exit 1
DATA=$(mktemp -d) || exit 1
trap 'rm -rf "$DATA"' EXIT

bail() {
	echo "Bail out! $*"
	exit 1
}

modprobe -q kvm_amd || modprobe -q kvm_intel || bail "neither kvm_amd nor kvm_intel can be loaded"
modprobe kvm_trace || bail "kvm_trace cannot be loaded"
echo all >/sys/module/kvm_trace/parameters/words
perf record -q -B -N --synth no -a -e kvm_trace:vmexit -o "$DATA/perf.data" -- \
	selftests/vmm/microvm --kinds mmio_read,mmio_write,cpuid,rdmsr,pio_out --count 20 \
	>"$DATA/out" 2>&1 || bail "perf record: $(cat "$DATA/out")"
cat >"$DATA/lengths.py" <<'END'
def kvm_trace__vmexit(event, context, cpu, s, ns, pid, comm, chain,
                      host_ns, vm, seq, tail, vcpu, reason, flags, isa, cls):
    print("tail", type(tail).__name__, len(tail) > 0)
END
echo "TAP version 13"
echo 1..1
records=$(perf script -i "$DATA/perf.data" 2>/dev/null | grep -c kvm_trace:vmexit)
perf script -i "$DATA/perf.data" -s "$DATA/lengths.py" >"$DATA/text" 2>"$DATA/err"
status=$?
read_whole=$(grep -c '^tail bytearray True$' "$DATA/text")
if [ $status -eq 0 ] && [ "$records" -ge 100 ] && [ "$read_whole" -eq "$records" ]; then
	echo "ok 1 perf_python_reads_all_words"
else
	echo "# status $status, $records records, $read_whole read whole"
	sort "$DATA/text" | uniq -c | sed 's/^/# /' | head
	sed 's/^/# /' "$DATA/err" | tail -n 5
	echo "not ok 1 perf_python_reads_all_words"
fi
echo default >/sys/module/kvm_trace/parameters/words
