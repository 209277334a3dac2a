# SPDX-License-Identifier: GPL-2.0-only
# Judges the output of selftests/runner.sh: one line for each test, the details
# of failed and skipped cases, and the totals in the file TOTALS. A test has
# also failed if it ended early, printed no case, or exited with a failure that
# its cases do not show. With LOOSE, tests come without their exit status, one
# ends where the next begins.

function reset() {
	planned = 0; good = 0; bad = 0; skipped = 0; kept = 0; skips = 0; whole = ""
}

function keep(line) {
	if (kept < 100)
		lines[++kept] = line
}

function finish(status, seconds,	i, why) {
	if (status == 124 || status == 137)
		why = "did not end in time"
	else if (status == "")
		why = "L1 ended with it"
	else if (whole != "" && good + bad + skipped == 0)
		skipped = 1
	else if (good + bad + skipped == 0)
		why = "no result, exit status " status
	else if (planned != good + bad + skipped)
		why = (good + bad + skipped) " cases of " planned ", exit status " status
	else if (status != 0 && bad == 0 && status != 4)
		why = "exit status " status
	if (why != "")
		bad++
	printf "%s %s%s (%d cases%s%s)%s\n", bad ? "not ok" : "ok", PREFIX, test, good + bad + skipped,
		skipped ? ", " skipped " skipped" : "",
		seconds == "" ? "" : sprintf(", %.1f s", seconds), why == "" ? "" : ": " why
	for (i = 1; i <= skips; i++)
		print "    " skip[i]
	for (i = 1; bad && i <= kept; i++)
		print "    " lines[i]
	all_good += good; all_bad += bad; all_skipped += skipped
	test = ""
}

/^# test: / {
	if (test != "")
		finish(0, "")
	test = substr($0, 9)
	sub(/^\.\//, "", test)
	reset()
	next
}
test == "" { next }
/^# end: / { finish($3, $4 - $5); next }
/^1\.\.0 # SKIP/ { whole = $0; skip[++skips] = substr($0, 6); next }
/^1\.\.[0-9]+/ { planned += substr($1, 4); next }
/^ok .*# SKIP/ { skipped++; skip[++skips] = $0; next }
/^ok / { good++; next }
/^not ok / { bad++; keep($0); next }
/^TAP version/ { next }
{ keep($0) }

END {
	if (test != "")
		finish(LOOSE ? 0 : "", "")
	printf "%d %d %d\n", all_good, all_bad, all_skipped >TOTALS
}
