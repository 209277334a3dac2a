# SPDX-License-Identifier: GPL-2.0-only
# Adds up what gcov --stdout --branch-probabilities says of many programs that have files
# in common: a line counts as executed if any of them executed it. A line "dir DIRECTORY"
# says where those that follow were compiled. Prints lines of each file of perf-plugins/
# and kvm-trace/, and the functions of which less than LEAST % were executed.

# path(DIR, NAME): from the project's top.
function path(dir, name) {
	if (name ~ /^\//)
		return name
	name = dir "/" name
	while (sub(/[^\/]+\/\.\.\//, "", name))
		;
	return name
}

function percent(hit, all) {
	return all ? int(100 * hit / all) : 100
}

$1 == "dir" && NF == 2 {
	dir = $2
	next
}

/^ *-: *0:Source:/ {
	file = path(dir, substr($0, index($0, "Source:") + 7))
	wanted = file ~ /^(perf-plugins|kvm-trace)\//
	current = ""
	next
}

!wanted {
	next
}

/^function [^ ]+ called / {
	current = $2
	next
}

/^ *([0-9]+\*?|#+|=+): *[1-9][0-9]*:/ {
	split($0, part, ":")
	line = file ":" part[2] + 0
	if (!(line in owner)) {
		owner[line] = file " " current
		lines[file]++
		size[owner[line]]++
	}
	if (part[1] ~ /[0-9]/ && !(line in executed)) {
		executed[line] = 1
		hits[file]++
		done[owner[line]]++
	}
}

# row(LINES, EXECUTED, NAME)
function row(all, hit, name) {
	return sprintf("%6d %8d %3d  %s", all, hit, percent(hit, all), name)
}

END {
	by_name = "sort -k 4"
	print " lines executed   %  file"
	for (name in lines) {
		all += lines[name]
		hit += hits[name]
		print row(lines[name], hits[name], name) | by_name
	}
	close(by_name)
	print row(all, hit, "all")
	print "\nfunctions below " LEAST " %:"
	for (name in size)
		if (100 * done[name] < LEAST * size[name])
			print row(size[name], done[name], name) | by_name
	close(by_name)
}
