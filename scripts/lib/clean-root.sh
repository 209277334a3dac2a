# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Makes clean roots of Debian 12 and 13, in which the Debian packages are built, installed
# and removed: a kernel with headers, DKMS and perf, all as Debian has it. Beside each are
# kept what builds and checks packages, and the kernel after that one.

CLEAN_RELEASES='13 12'
CLEAN_MB=1300

# clean_suite RELEASE
clean_suite() {
	case $1 in
	12) echo bookworm ;;
	13) echo trixie ;;
	esac
}

# clean_kernels RELEASE: the one that is there, and the one after it.
clean_kernels() {
	case $1 in
	12) echo 6.1 6.12 ;;
	13) echo 6.12 7.3 ;;
	esac
}

clean_packages() {
	echo dkms openssl linux-perf trace-cmd tiny-initramfs
}

clean_build_packages() {
	echo build-essential debhelper dh-dkms lintian libtraceevent-dev pkgconf
}

# Options of mmdebstrap, one a line. Drivers are left out: nothing here boots, and they
# make dpkg and depmod slow. As a hook, since for --dpkgopt mmdebstrap filters all else, too.
clean_options() {
	cat <<-'END'
	--mode=root
	--variant=apt
	--format=directory
	--aptopt=APT::Install-Recommends "false"
	--aptopt=Acquire::Retries "3"
	--dpkgopt=force-unsafe-io
	--essential-hook=printf 'path-exclude=*/lib/modules/*/kernel/%s/*\n' drivers sound >"$1/etc/dpkg/dpkg.cfg.d/drivers"
	END
}

# clean_dir RELEASE: depends on this file.
clean_dir() {
	echo "$CACHE/clean-$1-$(cksum <"$SCRIPTS/lib/clean-root.sh" | cut -d' ' -f1)"
}

# clean_sources RELEASE
clean_sources() {
	suite=$(clean_suite "$1")
	main=$(mirror Debian)
	security=$(mirror Debian-Security)
	[ -n "$main" ] || return 1
	echo "deb $main $suite main"
	echo "deb $main $suite-backports main"
	[ -z "$security" ] || echo "deb $security $suite-security main"
}

# in_clean_root LAYER OUT BUILD COMMAND...: OUT may be empty; with BUILD, the packages that
# build and check packages are there. LAYER has the directories upper, work and root.
in_clean_root() {
	layer=$1 shared=$2 lower=${3:+$clean/build:}$clean/root
	shift 3
	# With a network of its own: nothing is fetched behind our back.
	$SUDO unshare --mount --propagation private --net --pid --fork --kill-child -- \
		"$SCRIPTS/lib/enter-clean" "$lower" "$layer" "$TOP" "$clean/debs" "$shared" "$@"
}

# new_layer DIRECTORY
new_layer() {
	mkdir -p "$1/upper" "$1/work" "$1/root"
}

drop_layer() {
	$SUDO rm -rf --one-file-system -- "$1"
}

clean_failed() {
	[ ! -s "$work/log" ] || tail -n 20 "$work/log" >&2
	$SUDO rm -rf --one-file-system -- "$work"
	die "$1"
}

# newest_kernel SERIES: with the package lists of $work.
newest_kernel() {
	APT_CONFIG=$work/apt.conf apt-cache pkgnames linux-image- |
		sed -n "s/^linux-image-\($1\.[0-9.]*[-+][a-z0-9]*-amd64\)\$/\1/p" | sort -V | tail -n 1
}

# fetch DIRECTORY PACKAGE...: those that $work/root does not have, with what they need.
fetch() {
	into=$1
	shift
	cp "$work/made/root/var/lib/dpkg/status" "$work/status"
	rm -f "$work"/archives/*.deb
	APT_CONFIG=$work/apt.conf apt-get -qq -y --no-install-recommends --download-only \
		-t "$suite-backports" install "$@" >"$work/log" 2>&1 </dev/null || clean_failed "apt could not fetch $*"
	mkdir -p "$into"
	mv "$work"/archives/*.deb "$into"
}

# make_clean_root RELEASE: sets clean, the directory with all of it. Leaves a lock: the
# root of another source tree, which has other needs, waits until nobody uses this one.
make_clean_root() {
	clean=$(clean_dir "$1")
	exec 5>"$CACHE/clean-$1.lock"
	flock -s 5
	[ ! -d "$clean" ] || return 0
	flock 5
	[ -d "$clean" ] || set_up_clean_root "$1"
	flock -s 5
}

set_up_clean_root() {
	check_host
	need_space "$CACHE" $CLEAN_MB "a clean root of Debian $1"
	say "set-up of a clean Debian $1, once: root or sudo, $CLEAN_MB MB in $CACHE, 2 to 5 minutes"
	$SUDO rm -rf --one-file-system -- "$CACHE/clean-$1-"*
	work=$CACHE/clean-$1-partial
	mkdir -p "$work/made"
	trap 'trap "" EXIT; $SUDO rm -rf --one-file-system -- "$work"; exit 130' INT TERM HUP
	clean_sources "$1" >"$work/sources.list" ||
		clean_failed "apt on this machine has no Debian mirror: add one to /etc/apt/sources.list"
	private_apt "$work" "$work/sources.list" || clean_failed "apt could not read the package lists"
	for series in $(clean_kernels "$1"); do
		release=$(newest_kernel "$series")
		[ -n "$release" ] || clean_failed "no kernel $series for Debian $1 in the Debian mirror"
		echo "$series $release"
	done >"$work/made/kernels"
	first=$(sed -n '1s/.* //p' "$work/made/kernels")
	next=$(sed -n '2s/.* //p' "$work/made/kernels")
	{
		clean_options
		host_apt_options
		printf '%s\n' "--include=$({ clean_packages; echo "linux-image-$first linux-headers-$first"; } | tr -s ' \n' ',')" \
			"$suite" "$work/made/root" "$work/sources.list"
	} | sed 's/,$//' >"$work/arguments"
	$SUDO unshare --mount --propagation private --pid --fork --kill-child -- \
		xargs -a "$work/arguments" -d '\n' mmdebstrap >"$work/log" 2>&1 </dev/null ||
		clean_failed "mmdebstrap failed"
	# shellcheck disable=SC2046
	fetch "$work/build" $(clean_build_packages)
	fetch "$work/made/debs" "linux-image-$next" "linux-headers-$next"
	clean=$work/made
	new_layer "$work/layer"
	# shellcheck disable=SC2016
	in_clean_root "$work/layer" "$work/build" '' sh -c 'apt-get -q -y install ./out/*.deb' >"$work/log" 2>&1 ||
		clean_failed "apt could not install $(clean_build_packages)"
	$SUDO mv "$work/layer/upper" "$work/made/build"
	clean=$(clean_dir "$1")
	mv "$work/made" "$clean"
	$SUDO rm -rf --one-file-system -- "$work"
	trap - INT TERM HUP
	say "set-up done: $clean"
}
