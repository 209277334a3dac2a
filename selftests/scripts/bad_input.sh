#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Wrong options and missing things: one line that names the thing, the reason
# and the remedy, a failure as exit status, and nothing left behind.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# refuses NAME 'WORDS' COMMAND...
refuses() {
	name=$1 words=$2
	shift 2
	run "$@"
	# shellcheck disable=SC2086
	ok "$name" refused $words
}

refuses lab_without_an_action "setup run" scripts/lab
refuses lab_with_an_unknown_action "'frobnicate' --help" scripts/lab frobnicate
refuses lab_with_an_unknown_option "'--frobnicate' --help" scripts/lab run --frobnicate -- true
refuses lab_with_an_option_of_another_action "'--smp' build" scripts/lab build --smp 2
refuses lab_without_a_command "command --" scripts/lab run
refuses lab_with_a_command_and_no_dashes "'true' --" scripts/lab run true
refuses lab_with_an_option_without_value "--smp value" scripts/lab run --smp
refuses lab_with_an_unknown_kernel "'5.4' 6.12" scripts/lab run --kernel 5.4 -- true
refuses lab_with_two_kernels_in_one_word "'6.1 7.3' lab" scripts/lab run --kernel '6.1 7.3' -- true
refuses lab_with_an_unknown_cpu "'z80' svm vmx" scripts/lab run --cpu z80 -- true
refuses lab_with_a_log_of_pt_and_no_directory "--pt=no-mtc,log --out" scripts/lab run --pt=no-mtc,log -- true
refuses lab_with_an_unknown_word_of_pt "--pt=log,frobnicate 'frobnicate' no- ranges:NUMBER log raw" \
	scripts/lab run --no-build --pt=log,frobnicate --out "$tap_work" -- true
refuses lab_with_a_word_of_pt_and_no_number "--pt=ranges:x 'ranges:x' number" scripts/lab run --no-build --cpu intel --pt=ranges:x -- true
refuses lab_with_a_word_of_pt_for_another_cpu "--pt=vmx 'vmx' QEMU" scripts/lab run --no-build --pt=vmx -- true
ok nothing_is_made_for_a_refused_word_of_pt test ! -e "$tap_work/pt-log.0"
refuses lab_with_vmx_and_many_cpus "--smp 5 vmx" scripts/lab run --cpu vmx --smp 5 -- true
refuses lab_with_vmx_and_the_kernel_sanitize "sanitize svm" scripts/lab run --cpu vmx --kernel sanitize -- true
refuses lab_with_vmx_and_much_memory "--mem 4096 vmx" scripts/lab run --cpu vmx --mem 4096 -- true
for value in 0 65 -1 x '' 99999999999999999999; do
	refuses "lab_with_smp_'$value'" "--smp 64" scripts/lab run --smp "$value" -- true
done
refuses lab_with_little_memory "--mem '100' 256" scripts/lab run --mem 100 -- true
refuses lab_with_no_timeout "--timeout '0'" scripts/lab run --timeout 0 -- true
refuses lab_with_out_that_is_a_file "--out directory" scripts/lab run --out Makefile -- true
refuses lab_with_out_that_qemu_cannot_share "--out comma" scripts/lab run --out "$tap_work/a,b" -- true
ok nothing_is_made_for_a_refused_out test ! -e "$tap_work/a,b"
refuses lab_with_added_files_that_are_missing "--add /dev/null usr" scripts/lab run --add /dev/null -- true
refuses lab_with_a_plugin_that_is_missing "--plugin /no/such cannot read" scripts/lab run --plugin /no/such,out=x -- true
refuses lab_with_vmx_and_a_plugin "--plugin Bochs" scripts/lab run --cpu vmx --plugin /no/such -- true
refuses lab_in_a_cache_that_cannot_be_made "/dev/null/x KVM_TRACE_CACHE" \
	env KVM_TRACE_CACHE=/dev/null/x scripts/lab setup

# Files of this machine are replaced in a mount namespace of its own. In a chroot there is
# no user namespace to be had, which root does not need.
in_namespace() {
	if [ "$(id -u)" -eq 0 ]; then
		unshare --mount --propagation private -- sh -c "$@"
	else
		unshare --mount --map-root-user -- sh -c "$@"
	fi
}

mkdir "$tap_work/tmpfs"
# shellcheck disable=SC2016
refuses lab_without_space "MB KVM_TRACE_CACHE" in_namespace \
	'mount -t tmpfs -o size=8m tmpfs "$1" && KVM_TRACE_CACHE=$1/cache exec scripts/lab setup' sh "$tap_work/tmpfs"
printf 'ID=frobix\nVERSION_ID=1\nPRETTY_NAME="Frobix 1"\n' >"$tap_work/os-release"
# shellcheck disable=SC2016
refuses lab_on_an_unsupported_distribution 'Frobix Debian mirror' in_namespace \
	'mount --bind "$1/os-release" /etc/os-release && KVM_TRACE_CACHE=$1/cache exec scripts/lab setup' sh "$tap_work"
ok nothing_is_left_of_a_refused_set_up test ! -e "$tap_work/cache"

refuses check_with_an_unknown_option "'--frobnicate' --help" scripts/check --frobnicate
refuses check_with_two_patterns "pattern --help" scripts/check a b
refuses check_with_a_kernel_of_the_list "'6.1' sanitize" scripts/check --kernel 6.1
refuses check_with_no_number_of_jobs "--jobs many" scripts/check --jobs many
refuses bench_with_an_unknown_option "'--frobnicate' --help" scripts/bench --frobnicate
refuses bench_with_an_option_without_value "--out value" scripts/bench --out
refuses bench_with_an_unknown_group "'frobnicate' kvm_trace" scripts/bench frobnicate
refuses bench_with_two_groups_in_one_word "'perf trace_cmd' kvm_trace" scripts/bench 'perf trace_cmd'
refuses bench_with_an_unknown_kernel "'5.4' 6.12" scripts/bench --kernel 5.4
refuses bench_with_an_unknown_loop "'frobnicate' hypercall" scripts/bench --loops 'mix frobnicate'
refuses bench_with_no_loop "--loops hypercall" scripts/bench --loops ''
refuses bench_with_out_that_is_a_file "--out directory" scripts/bench --out Makefile
mkdir -p "$tap_work/photos/raw"
refuses bench_with_out_that_others_use "--out photos empty" scripts/bench --out "$tap_work/photos" idle
ok nothing_of_others_is_removed test -d "$tap_work/photos/raw"
refuses demo_with_an_unknown_option "'--frobnicate' --help" scripts/demo --frobnicate
refuses guest_with_an_unknown_option "'--frobnicate' --help" scripts/guest --frobnicate
refuses guest_with_an_option_without_value "--smp value" scripts/guest --smp
mkdir "$tap_work/dev"
# shellcheck disable=SC2016
refuses guest_without_kvm "/dev/kvm kvm_amd" in_namespace \
	'mount --bind "$1/dev" /dev && exec scripts/guest' sh "$tap_work"

done_testing
