#!/usr/bin/env bash
# packages.sh SOURCE BUILD: makes the packages of the build folder that is there, installs all of them with
# dpkg, builds and runs README's program against them, and removes them. The tarball is unpacked and moved.
#
# /usr, /etc and /var are covered by empty layers for that (unshare, overlay), which takes root. Exit
# code 77 says that something is missing for it.
set -euo pipefail
self=$(realpath "$0") source=$1 build=$2
expected='7 -> 5, 0 -> 2, 4294967295 -> 3'
for program in cpack dpkg dpkg-shlibdeps unshare pkg-config; do
    command -v $program > /dev/null || { echo "no $program"; exit 77; }
done
work=$(mktemp -d)
if [ "${3:-}" = covered ]; then
    cd "$4"
    dpkg -i ./*.deb > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    awk '$0 == "```c" { inside = 1; next } $0 == "```" { exit } inside' "$source/README.md" > "$work/first.c"
    cc "$work/first.c" -lheddle -o "$work/first"
    "$work/first" | grep -qxF "$expected"
    # shellcheck disable=SC2046
    cc "$work/first.c" $(pkg-config --cflags --libs heddle-static) -o "$work/static"
    "$work/static" | grep -qxF "$expected"
    heddle --version
    # The names of the packages, from their own files.
    for package in ./*.deb; do dpkg-deb -f "$package" Package; done > "$work/names"
    xargs dpkg -r < "$work/names" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    left=$(find /usr/lib /usr/bin /usr/include /usr/share/heddle -name '*heddle*' 2> /dev/null || true)
    [ -z "$left" ] || { echo "left by dpkg: $left"; exit 1; }
    exit 0
fi
trap 'rm -rf "$work"' EXIT

cpack --config "$build/CPackConfig.cmake" -B "$work/packages" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cd "$work/packages"
# libheddle1, libheddle-dev, heddle, and the same three over MPI.
count=$(find . -maxdepth 1 -name '*.deb' | wc -l)
[ "$count" = 3 ] || [ "$count" = 6 ] || { ls; echo "$count packages"; exit 1; }
for package in ./*.deb; do dpkg-deb -f "$package" Package Version Depends | paste -sd' '; done

# The tool's package has its manual and completions, where Debian looks for them.
dpkg-deb -c ./heddle_*.deb > "$work/contents"
for file in man/man1/heddle.1 man/man1/heddle-bench-map.1 bash-completion/completions/heddle zsh/vendor-completions/_heddle; do
    grep -q " ./usr/share/$file\$" "$work/contents" || { cat "$work/contents"; echo "no $file"; exit 1; }
done

tar xzf ./*.tar.gz --one-top-level=moved --strip-components=1
moved/bin/heddle --version

cover='
mount -t tmpfs none "$0" && cd "$0" && mkdir -p work || exit 77
for folder in usr etc var; do
    mkdir -p "u_$folder" "w_$folder" &&
    mount -t overlay none -o "lowerdir=/$folder,upperdir=u_$folder,workdir=w_$folder" "/$folder" || exit 77
done
TMPDIR=$0/work exec bash "$@"'
mkdir "$work/layers"
status=0
unshare -m bash -c "$cover" "$work/layers" "$self" "$source" "$build" covered "$work/packages" \
    2> "$work/errors" || status=$?
if [ $status != 0 ]; then
    cat "$work/errors"
    ! grep -qE '^(unshare|mount):' "$work/errors" || exit 77
    exit 1
fi
