#!/bin/sh
# rooms.sh [-v]: draws which rooms of src/ include which others and fails on an include that points upward, or at a header
# that is private to its room.
#
# A room is a folder of src/. It may include rooms of lower rank, and itself; rooms of one rank stand
# beside each other and do not include each other. Which room is above which is the list below:
# docs/design/overview.md says why. With -v every edge is listed with the number of its includes.
#
# `doors` are the headers by which other rooms enter the rooms from route/ upward: all others there are private to their
# room. `inside` are the places that know the inside of another room, and the header that shows it to them.
set -eu
cd "$(dirname "$0")/.."
ranks='base:0 model:1 slot:2 tile:3 pool:3 scheme:4 engine:5 cpu:6 cuda:6 host:7 route:8 table:8
relation:9 filter:9 cluster:10 shelf:10 mpi:11'
doors='route/route.h route/spread.h table/check.h table/request.h table/totals.h table/making.h
relation/relation.h relation/join/join.h'
# A join of two graphs reads their edges; a retrieval of all lists is a group-by over the table's own pairs.
inside='src/relation/join/tables.c:table/graph/graph.h src/relation/groups/:table/table.h'
grep -rEo --include='*.[ch]' --include='*.cu' --include='*.inl' '^ *# *include "[^"]+"' src |
    awk -v ranks="$ranks" -v doors="$doors" -v inside="$inside" -v verbose="${1:-}" '
    function may_see(file, header,    i, split_at) {
        if (rank[room_of(header)] < rank["route"] || header in door) return 1
        for (i in insider) {
            split_at = index(insider[i], ":")
            if (index(file, substr(insider[i], 1, split_at - 1)) == 1 && substr(insider[i], split_at + 1) == header)
                return 1
        }
        return 0
    }
    function room_of(header) { sub(/\/.*/, "", header); return header }
    BEGIN {
        count = split(doors, list, /[ \n]+/)
        for (i = 1; i <= count; i++) door[list[i]] = 1
        split(inside, insider, /[ \n]+/)
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
        } else if (!may_see(file, target)) {
            print file ": \"" target "\" is private to the room " to
            bad++
        }
    }
    END {
        if (verbose == "-v") for (edge in edges) printf "%4d  %s\n", edges[edge], edge | "sort -k2"
        close("sort -k2")
        if (bad > 0) { print bad " includes point upward, nowhere, or into a room"; exit 1 }
    }'
