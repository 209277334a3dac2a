#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks of the source text, and builds that must print no warning. Runs in the
# lab's root in the project's directory; /out/checkpatch holds the kernel's.

cases=0
# result NAME LOG: a case is good if its log is empty.
result() {
	cases=$((cases + 1))
	if [ -s "$2" ]; then
		sed 's/^/# /' "$2" | head -n 60
		echo "not ok $cases $1"
	else
		echo "ok $cases $1"
	fi
}

log=$(mktemp)
files=$(mktemp)
cut -f1 /out/source | sort >"$files"
sources() {
	grep -E "$1" "$files"
}

echo 'TAP version 13'

# Text files that cannot hold a comment are data.
sources '' | grep -v -E '^(LICENSE|CODEOWNERS|selftests/host/golden(-batches)?/|selftests/.*\.(bin|txt|data)$)' |
	xargs -d '\n' grep -L 'SPDX-License-Identifier: GPL-2.0' >"$log"
result every_file_has_a_license_tag "$log"

{
	sources '\.sh$|^\.ci/'
	sources '' | xargs -d '\n' grep -l -E -e '^#!/bin/(ba)?sh' -e '^#!/bin/busybox sh'
} | grep -v '^scripts/lib/.*\.sh$' | sort -u | xargs -d '\n' shellcheck -x -a >"$log" 2>&1
result shellcheck_is_clean "$log"

sources '' | grep -v '\.bin$' | xargs -d '\n' codespell >"$log" 2>&1
result codespell_is_clean "$log"

# checkpatch does not know tables of X(...) lines and their users, and complains
# of every TRACE_EVENT, the kernel's own included, and of Hyper-V's names. In user space there is no
# strscpy, BIT() or __printf, and what the kernel writes to mapped memory is volatile.
TABLES=COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,BRACKET_SPACE,TRAILING_SEMICOLON
TABLES=$TABLES,MACRO_WITH_FLOW_CONTROL,DO_WHILE_MACRO_WITH_TRAILING_SEMICOLON
EVENTS=OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT
USERSPACE=STRCPY,PREFER_DEFINED_ATTRIBUTE_MACRO,VOLATILE,AVOID_EXTERNS,BIT_MACRO,EMBEDDED_FUNCTION_NAME
checkpatch() {
	xargs -d '\n' perl /out/checkpatch/checkpatch.pl \
		--no-tree --root=. --strict --terse --show-types --no-summary --quiet --ignore "$TABLES,$1" -f 2>&1 |
		grep -v "ERROR:SPACING: spaces required around that ':' (ctx:VxE)"
}
{
	sources '^(kvm-trace|include)/.*\.[ch]$' |
		grep -v -E '^kvm-trace/events(_detail|_batch)?\.h$|_hyperv\.h$' | checkpatch NONE
	sources '^include/kvm_trace/hypercalls_hyperv\.h$' | checkpatch CAMELCASE
	sources '^(kvm-trace/events(_detail|_batch)?|selftests/modules/fake_kvm)\.h$' | checkpatch $EVENTS
	sources '^(perf-plugins|scripts|selftests)/.*\.[ch]$' |
		grep -v -E '^selftests/(modules/fake_kvm\.h|host/fuzz_.*|pt-emu/bochs/.*)$' |
		checkpatch $USERSPACE
	# libFuzzer's name for what it calls, and Bochs' own names.
	sources '^selftests/(host/fuzz_.*\.c|pt-emu/bochs/.*\.(h|cc))$' |
		checkpatch $USERSPACE,CAMELCASE
} >"$log"
result checkpatch_is_clean "$log"

sources '^(kvm-trace|include|perf-plugins)/.*\.[ch]$' |
	xargs -d '\n' perl /usr/lib/linux-kbuild-6.12*/scripts/kernel-doc -none -Wall >"$log" 2>&1
result kernel_doc_is_clean "$log"

while read -r kernel release cc; do
	make -j"$(nproc)" KDIR="/usr/src/linux-headers-$release" CC="$cc" clean >/dev/null 2>&1
	make -j"$(nproc)" KDIR="/usr/src/linux-headers-$release" CC="$cc" W=1 all 2>&1 >/dev/null |
		grep -v -e 'pahole version differs' -e 'compiler differs' -e 'kernel was built by' \
			-e 'You are using' -e 'Skipping BTF generation' >"$log"
	result "builds_without_warning $kernel" "$log"
done </etc/kvm-trace/kernels

echo "1..$cases"
