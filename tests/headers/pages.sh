#!/bin/sh
# pages.sh: every folder of src/ has a page: a file whose head (its first comment) names all other files of the folder. Of
# a header and its source either name will do. And the head of a file begins with the file's own name.
set -eu
cd "$(dirname "$0")/../.."
find src -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.inl' \) | LC_ALL=C sort | awk '
    function stem(file) { sub(/\.[a-z]+$/, "", file); return file }
    {
        path = $0; file = path; sub(/.*\//, "", file); folder = substr(path, 1, length(path) - length(file) - 1)
        head = ""
        while ((getline line < path) > 0) {
            if (head == "" && line !~ /^\/\*/) continue
            head = head " " line
            if (line ~ /\*\//) break
        }
        close(path)
        if (match(head, /[A-Za-z0-9_]+\.(h|c|inl|cuh|cu)/) == 0 || substr(head, RSTART, RLENGTH) != file) {
            print path ": its head does not begin with its name"; bad++
        }
        files[folder] = files[folder] " " file; heads[path] = head
    }
    END {
        for (folder in files) {
            count = split(files[folder], list, " "); least = -1
            for (i = 1; i <= count; i++) {
                split("", named); left = heads[folder "/" list[i]]
                while (match(left, /[A-Za-z0-9_]+\.(h|c|inl|cuh|cu)/)) {
                    named[stem(substr(left, RSTART, RLENGTH))] = 1; left = substr(left, RSTART + RLENGTH)
                }
                lacks = ""; lacking = 0
                for (j = 1; j <= count; j++)
                    if (!(stem(list[j]) in named)) { lacks = lacks " " list[j]; lacking++ }
                if (least < 0 || lacking < least) { least = lacking; best = list[i]; missing = lacks }
            }
            if (least > 0) { print folder ": no file has them all; " best " lacks" missing; bad++ }
        }
        exit bad > 0
    }'
