#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Promise: of one run, the report counts each exit reason as often as perf kvm stat,
# and its host times enclose those of perf's events; and the slices of a timeline are
# the records' host and guest times, one behind the other.

cd "$(dirname -- "$0")/../.." || exit 1
DATA=$(mktemp -d) || exit 1
PARAMETERS=/sys/module/kvm_trace/parameters

bail() {
	echo "Bail out! $*"
	exit 1
}

finish() {
	echo default >$PARAMETERS/words
	echo lean >$PARAMETERS/batch_words
	rm -rf "$DATA"
}

# filter OUTPUT ARGUMENT...: what the filter prints, of each argument a --dlarg.
filter() {
	output=$DATA/$1
	shift
	for argument; do
		set -- "$@" --dlarg "$argument"
		shift
	done
	perf script -i "$DATA/ours" --dlfilter kvm-trace.so "$@" >"$output" 2>"$DATA/err" ||
		bail "perf script: $(cat "$DATA/err")"
	sed 's/^/# /' "$DATA/err"
}

modprobe -q kvm_amd || modprobe -q kvm_intel || bail "neither kvm_amd nor kvm_intel can be loaded"
modprobe kvm_trace || bail "kvm_trace cannot be loaded"
trap finish EXIT
echo all >$PARAMETERS/words || bail "words"
echo all >$PARAMETERS/batch_words || bail "batch_words"
perf kvm --host stat record -q -a -m 4096 -o "$DATA/theirs" \
	perf record -q -B -N --synth no -a -m 4096 -e 'kvm_trace:*' -e kvm_trace_batch:vmexits \
	-o "$DATA/ours" -- selftests/vmm/microvm --vms 2 --vcpus 2 --count 50 \
	>"$DATA/out" 2>&1 || bail "recording: $(cat "$DATA/out")"
perf kvm --host -i "$DATA/theirs" stat report --stdio >"$DATA/theirs.text" 2>&1 ||
	bail "perf kvm stat report: $(cat "$DATA/theirs.text")"

filter single.json report json by=reason single
filter batch.json report json by=reason batch
filter both.json report json by=vm,vcpu,rip
filter table report by=class
filter timeline.json timeline batch
filter lines batch
sed 's/^/# /' "$DATA/table"

python3 - "$DATA" <<'EOF'
import collections
import json
import re
import sys

data = sys.argv[1]
failed = number = 0


def result(name, good, why=""):
    global failed, number
    number += 1
    failed += not good
    print("%sok %d %s" % ("" if good else "not ", number, name))
    if why:
        print("# %s" % why)


def load(name):
    with open("%s/%s" % (data, name)) as file:
        return json.load(file)


def text(name):
    with open("%s/%s" % (data, name)) as file:
        return file.read()


print("TAP version 13")
print("1..7")
# perf's own names of SVM's; it has none for a VM entry that failed.
names = {"io": "IOIO", "interrupt": "INTR", "hypercall": "VMMCALL", "UNKNOWN": "ERR"}
theirs = {}
for row in re.finditer(r"^ *(\S+) +(\d+) +[\d.]+% +[\d.]+%", text("theirs.text"), re.M):
    name = row.group(1)
    theirs[names.get(name, name.upper())] = int(row.group(2))
single = {row["reason"]: row["count"] for row in load("single.json")["rows"]}
batch = {row["reason"]: row["count"] for row in load("batch.json")["rows"]}
odd = {name: (theirs.get(name), single.get(name)) for name in set(theirs) | set(single)
       if theirs.get(name) != single.get(name)}
result("counts_are_those_of_perf_kvm_stat", theirs and not odd,
       "%d exits; differing: %s" % (sum(theirs.values()), odd))
result("batches_count_the_same", batch == single)

total = load("single.json")["all"]["host_ns"]["total"]
of_theirs = float(re.search(r"handled time: *([\d.]+) *us", text("theirs.text")).group(1)) * 1000
# The module's stamps are before and behind perf's probes, whose cost is between them.
result("host_times_enclose_those_of_perf_kvm_stat", of_theirs <= total <= 1.5 * of_theirs,
       "%.3f s, theirs %.3f s" % (total / 1e9, of_theirs / 1e9))

both = load("both.json")
result("rows_add_up", sum(row["count"] for row in both["rows"]) + both["others"]["count"] +
       both["none"]["count"] == both["all"]["count"] == sum(batch.values()))
whole = both["all"]
result("parts_add_up", whole["handling_ns"] + whole["user_ns"] + (whole["halted_ns"] or 0) ==
       whole["host_ns"]["total"], "%s" % whole)

events = load("timeline.json")["traceEvents"]
slices = [event for event in events if event["ph"] == "X"]
sums = collections.Counter()
ends = {}
overlaps = 0
for event in slices:
    sums[event["cat"]] += round(event["dur"] * 1000)
    track = event["pid"], event["tid"]
    overlaps += round(event["ts"] * 1000) < ends.get(track, 0)
    ends[track] = round((event["ts"] + event["dur"]) * 1000)
wanted = load("batch.json")["all"]
# Rounding of stamps to ns may take 1 ns of a guest slice.
short = wanted["guest_ns"] - sums["guest"]
result("slices_add_up_to_the_times_of_records",
       sums["host"] == wanted["host_ns"]["total"] and 0 <= short <= wanted["count"],
       "host %d of %d, guest %d of %d" % (sums["host"], wanted["host_ns"]["total"],
                                          sums["guest"], wanted["guest_ns"]))
tracks = {(event["pid"], event["tid"]) for event in slices}
result("each_vcpu_has_a_track_without_overlaps", len(tracks) == 4 and not overlaps,
       "%d tracks, %d overlaps, %d events, %d flows" %
       (len(tracks), overlaps, len(events), sum(event["ph"] == "f" for event in events)))
print("# Totals: pass:%d fail:%d skip:0" % (number - failed, failed))
sys.exit(failed > 0)
EOF
