# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Builds Bochs, the emulator that has Intel VMX, from Debian's source, into the
# cache. What boots with it is in bochs.sh.

# The emulated Intel PT that is built into it.
PT_SOURCE=$TOP/selftests/pt-emu
# What has it write down its counts of instructions.
BENCH_SOURCE=$TOP/selftests/bench

# Trees that make it differently may share a cache.
BOCHS=$CACHE/bochs-$(cat "$SCRIPTS/lib/bochs-build.sh" "$PT_SOURCE"/bochs/* "$PT_SOURCE"/core/*.[ch] \
	"$PT_SOURCE"/options.[ch] "$PT_SOURCE"/log/log.h \
	"$PT_SOURCE"/log/write.[ch] "$PT_SOURCE"/log/code.[ch] "$BENCH_SOURCE/mark.h" | cksum | cut -d' ' -f1)
BOCHS_MB=500

# With the handler of show-ips, a signal, one boot in four hung on a lock of the log.
bochs_options() {
	cat <<-'END'
	--with-nogui
	--with-term=no
	--without-rfb
	--without-sdl
	--without-sdl2
	--without-wx
	--without-x11
	--disable-debugger
	--disable-debugger-gui
	--disable-docbook
	--disable-plugins
	--disable-show-ips
	--enable-a20-pin
	--enable-all-optimizations
	--enable-avx
	--enable-cpu-level=6
	--enable-evex
	--enable-fpu
	--enable-instrumentation=instrument/pt
	--enable-large-ramfile
	--enable-long-phy-address
	--enable-pci
	--enable-smp
	--enable-vmx=2
	--enable-x86-64
	END
}

# change FILE LINE SCRIPT: edits the only line of a file that matches; else $differs tells.
change() {
	lines=$(grep -c -s -e "$2" "$1") || lines=${lines:-0}
	if [ "$lines" -ne 1 ]; then
		differs="${1#"$source/"} has $lines lines '$2', not 1"
		return 1
	fi
	sed -i "/$2/$3" "$1"
}

# bochs_patch SOURCE: mends what is in the way.
bochs_patch() {
	# An image of RAM may be larger than a block of Bochs' memory; blocks lie
	# anywhere, but a file is read as if they were in a row.
	change "$1/memory/misc_mem.cc" 'ret = read(fd, .*get_vector(offset), size);$' \
		's/size);$/BX_MIN(size, BX_MEM_THIS block_size - offset % BX_MEM_THIS block_size));/' || return
	# External interrupts end a guest whatever its RFLAGS.IF. VM entry masks them as
	# if RFLAGS were the host's, since it loads RFLAGS first.
	change "$1/cpu/vmx.cc" '^  BX_CPU_THIS_PTR in_vmx_guest = true;$' 's/$/ handleInterruptMaskChange();/' || return
	# With more CPUs than one, a handler's first instruction has to be where a fault or
	# VM exit before its end returns to, as cpu_loop() does it for one.
	change "$1/main.cc" '^          BX_CPU(processor)->icount++;$' \
		's/$/ BX_CPU(processor)->prev_rip = BX_CPU(processor)->gen_reg[BX_64BIT_REG_RIP].rrx;/' || return
	# Linux reads fixed counters, which have bit 30, once the PMU looks whole.
	change "$1/cpu/proc_ctrl.cc" '^    if ((ECX & 0x7fffffff) >= 18)$' 's/0x7fffffff/0x3fffffff/'
}

# bochs_pt SOURCE: puts the emulated Intel PT into it; instrument.h has the hooks.
bochs_pt() {
	mkdir "$1/instrument/pt"
	cp -R "$PT_SOURCE"/bochs/* "$PT_SOURCE"/options.[ch] "$PT_SOURCE/core" "$PT_SOURCE/log" \
		"$BENCH_SOURCE/mark.h" "$1/instrument/pt"
	change "$1/cpu/proc_ctrl.cc" '^  BX_CPU_THIS_PTR cpuid->get_cpuid_leaf(EAX, ECX, &leaf);$' \
		's/$/ PT_CPUID(EAX, ECX, \&leaf);/' || return
	change "$1/cpu/msr.cc" '^    if (! msr_desc\[index\]) return handle_unknown_rdmsr(index, msr);$' \
		's/^/    PT_RDMSR(index, msr);/' || return
	change "$1/cpu/vmx.h" '(VMX_MISC_PREEMPTION_TIMER_RATE |' 's/RATE |/RATE | PT_VMX_MISC |/' || return
	change "$1/cpu/vmcs.cc" '^    case VMCS_64BIT_GUEST_LINK_POINTER:$' \
		's/^/case VMCS_64BIT_GUEST_IA32_RTIT_CTL: case VMCS_64BIT_GUEST_IA32_RTIT_CTL_HI: return pt_has_vmx();/' || return
	change "$1/cpu/vmcs.cc" '^  cap->vmx_vmexec_ctrl2_supported_bits = 0;$' 's/0;/PT_SECONDARY_CONTROLS;/' || return
	change "$1/cpu/vmcs.cc" 'VMX_VMEXIT_CTRL1_INTA_ON_VMEXIT | VMX_VMEXIT_CTRL1_SAVE_DBG_CTRLS;$' \
		's/;$/ | PT_EXIT_CONTROLS;/' || return
	change "$1/cpu/vmcs.cc" 'vmx_vmentry_ctrl_supported_bits = VMX_VMENTRY_CTRL1_LOAD_DBG_CTRLS |$' \
		's/$/ PT_ENTRY_CONTROLS |/' || return
	change "$1/cpu/vmx.cc" '^  bool vmlaunch = false;$' 's/$/ PT_VMLAUNCH();/' || return
	change "$1/cpu/vmx.cc" '^  vm->vmentry_interr_info = VMread32(VMCS_32BIT_CONTROL_VMENTRY_INTERRUPTION_INFO);$' \
		's/^/  PT_CHECK_CONTROLS();/' || return
	change "$1/cpu/vmx.cc" '^  guest.tmpDR6 = (Bit32u) VMread_natural(VMCS_GUEST_PENDING_DBG_EXCEPTIONS);$' \
		's/^/  PT_CHECK_GUEST();/' || return
	change "$1/cpu/vmx.cc" '^  VMenterInjectEvents();$' 's/^/  PT_VMENTRY();/' || return
	change "$1/cpu/vmx.cc" '^    BX_CPU_THIS_PTR in_vmx = true;$' 's/$/ PT_VMX_OPERATION(true);/' || return
	change "$1/cpu/vmx.cc" '^    BX_CPU_THIS_PTR in_vmx = false;  ' 's/false;/& PT_VMX_OPERATION(false);/' || return
	change "$1/cpu/vmx.cc" '^       set_VMCSPTR(pAddr);$' 's/$/ PT_VMPTRLD(pAddr);/' || return
	change "$1/cpu/vmx.cc" '^    write_physical_dword(pAddr + launch_field_offset, VMCS_STATE_CLEAR, .*);$' \
		's/$/ PT_VMCLEAR(pAddr);/'
}

# bochs_function FILE NAME SCRIPT: edits the only line of a file that begins that
# instruction's function.
bochs_function() {
	change "$1" "BX_CPU_C::$2(bxInstruction_c \*i)$" "{n;$3}"
}

# bochs_count SOURCE: has instructions counted that cost more than others.
bochs_count() {
	bochs_function "$1/cpu/proc_ctrl.cc" NOP 's/^{/{ DEAR_MARK(i);/' &&
		bochs_function "$1/cpu/proc_ctrl.cc" RDTSC 's/^{/{ DEAR(TSC);/' &&
		bochs_function "$1/cpu/proc_ctrl.cc" RDTSCP 's/^{/{ DEAR(TSC);/' &&
		bochs_function "$1/cpu/msr.cc" RDMSR 's/^{/{ DEAR(RDMSR);/' &&
		bochs_function "$1/cpu/msr.cc" WRMSR 's/^{/{ DEAR(WRMSR);/' &&
		bochs_function "$1/cpu/vmx.cc" VMREAD_EqGq 's/^{/{ DEAR(VMREAD);/' &&
		bochs_function "$1/cpu/vmx.cc" VMWRITE_GqEq 's/^{/{ DEAR(VMWRITE);/'
}

# bochs_changes SOURCE NAME: all of them, to a source that was found under this name.
bochs_changes() {
	source=$1
	for change in bochs_patch bochs_pt bochs_count; do
		$change "$1" || die "$2 is not the source of Bochs 3.0, which is needed: $differs"
	done
}

# bochs_lock: for making what all labs of this cache share, and for taking it.
bochs_lock() {
	exec 5>"$CACHE/bochs.lock"
	if ! flock -n 5; then
		say "waiting for another lab that prepares Bochs"
		flock 5
	fi
}

# make_bochs: at its first use, with the lock held.
make_bochs() {
	[ ! -d "$BOCHS" ] || return 0
	build_bochs &
	builder=$!
	trap 'kill $builder; wait $builder; exit 130' INT TERM HUP
	wait $builder || exit
	trap 'exit 130' INT TERM HUP
}

build_bochs() {
	need_space "$CACHE" $BOCHS_MB "the build of Bochs"
	say "building Bochs, once: 40 MB of Debian's sources and compilers, $BOCHS_MB MB in $CACHE meanwhile, 1 to 4 minutes"
	rm -rf "$CACHE"/bochs.[0-9]*
	work=$CACHE/bochs.$$
	compiler=
	trap 'rm -rf "$work"' EXIT
	trap 'bochs_interrupted' INT TERM HUP
	mkdir -p "$work/layer/kvm-trace" "$work/made"
	{
		sources
		echo "deb-src $(mirror Debian) trixie main"
	} >"$work/sources.list" || die "apt on this machine has no Debian mirror: add one to /etc/apt/sources.list"
	private_apt "$work" "$work/sources.list" || die "apt could not read the package lists: see its messages above"
	# The compiler for C++ has to fit the one for C that the root has.
	cp "$ROOT/var/lib/dpkg/status" "$work/status"
	(
		cd "$work"
		export APT_CONFIG="$work/apt.conf"
		apt-get -qq --tar-only --download-only source bochs &&
			apt-get -qq -y --no-install-recommends --download-only install g++-14 bochsbios vgabios
	) >"$work/log" 2>&1 </dev/null || bochs_failed "apt could not fetch the source of bochs, g++-14, bochsbios and vgabios"
	for package in "$work"/archives/*.deb; do
		dpkg-deb -x "$package" "$work/layer"
	done
	archive=$(basename "$work"/bochs_*.orig.tar.*)
	mv "$work/$archive" "$work/layer"
	# In the root, which has what it is compressed with.
	in_root build "$work/layer" '' tar --strip-components=1 --no-same-owner -xf "/mnt/$archive" ||
		die "$archive cannot be unpacked: see the message above"
	rm "$work/layer/$archive"
	bochs_changes "$work/layer/kvm-trace" "$archive"
	# shellcheck disable=SC2046,SC2016
	in_root use "$work/layer" "$work/made" sh -euc '
		./configure CC=gcc-14 CXX=g++-14 CFLAGS=-O2 CXXFLAGS=-O2 LDFLAGS="-static-libstdc++ -static-libgcc" "$@"
		make -j"$(nproc)" bochs
		strip -o /out/bochs bochs
		cp /usr/share/bochs/BIOS-bochs-latest /out/bios
		cp /usr/share/vgabios/vgabios.bin /out/vgabios' \
		sh $(bochs_options) >"$work/log" 2>&1 &
	compiler=$!
	wait $compiler || bochs_failed "the build of Bochs failed"
	mv "$work/made" "$BOCHS"
	say "Bochs is built: $BOCHS"
}

# unshare takes no other signal; what it runs ends with it.
bochs_interrupted() {
	[ -z "$compiler" ] || kill -KILL "$compiler" 2>/dev/null
	say "the build of Bochs was interrupted: nothing is left of it, start it again"
	exit 130
}

bochs_failed() {
	tail -n 20 "$work/log" >&2
	die "$1"
}
