# SPDX-License-Identifier: GPL-2.0-only
# A fault while MSRs are restored ends the try for good.
# Breaks: msrs_are_restored no_msr_holds_our_address host_is_traced stream_goes_on_where_it_stopped
s/^\tpt->mixed = true;//
