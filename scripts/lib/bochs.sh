# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Boots L1 with Bochs, which has Intel VMX but no way to share files: L1's root is
# an initial RAM file system, what it prints leaves by two parallel ports. What
# happens inside is in l1-init; Bochs itself comes from bochs-build.sh.

# Instructions that Bochs executes in a second of L1's time.
BOCHS_IPS=100000000
BOCHS_BOOT_MB=700
# What was tried.
BOCHS_CPUS=4
BOCHS_MEM=2048

# Addresses in L1's memory; the ROM's are known to bochs/start.S as well.
BOCHS_SETUP=$((0x10000))
BOCHS_COMMAND_LINE=$((0x1e000))
BOCHS_ROM=$((0xd0000))
BOCHS_KERNEL=$((0x1000000))
BOCHS_ROM_SIZE=512
BOCHS_CODE32=64

# little NUMBER BYTES: the lowest bytes of a number, the lowest first.
little() {
	rest=$1 bytes=$2
	while [ "$bytes" -gt 0 ]; do
		# shellcheck disable=SC2059
		printf "\\$(printf '%03o' $((rest & 255)))"
		rest=$((rest >> 8)) bytes=$((bytes - 1))
	done
}

# number FILE OFFSET BYTES
number() {
	od -A n -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# patch_at FILE OFFSET: writes standard input there.
patch_at() {
	dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# bochs_kernel IMAGE: the kernel that a bzImage holds, compressed in it. Under
# emulation, uncompressing it takes a minute.
bochs_kernel() {
	start=$((($(number "$1" $((0x1f1)) 1) + 1) * 512 + $(number "$1" $((0x248)) 4)))
	# The last four bytes are the size of what they hold.
	size=$(($(number "$1" $((0x24c)) 4) - 4))
	case $(number "$1" $start 2) in
	14333) unpack=xz ;;
	46376) unpack=zstd ;;
	*) die "$1 is compressed in a way that the lab does not know: xz and zstd are known" ;;
	esac
	dd if="$1" bs=1M iflag=skip_bytes,count_bytes skip=$start count=$size status=none |
		in_root build "$work" '' $unpack -dc >"$work/elf"
	[ "$(number "$work/elf" 0 4)" = 1179403647 ] || die "$1 holds no ELF kernel"
}

