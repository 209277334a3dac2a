#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Records traces of Intel PT in L1 under kvm_intel into a directory, for
# scripts/pt_vmx_equals_log.sh, which compares them with the log outside.
#
#	pt_vmx_record.sh one|two DIRECTORY
set -eu

module=kvm_trace_test_pt_vmcs
parameters=/sys/module/$module/parameters
out=$2

# Programs: a shell that forks, catches signals and dies of faults, compressors, text.
cat >/tmp/programs <<'END'
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
END

# record NAME OPTIONS... -- COMMAND...: of perf, without its chatter
record() {
	name=$1
	shift
	perf record -q -o "$out/$name" "$@" 2>/tmp/perf.err || {
		cat /tmp/perf.err
		exit 1
	}
}

one() {
	record user.data -e intel_pt//u sh /tmp/programs
	record kernel.data -e intel_pt//k sh -c 'gzip -1 </bin/true | cksum'
	record noretcomp.data -e intel_pt/noretcomp=1,cyc=1,cyc_thresh=2,mtc_period=6/u sh -c 'seq 50 | sort -r >/dev/null'
	# perf outside finds all programs, but not this kernel's vDSO.
	cp -a /root/.debug "$out/debug"
	find "$out/debug" -mindepth 1 -maxdepth 1 ! -name '[[]vdso]' ! -name .build-id -exec rm -rf {} +
	record all.data -a -m,4M -e intel_pt// sh -c 'seq 300 | sort -r | cksum; selftests/vmm/microvm --count 20'
	grep PMI /proc/interrupts
}

# kind KIND ROUNDS: exits of this kind, and those around them.
kind() {
	before=$(cat $parameters/exits)
	selftests/vmm/microvm --kinds "$1" --count "$2" >/dev/null
	echo "exits $1 $(($(cat $parameters/exits) - before))"
}

guests() {
	insmod selftests/modules/pt_vmcs/$module.ko
	echo 1 >$parameters/mode
	kind mix 230
	for name in pio_sizes pio_string pio_kernel pio_mmio pio_emulated mmio_sizes mmio_cross mmio_wide \
		mmio_rmw mmio_string mmio_apic mmio_ioapic ioeventfd mmio_fast cpuid_leaves rdmsr_gp wrmsr_gp \
		msr_user msr_user_error msr_user_nmi tsc_deadline hlt_timer self_ipi self_ipi_window irq \
		irq_window nmi cr lmsw cr8 dr debug ud breakpoint hv_hypercall invd wbinvd xsetbv npf_read \
		npf_fetch async_pf immediate_exit; do
		kind $name 40
	done
	selftests/vmm/microvm --kinds spin --count 1
	echo 0 >$parameters/mode
	[ "$(cat $parameters/traceen_after_exit)" -eq 0 ] && [ "$(cat $parameters/ctl_not_saved)" -eq 0 ]
	cat /sys/kernel/debug/$module >"$out/guests.pt"
	rmmod $module
}

case $1 in
one)
	one
	guests
	;;
two) record two.data -a -m,4M -e intel_pt// sh -c 'gzip -1 </bin/true | cksum & seq 300 | sort -r | cksum; wait' ;;
esac
