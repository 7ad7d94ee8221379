# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for raidctl

_raidctl_words() {
	case $1 in
	"") echo "list check load unload attach detach show reset record top report export import status lab demo workload sweep help --help --version" ;;
	list | status) echo "--json --help" ;;
	check) echo "--data-size --json --help" ;;
	load) echo "--help" ;;
	unload) echo "--force --help" ;;
	attach) echo "--help" ;;
	detach | reset) echo "--all --force --help" ;;
	show) echo "--json --help" ;;
	record) echo "--disk --output --interval --duration --phases --force --quiet --help" ;;
	top) echo "--interval --help" ;;
	report) echo "--json --phase --help" ;;
	export) echo "--csv --openmetrics --json --help" ;;
	import) echo "--output --interval --quiet --help" ;;
	lab) echo "run shell build profiles show --help" ;;
	demo) echo "--help" ;;
	workload) echo "list show run parse --parameter --json --directory --disk --data-size --dry-run --help" ;;
	sweep) echo "plans show merge restore --lab --out --dry-run --resume --retry-failed --data-size --trials --jobs --kernel --destroy-data --disk --array --force-signature --ignore-check --no-record --parquet --help amcc bnl caltech coraid howto quick" ;;
	esac
}

_raidctl_disks() {
	local disk
	for disk in /sys/block/*; do
		[ "$(<"$disk/size")" != 0 ] && echo "${disk##*/}"
	done
}

_raidctl() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb="" i
	[ "$COMP_CWORD" -gt 1 ] && verb=${COMP_WORDS[1]}
	COMPREPLY=()
	if [ "$verb" = record ]; then
		# behind -- stands a command
		for ((i = 2; i < COMP_CWORD; i++)); do
			if [ "${COMP_WORDS[i]}" = -- ]; then
				mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
				return
			fi
		done
	fi
	case $before in
	-d | --disk) mapfile -t COMPREPLY < <(compgen -W "$(_raidctl_disks)" -- "$word") && return ;;
	--phases) mapfile -t COMPREPLY < <(compgen -W "none bonnie++" -- "$word") && return ;;
	-o | --output | -c | --csv | -m | --openmetrics) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
	-i | --interval | --duration | --phase | -s | --data-size) return ;;
	help) verb="" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$(_raidctl_words "$verb")" -- "$word")
	case $verb in
	check | attach | detach | show | reset | top)
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$(_raidctl_disks)" -- "$word") ;;
	load | report | export | import)
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word") ;;
	esac
}

complete -o filenames -F _raidctl raidctl
