#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Ends a build for a kernel whose headers know an exit reason that our table does
# not, by name or by number. It would get into records without name and class.
#
#	check-reasons.sh HEADERS TABLE	the kernel's uapi/asm, our exit_reasons.h
set -eu

# shellcheck source=kvm-trace/names.sh
. "$(dirname -- "$0")/names.sh"

headers=$1
table=$2
status=0

vmx_reasons() {
	names_of_header "$headers/vmx.h" 'EXIT_REASON_[A-Z0-9_]+' | sed 's/^EXIT_REASON_//'
}

# SVM_VMGEXIT_X is VMGEXIT_X. What is no exit reason is named here, one by one:
# among them values of EXITINFO1 for AP_JUMP_TABLE, AP_CREATION and SAVIC.
svm_reasons() {
	names_of_header "$headers/svm.h" 'SVM_(EXIT|VMGEXIT)_[A-Z0-9_]+' | sed -E \
		-e '/^SVM_EXIT_(EXCP_BASE|LAST_EXCP|REASONS) /d' \
		-e '/^SVM_VMGEXIT_[SG]ET_AP_JUMP_TABLE /d' \
		-e '/^SVM_VMGEXIT_AP_(CREATE_ON_INIT|CREATE|DESTROY) /d' \
		-e '/^SVM_VMGEXIT_SAVIC_(REGISTER_GPA|UNREGISTER_GPA|SELF_GPA) /d' \
		-e 's/^SVM_(EXIT_)?//'
}

# check HEADER REASONS MACRO [MACRO]: says what the tables, the second that of
# codes of more than 16 bits, lack of the header's reasons
check() {
	header=$headers/$1
	reasons=$2
	shift 2
	missing=$({
		names_of_table "$table" "$@"
		echo --
		printf '%s\n' "$reasons"
	} | not_in_first)
	[ -n "$missing" ] || return 0
	status=1
	printf '%s\n' "$missing" | while read -r name code; do
		case $code in
		-)
			echo "kvm-trace: no exit reasons read from $header or from $table: they are not what check-reasons.sh expects"
			continue
			;;
		?????*) macro=${2-$1} ;;
		*) macro=$1 ;;
		esac
		echo "kvm-trace: $header has the exit reason $name 0x$code, which $table lacks: add X(0x$code, $name, CLASS) to $macro there"
	done >&2
}

for header in "$headers/vmx.h" "$headers/svm.h"; do
	if [ ! -r "$header" ]; then
		echo "kvm-trace: $header cannot be read: install the kernel's headers" >&2
		exit 1
	fi
done
check vmx.h "$(vmx_reasons)" KVM_TRACE_VMX_REASONS
check svm.h "$(svm_reasons)" KVM_TRACE_SVM_REASONS KVM_TRACE_SVM_REASONS_WIDE
exit $status
