# SPDX-License-Identifier: GPL-2.0-only
# A position that could not be read is taken from before.
# Breaks: stream_goes_on_where_it_stopped
s/^\t\t\tpt->refused |= SIDE(pt->owner);//
