#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# make install and its kin in perf-plugins: the plugin, the filter, perf kvm-trace,
# its pages and its completion get where they are looked for, go away whole, and a
# missing header ends the build in one line.

# shellcheck source=selftests/host/expect.sh
. "$(dirname -- "$0")/expect.sh"

sources=$(dirname -- "$0")/../../perf-plugins
include=$(dirname -- "$0")/../../include
man=$(dirname -- "$0")/../../Documentation/man
name=plugin_kvm_trace.so
filter=kvm-trace.so

files() {
	(cd "$1" && find . -type f -printf '%P %m\n' | sort)
}

# The tests build in a copy of their own.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/perf-plugins" "$tmp/Documentation" "$tmp/root" "$tmp/home"
cp "$sources"/*.c "$sources"/*.h "$sources"/Makefile "$sources"/perf-kvm-trace \
	"$sources"/perf-kvm-trace.bash "$tmp/perf-plugins"
cp -r "$include" "$tmp"
cp -r "$man" "$tmp/Documentation"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES CFLAGS DESTDIR OUTPUT libdir perfdir bindir mandir completiondir

# front_files COMMANDS PAGES COMPLETION: what perf kvm-trace has there.
front_files() {
	echo "$1/perf-kvm-trace 755"
	echo "$1/perf-kvm-trace-pt 755"
	echo "$1/perf-kvm-trace-salvage 755"
	(cd "$man" && printf "$2/man1/%s 644\n" ./*.1) | sed 's|\./||'
	echo "$3/perf-kvm-trace 644"
}

build() {
	HOME=$tmp/home make -s -C "$tmp/perf-plugins" "$@"
}

echo 'TAP version 13'

build TEP_CFLAGS= all >"$tmp/out" 2>&1 && echo "make succeeded" >>"$tmp/out"
expect missing_headers_give_one_line_with_the_remedy \
	"$name: event-parse.h of libtraceevent is missing: install the package libtraceevent-dev" \
	"$(grep -v '^make' "$tmp/out")"
expect failed_build_leaves_no_plugin "" "$(find "$tmp/perf-plugins" -name '*.so')"
mkdir -p "$tmp/none/perf"
echo '#error' >"$tmp/none/perf/perf_dlfilter.h"
build CFLAGS="-I$tmp/none" all >"$tmp/out" 2>&1 && echo "make succeeded" >>"$tmp/out"
expect missing_header_of_perf_gives_one_line_with_the_remedy \
	"$filter: perf/perf_dlfilter.h is missing: install the package linux-perf" \
	"$(grep -v '^make' "$tmp/out")"
expect failed_build_leaves_no_filter "" "$(find "$tmp/perf-plugins" -name "$filter")"

libdir=$(pkg-config --variable=libdir libtraceevent)
perfdir=$(perf --exec-path 2>/dev/null || echo /usr/lib/perf-core)
build install DESTDIR="$tmp/root" >"$tmp/out" 2>&1
expect install_puts_all_where_it_is_looked_for_and_nothing_else \
	"$(printf '%s\n' "${libdir#/}/traceevent/plugins/$name 644" \
		"${perfdir#/}/dlfilters/$filter 644" \
		"$(front_files usr/local/bin usr/local/share/man etc/bash_completion.d)" | sort)" \
	"$(files "$tmp/root")"
build uninstall DESTDIR="$tmp/root"
expect uninstall_takes_it_away "" "$(files "$tmp/root")"

set -- libdir=/opt/lib perfdir=/opt/perf bindir=/opt/bin mandir=/opt/man completiondir=/opt/bash
build install DESTDIR="$tmp/root" "$@"
expect install_honours_the_directories_given \
	"$(printf '%s\n' "opt/lib/traceevent/plugins/$name 644" \
		"opt/perf/dlfilters/$filter 644" \
		"$(front_files opt/bin opt/man opt/bash)" | sort)" "$(files "$tmp/root")"
if command -v perf >/dev/null; then
	expect perf_finds_the_filter_by_its_name_there 1 \
		"$(perf --exec-path="$tmp/root/opt/perf" script --list-dlfilters 2>&1 |
			grep -c "^ *$filter ")"
else
	expect "perf_finds_the_filter_by_its_name_there # SKIP perf is not installed" "" ""
fi
build uninstall DESTDIR="$tmp/root" "$@"
expect uninstall_honours_them "" "$(files "$tmp/root")"

build install-user
expect install_user_puts_the_plugin_where_perf_6.1_looks_and_the_rest_beside_it \
	"$(printf '%s\n' ".local/lib/perf-core/dlfilters/$filter 644" \
		".local/lib/traceevent/plugins/$name 644" \
		"$(front_files .local/bin .local/share/man .local/share/bash-completion/completions)" |
		sort)" "$(files "$tmp/home")"

if command -v trace-cmd >/dev/null; then
	HOME=$tmp/home trace-cmd list -P >"$tmp/out" 2>&1
	expect trace_cmd_loads_the_plugin_from_there 1 \
		"$(grep -c "^ *$tmp/home/.local/lib/traceevent/plugins//*$name" "$tmp/out")"
else
	expect "trace_cmd_loads_the_plugin_from_there # SKIP trace-cmd is not installed" "" ""
fi

build uninstall-user
expect uninstall_user_takes_it_away "" "$(files "$tmp/home")"

build clean
expect clean_leaves_the_sources "$(cd "$sources" && ls -- *.c *.h Makefile perf-kvm-trace perf-kvm-trace.bash)" \
	"$(ls "$tmp/perf-plugins")"

expect callers_CFLAGS_are_added "in each" "$(build CFLAGS=-DMARKED --dry-run |
	awk '/-Werror/ { n++ } /-Werror.*-DMARKED/ { m++ } END { print n && n == m ? "in each" : m + 0 " of " n + 0 }')"
echo "1..$count"
[ "$failed" = 0 ]
