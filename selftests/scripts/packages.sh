#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The Debian packages, in clean roots: built by one command, without complaints of lintian,
# installed, removed without a trace, and never the reason that a kernel cannot be
# installed. With KVM_TRACE_PACKAGES=all in both releases of Debian, through updates of
# kernel and package, and what DKMS built is loaded in the lab; else in Debian 13 alone.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

cache=${KVM_TRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kvm-trace}
mkdir -p "$cache"
layers=$(mktemp -d "$cache/packages.XXXXXX") || exit
sudo=
[ "$(id -u)" -eq 0 ] || sudo='sudo --'
trap 'rm -rf "$tap_work"; $sudo rm -rf --one-file-system "$layers"' EXIT
trap 'exit 130' INT TERM HUP
# What is done in a root has many lines.
INSIDE=source/selftests/packages/in_root.sh

# in_root NAME COMMAND...: what COMMAND changes in the root of $debian is kept as NAME.
in_root() {
	name=$1
	shift
	run scripts/clean-root --release "$debian" --layer "$layers/$debian-$name" --out "$out" -- "$@"
}

# to_build COMMAND...: where packages can be built and checked.
to_build() {
	run scripts/clean-root --release "$debian" --build --out "$out" -- "$@"
}

stdout_has() {
	grep -E -q -e "$1" "$tap_work/out"
}

nothing_is_said() {
	[ "$tap_status" -eq 0 ] && [ ! -s "$tap_work/out" ]
}

# module_of RELEASE FIELD: of what DKMS has built for that kernel.
module_of() {
	in_root user sh -c "modinfo -F $2 /lib/modules/$1/updates/dkms/kvm_trace.ko*"
	cat "$tap_work/out"
}

# is_built RELEASE: and modprobe finds it.
is_built() {
	case $(module_of "$1" vermagic) in
	"$1 "*) ;;
	*) return 1 ;;
	esac
	[ "$(module_of "$1" description)" = "Compact trace records of KVM's VM exits" ] || return
	in_root user modprobe -S "$1" --show-depends kvm_trace
	grep -F -q "insmod /lib/modules/$1/updates/dkms/kvm_trace.ko" "$tap_work/out"
}

# is_refused RELEASE REASON: what DKMS has built for that kernel is the stub.
is_refused() {
	case $(module_of "$1" vermagic) in
	"$1 "*) ;;
	*) return 1 ;;
	esac
	case $(module_of "$1" refusal) in
	"not built for $1: $2"*) ;;
	*) return 1 ;;
	esac
}

is_signed() {
	[ "$(module_of "$1" signer)" = "DKMS module signing key" ]
}

# same_files: as before the packages were installed.
same_files() {
	in_root user sh $INSIDE files
	! diff "$layers/$debian-files" "$tap_work/out" >"$tap_work/err" || return 0
	cp "$tap_work/err" "$tap_work/out"
	return 1
}

# kernels: first, the one that is installed, and next.
kernels() {
	first=$(scripts/clean-root --release "$debian" --kernels | sed -n '1s/.* //p')
	next=$(scripts/clean-root --release "$debian" --kernels | sed -n '2s/.* //p')
}

# builds_them: by one command, and as lintian wants them.
builds_them() {
	to_build sh source/scripts/deb /mnt/out
	ok "debian_${debian}_builds_the_packages_by_one_command" status_is 0
	to_build sh -c 'lintian --allow-root --fail-on none out/*.changes 2>&1'
	ok "debian_${debian}_lintian_says_nothing" nothing_is_said
}

installs_them() {
	in_root user sh -c 'apt-get -q -y install ./out/kvm-trace-dkms_*.deb ./out/kvm-trace-tools_*.deb'
	ok "debian_${debian}_installs_them" status_is 0
	ok "debian_${debian}_builds_the_module" is_built "$first"
	ok "debian_${debian}_signs_it" is_signed "$first"
}

# finds_the_tools: perf, trace-cmd and bash.
finds_the_tools() {
	in_root user perf script --list-dlfilters
	ok "debian_${debian}_perf_finds_the_filter" stdout_has '^ *kvm-trace\.so '
	in_root user perf kvm-trace record --help
	ok "debian_${debian}_perf_finds_perf_kvm_trace" stdout_has '^usage: perf kvm-trace record'
	in_root user bash -c '. /etc/bash_completion.d/perf-kvm-trace; complete -p perf-kvm-trace'
	ok "debian_${debian}_bash_has_its_completion" stdout_has '^complete -F _perf_kvm_trace perf-kvm-trace$'
	in_root user sh -c 'zcat /usr/share/man/man1/perf-kvm-trace.1.gz'
	ok "debian_${debian}_has_its_man_page" stdout_has '^\.TH PERF-KVM-TRACE 1'
	in_root user trace-cmd list -P
	ok "debian_${debian}_trace_cmd_finds_the_plugin" stdout_has '/plugin_kvm_trace\.so$'
}

