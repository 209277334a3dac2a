#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What selftests/scripts/packages.sh does in the lab with what /out has: kvm_trace.ko, as
# DKMS has built it; a stub; perf of another release of Debian. Prints a word for each
# promise that was kept.
set -u

# refused_with WORDS COMMAND...
refused_with() {
	words=$1
	shift
	! "$@" 2>/tmp/err && grep -q -e "$words" /tmp/err
}

if [ -e /out/stub.ko ]; then
	refused_with 'Operation not supported' insmod /out/stub.ko && dmesg | grep 'kvm_trace: not built for' && echo refused
fi

insmod /out/kvm_trace.ko* || exit
perf record -q -o /tmp/data -e kvm_trace:vmexit -e kvm_trace:vcpu -a -- \
	selftests/vmm/microvm --kinds cpuid --count 1000 >/tmp/vmm
[ "$(perf script -i /tmp/data | grep -c 'SVM CPUID .* host [0-9.]*[mu]s')" -eq 1000 ] && echo recorded

if [ -e /out/perf ]; then
	other() {
		/out/perf/ld-linux-x86-64.so.2 --library-path /out/perf /out/perf/perf "$@"
	}
	other record -q -o /tmp/data -e kvm_trace:vmexit -a -- selftests/vmm/microvm --kinds cpuid --count 10 >/tmp/vmm
	[ "$(other script -i /tmp/data | grep -c 'SVM CPUID .* host [0-9.]*[mu]s')" -eq 0 ] &&
		[ "$(TRACEEVENT_PLUGIN_DIR=/out/perf other script -i /tmp/data | grep -c 'SVM CPUID .* host [0-9.]*[mu]s')" -eq 10 ] &&
		echo found
fi

rmmod kvm_trace
mount -t securityfs securityfs /sys/kernel/security
echo integrity >/sys/kernel/security/lockdown
refused_with 'Key was rejected by service\|Operation not permitted' insmod /out/kvm_trace.ko* &&
	kvm-trace/dkms/secure-boot | grep 'locked down, and .*/kvm_trace.ko.* has no signature' && echo locked
