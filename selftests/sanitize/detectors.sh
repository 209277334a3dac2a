#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel "sanitize" reports each rule that a module breaks on purpose, and the lab finds
# the report: what it shows of the kernel's messages is what it takes for a complaint.
set -u

# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# One a line: the rule, and the line of the report that the lab has to find. Those of lockdep
# first: it is silent after most other reports.
rules() {
	cat <<-'END'
	rcu_pointer WARNING: suspicious RCU usage
	rcu_list_walk WARNING: suspicious RCU usage
	sleep_in_atomic BUG: sleeping function called from invalid context
	cpu_in_preemptible BUG: using smp_processor_id\(\) in preemptible
	lock_order WARNING: possible circular locking dependency detected
	heap_out_of_bounds BUG: KASAN: slab-out-of-bounds in heap_out_of_bounds
	heap_after_free BUG: KASAN: slab-use-after-free in heap_after_free
	heap_freed_twice BUG: KASAN: double-free in heap_freed_twice
	stack_out_of_bounds BUG: KASAN: stack-out-of-bounds in stack_out_of_bounds
	global_out_of_bounds BUG: KASAN: global-out-of-bounds in global_out_of_bounds
	vmalloc_out_of_bounds BUG: KASAN: vmalloc-out-of-bounds in vmalloc_out_of_bounds
	array_index UBSAN: array-index-out-of-bounds in .*broken\.c
	shift UBSAN: shift-out-of-bounds in .*broken\.c
	bool_value UBSAN: invalid-load in .*broken\.c
	red_zone \[Right Redzone overwritten\]
	poison \[Poison overwritten\]
	reference refcount_t: addition on 0; use-after-free
	list_entry_twice WARNING: .* __list_add_valid_or_report
	kobject_twice something is seriously wrong
	live_timer WARNING: .* debug_print_object
	leak kmemleak: [0-9]+ new suspected memory leaks
	END
}

# report RULE: what the lab has found between this rule and the next one.
report() {
	sed -n '/^lab: L1.s kernel complained/q; s/^[0-9]*://p' "$tap_work/lab" |
		awk -v rule="$1" '/BUG: on purpose: / { found = $NF == rule; next } found'
}

# reported RULE LINE
reported() {
	report "$1" >"$tap_work/out"
	grep -E -q -e "$2" "$tap_work/out"
}

# shellcheck disable=SC2046
run scripts/lab run --kernel sanitize -- sh selftests/sanitize/break-l1 $(rules | cut -d' ' -f1)
cp "$tap_work/err" "$tap_work/lab"
ok the_run_is_a_complaint status_is 126
rules >"$tap_work/rules"
while read -r rule line; do
	ok "$rule" reported "$rule" "$line"
done <"$tap_work/rules"

# Without them, nothing is reported; kmemleak has looked twice.
run scripts/lab run --kernel sanitize -- selftests/lab/nothing_leaked.sh
ok without_them_there_is_no_complaint status_is 0

done_testing
