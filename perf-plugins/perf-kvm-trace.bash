# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Completion in bash for perf-kvm-trace, and for "perf kvm-trace", of which perf's
# own completion knows nothing. What there is to complete the command itself lists.

# _perf_kvm_trace_words FIRST: completes words behind the one of that number.
_perf_kvm_trace_words()
{
	local first=$1 command=${COMP_WORDS[$1 + 1]} word=${COMP_WORDS[COMP_CWORD]}
	local prefix listed before i=$((COMP_CWORD - 1))

	COMPREPLY=()
	# bash makes words of their own of "=" and, where perf's completion has told it
	# to, of ",".
	while [ "${COMP_WORDS[i]}" = , ] || [ "${COMP_WORDS[i + 1]}" = , ]; do
		i=$((i - 1))
	done
	[ "${COMP_WORDS[i]}" != = ] || i=$((i - 1))
	before=${COMP_WORDS[i]}
	if [ "$word" = = ] || [ "$word" = , ]; then
		word=''
	fi
	if [ "$COMP_CWORD" -eq $((first + 1)) ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(perf-kvm-trace --list-cmds) --help" -- "$word")
		return
	fi
	for ((i = first + 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$word")
			return
		fi
	done
	case $before in
	--vm)
		# Names may have spaces in them.
		while IFS= read -r i; do
			i=$(printf %q "$i")
			[[ $i != "$word"* ]] || COMPREPLY+=("$i")
		done < <(perf-kvm-trace "$command" --list-vms)
		return
		;;
	--by)
		listed=$(perf-kvm-trace "$command" --list-keys)
		prefix=${word%"${word##*,}"}
		mapfile -t COMPREPLY < <(compgen -W "$listed" -P "$prefix" -- "${word##*,}")
		compopt -o nospace
		return
		;;
	--sort) listed=$(perf-kvm-trace "$command" --list-columns) ;;
	--words) listed='lean default all' ;;
	--flow) listed=$(perf-kvm-trace "$command" --list-flows) ;;
	--pt) listed=$(perf-kvm-trace "$command" --list-modes) ;;
	--delay | -d | --limit | --filter | --time | --older | --mmap-pages | -m) return ;;
	--input | -i | --output | -o | --guest-code | --kallsyms)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames
		return
		;;
	*) listed=$(perf-kvm-trace "$command" --list-opts) ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$listed" -- "$word")
}

_perf_kvm_trace()
{
	_perf_kvm_trace_words 0
}

# For the command perf: ours, or what perf's own completion says, which is loaded
# when it is first needed and then takes our place.
_perf_and_kvm_trace()
{
	if [ "$COMP_CWORD" -gt 1 ] && [ "${COMP_WORDS[1]}" = kvm-trace ]; then
		compopt +o nospace
		_perf_kvm_trace_words 1
		return
	fi
	COMPREPLY=()
	if ! declare -F _perf >/dev/null; then
		{ _comp_load perf || __load_completion perf; } >/dev/null 2>&1
		_perf_kvm_trace_register
	fi
	if declare -F _perf >/dev/null; then
		_perf "$@"
	fi
	if [ "$COMP_CWORD" -eq 1 ] && [[ kvm-trace == "${COMP_WORDS[1]}"* ]]; then
		COMPREPLY+=(kvm-trace)
	fi
}

_perf_kvm_trace_register()
{
	complete -F _perf_kvm_trace perf-kvm-trace
	complete -o bashdefault -o default -o nospace -F _perf_and_kvm_trace perf
}

_perf_kvm_trace_register
