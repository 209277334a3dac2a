#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: a source of Bochs that is not the one of 3.0 is refused, with the file and the
# line that differ, and neither that nor a build that fails leaves anything behind.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# in_lab SCRIPT ARGUMENTS...: with the functions that build Bochs
in_lab() {
	script=$1
	shift
	sh -euc ". scripts/lib/common.sh; . scripts/lib/bochs-build.sh; $script" scripts/lab "$@"
}

# A source of nothing but what is changed: a line for each pattern, and one behind it.
good=$tap_work/good
mkdir -p "$good/instrument"
# shellcheck disable=SC2016
in_lab '
	change() {
		mkdir -p "${1%/*}"
		printf "%s\n" "$2" | sed "s/^^//; s/\\$\$//; s/\\\\\\([][*]\\)/\\1/g; s/\\.\\*/x/g" >>"$1"
		echo "{" >>"$1"
	}
	bochs_patch "$1" && bochs_pt "$1" && bochs_count "$1"' "$good"
rm -r "$good/instrument/pt"

# changed SOURCE NAME
changed() {
	rm -rf "$tap_work/source"
	cp -R "$1" "$tap_work/source"
	# shellcheck disable=SC2016
	run in_lab 'bochs_changes "$@"' "$tap_work/source" "$2"
}

lines() {
	(cd "$good" && grep -r -v -n -x -e '{' .) | sort
}

lines >"$tap_work/lines"
ok there_are_lines_to_change test "$(wc -l <"$tap_work/lines")" -gt 0

each_is_changed() {
	status_is 0 && [ ! -s "$tap_work/err" ] || return
	while IFS=: read -r file number rest; do
		# Of a function, it is the line behind.
		[ "$(sed -n "$number p" "$tap_work/source/$file")" != "$rest" ] ||
			[ "$(sed -n "$((number + 1)) p" "$tap_work/source/$file")" != '{' ] || return
	done <"$tap_work/lines"
}
changed "$good" bochs_3.0.orig.tar.gz
ok a_source_with_each_line_once_is_changed each_is_changed

# refused_each SCRIPT COUNT: with any one line edited by sed, and so often there then
refused_each() {
	while IFS=: read -r file number rest; do
		rm -rf "$tap_work/bad"
		cp -R "$good" "$tap_work/bad"
		sed -i "$number $1" "$tap_work/bad/$file"
		changed "$tap_work/bad" bochs_9.9.orig.tar.gz
		if ! refused bochs_9.9.orig.tar.gz 3.0 "${file#./} has $2 lines"; then
			echo "# $file: $rest"
			return 1
		fi
	done <"$tap_work/lines"
}
ok a_source_that_lacks_any_one_line_is_refused_by_file_and_line refused_each d 0
ok a_source_that_has_any_one_line_twice_is_refused_by_file_and_line refused_each p 2

# What fetches and unpacks packages, without any: the source is a file of ours.
mkdir "$tap_work/bin"
cat >"$tap_work/bin/apt-get" <<END
#!/bin/sh
case "\$*" in
indextargets*) echo 'Debian http://mirror.invalid/debian' ;;
*source*) cp "$tap_work"/bochs_*.orig.tar.gz . ;;
*install*) : >archives/none.deb ;;
esac
END
printf '#!/bin/sh\n' >"$tap_work/bin/dpkg-deb"
chmod +x "$tap_work"/bin/*
cache=$tap_work/cache
mkdir "$cache"
# shellcheck disable=SC2016
ln -s "$(in_lab 'echo "$CACHE"')/root" "$cache/root"

# set_up SOURCE VERSION
set_up() {
	rm -f "$tap_work"/bochs_*
	tar -C "$1/.." -czf "$tap_work/bochs_$2.orig.tar.gz" "${1##*/}"
	run env PATH="$tap_work/bin:$PATH" KVM_TRACE_CACHE="$cache" scripts/lab setup --cpu vmx
}

nothing_is_left() {
	[ -z "$(find "$cache" -mindepth 1 ! -name root ! -name '*lock')" ]
}

set_up "$tap_work/bad" 9.9
ok the_lab_refuses_a_source_of_another_version_by_name stderr_has \
	'^lab: bochs_9\.9\.orig\.tar\.gz is not the source of Bochs 3\.0, which is needed: [a-z/_.]* has 2 lines'
ok the_lab_fails_then status_is 2
ok nothing_is_left_of_a_refused_source nothing_is_left

# It has no configure.
set_up "$good" 3.0
ok a_build_that_fails_is_told stderr_has '^lab: the build of Bochs failed$'
ok the_lab_fails_then_too status_is 2
ok nothing_is_left_of_a_build_that_fails nothing_is_left

done_testing
