#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The tables in Documentation/hypercalls.rst are what hypercalls_rst prints of
# those in include/kvm_trace/. Whether these are right is tested elsewhere.
#
#	hypercalls_rst.sh		compares: TAP on stdout, status 1 on a difference
#	hypercalls_rst.sh --update	writes them there

here=$(dirname -- "$0")
# shellcheck source=selftests/host/expect.sh
. "$here/expect.sh"

file=$here/../../Documentation/hypercalls.rst
marker='.. The rest is printed by selftests/host/hypercalls_rst: do not edit.'

# Lines that differ in a file's tables
differences() {
	sed "1,\|^$marker\$|d" "$1" | diff - "$tmp/tables" | head -n 20
}

update() {
	grep -q -x "$marker" "$file" || {
		echo "hypercalls_rst.sh: $file has no line '$marker': put it where the tables begin" >&2
		return 1
	}
	sed "\|^$marker\$|q" "$file" >"$tmp/new" && cat "$tmp/tables" >>"$tmp/new" &&
		cat "$tmp/new" >"$file"
}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
[ -x "$here/hypercalls_rst" ] || {
	echo "hypercalls_rst.sh: $here/hypercalls_rst is missing: run make -C $here" >&2
	exit 1
}
{
	echo
	"$here/hypercalls_rst"
} >"$tmp/tables" || exit 1

if [ "$1" = --update ]; then
	update
	exit
fi
echo 'TAP version 13'
expect tables_in_the_documentation_are_those_of_the_headers "" "$(differences "$file")"
[ "$failed" = 0 ] || echo "# run $0 --update"
sed 's/KICK_CPU/KICK_VCPU/' "$file" >"$tmp/other.rst"
expect another_name_in_the_documentation_is_seen 2 "$(differences "$tmp/other.rst" | grep -c KICK_)"
echo "1..$count"
[ "$failed" = 0 ]
