#!/bin/sh
# run.sh PROGRAM...: runs it in a fresh directory, which is removed afterwards.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
"$@"
