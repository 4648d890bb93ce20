# stages.sh: steps of a script that show a line each, for scripts to source.
#
#   stages_of N          how many there will be
#   stage NAME COMMAND   runs it: its progress on one line, its warnings, and all it said when it fails
#
# V=1 shows what the commands say instead. On a terminal the line is written over; elsewhere it is
# one line at the end of each stage. Commands are read for what ninja, make and ctest print.
# shellcheck shell=bash
stages_done=0 stages_all=0
stages_of() { stages_done=0 stages_all=$1; }

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# Copies warnings and failed tests of what it reads, and keeps the line of the stage.
stage_watch() # HEAD BEGAN
{
    local line share left
    while IFS= read -r line; do
        share=
        if [[ $line =~ ^\[?\ *([0-9]+)/([0-9]+)(\]|\ Test) ]]; then
            share=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        elif [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then
            share=${BASH_REMATCH[1]}
        fi
        if [[ $line == *warning:* || $line == *'***Failed'* || $line == *'***Timeout'* ]]; then
            [ ! -t 1 ] || printf '\r\033[K'
            printf '%s\n' "$line"
        fi
        if [ -t 1 ] && [ -n "$share" ]; then
            left=
            if [ "$share" -ge 5 ] && [ $((SECONDS - $2)) -ge 5 ]; then
                left=", about $(clock $(((SECONDS - $2) * (100 - share) / share))) left"
            fi
            printf '\r\033[K%s %d %%, %s%s' "$1" "$share" "$(clock $((SECONDS - $2)))" "$left"
        fi
    done
}

stage()
{
    local head began=$SECONDS log status
    stages_done=$((stages_done + 1))
    head="[$stages_done/$stages_all] $1:"
    shift
    if [ -n "${V:-}" ]; then
        echo "$head $*"
        "$@"
        return
    fi
    log=$(mktemp)
    [ ! -t 1 ] || printf '%s ' "$head"
    "$@" 2>&1 | tee "$log" | stage_watch "$head" "$began"
    status=${PIPESTATUS[0]}
    [ ! -t 1 ] || printf '\r\033[K'
    if [ "$status" = 0 ]; then
        echo "$head $(clock $((SECONDS - began)))"
    else
        # What went well is of no interest then.
        grep -vE '^ *\[? *[0-9]+/[0-9]+\].*(Building|Linking|Generating)|^ +Start +[0-9]+:|Test +#[0-9]+: .*Passed' \
            "$log" | tail -n "${STAGE_LINES:-400}"
        echo "$head failed after $(clock $((SECONDS - began)))"
    fi
    rm -f "$log"
    return "$status"
}
