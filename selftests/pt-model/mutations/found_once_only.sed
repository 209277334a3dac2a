# SPDX-License-Identifier: GPL-2.0-only
# What was found is not looked at again by a later session.
# Breaks: stream_goes_on_where_it_stopped msrs_are_restored
s/^\t\tpt->found_uses = 0;//
