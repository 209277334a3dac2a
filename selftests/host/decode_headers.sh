#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every exit reason that the installed kernel headers define is in
# include/kvm_trace/exit_reasons.h, by the same name and code. Nothing about
# what the reasons mean.
#
#	decode_headers.sh [HEADERS...]	directories with vmx.h and svm.h

# shellcheck source=selftests/host/expect.sh
. "$(dirname -- "$0")/expect.sh"

here=$(dirname -- "$0")
table=$here/../../include/kvm_trace/exit_reasons.h

# Codes are compared as hex digits without prefix, suffix or leading zeros.
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

# table_reasons MACRO...: lines "name code" of these tables
table_reasons() {
	awk -v wanted=" $* " "$normal"'
	/^#define / {
		macro = $2
		sub(/\(.*/, "", macro)
	}
	index(wanted, " " macro " ") && /^\tX\(/ {
		split($0, part, /[(,) \t]+/)
		print part[4], normal(part[3])
	}' "$table"
}

# header_reasons FILE PREFIX...: lines "name code" of its reasons; SVM_VMGEXIT_X
# is VMGEXIT_X. What is no exit reason is named here, one by one.
header_reasons() {
	file=$1
	shift
	awk -v prefixes="$*" "$normal"'
	BEGIN {
		n = split(prefixes, prefix, " ")
		split("EXCP_BASE LAST_EXCP REASONS", not_svm, " ")
		for (i in not_svm)
			other["SVM_EXIT_" not_svm[i]]
		# Values of EXITINFO1 for AP_JUMP_TABLE, AP_CREATION and SAVIC
		split("SET_AP_JUMP_TABLE GET_AP_JUMP_TABLE AP_CREATE_ON_INIT AP_CREATE AP_DESTROY " \
		      "SAVIC_REGISTER_GPA SAVIC_UNREGISTER_GPA SAVIC_SELF_GPA", not_ghcb, " ")
		for (i in not_ghcb)
			other["SVM_VMGEXIT_" not_ghcb[i]]
	}
	# TERM_REASON() is a function.
	/^[ \t]*#[ \t]*define[ \t]/ && $0 !~ /define[ \t]+[A-Za-z0-9_]+\(/ {
		sub(/#[ \t]*define/, "#define")
		if ($2 in other)
			next
		for (i = 1; i <= n; i++)
			if (index($2, prefix[i]) == 1) {
				name = substr($2, length(prefix[i]) + 1)
				if (prefix[i] == "SVM_VMGEXIT_")
					name = "VMGEXIT_" name
				print name, normal($3)
			}
	}' "$file"
}

# missing FILE: reasons of this vmx.h or svm.h that the table lacks
missing() {
	case $1 in
	*vmx.h)
		header_reasons "$1" EXIT_REASON_ >"$tmp/header"
		table_reasons KVM_TRACE_VMX_REASONS >"$tmp/table"
		;;
	*)
		header_reasons "$1" SVM_EXIT_ SVM_VMGEXIT_ >"$tmp/header"
		table_reasons KVM_TRACE_SVM_REASONS KVM_TRACE_SVM_REASONS_WIDE >"$tmp/table"
		;;
	esac
	if [ ! -s "$tmp/header" ] || [ ! -s "$tmp/table" ]; then
		echo "nothing read from $1 or $table"
		return
	fi
	sort "$tmp/table" >"$tmp/sorted"
	sort "$tmp/header" | comm -13 "$tmp/sorted" -
}

check() {
	expect "table_has_every_exit_reason_of: $1" "" "$(missing "$1" | tr '\n' ,)"
	echo "# $(wc -l <"$tmp/header") reasons"
}

# The check itself sees a reason that is new, and one whose code changed.
check_of_check() {
	printf '#define EXIT_REASON_CPUID 10\n#define EXIT_REASON_NEW 99\n' >"$tmp/vmx.h"
	expect new_vmx_reason_in_a_header_is_seen "NEW 63" "$(missing "$tmp/vmx.h")"
	printf '#define SVM_EXIT_HLT 0x079\n#define SVM_VMGEXIT_NEW 0x80000099ull\n#define SVM_EXIT_ERR -1ull\n' \
		>"$tmp/svm.h"
	expect new_svm_reason_and_changed_code_in_a_header_are_seen \
		"HLT 79,VMGEXIT_NEW 80000099," "$(missing "$tmp/svm.h" | tr '\n' ,)"
}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
echo 'TAP version 13'
check_of_check
[ $# -gt 0 ] || set -- /usr/src/linux-headers-*-common/arch/x86/include/uapi/asm
for dir; do
	if [ -d "$dir" ]; then
		check "$dir/vmx.h"
		check "$dir/svm.h"
	else
		count=$((count + 1))
		echo "ok $count table_has_every_exit_reason_of_the_kernels_headers # SKIP no $dir: install linux-headers-amd64"
	fi
done
echo "1..$count"
[ "$failed" = 0 ]
