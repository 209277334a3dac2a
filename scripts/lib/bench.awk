# SPDX-License-Identifier: GPL-2.0-only
# Turns what bench-l1 measured into tables, into lines of RESULTS
# (group, row, loop, vCPUs, measure, value), and into the verdict on the promises.

BEGIN {
	FS = "\t"
	loops = split("cpuid io hypercall mix", loop_of, " ")
	PAIR = "perf, kvm_exit + kvm_entry"
	TRACE_CMD_PAIR = "trace-cmd, kvm_exit + kvm_entry"
	LEAN = "perf, kvm_trace:vmexit, lean"
	TRACE_CMD_LEAN = "trace-cmd, kvm_trace:vmexit, lean"
	BATCH = "perf, kvm_trace_batch, lean"
	IDLE = "kvm_trace loaded, idle"
	NOTHING = "nothing"
	AGAIN = "nothing, again"
	WITHOUT = "without the hook"
	measure_of["large"] = "added_instructions"
	measure_of["usual"] = "added_instructions_with_reader"
	measure_of["bytes"] = "bytes_per_exit"
	split("TSC_reads RDMSR WRMSR VMREAD VMWRITE", dear, " ")
}

function abs(x) {
	return x < 0 ? -x : x
}

function note_row(group, row) {
	if ((group, row) in seen)
		return
	seen[group, row] = 1
	rows[group, ++nr_rows[group]] = row
	if (!(group in nr_groups))
		groups[++all_groups] = group
	nr_groups[group] = 1
}

# A session's ticks an exit.
function slope(e1, t1, e2, t2) {
	return (t2 - t1) / (e2 - e1)
}

$1 == "skip" {
	note_row($2, $3)
	reason[$2, $3] = $4
	next
}

$1 == "session" {
	note_row($2, $3)
	k = $2 SUBSEP $3 SUBSEP $4 SUBSEP $6
	if ($5 == "none") {
		# Of each length the run that was disturbed least.
		if (!(k in e1) || $8 < t1[k]) {
			e1[k] = $7
			t1[k] = $8
		}
		if (!(k in e2) || $10 < t2[k]) {
			e2[k] = $9
			t2[k] = $10
		}
		ticks[k, "large"] = ticks[k, "usual"] = slope(e1[k], t1[k], e2[k], t2[k])
	} else {
		if ($4 != "boot")
			ticks[k, $5] = slope($7, $8, $9, $10)
		exits[k, $5] = $7 + $9
		bytes[k, $5] = $11
		if ((k, "large") in bytes && (k, "usual") in bytes)
			stored[k] = (bytes[k, "large"] - bytes[k, "usual"]) / (exits[k, "large"] - exits[k, "usual"])
	}
	if ($2 == "hooks")
		hook_loop[$3] = $4
	if ($2 == "counted" || $2 == "vmx") {
		spread[$2, ++sessions[$2]] = k
		spread_exits[$2, sessions[$2]] = $9 - $7
	}
	next
}

$1 == "decode" {
	if (!($2 in read_first)) {
		readers[++nr_readers] = $2
		read_first[$2] = $3
		read_cost[$2] = $4
	} else {
		reading[$2] = slope(read_first[$2], read_cost[$2], $3, $4)
	}
	next
}

# Lines of the emulators that count, QEMU with counters.so and Bochs: three for each
# session of their groups, in the same order.
$1 ~ /^[0-9]+$/ {
	counted = NF == 3 ? "counted" : "vmx"
	marks[counted]++
	for (i = 1; i <= NF; i++)
		count[counted, marks[counted], i] = $i
}

function key(group, row, loop, vcpus) {
	return group SUBSEP row SUBSEP loop SUBSEP vcpus
}

# added GROUP ROW LOOP VCPUS SIZE: instructions an exit more than nothing, or "".
function added(group, row, loop, vcpus, size,    k, base) {
	k = key(group, row, loop, vcpus) SUBSEP size
	base = key(group, NOTHING, loop, vcpus) SUBSEP size
	if (!(k in ticks) || !(base in ticks))
		return ""
	return ticks[k] - ticks[base]
}

function on_disk(group, row, loop, vcpus,    k) {
	k = key(group, row, loop, vcpus)
	return k in stored ? stored[k] : ""
}

function result(group, row, loop, vcpus, measure, value) {
	if (value != "")
		printf "%s\t%s\t%s\t%s\t%s\t%.3f\n", group, row, loop, vcpus, measure, value >RESULTS
}

function cell(value, format) {
	printf "%10s", value == "" ? "-" : sprintf(format, value)
}

function head(title, first,    i) {
	printf "\n%s\n\n%-44s", title, first
	for (i = 1; i <= loops; i++)
		printf "%10s", loop_of[i]
	print ""
}

