# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Makes the lab's root file system: Debian 13 with the kernels, compilers, QEMU
# and perf that builds and virtual machines use. What runs in it is elsewhere.

ROOT=$CACHE/root
KERNELS='6.12 6.1 7.3'
ROOT_MB=2300
ROOT_DOWNLOAD=550

packages() {
	cat <<-END
	gcc gcc-12 gcc-14 libc6-dev make binutils pkg-config pahole sparse
	libtraceevent-dev libtracefs-dev libipt-dev
	linux-perf trace-cmd bpftool
	qemu-system-x86 busybox-static
	kmod iproute2 procps mount cpio xz-utils zstd
	shellcheck codespell perl tiny-initramfs
	END
}

# One source package must come from one suite, or apt finds no solution.
preferences() {
	cat <<-END
	Package: src:qemu src:seabios src:ipxe src:linux-base
	Pin: release n=trixie-backports
	Pin-Priority: 600

	Package: *
	Pin: release n=bookworm*
	Pin-Priority: 50
	END
}

# Options of mmdebstrap, one a line. tiny-initramfs and the excluded kernel hooks
# keep dpkg from building initrds that nothing boots. L1 has no devices but
# QEMU's virtio ones: other drivers only make the set-up and depmod slow.
root_options() {
	cat <<-'END'
	--mode=root
	--variant=apt
	--format=directory
	--verbose
	--aptopt=APT::Install-Recommends "false"
	--aptopt=Acquire::Retries "3"
	--dpkgopt=force-confold
	--dpkgopt=force-unsafe-io
	--dpkgopt=path-exclude=/etc/kernel/postinst.d/*
	--dpkgopt=path-exclude=/usr/share/man/*
	--dpkgopt=path-exclude=/usr/share/info/*
	--dpkgopt=path-exclude=/usr/share/locale/*
	--dpkgopt=path-exclude=/usr/share/doc/*
	--dpkgopt=path-include=/usr/share/doc/*/copyright
	--dpkgopt=path-exclude=*/lib/modules/*/kernel/sound/*
	--dpkgopt=path-exclude=*/lib/modules/*/kernel/drivers/*
	--dpkgopt=path-include=*/lib/modules/*/kernel/drivers/block/*
	--dpkgopt=path-include=*/lib/modules/*/kernel/drivers/char/*
	--dpkgopt=path-include=*/lib/modules/*/kernel/drivers/crypto/ccp/*
	--dpkgopt=path-include=*/lib/modules/*/kernel/drivers/net/*.ko*
	--dpkgopt=path-exclude=*/lib/modules/*/kernel/drivers/net/*/*
	--dpkgopt=path-include=*/lib/modules/*/kernel/drivers/vfio/*
	--dpkgopt=path-include=*/lib/modules/*/kernel/drivers/vhost/*
	--dpkgopt=path-include=*/lib/modules/*/kernel/drivers/virt/*
	--dpkgopt=path-include=*/lib/modules/*/kernel/drivers/virtio/*
	END
}

# What a cached root must have been made from to be used again.
root_stamp() {
	{ packages; preferences; root_options; echo "$KERNELS"; } | sha256sum | cut -d' ' -f1
}

root_ready() {
	[ "$(cat "$ROOT/etc/kvm-trace/stamp" 2>/dev/null)" = "$(root_stamp)" ]
}

# kernel_field KERNEL FIELD: 2 is the release, 3 the compiler it was built with.
kernel_field() {
	awk -v k="$1" -v f="$2" '$1 == k { print $f }' "$ROOT/etc/kvm-trace/kernels" ${SANITIZE:+"$SANITIZE/kernel"}
}

# kernel_image KERNEL
kernel_image() {
	case $1 in
	sanitize) echo "$SANITIZE/boot/vmlinuz-$(kernel_field "$1" 2)" ;;
	*) echo "$ROOT/boot/vmlinuz-$(kernel_field "$1" 2)" ;;
	esac
}

check_host() {
	id='' name=this version=''
	if [ -r /etc/os-release ]; then
		# shellcheck source=/dev/null
		id=$(. /etc/os-release && echo "$ID $VERSION_ID")
		# shellcheck source=/dev/null
		name=$(. /etc/os-release && echo "${PRETTY_NAME:-$ID}")
	fi
	version=${id#* }
	missing=
	for tool in apt-get dpkg unshare flock mmdebstrap; do
		have "$tool" || missing="$missing $tool"
	done
	case $id in
	'debian 12' | 'debian 13') ;;
	*) die "$name is not supported: Debian 12 or 13 and its package mirror are needed${missing:+; missing here:$missing}" ;;
	esac
	[ "$(dpkg --print-architecture)" = amd64 ] ||
		die "architecture $(dpkg --print-architecture) is not supported: Debian $version on amd64 is needed"
}

# mirror LABEL: the address that this machine's own apt uses for it.
mirror() {
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		awk -v l="$1" '$1 == l && $2 !~ /^(cdrom|file|copy):/ { sub("/$", "", $2); print $2; exit }'
}

sources() {
	main=$(mirror Debian)
	security=$(mirror Debian-Security)
	[ -n "$main" ] || return 1
	for suite in trixie trixie-backports bookworm; do
		echo "deb $main $suite main"
	done
	if [ -n "$security" ]; then
		echo "deb $security trixie-security main"
		echo "deb $security bookworm-security main"
	fi
}

# Proxies and time checks of this machine's apt, for mmdebstrap's own apt.
host_apt_options() {
	apt-config dump 2>/dev/null |
		sed -n -E 's/^(Acquire::(https?::Proxy|https?::Proxy-Auto-Detect|https?::CAInfo|Check-Valid-Until|Check-Date)[^ ]* ".*");$/--aptopt=\1/p'
}

# private_apt DIRECTORY SOURCES: package lists apart from this machine's own, for
# commands with APT_CONFIG=DIRECTORY/apt.conf.
private_apt() {
	mkdir -p "$1/lists/partial" "$1/archives/partial" "$1/state"
	: >"$1/status"
	cat >"$1/apt.conf" <<-END
	Dir::State "$1/state";
	Dir::State::lists "$1/lists";
	Dir::State::status "$1/status";
	Dir::Cache "$1";
	Dir::Etc::sourcelist "$2";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	Acquire::Retries "3";
	APT::Sandbox::User "$(id -un)";
	END
	APT_CONFIG=$1/apt.conf apt-get -qq update >&2
}

# resolve DIRECTORY SOURCES: the newest kernels behind the metapackages, one
# line for each: name release
resolve() {
	private_apt "$@" || return 1
	for series in $KERNELS; do
		APT_CONFIG=$1/apt.conf apt-cache show linux-image-amd64 |
			awk -v k="$series" '
			/^Version: / { v = $2 }
			/^Depends: / && index(v, k ".") == 1 {
				for (i = 2; i <= NF; i++)
					if ($i ~ /^linux-image-[0-9]/) {
						sub("^linux-image-", "", $i)
						print v, k, $i
					}
			}' | sort -V | tail -n 1 | cut -d' ' -f2-
	done
}

# One line every few seconds, so that a long step is seen to live.
watch_build() {
	start=$(now)
	next=15
	while [ -d "/proc/$1" ]; do
		sleep 1
		passed=$(($(now) - start))
		[ "$passed" -ge "$next" ] || continue
		next=$((next + 15))
		say "$passed s: $(grep -c '^Unpacking ' "$2") packages unpacked, $(grep -c '^Setting up ' "$2") set up"
	done
}

drop_partial() {
	$SUDO rm -rf --one-file-system -- "$CACHE/root.partial"
}

make_root() {
	check_host
	mkdir -p "$CACHE" 2>/dev/null || die "cannot make $CACHE: set KVM_TRACE_CACHE to a writable place"
	if [ -n "$SUDO" ] && ! have sudo; then
		die "the lab's set-up needs root: run it as root, or install sudo"
	fi
	$SUDO unshare --mount --propagation private true 2>/dev/null ||
		die "mounts cannot be made private here, which the set-up needs: where / is no mount point, as in a chroot, 'mount --rbind DIR DIR' before it; in a container, the right to mount is missing"
	exec 9>"$CACHE/lock"
	if ! flock -n 9; then
		say "waiting for another lab that uses $CACHE"
		flock 9
	fi
	if root_ready; then
		flock -u 9
		return
	fi
	need_space "$CACHE" "$ROOT_MB" "the lab's set-up"
	say "set-up, once: root or sudo, ${ROOT_MB} MB in $CACHE, ${ROOT_DOWNLOAD} MB of Debian packages, 1 to 5 minutes"
	rm -rf "$CACHE"/setup.*
	work=$CACHE/setup.$$
	mkdir "$work"
	pid=
	trap 'interrupted' INT TERM HUP
	if ! have mmdebstrap || [ -z "$(mirror Debian)" ]; then
		say "installing mmdebstrap on this machine"
		{
			$SUDO apt-get -qq update
			$SUDO apt-get -qq -y --no-install-recommends install mmdebstrap
		} >"$work/log" 2>&1 </dev/null || :
		have mmdebstrap || failed "apt could not install mmdebstrap"
	fi
	sources >"$work/sources.list" || failed "apt on this machine has no Debian mirror: add one to /etc/apt/sources.list"
	resolve "$work" "$work/sources.list" >"$work/kernels" || failed "apt could not read the package lists"
	for series in $KERNELS; do
		grep -q "^$series " "$work/kernels" || failed "no linux-image-amd64 $series in the Debian mirror"
	done
	say "kernels: $(cut -d' ' -f2 "$work/kernels" | tr '\n' ' ')"
	drop_partial
	preferences >"$work/lab.pref"
	# shellcheck disable=SC2046
	include=$({ packages; cut -d' ' -f2 "$work/kernels" | sed 's/.*/linux-image-& linux-headers-&/'; } |
		tr -s ' \n' ',' | sed 's/,$//')
	# Options hold blanks: they are passed one a line.
	{
		root_options
		host_apt_options
		# mmdebstrap puts the target's path into $1.
		# shellcheck disable=SC2016
		printf '%s\n' "--setup-hook=mkdir -p \"\$1/etc/apt/preferences.d\" && cp '$work/lab.pref' \"\$1/etc/apt/preferences.d/lab.pref\"" \
			"--include=$include" trixie "$CACHE/root.partial" "$work/sources.list"
	} >"$work/arguments"
	# In namespaces of its own, it ends with all its children and mounts.
	$SUDO unshare --mount --propagation private --pid --fork --kill-child -- \
		xargs -a "$work/arguments" -d '\n' mmdebstrap >"$work/log" 2>&1 </dev/null &
	pid=$!
	watch_build "$pid" "$work/log"
	wait "$pid" || failed "mmdebstrap failed"
	pid=
	while read -r series release; do
		cc=$(sed -n 's/^CONFIG_CC_VERSION_TEXT=.*\(gcc-[0-9]*\) .*/\1/p' \
			"$CACHE/root.partial/usr/src/linux-headers-$release/.config")
		[ -n "$cc" ] || failed "the headers of $release name no compiler"
		echo "$series $release $cc"
	done <"$work/kernels" >"$work/kernels.done"
	root_stamp >"$work/stamp"
	# shellcheck disable=SC2016
	$SUDO sh -euc '
		mkdir -p "$2/etc/kvm-trace" "$2/kvm-trace" "$2/out"
		for modules in "$2"/usr/lib/modules/*; do
			mkdir -p "$modules/updates"
		done
		cp "$1/kernels.done" "$2/etc/kvm-trace/kernels"
		cp "$1/stamp" "$2/etc/kvm-trace/stamp"
		# The 9p server reads as the user, who need not be root.
		chmod -R a+rX "$2"
		rm -rf --one-file-system "$3.old"
		[ ! -e "$3" ] || mv "$3" "$3.old"
		mv "$2" "$3"
		rm -rf --one-file-system "$3.old"' sh "$work" "$CACHE/root.partial" "$ROOT" || failed "cannot finish $ROOT"
	rm -rf "$work" "${CACHE:?}/build"
	trap - INT TERM HUP
	flock -u 9
	say "set-up done: $ROOT"
}

failed() {
	[ ! -s "$work/log" ] || tail -n 12 "$work/log" >&2
	say "$1"
	drop_partial
	rm -rf "$work"
	exit 2
}

interrupted() {
	if [ -n "$pid" ]; then
		$SUDO kill "$pid" 2>/dev/null
		wait "$pid"
	fi
	drop_partial
	rm -rf "$work"
	say "set-up interrupted: nothing is left of it, start it again"
	exit 130
}
