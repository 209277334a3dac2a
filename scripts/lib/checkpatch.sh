# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Fetches the kernel's checkpatch.pl, which Debian has only in the kernel's
# whole source package, into the cache.

make_checkpatch() {
	[ ! -e "$CACHE/checkpatch/checkpatch.pl" ] || return 0
	need_space "$CACHE" 400 "checkpatch"
	say "fetching checkpatch, once: 150 MB of Debian's linux-source-6.12, about 1 minute"
	fetch=$CACHE/setup.$$
	mkdir -p "$fetch/kvm-trace"
	sources >"$fetch/sources.list"
	private_apt "$fetch" "$fetch/sources.list" || die "apt could not read the package lists"
	(cd "$fetch/kvm-trace" && APT_CONFIG=$fetch/apt.conf apt-get -qq download linux-source-6.12) ||
		die "apt could not fetch linux-source-6.12: see its messages above"
	# shellcheck disable=SC2016
	in_root build "$fetch" '' sh -euc '
		dpkg-deb --fsys-tarfile linux-source-6.12_*.deb |
			tar -x -O ./usr/src/linux-source-6.12.tar.xz |
			tar -x -J --occurrence -C /mnt --strip-components=1 \
				linux-source-6.12/scripts/checkpatch.pl \
				linux-source-6.12/scripts/const_structs.checkpatch \
				linux-source-6.12/scripts/spelling.txt' 2>"$fetch/log" || :
	[ -s "$fetch/scripts/checkpatch.pl" ] || die "no checkpatch.pl in linux-source-6.12: $(tail -n 1 "$fetch/log")"
	rm -rf "$CACHE/checkpatch"
	mv "$fetch/scripts" "$CACHE/checkpatch"
	rm -rf "$fetch"
}