# nothing_line WHICH: what an exit takes in all, nothing recording: the boots differ.
function nothing_line(which,    g, i, k, any, value) {
	printf "%-44s", "(" NOTHING ", in all: " which " of the boots)"
	for (i = 1; i <= loops; i++) {
		any = ""
		for (g = 1; g <= all_groups; g++) {
			k = key(groups[g], NOTHING, loop_of[i], 1) SUBSEP "large"
			if (groups[g] ~ /^(counted|vmx)$/ || !(k in ticks))
				continue
			value = ticks[k]
			if (any == "" || (which == "least" ? value < any : value > any))
				any = value
		}
		cell(any, "%.0f")
		result("all", NOTHING ", " which, loop_of[i], 1, "instructions", any)
	}
	print ""
}

# table WHAT: one of the measures, all groups that have a row for each loop.
function table(what,    g, r, i, group, row, value) {
	for (g = 1; g <= all_groups; g++) {
		group = groups[g]
		if (group ~ /^(hooks|boot|vcpus|counted|vmx)$/)
			continue
		for (r = 1; r <= nr_rows[group]; r++) {
			row = rows[group, r]
			if (row == NOTHING || (row == AGAIN || row == IDLE) && what != "large")
				continue
			if (left_out(group, row))
				continue
			printf "%-44s", row
			for (i = 1; i <= loops; i++) {
				if (what == "bytes")
					value = on_disk(group, row, loop_of[i], 1)
				else
					value = added(group, row, loop_of[i], 1, what)
				cell(value, what == "bytes" ? "%.1f" : "%+.0f")
				result(group, row, loop_of[i], 1, measure_of[what], value)
			}
			print ""
		}
	}
}

# left_out GROUP ROW: says why.
function left_out(group, row) {
	if ((group, row) in reason)
		printf "%-44s  left out: %s\n", row, reason[group, row]
	return (group, row) in reason
}

# hook_line ROW: beside the row without the hook of the same loop.
function hook_line(row,    k, without, loop) {
	if (row == WITHOUT || left_out("hooks", row))
		return
	loop = hook_loop[row]
	k = key("hooks", row, loop, 1)
	without = key("hooks", WITHOUT, loop, 1)
	printf "%-44s%-14s%+12.0f%+10.1f\n", row, loop, ticks[k, "large"] - ticks[without, "large"], stored[k] - stored[without]
	result("hooks", row, loop, 1, "added_instructions_by_hook", ticks[k, "large"] - ticks[without, "large"])
	result("hooks", row, loop, 1, "added_bytes_by_hook", stored[k] - stored[without])
}

# apart GROUP WHERE KINDS: of the instructions an exit, those that the emulator counts
# apart, the first KINDS of them.
function apart(group, where, kinds,    i, s, k, m, part, each, base) {
	if (!(group in marks))
		return
	printf "\nAn exit on %s: instructions, and those of them that cost more, counted apart\n\n", where
	printf "%-44s%14s", "recording, loop mix", "instructions"
	for (i = 1; i <= kinds; i++)
		printf "%10s", dear[i]
	print ""
	for (s = 1; s <= sessions[group]; s++) {
		k = spread[group, s]
		split(k, part, SUBSEP)
		if (part[2] == NOTHING)
			each = ticks[k, "large"]
		else
			each = added(group, part[2], part[3], 1, "large")
		printf "%-44s%14s", part[2] (part[2] == NOTHING ? ", in all" : ""), sprintf(part[2] == NOTHING ? "%.0f" : "%+.0f", each)
		result(group, part[2], part[3], 1, part[2] == NOTHING ? "instructions" : measure_of["large"], each)
		for (i = 1; i <= kinds; i++) {
			m = 3 * s
			each = (count[group, m, i] - 2 * count[group, m - 1, i] + count[group, m - 2, i]) / spread_exits[group, s]
			if (part[2] == NOTHING)
				base[i] = each
			else
				each -= base[i]
			printf part[2] == NOTHING ? "%10.2f" : "%+10.2f", each
			result(group, part[2], part[3], 1, tolower(dear[i]), each)
		}
		print ""
	}
}

# promise TEXT VALUE LIMIT HOW: HOW is <= or >=.
function promise(text, value, limit, how,    good) {
	if (value == "" || limit == "") {
		printf "left out  %s: not measured\n", text
		missing++
		return
	}
	good = how == "<=" ? value <= limit : value >= limit
	printf "%-8s  %s: %.4g (%s %.4g)\n", good ? "pass" : "FAIL", text, value, how, limit
	printf "promise\t%s\t\t\t%s\t%.3f\n", text, good ? "pass" : "fail", value >RESULTS
	if (good)
		passed++
	else
		failed++
}

function ratio(a, b) {
	return a == "" || b == "" || b == 0 ? "" : a / b
}

function differ(group, row, loop,    a) {
	a = added(group, row, loop, 1, "large")
	return a == "" ? "" : abs(a)
}

function grown(row) {
	return ratio(added("vcpus", row, "mix", 4, "large"), added("vcpus", row, "mix", 1, "large"))
}

