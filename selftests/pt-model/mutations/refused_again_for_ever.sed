# SPDX-License-Identifier: GPL-2.0-only
# A stream that was refused once is never tried again.
# Breaks: guest_is_traced host_is_traced reports_are_true
s/^\tpt->refused &= ~SIDE(side);//
