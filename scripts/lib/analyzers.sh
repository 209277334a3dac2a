# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Fetches what only the static checks use, as a layer over the lab's root, into the
# cache: in the root itself each L1 would have it in its memory. What is checked is in
# selftests/static.sh.

ANALYZERS='clang-19 cppcheck'
ANALYZERS_MB=900

# Packages that fit another root do not fit this one.
analyzers_stamp() {
	{
		cat "$ROOT/etc/kvm-trace/stamp"
		echo "$ANALYZERS"
	} | cksum | cut -d' ' -f1
}

make_analyzers() {
	analyzers=$CACHE/analyzers-$(analyzers_stamp)
	exec 5>"$CACHE/analyzers.lock"
	flock 5
	if [ ! -d "$analyzers" ]; then
		need_space "$CACHE" $ANALYZERS_MB "what the static checks use"
		say "fetching $ANALYZERS, once: 320 MB when unpacked"
		rm -rf "$CACHE"/analyzers-*
		fetch_analyzers
	fi
	exec 5>&-
}

fetch_analyzers() {
	new=$analyzers.new
	mkdir -p "$new/layer/usr"
	sources >"$new/sources.list" || die "apt on this machine has no Debian mirror: add one to /etc/apt/sources.list"
	private_apt "$new" "$new/sources.list" || die "apt could not read the package lists: see its messages above"
	# What is installed by now has to fit.
	cp "$ROOT/var/lib/dpkg/status" "$new/status"
	preferences >"$new/preferences"
	# shellcheck disable=SC2086
	APT_CONFIG=$new/apt.conf apt-get -qq -y --no-install-recommends --download-only \
		-o Dir::Etc::preferences="$new/preferences" install $ANALYZERS >"$new/log" 2>&1 </dev/null || {
		tail -n 12 "$new/log" >&2
		die "apt could not fetch $ANALYZERS"
	}
	for package in "$new"/archives/*.deb; do
		dpkg-deb -x "$package" "$new/layer" || die "cannot unpack $package"
	done
	mv "$new/layer" "$analyzers"
	rm -rf "$new"
}
