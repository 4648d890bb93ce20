#!/usr/bin/env bash
# readme.sh SOURCE BUILD: does what README.md says, with README's own text: its program is built and run by
# each of its lines, for a prefix of one's own and for /usr/local, from the build folder that is there.
#
# /usr/local and /etc are covered by empty layers for that (unshare, overlay), which takes root; elsewhere
# that half is left out.
set -euo pipefail
command -v pkg-config > /dev/null || { echo "no pkg-config"; exit 77; }
self=$(realpath "$0") source=$1 BUILD_DIR=$2
readme=$source/README.md
expected='7 -> 5, 0 -> 2, 4294967295 -> 3'
export BUILD_DIR SETUP=no

# block LANGUAGE TEXT: the block of code in that language that holds TEXT
block()
{
    awk -v open="\`\`\`$1" -v wanted="$2" '
        inside && $0 == "```" { if (index(text, wanted)) { printf "%s", text; exit } inside = 0; text = "" }
        inside { text = text $0 "\n" }
        $0 == open { inside = 1 }' "$readme" | grep . || { echo "README.md has no $1 with '$2'" >&2; exit 1; }
}

# What README's lines find: `make` in the source tree; root needs no sudo.
make() { command make -s -C "$source" "$@"; }
sudo() { "$@"; }
export -f make sudo
export source

work=$(mktemp -d)
if [ "${3:-}" != covered ]; then trap 'rm -rf "$work"' EXIT; fi
mkdir "$work/home"
block c 'int main' > "$work/first.c"

# follow TEXT TIMES: runs the block of shell lines that holds TEXT; the program must have answered so often
follow()
{
    local lines
    lines=$(block sh "$1")
    (cd "$work" && HOME=$work/home bash -euo pipefail -c "set +u
$lines") > "$work/log" 2>&1 || { cat "$work/log"; echo "README's lines failed: $lines"; exit 1; }
    [ "$(grep -cxF "$expected" "$work/log")" = "$2" ] || { cat "$work/log"; echo "expected $2 times: $expected"; exit 1; }
    echo "as README says: $(grep -c . <<< "$lines") lines, $2 programs"
}

# follow_cmake OPTIONS...: a project with README's lines of CMake, for either library
follow_cmake()
{
    local lines library
    lines=$(block cmake find_package)
    for library in heddle::heddle heddle::heddle_static; do
        rm -rf "$work/cmake"
        mkdir "$work/cmake"
        {
            echo "cmake_minimum_required(VERSION 3.22)"
            echo "project(first C)"
            echo "add_executable(first ../first.c)"
            sed "s/heddle::heddle)/$library)/" <<< "$lines"
        } > "$work/cmake/CMakeLists.txt"
        (cd "$work/cmake" && cmake -B build "$@" && cmake --build build) > "$work/log" 2>&1 ||
            { cat "$work/log"; exit 1; }
        "$work/cmake/build/first" | grep -qxF "$expected"
        echo "as README says: $library in CMake"
    done
}

if [ "${3:-}" = covered ]; then
    follow 'sudo make install' 1
    follow_cmake
    make uninstall > /dev/null
    [ -z "$(find /usr/local -name '*heddle*')" ] || { find /usr/local -name '*heddle*'; echo "left by make uninstall"; exit 1; }
    exit 0
fi

follow 'PREFIX=$HOME/.local' 2
# README's line for a prefix of one's own stands in its text.
grep -qF -- '-DCMAKE_PREFIX_PATH=$HOME/.local' "$readme"
follow_cmake -DCMAKE_PREFIX_PATH="$work/home/.local"
"$work/home/.local/bin/heddle" --version
make uninstall PREFIX="$work/home/.local" > /dev/null
left=$(find "$work/home/.local" ! -type d)
[ -z "$left" ] || { echo "left by make uninstall: $left"; exit 1; }
# What is not there, or elsewhere, is refused.
! make uninstall PREFIX="$work/home/.local" > "$work/log" 2>&1 || { echo "removed twice"; exit 1; }
grep -q 'nothing was installed' "$work/log"

# 77 where nothing can be mounted; else what the script itself exits with (its first line alone exits with 77, and has
# been passed above).
cover='
mount -t tmpfs none "$0" && cd "$0" && mkdir -p u1 w1 u2 w2 work &&
mount -t overlay none -o lowerdir=/usr/local,upperdir=u1,workdir=w1 /usr/local &&
mount -t overlay none -o lowerdir=/etc,upperdir=u2,workdir=w2 /etc || exit 77
rm -rf /usr/local/lib/*heddle* /usr/local/include/heddle
TMPDIR=$0/work exec bash "$@"'
mkdir "$work/layers"
status=77
if unshare -m true 2> /dev/null; then
    status=0
    unshare -m bash -c "$cover" "$work/layers" "$self" "$source" "$BUILD_DIR" covered 2> "$work/log" || status=$?
fi
case $status in
    0) ;;
    77) echo "/usr/local: left out, it cannot be covered here" ;;
    *) cat "$work/log"; exit 1 ;;
esac
