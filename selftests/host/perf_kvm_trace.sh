#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# perf kvm-trace, its pages and its completion, with a perf that only notes what it
# is called with, and files that stand for /proc and /sys. With the real ones it runs
# in selftests/lab/perf_kvm_trace.sh.
set -u

here=$(cd "$(dirname -- "$0")" && pwd)
# shellcheck source=selftests/lib/tap.sh
. "$here/../lib/tap.sh"
front=$here/../../perf-plugins/perf-kvm-trace
pages=$here/../../Documentation/man

# The world

export KVM_TRACE_ROOT="$tap_work/root" CALLS="$tap_work/calls" TMPDIR="$tap_work/tmp"
export HOME="$tap_work/home"
PARAMETERS=$KVM_TRACE_ROOT/sys/module/kvm_trace/parameters
bin=$tap_work/bin
export PATH="$bin:$PATH"
mkdir -p "$bin" "$TMPDIR" "$HOME" "$PARAMETERS" "$tap_work/exec/dlfilters" "$tap_work/cwd" \
	"$KVM_TRACE_ROOT/sys/kernel/debug/kvm_trace" "$KVM_TRACE_ROOT/proc/sys/kernel" \
	"$KVM_TRACE_ROOT/sys/kernel/tracing/events/kvm_trace/vmexit" "$KVM_TRACE_ROOT/proc/self"
: >"$tap_work/exec/dlfilters/kvm-trace.so"
echo rip,gpa >"$PARAMETERS/words"
echo lean >"$PARAMETERS/batch_words"
echo N >"$PARAMETERS/batch_hypercalls"
echo 2 >"$KVM_TRACE_ROOT/proc/sys/kernel/perf_event_paranoid"
printf 'CapEff:\t0000000000000000\n' >"$KVM_TRACE_ROOT/proc/self/status"
pending_file=$KVM_TRACE_ROOT/sys/kernel/debug/kvm_trace/pending
cd "$tap_work/cwd" || exit 1

# perf notes its arguments, one a line. What it records is a line, written when it is
# told to end or COMMAND has ended; what it reads it prints.
cat >"$bin/perf" <<-'END'
	#!/bin/sh
	[ "$1" != --exec-path ] || exec echo "${CALLS%/calls}/exec"
	printf '%s\n' "$@" >>"$CALLS.$1"
	case $1 in
	record)
		cat "$KVM_TRACE_ROOT/sys/module/kvm_trace/parameters/words" >"$CALLS.words"
		while [ "$1" != -o ]; do shift; done
		output=$2
		shift 2
		written() {
			if [ "$output" = - ]; then
				echo recorded
			else
				echo recorded >"$output"
			fi
		}
		if [ $# -gt 0 ]; then
			shift
			"$@"
			status=$?
			written
			exit $status
		fi
		trap 'written; trap - TERM; kill -TERM $$' INT TERM
		echo $$ >"$CALLS.pid"
		while :; do sleep 0.1; done
		;;
	script)
		! printf '%s\n' "$@" | grep -q names= || cat /dev/fd/4 >"$CALLS.names"
		[ ! -e "$CALLS.fail" ] || { echo '{'; echo refused >&2; exit 22; }
		[ "$3" = - ] || exec cat "$3"
		echo table
		cat
		;;
	stat)
		while [ "$1" != -- ]; do shift; done
		shift
		echo 'vm 3 (300) vcpu 0 SVM NPF 5 ns' >"${CALLS%/calls}/root/sys/kernel/debug/kvm_trace/pending"
		"$@"
		;;
	esac
