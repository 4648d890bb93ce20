#!/bin/sh
# rooms.sh [-v]: draws which rooms of src/ include which others and fails on an include that points upward.
#
# A room is a folder of src/. It may include rooms of lower rank, and itself; rooms of one rank stand
# beside each other and do not include each other. Which room is above which is the list below:
# docs/design/overview.md says why. With -v every edge is listed with the number of its includes.
set -eu
cd "$(dirname "$0")/.."
ranks='base:0 model:1 slot:2 tile:3 pool:3 scheme:4 engine:5 cpu:6 cuda:6 host:7 route:8 table:8
relation:9 filter:9 cluster:10 shelf:10 mpi:11'
grep -rEo --include='*.[ch]' --include='*.cu' --include='*.inl' '^ *# *include "[^"]+"' src |
    awk -v ranks="$ranks" -v verbose="${1:-}" '
    BEGIN {
        count = split(ranks, list, /[ \n]+/)
        for (i = 1; i <= count; i++) { split(list[i], pair, ":"); rank[pair[1]] = pair[2] }
    }
    {
        file = $0; sub(/:.*/, "", file)
        target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
        split(file, path, "/"); from = path[2]
        if (split(target, path, "/") < 2) {
            if (target !~ /^instances(_[a-z]+)?\.h$/) { print file ": \"" target "\" names no room"; bad++ }
            next
        }
        to = path[1]
        if (!(from in rank)) { print file ": the room " from " has no rank"; bad++; next }
        if (!(to in rank)) { print file ": \"" target "\" is in no room of src/"; bad++; next }
        if (from == to) next
        edges[from " -> " to]++
        if (rank[to] >= rank[from]) {
            print file ": " from " must not include " to " (\"" target "\")"
            bad++
        }
    }
    END {
        if (verbose == "-v") for (edge in edges) printf "%4d  %s\n", edges[edge], edge | "sort -k2"
        close("sort -k2")
        if (bad > 0) { print bad " includes point upward or nowhere"; exit 1 }
    }'