END {
	printf "group\trow\tloop\tvcpus\tmeasure\tvalue\n" >RESULTS

	head("Added instructions an exit, in the vCPU's thread (no reader runs meanwhile)", "recording")
	nothing_line("least")
	nothing_line("most")
	table("large")
	head("Added instructions an exit, with the tool's own buffer and its reader on the same CPU", "recording")
	table("usual")
	head("Bytes an exit on disk", "recording")
	table("bytes")

	if ("boot" in nr_groups) {
		printf "\nBytes an exit on disk, a Linux guest from power-on to power-off\n\n%-44s%10s%10s\n", "recording", "exits", "bytes"
		for (r = 1; r <= nr_rows["boot"]; r++) {
			row = rows["boot", r]
			value = on_disk("boot", row, "boot", 1)
			if (!left_out("boot", row))
				printf "%-44s%10d%10.1f\n", row, exits[key("boot", row, "boot", 1), "large"], value
			result("boot", row, "boot", 1, "bytes_per_exit", value)
		}
	}

	if ("hooks" in nr_groups) {
		printf "\nWhat each hook adds with its word, through perf, by an exit of a loop that goes through it\n\n%-44s%-14s%12s%10s\n",
			"hook", "loop", "instructions", "bytes"
		for (r = 1; r <= nr_rows["hooks"]; r++)
			hook_line(rows["hooks", r])
	}

	if ("vcpus" in nr_groups) {
		printf "\nAdded instructions an exit of the loop mix, by number of vCPUs (and CPUs of L1)\n\n%-44s", "recording"
		for (v = 1; v <= 4; v *= 2)
			printf "%10d", v
		print ""
		for (r = 1; r <= nr_rows["vcpus"]; r++) {
			row = rows["vcpus", r]
			if (row == NOTHING)
				continue
			printf "%-44s", row
			for (v = 1; v <= 4; v *= 2) {
				value = added("vcpus", row, "mix", v, "large")
				cell(value, "%+.0f")
				result("vcpus", row, "mix", v, "added_instructions", value)
			}
			print ""
		}
	}

	apart("counted", "AMD SVM, which has no VMREAD, in QEMU", 3)
	apart("vmx", "Intel VMX, in Bochs", 5)

	if (nr_readers) {
		printf "\nReading, instructions an exit\n\n"
		for (r = 1; r <= nr_readers; r++) {
			printf "%-44s%10.0f\n", readers[r], reading[readers[r]]
			result("decode", readers[r], "mix", 1, "reading_instructions", reading[readers[r]])
		}
	}

	printf "\nWhat must be reached\n\n"
	for (i = 1; i <= loops; i++) {
		loop = loop_of[i]
		near = differ("idle", AGAIN, loop)
		base = key("idle", NOTHING, loop, 1) SUBSEP "large"
		# A probe that stays attached takes 1.5 % and more.
		promise("idle module, added instructions, " loop ", within jitter", differ("idle", IDLE, loop),
			near == "" ? "" : near + 0.003 * ticks[base], "<=")
	}
	promise("batch, lean, bytes an exit, mix", on_disk("batch", BATCH, "mix", 1), 12, "<=")
	promise("batch, lean, bytes an exit, a Linux guest's boot", on_disk("boot", BATCH, "boot", 1), 12, "<=")
	for (i = 1; i <= loops; i++)
		promise("batch, lean, added instructions, " loop_of[i], added("batch", BATCH, loop_of[i], 1, "large"), 300, "<=")
	for (i = 1; i <= loops; i++) {
		loop = loop_of[i]
		# perf adds a few bytes of its own each time it reads its buffer.
		promise("single events, lean, perf, bytes an exit, " loop, on_disk("kvm_trace", LEAN, loop, 1), 96.05, "<=")
		promise("single events, lean, perf, share of the pair's instructions, " loop,
			ratio(added("kvm_trace", LEAN, loop, 1, "large"), added("perf", PAIR, loop, 1, "large")), 0.5, "<=")
		promise("single events, lean, ftrace, bytes an exit, " loop, on_disk("kvm_trace", TRACE_CMD_LEAN, loop, 1), 40, "<=")
		promise("single events, lean, ftrace, share of the pair's instructions, " loop,
			ratio(added("kvm_trace", TRACE_CMD_LEAN, loop, 1, "large"),
			      added("trace_cmd", TRACE_CMD_PAIR, loop, 1, "large")), 0.75, "<=")
	}
	promise("4 vCPUs, batch, lean, times the added instructions of one", grown(BATCH), 1.05, "<=")
	promise("4 vCPUs, single events, lean, times the added instructions of one", grown(LEAN), 1.05, "<=")
	promise("perf script on pairs, times the instructions of batches to text",
		ratio(reading["perf script, kvm_exit + kvm_entry"], reading["dlfilter, batches to text"]), 5, ">=")
	promise("perf kvm stat report, times the instructions of a report of batches",
		ratio(reading["perf kvm stat report"], reading["dlfilter, report of batches"]), 20, ">=")
	promise("perf script on pairs, times the instructions of a timeline of batches",
		ratio(reading["perf script, kvm_exit + kvm_entry"], reading["dlfilter, timeline of batches"]), 3, ">=")
	promise("perf script on pairs, times the instructions of a timeline of single events",
		ratio(reading["perf script, kvm_exit + kvm_entry"], reading["dlfilter, timeline of single events"]), 3, ">=")
	printf "\n%d reached, %d not reached, %d not measured\n", passed, failed, missing
	exit failed > 0
}