END
printf '#!/bin/sh\nexit 0\n' >"$bin/modinfo"
chmod +x "$bin"/*

# vmm PID ARGUMENT...: a process that has a VM.
vmm() {
	mkdir -p "$KVM_TRACE_ROOT/proc/$1/fd"
	ln -s anon_inode:kvm-vm "$KVM_TRACE_ROOT/proc/$1/fd/9"
	ln -s anon_inode:kvm-vcpu:0 "$KVM_TRACE_ROOT/proc/$1/fd/10"
	pid=$1
	shift
	printf '%s\0' "$@" >"$KVM_TRACE_ROOT/proc/$pid/cmdline"
}

vmm 182 qemu -name guest='web 1',debug-threads=on -m 256
vmm 200 qemu -m 256 --name a,,b,process=x
vmm 300 microvm --count 5
vmm 410 qemu -name twin
vmm 411 qemu -name guest=twin

# Judging

kvm_trace() {
	run "$front" "$@"
}

# calls_of COMMAND: what perf COMMAND was called with, on one line.
calls_of() {
	[ ! -e "$CALLS.$1" ] || paste -s -d ' ' "$CALLS.$1"
}

# called COMMAND EXPECTED: and forgets it.
called() {
	found=$(calls_of "$1")
	rm -f "$CALLS.$1"
	[ "$tap_status,$found" = "0,$2" ] || {
		printf '# expected: %s\n# found:    %s\n' "$2" "$found"
		return 1
	}
}

parameters_are() {
	[ "$(cat "$PARAMETERS/words" "$PARAMETERS/batch_words" "$PARAMETERS/batch_hypercalls" |
		paste -s -d ' ')" = "$1" ]
}

# refuses NAME 'WORDS' COMMAND...
refuses() {
	name=$1 words=$2
	shift 2
	run "$@"
	# shellcheck disable=SC2086
	ok "$name" refused $words
}

# until_is COMMAND...: waits, 30 seconds at most, until it succeeds.
until_is() {
	for _ in $(seq 300); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

nothing_is_left_in_tmp() {
	[ -z "$(ls "$TMPDIR")" ]
}

# Help, pages

commands=$("$front" --list-cmds)
for command in $commands; do
	kvm_trace "$command" --help
	cp "$tap_work/out" "$tap_work/help"
	ok "${command}_has_help" test "$tap_status" -eq 0 -a -s "$tap_work/help"
	"$front" "$command" --list-opts | sort -u >"$tap_work/options"
	grep -o -e '--[a-z][a-z-]*' "$tap_work/help" | grep -v -x -e --help | sort -u |
		comm -23 - "$tap_work/options" >"$tap_work/out"
	ok "help_of_${command}_names_no_option_that_is_not_listed" test ! -s "$tap_work/out"
	# As man would show them; names of options in the text of others count, too.
	sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/s/\\-/-/gp' "$pages/perf-kvm-trace-$command.1" |
		grep -o -e '--[a-z][a-z-]*' | sort -u >"$tap_work/page"
	comm -23 "$tap_work/options" "$tap_work/page" >"$tap_work/out"
	ok "page_of_${command}_has_every_option" test ! -s "$tap_work/out"
done
"$front" report --list-keys | tr ' ' '\n' | while read -r key; do
	grep -q "\\.B.*\\<$key\\>" "$pages/perf-kvm-trace-report.1" || echo "$key"
done >"$tap_work/out"
"$front" report --list-columns | tr ' ' '\n' | while read -r column; do
	grep -q "\\.B.*\\<$column\\>" "$pages/perf-kvm-trace-report.1" || echo "$column"
done >>"$tap_work/out"
ok page_of_report_has_every_key_and_column test ! -s "$tap_work/out"
if command -v mandoc >/dev/null; then
	run mandoc -T lint -W warning "$pages"/*.1
	ok pages_are_clean status_is 0
elif command -v groff >/dev/null; then
	groff -man -T ascii -ww -rLL=100n "$pages"/*.1 2>"$tap_work/out" >/dev/null
	ok pages_are_clean test ! -s "$tap_work/out"
else
	ok "pages_are_clean # SKIP neither mandoc nor groff is installed" true
fi

# names_in FILE TABLE: those of a table of X(name, ...).
names_in() {
	sed -n "/^#define $2(X)/,/^\$/p" "$1" | grep -o 'X([a-z][a-z0-9]*' | sed 's/X(//' | paste -s -d ' '
}

run "$front" report --list-keys
ok keys_are_those_of_the_filter stdout_is "$(names_in "$here/../../perf-plugins/keys.h" KVM_TRACE_KEYS)\n"
run "$front" report --list-columns
ok columns_are_those_of_the_filter stdout_is "$(names_in "$here/../../perf-plugins/options.h" KVM_TRACE_COLUMNS)\n"

# record

EVENTS='-e kvm_trace:vmexit -e kvm_trace:hypercall -e kvm_trace:vcpu -e kvm_trace:lost'
USUAL='-N -B --synth task -m 4M -o perf.data'
kvm_trace record -- true
ok record_takes_all_VMs_and_events_by_default called record "record -a $EVENTS $USUAL -- true"
kvm_trace record true --vm
ok record_takes_the_first_other_word_for_the_command called record "record -a $EVENTS $USUAL -- true --vm"
kvm_trace record sh -c 'exit 3'
rm -f "$CALLS.record"
ok record_ends_with_the_status_of_the_command status_is 3
echo line >"$tap_work/line"
"$front" record cat <"$tap_work/line" >"$tap_work/out" 2>"$tap_work/err"
rm -f "$CALLS.record"
ok the_command_has_the_same_stdin stdout_is 'line\n'
kvm_trace record --batch -m 16M -obig.data true
ok record_takes_batches called record \
	"record -a -e kvm_trace_batch:vmexits -e kvm_trace:lost -N -B --synth task -m 16M -o big.data -- true"
kvm_trace record --hypercall-parts true
ok record_takes_calls_inside_of_calls called record \
	"record -a ${EVENTS% -e *} -e kvm_trace_detail:hypercall_sub -e kvm_trace:lost $USUAL -- true"
kvm_trace record --vm=3 --vm id:4 --filter 'host_ns > 5' true
ok record_takes_VMs_by_number called record "record -a -e kvm_trace:vmexit --filter (vm == 3 || vm == 4) && (host_ns > 5)\
 -e kvm_trace:hypercall --filter vm == 3 || vm == 4 -e kvm_trace:vcpu --filter vm == 3 || vm == 4 -e kvm_trace:lost $USUAL -- true"
for vm in 'web 1' 182 pid:182 'name:web 1'; do
	kvm_trace record --vm "$vm" true
	ok "record_takes_the_VM_'$vm'" called record "record -p 182 $EVENTS $USUAL -- true"
done
kvm_trace record --vm a,b --vm 300 true
ok record_takes_several_VMs called record "record -p 200,300 $EVENTS $USUAL -- true"

kvm_trace record --words all sh -c "cat '$PARAMETERS/words'; exit 1"
rm -f "$CALLS.record"
ok words_are_set_while_it_records stdout_is 'all\n'
ok words_are_put_back_after_a_failure parameters_are 'rip,gpa lean N'
kvm_trace record --batch --words rip,ns --hypercalls sh -c "cat '$PARAMETERS'/batch_*"
rm -f "$CALLS.record"
ok words_of_batches_are_set_while_it_records stdout_is 'Y\nrip,ns\n'
ok words_of_batches_are_put_back parameters_are 'rip,gpa lean N'

# signalled SIGNAL COMMAND...: sends it when perf record runs. A shell's background
# commands ignore INT.
signalled() {
	signal=$1
	shift
	rm -f "$CALLS.pid"
	env --default-signal=INT "$front" "$@" >"$tap_work/out" 2>"$tap_work/err" </dev/null &
	pid=$!
	until_is test -s "$CALLS.pid"
	kill -s "$signal" $pid
	tap_status=0
	wait $pid || tap_status=$?
}

perf_has_ended() {
	! kill -0 "$(cat "$CALLS.pid")" 2>/dev/null
}

for signal in INT TERM HUP; do
	rm -f perf.data
	signalled $signal record --words lean
	rm -f "$CALLS.record"
	ok "${signal}_ends_record_without_an_error" status_is 0
	ok "${signal}_leaves_the_whole_recording" grep -q recorded perf.data
	ok "${signal}_puts_words_back" parameters_are 'rip,gpa lean N'
done
ok words_were_set_before_perf_began grep -q lean "$CALLS.words"

# record --pt: with a recorder beside the front that notes what it is called with.

mkdir "$tap_work/pt"
cp "$front" "$tap_work/pt"
cat >"$tap_work/pt/perf-kvm-trace-pt" <<-'END'
	#!/bin/sh
	printf '%s\n' "$@" >"$CALLS.pt"
	while [ "$1" != -- ]; do shift; done
	shift
	exec "$@"
END
chmod +x "$tap_work/pt/perf-kvm-trace-pt"
front_pt=$tap_work/pt/perf-kvm-trace
run "$front_pt" record --pt=guest true
rm -f "$CALLS.record"
ok record_has_the_recorder_of_PT_run_perf called pt \
	"--mode guest --output perf.data -- perf record -a $EVENTS $USUAL -- true"
run "$front_pt" record --pt host_guest --guest-code k@0x1 --guest-code 'a b@2' -m 16M,8M --vm 182 true
ok record_takes_PT_of_a_VM_with_its_code called pt "--mode host_guest --output perf.data\
 --aux-size 8388608 --code a b@2 --code k@0x1 --pid 182\
 -- perf record -p 182 $EVENTS -N -B --synth all -m 16M -o perf.data -- true"
ok record_takes_two_sizes called record "record -p 182 $EVENTS -N -B --synth all -m 16M -o perf.data -- true"
run "$front_pt" record --pt host -m ,16 sh -c 'exit 3'
ok record_with_PT_ends_with_the_status_of_the_command status_is 3
ok record_takes_a_size_of_PT_in_pages grep -q -x -e "$((16 * $(getconf PAGESIZE)))" "$CALLS.pt"
rm -f "$CALLS.record" "$CALLS.pt"
refuses unknown_mode_of_PT "'all' guest host_guest" "$front_pt" record --pt all
refuses PT_into_a_pipe "--pt -o" "$front_pt" record --pt guest -o -
refuses code_without_PT "--guest-code --pt" "$front_pt" record --guest-code a@1
refuses size_of_PT_without_PT "--mmap-pages --pt" "$front_pt" record -m 4M,4M
refuses size_of_PT_that_is_none "--mmap-pages 'x' 8M" "$front_pt" record --pt guest -m 4M,x
rm "$tap_work/pt/perf-kvm-trace-pt"
refuses no_recorder_of_PT "perf-kvm-trace-pt make" "$front_pt" record --pt guest

# report and timeline

echo recorded >perf.data
rm -f perf.data.vms
FILTER="--dlfilter $tap_work/exec/dlfilters/kvm-trace.so"
kvm_trace report
ok report_asks_the_filter called script "script -i perf.data $FILTER --dlarg report"
ok report_prints_what_it_says stdout_is 'recorded\n'
kvm_trace report -i perf.data --by vm,rip --sort p99 --limit 5 --json --time 1,2 -f --vm id:7
ok report_passes_options_on called script "script -i perf.data $FILTER --dlarg report --dlarg by=vm,rip --dlarg sort=p99 --dlarg rows=5 --dlarg json --dlarg vm=7 --time 1,2 -f"
kvm_trace report --vm 7
ok report_takes_a_number_for_either called script "script -i perf.data $FILTER --dlarg report --dlarg vm=7 --dlarg pid=7"
"$front" record true 2>/dev/null
rm -f "$CALLS.record"
NAMES='--dlarg names=/dev/fd/4'
mv "$KVM_TRACE_ROOT/proc/182" "$tap_work/182"
kvm_trace report --vm 'web 1'
ok report_knows_names_of_VMs_that_are_gone called script "script -i perf.data $FILTER --dlarg report $NAMES --dlarg pid=182"
printf '%s\n' '182 web 1' '200 a,b' '410 twin' '411 twin' | cmp -s - "$CALLS.names"
ok the_filter_gets_their_names test $? -eq 0
"$front" record -o b.data true 2>/dev/null
"$front" record -o b.data sh -c 'mv b.data b.data.old' 2>/dev/null
ok names_of_the_recording_before_are_kept grep -q '^200 a,b$' b.data.old.vms
rm -f "$CALLS.record"
echo more >>perf.data
refuses names_of_another_recording_are_not_taken "web a,b" "$front" report --vm 'web 1'
mv "$tap_work/182" "$KVM_TRACE_ROOT/proc/182"
"$front" report -i - <perf.data >/dev/null
tap_status=$?
ok report_reads_stdin called script "script -i - $FILTER --dlarg report"

kvm_trace script
ok script_asks_the_filter called script "script -i perf.data $FILTER"
ok script_prints_what_it_says stdout_is 'recorded\nmore\n'
kvm_trace script --vm 300 --time 1,2 -f
ok script_passes_options_on called script "script -i perf.data $FILTER --dlarg pid=300 --time 1,2 -f"

kvm_trace timeline -i perf.data -o t.json --vm 300
ok timeline_asks_the_filter called script "script -i perf.data $FILTER --dlarg timeline --dlarg pid=300"
ok timeline_writes_the_file cmp -s perf.data t.json
: >new
ok timeline_has_the_mode_of_a_new_file test "$(stat -c %a t.json)" = "$(stat -c %a new)"
: >"$CALLS.fail"
kvm_trace timeline -i perf.data -o t.json
ok a_failed_timeline_is_an_error stderr_has 't.json is not made'
ok a_failed_timeline_leaves_the_older_one cmp -s perf.data t.json
ok a_failed_timeline_leaves_nothing_else test "$(echo t.json*)" = t.json
kvm_trace report
ok a_failed_report_has_the_status_of_the_filter status_is 22
rm -f "$CALLS.fail" "$CALLS.script"

# Where stderr is a terminal.
run script -qec "'$front' report -i perf.data" /dev/null
ok report_tells_a_terminal_how_far_it_is called script \
	"script -i perf.data $FILTER --dlarg report --dlarg progress=/dev/fd/5"
run script -qec "'$front' timeline -i perf.data -o t.json" /dev/null
ok timeline_tells_a_terminal_how_far_it_is called script \
	"script -i perf.data $FILTER --dlarg timeline --dlarg progress=/dev/fd/5"

# pt

echo 'ffffffff81000000 T text' >kallsyms
kvm_trace pt
ok pt_asks_the_filter_for_functions called script \
	"script -i perf.data $FILTER --dlarg flow=functions --itrace=be"
kvm_trace pt -i perf.data --flow instructions --kallsyms kallsyms --vm 300 --time 1,2 -f
ok pt_passes_options_on called script "script -i perf.data $FILTER --dlarg flow=instructions --dlarg pid=300\
 --dlarg kallsyms=kallsyms --itrace=bei0ns --time 1,2 -f"
kvm_trace timeline -i perf.data -o t.json --itrace --kallsyms kallsyms
ok timeline_asks_the_filter_for_functions called script "script -i perf.data $FILTER --dlarg timeline --dlarg itrace\
 --dlarg kallsyms=kallsyms --itrace=b"
refuses timeline_with_kallsyms_alone "--kallsyms --itrace" "$front" timeline --kallsyms kallsyms
refuses timeline_with_kallsyms_that_are_not_there "none kallsyms" "$front" timeline --itrace --kallsyms none
refuses timeline_with_the_trace_of_a_pipe "-i pipe" "$front" timeline --itrace -i -
refuses unknown_flow "'all' instructions" "$front" pt --flow all
refuses kallsyms_that_are_not_there "none kallsyms" "$front" pt --kallsyms none
refuses pt_of_a_pipe "-i pipe" "$front" pt -i -

# top

signalled INT top --vm 'web 1' --sort max -d 5
ok top_records_into_a_pipe called record "record -p 182 $EVENTS -q ${USUAL%perf.data}-"
ok top_asks_for_reports_again_and_again called script \
	"script -i - $FILTER --dlarg report $NAMES --dlarg sort=max --dlarg every=5"
ok top_shows_all_that_was_recorded stdout_is 'table\nrecorded\n'
ok top_ends_perf_record until_is perf_has_ended
: >"$CALLS.fail"
kvm_trace top --batch --words all
ok top_ends_if_the_filter_does status_is 22
ok top_puts_words_back parameters_are 'rip,gpa lean N'
ok top_ends_perf_record_then until_is perf_has_ended
ok nothing_is_left_in_TMPDIR nothing_is_left_in_tmp
rm -f "$CALLS.fail" "$CALLS.script" "$CALLS.record"

# pending

printf 'vm 1 (182) vcpu 0 SVM INTR 1147909 ns\nvm 2 (200) vcpu 1 VMX HLT 5000000000 ns [USERSPACE,WRITE]\n' >"$pending_file"
kvm_trace pending
awk 'NR > 1 { print $1, $2, $3, $4, $5, $6, $7, $8, $9 }' "$tap_work/out" >"$tap_work/table"
printf '%s\n' '2 200 1 VMX HLT 5.00s USERSPACE,WRITE a,b ' '1 182 0 SVM INTR 1.15ms web 1 ' >"$tap_work/expected"
ok pending_shows_the_oldest_first cmp "$tap_work/expected" "$tap_work/table"
kvm_trace pending --older 1148us
ok pending_leaves_out_what_is_younger test "$(wc -l <"$tap_work/out")" -eq 2
kvm_trace pending --older 2ms --vm 1
ok pending_prints_nothing_if_there_is_none stdout_is ''
kvm_trace pending --vm 'web 1'
ok pending_takes_a_VM grep -q -c 'INTR.*web 1$' "$tap_work/out"
echo '# not recording: no event of kvm_trace is enabled, or kvm is not loaded' >"$pending_file"
kvm_trace pending
ok pending_has_the_event_enabled_if_nobody_has called stat \
	"stat -a -e kvm_trace:vmexit -o /dev/null -- sh -c sleep \"\$1\"; cat \"\$2\" sh 1 $pending_file"
ok pending_then_reads_the_file grep -q '300 .*NPF' "$tap_work/out"

# Refusals: one line with the thing and the remedy, and perf is not run.

refuses no_command "missing: record pending --help" "$front"
refuses unknown_command "'frobnicate' record --help" "$front" frobnicate
for command in $commands; do
	refuses "unknown_option_of_$command" "'--frobnicate' $command --help" "$front" "$command" --frobnicate
done
refuses option_of_another_command "'--json' record" "$front" record --json
refuses option_without_a_value "--vm value" "$front" record --vm
refuses a_word_too_many "'x' report" "$front" report x
refuses unknown_key "--by 'frobnicate' hypercall" "$front" report --by vm,frobnicate
refuses unknown_column "--sort 'frobnicate' p99" "$front" report --sort frobnicate
refuses no_number_of_rows "--limit number 'many'" "$front" report --limit many
refuses no_number_of_seconds "--delay number '0'" "$front" top --delay 0
refuses time_without_a_unit "--older '5' ms" "$front" pending --older 5
refuses unknown_VM "'frobnicate' web 300" "$front" record --vm frobnicate
refuses two_VMs_of_one_name "'twin' 410 411" "$front" record --vm twin
refuses no_number_of_a_VM "--vm id:x" "$front" record --vm id:x
refuses numbers_with_names "--vm mixed" "$front" record --vm 7 --vm 'web 1'
refuses filter_of_batches "--filter --batch min_host_ns" "$front" record --batch --filter 'host_ns > 5'
refuses hypercalls_without_batches "--hypercalls --batch" "$front" record --hypercalls
refuses no_recording "none.data record -i" "$front" report -i none.data
: >empty.data
refuses empty_recording "empty.data another" "$front" report -i empty.data
refuses timeline_in_no_directory "no/t.json -o" "$front" timeline -i perf.data -o no/t.json
mv "$pending_file" "$pending_file.off"
refuses no_debugfs "kvm_trace/pending mount debugfs" "$front" pending
mv "$pending_file.off" "$pending_file"
mv "$PARAMETERS/words" "$PARAMETERS/words.off"
mkdir "$PARAMETERS/words"
refuses words_that_the_module_does_not_take "words 'frobnicate' dmesg" "$front" record --words frobnicate
rmdir "$PARAMETERS/words"
mv "$PARAMETERS/words.off" "$PARAMETERS/words"
refuses words_that_are_not_a_list "--words commas" "$front" record --words 'a b'
mv "$tap_work/exec/dlfilters" "$tap_work/exec/none"
refuses no_filter "kvm-trace.so make install" "$front" report -i perf.data
mkdir -p "$HOME/.local/lib/perf-core"
mv "$tap_work/exec/none" "$HOME/.local/lib/perf-core/dlfilters"
kvm_trace report -i perf.data
ok filter_of_install_user_is_found called script \
	"script -i perf.data --dlfilter $HOME/.local/lib/perf-core/dlfilters/kvm-trace.so --dlarg report"
mv "$HOME/.local/lib/perf-core/dlfilters" "$tap_work/exec/dlfilters"

printf '#!/bin/sh\necho 1000\n' >"$bin/id"
chmod +x "$bin/id"
tracefs=$KVM_TRACE_ROOT/sys/kernel/tracing/events/kvm_trace/vmexit/id
for command in record top pending; do
	refuses "${command}_without_tracefs" "permission sudo $command" "$front" $command
done
echo 1 >"$tracefs"
refuses record_without_CAP_PERFMON "permission sudo CAP_PERFMON" "$front" record true
printf 'CapEff:\t0000004000000000\n' >"$KVM_TRACE_ROOT/proc/self/status"
kvm_trace record true
ok record_with_CAP_PERFMON called record "record -a $EVENTS $USUAL -- true"
printf 'CapEff:\t0000000000000000\n' >"$KVM_TRACE_ROOT/proc/self/status"
echo -1 >"$KVM_TRACE_ROOT/proc/sys/kernel/perf_event_paranoid"
kvm_trace record true
ok record_where_everybody_may called record "record -a $EVENTS $USUAL -- true"
rm "$bin/id"

mv "$KVM_TRACE_ROOT/sys/module" "$tap_work/module"
for command in record top pending; do
	refuses "${command}_without_the_module" "loaded modprobe" "$front" $command
done
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$1" != -F ] || echo "not built for 9.9: reason"\n' >"$bin/modinfo"
refuses record_with_a_stub "kvm_trace built 9.9 reason" "$front" record
printf '#!/bin/sh\nexit 1\n' >"$bin/modinfo"
refuses record_if_it_is_not_installed "installed make modprobe" "$front" record
mv "$tap_work/module" "$KVM_TRACE_ROOT/sys/module"
refuses record_without_perf "perf linux-perf" env PATH=/nonexistent /bin/sh "$front" record
ok perf_was_not_run_for_what_is_refused test -z "$(calls_of record)$(calls_of script)$(calls_of stat)"

# Completion

# completes EXPECTED WORD...: of the last WORD.
completes() {
	expected=$1
	shift
	found=$(PATH="${front%/*}:$PATH" bash -c '
		compopt() { :; }
		. "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		if [ "$1" = perf ]; then _perf_and_kvm_trace; else _perf_kvm_trace; fi
		printf "%s\n" "${COMPREPLY[@]}"' bash "$front.bash" "$@" | paste -s -d ' ')
	[ "$found" = "$expected" ] || {
		printf '# expected: %s\n# found:    %s\n' "$expected" "$found"
		return 1
	}
}

ok completes_commands completes 'record report' perf-kvm-trace re
ok completes_commands_of_perf completes 'record report' perf kvm-trace re
ok completes_itself_as_perf_command completes kvm-trace perf kv
ok completes_options completes '--hypercalls --hypercall-parts --help' perf kvm-trace record --h
ok completes_names_of_VMs completes 'web\ 1' perf-kvm-trace record --vm 'web'
ok completes_names_begun_with_a_quoted_space completes 'web\ 1' perf-kvm-trace pending --vm = 'web\ '
ok completes_one_key_after_another completes 'vm,class,vm vm,class,vcpu vm,class,vector' \
	perf-kvm-trace report --by vm,class,v
ok completes_keys_where_commas_split_words completes 'port' perf-kvm-trace report --by vm , po
ok completes_modes completes 'host host_guest' perf-kvm-trace record --pt h
ok completes_flows completes instructions perf-kvm-trace pt --flow i
ok completes_columns completes 'p50 p99' perf-kvm-trace top --sort = p
ok completes_files completes t.json perf-kvm-trace timeline -o t
ok completes_options_of_timeline completes --itrace perf-kvm-trace timeline --it
ok completes_files_of_kallsyms completes kallsyms perf-kvm-trace timeline --kallsyms k

done_testing
[ "$tap_failed" -eq 0 ]
