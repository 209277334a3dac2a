#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The tables of include/kvm_trace/ against the installed kernel headers, by name
# and number: every exit reason, every reason to return to user space, every
# exception, and every hypercall and sub-operation that the headers define is
# there; every MSR that is there is one of the headers'. Nothing about what they
# mean.
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

# Hypercalls of KVM's that a uapi kvm_para.h has and the table lacks
check_kvm_calls() {
	{
		names_of_table "$tables/hypercalls.h" KVM_TRACE_KVM_CALLS
		echo --
		names_of_header "$1" 'KVM_HC_[A-Z0-9_]+' | sed 's/^KVM_HC_//'
	} | not_in_first
}

# Hypercalls of Hyper-V's that a tree has and the table lacks. Linux spells names
# in its own way, and some are other than the TLFS's.
check_hyperv_calls() {
	{
		names_of_table "$tables/hypercalls_hyperv.h" KVM_TRACE_HYPERV_CALLS |
			tr '[:upper:]' '[:lower:]'
		echo --
		for header in "$1"/include/asm-generic/hyperv-tlfs.h "$1"/include/hyperv/*.h; do
			[ ! -r "$header" ] ||
				names_of_header "$header" 'HVCALL_[A-Z0-9_]+|HV_EXT_CALL_[A-Z0-9_]+'
		done | sed -E \
			-e 's/^HV_EXT_CALL_/HVCALL_EXT_/' \
			-e 's/^HVCALL_SEND_IPI/HVCALL_SEND_SYNTHETIC_CLUSTER_IPI/' \
			-e 's/^HVCALL_RETARGET_INTERRUPT /HVCALL_RETARGET_DEVICE_INTERRUPT /' \
			-e 's/^HVCALL_START_VP /HVCALL_START_VIRTUAL_PROCESSOR /' \
			-e 's/^HVCALL_GET_VP_ID_FROM_APIC_ID /HVCALL_GET_VP_INDEX_FROM_APIC_ID /' \
			-e 's/^HVCALL_MMIO_/HVCALL_MEMORY_MAPPED_IO_/' \
			-e 's/^HVCALL_DISABLE_HYP_EX /HVCALL_DISABLE_HYPERVISOR_EX /' \
			-e 's/^HVCALL_//' -e 's/_//g' | tr '[:upper:]' '[:lower:]'
	} | not_in_first
}

# Hypercalls of Xen's that a xen/interface/xen.h has and the table lacks. x86 has
# arch_0 for mca, and Linux has no name yet for what became argo_op.
check_xen_calls() {
	{
		names_of_table "$tables/hypercalls_xen.h" KVM_TRACE_XEN_CALLS
		echo --
		names_of_header "$1" '__HYPERVISOR_[a-z0-9_]+' |
			sed -e 's/^__HYPERVISOR_//' -e 's/^arch_0 /mca /' -e 's/^xc_reserved_op /argo_op /'
	} | not_in_first
}

# Sub-operations of Xen's calls: the call, the macros' prefix, the header under
# include/xen/interface/ that has them
xen_subs='
	memory_op XENMEM memory.h
	xen_version XENVER version.h
	console_io CONSOLEIO xen.h
	grant_table_op GNTTABOP grant_table.h
	vm_assist VMASST_CMD xen.h
	vcpu_op VCPUOP vcpu.h
	set_segment_base SEGBASE ../../../arch/x86/include/asm/xen/interface_64.h
	nmi_op XENNMI nmi.h
	sched_op SCHEDOP sched.h
	callback_op CALLBACKOP callback.h
	event_channel_op EVTCHNOP event_channel.h
	physdev_op PHYSDEVOP physdev.h
	hvm_op HVMOP hvm/hvm_op.h
	platform_op XENPF platform.h
	xenpmu_op XENPMU xenpmu.h
	mca XEN_MC xen-mca.h'

# subs_of_table FILE: lines "call name number"
subs_of_table() {
	awk "$normal"'
	/^#define / {
		macro = $2
		sub(/\(.*/, "", macro)
	}
	/^\tX\(/ {
		split($0, part, /[(,) \t]+/)
		if (macro == "KVM_TRACE_XEN_CALLS")
			call[part[3]] = part[4]
		else if (macro == "KVM_TRACE_XEN_SUBS")
			print call[part[3]], part[5], normal(part[4])
	}' "$1"
}

