#!/bin/sh
# Fetches the tables that bench/peers compares Heddle with. Nothing of them is part of Heddle: the
# Debian packages go into the system, the rest into build/peers/ of this checkout.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
deps=$root/build/peers/deps
packages="g++ cmake make python3-venv libtbb-dev libsparsehash-dev robin-map-dev libabsl-dev libbloom-dev"
mkdir -p "$deps"

missing=
for package in $packages; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ]; then as_root=
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root=sudo
    else
        echo "Run first: apt-get install -y --no-install-recommends$missing" >&2
        exit 1
    fi
    $as_root apt-get update -q
    # shellcheck disable=SC2086  # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
fi

# boost::concurrent_flat_map came with 1.83 and its bulk visit with 1.84, Debian 12 has 1.74: take
# the headers that PyPI carries.
if [ ! -e "$deps/boost/boost/unordered/concurrent_flat_map.hpp" ]; then
    python3 -m venv "$deps/venv"
    "$deps/venv/bin/pip" install -q --disable-pip-version-check boost-headers==1.85.0.post1
    header=$(find "$deps/venv/" -path '*/boost/unordered/concurrent_flat_map.hpp' | head -n 1)
    [ -n "$header" ] || { echo "boost-headers has no concurrent_flat_map.hpp" >&2; exit 1; }
    ln -sfn "${header%/boost/unordered/concurrent_flat_map.hpp}" "$deps/boost"
fi

# Parquet's Bloom filter, with its headers, in the wheel of pyarrow.
if [ ! -e "$deps/pyarrow/include/parquet/bloom_filter.h" ]; then
    [ -d "$deps/venv" ] || python3 -m venv "$deps/venv"
    "$deps/venv/bin/pip" install -q --disable-pip-version-check pyarrow==15.0.2
    header=$(find "$deps/venv/" -path '*/pyarrow/include/parquet/bloom_filter.h' | head -n 1)
    [ -n "$header" ] || { echo "pyarrow has no parquet/bloom_filter.h" >&2; exit 1; }
    ln -sfn "${header%/include/parquet/bloom_filter.h}" "$deps/pyarrow"
fi

# klib is no package of its own, but htslib ships its khash.h. Only that and the headers it includes
# are wanted, not the packages that libhts-dev needs for linking, hence unpacked, not installed.
if [ ! -e "$deps/htslib/khash.h" ]; then
    unpack=$(mktemp -d)
    trap 'rm -rf "$unpack"' EXIT
    if (cd "$unpack" && chmod 777 . && apt-get download -q libhts-dev && dpkg -x libhts-dev_*.deb .); then
        mkdir -p "$deps/htslib"
        for header in khash kstring kroundup hts_defs; do
            cp "$unpack/usr/include/htslib/$header.h" "$deps/htslib/"
        done
    else
        echo "khash could not be fetched; the benchmark leaves it out" >&2
    fi
fi
echo "peers are in place: $deps"
