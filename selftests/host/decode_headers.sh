#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The tables of include/kvm_trace/ against the installed kernel headers, by name
# and number: every exit reason, every reason to return to user space and every
# exception that the headers define is there; every MSR that is there is one of
# the headers'. Nothing about what they mean.
#
#	decode_headers.sh [TREE...]	as /usr/src/linux-headers-6.12.1-common

here=$(dirname -- "$0")
# shellcheck source=selftests/host/expect.sh
. "$here/expect.sh"
# shellcheck source=kvm-trace/names.sh
. "$here/../../kvm-trace/names.sh"

tables=$here/../../include/kvm_trace

# What the module's build says of the uapi asm headers in a directory: nothing
# if all is well.
check_reasons() {
	"$here/../../kvm-trace/check-reasons.sh" "$1" "$tables/exit_reasons.h" 2>&1 ||
		echo "status $?"
}

# Reasons to return to user space that a uapi kvm.h has and the table lacks.
# Kinds of one reason and a flag of ARM_SEA are named alike.
check_user_exits() {
	{
		names_of_table "$tables/user_exits.h" KVM_TRACE_USER_EXITS
		echo --
		names_of_header "$1" 'KVM_EXIT_[A-Z0-9_]+' | sed -E \
			-e '/^KVM_EXIT_(IO_IN|IO_OUT|HYPERV_(SYNIC|HCALL|SYNDBG)|XEN_HCALL) /d' \
			-e '/^KVM_EXIT_ARM_SEA_FLAG_GPA_VALID /d' \
			-e 's/^KVM_EXIT_//'
	} | not_in_first
}

# Exceptions that a uapi asm/kvm.h has and the table lacks
check_exceptions() {
	{
		names_of_table "$tables/exception_names.h" KVM_TRACE_EXCEPTIONS
		echo --
		names_of_header "$1" '[A-Z][A-Z]_VECTOR' | sed 's/_VECTOR / /'
	} | not_in_first
}

# MSRs of a tree, under the names of our table, which are in upper case. The
# x2APIC's are those of the APIC's registers: 0x800 and bits 11:4 of the offset.
msrs() {
	for header in "$1"/arch/x86/include/asm/*.h "$1"/arch/x86/include/uapi/asm/kvm_para.h \
		"$1"/include/hyperv/*.h; do
		[ -r "$header" ] || continue
		names_of_header "$header" 'MSR_[A-Za-z0-9_]+|HV_X64_MSR_[A-Z0-9_]+' |
			sed -e 's/^MSR_//' -e 's/^MTRR[a-zA-Z]* /\U&/'
		names_of_header "$header" 'APIC_[A-Z0-9]+' | sed -n -E \
			-e 's/^APIC_([A-Z0-9]+) ([0-9a-f])0$/X2APIC_\1 80\2/p' \
			-e 's/^APIC_([A-Z0-9]+) ([0-9a-f]{2})0$/X2APIC_\1 8\2/p'
	done
}

# MSRs of the table that none of the trees has; a kernel knows fewer of them than
# its successors
check_msrs() {
	{
		for tree; do
			msrs "$tree"
		done
		echo --
		names_of_table "$tables/msr_names.h" KVM_TRACE_MSRS
	} | not_in_first
}

# in_a_line TEXT: its lines, for a comparison with one
in_a_line() {
	printf '%s' "$1" | tr '\n' ,
}

# The checks themselves see what is new and what has another number.
check_of_checks() {
	printf '#define EXIT_REASON_CPUID 10\n#define EXIT_REASON_NEW 99\n' >"$tmp/vmx.h"
	printf '#define SVM_EXIT_HLT 0x079\n#define SVM_VMGEXIT_NEW 0x80000099ull\n#define SVM_EXIT_ERR -1ull\n' \
		>"$tmp/svm.h"
	table=$tables/exit_reasons.h
	expect new_reasons_and_changed_codes_in_headers_end_a_build \
		"kvm-trace: $tmp/vmx.h has the exit reason NEW 0x63, which $table lacks: add X(0x63, NEW, CLASS) to KVM_TRACE_VMX_REASONS there
kvm-trace: $tmp/svm.h has the exit reason HLT 0x79, which $table lacks: add X(0x79, HLT, CLASS) to KVM_TRACE_SVM_REASONS there
kvm-trace: $tmp/svm.h has the exit reason VMGEXIT_NEW 0x80000099, which $table lacks: add X(0x80000099, VMGEXIT_NEW, CLASS) to KVM_TRACE_SVM_REASONS_WIDE there
status 1" "$(check_reasons "$tmp")"
	echo '#define OTHER 1' >"$tmp/vmx.h"
	rm "$tmp/svm.h"
	expect a_build_without_headers_ends \
		"kvm-trace: $tmp/svm.h cannot be read: install the kernel's headers,status 1" \
		"$(in_a_line "$(check_reasons "$tmp")")"
	printf '#define SVM_EXIT_HLT 0x078\n' >"$tmp/svm.h"
	expect headers_without_a_reason_end_a_build \
		"kvm-trace: no exit reasons read from $tmp/vmx.h or from $table: they are not what check-reasons.sh expects,status 1" \
		"$(in_a_line "$(check_reasons "$tmp")")"

	printf '#define KVM_EXIT_MMIO 6\n#define KVM_EXIT_NEW 99\n#define KVM_EXIT_HLT 7\n' >"$tmp/kvm.h"
	expect new_user_exit_and_changed_number_in_a_header_are_seen "NEW 63,HLT 7" \
		"$(in_a_line "$(check_user_exits "$tmp/kvm.h")")"
	printf '#define GP_VECTOR 13\n#define QQ_VECTOR 27\n#define PF_VECTOR 15\n' >"$tmp/kvm.h"
	expect new_exception_and_changed_vector_in_a_header_are_seen "QQ 1b,PF f" \
		"$(in_a_line "$(check_exceptions "$tmp/kvm.h")")"

	mkdir -p "$tmp/arch/x86/include/asm"
	{
		names_of_table "$tables/msr_names.h" KVM_TRACE_MSRS |
			sed -e '/^EFER \|^X2APIC_EOI /d' -e '/^HV_/!s/^/MSR_/' -e 's/^/#define /' -e 's/ \([^ ]*\)$/ 0x\1/'
		printf '#define MSR_EFER 0xc0000088\n#define APIC_EOI 0xC0\n'
	} >"$tmp/arch/x86/include/asm/msr-index.h"
	expect msrs_of_other_numbers_than_in_the_headers_are_seen "X2APIC_EOI 80b,EFER c0000080" \
		"$(in_a_line "$(check_msrs "$tmp")")"
}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
echo 'TAP version 13'
check_of_checks
[ $# -gt 0 ] || set -- /usr/src/linux-headers-*-common
if [ -d "$1" ]; then
	for tree; do
		asm=$tree/arch/x86/include/uapi/asm
		expect "every_exit_reason_has_a_name: $tree" "" "$(check_reasons "$asm")"
		expect "every_exception_has_a_name: $tree" "" "$(check_exceptions "$asm/kvm.h")"
		expect "every_reason_to_return_to_user_space_has_a_name: $tree" "" \
			"$(check_user_exits "$tree/include/uapi/linux/kvm.h")"
	done
	expect every_named_msr_is_one_of_the_kernels "" "$(check_msrs "$@")"
else
	count=$((count + 1))
	echo "ok $count names_are_those_of_the_kernels_headers # SKIP no $1: install linux-headers-amd64"
fi
echo "1..$count"
[ "$failed" = 0 ]