# Sub-operations that the headers under an include/xen/interface/ have and the
# table lacks. What is in capitals is something else, but for SEGBASE_*; so are
# the kinds of resources.
check_xen_subs() {
	{
		subs_of_table "$tables/hypercalls_xen.h"
		echo --
		echo "$xen_subs" | while read -r call prefix header; do
			[ -f "$1/$header" ] || continue
			names_of_header "$1/$header" "SEGBASE_[A-Z_]+|${prefix}_[a-z][a-z0-9_]*" |
				sed -E -e '/^XENMEM_(resource|rsrc)_/d' -e "s/^${prefix}_//" \
					-e 's/^add_to_physmap_range /add_to_physmap_batch /' \
					-e "s/^/$call /" | tr '[:upper:]' '[:lower:]'
		done
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

	printf '#define KVM_HC_FEATURES 3\n#define KVM_HC_NEW 99\n#define KVM_HC_KICK_CPU 6\n' >"$tmp/kvm_para.h"
	expect new_kvm_hypercall_and_changed_number_in_a_header_are_seen "NEW 63,KICK_CPU 6" \
		"$(in_a_line "$(check_kvm_calls "$tmp/kvm_para.h")")"
	mkdir -p "$tmp/include/hyperv"
	printf '#define %s\n' 'HVCALL_SEND_IPI 0x000b' 'HVCALL_NEW_CALL 0x0fff' 'HVCALL_CREATE_VP 0x4d' \
		'HV_EXT_CALL_NEW 0x8fff' >"$tmp/include/hyperv/new.h"
	expect new_hyperv_hypercall_and_changed_code_in_a_header_are_seen "newcall fff,createvp 4d,extnew 8fff" \
		"$(in_a_line "$(check_hyperv_calls "$tmp")")"
	printf '#define __HYPERVISOR_%s\n' 'iret 23' 'arch_0 48' 'new_op 43' 'sched_op 28' >"$tmp/xen.h"
	expect new_xen_hypercall_and_changed_number_in_a_header_are_seen "new_op 2b,sched_op 1c" \
		"$(in_a_line "$(check_xen_calls "$tmp/xen.h")")"
	printf '#define SCHEDOP_%s\n' 'yield 0' 'block 2' 'new 99' >"$tmp/sched.h"
	printf '#define VMASST_CMD_new 2\n' >"$tmp/xen.h"
	expect new_xen_sub_operation_and_changed_number_in_headers_are_seen \
		"vm_assist new 2,sched_op block 2,sched_op new 63" \
		"$(in_a_line "$(check_xen_subs "$tmp")")"
	rm "$tmp/sched.h" "$tmp/xen.h"

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
		expect "every_hypercall_of_kvm_has_a_name: $tree" "" \
			"$(check_kvm_calls "$tree/include/uapi/linux/kvm_para.h")"
		expect "every_hypercall_of_hyperv_has_a_name: $tree" "" "$(check_hyperv_calls "$tree")"
		expect "every_hypercall_of_xen_has_a_name: $tree" "" \
			"$(check_xen_calls "$tree/include/xen/interface/xen.h")"
		expect "every_sub_operation_of_xen_has_a_name: $tree" "" \
			"$(check_xen_subs "$tree/include/xen/interface")"
	done
	expect every_named_msr_is_one_of_the_kernels "" "$(check_msrs "$@")"
else
	count=$((count + 1))
	echo "ok $count names_are_those_of_the_kernels_headers # SKIP no $1: install linux-headers-amd64"
fi
echo "1..$count"
[ "$failed" = 0 ]
