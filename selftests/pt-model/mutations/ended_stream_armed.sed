# SPDX-License-Identifier: GPL-2.0-only
# A full ring is armed at every entry.
# Breaks: a_stream_that_has_ended_stays_off
s/^\tif (guest && has_ended(guest))/\tif (false)/
