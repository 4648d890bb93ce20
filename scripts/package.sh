#!/usr/bin/env bash
# package.sh: builds Debian packages and a tarball of what `make install` installs, for the folders of a
# Debian system (cmake/package.cmake lists them).
#
# Variables: BUILD_DIR (build-package), V, JOBS, CMAKE_OPTIONS.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh
dir=${BUILD_DIR:-build-package}
stages_of 3
# Word splitting of the options is meant.
# shellcheck disable=SC2086
stage "configure" scripts/configure.sh "$dir" -DCMAKE_INSTALL_PREFIX=/usr -DHEDDLE_TESTS=OFF ${CMAKE_OPTIONS:-}
stage "build" cmake --build "$dir" -j "${JOBS:-$(nproc)}" --target heddle_installed
rm -rf "$dir/packages"
formats=TGZ
if command -v dpkg-shlibdeps > /dev/null; then formats="DEB;TGZ"; fi
stage "pack" env -C "$dir" cpack -G "$formats"
echo "Packages are in $dir/packages/:"
(cd "$dir/packages" && du -h -- *.deb *.tar.gz 2> /dev/null | sed 's/^/    /')
