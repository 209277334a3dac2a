# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Builds the lab's kernel "sanitize", which has the kernel's own detectors of errors, from
# Debian's source of 6.12, into the cache. What it has is in selftests/sanitize/kernel.config.

SANITIZE_CONFIG=$TOP/selftests/sanitize/kernel.config
SANITIZE_SOURCE=linux-source-6.12
SANITIZE_PACKAGES="$SANITIZE_SOURCE flex bison bc libelf-dev"
SANITIZE_MB=4000

# sanitize_dir: that of this configuration and of the source of the root's 6.12.
sanitize_dir() {
	version=$(awk -v p="linux-image-$(kernel_field 6.12 2)" '$1 == "Package:" { own = $2 == p }
		own && $1 == "Version:" { print $2 }' "$ROOT/var/lib/dpkg/status")
	echo "$CACHE/sanitize-$version-$({ cat "$SANITIZE_CONFIG"; sanitize_steps; } | cksum | cut -d' ' -f1)"
}

# make_sanitize: at its first use. Sets SANITIZE, the directory with
#	kernel				as a line of the root's list of kernels
#	boot, modules			what the root has in /boot and /usr/lib/modules
#	src				and in /usr/src
make_sanitize() {
	SANITIZE=$(sanitize_dir)
	exec 5>"$CACHE/sanitize.lock"
	if ! flock -n 5; then
		say "waiting for another lab that builds the kernel sanitize"
		flock 5
	fi
	if [ ! -d "$SANITIZE" ]; then
		build_sanitize &
		builder=$!
		trap 'kill $builder; wait $builder; exit 130' INT TERM HUP
		wait $builder || exit
		trap 'exit 130' INT TERM HUP
	fi
	exec 5>&-
	# For lib/enter.
	export KVM_TRACE_KERNEL="$SANITIZE"
}

build_sanitize() {
	need_space "$CACHE" $SANITIZE_MB "the build of the kernel sanitize"
	say "building the kernel sanitize, once: 160 MB of Debian's packages, $SANITIZE_MB MB in $CACHE meanwhile, 1,200 files to compile"
	rm -rf "$CACHE"/sanitize.[0-9]*
	work=$CACHE/sanitize.$$
	compiler=
	trap 'rm -rf "$work"' EXIT
	trap 'sanitize_interrupted' INT TERM HUP
	mkdir -p "$work/layer/kvm-trace" "$work/source" "$work/made"
	sources >"$work/sources.list" || die "apt on this machine has no Debian mirror: add one to /etc/apt/sources.list"
	private_apt "$work" "$work/sources.list" || die "apt could not read the package lists: see its messages above"
	# What is installed by now has to fit.
	cp "$ROOT/var/lib/dpkg/status" "$work/status"
	preferences >"$work/preferences"
	# shellcheck disable=SC2086
	APT_CONFIG=$work/apt.conf apt-get -qq -y --no-install-recommends --download-only \
		-o Dir::Etc::preferences="$work/preferences" install $SANITIZE_PACKAGES >"$work/log" 2>&1 </dev/null ||
		sanitize_failed "apt could not fetch $SANITIZE_PACKAGES"
	for package in "$work"/archives/*.deb; do
		into=$work/layer
		[ "${package##*/"$SANITIZE_SOURCE"_}" = "$package" ] || into=$work/source
		dpkg-deb -x "$package" "$into" || die "cannot unpack $package"
	done
	mv "$work/source/usr/src/$SANITIZE_SOURCE.tar.xz" "$work/layer/source.tar.xz"
	# In the root, which has what it is compressed with.
	in_root build "$work/layer" '' tar --strip-components=1 --no-same-owner \
		--exclude='*/Documentation/[a-z]*' --exclude='*/tools/testing' -xf /mnt/source.tar.xz ||
		die "$SANITIZE_SOURCE.tar.xz cannot be unpacked: see the message above"
	rm -r "$work/layer/source.tar.xz" "$work/source" "$work/archives"
	cp "$SANITIZE_CONFIG" "$work/layer/kvm-trace/asked"
	in_root use "$work/layer" "$work/made" sh -euc "$(sanitize_steps)" sh "$(kernel_field 6.12 3)" >"$work/log" 2>&1 &
	compiler=$!
	wait $compiler || sanitize_failed "the build of the kernel sanitize failed"
	mv "$work/made" "$SANITIZE"
	say "the kernel sanitize is built: $SANITIZE"
}

# What runs in the source: sh -c STEPS sh COMPILER. A line of the configuration that the
# source does not know, or that another line prevents, is not left out in silence.
sanitize_steps() {
	cat <<-'END'
	cc=$1
	make -s CC="$cc" tinyconfig
	cat .config asked >both
	make -s CC="$cc" KCONFIG_ALLCONFIG=both allnoconfig
	lost=$(awk 'NR == FNR { have[$0] = 1; next }
		/^(# )?CONFIG_/ && !($0 in have) { print }' .config asked)
	if [ -n "$lost" ]; then
		echo "these lines of kernel.config have no effect:"
		echo "$lost"
		exit 1
	fi
	make -j"$(nproc)" CC="$cc" bzImage modules
	release=$(make -s CC="$cc" kernelrelease)
	make CC="$cc" INSTALL_MOD_STRIP=1 INSTALL_MOD_PATH=/tmp modules_install
	mkdir /out/boot /out/src
	cp arch/x86/boot/bzImage "/out/boot/vmlinuz-$release"
	cp .config "/out/boot/config-$release"
	mv /tmp/lib/modules /out/modules
	rm -f "/out/modules/$release/build"
	mkdir "/out/modules/$release/updates"
	# What modules are built with.
	headers=/out/src/linux-headers-$release
	mkdir -p "$headers/arch/x86" "$headers/tools/objtool"
	cp -a Makefile .config Module.symvers include scripts "$headers"
	cp -a arch/x86/Makefile* arch/x86/include "$headers/arch/x86"
	cp -a tools/objtool/objtool "$headers/tools/objtool"
	echo "sanitize $release $cc" >/out/kernel
	END
}

# unshare takes no other signal; what it runs ends with it.
sanitize_interrupted() {
	[ -z "$compiler" ] || kill -KILL "$compiler" 2>/dev/null
	say "the build of the kernel sanitize was interrupted: nothing is left of it, start it again"
	exit 130
}

sanitize_failed() {
	tail -n 20 "$work/log" >&2
	die "$1"
}
