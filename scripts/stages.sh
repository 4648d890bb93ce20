# stages.sh: steps of a script that show a line each, for scripts to source.
#
#   stages_of N [SECONDS ...]   how many there will be, and how long each takes on two cores, where that is known: the
#                        lines then say what is left of all of them, in the pace so far
#   stage NAME COMMAND   runs it: its progress on one line, its warnings, and all it said when it fails
#
# V=1 shows what the commands say instead. On a terminal the line is written over; elsewhere it is
# one line at the end of each stage. Commands are read for what ninja, make and ctest print.
# shellcheck shell=bash
stages_done=0 stages_all=0 stages_began=0 stages_seconds=()
stages_of() { stages_done=0 stages_all=$1 stages_began=$SECONDS stages_seconds=("${@:2}"); }

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# Prints ", about 4:30 left": of all stages, when SHARE percent of the current one are done.
stages_left() # SHARE
{
    local i done=0 left=0 now=${stages_seconds[stages_done - 1]:-0} elapsed=$((SECONDS - stages_began))
    [ ${#stages_seconds[@]} = "$stages_all" ] || return 0
    for ((i = 0; i < stages_all; i++)); do
        if ((i < stages_done - 1)); then done=$((done + stages_seconds[i])); fi
        if ((i >= stages_done)); then left=$((left + stages_seconds[i])); fi
    done
    done=$((done + now * $1 / 100)) left=$((left + now * (100 - $1) / 100))
    # The first seconds tell little of the pace.
    if ((done >= 20)); then left=$((left * elapsed / done)); fi
    ((left == 0)) || printf ', about %s left' "$(clock "$left")"
}

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
            left=$(stages_left "$share")
            if [ -z "$left" ] && [ "$share" -ge 5 ] && [ $((SECONDS - $2)) -ge 5 ]; then
                left=", about $(clock $(((SECONDS - $2) * (100 - share) / share))) left of this"
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
    # In a condition, so that a script under `set -e` still shows what failed.
    if "$@" 2>&1 | tee "$log" | stage_watch "$head" "$began"; then status=${PIPESTATUS[0]}; else status=${PIPESTATUS[0]}; fi
    [ ! -t 1 ] || printf '\r\033[K'
    if [ "$status" = 0 ]; then
        echo "$head $(clock $((SECONDS - began)))$(stages_left 100)"
    else
        # What went well is of no interest then.
        grep -vE '^ *\[? *[0-9]+/[0-9]+\].*(Building|Linking|Generating)|^ +Start +[0-9]+:|Test +#[0-9]+: .*Passed' \
            "$log" | tail -n "${STAGE_LINES:-400}"
        echo "$head failed after $(clock $((SECONDS - began)))"
    fi
    rm -f "$log"
    return "$status"
}
