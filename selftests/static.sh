#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks of the source text, and builds that must print no warning. Runs in the
# lab's root, with what scripts/lib/analyzers.sh lays over it, in the project's directory;
# /out/checkpatch holds the kernel's.

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
sources '' | grep -v -E '^(LICENSE|CODEOWNERS|debian/(changelog|copyright|source/format|.*\.dkms)|selftests/host/golden(-batches)?/|selftests/.*\.(bin|txt|data)$|Documentation/.*\.png$)' |
	xargs -d '\n' grep -L 'SPDX-License-Identifier: GPL-2.0' >"$log"
result every_file_has_a_license_tag "$log"

{
	sources '\.(sh|bash)$|^\.ci/'
	sources '' | xargs -d '\n' grep -l -E -e '^#!/bin/(ba)?sh' -e '^#!/bin/busybox sh'
} | grep -v '^scripts/lib/.*\.sh$' | sort -u | xargs -d '\n' shellcheck -x -a >"$log" 2>&1
result shellcheck_is_clean "$log"

grep -o 'selftests/[a-z0-9_/-]*\.[a-z]*' Documentation/security.rst | sort -u |
	while read -r file; do
		grep -q -x "$file" "$files" || echo "security.rst names $file, which is not there"
	done >"$log"
result each_test_of_security_rst_is_there "$log"

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

# The second compiler sees other mistakes. Left out: what is built with headers of another
# place (BPF, a kernel's, Bochs'), tables that leave fields 0, and structures of the kernel's
# that end in an array and are followed by its elements.
second_compiler() {
	# shellcheck disable=SC2046
	xargs -d '\n' -P "$(nproc)" -n 16 clang-19 -fsyntax-only -std=gnu11 -D_GNU_SOURCE -pthread \
		-Wall -Wextra -Werror -Wno-missing-field-initializers \
		-Wno-gnu-variable-sized-type-not-at-end \
		-Iselftests/lib -Iinclude/uapi -Iinclude -Iperf-plugins \
		$(pkg-config --cflags libtraceevent) "$@" 2>&1
}
{
	sources '^(perf-plugins|scripts|selftests)/.*\.c$' |
		grep -v -E '^selftests/(modules/|bench/ringbuf|host/pt_caps\.c$|pt-emu/bochs/)' |
		second_compiler
	sources '^kvm-trace/pt/switch\.c$' |
		second_compiler -include stdbool.h -include stddef.h -include selftests/lib/types.h
} >"$log"
result clang_has_no_warning "$log"

# Of the tools that are installed, and what of the module is plain C. Three complaints are
# wrong: put_time() leaves its loop at the last row of the table, need_memory() does not come
# back without any, and vcpu_of() means the pointer that it returns.
cppcheck --quiet --template='{file}:{line}: {message} [{id}]' -j "$(nproc)" \
	--enable=warning,performance,portability --check-level=exhaustive --std=c11 \
	-D_GNU_SOURCE -Iinclude/uapi -Iinclude -Iperf-plugins \
	--suppress=arrayIndexOutOfBounds:perf-plugins/decode.c \
	--suppress=nullPointerOutOfMemory:perf-plugins/pt_record.c \
	--suppress=identicalInnerCondition:perf-plugins/order.c \
	perf-plugins kvm-trace/pt/switch.c kvm-trace/batch_encode.c kvm-trace/guestwalk.c >"$log" 2>&1
result cppcheck_is_clean "$log"

while read -r kernel release cc; do
	make -j"$(nproc)" KDIR="/usr/src/linux-headers-$release" CC="$cc" clean >/dev/null 2>&1
	# sparse of the module, with one kernel's headers: compat/ alone differs.
	sparse=0
	[ "$kernel" != 6.12 ] || sparse=1
	{
		make -j"$(nproc)" KDIR="/usr/src/linux-headers-$release" CC="$cc" W=1 C=$sparse modules
		make -j"$(nproc)" KDIR="/usr/src/linux-headers-$release" CC="$cc" W=1 all
	} 2>&1 >/dev/null |
		grep -v -e 'pahole version differs' -e 'compiler differs' -e 'kernel was built by' \
			-e 'You are using' -e 'Skipping BTF generation' >"$log"
	result "builds_without_warning $kernel" "$log"
	# Where kbuild installs them, or modprobe does not find the module.
	found=$(make -s -n KBUILD=: KDIR="/usr/src/linux-headers-$release" modules_install | grep '^depmod')
	if [ "$found" != "depmod $release" ]; then
		echo "for $release make install runs: $found"
	fi >"$log"
	result "install_runs_depmod_for_the_same_kernel $kernel" "$log"
done </etc/kvm-trace/kernels

echo "1..$cases"
