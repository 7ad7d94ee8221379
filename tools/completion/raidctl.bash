# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for raidctl

_raidctl_words() {
	case $1 in
	"") echo "list check load unload attach detach show tail reset record mark top report export exporter import status lab demo workload sweep explain why compare help --help --version --debug" ;;
	list | status) echo "--json --help" ;;
	check) echo "--data-size --json --help" ;;
	load) echo "--help" ;;
	unload) echo "--force --help" ;;
	attach) echo "--groups --streams --slower --help" ;;
	detach | reset) echo "--all --force --help" ;;
	show) echo "--duration --source --json --help" ;;
	tail) echo "--lines --slower --failed --csv --follow --source --json --help" ;;
	record) echo "--disk --output --interval --duration --phase --phases --note --no-members --streams --hwq --source --events --detach --stop --force --quiet --help" ;;
	mark) echo "--end --record --help" ;;
	top) echo "--interval --source --help" ;;
	report) echo "--json --phase --html --verbose --explain --help" ;;
	export) echo "--csv --parquet --perfetto --json --help" ;;
	exporter) echo "--cgroups --listen --source --help" ;;
	import) echo "--output --interval --sectors --quiet --help" ;;
	lab) echo "run shell ab expect build clean workloads profiles show --help" ;;
	demo) echo "--out --jobs --seeds --fresh --help" ;;
	explain) echo "--phase --disk --direction --from --to --verbose --json --help" ;;
	why) echo "restore --lab --disk --prepare --beside --metric --phase --budget --runs --out --json --quiet --set --lab-option --other-kernel --destroy-data --force-signature --in-use --freeze --source --help" ;;
	compare) echo "--with --array --verbose --phase --json --help" ;;
	workload) echo "list show run parse --parameter --json --directory --disk --data-size --dry-run --help" ;;
	sweep) echo "plans show merge restore --lab --out --dry-run --resume --retry-failed --data-size --trials --seeds --jobs --kernel --store --host --destroy-data --disk --array --force-signature --ignore-check --source --no-record --parquet --stack --help amcc bnl caltech coraid howto quick" ;;
	esac
}

_raidctl_lab_words() {
	local guest="--kernel --profile --mem --store --set --env --host --out --quiet --help"
	case $1 in
	run) echo "$guest --timeout --vm --no-raidtrace --bare --variant --real-time --seed" ;;
	shell) echo "$guest --vm --no-raidtrace --bare --seed" ;;
	ab) echo "$guest --timeout --vm --disk --json --repeat --seeds --patch --series --range --tree --config --variant --workload --coverage --mail" ;;
	expect) echo "$guest --timeout --vm --disk --json --phase --seeds" ;;
	build) echo "--kernel --vm --variant --modules --refresh --werror --quiet --help" ;;
	clean) echo "--days --remove --help" ;;
	workloads | profiles | show) echo "--help" ;;
	*) _raidctl_words lab ;;
	esac
}

_raidctl_disks() {
	local disk
	for disk in /sys/block/*; do
		[ "$(<"$disk/size")" != 0 ] && echo "${disk##*/}"
	done
}

# numbers of the recordings that are being made
_raidctl_recordings() {
	local file
	for file in "${RAIDTRACE_RUN:-/run/raidtrace}"/record-*; do
		[ -e "$file" ] && echo "${file##*-}"
	done
}

_raidctl_lab() {
	local word=$1 sub=""
	[ "$COMP_CWORD" -gt 2 ] && sub=${COMP_WORDS[2]}
	case $2 in
	--kernel) mapfile -t COMPREPLY < <(compgen -W "6.1 6.12 7.2 7.3" -- "$word"; compgen -d -- "$word") && return ;;
	--out) mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
	--profile | show) mapfile -t COMPREPLY < <(compgen -W "$(raidctl lab profiles 2>/dev/null | cut -d ' ' -f 1)" -- "$word"; compgen -f -X '!*.toml' -- "$word") && return ;;
	--variant) mapfile -t COMPREPLY < <(compgen -W "sanitize sanitize-smp smp storage" -- "$word") && return ;;
	--workload) mapfile -t COMPREPLY < <(compgen -W "readahead queue filesystem array cgroup all" -- "$word") && return ;;
	--patch | --config) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
	--series | --tree) mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
	-d | --disk | --mem | --store | --set | --env | --timeout | --phase | --seed | --seeds | --range) return ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$(_raidctl_lab_words "$sub")" -- "$word")
}

_raidctl() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb="" i
	[ "$COMP_CWORD" -gt 1 ] && verb=${COMP_WORDS[1]}
	COMPREPLY=()
	if [ "$verb" = record ] || [ "$verb" = lab ]; then
		# behind -- stands a command
		for ((i = 2; i < COMP_CWORD; i++)); do
			if [ "${COMP_WORDS[i]}" = -- ]; then
				mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
				return
			fi
		done
	fi
	if [ "$verb" = lab ]; then
		_raidctl_lab "$word" "$before"
		return
	fi
	case $before in
	-d | --disk) mapfile -t COMPREPLY < <(compgen -W "$(_raidctl_disks)" -- "$word") && return ;;
	--phases) mapfile -t COMPREPLY < <(compgen -W "none bonnie++ iozone fio ddt ioperf" -- "$word") && return ;;
	-o | --output | -c | --csv | -H | --html) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
	-r | --record | --stop) mapfile -t COMPREPLY < <(compgen -W "$(_raidctl_recordings)" -- "$word") && return ;;
	-w | --with) mapfile -t COMPREPLY < <(compgen -W "amcc-9500s-2004 caltech-3ware-2002 coraid-sr-2007 software-raid-howto" -- "$word") && return ;;
	--array) mapfile -t COMPREPLY < <(compgen -W "$(raidctl lab profiles 2>/dev/null | cut -d ' ' -f 1)" -- "$word") && return ;;
	--source) mapfile -t COMPREPLY < <(compgen -W "module bpf" -- "$word") && return ;;
	-i | --interval | --duration | --phase | --note | -s | --data-size) return ;;
	help) verb="" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$(_raidctl_words "$verb")" -- "$word")
	case $verb in
	check | attach | detach | show | tail | reset | top | exporter)
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$(_raidctl_disks)" -- "$word") ;;
	load | report | export | import | explain | compare)
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word") ;;
	esac
}

complete -o filenames -F _raidctl raidctl
