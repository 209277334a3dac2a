# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What scripts/bench needs beyond the lab's root: the tools that kvm_trace is
# compared with and a compiler for BPF, unpacked into a directory of their own that
# is laid over the root, and LTTng's modules, built for a kernel of the lab.

BENCH_MB=1500

bench_packages() {
	echo 'bpftrace clang-19 libbpf-dev lttng-tools'
}

# bench_dir: what depends on the root and on this file. Its root/ is what is laid
# over the root, lttng-KERNEL says in one line how building LTTng ended.
bench_dir() {
	echo "$CACHE/bench-$(cat "$SCRIPTS/lib/bench-root.sh" "$ROOT/etc/kvm-trace/stamp" | cksum | cut -d' ' -f1)"
}

bench_failed() {
	tail -n 20 "$work/log" >&2
	die "$1"
}

# make_bench DIRECTORY: unpacks and does not install: nothing of these packages
# needs what their scripts would do.
make_bench() {
	[ ! -d "$1" ] || return 0
	need_space "$CACHE" $BENCH_MB "the set-up of the benchmark"
	say "fetching the tools to compare with, once: 220 MB of Debian packages, up to $BENCH_MB MB in $CACHE, 1 to 3 minutes"
	work=$CACHE/bench.$$
	mkdir -p "$work/made/root"
	bench_fetch
	# shellcheck disable=SC2046
	(
		cd "$work"
		APT_CONFIG=$work/apt.conf apt-get -qq -y --no-install-recommends --download-only install $(bench_packages)
	) >"$work/log" 2>&1 </dev/null || bench_failed "apt could not fetch $(bench_packages)"
	for package in "$work"/archives/*.deb; do
		dpkg-deb -x "$package" "$work/made/root"
	done
	rm -rf "$work/made/root/usr/share/man" "$work/made/root/usr/share/locale"
	rm -rf "$CACHE"/bench-[0-9]*
	mv "$work/made" "$1"
	rm -rf "$work"
}

# bench_fetch: package lists in $work that know what the root has.
bench_fetch() {
	sources >"$work/sources.list" || die "apt on this machine has no Debian mirror: add one to /etc/apt/sources.list"
	private_apt "$work" "$work/sources.list" || die "apt could not read the package lists: see its messages above"
	cp "$ROOT/var/lib/dpkg/status" "$work/status"
}

# make_lttng DIRECTORY KERNEL: a build that fails is a result, too.
make_lttng() {
	[ ! -e "$1/lttng-$2" ] || return 0
	work=$CACHE/bench.$$
	rm -rf "$work"
	mkdir -p "$work/layer/kvm-trace" "$work/out"
	say "building LTTng's modules for $2, once: 1 to 5 minutes"
	bench_fetch
	release=$(kernel_field "$2" 2)
	cc=$(kernel_field "$2" 3)
	(cd "$work" && APT_CONFIG=$work/apt.conf apt-get -qq download lttng-modules-dkms "linux-source-$2") >"$work/log" 2>&1 ||
		bench_failed "apt could not fetch lttng-modules-dkms and linux-source-$2"
	dpkg-deb -x "$work"/lttng-modules-dkms_*.deb "$work/lttng"
	version=$(basename "$work"/lttng/usr/src/lttng-modules-*)
	mv "$work/lttng/usr/src/$version"/* "$work/layer/kvm-trace/"
	# Of its probes only KVM's: some others do not fit Debian's kernel.
	sed -i '/lttng-probe-kvm/!s/^[[:blank:]]*obj-.*lttng-probe-.*//' "$work/layer/kvm-trace/src/probes/Kbuild"
	# They are left out if KVM's private headers are not beside the others.
	headers=$work/layer/usr/src/linux-headers-${release%-amd64}-common
	mkdir -p "$headers"
	dpkg-deb --fsys-tarfile "$work"/linux-source-"$2"_*.deb |
		tar -x -O "./usr/src/linux-source-$2.tar.xz" | in_root build "$work/layer" '' xz -dc |
		tar -x -C "$headers" --strip-components=1 --wildcards \
			"linux-source-$2/arch/x86/kvm/*.h" "linux-source-$2/virt/kvm/*.h" ||
		bench_failed "no headers of KVM in linux-source-$2"
	# shellcheck disable=SC2016
	if in_root use "$work/layer" "$work/out" sh -euc '
		set -- -C "/usr/src/linux-headers-$1" M=/kvm-trace CC="$2" CONFIG_LTTNG=m CONFIG_DEBUG_INFO_BTF_MODULES=
		make -j"$(nproc)" "$@" modules
		make "$@" INSTALL_MOD_PATH=/out INSTALL_MOD_DIR=updates/lttng INSTALL_MOD_STRIP=1 modules_install' \
		sh "$release" "$cc" >"$work/log" 2>&1; then
		mkdir -p "$1/root/usr/lib/modules/$release/updates"
		mv "$work/out/lib/modules/$release/updates/lttng" "$1/root/usr/lib/modules/$release/updates/lttng"
		result="$version: built"
	else
		result="$version does not build for $release: $(grep -m 1 'error:' "$work/log" || tail -n 1 "$work/log")"
	fi
	printf '%s\n' "$result" >"$1/lttng-$2"
	rm -rf "$work"
}
