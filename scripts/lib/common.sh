# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What every script here shares: messages, root, the cache directory, locks.
# Nothing about the lab's root, builds or virtual machines.

# Each message line starts with the name of the script that the user typed.
PROG=${0##*/}
SCRIPTS=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck disable=SC2034
TOP=$(dirname -- "$SCRIPTS")
CACHE=${KVM_TRACE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/kvm-trace}

say() {
	printf '%s: %s\n' "$PROG" "$*" >&2
}

die() {
	say "$*"
	exit 2
}

# Empty, or what makes a command run as root.
SUDO=
[ "$(id -u)" -eq 0 ] || SUDO='sudo --'

have() {
	command -v "$1" >/dev/null 2>&1
}

# need_value OPTION COUNT: refuses an option without its value.
need_value() {
	[ "$2" -ge 2 ] || die "option $1 needs a value"
}

# one_of WORD LIST: whether it is a word of the list, and one alone.
one_of() {
	for known in $2; do
		[ "$1" != "$known" ] || return 0
	done
	return 1
}

# need_number OPTION VALUE LOW HIGH
need_number() {
	case $2 in
	'' | *[!0-9]* | ???????*) die "$1 takes a number from $3 to $4, not '$2'" ;;
	esac
	if [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
		die "$1 takes a number from $3 to $4, not '$2'"
	fi
}

# need_share OPTION DIRECTORY: makes it and prints its full name.
need_share() {
	case $2 in
	*[,:]*) die "$1 $2: QEMU cannot share a directory with a comma or colon in its name" ;;
	esac
	mkdir -p "$2" 2>/dev/null || die "$1 $2: cannot make that directory"
	(CDPATH='' cd -- "$2" && pwd -P)
}

# need_space DIRECTORY MEGABYTES WHAT
need_space() {
	free=$(df -Pm -- "$1" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$2" ] ||
		die "$3 needs $2 MB in $1, $free MB are free: make room, or set KVM_TRACE_CACHE to another place"
}

now() {
	date +%s
}
