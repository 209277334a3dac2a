# SPDX-License-Identifier: GPL-2.0-only
# The host's stream runs on at kvm_entry.
# Breaks: host_is_paused_for_the_guest no_configuration_while_tracing no_vm_entry_fails_by_us
s/^\t\tif (!write_ctl(pt, 0))$/\t\tif (false)/
