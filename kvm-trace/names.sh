# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Lists names and numbers of kernel headers and of the tables in
# include/kvm_trace/, to be compared. Which names have to agree is said by those
# who source this.

# Numbers are listed as hex digits without prefix, suffix or leading zeros.
normal='
function normal(code) {
	code = tolower(code)
	gsub(/[()ul]/, "", code)
	if (code == "-1")
		return "ffffffffffffffff"
	if (code !~ /^0x/)
		return sprintf("%x", code)
	sub(/^0x0*/, "", code)
	return code == "" ? "0" : code
}'

# names_of_table FILE MACRO...: lines "name number" of these tables
names_of_table() {
	file=$1
	shift
	awk -v wanted=" $* " "$normal"'
	/^#define / {
		macro = $2
		sub(/\(.*/, "", macro)
	}
	index(wanted, " " macro " ") && /^\tX\(/ {
		split($0, part, /[(,) \t]+/)
		print part[4], normal(part[3])
	}' "$file"
}

# names_of_header FILE PATTERN: lines "macro number" of the macros whose name is
# of this pattern and whose value is a number
names_of_header() {
	awk -v pattern="$2" "$normal"'
	# TERM_REASON() is a function.
	/^[ \t]*#[ \t]*define[ \t]/ && $0 !~ /define[ \t]+[A-Za-z0-9_]+\(/ {
		sub(/#[ \t]*define/, "#define")
		if ($2 ~ "^(" pattern ")$" && $3 ~ /^\(?(0x[0-9a-fA-F]+|-?[0-9]+)[uUlL]*\)?$/)
			print $2, normal($3)
	}' "$1"
}

# not_in_first: of two lists with a line "--" between them, what the second has
# and the first lacks; "nothing -" if one is empty, and there is nothing to compare
not_in_first() {
	awk '
	$0 == "--" {
		second = 1
		next
	}
	$0 == "" {
		next
	}
	!second {
		known[$0] = ++names
		next
	}
	{
		++others
	}
	!($0 in known)
	END {
		if (!names || !others)
			print "nothing -"
	}'
}
