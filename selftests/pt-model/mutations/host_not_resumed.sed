# SPDX-License-Identifier: GPL-2.0-only
# A paused host stream is forgotten if there is no guest's.
# Breaks: host_is_traced
/^\t} else {$/,/^\tif (!guest)$/s/^\tpt->inside = true;/\tpt->inside = guest;/