# refuses_other_kernels: whose installation goes on nevertheless.
refuses_other_kernels() {
	while read -r what release unfit reason; do
		# shellcheck disable=SC2086
		in_root user sh $INSIDE kernel "$release" "$first" $unfit
		ok "debian_${debian}_installs_a_kernel_$what" status_is 0
		ok "debian_${debian}_has_a_stub_for_a_kernel_$what" is_refused "$release" "$reason"
	done <<-END
	that_is_too_old 5.99.0-test-amd64 fit only kernels 6.1 to 7.3 were tested;
	that_is_too_new 7.4.0-test-amd64 fit only kernels 6.1 to 7.3 were tested;
	whose_headers_do_not_fit 6.99.0-test-amd64 unfit its headers do not fit this kvm-trace
	END
}

removes_them() {
	in_root user sh -c 'apt-get -q -y purge kvm-trace-dkms kvm-trace-tools'
	ok "debian_${debian}_removes_them" status_is 0
	in_root user sh -c 'apt-get -q -y purge "linux-headers-*-test-amd64"'
	ok "debian_${debian}_nothing_is_left_of_them" same_files
}

# leaves_nothing: make install, and make uninstall.
leaves_nothing() {
	run scripts/clean-root --release "$debian" --build --layer "$layers/$debian-tree" --out "$out" -- \
		sh $INSIDE install_uninstall "/lib/modules/$first/build"
	ok "debian_${debian}_make_uninstall_leaves_nothing_of_make_install" stdout_is 'installed\n'
}

# updates_the_kernel: the one before goes.
updates_the_kernel() {
	in_root user sh -c 'apt-get -q -y install ./debs/*.deb'
	ok "debian_${debian}_installs_kernel_$next" status_is 0
	ok "debian_${debian}_rebuilds_the_module_for_it" is_built "$next"
	ok "debian_${debian}_signs_that" is_signed "$next"
	keeps_the_module "$first"
	keeps_the_module "$next"
	in_root user sh -c "apt-get -q -y purge linux-image-$first linux-headers-$first && ! ls /lib/modules/$first/updates"
	ok "debian_${debian}_removes_kernel_${first}_and_its_module" status_is 0
}

updates_the_packages() {
	to_build sh -c 'cp -r source /tmp/source && sed -i "1s/(.*)/(99)/" /tmp/source/debian/changelog && sh /tmp/source/scripts/deb /mnt/out/new'
	in_root user sh -c 'apt-get -q -y install ./out/new/kvm-trace-dkms_*.deb ./out/new/kvm-trace-tools_*.deb'
	ok "debian_${debian}_updates_the_packages" status_is 0
	in_root user sh -c 'dkms status; ls /usr/src | grep kvm-trace'
	ok "debian_${debian}_has_the_new_ones_alone" stdout_is "kvm-trace/99, $next, x86_64: installed\nkvm-trace-99\n"
	ok "debian_${debian}_builds_the_new_module" is_built "$next"
}

# keeps_the_module RELEASE: for the lab.
keeps_the_module() {
	in_root user sh -c "mkdir -p out/lab-$1 && cp /lib/modules/$1/updates/dkms/kvm_trace.ko* out/lab-$1"
}

# lab_says WORD: and its kernel did not complain.
lab_says() {
	[ "$tap_status" -lt 124 ] && grep -q "^$1\$" "$tap_work/out"
}

# loads_in_the_lab KERNEL RELEASE: what DKMS has built for it, if it is still what the lab has.
loads_in_the_lab() {
	has=$(sed -n "s/^$1 \([^ ]*\) .*/\1/p" "$cache/root/etc/kvm-trace/kernels")
	if [ "$has" != "$2" ]; then
		ok "debian_${debian}_module_of_$1_records # SKIP the lab has $has, Debian has $2: remove the lab's root" true
		return
	fi
	cp selftests/packages/in_lab.sh "$out/lab-$2"
	run scripts/lab run --kernel "$1" --out "$out/lab-$2" -- sh /out/in_lab.sh
	ok "debian_${debian}_module_of_$1_records" lab_says recorded
	if [ -e "$out/lab-$2/stub.ko" ]; then
		ok "debian_${debian}_stub_refuses_to_load_and_says_why" lab_says refused
	fi
	if [ -e "$out/lab-$2/perf" ]; then
		ok "debian_${debian}_perf_finds_the_plugin_where_it_is_told_to" lab_says found
	fi
	ok "debian_${debian}_lockdown_refuses_$1_and_is_told" lab_says locked
}

packages_of() {
	debian=$1 out=$layers/$1-out
	mkdir "$out"
	kernels
	builds_them
	in_root user sh $INSIDE files
	mv "$tap_work/out" "$layers/$debian-files"
	installs_them
	finds_the_tools
	refuses_other_kernels
	removes_them
	leaves_nothing
}

updates_of() {
	installs_them
	[ "$debian" -ne 12 ] || in_root user sh $INSIDE perf "$first"
	updates_the_kernel
	updates_the_packages
	in_root user sh -c 'apt-get -q -y purge kvm-trace-dkms kvm-trace-tools && ! find / -xdev -name "*kvm[-_]trace*" -not -path "/var/cache/*" | grep .'
	ok "debian_${debian}_removes_the_new_ones" status_is 0
}

packages_of 13
if [ "${KVM_TRACE_PACKAGES-}" = all ]; then
	in_root stub sh $INSIDE stub "$first"
	updates_of
	loads_in_the_lab 6.12 "$first"
	loads_in_the_lab 7.3 "$next"
	packages_of 12
	updates_of
	loads_in_the_lab 6.1 "$first"
fi

done_testing
[ "$tap_failed" -eq 0 ]
