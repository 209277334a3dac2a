#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What selftests/scripts/packages.sh does inside a clean root, see scripts/clean-root:
# in_root.sh ACTION ARGUMENT...
set -eu

# files: every file but those that dpkg, apt, DKMS and logs keep, and what kernel modules
# can be found where.
files() {
	find / -xdev -printf '%p %y\n' |
		grep -v -E '^/(var/(log|cache|lib/(dpkg|apt|dkms/mok\.(key|pub)))|run|tmp|root|mnt)(/| )' | sort
	sed 's/:.*//' /lib/modules/*/modules.dep | sort
}

# kernel NAME LIKE fit|unfit: installs a package with the headers of a kernel of that name,
# made of those of another one, as Debian's own packages of headers and kernels do. If unfit, one
# header is not what it was.
kernel() {
	name=$1 headers=/usr/src/linux-headers-$1 package=/tmp/package
	mkdir -p "$package/DEBIAN" "$package/usr/src" "$package/lib/modules/$name"
	cp -a "/usr/src/linux-headers-$2" "$package$headers"
	ln -s "$headers" "$package/lib/modules/$name/build"
	sed -i "s/$2/$name/" "$package$headers/include/generated/utsrelease.h" "$package$headers/.kernelvariables" \
		"$package$headers/include/config/kernel.release"
	if [ "$3" = unfit ]; then
		mkdir -p "$package$headers/arch/x86/include/generated/linux"
		echo '#error "another kvm_host.h"' >"$package$headers/arch/x86/include/generated/linux/kvm_host.h"
	fi
	printf '%s\n' "Package: linux-headers-$name" 'Version: 1' 'Architecture: amd64' 'Maintainer: nobody <nobody@localhost>' \
		'Description: headers for a test' >"$package/DEBIAN/control"
	printf '%s\n' '#!/bin/sh -e' \
		"run-parts --verbose --exit-on-error --arg=$name /etc/kernel/header_postinst.d" >"$package/DEBIAN/postinst"
	printf '%s\n' '#!/bin/sh -e' "rm -f /lib/modules/$name/modules.*" \
		"[ ! -d /lib/modules/$name ] || rmdir --ignore-fail-on-non-empty /lib/modules/$name" >"$package/DEBIAN/postrm"
	chmod 755 "$package/DEBIAN/postinst" "$package/DEBIAN/postrm"
	dpkg-deb -b -Znone "$package" /tmp/package.deb >/dev/null
	rm -rf "$package"
	dpkg -i /tmp/package.deb
}

# install_uninstall HEADERS: from the source. Prints "installed", and what differs after it.
install_uninstall() {
	cp -r source /root/source
	cd /root/source
	make -s KDIR="$1" modules tools >/tmp/log 2>&1 || cat /tmp/log
	files >/tmp/before
	make -s KDIR="$1" install >/tmp/log 2>&1 || cat /tmp/log
	release=${1#/lib/modules/}
	modprobe -S "${release%/build}" --show-depends kvm_trace | grep -q updates/kvm-trace/kvm_trace.ko &&
		perf kvm-trace --list-cmds >/tmp/log && echo installed
	make -s KDIR="$1" uninstall >/tmp/log 2>&1 || cat /tmp/log
	files | diff /tmp/before - || :
}

# stub RELEASE: of a kvm-trace that knows older kernels only, for the lab.
stub() {
	cp -r source /tmp/source
	cd /tmp/source
	kvm-trace/dkms/build 6.1 6.6 "$1" "/lib/modules/$1/build"
	mkdir -p "/mnt/out/lab-$1"
	cp kvm-trace/kvm_trace.ko "/mnt/out/lab-$1/stub.ko"
}

# perf RELEASE: perf and the plugin of this release of Debian, with the libraries that they
# need, for the lab.
perf() {
	mkdir -p "out/lab-$1/perf"
	cp /usr/bin/perf /usr/lib/x86_64-linux-gnu/traceevent/plugins/plugin_kvm_trace.so "out/lab-$1/perf"
	ldd /usr/bin/perf | grep -o '/[^ ]*' | xargs -I '{}' cp -L '{}' "out/lab-$1/perf"
}

"$@"
