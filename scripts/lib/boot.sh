# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Boots L1 with QEMU, or with what bochs.sh starts, runs a command in it and judges
# how that ended. What happens inside L1 is in l1-initrd and l1-init.

# Modules that bring up L1's root file system and its ports, on every kernel.
BOOT_MODULES='virtio_pci virtio_console 9pnet_virtio 9p overlay'

# Kernel messages that make a run fail.
SPLATS='WARNING:|BUG:|BUG [^ ]+ \(|overwritten\]|Oops|Call Trace:|general protection fault|[Kk]ernel panic|KASAN:|UBSAN:|KCSAN:|KFENCE:|kmemleak: ([0-9]|Cannot|Memory pool|.*(disabled|out of memory))|unchecked MSR|suspicious RCU|possible (circular|recursive|irq|unsafe)|INFO: (rcu|task|trying|possible|inconsistent)|(rcu|RCU).*(stall|detected)|soft lockup|hard LOCKUP|corruption|refcount_t:|seriously wrong|while atomic|sleeping function|Bad page|page allocation failure|Tainted:'
# Bits of /proc/sys/kernel/tainted: machine check, bad page, die, warning, lockup.
SPLAT_TAINTS=$((1 << 4 | 1 << 5 | 1 << 7 | 1 << 9 | 1 << 14))

# An initrd depends on the root, on the two scripts in it and on this file.
initrd() {
	sum=$({ echo "${SANITIZE-}"; cat "$SCRIPTS/lib/l1-initrd" "$SCRIPTS/lib/l1-init" "$SCRIPTS/lib/boot.sh" \
		"$ROOT/etc/kvm-trace/stamp"; } | cksum | cut -d' ' -f1)
	file=$TREE/$1/initrd.$sum
	if [ ! -e "$file" ]; then
		work=$(mktemp -d "$run/initrd.XXXXXX")
		mkdir "$work/kvm-trace"
		cp "$SCRIPTS/lib/l1-initrd" "$SCRIPTS/lib/l1-init" "$work/kvm-trace"
		# shellcheck disable=SC2016,SC2086
		in_root build "$work" '' sh -euc '
			mkdir /tmp/i && cd /tmp/i && mkdir bin dev lower m new proc sys top
			cp /usr/bin/busybox bin
			install -m 755 /kvm-trace/l1-initrd init
			install -m 755 /kvm-trace/l1-init l1-init
			release=$1
			shift
			for module; do
				modprobe -S "$release" --show-depends "$module"
			done | awk "\$1 == \"insmod\" && !seen[\$2]++ { print \$2 }" >/tmp/modules
			: >m/order
			while read -r path; do
				name=${path##*/}
				name=${name%%.*}
				echo "$name" >>m/order
				case $path in
				*.xz) xz -dc "$path" >"m/$name.ko" ;;
				*) cp "$path" "m/$name.ko" ;;
				esac
			done </tmp/modules
			find . | cpio --quiet -o -H newc -R 0:0 | gzip -1 >/mnt/initrd' \
			sh "$(kernel_field "$1" 2)" $BOOT_MODULES || die "cannot make the initrd of $1"
		rm -f "$TREE/$1"/initrd.*
		mv "$work/initrd" "$file"
	fi
	echo "$file"
}

# accelerator CPU PT ICOUNT: QEMU's options for the virtual CPUs of L1. Emulation,
# unless this machine's KVM can run the hypervisor in question as a guest. With Intel
# PT, level is that of a CPU which has it, or Linux does not look for it. One
# thread for all CPUs: with one for each, a CPU may go on with a translation of
# code that another one has just patched, as Linux does for every static key, and
# then L1 or its guests die once in a while.
accelerator() {
	case $1 in
	svm) module=kvm_amd model=EPYC,+la57 ;;
	intel) module=none model=Skylake-Client ;;
	esac
	nested=$(cat "/sys/module/$module/parameters/nested" 2>/dev/null || :)
	if [ -z "$2$3" ] && [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
		case $nested in
		1 | Y)
			echo '-accel kvm -cpu host'
			return
			;;
		esac
	fi
	echo "-accel tcg,thread=single -cpu $model${2:+,level=0x1f}${3:+ -icount shift=0,sleep=off}"
}

