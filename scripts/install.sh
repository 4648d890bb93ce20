#!/usr/bin/env bash
# install.sh [remove]: builds what is installed and installs it into PREFIX; or removes what the last
# installation from this build folder has put there.
#
# Variables: PREFIX (/usr/local), DESTDIR (put before all paths, for packages), BUILD_DIR (build), V, JOBS,
# CMAKE_OPTIONS.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh
prefix=${PREFIX:-/usr/local} dir=${BUILD_DIR:-build} destination=${DESTDIR:-}
manifest=$dir/install_manifest.txt
PATH=$PATH:/sbin:/usr/sbin # ldconfig

# Whether the loader looks for libraries in this folder by itself.
loader_knows() { grep -q "^$1:" <<< "$(ldconfig -v -N -X 2> /dev/null)"; }

# It does so by a list that it keeps. After a change the list is made anew.
tell_the_loader()
{
    if [ -z "$destination" ] && [ "$(id -u)" = 0 ] && loader_knows "$1"; then ldconfig; fi
}

case $prefix in
    /*) ;;
    *) echo "PREFIX must be an absolute path, not '$prefix'" >&2; exit 2 ;;
esac

if [ "${1:-}" = remove ]; then
    [ -f "$manifest" ] || { echo "nothing was installed from $dir/: there is no $manifest" >&2; exit 2; }
    if ! grep -q "^${prefix%/}/" "$manifest"; then
        elsewhere=$(sed -n 's|/include/heddle/heddle\.h$||p' "$manifest")
        echo "the last installation from $dir/ went to $elsewhere: say PREFIX=$elsewhere" >&2
        exit 2
    fi
    libraries=$destination$(sed -n 's|/libheddle\.so$||p' "$manifest")
    while IFS= read -r file; do rm -f "$destination$file"; done < <(cat "$manifest"; echo)
    # Folders that are empty now and have Heddle's name.
    sed 's|/[^/]*$||' "$manifest" | sort -ru | grep heddle | while IFS= read -r folder; do
        while [[ $folder == *heddle* ]]; do
            rmdir "$destination$folder" 2> /dev/null || break
            folder=${folder%/*}
        done
    done
    rm -f "$manifest"
    tell_the_loader "$libraries"
    echo "Heddle was removed from $destination$prefix."
    exit 0
fi

# What is there may have been built and be another user's: root installs what `make` has built.
stages_of 3
# Word splitting of the options is meant.
# shellcheck disable=SC2086
stage "configure" scripts/configure.sh "$dir" ${CMAKE_OPTIONS:-}
stage "build" cmake --build "$dir" -j "${JOBS:-$(nproc)}" --target heddle_installed
# cmake reads DESTDIR from the environment.
stage "install" cmake --install "$dir" --prefix "$prefix" --strip
libraries=$(sed -n 's|/libheddle\.so$||p' "$manifest")
tell_the_loader "$libraries"

echo "Heddle is in $destination$prefix."
if [ -n "$destination" ]; then exit 0; fi
if ! pkg-config --exists heddle 2> /dev/null; then
    echo "Tell pkg-config: export PKG_CONFIG_PATH=$libraries/pkgconfig:\$PKG_CONFIG_PATH"
fi
if ! loader_knows "$libraries"; then
    echo "Tell the linker where programs find the library: -Wl,-rpath,$libraries"
fi
