# SPDX-License-Identifier: GPL-2.0-or-later
# Print the completions of zsh after the tabulator key at the end of a line, in a separate terminal: zsh -f completion.zsh LINE
zmodload zsh/zpty
zpty -b z zsh -f -i
zpty -w z "PS1=; stty cols 200; fpath=($PWD/tools/completion \$fpath); autoload -U compinit; compinit -u -D; LISTMAX=999; print rea\"\"dy"
output=""
for i in {1..100}; do while zpty -r -t z line; do output+=$line; done; [[ $output == *ready$'\r'* ]] && break; sleep 0.1; done
zpty -w -n z "$1"$'\t\t'
sleep 2
while zpty -r -t z line; do print -rn -- $line; done
zpty -d z
