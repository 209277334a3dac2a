# SPDX-License-Identifier: GPL-2.0-only
# Of what scripts/check printed: the tests that failed, each with its failed cases and the last
# LINES lines of what it said.

function flush(	i) {
	if (!failed)
		return
	for (i = said > LINES ? said - LINES + 1 : 1; i <= said; i++)
		print line[i]
	failed = 0
}

/^(not )?ok / { flush() }
/^not ok / {
	if (!tests++)
		print "\nfailed:"
	print
	failed = 1
	said = 0
	next
}
!failed { next }
/^    not ok / { print; next }
{ line[++said] = $0 }
END { flush() }
