# SPDX-License-Identifier: GPL-2.0-only
# The host's stream goes on from where it was at its start.
# Breaks: stream_goes_on_where_it_stopped
/^\tif (!guest)$/,/^\tpt->owner = /s/^\tif (pt->stale)$/\tif (false)/
