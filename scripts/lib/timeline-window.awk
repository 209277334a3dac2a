# SPDX-License-Identifier: GPL-2.0-only
# Cuts the most varied window_us microseconds out of a timeline: those in which most
# tracks have slices of most names.

function us(line) {
	match(line, /"ts":[0-9.]+/)
	return substr(line, RSTART + 5, RLENGTH - 5) + 0
}

{
	line[NR] = $0
	sub(/,$/, "", line[NR])
	at[NR] = -1
}

/"ph":"[XCisf]"/ {
	at[NR] = us($0)
	window = int(at[NR] / window_us)
	if (/"ph":"X"/ && match($0, /"name":"[a-z_]+"/))
		name = substr($0, RSTART + 8, RLENGTH - 9)
	else if (/"ph":"s"/)
		name = "flow"
	else
		next
	match($0, /"tid":[0-9]+/)
	name = name substr($0, RSTART, RLENGTH)
	if (!((window, name) in seen)) {
		seen[window, name] = 1
		names[window]++
	}
}

END {
	for (window in names)
		if (names[window] > names[best])
			best = window
	printf "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
	for (i = 2; i < NR; i++) {
		if (at[i] >= 0 && int(at[i] / window_us) != best)
			continue
		# Its other end may be beyond the window.
		if (line[i] ~ /"ph":"[sf]"/ && !(line[i] ~ /"ph":"f"/ && match(line[i - 1], /"ph":"s"/) && int(at[i - 1] / window_us) == best) &&
		    !(line[i] ~ /"ph":"s"/ && line[i + 1] ~ /"ph":"f"/ && int(at[i + 1] / window_us) == best))
			continue
		printf "%s\n%s", any++ ? "," : "", line[i]
	}
	print "\n]}"
}
