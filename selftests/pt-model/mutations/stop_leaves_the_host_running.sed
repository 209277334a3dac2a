# SPDX-License-Identifier: GPL-2.0-only
# A stream that is given back is resumed first.
# Breaks: msrs_are_restored no_msr_holds_our_address
s/^\tpt->refused |= sides;//