# bochs_images KERNEL: makes what L1 is booted from and is the same in all its boots,
# and links it into the run's directory: setup, rom, kernel, root.
bochs_images() {
	release=$(kernel_field "$1" 2)
	image=$ROOT/boot/vmlinuz-$release
	sum=$(cat "$SCRIPTS/lib/bochs.sh" "$SCRIPTS/lib/bochs"/* "$ROOT/etc/kvm-trace/stamp" | cksum | cut -d' ' -f1)
	bochs_lock
	make_bochs
	images=$CACHE/bochs.boot/$1
	if [ "$(cat "$images/stamp" 2>/dev/null)" != "$sum" ]; then
		need_space "$CACHE" $BOCHS_BOOT_MB "L1's image for Bochs"
		work=$(mktemp -d "$run/images.XXXXXX")
		mkdir "$work/kvm-trace" "$work/made"
		cp "$SCRIPTS/lib/bochs"/* "$work/kvm-trace"
		bochs_kernel "$image"
		in_root build "$work" '' ./image "$release" $BOCHS_ROM -D ROM_SIZE=$BOCHS_ROM_SIZE \
			-D CODE32=$BOCHS_CODE32 -D SETUP=$BOCHS_SETUP -D COMMAND_LINE=$BOCHS_COMMAND_LINE ||
			die "cannot make L1's image for Bochs of $release"
		bochs_checksum "$work/made/rom"
		dd if="$image" of="$work/made/setup" bs=512 status=none count=$(($(number "$image" $((0x1f1)) 1) + 1))
		echo "$sum" >"$work/made/stamp"
		mkdir -p "$CACHE/bochs.boot"
		rm -rf "$images"
		mv "$work/made" "$images"
		rm -rf "$work"
	fi
	# Links, since a lab of another tree may replace all this.
	ln "$BOCHS/bochs" "$BOCHS/bios" "$BOCHS/vgabios" "$images/rom" "$images/kernel" "$images/root" "$run"
	cp "$images/setup" "$run"
	exec 5>&-
}

# bochs_checksum ROM: the BIOS calls a ROM only if its bytes add up to 0.
bochs_checksum() {
	sum=$(od -A n -v -t u1 "$1" | awk '{ for (i = 1; i <= NF; i++) sum += $i } END { print sum }')
	little $((256 - sum % 256)) 1 | patch_at "$1" $((BOCHS_ROM_SIZE - 1))
}

# bochs_archive: what differs between boots, as an archive for L1's root.
bochs_archive() {
	mkdir "$run/layer/run" "$run/layer/out"
	cp "$SCRIPTS/lib/l1-init" "$run/layer/run"
	# shellcheck disable=SC2016
	in_root build "$run/layer" "$1" sh -euc '
		cd /mnt
		find . ! -name . | cpio --quiet -o -H newc -R 0:0
		cd /
		find out | cpio --quiet -o -H newc -R 0:0' >"$run/archive" || die "cannot make the archive of this tree for L1"
}

# bochs_setup MEM COMMAND-LINE: tells the kernel's setup where all is.
bochs_setup() {
	root_size=$(stat -L -c %s "$run/root")
	size=$((root_size + $(stat -c %s "$run/archive")))
	# The BIOS keeps tables in the last 64 KB of memory.
	initrd=$((($1 * 1048576 - 1048576 - size) & ~4095))
	# The root is in memory twice while it is unpacked.
	[ $((initrd - size - BOCHS_KERNEL)) -ge 134217728 ] ||
		die "--mem $1: L1's root takes $((size / 1048576)) MB of it under Bochs${out:+, with what is in $out}: give it more"
	# Offsets of Linux's boot protocol.
	little $((0x81ff)) 2 | patch_at "$run/setup" $((0x210))	# type_of_loader, loadflags
	{
		little $((BOCHS_ROM + BOCHS_CODE32)) 4	# code32_start
		little $initrd 4
		little $size 4
	} | patch_at "$run/setup" $((0x214))
	little $((BOCHS_COMMAND_LINE - BOCHS_SETUP - 0x400)) 2 | patch_at "$run/setup" $((0x224))	# heap_end_ptr
	little $BOCHS_COMMAND_LINE 4 | patch_at "$run/setup" $((0x228))
	printf '%s\0' "$2" | patch_at "$run/setup" $((BOCHS_COMMAND_LINE - BOCHS_SETUP))
}

# bochs_start KERNEL SMP MEM OUT: leaves Bochs running, $emulator is its process.
bochs_start() {
	bochs_images "$1"
	bochs_archive "$4"
	bochs_setup "$3" "console=ttyS0,115200 loglevel=6 log_buf_len=4M panic=-1 oops=panic mitigations=off reboot=t cryptomgr.notests rootfstype=ramfs rdinit=/run/l1-init"
	cat >"$run/bochsrc" <<-END
	config_interface: textconfig
	display_library: nogui
	megs: $3
	romimage: file=bios
	vgaromimage: file=vgabios
	optromimage1: file=rom, address=$BOCHS_ROM
	optramimage1: file=setup, address=$BOCHS_SETUP
	optramimage2: file=kernel, address=$BOCHS_KERNEL
	optramimage3: file=root, address=$initrd
	optramimage4: file=archive, address=$((initrd + root_size))
	cpu: model=broadwell_ult, count=$2, ips=$BOCHS_IPS, reset_on_triple_fault=0
	clock: sync=none, time0=utc
	ata0: enabled=0
	ata1: enabled=0
	com1: enabled=1, mode=file, dev=console
	com2: enabled=1, mode=term, dev=keys
	parport1: enabled=1, file=output
	parport2: enabled=1, file=results
	log: bochs.log
	panic: action=fatal
	error: action=ignore
	info: action=ignore
	debug: action=ignore
	END
	# If L1 dies, it has sent neither.
	: >"$run/end"
	: >"$run/messages"
	lib=$ROOT/usr/lib/x86_64-linux-gnu
	# The words of --pt go by the environment; Bochs finds wrong ones first of all.
	unset PT_EMU
	case $pt in
	'') ;;
	default) export PT_EMU= ;;
	*) export PT_EMU="$pt" ;;
	esac
	wrong=$("$ROOT/lib64/ld-linux-x86-64.so.2" --library-path "$lib" "$run/bochs" --help 2>&1 >/dev/null) ||
		die "$wrong (selftests/pt-emu/README.md has the words)"
	# Where a path is free of what Bochs' configuration cannot quote.
	(cd "$run" && exec setpriv --pdeathsig KILL "$ROOT/lib64/ld-linux-x86-64.so.2" --library-path "$lib" \
		./bochs -q -f bochsrc) </dev/null >"$run/emulator" 2>&1 4>&- 6>&- 7>&- &
	emulator=$!
}

# bochs_results OUT: takes apart what L1 sent at its end; nothing if it died. The files
# of an emulated Intel PT, and counters, are Bochs' own.
bochs_results() {
	[ -z "$1" ] || find "$run" -maxdepth 1 \( -name 'pt-*' -o -name counters \) -exec mv -t "$1" {} +
	[ -s "$run/results" ] || return 0
	mkdir "$run/sent"
	tar -C "$run/sent" -xf "$run/results" 2>"$run/tar" || return 0
	mv -f "$run/sent/run/end" "$run/sent/run/messages" "$run"
	[ -z "$1" ] || [ ! -d "$run/sent/out" ] || cp -a "$run/sent/out/." "$1"
}
