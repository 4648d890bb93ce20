#!/bin/sh
# shellcheck shell=bash
# test_tool_manual.sh: the manual pages and completions that the tool makes of its own tables: man reads every page
# without a warning, and bash and zsh complete what a person would type. Shells that are not there are left out.
# It runs in bash, whoever starts it.
[ -n "$BASH_VERSION" ] || { command -v bash > /dev/null || exit 77; exec bash "$0" "$@"; }
: "${HEDDLE:?the path of the tool}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
bad() {
    echo "FAILED: $*"
    failed=1
}

# ------------------------------------------------------------------------------------------- pages
while read -r command; do
    page=$work/heddle${command:+-${command// /-}}.1
    # The names of commands are words.
    # shellcheck disable=SC2086
    "$HEDDLE" help --man $command > "$page" || bad "no page for '$command'"
    # shellcheck disable=SC2086
    "$HEDDLE" help $command | grep -oE '^  --[a-z-]+' | tr -d ' ' | while read -r option; do
        grep -qF "${option//-/\\-}" "$page" || echo "$option"
    done > "$work/missing"
    [ ! -s "$work/missing" ] || bad "the page of '$command' has no $(paste -sd' ' "$work/missing")"
    for section in NAME SYNOPSIS 'EXIT STATUS' 'SEE ALSO'; do
        grep -qxF ".SH $section" "$page" || bad "the page of '$command' has no $section"
    done
    command -v man > /dev/null && command -v groff > /dev/null || continue
    LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2> "$work/said" > /dev/null || bad "man fails on $page"
    [ ! -s "$work/said" ] || bad "man on the page of '$command': $(cat "$work/said")"
    MANWIDTH=80 LC_ALL=C.UTF-8 man -E UTF-8 -l "$page" 2> /dev/null | grep -q "heddle ${command:+$command}" ||
        bad "the page of '$command' does not show it"
done < <("$HEDDLE" help --list)
# Every page that another names is there.
cat "$work"/*.1 | sed -nE 's/^\.BR (heddle[a-z\\-]*) \(1\).*/\1/p' | tr -d '\\' | sort -u | while read -r name; do
    [ -f "$work/$name.1" ] || echo "$name"
done > "$work/missing"
[ ! -s "$work/missing" ] || bad "pages that are named and not there: $(cat "$work/missing")"

# -------------------------------------------------------------------------------------------- bash
"$HEDDLE" help --completion bash > "$work/bash"
cat > "$work/ask.bash" << 'END'
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
COMP_WORDS=() COMP_CWORD=0
_heddle
printf '%s\n' "${COMPREPLY[@]}"
END
touch "$work/keys.npy"
mkdir "$work/people.shelf"

# completes LINE WORDS: what bash offers behind the line, in any order
completes() {
    local offered
    offered=$(cd "$work" && bash "$work/ask.bash" "$work/bash" "$1" 2>&1 | sort | paste -sd' ')
    [ "$offered" = "$(tr ' ' '\n' <<< "$2" | sort | paste -sd' ')" ] || bad "bash: '$1' offers '$offered', not '$2'"
}
# offers LINE WORD...: these are among what bash offers
offers() {
    local line=$1 offered word
    shift
    offered=$(cd "$work" && bash "$work/ask.bash" "$work/bash" "$line" 2>&1)
    for word; do grep -qxF -- "$word" <<< "$offered" || bad "bash: '$line' does not offer '$word': $offered"; done
}
completes 'heddle ' 'info advise bench skew shelf help --help --version'
completes 'heddle sh' 'shelf'
completes 'heddle bench m' 'map multimap mixed'
completes 'heddle shelf e' 'erase export'
completes 'heddle bench map --sch' '--scheme'
completes 'heddle bench map --scheme ' 'auto cuckoo open iceberg slab'
completes 'heddle bench multimap --scheme b' 'bucket_list'
completes 'heddle bench multimap --scheme=b' 'bucket_list'
completes 'heddle bench map --op build,fi' 'build,find'
completes 'heddle bench map --op=build,er' 'build,erase'
completes 'heddle bench map --device c' 'cpu cpu: cuda cuda:'
completes 'heddle bench map --keys ' ''
completes 'heddle bench dist --distribution z' 'zipf:'
completes 'heddle bench filter --load' ''
completes 'heddle advise mu' 'multimap'
completes 'heddle shelf find people.shelf --keys k' 'keys.npy'
completes 'heddle shelf build --scratch ' 'people.shelf'
completes 'heddle shelf stats p' 'people.shelf'
completes 'heddle shelf count p --ma' '--matches'
completes 'heddle help --completion ' 'bash zsh'
offers 'heddle bench graph --' --variant --bins --copies --help
completes 'heddle help ' 'info advise bench skew shelf help --help --version'
offers 'heddle help bench ' map dist shelf
completes 'heddle help shelf va' 'validate'
completes 'heddle help bench map --' ''
if command -v shellcheck > /dev/null; then shellcheck -s bash -S warning "$work/bash" || bad "the script for bash"; fi

# --------------------------------------------------------------------------------------------- zsh
"$HEDDLE" help --completion zsh > "$work/_heddle"
if command -v zsh > /dev/null; then
    zsh -n "$work/_heddle" || bad "zsh cannot read its script"
    # A real line editor, on a terminal of its own: what Tab makes of a line. A last Tab would begin a menu.
    cat > "$work/ask.zsh" << 'END'
zmodload zsh/zpty
zpty z zsh -f -i
send() { zpty -w -n z $1; }
send "PS1=; fpath=($1 \$fpath); cd $1; autoload -U compinit; compinit -u -d $1/dump; LISTMAX=0; unsetopt list_beep; echo rea''dy
"
zpty -r z text '*ready*'
send "$2"$'\t'
sleep 0.5
send $'\x01echo "<\x05>"\n'
zpty -r -m z text '*<*>*<*>*'
print -r -- ${${text##*$'\n'<}%%>*}
zpty -d z
END
    completed() { # completed LINE WANTED: what Tab makes of the line
        local line
        line=$(timeout 20 zsh -f "$work/ask.zsh" "$work" "$1" | tr -d '\r' | tail -n 1)
        [ "${line% }" = "$2" ] || bad "zsh: '$1' becomes '$line', not '$2'"
    }
    completed 'heddle sh' 'heddle shelf'
    completed 'heddle help shelf va' 'heddle help shelf validate'
    completed 'heddle bench mu' 'heddle bench multimap'
    completed 'heddle bench map --thr' 'heddle bench map --threshold'
    completed 'heddle bench multimap --scheme=bu' 'heddle bench multimap --scheme=bucket_list'
    completed 'heddle bench map --op build,fi' 'heddle bench map --op build,find'
    completed 'heddle shelf find people.shelf --keys k' 'heddle shelf find people.shelf --keys keys.npy'
    completed 'heddle shelf stats p' 'heddle shelf stats people.shelf'
fi
exit $failed