quote() {
	for word; do
		printf "'%s' " "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"
	done
}

# Ended as soon as the emulator has; else asks L1 what hangs, then ends it. If
# nobody in L1 answers, an NMI of QEMU's makes its kernel tell where it is.
watch_time() {
	trap 'kill $sleeper 2>/dev/null; exit' TERM
	doze "$1"
	kill -0 $$ 2>/dev/null || exit
	: >"$run/timeout"
	echo 'lab: timeout; blocked tasks and processes:' >&7
	doze 5
	if ! grep -q '^lab: timeout' "$run/console"; then
		echo nmi >&6
		doze 3
	fi
	kill "$2"
}

doze() {
	sleep "$1" &
	sleeper=$!
	wait $sleeper
}

drop_run() {
	[ -z "$watcher" ] || kill "$watcher" 2>/dev/null || :
	[ -z "$emulator" ] || kill "$emulator" 2>/dev/null || :
	rm -rf -- "$run"
}

# From the kernel's first complaint on, which a long trace would push out of the end.
show_console() {
	tr -d '\r' <"$run/console" >"$run/shown"
	first=$(sed '/^lab: timeout/q' "$run/shown" | grep -E -n -m 1 -e "$SPLATS" | cut -d : -f 1)
	if [ -n "$first" ]; then
		say "L1's console, around the first complaint:"
		tail -n +"$((first > 5 ? first - 5 : 1))" "$run/shown" |
			awk '{ line[NR] = $0 }
			     END {
				for (i = 1; i <= NR; i++)
					if (i <= 60 || i > NR - 60)
						print line[i]
					else if (i == 61)
						print "[...]"
			     }' >&2
	else
		say "the end of L1's console:"
		tail -n "$1" "$run/shown" >&2
	fi
	grep -v -e 'TCG doesn.t support requested feature' -e 'terminating on signal 15' \
		-e '^0*i\[ *\]' -e '^=*$' "$run/emulator" >&2 || :
}

# boot KERNEL CPU PT SMP MEM ICOUNT TIMEOUT OUT COMMAND...: exits with its status.
boot() {
	kernel=$1 cpu=$2 pt=$3 smp=$4 mem=$5 icount=$6 limit=$7 out=$8
	shift 8
	{
		echo '#!/bin/sh'
		echo "cd /kvm-trace && exec $(quote "$@")"
	} >"$run/layer/command"
	mkfifo "$run/output" "$run/keys" "$run/monitor"
	: >"$run/console"
	# Open at both ends, no pipe makes anybody wait for the other to open it.
	exec 7<>"$run/keys" 6<>"$run/monitor" 4<>"$run/output"
	cat "$run/output" 4>&- 6>&- 7>&- &
	reader=$!
	case $cpu in
	vmx) bochs_start "$kernel" "$smp" "$mem" "$out" ;;
	*) qemu_start "$kernel" "$cpu" "$pt" "$smp" "$mem" "$icount" "$out" ;;
	esac
	watch_time "$limit" $emulator >/dev/null 2>&1 </dev/null 4>&- &
	watcher=$!
	# What ends by a signal is told by the shell, too.
	wait $emulator 2>/dev/null || :
	emulator=
	kill $watcher 2>/dev/null || :
	watcher=
	exec 4>&-
	wait $reader || :
	[ "$cpu" != vmx ] || bochs_results "$out"
	# The plugin refuses a wrong word before L1 starts.
	if [ ! -s "$run/console" ] && wrong=$(grep '^pt: ' "$run/emulator"); then
		die "--pt=$pt: ${wrong#pt: }"
	fi
	judge
}

# pt_plugin PT OUT: the plugin that emulates Intel PT, and its arguments.
pt_plugin() {
	printf '%s' "$run/layer/kvm-trace/selftests/pt-emu/qemu/pt.so,dir=$2"
	[ "$1" = default ] || printf '%s' ",$1" | sed 's/,/,option=/g'
}

