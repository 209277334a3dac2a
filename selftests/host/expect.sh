# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# TAP of the shell tests here, whose cases compare one text with another. Tests
# that judge how commands end use selftests/lib/tap.sh.

count=0
failed=0

# expect NAME EXPECTED FOUND
expect() {
	count=$((count + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $count $1"
	else
		printf '# expected: %s\n# found:    %s\n' "$2" "$3"
		failed=$((failed + 1))
		echo "not ok $count $1"
	fi
}
