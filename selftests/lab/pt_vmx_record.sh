#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Records traces of Intel PT in L1 under kvm_intel into a directory, for
# scripts/pt_vmx_equals_log.sh and pt_vmx_exits_equal_log.sh, which compare them with the
# log outside.
#
#	pt_vmx_record.sh one|two DIRECTORY
#	pt_vmx_record.sh exits LEAST ROUNDS
set -eu

module=kvm_trace_test_pt_vmcs
parameters=/sys/module/$module/parameters

# Kinds of exits that want another VM than most do.
irqchip=mmio_apic,mmio_ioapic,tsc_deadline,hlt_timer,self_ipi,self_ipi_window,async_pf
special=ioeventfd,mmio_fast,msr_user,msr_user_error,msr_user_nmi,breakpoint,hv_hypercall

# Programs: a shell that forks, catches signals and dies of faults, compressors, text.
cat >/tmp/programs <<'END2'
trap 'n=$((n + 1))' USR1
n=0 i=0
while [ $i -lt 100 ]; do
	kill -USR1 $$
	i=$((i + 1))
done
sh -c 'kill -SEGV $$'
sh -c 'kill -FPE $$'
gzip -1 </bin/true | gzip -d | cksum
seq 300 | sort -r | tail -n 1
echo $n
END2

# record NAME OPTIONS... -- COMMAND...: of perf, without its chatter
record() {
	name=$1
	shift
	perf record -q -o "$out/$name" "$@" 2>/tmp/perf.err || {
		cat /tmp/perf.err
		exit 1
	}
}

# record_and_decode NAME OPTIONS...: a trace around one program, and what perf makes of
# it here, where the kernel's code is.
record_and_decode() {
	record "$@" --kcore true
	cpus=$(sed -n 's/^processor.*: //p' /proc/cpuinfo)
	for cpu in $cpus; do
		perf script -i "$out/$name" -C "$cpu" --itrace=be -F ip,addr >"$out/$name.$cpu" 2>>"$out/$name.errors"
	done
	mv "$out/$name/data" "$out/data"
	rm -r "${out:?}/$name"
	mv "$out/data" "$out/$name"
}

one() {
	record user.data -e intel_pt//u sh /tmp/programs
	record kernel.data -e intel_pt//k sh -c 'gzip -1 </bin/true | cksum'
	record noretcomp.data -e intel_pt/noretcomp=1,cyc=1,cyc_thresh=2,mtc_period=6/u sh -c 'seq 50 | sort -r >/dev/null'
	record filter.data -e intel_pt//u --filter 'filter 0x0/0x100000 @ /usr/bin/gzip' sh -c 'gzip -1 </bin/true | cksum'
	record tracestop.data -e intel_pt//u --filter 'tracestop 0x0/0x100000 @ /usr/bin/gzip' gzip -c /etc/passwd >/dev/null
	# perf outside finds all programs, but not this kernel's vDSO.
	cp -a /root/.debug "$out/debug"
	find "$out/debug" -mindepth 1 -maxdepth 1 ! -name '[[]vdso]' ! -name .build-id -exec rm -rf {} +
	record all.data -a -m,4M -e intel_pt// sh -c 'seq 300 | sort -r | cksum; selftests/vmm/microvm --count 20'
	grep PMI /proc/interrupts
	record_and_decode kcore.data -e intel_pt//k
	record_and_decode system.data -a -m,4M -e intel_pt//
	record_and_decode snapshot.data -a --snapshot=e65536 -e intel_pt//
	insmod selftests/modules/pt_vmcs/$module.ko
	record failures.data -a -m,4M -e intel_pt// selftests/lab/pt_vmx fail 50
	by_controls 40
	echo 1 >$parameters/mode
	selftests/vmm/microvm --kinds spin --count 1
	echo 0 >$parameters/mode
	cat /sys/kernel/debug/$module >"$out/guests.pt"
	rmmod $module
}

# exits: so far, by the module's count
exits() {
	tr , '\n' <$parameters/reasons | awk '{ n += $1 } END { print n }'
}

# kind KIND LEAST: so many exits at least by guests that make this kind of them.
kind() {
	before=$(exits)
	selftests/vmm/microvm --kinds "$1" --count 10 >/dev/null
	made=$(($(exits) - before))
	if [ "$made" -lt "$2" ]; then
		# Some exits are those of the guest's end.
		each=$(((made - 2) / 10))
		selftests/vmm/microvm --kinds "$1" --count $((($2 - made) / (each > 1 ? each : 1) + 1)) >/dev/null
	fi
	echo "exits $1 $(($(exits) - before))"
}

# kinds: all but Xen's, which is not there, and spin, which has no exit of its own.
kinds() {
	selftests/vmm/microvm --help | sed -n 's/^Kinds: *//p' | tr ' ' '\n' |
		grep -v -x -e spin -e xen_hypercall -e mix
}

by_controls() {
	echo 1 >$parameters/mode
	for name in $(kinds); do
		kind "$name" "$1"
	done
	echo 0 >$parameters/mode
	[ "$(cat $parameters/traceen_after_exit)" -eq 0 ]
	[ "$(cat $parameters/ctl_not_saved)" -eq 0 ]
	[ "$(cat $parameters/bytes)" -gt 0 ]
	# Tracing stops at the end of the last region.
	[ "$(cat $parameters/bytes)" -lt $(($(cat $parameters/regions) << 22)) ]
}

# groups ROUNDS: rounds and kinds, of one guest a line. A round of pio_kernel is 1,024
# writes to a port, and KVM's 600,000 steps.
groups() {
	most=$(kinds | grep -v -x "$(echo "$irqchip,$special,pio_emulated,pio_kernel" | sed 's/,/\\|/g')")
	echo "$1 $(echo "$most" | paste -s -d ,)"
	echo "$1 $irqchip"
	echo "$1 $special"
	echo "$1 pio_emulated"
	echo "$(($1 / 100 + 1)) pio_kernel"
}

# by_system ROUNDS: nothing but guests, for the start of a program is a million steps.
by_system() {
	groups "$1" >/tmp/groups
	sed 's,^\(.*\) \(.*\),selftests/vmm/microvm --kinds \2 --count \1,' /tmp/groups >/tmp/guests
	# A buffer that takes all: in a full one perf loses what was traced meanwhile.
	record all.data -a -m,64M -e intel_pt// sh /tmp/guests >/tmp/told
	sed -n 's/^total exits=\([0-9]*\) .*/\1/p' /tmp/told | paste -d ' ' /tmp/groups - | sed 's/^/system /'
}

case $1 in
one)
	out=$2
	one
	;;
two)
	out=$2
	record two.data -a -m,4M -e intel_pt// sh -c 'gzip -1 </bin/true | cksum & seq 300 | sort -r | cksum; wait'
	record_and_decode system.data -a -m,4M -e intel_pt//
	;;
exits)
	out=/tmp
	insmod selftests/modules/pt_vmcs/$module.ko regions=16
	by_controls "$2"
	echo "reasons $(cat $parameters/reasons)"
	by_system "$3"
	echo "reasons $(cat $parameters/reasons)"
	rmmod $module
	;;
esac