# pt_clock: perf matches a trace with other events by the time stamp counter, so Linux
# must know its frequency. It measures it wrong while this machine has other work.
pt_clock() {
	echo "tsc_early_khz=$("$run/layer/kvm-trace/selftests/pt-emu/qemu/tsc_khz")"
}

# kernel_words KERNEL: what its command line has besides. KASAN would report one error alone;
# SLUB checks red zones and poison, without the owners, which KASAN keeps as well.
kernel_words() {
	[ "$1" != sanitize ] || echo ' kasan_multi_shot slab_debug=FZP'
}

# qemu_start KERNEL CPU PT SMP MEM ICOUNT OUT: leaves QEMU running, $emulator is its process.
# On a busy machine its timer may miss Linux's check of it, which ends in a panic.
qemu_start() {
	initrd=$(initrd "$1")
	shared=${7:-$run/out}
	[ -n "$7" ] || mkdir "$shared"
	lib=$ROOT/usr/lib/x86_64-linux-gnu
	# shellcheck disable=SC2046
	QEMU_MODULE_DIR=$lib/qemu "$ROOT/lib64/ld-linux-x86-64.so.2" --library-path "$lib" \
		"$ROOT/usr/bin/qemu-system-x86_64" \
		-L "$ROOT/usr/share/qemu" -L "$ROOT/usr/share/seabios" \
		-run-with exit-with-parent=on \
		-nodefaults -no-user-config -display none -no-reboot -machine q35 \
		$(accelerator "$2" "$3" "$6") -smp "$4" -m "$5" \
		${3:+-plugin "$(pt_plugin "$3" "$shared")"} ${plugin:+-plugin "$plugin"} \
		-kernel "$(kernel_image "$1")" -initrd "$initrd" \
		-append "console=ttyS0 loglevel=6 log_buf_len=4M panic=-1 oops=panic unknown_nmi_panic mitigations=off no5lvl no_timer_check$(kernel_words "$1")${3:+ $(pt_clock)}" \
		-serial "file:$run/console" \
		-chardev "file,id=monitor,path=/dev/null,input-path=$run/monitor" -object monitor-hmp,id=hmp,chardev=monitor \
		-fsdev "local,id=root,path=$ROOT,security_model=none,readonly=on,multidevs=remap" \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=layer,path=$run/layer,security_model=none,readonly=on" \
		-device virtio-9p-pci,fsdev=layer,mount_tag=layer \
		-fsdev "local,id=out,path=$shared,security_model=none" \
		-device virtio-9p-pci,fsdev=out,mount_tag=out \
		-device virtio-serial-pci \
		-chardev "file,id=output,path=$run/output" -device virtserialport,chardev=output,name=output \
		-chardev "file,id=end,path=$run/end,input-path=$run/keys" -device virtserialport,chardev=end,name=end \
		-chardev "file,id=messages,path=$run/messages" -device virtserialport,chardev=messages,name=messages \
		</dev/null >"$run/emulator" 2>&1 4>&- 6>&- 7>&- &
	emulator=$!
}

judge() {
	read -r status taint <"$run/end" || :
	if [ -e "$run/timeout" ]; then
		show_console 100
		say "ended after $limit s without a result"
		exit 124
	fi
	if [ -z "${taint-}" ]; then
		show_console 60
		say "L1 died before the command had ended"
		exit 125
	fi
	if grep -E -q -e "$SPLATS" "$run/messages" || [ $((taint & SPLAT_TAINTS)) -ne 0 ]; then
		grep -E -n -e "$SPLATS" "$run/messages" >&2 || :
		say "L1's kernel complained (tainted: $taint); around the first complaint:"
		grep -E -m 1 -B 5 -A 60 -e "$SPLATS" "$run/messages" >&2 || tail -n 60 "$run/messages" >&2
		say "the command had ended with status $status, the complaint makes it 126"
		exit 126
	fi
	exit "$status"
}
