#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The plugin uses what the oldest supported perf gives to plugins, and gives
# itself nothing but its two entries. That it works is tested elsewhere.
#
#	plugin_symbols.sh PLUGIN

# shellcheck source=selftests/host/expect.sh
. "$(dirname -- "$0")/expect.sh"

plugin=$1

# nm -D /usr/bin/perf of Debian 12's linux-perf 6.1.187
exported_by_perf_6_1='tep_find_any_field tep_find_field tep_find_function
tep_find_function_address tep_get_field_raw tep_get_field_val tep_get_long_size
tep_is_file_bigendian tep_is_local_bigendian tep_plugin_add_options
tep_plugin_remove_options tep_print_func_field tep_print_num_field
tep_read_number tep_read_number_field tep_register_comm
tep_register_event_handler tep_register_print_function
tep_unregister_event_handler tep_unregister_print_function trace_seq_printf
trace_seq_putc trace_seq_puts trace_seq_terminate'

# symbols TYPE: names of the plugin's dynamic symbols of a type of nm
symbols() {
	nm -D "$plugin" | awk -v type="$1" '$(NF - 1) == type { sub(/@.*/, "", $NF); print $NF }'
}

if [ ! -r "$plugin" ] || ! symbols U | grep -q "^tep_"; then
	echo "Bail out! nm finds nothing in '$plugin': build it with make -C perf-plugins"
	exit 1
fi
echo 'TAP version 13'

foreign=
for symbol in $(symbols U | grep -E '^(tep|trace_seq)_'); do
	echo "$exported_by_perf_6_1" | grep -qw "$symbol" || foreign="$foreign $symbol"
done
expect plugin_uses_only_functions_that_perf_6.1_exports "" "$foreign"

expect plugin_exports_nothing_but_its_loader_and_unloader \
	"tep_plugin_loader tep_plugin_unloader " "$(symbols T | sort | tr '\n' ' ')"

expect plugin_brings_no_second_libtraceevent "" \
	"$(readelf -d "$plugin" | grep 'NEEDED.*libtraceevent')"
echo "1..$count"
[ "$failed" = 0 ]
