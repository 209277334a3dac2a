# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Copies the source tree, builds and installs it for one kernel of the root.
# The result is a layer: the files that L1 and a chroot see on top of the root.

TREE=$CACHE/build/$(printf '%s' "$TOP" | cksum | cut -d' ' -f1)

# in_root HOW LAYER OUT COMMAND...: as lib/enter says; OUT may be empty. A plain
# user becomes root in a user namespace, which is enough to mount and to chroot.
in_root() {
	how=$1
	shift
	if [ -z "$SUDO" ]; then
		unshare --mount --propagation private --pid --fork --kill-child -- \
			"$SCRIPTS/lib/enter" "$how" "$ROOT" "$@"
	else
		KVM_TRACE_USER=1 unshare --map-root-user --mount --pid --fork --kill-child -- \
			"$SCRIPTS/lib/enter" "$how" "$ROOT" "$@"
	fi
}

source_files() {
	if have git && git -c safe.directory='*' rev-parse --git-dir >/dev/null 2>&1; then
		git -c safe.directory='*' ls-files -z --cached --others --exclude-standard | sort -zu
	else
		find . -path ./.git -prune -o -type f -printf '%P\0' | sort -z
	fi
}

# One line for each source file: what tells whether it has changed.
source_state() {
	(cd "$TOP" && source_files | xargs -0 -r stat --printf '%n\t%s %y %a\n' 2>/dev/null) || :
}

# sync_source LAYER OLD NEW: files get the current time, so that make sees a
# change even where the new file is older than the one it replaces.
sync_source() {
	cut -f1 "$2" | sort >"$2.names"
	cut -f1 "$3" | sort >"$3.names"
	comm -23 "$2.names" "$3.names" | (cd "$1/kvm-trace" && xargs -d '\n' -r rm -f --)
	sort "$2" >"$2.sorted"
	sort "$3" >"$3.sorted"
	comm -13 "$2.sorted" "$3.sorted" | cut -f1 |
		tar -C "$TOP" --no-recursion --verbatim-files-from -T - -cf "$2.tar" ||
		die "cannot copy the source tree from $TOP"
	tar -C "$1/kvm-trace" -x -m --no-same-owner -f "$2.tar" ||
		die "cannot copy the source tree to $1"
	rm -f "$2.names" "$3.names" "$2.sorted" "$3.sorted" "$2.tar"
}

# drop_stale_trees: builds of source trees that no longer exist.
drop_stale_trees() {
	for from in "$CACHE"/build/*/from; do
		[ -e "$from" ] || continue
		[ -d "$(cat "$from")" ] || rm -rf -- "${from%/from}"
	done
}

# build KERNEL: leaves the layer locked on fd 8, see snapshot().
build() {
	release=$(kernel_field "$1" 2)
	cc=$(kernel_field "$1" 3)
	dir=$TREE/$1
	layer=$dir/layer
	mkdir -p "$layer/kvm-trace" "$layer/usr/lib"
	printf '%s\n' "$TOP" >"$TREE/from"
	drop_stale_trees
	exec 8>"$dir/lock"
	if ! flock -n 8; then
		say "waiting for another lab that builds this tree for $1"
		flock 8
	fi
	: >>"$dir/source"
	source_state >"$dir/source.new"
	if [ -e "$dir/built" ] && cmp -s "$dir/source" "$dir/source.new"; then
		return
	fi
	need_space "$CACHE" 300 "a build"
	rm -f "$dir/built"
	sync_source "$layer" "$dir/source" "$dir/source.new"
	mv "$dir/source.new" "$dir/source"
	find "$layer" -mindepth 1 -maxdepth 1 ! -name kvm-trace -exec rm -rf -- {} +
	# The root's own links, or the layer would hide what is behind them.
	mkdir -p "$layer/usr/lib/modules/$release/updates" "$layer/usr/bin" "$layer/usr/sbin"
	ln -s usr/lib "$layer/lib"
	ln -s usr/bin "$layer/bin"
	ln -s usr/sbin "$layer/sbin"
	# All of them, which the root does not have.
	[ "$1" != sanitize ] || cp -a "$SANITIZE/modules/." "$layer/usr/lib/modules"
	# shellcheck disable=SC2016
	if ! in_root build "$layer" '' sh -euc '
		# Intel PT with SVM is emulated here.
		export CONFIG_KVM_TRACE_PT_SVM=y
		make -j"$(nproc)" KDIR="/usr/src/linux-headers-$1" CC="$2" all
		make KDIR="/usr/src/linux-headers-$1" CC="$2" DESTDIR=/mnt install
		depmod -o /mnt "$1"' sh "$release" "$cc" >"$dir/log" 2>&1; then
		say "the build for $release failed; the end of $dir/log:"
		tail -n 60 "$dir/log" >&2
		exit 2
	fi
	: >"$dir/built"
}

# snapshot DIRECTORY: a private copy of the layer that build() made.
snapshot() {
	cp -a --reflink=auto "$layer" "$1"
	flock -u 8
}

# add_files LAYER KERNEL DIRECTORY: lays the files of a directory over those of a
# private layer, as links where that can be done.
add_files() {
	cp -al "$3/." "$1/" 2>/dev/null || cp -a "$3/." "$1/" || die "cannot lay the files of $3 over the root"
	release=$(kernel_field "$2" 2)
	[ ! -d "$3/usr/lib/modules/$release/updates" ] || in_root build "$1" '' depmod -o /mnt "$release" ||
		die "depmod failed on the modules of $3"
}
